// Kernels whose threads wait for one another. Each ends only where waiting threads never keep those they wait for from
// running; an implementation that runs a warp's branches, warps, or blocks to their ends one after the other hangs.
// `out` holds zeros; out[0] is the result. Compiled to fairness.ptx by: nvcc -ptx -arch=sm_75 -lineinfo fairness.cu
typedef unsigned int u32;

#define KERNEL extern "C" __global__ void

__device__ static u32 load(const u32 *p)
{
    return *(const volatile u32 *)p;
}

__device__ static void store(u32 *p, u32 v)
{
    *(volatile u32 *)p = v;
}

// Lane 0 waits for lane 31.
KERNEL lane_waits_for_later(u32 *out)
{
    if (threadIdx.x == 0) {
        while (load(&out[1]) != 7)
            ;
        out[0] = load(&out[1]);
    } else if (threadIdx.x == 31) {
        store(&out[1], 7);
    }
}

// Lane 31 waits for lane 0.
KERNEL lane_waits_for_earlier(u32 *out)
{
    if (threadIdx.x == 31) {
        while (load(&out[1]) != 7)
            ;
        out[0] = load(&out[1]);
    } else if (threadIdx.x == 0) {
        store(&out[1], 7);
    }
}

// A hand-off through all lanes of a warp, down and up again.
KERNEL lanes_in_turn(u32 *out)
{
    u32 me = threadIdx.x;
    while (load(&out[1]) != me)
        ;
    store(&out[1], me + 1);
    while (load(&out[1]) != 63 - me)
        ;
    store(&out[1], me == 0 ? 1000 : 64 - me);
    if (me == 0)
        out[0] = load(&out[1]);
}

KERNEL warp_waits_for_later(u32 *out)
{
    if (threadIdx.x < 32) {
        while (load(&out[1]) != 32)
            ;
        if (threadIdx.x == 0)
            out[0] = load(&out[1]);
    } else {
        atomicAdd(&out[1], 1);
    }
}

KERNEL warp_waits_for_earlier(u32 *out)
{
    if (threadIdx.x >= 32) {
        while (load(&out[1]) != 32)
            ;
        if (threadIdx.x == 32)
            out[0] = load(&out[1]);
    } else {
        atomicAdd(&out[1], 1);
    }
}

// Through shared memory, where nobody outside can help.
KERNEL warps_in_turn_shared(u32 *out)
{
    __shared__ volatile u32 turn;
    u32 warp = threadIdx.x / 32;
    if (threadIdx.x == 0)
        turn = 0;
    __syncthreads();
    for (u32 round = 0; round < 50; round++) {
        while (turn != round * (blockDim.x / 32) + (blockDim.x / 32 - 1 - warp))
            ;
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            turn = turn + 1;
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = turn;
}

// Block 0 waits for the last.
KERNEL block_waits_for_last(u32 *out)
{
    if (blockIdx.x == 0) {
        while (load(&out[1]) != gridDim.x - 1)
            ;
        out[0] = load(&out[1]);
    } else if (threadIdx.x == 0) {
        if (blockIdx.x == gridDim.x - 1)
            store(&out[1], gridDim.x - 1);
    }
}

// A barrier of the whole grid, by hand, several times over.
KERNEL grid_barrier(u32 *out)
{
    for (u32 phase = 1; phase <= 5; phase++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&out[1], 1);
            while (load(&out[1]) < phase * gridDim.x)
                ;
            if (blockIdx.x == phase)
                out[0] = out[0] + load(&out[1]) / gridDim.x;
        }
        __syncthreads();
    }
}

KERNEL ticket_lock(u32 *out)
{
    for (int i = 0; i < 3; i++) {
        u32 ticket = atomicAdd(&out[1], 1);
        while (load(&out[2]) != ticket)
            ;
        out[0] = load(&out[0]) + 1;
        __threadfence();
        store(&out[2], ticket + 1);
    }
}

// All lanes of all warps contend for one lock, in the form that hangs where a warp runs in lock step.
KERNEL cas_lock(u32 *out)
{
    while (atomicCAS(&out[1], 0, 1) != 0)
        ;
    store(&out[0], load(&out[0]) + 1);
    __threadfence();
    atomicExch(&out[1], 0);
}

KERNEL try_lock(u32 *out)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&out[1], 0, 1) == 0) {
            store(&out[0], load(&out[0]) + 1);
            __threadfence();
            atomicExch(&out[1], 0);
            done = true;
        }
    }
}

__device__ __noinline__ void acquire(u32 *lock)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
}

__device__ __noinline__ void release(u32 *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

// Lanes that hold the lock have returned from a function in which others still spin.
KERNEL lock_in_function(u32 *out)
{
    for (int i = 0; i < 2; i++) {
        acquire(&out[1]);
        store(&out[0], load(&out[0]) + 1);
        release(&out[1]);
    }
}

// Scan with decoupled look-back: each block waits for its predecessors' sums. state: 0 nothing, 1 sum of the block,
// 2 sum of all up to the block; in the low bits, above them the value.
KERNEL look_back_scan(u32 *out)
{
    __shared__ u32 before;
    u32 *state = out + 16;
    u32 block, sum = blockDim.x;
    __shared__ u32 ticket;
    if (threadIdx.x == 0)
        ticket = atomicAdd(&out[1], 1);
    __syncthreads();
    block = ticket;
    if (threadIdx.x == 0) {
        store(&state[block], sum << 2 | (block == 0 ? 2 : 1));
        before = 0;
        for (int b = (int)block - 1; b >= 0; b--) {
            u32 s;
            while (((s = load(&state[b])) & 3) == 0)
                ;
            before += s >> 2;
            if ((s & 3) == 2)
                break;
        }
        store(&state[block], (before + sum) << 2 | 2);
    }
    __syncthreads();
    if (block == gridDim.x - 1 && threadIdx.x == 0)
        out[0] = before + sum;
}

// One message at a time from block 0 to block 1, by release and acquire.
KERNEL producer_consumer(u32 *out)
{
    if (threadIdx.x != 0)
        return;
    u32 *flag = &out[1], *data = &out[2];
    for (u32 i = 1; i <= 200; i++) {
        u32 seen;
        if (blockIdx.x == 0) {
            *data = i * i;
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(2 * i - 1) : "memory");
            do
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
            while (seen != 2 * i);
        } else {
            do
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
            while (seen != 2 * i - 1);
            out[0] += *data;
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(2 * i) : "memory");
        }
    }
}

// The host answers each odd number with the next even one.
KERNEL host_ping_pong(u32 *out)
{
    for (u32 i = 1; i <= 1000; i++) {
        atomicExch_system(&out[1], 2 * i - 1);
        while (atomicAdd_system(&out[1], 0) != 2 * i)
            ;
        out[0]++;
    }
}

// A block whose other half sleeps meanwhile.
KERNEL sleepers(u32 *out)
{
    if (threadIdx.x % 2) {
        while (load(&out[1]) == 0)
            __nanosleep(100);
        atomicAdd(&out[0], 1);
    } else if (threadIdx.x == 0) {
        store(&out[1], 1);
    }
}

// Blocks go round and round past a barrier until the last one, which need not have begun, lets them go.
KERNEL barrier_until_last(u32 *out)
{
    if (blockIdx.x == gridDim.x - 1)
        store(&out[1], 1);
    while (load(&out[1]) == 0)
        __syncthreads();
    atomicAdd(&out[0], 1);
}

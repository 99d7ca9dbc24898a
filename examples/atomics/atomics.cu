// The atomic functions of the lecture "CUDA: threads, memory, atomics", each with the answer that its slide asks for.
//
// Corrected from the slides:
//  - "How do you implement atomicInc?" shows atomicAdd, which is what is meant: atomicInc(&count, 1) wraps at its
//    second argument (old >= 1 ? 0 : old + 1), so that eight of them from 0 leave 0, not 8.
//  - *address += value in the first pseudo implementation: the parameter is called val.

// "What is the value of count if 8 threads execute ++count?" Anything from 1 to 8: reading, adding and writing are
// three steps, and all threads may read the same value. Within one warp they do, and it is 1.
__device__ unsigned int count = 0;
extern "C" __global__ void plain_increment()
{
    ++count;
}

// "What is the value of count if 8 threads execute atomicInc below?" 0: 0 -> 1 -> 0 -> 1 ..., eight times.
extern "C" __global__ void atomic_inc()
{
    atomicInc(&count, 1);
}

// What the slide means: 8.
extern "C" __global__ void atomic_add_one()
{
    atomicAdd(&count, 1);
}

// "Example": what atomicCAS returns and leaves, from *addr = 1.
extern "C" __global__ void cas_example(int *addr, int *returned, int *left)
{
    *addr = 1;
    returned[0] = atomicCAS(addr, 1, 2); // returns 1, leaves 2
    left[0] = *addr;
    returned[1] = atomicCAS(addr, 1, 3); // returns 2, leaves 2
    left[1] = *addr;
    returned[2] = atomicCAS(addr, 2, 3); // returns 2, leaves 3
    left[2] = *addr;
}

// "How do you implement atomicInc without locking?", given atomicCAS: the slide's last version. What *address holds
// after it returns is not necessarily the old value plus val: other threads may have added in between.
__device__ int my_atomicAdd(int *address, int val)
{
    int old = *address, assumed;
    do {
        assumed = old;
        old = atomicCAS(address, assumed, assumed + val);
    } while (assumed != old);
    return old;
}

// All threads add to one counter; `returned` gets the old values, of which no two are the same where val is not 0.
extern "C" __global__ void add_by_cas(int *counter, int val, int *returned)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    returned[i] = my_atomicAdd(counter, val);
}

// "Lots of atomics": each on its own cell, by every thread with its index + 1 as the operand. `cells` has 8, `ucells` 2.
extern "C" __global__ void lots_of_atomics(int *cells, unsigned *ucells)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    atomicAdd(&cells[0], i);
    atomicSub(&cells[1], i);
    atomicExch(&cells[2], i);
    atomicMin(&cells[3], -i);
    atomicMax(&cells[4], i);
    atomicAnd(&cells[5], ~i);
    atomicOr(&cells[6], i);
    atomicXor(&cells[7], i);
    atomicInc(&ucells[0], 1000u);
    atomicDec(&ucells[1], 1000u);
}

// The same in shared memory: a block counts in a shared cell, and its first thread adds that to the global one.
extern "C" __global__ void count_in_shared(int *total)
{
    __shared__ int local;
    if (threadIdx.x == 0)
        local = 0;
    __syncthreads();
    atomicAdd(&local, 1);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(total, local);
}

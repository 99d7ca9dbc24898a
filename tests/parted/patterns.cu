// Divergent, skipped and early-left barriers. s: 64 numbers, then how many threads have come behind the barrier. What
// an H200 and its compute-sanitizer make of each, and what Heddle says: patterns.tsv.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void half_warp_then_exit(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n)
        __syncthreads();
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void half_warp_then_all(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n) {
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 1];
    }
    m[t]++;
    __syncthreads();
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void loop_tail(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    for (int b = 0; b < 3; b++) {
        if (64 * b + t < 64 * 3 - n) {
            m[t] += s[t];
            __syncthreads();
        }
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void both_branches(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t & 1) {
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 1];
    } else {
        m[t] += 5;
        __syncthreads();
        m[t] *= m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void branches_by_warp(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < 32) {
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 32];
    } else {
        m[t] += 5;
        __syncthreads();
        m[t] *= m[t ^ 32];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void return_half_warp(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t >= 48)
        return;
    __syncthreads();
    s[t] = m[t ^ 1];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void return_warp(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t >= 32)
        return;
    __syncthreads();
    s[t] = m[t ^ 1];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void one_thread(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t == 0)
        __syncthreads();
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void warp_skips_and_exits(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < 32) {
        m[t]++;
        __syncthreads();
        s[t] = m[t ^ 1];
    }
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void warp_skips_and_waits(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < 32) {
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 1];
    }
    m[t] += 2;
    __syncthreads();
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void trips_by_lane(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    int k = 1 + t % 2;
    for (int i = 0; i < k; i++) {
        m[t] += s[i];
        __syncthreads();
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void trips_by_warp(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    int k = 1 + t / 32;
    for (int i = 0; i < k; i++) {
        m[t] += s[i];
        __syncthreads();
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void break_by_lane(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    for (int i = 0; i < 4; i++) {
        if (i == t % 4)
            break;
        m[t] += s[i];
        __syncthreads();
    }
    m[t]++;
    __syncthreads();
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void return_between(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    __syncthreads();
    if (t % 2)
        return;
    m[t]++;
    __syncthreads();
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void named_by_halves(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t % 32 < 16) {
        m[t]++;
        asm volatile("bar.sync 1, 32;" ::: "memory");
        m[t] += m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void counts_differ(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 32;" ::: "memory");
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void arrive_and_sync(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < 32)
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 64;" ::: "memory");
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void reduced_in_branches(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t & 1) {
        m[t] = __syncthreads_or(t == 63) + 1;
    } else {
        m[t] = 3 * __syncthreads_or(t == 2);
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void unaligned_in_branches(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t & 1) {
        m[t]++;
        asm volatile("barrier.sync 0;" ::: "memory");
        m[t] += m[t ^ 1];
    } else {
        m[t] += 5;
        asm volatile("barrier.sync 0;" ::: "memory");
        m[t] *= m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void unaligned_then_exit(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n) {
        m[t]++;
        asm volatile("barrier.sync 0;" ::: "memory");
        m[t] += m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
__device__ __noinline__ void inner(int *m, int t) {
    m[t]++;
    __syncthreads();
    m[t] += m[t ^ 1];
}
extern "C" __global__ void two_callers(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t & 1) {
        m[t] += 2;
        inner(m, t);
        m[t] *= 3;
    } else {
        m[t] *= 5;
        inner(m, t);
        m[t] += 7;
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void caller_skips(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n) {
        m[t] += 2;
        inner(m, t);
        m[t] *= 3;
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void switched(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    switch (t & 3) {
    case 0:
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 1];
        break;
    case 1:
        m[t] += 4;
        __syncthreads();
        m[t] *= m[t ^ 1];
        break;
    case 2:
        m[t] = 9;
        __syncthreads();
        m[t] -= m[t ^ 1];
        break;
    default:
        m[t] ^= 77;
        __syncthreads();
        m[t] |= m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void exit_first_lane(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t == 0)
        asm volatile("exit;");
    m[t]++;
    __syncthreads();
    s[t] = m[t ^ 1];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void syncwarp_half(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t % 32 < n) {
        m[t]++;
        __syncwarp();
        m[t] += m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void syncwarp_skipped(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t % 32 < n) {
        m[t]++;
        __syncwarp();
        m[t] += m[t ^ 1];
    }
    m[t]++;
    __syncwarp();
    s[t] = m[t ^ 1];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void number_by_lane(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    asm volatile("{ .reg .u32 b; and.b32 b, %0, 1; add.u32 b, b, 1; bar.sync b, 64; }" ::"r"(t) : "memory");
    s[t] = m[t ^ 1];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void partial_warp(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    __syncthreads();
    s[t] = m[t ^ 1];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void uniform_condition(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n * 100) {
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void tiles(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t % 32 < 16) {
        auto g = cg::tiled_partition<16>(cg::this_thread_block());
        m[t]++;
        g.sync();
        m[t] += m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void group_in_condition(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n) {
        m[t]++;
        cg::this_thread_block().sync();
        m[t] += m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void cluster_in_condition(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n) {
        m[t]++;
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        m[t] += m[t ^ 1];
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void arrive_by_half(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < 16) {
        m[t]++;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
    if (t >= 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void return_half_then_loop(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t % 32 >= 16)
        return;
    for (int i = 0; i < 3; i++) {
        m[t] += m[(t + i) % 16];
        __syncthreads();
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void short_circuit(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t < n && __syncthreads_count(t) > 1)
        m[t]++;
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void skip_then_same_again(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    for (int i = 0; i < 2; i++) {
        m[t] += 3;
        if (i || t < n) {
            m[t]++;
            __syncthreads();
            m[t] += m[t ^ 1];
        }
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void red_mixed(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t & 1) {
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 1];
    } else {
        m[t] = __syncthreads_and(t);
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void shfl_and_barrier(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t % 32 < 16) {
        m[t]++;
        __syncthreads();
        m[t] += m[t ^ 1];
    } else
        m[t] = __shfl_xor_sync(0xffff0000u, m[t], 1);
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void spin_beside(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    if (t == 0) {
        atomicExch(&m[100], 1);
    }
    if (t % 32 >= 16) {
        m[t]++;
        __syncthreads();
    }
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}
extern "C" __global__ void barrier_in_predicate_asm(int *s, int n) {
    int t = threadIdx.x;
    __shared__ int m[1024];
    m[t] = s[t % 64];
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 16; @p bar.sync 0; }" ::"r"(t) : "memory");
    s[t] = m[t];
    atomicAdd(s + 64, 1);
}

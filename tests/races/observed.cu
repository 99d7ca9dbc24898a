// Four blocks, one after the other: block 0 writes a place by an atomic operation, the others see that it is written. Then block 1
// reads it by a plain load: by the thread that has seen the write, or also by one that has not.
#include <cstdio>
#include <cstring>

__global__ void observe(int *place, volatile int *turn, int *out, int readers)
{
    if (threadIdx.x == 0) {
        while (*turn != (int)blockIdx.x) {
        }
        atomicCAS(place, 0, 7);
        atomicAdd((int *)turn, 1);
        while (blockIdx.x == 1 && *turn != 4) {
        }
    }
    __syncwarp();
    if (blockIdx.x == 1 && threadIdx.x < readers)
        out[threadIdx.x] = *place;
}

__global__ void observe_apart(int *place, volatile int *turn, int *out)
{
    if (threadIdx.x == 0) {
        while (*turn != (int)blockIdx.x) {
        }
        atomicCAS(place, 0, 7);
        atomicAdd((int *)turn, 1);
    }
    if (blockIdx.x == 1) {
        while (*turn != 4) {
        }
        out[threadIdx.x] = *place;
    }
}

// What a thread reads last is not what block 0 has written, but what an update whose scope does not reach that has put in its place.
__global__ void observe_another(int *place, volatile int *turn)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *(volatile int *)place = 7;
        *turn = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (*turn != 1) {
        }
        atomicExch_block(place, 9);
        *turn = 2;
    }
    if (blockIdx.x == 1 && threadIdx.x == 1) {
        while (*turn != 2) {
        }
        if (*(volatile int *)place == 9)
            *place = 5;
    }
}

__device__ void add_releasing(int *count)
{
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(__cvta_generic_to_global(count)) : "memory");
}

__device__ int read_adding(int *count)
{
    int old;
    asm volatile("atom.add.release.gpu.global.s32 %0, [%1], 1;" : "=r"(old) : "l"(__cvta_generic_to_global(count)) : "memory");
    return old;
}

// Block 0 and a thread of block 1 have added to a count and released; another thread of block 1 adds, too, and acquires with the scope
// of the block: what its own block did, not what block 0 wrote.
__global__ void acquire_narrowly(int *place, int *count, volatile int *turn, int *out, bool from_other)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *place = 7;
        add_releasing(count);
        *turn = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (*turn != 1) {
        }
        out[0] = 5;
        add_releasing(count);
        *turn = 2;
    }
    if (blockIdx.x == 1 && threadIdx.x == 32) {
        while (*turn != 2) {
        }
        read_adding(count);
        __threadfence_block();
        out[2] = from_other ? *place : out[0];
    }
}

// Lanes of a warp write one place by one instruction. Block 1 sees what the last of them has written, and no other.
__global__ void observe_one_lane(volatile int *place, unsigned lanes)
{
    if (blockIdx.x == 0 && threadIdx.x < lanes)
        *place = threadIdx.x + 1;
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (*place == 0) {
        }
        *(int *)place = 99;
    }
}

// The same in turns, by one instruction each time.
__global__ void observe_last_lane(volatile int *place, int first)
{
    if (blockIdx.x == 0) {
        for (int lane = first; lane >= 0; lane--)
            if (threadIdx.x == lane)
                *place = 32 - lane;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (*place != 32) {
        }
        *(int *)place = 99;
    }
}

// What a thread reads is a mixture of what one strong write and a weak one to a part of it have left: so it has seen neither.
template <typename T, typename Part>
__device__ void observe_whole(T *place, volatile int *turn, int *out, bool in_part)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *(volatile T *)place = 7;
        if (in_part)
            ((Part *)place)[1] = 1;
        *turn = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (*turn != 1) {
        }
        out[1] = *(volatile T *)place;
    }
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 1)
        out[0] = *(Part *)place;
}

__global__ void observe_word(int *place, volatile int *turn, int *out, bool in_part)
{
    observe_whole<int, char>(place, turn, out, in_part);
}

__global__ void observe_words(int *place, volatile int *turn, int *out, bool in_part)
{
    observe_whole<long long, int>((long long *)place, turn, out, in_part);
}

// What was released by the half of a word is gone where a strong write of the whole word has overwritten it.
__global__ void acquire_half(int *place, int *word, volatile int *turn, int *out, bool is_overwritten)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *place = 7;
        asm volatile("st.release.gpu.global.u16 [%0+2], 1;" ::"l"(__cvta_generic_to_global(word)) : "memory");
        if (is_overwritten)
            asm volatile("st.relaxed.gpu.global.u32 [%0], 0x10000;" ::"l"(__cvta_generic_to_global(word)) : "memory");
        *turn = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        short half;
        while (*turn != 1) {
        }
        asm volatile("ld.acquire.gpu.global.u16 %0, [%1+2];" : "=h"(half) : "l"(__cvta_generic_to_global(word)) : "memory");
        out[half] = *place;
    }
}

int main(int, char **argv)
{
    int *memory;
    cudaMalloc(&memory, 1024);
    cudaMemset(memory, 0, 1024);
    if (!strcmp(argv[1], "clean"))
        observe<<<4, 32>>>(memory, memory + 1, memory + 64, 32);
    else if (!strcmp(argv[1], "race"))
        observe_apart<<<4, 32>>>(memory, memory + 1, memory + 64);
    else if (!strcmp(argv[1], "another"))
        observe_another<<<2, 32>>>(memory, memory + 1);
    else if (!strcmp(argv[1], "lanes") || !strcmp(argv[1], "lane"))
        observe_one_lane<<<2, 32>>>(memory, argv[1][4] ? 32 : 1);
    else if (!strcmp(argv[1], "turns") || !strcmp(argv[1], "turn"))
        observe_last_lane<<<2, 32>>>(memory, argv[1][4] ? 9 : 0);
    else if (!strcmp(argv[1], "word") || !strcmp(argv[1], "part_of_word"))
        observe_word<<<2, 32>>>(memory, memory + 2, memory + 64, argv[1][0] == 'p');
    else if (!strcmp(argv[1], "words") || !strcmp(argv[1], "part_of_words"))
        observe_words<<<2, 32>>>(memory, memory + 2, memory + 64, argv[1][0] == 'p');
    else if (!strcmp(argv[1], "half") || !strcmp(argv[1], "whole_over_half"))
        acquire_half<<<2, 32>>>(memory, memory + 1, memory + 2, memory + 64, argv[1][0] == 'w');
    else
        acquire_narrowly<<<2, 64>>>(memory, memory + 1, memory + 2, memory + 64, !strcmp(argv[1], "other_block"));
    cudaError_t failed = cudaDeviceSynchronize();
    cudaFree(memory);
    return failed != cudaSuccess;
}

// A bulk copy to shared::cta, which PTX ISA 8.6 has added.
#include <cstdio>

__global__ void copy(const int *from, int *to)
{
    __shared__ alignas(16) int part[32];
    __shared__ alignas(8) unsigned long long arrived;
    unsigned barrier = __cvta_generic_to_shared(&arrived), at = __cvta_generic_to_shared(part);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(barrier) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(at),
                     "l"(from), "r"(barrier)
                     : "memory");
    }
    __syncthreads();
    asm volatile("{\n"
                 "    .reg .pred p;\n"
                 "again:\n"
                 "    mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n"
                 "    @!p bra again;\n"
                 "}" ::"r"(barrier)
                 : "memory");
    to[threadIdx.x] = part[threadIdx.x];
}

int main()
{
    int *from, *to;
    cudaMallocManaged(&from, 128);
    cudaMallocManaged(&to, 128);
    for (int i = 0; i < 32; i++)
        from[i] = i * i;
    copy<<<1, 32>>>(from, to);
    const char *status = cudaGetErrorString(cudaDeviceSynchronize());
    printf("%s %d\n", status, to[31]);
    return 0;
}

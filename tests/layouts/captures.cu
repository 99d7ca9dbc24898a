/* What extended lambdas capture (captures.cuh): a program that runs its kernels as its own or, where it is given a PTX file, those of
 * another compiler, with arguments laid out by its own. It prints how long each closure is on either side, and what comes of it: the same, whoever
 * made which. captures.txt and captures.ptx.xz are nvcc 13.0's, as closures.txt. */
#include <cstdio>
#include <cuda.h>
#include <cuda_runtime.h>

#define HD __host__ __device__
static CUmodule other;

template <class F> __global__ void run_lambda(F f, int after, int *out)
{
    out[0] = sizeof(F);
    out[1] = f(1000000);
    out[2] = after;
}
struct Run {
    int *out, *memory;
    template <class F> void operator()(F f) const
    {
        int after = 77;
        if (other) {
            const char *name;
            CUfunction function;
            cudaFuncGetName(&name, (const void *)run_lambda<F>);
            CUresult e = cuModuleGetFunction(&function, other, name);
            int *to = out;
            void *arguments[] = {&f, &after, &to};
            e = e ? e : cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
            if (e)
                printf("%s: error %d\n", name, e);
        } else {
            run_lambda<<<1, 1>>>(f, after, out);
        }
        cudaDeviceSynchronize();
        printf("%zu %d %d %d\n", sizeof(F), out[0], out[1], out[2]);
    }
};
namespace on_device {
#define LAMBDA __device__
#include "captures.cuh"
#undef LAMBDA
}
namespace on_both {
#define LAMBDA __host__ __device__
#include "captures.cuh"
}

int main(int argc, char **argv)
{
    Run run;
    cudaMallocManaged(&run.out, 64);
    cudaMallocManaged(&run.memory, 64);
    if (argc > 1 && cuModuleLoad(&other, argv[1]))
        return 1;
    on_device::all(run);
    on_both::all(run);
    return cudaDeviceSynchronize();
}

// Math functions have float and double overloads, and no vector ones. __sinf and its kind are faster and less exact.
#include "course.h"

__global__ void angles(double *out)
{
    const float x = 2.5f;
    out[0] = sin((double)x);
    out[1] = sin(x); // the overload for float
    out[2] = __sinf(x);
}

int main()
{
    double *out = managed<double>(3);
    angles<<<1, 1>>>(out);
    CUDA(cudaDeviceSynchronize());
    printf("sin(2.5): double %.12f, float %.6f, __sinf within 1e-6: %s\n", out[0], out[1],
           fabs(out[2] - out[0]) < 1e-6 ? "yes" : "no");
}

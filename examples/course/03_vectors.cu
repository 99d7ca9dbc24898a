// Vector types on host and device: make_<type>, components x y z w (and no r g b a).
#include "course.h"

__global__ void reverse(const float4 *in, float4 *out)
{
    const float4 v = in[threadIdx.x]; // one load of 16 bytes
    out[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
}

int main()
{
    const int2 i2 = make_int2(1, 2);
    float4 *v = managed<float4>(4), *r = v + 2;
    v[0] = make_float4(1, 2, 3, 4);
    v[1] = make_float4(5, 6, 7, 8);
    reverse<<<1, 2>>>(v, r);
    CUDA(cudaDeviceSynchronize());
    printf("int2 is (%d, %d); (5 6 7 8) reversed is (%g %g %g %g)\n", i2.x, i2.y, r[1].x, r[1].y, r[1].z, r[1].w);
    printf("sizes: char3 %zu, float3 %zu, float4 %zu, double2 %zu bytes\n", sizeof(char3), sizeof(float3), sizeof(float4),
           sizeof(double2));
}

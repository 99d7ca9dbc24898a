// Why is float3 slower than float4? A float4 is aligned to 16 bytes and moves in one access; a float3 takes three.
// Vector types exist on host and device. make_TYPE makes one; its members are .x .y .z .w (not .r .g .b .a as in GLSL).
// Mathematical functions have overloads for float and double, but none for vectors.
// `heddle explain ./04_vector_types` counts "4 requests, 1.0 sectors each": one of the four stores the float4. On the page: "Source".
#include "course.h"

__global__ void make(int2 *i2, float4 *f4, double *roots)
{
    *i2 = make_int2(1, 2);
    *f4 = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    int x = i2->x, y = i2->y;
    i2->x = y;
    i2->y = x;
    roots[0] = sqrt(2.0f); // float overload
    roots[1] = sqrt(2.0);  // double overload
}

int main()
{
    int2 *i2 = managed<int2>(1);
    float4 *f4 = managed<float4>(1);
    double *roots = managed<double>(2);
    make<<<1, 1>>>(i2, f4, roots);
    CHECK_LAUNCH();
    printf("int2 (%d, %d), swapped by its members\n", i2->x, i2->y);
    printf("float4 (%g, %g, %g, %g): %zu bytes, aligned to %zu: one access of memory\n", f4->x, f4->y, f4->z, f4->w,
           sizeof *f4, alignof(float4));
    printf("float3 has %zu bytes and is aligned to %zu: three accesses\n", sizeof(float3), alignof(float3));
    printf("sqrt(2.0f) = %.10f, sqrt(2.0) = %.10f\n", roots[0], roots[1]);
    expect(i2->x == 2 && i2->y == 1 && f4->w == 4, "members");
    expect(roots[0] != roots[1], "the overloads differ in precision");
}

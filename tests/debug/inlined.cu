/* Functions that are inlined into each other, and into a kernel. */
struct vec3 {
    float x, y, z;
};

__device__ __forceinline__ float square(float a)
{
    float q = a * a;
    return q;
}

__device__ __forceinline__ float dot(const vec3 &a, const vec3 &b)
{
    float r = a.x * b.x + a.y * b.y;
    r += a.z * b.z;
    return square(r) - r;
}

__global__ void project(float *out, const vec3 *in, vec3 by)
{
    int i = threadIdx.x;
    vec3 v = in[i];
    float d = dot(v, by);
    for (int k = 0; k < 3; k++)
        d += square(d) * k;
    out[i] = d;
}

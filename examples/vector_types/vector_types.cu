// The vector types of the lecture "CUDA: threads, memory, atomics": made with make_<type>, read with .x .y .z .w, and
// moved by one instruction. The slides' `func(x)` is x * x here.

// "Review: Thread Hierarchies": one element a thread.
extern "C" __global__ void square(const float *input, float *output)
{
    int threadID = blockIdx.x * blockDim.x + threadIdx.x;
    float x = input[threadID];
    float y = x * x;
    output[threadID] = y;
}

// The slides' int2 i2 = make_int2(1, 2) and float4 f4 = make_float4(1.0f, 2.0f, 3.0f, 4.0f), component by component.
extern "C" __global__ void make_vectors(int *ints, float *floats)
{
    int2 i2 = make_int2(1, 2);
    float4 f4 = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    ints[0] = i2.x;
    ints[1] = i2.y;
    floats[0] = f4.x;
    floats[1] = f4.y;
    floats[2] = f4.z;
    floats[3] = f4.w;
}

// Loads and stores of whole vectors: sums of components, and components in another order.
extern "C" __global__ void use_vectors(const float4 *in, float4 *out, const short4 *small, int2 *sums,
                                       const double2 *wide, double2 *swapped)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(v.w, v.z, v.y, v.x + v.w);
    short4 s = small[i];
    sums[i] = make_int2(s.x + s.y, s.z + s.w);
    double2 d = wide[i];
    swapped[i] = make_double2(d.y, d.x);
}

// "Thread Synchronization": Mds[i] = Md[j]; __syncthreads(); func(Mds[i], Mds[i + 1]), with a sum for func. One block;
// the last thread's neighbour is the first.
extern "C" __global__ void neighbour_sum(const int *Md, int *out)
{
    extern __shared__ int Mds[];
    int i = threadIdx.x;
    Mds[i] = Md[i];
    __syncthreads();
    out[i] = Mds[i] + Mds[(i + 1) % blockDim.x];
}

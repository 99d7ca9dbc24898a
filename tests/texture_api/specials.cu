/* Linear filters of infinities, NaNs, subnormal numbers and signed zeros, in pictures and volumes of f32
 * and f16: sums of what is read. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <vector>

static const unsigned long long BASIS = 1469598103934665603ull, PRIME = 1099511628211ull;
static const unsigned F32[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                               0x7f812345, 0x7f7fffff, 0xff7fffff, 0x00000001, 0x80000123, 0x007fffff, 0x00800000, 0x41234567};
static const unsigned short F16[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe12,
                                     0x7d23, 0x7bff, 0xfbff, 1,      0x8123, 0x03ff, 0x0400, 0x4abc};
static unsigned state;

static unsigned draw()
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

__global__ void read(cudaTextureObject_t t, const float4 *at, float *out, int n, bool volume)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = volume ? tex3D<float>(t, at[i].x, at[i].y, at[i].z) : tex2D<float>(t, at[i].x, at[i].y);
}

static void show(cudaArray_t a, const std::vector<float4> &at, bool volume)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    float4 *places;
    float *out;
    int n = (int)at.size();
    std::vector<float> got(n);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    d.filterMode = cudaFilterModeLinear;
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = cudaAddressModeClamp;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    cudaMalloc(&places, n * sizeof *places);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemcpy(places, at.data(), n * sizeof *places, cudaMemcpyHostToDevice);
    read<<<(n + 255) / 256, 256>>>(t, places, out, n, volume);
    cudaMemcpy(got.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost);
    unsigned long long sum = BASIS;
    for (size_t i = 0; i < n * sizeof(float); i++)
        sum = (sum ^ ((unsigned char *)got.data())[i]) * PRIME;
    printf("%016llx\n", sum);
}

template <class T> static void both(cudaChannelFormatDesc d, const T *values, unsigned seed)
{
    enum { SIDE = 64, PAIR_ROWS = 8, VOLUME = 8 };
    cudaArray_t picture, volume;
    std::vector<T> v(SIDE * SIDE), w(VOLUME * VOLUME * VOLUME);
    std::vector<float4> at, in;
    state = seed;
    for (int k = 0; k < 256; k++) {
        T *pair = &v[k / 32 * SIDE + k % 32 * 2];
        pair[0] = values[k / 16];
        pair[1] = values[k % 16];
    }
    for (int i = PAIR_ROWS * SIDE; i < SIDE * SIDE; i++) {
        unsigned r = draw();
        v[i] = r % 3 == 0 ? values[2] : r % 7 < 4 ? values[r / 64 & 3] : values[r / 4 % 16];
    }
    cudaMallocArray(&picture, &d, SIDE, SIDE);
    cudaMemcpy2DToArray(picture, 0, 0, v.data(), SIDE * sizeof(T), SIDE * sizeof(T), SIDE, cudaMemcpyHostToDevice);
    for (int k = 0; k < 256; k++)
        for (int fraction : {0, 1, 2, 77, 128, 254, 255})
            at.push_back({k % 32 * 2 + .5f + fraction / 256.f, k / 32 + .5f, 0, 0});
    for (int k = 0; k < 20000; k++) {
        float x = draw() % (SIDE * 256) / 256.f, y = 9 + draw() % (54 * 256) / 256.f;
        at.push_back({x, y, 0, 0});
    }
    show(picture, at, false);
    for (T &x : w) {
        unsigned r = draw();
        x = r % 5 ? values[2 + r / 8 % 2] : values[r / 64 % 16];
    }
    cudaMalloc3DArray(&volume, &d, make_cudaExtent(VOLUME, VOLUME, VOLUME));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(w.data(), VOLUME * sizeof(T), VOLUME, VOLUME);
    p.dstArray = volume;
    p.extent = make_cudaExtent(VOLUME, VOLUME, VOLUME);
    p.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&p);
    for (int k = 0; k < 8000; k++) {
        float x = draw() % (VOLUME * 256) / 256.f, y = draw() % (VOLUME * 256) / 256.f, z = draw() % (VOLUME * 256) / 256.f;
        in.push_back({x, y, z, 0});
    }
    show(volume, in, true);
}

int main()
{
    float f32[16];
    memcpy(f32, F32, sizeof f32);
    both<float>(cudaCreateChannelDesc<float>(), f32, 5);
    both<unsigned short>(cudaCreateChannelDescHalf(), F16, 6);
}

/* Reads a picture of 2048 x 2048 texels between its texels, as bench/peers/pictures.py has OpenCL do:
 * milliseconds of processor time and of wall time for each launch, and the sum of what is read. */
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda_runtime.h>
#include <sys/resource.h>
#include <vector>

enum { SIDE = 2048, TEXELS = SIDE * SIDE, WARM_UP = 8 };

template <class T> __global__ void shifted(cudaTextureObject_t t, T *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * SIDE + x] = tex2D<T>(t, x + .87f, y + 1.11f);
}

template <class T> __global__ void rotated(cudaTextureObject_t t, T *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * SIDE + x] = tex2D<T>(t, x * .93f + y * .12f + .5f, y * .91f - x * .1f + 100.5f);
}

static double processor_time()
{
    rusage r;
    getrusage(RUSAGE_SELF, &r);
    return r.ru_utime.tv_sec + r.ru_stime.tv_sec + 1e-6 * (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static double wall_time()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

template <class T, class K> static void run(const char *name, K kernel, cudaTextureObject_t t, int launches)
{
    const dim3 block(32, 8), grid(SIDE / 32, SIDE / 8);
    std::vector<T> read(TEXELS);
    double sum = 0;
    T *out;
    cudaMalloc(&out, TEXELS * sizeof(T));
    for (int i = 0; i < WARM_UP; i++)
        kernel<<<grid, block>>>(t, out);
    cudaDeviceSynchronize();
    double cpu = processor_time(), wall = wall_time();
    for (int i = 0; i < launches; i++)
        kernel<<<grid, block>>>(t, out);
    cudaDeviceSynchronize();
    cpu = processor_time() - cpu;
    wall = wall_time() - wall;
    cudaMemcpy(read.data(), out, TEXELS * sizeof(T), cudaMemcpyDeviceToHost);
    for (const T &v : read)
        sum += *(const float *)&v;
    printf("%s %.2f %.2f %.6g\n", name, cpu / launches * 1e3, wall / launches * 1e3, sum);
    cudaFree(out);
}

template <class T> static cudaTextureObject_t texture_of(const std::vector<T> &texels, cudaTextureReadMode mode)
{
    const cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();
    cudaArray_t array;
    cudaResourceDesc r = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t t;
    cudaMallocArray(&array, &d, SIDE, SIDE);
    cudaMemcpy2DToArray(array, 0, 0, texels.data(), SIDE * sizeof(T), SIDE * sizeof(T), SIDE, cudaMemcpyHostToDevice);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    how.filterMode = cudaFilterModeLinear;
    how.readMode = mode;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaCreateTextureObject(&t, &r, &how, nullptr);
    return t;
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 10;
    std::vector<float> floats(TEXELS);
    std::vector<uchar4> bytes(TEXELS);
    unsigned r = 1;
    for (int i = 0; i < TEXELS; i++) {
        r = r * 1664525 + 1013904223;
        floats[i] = (float)(r >> 8 & 1023);
        bytes[i] = {(unsigned char)(r >> 8), (unsigned char)(r >> 12), (unsigned char)(r >> 16), (unsigned char)(r >> 24)};
    }
    cudaTextureObject_t f = texture_of(floats, cudaReadModeElementType), b = texture_of(bytes, cudaReadModeNormalizedFloat);
    run<float>("f32-shifted", shifted<float>, f, launches);
    run<float>("f32-rotated", rotated<float>, f, launches);
    run<float4>("rgba8-shifted", shifted<float4>, b, launches);
    run<float4>("rgba8-rotated", rotated<float4>, b, launches);
}

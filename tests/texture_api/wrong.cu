// Kernels that use textures and surfaces which they may not: wrong CASE.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>

__global__ void read(cudaTextureObject_t t, float *o)
{
    *o = tex2D<float>(t, 1, 1);
}

__global__ void write(cudaSurfaceObject_t s, int x)
{
    surf2Dwrite(1.f, s, x, 0);
}

__global__ void child(int *p)
{
    *p = 5;
}

__global__ void parent()
{
    __shared__ int x;
    child<<<1, 1>>>(&x);
}

static void must(int error)
{
    if (error)
        exit(printf("error %d\n", error));
}

static cudaResourceDesc of(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}

static cudaTextureObject_t texture(const cudaResourceDesc &r)
{
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    must(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

int main(int, char **argv)
{
    cudaArray_t a;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaSurfaceObject_t s;
    float *o;
    auto is = [&](const char *name) { return !strcmp(argv[1], name); };
    must(cudaMalloc(&o, 4));
    must(cudaMallocArray(&a, &format, 8, 8, cudaArraySurfaceLoadStore));
    cudaResourceDesc r = of(a);
    cudaTextureObject_t t = texture(r);
    must(cudaCreateSurfaceObject(&s, &r));
    if (is("forged")) {
        read<<<1, 1>>>(0x123456789abc, o);
    } else if (is("other kind")) {
        write<<<1, 1>>>(t, 0);
    } else if (is("destroyed")) {
        must(cudaDestroyTextureObject(t));
        read<<<1, 1>>>(t, o);
    } else if (is("freed")) {
        must(cudaFreeArray(a));
        read<<<1, 1>>>(t, o);
    } else if (is("beyond")) {
        r.resType = cudaResourceTypePitch2D;
        must(cudaMalloc(&r.res.pitch2D.devPtr, 1024));
        r.res.pitch2D.desc = format;
        r.res.pitch2D.width = 8;
        r.res.pitch2D.height = 100;
        r.res.pitch2D.pitchInBytes = 32;
        read<<<1, 1>>>(texture(r), o);
    } else if (is("another texture") || is("another surface")) {
        CUcontext c;
        must(cuCtxCreate(&c, nullptr, 0, 0));
        must(cudaMalloc(&o, 4));
        if (is("another texture"))
            read<<<1, 1>>>(t, o);
        else
            write<<<1, 1>>>(s, 0);
    } else if (is("misaligned")) {
        write<<<1, 1>>>(s, 2);
    } else if (is("outside")) {
        write<<<1, 1>>>(s, -4);
    } else if (is("shared")) {
        parent<<<1, 1>>>();
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

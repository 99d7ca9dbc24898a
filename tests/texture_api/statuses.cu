/* What the calls of arrays, textures and surfaces answer where their arguments are wrong, at a limit, or rare: one line a subject,
 * the answers of its calls in their order. An H200's lines are in statuses.txt.
 * nvcc -std=c++17 -arch=sm_90 statuses.cu -lcuda */
#include <cuda.h>
#include <cuda_runtime.h>

#include <unistd.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static std::string line;
static unsigned dummy_memory[256];

static void say(const char *format, ...)
{
    char text[512];
    va_list a;
    va_start(a, format);
    vsnprintf(text, sizeof text, format, a);
    va_end(a);
    line += text;
}

static void R(cudaError_t e)
{
    say(" %d", (int)e);
    cudaGetLastError();
}

static void D(CUresult r)
{
    say(" %d", (int)r);
}

static void done(const char *name)
{
    printf("%s:%s\n", name, line.c_str());
    fflush(stdout);
    line.clear();
}

typedef cudaChannelFormatDesc Channels;
static const Channels F1 = {32, 0, 0, 0, cudaChannelFormatKindFloat}, U8 = {8, 0, 0, 0, cudaChannelFormatKindUnsigned},
                      U8x4 = {8, 8, 8, 8, cudaChannelFormatKindUnsigned}, I32 = {32, 0, 0, 0, cudaChannelFormatKindSigned},
                      F4 = {32, 32, 32, 32, cudaChannelFormatKindFloat}, H4 = {16, 16, 16, 16, cudaChannelFormatKindFloat},
                      S16x2 = {16, 16, 0, 0, cudaChannelFormatKindSigned};

static cudaArray_t array(Channels c, size_t w, size_t h = 0, size_t d = 0, unsigned flags = 0)
{
    cudaArray_t a = nullptr;
    cudaError_t e = cudaMalloc3DArray(&a, &c, make_cudaExtent(w, h, d), flags);
    if (e)
        say(" (array: %d)", (int)e), cudaGetLastError();
    return a;
}

/* ---- creating ---- */

static void formats()
{
    for (int kind = -1; kind <= 40; kind++) {
        for (auto b : {std::vector<int>{8, 0, 0, 0}, {16, 0, 0, 0}, {32, 0, 0, 0}, {64, 0, 0, 0}, {8, 8, 0, 0}, {16, 16, 0, 0}, {32, 32, 0, 0}, {8, 8, 8, 0}, {16, 16, 16, 0}, {8, 8, 8, 8}, {16, 16, 16, 16}, {32, 32, 32, 32}, {0, 8, 0, 0}, {8, 16, 0, 0}, {7, 0, 0, 0}, {0, 0, 0, 0}, {10, 10, 10, 2}, {-8, 0, 0, 0}}) {
            Channels c = {b[0], b[1], b[2], b[3], (cudaChannelFormatKind)kind}, is;
            cudaArray_t a = nullptr;
            cudaError_t e = cudaMallocArray(&a, &c, 16, 16);
            R(e);
            if (!e) {
                cudaExtent x;
                unsigned flags;
                CUDA_ARRAY3D_DESCRIPTOR d = {};
                cudaArrayGetInfo(&is, &x, &flags, a);
                cuArray3DGetDescriptor(&d, (CUarray)a);
                say("=%d,%d,%d,%d,%d/%d,%u", is.x, is.y, is.z, is.w, (int)is.f, (int)d.Format, d.NumChannels);
                cudaFreeArray(a);
            }
        }
        done(("format_kind_" + std::to_string(kind)).c_str());
    }
    for (int format = 0; format < 0x100; format = format == 0x4f ? 0xb6 : format + 1)
        for (unsigned n = 0; n <= 5; n++) {
            CUDA_ARRAY_DESCRIPTOR d = {64, 64, (CUarray_format)format, n};
            CUarray a = nullptr;
            CUresult r = cuArrayCreate(&a, &d);
            if (r == CUDA_SUCCESS)
                say(" %x/%u", format, n), cuArrayDestroy(a);
            else if (r != CUDA_ERROR_INVALID_VALUE)
                say(" %x/%u=%d", format, n, (int)r);
        }
    done("driver_formats");
}

static void extents()
{
    const size_t e[][3] = {{16, 0, 0}, {16, 16, 0}, {16, 16, 6}, {16, 16, 12}, {16, 16, 7}, {16, 8, 6}, {16, 0, 6}, {16, 0, 4}, {0, 16, 0}, {0, 0, 0}, {0, 16, 16}, {16, 16, 3},
                           {131072, 0, 0}, {131073, 0, 0}, {1 << 28, 0, 0}, {131072, 1, 0}, {131073, 1, 0}, {1, 65536, 0}, {1, 65537, 0}, {16384, 1, 1}, {16385, 1, 1}, {1, 16384, 1}, {1, 16385, 1}, {1, 1, 16384}, {1, 1, 16385},
                           {1, 1, 32768}, {8192, 1, 1}, {32768, 0, 1}, {32769, 0, 1}, {1, 0, 2048}, {1, 0, 2049}, {32768, 1, 1}, {32769, 1, 1}, {1, 32768, 1}, {1, 32769, 1}, {1, 1, 2048}, {1, 1, 2049}, {32768, 1, 0}, {32769, 1, 0}, {1, 32768, 0}, {1, 32769, 0},
                           {1, 1, 6}, {1, 1, 2046}, {1, 1, 2052}, {2, 2, 6}, {2, 2, 5}, {32769, 32769, 6}, {(size_t)-1, 1, 1}, {(size_t)1 << 33, 1, 0}};
    for (unsigned flags = 0; flags < 16; flags++) {
        for (auto &x : e) {
            cudaArray_t a = nullptr;
            cudaError_t r = cudaMalloc3DArray(&a, &U8, make_cudaExtent(x[0], x[1], x[2]), flags);
            R(r);
            if (!r) {
                Channels c;
                cudaExtent is;
                unsigned f;
                cudaArrayGetInfo(&c, &is, &f, a);
                CUDA_ARRAY3D_DESCRIPTOR d = {};
                CUresult y = cuArray3DGetDescriptor(&d, (CUarray)a);
                if (is.width != x[0] || is.height != x[1] || is.depth != x[2] || f != flags || y || d.Width != x[0] || d.Height != x[1] || d.Depth != x[2] || d.Flags != flags)
                    say("=%zu,%zu,%zu,%u/%d,%zu,%zu,%zu,%u", is.width, is.height, is.depth, f, (int)y, d.Width, d.Height, d.Depth, d.Flags);
                cudaFreeArray(a);
            }
        }
        done(("extents_flags_" + std::to_string(flags)).c_str());
    }
    for (unsigned flags : {0x10u, 0x20u, 0x40u, 0x80u, 0x100u, 0x200u}) {
        cudaArray_t a = nullptr;
        cudaError_t r = cudaMalloc3DArray(&a, &U8, make_cudaExtent(64, 64, 0), flags);
        R(r);
        if (!r) {
            unsigned f;
            cudaArrayGetInfo(nullptr, nullptr, &f, a);
            say("=%x", f);
            cudaFreeArray(a);
        }
    }
    done("extents_other_flags");
    for (unsigned flags = 0; flags < 0x20; flags++)
        for (auto &x : {e[0], e[1], e[2], e[7]}) {
            CUDA_ARRAY3D_DESCRIPTOR d = {x[0], x[1], x[2], CU_AD_FORMAT_FLOAT, 1, flags};
            CUarray a = nullptr;
            CUresult r = cuArray3DCreate(&a, &d);
            if (!r)
                cuArrayDestroy(a);
            say(" %x/%d", flags, (int)r);
        }
    done("driver_flags");
    cudaArray_t a;
    Channels c = F1;
    R(cudaMallocArray(nullptr, &c, 16, 16)), R(cudaMallocArray(&a, nullptr, 16, 16)), R(cudaMalloc3DArray(nullptr, &c, make_cudaExtent(1, 1, 1), 0)), R(cudaMalloc3DArray(&a, nullptr, make_cudaExtent(1, 1, 1), 0));
    for (unsigned f = 0; f < 16; f++) {
        cudaError_t r = cudaMallocArray(&a, &c, 16, 16, f);
        R(r);
        if (!r)
            cudaFreeArray(a);
    }
    for (unsigned f = 0; f < 16; f++) {
        cudaError_t r = cudaMallocArray(&a, &c, 16, 0, f);
        R(r);
        if (!r)
            cudaFreeArray(a);
    }
    done("malloc_array");
}

static void mipmaps()
{
    const size_t e[][3] = {{16, 0, 0}, {16, 16, 0}, {16, 8, 0}, {16, 16, 16}, {16, 16, 6}, {5, 3, 0}, {5, 3, 4}, {1, 1, 0}, {0, 0, 0}, {32768, 0, 0}, {32769, 0, 0}, {32768, 1, 0}, {32769, 1, 0}, {1, 32768, 0}, {1, 32769, 0}, {16384, 1, 1}, {1, 1, 16384}, {1, 1, 16385}};
    for (unsigned flags = 0; flags < 16; flags++) {
        for (auto &x : e)
            for (unsigned levels : {0u, 1u, 3u, 20u}) {
                cudaMipmappedArray_t m = nullptr;
                cudaError_t r = cudaMallocMipmappedArray(&m, &U8, make_cudaExtent(x[0], x[1], x[2]), levels, flags);
                R(r);
                for (unsigned i = 0; !r && i < 30; i++) {
                    cudaArray_t a = nullptr;
                    cudaError_t q = cudaGetMipmappedArrayLevel(&a, m, i);
                    cudaGetLastError();
                    if (q) {
                        say("[%u:%d]", i, (int)q);
                        break;
                    }
                    cudaExtent is;
                    unsigned f;
                    cudaArrayGetInfo(nullptr, &is, &f, a);
                    if (levels > 1 && levels < 20)
                        say("[%zu,%zu,%zu,%u]", is.width, is.height, is.depth, f);
                }
                if (!r)
                    cudaFreeMipmappedArray(m);
            }
        done(("mipmap_flags_" + std::to_string(flags)).c_str());
    }
    cudaMipmappedArray_t m = nullptr;
    cudaArray_t a = nullptr, b = nullptr;
    R(cudaMallocMipmappedArray(nullptr, &F1, make_cudaExtent(8, 8, 0), 2)), R(cudaMallocMipmappedArray(&m, nullptr, make_cudaExtent(8, 8, 0), 2)), R(cudaMallocMipmappedArray(&m, &F1, make_cudaExtent(8, 8, 0), 2)), R(cudaGetMipmappedArrayLevel(nullptr, m, 0)), R(cudaGetMipmappedArrayLevel(&a, nullptr, 0)), R(cudaGetMipmappedArrayLevel(&a, m, 2)), R(cudaGetMipmappedArrayLevel(&a, m, 0)), R(cudaGetMipmappedArrayLevel(&b, m, 0)), say(" %d", a == b);
    R(cudaFreeArray(a)), R(cudaArrayGetInfo(nullptr, nullptr, nullptr, a)), R(cudaGetMipmappedArrayLevel(&a, m, 0)), say(" %d", a == b), R(cudaFreeMipmappedArray(m)), R(cudaFreeMipmappedArray(nullptr));
    R(cudaMallocMipmappedArray(&m, &F4, make_cudaExtent(8, 8, 0), 2, 0)), R(cudaFreeMipmappedArray(m));
    CUmipmappedArray u = nullptr;
    CUDA_ARRAY3D_DESCRIPTOR d = {8, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0};
    D(cuMipmappedArrayCreate(&u, &d, 0)), D(cuMipmappedArrayCreate(nullptr, &d, 2)), D(cuMipmappedArrayCreate(&u, nullptr, 2)), D(cuMipmappedArrayCreate(&u, &d, 5)), D(cuMipmappedArrayCreate(&u, &d, 4));
    CUarray l = nullptr;
    D(cuMipmappedArrayGetLevel(&l, u, 4)), D(cuMipmappedArrayGetLevel(&l, u, 3)), D(cuMipmappedArrayGetLevel(nullptr, u, 3)), D(cuArrayDestroy(l)), D(cuMipmappedArrayDestroy(u)), D(cuMipmappedArrayDestroy(nullptr)), D(cuArrayDestroy(nullptr));
    done("mipmap_rest");
}

static void info()
{
    cudaArray_t a = array(F1, 40, 20), l = array(U8, 24, 0, 3, cudaArrayLayered), q = nullptr;
    Channels c;
    cudaExtent e;
    unsigned f;
    R(cudaArrayGetInfo(&c, &e, &f, nullptr)), R(cudaArrayGetInfo(nullptr, nullptr, nullptr, a)), R(cudaArrayGetInfo(&c, nullptr, nullptr, a)), R(cudaGetChannelDesc(&c, nullptr)), R(cudaGetChannelDesc(nullptr, a)), R(cudaGetChannelDesc(&c, a)), say(" %d,%d,%d", c.x, c.y, (int)c.f);
    cudaArrayMemoryRequirements mr = {};
    R(cudaArrayGetMemoryRequirements(&mr, a, 0)), R(cudaArrayGetMemoryRequirements(&mr, nullptr, 0)), R(cudaArrayGetMemoryRequirements(nullptr, a, 0)), R(cudaArrayGetMemoryRequirements(&mr, a, 7));
    cudaArraySparseProperties sp = {};
    R(cudaArrayGetSparseProperties(&sp, a)), R(cudaArrayGetSparseProperties(&sp, nullptr)), R(cudaArrayGetPlane(&q, a, 0)), R(cudaArrayGetPlane(&q, a, 1)), R(cudaArrayGetPlane(nullptr, a, 0)), R(cudaArrayGetPlane(&q, nullptr, 0));
    CUDA_ARRAY_DESCRIPTOR d2 = {};
    CUDA_ARRAY3D_DESCRIPTOR d3 = {};
    D(cuArrayGetDescriptor(&d2, (CUarray)a)), say("=%zu,%zu,%d,%u", d2.Width, d2.Height, (int)d2.Format, d2.NumChannels), D(cuArrayGetDescriptor(&d2, (CUarray)l)), say("=%zu,%zu,%d,%u", d2.Width, d2.Height, (int)d2.Format, d2.NumChannels), D(cuArrayGetDescriptor(nullptr, (CUarray)a)), D(cuArrayGetDescriptor(&d2, nullptr)), D(cuArray3DGetDescriptor(nullptr, (CUarray)a)), D(cuArray3DGetDescriptor(&d3, nullptr));
    R(cudaFreeArray(a)), R(cudaFreeArray(l));
    CUDA_ARRAY_DESCRIPTOR n = {16, 16, CU_AD_FORMAT_FLOAT, 1};
    CUarray x;
    D(cuArrayCreate(nullptr, &n)), D(cuArrayCreate(&x, nullptr)), D(cuArray3DCreate(&x, nullptr)), D(cuArray3DCreate(nullptr, &d3));
    for (auto c : {F1, U8, U8x4, F4, S16x2, Channels{32, 32, 0, 0, cudaChannelFormatKindFloat}, H4}) {
        size_t most = 0;
        R(cudaDeviceGetTexture1DLinearMaxWidth(&most, &c, 0)), say("=%zu", most);
    }
    size_t most = 0;
    R(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &F1, 0)), R(cudaDeviceGetTexture1DLinearMaxWidth(&most, nullptr, 0)), R(cudaDeviceGetTexture1DLinearMaxWidth(&most, &F1, 99)), D(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 3, 0)), D(cuDeviceGetTexture1DLinearMaxWidth(&most, CU_AD_FORMAT_FLOAT, 2, 0)), say("=%zu", most), D(cuDeviceGetTexture1DLinearMaxWidth(&most, (CUarray_format)99, 2, 0));
    for (auto k : {cudaChannelFormatKindUnsigned, cudaChannelFormatKindNone})
        for (auto b : {std::vector<int>{3, 0, 0, 0}, {0, 0, 0, 0}, {64, 0, 0, 0}}) {
            Channels z = {b[0], b[1], b[2], b[3], k};
            R(cudaDeviceGetTexture1DLinearMaxWidth(&most, &z, 0));
        }
    done("info");
}

/* ---- copies ---- */

static std::vector<unsigned char> numbers(size_t n)
{
    std::vector<unsigned char> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = (unsigned char)(i * 37 + i / 251 + 1);
    return v;
}

static unsigned hash(const void *p, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 16777619u;
    return h;
}

/* All of an array. */
static void contents(cudaArray_t a, size_t row, size_t rows)
{
    std::vector<unsigned char> v(row * rows, 0xee);
    cudaError_t e = cudaMemcpy2DFromArray(v.data(), row, a, 0, 0, row, rows, cudaMemcpyDeviceToHost);
    say("(%d,%08x)", (int)e, hash(v.data(), v.size()));
}

static void copies_2d()
{
    cudaArray_t a = array(F1, 40, 20), b = array(F1, 40, 20), one = array(F1, 40), cube = array(F1, 8, 8, 8), lay = array(F1, 8, 8, 3, cudaArrayLayered), u8 = array(U8, 160, 20);
    auto v = numbers(1 << 16);
    char *h = (char *)v.data(), *d;
    cudaMalloc(&d, 1 << 16);
    cudaMemset(d, 5, 1 << 16);
    auto to = [&](cudaArray_t x, size_t w, size_t y, size_t pitch, size_t width, size_t height, cudaMemcpyKind k) { R(cudaMemcpy2DToArray(x, w, y, h, pitch, width, height, k)); };
    auto H2D = cudaMemcpyHostToDevice;
    to(a, 0, 0, 160, 160, 20, H2D), to(a, 0, 0, 160, 164, 20, H2D), to(a, 0, 0, 164, 164, 20, H2D), to(a, 0, 0, 160, 160, 21, H2D), to(a, 4, 0, 160, 160, 20, H2D), to(a, 4, 0, 160, 156, 20, H2D), to(a, 0, 1, 160, 160, 20, H2D), to(a, 0, 1, 160, 160, 19, H2D);
    to(a, 2, 0, 160, 4, 1, H2D), to(a, 0, 0, 160, 6, 1, H2D), to(a, 0, 0, 160, 3, 1, H2D), to(a, 0, 0, 6, 4, 2, H2D), to(a, 0, 0, 5, 4, 1, H2D), to(a, 0, 0, 0, 4, 1, H2D), to(a, 0, 0, 3, 4, 1, H2D), to(a, 0, 0, 160, 0, 4, H2D), to(a, 0, 0, 160, 4, 0, H2D), to(a, 160, 0, 160, 0, 0, H2D), to(a, 164, 0, 160, 0, 0, H2D), to(a, 160, 0, 160, 4, 1, H2D), to(nullptr, 0, 0, 160, 0, 0, H2D), to(nullptr, 0, 0, 160, 160, 1, H2D);
    to(a, 0, 0, 160, 160, 20, cudaMemcpyHostToHost), to(a, 0, 0, 160, 160, 20, cudaMemcpyDeviceToHost), to(a, 0, 0, 160, 160, 20, cudaMemcpyDeviceToDevice), to(a, 0, 0, 160, 160, 20, cudaMemcpyDefault), to(a, 0, 0, 160, 160, 20, (cudaMemcpyKind)5), to(a, 0, 0, 160, 160, 20, (cudaMemcpyKind)-1);
    done("to_array_2d");
    to(one, 0, 0, 160, 160, 1, H2D), to(one, 0, 0, 160, 160, 2, H2D), to(one, 0, 1, 160, 160, 1, H2D), to(one, 0, 1, 160, 0, 0, H2D), to(one, 0, 0, 160, 160, 0, H2D), to(cube, 0, 0, 32, 32, 8, H2D), to(cube, 0, 0, 32, 32, 9, H2D), to(lay, 0, 0, 32, 32, 8, H2D), to(lay, 0, 8, 32, 32, 8, H2D), to(u8, 1, 1, 160, 3, 3, H2D), to(u8, (size_t)-1, 0, 160, 1, 1, H2D), to(a, (size_t)-4, 0, 160, 8, 1, H2D), to(a, 0, (size_t)-1, 160, 8, 2, H2D);
    R(cudaMemcpy2DToArray(a, 0, 0, nullptr, 160, 160, 1, H2D)), R(cudaMemcpy2DToArray(a, 0, 0, d, 160, 160, 20, cudaMemcpyDeviceToDevice)), R(cudaMemcpy2DToArray(a, 0, 0, d, 160, 160, 20, cudaMemcpyDefault)), R(cudaMemcpy2DToArray(a, 0, 0, d + (1 << 16) - 160, 160, 160, 20, cudaMemcpyDeviceToDevice)), R(cudaMemcpy2DToArray(a, 0, 0, d + 1, 160, 160, 20, cudaMemcpyDeviceToDevice)), R(cudaMemcpy2DToArray(a, 0, 0, d, 161, 160, 20, cudaMemcpyDeviceToDevice)), R(cudaMemcpy2DToArray(a, 0, 0, d, 160, 160, 20, H2D));
    done("to_array_2d_more");
    auto from = [&](void *p, size_t pitch, cudaArray_t x, size_t w, size_t y, size_t width, size_t height, cudaMemcpyKind k) { R(cudaMemcpy2DFromArray(p, pitch, x, w, y, width, height, k)); };
    auto D2H = cudaMemcpyDeviceToHost;
    from(h, 160, a, 0, 0, 160, 20, D2H), from(h, 100, a, 0, 0, 160, 20, D2H), from(h, 160, a, 4, 0, 160, 20, D2H), from(h, 160, a, 2, 0, 4, 1, D2H), from(h, 160, a, 0, 19, 4, 2, D2H), from(h, 160, nullptr, 0, 0, 4, 1, D2H), from(nullptr, 160, a, 0, 0, 4, 1, D2H), from(h, 160, a, 0, 0, 4, 1, H2D), from(h, 160, a, 0, 0, 4, 1, cudaMemcpyHostToHost), from(h, 160, a, 0, 0, 4, 1, cudaMemcpyDeviceToDevice), from(h, 160, a, 0, 0, 4, 1, cudaMemcpyDefault), from(d, 160, a, 0, 0, 160, 20, cudaMemcpyDefault), from(d, 160, a, 0, 0, 160, 20, cudaMemcpyDeviceToDevice), from(d, 160, a, 0, 0, 160, 20, D2H), from(h, 160, a, 0, 0, 0, 1, D2H);
    R(cudaMemcpy2DFromArrayAsync(h, 160, a, 0, 0, 160, 20, D2H, nullptr)), R(cudaMemcpy2DToArrayAsync(a, 0, 0, h, 160, 160, 20, H2D, nullptr)), R(cudaMemcpy2DToArrayAsync(a, 0, 0, h, 160, 160, 21, H2D, nullptr)), R(cudaMemcpy2DToArrayAsync(a, 0, 0, h, 160, 160, 20, D2H, nullptr)), R(cudaDeviceSynchronize());
    done("from_array_2d");
    auto aa = [&](cudaArray_t x, size_t xw, size_t xh, cudaArray_t y, size_t yw, size_t yh, size_t w, size_t r, cudaMemcpyKind k) { R(cudaMemcpy2DArrayToArray(x, xw, xh, y, yw, yh, w, r, k)); };
    auto D2D = cudaMemcpyDeviceToDevice;
    aa(b, 0, 0, a, 0, 0, 160, 20, D2D), aa(b, 4, 0, a, 0, 0, 160, 20, D2D), aa(b, 0, 0, a, 4, 0, 160, 20, D2D), aa(b, 0, 0, a, 0, 0, 160, 21, D2D), aa(u8, 0, 0, a, 0, 0, 160, 20, D2D), aa(u8, 1, 0, a, 4, 0, 4, 20, D2D), aa(cube, 0, 0, a, 0, 0, 32, 8, D2D), aa(a, 0, 0, a, 0, 1, 160, 19, D2D), aa(b, 0, 0, nullptr, 0, 0, 1, 1, D2D), aa(nullptr, 0, 0, a, 0, 0, 1, 1, D2D), aa(b, 0, 0, a, 0, 0, 160, 20, H2D), aa(b, 0, 0, a, 0, 0, 160, 20, D2H), aa(b, 0, 0, a, 0, 0, 160, 20, cudaMemcpyHostToHost), aa(b, 0, 0, a, 0, 0, 160, 20, cudaMemcpyDefault), aa(b, 0, 0, a, 0, 0, 0, 0, D2D), aa(b, 0, 0, a, 2, 0, 4, 4, D2D);
    done("array_to_array_2d");
    auto v2 = numbers(3200);
    R(cudaMemcpyToArray(a, 0, 0, v2.data(), 3200, H2D)), contents(a, 160, 20), R(cudaMemcpyToArray(a, 0, 0, v2.data(), 100, H2D)), contents(a, 160, 20), R(cudaMemcpyToArray(a, 80, 3, v2.data() + 7, 700, H2D)), contents(a, 160, 20), R(cudaMemcpyToArray(a, 0, 0, v2.data(), 3204, H2D)), R(cudaMemcpyToArray(a, 80, 19, v2.data(), 84, H2D)), R(cudaMemcpyToArray(a, 80, 19, v2.data(), 80, H2D)), R(cudaMemcpyToArray(a, 2, 0, v2.data(), 80, H2D)), R(cudaMemcpyToArray(a, 0, 0, v2.data(), 83, H2D)), R(cudaMemcpyToArray(a, 0, 20, v2.data(), 0, H2D)), R(cudaMemcpyToArray(nullptr, 0, 0, v2.data(), 4, H2D)), R(cudaMemcpyToArray(a, 0, 0, nullptr, 4, H2D)), R(cudaMemcpyToArray(a, 0, 0, v2.data(), 4, D2H)), R(cudaMemcpyToArray(a, 0, 0, d, 4, D2D)), R(cudaMemcpyToArray(one, 0, 0, v2.data(), 160, H2D)), R(cudaMemcpyToArray(cube, 0, 0, v2.data(), 1024, H2D)), contents(a, 160, 20);
    done("to_array_1d");
    memset(h, 0, 3200);
    R(cudaMemcpyFromArray(h, a, 0, 0, 3200, D2H)), say("=%08x", hash(h, 3200)), memset(h, 0, 3200), R(cudaMemcpyFromArray(h, a, 40, 2, 700, D2H)), say("=%08x", hash(h, 3200)), R(cudaMemcpyFromArray(h, a, 0, 0, 3204, D2H)), R(cudaMemcpyFromArray(h, a, 0, 0, 3, D2H)), R(cudaMemcpyFromArrayAsync(h, a, 0, 0, 320, D2H, nullptr)), R(cudaMemcpyToArrayAsync(a, 0, 0, h, 320, H2D, nullptr)), R(cudaDeviceSynchronize());
    R(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 3200, D2D)), contents(b, 160, 20), R(cudaMemcpyArrayToArray(b, 40, 1, a, 80, 2, 800, D2D)), contents(b, 160, 20), R(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 3204, D2D)), R(cudaMemcpyArrayToArray(b, 0, 0, a, 0, 0, 320, H2D));
    done("from_array_1d");
    cudaFreeArray(a);
    to(b, 0, 0, 160, 160, 20, H2D);
    cudaFree(d);
    done("copies_end");
}

static void copies_3d()
{
    cudaArray_t a = array(F1, 12, 10, 8), b = array(F1, 12, 10, 8), l = array(F1, 12, 10, 4, cudaArrayLayered), flat = array(F1, 12, 10), u = array(U8, 48, 10, 8), l1 = array(F1, 12, 0, 4, cudaArrayLayered), cm = array(F1, 8, 8, 6, cudaArrayCubemap), one = array(F1, 12), wide = array(F4, 12, 10, 8);
    auto v = numbers(1 << 16);
    auto parms = [&](cudaArray_t s, cudaArray_t d, size_t w, size_t h, size_t z, cudaMemcpyKind k, size_t pitch = 48, size_t rows = 10) {
        cudaMemcpy3DParms p = {};
        p.srcArray = s, p.dstArray = d, p.extent = make_cudaExtent(w, h, z), p.kind = k;
        if (!s)
            p.srcPtr = make_cudaPitchedPtr(v.data(), pitch, pitch, rows);
        if (!d)
            p.dstPtr = make_cudaPitchedPtr(v.data(), pitch, pitch, rows);
        return p;
    };
    auto C = [&](cudaMemcpy3DParms p) { R(cudaMemcpy3D(&p)); };
    auto H = cudaMemcpyHostToDevice, D2D = cudaMemcpyDeviceToDevice, D2H = cudaMemcpyDeviceToHost, any = cudaMemcpyDefault;
    C(parms(0, a, 12, 10, 8, H)), C(parms(0, a, 13, 10, 8, H)), C(parms(0, a, 13, 10, 8, H, 64)), C(parms(0, a, 12, 11, 8, H)), C(parms(0, a, 12, 11, 8, H, 48, 11)), C(parms(0, a, 12, 10, 9, H)), C(parms(0, a, 12, 10, 8, H, 47)), C(parms(0, a, 12, 10, 8, H, 40)), C(parms(0, a, 12, 10, 8, H, 48, 9)), C(parms(0, a, 12, 10, 8, H, 0, 0)), C(parms(0, a, 12, 10, 8, H, 48, 0)), C(parms(0, a, 12, 1, 1, H, 0, 0)), C(parms(0, a, 0, 10, 8, H)), C(parms(0, a, 12, 0, 8, H)), C(parms(0, a, 12, 10, 0, H)), C(parms(0, a, 12, 10, 8, D2H)), C(parms(0, a, 12, 10, 8, cudaMemcpyHostToHost)), C(parms(0, a, 12, 10, 8, D2D)), C(parms(0, a, 12, 10, 8, any)), C(parms(0, a, 12, 10, 8, (cudaMemcpyKind)7));
    C(parms(a, b, 12, 10, 8, D2D)), C(parms(a, b, 12, 10, 8, any)), C(parms(a, b, 12, 10, 8, H)), C(parms(a, u, 12, 10, 8, D2D)), C(parms(u, a, 12, 10, 8, D2D)), C(parms(u, a, 48, 10, 8, D2D)), C(parms(a, wide, 12, 10, 8, D2D)), C(parms(a, wide, 3, 10, 8, D2D)), C(parms(a, l, 12, 10, 4, D2D)), C(parms(a, flat, 12, 10, 1, D2D)), C(parms(a, flat, 12, 10, 2, D2D)), C(parms(0, flat, 12, 10, 1, H)), C(parms(0, l, 12, 10, 4, H)), C(parms(0, l, 12, 10, 5, H)), C(parms(0, l1, 12, 1, 4, H)), C(parms(0, l1, 12, 0, 4, H)), C(parms(0, cm, 8, 8, 6, H)), C(parms(0, cm, 8, 8, 7, H)), C(parms(0, one, 12, 1, 1, H)), C(parms(0, one, 12, 0, 0, H)), C(parms(a, 0, 12, 10, 8, D2H)), C(parms(a, 0, 12, 10, 8, H)), C(parms(a, 0, 12, 10, 8, any)), C(parms(a, 0, 12, 10, 8, D2D));
    done("copy_3d");
    cudaMemcpy3DParms p = parms(0, a, 4, 4, 4, H);
    p.dstPos = make_cudaPos(8, 6, 4), C(p), p.dstPos = make_cudaPos(9, 6, 4), C(p), p.dstPos = make_cudaPos(8, 7, 4), C(p), p.dstPos = make_cudaPos(8, 6, 5), C(p), p.dstPos = make_cudaPos(0, 0, 0), p.srcPos = make_cudaPos(2, 1, 1), C(p), p.srcPos = make_cudaPos(9, 1, 1), C(p), p.srcPos = make_cudaPos(45, 1, 1), C(p);
    p = parms(0, a, 4, 4, 4, H), p.srcArray = b, C(p), p = parms(a, 0, 4, 4, 4, D2H), p.dstArray = b, C(p), p = parms(0, a, 4, 4, 4, H), p.srcPtr.ptr = nullptr, C(p), p = parms(0, 0, 4, 4, 4, H), p.dstPtr.ptr = nullptr, C(p), R(cudaMemcpy3D(nullptr)), p = {}, C(p), p = parms(a, b, 4, 4, 4, D2D), p.srcPtr = make_cudaPitchedPtr(v.data(), 48, 48, 10), C(p);
    std::vector<unsigned char> o(12 * 10 * 8 * 4);
    p = parms(0, a, 12, 10, 8, H), C(p), p = parms(0, a, 4, 3, 2, H), p.srcPos = make_cudaPos(3, 2, 1), p.dstPos = make_cudaPos(5, 4, 3), C(p);
    p = parms(a, 0, 12, 10, 8, D2H), p.dstPtr = make_cudaPitchedPtr(o.data(), 48, 48, 10), C(p), say("=%08x", hash(o.data(), o.size()));
    p = parms(a, b, 12, 10, 8, D2D), C(p), p = parms(a, b, 5, 4, 3, D2D), p.srcPos = make_cudaPos(1, 2, 3), p.dstPos = make_cudaPos(6, 5, 4), C(p);
    p = parms(b, 0, 12, 10, 8, D2H), p.dstPtr = make_cudaPitchedPtr(o.data(), 48, 48, 10), C(p), say("=%08x", hash(o.data(), o.size()));
    p = parms(u, 0, 9, 10, 8, D2H), p.dstPtr = make_cudaPitchedPtr(o.data(), 48, 48, 10), C(p), memset(o.data(), 9, o.size()), p = parms(u, a, 12, 10, 8, D2D), p.srcPos = make_cudaPos(3, 0, 0), C(p);
    p = parms(a, 0, 12, 10, 8, D2H), p.dstPtr = make_cudaPitchedPtr(o.data(), 48, 48, 10), C(p), say("=%08x", hash(o.data(), o.size()));
    done("copy_3d_parts");
    CUDA_MEMCPY3D m = {};
    auto M = [&] { D(cuMemcpy3D(&m)); };
    m.srcMemoryType = CU_MEMORYTYPE_HOST, m.srcHost = v.data(), m.srcPitch = 48, m.srcHeight = 10, m.dstMemoryType = CU_MEMORYTYPE_ARRAY, m.dstArray = (CUarray)a, m.WidthInBytes = 48, m.Height = 10, m.Depth = 8;
    M(), m.dstXInBytes = 2, m.WidthInBytes = 4, M(), m.dstXInBytes = 4, m.WidthInBytes = 3, M(), m.dstXInBytes = 44, m.WidthInBytes = 4, M(), m.dstXInBytes = 48, M(), m.dstXInBytes = 0, m.dstLOD = 1, M(), m.dstLOD = 0, m.dstArray = nullptr, M(), m.dstArray = (CUarray)a, m.dstPitch = 7, m.dstHeight = 3, M(), m.dstZ = 1, M(), m.dstZ = 0, m.srcMemoryType = CU_MEMORYTYPE_UNIFIED, m.srcDevice = (CUdeviceptr)v.data(), M(), m.srcMemoryType = (CUmemorytype)0, M(), m.srcMemoryType = CU_MEMORYTYPE_ARRAY, m.srcArray = (CUarray)b, M(), m.srcXInBytes = 46, M(), m.srcXInBytes = 0, m.Height = 11, M(), m.WidthInBytes = 0, M(), m.WidthInBytes = 4, m.Height = 0, M();
    D(cuMemcpy3D(nullptr));
    CUDA_MEMCPY2D t = {};
    t.srcMemoryType = CU_MEMORYTYPE_HOST, t.srcHost = v.data(), t.srcPitch = 48, t.dstMemoryType = CU_MEMORYTYPE_ARRAY, t.dstArray = (CUarray)flat, t.WidthInBytes = 48, t.Height = 10;
    auto T = [&] { D(cuMemcpy2D(&t)), D(cuMemcpy2DUnaligned(&t)), D(cuMemcpy2DAsync(&t, nullptr)); };
    T(), t.Height = 11, T(), t.Height = 10, t.dstY = 1, T(), t.dstY = 0, t.dstArray = (CUarray)a, T(), t.dstArray = (CUarray)one, T(), t.Height = 1, T(), t.dstArray = nullptr, T(), t.dstArray = (CUarray)flat, t.srcPitch = 47, T(), t.Height = 2, T(), t.srcPitch = 0, T();
    D(cuMemcpyHtoA((CUarray)one, 0, v.data(), 48)), D(cuMemcpyHtoA((CUarray)one, 4, v.data(), 48)), D(cuMemcpyHtoA((CUarray)one, 2, v.data(), 4)), D(cuMemcpyHtoA((CUarray)flat, 0, v.data(), 48)), D(cuMemcpyHtoA((CUarray)flat, 0, v.data(), 96)), D(cuMemcpyHtoA((CUarray)a, 0, v.data(), 48)), D(cuMemcpyAtoH(v.data(), (CUarray)one, 0, 48)), D(cuMemcpyAtoH(v.data(), (CUarray)one, 0, 52)), D(cuMemcpyAtoH(v.data(), (CUarray)flat, 0, 480)), D(cuMemcpyAtoA((CUarray)one, 0, (CUarray)flat, 0, 48)), D(cuMemcpyAtoA((CUarray)one, 0, (CUarray)flat, 48, 48)), D(cuMemcpyAtoA((CUarray)one, 0, (CUarray)one, 24, 24)), D(cuMemcpyAtoD((CUdeviceptr)v.data(), (CUarray)one, 0, 48)), D(cuMemcpyHtoAAsync((CUarray)one, 0, v.data(), 48, nullptr)), D(cuMemcpyAtoHAsync(v.data(), (CUarray)one, 0, 48, nullptr)), D(cuMemcpyHtoA(nullptr, 0, v.data(), 48)), D(cuMemcpyHtoA((CUarray)one, 0, nullptr, 48)), D(cuMemcpyHtoA((CUarray)one, 0, v.data(), 0)), D(cuCtxSynchronize());
    CUdeviceptr dp;
    cuMemAlloc(&dp, 4096);
    D(cuMemcpyDtoA((CUarray)one, 0, dp, 48)), D(cuMemcpyAtoD(dp, (CUarray)one, 0, 48)), D(cuMemcpyAtoD(dp, (CUarray)one, 0, 52)), D(cuMemcpyDtoA((CUarray)flat, 0, dp, 480)), D(cuMemcpyDtoA((CUarray)l1, 0, dp, 48));
    done("driver_copies");
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t n;
    p = parms(0, a, 12, 10, 8, H);
    R(cudaGraphCreate(&g, 0)), R(cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &p)), p.extent.width = 13, R(cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &p)), p.extent.width = 12, R(cudaGraphInstantiate(&x, g, 0)), R(cudaGraphLaunch(x, s)), R(cudaStreamSynchronize(s)), p = parms(0, b, 12, 10, 8, H), R(cudaGraphExecMemcpyNodeSetParams(x, n, &p)), p = parms(0, l, 12, 10, 4, H), R(cudaGraphExecMemcpyNodeSetParams(x, n, &p)), R(cudaGraphMemcpyNodeSetParams(n, &p));
    cudaMemcpy3DParms back = {};
    R(cudaGraphMemcpyNodeGetParams(n, &back)), say("=%d,%zu,%zu,%zu,%d,%zu,%zu", back.dstArray == l, back.extent.width, back.extent.height, back.extent.depth, (int)back.kind, back.srcPtr.pitch, back.srcPtr.ysize);
    R(cudaGraphExecDestroy(x)), R(cudaGraphDestroy(g)), R(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)), R(cudaMemcpy2DToArrayAsync(flat, 0, 0, v.data(), 48, 48, 10, H, s)), R(cudaMemcpy3DAsync(&p, s)), R(cudaStreamEndCapture(s, &g));
    size_t nodes = 0;
    R(cudaGraphGetNodes(g, nullptr, &nodes)), say("=%zu", nodes), R(cudaGraphInstantiate(&x, g, 0)), R(cudaGraphLaunch(x, s)), R(cudaStreamSynchronize(s));
    cudaMemcpy3DBatchOp op = {};
    op.src.type = cudaMemcpyOperandTypePointer, op.src.op.ptr.ptr = v.data(), op.src.op.ptr.locHint.type = cudaMemLocationTypeHost, op.dst.type = cudaMemcpyOperandTypeArray, op.dst.op.array.array = a, op.extent = make_cudaExtent(12, 10, 8), op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    auto B = [&] { R(cudaMemcpy3DBatchAsync(1, &op, 0, s)), R(cudaStreamSynchronize(s)); };
    B(), op.extent.width = 13, B(), op.extent.width = 4, op.dst.op.array.offset.x = 8, B(), op.dst.op.array.offset.x = 9, B(), op.dst.op.array.offset.x = 0, op.extent = make_cudaExtent(48, 10, 8), B(), op.extent = make_cudaExtent(12, 10, 8), op.src.op.ptr.rowLength = 11, B(), op.src.op.ptr.rowLength = 12, op.src.op.ptr.layerHeight = 10, B(), op.src.op.ptr.rowLength = 48, B(), op.dst.type = cudaMemcpyOperandTypePointer, op.dst.op.ptr.ptr = v.data(), op.src.type = cudaMemcpyOperandTypeArray, op.src.op.array.array = a, op.src.op.array.offset = {}, op.dst.op.ptr.rowLength = op.dst.op.ptr.layerHeight = 0, B(), op.dst.type = cudaMemcpyOperandTypeArray, op.dst.op.array.array = b, op.dst.op.array.offset = {}, B(), op.src.op.array.array = u, B();
    char *d;
    cudaMalloc(&d, 4096);
    op.src.type = cudaMemcpyOperandTypePointer, op.src.op.ptr = {}, op.src.op.ptr.ptr = d, op.dst.op.array.array = a, op.extent = make_cudaExtent(4, 4, 4), B(), op.srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall, B(), op.flags = 7, B();
    done("copies_in_graphs");
}

/* ---- objects ---- */

static cudaResourceDesc of(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    return r;
}

static cudaResourceDesc of(cudaMipmappedArray_t m)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = m;
    return r;
}

static cudaTextureDesc reads(cudaTextureFilterMode f = cudaFilterModePoint, cudaTextureReadMode read = cudaReadModeElementType, int normalized = 0, cudaTextureAddressMode m = cudaAddressModeClamp)
{
    cudaTextureDesc t = {};
    t.filterMode = f, t.readMode = read, t.normalizedCoords = normalized, t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = m;
    return t;
}

static void try_texture(const cudaResourceDesc &r, const cudaTextureDesc &t, const cudaResourceViewDesc *v = nullptr)
{
    cudaTextureObject_t o = 0;
    cudaError_t e = cudaCreateTextureObject(&o, &r, &t, v);
    R(e);
    if (!e)
        cudaDestroyTextureObject(o);
}

static void textures()
{
    const Channels all[] = {U8, {8, 0, 0, 0, cudaChannelFormatKindSigned}, {8, 8, 0, 0, cudaChannelFormatKindUnsigned}, U8x4, {16, 0, 0, 0, cudaChannelFormatKindUnsigned}, S16x2, H4, {16, 0, 0, 0, cudaChannelFormatKindFloat}, I32, F1, F4, {32, 32, 0, 0, cudaChannelFormatKindUnsigned}, {8, 0, 0, 0, cudaChannelFormatKindUnsignedNormalized8X1}, {8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4}, {8, 8, 8, 8, cudaChannelFormatKindSignedNormalized8X4}, {16, 16, 0, 0, cudaChannelFormatKindUnsignedNormalized16X2}, {16, 0, 0, 0, cudaChannelFormatKindSignedNormalized16X1}};
    int i = 0;
    for (auto &c : all) {
        cudaArray_t a = array(c, 16, 16);
        cudaMipmappedArray_t m = nullptr;
        R(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(16, 16, 0), 3));
        for (int read = 0; read < 2; read++)
            for (int f = 0; f < 2; f++)
                for (int norm = 0; norm < 2; norm++)
                    for (int srgb = 0; srgb < 2; srgb++) {
                        auto t = reads((cudaTextureFilterMode)f, (cudaTextureReadMode)read, norm);
                        t.sRGB = srgb;
                        try_texture(of(a), t);
                        t.mipmapFilterMode = cudaFilterModeLinear;
                        try_texture(of(m), t);
                    }
        cudaFreeArray(a), cudaFreeMipmappedArray(m);
        done(("texture_format_" + std::to_string(i++)).c_str());
    }
    cudaArray_t a = array(F1, 16, 16), cube = array(F1, 16, 16, 6, cudaArrayCubemap), lay = array(F1, 16, 16, 3, cudaArrayLayered), vol = array(F1, 16, 16, 16), one = array(F1, 16), gather = array(F1, 16, 16, 0, cudaArrayTextureGather);
    cudaMipmappedArray_t m = nullptr;
    cudaMallocMipmappedArray(&m, &F1, make_cudaExtent(16, 16, 0), 3);
    for (auto x : {a, cube, lay, vol, one, gather})
        for (int mode = -1; mode <= 4; mode++)
            for (int norm = 0; norm < 3; norm++)
                try_texture(of(x), reads(cudaFilterModePoint, cudaReadModeElementType, norm, (cudaTextureAddressMode)mode));
    done("texture_address_modes");
    auto T = [&](auto change) {
        for (auto r : {of(a), of(m), of(cube)}) {
            auto t = reads(cudaFilterModeLinear, cudaReadModeElementType, 1);
            change(t);
            try_texture(r, t);
        }
    };
    T([](cudaTextureDesc &t) { t.filterMode = (cudaTextureFilterMode)2; }), T([](cudaTextureDesc &t) { t.filterMode = (cudaTextureFilterMode)-1; }), T([](cudaTextureDesc &t) { t.readMode = (cudaTextureReadMode)2; }), T([](cudaTextureDesc &t) { t.mipmapFilterMode = (cudaTextureFilterMode)2; }), T([](cudaTextureDesc &t) { t.maxAnisotropy = 16; }), T([](cudaTextureDesc &t) { t.maxAnisotropy = 17; }), T([](cudaTextureDesc &t) { t.maxAnisotropy = 1u << 31; }), T([](cudaTextureDesc &t) { t.mipmapLevelBias = 1e30f; }), T([](cudaTextureDesc &t) { t.mipmapLevelBias = __builtin_nanf(""); }), T([](cudaTextureDesc &t) { t.minMipmapLevelClamp = 5; }), T([](cudaTextureDesc &t) { t.minMipmapLevelClamp = -1; t.maxMipmapLevelClamp = -2; }), T([](cudaTextureDesc &t) { t.maxMipmapLevelClamp = 1e10f; }), T([](cudaTextureDesc &t) { t.seamlessCubemap = 1; }), T([](cudaTextureDesc &t) { t.disableTrilinearOptimization = 1; }), T([](cudaTextureDesc &t) { t.normalizedCoords = 0; }), T([](cudaTextureDesc &t) { t.normalizedCoords = 0, t.mipmapFilterMode = cudaFilterModeLinear; }), T([](cudaTextureDesc &t) { t.sRGB = 2; }), T([](cudaTextureDesc &t) { t.addressMode[1] = (cudaTextureAddressMode)9; }), T([](cudaTextureDesc &t) { t.addressMode[2] = (cudaTextureAddressMode)9; }), T([](cudaTextureDesc &t) { t.borderColor[0] = __builtin_inff(); });
    done("texture_descriptors");
    char *d;
    cudaMalloc(&d, 1 << 20);
    auto L = [&](void *p, Channels c, size_t n, cudaTextureDesc t = reads()) {
        cudaResourceDesc r = {};
        r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = p, r.res.linear.desc = c, r.res.linear.sizeInBytes = n;
        try_texture(r, t);
    };
    L(d, F1, 400), L(d, F1, 401), L(d, F1, 3), L(d, F1, 0), L(d + 4, F1, 400), L(d + 16, F1, 400), L(d + 32, F1, 400), L(d + 256, F1, 400), L(d + 512, F1, 400), L(nullptr, F1, 400), L(d, F1, (1 << 20) + 4), L(d, F1, (size_t)1 << 30), L(d, F1, ((size_t)1 << 30) + 4), L(d, U8, 1 << 28), L(d, U8, (1 << 28) + 1), L(d, F4, 400), L(d, F4, 404), L(dummy_memory, F1, 400), L(d, {32, 32, 32, 0, cudaChannelFormatKindFloat}, 240), L(d, {0, 0, 0, 0, cudaChannelFormatKindNone}, 240), L(d, {8, 16, 0, 0, cudaChannelFormatKindUnsigned}, 240), L(d, U8, 100, reads(cudaFilterModePoint, cudaReadModeNormalizedFloat)), L(d, F1, 100, reads(cudaFilterModePoint, cudaReadModeNormalizedFloat)), L(d, F1, 100, reads(cudaFilterModeLinear)), L(d, U8, 100, reads(cudaFilterModeLinear)), L(d, F1, 100, reads(cudaFilterModePoint, cudaReadModeElementType, 1)), L(d, F1, 100, reads(cudaFilterModePoint, cudaReadModeElementType, 1, cudaAddressModeWrap)), L(d, F1, 100, reads(cudaFilterModePoint, cudaReadModeElementType, 0, cudaAddressModeBorder)), L(d, {8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4}, 100);
    done("texture_linear");
    auto P = [&](void *p, Channels c, size_t w, size_t h, size_t pitch, cudaTextureDesc t = reads()) {
        cudaResourceDesc r = {};
        r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = p, r.res.pitch2D.desc = c, r.res.pitch2D.width = w, r.res.pitch2D.height = h, r.res.pitch2D.pitchInBytes = pitch;
        try_texture(r, t);
    };
    P(d, F1, 16, 16, 512), P(d, F1, 16, 16, 64), P(d, F1, 16, 16, 96), P(d, F1, 16, 16, 80), P(d, F1, 16, 16, 68), P(d, F1, 16, 16, 32), P(d, F1, 16, 16, 0), P(d, F1, 16, 1, 68), P(d, F1, 0, 16, 64), P(d, F1, 16, 0, 64), P(d + 4, F1, 16, 16, 64), P(d + 32, F1, 16, 16, 64), P(d + 256, F1, 16, 16, 64), P(d + 512, F1, 16, 16, 64), P(nullptr, F1, 16, 16, 64), P(d, F1, 16, 1 << 15, 64), P(d, U8, 131072, 2, 131072), P(d, U8, 131073, 2, 131104), P(d, U8, 16, 65000, 32), P(d, U8, 16, 65001, 32), P(d, U8, 16, 2, 2097120), P(d, U8, 16, 2, 2097152), P(d, F1, 16, 16, 64, reads(cudaFilterModeLinear)), P(d, U8, 16, 16, 64, reads(cudaFilterModeLinear)), P(d, U8, 16, 16, 64, reads(cudaFilterModeLinear, cudaReadModeNormalizedFloat)), P(d, F1, 16, 16, 64, reads(cudaFilterModePoint, cudaReadModeNormalizedFloat)), P(d, F1, 16, 16, 64, reads(cudaFilterModePoint, cudaReadModeElementType, 1, cudaAddressModeWrap)), P(d, F1, 16, 16, 64, reads(cudaFilterModePoint, cudaReadModeElementType, 1, cudaAddressModeMirror)), P(d, F1, 16, 16, 64, reads(cudaFilterModePoint, cudaReadModeElementType, 1, cudaAddressModeBorder)), P(d, {32, 32, 32, 0, cudaChannelFormatKindFloat}, 16, 16, 256), P(d, F4, 16, 16, 256), P(d, F4, 17, 16, 256);
    done("texture_pitched");
    cudaResourceDesc r = of(a);
    auto t = reads();
    cudaTextureObject_t o = 0, o2 = 0;
    for (int type = -1; type < 6; type++)
        r.resType = (cudaResourceType)type, r.res.array.array = a, try_texture(r, t);
    r = of(a), R(cudaCreateTextureObject(nullptr, &r, &t, nullptr)), R(cudaCreateTextureObject(&o, nullptr, &t, nullptr)), R(cudaCreateTextureObject(&o, &r, nullptr, nullptr)), r = of((cudaArray_t) nullptr), R(cudaCreateTextureObject(&o, &r, &t, nullptr)), r = of((cudaMipmappedArray_t) nullptr), R(cudaCreateTextureObject(&o, &r, &t, nullptr)), R(cudaDestroyTextureObject(0)), R(cudaDestroyTextureObject(12345)), r = of(a), R(cudaCreateTextureObject(&o, &r, &t, nullptr)), R(cudaCreateTextureObject(&o2, &r, &t, nullptr)), say(" %d", o == o2), R(cudaDestroyTextureObject(o)), R(cudaDestroyTextureObject(o));
    done("texture_handles");
    cudaResourceDesc rb = {};
    cudaTextureDesc tb = {};
    cudaResourceViewDesc vb = {};
    R(cudaGetTextureObjectResourceDesc(&rb, o)), R(cudaGetTextureObjectResourceDesc(&rb, o2)), say("=%d,%d", (int)rb.resType, rb.res.array.array == a), R(cudaGetTextureObjectResourceDesc(nullptr, o2)), R(cudaGetTextureObjectTextureDesc(nullptr, o2)), R(cudaGetTextureObjectResourceViewDesc(nullptr, o2)), R(cudaGetTextureObjectResourceDesc(&rb, 0)), R(cudaGetTextureObjectTextureDesc(&tb, 77)), R(cudaGetTextureObjectResourceViewDesc(&vb, o2));
    for (auto x : {a, cube, lay, vol}) {
        auto q = reads(cudaFilterModeLinear, cudaReadModeElementType, 1, cudaAddressModeMirror);
        q.borderColor[1] = 2, q.maxAnisotropy = 40, q.mipmapFilterMode = cudaFilterModeLinear, q.mipmapLevelBias = 3, q.minMipmapLevelClamp = 1, q.maxMipmapLevelClamp = 9, q.seamlessCubemap = 1, q.disableTrilinearOptimization = 1, q.sRGB = 0;
        r = of(x);
        R(cudaCreateTextureObject(&o, &r, &q, nullptr)), R(cudaGetTextureObjectTextureDesc(&tb, o)), say("=%d,%d,%d,%d,%d,%d,%g,%d,%u,%d,%g,%g,%g,%d,%d", (int)tb.addressMode[0], (int)tb.addressMode[1], (int)tb.addressMode[2], (int)tb.filterMode, (int)tb.readMode, tb.sRGB, tb.borderColor[1], tb.normalizedCoords, tb.maxAnisotropy, (int)tb.mipmapFilterMode, tb.mipmapLevelBias, tb.minMipmapLevelClamp, tb.maxMipmapLevelClamp, tb.disableTrilinearOptimization, tb.seamlessCubemap);
        CUDA_TEXTURE_DESC ct = {};
        D(cuTexObjectGetTextureDesc(&ct, o)), say("=%d,%d,%d,%d,%x,%u", (int)ct.addressMode[0], (int)ct.addressMode[2], (int)ct.filterMode, (int)ct.mipmapFilterMode, ct.flags, ct.maxAnisotropy);
        cudaDestroyTextureObject(o);
    }
    for (auto c : {U8, I32, H4})
        for (int read = 0; read < 2; read++) {
            cudaArray_t x = array(c, 16, 16);
            r = of(x), t = reads(cudaFilterModePoint, (cudaTextureReadMode)read);
            cudaError_t e = cudaCreateTextureObject(&o, &r, &t, nullptr);
            R(e);
            CUDA_TEXTURE_DESC ct = {};
            if (!e)
                D(cuTexObjectGetTextureDesc(&ct, o)), say("=%x", ct.flags), R(cudaGetTextureObjectTextureDesc(&tb, o)), say("=%d", (int)tb.readMode), cudaDestroyTextureObject(o);
            cudaFreeArray(x);
        }
    done("texture_getters");
    cudaSurfaceObject_t s = 0;
    cudaArray_t st = array(F1, 16, 16, 0, cudaArraySurfaceLoadStore);
    auto S = [&](cudaResourceDesc q) { cudaError_t e = cudaCreateSurfaceObject(&s, &q); R(e); if (!e) cudaDestroySurfaceObject(s); };
    S(of(st)), S(of(a)), S(of(cube)), S(of(m)), S(of((cudaArray_t) nullptr));
    r = of(a), r.resType = cudaResourceTypeLinear, r.res.linear = {d, F1, 400}, S(r), r.resType = cudaResourceTypePitch2D, S(r), r.resType = (cudaResourceType)9, S(r);
    r = of(st), R(cudaCreateSurfaceObject(nullptr, &r)), R(cudaCreateSurfaceObject(&s, nullptr)), R(cudaCreateSurfaceObject(&s, &r)), R(cudaGetSurfaceObjectResourceDesc(&rb, s)), say("=%d,%d", (int)rb.resType, rb.res.array.array == st), R(cudaGetSurfaceObjectResourceDesc(nullptr, s)), R(cudaGetSurfaceObjectResourceDesc(&rb, 0)), R(cudaDestroySurfaceObject(s)), R(cudaDestroySurfaceObject(s)), R(cudaDestroySurfaceObject(0)), R(cudaDestroySurfaceObject(99)), R(cudaGetSurfaceObjectResourceDesc(&rb, s));
    R(cudaCreateTextureObject(&o, &r, &t, nullptr)), R(cudaGetSurfaceObjectResourceDesc(&rb, o)), R(cudaDestroySurfaceObject(o)), R(cudaDestroyTextureObject(o));
    done("surfaces");
    r = of(a), t = reads(), R(cudaCreateTextureObject(&o, &r, &t, nullptr)), R(cudaFreeArray(a)), R(cudaGetTextureObjectResourceDesc(&rb, o)), R(cudaDestroyTextureObject(o));
    done("texture_of_freed");
}

static void views()
{
    cudaArray_t a = array(F1, 16, 16), u = array(U8x4, 16, 16), lay = array(F1, 16, 16, 4, cudaArrayLayered), vol = array(F1, 16, 16, 8), cube = array(F1, 16, 16, 12, cudaArrayCubemap | cudaArrayLayered), six = array(F1, 16, 16, 6, cudaArrayLayered), i2 = array({32, 32, 0, 0, cudaChannelFormatKindUnsigned}, 16, 16);
    cudaMipmappedArray_t m = nullptr;
    cudaMallocMipmappedArray(&m, &F1, make_cudaExtent(16, 16, 0), 4);
    auto base = [](cudaResourceViewFormat f, size_t w, size_t h, size_t d) {
        cudaResourceViewDesc v = {};
        v.format = f, v.width = w, v.height = h, v.depth = d;
        return v;
    };
    for (auto x : {a, u, i2}) {
        for (int f = -1; f <= 0x24; f++) {
            auto v = base((cudaResourceViewFormat)f, 16, 16, 0);
            try_texture(of(x), reads(), &v);
        }
        say(" /");
        for (int f = 0x19; f <= 0x22; f++) {
            auto v = base((cudaResourceViewFormat)f, 64, 64, 0);
            try_texture(of(x), reads(), &v);
        }
        say(" /");
    }
    done("view_formats");
    auto V = [&](cudaResourceDesc r, size_t w, size_t h, size_t d, unsigned l0 = 0, unsigned l1 = 0, unsigned m0 = 0, unsigned m1 = 0, cudaTextureDesc t = reads()) {
        auto v = base(cudaResViewFormatFloat1, w, h, d);
        v.firstLayer = l0, v.lastLayer = l1, v.firstMipmapLevel = m0, v.lastMipmapLevel = m1;
        try_texture(r, t, &v);
    };
    V(of(a), 16, 16, 0), V(of(a), 16, 16, 1), V(of(a), 8, 16, 0), V(of(a), 16, 8, 0), V(of(a), 17, 16, 0), V(of(a), 0, 0, 0), V(of(a), 16, 16, 0, 0, 1), V(of(a), 16, 16, 0, 0, 0, 0, 1), V(of(a), 16, 16, 0, 1, 1);
    V(of(lay), 16, 16, 0, 0, 3), V(of(lay), 16, 16, 4, 0, 3), V(of(lay), 16, 16, 1, 0, 3), V(of(lay), 16, 16, 2, 1, 2), V(of(lay), 16, 16, 0, 1, 2), V(of(lay), 16, 16, 0, 2, 1), V(of(lay), 16, 16, 0, 3, 4), V(of(lay), 16, 16, 4, 0, 0), V(of(lay), 16, 16, 0, 0, 0), V(of(vol), 16, 16, 8), V(of(vol), 16, 16, 4), V(of(vol), 16, 16, 0), V(of(vol), 16, 16, 8, 0, 7), V(of(cube), 16, 16, 12, 0, 11), V(of(cube), 16, 16, 6, 6, 11), V(of(cube), 16, 16, 0, 0, 11), V(of(cube), 16, 16, 0, 0, 1), V(of(cube), 16, 16, 0, 0, 5), V(of(six), 16, 16, 6, 0, 5);
    V(of(lay), 16, 16, 4, 1, 2), V(of(lay), 16, 16, 4, 2, 1), V(of(lay), 16, 16, 4, 3, 4), V(of(cube), 16, 16, 12, 6, 11), V(of(cube), 16, 16, 12, 1, 3), V(of(cube), 16, 16, 12, 0, 12);
    auto n = reads(cudaFilterModeLinear, cudaReadModeElementType, 1);
    for (auto &t : {reads(), n})
        V(of(m), 16, 16, 0, 0, 0, 0, 3, t), V(of(m), 16, 16, 0, 0, 0, 0, 4, t), V(of(m), 16, 16, 0, 0, 0, 1, 3, t), V(of(m), 8, 8, 0, 0, 0, 1, 3, t), V(of(m), 16, 16, 0, 0, 0, 2, 1, t), V(of(m), 16, 16, 0, 0, 0, 1, 1, t), V(of(m), 16, 16, 0, 0, 0, 0, 0, t);
    done("view_extents");
    char *d;
    cudaMalloc(&d, 4096);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear, r.res.linear = {d, F1, 1024};
    V(r, 256, 0, 0), V(r, 16, 16, 0), r.resType = cudaResourceTypePitch2D, r.res.pitch2D = {d, F1, 16, 16, 64}, V(r, 16, 16, 0), V(r, 0, 0, 0);
    r = of(u);
    auto v = base(cudaResViewFormatFloat1, 16, 16, 0), vb = v;
    auto t = reads(cudaFilterModeLinear);
    cudaTextureObject_t o;
    cudaError_t e = cudaCreateTextureObject(&o, &r, &t, &v);
    R(e), memset(&vb, 0x55, sizeof vb);
    if (!e)
        R(cudaGetTextureObjectResourceViewDesc(&vb, o)), say("=%d,%zu,%zu,%zu,%u,%u,%u,%u", (int)vb.format, vb.width, vb.height, vb.depth, vb.firstMipmapLevel, vb.lastMipmapLevel, vb.firstLayer, vb.lastLayer);
    v.format = cudaResViewFormatNone, v.width = v.height = v.depth = 0, r = of(a), e = cudaCreateTextureObject(&o, &r, &t, &v), R(e);
    if (!e)
        R(cudaGetTextureObjectResourceViewDesc(&vb, o)), say("=%d,%zu,%zu", (int)vb.format, vb.width, vb.height);
    done("view_rest");
}

/* ---- the driver's own ---- */

static void driver_objects()
{
    CUDA_ARRAY3D_DESCRIPTOR ad = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0}, fd = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0}, sd = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray a, f, s;
    D(cuArray3DCreate(&a, &ad)), D(cuArray3DCreate(&f, &fd)), D(cuArray3DCreate(&s, &sd));
    CUDA_RESOURCE_DESC r = {};
    CUDA_TEXTURE_DESC t = {};
    CUtexObject o = 0;
    r.resType = CU_RESOURCE_TYPE_ARRAY, r.res.array.hArray = a;
    auto T = [&] { CUresult e = cuTexObjectCreate(&o, &r, &t, nullptr); D(e); if (!e) cuTexObjectDestroy(o); };
    for (unsigned flags = 0; flags < 0x100; flags++)
        t.flags = flags, T();
    done("driver_texture_flags");
    t.flags = 0, t.filterMode = CU_TR_FILTER_MODE_LINEAR, T(), t.flags = CU_TRSF_READ_AS_INTEGER, T(), t.flags = CU_TRSF_SRGB, T(), r.res.array.hArray = f, T(), t.flags = CU_TRSF_READ_AS_INTEGER, T(), t.flags = 0, T(), t.filterMode = (CUfilter_mode)3, T(), t.filterMode = CU_TR_FILTER_MODE_POINT, t.addressMode[0] = (CUaddress_mode)4, T(), t.addressMode[0] = CU_TR_ADDRESS_MODE_WRAP, T(), r.flags = 1, T(), r.flags = 0, t.maxAnisotropy = 100, T(), t.maxAnisotropy = 0, t.reserved[0] = 1, T(), t.reserved[0] = 0, r.res.reserved.reserved[5] = 1, T(), r.res.reserved.reserved[5] = 0, r.resType = (CUresourcetype)7, T(), r.resType = CU_RESOURCE_TYPE_ARRAY, r.res.array.hArray = nullptr, T(), r.res.array.hArray = f;
    D(cuTexObjectCreate(nullptr, &r, &t, nullptr)), D(cuTexObjectCreate(&o, nullptr, &t, nullptr)), D(cuTexObjectCreate(&o, &r, nullptr, nullptr)), D(cuTexObjectCreate(&o, &r, &t, nullptr));
    CUDA_RESOURCE_DESC rb;
    CUDA_TEXTURE_DESC tb;
    CUDA_RESOURCE_VIEW_DESC vb;
    D(cuTexObjectGetResourceDesc(&rb, o)), D(cuTexObjectGetResourceDesc(nullptr, o)), D(cuTexObjectGetTextureDesc(&tb, o)), D(cuTexObjectGetTextureDesc(nullptr, o)), D(cuTexObjectGetResourceViewDesc(&vb, o)), D(cuTexObjectGetResourceViewDesc(nullptr, o)), D(cuTexObjectDestroy(o)), D(cuTexObjectDestroy(o)), D(cuTexObjectDestroy(0)), D(cuTexObjectDestroy(777));
    CUsurfObject so = 0;
    r.res.array.hArray = s, D(cuSurfObjectCreate(&so, &r)), D(cuSurfObjectGetResourceDesc(&rb, so)), say("=%d", rb.res.array.hArray == s), D(cuSurfObjectGetResourceDesc(nullptr, so)), D(cuSurfObjectGetResourceDesc(&rb, 0)), D(cuSurfObjectDestroy(so)), D(cuSurfObjectDestroy(so)), D(cuSurfObjectDestroy(0)), r.res.array.hArray = f, D(cuSurfObjectCreate(&so, &r)), r.res.array.hArray = nullptr, D(cuSurfObjectCreate(&so, &r)), D(cuSurfObjectCreate(nullptr, &r)), D(cuSurfObjectCreate(&so, nullptr)), r.resType = CU_RESOURCE_TYPE_LINEAR, D(cuSurfObjectCreate(&so, &r)), r.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, D(cuSurfObjectCreate(&so, &r));
    CUdeviceptr p;
    cuMemAlloc(&p, 65536);
    r = {}, t = {}, r.resType = CU_RESOURCE_TYPE_LINEAR, r.res.linear.devPtr = p, r.res.linear.format = CU_AD_FORMAT_FLOAT, r.res.linear.numChannels = 1, r.res.linear.sizeInBytes = 400, T(), r.res.linear.numChannels = 3, T(), r.res.linear.numChannels = 1, r.res.linear.format = (CUarray_format)99, T(), r.res.linear.format = CU_AD_FORMAT_FLOAT, r.res.linear.devPtr = p + 4, T(), r.res.linear.devPtr = p + 16, T(), r.res.linear.devPtr = 0, T(), r.res.linear.devPtr = p, r.res.linear.sizeInBytes = 65540, T(), r.res.linear.sizeInBytes = 0, T();
    done("driver_objects");
    CUtexref x = nullptr;
    D(cuTexRefCreate(nullptr)), D(cuTexRefCreate(&x));
    CUaddress_mode am = CU_TR_ADDRESS_MODE_WRAP;
    CUfilter_mode fm;
    CUarray_format af;
    int n, an;
    unsigned fl;
    float b[4], lo, hi;
    CUdeviceptr q;
    CUarray ar;
    size_t off = 9;
    for (int dim = -1; dim < 4; dim++)
        D(cuTexRefGetAddressMode(&am, x, dim)), say("=%d", (int)am);
    D(cuTexRefGetFilterMode(&fm, x)), say("=%d", (int)fm), D(cuTexRefGetFormat(&af, &n, x)), say("=%d,%d", (int)af, n), D(cuTexRefGetFlags(&fl, x)), say("=%x", fl), D(cuTexRefGetMaxAnisotropy(&an, x)), say("=%d", an), D(cuTexRefGetMipmapFilterMode(&fm, x)), say("=%d", (int)fm), D(cuTexRefGetMipmapLevelBias(&lo, x)), say("=%g", lo), D(cuTexRefGetMipmapLevelClamp(&lo, &hi, x)), say("=%g,%g", lo, hi), D(cuTexRefGetBorderColor(b, x)), say("=%g,%g", b[0], b[3]), D(cuTexRefGetAddress(&q, x)), D(cuTexRefGetArray(&ar, x));
    D(cuTexRefSetAddressMode(x, 0, CU_TR_ADDRESS_MODE_MIRROR)), D(cuTexRefSetAddressMode(x, 3, CU_TR_ADDRESS_MODE_MIRROR)), D(cuTexRefSetAddressMode(x, 0, (CUaddress_mode)8)), D(cuTexRefSetFilterMode(x, (CUfilter_mode)8)), D(cuTexRefSetFilterMode(x, CU_TR_FILTER_MODE_LINEAR)), D(cuTexRefSetFormat(x, CU_AD_FORMAT_FLOAT, 3)), D(cuTexRefSetFormat(x, (CUarray_format)99, 1)), D(cuTexRefSetFormat(x, CU_AD_FORMAT_HALF, 2)), D(cuTexRefGetFormat(&af, &n, x)), say("=%d,%d", (int)af, n), D(cuTexRefSetFlags(x, 0xffff)), D(cuTexRefSetFlags(x, 3)), D(cuTexRefGetFlags(&fl, x)), say("=%x", fl), D(cuTexRefSetAddress(&off, x, p + 4, 400)), say("=%zu", off), D(cuTexRefGetAddress(&q, x)), say("=%d", q == p), D(cuTexRefSetAddress(nullptr, x, p + 4, 400)), D(cuTexRefSetAddress(&off, x, p, 400)), D(cuTexRefSetArray(x, f, CU_TRSA_OVERRIDE_FORMAT)), D(cuTexRefSetArray(x, f, 0)), D(cuTexRefGetArray(&ar, x)), say("=%d", ar == f), D(cuTexRefGetFormat(&af, &n, x)), say("=%d,%d", (int)af, n), D(cuTexRefGetAddress(&q, x)), D(cuTexRefSetMaxAnisotropy(x, 99)), D(cuTexRefGetMaxAnisotropy(&an, x)), say("=%d", an);
    CUDA_ARRAY_DESCRIPTOR d2 = {16, 16, CU_AD_FORMAT_FLOAT, 1};
    D(cuTexRefSetAddress2D(x, &d2, p, 64)), D(cuTexRefSetAddress2D(x, &d2, p, 60)), D(cuTexRefSetAddress2D(x, &d2, p + 4, 64)), D(cuTexRefGetAddress(&q, x)), D(cuTexRefDestroy(x)), D(cuTexRefDestroy(nullptr)), D(cuTexRefGetFlags(&fl, nullptr));
    done("references");
}

static void crashed(int)
{
    say(" CRASH");
    done("where");
    _exit(1);
}

/* statuses SUBJECT... */
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } subjects[] = {{"formats", formats}, {"extents", extents}, {"mipmaps", mipmaps}, {"info", info}, {"copies_2d", copies_2d}, {"copies_3d", copies_3d}, {"textures", textures}, {"views", views}, {"driver_objects", driver_objects}};
    signal(SIGSEGV, crashed);
    cudaFree(0);
    for (int i = 1; i < argc; i++)
        for (auto &s : subjects)
            if (!strcmp(s.name, argv[i])) {
                s.run();
                R(cudaDeviceSynchronize());
                done((std::string("end_") + s.name).c_str());
            }
}

/* Every view of every format of four and eight bytes, with each filter and read mode, of both APIs, beside an H200's (views.txt.xz; CUDA 13.0). */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>
#define CK(x) do { int e_ = (int)(x); if (e_) printf("line %d: %d\n", __LINE__, e_), exit(1); } while (0)
__global__ void reads(CUtexObject t, uint4 *o) { int i = threadIdx.x; o[i] = tex2D<uint4>(t, i * .17f - 1, i * .11f - .6f); o[64 + i] = tex2D<uint4>(t, i % 16 + .5f, i / 16 + .5f); o[128 + i] = tex2Dgather<uint4>(t, i * .17f, i * .11f, 0); }
static unsigned long long hash(const void *p, size_t n) { const unsigned char *c = (const unsigned char *)p; unsigned long long h = 1469598103934665603ull; for (size_t i = 0; i < n; i++) h = (h ^ c[i]) * 1099511628211ull; return h ^ h >> 32; }
int main()
{
    cudaFree(0); uint4 *d; CK(cudaMalloc(&d, 192 * 16));
    struct { const char *n; CUarray_format f; int c, bytes; bool floats; } a[] = {{"u8x4", CU_AD_FORMAT_UNSIGNED_INT8, 4, 4}, {"s8x4", CU_AD_FORMAT_SIGNED_INT8, 4, 4}, {"u16x2", CU_AD_FORMAT_UNSIGNED_INT16, 2, 4}, {"s16x2", CU_AD_FORMAT_SIGNED_INT16, 2, 4}, {"u32", CU_AD_FORMAT_UNSIGNED_INT32, 1, 4}, {"s32", CU_AD_FORMAT_SIGNED_INT32, 1, 4}, {"f16x2", CU_AD_FORMAT_HALF, 2, 4}, {"f32", CU_AD_FORMAT_FLOAT, 1, 4}, {"un8x4", CU_AD_FORMAT_UNORM_INT8X4, 4, 4}, {"sn16x2", CU_AD_FORMAT_SNORM_INT16X2, 2, 4}, {"f32x2", CU_AD_FORMAT_FLOAT, 2, 8}, {"u32x2", CU_AD_FORMAT_UNSIGNED_INT32, 2, 8}, {"f16x4", CU_AD_FORMAT_HALF, 4, 8}, {"u16x4", CU_AD_FORMAT_UNSIGNED_INT16, 4, 8}, {"u8", CU_AD_FORMAT_UNSIGNED_INT8, 1, 1}, {"f16", CU_AD_FORMAT_HALF, 1, 2}, {"f32x4", CU_AD_FORMAT_FLOAT, 4, 16}, {"s32x4", CU_AD_FORMAT_SIGNED_INT32, 4, 16}};
    for (auto &x : a) for (int kind = 0; kind < 2; kind++) {
        CUDA_ARRAY3D_DESCRIPTOR ad = {}; ad.Width = 16; ad.Height = 8; ad.Format = x.f; ad.NumChannels = x.c; CUarray ar; CK(cuArray3DCreate(&ar, &ad));
        std::vector<unsigned> v(16 * 8 * 4); srand(3); for (auto &w : v) w = kind == 0 ? 0x3c003c00 + (rand() & 0x07ff07ff) : (unsigned)rand() * 2654435761u; if (kind) v[0] = 0x7fc00000, v[1] = 1, v[2] = 0xff800000, v[3] = 0x80000000;
        CUDA_MEMCPY2D m = {}; m.srcMemoryType = CU_MEMORYTYPE_HOST; m.srcHost = v.data(); m.dstMemoryType = CU_MEMORYTYPE_ARRAY; m.dstArray = ar; m.WidthInBytes = 16 * x.bytes; m.srcPitch = 16 * x.bytes; m.Height = 8; CK(cuMemcpy2D(&m));
        for (int view = 0; view <= 24; view++) for (int filter = 0; filter < 2; filter++) for (unsigned flags : {0u, 1u, 16u}) for (int runtime = 0; runtime < 2; runtime++) {
            static const int sizes[] = {0, 1, 2, 4, 1, 2, 4, 2, 4, 8, 2, 4, 8, 4, 8, 16, 4, 8, 16, 2, 4, 8, 4, 8, 16}; if (view && sizes[view] != x.bytes) continue; if (runtime && (flags == 16 || kind)) continue;
            CUDA_RESOURCE_DESC r = {}; r.resType = CU_RESOURCE_TYPE_ARRAY; r.res.array.hArray = ar; CUDA_TEXTURE_DESC t = {}; t.filterMode = (CUfilter_mode)filter; t.flags = flags; t.addressMode[0] = CU_TR_ADDRESS_MODE_BORDER; t.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP; t.borderColor[0] = .37f; t.borderColor[1] = 1e-3f; t.borderColor[2] = 300; t.borderColor[3] = -.6f; CUDA_RESOURCE_VIEW_DESC w = {}; w.format = (CUresourceViewFormat)view; w.width = 16; w.height = 8;
            unsigned long long o = 0; int e;
            if (!runtime) e = cuTexObjectCreate(&o, &r, &t, view ? &w : 0); else { cudaResourceDesc rr = {}; rr.resType = cudaResourceTypeArray; rr.res.array.array = (cudaArray_t)ar; cudaTextureDesc tt = {}; tt.filterMode = (cudaTextureFilterMode)filter; tt.readMode = flags & 1 ? cudaReadModeElementType : cudaReadModeNormalizedFloat; tt.addressMode[0] = cudaAddressModeBorder; tt.addressMode[1] = cudaAddressModeClamp; memcpy(tt.borderColor, t.borderColor, 16); e = cudaCreateTextureObject(&o, &rr, &tt, view ? (cudaResourceViewDesc *)&w : 0); cudaGetLastError(); }
            printf("%s %d view %d filter %d flags %u %s: %d", x.n, kind, view, filter, flags, runtime ? "runtime" : "driver", e);
            if (!e) { reads<<<1, 64>>>(o, d); CK(cudaDeviceSynchronize()); uint4 h[192]; CK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost)); printf(" %016llx %016llx %016llx %08x %08x %08x %08x", hash(h, 1024), hash(h + 64, 1024), hash(h + 128, 1024), h[20].x, h[20].y, h[27].x, h[64 + 17].x); CK(cuTexObjectDestroy(o)); }
            puts(""); }
        CK(cuArrayDestroy(ar)); }
}

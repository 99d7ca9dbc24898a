/* Texture and surface references of a module (.texref, .surfref): bound, changed and unbound by the driver's functions; one line of sums a step, which
 * an H200 wrote into references.txt. nvcc -arch=sm_90 references.cu -lcuda */
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

static const char text[] = R"(
.version 6.0
.target sm_60
.address_size 64
.global .texref board;
.global .texref row;
.global .surfref paper;
.visible .entry picture(.param .u64 out)
{
    .reg .u32 %i, %a; .reg .u64 %o, %w; .reg .f32 %x, %y, %v<4>;
    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;
    mov.u32 %i, %tid.x;
    and.b32 %a, %i, 15; cvt.rn.f32.u32 %x, %a; fma.rn.f32 %x, %x, 0f3F866666, 0fBF800000;
    shr.u32 %a, %i, 4; cvt.rn.f32.u32 %y, %a; fma.rn.f32 %y, %y, 0f3F8CCCCD, 0f3E99999A;
    tex.2d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [board, {%x, %y}];
    mul.wide.u32 %w, %i, 16; add.u64 %o, %o, %w;
    st.global.v4.f32 [%o], {%v0, %v1, %v2, %v3};
    ret;
}
.visible .entry line(.param .u64 out)
{
    .reg .u32 %i, %v<4>; .reg .u64 %o, %w;
    ld.param.u64 %o, [out]; cvta.to.global.u64 %o, %o;
    mov.u32 %i, %tid.x;
    tex.1d.v4.u32.s32 {%v0, %v1, %v2, %v3}, [row, {%i}];
    mul.wide.u32 %w, %i, 16; add.u64 %o, %o, %w;
    st.global.v4.u32 [%o], {%v0, %v1, %v2, %v3};
    ret;
}
.visible .entry draw()
{
    .reg .u32 %i, %x, %y;
    mov.u32 %i, %tid.x; and.b32 %x, %i, 15; shl.b32 %x, %x, 2; shr.u32 %y, %i, 4; mul.lo.u32 %i, %i, 77;
    sust.b.2d.b32.trap [paper, {%x, %y}], {%i};
    ret;
}
)";

static unsigned hash(const void *p, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 16777619u;
    return h;
}

static CUmodule module;
static CUdeviceptr out;

static void run(const char *step, const char *kernel)
{
    CUfunction f;
    void *parameters[] = {&out};
    std::vector<unsigned> v(1024);
    int a = cuModuleGetFunction(&f, module, kernel), b = cuMemsetD8(out, 0xcc, 4096), c = cuLaunchKernel(f, 1, 1, 1, 256, 1, 1, 0, 0, parameters, 0), d = cuCtxSynchronize();
    cuMemcpyDtoH(v.data(), out, 4096);
    printf("%s: %d %d %d %d %08x\n", step, a, b, c, d, hash(v.data(), 4096));
}

int main()
{
    cudaFree(0);
    CUtexref board, again, row;
    CUsurfref paper;
    int r = cuModuleLoadData(&module, text);
    printf("load: %d %d %d %d", r, cuModuleGetTexRef(&board, module, "board"), cuModuleGetTexRef(&again, module, "board"), board == again);
    printf(" %d %d %d %d\n", cuModuleGetTexRef(&row, module, "row"), cuModuleGetSurfRef(&paper, module, "paper"), cuModuleGetTexRef(&again, module, "none"), cuModuleGetSurfRef(&paper, module, "row"));
    cuModuleGetSurfRef(&paper, module, "paper");
    cuMemAlloc(&out, 65536);
    std::vector<unsigned char> bytes(16 * 16 * 4);
    for (size_t i = 0; i < bytes.size(); i++)
        bytes[i] = (unsigned char)(i * 73 + i / 7);
    CUarray a, s;
    CUDA_ARRAY_DESCRIPTOR d = {16, 16, CU_AD_FORMAT_UNSIGNED_INT8, 4};
    CUDA_ARRAY3D_DESCRIPTOR d3 = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
    cuArrayCreate(&a, &d), cuArray3DCreate(&s, &d3);
    CUDA_MEMCPY2D m = {};
    m.srcMemoryType = CU_MEMORYTYPE_HOST, m.srcHost = bytes.data(), m.srcPitch = 64, m.dstMemoryType = CU_MEMORYTYPE_ARRAY, m.dstArray = a, m.WidthInBytes = 64, m.Height = 16;
    cuMemcpy2D(&m);
    r = cuTexRefSetArray(board, a, CU_TRSA_OVERRIDE_FORMAT);
    printf("array: %d\n", r), run("fractions", "picture");
    printf("linear: %d\n", cuTexRefSetFilterMode(board, CU_TR_FILTER_MODE_LINEAR)), run("filtered", "picture");
    float color[4] = {.75f, .25f, 1, 0};
    printf("border: %d %d %d\n", cuTexRefSetAddressMode(board, 0, CU_TR_ADDRESS_MODE_BORDER), cuTexRefSetAddressMode(board, 1, CU_TR_ADDRESS_MODE_BORDER), cuTexRefSetBorderColor(board, color)), run("bordered", "picture");
    printf("normalized: %d %d\n", cuTexRefSetFlags(board, CU_TRSF_NORMALIZED_COORDINATES), cuTexRefSetAddressMode(board, 0, CU_TR_ADDRESS_MODE_MIRROR)), run("mirrored", "picture");
    CUdeviceptr p;
    size_t offset = 9;
    cuMemAlloc(&p, 65536), cuMemcpyHtoD(p, bytes.data(), bytes.size()), cuMemcpyHtoD(p + 2048, bytes.data() + 100, 900);
    printf("rows: %d %d %d %d\n", cuTexRefSetAddress2D(board, &d, p, 64), cuTexRefSetFlags(board, 0), cuTexRefSetAddressMode(board, 0, CU_TR_ADDRESS_MODE_CLAMP), cuTexRefSetAddressMode(board, 1, CU_TR_ADDRESS_MODE_CLAMP)), run("pitched", "picture");
    printf("line: %d %d %d", cuTexRefSetFormat(row, CU_AD_FORMAT_UNSIGNED_INT16, 2), cuTexRefSetFlags(row, CU_TRSF_READ_AS_INTEGER), cuTexRefSetAddress(&offset, row, p + 64, 400));
    printf(" %zu\n", offset), run("linear", "line");
    printf("elsewhere: %d", cuTexRefSetAddress(&offset, row, p + 2048, 100)), printf(" %zu\n", offset), run("shorter", "line");
    printf("format: %d %d", cuTexRefSetFormat(row, CU_AD_FORMAT_UNSIGNED_INT32, 4), cuTexRefSetAddress(&offset, row, p, 1024)), printf(" %zu\n", offset), run("wide", "line");
    printf("surface: %d\n", cuSurfRefSetArray(paper, s, 0)), run("drawn", "draw");
    std::vector<unsigned> back(256);
    m = {}, m.srcMemoryType = CU_MEMORYTYPE_ARRAY, m.srcArray = s, m.dstMemoryType = CU_MEMORYTYPE_HOST, m.dstHost = back.data(), m.dstPitch = 64, m.WidthInBytes = 64, m.Height = 16;
    r = cuMemcpy2D(&m);
    printf("paper: %d %08x\n", r, hash(back.data(), 1024));
    CUarray is = nullptr;
    printf("get: %d", cuSurfRefGetArray(&is, paper)), printf(" %d", cuTexRefGetArray(&is, board)), printf(" %d\n", cuModuleUnload(module));
}

/* The driver API as programs use it: devices, contexts, modules, memory, launches. Built against
 * include/cuda/cuda.h alone. */
#include <stdint.h>
#include <unistd.h>

#include "kernels.h"
#include "tap.h"

static CUcontext context;
static CUmodule module;

static CUfunction kernel(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUdeviceptr words(const uint32_t *values, size_t n)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, 4 * n));
    OK(cuMemcpyHtoD(p, values, 4 * n));
    return p;
}

static CUresult launch(CUfunction f, unsigned grid, unsigned block, unsigned shared, CUstream s, void **params)
{
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, shared, s, params, NULL);
}

/* ---- before cuInit ---- */

static void nothing_works_before_cuInit(void)
{
    int n;
    CUdeviceptr p;
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&n));
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    OK(cuInit(0));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
}

/* ---- devices and contexts ---- */

static void the_device_is_an_H200_unless_told_otherwise(void)
{
    int n, major, minor, value;
    CUdevice d;
    char name[100];
    size_t bytes;
    CUdevprop p;
    OK(cuDriverGetVersion(&n));
    CHECK(n == CUDA_VERSION);
    OK(cuDeviceGetCount(&n));
    CHECK(n == 1);
    OK(cuDeviceGet(&d, 0));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&d, 1));
    OK(cuDeviceGetName(name, sizeof name, d));
    CHECK(strstr(name, "H200"));
    OK(cuDeviceComputeCapability(&major, &minor, d));
    CHECK(major == 9 && minor == 0);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d));
    CHECK(value == 132);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, d));
    CHECK(value == 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, d));
    CHECK(value == 1);
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, d));
    CHECK(value == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, d));
    OK(cuDeviceTotalMem(&bytes, d));
    CHECK(bytes > 1 << 20 && bytes < (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
    OK(cuDeviceGetProperties(&p, d));
    CHECK(p.maxThreadsPerBlock == 1024 && p.SIMDWidth == 32 && p.maxThreadsDim[2] == 64);
    OK(cuDeviceGetPCIBusId(name, sizeof name, d));
    d = 7;
    OK(cuDeviceGetByPCIBusId(&d, name));
    CHECK(d == 0);
}

static void contexts_are_a_stack(void)
{
    CUcontext a, b, c;
    CUdevice d = 7;
    unsigned version;
    OK(cuCtxGetCurrent(&c));
    CHECK(c == NULL);
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    OK(cuCtxSetCurrent(a));
    OK(cuCtxCreate(&b, NULL, CU_CTX_SCHED_AUTO, 0));
    OK(cuCtxGetCurrent(&c));
    CHECK(c == b);
    OK(cuCtxGetDevice(&d));
    CHECK(d == 0);
    OK(cuCtxPopCurrent(&c));
    CHECK(c == b);
    OK(cuCtxGetCurrent(&c));
    CHECK(c == a);
    OK(cuCtxPushCurrent(b));
    OK(cuCtxGetApiVersion(b, &version));
    OK(cuCtxDestroy(b));
    OK(cuCtxGetCurrent(&c));
    CHECK(c == a);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent(b));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)&d));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(a)); /* a primary context is released */
    context = a;
}

static void a_context_is_destroyed_when_all_are_detached(void)
{
    CUcontext a, b, c;
    OK(cuCtxGetCurrent(&a));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(a)); /* a primary context is released */
    OK(cuCtxCreate(&b, NULL, CU_CTX_SCHED_AUTO, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxAttach(&c, 1));
    OK(cuCtxAttach(&c, 0));
    CHECK(c == b);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(a)); /* not the current one */
    OK(cuCtxDetach(b));
    OK(cuCtxSynchronize());
    OK(cuCtxDetach(b));
    OK(cuCtxGetCurrent(&c));
    CHECK(c == a);
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDetach(b));
}

static void limits_are_kept(void)
{
    size_t n = 0;
    int least, greatest;
    OK(cuCtxGetLimit(&n, CU_LIMIT_STACK_SIZE));
    CHECK(n == 1024);
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20));
    OK(cuCtxGetLimit(&n, CU_LIMIT_MALLOC_HEAP_SIZE));
    CHECK(n == 64 << 20);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuCtxGetLimit(&n, (CUlimit)99));
    GIVES(CUDA_ERROR_UNSUPPORTED_LIMIT, cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 4));
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest == -5);
}

/* ---- modules ---- */

static void modules_have_kernels_and_variables(void)
{
    CUfunction f;
    CUdeviceptr p;
    size_t bytes;
    unsigned n;
    uint32_t value;
    OK(cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&f, module, "add"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, module, "subtract"));
    OK(cuModuleGetGlobal(&p, &bytes, module, "total"));
    CHECK(bytes == 4);
    OK(cuMemcpyDtoH(&value, p, 4));
    CHECK(value == 5);
    OK(cuModuleGetGlobal(&p, NULL, module, "factor"));
    GIVES(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, NULL, module, "nothing"));
    OK(cuModuleGetFunctionCount(&n, module));
    CHECK(n >= 9);
}

static void a_text_with_errors_is_explained_in_the_log(void)
{
    char log[512];
    memset(log, 'x', sizeof log); /* whatever a program's memory holds */
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME};
    void *values[] = {log, (void *)sizeof log, NULL};
    CUmodule m = NULL;
    const char *bad_ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { bogus.u32 %r1; }\n";
    GIVES(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&m, bad_ptx, 3, options, values));
    CHECK(strncmp(log, "module", 6) == 0 && strstr(log, "bogus"));
    CHECK((size_t)values[1] == strlen(log));
    GIVES(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, cuModuleLoadData(&m, ".version 7.9\n.target sm_70\n"));
    GIVES(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&m, "/no/such/file.ptx"));
    GIVES(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadDataEx(&m, "no image", 2, options, values));
}

static void of_newer_ptx_only_kernels_with_what_is_new_are_refused(void)
{
    static const char newer[] = ".version 99.9\n.target sm_80\n.address_size 64\n"
                                ".visible .entry plain() { ret; }\n"
                                ".visible .entry odd() { .reg .b32 %r<2>; foresee.b32 %r1, {%r1}; ret; }\n";
    CUmodule m;
    CUfunction plain, odd;
    OK(cuModuleLoadData(&m, newer));
    OK(cuModuleGetFunction(&plain, m, "plain"));
    OK(cuModuleGetFunction(&odd, m, "odd"));
    OK(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuModuleUnload(m));
    GIVES(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, cuModuleLoadData(&m, ".version 99.9\n.target sm_80\n.odd {\n"));
}

static void libraries_need_no_context(void)
{
    CUlibrary library, back;
    CUkernel k, all[32];
    CUfunction f;
    CUdeviceptr p = 0, again = 1;
    unsigned n;
    uint32_t v = 1, seven = 7;
    CUcontext current;
    OK(cuCtxPopCurrent(&current));
    OK(cuLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&k, library, "add"));
    OK(cuCtxPushCurrent(current));
    OK(cuLibraryGetKernelCount(&n, library));
    CHECK(n >= 9);
    OK(cuLibraryEnumerateKernels(all, 2, library));
    CHECK(all[0] == k);
    OK(cuKernelGetLibrary(&back, k));
    CHECK(back == library);
    OK(cuKernelGetFunction(&f, k));
    OK(cuLibraryGetGlobal(&p, NULL, library, "total"));
    OK(cuLibraryGetGlobal(&again, NULL, library, "total"));
    CHECK(p == again);
    CUdeviceptr word = words(&v, 1);
    OK(launch((CUfunction)k, 1, 1, 0, 0, (void *[]){&word, &seven})); /* a CUkernel is a CUfunction */
    OK(launch(f, 1, 1, 0, 0, (void *[]){&word, &seven}));
    OK(cuMemcpyDtoH(&v, word, 4));
    CHECK(v == 15);
    OK(cuMemFree(word));
    OK(cuLibraryUnload(library));
}

static void ptx_is_linked_at_run_time(void)
{
    static const char main_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                   ".extern .func (.param .u32 r) twice(.param .u32 x);\n"
                                   ".visible .entry k(.param .u64 p)\n{\n.reg .u64 %rd<2>; .reg .u32 %r<3>;\n"
                                   "ld.param.u64 %rd1, [p]; ld.u32 %r1, [%rd1];\n"
                                   "{ .param .u32 a; .param .u32 b; st.param.u32 [a], %r1;\n"
                                   "call (b), twice, (a); ld.param.u32 %r2, [b]; }\n"
                                   "st.u32 [%rd1], %r2; ret;\n}\n";
    static const char func_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                                   ".visible .func (.param .u32 r) twice(.param .u32 x)\n{\n.reg .u32 %r<2>;\n"
                                   "ld.param.u32 %r1, [x]; add.u32 %r1, %r1, %r1; st.param.u32 [r], %r1; ret;\n}\n";
    CUlinkState link;
    CUmodule m;
    CUfunction f;
    void *cubin;
    size_t bytes;
    uint32_t v = 21;
    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)main_ptx, sizeof main_ptx, "main", 0, NULL, NULL));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)func_ptx, sizeof func_ptx, "func", 0, NULL, NULL));
    OK(cuLinkComplete(link, &cubin, &bytes));
    OK(cuModuleLoadData(&m, cubin));
    OK(cuLinkDestroy(link));
    OK(cuModuleGetFunction(&f, m, "k"));
    CUdeviceptr word = words(&v, 1);
    OK(launch(f, 1, 1, 0, 0, (void *[]){&word}));
    OK(cuMemcpyDtoH(&v, word, 4));
    CHECK(v == 42);
    OK(cuMemFree(word));
    OK(cuModuleUnload(m));
}

/* ---- memory ---- */

static void memory_is_allocated_and_known(void)
{
    CUdeviceptr p, q, start;
    size_t bytes, free_before, free_after, total, pitch;
    void *host;
    unsigned type, flags, is_managed;
    int local[4];
    CUcontext c;
    OK(cuMemGetInfo(&free_before, &total));
    OK(cuMemAlloc(&p, 1000));
    CHECK(p % 256 == 0);
    OK(cuMemGetInfo(&free_after, NULL));
    CHECK(free_after < free_before && free_before <= total);
    OK(cuMemGetAddressRange(&start, &bytes, p + 500));
    CHECK(start == p && bytes == 1000);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 1));
    CHECK(type == CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    CHECK(c == context);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 4));
    OK(cuMemFree(p));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuMemFree(0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, total + 1));
    OK(cuMemAllocHost(&host, 64));
    OK(cuMemHostGetDevicePointer(&q, host, 0));
    CHECK(q == (CUdeviceptr)(uintptr_t)host);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, q));
    CHECK(type == CU_MEMORYTYPE_HOST);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(q));
    OK(cuMemFreeHost(host));
    OK(cuMemAllocManaged(&p, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
    CHECK(is_managed == 1);
    OK(cuMemPrefetchAsync(p, 64, (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, 0));
    OK(cuMemFree(p));
    OK(cuMemAllocPitch(&p, &pitch, 100, 3, 4));
    CHECK(pitch == 512);
    OK(cuMemFree(p));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)local));
    OK(cuMemHostRegister(local, sizeof local, CU_MEMHOSTREGISTER_PORTABLE));
    GIVES(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(local + 1, 4, 0));
    OK(cuMemHostGetFlags(&flags, local));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(local + 3)));
    CHECK(type == CU_MEMORYTYPE_HOST);
    OK(cuMemHostUnregister(local));
    GIVES(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(local));
}

static void attributes_of_unknown_pointers_are_zero(void)
{
    int local = 0, ordinal = 0;
    unsigned type = 9;
    CUdeviceptr p = 1;
    CUpointer_attribute a[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                               CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    void *values[] = {&type, &p, &ordinal};
    OK(cuPointerGetAttributes(3, a, values, (CUdeviceptr)&local));
    CHECK(type == 0 && p == 0 && ordinal == -2);
}

static void copies_go_every_way(void)
{
    uint32_t from[8] = {1, 2, 3, 4, 5, 6, 7, 8}, to[8] = {0};
    CUdeviceptr a = words(from, 8), b = words(to, 8);
    OK(cuMemcpyDtoD(b, a + 16, 16));
    OK(cuMemcpyDtoH(to, b, 32));
    CHECK(to[0] == 5 && to[3] == 8 && to[4] == 0);
    OK(cuMemcpy((CUdeviceptr)to, a, 32)); /* unified addresses */
    CHECK(to[7] == 8);
    OK(cuMemcpyPeer(b, context, a, context, 32));
    OK(cuMemcpyDtoHAsync(to, b + 28, 4, 0));
    CHECK(to[0] == 8); /* to pageable memory, it has been done */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(a, from, 36));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD((CUdeviceptr)to, from, 4));
    OK(cuMemcpyHtoD(a, from, 0));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
}

static void boxes_are_copied(void)
{
    uint8_t host[4 * 10], back[4 * 10];
    CUdeviceptr p;
    size_t pitch;
    for (unsigned i = 0; i < sizeof host; i++)
        host[i] = (uint8_t)i;
    memset(back, 0, sizeof back);
    OK(cuMemAllocPitch(&p, &pitch, 10, 4, 4));
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 10,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = p,
                        .dstPitch = pitch,
                        .WidthInBytes = 10,
                        .Height = 4};
    OK(cuMemcpy2D(&in));
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = p,
                         .srcPitch = pitch,
                         .srcHeight = 4,
                         .srcXInBytes = 2,
                         .srcY = 1,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .dstPitch = 10,
                         .dstHeight = 4,
                         .WidthInBytes = 3,
                         .Height = 2,
                         .Depth = 1};
    OK(cuMemcpy3D(&out));
    CHECK(back[0] == 12 && back[2] == 14 && back[3] == 0 && back[10] == 22);
    OK(cuMemFree(p));
}

static void fills_set_every_width(void)
{
    uint32_t v[8];
    memset(v, 255, sizeof v);
    CUdeviceptr p = words(v, 8);
    OK(cuMemsetD8(p, 1, 3));
    OK(cuMemsetD16(p + 4, 0x203, 2));
    OK(cuMemsetD32(p + 8, 7, 2));
    OK(cuMemsetD2D8(p + 16, 8, 9, 2, 2));
    OK(cuMemcpyDtoH(v, p, sizeof v));
    CHECK(v[0] == 0xff010101 && v[1] == 0x02030203 && v[2] == 7 && v[3] == 7);
    CHECK(v[4] == 0xffff0909 && v[5] == UINT32_MAX && v[6] == 0xffff0909);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 0, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p, 0, 9));
    OK(cuMemFree(p));
}

static void pools_allocate_in_the_order_of_streams(void)
{
    CUdeviceptr p;
    CUmemoryPool pool;
    CUstream s;
    cuuint64_t used;
    uint32_t one = 1;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemAllocAsync(&p, 64, s));
    OK(cuMemsetD32Async(p, 0, 16, s));
    OK(launch(kernel("add"), 1, 16, 0, s, (void *[]){&p, &one}));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    CHECK(used == 64);
    OK(cuMemFreeAsync(p, s));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(p, s));
    OK(cuStreamSynchronize(s));
    OK(cuStreamDestroy(s));
}

/* ---- launches ---- */

static void parameters_come_by_pointers_or_packed(void)
{
    struct {
        char c;
        double d;
    } c = {1, 2.5};
    unsigned char a = 200;
    unsigned short b = 60000;
    double d = -1.25;
    double out[3] = {0};
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, 24));
    CUfunction f = kernel("mixed");
    OK(launch(f, 1, 1, 0, 0, (void *[]){&a, &b, &c, &d, &p}));
    OK(cuMemcpyDtoH(out, p, 24));
    CHECK(((uint32_t *)out)[0] == 200 && ((uint32_t *)out)[1] == 60000 && out[1] == 2.5 && out[2] == -1.25);
    struct __attribute__((packed)) {
        uint8_t a, pad;
        uint16_t b;
        uint32_t pad2;
        double c[2], d;
        CUdeviceptr p;
    } packed = {7, 0, 9, 0, {0, 4.5}, 8.5, p};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, NULL, extra));
    OK(cuMemcpyDtoH(out, p, 24));
    CHECK(((uint32_t *)out)[0] == 7 && out[1] == 4.5 && out[2] == 8.5);
    size = 8;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, NULL, extra));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL));
    OK(cuMemFree(p));
}

static void launches_take_what_was_set_before(void)
{
    double out[3] = {0}, d = 8.5, c[2] = {0, 4.5};
    uint8_t a = 7;
    uint16_t b = 9;
    CUdeviceptr p = 0, words_of_3 = words((uint32_t[]){1, 2, 3}, 3);
    OK(cuMemAlloc(&p, 24));
    CUfunction f = kernel("mixed"), add = kernel("add");
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunch(f)); /* of no shape */
    OK(cuFuncSetBlockShape(f, 1, 1, 1));
    OK(cuFuncSetSharedSize(f, 16));
    OK(cuParamSetv(f, 0, &a, sizeof a));
    OK(cuParamSetv(f, 2, &b, sizeof b));
    OK(cuParamSetv(f, 8, c, sizeof c));
    OK(cuParamSetv(f, 24, &d, sizeof d));
    OK(cuParamSetv(f, 32, &p, sizeof p));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunch(f)); /* no parameters, as their size says */
    OK(cuParamSetSize(f, 40));
    OK(cuLaunch(f));
    OK(cuMemcpyDtoH(out, p, 24));
    CHECK(((uint32_t *)out)[0] == 7 && ((uint32_t *)out)[1] == 9 && out[1] == 4.5 && out[2] == 8.5);
    OK(cuFuncSetBlockShape(add, 1, 1, 1));
    OK(cuParamSetv(add, 0, &words_of_3, sizeof words_of_3));
    OK(cuParamSeti(add, 8, 10));
    OK(cuParamSetSize(add, 12));
    OK(cuLaunchGrid(add, 3, 1));
    OK(cuParamSetf(add, 8, 1.0f)); /* 0x3f800000 */
    OK(cuLaunchGridAsync(add, 1, 1, CU_STREAM_PER_THREAD));
    OK(cuCtxSynchronize());
    uint32_t sums[3];
    OK(cuMemcpyDtoH(sums, words_of_3, 12));
    CHECK(sums[0] == 0x3f80000b && sums[1] == 12 && sums[2] == 13);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetBlockShape(f, 0, 1, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSetv(f, -1, &a, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSeti(f, 32764 - 3, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuParamSetSize(f, 32765));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchGrid(f, -1, 1));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunch(NULL));
    OK(cuMemFree(p));
    OK(cuMemFree(words_of_3));
}

static void what_cannot_be_launched_is_refused(void)
{
    CUdeviceptr p = 0;
    void *params[] = {&p};
    CUfunction f = kernel("small");
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(f, 0, 1, 0, 0, params));
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(f, 1, 1025, 0, 0, params));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, 0, params, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(f, 1, 1, 49153, 0, params));
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(kernel("bounded"), 1, 65, 0, 0, params));
    GIVES(CUDA_ERROR_INVALID_HANDLE, launch(NULL, 1, 1, 0, 0, params));
    GIVES(CUDA_ERROR_INVALID_HANDLE, launch((CUfunction)module, 1, 1, 0, 0, params));
    OK(cuCtxSynchronize());
}

static void more_shared_memory_is_asked_for(void)
{
    uint32_t v[64];
    int value;
    CUfunction f = kernel("reverse");
    for (unsigned i = 0; i < 64; i++)
        v[i] = i;
    CUdeviceptr p = words(v, 64);
    GIVES(CUDA_ERROR_INVALID_VALUE, launch(f, 1, 64, 100000, 0, (void *[]){&p}));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    CHECK(value == 100000);
    OK(launch(f, 1, 64, 100000, 0, (void *[]){&p}));
    OK(cuMemcpyDtoH(v, p, sizeof v));
    CHECK(v[0] == 63 && v[63] == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449));
    OK(cuMemFree(p));
}

static void cooperative_grids_meet(void)
{
    enum { BLOCKS = 20 };
    uint32_t v[1 + BLOCKS] = {0};
    CUdeviceptr p = words(v, 1 + BLOCKS);
    CUfunction f = kernel("meet");
    OK(cuLaunchCooperativeKernel(f, BLOCKS, 1, 1, 1, 1, 1, 0, 0, (void *[]){&p}));
    OK(cuMemcpyDtoH(v, p, sizeof v));
    int all = 1;
    for (int i = 0; i < BLOCKS; i++)
        all &= v[1 + i] == BLOCKS;
    CHECK(all);
    GIVES(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
          cuLaunchCooperativeKernel(f, 132 * 32 + 1, 1, 1, 1, 1, 1, 0, 0, (void *[]){&p}));
    CUlaunchAttribute a[] = {{.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1},
                             {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}}};
    CUlaunchConfig c = {.gridDimX = BLOCKS,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = 1,
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .attrs = a,
                        .numAttrs = 2};
    OK(cuMemsetD32(p, 0, 1));
    OK(cuLaunchKernelEx(&c, f, (void *[]){&p}, NULL));
    a[1].value.clusterDim.x = 2;
    OK(cuMemsetD32(p, 0, 1));
    OK(cuLaunchKernelEx(&c, f, (void *[]){&p}, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemFree(p));
}

static const char clusters_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                    ".visible .entry told() .explicitcluster { ret; }\n"
                                    ".visible .entry one() .explicitcluster .reqnctapercluster 1, 1, 1 { ret; }\n"
                                    ".visible .entry two() .reqnctapercluster 1, 2, 1 { ret; }\n"
                                    ".visible .entry many() .reqnctapercluster 16 { ret; }\n"
                                    ".visible .entry most() .maxclusterrank 2 { ret; }\n"
                                    ".visible .entry meet(.param .u64 p) {\n"
                                    "    .reg .u64 %a; .reg .u32 %r<4>;\n"
                                    "    ld.param.u64 %a, [p];\n"
                                    "    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_nctarank;\n"
                                    "    mad.wide.u32 %a, %r1, 4, %a;\n"
                                    "    barrier.cluster.arrive; barrier.cluster.wait;\n"
                                    "    st.global.u32 [%a], %r2;\n"
                                    "    ret;\n"
                                    "}\n";

struct cluster_kernels {
    CUmodule module;
    CUfunction told, one, two, many, most, meet;
};

static struct cluster_kernels cluster_kernels(void)
{
    struct cluster_kernels k;
    OK(cuModuleLoadData(&k.module, clusters_text));
    OK(cuModuleGetFunction(&k.told, k.module, "told"));
    OK(cuModuleGetFunction(&k.one, k.module, "one"));
    OK(cuModuleGetFunction(&k.two, k.module, "two"));
    OK(cuModuleGetFunction(&k.many, k.module, "many"));
    OK(cuModuleGetFunction(&k.most, k.module, "most"));
    OK(cuModuleGetFunction(&k.meet, k.module, "meet"));
    return k;
}

/* An H200 gives the same answers. */
static void sizes_of_clusters_are_checked(void)
{
    struct cluster_kernels k = cluster_kernels();
    CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}};
    CUlaunchConfig c = {4, 4, 1, 1, 1, 1, .attrs = &a}, wide = {32, 1, 1, 1, 1, 1, .attrs = &a, .numAttrs = 1};
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernel(k.told, 4, 4, 1, 1, 1, 1, 0, 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&c, k.told, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernel(k.two, 4, 3, 1, 1, 1, 1, 0, 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernel(k.many, 16, 1, 1, 1, 1, 1, 0, 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k.two, 4, 3, 1, 1025, 1, 1, 0, 0, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k.two, 4, 0, 1, 1, 1, 1, 0, 0, NULL, NULL));
    OK(cuLaunchKernel(k.one, 4, 4, 1, 1, 1, 1, 0, 0, NULL, NULL));
    OK(cuLaunchKernel(k.two, 4, 4, 1, 1, 1, 1, 0, 0, NULL, NULL));
    OK(cuLaunchKernel(k.most, 4, 4, 1, 1, 1, 1, 0, 0, NULL, NULL));
    c.numAttrs = 1;
    OK(cuLaunchKernelEx(&c, k.told, NULL, NULL));
    OK(cuLaunchKernelEx(&c, k.one, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&c, k.two, NULL, NULL));
    a.value.clusterDim.y = 2;
    OK(cuLaunchKernelEx(&c, k.told, NULL, NULL));
    OK(cuLaunchKernelEx(&c, k.two, NULL, NULL));
    OK(cuLaunchKernelEx(&c, k.most, NULL, NULL));
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&c, k.one, NULL, NULL));
    a.value.clusterDim.y = 4;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&c, k.most, NULL, NULL));
    a.value.clusterDim.y = 3;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&c, k.told, NULL, NULL));
    a.value.clusterDim.x = 16;
    a.value.clusterDim.y = 1;
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&wide, k.told, NULL, NULL));
    OK(cuFuncSetAttribute(k.told, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuFuncSetAttribute(k.many, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuLaunchKernelEx(&wide, k.told, NULL, NULL));
    OK(cuLaunchKernel(k.many, 16, 1, 1, 1, 1, 1, 0, 0, NULL, NULL));
    OK(cuCtxSynchronize());
    OK(cuModuleUnload(k.module));
}

static void kernels_say_what_clusters_they_want(void)
{
    struct cluster_kernels k = cluster_kernels();
    CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {4, 1, 1}};
    CUlaunchConfig c = {4, 1, 1, 1024, 1, 1, .attrs = &a, .numAttrs = 1};
    const struct {
        CUfunction f;
        CUfunction_attribute attribute;
        int value;
    } want[] = {
        {k.told, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 1},
        {k.most, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, 0},
        {k.two, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 1},
        {k.two, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 2},
        {k.two, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1},
        {k.told, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 0},
        {k.told, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 0},
    };
    int value;
    for (unsigned i = 0; i < sizeof want / sizeof want[0]; i++) {
        OK(cuFuncGetAttribute(&value, want[i].attribute, want[i].f));
        CHECK(value == want[i].value);
    }
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuFuncSetAttribute(k.told, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
    OK(cuOccupancyMaxPotentialClusterSize(&value, k.told, &c));
    CHECK(value == 8);
    OK(cuOccupancyMaxPotentialClusterSize(&value, k.most, &c));
    CHECK(value == 2);
    OK(cuOccupancyMaxActiveClusters(&value, k.told, &c));
    CHECK(value == 62); /* as on an H200 */
    GIVES(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuOccupancyMaxActiveClusters(&value, k.most, &c));
    OK(cuFuncSetAttribute(k.told, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, k.told));
    CHECK(value == 1);
    OK(cuOccupancyMaxPotentialClusterSize(&value, k.told, &c));
    CHECK(value == 16);
    OK(cuModuleUnload(k.module));
}

/* Captured, launched, with other parameters, and by the node's attribute. */
static void nodes_of_graphs_keep_their_clusters(void)
{
    enum { BLOCKS = 8 };
    struct cluster_kernels k = cluster_kernels();
    uint32_t v[BLOCKS];
    CUdeviceptr p = words(v, BLOCKS);
    void *args[] = {&p};
    CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}};
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUgraphNode node;
    size_t n = 1;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUlaunchConfig c = {BLOCKS, 1, 1, 32, 1, 1, .hStream = s, .attrs = &a, .numAttrs = 1};
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernelEx(&c, k.meet, args, NULL));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphGetNodes(g, &node, &n));
    CUkernelNodeAttrValue value = {0};
    OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    CHECK(value.clusterDim.x == 2 && value.clusterDim.y == 1);
    const CUDA_KERNEL_NODE_PARAMS params = {k.meet, BLOCKS, 1, 1, 64, 1, 1, .kernelParams = args};
    for (unsigned size = 2; size <= 8; size *= 2) {
        value.clusterDim.x = size;
        OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
        OK(cuGraphKernelNodeSetParams(node, &params));
        OK(cuGraphInstantiateWithFlags(&x, g, 0));
        OK(cuGraphExecKernelNodeSetParams(x, node, &params));
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
        OK(cuMemcpyDtoH(v, p, sizeof v));
        int all = 1;
        for (int i = 0; i < BLOCKS; i++)
            all &= v[i] == size;
        CHECK(all);
        OK(cuGraphExecDestroy(x));
    }
    OK(cuGraphDestroy(g));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(p));
    OK(cuModuleUnload(k.module));
}

static void occupancy_is_an_H200s(void)
{
    /* kernel, threads, dynamic shared bytes, blocks: recorded on an H200 */
    static const struct {
        const char *name;
        int threads, shared, blocks;
    } recorded[] = {
        {"small", 32, 0, 32},     {"shared8k", 32, 0, 25},  {"small", 32, 1024, 32},   {"small", 32, 16384, 13},
        {"small", 32, 49152, 4},  {"small", 64, 0, 32},     {"shared8k", 64, 0, 25},   {"small", 64, 16384, 13},
        {"small", 128, 0, 16},    {"shared8k", 128, 0, 16}, {"small", 128, 16384, 13}, {"small", 128, 49152, 4},
        {"small", 256, 0, 8},     {"shared8k", 256, 0, 8},  {"small", 256, 49152, 4},  {"small", 512, 0, 4},
        {"small", 512, 49152, 4}, {"small", 1024, 0, 2},    {"shared8k", 1024, 0, 2},  {"small", 1024, 49152, 2},
    };
    for (unsigned i = 0; i < sizeof recorded / sizeof recorded[0]; i++) {
        int blocks = -1;
        OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel(recorded[i].name), recorded[i].threads,
                                                       (size_t)recorded[i].shared));
        CHECK(blocks == recorded[i].blocks);
    }
    int value, grid, block;
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel("shared8k")));
    CHECK(value == 8192);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel("shared8k")));
    CHECK(value == 40960);
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("bounded")));
    CHECK(value == 64);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("small"), NULL, 0, 0));
    CHECK(block == 1024 && grid == 264);
}

/* ---- memory that host and kernels share ---- */

static void kernels_use_registered_memory(void)
{
    uint32_t local[64] = {0}, *heap = calloc(1 << 16, 4), hundred = 100;
    static uint32_t data[64];
    CUdeviceptr p[] = {(CUdeviceptr)local, (CUdeviceptr)heap, (CUdeviceptr)data};
    for (int i = 0; i < 3; i++)
        OK(cuMemHostRegister((void *)p[i], sizeof local, 0));
    for (int i = 0; i < 3; i++)
        OK(launch(kernel("add"), 1, 64, 0, 0, (void *[]){&p[i], &hundred}));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 3; i++)
        OK(cuMemHostUnregister((void *)p[i]));
    CHECK(local[63] == 100 && heap[63] == 100 && data[0] == 100);
    free(heap);
}

static void host_and_kernel_count_together(void)
{
    enum { BLOCKS = 64, THREADS = 256, HOST = 20000 };
    CUdeviceptr p;
    OK(cuMemAllocManaged(&p, 4, CU_MEM_ATTACH_GLOBAL));
    uint32_t *counter = (uint32_t *)(uintptr_t)p;
    *counter = 0;
    OK(launch(kernel("count"), BLOCKS, THREADS, 0, 0, (void *[]){&p}));
    for (int i = 0; i < HOST; i++)
        __sync_fetch_and_add(counter, 1);
    OK(cuCtxSynchronize());
    CHECK(*counter == BLOCKS * THREADS + HOST);
    OK(cuMemFree(p));
}

int main(void)
{
    RUN(nothing_works_before_cuInit);
    RUN(the_device_is_an_H200_unless_told_otherwise);
    RUN(contexts_are_a_stack);
    RUN(a_context_is_destroyed_when_all_are_detached);
    RUN(limits_are_kept);
    RUN(modules_have_kernels_and_variables);
    RUN(a_text_with_errors_is_explained_in_the_log);
    RUN(of_newer_ptx_only_kernels_with_what_is_new_are_refused);
    RUN(libraries_need_no_context);
    RUN(ptx_is_linked_at_run_time);
    RUN(memory_is_allocated_and_known);
    RUN(attributes_of_unknown_pointers_are_zero);
    RUN(copies_go_every_way);
    RUN(boxes_are_copied);
    RUN(fills_set_every_width);
    RUN(pools_allocate_in_the_order_of_streams);
    RUN(parameters_come_by_pointers_or_packed);
    RUN(launches_take_what_was_set_before);
    RUN(what_cannot_be_launched_is_refused);
    RUN(more_shared_memory_is_asked_for);
    RUN(cooperative_grids_meet);
    RUN(sizes_of_clusters_are_checked);
    RUN(kernels_say_what_clusters_they_want);
    RUN(nodes_of_graphs_keep_their_clusters);
    RUN(occupancy_is_an_H200s);
    RUN(kernels_use_registered_memory);
    RUN(host_and_kernel_count_together);
    return summary();
}

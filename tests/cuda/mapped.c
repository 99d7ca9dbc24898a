/* Virtual memory management: addresses and memory, the one mapped to the other. */
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"
#include "tap.h"

static CUmodule module;
static size_t granule;

static const CUmemAllocationProp on_device_0 = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static CUresult allow(CUdeviceptr p, size_t bytes, CUmemAccess_flags flags)
{
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
    return cuMemSetAccess(p, bytes, &d, 1);
}

/* p[0] += n, by a kernel. */
static CUresult add(CUdeviceptr p, unsigned n)
{
    CUfunction f;
    CUresult r = cuModuleGetFunction(&f, module, "add");
    r = r ? r : cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, (void *[]){&p, &n}, NULL);
    return r ? r : cuCtxSynchronize();
}

static unsigned read_word(CUdeviceptr p)
{
    unsigned v = 0;
    OK(cuMemcpyDtoH(&v, p, 4));
    return v;
}

static void two_pieces_make_one_range(void)
{
    CUdeviceptr p;
    CUmemGenericAllocationHandle a, b;
    size_t before, now, total;
    unsigned *host = malloc(2 * granule);
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemAddressReserve(&p, 4 * granule, 0, 0, 0));
    CHECK(p % granule == 0);
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemCreate(&b, granule, &on_device_0, 0));
    OK(cuMemGetInfo(&now, &total));
    CHECK(now == before - 2 * granule);
    OK(cuMemMap(p, granule, 0, a, 0));
    OK(cuMemMap(p + granule, granule, 0, b, 0));
    OK(allow(p, 2 * granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    for (size_t i = 0; i < 2 * granule / 4; i++)
        host[i] = (unsigned)i;
    OK(cuMemcpyHtoD(p, host, 2 * granule));
    OK(cuMemsetD32(p + granule - 4, 100, 2));
    OK(add(p + granule - 4, 11));
    OK(add(p + granule, 22));
    CHECK(read_word(p + granule - 4) == 111 && read_word(p + granule) == 122);
    OK(cuMemcpyDtoD(p, p + granule, granule));
    CHECK(read_word(p) == 122 && read_word(p + 8) == (unsigned)granule / 4 + 2);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, p + granule, granule + 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(host, p + 2 * granule, 1));
    OK(cuMemUnmap(p, 2 * granule));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 4 * granule));
    OK(cuMemGetInfo(&now, &total));
    CHECK(now == before);
    free(host);
}

static void memory_lives_on_while_it_is_mapped_and_can_be_mapped_twice(void)
{
    CUdeviceptr p, q;
    CUmemGenericAllocationHandle a, again;
    CUmemAllocationProp prop;
    OK(cuMemAddressReserve(&p, granule, 0, 0, 0));
    OK(cuMemAddressReserve(&q, granule, 8 * granule, 0, 0));
    CHECK(q % (8 * granule) == 0);
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemMap(p, granule, 0, a, 0));
    OK(cuMemMap(q, granule, 0, a, 0));
    OK(cuMemRelease(a));
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(allow(q, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuMemsetD32(p, 5, 1));
    OK(add(q, 6));
    CHECK(read_word(p) == 11);
    OK(cuMemUnmap(p, granule));
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(q + 100)));
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, again));
    CHECK(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED && prop.location.id == 0);
    OK(cuMemUnmap(q, granule));
    OK(cuMemMap(p, granule, 0, again, 0));
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    CHECK(read_word(p) == 11);
    OK(cuMemUnmap(p, granule));
    OK(cuMemRelease(again));
    OK(cuMemAddressFree(p, granule));
    OK(cuMemAddressFree(q, granule));
}

static void memory_is_exported_and_imported(void)
{
    CUdeviceptr p, q;
    CUmemGenericAllocationHandle a, b;
    int file, pipes[2];
    OK(cuMemAddressReserve(&p, 2 * granule, 0, 0, 0));
    q = p + granule;
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemExportToShareableHandle(&file, a, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    OK(cuMemImportFromShareableHandle(&b, (void *)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    OK(cuMemMap(p, granule, 0, a, 0));
    OK(cuMemMap(q, granule, 0, b, 0));
    OK(allow(p, 2 * granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuMemsetD32(p, 77, 1));
    CHECK(read_word(q) == 77);
    OK(cuMemUnmap(p, 2 * granule));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 2 * granule));
    CHECK(pipe(pipes) == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE,
          cuMemImportFromShareableHandle(&b, (void *)(intptr_t)pipes[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

static void what_cannot_be_is_refused(void)
{
    CUdeviceptr p, other;
    CUmemGenericAllocationHandle a, b;
    CUmemAllocationProp elsewhere = on_device_0;
    unsigned long long flags;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&p, granule + 1, 0, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&p, granule, 3, 0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&a, granule / 2, &on_device_0, 0));
    GIVES(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&a, (size_t)1 << 50, &on_device_0, 0));
    elsewhere.location.id = 7;
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuMemCreate(&a, granule, &elsewhere, 0));
    OK(cuMemAddressReserve(&p, 2 * granule, 0, 0, 0));
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemCreate(&b, 2 * granule, &on_device_0, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p, 2 * granule, 0, a, 0));                     /* more than there is */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p + granule, 2 * granule, 0, b, 0));           /* beyond the range */
    GIVES(CUDA_ERROR_INVALID_VALUE, allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)); /* nothing there */
    OK(cuMemMap(p, granule, 0, a, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(p, granule, 0, a, 0)); /* taken */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 2 * granule));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(p, granule / 2));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(p, 2 * granule));
    OK(cuMemGetAccess(&flags, &on_device_0.location, p));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    OK(cuMemGetAccess(&flags, &on_device_0.location, p));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree(p));
    OK(cuMemAlloc(&other, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(other, 4));
    OK(cuMemFree(other));
    OK(cuMemUnmap(p, granule));
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 2 * granule));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p, 2 * granule));
}

/* ---- copies and fills, by access; as an H200 answered ---- */

static CUDA_MEMCPY2D rows(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .srcPitch = 64,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = 64,
                           .WidthInBytes = 32,
                           .Height = 3};
}

static CUDA_MEMCPY3D box(CUdeviceptr to, CUdeviceptr from)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                           .srcDevice = from,
                           .srcPitch = 64,
                           .srcHeight = 2,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = to,
                           .dstPitch = 64,
                           .dstHeight = 2,
                           .WidthInBytes = 32,
                           .Height = 2,
                           .Depth = 2};
}

static CUdeviceptr plain; /* 4096 bytes of cuMemAlloc */
static CUcontext context;
static CUstream stream;

static void fills_give(CUresult r, CUdeviceptr p)
{
    GIVES(r, cuMemsetD8(p, 1, 128));
    GIVES(r, cuMemsetD16(p, 1, 64));
    GIVES(r, cuMemsetD32(p, 1, 32));
    GIVES(r, cuMemsetD8Async(p, 1, 128, stream));
    GIVES(r, cuMemsetD16Async(p, 1, 64, stream));
    GIVES(r, cuMemsetD32Async(p, 1, 32, stream));
    GIVES(r, cuMemsetD2D8(p, 64, 1, 32, 3));
    GIVES(r, cuMemsetD2D16(p, 64, 1, 16, 3));
    GIVES(r, cuMemsetD2D32(p, 64, 1, 8, 3));
    GIVES(r, cuMemsetD2D8Async(p, 64, 1, 32, 3, stream));
    GIVES(r, cuMemsetD2D16Async(p, 64, 1, 16, 3, stream));
    GIVES(r, cuMemsetD2D32Async(p, 64, 1, 8, 3, stream));
}

static void copies_give(CUresult r, CUdeviceptr to, CUdeviceptr from)
{
    CUDA_MEMCPY2D m = rows(to, from);
    CUDA_MEMCPY3D b = box(to, from);
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                               .srcDevice = from,
                               .srcContext = context,
                               .srcPitch = 64,
                               .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                               .dstDevice = to,
                               .dstContext = context,
                               .dstPitch = 64,
                               .WidthInBytes = 32,
                               .Height = 3,
                               .Depth = 1};
    GIVES(r, cuMemcpy(to, from, 128));
    GIVES(r, cuMemcpyAsync(to, from, 128, stream));
    GIVES(r, cuMemcpyDtoD(to, from, 128));
    GIVES(r, cuMemcpyDtoDAsync(to, from, 128, stream));
    GIVES(r, cuMemcpyPeer(to, context, from, context, 128));
    GIVES(r, cuMemcpyPeerAsync(to, context, from, context, 128, stream));
    GIVES(r, cuMemcpy2D(&m));
    GIVES(r, cuMemcpy2DUnaligned(&m));
    GIVES(r, cuMemcpy2DAsync(&m, stream));
    GIVES(r, cuMemcpy3D(&b));
    GIVES(r, cuMemcpy3DAsync(&b, stream));
    GIVES(r, cuMemcpy3DPeer(&peer));
    GIVES(r, cuMemcpy3DPeerAsync(&peer, stream));
}

static void copies_of_the_host_give(CUresult writing, CUresult reading, CUdeviceptr p)
{
    static char host[4096];
    CUDA_MEMCPY2D to = rows(p, 0), from = rows(0, p);
    to.srcMemoryType = from.dstMemoryType = CU_MEMORYTYPE_HOST;
    to.srcHost = from.dstHost = host;
    GIVES(writing, cuMemcpyHtoD(p, host, 128));
    GIVES(writing, cuMemcpyHtoDAsync(p, host, 128, stream));
    GIVES(writing, cuMemcpy(p, (CUdeviceptr)(uintptr_t)host, 128));
    GIVES(writing, cuMemcpy2D(&to));
    GIVES(writing, cuMemcpy2DAsync(&to, stream));
    GIVES(reading, cuMemcpyDtoH(host, p, 128));
    GIVES(reading, cuMemcpyDtoHAsync(host, p, 128, stream));
    GIVES(reading, cuMemcpy((CUdeviceptr)(uintptr_t)host, p, 128));
    GIVES(reading, cuMemcpy2D(&from));
    GIVES(reading, cuMemcpy2DAsync(&from, stream));
}

static void nodes_give(CUresult writing, CUresult reading, CUdeviceptr p)
{
    CUgraph g;
    CUgraphExec x;
    CUgraphNode n;
    CUDA_MEMCPY3D to = box(p, plain), from = box(plain, p);
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .elementSize = 1, .width = 128, .height = 1}, well = fill;
    well.dst = plain;
    OK(cuGraphCreate(&g, 0));
    GIVES(writing, cuGraphAddMemcpyNode(&n, g, NULL, 0, &to, context));
    GIVES(reading, cuGraphAddMemcpyNode(&n, g, NULL, 0, &from, context));
    GIVES(writing, cuGraphAddMemsetNode(&n, g, NULL, 0, &fill, context));
    OK(cuGraphAddMemsetNode(&n, g, NULL, 0, &well, context));
    OK(cuGraphInstantiate(&x, g, 0));
    GIVES(writing, cuGraphExecMemsetNodeSetParams(x, n, &fill, context));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
}

/* From 128 bytes on. All is as it was afterwards: a kernel runs. */
static void all_give(CUresult writing, CUresult reading, CUdeviceptr p)
{
    fills_give(writing, p);
    copies_give(writing, p, plain);
    copies_give(reading, plain, p);
    copies_of_the_host_give(writing, reading, p);
    nodes_give(writing, reading, p);
    OK(cuMemsetD8(p, 1, 0));
    OK(cuMemcpyHtoD(p, "", 0));
    OK(cuStreamSynchronize(stream));
    OK(add(plain, 1));
}

static void copies_and_fills_obey_the_access(void)
{
    const CUresult no = CUDA_ERROR_INVALID_VALUE;
    CUdeviceptr p;
    CUmemGenericAllocationHandle a, b;
    OK(cuCtxGetCurrent(&context));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&plain, 4096));
    OK(cuMemsetD8(plain, 0, 4096));
    OK(cuMemAddressReserve(&p, 2 * granule, 0, 0, 0));
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    OK(cuMemCreate(&b, granule, &on_device_0, 0));
    all_give(no, no, p); /* reserved alone */
    OK(cuMemMap(p, granule, 0, a, 0));
    all_give(no, no, p);
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    all_give(no, CUDA_SUCCESS, p);
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    all_give(CUDA_SUCCESS, CUDA_SUCCESS, p);
    CUdeviceptr edge = p + granule - 96; /* bytes and rows from one piece into the next */
    all_give(no, no, edge);
    OK(cuMemMap(p + granule, granule, 0, b, 0));
    all_give(no, no, edge);
    OK(allow(p + granule, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    all_give(no, CUDA_SUCCESS, edge);
    OK(cuMemsetD8(edge, 1, 96));
    OK(allow(p + granule, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    all_give(CUDA_SUCCESS, CUDA_SUCCESS, edge);
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_NONE));
    all_give(no, no, edge);
    OK(cuMemUnmap(p, 2 * granule));
    all_give(no, no, edge);
    OK(cuMemRelease(a));
    OK(cuMemRelease(b));
    OK(cuMemAddressFree(p, 2 * granule));
    OK(cuMemFree(plain));
    OK(cuStreamDestroy(stream));
}

/* ---- changes under a running kernel; as an H200 answered ---- */

/* Reads, or reads and writes, words of p until *stop, which the host sets, and says in stop[1] that
 * it has begun. */
static const char users[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
#define USER(name, store)                                                                                              \
    ".visible .entry " name "(.param .u64 p, .param .u64 stop)\n{\n"                                                   \
    "    .reg .u64 %rd<6>; .reg .u32 %r<6>; .reg .pred %q<2>;\n"                                                       \
    "    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [stop]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;\n"         \
    "    add.u64 %rd3, %rd1, %rd3; add.u64 %rd4, %rd3, 512;\n"                                                         \
    "again:\n    mov.u64 %rd5, %rd3;\n"                                                                                \
    "words: ld.volatile.u32 %r2, [%rd5]; add.u32 %r2, %r2, 1; " store " add.u64 %rd5, %rd5, 128;\n"                    \
    "    setp.lt.u64 %q1, %rd5, %rd4; @%q1 bra words;\n"                                                               \
    "    st.volatile.u32 [%rd2+4], 1; ld.volatile.u32 %r3, [%rd2]; setp.eq.u32 %q1, %r3, 0; @%q1 bra again;\n    "     \
    "ret;\n}\n"
    USER("reader", "") USER("writer", "st.volatile.u32 [%rd5], %r2;");

enum change { UNMAP, TO_READ, TO_NONE, TO_READWRITE, OTHER_UNMAP, OTHER_TO_READ, FREE_ADDRESSES };

/* What the kernel ends with, when the access to its memory, or to other memory, changes under it.
 * The call itself waits for nothing: the kernel ends after it. */
static CUresult ends_with(const char *kernel, enum change change)
{
    CUdeviceptr p[2];
    CUmemGenericAllocationHandle h[2];
    CUmodule m;
    CUfunction f;
    CUstream s;
    volatile unsigned *flags;
    OK(cuModuleLoadData(&m, users));
    OK(cuModuleGetFunction(&f, m, kernel));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemHostAlloc((void **)&flags, 64, 0));
    for (int i = 0; i < 2; i++) {
        OK(cuMemAddressReserve(&p[i], granule, 0, 0, 0));
        OK(cuMemCreate(&h[i], granule, &on_device_0, 0));
        OK(cuMemMap(p[i], granule, 0, h[i], 0));
        OK(allow(p[i], granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    }
    flags[0] = flags[1] = 0;
    OK(cuLaunchKernel(f, 4, 1, 1, 64, 1, 1, 0, s, (void *[]){&p[0], &flags}, NULL));
    while (!flags[1])
        usleep(100);
    usleep(20000);
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(s));
    switch (change) {
    case UNMAP: OK(cuMemUnmap(p[0], granule)); break;
    case TO_READ: OK(allow(p[0], granule, CU_MEM_ACCESS_FLAGS_PROT_READ)); break;
    case TO_NONE: OK(allow(p[0], granule, CU_MEM_ACCESS_FLAGS_PROT_NONE)); break;
    case TO_READWRITE: OK(allow(p[0], granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)); break;
    case OTHER_UNMAP: OK(cuMemUnmap(p[1], granule)); break;
    case OTHER_TO_READ: OK(allow(p[1], granule, CU_MEM_ACCESS_FLAGS_PROT_READ)); break;
    case FREE_ADDRESSES: GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(p[1], granule)); break;
    }
    usleep(20000);
    flags[0] = 1;
    return cuStreamSynchronize(s);
}

static int ends_as_recorded(int i)
{
    static const struct {
        const char *kernel;
        enum change change;
        CUresult result;
    } cases[] = {{"writer", UNMAP, CUDA_ERROR_ILLEGAL_ADDRESS},   {"writer", TO_READ, CUDA_ERROR_ILLEGAL_ADDRESS},
                 {"writer", TO_NONE, CUDA_ERROR_ILLEGAL_ADDRESS}, {"writer", TO_READWRITE, CUDA_SUCCESS},
                 {"writer", OTHER_UNMAP, CUDA_SUCCESS},           {"writer", OTHER_TO_READ, CUDA_SUCCESS},
                 {"writer", FREE_ADDRESSES, CUDA_SUCCESS},        {"reader", TO_READ, CUDA_SUCCESS},
                 {"reader", TO_NONE, CUDA_ERROR_ILLEGAL_ADDRESS}, {"reader", UNMAP, CUDA_ERROR_ILLEGAL_ADDRESS}};
    if (i >= (int)(sizeof cases / sizeof cases[0]))
        return -1;
    CUresult got = ends_with(cases[i].kernel, cases[i].change);
    if (got != cases[i].result)
        printf("# %s, change %d: %s\n", cases[i].kernel, cases[i].change, name_of(got));
    CHECK(got == cases[i].result);
    return bad;
}

/* What a stream does later, when the access has gone: a copy, a fill, a node of a graph. */
static int fails_in_stream(int i)
{
    CUdeviceptr p, q;
    CUmemGenericAllocationHandle h;
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUgraphNode n;
    CUmodule m;
    CUfunction f;
    volatile unsigned *flags;
    const size_t bytes = 1 << 20;
    if (i > 2)
        return -1;
    OK(cuModuleLoadData(&m, kernels));
    OK(cuModuleGetFunction(&f, m, "await"));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemHostAlloc((void **)&flags, 64, 0));
    OK(cuMemAlloc(&q, bytes));
    OK(cuMemAddressReserve(&p, granule, 0, 0, 0));
    OK(cuMemCreate(&h, granule, &on_device_0, 0));
    OK(cuMemMap(p, granule, 0, h, 0));
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .elementSize = 1, .width = bytes, .height = 1};
    CUcontext c;
    OK(cuCtxGetCurrent(&c));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemsetNode(&n, g, NULL, 0, &fill, c));
    OK(cuGraphInstantiate(&x, g, 0));
    flags[0] = 0;
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&flags, &(unsigned){1}}, NULL));
    if (i == 0)
        OK(cuMemcpyDtoDAsync(p, q, bytes, s));
    else if (i == 1)
        OK(cuMemsetD32Async(p, 1, bytes / 4, s));
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    if (i == 2)
        OK(cuGraphLaunch(x, s));
    flags[0] = 1;
    GIVES(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(s));
    GIVES(CUDA_ERROR_LAUNCH_FAILED, cuCtxSynchronize());
    return bad;
}

/* The last tests: a fault ends the context, so each is a process of its own. */
static int fault_of(bool mapped)
{
    CUdeviceptr p;
    CUmemGenericAllocationHandle a;
    OK(cuMemAddressReserve(&p, granule, 0, 0, 0));
    OK(cuMemCreate(&a, granule, &on_device_0, 0));
    if (mapped) {
        OK(cuMemMap(p, granule, 0, a, 0));
        OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READ));
    }
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, add(p, 1));
    return bad;
}

static bool start(void)
{
    CUcontext c;
    return !cuInit(0) && !cuDevicePrimaryCtxRetain(&c, 0) && !cuCtxSetCurrent(c) &&
           !cuModuleLoadData(&module, kernels) &&
           !cuMemGetAllocationGranularity(&granule, &on_device_0, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
}

static void in_child(bool mapped)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(!start() || fault_of(mapped));
    waitpid(child, &status, 0);
    CHECK(status == 0);
}

/* Each case of a test, until it says that there is none, in a process of its own. */
static void each_in_child(int (*test)(int))
{
    enum { NO_SUCH_CASE = 77 };
    for (int i = 0, status = 0;; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            int result = start() ? test(i) : 1;
            fflush(stdout);
            _exit(result < 0 ? NO_SUCH_CASE : result);
        }
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == NO_SUCH_CASE)
            break;
        CHECK(status == 0);
    }
}

static void access_changes_under_a_kernel(void)
{
    each_in_child(ends_as_recorded);
}

static void access_goes_before_a_stream_comes_to_it(void)
{
    each_in_child(fails_in_stream);
}

static void kernels_cannot_touch_what_is_not_mapped(void)
{
    in_child(false);
}

static void kernels_cannot_write_what_is_only_to_be_read(void)
{
    in_child(true);
}

/* What the process's descriptors keep of files without names. */
static size_t kept_by_descriptors(void)
{
    enum { MOST = 1024 };
    size_t bytes = 0;
    struct stat s;
    for (int i = 0; i < MOST; i++)
        if (fstat(i, &s) == 0 && S_ISREG(s.st_mode) && s.st_nlink == 0)
            bytes += (size_t)s.st_blocks * 512;
    return bytes;
}

static void await(void *semaphore)
{
    sem_wait(semaphore);
}

static void *synchronize(void *stream)
{
    OK(cuStreamSynchronize(stream));
    return NULL;
}

static void memory_goes_although_another_call_takes_long(void)
{
    sem_t end;
    CUstream s;
    pthread_t other;
    CUdeviceptr p;
    CUmemGenericAllocationHandle h;
    size_t before = kept_by_descriptors();
    sem_init(&end, 0, 0);
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(s, await, &end));
    pthread_create(&other, NULL, synchronize, s);
    usleep(20000);
    OK(cuMemAddressReserve(&p, granule, 0, 0, 0));
    OK(cuMemCreate(&h, granule, &on_device_0, 0));
    OK(cuMemMap(p, granule, 0, h, 0));
    OK(allow(p, granule, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    OK(cuMemsetD8(p, 1, granule));
    OK(cuStreamSynchronize(NULL));
    CHECK(kept_by_descriptors() >= before + granule);
    OK(cuMemUnmap(p, granule));
    OK(cuMemRelease(h));
    CHECK(kept_by_descriptors() == before);
    sem_post(&end);
    pthread_join(other, NULL);
    OK(cuStreamDestroy(s));
    OK(cuMemAddressFree(p, granule));
}

int main(void)
{
    RUN(kernels_cannot_touch_what_is_not_mapped);
    RUN(kernels_cannot_write_what_is_only_to_be_read);
    RUN(access_changes_under_a_kernel);
    RUN(access_goes_before_a_stream_comes_to_it);
    if (!start()) {
        printf("Bail out! CUDA cannot be initialized\n");
        return 1;
    }
    RUN(two_pieces_make_one_range);
    RUN(memory_lives_on_while_it_is_mapped_and_can_be_mapped_twice);
    RUN(memory_is_exported_and_imported);
    RUN(memory_goes_although_another_call_takes_long);
    RUN(what_cannot_be_is_refused);
    RUN(copies_and_fills_obey_the_access);
    return summary();
}

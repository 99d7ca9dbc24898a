/* Eight threads use one device at the same time, each by itself, through the runtime and the driver
 * API. Each checks its own results; `make sanitize-thread` runs it for the races. Usage:
 * cuda-threads [ROUNDS]
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdint.h>

#include "kernels.h"
#include "tap.h"

enum { THREADS = 8, N = 256 };

static unsigned rounds = 6;
static cudaLibrary_t shared_library;
static CUmemoryPool shared_pool;
static unsigned mistakes;

/* As in tap.h, from any thread. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                                                   \
            __atomic_add_fetch(&mistakes, 1, __ATOMIC_RELAXED);                                                        \
        }                                                                                                              \
    } while (0)

static cudaKernel_t kernel(cudaLibrary_t library, const char *name)
{
    cudaKernel_t k = NULL;
    MUST(cudaLibraryGetKernel(&k, library, name) == cudaSuccess);
    return k;
}

/* p[i] += n for N words, by two blocks. */
static cudaError_t add(cudaLibrary_t library, void *p, uint32_t n, cudaStream_t s)
{
    return cudaLaunchKernel(kernel(library, "add"), (dim3){2, 1, 1}, (dim3){N / 2, 1, 1}, (void *[]){&p, &n}, 0, s);
}

static void expect(const uint32_t *words, uint32_t value)
{
    for (unsigned i = 0; i < N; i++)
        if (words[i] != value) {
            MUST(!"all words have the value");
            return;
        }
}

/* ---- what each thread does ---- */

static void allocates_copies_and_launches(unsigned seed)
{
    uint32_t words[N] = {0};
    void *p;
    MUST(cudaMalloc(&p, sizeof words) == cudaSuccess);
    MUST(cudaMemcpy(p, words, sizeof words, cudaMemcpyHostToDevice) == cudaSuccess);
    MUST(add(shared_library, p, seed, NULL) == cudaSuccess);
    MUST(cudaMemcpy(words, p, sizeof words, cudaMemcpyDeviceToHost) == cudaSuccess);
    expect(words, seed);
    MUST(cudaFree(p) == cudaSuccess);
}

static void orders_streams_by_events(unsigned seed)
{
    uint32_t *host, *p;
    cudaStream_t a, b;
    cudaEvent_t e, end;
    float ms = -1;
    MUST(cudaStreamCreate(&a) == cudaSuccess);
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking) == cudaSuccess);
    MUST(cudaEventCreate(&e) == cudaSuccess);
    MUST(cudaEventCreate(&end) == cudaSuccess);
    MUST(cudaMallocHost((void **)&host, N * 4) == cudaSuccess);
    MUST(cudaMallocAsync((void **)&p, N * 4, a) == cudaSuccess);
    MUST(cudaMemsetAsync(p, 0, N * 4, a) == cudaSuccess);
    MUST(add(shared_library, p, seed, a) == cudaSuccess);
    MUST(cudaEventRecord(e, a) == cudaSuccess);
    MUST(cudaStreamWaitEvent(b, e, 0) == cudaSuccess);
    MUST(add(shared_library, p, 1, b) == cudaSuccess);
    MUST(cudaMemcpyAsync(host, p, N * 4, cudaMemcpyDeviceToHost, b) == cudaSuccess);
    MUST(cudaFreeAsync(p, b) == cudaSuccess);
    MUST(cudaEventRecord(end, b) == cudaSuccess);
    MUST(cudaStreamSynchronize(b) == cudaSuccess);
    MUST(cudaEventElapsedTime(&ms, e, end) == cudaSuccess && ms >= 0);
    expect(host, seed + 1);
    MUST(cudaFreeHost(host) == cudaSuccess);
    MUST(cudaEventDestroy(e) == cudaSuccess);
    MUST(cudaEventDestroy(end) == cudaSuccess);
    MUST(cudaStreamDestroy(a) == cudaSuccess);
    MUST(cudaStreamDestroy(b) == cudaSuccess);
}

static void captures_and_runs_graphs(unsigned seed)
{
    uint32_t *p;
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    /* others use the legacy stream, which may not wait for one that captures */
    MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess);
    MUST(cudaMallocManaged((void **)&p, N * 4, cudaMemAttachGlobal) == cudaSuccess);
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    MUST(cudaMemsetAsync(p, 0, N * 4, s) == cudaSuccess);
    MUST(add(shared_library, p, seed, s) == cudaSuccess);
    MUST(cudaStreamEndCapture(s, &graph) == cudaSuccess);
    MUST(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    for (unsigned i = 0; i < 3; i++)
        MUST(cudaGraphLaunch(exec, s) == cudaSuccess);
    MUST(cudaStreamSynchronize(s) == cudaSuccess);
    expect(p, seed);
    MUST(cudaGraphExecDestroy(exec) == cudaSuccess);
    MUST(cudaGraphDestroy(graph) == cudaSuccess);
    MUST(cudaFree(p) == cudaSuccess);
    MUST(cudaStreamDestroy(s) == cudaSuccess);
}

static void loads_libraries_of_its_own(unsigned seed)
{
    uint32_t *p, total = 0;
    void *address;
    size_t bytes;
    cudaLibrary_t library;
    MUST(cudaLibraryLoadData(&library, kernels, NULL, NULL, 0, NULL, NULL, 0) == cudaSuccess);
    MUST(cudaLibraryGetGlobal(&address, &bytes, library, "total") == cudaSuccess && bytes == 4);
    MUST(cudaMemcpy(&total, address, 4, cudaMemcpyDeviceToHost) == cudaSuccess && total == 5);
    MUST(cudaMallocManaged((void **)&p, N * 4, cudaMemAttachGlobal) == cudaSuccess);
    memset(p, 0, N * 4);
    MUST(add(library, p, seed, NULL) == cudaSuccess);
    MUST(cudaStreamSynchronize(NULL) == cudaSuccess);
    expect(p, seed);
    MUST(cudaFree(p) == cudaSuccess);
    MUST(cudaLibraryUnload(library) == cudaSuccess);
}

/* The memory changes its backing while other threads' kernels use memory beside it. */
static void gives_handles_for_other_processes(unsigned seed)
{
    uint32_t words[N] = {0};
    void *p, *again;
    cudaIpcMemHandle_t handle;
    cudaIpcEventHandle_t event_handle;
    cudaEvent_t event;
    MUST(cudaMalloc(&p, sizeof words) == cudaSuccess);
    MUST(cudaMemcpy(p, words, sizeof words, cudaMemcpyHostToDevice) == cudaSuccess);
    MUST(cudaIpcGetMemHandle(&handle, p) == cudaSuccess);
    MUST(cudaIpcOpenMemHandle(&again, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess);
    MUST(cudaGetLastError() != cudaSuccess);
    MUST(add(shared_library, p, seed, NULL) == cudaSuccess);
    MUST(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming) == cudaSuccess);
    MUST(cudaIpcGetEventHandle(&event_handle, event) == cudaSuccess);
    MUST(cudaEventRecord(event, NULL) == cudaSuccess);
    MUST(cudaEventSynchronize(event) == cudaSuccess);
    MUST(cudaEventDestroy(event) == cudaSuccess);
    MUST(cudaMemcpy(words, p, sizeof words, cudaMemcpyDeviceToHost) == cudaSuccess);
    expect(words, seed);
    MUST(cudaFree(p) == cudaSuccess);
}

static void has_errors_of_its_own(unsigned seed)
{
    void *p = NULL;
    size_t free_bytes, total_bytes;
    struct cudaPointerAttributes attributes;
    MUST(cudaGetLastError() == cudaSuccess);
    if (seed % 2) {
        MUST(cudaSetDevice(1000) == cudaErrorInvalidDevice);
        MUST(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    }
    MUST(cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess && free_bytes <= total_bytes);
    MUST(cudaMalloc(&p, 16) == cudaSuccess);
    MUST(cudaPointerGetAttributes(&attributes, p) == cudaSuccess && attributes.type == cudaMemoryTypeDevice);
    MUST(cudaFree(p) == cudaSuccess);
    MUST(cudaGetLastError() == (seed % 2 ? cudaErrorInvalidDevice : cudaSuccess));
}

static void maps_and_registers_memory(unsigned seed)
{
    enum { GRANULE = 2 << 20 };
    uint32_t words[N] = {0};
    CUdeviceptr at;
    CUmemGenericAllocationHandle memory;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = properties.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    MUST(cuMemAddressReserve(&at, GRANULE, 0, 0, 0) == CUDA_SUCCESS);
    MUST(cuMemCreate(&memory, GRANULE, &properties, 0) == CUDA_SUCCESS);
    MUST(cuMemMap(at, GRANULE, 0, memory, 0) == CUDA_SUCCESS);
    MUST(cuMemSetAccess(at, GRANULE, &access, 1) == CUDA_SUCCESS);
    MUST(add(shared_library, (void *)at, seed, NULL) == cudaSuccess);
    MUST(cudaMemcpy(words, (void *)at, sizeof words, cudaMemcpyDeviceToHost) == cudaSuccess);
    expect(words, seed);
    MUST(cuMemUnmap(at, GRANULE) == CUDA_SUCCESS);
    MUST(cuMemRelease(memory) == CUDA_SUCCESS);
    MUST(cuMemAddressFree(at, GRANULE) == CUDA_SUCCESS);
    uint32_t *own = aligned_alloc(4096, 4096);
    memset(own, 0, 4096);
    MUST(cudaHostRegister(own, 4096, cudaHostRegisterMapped) == cudaSuccess);
    MUST(add(shared_library, own, seed, NULL) == cudaSuccess);
    /* not for the whole context: a stream of another thread may capture, which that would make
     * invalid, as on a GPU */
    MUST(cudaStreamSynchronize(NULL) == cudaSuccess);
    expect(own, seed);
    MUST(cudaHostUnregister(own) == cudaSuccess);
    free(own);
}

/* Parts of one pool, which has a file. */
static void allocates_from_one_shared_pool(unsigned seed)
{
    uint32_t words[N] = {0};
    CUdeviceptr p;
    MUST(cuMemAllocFromPoolAsync(&p, sizeof words, shared_pool, CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
    MUST(cudaMemcpy((void *)p, words, sizeof words, cudaMemcpyHostToDevice) == cudaSuccess);
    MUST(add(shared_library, (void *)p, seed, NULL) == cudaSuccess);
    MUST(cudaMemcpy(words, (void *)p, sizeof words, cudaMemcpyDeviceToHost) == cudaSuccess);
    expect(words, seed);
    MUST(cuMemFreeAsync(p, CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
    MUST(cuStreamSynchronize(CU_STREAM_PER_THREAD) == CUDA_SUCCESS);
}

/* Another context's fault is nobody else's. */
static void ends_a_context_by_a_fault(unsigned seed)
{
    CUcontext primary, c;
    CUmodule m;
    CUfunction f;
    CUdeviceptr wild = seed;
    MUST(cuCtxGetCurrent(&primary) == CUDA_SUCCESS);
    MUST(cuCtxCreate(&c, NULL, 0, 0) == CUDA_SUCCESS);
    MUST(cuModuleLoadData(&m, kernels) == CUDA_SUCCESS);
    MUST(cuModuleGetFunction(&f, m, "poke") == CUDA_SUCCESS);
    MUST(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&wild}, NULL) == CUDA_SUCCESS);
    CUresult r = cuCtxSynchronize();
    MUST(r == CUDA_ERROR_ILLEGAL_ADDRESS || r == CUDA_ERROR_MISALIGNED_ADDRESS);
    MUST(cuCtxDestroy(c) == CUDA_SUCCESS);
    MUST(cuCtxSetCurrent(primary) == CUDA_SUCCESS);
}

static void (*const tasks[])(unsigned) = {
    allocates_copies_and_launches, orders_streams_by_events,          captures_and_runs_graphs,
    loads_libraries_of_its_own,    gives_handles_for_other_processes, has_errors_of_its_own,
    maps_and_registers_memory,     allocates_from_one_shared_pool,    ends_a_context_by_a_fault,
};
enum { TASKS = sizeof tasks / sizeof tasks[0] };

static void *thread_main(void *number)
{
    unsigned self = (unsigned)(uintptr_t)number;
    MUST(cudaSetDevice(0) == cudaSuccess);
    for (unsigned i = 0; i < rounds * TASKS; i++)
        tasks[(i + self) % TASKS](i * THREADS + self + 1);
    return NULL;
}

static void eight_threads_use_one_device(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_main, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(mistakes == 0);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

/* All at once find the process without a device, kernels without code, and then nobody's work left. */
static void *first_main(void *go)
{
    pthread_barrier_wait(go);
    allocates_copies_and_launches(7);
    return NULL;
}

static void load_once(void)
{
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    MUST(cuMemPoolCreate(&shared_pool, &properties) == CUDA_SUCCESS);
    MUST(cudaLibraryLoadData(&shared_library, kernels, NULL, NULL, 0, NULL, NULL, 0) == cudaSuccess);
}

static void *initialise_main(void *go)
{
    int n = 0;
    pthread_barrier_wait(go);
    MUST(cudaGetDeviceCount(&n) == cudaSuccess && n >= 1);
    MUST(cudaSetDevice(0) == cudaSuccess);
    return NULL;
}

static void all_begin_together(void *(*begin)(void *))
{
    pthread_t threads[THREADS];
    pthread_barrier_t go;
    pthread_barrier_init(&go, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, begin, &go);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&go);
    CHECK(mistakes == 0);
}

static void eight_threads_initialise_at_once(void)
{
    all_begin_together(initialise_main);
}

static void eight_threads_need_a_kernel_at_once(void)
{
    load_once();
    all_begin_together(first_main);
}

static void after_a_reset_all_goes_on(void)
{
    CHECK(cudaDeviceReset() == cudaSuccess);
    load_once();
    all_begin_together(first_main);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    RUN(eight_threads_initialise_at_once);
    RUN(eight_threads_need_a_kernel_at_once);
    RUN(eight_threads_use_one_device);
    RUN(after_a_reset_all_goes_on);
    return summary();
}

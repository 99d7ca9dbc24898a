/* Calls of the runtime API in captures, by mode of the capture and of the thread: what the call says, what has become of the capture,
 * what its end says (see tests/cuda/capture_calls.c); then what cudaGetLastError() says of it.
 */
#include "../programs/program.h"

KERNEL add(int *p, int value) BODY(
    p[threadIdx.x] += value;
)
DEVICE int total;
CONSTANT int factor;
REGISTER_KERNEL(add)
REGISTER_VARIABLE(total)
REGISTER_VARIABLE(factor)

static cudaStream_t s, blocking, nonblocking, made;
static cudaEvent_t captured, plain, fresh, timed, timed2, made_event;
static int *memory, *other, value = 1, number, number2;
static void *q, *pinned, *async_memory, *array[2];
static size_t size, size2;
static char pageable[4096];
static cudaGraph_t graph, built;
static cudaGraphExec_t exec, spare;
static cudaGraphNode_t node;
static enum cudaStreamCaptureStatus status;
static struct cudaPointerAttributes pointer;
static struct cudaFuncAttributes function;
static struct cudaDeviceProp properties;
static cudaMemPool_t pool;
static float ms;
static unsigned flags;

static void CUDART_CB nothing(void *data)
{
}

static void CUDART_CB nothing_of(cudaStream_t stream, cudaError_t e, void *data)
{
}

static int nth(int want, const char **text, int run)
{
    int i = 0;
#define C(call)                                                                                                        \
    if (i++ == want) {                                                                                                 \
        *text = #call;                                                                                                 \
        return run ? (int)(call) : 0;                                                                                  \
    }
    C(cudaDeviceSynchronize())
    C(cudaSetDevice(0))
    C(cudaGetDevice(&number))
    C(cudaGetDeviceCount(&number))
    C(cudaGetDeviceProperties(&properties, 0))
    C(cudaDeviceGetAttribute(&number, cudaDevAttrWarpSize, 0))
    C(cudaDeviceSetLimit(cudaLimitStackSize, 2048))
    C(cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4))
    C(cudaDeviceGetLimit(&size, cudaLimitStackSize))
    C(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone))
    C(cudaDeviceGetStreamPriorityRange(&number, &number2))
    C(cudaDeviceCanAccessPeer(&number, 0, 0))
    C(cudaDriverGetVersion(&number))
    C(cudaFuncGetAttributes(&function, (const void *)add))
    C(cudaFuncSetAttribute((const void *)add, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024))
    C(cudaFuncSetCacheConfig((const void *)add, cudaFuncCachePreferNone))
    C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, (const void *)add, 128, 0))
    C(cudaMalloc(&q, 16))
    C(cudaMalloc(&q, 0))
    C(cudaMallocPitch(&q, &size, 16, 4))
    C(cudaFree(NULL))
    C(cudaFree(async_memory))
    C(cudaMallocHost(&q, 64))
    C(cudaHostAlloc(&q, 64, cudaHostAllocMapped))
    C(cudaFreeHost(pinned))
    C(cudaFreeHost(NULL))
    C(cudaMallocManaged(&q, 64, cudaMemAttachGlobal))
    C(cudaHostRegister(pageable, 4096, 0))
    C(cudaHostGetDevicePointer(&q, pinned, 0))
    C(cudaHostGetFlags(&flags, pinned))
    C(cudaMemGetInfo(&size, &size2))
    C(cudaPointerGetAttributes(&pointer, memory))
    C(cudaGetSymbolAddress(&q, (const void *)&total))
    C(cudaGetSymbolSize(&size, (const void *)&total))
    C(cudaMemcpy(memory, other, 16, cudaMemcpyDeviceToDevice))
    C(cudaMemcpy(memory, pageable, 16, cudaMemcpyHostToDevice))
    C(cudaMemcpy(pageable, memory, 16, cudaMemcpyDeviceToHost))
    C(cudaMemcpy(pageable, pageable + 64, 16, cudaMemcpyHostToHost))
    C(cudaMemcpy(memory, other, 0, cudaMemcpyDeviceToDevice))
    C(cudaMemcpy2D(memory, 64, other, 64, 16, 4, cudaMemcpyDeviceToDevice))
    C(cudaMemcpyToSymbol((const void *)&factor, &value, 4, 0, cudaMemcpyHostToDevice))
    C(cudaMemcpyFromSymbol(&number, (const void *)&total, 4, 0, cudaMemcpyDeviceToHost))
    C(cudaMemcpyToSymbolAsync((const void *)&factor, &value, 4, 0, cudaMemcpyHostToDevice, s))
    C(cudaMemcpyAsync(memory, other, 16, cudaMemcpyDeviceToDevice, s))
    C(cudaMemcpyAsync(memory, pageable, 16, cudaMemcpyHostToDevice, s))
    C(cudaMemcpyAsync(pageable, memory, 16, cudaMemcpyDeviceToHost, s))
    C(cudaMemcpyAsync(memory, pinned, 16, cudaMemcpyDefault, s))
    C(cudaMemcpyAsync(pageable, pageable + 64, 16, cudaMemcpyHostToHost, s))
    C(cudaMemcpyAsync(memory, other, 16, cudaMemcpyDeviceToDevice, 0))
    C(cudaMemcpyAsync(memory, other, 16, cudaMemcpyDeviceToDevice, blocking))
    C(cudaMemcpyAsync(memory, other, 16, cudaMemcpyDeviceToDevice, nonblocking))
    C(cudaMemcpyAsync(memory, other, 16, (enum cudaMemcpyKind)9, s))
    C(cudaMemcpy2DAsync(memory, 64, other, 64, 16, 4, cudaMemcpyDeviceToDevice, s))
    C(cudaMemset(memory, 0, 16))
    C(cudaMemset2D(memory, 64, 0, 16, 4))
    C(cudaMemsetAsync(memory, 0, 16, s))
    C(cudaMemsetAsync(memory, 0, 16, 0))
    C(cudaMemsetAsync(memory, 0, 16, nonblocking))
    C(cudaMallocAsync(&q, 64, s))
    C(cudaMallocAsync(&q, 64, nonblocking))
    C(cudaFreeAsync(async_memory, s))
    C(cudaFreeAsync(async_memory, nonblocking))
    C(cudaDeviceGetDefaultMemPool(&pool, 0))
    C(cudaMemPoolTrimTo(pool, 0))
    C(cudaStreamCreate(&made))
    C(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking))
    C(cudaStreamSynchronize(s))
    C(cudaStreamSynchronize(blocking))
    C(cudaStreamSynchronize(nonblocking))
    C(cudaStreamSynchronize(0))
    C(cudaStreamQuery(s))
    C(cudaStreamQuery(blocking))
    C(cudaStreamQuery(nonblocking))
    C(cudaStreamQuery(0))
    C(cudaStreamGetFlags(s, &flags))
    C(cudaStreamGetPriority(s, &number))
    C(cudaStreamAddCallback(s, nothing_of, NULL, 0))
    C(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal))
    C(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal))
    C(cudaStreamEndCapture(blocking, &graph))
    C(cudaStreamIsCapturing(s, &status))
    C(cudaStreamIsCapturing(0, &status))
    C(LAUNCH(add, 1, 1, 0, s, &memory, &value))
    C(LAUNCH(add, 1, 1, 0, 0, &memory, &value))
    C(LAUNCH(add, 1, 1, 0, cudaStreamPerThread, &memory, &value))
    C(LAUNCH(add, 1, 1, 0, blocking, &memory, &value))
    C(LAUNCH(add, 1, 1, 0, nonblocking, &memory, &value))
    C(LAUNCH(add, 1, 2000, 0, s, &memory, &value))
    C(LAUNCH(add, 0, 1, 0, s, &memory, &value))
    C(LAUNCH(add, 1, 1, 1 << 20, s, &memory, &value))
    C(cudaLaunchHostFunc(s, nothing, NULL))
    C(cudaLaunchHostFunc(0, nothing, NULL))
    C(cudaEventCreate(&made_event))
    C(cudaEventCreateWithFlags(&made_event, cudaEventDisableTiming))
    C(cudaEventRecord(fresh, s))
    C(cudaEventRecord(fresh, nonblocking))
    C(cudaEventRecord(fresh, 0))
    C(cudaEventQuery(captured))
    C(cudaEventQuery(plain))
    C(cudaEventQuery(fresh))
    C(cudaEventSynchronize(captured))
    C(cudaEventSynchronize(plain))
    C(cudaEventSynchronize(fresh))
    C(cudaEventElapsedTime(&ms, timed, timed2))
    C(cudaEventElapsedTime(&ms, timed, captured))
    C(cudaStreamWaitEvent(s, captured, 0))
    C(cudaStreamWaitEvent(s, plain, 0))
    C(cudaStreamWaitEvent(nonblocking, captured, 0))
    C(cudaStreamWaitEvent(0, captured, 0))
    C(cudaGraphCreate(&graph, 0))
    C(cudaGraphAddEmptyNode(&node, built, NULL, 0))
    C(cudaGraphInstantiateWithFlags(&spare, built, 0))
    C(cudaGraphLaunch(exec, s))
    C(cudaGraphLaunch(exec, 0))
    C(cudaGraphLaunch(exec, nonblocking))
    C(cudaGraphUpload(exec, nonblocking))
    C(cudaGetLastError())
    C(cudaPeekAtLastError())
    *text = NULL;
    return -1;
}

struct seen {
    int error, status, end, last;
};

static struct seen one(int call, int capture_mode, int thread_mode)
{
    struct seen seen = {0, 9, 0, 0};
    const char *text;
    cudaGraph_t g = NULL;
    enum cudaStreamCaptureMode m = (enum cudaStreamCaptureMode)thread_mode;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaStreamCreateWithFlags(&nonblocking, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&captured, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&fresh, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&timed));
    CHECK(cudaEventCreate(&timed2));
    CHECK(cudaEventRecord(plain, nonblocking));
    CHECK(cudaEventRecord(timed, nonblocking));
    CHECK(cudaEventRecord(timed2, nonblocking));
    CHECK(cudaMallocAsync(&async_memory, 64, nonblocking));
    CHECK(cudaMallocHost(&pinned, 4096));
    CHECK(cudaDeviceSynchronize());
    nth(call, &text, 0);
    CHECK(cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)capture_mode));
    CHECK(LAUNCH(add, 1, 1, 0, s, &memory, &value));
    CHECK(cudaEventRecord(captured, s));
    CHECK(cudaThreadExchangeStreamCaptureMode(&m));
    seen.error = nth(call, &text, 1);
    seen.last = cudaGetLastError();
    CHECK(cudaThreadExchangeStreamCaptureMode(&m));
    enum cudaStreamCaptureStatus now = (enum cudaStreamCaptureStatus)9;
    cudaStreamIsCapturing(s, &now);
    seen.status = now;
    seen.end = cudaStreamEndCapture(s, &g);
    if (!seen.end)
        cudaGraphDestroy(g);
    cudaDeviceSynchronize();
    cudaStreamDestroy(s);
    cudaStreamDestroy(blocking);
    cudaStreamDestroy(nonblocking);
    cudaEventDestroy(captured);
    cudaEventDestroy(plain);
    cudaEventDestroy(fresh);
    cudaEventDestroy(timed);
    cudaEventDestroy(timed2);
    if (!strstr(text, "cudaFreeHost(pinned)"))
        cudaFreeHost(pinned);
    cudaHostUnregister(pageable);
    cudaGetLastError();
    return seen;
}

int main(int argc, char **argv)
{
    const char *text;
    int first = argc > 1 ? atoi(argv[1]) : 0, last = argc > 2 ? atoi(argv[2]) : 10000;
    memory = (int *)device_memory(4096);
    other = (int *)device_memory(4096);
    CHECK(cudaGraphCreate(&built, 0));
    CHECK(cudaGraphAddEmptyNode(&node, built, NULL, 0));
    CHECK(cudaGraphInstantiateWithFlags(&exec, built, 0));
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    for (int call = first; call < last && nth(call, &text, 0) == 0; call++) {
        printf("%s:", text);
        for (int capture_mode = 0; capture_mode < 3; capture_mode++) {
            struct seen at[3];
            int same = 1;
            for (int thread_mode = 0; thread_mode < 3; thread_mode++) {
                at[thread_mode] = one(call, capture_mode, thread_mode);
                same = same && !memcmp(&at[0], &at[thread_mode], sizeof at[0]);
            }
            for (int i = 0; i < (same ? 1 : 3); i++)
                printf("%s%d/%d/%d/%d", i ? "|" : " ", at[i].error, at[i].status, at[i].end, at[i].last);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

/* Streams, events, faults of the driver API as programs meet them. */
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "kernels.h"
#include "tap.h"

static CUmodule module;

static CUfunction kernel(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUresult launch(const char *name, CUstream s, void **params)
{
    return cuLaunchKernel(kernel(name), 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

/* Cells that host and kernels see at once. */
static uint32_t *cells(void)
{
    CUdeviceptr p = 0;
    OK(cuMemAllocManaged(&p, 256, CU_MEM_ATTACH_GLOBAL));
    memset((void *)(uintptr_t)p, 0, 256);
    return (uint32_t *)(uintptr_t)p;
}

static void release(uint32_t *cell)
{
    __atomic_store_n(cell, 1, __ATOMIC_SEQ_CST);
}

static void copies_pass_a_kernel_that_waits_for_the_host(void)
{
    uint32_t *c = cells(), one = 1, seen = 0;
    CUstream a, b;
    CUdeviceptr gate = (CUdeviceptr)c, p;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 4));
    OK(launch("await", a, (void *[]){&gate, &one}));
    OK(cuMemsetD32Async(p, 9, 1, b));
    OK(cuMemcpyDtoHAsync(&seen, p, 4, b));
    OK(cuStreamSynchronize(b));
    CHECK(seen == 9);
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    release(c);
    OK(cuStreamSynchronize(a));
    OK(cuStreamQuery(a));
    OK(cuMemFree(p));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuMemFree(gate));
}

static void pageable_memory_may_change_when_an_asynchronous_copy_returns(void)
{
    uint32_t *c = cells(), one = 1, value = 5, seen = 0;
    CUstream s;
    CUdeviceptr gate = (CUdeviceptr)c, p;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 4));
    OK(launch("await", s, (void *[]){&gate, &one}));
    OK(cuMemcpyHtoDAsync(p, &value, 4, s));
    value = 6;
    release(c);
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&seen, p, 4));
    CHECK(seen == 5);
    OK(cuMemFree(p));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(gate));
}

static void events_have_times_and_order_streams(void)
{
    uint32_t *c = cells(), one = 1;
    CUstream a, b;
    CUevent start, end, untimed;
    CUdeviceptr gate = (CUdeviceptr)c, counter = (CUdeviceptr)(c + 1);
    float ms = -1;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreateWithPriority(&b, CU_STREAM_NON_BLOCKING, -3));
    OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    OK(cuEventQuery(start));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, end));
    OK(cuEventRecord(start, a));
    OK(launch("await", a, (void *[]){&gate, &one}));
    OK(cuEventRecord(end, a));
    OK(cuStreamWaitEvent(b, end, 0));
    OK(launch("count", b, (void *[]){&counter}));
    OK(cuEventRecord(untimed, b));
    OK(cuEventSynchronize(start));
    GIVES(CUDA_ERROR_NOT_READY, cuEventElapsedTime(&ms, start, end));
    usleep(3000);
    CHECK(c[1] == 0);
    release(c);
    OK(cuEventSynchronize(end));
    OK(cuEventElapsedTime(&ms, start, end));
    CHECK(ms >= 2.9f && ms < 60000);
    OK(cuEventSynchronize(untimed));
    CHECK(c[1] == 1);
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, start, untimed));
    int priority = 0;
    unsigned flags = 0;
    OK(cuStreamGetPriority(b, &priority));
    OK(cuStreamGetFlags(b, &flags));
    CHECK(priority == -3 && flags == CU_STREAM_NON_BLOCKING);
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(end));
    OK(cuEventDestroy(untimed));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuMemFree(gate));
}

static void host_function(void *data)
{
    ++*(uint32_t *)data;
}

static void host_functions_run_in_order(void)
{
    uint32_t *c = cells(), one = 1, calls = 0;
    CUdeviceptr gate = (CUdeviceptr)c;
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(launch("await", s, (void *[]){&gate, &one}));
    OK(cuLaunchHostFunc(s, host_function, &calls));
    OK(cuLaunchHostFunc(s, host_function, &calls));
    CHECK(__atomic_load_n(&calls, __ATOMIC_SEQ_CST) == 0);
    release(c);
    OK(cuStreamSynchronize(s));
    CHECK(calls == 2);
    OK(cuStreamDestroy(s));
    OK(cuMemFree(gate));
}

static void stream_0_is_the_legacy_stream_or_the_threads_own(void)
{
    uint32_t *c = cells(), one = 1;
    CUdeviceptr gate = (CUdeviceptr)c, counter = (CUdeviceptr)(c + 1);
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(launch("await", s, (void *[]){&gate, &one}));
    OK(launch("count", CU_STREAM_LEGACY, (void *[]){&counter}));
    OK(launch("count", CU_STREAM_PER_THREAD, (void *[]){&counter})); /* after the legacy stream's */
    usleep(2000);
    CHECK(__atomic_load_n(c + 1, __ATOMIC_SEQ_CST) == 0);
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(0));
    release(c);
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    CHECK(c[1] == 2);
    /* Without the legacy stream between them, a thread's own stream waits for nobody. */
    c[0] = 0;
    OK(launch("await", s, (void *[]){&gate, &one}));
    CUfunction f = kernel("count");
    OK(cuLaunchKernel_ptsz(f, 1, 1, 1, 1, 1, 1, 0, 0, (void *[]){&counter}, NULL));
    OK(cuStreamSynchronize_ptsz(0));
    CHECK(c[1] == 3);
    release(c);
    OK(cuStreamDestroy(s));
    OK(cuMemFree(gate));
}

static void streams_wait_for_values_and_write_them(void)
{
    uint32_t *c = cells();
    CUdeviceptr p = (CUdeviceptr)c;
    CUstream a, b;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(a, p, 3, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32(a, p + 4, 8, 0));
    GIVES(CUDA_ERROR_NOT_READY, cuStreamQuery(a));
    OK(cuStreamWriteValue32(b, p, 3, 0));
    OK(cuStreamSynchronize(a));
    CHECK(c[1] == 8);
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
    OK(cuMemFree(p));
}

enum { THREADS = 4, LAUNCHES = 200 };

static void *count_in_own_stream(void *p)
{
    CUcontext c;
    CUfunction f;
    CUstream s;
    CUdeviceptr counter = (CUdeviceptr)p;
    if (cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuModuleGetFunction(&f, module, "count") ||
        cuStreamCreate(&s, CU_STREAM_DEFAULT))
        return NULL;
    for (int i = 0; i < LAUNCHES; i++)
        if (cuLaunchKernel(f, 3, 1, 1, 33, 1, 1, 0, i % 2 ? s : CU_STREAM_PER_THREAD, (void *[]){&counter}, NULL))
            return NULL;
    if (cuStreamSynchronize(s) || cuStreamSynchronize(CU_STREAM_PER_THREAD) || cuStreamDestroy(s) ||
        cuDevicePrimaryCtxRelease(0))
        return NULL;
    return p;
}

static void several_threads_launch_at_once(void)
{
    uint32_t *c = cells();
    CUdeviceptr p = (CUdeviceptr)c;
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, count_in_own_stream, c);
    for (int i = 0; i < THREADS; i++) {
        void *done;
        pthread_join(thread[i], &done);
        CHECK(done);
    }
    CHECK(*c == THREADS * LAUNCHES * 3 * 33);
    OK(cuMemFree(p));
}

static CUresult seen_by_callback;

static void callback(CUstream s, CUresult status, void *data)
{
    (void)s;
    (void)data;
    seen_by_callback = status;
}

/* The last test: the context is dead afterwards. */
static void a_fault_is_sticky_until_the_context_is_new(void)
{
    uint32_t *flags = cells(), one = 1; /* which nobody sets: the fault ends who waits */
    CUdeviceptr wild = 0xdead0000, p, gate = (CUdeviceptr)flags;
    CUstream s, waits;
    CUcontext c, fresh;
    CUevent e;
    CUfunction f = kernel("count");
    int n;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuEventCreate(&e, 0));
    OK(cuStreamCreate(&waits, CU_STREAM_NON_BLOCKING));
    OK(launch("await", waits, (void *[]){&gate, &one}));
    OK(launch("poke", s, (void *[]){&wild}));
    CUresult added = cuStreamAddCallback(s, callback, NULL, 0); /* or the kernel has faulted already */
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(s));
    CHECK((added ? added : seen_by_callback) == CUDA_ERROR_ILLEGAL_ADDRESS);
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(waits));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&p, 4));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, (void *[]){&wild}, NULL));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuEventRecord(e, 0));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    OK(cuDeviceGetCount(&n));
    OK(cuCtxGetCurrent(&c));
    OK(cuEventDestroy(e));
    OK(cuDevicePrimaryCtxReset(0));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(s));
    OK(cuDevicePrimaryCtxRetain(&fresh, 0));
    OK(cuCtxSetCurrent(fresh));
    OK(cuModuleLoadData(&module, kernels));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 0, 1));
    OK(launch("count", 0, (void *[]){&p}));
    OK(cuCtxSynchronize());
}

int main(void)
{
    CUcontext c;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&c, 0) || cuCtxSetCurrent(c) || cuModuleLoadData(&module, kernels)) {
        printf("Bail out! CUDA cannot be initialized\n");
        return 1;
    }
    RUN(copies_pass_a_kernel_that_waits_for_the_host);
    RUN(pageable_memory_may_change_when_an_asynchronous_copy_returns);
    RUN(events_have_times_and_order_streams);
    RUN(host_functions_run_in_order);
    RUN(stream_0_is_the_legacy_stream_or_the_threads_own);
    RUN(streams_wait_for_values_and_write_them);
    RUN(several_threads_launch_at_once);
    RUN(a_fault_is_sticky_until_the_context_is_new);
    return summary();
}

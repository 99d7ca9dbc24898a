/* Devices that are reset, contexts that are destroyed and modules that are unloaded while other
 * threads call functions with them: those calls end, with errors, and what they used is freed when
 * they have. Usage: cuda-resets [MILLISECONDS [TEST]]
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include "tap.h"

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 v;\n"
                          ".visible .entry k(.param .u64 p) {\n"
                          "    .reg .u64 %rd<2>; .reg .u32 %r<2>;\n"
                          "    ld.param.u64 %rd1, [p]; atom.global.add.u32 %r1, [v], 1; ret;\n}\n";

enum { THREADS = 6, WORDS = 256 };

static unsigned milliseconds = 300;
static _Atomic bool stop;
static atomic_long calls, errors;
static CUcontext ctx;

/* What several threads have at once; they may destroy it under each other. */
static CUmodule _Atomic shared_module;
static CUfunction _Atomic shared_function;
static CUstream _Atomic shared_stream;
static CUevent _Atomic shared_event;
static CUcontext _Atomic shared_context;

static atomic_int first_line, first_error;

static int note(int r, int line)
{
    bool wrong = r && r != CUDA_ERROR_NOT_READY;
    atomic_fetch_add(&calls, 1);
    if (wrong && atomic_fetch_add(&errors, 1) == 0) {
        atomic_store(&first_line, line);
        atomic_store(&first_error, r);
    }
    return r;
}
#define NOTE(call) note((int)(call), __LINE__)

/* No call has failed. */
static void expect_no_errors(void)
{
    if (!atomic_load(&errors))
        return;
    printf("# %ld errors, the first is %d in line %d\n", atomic_load(&errors), atomic_load(&first_error),
           atomic_load(&first_line));
    bad++;
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

/* ---- what threads do ---- */

/* A context does not wait while a stream of it captures, and the capture ends in an error then. */
static pthread_rwlock_t captures = PTHREAD_RWLOCK_INITIALIZER;

static CUresult synchronize(void)
{
    pthread_rwlock_rdlock(&captures);
    CUresult r = cuCtxSynchronize();
    pthread_rwlock_unlock(&captures);
    return r;
}

static void allocates(unsigned *seed)
{
    CUdeviceptr p;
    static const char zeros[4 * WORDS];
    char back[4 * WORDS];
    int r = NOTE(cuMemAlloc(&p, sizeof zeros << next(seed) % 8));
    if (r)
        return;
    NOTE(cuMemcpyHtoD(p, zeros, sizeof zeros));
    NOTE(cuMemsetD32(p, 1, WORDS));
    NOTE(cuMemcpyDtoH(back, p, sizeof back));
    NOTE(cuMemFree(p));
}

static void launches(unsigned *seed)
{
    CUmodule m;
    CUfunction f;
    uint64_t p = 0;
    int r = NOTE(cuModuleLoadData(&m, ptx));
    if (r)
        return;
    r = NOTE(cuModuleGetFunction(&f, m, "k"));
    for (unsigned n = next(seed) % 8; !r && n > 0; n--)
        NOTE(cuLaunchKernel(f, 4, 1, 1, 64, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    NOTE(synchronize());
    NOTE(cuModuleUnload(m));
}

static void streams(unsigned *seed)
{
    CUstream s = NULL;
    CUevent e = NULL;
    CUdeviceptr p = 0;
    CUgraph g = NULL;
    CUgraphExec x;
    bool apart = next(seed) % 2; /* from the legacy stream, which may not wait for one that captures */
    NOTE(cuStreamCreate(&s, apart ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
    NOTE(cuEventCreate(&e, 0));
    NOTE(cuMemAllocAsync(&p, 4 * WORDS, s));
    NOTE(cuMemsetD32Async(p, 1, WORDS, s));
    NOTE(cuEventRecord(e, s));
    NOTE(cuStreamWaitEvent(NULL, e, 0));
    if (apart && next(seed) % 4 == 0) {
        pthread_rwlock_wrlock(&captures);
        if (cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS) {
            NOTE(cuMemsetD32Async(p, 2, WORDS, s));
            NOTE(cuStreamEndCapture(s, &g));
        }
        pthread_rwlock_unlock(&captures);
        if (g && cuGraphInstantiateWithFlags(&x, g, 0) == CUDA_SUCCESS) {
            NOTE(cuGraphLaunch(x, s));
            NOTE(cuGraphExecDestroy(x));
        }
        NOTE(g ? cuGraphDestroy(g) : 0);
    }
    NOTE(cuMemFreeAsync(p, s));
    NOTE(cuEventQuery(e));
    NOTE(cuStreamSynchronize(s));
    if (next(seed) % 4) /* else the reset ends them */
        NOTE(cuEventDestroy(e));
    if (next(seed) % 4)
        NOTE(cuStreamDestroy(s));
}

static void asks(unsigned *seed)
{
    size_t a, b;
    CUcontext c;
    int value;
    (void)seed;
    NOTE(cuMemGetInfo(&a, &b));
    NOTE(cuCtxGetCurrent(&c));
    NOTE(cuCtxGetDevice(&value));
    NOTE(cuStreamQuery(CU_STREAM_PER_THREAD));
    (void)cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, 0x1000);
}

static void uses_the_runtime(unsigned *seed)
{
    cudaStream_t s = NULL;
    cudaEvent_t e = NULL;
    void *p = NULL;
    NOTE(cudaMalloc(&p, 1024));
    NOTE(cudaStreamCreate(&s));
    NOTE(cudaEventCreate(&e));
    NOTE(cudaMemsetAsync(p, 0, 1024, s));
    NOTE(cudaEventRecord(e, s));
    NOTE(cudaStreamSynchronize(s));
    NOTE(cudaEventDestroy(e));
    if (next(seed) % 8)
        NOTE(cudaStreamDestroy(s));
    NOTE(cudaFree(p));
    NOTE(cudaDeviceSynchronize());
}

/* Of the handles that all threads have, whoever may have destroyed them. */
static void shares(unsigned *seed)
{
    CUfunction f;
    CUstream s;
    CUevent e;
    CUmodule m;
    uint64_t p = 0;
    unsigned what = next(seed) % 16;
    NOTE(cuLaunchKernel(atomic_load(&shared_function), 2, 1, 1, 32, 1, 1, 0, atomic_load(&shared_stream),
                        (void *[]){&p}, NULL));
    NOTE(cuEventRecord(atomic_load(&shared_event), atomic_load(&shared_stream)));
    NOTE(cuStreamWaitEvent(NULL, atomic_load(&shared_event), 0));
    NOTE(cuStreamSynchronize(atomic_load(&shared_stream)));
    if (what == 0 && cuModuleLoadData(&m, ptx) == CUDA_SUCCESS) {
        NOTE(cuModuleGetFunction(&f, m, "k"));
        atomic_store(&shared_function, f);
        NOTE(cuModuleUnload(atomic_exchange(&shared_module, m)));
    } else if (what < 4 && cuStreamCreate(&s, 0) == CUDA_SUCCESS) {
        NOTE(cuStreamDestroy(atomic_exchange(&shared_stream, s)));
    } else if (what < 8 && cuEventCreate(&e, 0) == CUDA_SUCCESS) {
        NOTE(cuEventDestroy(atomic_exchange(&shared_event, e)));
    }
}

/* In a context that another thread destroys. */
static void works_in_a_context_of_others(unsigned *seed)
{
    CUcontext popped;
    int r = NOTE(cuCtxPushCurrent(atomic_load(&shared_context)));
    if (r)
        return;
    switch (next(seed) % 4) {
    case 0: allocates(seed); break;
    case 1: launches(seed); break;
    case 2: streams(seed); break;
    default: asks(seed);
    }
    NOTE(cuCtxPopCurrent(&popped));
}

/* ---- and what one does to them ---- */

static void reset(void)
{
    OK(cuDevicePrimaryCtxReset(0));
}

static void reset_by_the_runtime(void)
{
    CHECK(cudaDeviceReset() == cudaSuccess);
}

static void nothing(void) {}

static void another_context(void)
{
    CUcontext c;
    OK(cuCtxCreate(&c, NULL, 0, 0));
    OK(cuCtxPopCurrent(NULL));
    c = atomic_exchange(&shared_context, c);
    if (c)
        OK(cuCtxDestroy(c));
}

struct work {
    void (*run)(unsigned *seed);
    unsigned seed;
};

static void *work_until_stopped(void *data)
{
    struct work *w = data;
    cuCtxSetCurrent(ctx);
    while (!atomic_load(&stop))
        w->run(&w->seed);
    return NULL;
}

/* Thread i does the i-th of the things to do. */
static void meanwhile(void (*const *things)(unsigned *), unsigned n, void (*disturb)(void), bool all_well)
{
    pthread_t threads[THREADS];
    struct work work[THREADS];
    atomic_store(&stop, false);
    atomic_store(&calls, 0);
    atomic_store(&errors, 0);
    for (unsigned i = 0; i < THREADS; i++) {
        work[i] = (struct work){things[i % n], i * 7919 + 1};
        CHECK(pthread_create(&threads[i], NULL, work_until_stopped, &work[i]) == 0);
    }
    for (unsigned i = 0; i < milliseconds; i += 5) {
        usleep(5000);
        disturb();
    }
    atomic_store(&stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&calls) > THREADS);
    if (all_well)
        expect_no_errors();
}

/* The device does what it always did. */
static void all_is_well_again(void)
{
    unsigned seed = 1;
    OK(cuCtxSetCurrent(ctx));
    atomic_store(&errors, 0);
    for (int i = 0; i < 4; i++) {
        allocates(&seed);
        launches(&seed);
        streams(&seed);
    }
    OK(cuCtxSynchronize());
    expect_no_errors();
}

/* ---- tests ---- */

static void (*const everything[])(unsigned *) = {allocates, launches, streams, asks};

static void a_device_is_reset_while_threads_use_it(void)
{
    meanwhile(everything, 4, reset, false);
    all_is_well_again();
}

static void the_runtime_resets_it(void)
{
    void (*const by_runtime[])(unsigned *) = {uses_the_runtime};
    meanwhile(by_runtime, 1, reset_by_the_runtime, false);
    all_is_well_again();
}

static void a_context_is_destroyed_while_threads_use_it(void)
{
    void (*const in_context[])(unsigned *) = {works_in_a_context_of_others};
    another_context();
    meanwhile(in_context, 1, another_context, false);
    OK(cuCtxDestroy(atomic_exchange(&shared_context, NULL)));
    all_is_well_again();
}

static void modules_streams_and_events_go_while_threads_use_them(void)
{
    void (*const of_all[])(unsigned *) = {shares};
    CUmodule m;
    CUfunction f;
    CUstream s;
    CUevent e;
    OK(cuCtxSetCurrent(ctx));
    OK(cuModuleLoadData(&m, ptx));
    OK(cuModuleGetFunction(&f, m, "k"));
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    atomic_store(&shared_module, m);
    atomic_store(&shared_function, f);
    atomic_store(&shared_stream, s);
    atomic_store(&shared_event, e);
    meanwhile(of_all, 1, nothing, false);
    all_is_well_again();
}

static void threads_with_things_of_their_own_do_not_disturb_each_other(void)
{
    meanwhile(everything, 4, nothing, true);
}

int main(int argc, char **argv)
{
    static const struct {
        void (*run)(void);
        const char *name;
    } tests[] = {
        {threads_with_things_of_their_own_do_not_disturb_each_other,
         "threads with things of their own do not disturb each other"},
        {modules_streams_and_events_go_while_threads_use_them, "modules, streams and events go while threads use them"},
        {a_context_is_destroyed_while_threads_use_it, "a context is destroyed while threads use it"},
        {a_device_is_reset_while_threads_use_it, "a device is reset while threads use it"},
        {the_runtime_resets_it, "the runtime resets it"},
    };
    setvbuf(stdout, NULL, _IOLBF, 0);
    milliseconds = argc > 1 ? (unsigned)atoi(argv[1]) : milliseconds;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (argc < 3 || atoi(argv[2]) == (int)i) {
            tests[i].run();
            report(tests[i].name);
        }
    return summary();
}

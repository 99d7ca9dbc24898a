/* Launches, copies, fills and the host, ordered by streams, events, graphs and waiting, or not; one case a run. Lines that race
 * have names in comments: test.py says which pairs are to be found. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

enum { N = 1000, BYTES = N * sizeof(int) };

static int *device, *pinned, *other, *managed;
static volatile int *flag;
static cudaStream_t a, b, free_a, free_b;
static cudaEvent_t event;
static long sum;

__global__ void write(int *p)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        p[i] = i; // @write
}

__global__ void read(const int *p, int *q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        q[i] = p[N - 1 - i]; // @read
}

__constant__ int table[N];

__global__ void read_constant(int *q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        q[i] = table[N - 1 - i]; // @read_constant
}

// By ld.global.nc, as nvcc reads what is const and __restrict__.
__global__ void read_only(const int *p, int *q)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N)
        q[i] = __ldg(p + i); // @read_only
}

__global__ void publish(int *p, volatile int *flag)
{
    p[3] = 42; // @publish
    __threadfence_system();
    *flag = 1;
}

__global__ void publish_here(int *p, volatile int *flag)
{
    p[3] = 42; // @publish_here
    __threadfence();
    *flag = 1;
}

#ifdef __NVCC__
__managed__ int variable;
__global__ void count()
{
    variable = 7; // @count
}
#endif

__device__ void wait_for_grids()
{
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

enum waiting { NO_THREAD, ALL_THREADS, TOO_LATE, THREAD_0, THREAD_0_AND_NO_BARRIER };
__global__ void dependent_read(const int *p, int *q, enum waiting waiting)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;
    if (waiting == ALL_THREADS || (waiting >= THREAD_0 && threadIdx.x == 0))
        wait_for_grids();
    if (waiting == THREAD_0)
        __syncthreads();
    if (i < N)
        v = p[N - 1 - i]; // @dependent
    if (waiting == TOO_LATE)
        wait_for_grids();
    if (i < N)
        q[i] = v;
}

static void launch_write(int *p, cudaStream_t s)
{
    write<<<4, 256, 0, s>>>(p);
}

static void launch_read(const int *p, cudaStream_t s)
{
    static int *q;
    if (!q && cudaMalloc(&q, BYTES))
        exit(9);
    read<<<4, 256, 0, s>>>(p, q);
}

/* With programmatic stream serialization. */
static void launch_dependent(const int *p, cudaStream_t s, enum waiting waiting)
{
    int *q;
    cudaLaunchAttribute serialization;
    serialization.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serialization.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 256;
    config.stream = s;
    config.attrs = &serialization;
    config.numAttrs = 1;
    if (cudaMalloc(&q, BYTES) || cudaLaunchKernelEx(&config, dependent_read, p, q, waiting))
        exit(9);
}

#include "../cases.cuh"

/* ---- streams ---- */

CASE(streams_alone)
{
    launch_write(device, a);
    launch_read(device, b);
}

CASE(one_stream)
{
    launch_write(device, a);
    launch_read(device, a);
}

/* ---- launches that may begin before the one before them has ended ---- */

CASE(a_dependent_launch_waits)
{
    launch_write(device, a);
    launch_dependent(device, a, ALL_THREADS);
}

CASE(a_dependent_launch_does_not_wait)
{
    launch_write(device, a);
    launch_dependent(device, a, NO_THREAD);
}

CASE(a_dependent_launch_waits_too_late)
{
    launch_write(device, a);
    launch_dependent(device, a, TOO_LATE);
}

CASE(a_thread_waits_for_its_block)
{
    launch_write(device, a);
    launch_dependent(device, a, THREAD_0);
}

CASE(a_thread_waits_and_tells_nobody)
{
    launch_write(device, a);
    launch_dependent(device, a, THREAD_0_AND_NO_BARRIER);
}

CASE(what_has_not_waited_is_waited_for)
{
    launch_dependent(managed, a, NO_THREAD);
    launch_write(device, a);
    launch_dependent(managed, a, NO_THREAD);
    launch_read(device, a);
    launch_write(device, a);
}

CASE(the_last_of_several_waits_for_all)
{
    launch_write(device, a);
    launch_dependent(managed, a, NO_THREAD);
    launch_dependent(managed, a, NO_THREAD);
    launch_dependent(device, a, ALL_THREADS);
}

CASE(the_last_of_several_does_not_wait)
{
    launch_write(device, a);
    launch_dependent(managed, a, ALL_THREADS);
    launch_dependent(device, a, NO_THREAD);
}

CASE(other_work_between_is_waited_for)
{
    launch_write(device, a);
    cudaMemsetAsync(other, 0, 4, a);
    launch_dependent(device, a, NO_THREAD);
}

CASE(a_first_launch_that_was_waited_for)
{
    launch_write(device, a);
    cudaStreamSynchronize(a);
    launch_dependent(device, a, NO_THREAD);
}

CASE(an_event_between)
{
    launch_write(device, free_a);
    cudaEventRecord(event, free_a);
    cudaStreamWaitEvent(free_b, event, 0);
    launch_read(device, free_b);
}

CASE(an_event_recorded_too_early)
{
    cudaEventRecord(event, free_a);
    launch_write(device, free_a);
    cudaStreamWaitEvent(free_b, event, 0);
    launch_read(device, free_b);
}

CASE(the_default_stream_between)
{
    launch_write(device, a);
    launch_read(device, 0);
    launch_write(device, b);
}

CASE(the_default_stream_beside_one_that_does_not_wait)
{
    launch_write(device, free_a);
    launch_read(device, 0);
}

CASE(the_host_between)
{
    launch_write(device, free_a);
    cudaStreamSynchronize(free_a);
    launch_read(device, free_b);
}

CASE(a_query_between)
{
    launch_write(device, free_a);
    while (cudaStreamQuery(free_a) == cudaErrorNotReady)
        ;
    launch_read(device, free_b);
}

CASE(a_stream_destroyed_between)
{
    cudaStream_t s;
    cudaStreamCreate(&s);
    launch_write(device, s);
    cudaStreamDestroy(s);
    launch_read(device, 0);
}

/* ---- copies and fills ---- */

CASE(a_fill_is_not_waited_for)
{
    cudaMemset(device, 0, BYTES); // @fill
    launch_read(device, free_a);
}

CASE(a_copy_to_the_host_is_waited_for)
{
    launch_write(device, 0);
    cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost);
    sum += pinned[5];
    launch_write(device, free_a);
}

CASE(a_copy_beside_a_launch)
{
    launch_write(device, free_a);
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, free_b); // @copy
}

CASE(a_copy_to_constants_beside_a_launch)
{
    read_constant<<<4, 256, 0, free_a>>>(other);
    cudaMemcpyToSymbolAsync(table, pinned, BYTES, 0, cudaMemcpyHostToDevice, free_b); // @copy_to_constants
}

CASE(a_copy_to_constants_between_launches)
{
    read_constant<<<4, 256, 0, free_a>>>(other);
    cudaMemcpyToSymbolAsync(table, pinned, BYTES, 0, cudaMemcpyHostToDevice, free_a);
    read_constant<<<4, 256, 0, free_a>>>(other);
}

CASE(a_read_only_load_beside_a_write)
{
    read_only<<<4, 256, 0, free_a>>>(device, other);
    launch_write(device, free_b);
}

/* ---- memory in the order of streams ---- */

static int *allocate_in(cudaStream_t s)
{
    int *p;
    if (cudaMallocAsync(&p, BYTES, s)) // @allocation
        exit(9);
    return p;
}

CASE(memory_used_in_the_stream_that_allocates_it)
{
    int *p = allocate_in(free_a);
    launch_write(p, free_a);
    cudaMemcpyAsync(pinned, p, BYTES, cudaMemcpyDeviceToHost, free_a);
    cudaFreeAsync(p, free_a);
}

CASE(memory_used_beside_its_allocation)
{
    int *p = allocate_in(free_a);
    launch_write(p, free_b);
    cudaStreamSynchronize(free_b);
    cudaFreeAsync(p, free_a);
}

CASE(memory_filled_beside_its_allocation)
{
    int *p = allocate_in(free_a);
    cudaMemsetAsync(p, 0, BYTES, free_b); // @early_fill
    cudaStreamSynchronize(free_b);
    cudaFreeAsync(p, free_a);
}

CASE(memory_used_behind_an_event_after_its_allocation)
{
    int *p = allocate_in(free_a);
    cudaEventRecord(event, free_a);
    cudaStreamWaitEvent(free_b, event, 0);
    launch_write(p, free_b);
    cudaEventRecord(event, free_b);
    cudaStreamWaitEvent(free_a, event, 0);
    cudaFreeAsync(p, free_a);
}

CASE(memory_used_behind_an_event_before_its_allocation)
{
    cudaEventRecord(event, free_a);
    cudaStreamWaitEvent(free_b, event, 0);
    int *p = allocate_in(free_a);
    launch_write(p, free_b);
    cudaStreamSynchronize(free_b);
    cudaFreeAsync(p, free_a);
}

CASE(memory_used_when_the_host_has_waited_for_its_allocation)
{
    int *p = allocate_in(free_a);
    cudaStreamSynchronize(free_a);
    launch_write(p, free_b);
    cudaStreamSynchronize(free_b);
    cudaFree(p);
}

CASE(memory_of_the_default_stream_in_one_that_waits_for_it)
{
    int *p = allocate_in(0);
    launch_write(p, a);
    cudaFreeAsync(p, 0);
}

static void free_behind(bool waits)
{
    int *p;
    cudaMallocAsync(&p, BYTES, free_a);
    cudaStreamSynchronize(free_a);
    launch_write(p, free_b);
    cudaEventRecord(event, free_b);
    if (waits)
        cudaStreamWaitEvent(free_a, event, 0);
    cudaFreeAsync(p, free_a); // @free
}

CASE(a_free_beside_a_launch)
{
    free_behind(false);
}

CASE(a_free_behind_a_launch)
{
    free_behind(true);
}

/* ---- graphs ---- */

static void run_graph(bool fork)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(free_a, cudaStreamCaptureModeRelaxed); // launch_read() allocates
    cudaEventRecord(event, free_a);
    cudaStreamWaitEvent(free_b, event, 0);
    launch_write(device, free_a);
    launch_read(device, fork ? free_b : free_a);
    cudaEventRecord(event, free_b);
    cudaStreamWaitEvent(free_a, event, 0);
    cudaStreamEndCapture(free_a, &graph);
    cudaGraphInstantiate(&ready, graph, NULL, NULL, 0);
    cudaGraphLaunch(ready, free_a);
    cudaGraphLaunch(ready, free_b);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

CASE(branches_of_a_graph)
{
    run_graph(true);
}

CASE(a_graph_in_two_streams)
{
    run_graph(false);
}

/* ---- the host ---- */

CASE(the_host_reads_what_is_being_written)
{
    launch_write(managed, 0);
    for (int i = 0; i < 20; i++)
        sum += managed[i]; // @host_reads
}

CASE(the_host_writes_what_is_being_read)
{
    launch_read(managed, 0);
    managed[N - 1] = 3; // @host_writes
}

CASE(the_host_waits)
{
    managed[1] = 2;
    launch_write(managed, 0);
    cudaDeviceSynchronize();
    sum += managed[1];
    managed[1] = 2;
    launch_read(managed, a);
    cudaEventRecord(event, a);
    sum += managed[1];
    cudaEventSynchronize(event);
    managed[1] = 5;
}

CASE(the_host_uses_other_bytes)
{
    launch_write(managed, 0);
    managed[N] = 1;
    sum += managed[N + 1];
}

CASE(the_host_copies_what_is_being_copied)
{
    static int own[N];
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, a); // @copy_unwaited
    memcpy(own, pinned, sizeof own);                                   // @host_copies
    sum += own[3];
}

CASE(the_system_writes_what_is_being_copied)
{
    int zero = open("/dev/zero", O_RDONLY);
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, a); // @copy_beside_system
    ssize_t n = ::read(zero, pinned, BYTES);                           // @system_writes
    if (n != BYTES)
        exit(8);
}

CASE(the_system_uses_other_memory)
{
    int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, a);
    FILE *f = fdopen(zero, "r");
    if (::read(zero, other, BYTES) != BYTES || ::write(null, other, BYTES) != BYTES || fread(other, 4, N, f) != N)
        exit(8);
    sum += other[3];
}

CASE(the_host_copies_and_fills_other_memory)
{
    static int own[N];
    for (int i = 0; i < N; i++)
        own[i] = i;
    launch_write(device, a);
    memcpy(other, own, sizeof own);
    memmove(other + 3, other, 200 * sizeof *other);
    memset(other + 400, 7, 100 * sizeof *other);
    memcpy(own, other, sizeof own);
    if (own[2] != 2 || own[3] != 0 || own[202] != 199 || own[203] != 203 || own[499] != 0x07070707 || own[500] != 500)
        exit(8);
    for (int i = 0; i < N; i++)
        other[i] = -i;
    __atomic_fetch_add(&other[5], 50, __ATOMIC_SEQ_CST);
    if (other[5] != 45 || other[N - 1] != 1 - N)
        exit(8);
}

/* A thread that blocks all signals, and a child. */
static void *block_and_read(void *)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    sum += other[4];
    return NULL;
}

CASE(the_host_goes_on_in_threads_and_children)
{
    pthread_t thread;
    int status;
    launch_write(device, a);
    if (pthread_create(&thread, NULL, block_and_read, NULL) || pthread_join(thread, NULL))
        exit(8);
    pid_t child = fork();
    if (child == 0)
        _exit(other[4]);
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(8);
}

static void add(void *data)
{
    sum += *(int *)data;
}

CASE(a_host_function_reads_what_its_stream_has_written)
{
    launch_write(managed, a);
    cudaLaunchHostFunc(a, add, managed);
    launch_write(managed, a);
}

static void set(void *data)
{
    ((volatile int *)data)[7] = 1; // @function_writes
}

/* The function beside the kernel, or behind it by an event. */
static void read_beside_function(int *p, bool waits)
{
    launch_read(p, free_b);
    cudaEventRecord(event, free_b);
    if (waits)
        cudaStreamWaitEvent(free_a, event, 0);
    cudaLaunchHostFunc(free_a, set, p);
    cudaDeviceSynchronize();
}

CASE(the_host_function_writes_what_another_stream_reads)
{
    read_beside_function(managed, false);
}

CASE(the_host_function_writes_pinned_memory_that_another_stream_reads)
{
    read_beside_function(pinned, false);
}

CASE(the_host_function_waits_for_the_stream_that_reads)
{
    read_beside_function(managed, true);
}

CASE(the_host_function_is_before_what_waits_for_its_stream)
{
    cudaLaunchHostFunc(free_a, set, pinned);
    cudaEventRecord(event, free_a);
    cudaStreamWaitEvent(free_b, event, 0);
    launch_read(pinned, free_b);
    cudaLaunchHostFunc(free_b, set, pinned);
    launch_read(pinned, free_b);
    cudaDeviceSynchronize();
}

/* The host function is a node, the kernel another one. */
static void run_graph_with_function(bool fork)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(free_a, cudaStreamCaptureModeRelaxed); // launch_read() allocates
    cudaEventRecord(event, free_a);
    cudaStreamWaitEvent(free_b, event, 0);
    launch_read(pinned, free_a);
    cudaLaunchHostFunc(fork ? free_b : free_a, set, pinned);
    cudaEventRecord(event, free_b);
    cudaStreamWaitEvent(free_a, event, 0);
    cudaStreamEndCapture(free_a, &graph);
    cudaGraphInstantiate(&ready, graph, NULL, NULL, 0);
    cudaGraphLaunch(ready, free_a);
    cudaDeviceSynchronize();
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

CASE(the_host_function_of_a_graph_beside_a_kernel)
{
    run_graph_with_function(true);
}

CASE(the_host_function_of_a_graph_behind_a_kernel)
{
    run_graph_with_function(false);
}

static void wait_for_flag()
{
    while (*flag != 1)
        ;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
}

CASE(a_flag_hands_over)
{
    publish<<<1, 1>>>(managed, flag);
    wait_for_flag();
    sum += managed[3];
    launch_read(managed, free_a);
}

CASE(a_flag_behind_a_fence_of_the_device)
{
    publish_here<<<1, 1>>>(managed, flag);
    wait_for_flag();
    sum += managed[3]; // @after_flag
}

__global__ void await(volatile int *flag)
{
    while (*flag != 2)
        ;
    __threadfence_system();
}

CASE(a_flag_of_the_hosts_holds_for_what_comes_after)
{
    await<<<1, 1, 0, free_a>>>(flag);
    launch_read(managed, free_a);
    managed[5] = 9;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    *flag = 2;
}

/* Not by the first thread of its warp: what the host did has no lane. */
__global__ void answer(int *p, volatile int *flag)
{
    for (int turn = 0; turn < 4 && threadIdx.x == 5; turn += 2) {
        while (*flag != turn + 1)
            ;
        __threadfence_system();
        p[N] += p[3];
        __threadfence_system();
        *flag = turn + 2;
    }
}

CASE(a_flag_goes_to_and_fro)
{
    answer<<<1, 32, 0, free_a>>>(managed, flag);
    for (int turn = 0; turn < 4; turn += 2) {
        memset(managed, turn, 64); /* more than one access can do at once */
        __atomic_thread_fence(__ATOMIC_RELEASE);
        *flag = turn + 1;
        while (*flag != turn + 2)
            ;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    }
}

__global__ void halves(int *p, int *q)
{
    int i = threadIdx.x;
    if (i >= 16)
        q[i] = p[i - 16] + p[i];
    else
        p[32 + i] = p[i];
}

CASE(the_host_uses_again_and_again_what_has_settled)
{
    for (int turn = 0; turn < 3; turn++) {
        memset(managed, turn, 256);
        sum += managed[3] + managed[20];
        halves<<<1, 32, 0, a>>>(managed, managed + N);
        halves<<<1, 32, 0, a>>>(managed, managed + N);
        cudaStreamSynchronize(a);
        sum += managed[3] + managed[40];
        sum += managed[3] + managed[N + 20];
        managed[20] = 5;
    }
}

#ifdef __NVCC__
CASE(a_managed_variable)
{
    count<<<1, 1>>>();
    sum += variable; // @reads_variable
}
#endif

int main(int argc, char **argv)
{
    bool bad = cudaMalloc(&device, BYTES) || cudaMallocHost(&pinned, BYTES) || cudaMallocHost(&other, BYTES) ||
               cudaMallocManaged(&managed, 2 * BYTES) || cudaHostAlloc((void **)&flag, 4, cudaHostAllocMapped) ||
               cudaStreamCreate(&a) || cudaStreamCreate(&b) || cudaEventCreate(&event) ||
               cudaStreamCreateWithFlags(&free_a, cudaStreamNonBlocking) ||
               cudaStreamCreateWithFlags(&free_b, cudaStreamNonBlocking) || cudaMemset(device, 1, BYTES);
    *flag = 0;
    memset(managed, 0, 2 * BYTES);
    for (registered *r = first; r && !bad; r = r->next)
        if (argc > 1 && strcmp(r->name, argv[1]) == 0) {
            cudaDeviceSynchronize();
            r->run();
            return cudaDeviceSynchronize() != cudaSuccess;
        }
    return 2;
}

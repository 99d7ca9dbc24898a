/* Memory, events and pools of two processes: the program starts itself as the other one. */
#include "program.h"

#include <sys/wait.h>

enum { SMALL = 300, LARGE = 1 << 20 };

KERNEL add(int *p, int n) BODY(
    p[threadIdx.x] += n;
)
KERNEL wait_and_store(volatile int *flag, int *p, int value) BODY(
    while (!*flag) {}
    *p = value;
)
KERNEL copy_one(int *to, const int *from) BODY(
    *to = *from;
)
REGISTER_KERNEL(add)
REGISTER_KERNEL(wait_and_store)
REGISTER_KERNEL(copy_one)

struct shared {
    cudaIpcMemHandle_t small, large;
    cudaIpcEventHandle_t event;
    struct cudaMemPoolPtrExportData part;
    int pool, queued; /* file descriptors */
};

static int first_of(const int *p)
{
    int value = -1;
    CHECK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    return value;
}

/* What the other process says is its exit status: the number of the step that went wrong. */
#define STEP(n, good)                                                                                                  \
    do {                                                                                                               \
        if (!(good))                                                                                                   \
            return n;                                                                                                  \
    } while (0)

static int as_other(int pipe)
{
    struct shared s;
    int *small, *large, *again, *part, one = 1;
    cudaEvent_t event;
    cudaStream_t stream;
    cudaMemPool_t pool;
    STEP(1, read(pipe, &s, sizeof s) == sizeof s);
    STEP(2, cudaIpcOpenMemHandle((void **)&small, s.small, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess);
    STEP(3, cudaIpcOpenMemHandle((void **)&large, s.large, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess);
    STEP(4, cudaIpcOpenMemHandle((void **)&again, s.large, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess);
    STEP(5, again == large);
    STEP(6, first_of(small) == 5);
    STEP(7, LAUNCH(add, 1, SMALL / 4, 0, 0, &small, &one) == cudaSuccess);
    STEP(8, cudaIpcOpenEventHandle(&event, s.event) == cudaSuccess);
    STEP(9, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    STEP(10, cudaEventQuery(event) == cudaErrorNotReady);
    STEP(11, cudaStreamWaitEvent(stream, event, 0) == cudaSuccess);
    int *next = large + 1;
    STEP(12, LAUNCH(copy_one, 1, 1, 0, stream, &next, &large) == cudaSuccess);
    STEP(13, cudaEventRecord(event, stream) == cudaSuccess);
    STEP(14, cudaMemPoolImportFromShareableHandle(&pool, (void *)(size_t)s.pool, cudaMemHandleTypePosixFileDescriptor, 0) ==
                 cudaSuccess);
    STEP(15, cudaMemPoolImportPointer((void **)&part, pool, &s.part) == cudaSuccess);
    STEP(16, cudaMallocFromPoolAsync((void **)&again, 4, pool, stream) == cudaErrorInvalidValue);
    STEP(17, first_of(part) == 0x01010101);
    STEP(18, LAUNCH(add, 1, 1, 0, 0, &part, &one) == cudaSuccess);
    STEP(19, cudaStreamQuery(stream) == cudaErrorNotReady);
    STEP(20, write(s.queued, "", 1) == 1);
    STEP(21, cudaStreamSynchronize(stream) == cudaSuccess && cudaEventQuery(event) == cudaSuccess);
    STEP(22, first_of(next) == 7);
    STEP(23, cudaFreeAsync(part, stream) == cudaSuccess && cudaFreeAsync(part, stream) == cudaErrorInvalidValue);
    STEP(24, cudaIpcCloseMemHandle(large) == cudaSuccess && first_of(large) == 7); /* opened twice */
    STEP(25, cudaIpcCloseMemHandle(large) == cudaSuccess && cudaIpcCloseMemHandle(large) == cudaErrorInvalidValue);
    STEP(26, cudaFree(small) == cudaErrorInvalidValue);
    STEP(27, cudaEventDestroy(event) == cudaSuccess && cudaMemPoolDestroy(pool) == cudaSuccess);
    return 0;
}

static pid_t start_other(const char *self, const int *to)
{
    char number[16];
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(number, sizeof number, "%d", to[0]);
        execl(self, self, number, (char *)NULL);
        _exit(99);
    }
    return pid;
}

static void refusals(const struct shared *s, int *managed, void *mapped)
{
    cudaIpcMemHandle_t bad = s->small;
    cudaEvent_t event;
    void *p;
    EXPECT_ERROR(cudaIpcOpenMemHandle(&p, s->small, cudaIpcMemLazyEnablePeerAccess), cudaErrorDeviceUninitialized);
    bad.reserved[0] ^= 1;
    EXPECT_ERROR(cudaIpcOpenMemHandle(&p, bad, cudaIpcMemLazyEnablePeerAccess), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaIpcGetMemHandle(&bad, managed), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaIpcGetMemHandle(&bad, mapped), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
    cudaGetLastError();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return as_other(atoi(argv[1]));
    int to[2], from[2], *flag, *part, seven = 7, status = -1;
    struct shared s;
    struct cudaMemPoolProps props;
    cudaMemPool_t pool;
    cudaEvent_t event;
    int *small = (int *)device_memory(SMALL), *neighbour = (int *)device_memory(SMALL), *large = (int *)device_memory(LARGE);
    memset(&s, 0, sizeof s);
    memset(&props, 0, sizeof props);
    CHECK(cudaMallocManaged((void **)&flag, 4, cudaMemAttachGlobal));
    CHECK(cudaMemset(small, 0, SMALL));
    int five = 5, two = 2;
    CHECK(LAUNCH(add, 1, SMALL / 4, 0, 0, &small, &five));
    CHECK(LAUNCH(add, 1, SMALL / 4, 0, 0, &neighbour, &two));
    CHECK(cudaMemset(neighbour, 0, SMALL));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaIpcGetMemHandle(&s.small, small));
    CHECK(cudaIpcGetMemHandle(&s.large, large));
    CHECK(cudaIpcGetEventHandle(&s.event, event));
    EXPECT_ERROR(cudaEventQuery(event), cudaSuccess); /* never recorded */
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &props));
    CHECK(cudaMallocFromPoolAsync((void **)&part, 1000, pool, 0));
    CHECK(cudaMemsetAsync(part, 1, 1000, 0));
    CHECK(cudaMemPoolExportToShareableHandle(&s.pool, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    CHECK(cudaMemPoolExportPointer(&s.part, part));
    CHECK(cudaDeviceSynchronize());
    if (pipe(to) != 0 || pipe(from) != 0)
        return 1;
    s.pool = dup(s.pool); /* which the other process inherits */
    s.queued = from[1];
    *flag = 0;
    CHECK(LAUNCH(wait_and_store, 1, 1, 0, cudaStreamPerThread, &flag, &large, &seven));
    CHECK(cudaEventRecord(event, cudaStreamPerThread));
    pid_t other = start_other(argv[0], to);
    expect(write(to[1], &s, sizeof s) == sizeof s, "handles are bytes");
    close(from[1]);
    char byte;
    expect(read(from[0], &byte, 1) == 1, "the other process has queued its work behind the event");
    EXPECT_ERROR(cudaEventQuery(event), cudaErrorNotReady);
    *(volatile int *)flag = 1;
    waitpid(other, &status, 0);
    if (status)
        printf("# the other process: step %d\n", WEXITSTATUS(status));
    expect(status == 0, "the other process has seen and done what it should");
    EXPECT_ERROR(cudaEventSynchronize(event), cudaSuccess);
    expect(first_of(large + 1) == 7 && first_of(small) == 6, "what it wrote is here");
    expect(first_of(neighbour) == 0, "a neighbour is as it was");
    expect(first_of(part) == 0x01010102, "so is what it wrote into the pool");
    cudaGetLastError();
    refusals(&s, flag, part);
    EXPECT_ERROR(cudaFree(large), cudaSuccess);
    EXPECT_ERROR(cudaFree(small), cudaSuccess);
    EXPECT_ERROR(cudaFreeAsync(part, 0), cudaSuccess);
    EXPECT_ERROR(cudaMemPoolDestroy(pool), cudaSuccess);
    EXPECT_ERROR(cudaEventDestroy(event), cudaSuccess);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    return done();
}

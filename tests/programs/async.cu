/* Launches return at once; streams and events follow their work, and host functions stand in it. */
#include "program.h"

KERNEL wait_for(volatile int *flag, int *out) BODY(
    while (!*flag) {}
    *out = 1;
)
KERNEL add_one(int *p) BODY(
    *p = *p + 1;
)
REGISTER_KERNEL(wait_for)
REGISTER_KERNEL(add_one)

struct called {
    int *value, seen[2], n;
};

static void note(void *data)
{
    struct called *c = (struct called *)data;
    c->seen[c->n++] = *c->value;
}

static void after(cudaStream_t stream, cudaError_t status, void *data)
{
    *(int *)data = stream != NULL && status == cudaSuccess;
}

int main(void)
{
    cudaStream_t a, b;
    cudaEvent_t begin, end, unused;
    int *flag, *out, *counter, callback = 0;
    float ms = -1;
    CHECK(cudaHostAlloc((void **)&flag, sizeof *flag, cudaHostAllocMapped));
    CHECK(cudaMallocManaged((void **)&out, sizeof *out, cudaMemAttachGlobal));
    CHECK(cudaMallocManaged((void **)&counter, sizeof *counter, cudaMemAttachGlobal));
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventCreateWithFlags(&unused, cudaEventDisableTiming));
    *flag = *out = *counter = 0;

    CHECK(cudaEventRecord(begin, a));
    CHECK(cudaEventSynchronize(begin)); /* on a busy machine the moment might come late */
    CHECK(LAUNCH(wait_for, 1, 1, 0, a, &flag, &out));
    CHECK(cudaEventRecord(end, a));
    EXPECT_ERROR(cudaStreamQuery(a), cudaErrorNotReady);
    EXPECT_ERROR(cudaEventQuery(end), cudaErrorNotReady);
    EXPECT_ERROR(cudaGetLastError(), cudaSuccess); /* which that is not (Programming Guide, "Error Checking") */
    EXPECT_ERROR(cudaEventElapsedTime(&ms, begin, end), cudaErrorNotReady);

    /* Another stream runs on, and a third party's event holds it up. */
    CHECK(LAUNCH(add_one, 1, 1, 0, b, &counter));
    EXPECT_ERROR(cudaStreamSynchronize(b), cudaSuccess);
    expect(*counter == 1, "a stream runs while another one waits");
    CHECK(cudaStreamWaitEvent(b, end, 0));
    CHECK(LAUNCH(add_one, 1, 1, 0, b, &counter));
    usleep(20000);
    EXPECT_ERROR(cudaStreamQuery(b), cudaErrorNotReady);
    expect(*(volatile int *)counter == 1, "a stream waits for an event of another");
    usleep(20000);
    *(volatile int *)flag = 1;
    EXPECT_ERROR(cudaStreamSynchronize(b), cudaSuccess);
    expect(*counter == 2 && *out == 1, "it goes on behind the event");
    EXPECT_ERROR(cudaEventElapsedTime(&ms, begin, end), cudaSuccess);
    expect(ms >= 40 && ms < 600000, "the time between events is that of the work");
    EXPECT_ERROR(cudaEventElapsedTime(&ms, begin, unused), cudaErrorInvalidResourceHandle);

    /* Host functions in their order among the launches. */
    struct called called = {counter, {0, 0}, 0};
    CHECK(cudaLaunchHostFunc(a, note, &called));
    CHECK(LAUNCH(add_one, 1, 1, 0, a, &counter));
    CHECK(cudaLaunchHostFunc(a, note, &called));
    CHECK(cudaStreamAddCallback(a, after, &callback, 0));
    CHECK(cudaDeviceSynchronize());
    expect(called.n == 2 && called.seen[0] == 2 && called.seen[1] == 3, "host functions run in the stream's order");
    expect(callback, "a callback gets its stream and status");
    EXPECT_ERROR(cudaStreamQuery(a), cudaSuccess);
    EXPECT_ERROR(cudaStreamDestroy(a), cudaSuccess);
    EXPECT_ERROR(cudaStreamDestroy(b), cudaSuccess);
    EXPECT_ERROR(cudaEventDestroy(end), cudaSuccess);
    EXPECT_ERROR(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
    return done();
}

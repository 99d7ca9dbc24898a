/* --default-stream per-thread: stream 0 is each thread's own. */
#include "program.h"

#include <pthread.h>

KERNEL wait_for(volatile int *flag) BODY(
    while (!*flag) {}
)
KERNEL store(int *p, int value) BODY(
    *p = value;
)
REGISTER_KERNEL(wait_for)
REGISTER_KERNEL(store)

static int *flag;

static void *other(void *data)
{
    int *p, got = 0, value = 5;
    (void)data;
    CHECK(cudaMalloc((void **)&p, 4));
    CHECK(LAUNCH(store, 1, 1, 0, 0, &p, &value));
    CHECK(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemsetAsync(p, 0xff, 4, 0));
    CHECK(cudaStreamSynchronize(0));
    expect(got == 5, "a thread works while another one's stream 0 is busy");
    return NULL;
}

int main(void)
{
    pthread_t t;
    CHECK(cudaHostAlloc((void **)&flag, sizeof *flag, 0));
    *flag = 0;
    CHECK(LAUNCH(wait_for, 1, 1, 0, 0, &flag));
    EXPECT_ERROR(cudaStreamQuery(0), cudaErrorNotReady);
    pthread_create(&t, NULL, other, NULL);
    pthread_join(t, NULL);
    EXPECT_ERROR(cudaStreamQuery(0), cudaErrorNotReady);
    *(volatile int *)flag = 1;
    EXPECT_ERROR(cudaStreamSynchronize(0), cudaSuccess);
    return done();
}

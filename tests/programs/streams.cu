/* The two default streams, priorities, and streams of several threads of the host. */
#include "program.h"

#include <pthread.h>

KERNEL wait_for(volatile int *flag) BODY(
    while (!*flag) {}
)
KERNEL fill(int *p, int n, int value) BODY(
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] += value;
)
REGISTER_KERNEL(wait_for)
REGISTER_KERNEL(fill)

enum { N = 10000, THREADS = 4, ROUNDS = 20 };

static void *worker(void *data)
{
    int value = *(int *)data, n = N, *p = (int *)device_memory(N * sizeof(int)), *h = (int *)malloc(N * sizeof(int));
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    for (int i = 0; i < ROUNDS; i++)
        CHECK(LAUNCH(fill, 4, 64, 0, s, &p, &n, &value));
    cudaSetDevice(-1); /* an error of this thread alone */
    CHECK(cudaMemcpyAsync(h, p, N * sizeof(int), cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    *(int *)data = cudaGetLastError() == cudaErrorInvalidDevice;
    for (int i = 0; i < N; i++)
        *(int *)data &= h[i] == ROUNDS * value;
    free(h);
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(p));
    return NULL;
}

static void threads(void)
{
    pthread_t t[THREADS];
    int data[THREADS], good = 1;
    for (int i = 0; i < THREADS; i++) {
        data[i] = i + 1;
        pthread_create(&t[i], NULL, worker, &data[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
        good &= data[i];
    }
    expect(good, "threads with streams of their own do not meet");
    EXPECT_ERROR(cudaPeekAtLastError(), cudaSuccess);
}

static cudaError_t set_window(cudaStream_t s, void *p, size_t bytes, float ratio, enum cudaAccessProperty miss)
{
    cudaStreamAttrValue v;
    memset(&v, 0, sizeof v);
    v.accessPolicyWindow.base_ptr = p;
    v.accessPolicyWindow.num_bytes = bytes;
    v.accessPolicyWindow.hitRatio = ratio;
    v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    v.accessPolicyWindow.missProp = miss;
    return cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &v);
}

static void attributes(void)
{
    cudaStream_t s, other;
    cudaStreamAttrValue v;
    int most, priority;
    void *p = device_memory(4096);
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamCreate(&other));
    CHECK(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v));
    expect(v.syncPolicy == cudaSyncPolicyAuto, "a stream's policy of waiting is automatic at first");
    CHECK(cudaStreamGetAttribute(0, cudaStreamAttributeAccessPolicyWindow, &v));
    expect(v.accessPolicyWindow.num_bytes == 0, "there is no window at first");
    CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxAccessPolicyWindowSize, 0));
    EXPECT_ERROR(set_window(s, p, 4096, 1.5f, cudaAccessPropertyNormal), cudaErrorInvalidValue);
    EXPECT_ERROR(set_window(s, p, (size_t)most + 1, 1.0f, cudaAccessPropertyNormal), cudaErrorInvalidValue);
    EXPECT_ERROR(set_window(s, p, 4096, 1.0f, cudaAccessPropertyPersisting), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaStreamSetAttribute(s, cudaLaunchAttributeCooperative, &v), cudaErrorInvalidValue);
    cudaGetLastError();
    EXPECT_ERROR(set_window(s, p, 4096, 0.5f, cudaAccessPropertyStreaming), cudaSuccess);
    v.syncPolicy = cudaSyncPolicyYield;
    CHECK(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v));
    v.priority = -99;
    CHECK(cudaStreamSetAttribute(s, cudaStreamAttributePriority, &v));
    CHECK(cudaStreamCopyAttributes(other, s));
    CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &v));
    expect(v.accessPolicyWindow.base_ptr == p && v.accessPolicyWindow.num_bytes == 4096 &&
               v.accessPolicyWindow.hitRatio == 0.5f && v.accessPolicyWindow.missProp == cudaAccessPropertyStreaming,
           "a window is kept, and copied");
    CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy, &v));
    CHECK(cudaStreamGetPriority(other, &priority));
    expect(v.syncPolicy == cudaSyncPolicyYield && priority == -5, "so are policy and priority");
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaStreamDestroy(other));
}

int main(void)
{
    int *flag, *p, n = 1, value = 1, least = 9, greatest = 9, priority = 9;
    unsigned flags = 9;
    cudaStream_t blocking, own;
    CHECK(cudaHostAlloc((void **)&flag, sizeof *flag, 0));
    CHECK(cudaMallocManaged((void **)&p, sizeof *p, cudaMemAttachGlobal));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking));

    /* The legacy default stream waits for blocking streams, and they for it. */
    *flag = *p = 0;
    CHECK(LAUNCH(wait_for, 1, 1, 0, blocking, &flag));
    CHECK(LAUNCH(fill, 1, 1, 0, 0, &p, &n, &value));
    CHECK(LAUNCH(fill, 1, 1, 0, own, &p, &n, &value));
    CHECK(cudaStreamSynchronize(own));
    usleep(20000);
    expect(*(volatile int *)p == 1, "the default stream waits for a blocking one; a non-blocking one does not");
    EXPECT_ERROR(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
    EXPECT_ERROR(cudaGetLastError(), cudaSuccess); /* which that is not (Programming Guide, "Error Checking") */
    EXPECT_ERROR(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
    *(volatile int *)flag = 1;
    EXPECT_ERROR(cudaStreamSynchronize(0), cudaSuccess);
    expect(*p == 2, "then it goes on");

    *flag = 0;
    CHECK(LAUNCH(wait_for, 1, 1, 0, 0, &flag));
    CHECK(LAUNCH(fill, 1, 1, 0, blocking, &p, &n, &value));
    usleep(20000);
    expect(*(volatile int *)p == 2, "a blocking stream waits for the default one");
    *(volatile int *)flag = 1;
    CHECK(cudaDeviceSynchronize());
    expect(*p == 3, "then it goes on");

    CHECK(LAUNCH(fill, 1, 1, 0, cudaStreamPerThread, &p, &n, &value));
    EXPECT_ERROR(cudaStreamSynchronize(cudaStreamPerThread), cudaSuccess);
    expect(*p == 4, "the thread's own default stream");

    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    expect(least == 0 && greatest == -5, "priorities are an H200's");
    cudaStream_t urgent;
    CHECK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, -99));
    CHECK(cudaStreamGetPriority(urgent, &priority));
    CHECK(cudaStreamGetFlags(urgent, &flags));
    expect(priority == -5 && flags == cudaStreamNonBlocking, "a priority beyond the range is the nearest one");
    attributes();
    threads();
    return done();
}

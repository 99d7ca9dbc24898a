// One thread with all devices: groups, what is refused, and what `heddle check` finds: `single CASE`.
#include <nccl.h>

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define IS(call, wanted)                                                                                               \
    do {                                                                                                               \
        int got = (int)(call);                                                                                         \
        if (got != (int)(wanted)) {                                                                                    \
            printf("%s:%d: %d, not %d: %s\n", __FILE__, __LINE__, got, (int)(wanted), ncclGetLastError(NULL));         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { N = 1000 };

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

static cudaStream_t stream[2];
static ncclComm_t comm[2];
static int *in[2], *out[2];

static void reduce(size_t n)
{
    IS(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < 2; i++)
        IS(ncclAllReduce(in[i], out[i], n, ncclInt, ncclSum, comm[i], stream[i]), ncclSuccess);
    IS(ncclGroupEnd(), ncclSuccess);
}

static void group()
{
    for (int i = 0; i < 2; i++) {
        cudaSetDevice(i);
        fill<<<1, N, 0, stream[i]>>>(in[i], i + 1);
    }
    reduce(N);
    for (int i = 0; i < 2; i++) {
        int v[N];
        cudaSetDevice(i);
        IS(cudaMemcpyAsync(v, out[i], sizeof v, cudaMemcpyDeviceToHost, stream[i]), cudaSuccess);
        IS(cudaStreamSynchronize(stream[i]), cudaSuccess);
        for (int k = 0; k < N; k++)
            IS(v[k], 3);
    }
}

static void race()
{
    cudaStream_t other;
    for (int i = 0; i < 2; i++) {
        cudaSetDevice(i);
        fill<<<1, N, 0, stream[i]>>>(in[i], 1);
    }
    reduce(N);
    cudaSetDevice(0);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    fill<<<1, N, 0, other>>>(out[0], 1);
    cudaDeviceSynchronize();
    cudaSetDevice(1);
    cudaDeviceSynchronize();
}

static void too_long()
{
    reduce(N + 1);
    cudaDeviceSynchronize();
}

// What is refused, with the status that the original has.
static void refusals()
{
    ncclComm_t other[2] = {NULL, NULL};
    ncclUniqueId id;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    const int same[] = {0, 0}, far[] = {0, 99};
    int n;
    IS(ncclCommInitAll(other, 2, same), ncclInvalidUsage);
    IS(ncclCommInitAll(other, 2, far), ncclInvalidArgument);
    IS(ncclGetUniqueId(&id), ncclSuccess);
    IS(ncclCommInitRank(other, 2, id, 2), ncclInvalidArgument);
    cudaSetDevice(0);
    IS(ncclGroupStart(), ncclSuccess);
    IS(ncclCommInitRank(&other[0], 2, id, 0), ncclSuccess);
    IS(ncclCommInitRank(&other[1], 2, id, 1), ncclSuccess);
    IS(ncclGroupEnd(), ncclInvalidUsage); // on one device
    IS(other[0] == NULL, 1);
    id.internal[40] ^= 1;
    IS(ncclCommInitRank(&other[0], 2, id, 0), ncclInvalidUsage); // another machine's
    IS(ncclCommCount((ncclComm_t)stdout, &n), ncclInvalidArgument);
    IS(ncclCommCount(NULL, &n), ncclInvalidArgument);
    IS(ncclGroupEnd(), ncclInvalidUsage);
    IS(ncclAllReduce(in[0], out[0], N, ncclNumTypes, ncclSum, comm[0], stream[0]), ncclInvalidArgument);
    IS(ncclAllReduce(in[0], out[0], N, ncclInt, (ncclRedOp_t)7, comm[0], stream[0]), ncclInvalidArgument);
    IS(ncclBroadcast(in[0], out[0], N, ncclInt, 2, comm[0], stream[0]), ncclInvalidArgument);
    config.magic = 1;
    IS(ncclCommInitRankConfig(&other[0], 1, id, 0, &config), ncclInvalidArgument);
    IS(strcmp(ncclGetErrorString(ncclInvalidArgument), ncclGetErrorString(ncclSuccess)) != 0, 1);
    group();
}

// A communicator that is made while its program does something else.
static void nonblocking()
{
    ncclComm_t own[2];
    ncclUniqueId id;
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    IS(ncclGetUniqueId(&id), ncclSuccess);
    for (int i = 0; i < 2; i++) {
        cudaSetDevice(i);
        IS(ncclCommInitRankConfig(&own[i], 2, id, i, &config), i ? ncclSuccess : ncclInProgress);
    }
    for (int i = 0; i < 2; i++) {
        ncclResult_t r;
        int n;
        do
            IS(ncclCommGetAsyncError(own[i], &r), ncclSuccess);
        while (r == ncclInProgress);
        IS(r, ncclSuccess);
        IS(ncclCommCount(own[i], &n), ncclSuccess);
        IS(n, 2);
    }
    for (int i = 0; i < 2; i++) {
        IS(ncclCommFinalize(own[i]), ncclSuccess);
        IS(ncclCommDestroy(own[i]), ncclSuccess);
    }
}

int main(int, char **argv)
{
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"group", group}, {"race", race}, {"too_long", too_long}, {"refusals", refusals}, {"nonblocking", nonblocking}};
    IS(ncclCommInitAll(comm, 2, NULL), ncclSuccess);
    for (int i = 0; i < 2; i++) {
        cudaSetDevice(i);
        cudaStreamCreate(&stream[i]);
        cudaMalloc(&in[i], N * sizeof(int));
        cudaMalloc(&out[i], N * sizeof(int));
    }
    for (auto &c : cases)
        if (strcmp(c.name, argv[1]) == 0)
            c.run();
    for (int i = 0; i < 2; i++) {
        IS(ncclCommDestroy(comm[i]), ncclSuccess);
        cudaSetDevice(i);
        cudaFree(in[i]);
        cudaFree(out[i]);
        cudaStreamDestroy(stream[i]);
    }
    printf("%s: ok\n", argv[1]);
}

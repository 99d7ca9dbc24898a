// What ranks do together: `ranks CASE RANKS [FILE RANK]`: in one process, or, with a file that the first rank writes the id to, in one of
// several. Says "CASE: ok", or what is wrong.
#include <nccl.h>

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t e = (call);                                                                                        \
        if (e != cudaSuccess) {                                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e));                                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define NCCL(call)                                                                                                     \
    do {                                                                                                               \
        ncclResult_t got = (call);                                                                                      \
        if (got != ncclSuccess) {                                                                                      \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, ncclGetErrorString(got), ncclGetLastError(NULL));              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)
#define EQUAL(got, wanted, what, i)                                                                                    \
    do {                                                                                                               \
        if ((got) != (wanted)) {                                                                                       \
            printf("%s: element %d is %g, not %g\n", what, (int)(i), (double)(got), (double)(wanted));                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

struct rank {
    int n, me;
    ncclComm_t comm;
    cudaStream_t stream;
    char *in, *out; // on the device
};
enum { COUNT = 50001, BYTES = 1 << 22 }; // several pieces of a channel, and no multiple of the ranks

template <class T> static std::vector<T> get(const char *from, size_t n)
{
    std::vector<T> v(n);
    CUDA(cudaMemcpy(v.data(), from, n * sizeof(T), cudaMemcpyDefault));
    return v;
}

// Small whole numbers, which every type holds exactly.
static int value(int rank, size_t i)
{
    return 1 + (rank + i) % 3;
}

template <class T> static void put(char *to, size_t n, int rank)
{
    std::vector<T> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = (T)(float)value(rank, i);
    CUDA(cudaMemcpy(to, v.data(), n * sizeof(T), cudaMemcpyDefault));
}

static double combined(ncclRedOp_t op, int n, size_t i)
{
    double a = value(0, i);
    for (int r = 1; r < n; r++) {
        double b = value(r, i);
        a = op == ncclProd ? a * b : op == ncclMax ? (a > b ? a : b) : op == ncclMin ? (a < b ? a : b) : a + b;
    }
    return a;
}

template <class T> static void reduce_type(rank &r, ncclDataType_t type)
{
    for (ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin}) {
        put<T>(r.in, COUNT, r.me);
        NCCL(ncclAllReduce(r.in, r.out, COUNT, type, op, r.comm, r.stream));
        CUDA(cudaStreamSynchronize(r.stream));
        auto v = get<T>(r.out, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            EQUAL((double)(float)v[i], combined(op, r.n, i), "ncclAllReduce", i);
    }
}

static void types(rank &r)
{
    reduce_type<signed char>(r, ncclInt8);
    reduce_type<unsigned char>(r, ncclUint8);
    reduce_type<int>(r, ncclInt32);
    reduce_type<unsigned>(r, ncclUint32);
    reduce_type<long long>(r, ncclInt64);
    reduce_type<unsigned long long>(r, ncclUint64);
    reduce_type<__half>(r, ncclFloat16);
    reduce_type<float>(r, ncclFloat32);
    reduce_type<double>(r, ncclFloat64);
    reduce_type<__nv_bfloat16>(r, ncclBfloat16);
    if (r.n <= 2) { // products of more have more bits than these
        reduce_type<__nv_fp8_e4m3>(r, ncclFloat8e4m3);
        reduce_type<__nv_fp8_e5m2>(r, ncclFloat8e5m2);
    }
}

// Averages, and a sum of what a scalar has been multiplied with, on the host and on the device.
static void operators(rank &r)
{
    put<float>(r.in, COUNT, r.me);
    NCCL(ncclAllReduce(r.in, r.out, COUNT, ncclFloat, ncclAvg, r.comm, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
    auto f = get<float>(r.out, COUNT);
    float part = 1.0f / r.n;
    for (size_t i = 0; i < COUNT; i++) {
        float wanted = value(0, i) * part;
        for (int k = 1; k < r.n; k++)
            wanted += value(k, i) * part;
        EQUAL(f[i], wanted, "ncclAvg", i);
    }
    put<int>(r.in, COUNT, r.me);
    NCCL(ncclAllReduce(r.in, r.out, COUNT, ncclInt, ncclAvg, r.comm, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
    auto v = get<int>(r.out, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        EQUAL(v[i], (int)combined(ncclSum, r.n, i) / r.n, "ncclAvg of int", i);
    for (bool device : {false, true}) {
        float scale = 2 + r.me;
        void *scalar = &scale;
        ncclRedOp_t op;
        if (device) {
            CUDA(cudaMalloc(&scalar, sizeof scale));
            CUDA(cudaMemcpy(scalar, &scale, sizeof scale, cudaMemcpyHostToDevice));
        }
        put<float>(r.in, COUNT, r.me);
        NCCL(ncclRedOpCreatePreMulSum(&op, scalar, ncclFloat, device ? ncclScalarDevice : ncclScalarHostImmediate, r.comm));
        NCCL(ncclAllReduce(r.in, r.out, COUNT, ncclFloat, op, r.comm, r.stream));
        NCCL(ncclRedOpDestroy(op, r.comm));
        CUDA(cudaStreamSynchronize(r.stream));
        auto s = get<float>(r.out, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            float wanted = 0;
            for (int k = 0; k < r.n; k++)
                wanted += value(k, i) * (2.0f + k);
            EQUAL(s[i], wanted, "ncclRedOpCreatePreMulSum", i);
        }
        if (ncclAllReduce(r.in, r.out, COUNT, ncclFloat, op, r.comm, r.stream) != ncclInvalidArgument)
            EQUAL(1, 0, "an operator that was destroyed", 0);
    }
}

// Every other function, into another buffer and in place.
static void collectives(rank &r)
{
    const size_t each = COUNT;
    const int n = r.n, me = r.me, root = n - 1;
    for (bool in_place : {false, true}) {
        auto from = [&](size_t offset, size_t count) {
            char *p = in_place ? r.out + offset * each * 4 : r.in;
            put<int>(p, count, me);
            return p;
        };
        auto check = [&](const char *what, size_t offset, size_t count, std::function<int(size_t)> wanted) {
            CUDA(cudaStreamSynchronize(r.stream));
            auto v = get<int>(r.out + offset * each * 4, count);
            for (size_t i = 0; i < count; i++)
                EQUAL(v[i], wanted(i), what, i);
        };
        NCCL(ncclReduce(from(0, each), r.out, each, ncclInt, ncclSum, root, r.comm, r.stream));
        if (me == root)
            check("ncclReduce", 0, each, [&](size_t i) { return (int)combined(ncclSum, n, i); });
        CUDA(cudaStreamSynchronize(r.stream));
        NCCL(ncclBroadcast(from(0, each), r.out, each, ncclInt, root, r.comm, r.stream));
        check("ncclBroadcast", 0, each, [&](size_t i) { return value(root, i); });
        NCCL(ncclAllGather(from(me, each), r.out, each, ncclInt, r.comm, r.stream));
        check("ncclAllGather", 0, each * n, [&](size_t i) { return value(i / each, i % each); });
        NCCL(ncclReduceScatter(from(0, each * n), in_place ? r.out + me * each * 4 : r.out, each, ncclInt, ncclSum, r.comm, r.stream));
        check("ncclReduceScatter", in_place ? me : 0, each, [&](size_t i) { return (int)combined(ncclSum, n, i + me * each); });
        NCCL(ncclGather(from(me, each), r.out, each, ncclInt, root, r.comm, r.stream));
        if (me == root)
            check("ncclGather", 0, each * n, [&](size_t i) { return value(i / each, i % each); });
        CUDA(cudaStreamSynchronize(r.stream));
        NCCL(ncclScatter(from(0, each * n), in_place && me == root ? r.out + me * each * 4 : r.out, each, ncclInt, root, r.comm, r.stream));
        check("ncclScatter", in_place && me == root ? me : 0, each, [&](size_t i) { return value(root, i + me * each); });
    }
    put<int>(r.in, each * n, me);
    NCCL(ncclAlltoAll(r.in, r.out, each, ncclInt, r.comm, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
    auto v = get<int>(r.out, each * n);
    for (size_t i = 0; i < each * n; i++)
        EQUAL(v[i], value(i / each, i % each + me * each), "ncclAlltoAll", i);
}

// All ranks send to all others at the same time, on two streams, beside a reduction, in nested groups.
static void pairs(rank &r)
{
    const int n = r.n, me = r.me;
    cudaStream_t other;
    CUDA(cudaStreamCreate(&other));
    put<int>(r.in, COUNT, me);
    NCCL(ncclGroupStart());
    NCCL(ncclGroupStart());
    for (int k = 0; k < n; k++)
        NCCL(ncclSend(r.in, COUNT, ncclInt, k, r.comm, r.stream));
    NCCL(ncclGroupEnd());
    for (int k = 0; k < n; k++)
        NCCL(ncclRecv(r.out + k * COUNT * 4, COUNT, ncclInt, k, r.comm, other));
    NCCL(ncclAllReduce(r.in, r.out + n * COUNT * 4, COUNT, ncclInt, ncclSum, r.comm, r.stream));
    NCCL(ncclGroupEnd());
    CUDA(cudaStreamSynchronize(other));
    auto v = get<int>(r.out, (n + 1) * COUNT);
    for (size_t i = 0; i < v.size(); i++)
        EQUAL(v[i], i / COUNT < (size_t)n ? value(i / COUNT, i % COUNT) : (int)combined(ncclSum, n, i % COUNT), "ncclSend", i);
}

// Captured once, launched three times: out = 2 in, in = out.
static void graphs(rank &r)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    put<int>(r.in, COUNT, 0);
    CUDA(cudaStreamBeginCapture(r.stream, cudaStreamCaptureModeThreadLocal));
    NCCL(ncclAllReduce(r.in, r.in, COUNT, ncclInt, ncclSum, r.comm, r.stream));
    CUDA(cudaStreamEndCapture(r.stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        CUDA(cudaGraphLaunch(exec, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
    auto v = get<int>(r.in, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        EQUAL(v[i], value(0, i) * r.n * r.n * r.n, "a graph", i);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

// Two halves, the ranks of each the other way round.
static void split(rank &r)
{
    rank half = r;
    NCCL(ncclCommSplit(r.comm, r.me % 2, -r.me, &half.comm, NULL));
    NCCL(ncclCommCount(half.comm, &half.n));
    NCCL(ncclCommUserRank(half.comm, &half.me));
    int wanted = 0;
    for (int k = r.me + 2; k < r.n; k += 2)
        wanted++;
    EQUAL(half.me, wanted, "a rank of a half", r.me);
    reduce_type<int>(half, ncclInt);
    NCCL(ncclCommDestroy(half.comm));
    NCCL(ncclCommSplit(r.comm, r.me ? 5 : NCCL_SPLIT_NOCOLOR, 0, &half.comm, NULL));
    if (!r.me != !half.comm)
        EQUAL(1, 0, "a rank without color", r.me);
    if (half.comm) {
        NCCL(ncclCommCount(half.comm, &half.n));
        EQUAL(half.n, r.n - 1, "the number of ranks with a color", 0);
        NCCL(ncclCommDestroy(half.comm));
    }
    if (r.me != 1) {
        int gone[] = {1};
        NCCL(ncclCommShrink(r.comm, gone, 1, &half.comm, NULL, NCCL_SHRINK_DEFAULT));
        NCCL(ncclCommCount(half.comm, &half.n));
        NCCL(ncclCommUserRank(half.comm, &half.me));
        EQUAL(half.n, r.n - 1, "the number of ranks that remain", 0);
        reduce_type<int>(half, ncclInt);
        NCCL(ncclCommDestroy(half.comm));
    }
}

// Rank 1 is no more, though a child of its is: the others learn of it, and go on without it.
static void killed(rank &r)
{
    if (r.me == 1) {
        if (fork() == 0) {
            close(1);
            close(2);
            char c;
            while (read(0, &c, 1) > 0) // until the test has heard the others
                ;
        }
        _exit(0);
    }
    NCCL(ncclAllReduce(r.in, r.out, COUNT, ncclInt, ncclSum, r.comm, r.stream));
    ncclResult_t error = ncclSuccess;
    time_t begun = time(NULL);
    while (cudaStreamQuery(r.stream) == cudaErrorNotReady && error == ncclSuccess)
        NCCL(ncclCommGetAsyncError(r.comm, &error));
    EQUAL(error, ncclRemoteError, "ncclCommGetAsyncError", 0);
    EQUAL(time(NULL) - begun < 30, true, "the time in which it is learnt", 0);
    NCCL(ncclCommAbort(r.comm));
    CUDA(cudaStreamSynchronize(r.stream)); // aborted, which is no fault
    r.comm = NULL;
}

// The same for who waits for the stream.
static void killed_unseen(rank &r)
{
    if (r.me == 1)
        _exit(0);
    NCCL(ncclAllReduce(r.in, r.out, COUNT, ncclInt, ncclSum, r.comm, r.stream));
    EQUAL(cudaStreamSynchronize(r.stream), cudaErrorLaunchFailure, "cudaStreamSynchronize", 0);
    r.comm = NULL;
}

// Ranks that are not about the same, with more than a channel holds. Who calls last may be told by the call itself.
static void different(rank &r)
{
    ncclResult_t got = r.me ? ncclAllReduce(r.in, r.out, BYTES / 4, ncclInt, ncclSum, r.comm, r.stream)
                            : ncclBroadcast(r.in, r.out, BYTES / 4, ncclInt, 0, r.comm, r.stream);
    cudaError_t then = cudaStreamSynchronize(r.stream);
    EQUAL(got == ncclSuccess || got == ncclUnhandledCudaError, true, "the call", 0);
    EQUAL(got == ncclSuccess && then == cudaSuccess, false, "cudaStreamSynchronize", 0);
    r.comm = NULL;
}

static void nothing(rank &r)
{
    NCCL(ncclAllReduce(r.in, r.out, 1, ncclInt, ncclSum, r.comm, r.stream));
    CUDA(cudaStreamSynchronize(r.stream));
}

static const struct {
    const char *name;
    void (*run)(rank &r);
} cases[] = {{"types", types},   {"operators", operators}, {"collectives", collectives}, {"pairs", pairs}, {"graphs", graphs}, {"split", split},
             {"killed", killed}, {"killed_unseen", killed_unseen}, {"different", different}, {"nothing", nothing}};

static void run(const char *name, rank r)
{
    CUDA(cudaSetDevice(r.me));
    CUDA(cudaStreamCreate(&r.stream));
    CUDA(cudaMalloc(&r.in, BYTES));
    CUDA(cudaMalloc(&r.out, BYTES));
    CUDA(cudaMemset(r.in, 0, BYTES));
    for (auto &c : cases)
        if (strcmp(c.name, name) == 0)
            c.run(r);
    if (r.comm)
        NCCL(ncclCommDestroy(r.comm));
}

static ncclUniqueId exchange(const std::string &file, int me)
{
    ncclUniqueId id;
    std::string part = file + ".part";
    if (me == 0) {
        NCCL(ncclGetUniqueId(&id));
        FILE *f = fopen(part.c_str(), "wb");
        fwrite(&id, sizeof id, 1, f);
        fclose(f);
        rename(part.c_str(), file.c_str());
    }
    for (;; usleep(1000))
        if (FILE *f = fopen(file.c_str(), "rb")) {
            size_t n = fread(&id, sizeof id, 1, f);
            fclose(f);
            if (n == 1)
                return id;
        }
}

int main(int argc, char **argv)
{
    int n = atoi(argv[2]);
    if (argc > 3) {
        rank r = {n, atoi(argv[4])};
        ncclUniqueId id = exchange(argv[3], r.me);
        CUDA(cudaSetDevice(r.me));
        NCCL(ncclCommInitRank(&r.comm, n, id, r.me));
        run(argv[1], r);
    } else {
        std::vector<ncclComm_t> comms(n);
        std::vector<std::thread> threads;
        NCCL(ncclCommInitAll(comms.data(), n, NULL));
        for (int i = 0; i < n; i++)
            threads.emplace_back(run, argv[1], rank{n, i, comms[i]});
        for (auto &t : threads)
            t.join();
    }
    printf("%s: ok\n", argv[1]);
}
#if !defined __CUDA_FP16_TYPES_EXIST__ || !defined __CUDA_BF16_TYPES_EXIST__ || !defined __CUDA_FP8_TYPES_EXIST__
#error "users of NCCL ask for these"
#endif

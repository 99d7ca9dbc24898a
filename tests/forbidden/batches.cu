/* Batches of copies: what each kind of call says, by the runtime and by both versions of the driver's functions; a line for each. Pointers
 * that are NULL are left out: the driver reads them. */
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include <cuda.h>
#include <cuda_runtime.h>

typedef CUresult (*BatchV1)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t,
                            size_t *, CUstream);
typedef CUresult (*BatchV2)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t,
                            CUstream);
typedef CUresult (*Batch3V1)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream);
typedef CUresult (*Batch3V2)(size_t, CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);
static BatchV1 batch1;
static BatchV2 batch2;
static Batch3V1 batch3_1;
static Batch3V2 batch3_2;
enum { N = 4, BYTES = 64 };
static unsigned char *device, *other, *pinned, *managed, pageable[N * BYTES];
static cudaStream_t stream;

struct Call {
    void *dsts[N];
    const void *srcs[N];
    size_t sizes[N], count = N, index[N] = {0}, n = 1;
    cudaMemcpyAttributes attributes[N];
    cudaStream_t s = stream;
    Call()
    {
        memset(attributes, 0, sizeof attributes);
        for (int i = 0; i < N; i++) {
            dsts[i] = other + i * BYTES;
            srcs[i] = device + i * BYTES;
            sizes[i] = BYTES;
            attributes[i].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
        }
    }
};
static void show(const char *name, Call c)
{
    CUmemcpyAttributes a[N];
    memset(a, 0, sizeof a);
    for (int i = 0; i < N; i++) {
        a[i].srcAccessOrder = (CUmemcpySrcAccessOrder)c.attributes[i].srcAccessOrder;
        memcpy(&a[i].srcLocHint, &c.attributes[i].srcLocHint, sizeof a[i].srcLocHint);
        memcpy(&a[i].dstLocHint, &c.attributes[i].dstLocHint, sizeof a[i].dstLocHint);
        a[i].flags = c.attributes[i].flags;
    }
    int r = cudaMemcpyBatchAsync(c.dsts, c.srcs, c.sizes, c.count, c.attributes, c.index, c.n, c.s);
    cudaGetLastError();
    size_t fail = 77;
    int one = batch1
                  ? batch1((CUdeviceptr *)c.dsts, (CUdeviceptr *)c.srcs, c.sizes, c.count, a, c.index, c.n, &fail, c.s)
                  : -1;
    int two =
        batch2 ? batch2((CUdeviceptr *)c.dsts, (CUdeviceptr *)c.srcs, c.sizes, c.count, a, c.index, c.n, c.s) : -1;
    printf("%s: runtime %d driver %d at %lld, %d\n", name, r, one, fail == ~(size_t)0 ? -1ll : (long long)fail, two);
    cudaStreamSynchronize(c.s);
}
static cudaMemcpy3DBatchOp operation(void *to, const void *from, size_t w, size_t h, size_t d)
{
    cudaMemcpy3DBatchOp op;
    memset(&op, 0, sizeof op);
    op.src.type = op.dst.type = cudaMemcpyOperandTypePointer;
    op.src.op.ptr.ptr = (void *)from;
    op.dst.op.ptr.ptr = to;
    op.extent = make_cudaExtent(w, h, d);
    op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return op;
}
static void show3(const char *name, std::vector<cudaMemcpy3DBatchOp> ops, unsigned long long flags = 0,
                  cudaStream_t s = stream)
{
    std::vector<CUDA_MEMCPY3D_BATCH_OP> same(ops.size() + 1);
    static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == sizeof(cudaMemcpy3DBatchOp), "");
    memcpy((void *)same.data(), ops.data(), ops.size() * sizeof ops[0]);
    int r = cudaMemcpy3DBatchAsync(ops.size(), ops.data(), flags, s);
    cudaGetLastError();
    size_t fail = 77;
    int one = batch3_1 ? batch3_1(ops.size(), same.data(), &fail, flags, s) : -1;
    int two = batch3_2 ? batch3_2(ops.size(), same.data(), flags, s) : -1;
    printf("3D %s: runtime %d driver %d at %lld, %d\n", name, r, one, fail == ~(size_t)0 ? -1ll : (long long)fail, two);
    cudaStreamSynchronize(s);
}
static void show_capture(const char *name, bool three)
{
    cudaGraph_t graph = nullptr;
    int begun = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    Call c;
    int r;
    if (three) {
        cudaMemcpy3DBatchOp ops[2] = {operation(other, device, 8, 2, 1), operation(other + 32, device + 32, 8, 2, 1)};
        r = cudaMemcpy3DBatchAsync(2, ops, 0, stream);
    } else {
        r = cudaMemcpyBatchAsync(c.dsts, c.srcs, c.sizes, c.count, c.attributes, c.index, c.n, stream);
    }
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(stream, &status);
    int e = cudaStreamEndCapture(stream, &graph);
    size_t nodes = 0, edges = 0;
    if (graph) {
        cudaGraphGetNodes(graph, nullptr, &nodes);
        cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges);
        std::vector<cudaGraphNode_t> all(nodes);
        cudaGraphGetNodes(graph, all.data(), &nodes);
        for (auto n : all) {
            cudaGraphNodeType type;
            cudaGraphNodeGetType(n, &type);
            printf("  node of type %d\n", (int)type);
        }
    }
    cudaGetLastError();
    printf("%s captured: %d %d status %d end %d nodes %zu edges %zu\n", name, begun, r, (int)status, e, nodes, edges);
}
int main()
{
    cudaDriverEntryPointQueryResult q;
    cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", (void **)&batch1, 12080, cudaEnableDefault, &q);
    cudaGetDriverEntryPointByVersion("cuMemcpyBatchAsync", (void **)&batch2, 13000, cudaEnableDefault, &q);
    cudaGetDriverEntryPointByVersion("cuMemcpy3DBatchAsync", (void **)&batch3_1, 12080, cudaEnableDefault, &q);
    cudaGetDriverEntryPointByVersion("cuMemcpy3DBatchAsync", (void **)&batch3_2, 13000, cudaEnableDefault, &q);
    cudaMalloc(&device, N * BYTES);
    cudaMalloc(&other, N * BYTES);
    cudaMallocHost(&pinned, N * BYTES);
    cudaMallocManaged(&managed, N * BYTES);
    cudaStreamCreate(&stream);
    for (int i = 0; i < N * BYTES; i++)
        pageable[i] = (unsigned char)i, pinned[i] = (unsigned char)(i + 1), managed[i] = (unsigned char)(i + 2);
    cudaMemcpy(device, pageable, N * BYTES, cudaMemcpyDefault);
    Call c;
    show("plain", Call());
    c = Call(), c.s = nullptr, show("stream NULL", c);
    c = Call(), c.s = cudaStreamLegacy, show("stream legacy", c);
    c = Call(), c.s = cudaStreamPerThread, show("stream per thread", c);
    c = Call(), c.count = 0, show("count 0", c);
    c = Call(), c.count = 0, c.n = 0, show("count 0, no attributes", c);
    c = Call(), c.n = 0, show("attributes 0", c);
    c = Call(), c.index[0] = 1, show("first index 1", c);
    c = Call(), c.n = 2, c.index[1] = 2, show("two attributes", c);
    c = Call(), c.n = 2, c.index[1] = 0, show("index twice", c);
    c = Call(), c.n = 3, c.index[1] = 2, c.index[2] = 1, show("index falls", c);
    c = Call(), c.n = 2, c.index[1] = 4, show("index at count", c);
    c = Call(), c.count = 1, c.n = 2, c.index[1] = 1, show("more attributes than copies", c);
    for (int order : {0, 1, 2, 3, 4, 99})
        c = Call(), c.attributes[0].srcAccessOrder = (cudaMemcpySrcAccessOrder)order,
        show(("order " + std::to_string(order)).c_str(), c);
    c = Call(), c.n = 2, c.index[1] = 2, c.attributes[1].srcAccessOrder = (cudaMemcpySrcAccessOrder)0,
    show("second order 0", c);
    for (unsigned flags : {1u, 2u, 3u, 0x80000000u})
        c = Call(), c.attributes[0].flags = flags, show(("flags " + std::to_string(flags)).c_str(), c);
    c = Call(), c.attributes[0].srcLocHint.type = (cudaMemLocationType)99, show("source hint 99", c);
    c = Call(), c.attributes[0].dstLocHint.type = cudaMemLocationTypeDevice, c.attributes[0].dstLocHint.id = 55,
    show("hint device 55", c);
    c = Call(), c.attributes[0].dstLocHint.type = cudaMemLocationTypeHost, show("hint host", c);
    c = Call(), c.sizes[1] = 0, show("a size 0", c);
    c = Call(), c.sizes[0] = c.sizes[1] = c.sizes[2] = c.sizes[3] = 0, show("all sizes 0", c);
    c = Call(), c.srcs[1] = pageable, show("pageable source", c);
    c = Call(), c.srcs[1] = pinned, c.srcs[2] = managed, show("pinned and managed sources", c);
    c = Call(), c.dsts[1] = pageable, c.dsts[2] = pinned, c.dsts[3] = managed, show("host destinations", c);
    for (int i = 0; i < N; i++)
        c.dsts[i] = pinned + i * BYTES, c.srcs[i] = pageable + i * BYTES;
    show("host to host", c);
    c = Call(), c.sizes[3] = BYTES + 1, show("beyond the end by 1", c);
    c = Call(), c.sizes[3] = 1 << 30, show("beyond the end by far", c);
    show_capture("batch", false);
    show_capture("3D batch", true);

    unsigned char ephemeral[BYTES], got[BYTES];
    memset(ephemeral, 5, BYTES);
    c = Call(), c.count = 1, c.srcs[0] = ephemeral,
    c.attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    int r = cudaMemcpyBatchAsync(c.dsts, c.srcs, c.sizes, 1, c.attributes, c.index, 1, stream);
    memset(ephemeral, 6, BYTES);
    cudaStreamSynchronize(stream);
    cudaMemcpy(got, other, BYTES, cudaMemcpyDefault);
    printf("during the call: %d, %d %d\n", r, got[0], got[BYTES - 1]);

    typedef std::vector<cudaMemcpy3DBatchOp> Ops;
    auto op = operation(other, device, 8, 4, 2);
    show3("plain", {op});
    show3("two", {op, operation(other + 128, device + 128, 16, 2, 1)});
    show3("stream NULL", {op}, 0, nullptr);
    show3("per thread", {op}, 0, cudaStreamPerThread);
    show3("none", Ops());
    show3("flags 1", {op}, 1);
    auto x = op;
    x = op, x.extent.width = 0, show3("width 0", {x});
    x = op, x.extent.height = 0, show3("height 0", {x});
    x = op, x.extent.depth = 0, show3("depth 0, second", {op, x});
    for (int order : {0, 2, 3, 4})
        x = op, x.srcAccessOrder = (cudaMemcpySrcAccessOrder)order,
        show3(("order " + std::to_string(order)).c_str(), {x});
    x = op, x.flags = 1, show3("operation's flags 1", {x});
    x = op, x.flags = 2, show3("operation's flags 2", {x});
    x = op, x.src.type = (cudaMemcpy3DOperandType)0, show3("type 0", {x});
    x = op, x.dst.type = (cudaMemcpy3DOperandType)3, show3("type 3", {x});
    x = op, x.src.op.ptr.rowLength = 7, show3("row 7 of 8", {x});
    x = op, x.src.op.ptr.rowLength = 16, show3("row 16", {x});
    x = op, x.src.op.ptr.layerHeight = 3, show3("layer 3 of 4", {x});
    x = op, x.dst.op.ptr.layerHeight = 5, show3("layer 5", {x});
    x = op, x.extent.depth = 100, show3("beyond the end", {x});
    x = op, x.src.op.ptr.locHint.type = (cudaMemLocationType)99, show3("hint 99", {x});

    cudaMemset(other, 0, N * BYTES);
    x = operation(other, device, 4, 3, 2);
    x.src.op.ptr.rowLength = 8, x.src.op.ptr.layerHeight = 4, x.dst.op.ptr.rowLength = 5;
    show3("rows and layers", {x});
    unsigned char all[N * BYTES];
    cudaMemcpy(all, other, sizeof all, cudaMemcpyDefault);
    for (int i = 0; i < 40; i++)
        printf("%d ", all[i]);
    printf("\n");

    printf("%d\n", (int)cudaDeviceSynchronize());
}

/* Graphs that kernels launch; a case a process. What an H200 says of each is in device.txt. */
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

static void said(const char *call, cudaError_t e)
{
    if (e) {
        printf("  ! %s: %d\n", call, (int)e);
        cudaGetLastError();
    }
}
#define CU(x) said(#x, x)

static std::vector<std::pair<const char *, std::function<void()>>> cases;
struct named_case {
    named_case(const char *name, std::function<void()> run) { cases.push_back({name, run}); }
};
#define CASE(name)                                                                                                     \
    static void name();                                                                                                \
    static named_case of_##name(#name, name);                                                                          \
    static void name()

/* What kernels say, in order. Errors are 10000 and more, those of cudaGetLastError() 20000 and more. */
struct Log {
    int n, v[1024];
};
static Log *L;

__device__ void put(Log *l, int v)
{
    int at = atomicAdd(&l->n, 1);
    if (at < 1024)
        l->v[at] = v;
    __threadfence();
}

__device__ void spin(long long cycles)
{
    for (long long t = clock64(); clock64() - t < cycles;)
        ;
}

__global__ void say(Log *l, int v, long long cycles)
{
    spin(cycles);
    put(l, v);
}

/* Graphs to be launched, into streams, some several times. */
struct Plan {
    int n;
    cudaGraphExec_t x[4];
    unsigned long long stream[4];
    int again[4];
};
static const unsigned long long TAIL = 0x0100000000000000, FIRE = 0x0200000000000000, SIBLING = 0x0300000000000000;

__global__ void launcher(Log *l, Plan p, int v, long long cycles)
{
    put(l, v);
    for (int i = 0; i < p.n; i++)
        for (int k = 0; k <= p.again[i]; k++)
            if (cudaError_t e = cudaGraphLaunch(p.x[i], (cudaStream_t)p.stream[i]))
                put(l, 10000 + e);
    spin(cycles);
    put(l, v + 1);
}

/* Launches its own graph until nothing is left. */
__global__ void again(Log *l, int *left, int twice)
{
    put(l, 100 + *left);
    if (--*left <= 0)
        return;
    for (int i = 0; i <= twice; i++)
        put(l, 10000 + cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch));
}

__global__ void fires_itself(Log *l)
{
    put(l, 10000 + cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphFireAndForget));
    put(l, 10000 + cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphFireAndForgetAsSibling));
}

__global__ void last_errors(Log *l)
{
    put(l, 10000 + cudaGraphLaunch(nullptr, cudaStreamGraphFireAndForget));
    put(l, 20000 + cudaPeekAtLastError());
    put(l, 20000 + cudaGetLastError());
}

__global__ void current(Log *l)
{
    put(l, cudaGetCurrentGraphExec() != 0);
}

__global__ void many(Log *l, cudaGraphExec_t *x, int n, unsigned long long stream)
{
    int failed = 0;
    for (int i = 0; i < n; i++)
        failed += cudaGraphLaunch(x[i], (cudaStream_t)stream) != cudaSuccess;
    put(l, -failed);
}

__global__ void publish(int *p, Log *l, cudaGraphExec_t x, unsigned long long stream)
{
    for (int i = 0; i < 64; i++)
        p[i] = i;
    if (cudaError_t e = cudaGraphLaunch(x, (cudaStream_t)stream))
        put(l, 10000 + e);
}

__global__ void sum(int *p, Log *l)
{
    int s = 0;
    for (int i = 0; i < 64; i++)
        s += p[i];
    put(l, s);
}

__global__ void crash(int *p)
{
    *p = 1;
}

__global__ void child(Log *l)
{
    put(l, 7);
}

__global__ void parent(Log *l)
{
    child<<<1, 1>>>(l);
}

__global__ void parent_and_launcher(Log *l, cudaGraphExec_t x)
{
    child<<<1, 1>>>(l);
    put(l, 10000 + cudaGetLastError());
    put(l, 10000 + cudaGraphLaunch(x, cudaStreamGraphFireAndForget));
}

static void fresh()
{
    CU(cudaMallocManaged(&L, sizeof *L));
    memset(L, 0, sizeof *L);
}

static void show(const char *name)
{
    cudaError_t e = cudaDeviceSynchronize();
    std::string s;
    for (int i = 0; i < L->n && i < 1024; i++)
        s += (i ? "," : "") + std::to_string(L->v[i]);
    printf("  %s %d [%s]\n", name, (int)e, s.c_str());
    L->n = 0;
}

static cudaGraph_t graph()
{
    cudaGraph_t g;
    CU(cudaGraphCreate(&g, 0));
    return g;
}

template <class... A>
static cudaGraphNode_t kernel(cudaGraph_t g, void *f, std::vector<cudaGraphNode_t> after, A... a)
{
    cudaKernelNodeParams p = {};
    void *args[] = {&a...};
    p.func = f;
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = args;
    cudaGraphNode_t n = nullptr;
    CU(cudaGraphAddKernelNode(&n, g, after.data(), after.size(), &p));
    return n;
}

static cudaGraphExec_t device_exec(cudaGraph_t g, bool upload = true)
{
    cudaGraphExec_t x = nullptr;
    CU(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch));
    if (upload && x)
        CU(cudaGraphUpload(x, 0));
    CU(cudaDeviceSynchronize());
    return x;
}

static cudaGraphExec_t host_exec(cudaGraph_t g)
{
    cudaGraphExec_t x = nullptr;
    CU(cudaGraphInstantiate(&x, g, 0));
    return x;
}

static cudaGraphExec_t sayer(int v, long long cycles = 0, bool upload = true)
{
    cudaGraph_t g = graph();
    kernel(g, (void *)say, {}, L, v, cycles);
    return device_exec(g, upload);
}

/* A graph of a launcher, and of one that says `then`. */
static cudaGraphExec_t launching(Plan p, int v, bool device = true, long long cycles = 0, int then = 0)
{
    cudaGraph_t g = graph();
    cudaGraphNode_t n = kernel(g, (void *)launcher, {}, L, p, v, cycles);
    if (then)
        kernel(g, (void *)say, {n}, L, then, 0ll);
    return device ? device_exec(g) : host_exec(g);
}

static void go(cudaGraphExec_t x)
{
    CU(cudaGraphLaunch(x, 0));
}

static const long long MS = 1500000;

CASE(fire)
{
    fresh();
    auto a = sayer(1, 20 * MS);
    go(launching({1, {a}, {FIRE}}, 50, true, 0, 60));
    show("waits");
    go(launching({1, {a}, {FIRE}}, 50, false, 0, 60));
    show("from_host_exec");
}

CASE(tail)
{
    fresh();
    auto a = sayer(1, 20 * MS), b = sayer(2), c = sayer(3);
    go(launching({3, {a, b, c}, {FIRE, TAIL, TAIL}}, 50, true, 0, 60));
    show("order");
    go(launching({3, {b, c, a}, {TAIL, TAIL, FIRE}}, 50, true, 0, 60));
    show("order2");
    auto in = launching({2, {a, b}, {FIRE, TAIL}}, 70, true, 0, 80);
    go(launching({2, {in, c}, {TAIL, TAIL}}, 50, true, 0, 60));
    show("tail_of_tail");
}

CASE(self)
{
    fresh();
    int *left;
    CU(cudaMallocManaged(&left, 4));
    cudaGraph_t g = graph();
    kernel(g, (void *)again, {}, L, left, 0);
    auto x = device_exec(g);
    *left = 4;
    go(x);
    show("loop");
    *left = 4;
    g = graph();
    kernel(g, (void *)again, {}, L, left, 1);
    go(device_exec(g));
    show("twice");
    g = graph();
    kernel(g, (void *)fires_itself, {}, L);
    go(device_exec(g));
    show("fire_self");
    *left = 3;
    g = graph();
    kernel(g, (void *)again, {}, L, left, 0);
    go(host_exec(g));
    show("self_of_host_exec");
    *left = 3;
    go(x);
    say<<<1, 1>>>(L, 9, 0);
    show("stream_after");
}

CASE(current_exec)
{
    fresh();
    cudaGraph_t g = graph(), h = graph();
    kernel(g, (void *)current, {}, L);
    go(device_exec(g));
    show("device_exec");
    go(host_exec(g));
    show("host_exec");
    current<<<1, 1>>>(L);
    show("kernel");
    go(launching({1, {device_exec(g)}, {FIRE}}, 50, true, 20 * MS));
    show("launched");
    cudaGraphNode_t c;
    CU(cudaGraphAddChildGraphNode(&c, h, nullptr, 0, g));
    go(device_exec(h));
    show("in_child");
}

CASE(busy)
{
    fresh();
    auto a = sayer(1, 20 * MS);
    go(launching({1, {a}, {FIRE}, {1}}, 50));
    show("twice_fire");
    go(launching({1, {a}, {TAIL}, {1}}, 50));
    show("twice_tail");
    go(launching({2, {a, a}, {FIRE, TAIL}}, 50));
    show("fire_and_tail");
    go(launching({1, {a}, {FIRE}}, 50));
    show("later");
    go(launching({1, {a}, {SIBLING}, {1}}, 50));
    show("twice_sibling");
}

CASE(no_graph)
{
    fresh();
    go(launching({1, {nullptr}, {FIRE}}, 50));
    show("null");
    go(launching({1, {(cudaGraphExec_t)L}, {FIRE}}, 50));
    show("garbage");
}

CASE(uploads)
{
    fresh();
    auto n = sayer(1, 0, false);
    go(n);
    show("host_launch");
    go(launching({1, {n}, {TAIL}}, 50));
    show("then_from_device");
    cudaGraph_t g = graph();
    auto node = kernel(g, (void *)say, {}, L, 2, 0ll);
    cudaGraphExec_t x = nullptr;
    cudaGraphInstantiateParams ip = {};
    ip.flags = cudaGraphInstantiateFlagDeviceLaunch | cudaGraphInstantiateFlagUpload;
    CU(cudaGraphInstantiateWithParams(&x, g, &ip));
    CU(cudaDeviceSynchronize());
    go(launching({1, {x}, {TAIL}}, 50));
    show("flag_upload");
    int v = 3;
    long long z = 0;
    void *args[] = {&L, &v, &z};
    cudaKernelNodeParams p = {};
    p.func = (void *)say;
    p.gridDim = p.blockDim = dim3(1);
    p.kernelParams = args;
    CU(cudaGraphExecKernelNodeSetParams(x, node, &p));
    auto l = launching({1, {x}, {TAIL}}, 50);
    auto upload_and_go = [&](bool upload, const char *name) {
        if (upload)
            CU(cudaGraphUpload(x, 0));
        CU(cudaDeviceSynchronize());
        go(l);
        show(name);
    };
    upload_and_go(false, "set_not_uploaded");
    upload_and_go(true, "set_uploaded");
    cudaGraph_t g2 = graph();
    kernel(g2, (void *)say, {}, L, 4, 0ll);
    cudaGraphExecUpdateResultInfo info;
    CU(cudaGraphExecUpdate(x, g2, &info));
    upload_and_go(false, "updated_not_uploaded");
    upload_and_go(true, "updated_uploaded");
    CU(cudaGraphNodeSetEnabled(x, node, 0));
    upload_and_go(true, "disabled");
    unsigned long long f = 0;
    CU(cudaGraphExecGetFlags(x, &f));
    printf("  flags %llu\n", f);
    go(l);
    go(l);
    show("two_host_launches");
}

static void limit(int n, unsigned long long s, const char *name)
{
    cudaGraphExec_t *x;
    CU(cudaMallocManaged(&x, n * sizeof *x));
    for (int i = 0; i < n; i++)
        x[i] = sayer(1);
    cudaGraph_t g = graph();
    kernel(g, (void *)many, {}, L, x, n, s);
    go(device_exec(g));
    cudaError_t e = cudaDeviceSynchronize();
    int failed = 0;
    for (int i = 0; i < L->n && i < 1024; i++)
        failed = L->v[i] < 0 ? -L->v[i] : failed;
    printf("  %s %d: %d fail, %d run\n", name, (int)e, failed, L->n - 1);
    L->n = 0;
}

CASE(limits)
{
    fresh();
    limit(120, FIRE, "fire120");
    limit(130, FIRE, "fire130");
    limit(300, TAIL, "tail300");
    limit(300, SIBLING, "sibling300");
}

CASE(sibling)
{
    fresh();
    auto a = sayer(1, 60 * MS), b = sayer(2);
    go(launching({2, {a, b}, {SIBLING, TAIL}}, 50, true, 0, 60));
    say<<<1, 1>>>(L, 9, 0);
    show("order");
    go(launching({2, {a, b}, {FIRE, TAIL}}, 50, true, 0, 60));
    say<<<1, 1>>>(L, 9, 0);
    show("fire");
}

CASE(visible)
{
    fresh();
    int *p;
    CU(cudaMalloc(&p, 256));
    cudaGraph_t g = graph();
    kernel(g, (void *)sum, {}, p, L);
    auto x = device_exec(g);
    for (auto s : {FIRE, TAIL, SIBLING}) {
        CU(cudaMemset(p, 0, 256));
        cudaGraph_t h = graph();
        kernel(h, (void *)publish, {}, p, L, x, s);
        go(device_exec(h));
        show("sum");
    }
}

CASE(fault)
{
    fresh();
    cudaGraph_t g = graph();
    kernel(g, (void *)crash, {}, (int *)nullptr);
    auto a = device_exec(g);
    go(launching({1, {a}, {TAIL}}, 50));
    show("fault");
}

template <class F> static void instantiated(const char *name, F add)
{
    cudaGraph_t g = graph();
    add(g);
    cudaGraphExec_t x = nullptr;
    cudaGraphInstantiateParams ip = {};
    ip.flags = cudaGraphInstantiateFlagDeviceLaunch;
    cudaError_t e = cudaGraphInstantiateWithParams(&x, g, &ip);
    cudaGetLastError();
    printf("  %s %d result %d node %d\n", name, (int)e, (int)ip.result_out, ip.errNode_out != nullptr);
    if (!x)
        return;
    CU(cudaGraphUpload(x, 0));
    go(launching({1, {x}, {TAIL}}, 50));
    show("  ran");
}

CASE(nodes)
{
    fresh();
    static int *d, *d2, h[64], *pinned;
    cudaGraphNode_t n;
    CU(cudaMalloc(&d, 256));
    CU(cudaMalloc(&d2, 256));
    CU(cudaMallocHost(&pinned, 256));
    auto copy = [&](const char *name, void *to, const void *from, cudaMemcpyKind kind) {
        instantiated(name,
                     [&](cudaGraph_t g) { CU(cudaGraphAddMemcpyNode1D(&n, g, nullptr, 0, to, from, 256, kind)); });
    };
    instantiated("empty_graph", [](cudaGraph_t) {});
    instantiated("empty_node", [&](cudaGraph_t g) { CU(cudaGraphAddEmptyNode(&n, g, nullptr, 0)); });
    instantiated("empty_and_kernel", [&](cudaGraph_t g) {
        CU(cudaGraphAddEmptyNode(&n, g, nullptr, 0));
        kernel(g, (void *)say, {n}, L, 1, 0ll);
    });
    instantiated("host", [&](cudaGraph_t g) {
        cudaHostNodeParams p = {[](void *) {}, nullptr};
        CU(cudaGraphAddHostNode(&n, g, nullptr, 0, &p));
    });
    copy("copy_dd", d, d2, cudaMemcpyDeviceToDevice);
    copy("copy_pinned", d, pinned, cudaMemcpyHostToDevice);
    copy("copy_to_pinned", pinned, d, cudaMemcpyDeviceToHost);
    copy("copy_pageable", d, h, cudaMemcpyHostToDevice);
    copy("copy_managed", d, L, cudaMemcpyDefault);
    instantiated("copy_array", [&](cudaGraph_t g) {
        cudaArray_t a;
        auto f = cudaCreateChannelDesc<float>();
        CU(cudaMallocArray(&a, &f, 16, 16));
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(d, 16, 4, 4);
        p.dstArray = a;
        p.extent = make_cudaExtent(4, 4, 1);
        p.kind = cudaMemcpyDeviceToDevice;
        CU(cudaGraphAddMemcpyNode(&n, g, nullptr, 0, &p));
    });
    instantiated("set", [&](cudaGraph_t g) {
        cudaMemsetParams p = {};
        p.dst = d;
        p.elementSize = 4;
        p.width = 64;
        p.height = 1;
        CU(cudaGraphAddMemsetNode(&n, g, nullptr, 0, &p));
    });
    instantiated("child", [&](cudaGraph_t g) {
        cudaGraph_t c = graph();
        kernel(c, (void *)say, {}, L, 1, 0ll);
        CU(cudaGraphAddChildGraphNode(&n, g, nullptr, 0, c));
    });
    instantiated("event", [&](cudaGraph_t g) {
        cudaEvent_t e;
        CU(cudaEventCreate(&e));
        CU(cudaGraphAddEventRecordNode(&n, g, nullptr, 0, e));
    });
    instantiated("alloc", [&](cudaGraph_t g) {
        cudaMemAllocNodeParams m = {};
        m.poolProps.allocType = cudaMemAllocationTypePinned;
        m.poolProps.location.type = cudaMemLocationTypeDevice;
        m.bytesize = 4000;
        CU(cudaGraphAddMemAllocNode(&n, g, nullptr, 0, &m));
        cudaGraphNode_t f;
        CU(cudaGraphAddMemFreeNode(&f, g, &n, 1, m.dptr));
    });
    instantiated("parent", [&](cudaGraph_t g) { kernel(g, (void *)parent, {}, L); });
    instantiated("two_roots", [&](cudaGraph_t g) {
        kernel(g, (void *)say, {}, L, 1, 0ll);
        kernel(g, (void *)say, {}, L, 1, 0ll);
    });
}

CASE(flags)
{
    fresh();
    for (unsigned f : {4u, 5u, 6u, 7u, 8u, 12u, 15u, 16u}) {
        cudaGraph_t g = graph();
        kernel(g, (void *)say, {}, L, 1, 0ll);
        cudaGraphExec_t x = nullptr;
        int e = cudaGraphInstantiate(&x, g, f);
        cudaGetLastError();
        unsigned long long got = 99;
        if (x)
            CU(cudaGraphExecGetFlags(x, &got));
        printf("  instantiate %u: %d %llu\n", f, e, got);
    }
}

CASE(capture)
{
    fresh();
    auto a = sayer(1);
    cudaStream_t s;
    CU(cudaStreamCreate(&s));
    CU(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    launcher<<<1, 1, 0, s>>>(L, Plan{2, {a, a}, {TAIL, TAIL}}, 50, 0);
    launcher<<<1, 1, 0, s>>>(L, Plan{1, {a}, {FIRE}}, 60, 0);
    cudaGraph_t g;
    CU(cudaStreamEndCapture(s, &g));
    cudaGraphExec_t x;
    CU(cudaGraphInstantiate(&x, g, cudaGraphInstantiateFlagDeviceLaunch));
    CU(cudaGraphLaunch(x, s));
    show("two_launchers");
}

__global__ void deep(Log *l, cudaGraphExec_t x)
{
    put(l, 30);
    put(l, 10000 + cudaGraphLaunch(x, cudaStreamGraphFireAndForget));
}

__global__ void parent_of_launcher(Log *l, cudaGraphExec_t x)
{
    put(l, 31);
    deep<<<1, 1>>>(l, x);
}

CASE(outside)
{
    fresh();
    Plan p{1, {sayer(1)}, {FIRE}};
    launcher<<<1, 1>>>(L, p, 50, 0);
    printf("  launch %d\n", (int)cudaGetLastError());
    show("ran");
}

CASE(child_of_a_graphs_kernel)
{
    fresh();
    cudaGraph_t g = graph();
    kernel(g, (void *)parent_of_launcher, {}, L, sayer(1));
    go(host_exec(g));
    show("ran");
}

CASE(not_for_kernels)
{
    fresh();
    cudaGraph_t g = graph();
    kernel(g, (void *)say, {}, L, 1, 0ll);
    go(launching({1, {host_exec(g)}, {FIRE}}, 50));
    show("ran");
}

CASE(wrong)
{
    fresh();
    auto a = sayer(1);
    go(launching({1, {sayer(1, 0, false)}, {FIRE}}, 50));
    show("not_uploaded");
    for (unsigned long long s : {0ull, 1ull, 2ull, 3ull, 4ull, 0x0400000000000000ull, 0x0200000000000001ull}) {
        go(launching({1, {a}, {s}}, 50));
        show("stream");
    }
    cudaGraph_t g = graph();
    kernel(g, (void *)last_errors, {}, L);
    go(host_exec(g));
    show("last_errors");
}

CASE(relaunched)
{
    fresh();
    int *left;
    CU(cudaMallocManaged(&left, 4));
    cudaGraph_t g = graph();
    kernel(g, (void *)again, {}, L, left, 0);
    auto x = device_exec(g), b = sayer(2);
    *left = 3;
    go(launching({1, {x}, {TAIL}}, 50));
    show("loop");
    *left = 3;
    go(launching({2, {x, b}, {TAIL, TAIL}}, 50));
    show("before_the_rest");
    *left = 200;
    go(x);
    cudaDeviceSynchronize();
    printf("  long %d\n", L->n);
}

int main(int argc, char **argv)
{
    for (auto &c : cases)
        for (int i = 1; i < argc; i++)
            if (!strcmp(argv[i], c.first)) {
                puts(c.first);
                c.second();
            }
}

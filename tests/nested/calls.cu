/* What kernels that launch kernels are answered: each case prints a line, which an H200 printed, too (h200.txt; CUDA 13.0). nvcc -std=c++17 -arch=sm_90 -rdc=true calls.cu -lcudadevrt */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <string>
#include <cuda_runtime.h>
#define CASE(n) static void case_##n()
static int *dv; /* managed ints */
__device__ volatile int flag;
#define P(...) printf(__VA_ARGS__)
static void reset() { cudaGetLastError(); cudaMemset(dv, 0, 4 << 20); int z = 0; cudaMemcpyToSymbol(flag, &z, 4); cudaDeviceSynchronize(); }
static std::vector<int> get(size_t n) { std::vector<int> v(n); cudaError_t e = cudaDeviceSynchronize(); P(" sync=%d", e); e = cudaMemcpy(v.data(), dv, n * 4, cudaMemcpyDeviceToHost); if (e) P(" copy=%d", e); return v; }
static void show(std::vector<int> v, size_t a, size_t b) { for (size_t i = a; i < b; i++) P(" %d", v[i]); }

/* depth: kind 0 NULL, 1 FAF, 2 tail, 3 named, 4 per-thread */
__global__ void deep(int d, int most, int kind, int *o) {
  o[d] = 100; if (d + 1 >= most) return;
  cudaStream_t s = 0; if (kind == 1) s = cudaStreamFireAndForget; if (kind == 2) s = cudaStreamTailLaunch; if (kind == 4) s = cudaStreamPerThread;
  if (kind == 3) o[200 + d] = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  deep<<<1, 1, 0, s>>>(d + 1, most, kind, o); o[100 + d] = cudaGetLastError();
}
CASE(depth) { for (int k = 0; k < 5; k++) { reset(); deep<<<1,1>>>(0, 40, k, dv); P("depth kind %d:", k); auto v = get(300); P(" ran:"); show(v, 0, 40); P(" err:"); show(v, 100, 140); P("\n"); } }

__global__ void spin(int *n) { while (!flag) ; atomicAdd(n, 1); }
__global__ void one(int *n) { atomicAdd(n, 1); }
__global__ void pend(int n, int kind, int *o) {
  int ok = 0, first = -1, err = 0, last = 0; cudaStream_t s = 0; if (kind == 1) s = cudaStreamFireAndForget; if (kind == 2) s = cudaStreamTailLaunch;
  if (kind == 3) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  if (kind != 2 && kind != 4) spin<<<1, 1, 0, s>>>(o + 10); 
  for (int i = 0; i < n; i++) { if (kind == 1) spin<<<1, 1, 0, s>>>(o + 10); else one<<<1, 1, 0, s>>>(o + 11); cudaError_t e = cudaGetLastError(); if (!e) ok++; else { if (first < 0) first = i, err = e; last = e; } }
  o[0] = ok; o[1] = first; o[2] = err; o[3] = last; __threadfence(); flag = 1;
}
CASE(pending) {
  size_t lims[] = {0, 16, 100, 2048, 4096, 32768}; 
  for (int l = 0; l < 6; l++) { if (lims[l]) P("set %zu: %d ", lims[l], cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, lims[l])); size_t g = 0; int e = cudaDeviceGetLimit(&g, cudaLimitDevRuntimePendingLaunchCount); P("get %d %zu\n", e, g);
    for (int k = 0; k < 5; k++) { reset(); pend<<<1,1>>>(k == 2 ? 600 : 6000, k, dv); P("pending kind %d:", k); auto v = get(16); show(v, 0, 16); P("\n"); } }
  cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048);
  size_t g; for (int i = 0; i < 12; i++) { g = 77; int e = cudaDeviceGetLimit(&g, (cudaLimit)i); P("host limit %d: %d %zu\n", i, e, g); }
  P("set sync depth: %d\n", cudaDeviceSetLimit(cudaLimitDevRuntimeSyncDepth, 4)); cudaGetLastError();
}
__global__ void many(int n, int *o) { int ok = 0; for (int i = 0; i < n; i++) { one<<<1,1,0,cudaStreamFireAndForget>>>(o + 11); if (!cudaGetLastError()) ok++; } o[0] = ok; }
CASE(many) { for (int k = 0; k < 3; k++) { reset(); cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a); many<<<1,1>>>(10000, dv); cudaEventRecord(b); auto v = get(16); float ms; cudaEventElapsedTime(&ms, a, b); P("many: ok %d ran %d ms %.3f\n", v[0], v[11], ms); } }

__global__ void kid(int *n) { extern __shared__ int sh[]; sh[0] = 1; atomicAdd(n, sh[0]); }
__global__ void kid0(int *n) { atomicAdd(n, 1); }
__global__ void __launch_bounds__(64) kid64(int *n) { atomicAdd(n, 1); }
__device__ void plain(int *n) { atomicAdd(n, 1); }
typedef void (*kfn)(int *);
__device__ kfn volatile forged;
#define R(x) do { x; o[k++] = cudaGetLastError(); } while (0)
__global__ void bad(int *o) { int k = 0; int *n = o + 200;
  R((kid0<<<0, 1>>>(n))); R((kid0<<<1, 0>>>(n))); R((kid0<<<1, 2048>>>(n))); R((kid0<<<dim3(1, 70000), 1>>>(n))); R((kid0<<<dim3(1, 1, 70000), 1>>>(n))); R((kid0<<<dim3(0x80000000u), 1>>>(n)));
  R((kid0<<<1, dim3(1, 1, 65)>>>(n))); R((kid0<<<1, dim3(1025, 1, 1)>>>(n))); R((kid<<<1, 1, 49152>>>(n))); R((kid<<<1, 1, 49153>>>(n))); R((kid<<<1, 1, 100000>>>(n))); R((kid<<<1, 1, 232448>>>(n))); R((kid<<<1, 1, 232449>>>(n))); R((kid<<<1, 1, 300000>>>(n)));
  R((kid64<<<1, 64>>>(n))); R((kid64<<<1, 65>>>(n))); R((kid64<<<1, 128>>>(n)));
  o[100] = k; }
__global__ void badstream(int *o, int which) { int *n = o + 200; cudaStream_t s = (cudaStream_t)1; if (which == 1) s = (cudaStream_t)2; if (which == 2) s = (cudaStream_t)5; if (which == 3) s = (cudaStream_t)0x12345; if (which == 4) s = (cudaStream_t)o; if (which == 5) s = (cudaStream_t)-1;
  if (which == 6) { cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); cudaStreamDestroy(s); }
  kid0<<<1, 1, 0, s>>>(n); o[0] = cudaGetLastError(); }
__global__ void badfun(int *o, int which) { int *n = o + 200; kfn f = 0; if (which == 1) f = (kfn)0x1234; if (which == 2) f = (kfn)o; if (which == 3) f = plain; if (which == 4) f = (kfn)(void *)kid0; if (which == 5) f = (kfn)((char *)kid0 + 8);
  void *b = cudaGetParameterBufferV2((void *)f, dim3(1), dim3(1), 0); o[1] = b != 0; o[2] = cudaGetLastError(); if (b) { *(int **)b = n; o[0] = cudaLaunchDeviceV2(b, 0); o[3] = cudaGetLastError(); } }
__global__ void badbuf(int *o, int which) { int *n = o + 200; void *b = cudaGetParameterBufferV2((void *)kid0, dim3(1), dim3(1), 0); *(int **)b = n;
  if (which == 0) o[0] = cudaLaunchDeviceV2(0, 0); if (which == 1) o[0] = cudaLaunchDeviceV2(o + 300, 0); if (which == 2) { o[0] = cudaLaunchDeviceV2(b, 0); o[1] = cudaLaunchDeviceV2(b, 0); }
  if (which == 3) { void *c = cudaGetParameterBuffer(64, 8); o[5] = c != 0; if (c) { *(int **)c = n; o[0] = cudaLaunchDevice((void *)kid0, c, dim3(2), dim3(3), 0, 0); } }
  o[3] = cudaGetLastError(); }
__global__ void errs(int *o) { if (threadIdx.x == 1) kid0<<<0, 1>>>(o + 200); __syncthreads(); o[threadIdx.x] = cudaPeekAtLastError(); kid0<<<1, 1>>>(o + 200); o[64 + threadIdx.x] = cudaPeekAtLastError(); o[128 + threadIdx.x] = cudaGetLastError(); }
__global__ void names(char *o) { const char *s; int e[] = {0, 1, 2, 9, 65, 68, 69, 98, 200, 209, 400, 600, 700, 719, 801, 999, 12345}; int k = 0; for (int i = 0; i < 17; i++) { for (s = cudaGetErrorName((cudaError_t)e[i]); *s; s++) o[k++] = *s; o[k++] = '|'; for (s = cudaGetErrorString((cudaError_t)e[i]); *s; s++) o[k++] = *s; o[k++] = '\n'; } o[k] = 0; }
__global__ void streams(int *o) { int k = 0; cudaStream_t s, t; cudaEvent_t e;
  for (int f = 0; f < 5; f++) o[k++] = cudaStreamCreateWithFlags(&s, f); o[k++] = cudaStreamDestroy(s); o[k++] = cudaStreamDestroy(s); o[k++] = cudaStreamDestroy(0); o[k++] = cudaStreamDestroy(cudaStreamFireAndForget); o[k++] = cudaStreamDestroy(cudaStreamTailLaunch);
  for (int f = 0; f < 10; f++) o[k++] = cudaEventCreateWithFlags(&e, f); cudaEventCreateWithFlags(&e, 2); o[k++] = cudaEventDestroy(e); o[k++] = cudaEventDestroy(e); o[k++] = cudaEventDestroy(0);
  cudaEventCreateWithFlags(&e, 2); cudaStreamCreateWithFlags(&t, 1);
  o[k++] = cudaEventRecord(e, t); o[k++] = cudaStreamWaitEvent(t, e, 0); o[k++] = cudaStreamWaitEvent(0, e, 0); o[k++] = cudaStreamWaitEvent(0, e, 1); o[k++] = cudaStreamWaitEvent(0, e, 7); o[k++] = cudaEventRecord(e, 0); o[k++] = cudaEventRecord(e, cudaStreamFireAndForget); o[k++] = cudaEventRecord(e, cudaStreamTailLaunch); o[k++] = cudaStreamWaitEvent(cudaStreamFireAndForget, e, 0); o[k++] = cudaStreamWaitEvent(cudaStreamTailLaunch, e, 0); o[k++] = cudaEventRecord(0, 0); o[k++] = cudaStreamWaitEvent(0, 0, 0);
  o[k++] = cudaStreamCreateWithFlags(0, 1); o[k++] = cudaEventCreateWithFlags(0, 2); o[k++] = cudaGetLastError(); o[k++] = cudaGetLastError(); o[200] = k; }
__global__ void mems(int *o, char *m) { int k = 0; void *p = 0, *q = 0;
  o[k++] = cudaMalloc(&p, 0); o[k++] = p != 0; o[k++] = cudaMalloc(&p, (size_t)1 << 40); o[k++] = p != 0; o[k++] = cudaGetLastError(); o[k++] = cudaFree(0); o[k++] = cudaMalloc(&p, 1000); o[k++] = (size_t)p % 256; o[k++] = (size_t)p % 16; q = malloc(1000); o[k++] = q != 0; o[k++] = cudaFree(q); free(p);
  for (int kind = 0; kind < 6; kind++) o[k++] = cudaMemcpyAsync(m + 64 * kind, m, 16, (cudaMemcpyKind)kind, 0); o[k++] = cudaGetLastError();
  o[k++] = cudaMemcpyAsync(m, m + 64, 0, cudaMemcpyDeviceToDevice, 0); o[k++] = cudaMemcpyAsync(m, m + 64, 4, cudaMemcpyDeviceToDevice, cudaStreamFireAndForget); o[k++] = cudaMemcpyAsync(m, m + 64, 4, cudaMemcpyDeviceToDevice, cudaStreamTailLaunch); o[k++] = cudaMemsetAsync(m + 900, 3, 5, cudaStreamFireAndForget); o[k++] = cudaMemsetAsync(m + 910, 4, 5, cudaStreamTailLaunch); o[k++] = cudaMemsetAsync(m, 1, 0, 0); o[k++] = cudaMemsetAsync(0, 1, 0, 0);
  o[k++] = cudaMemcpy2DAsync(m + 1024, 32, m, 16, 8, 4, cudaMemcpyDeviceToDevice, 0); o[k++] = cudaMemcpy2DAsync(m + 1024, 4, m, 16, 8, 4, cudaMemcpyDeviceToDevice, 0); o[k++] = cudaMemset2DAsync(m + 2048, 4, 1, 8, 3, 0); o[k++] = cudaMemset2DAsync(m + 2048, 16, 1, 0, 3, 0);
  cudaPitchedPtr pp; pp.ptr = m + 3000; pp.pitch = 16; pp.xsize = 16; pp.ysize = 4; cudaExtent ex; ex.width = 5; ex.height = 3; ex.depth = 2; o[k++] = cudaMemset3DAsync(pp, 0x11, ex, 0); ex.width = 17; o[k++] = cudaMemset3DAsync(pp, 0x12, ex, 0);
  cudaMemcpy3DParms c; memset(&c, 0, sizeof c); c.srcPtr = pp; c.dstPtr = pp; c.dstPtr.ptr = m + 3500; c.extent.width = 5; c.extent.height = 3; c.extent.depth = 2; c.kind = cudaMemcpyDeviceToDevice; c.srcPos.x = 1; c.dstPos.y = 1; o[k++] = cudaMemcpy3DAsync(&c, 0); o[k++] = cudaGetLastError(); int v = 0; o[k++] = cudaRuntimeGetVersion(&v); o[k++] = v; cudaSharedMemConfig sc; o[k++] = cudaDeviceGetSharedMemConfig(&sc); o[k++] = sc; cudaFuncCache fc; o[k++] = cudaDeviceGetCacheConfig(&fc); o[k++] = fc; o[200] = k; }
__global__ void heap(int *o, void **ps) { int k = 0; for (int i = 0; i < 20; i++) { o[k++] = cudaMalloc(&ps[i], 1 << 20); } o[200] = k; }
__global__ void freeit(int *o, void *p) { o[0] = cudaFree(p); o[1] = cudaGetLastError(); }
__global__ void attrs(int *o) { for (int i = 0; i < 160; i++) { o[2 * i] = -77; o[2 * i + 1] = cudaDeviceGetAttribute(o + 2 * i, (cudaDeviceAttr)i, 0); } int v = -7; o[400] = cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 1); o[401] = cudaDeviceGetAttribute(0, cudaDevAttrWarpSize, 0); o[402] = cudaGetLastError(); size_t l; for (int i = 0; i < 12; i++) { l = 77; o[410 + 2 * i] = cudaDeviceGetLimit(&l, (cudaLimit)i); o[411 + 2 * i] = (int)l; } o[450] = cudaDeviceGetLimit(0, cudaLimitStackSize); o[451] = cudaGetDevice(0); o[452] = cudaGetDeviceCount(0); }
__global__ void fattr(int *o) { cudaFuncAttributes a; memset(&a, 0x55, sizeof a); o[0] = cudaFuncGetAttributes(&a, (const void *)kid64); memcpy(o + 1, &a, sizeof a); o[100] = cudaFuncGetAttributes(&a, 0); o[101] = cudaFuncGetAttributes(&a, (const void *)plain); o[102] = cudaGetLastError(); int n = -1, k = 110; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid64, 64, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid64, 65, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid64, 0, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid, 32, 100000); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid, 32, 300000); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(0, (const void *)kid, 32, 0); o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, 0, 32, 0); o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, (const void *)kid, 1024, 0, 1); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, (const void *)kid, 1024, 0, 5); o[k++] = n; }
__global__ void usestream(int *o, cudaStream_t s, cudaEvent_t e) { kid0<<<1, 1, 0, s>>>(o + 200); o[0] = cudaGetLastError(); o[1] = cudaEventRecord(e, 0); o[2] = cudaStreamWaitEvent(0, e, 0); o[3] = cudaStreamDestroy(s); o[4] = cudaEventDestroy(e); }
__global__ void passes(int *o) { cudaStream_t s; cudaEvent_t e; cudaStreamCreateWithFlags(&s, 1); cudaEventCreateWithFlags(&e, 2); usestream<<<1, 1>>>(o, s, e); }
__global__ void handle(long long *o) { cudaStream_t s, t; cudaEvent_t e; cudaStreamCreateWithFlags(&s, 1); cudaStreamCreateWithFlags(&t, 1); cudaEventCreateWithFlags(&e, 2); o[0] = (long long)s; o[1] = (long long)t; o[2] = (long long)e; o[3] = (long long)(void *)kid0; o[4] = (long long)(void *)kid; o[5] = (long long)cudaGetParameterBufferV2((void *)kid0, dim3(1), dim3(1), 0); o[6] = (long long)cudaGetParameterBufferV2((void *)kid0, dim3(1), dim3(1), 0); }
__device__ cudaStream_t shared_s;
__global__ void other(int *o) { if (blockIdx.x == 0) { cudaStreamCreateWithFlags(&shared_s, 1); __threadfence(); flag = 1; } else { while (!flag); __threadfence(); } kid0<<<1, 1, 0, shared_s>>>(o + 200); o[blockIdx.x] = cudaGetLastError(); }
__global__ void fault(int *p, int kind) { if (kind == 0) *p = 1; if (kind == 1) __trap(); }
__global__ void pfault(int *o, int kind) { if (kind == 0) fault<<<1, 1>>>((int *)8, 0); if (kind == 1) fault<<<1, 1>>>(o, 1); if (kind == 2) { int l = 5; fault<<<1, 1>>>(&l, 0); } if (kind == 3) { __shared__ int s; fault<<<1, 1>>>(&s, 0); } o[0] = cudaGetLastError(); kid0<<<1, 1>>>(o + 200); o[1] = cudaGetLastError(); }
__global__ void cap(int *o) { kid0<<<1, 1>>>(o + 200); kid0<<<1, 1, 0, cudaStreamTailLaunch>>>(o + 201); o[0] = cudaGetLastError(); }
__global__ void pf(int a, int b) { printf("%d.%d ", a, b); }
__global__ void prints(int *o) { pf<<<1, 1, 0, cudaStreamTailLaunch>>>(9, 0); printf("parent "); pf<<<1, 2>>>(1, 0); pf<<<1, 1>>>(2, 0); }
#define ONE(call, n, a, b) do { reset(); P("%s:", #call); call; P(" launch=%d", cudaGetLastError()); auto v = get(n); show(v, a, b); P(" ran=%d\n", v.size() > 200 ? v[200] : -1); fflush(stdout); } while (0)
int main(int argc, char **argv) {
  std::string c = argv[1]; cudaMalloc(&dv, 4 << 20); char *m; cudaMalloc(&m, 1 << 20); cudaMemset(m, 7, 1 << 20);
  if (c == "depth") case_depth(); if (c == "pending") case_pending(); if (c == "many") case_many();
  if (c == "bad") ONE((bad<<<1, 1>>>(dv)), 256, 0, 20);
  if (c == "stream") { int w = atoi(argv[2]); P("%d ", w); ONE((badstream<<<1, 1>>>(dv, w)), 256, 0, 2); }
  if (c == "fun") { int w = atoi(argv[2]); P("%d ", w); ONE((badfun<<<1, 1>>>(dv, w)), 256, 0, 4); }
  if (c == "buf") { int w = atoi(argv[2]); P("%d ", w); ONE((badbuf<<<1, 1>>>(dv, w)), 256, 0, 6); }
  if (c == "errs") { ONE((errs<<<1, 4>>>(dv)), 256, 0, 4); ONE((errs<<<1, 4>>>(dv)), 256, 64, 68); ONE((errs<<<1, 4>>>(dv)), 256, 128, 132); }
  if (c == "names") { reset(); names<<<1, 1>>>((char *)dv); auto v = get(8192); P("\n%s\n", (char *)v.data()); }
  if (c == "streams") ONE((streams<<<1, 1>>>(dv)), 256, 0, 50);
  if (c == "mems") { ONE((mems<<<1, 1>>>(dv, m)), 256, 0, 50); std::vector<unsigned char> b(4096); cudaMemcpy(b.data(), m, 4096, cudaMemcpyDeviceToHost); for (int i = 0; i < 4096; i++) if (b[i] != 7) P("%d=%d ", i, b[i]); P("\n"); }
  if (c == "heap") { void **ps; cudaMalloc(&ps, 4096); ONE((heap<<<1, 1>>>(dv, ps)), 256, 0, 20); void *q[20]; cudaMemcpy(q, ps, sizeof q, cudaMemcpyDeviceToHost); P("host free of it: %d\n", cudaFree(q[0])); cudaGetLastError(); int x; P("host copy of it: %d\n", cudaMemcpy(&x, q[0], 4, cudaMemcpyDeviceToHost)); cudaGetLastError(); ONE((freeit<<<1, 1>>>(dv, q[1])), 256, 0, 2); ONE((freeit<<<1, 1>>>(dv, m)), 256, 0, 2); }
  if (c == "attrs") { ONE((attrs<<<1, 1>>>(dv)), 512, 0, 320); auto v = get(512); P("\n"); show(v, 400, 460); P("\nhost:"); for (int i = 0; i < 160; i++) { int x = -77; int e = cudaDeviceGetAttribute(&x, (cudaDeviceAttr)i, 0); P(" %d %d", x, e); } P("\n"); }
  if (c == "fattr") { ONE((fattr<<<1, 1>>>(dv)), 256, 0, 60); auto v = get(256); show(v, 100, 140); cudaFuncAttributes a; memset(&a, 0x55, sizeof a); P("\nhost %d:", cudaFuncGetAttributes(&a, (const void *)kid64)); for (size_t i = 0; i < sizeof a / 4; i++) P(" %d", ((int *)&a)[i]); P("\n"); }
  if (c == "passes") ONE((passes<<<1, 1>>>(dv)), 256, 0, 6);
  if (c == "handle") { reset(); handle<<<1, 1>>>((long long *)dv); auto v = get(64); for (int i = 0; i < 7; i++) P(" %llx", ((long long *)v.data())[i]); P("\n"); }
  if (c == "other") ONE((other<<<4, 1>>>(dv)), 256, 0, 4);
  if (c == "fault") { int w = atoi(argv[2]); P("%d ", w); ONE((pfault<<<1, 1>>>(dv, w)), 256, 0, 2); P("last %d\n", cudaGetLastError()); }
  if (c == "cap") { reset(); cudaStream_t s; cudaStreamCreate(&s); cudaGraph_t g; cudaGraphExec_t x; P("begin %d", cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); cap<<<1, 1, 0, s>>>(dv); P(" end %d", cudaStreamEndCapture(s, &g)); P(" inst %d", cudaGraphInstantiate(&x, g, 0)); P(" launch %d", cudaGraphLaunch(x, s)); auto v = get(256); show(v, 0, 1); show(v, 200, 202); P("\n"); }
  if (c == "prints") { reset(); prints<<<1, 1>>>(dv); get(1); P("\n"); }
  if (c == "big") { cudaFuncSetAttribute(kid, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000); ONE((bad<<<1, 1>>>(dv)), 256, 0, 20); }
  return 0;
}

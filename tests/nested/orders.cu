/* Depth, attributes, memory and the order of kernels that kernels launch, as in calls.cu. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <string>
#include <cuda_runtime.h>
#define P(...) printf(__VA_ARGS__)
static int *dv; __device__ volatile int flag;
static void reset() { cudaGetLastError(); cudaMemset(dv, 0, 4 << 20); int z = 0; cudaMemcpyToSymbol(flag, &z, 4); cudaDeviceSynchronize(); }
static std::vector<int> get(size_t n) { std::vector<int> v(n); cudaError_t e = cudaDeviceSynchronize(); P(" sync=%d", e); e = cudaMemcpy(v.data(), dv, n * 4, cudaMemcpyDeviceToHost); if (e) P(" copy=%d", e); return v; }
static void show(std::vector<int> v, size_t a, size_t b) { for (size_t i = a; i < b; i++) P(" %d", v[i]); }
__global__ void deep(int d, int most, int kind, int *o) {
  atomicAdd(o, 1); if (d + 1 >= most) return;
  cudaStream_t s = 0; if (kind == 1) s = cudaStreamFireAndForget; if (kind == 2) s = cudaStreamTailLaunch;
  if (kind == 3) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  deep<<<1, 1, 0, s>>>(d + 1, most, kind, o); int e = cudaGetLastError(); if (e) o[2] = e, o[3] = d, atomicAdd(o + 4, 1);
}
/* the parent waits until the child is there */
__global__ void held(int d, int most, int *o) {
  atomicAdd(o, 1); ((volatile int *)o)[1000 + d] = 1; __threadfence(); if (d + 1 >= most) { flag = 1; return; }
  held<<<1, 1, 0, cudaStreamFireAndForget>>>(d + 1, most, o); int e = cudaGetLastError(); if (e) { o[2] = e, o[3] = d, atomicAdd(o + 4, 1); flag = 1; }
  long long t = clock64(); while (!flag && clock64() - t < 4000000000ll) ; if (!flag) { o[5] = d; flag = 1; }
}
__global__ void one(int *n) { atomicAdd(n, 1); }
__global__ void fan(int d, int *o) { atomicAdd(o, 1); if (d == 0) return; for (int i = 0; i < 2; i++) { fan<<<1, 1, 0, cudaStreamFireAndForget>>>(d - 1, o); int e = cudaGetLastError(); if (e) atomicAdd(o + 4, 1), o[2] = e; } }
__device__ int dv5 = 5; __constant__ int cst[10];
__global__ void __launch_bounds__(64) kid64(int *n) { atomicAdd(n, cst[n[0] & 3]); }
__global__ void kid(int *n) { extern __shared__ int sh[]; __shared__ int st[100]; st[threadIdx.x % 100] = n[1]; sh[0] = 1; __syncthreads(); atomicAdd(n, sh[0] + st[3]); }
__device__ void plain(int *n) { atomicAdd(n, 1); }
__global__ void fattr(int *o) { cudaFuncAttributes a; memset(&a, 0x55, sizeof a); o[0] = cudaFuncGetAttributes(&a, (const void *)kid64); memcpy(o + 1, &a, sizeof a); memset(&a, 0x55, sizeof a); o[50] = cudaFuncGetAttributes(&a, (const void *)kid); memcpy(o + 51, &a, sizeof a); }
__global__ void occ(int *o) { int n = -1, k = 0; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid64, 64, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid64, 65, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid64, 0, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid, 32, 100000); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid, 32, 300000); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, (const void *)kid, 1024, 0, 1); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, (const void *)kid, 1024, 0, 5); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid, 2000, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)kid, -1, 0); o[k++] = n; o[k++] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(0, (const void *)kid, 32, 0); o[k++] = cudaGetLastError(); o[200] = k; }
__global__ void occplain(int *o) { int n = -1; o[0] = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, (const void *)plain, 64, 0); o[1] = n; cudaFuncAttributes a; o[2] = cudaFuncGetAttributes(&a, (const void *)plain); }
__global__ void fnull(int *o) { o[0] = cudaFuncGetAttributes(0, (const void *)kid); }
__global__ void sets(char *m) { cudaMemsetAsync(m, 0x21, 64, 0); cudaMemsetAsync(m + 100, -3, 5, 0); cudaMemset2DAsync(m + 200, 16, 3, 4, 4, 0); cudaPitchedPtr pp; pp.ptr = m + 300; pp.pitch = 16; pp.xsize = 16; pp.ysize = 4; cudaExtent ex; ex.width = 5; ex.height = 3; ex.depth = 2; cudaMemset3DAsync(pp, 0x11, ex, 0); cudaMemsetAsync(m + 500, 9, 40, cudaStreamFireAndForget); cudaMemsetAsync(m + 600, 8, 40, cudaStreamTailLaunch); cudaStream_t s; cudaStreamCreateWithFlags(&s, 1); cudaMemsetAsync(m + 700, 6, 40, s); }
__global__ void copybad(int *o, int w) { if (w == 0) o[0] = cudaMemcpyAsync(0, o, 4, cudaMemcpyDeviceToDevice, 0); if (w == 1) o[0] = cudaMemcpyAsync(o, (void *)8, 4, cudaMemcpyDeviceToDevice, 0); if (w == 2) { int l = 77; o[0] = cudaMemcpyAsync(o + 10, &l, 4, cudaMemcpyDeviceToDevice, 0); } if (w == 3) { __shared__ int s; s = 78; o[0] = cudaMemcpyAsync(o + 10, &s, 4, cudaMemcpyDeviceToDevice, 0); } if (w == 4) o[0] = cudaMemsetAsync(0, 1, 4, 0); if (w == 5) o[0] = cudaMemcpyAsync(o + 10, o, (size_t)1 << 40, cudaMemcpyDeviceToDevice, 0); if (w == 6) o[0] = cudaMemcpyAsync(o + 10, o + 11, 40, cudaMemcpyDeviceToDevice, 0); if (w == 7) o[0] = cudaMemcpyAsync(o + 10, &dv5, 4, cudaMemcpyDeviceToDevice, 0); if (w == 8) o[0] = cudaMemcpyAsync(o + 10, cst, 4, cudaMemcpyDeviceToDevice, 0); o[1] = cudaGetLastError(); }
/* orders: a log of who ran when */
__device__ int where_; __device__ int logd[64];
__global__ void lg(int v) { logd[atomicAdd(&where_, 1)] = v; }
__global__ void tchild(int v) { logd[atomicAdd(&where_, 1)] = v; lg<<<1, 1, 0, cudaStreamTailLaunch>>>(v + 2); lg<<<1, 1>>>(v + 1); }
__global__ void order() { lg<<<1, 1, 0, cudaStreamTailLaunch>>>(90); tchild<<<1, 1, 0, cudaStreamTailLaunch>>>(100); lg<<<1, 1, 0, cudaStreamTailLaunch>>>(91); tchild<<<1, 1>>>(10); tchild<<<1, 1>>>(20); logd[atomicAdd(&where_, 1)] = 1; }
__global__ void blocks(int *o) { if (threadIdx.x == 0) { lg<<<1, 1>>>(blockIdx.x); } }
/* launches before exit by a trap, an assertion in a child */
#include <cassert>
__global__ void asrt(int v) { assert(v); }
__global__ void passert(int *o) { asrt<<<1, 1>>>(0); one<<<1, 1>>>(o); o[1] = cudaGetLastError(); }
__global__ void ptrap(int *o) { one<<<1, 1, 0, cudaStreamTailLaunch>>>(o); __trap(); }
__global__ void reuse(int *o) { int k = 0; cudaStream_t s; cudaEvent_t e; cudaStreamCreateWithFlags(&s, 1); cudaStreamDestroy(s); o[k++] = cudaEventCreateWithFlags(&e, 2); cudaEventDestroy(e); o[k++] = cudaEventRecord(e, 0); o[k++] = cudaStreamWaitEvent(0, e, 0); o[k++] = cudaEventRecord((cudaEvent_t)0x123456, 0); }
#define ONE(call, n, a, b) do { reset(); P("%s:", #call); call; P(" launch=%d", cudaGetLastError()); auto v = get(n); show(v, a, b); P("\n"); fflush(stdout); } while (0)
int main(int argc, char **argv) {
  std::string c = argv[1]; int w = argc > 2 ? atoi(argv[2]) : 0; cudaMalloc(&dv, 4 << 20); char *m; cudaMalloc(&m, 1 << 20); cudaMemset(m, 7, 1 << 20);
  if (c == "deep") { int n = atoi(argv[3]); ONE((deep<<<1, 1>>>(0, n, w, dv)), 16, 0, 6); }
  if (c == "held") ONE((held<<<1, 1>>>(0, w, dv)), 16, 0, 6);
  if (c == "fan") ONE((fan<<<1, 1>>>(w, dv)), 16, 0, 6);
  if (c == "fattr") { ONE((fattr<<<1, 1>>>(dv)), 256, 0, 100); cudaFuncAttributes a; memset(&a, 0x55, sizeof a); P("host %d:", cudaFuncGetAttributes(&a, (const void *)kid64)); for (size_t i = 0; i < sizeof a / 4; i++) P(" %d", ((int *)&a)[i]); P("\nhost %d:", cudaFuncGetAttributes(&a, (const void *)kid)); for (size_t i = 0; i < sizeof a / 4; i++) P(" %d", ((int *)&a)[i]); P("\n"); }
  if (c == "occ") ONE((occ<<<1, 1>>>(dv)), 256, 0, 24);
  if (c == "occplain") ONE((occplain<<<1, 1>>>(dv)), 256, 0, 4);
  if (c == "fnull") ONE((fnull<<<1, 1>>>(dv)), 256, 0, 4);
  if (c == "sets") { ONE((sets<<<1, 1>>>(m)), 16, 0, 1); std::vector<unsigned char> b(1024); cudaMemcpy(b.data(), m, 1024, cudaMemcpyDeviceToHost); for (int i = 0; i < 1024; i++) if (b[i] != 7) P("%d=%d ", i, b[i]); P("\n"); }
  if (c == "copybad") { P("%d ", w); ONE((copybad<<<1, 1>>>(dv, w)), 64, 0, 12); }
  if (c == "order") { ONE((order<<<1, 1>>>()), 16, 0, 1); int l[64]; cudaMemcpyFromSymbol(l, logd, sizeof l); for (int i = 0; i < 14; i++) P(" %d", l[i]); P("\n"); }
  if (c == "assert") ONE((passert<<<1, 1>>>(dv)), 16, 0, 2);
  if (c == "trap") ONE((ptrap<<<1, 1>>>(dv)), 16, 0, 2);
  if (c == "reuse") ONE((reuse<<<1, 1>>>(dv)), 16, 0, 4);
  return 0;
}

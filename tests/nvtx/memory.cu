// What NVTX says of memory, a case each run: NVIDIA's compute-sanitizer 2025.3 on an H200 says what test.py expects, but where it says so.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>
#include <thread>
static nvtxDomainHandle_t D;
__global__ void wr(char *p, int n) {
    int i = threadIdx.x;
    if (i < n)
        p[i] = i;
}
__global__ void rd(const char *p, char *q, int n) {
    int i = threadIdx.x;
    if (i < n)
        q[i] = p[i];
}
__global__ void wr4(int *p, int n) {
    int i = threadIdx.x;
    if (i < n)
        p[i] = i;
}
__global__ void wr8(long long *p, int n) {
    int i = threadIdx.x;
    if (i < n)
        p[i] = i;
}
__global__ void at(int *p, int n) {
    int i = threadIdx.x;
    if (i < n)
        atomicAdd(p + i, 1);
}
static char *p, *q;
static nvtxMemHeapHandle_t heap(void *at, size_t n, unsigned usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, const char *name = nullptr) {
    nvtxMemVirtualRangeDesc_t r = {n, at};
    nvtxMemHeapDesc_t h = {};
    h.extCompatID = NVTX_EXT_COMPATID_MEM;
    h.structSize = sizeof h;
    h.usage = usage;
    h.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    h.typeSpecificDescSize = sizeof r;
    h.typeSpecificDesc = &r;
    if (name) {
        h.messageType = NVTX_MESSAGE_TYPE_ASCII;
        h.message.ascii = name;
    }
    return nvtxMemHeapRegister(D, &h);
}
static nvtxMemRegionHandle_t region(nvtxMemHeapHandle_t h, void *at, size_t n) {
    nvtxMemVirtualRangeDesc_t r = {n, at};
    nvtxMemRegionsRegisterBatch_t b = {};
    nvtxMemRegionHandle_t out = 0;
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    b.heap = h;
    b.regionCount = 1;
    b.regionDescElementSize = sizeof r;
    b.regionDescElements = &r;
    b.regionHandleElementsOut = &out;
    nvtxMemRegionsRegister(D, &b);
    return out;
}
static void resize(void *at, size_t n) {
    nvtxMemVirtualRangeDesc_t r = {n, at};
    nvtxMemRegionsResizeBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    b.regionDescCount = 1;
    b.regionDescElementSize = sizeof r;
    b.regionDescElements = &r;
    nvtxMemRegionsResize(D, &b);
}
static void unregister(const void *at, nvtxMemRegionHandle_t h = 0) {
    nvtxMemRegionRef_t r;
    if (h)
        r.handle = h;
    else
        r.pointer = at;
    nvtxMemRegionsUnregisterBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.refType = h ? NVTX_MEM_REGION_REF_TYPE_HANDLE : NVTX_MEM_REGION_REF_TYPE_POINTER;
    b.refCount = 1;
    b.refElementSize = sizeof r;
    b.refElements = &r;
    nvtxMemRegionsUnregister(D, &b);
}
static void name(const void *at, const char *s, nvtxMemRegionHandle_t h = 0) {
    nvtxMemRegionNameDesc_t d = {};
    d.regionRefType = h ? NVTX_MEM_REGION_REF_TYPE_HANDLE : NVTX_MEM_REGION_REF_TYPE_POINTER;
    d.nameType = NVTX_MESSAGE_TYPE_ASCII;
    if (h)
        d.region.handle = h;
    else
        d.region.pointer = at;
    d.name.ascii = s;
    nvtxMemRegionsNameBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.regionCount = 1;
    b.regionElementSize = sizeof d;
    b.regionElements = &d;
    nvtxMemRegionsName(D, &b);
}
static void assign(nvtxMemPermissionsHandle_t o, const void *at, unsigned flags, nvtxMemRegionHandle_t h = 0) {
    nvtxMemPermissionsAssignRegionDesc_t d = {};
    d.flags = flags;
    d.regionRefType = h ? NVTX_MEM_REGION_REF_TYPE_HANDLE : NVTX_MEM_REGION_REF_TYPE_POINTER;
    if (h)
        d.region.handle = h;
    else
        d.region.pointer = at;
    nvtxMemPermissionsAssignBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.permissions = o;
    b.regionCount = 1;
    b.regionElementSize = sizeof d;
    b.regionElements = &d;
    nvtxMemPermissionsAssign(D, &b);
}
static void initialized(void *at, size_t n) {
    nvtxMemVirtualRangeDesc_t r = {n, at};
    nvtxMemMarkInitializedBatch_t b = {};
    b.extCompatID = NVTX_EXT_COMPATID_MEM;
    b.structSize = sizeof b;
    b.regionType = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    b.regionDescCount = 1;
    b.regionDescElementSize = sizeof r;
    b.regionDescElements = &r;
    nvtxMemCudaMarkInitialized(D, 0, 0, &b);
}
static void W(const char *what, char *at, int n) {
    wr<<<1, 64>>>(at, n);
    int e = cudaDeviceSynchronize();
    printf("  write %s: %d\n", what, e);
    fflush(stdout);
}
static void R(const char *what, char *at, int n) {
    rd<<<1, 64>>>(at, q, n);
    int e = cudaDeviceSynchronize();
    printf("  read %s: %d\n", what, e);
    fflush(stdout);
}
static void A(const char *what, char *at, int n) {
    ::at<<<1, 64>>>((int *)at, n);
    int e = cudaDeviceSynchronize();
    printf("  atomic %s: %d\n", what, e);
    fflush(stdout);
}
enum { RD = 1, WR = 2, AT = 4, RESET = 8 };
int main(int argc, char **argv) {
    int c = atoi(argv[1]);
    D = nvtxDomainCreateA("d");
    cudaMalloc(&p, 4096);
    cudaMalloc(&q, 4096);
    char h[4096] = {0};
    nvtxMemPermissionsHandle_t all = nvtxMemCudaGetProcessWidePermissions(D), dev = nvtxMemCudaGetDeviceWidePermissions(D, 0);
    printf("case %d: handles %p %p\n", c, (void *)all, (void *)dev);
    switch (c) {
    case 0: {
        auto x = heap(p, 4096);
        printf("  heap %p\n", (void *)x);
        W("no region", p, 4);
        auto r = region(x, p + 16, 8);
        printf("  region %d\n", r == (nvtxMemRegionHandle_t)(p + 16));
        W("region", p + 16, 8);
        W("before", p + 12, 8);
        wr8<<<1, 1>>>((long long *)(p + 8), 1);
        cudaDeviceSynchronize();
        nvtxMemHeapUnregister(D, x);
        W("unregistered heap", p, 4);
        break;
    }
    case 1: {
        auto x = heap(p, 4096, NVTX_MEM_HEAP_USAGE_TYPE_LAYOUT);
        W("layout no region", p, 4);
        region(x, p + 16, 8);
        W("layout region", p + 16, 8);
        W("layout behind", p + 16, 9);
        break;
    }
    case 2: {
        auto r = region(NVTX_MEM_HEAP_HANDLE_PROCESS_WIDE, p + 16, 8);
        printf("  region %p\n", (void *)r);
        W("process wide region", p + 16, 8);
        W("process wide behind", p + 16, 9);
        break;
    }
    case 3: {
        auto x = heap(p, 4096);
        region(x, p + 16, 32);
        cudaMemcpy(p + 16, h, 64, cudaMemcpyHostToDevice);
        printf("  copy %d\n", cudaGetLastError());
        cudaMemset(p + 1024, 0, 16);
        printf("  set %d\n", cudaGetLastError());
        cudaMemcpy(h, p + 16, 48, cudaMemcpyDeviceToHost);
        break;
    }
    case 4:
        assign(all, p, RD);
        W("read only", p, 4);
        A("read only", p, 1);
        R("read only", p, 4);
        assign(all, p, RESET);
        W("reset", p, 4);
        assign(all, p, AT);
        A("atomic only", p, 1);
        W("atomic only", p, 4);
        nvtxMemPermissionsReset(D, all);
        W("reset all", p, 4);
        break;
    case 5:
        assign(dev, p, RD);
        W("device read only", p, 4);
        break;
    case 6: {
        auto x = heap(p, 4096);
        auto r = region(x, p + 16, 32);
        assign(all, p + 16, RD);
        W("region read only", p + 16, 4);
        auto r2 = region(x, p + 64, 32);
        assign(all, 0, RD, r2);
        W("region 2 read only", p + 64, 4);
        unregister(0, r2);
        W("region 2 unregistered", p + 64, 4);
        break;
    }
    case 7:
        assign(all, p + 8, RD);
        W("inside of allocation, not a region", p, 16);
        break;
    case 8: {
        auto o = nvtxMemPermissionsCreate(D, 0);
        printf("  object %p\n", (void *)o);
        assign(o, p, RD);
        W("not bound", p, 4);
        nvtxMemPermissionsBind(D, o, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM, 0);
        W("bound read only", p, 4);
        std::thread([] { W("other thread", p, 4); }).join();
        nvtxMemPermissionsUnbind(D, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM);
        W("unbound", p, 4);
        break;
    }
    case 9: {
        auto o = nvtxMemPermissionsCreate(D, 0);
        assign(o, q, RD | WR);
        nvtxMemPermissionsBind(D, o, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM, NVTX_MEM_PERMISSIONS_BIND_FLAGS_STRICT_WRITE);
        W("strict write, not in the object", p, 4);
        W("strict write, in the object", q, 4);
        R("strict write", p, 4);
        break;
    }
    case 10: {
        auto o = nvtxMemPermissionsCreate(D, NVTX_MEM_PERMISSIONS_CREATE_FLAGS_EXCLUDE_GLOBAL_WRITE);
        assign(all, p, RD);
        assign(o, p, RD | WR);
        nvtxMemPermissionsBind(D, o, NVTX_MEM_PERMISSIONS_BIND_SCOPE_CUDA_STREAM, 0);
        W("excluded global", p, 4);
        nvtxMemPermissionsDestroy(D, o);
        W("destroyed", p, 4);
        break;
    }
    case 11:
        initialized(p, 16);
        R("marked", p, 16);
        R("not marked", p + 8, 16);
        break; // initcheck
    case 12: {
        cudaMemset(p, 0, 4096);
        cudaDeviceSynchronize();
        auto x = heap(p, 4096);
        region(x, p, 64);
        R("registered behind memset", p, 16);
        W("", p, 16);
        unregister(p);
        region(x, p, 64);
        R("registered again", p, 16);
        break;
    } // initcheck
    case 13: {
        auto x = heap(p, 4096, 1, "my heap");
        region(x, p + 16, 32);
        name(p + 16, "my region");
        name(q, "my buffer");
        W("behind region", p + 16, 33);
        W("behind buffer", q + 4090, 8);
        break;
    } // names
    case 14: {
        auto x = heap(p, 4096, 1, "my heap");
        region(x, p + 16, 32);
        name(p + 16, "my region");
        break;
    } // leaks
    case 15: {
        auto x = heap(p, 4096);
        region(x, p + 4000, 200);
        W("region beyond heap", p + 4090, 4);
        region(x, q, 16);
        W("region elsewhere", q, 17);
        unregister(p + 77);
        resize(p + 99, 8);
        region(x, p + 16, 16);
        region(x, p + 24, 16);
        W("overlap", p + 16, 24);
        break;
    }
    case 16: {
        heap(p, 4096);
        cudaFree(p);
        char *r;
        cudaMalloc(&r, 4096);
        char *old = p;
        (void)old;
        p = r;
        printf("  same %d\n", r == old);
        W("allocated again", r, 4);
        break;
    }
    case 17: {
        auto x = heap(p, 4096);
        region(x, p + 16, 16);
        nvtxMemHeapReset(D, x);
        W("reset", p + 16, 4);
        auto y = region(x, p + 16, 16);
        name(0, "by handle", y);
        W("by handle", p + 16, 17);
        resize(p + 16, 8);
        W("shrunk", p + 16, 16);
        break;
    }
    case 18: {
        assign(all, p, RD);
        cudaMemcpy(p, h, 16, cudaMemcpyHostToDevice);
        printf("  copy to read only %d\n", cudaGetLastError());
        cudaMemset(p, 0, 16);
        assign(all, p, WR);
        cudaMemcpy(h, p, 16, cudaMemcpyDeviceToHost);
        printf("  copy from write only %d\n", cudaGetLastError());
        break;
    }
    case 19: {
        nvtxMemCudaSetPeerAccess(D, all, NVTX_MEM_CUDA_PEER_ALL_DEVICES, RD);
        W("all peers read only", p, 4);
        nvtxMemCudaSetPeerAccess(D, dev, 0, 0);
        R("device 0: none", p, 4);
        break;
    }
    case 20: {
        assign(all, p, RD);
        cudaFree(p);
        char *r;
        cudaMalloc(&r, 4096);
        char *old = p;
        (void)old;
        p = r;
        W("permissions after free", r, 4);
        break;
    }
    }
    if (c != 14) {
        cudaFree(p);
        cudaFree(q);
    } else
        cudaDeviceReset();
}

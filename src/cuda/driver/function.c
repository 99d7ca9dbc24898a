/* Kernels: attributes and occupancy ("CUDA Driver API", 6.12, 6.22, 6.24). A CUkernel is a
 * CUfunction. */
#include "cuda/state/contexts.h"
#include "cuda/state/machines.h"
#include "cuda/state/module.h"
#include "cuda/state/work.h"

#include <string.h>

enum { CACHE_CONFIGS = CU_FUNC_CACHE_PREFER_EQUAL + 1 };

static CUresult device_of_context(struct device **d)
{
    CUcontext c;
    TRY(context_current(&c));
    *d = c->device;
    return CUDA_SUCCESS;
}

static CUresult find(const void *handle, struct CUfunc_st **f)
{
    TRY(state_ready());
    *f = function_of(handle);
    return *f ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- attributes ---- */

static int attribute(struct device *d, CUdevice_attribute a)
{
    int value = 0;
    hd_machine_get_attribute(d->machine, (int)a, &value);
    return value;
}

static int constant_bytes(hd_module *m)
{
    hd_variable_info v;
    size_t bytes = 0;
    for (size_t i = 0; hd_module_get_variable(m, i, &v); i++)
        bytes += v.space[0] == 'c' ? v.bytes : 0;
    return (int)bytes;
}

/* The architecture that the PTX was made for; the device's, if the image does not tell. */
static int ptx_arch(const struct CUfunc_st *f, struct device *d)
{
    const struct image *image = &f->module->image;
    return (int)(image->texts.n && image->texts.at[0].arch ? image->texts.at[0].arch : device_arch(d));
}

static int dynamic_shared_limit(const struct CUfunc_st *f, struct device *d, const hd_kernel_info *info)
{
    if (f->dynamic_shared_limit >= 0)
        return f->dynamic_shared_limit;
    int most = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) - (int)info->static_shared_bytes;
    return most > 0 ? most : 0;
}

static CUresult get(const struct CUfunc_st *f, struct device *d, CUfunction_attribute a, int *value)
{
    hd_kernel *kernel;
    hd_module *module;
    hd_kernel_info info;
    TRY(function_on((struct CUfunc_st *)f, d, &kernel));
    TRY(module_on(f->module, d, NULL, &module));
    hd_kernel_get_info(kernel, &info);
    switch (a) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)info.max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info.static_shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = constant_bytes(module); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info.local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info.registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = ptx_arch(f, d); break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)device_arch(d); break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = dynamic_shared_limit(f, d, &info); break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = f->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = info.explicit_cluster; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = (int)info.required_cluster[0]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = (int)info.required_cluster[1]; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = (int)info.required_cluster[2]; break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = f->non_portable_cluster; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = f->cluster_policy; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static CUresult set(struct CUfunc_st *f, struct device *d, CUfunction_attribute a, int value)
{
    hd_kernel *kernel;
    hd_kernel_info info;
    TRY(function_on(f, d, &kernel));
    hd_kernel_get_info(kernel, &info);
    switch (a) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
        int most = attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) - (int)info.static_shared_bytes;
        NEED(value >= 0 && value <= most);
        f->dynamic_shared_limit = value;
        hd_kernel_allow_shared(kernel, (size_t)value);
        return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        NEED(value >= CU_SHAREDMEM_CARVEOUT_DEFAULT && value <= CU_SHAREDMEM_CARVEOUT_MAX_SHARED);
        f->carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: f->non_portable_cluster = value != 0; return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: /* a hint only */
        NEED(value >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT && value <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);
        f->cluster_policy = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return api_not_supported("setting a kernel's cluster size by a function attribute");
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CU_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute a, CUfunction function)
{
    struct CUfunc_st *f;
    struct device *d;
    TRY(find(function, &f));
    TRY(device_of_context(&d));
    NEED(value);
    return get(f, d, a, value);
}

CU_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute a, int value)
{
    struct CUfunc_st *f;
    struct device *d;
    TRY(find(function, &f));
    TRY(device_of_context(&d));
    return set(f, d, a, value);
}

CU_API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute a, CUkernel kernel, CUdevice dev)
{
    struct CUfunc_st *f;
    struct device *d;
    TRY(find(kernel, &f));
    TRY(device_get(dev, &d));
    NEED(value);
    return get(f, d, a, value);
}

CU_API CUresult cuKernelSetAttribute(CUfunction_attribute a, int value, CUkernel kernel, CUdevice dev)
{
    struct CUfunc_st *f;
    struct device *d;
    TRY(find(kernel, &f));
    TRY(device_get(dev, &d));
    return set(f, d, a, value);
}

/* Preferences for caches and banks have no effect. */
CU_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    struct CUfunc_st *f;
    NEED((unsigned)config < CACHE_CONFIGS);
    return find(function, &f);
}

CU_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    struct CUfunc_st *f;
    struct device *d;
    NEED((unsigned)config < CACHE_CONFIGS);
    TRY(device_get(dev, &d));
    return find(kernel, &f);
}

CU_API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig config)
{
    struct CUfunc_st *f;
    NEED((unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    return find(function, &f);
}

/* ---- what belongs to what ---- */

CU_API CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    struct CUfunc_st *f;
    TRY(find(kernel, &f));
    NEED(function);
    *function = f->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    struct CUfunc_st *f;
    TRY(find(kernel, &f));
    NEED(library);
    *library = (CUlibrary)f->module->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
    struct CUfunc_st *f;
    TRY(find(function, &f));
    NEED(module);
    *module = f->module->handle;
    return CUDA_SUCCESS;
}

CU_API CUresult cuFuncGetName(const char **name, CUfunction function)
{
    struct CUfunc_st *f;
    TRY(find(function, &f));
    NEED(name);
    *name = f->name;
    return CUDA_SUCCESS;
}

CU_API CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    return cuFuncGetName(name, (CUfunction)kernel);
}

CU_API CUresult cuFuncGetParamInfo(CUfunction function, size_t i, size_t *offset, size_t *bytes)
{
    struct CUfunc_st *f;
    struct device *d;
    hd_kernel *kernel;
    hd_param_info info;
    TRY(find(function, &f));
    TRY(device_of_context(&d));
    TRY(function_on(f, d, &kernel));
    NEED(offset && hd_kernel_get_param(kernel, i, &info));
    *offset = info.offset;
    if (bytes)
        *bytes = info.bytes;
    return CUDA_SUCCESS;
}

CU_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t i, size_t *offset, size_t *bytes)
{
    return cuFuncGetParamInfo((CUfunction)kernel, i, offset, bytes);
}

CU_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function)
{
    struct CUfunc_st *f;
    struct device *d;
    TRY(find(function, &f));
    TRY(device_of_context(&d));
    NEED(state);
    *state = f->on[d->ordinal] ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
    return CUDA_SUCCESS;
}

CU_API CUresult cuFuncLoad(CUfunction function)
{
    struct CUfunc_st *f;
    struct device *d;
    hd_kernel *kernel;
    TRY(find(function, &f));
    TRY(device_of_context(&d));
    return function_on(f, d, &kernel);
}

/* ---- occupancy ---- */

static CUresult kernel_here(CUfunction function, hd_kernel **kernel, struct device **d)
{
    struct CUfunc_st *f;
    TRY(find(function, &f));
    TRY(device_of_context(d));
    return function_on(f, *d, kernel);
}

CU_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                                     size_t shared, unsigned flags)
{
    hd_kernel *kernel;
    struct device *d;
    TRY(kernel_here(function, &kernel, &d));
    NEED(blocks && threads > 0 && (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) == 0);
    *blocks = (int)hd_kernel_max_blocks(kernel, (unsigned)threads, shared);
    return CUDA_SUCCESS;
}

CU_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                            size_t shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

/* The block size with most threads on a multiprocessor; the largest of equal ones. */
CU_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                          CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                          unsigned flags)
{
    hd_kernel *kernel;
    struct device *d;
    hd_kernel_info info;
    int best = 0, best_threads = 0;
    TRY(kernel_here(function, &kernel, &d));
    NEED(grid && block && limit >= 0 && (flags & ~(unsigned)CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) == 0);
    hd_kernel_get_info(kernel, &info);
    int most = limit && limit < (int)info.max_threads ? limit : (int)info.max_threads, warp = 32;
    for (int threads = (most + warp - 1) / warp * warp; threads > 0; threads -= warp) {
        int size = threads < most ? threads : most;
        int blocks = (int)hd_kernel_max_blocks(kernel, (unsigned)size, shared_of ? shared_of(size) : shared);
        if (blocks * size > best) {
            best = blocks * size;
            best_threads = size;
            *grid = blocks * attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        }
    }
    *block = best_threads;
    return best ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

CU_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                 CUoccupancyB2DSize shared_of, size_t shared, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared, limit, 0);
}

/* The most shared memory with which this many blocks still fit. */
CU_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int threads)
{
    hd_kernel *kernel;
    struct device *d;
    TRY(kernel_here(function, &kernel, &d));
    NEED(bytes && blocks > 0 && threads > 0);
    size_t low = 0, high = (size_t)attribute(d, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    NEED(hd_kernel_max_blocks(kernel, (unsigned)threads, 0) >= (unsigned)blocks);
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (hd_kernel_max_blocks(kernel, (unsigned)threads, middle) >= (unsigned)blocks)
            low = middle;
        else
            high = middle - 1;
    }
    *bytes = low;
    return CUDA_SUCCESS;
}

/* ---- clusters ---- */

/* The launch of a configuration, with what matters for clusters. */
struct cluster_launch {
    hd_kernel *kernel;
    struct device *device;
    hd_launch_config config;
    unsigned largest; /* cluster that the kernel may have */
};

static unsigned largest_cluster(const struct CUfunc_st *f, const hd_kernel_info *info)
{
    unsigned most = f->non_portable_cluster ? 16 : 8, required = 1;
    for (int i = 0; i < 3 && info->required_cluster[0]; i++)
        required *= info->required_cluster[i];
    if (info->required_cluster[0])
        return required <= most ? required : 0;
    return info->max_cluster && info->max_cluster < most ? info->max_cluster : most;
}

static CUresult cluster_launch(const CUlaunchConfig *c, CUfunction function, struct cluster_launch *to)
{
    struct CUfunc_st *f;
    hd_kernel_info info;
    TRY(kernel_here(function, &to->kernel, &to->device));
    NEED(c && (c->attrs || !c->numAttrs) && c->blockDimX && c->blockDimY && c->blockDimZ);
    hd_kernel_get_info(to->kernel, &info);
    struct work_launch l = {
        .config = {.block = {c->blockDimX, c->blockDimY, c->blockDimZ}, .shared_bytes = c->sharedMemBytes}};
    for (unsigned i = 0; i < c->numAttrs; i++)
        TRY(launch_apply(c->attrs[i].id, &c->attrs[i].value, &l));
    if (!l.config.cluster[0])
        memcpy(l.config.cluster, info.required_cluster, sizeof l.config.cluster);
    TRY(find((CUkernel)function, &f));
    to->config = l.config;
    to->largest = largest_cluster(f, &info);
    return CUDA_SUCCESS;
}

static unsigned blocks_of_device(struct device *d, hd_kernel *kernel, const hd_launch_config *l)
{
    return hd_kernel_max_blocks(kernel, l->block[0] * l->block[1] * l->block[2], l->shared_bytes) *
           (unsigned)attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

CU_API CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config)
{
    struct cluster_launch l;
    NEED(size);
    TRY(cluster_launch(config, function, &l));
    unsigned fit = blocks_of_device(l.device, l.kernel, &l.config);
    *size = (int)(l.largest < fit ? l.largest : fit);
    return CUDA_SUCCESS;
}

CU_API CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    struct cluster_launch l;
    NEED(clusters);
    TRY(cluster_launch(config, function, &l));
    const hd_launch_config *c = &l.config;
    uint64_t size = c->cluster[0] ? (uint64_t)c->cluster[0] * c->cluster[1] * c->cluster[2] : 1;
    if (size > l.largest)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    *clusters =
        (int)hd_kernel_max_clusters(l.kernel, c->block[0] * c->block[1] * c->block[2], c->shared_bytes, (unsigned)size);
    return CUDA_SUCCESS;
}

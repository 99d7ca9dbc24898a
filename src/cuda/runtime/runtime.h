/* What the files of the runtime API share. The runtime stands on the driver API (cuda/cuda.h) and
 * nothing else. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_RUNTIME_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_RUNTIME_H

#include "cuda/api.h"

#define RT_API __attribute__((visibility("default")))

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "cuda/cuda_profiler_api.h"
#include "cuda/cuda_runtime_api.h"
#pragma GCC visibility pop

/* ---- context.c, versions.c ---- */

/* A driver result in the runtime's numbers: they are the same. */
static inline cudaError_t rt_error_of(CUresult result)
{
    return (cudaError_t)result;
}

/* Makes the calling thread's device ready: its current context, or the primary context of its
 * device. Every entry point that needs a context begins with it. */
cudaError_t rt_enter(void);
/* Notes an error for cudaGetLastError and returns it. Every entry point ends with it. */
cudaError_t rt_return(cudaError_t error);
/* The error of this runtime version for a launch with impossible dimensions, and for one of a
 * function that is not a kernel; observed with 13.0 on an H200. */
cudaError_t rt_bad_dimensions(void);
cudaError_t rt_no_kernel(void);
/* Both: a driver call in a context. */
#define RT_CALL(call)                                                                                                  \
    do {                                                                                                               \
        cudaError_t rt_call_error = rt_enter();                                                                        \
        return rt_return(rt_call_error ? rt_call_error : rt_error_of(call));                                           \
    } while (0)

/* The device of the calling thread, and a device's number checked. */
cudaError_t rt_current_device(int *device);
cudaError_t rt_check_device(int device);
/* Replaces stream 0 by the thread's own stream. */
static inline cudaStream_t rt_own(cudaStream_t stream)
{
    return stream ? stream : cudaStreamPerThread;
}
/* Is the program ending? Then everything that its kernels may still use is kept. */
bool rt_is_exiting(void);

/* ---- register.c ---- */

/* Finds the kernel of a host function; `function` may also be a kernel itself. Needs a context.
 * cudaErrorInvalidDeviceFunction: there is none. */
cudaError_t rt_kernel_of(const void *function, CUkernel *kernel);
/* The same for a launch, which is counted as refused if the kernel's binary contains nothing to
 * load. */
cudaError_t rt_kernel_to_launch(const void *function, CUkernel *kernel);
/* The reverse: the host function of a kernel, else the kernel itself. */
const void *rt_function_of(CUkernel kernel);
/* Finds address and size of the device variable of a host variable. Needs a context. Error:
 * cudaErrorInvalidSymbol. */
cudaError_t rt_variable_of(const void *symbol, CUdeviceptr *address, size_t *bytes);

/* A texture reference of CUDA 11's C++: how it is read, and how far what it is bound to lies behind
 * the start of a texture. */
struct rt_binding {
    enum cudaTextureReadMode mode;
    size_t offset; /* RT_UNBOUND: it is bound to nothing */
};
#define RT_UNBOUND SIZE_MAX

/* Registers a texture or surface reference, by its host variable. Errors: cudaErrorInvalidTexture,
 * ...Surface. */
void rt_register_reference(void **fatCubinHandle, const void *host, bool is_surface, const char *name,
                           enum cudaTextureReadMode mode);
cudaError_t rt_reference_of(const void *host, bool is_surface, CUtexref *reference, struct rt_binding **binding);

/* ---- copy.c ---- */

/* Converts a copy to the driver's structure. */
cudaError_t rt_copy3d_of(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *to);
/* The size of a texel, which is the unit of copies of arrays. Both arrays (either may be NULL) must
 * have equal texels. */
cudaError_t rt_texel_bytes(cudaArray_t a, cudaArray_t b, size_t *bytes);

/* ---- array.c ---- */

/* A format as the driver names it, and the other way. cudaErrorInvalidChannelDescriptor. */
cudaError_t rt_format_of(const struct cudaChannelFormatDesc *d, CUarray_format *format, unsigned *channels);
struct cudaChannelFormatDesc rt_channels_of(CUarray_format format, unsigned channels);

/* ---- texture.c ---- */

cudaError_t rt_texture_create(cudaTextureObject_t *object, const struct cudaResourceDesc *r,
                              const struct cudaTextureDesc *t, const struct cudaResourceViewDesc *v);
cudaError_t rt_texture_get(struct cudaTextureDesc *t, cudaTextureObject_t object);
cudaError_t rt_texture_get_view(struct cudaResourceViewDesc *v, cudaTextureObject_t object);
/* In the driver's words, and the other way. */
cudaError_t rt_resource_of(const struct cudaResourceDesc *r, CUDA_RESOURCE_DESC *to);
void rt_resource_from(const CUDA_RESOURCE_DESC *r, struct cudaResourceDesc *to);

/* ---- graph_nodes.c ---- */

cudaError_t rt_add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                        const cudaGraphEdgeData *data, size_t n, struct cudaGraphNodeParams *p);
/* A kernel's node in the driver's words. */
cudaError_t rt_kernel_node_of(const struct cudaKernelNodeParamsV2 *p, CUDA_KERNEL_NODE_PARAMS_v3 *to);

/* ---- of several versions: versions.c has the layouts and signatures of each ---- */

cudaError_t rt_func_attributes(struct cudaFuncAttributes *attr, const void *func);
cudaError_t rt_pointer_attributes(struct cudaPointerAttributes *attributes, const void *ptr);
cudaError_t rt_driver_entry_point(const char *symbol, void **function, unsigned version, unsigned long long flags,
                                  enum cudaDriverEntryPointQueryResult *status);

#endif

/* What every entry point of libcuda.so.1 needs: the log, answers for what is not there. Private to
 * cuda/. */
#ifndef HEDDLE_CUDA_API_H
#define HEDDLE_CUDA_API_H

#include "base/log.h"
#include "cuda/cuda.h"

#include <stdbool.h>

#define CU_API __attribute__((visibility("default")))

/* Writes a line to stderr if HEDDLE_LOG names the topic. */
void log_line(enum log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Also passes lines of LOG_ERROR to a function. */
void log_listen(void (*listener)(const char *text));

/* Writes a message to stderr whatever HEDDLE_LOG says. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exported for libcudart, whose errors the program sees. The first notes that a call has failed,
 * the second that the calling thread asks for its last error. watch.c */
CU_API void heddle_call_failed(int error, const char *name);
CU_API void heddle_error_seen(void);

/* Exported for Heddle's libraries that are loaded beside libcuda: their code is not the program's.
 * driver/library.c */
CU_API void heddle_library_loaded(void);

/* Exported for libcudart: reports, once, a kernel or a variable of a fat binary that contains
 * nothing to load. `host` is its address on the host side. refused.c */
CU_API void heddle_symbol_refused(const char *kind, const char *name, const void *host, const char *why);

/* Exported for libcudart, which may refuse a kernel before the driver is called: counts a launch
 * that a GPU would have done. If the program then ends with status 0, a message says how many were
 * refused. refused.c */
CU_API void heddle_launch_refused(void);

/* Exported for libcudart: a wrapper of fat binaries is registered. If it is the first one of a
 * library that has a pack of kernels, calls the functions that the pack names. companion.c */
CU_API void heddle_image_registered(const void *image);

/* The name of the library that contains the address, else of the program. refused.c */
const char *file_of(const void *address);
/* The number of an image inside a program or library, as `heddle ptx --of FILE` counts them; 0: it
 * is in none, or the file is very large. */
unsigned image_number(const void *image);

/* For calls that Heddle does not support, at all or with these arguments: names them in the log. */
CUresult api_not_supported(const char *what);

/* What libcuda defines as cuX is heddle_cuX to the linker: programs call the entry points of
 * entry.S, which jump there. */
#ifdef HEDDLE_CUDA_VERSIONS
/* First versions, which cuda.h does not declare. */
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph g, CUgraphNode *bad, char *log, size_t bytes);
CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode *from, const CUgraphNode *to, size_t n);
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph g, const CUgraphNode *after, size_t n,
                              const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec x, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphKernelNodeSetParams(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphKernelNodeGetParams(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error, CUgraphExecUpdateResult *result);
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t n, CUmemcpyAttributes *attributes,
                            size_t *first, size_t n_attributes, size_t *bad, CUstream s);
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t n,
                                 CUmemcpyAttributes *attributes, size_t *first, size_t n_attributes, size_t *bad,
                                 CUstream s);
CUresult cuMemcpy3DBatchAsync(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *bad, unsigned long long flags, CUstream s);
CUresult cuMemcpy3DBatchAsync_ptsz(size_t n, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *bad, unsigned long long flags,
                                   CUstream s);
CUresult cuStreamBeginCapture(CUstream s);
CUresult cuStreamBeginCapture_ptsz(CUstream s);
CUresult cuStreamGetCaptureInfo(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id);
CUresult cuStreamGetCaptureInfo_ptsz(CUstream s, CUstreamCaptureStatus *status, cuuint64_t *id);
CUresult cuStreamUpdateCaptureDependencies(CUstream s, CUgraphNode *nodes, size_t n, unsigned flags);
CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream s, CUgraphNode *nodes, size_t n, unsigned flags);

#define BEHIND_ENTRY(symbol, like) extern __typeof__(like) symbol __asm__("heddle_" #symbol);
#define BEHIND_plain(symbol)       BEHIND_ENTRY(symbol, symbol)
#define BEHIND_ptds(symbol)        BEHIND_ENTRY(symbol, symbol) BEHIND_ENTRY(symbol##_ptds, symbol)
#define BEHIND_ptsz(symbol)        BEHIND_ENTRY(symbol, symbol) BEHIND_ENTRY(symbol##_ptsz, symbol)
#define BEHIND_no(symbol, stream)
#define BEHIND_done(symbol, stream)               BEHIND_##stream(symbol)
#define BEHIND_partial(symbol, stream)            BEHIND_##stream(symbol)
#define API(export, name, version, stream, state) BEHIND_##state(export, stream)
#include "cuda/api.def"
#undef API
#endif

#endif

/* The host's mistakes, under `heddle check`: what a program does wrong with memory, copies, handles
 * and errors of CUDA's. The driver's functions report events here, each kind at one place. Findings
 * are kept, once for each call stack, until they are reported. Without a watcher, each of these
 * calls tests one flag. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_WATCH_WATCH_H
#define HEDDLE_CUDA_WATCH_WATCH_H

#include "cuda/process/stack.h"
#include "cuda/state/memory_kind.h"
#include "cuda/state/state.h"

/* Which failed calls are findings: --report-api-errors. */
enum watch_errors {
    WATCH_ERRORS_UNSEEN, /* errors that the program has not read */
    WATCH_ERRORS_ALL,
    WATCH_ERRORS_NONE,
};

struct watch_options {
    bool memory; /* bad copies, frees and handles, and their consequences */
    bool leaks;  /* memory and handles left when a context or the process ends */
    bool unused; /* allocations with bytes that are never written */
    enum watch_errors errors;
    void (*fresh)(void); /* called for a new finding; or NULL */
};

/* To be called before the first event. */
void watch_start(const struct watch_options *o);
bool watch_is_on(void);
/* In a child of fork(). */
void watch_stop(void);
/* To be called after the last event: reports what can be known only then. */
void watch_end(void);
/* Adds what has been found so far; *report may be NULL. */
hd_result watch_report(hd_report **report);

/* ---- memory ---- */

/* Notes who allocates, and who frees what was `allocated` there (NULL: unknown). */
void watch_allocated(struct allocation *a);
/* Reports unused parts of an allocation, after all its uses have ended. */
void watch_unused(const struct allocation *a);
void watch_freed(void *start, size_t bytes, CUmemorytype type, const struct stack *allocated);
/* Reports memory that cannot be freed as this type. */
void watch_bad_free(const void *p, CUmemorytype type);
/* Reports what is left in a context that ends. */
void watch_leaks(CUcontext c);
/* hd_machine_options.origin: says where the memory was allocated that a kernel's bad access is
 * near. */
bool watch_origin(void *data, const void *start, bool freed, char *text, size_t bytes);

/* The kind of memory that a copy or fill expects at an address. */
enum watch_side {
    SIDE_ANY,
    SIDE_HOST,
    SIDE_DEVICE,
    SIDE_FILL, /* a fill, which has one side */
};
/* Reports that the memory at `p` is not of the expected kind. */
void watch_bad_side(const void *p, size_t bytes, bool writes, enum watch_side wanted);
/* hd_checker_options.undefined_copy. */
void watch_undefined_copy(void *data, const void *place, const void *to, const void *from, size_t bytes, size_t first);
/* Does the memory exist that a library call reads or writes? */
void watch_used(const void *p, size_t bytes, bool writes);
/* What a call takes for host memory: device memory is reported. */
void watch_host_side(const void *p, bool writes, const char *help);
/* Notes that a stream will free an allocation, in stream order. */
void watch_free_in(hd_stream *stream, const struct allocation *a);
/* One side of a copy: what the call says about it, and what it is. */
struct watch_copy {
    const void *at;
    enum watch_side said;
    enum memory_kind is;
};
/* Compares the direction of a copy with its two sides, both of which exist. */
void watch_sides(const struct watch_copy *to, const struct watch_copy *from);

/* The CUDA call that the program has made, and whose code asks. */
const char *watch_call(void);

/* ---- errors ---- */

/* Whether entry.S calls the second function with what an entry point
 * returns, if that is an error. */
extern char watch_entries;
CUresult watch_result(CUresult error, uintptr_t caller);

/* ---- streams and events ---- */

void watch_created(const void *handle, const char *what, CUcontext c);
void watch_destroyed(const void *handle);
/* Is the handle valid? A destroyed handle, or one that never existed, is a finding. */
bool watch_handle(const void *handle, const char *what);

/* Reports an NVTX call about memory that is invalid. */
void watch_nvtx(const char *call, const char *why);

#endif

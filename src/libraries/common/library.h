/* What every drop-in of a library of CUDA's stands on. HACKING.md, "Add an entry point of a
 * library", goes through one.
 *
 * An entry point checks its arguments as the original does, looks its handle up, finds out which
 * memory the call uses, and puts a task into the handle's stream (struct library_task,
 * cuda/library.h): it does not wait, but where a result goes to memory of the host. The task's
 * function computes on plain addresses; it calls nothing of CUDA's. Its workspace is malloc's.
 *
 * Of each library there is one shared object for each name that it has had
 * (src/libraries/meson.build). Its entry points are the rows of its table, as of cublas.def: what
 * is exported, what is refused (missing.c) and docs/LIBRARIES.md come from there.
 */
#ifndef HEDDLE_LIBRARIES_LIBRARY_H
#define HEDDLE_LIBRARIES_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/calls.h"
#include "base/handle_table.h"
#include "cuda/library.h"

#define LIBRARY_API __attribute__((visibility("default")))

/* A function that is compiled for newer processors, too. The choice is made while the library is
 * loaded, when the thread sanitizer is not ready for any function. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define LIBRARY_FOR_EACH_CPU __attribute__((target_clones("arch=haswell", "default")))
#else
#define LIBRARY_FOR_EACH_CPU
#endif

/* ---- handles: numbers that stand for records, so that one that was destroyed, or never was one,
 * is told from a good one ---- */

/* This library's. Kinds are its own, 1 to 15: handle_add(), handle_find(), handle_take(). An entry
 * point that looks one up begins with IN_CALL; what was taken is freed by call_later(), as other
 * calls may be using it. */
extern struct handle_table library_handles;
/* A handle for a record of malloc()'s (NULL: none could be had), which is freed where there is no
 * memory for the handle: then it is NULL. */
void *library_add_handle(unsigned kind, void *record);

/* ---- memory ---- */

/* Rows of a matrix, `pitch` bytes apart; a vector is one row. Nothing where a size is 0. */
static inline hd_used library_uses(const void *at, size_t width, size_t height, size_t pitch, unsigned use)
{
    return (hd_used){at, width, height, pitch, use};
}

/* Puts it behind the n that there are, which are freed by free(); false: no memory. */
bool library_add_use(hd_used **used, size_t *n, hd_used u);

static inline hd_used library_reads(const void *at, size_t bytes)
{
    return library_uses(at, bytes, 1, bytes, HD_READS);
}

static inline hd_used library_writes(const void *at, size_t bytes)
{
    return library_uses(at, bytes, 1, bytes, HD_WRITES);
}

static inline hd_used library_updates(const void *at, size_t bytes)
{
    return library_uses(at, bytes, 1, bytes, HD_READS | HD_WRITES);
}

/* In a task: where this process finds what is at an address of CUDA's, on whichever device, managed
 * or pinned. */
static inline void *library_view(const void *address)
{
    return heddle_library_view(address);
}

/* Likewise, of an address that the task has read from memory, as those of batches are, and of a
 * range that is not among its `used`. False: not all of it is memory that kernels may use; the
 * task's result is HD_ERROR_ILLEGAL_ADDRESS then. Of nothing the view is NULL. */
static inline bool library_reach(void **view, const void *address, struct library_shape shape)
{
    return heddle_library_reach(view, address, shape);
}

/* ---- work ---- */

/* Calls piece(data, i) for i below n, some of them on other threads of the process, and returns
 * when all are done. In a task. */
void library_parallel(size_t n, void (*piece)(void *data, size_t i), void *data);
/* How many of them run at a time. */
unsigned library_threads(void);

/* ---- refusals ---- */

/* Says once, on stderr, that a function, or a use of it, is not supported: "cublasXt is not
 * supported by Heddle". `told` is static. */
void library_refuse(_Atomic bool *told, const char *what);
#define LIBRARY_REFUSE(what)                                                                                           \
    do {                                                                                                               \
        static _Atomic bool library_told;                                                                              \
        library_refuse(&library_told, what);                                                                           \
    } while (0)

/* A call fails: a sentence on stderr under `heddle check`, and with HEDDLE_LOG=error. */
void library_failed(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

/* The common base of the drop-ins for CUDA's libraries. HACKING.md, "Add an entry point of a
 * library", explains one.
 *
 * An entry point checks its arguments as the original does, looks up its handle, determines the
 * memory that the call uses, and submits a task to the handle's stream (struct library_task,
 * cuda/library.h). It waits only if a result goes to host memory. The task's function computes on
 * plain addresses, and does not call CUDA. Its workspace comes from malloc.
 *
 * Each library has a shared object for each name that it has had (src/libraries/meson.build). Its
 * entry points are the rows of a table, such as cublas.def, from which the exports, the refusals
 * (missing.c) and docs/LIBRARIES.md are made.
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

/* Marks a function that is compiled for newer processors, too. The loader chooses a version before
 * the thread sanitizer is initialised, so it is not used with that. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define LIBRARY_FOR_EACH_CPU __attribute__((target_clones("arch=haswell", "default")))
#else
#define LIBRARY_FOR_EACH_CPU
#endif

/* ---- handles: numbers that stand for records, so that one that was destroyed, or never was one,
 * is told from a good one ---- */

/* This library's handles. It defines their kinds, 1 to 15: handle_add(), handle_find(),
 * handle_take(). An entry point that looks one up begins with IN_CALL; a record that was taken is
 * freed by call_later(), because other calls may be using it. */
extern struct handle_table library_handles;
/* Makes a handle for a record from malloc() (or NULL). Frees the record, and returns NULL, if
 * memory is exhausted. */
void *library_add_handle(unsigned kind, void *record);

/* ---- memory ---- */

/* Rows of a matrix, `pitch` bytes apart; a vector is one row. Empty if a size is 0. */
static inline hd_used library_uses(const void *at, size_t width, size_t height, size_t pitch, unsigned use)
{
    return (hd_used){at, width, height, pitch, use};
}

/* Appends to an array of n, which is freed by free(); false if memory is exhausted. */
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

/* Splits a triangle of n x n elements, with its diagonal, into ranges, which may overlap. Returns
 * their number. */
enum { TRIANGLE_RANGES = 128 };
size_t library_triangle(hd_used ranges[TRIANGLE_RANGES], const void *at, bool lower, int64_t n, int64_t ld,
                        size_t element_bytes, unsigned use);

/* In a task: the address by which this process accesses CUDA memory, of any device, managed or
 * pinned. */
static inline void *library_view(const void *address)
{
    return heddle_library_view(address);
}

/* The same for an address that the task has read from memory, such as a batch's, and that its
 * `used` does not contain. Returns false if kernels may not use all of it: the task's result is
 * HD_ERROR_ILLEGAL_ADDRESS then. An empty range gives NULL. */
static inline bool library_reach(void **view, const void *address, struct library_shape shape)
{
    return heddle_library_reach(view, address, shape);
}

/* ---- work ---- */

/* Calls piece(data, i) for all i below n, on several threads, and returns when all are done. For
 * tasks. */
void library_parallel(size_t n, void (*piece)(void *data, size_t i), void *data);
/* The number of threads. */
unsigned library_threads(void);

/* ---- refusals ---- */

/* Reports once, on stderr, that a function, or a use of it, is not supported: "cublasXt is not
 * supported by Heddle". `told` is static. */
void library_refuse(_Atomic bool *told, const char *what);
#define LIBRARY_REFUSE(what)                                                                                           \
    do {                                                                                                               \
        static _Atomic bool library_told;                                                                              \
        library_refuse(&library_told, what);                                                                           \
    } while (0)

/* Explains that the program's call has a handle that is none, or no longer one. */
void library_no_handle(void);
/* Explains a failed call in a sentence on stderr, under `heddle check`
 * and with HEDDLE_LOG=error. */
void library_failed(const char *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

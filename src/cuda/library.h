/* What CUDA's libraries (src/libraries/) need from libcuda.so.1 beside the driver API: calls as
 * work of streams, and the kind of memory at an address. Private to cuda/ and libraries/: the two
 * are of one build.
 */
#ifndef HEDDLE_CUDA_LIBRARY_H
#define HEDDLE_CUDA_LIBRARY_H

#include "cuda/api.h"
#include "heddle.h"

#define HEDDLE_LIBRARY_API __attribute__((visibility("default")))

/* A library calls this when it is loaded, with HEDDLE_LIBRARY_INTERFACE, a digest of the headers
 * that declare the interface. A library of another build ends the process with a message. This
 * declaration never changes. */
HEDDLE_LIBRARY_API void heddle_library_meet(const char *interface);

/* Added to a range's use: the task does not read it if beta is 0 when its turn comes. */
enum { LIBRARY_BY_BETA = 1 << 8 };

/* What a range of so many bytes moves: they are read, written, or both. */
static inline double library_moved(double bytes, unsigned use)
{
    return (use & HD_READS) && (use & HD_WRITES) ? 2 * bytes : bytes;
}

/* A library's call as work of a stream. If it was captured into a graph, it runs in every launch of
 * the graph, possibly several times at once. */
struct library_task {
    const char *name; /* the function that the program has called: a constant */
    /* Does the work. An error becomes the context's fault. It must not call CUDA, and reaches
     * device memory through library_view(). */
    hd_result (*run)(void *args);
    /* Frees what the arguments point to, once, when it cannot run again; or NULL. */
    void (*drop)(void *args);
    const void *args; /* are copied */
    size_t arg_bytes;
    const hd_used *used; /* the memory that it reads and writes; is copied */
    size_t used_count;
    /* More of it, which only memory tells, as of a batch by addresses; or NULL. Asked by checkers
     * when the call's turn comes; the array is freed by free(). */
    hd_used *(*find_used)(const void *args, size_t *count);
    /* In device memory: what ranges of LIBRARY_BY_BETA are multiplied by; or NULL. */
    const void *beta;
    size_t beta_bytes;
    double flops, bytes; /* what a GPU would compute and move; 0 bytes: everything in `used` */
    hd_unit unit;
    /* Replaces `run` in a call that waits for other calls: it is called until it does not return
     * HD_ERROR_NOT_READY. *state is NULL at first and belongs to this one execution. */
    hd_result (*step)(void *args, void **state);
};

/* Puts the call into a stream; if that fails, drops it. With `wait`, returns when the call is done,
 * as for results in host memory. Errors: those of a launch. */
HEDDLE_LIBRARY_API CUresult heddle_library_put(CUstream stream, const struct library_task *t, bool wait);

/* Makes sure that the calling thread has a context, as the runtime API does: the current one, else
 * the first device's primary context. */
HEDDLE_LIBRARY_API CUresult heddle_library_context(CUcontext *context);

/* For what the original does when the program calls it, and captures of streams forbid: it
 * allocates memory, or waits. With `legacy` it also uses the legacy stream. The captures that this
 * disturbs become invalid. */
HEDDLE_LIBRARY_API CUresult heddle_library_disturb(bool legacy);
/* The same in a stream itself. */
HEDDLE_LIBRARY_API CUresult heddle_library_disturb_stream(CUstream stream);

/* The address by which this process accesses a kernel's address while a call runs. */
HEDDLE_LIBRARY_API void *heddle_library_view(const void *address);

/* Elements in `count` rows of `width`, `step` elements apart; nothing where one of the two is 0. */
struct library_shape {
    size_t element_bytes;
    uint64_t width, count, step;
};
/* The same for an address that was read from device memory. False: some of the elements are not in
 * memory that kernels may use. */
HEDDLE_LIBRARY_API bool heddle_library_reach(void **view, const void *address, struct library_shape shape);

/* LIBRARY_NOTHING: a device address where nothing is allocated. */
enum library_memory { LIBRARY_DEVICE, LIBRARY_MANAGED, LIBRARY_PINNED, LIBRARY_PAGEABLE, LIBRARY_NOTHING };
static inline bool library_memory_is_kernels(enum library_memory m)
{
    return m < LIBRARY_PAGEABLE;
}
HEDDLE_LIBRARY_API enum library_memory heddle_library_memory(const void *address);

/* The number of devices, whatever CUDA_VISIBLE_DEVICES says. Creates no machine. */
HEDDLE_LIBRARY_API unsigned heddle_library_devices(void);
/* The UUID of one of these devices: cuDeviceGetUuid(). */
HEDDLE_LIBRARY_API void heddle_library_uuid(unsigned number, unsigned char bytes[16]);
/* Reads [domain:]bus:device[.function], in hexadecimal digits; false if the text is invalid. If no
 * device is there, *number is not a device's number. */
HEDDLE_LIBRARY_API bool heddle_library_place(const char *text, unsigned *number);
/* Describes one of them, and how much of its memory this process uses. False: CUDA has no
 * device. */
struct library_device {
    char name[64];
    int major, minor, memory_bus_bits;
    uint64_t memory_bytes, memory_used_bytes;
};
HEDDLE_LIBRARY_API bool heddle_library_device(unsigned number, struct library_device *device);

/* For a scalar or result that a call takes from host memory. Reports device memory there, which a
 * program with a GPU cannot access; `help` says how the call takes it. NULL is ignored. */
HEDDLE_LIBRARY_API void heddle_library_host(const void *p, bool writes, const char *help);

/* Explains a failed call in a sentence: on stderr under `heddle check`, and in the log. NULL: the
 * call that the program made. */
HEDDLE_LIBRARY_API void heddle_library_failed(const char *call, const char *why);

#endif

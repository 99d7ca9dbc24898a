/* What CUDA's libraries (src/libraries/) ask of libcuda.so.1 beside the driver API: their calls as
 * work of streams, and what memory is where. Private to cuda/ and libraries/: the two are of one
 * build.
 */
#ifndef HEDDLE_CUDA_LIBRARY_H
#define HEDDLE_CUDA_LIBRARY_H

#include "cuda/api.h"
#include "heddle.h"

#define HEDDLE_LIBRARY_API __attribute__((visibility("default")))

/* A library is loaded, which was built with this interface: HEDDLE_LIBRARY_INTERFACE, a digest of
 * what declares it, which the build makes. One of another build ends the process, with a sentence
 * on stderr. This declaration never changes. */
HEDDLE_LIBRARY_API void heddle_library_meet(const char *interface);

/* A call as work. It runs once, or, captured into a graph, whenever that is launched: at the same
 * time as itself, too. */
struct library_task {
    const char *name; /* the function that the program has called: a constant */
    /* An error is the context's fault. No call of CUDA's may be made, and memory of the device is
     * reached through library_view(). */
    hd_result (*run)(void *args);
    void (*drop)(void *args); /* frees what the arguments point to, once, when nothing can run any more; or NULL */
    const void *args;         /* are copied */
    size_t arg_bytes;
    const hd_used *used; /* the memory that it reads and writes; is copied */
    size_t used_count;
    /* More of it, which only memory tells, as of a batch by addresses; or NULL. Asked by checkers
     * when the call's turn comes; the array is freed by free(). */
    hd_used *(*find_used)(const void *args, size_t *count);
    double flops, bytes; /* what a GPU would do and move; 0 bytes: all that is used */
    hd_unit unit;
    /* Instead of `run`, of a call that waits for others: called until it returns something else
     * than HD_ERROR_NOT_READY. *state belongs to this time that the call runs, and is NULL at
     * first. */
    hd_result (*step)(void *args, void **state);
};

/* Puts the call into a stream; drops it where that fails, too. With `wait` it is done when this
 * returns, as where a result goes to memory of the host. Errors: those of a launch. */
HEDDLE_LIBRARY_API CUresult heddle_library_put(CUstream stream, const struct library_task *t, bool wait);

/* Sees to it that the calling thread has a context, as the runtime API does: the one that is
 * current, else the first device's primary one. */
HEDDLE_LIBRARY_API CUresult heddle_library_context(CUcontext *context);

/* Where this process finds what is at an address, while a call runs. */
HEDDLE_LIBRARY_API void *heddle_library_view(const void *address);

/* Elements in `count` rows of `width`, `step` elements apart; nothing where one of the two is 0. */
struct library_shape {
    size_t element_bytes;
    uint64_t width, count, step;
};
/* Likewise, of an address that has been read from memory. False: not all of the elements are in
 * memory that kernels may use. */
HEDDLE_LIBRARY_API bool heddle_library_reach(void **view, const void *address, struct library_shape shape);

/* LIBRARY_NOTHING: an address of a device's where nothing is allocated. */
enum library_memory { LIBRARY_DEVICE, LIBRARY_MANAGED, LIBRARY_PINNED, LIBRARY_PAGEABLE, LIBRARY_NOTHING };
static inline bool library_memory_is_kernels(enum library_memory m)
{
    return m < LIBRARY_PAGEABLE;
}
HEDDLE_LIBRARY_API enum library_memory heddle_library_memory(const void *address);

/* How many devices this computer has, whatever CUDA_VISIBLE_DEVICES says. Nothing is made for this. */
HEDDLE_LIBRARY_API unsigned heddle_library_devices(void);
/* That of a device of these: cuDeviceGetUuid(). */
HEDDLE_LIBRARY_API void heddle_library_uuid(unsigned number, unsigned char bytes[16]);
/* Reads [domain:]bus:device[.function], in hexadecimal digits; false: it is none. *number is no
 * device's where there is nothing. */
HEDDLE_LIBRARY_API bool heddle_library_place(const char *text, unsigned *number);
/* What one of them is, and how much of its memory this process has. False: CUDA has no device. */
struct library_device {
    char name[64];
    int major, minor, memory_bus_bits;
    uint64_t memory_bytes, memory_used_bytes;
};
HEDDLE_LIBRARY_API bool heddle_library_device(unsigned number, struct library_device *device);

/* A call that fails, in words: a sentence on stderr under `heddle check`, and in the log. */
HEDDLE_LIBRARY_API void heddle_library_failed(const char *call, const char *why);

#endif

/* What the programs here share. Each is CUDA C for nvcc and, without nvcc, C: then the bodies of
 * kernels vanish, and the program registers the PTX that nvcc once made of it (PROGRAM.ptx beside
 * it), as nvcc's host code would.
 *
 * A program prints "ok - ..." or "not ok - ..." for each thing that it shows, and ends with `return
 * done();`.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __CUDACC__

/* clang-format off */
#define KERNEL              extern "C" __global__ void
#define BODY(...)           { __VA_ARGS__ }
#define DEVICE              __device__
#define CONSTANT            __constant__
#define MANAGED(type, name) __managed__ type name;
#define HOST(name)          name
#define REGISTER_KERNEL(name)
#define REGISTER_VARIABLE(name)
#define REGISTER_MANAGED(name)

#else

#define KERNEL              __attribute__((noinline)) void
#define BODY(...)           { __asm__ volatile(""); }
#define DEVICE
#define CONSTANT
#define MANAGED(type, name) static type *name;
#define __launch_bounds__(...)
#define HOST(name)          (*name##_storage()) /* a managed variable, of the host */
/* clang-format on */

static void **program_handle;

#define REGISTER_KERNEL(name)                                                                                          \
    __attribute__((constructor(201))) static void register_##name(void)                                                \
    {                                                                                                                  \
        __cudaRegisterFunction(program_handle, (const char *)(void *)&name, (char *)#name, #name, -1, 0, 0, 0, 0, 0);  \
    }
#define REGISTER_VARIABLE(name)                                                                                        \
    __attribute__((constructor(201))) static void register_##name(void)                                                \
    {                                                                                                                  \
        __cudaRegisterVar(program_handle, (char *)(void *)&name, (char *)#name, #name, 0, sizeof name, 0, 0);          \
    }
#define REGISTER_MANAGED(name)                                                                                         \
    __attribute__((constructor(201))) static void register_##name(void)                                                \
    {                                                                                                                  \
        __cudaRegisterManagedVar(program_handle, (void **)&name, (char *)#name, #name, 0, sizeof *name, 0, 0);         \
    }                                                                                                                  \
    static __typeof__(name) name##_storage(void)                                                                       \
    {                                                                                                                  \
        __cudaInitModule(program_handle);                                                                              \
        return name;                                                                                                   \
    }

/* The wrapper, and the header of an entry of the container, of a fat binary that has PTX alone. */
struct program_wrapper {
    unsigned magic, version;
    const void *container;
    const void **linked;
};

struct program_entry {
    unsigned short kind, unknown;
    unsigned header;
    unsigned long long size;
    unsigned compressed, options, version, sm;
    unsigned long long at32, flags, at48, uncompressed;
};

static void *program_container(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    size_t n = (size_t)ftell(f), padded = (n + 1 + 7) / 8 * 8;
    rewind(f);
    char *container = (char *)calloc(1, 16 + sizeof(struct program_entry) + padded);
    struct program_entry entry = {1, 0x101, sizeof entry, padded, 0, 0, 0x90000, 90, 0, 0x11, 0, 0};
    unsigned magic = 0xba55ed50, version = 0x100001;
    unsigned long long rest = sizeof entry + padded;
    memcpy(container, &magic, 4);
    memcpy(container + 4, &version, 4);
    memcpy(container + 8, &rest, 8);
    memcpy(container + 16, &entry, sizeof entry);
    if (fread(container + 16 + sizeof entry, 1, n, f) != n)
        exit(1);
    fclose(f);
    return container;
}

__attribute__((constructor(200))) static void program_register(void)
{
    static struct program_wrapper wrapper = {0x466243b1, 1, NULL, NULL};
    static const void *list[8];
    char paths[] = PROGRAM_PTX;
    unsigned n = 0;
    for (char *p = strtok(paths, ":"); p; p = strtok(NULL, ":"))
        list[n++] = program_container(p);
    wrapper.container = list[0];
    if (n > 1) { /* several, to be linked: nvcc -rdc=true */
        wrapper.version = 2;
        wrapper.linked = list;
    }
    program_handle = __cudaRegisterFatBinary(&wrapper);
    if (n > 1) /* as nvcc's code does when a library has one of the objects, too, and its turn comes */
        list[n] = list[n + 1] = list[0];
}

#endif

static int program_failures;

static inline int done(void)
{
    return program_failures != 0;
}

static inline void expect(int good, const char *what)
{
    printf("%sok - %s\n", good ? "" : "not ", what);
    fflush(stdout);
    program_failures += !good;
}

/* A call that must give this error. */
#define EXPECT_ERROR(call, error)                                                                                      \
    do {                                                                                                               \
        cudaError_t got_ = (call);                                                                                     \
        if (got_ != (error))                                                                                           \
            printf("# %s: %s\n", #call, cudaGetErrorName(got_));                                                       \
        expect(got_ == (error), #call " is " #error);                                                                  \
    } while (0)

/* A call that must succeed for the rest to make sense. */
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t got_ = (call);                                                                                     \
        if (got_ != cudaSuccess) {                                                                                     \
            printf("not ok - %s: %s (line %d)\n", #call, cudaGetErrorName(got_), __LINE__);                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline dim3 size3(unsigned x, unsigned y, unsigned z)
{
    dim3 d;
    d.x = x, d.y = y, d.z = z;
    return d;
}

static inline cudaError_t program_launch(const void *kernel, unsigned grid, unsigned block, size_t shared,
                                         cudaStream_t stream, void **args)
{
    return cudaLaunchKernel(kernel, size3(grid, 1, 1), size3(block, 1, 1), args, shared, stream);
}

/* Launches a kernel; pointers to its arguments follow the stream. */
#define LAUNCH(kernel, grid, block, shared, stream, ...)                                                               \
    ({                                                                                                                 \
        void *args_[] = {__VA_ARGS__};                                                                                 \
        program_launch((const void *)kernel, grid, block, shared, stream, args_);                                      \
    })

static inline void *device_memory(size_t n)
{
    void *p = NULL;
    CHECK(cudaMalloc(&p, n));
    CHECK(cudaMemset(p, 0, n));
    return p;
}

#endif

/* Registration of a program's device code by its host code: fat binaries, kernels, variables. nvcc
 * and clang write calls of these functions into constructors; they have no public manual, and are
 * declared in cuda_runtime_api.h.
 *
 * Each is loaded on first use, as under CUDA's lazy loading. Addresses of the host (of a kernel's
 * stub, of a variable's shadow) are the keys. They are indexed when the first is asked for: a
 * library such as torch registers tens of thousands of kernels whether the program uses one or
 * not.
 */
#include "cuda/runtime/runtime.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/wrapper.h"

/* One fat binary: what __cudaRegisterFatBinary returns. */
struct binary {
    struct binary *previous, *next; /* in the order of registration */
    const void *wrapper;            /* the program's wrapper, or the copy below */
    struct image_wrapper copy;
    CUlibrary library; /* NULL: not loaded yet */
    struct symbol *symbols, **end;
    struct symbol *unindexed; /* the first symbol that is not in the table yet */
    struct symbol *managed;
    struct symbol *in_place;
    unsigned n_in_place;
    bool loading_failed;
    CUresult failure;
    char *why; /* why it could not be loaded; NULL if that was reported elsewhere */
};

/* nvcc's managed variables are found by a pointer on the host; those of `heddle cc` are in place:
 * the host's variable itself. */
enum symbol_kind { SYMBOL_KERNEL, SYMBOL_VARIABLE, SYMBOL_MANAGED, SYMBOL_IN_PLACE, SYMBOL_TEXTURE, SYMBOL_SURFACE };

/* A kernel or a variable. */
struct symbol {
    const void *key;
    enum symbol_kind kind;
    struct binary *binary;
    struct symbol *next; /* of the same binary */
    const char *name;    /* the program's string */
    size_t bytes;
    struct rt_binding binding; /* for a texture reference */
    void **host_pointer;       /* for a managed variable: receives its address */
    CUkernel kernel;
    bool refused;                /* the user was told that it cannot be used */
    struct symbol *next_managed; /* or next in place */
};

/* Sections of host code with variables in place (include/cuda/host_defines.h), one for each program
 * and shared object. */
struct section {
    const char *start, *end;
    struct section *next;
};

/* Symbols by key, with open addressing, at most half full. If two have one key, the last registered
 * counts: a kernel of a template may be in several shared objects. */
static struct {
    pthread_mutex_t lock;
    struct symbol **at;
    size_t n, capacity;
    struct binary *first, *last;
    size_t unindexed;
    struct section *sections;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* in place of a removed symbol, because probing continues behind it */
static struct symbol removed = {.kind = SYMBOL_VARIABLE};

/* In a child of fork, where a thread of the parent may have held the lock. */
static void after_fork(void)
{
    pthread_mutex_init(&table.lock, NULL);
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, after_fork);
}

static struct symbol **slot(const void *key)
{
    size_t mask = table.capacity - 1;
    for (size_t i = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u >> 20 & mask;; i = (i + 1) & mask)
        if (!table.at[i] || table.at[i]->key == key)
            return &table.at[i];
}

/* Makes room for more symbols. */
static bool grow(size_t more)
{
    struct symbol **old = table.at;
    size_t old_capacity = table.capacity, n = 0, capacity = 64;
    if (2 * (table.n + more) <= old_capacity)
        return true;
    for (size_t i = 0; i < old_capacity; i++)
        n += old[i] && old[i] != &removed;
    while (capacity < 4 * (n + more))
        capacity *= 2;
    struct symbol **at = calloc(capacity, sizeof *at);
    if (!at)
        return false;
    table.at = at;
    table.n = n;
    table.capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i] && old[i] != &removed)
            *slot(old[i]->key) = old[i];
    free(old);
    return true;
}

static void put(struct symbol *s)
{
    struct symbol **at = slot(s->key);
    table.n += !*at;
    *at = s;
}

/* Returns false if memory is exhausted. Call with the lock held. */
static bool index_symbols(void)
{
    if (!table.unindexed)
        return true;
    if (!grow(table.unindexed))
        return false;
    for (struct binary *b = table.first; b; b = b->next)
        for (; b->unindexed; b->unindexed = b->unindexed->next)
            put(b->unindexed);
    table.unindexed = 0;
    return true;
}

/* Call with the lock held. */
static struct symbol *get(const void *key)
{
    return index_symbols() && table.capacity ? *slot(key) : NULL;
}

/* Loads the binary, unless that was done. Call with the lock held. */
static CUresult load(struct binary *b)
{
    if (b->library)
        return CUDA_SUCCESS;
    if (b->loading_failed)
        return b->failure;
    const char **names = calloc(b->n_in_place + 1, sizeof *names);
    const void **addresses = calloc(b->n_in_place + 1, sizeof *addresses);
    unsigned n = 0;
    char why[512] = "";
    for (struct symbol *s = b->in_place; s && names && addresses; s = s->next_managed) {
        names[n] = s->name;
        addresses[n++] = s->key;
    }
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_GLOBAL_SYMBOL_COUNT,
                              CU_JIT_GLOBAL_SYMBOL_NAMES, CU_JIT_GLOBAL_SYMBOL_ADDRESSES};
    void *values[] = {why, (void *)sizeof why, (void *)(uintptr_t)n, names, addresses};
    b->failure = n < b->n_in_place
                     ? CUDA_ERROR_OUT_OF_MEMORY
                     : cuLibraryLoadData(&b->library, b->wrapper, options, values, n ? 5 : 2, NULL, NULL, 0);
    b->loading_failed = b->failure != CUDA_SUCCESS;
    b->why = why[0] ? strdup(why) : NULL;
    free(names);
    free(addresses);
    return b->failure;
}

/* Tells the user once for each kernel or variable why its binary cannot be loaded. */
static void tell_refused(struct symbol *s)
{
    if (!s->refused && s->binary->why)
        heddle_symbol_refused(s->kind == SYMBOL_KERNEL ? "kernel" : "variable", s->name, s->key, s->binary->why);
    s->refused = true;
}

/* ---- registration ---- */

/* Keeps a copy of the list of objects that nvcc's code made. If a program and a shared library
 * contain the same object (-rdc=true), they share one function that adds to the list, which then
 * writes over its end when the second one registers; CUDA has read the list by then. */
static struct binary *new_binary(const void *fatbin)
{
    size_t n = 0;
    const struct image_wrapper *w = fatbin;
    bool has_objects = w && w->magic == IMAGE_WRAPPER_MAGIC && w->version == 2 && w->objects;
    while (has_objects && w->objects[n])
        n++;
    struct binary *b = calloc(1, sizeof *b + (n + 1) * sizeof *w->objects);
    if (!b)
        return NULL;
    b->wrapper = fatbin;
    b->end = &b->symbols;
    if (n) {
        const void **objects = (const void **)(b + 1);
        memcpy(objects, w->objects, n * sizeof *objects);
        b->copy = *w;
        b->copy.objects = objects;
        b->wrapper = &b->copy;
    }
    return b;
}

void **__cudaRegisterFatBinary(void *fatCubin)
{
    struct binary *b = new_binary(fatCubin);
    if (!b)
        return NULL;
    pthread_mutex_lock(&table.lock);
    b->previous = table.last;
    *(b->previous ? &b->previous->next : &table.first) = b;
    table.last = b;
    pthread_mutex_unlock(&table.lock);
    heddle_image_registered(fatCubin);
    return (void **)b;
}

/* The host may read a variable in place immediately, but its initial
 * value is in the device code. */
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle)
{
    struct binary *b = (struct binary *)fatCubinHandle;
    if (!b || !b->in_place || rt_enter() != cudaSuccess)
        return;
    pthread_mutex_lock(&table.lock);
    CUdeviceptr p;
    if (load(b) == CUDA_SUCCESS)
        /* An error is reported again when a kernel is used. */
        cuLibraryGetManaged(&p, NULL, b->library, b->in_place->name);
    pthread_mutex_unlock(&table.lock);
}

void __heddleManagedVariables(const char *start, const char *end)
{
    pthread_mutex_lock(&table.lock);
    struct section *s = table.sections;
    while (s && s->start != start)
        s = s->next;
    if (!s && (s = calloc(1, sizeof *s)) != NULL) {
        *s = (struct section){start, end, table.sections};
        table.sections = s;
    }
    pthread_mutex_unlock(&table.lock);
}

static bool is_in_place(const char *variable)
{
    for (const struct section *s = table.sections; s; s = s->next)
        if (variable >= s->start && variable < s->end)
            return true;
    return false;
}

static void remove_symbols(struct binary *b)
{
    bool indexed = true;
    for (struct symbol *s = b->symbols, *next; s; s = next) {
        next = s->next;
        indexed = indexed && s != b->unindexed;
        struct symbol **at = indexed ? slot(s->key) : NULL;
        table.unindexed -= !indexed;
        if (at && *at == s)
            *at = &removed;
        free(s);
    }
}

/* Called at the program's end, where kernels may still run, or when a shared object is unloaded. */
void __cudaUnregisterFatBinary(void **fatCubinHandle)
{
    struct binary *b = (struct binary *)fatCubinHandle;
    if (!b || rt_is_exiting())
        return;
    pthread_mutex_lock(&table.lock);
    remove_symbols(b);
    *(b->previous ? &b->previous->next : &table.first) = b->next;
    *(b->next ? &b->next->previous : &table.last) = b->previous;
    if (b->library)
        cuLibraryUnload(b->library);
    pthread_mutex_unlock(&table.lock);
    free(b->why);
    free(b);
}

static struct symbol *add(struct binary *b, const void *key, enum symbol_kind kind, const char *name, size_t bytes)
{
    struct symbol *s = b ? malloc(sizeof *s) : NULL;
    if (!s)
        return NULL;
    *s = (struct symbol){.key = key, .kind = kind, .binary = b, .name = name, .bytes = bytes};
    *b->end = s;
    b->end = &s->next;
    if (!b->unindexed)
        b->unindexed = s;
    table.unindexed++;
    return s;
}

void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun, const char *deviceName,
                            int thread_limit, uint3 *tid, uint3 *bid, dim3 *bDim, dim3 *gDim, int *wSize)
{
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid, (void)bDim, (void)gDim, (void)wSize;
    pthread_mutex_lock(&table.lock);
    add((struct binary *)fatCubinHandle, hostFun, SYMBOL_KERNEL, deviceName, 0);
    pthread_mutex_unlock(&table.lock);
}

void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress, const char *deviceName, int ext,
                       size_t size, int constant, int global)
{
    struct binary *b = (struct binary *)fatCubinHandle;
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    pthread_mutex_lock(&table.lock);
    bool in_place = is_in_place(hostVar);
    struct symbol *s = add(b, hostVar, in_place ? SYMBOL_IN_PLACE : SYMBOL_VARIABLE, deviceName, size);
    if (s && in_place) {
        s->next_managed = b->in_place;
        b->in_place = s;
        b->n_in_place++;
    }
    pthread_mutex_unlock(&table.lock);
}

void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant, int global)
{
    struct binary *b = (struct binary *)fatCubinHandle;
    (void)deviceAddress, (void)ext, (void)constant, (void)global;
    pthread_mutex_lock(&table.lock);
    struct symbol *s = add(b, hostVarPtrAddress, SYMBOL_MANAGED, deviceName, size);
    if (s) {
        s->host_pointer = hostVarPtrAddress;
        s->next_managed = b->managed;
        b->managed = s;
    }
    pthread_mutex_unlock(&table.lock);
}

/* Called before the program accesses a managed variable: stores its address where the program reads
   it. */
char __cudaInitModule(void **fatCubinHandle)
{
    struct binary *b = (struct binary *)fatCubinHandle;
    cudaError_t e = b ? rt_enter() : cudaErrorInvalidValue;
    if (e)
        return rt_return(e), 0;
    pthread_mutex_lock(&table.lock);
    CUresult r = load(b);
    if (r && b->managed)
        tell_refused(b->managed);
    for (struct symbol *s = b->managed; !r && s; s = s->next_managed) {
        CUdeviceptr p;
        size_t bytes;
        r = cuLibraryGetManaged(&p, &bytes, b->library, s->name);
        if (!r)
            *s->host_pointer = (void *)p;
    }
    pthread_mutex_unlock(&table.lock);
    return rt_return(rt_error_of(r)) == cudaSuccess;
}

/* ---- looking up ---- */

/* Is the function a kernel handle? The driver knows. */
static cudaError_t kernel_itself(const void *function, CUkernel *kernel)
{
    CUfunction unused;
    *kernel = (CUkernel)function;
    return cuKernelGetFunction(&unused, *kernel) ? rt_no_kernel() : cudaSuccess;
}

static cudaError_t kernel_of(const void *function, CUkernel *kernel)
{
    if (!function)
        return cudaErrorInvalidDeviceFunction;
    struct symbol *s = get(function);
    if (!s || s->kind != SYMBOL_KERNEL)
        return kernel_itself(function, kernel);
    if (!s->kernel) {
        CUresult r = load(s->binary);
        if (r)
            tell_refused(s);
        if (!r)
            r = cuLibraryGetKernel(&s->kernel, s->binary->library, s->name);
        if (r)
            return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidDeviceFunction : rt_error_of(r);
    }
    *kernel = s->kernel;
    return cudaSuccess;
}

cudaError_t rt_kernel_of(const void *function, CUkernel *kernel)
{
    cudaError_t e = rt_enter();
    if (e)
        return e;
    pthread_mutex_lock(&table.lock);
    e = kernel_of(function, kernel);
    pthread_mutex_unlock(&table.lock);
    return e;
}

cudaError_t rt_kernel_to_launch(const void *function, CUkernel *kernel)
{
    cudaError_t e = rt_kernel_of(function, kernel);
    if (!e)
        return e;
    pthread_mutex_lock(&table.lock);
    const struct symbol *s = get(function);
    bool refused = s && s->binary && (s->binary->why || e == cudaErrorNoKernelImageForDevice);
    pthread_mutex_unlock(&table.lock);
    if (refused)
        heddle_launch_refused();
    return e;
}

const void *rt_function_of(CUkernel kernel)
{
    const void *function = kernel;
    pthread_mutex_lock(&table.lock);
    for (size_t i = 0; i < table.capacity; i++) {
        const struct symbol *s = table.at[i];
        if (s && s->kind == SYMBOL_KERNEL && s->kernel == kernel && s->key != kernel)
            function = s->key;
    }
    pthread_mutex_unlock(&table.lock);
    return function;
}

static cudaError_t variable_of(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    struct symbol *s = get(symbol);
    if (!s || s->kind == SYMBOL_KERNEL || s->kind >= SYMBOL_TEXTURE || !s->binary)
        return cudaErrorInvalidSymbol;
    CUresult r = load(s->binary);
    if (r)
        tell_refused(s);
    else
        r = cuLibraryGetGlobal(address, bytes, s->binary->library, s->name);
    return r == CUDA_ERROR_NOT_FOUND ? cudaErrorInvalidSymbol : rt_error_of(r);
}

/* A managed variable's symbol is its own address. */
static bool is_managed(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    for (const struct binary *b = table.first; b; b = b->next)
        for (const struct symbol *s = b->managed; s; s = s->next_managed)
            if (*s->host_pointer == symbol) {
                *address = (CUdeviceptr)symbol;
                *bytes = s->bytes;
                return true;
            }
    return false;
}

cudaError_t rt_variable_of(const void *symbol, CUdeviceptr *address, size_t *bytes)
{
    cudaError_t e = rt_enter();
    if (e)
        return e;
    pthread_mutex_lock(&table.lock);
    e = variable_of(symbol, address, bytes);
    if (e == cudaErrorInvalidSymbol && is_managed(symbol, address, bytes))
        e = cudaSuccess;
    pthread_mutex_unlock(&table.lock);
    return e;
}

cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol)
{
    CUdeviceptr address = 0;
    size_t bytes;
    cudaError_t e = devPtr ? rt_variable_of(symbol, &address, &bytes) : cudaErrorInvalidValue;
    if (!e)
        *devPtr = (void *)address;
    return rt_return(e);
}

cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    CUdeviceptr address;
    size_t bytes = 0;
    cudaError_t e = size ? rt_variable_of(symbol, &address, &bytes) : cudaErrorInvalidValue;
    if (!e)
        *size = bytes;
    return rt_return(e);
}

/* ---- references of textures and surfaces ---- */

void rt_register_reference(void **fatCubinHandle, const void *host, bool is_surface, const char *name,
                           enum cudaTextureReadMode mode)
{
    pthread_mutex_lock(&table.lock);
    enum symbol_kind kind = is_surface ? SYMBOL_SURFACE : SYMBOL_TEXTURE;
    struct symbol *s = add((struct binary *)fatCubinHandle, host, kind, name, 0);
    if (s)
        s->binding = (struct rt_binding){mode, RT_UNBOUND};
    pthread_mutex_unlock(&table.lock);
}

static CUresult reference_of(struct symbol *s, CUtexref *reference)
{
    CUresult r = load(s->binary);
    if (r) {
        tell_refused(s);
        return r;
    }
    CUmodule m = (CUmodule)s->binary->library;
    return s->kind == SYMBOL_SURFACE ? cuModuleGetSurfRef((CUsurfref *)reference, m, s->name)
                                     : cuModuleGetTexRef(reference, m, s->name);
}

cudaError_t rt_reference_of(const void *host, bool is_surface, CUtexref *reference, struct rt_binding **binding)
{
    cudaError_t none = is_surface ? cudaErrorInvalidSurface : cudaErrorInvalidTexture;
    cudaError_t e = rt_enter();
    if (e)
        return e;
    pthread_mutex_lock(&table.lock);
    struct symbol *s = get(host);
    if (!s || s->kind != (is_surface ? SYMBOL_SURFACE : SYMBOL_TEXTURE)) {
        e = none;
    } else {
        CUresult r = reference_of(s, reference);
        *binding = &s->binding;
        e = r == CUDA_ERROR_NOT_FOUND ? none : rt_error_of(r);
    }
    pthread_mutex_unlock(&table.lock);
    return e;
}

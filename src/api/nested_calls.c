/* The device runtime's answers to calls of lanes; see nested.h. Statuses and numbers are an H200's
 * (tests/nested). */
#include "api/nested.h"

#include <stdlib.h>

#include "api/memory_task.h"
#include <cuda/driver_types.h>

enum { MOST_PARAMETER_BYTES = 4096, RUNTIME_VERSION = 6000 };

/* ---- arguments and results ---- */

static uint64_t arg(const struct nested_call *c, unsigned i)
{
    return nested_argument(c, i);
}

/* Tells the checker that a function of the runtime has written memory. */
static void nest_defined(const struct nest *n, uint64_t at, uint64_t bytes)
{
    const hd_machine *m = nest_machine(n);
    if (m->checker)
        checker_memory(m->checker->checker, HOST_DEFINED, (const void *)(uintptr_t)at, bytes);
}

/* Stores a result where the caller's pointer leads. */
static void store(const struct nest *n, struct nested_call *c, unsigned pointer, const void *value, uint32_t bytes)
{
    if (nested_write(c, arg(c, pointer), value, bytes) && nested_is_global(c, arg(c, pointer)))
        nest_defined(n, arg(c, pointer), bytes);
}

/* The same; a null pointer is an invalid value. */
static enum nest_error give(const struct nest *n, struct nested_call *c, unsigned pointer, const void *value,
                            uint32_t bytes)
{
    if (!arg(c, pointer))
        return NEST_INVALID_VALUE;
    store(n, c, pointer, value, bytes);
    return NEST_SUCCESS;
}

static enum nest_error give_int(const struct nest *n, struct nested_call *c, unsigned pointer, int value)
{
    return give(n, c, pointer, &value, sizeof value);
}

static uint64_t stream_of(const struct nested_call *c, unsigned i)
{
    uint64_t s = arg(c, i);
    return c->own_stream && s == NEST_STREAM_NULL ? (uint64_t)NEST_STREAM_PER_THREAD : s;
}

/* ---- texts of errors ---- */

static const struct {
    int number;
    const char *name, *text;
} errors[] = {{0, "cudaSuccess", "no error"},
#define CUDA_ERROR(number, name, text) {number, "cudaError" #name, text},
#include <cuda/cuda_errors.def>
#undef CUDA_ERROR
              {-1, "unrecognized error code", "unrecognized error code"}};
enum { N_ERRORS = sizeof errors / sizeof errors[0] };

static size_t error_bytes(void)
{
    size_t n = 0;
    for (size_t i = 0; i < N_ERRORS; i++)
        n += strlen(errors[i].name) + strlen(errors[i].text) + 2;
    return n;
}

/* The texts of all errors, in the machine's memory; 0 if memory is exhausted. */
static uint64_t error_texts(hd_machine *m)
{
    pthread_mutex_lock(&m->lock);
    char *at = (char *)(uintptr_t)m->error_texts, *to;
    if (!at && (to = at = mem_alloc(&m->machine->mem, error_bytes(), MEM_CONST, "names of errors")))
        for (size_t i = 0; i < N_ERRORS; i++) {
            to = stpcpy(to, errors[i].name) + 1;
            to = stpcpy(to, errors[i].text) + 1;
        }
    m->error_texts = (uint64_t)(uintptr_t)at;
    pthread_mutex_unlock(&m->lock);
    return m->error_texts;
}

static uint64_t text_of(const struct nest *n, const struct nested_call *c)
{
    int number = (int)arg(c, 0);
    uint64_t at = error_texts(nest_machine(n));
    size_t i = 0;
    for (; at && i < N_ERRORS - 1 && errors[i].number != number; i++)
        at += strlen(errors[i].name) + strlen(errors[i].text) + 2;
    return at && c->what == SYSCALL_GET_ERROR_STRING ? at + strlen(errors[i].name) + 1 : at;
}

/* ---- the device ---- */

static enum nest_error get_attribute(const struct nest *n, struct nested_call *c)
{
    int value = 0, number = (int)arg(c, 1);
    uint32_t device = (uint32_t)arg(c, 2);
    /* A kernel sees only its own device, as number 0; an H200 says 0 of number 1, and refuses 3
     * and -1. */
    if (device)
        return device == 1 ? give_int(n, c, 0, 0) : NEST_INVALID_DEVICE;
    bool known = number == 0 || hd_machine_get_attribute(nest_machine(n), number, &value);
    return known ? give_int(n, c, 0, value) : NEST_INVALID_VALUE;
}

/* Limits where no driver tells them. A stack here is never smaller than LEAST_STACK. CUDA's
 * default, unless the program sets a size, is DEFAULT_STACK. */
enum { LEAST_STACK = 64 << 10, DEFAULT_STACK = 1024 };

static uint64_t limit_of(const struct machine_config *m, unsigned number)
{
    switch (number) {
    case cudaLimitStackSize: return m->stack_bytes > LEAST_STACK ? m->stack_bytes : DEFAULT_STACK;
    case cudaLimitPrintfFifoSize: return m->print_bytes;
    case cudaLimitMallocHeapSize: return m->heap_bytes;
    case cudaLimitDevRuntimePendingLaunchCount: return m->pending_launches;
    default: return 0;
    }
}

/* Beyond the limits that have names, an H200 has the number of its multiprocessors (recorded). */
static enum nest_error get_limit(const struct nest *n, struct nested_call *c)
{
    enum { SHARED_FALLBACK = 9, MULTIPROCESSORS = 10 };
    uint64_t number = arg(c, 1), value;
    if (number > MULTIPROCESSORS)
        return NEST_INVALID_VALUE;
    bool known = number != cudaLimitDevRuntimeSyncDepth && number != SHARED_FALLBACK;
    const struct machine *m = nest_machine(n)->machine;
    value = !known                      ? UINT64_MAX
            : number == MULTIPROCESSORS ? m->model->multiprocessors
            : nest_limits(n)            ? nest_limits(n)[number]
                                        : limit_of(&m->config, (unsigned)number);
    enum nest_error e = give(n, c, 0, &value, sizeof value);
    return e || known ? e : NEST_UNSUPPORTED_LIMIT;
}

/* ---- kernels ---- */

/* A runtime that reads memory at a handle that is none: it faults, if it cannot. */
static void read_handle(struct nested_call *c, uint64_t handle, uint64_t alignment, enum fault_kind kind)
{
    if (handle % alignment)
        nested_fault(c, FAULT_misaligned_handle, handle);
    else if (!nested_has(c, handle, sizeof handle))
        nested_fault(c, kind, handle);
}

/* The kernel at an address, or NULL. An address outside memory is a fault, and so is one inside
 * of a function; any other address is an invalid configuration. */
static hd_kernel *kernel_of(struct nest *n, struct nested_call *c, unsigned i, uint64_t alignment, enum nest_error *e)
{
    uint64_t address = arg(c, i);
    hd_kernel *k = nest_kernel(n, c, address);
    *e = k ? NEST_SUCCESS : NEST_INVALID_CONFIGURATION;
    if (k || nest_is_function(n, address))
        return k;
    if (nest_is_code(n, address) && address % alignment == 0)
        nested_fault(c, FAULT_inside_kernel, address);
    else
        read_handle(c, address, alignment, FAULT_no_kernel);
    return NULL;
}
enum { LAUNCH_ALIGNMENT = 8, QUERY_ALIGNMENT = 4 };

/* Members of newer versions keep the caller's values. */
static const uint32_t ATTRIBUTE_BYTES = offsetof(struct cudaFuncAttributes, cacheModeCA);

static enum nest_error get_attributes(struct nest *n, struct nested_call *c)
{
    enum nest_error e;
    if (!arg(c, 1))
        return NEST_INVALID_VALUE;
    hd_kernel *k = kernel_of(n, c, 1, QUERY_ALIGNMENT, &e);
    struct cudaFuncAttributes none = {0};
    hd_kernel_info info;
    hd_variable_info v;
    if (!k) /* an H200 returns this for any other function, too */
        return give(n, c, 0, &none, ATTRIBUTE_BYTES);
    hd_kernel_get_info(k, &info);
    int arch = (int)nest_machine(n)->machine->model->arch;
    struct cudaFuncAttributes a = {.sharedSizeBytes = info.static_shared_bytes,
                                   .localSizeBytes = info.local_bytes,
                                   .maxThreadsPerBlock = (int)info.max_threads,
                                   .numRegs = (int)info.registers,
                                   .ptxVersion = arch,
                                   .binaryVersion = arch};
    for (size_t i = 0; hd_module_get_variable(k->module, i, &v); i++)
        a.constSizeBytes += strcmp(v.space, "const") == 0 ? v.bytes : 0;
    return give(n, c, 0, &a, ATTRIBUTE_BYTES);
}

/* A null pointer is a fault. More dynamic shared memory than kernels have unless the host allows it
 * leaves no block. */
static enum nest_error occupancy(struct nest *n, struct nested_call *c)
{
    enum nest_error e;
    int threads = (int)arg(c, 2), blocks = 0;
    hd_kernel *k = kernel_of(n, c, 1, QUERY_ALIGNMENT, &e);
    hd_kernel_info info = {0};
    if (k)
        hd_kernel_get_info(k, &info);
    if (k && threads > 0 && info.static_shared_bytes + arg(c, 3) <= DEVICE_MAX_SHARED_MEMORY_PER_BLOCK)
        blocks = (int)hd_kernel_max_blocks(k, (unsigned)threads, arg(c, 3));
    if (!c->failed)
        store(n, c, 0, &blocks, sizeof blocks);
    return k && threads <= 0 ? NEST_INVALID_VALUE : NEST_SUCCESS;
}

/* ---- launches ---- */

static hd_launch_config config_of(const struct nested_call *c, unsigned first)
{
    hd_launch_config config = {.shared_bytes = (uint32_t)arg(c, first + 2)};
    nested_bytes(c, first, config.grid, sizeof config.grid);
    nested_bytes(c, first + 1, config.block, sizeof config.block);
    return config;
}

static uint64_t parameters(struct nest *n, struct nested_call *c)
{
    enum nest_error e;
    hd_kernel *k = kernel_of(n, c, 0, LAUNCH_ALIGNMENT, &e);
    hd_launch_config config = config_of(c, 1);
    return c->failed ? 0 : nest_parameters(n, c, k, &config, MOST_PARAMETER_BYTES);
}

/* Launches by CDP1's functions, which name the kernel at the launch. */
static enum nest_error launch_named(struct nest *n, struct nested_call *c)
{
    enum nest_error e;
    hd_kernel *k = kernel_of(n, c, 0, LAUNCH_ALIGNMENT, &e);
    hd_launch_config config = config_of(c, 2);
    return k ? nest_launch(n, c, arg(c, 1), stream_of(c, 5), k, &config) : e;
}

/* ---- memory ---- */

static enum nest_error device_malloc(const struct nest *n, struct nested_call *c)
{
    uint64_t bytes = arg(c, 1), p = nested_malloc(c, bytes);
    return p ? give(n, c, 0, &p, sizeof p) : bytes ? NEST_MEMORY_ALLOCATION : NEST_INVALID_VALUE;
}

static uint64_t extent(uint64_t width, uint64_t height, uint64_t depth, uint64_t pitch, uint64_t slice)
{
    const struct box b = {NULL, width, height, depth, pitch, slice};
    return box_extent(&b);
}

/* Submits a copy or a fill, for which a stream that does not exist is an unknown error. */
static enum nest_error put_task(struct nest *n, struct nested_call *c, struct task *t, unsigned stream)
{
    enum nest_error e = t ? nest_put(n, c, t, stream_of(c, stream)) : NEST_MEMORY_ALLOCATION;
    return e == NEST_INVALID_VALUE ? NEST_UNKNOWN : e;
}

static enum nest_error put_copy(struct nest *n, struct nested_call *c, const hd_copy *x, int kind, unsigned stream)
{
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return NEST_INVALID_MEMCPY_DIRECTION;
    if (x->width * x->height * x->depth == 0)
        return NEST_SUCCESS;
    if (!nested_is_global(c, (uintptr_t)x->to) || !nested_is_global(c, (uintptr_t)x->from))
        return NEST_INVALID_VALUE;
    if (!nested_may_use(c, (uintptr_t)x->to, extent(x->width, x->height, x->depth, x->to_pitch, x->to_slice), true) ||
        !nested_may_use(c, (uintptr_t)x->from, extent(x->width, x->height, x->depth, x->from_pitch, x->from_slice),
                        false))
        return NEST_SUCCESS;
    return put_task(n, c, copy_task_new(nest_machine(n), x), stream);
}

static enum nest_error copy(struct nest *n, struct nested_call *c)
{
    const hd_copy x = {.to = (void *)(uintptr_t)arg(c, 0),
                       .from = (const void *)(uintptr_t)arg(c, 1),
                       .width = arg(c, 2),
                       .height = 1,
                       .depth = 1};
    return put_copy(n, c, &x, (int)arg(c, 3), 4);
}

static enum nest_error copy_2d(struct nest *n, struct nested_call *c)
{
    const hd_copy x = {.to = (void *)(uintptr_t)arg(c, 0),
                       .to_pitch = arg(c, 1),
                       .from = (const void *)(uintptr_t)arg(c, 2),
                       .from_pitch = arg(c, 3),
                       .width = arg(c, 4),
                       .height = arg(c, 5),
                       .depth = 1};
    if (x.height > 1 && (x.width > x.to_pitch || x.width > x.from_pitch))
        return NEST_INVALID_PITCH;
    return put_copy(n, c, &x, (int)arg(c, 6), 7);
}

static uint64_t position(struct cudaPitchedPtr p, struct cudaPos at)
{
    return (uint64_t)(uintptr_t)p.ptr + at.x + (at.y + at.z * p.ysize) * p.pitch;
}

static enum nest_error copy_3d(struct nest *n, struct nested_call *c)
{
    struct cudaMemcpy3DParms p;
    if (!arg(c, 0))
        return NEST_INVALID_VALUE;
    if (!nested_read(c, arg(c, 0), &p, sizeof p))
        return NEST_SUCCESS;
    if (p.srcArray || p.dstArray)
        return NEST_INVALID_VALUE;
    if (p.extent.width > p.srcPtr.pitch || p.extent.width > p.dstPtr.pitch)
        return NEST_INVALID_PITCH;
    const hd_copy x = {.to = (void *)(uintptr_t)position(p.dstPtr, p.dstPos),
                       .from = (const void *)(uintptr_t)position(p.srcPtr, p.srcPos),
                       .width = p.extent.width,
                       .height = p.extent.height,
                       .depth = p.extent.depth,
                       .to_pitch = p.dstPtr.pitch,
                       .from_pitch = p.srcPtr.pitch,
                       .to_slice = p.dstPtr.pitch * p.dstPtr.ysize,
                       .from_slice = p.srcPtr.pitch * p.srcPtr.ysize};
    return put_copy(n, c, &x, p.kind, 1);
}

/* Fills slices `slice` bytes apart, of rows `pitch` bytes apart. An H200 fills them with zeros,
 * whatever the value (CUDA 13.0). */
static enum nest_error fill(struct nest *n, struct nested_call *c, const hd_fill *x, uint64_t depth, uint64_t slice,
                            unsigned stream)
{
    enum nest_error e = NEST_SUCCESS;
    hd_fill f = *x;
    if (f.width * f.height * depth == 0)
        return NEST_SUCCESS;
    if ((f.width > f.pitch && f.height * depth > 1) || !nested_is_global(c, (uintptr_t)f.to))
        return NEST_INVALID_VALUE;
    if (f.value & 0xff)
        nest_tell_zeros(n, c);
    f.value = 0;
    if (!nested_may_use(c, (uintptr_t)f.to, extent(f.width, f.height, depth, f.pitch, slice), true))
        return NEST_SUCCESS;
    for (uint64_t z = 0; z < depth && !e; z++) {
        f.to = (char *)x->to + z * slice;
        e = put_task(n, c, fill_task_new(nest_machine(n), &f), stream);
    }
    return e;
}

static enum nest_error fill_1d(struct nest *n, struct nested_call *c)
{
    const hd_fill f = {.to = (void *)(uintptr_t)arg(c, 0),
                       .value = (uint32_t)arg(c, 1),
                       .element_bytes = 1,
                       .width = arg(c, 2),
                       .height = 1};
    return fill(n, c, &f, 1, 0, 3);
}

static enum nest_error fill_2d(struct nest *n, struct nested_call *c)
{
    const hd_fill f = {.to = (void *)(uintptr_t)arg(c, 0),
                       .pitch = arg(c, 1),
                       .value = (uint32_t)arg(c, 2),
                       .element_bytes = 1,
                       .width = arg(c, 3),
                       .height = arg(c, 4)};
    return fill(n, c, &f, 1, 0, 5);
}

static enum nest_error fill_3d(struct nest *n, struct nested_call *c)
{
    struct cudaPitchedPtr p;
    struct cudaExtent e;
    nested_bytes(c, 0, &p, sizeof p);
    nested_bytes(c, 2, &e, sizeof e);
    const hd_fill f = {.to = p.ptr,
                       .pitch = p.pitch,
                       .value = (uint32_t)arg(c, 1),
                       .element_bytes = 1,
                       .width = e.width,
                       .height = e.height};
    return fill(n, c, &f, e.depth, p.pitch * p.ysize, 3);
}

/* ---- streams and events ---- */

static enum nest_error create_stream(struct nest *n, struct nested_call *c)
{
    uint64_t handle;
    if (!arg(c, 0) || arg(c, 1) > cudaStreamNonBlocking)
        return NEST_INVALID_VALUE;
    enum nest_error e = nest_stream_create(n, c, &handle);
    return e ? e : give(n, c, 0, &handle, sizeof handle);
}

/* Events in kernels record no time. */
static enum nest_error create_event(struct nest *n, struct nested_call *c)
{
    uint64_t handle;
    if (!arg(c, 0) || (arg(c, 1) & ~(uint64_t)cudaEventBlockingSync) != cudaEventDisableTiming)
        return NEST_INVALID_VALUE;
    enum nest_error e = nest_event_create(n, &handle);
    return e ? e : give(n, c, 0, &handle, sizeof handle);
}

/* What is no handle of any grid is read as memory. */
static enum nest_error use_event(struct nest *n, struct nested_call *c, unsigned i)
{
    uint64_t event = arg(c, i);
    if (event && !nest_is_handle(event))
        read_handle(c, event, sizeof(uint32_t), FAULT_no_event);
    return c->what == SYSCALL_EVENT_DESTROY  ? nest_event_destroy(n, event)
           : c->what == SYSCALL_EVENT_RECORD ? nest_event_record(n, c, event, stream_of(c, 1))
                                             : nest_event_wait(n, c, event, stream_of(c, 0));
}

/* ---- all ---- */

/* Calls whose errors are not the thread's last one. */
static bool forgets_errors(const struct nested_call *c)
{
    return c->what == SYSCALL_OCCUPANCY || c->what == SYSCALL_OCCUPANCY_WITH_FLAGS ||
           c->what == SYSCALL_GET_DEVICE_COUNT || (c->what == SYSCALL_DEVICE_GET_LIMIT && !arg(c, 0));
}

static enum nest_error answer(struct nest *n, struct nested_call *c)
{
    switch (c->what) {
    case SYSCALL_DEVICE_GET_ATTRIBUTE: return get_attribute(n, c);
    case SYSCALL_DEVICE_GET_LIMIT: return get_limit(n, c);
    /* cudaFuncCachePreferNone. */
    case SYSCALL_DEVICE_GET_CACHE_CONFIG: return give_int(n, c, 0, 0);
    /* cudaSharedMemBankSizeFourByte. */
    case SYSCALL_DEVICE_GET_SHARED_MEM_CONFIG: return give_int(n, c, 0, 1);
    case SYSCALL_GET_DEVICE_COUNT: return give_int(n, c, 0, 1);
    case SYSCALL_GET_DEVICE: return give_int(n, c, 0, 0);
    case SYSCALL_RUNTIME_GET_VERSION: return give_int(n, c, 0, RUNTIME_VERSION);
    case SYSCALL_STREAM_CREATE: return create_stream(n, c);
    case SYSCALL_STREAM_DESTROY: return nest_stream_destroy(n, arg(c, 0));
    case SYSCALL_EVENT_CREATE: return create_event(n, c);
    case SYSCALL_EVENT_DESTROY:
    case SYSCALL_EVENT_RECORD: return use_event(n, c, 0);
    case SYSCALL_STREAM_WAIT_EVENT: return use_event(n, c, 1);
    case SYSCALL_FUNC_GET_ATTRIBUTES: return get_attributes(n, c);
    case SYSCALL_DEVICE_FREE: nested_free(c, arg(c, 0)); return NEST_SUCCESS;
    case SYSCALL_DEVICE_MALLOC: return device_malloc(n, c);
    case SYSCALL_OCCUPANCY:
    case SYSCALL_OCCUPANCY_WITH_FLAGS: return occupancy(n, c);
    case SYSCALL_LAUNCH_DEVICE: return launch_named(n, c);
    case SYSCALL_LAUNCH_DEVICE_V2: return nest_launch(n, c, arg(c, 0), stream_of(c, 1), NULL, NULL);
    case SYSCALL_MEMCPY: return copy(n, c);
    case SYSCALL_MEMCPY_2D: return copy_2d(n, c);
    case SYSCALL_MEMCPY_3D: return copy_3d(n, c);
    case SYSCALL_MEMSET: return fill_1d(n, c);
    case SYSCALL_MEMSET_2D: return fill_2d(n, c);
    default: return fill_3d(n, c);
    }
}

static uint64_t call(void *data, struct nested_call *c)
{
    struct nest *n = data;
    switch (c->what) {
    case SYSCALL_GET_LAST_ERROR:
    case SYSCALL_PEEK_AT_LAST_ERROR: return nest_last_error(n, c, c->what == SYSCALL_GET_LAST_ERROR);
    case SYSCALL_GET_ERROR_STRING:
    case SYSCALL_GET_ERROR_NAME: return text_of(n, c);
    case SYSCALL_GET_PARAMETER_BUFFER_V2: return parameters(n, c);
    /* sets no last error, as on an H200 */
    case SYSCALL_GRAPH_LAUNCH: return nest_launch_graph(n, c, arg(c, 0), arg(c, 1));
    case SYSCALL_GET_PARAMETER_BUFFER: return nest_parameters(n, c, NULL, NULL, arg(c, 1));
    default: {
        enum nest_error e = answer(n, c);
        return forgets_errors(c) ? e : nest_failed(n, c, e);
    }
    }
}

const struct nested_hooks nest_hooks = {call, nest_hold, nest_forget, nest_let_go};

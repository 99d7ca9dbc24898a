/* See state.h. The mutable state of the process, but for what is kept about it (watch.c, stack.c, summary.c). */
#include "cuda/state.h"

#include "cuda/auto_device.h"
#include "cuda/check.h"
#include "cuda/explain.h"
#include "cuda/limits.h"
#include "cuda/mapping.h"
#include "cuda/module.h"
#include "cuda/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PRINT_BYTES = 1 << 20, STACK_DEPTH = 64 };

static struct {
    bool ready, forked;
    int n_devices;
    struct limits limits;
    struct device devices[MAX_DEVICES];
    pthread_mutex_t lock, primary_lock;
    uint64_t numbers;
    struct CUctx_st *contexts;
    struct CUmod_st *libraries;
    struct registered *registered; /* by address */
    size_t n_registered, cap_registered;
    struct mappings mappings;
    pthread_mutex_t print_lock;
    char *printed;
    size_t n_printed;
    pthread_key_t own_streams;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .primary_lock = PTHREAD_MUTEX_INITIALIZER,
           .print_lock = PTHREAD_MUTEX_INITIALIZER};

/* What is current in a thread, newest last; an empty place is a NULL that was set. */
static _Thread_local struct {
    CUcontext at[STACK_DEPTH];
    unsigned n;
} stack;

void state_lock(void)
{
    pthread_mutex_lock(&state.lock);
}

void state_unlock(void)
{
    pthread_mutex_unlock(&state.lock);
}

void primary_lock(void)
{
    pthread_mutex_lock(&state.primary_lock);
}

void primary_unlock(void)
{
    pthread_mutex_unlock(&state.primary_lock);
}

uint64_t state_number(void)
{
    return __atomic_add_fetch(&state.numbers, 1, __ATOMIC_RELAXED);
}

/* ---- start ---- */

/* A child has no threads of its parent: CUDA must be used before fork or after it, not both. The child is told so by every
 * call, whichever lock one of those threads held. */
static void after_fork(void)
{
    state.forked = state.ready;
    pthread_mutex_init(&state.lock, NULL);
    pthread_mutex_init(&state.primary_lock, NULL);
    pthread_mutex_init(&state.print_lock, NULL);
    state.n_printed = 0; /* the parent prints it */
    check_after_fork();
    explain_after_fork();
}

static void drop_own_streams(void *list);

static int count_devices(void)
{
    const char *text = secure_getenv("HEDDLE_DEVICES"), *visible = secure_getenv("CUDA_VISIBLE_DEVICES");
    int n = text ? atoi(text) : 1, seen = 0;
    n = n < 0 ? 0 : n > MAX_DEVICES ? MAX_DEVICES : n;
    /* The devices are all alike: how many of those named exist, up to the first that does not. */
    for (const char *p = visible; p && seen < n; p = strchr(p, ',')) {
        char *end;
        p += *p == ',';
        long i = strtol(p, &end, 10);
        if (end == p || i < 0 || i >= n)
            break;
        seen++;
    }
    return visible ? seen : n;
}

static CUresult start(void)
{
    if (!limits_read(&state.limits) || !check_start() || !explain_start(contexts_finish))
        return CUDA_ERROR_INVALID_VALUE;
    state.n_devices = count_devices();
    for (int i = 0; i < MAX_DEVICES; i++)
        state.devices[i].ordinal = i;
    pthread_key_create(&state.own_streams, drop_own_streams);
    pthread_atfork(NULL, NULL, after_fork);
    state.ready = true;
    return CUDA_SUCCESS;
}

CUresult state_init(void)
{
    CUresult r = CUDA_SUCCESS;
    state_lock();
    if (state.forked)
        r = CUDA_ERROR_NOT_INITIALIZED;
    else if (!state.ready)
        r = start();
    if (!r && state.n_devices == 0)
        r = CUDA_ERROR_NO_DEVICE;
    state_unlock();
    return r;
}

CUresult state_ready(void)
{
    return state.ready && !state.forked ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

const struct limits *state_limits(void)
{
    return &state.limits;
}

int state_device_count(void)
{
    return state.n_devices;
}

/* ---- what kernels print ---- */

static void write_out(const char *text, size_t bytes)
{
    fwrite(text, 1, bytes, stdout);
}

void print_flush(void)
{
    if (!__atomic_load_n(&state.n_printed, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&state.print_lock);
    write_out(state.printed, state.n_printed);
    state.n_printed = 0;
    pthread_mutex_unlock(&state.print_lock);
}

/* Kept until the host waits for the device, as CUDA does, so that a program's own output comes out in the same order. */
static void keep_print(void *data, const char *text, size_t bytes)
{
    (void)data;
    pthread_mutex_lock(&state.print_lock);
    if (!state.printed)
        state.printed = malloc(PRINT_BYTES);
    if (!state.printed || state.n_printed + bytes > PRINT_BYTES) {
        write_out(state.printed, state.n_printed);
        state.n_printed = 0;
    }
    if (!state.printed || bytes > PRINT_BYTES) {
        write_out(text, bytes);
    } else {
        memcpy(state.printed + state.n_printed, text, bytes);
        state.n_printed += bytes;
    }
    pthread_mutex_unlock(&state.print_lock);
}

static void show_note(void *data, const char *text)
{
    (void)data;
    fprintf(stderr, "heddle: %s\n", text);
}

/* ---- devices ---- */

bool host_is_pageable(void)
{
    const char *text = secure_getenv("HEDDLE_PAGEABLE");
    return text && *text && strcmp(text, "0") != 0;
}

static size_t put_range(hd_range *ranges, size_t n, size_t at, const void *start, size_t bytes)
{
    if (at < n)
        ranges[at] = (hd_range){start, bytes};
    return at + 1;
}

/* What kernels reach beside their own device's memory: registered memory, what is mapped, and other devices'. */
static size_t host_ranges(void *data, hd_range *ranges, size_t n)
{
    size_t at = 0;
    (void)data;
    state_lock();
    for (size_t i = 0; i < state.n_registered; i++)
        at = put_range(ranges, n, at, state.registered[i].start, state.registered[i].bytes);
    for (size_t i = 0; i < state.mappings.n; i++)
        at = put_range(ranges, n, at, state.mappings.at[i].start, state.mappings.at[i].bytes);
    for (int i = 0; i < state.n_devices; i++) {
        hd_machine_info info;
        if (!state.devices[i].machine)
            continue;
        hd_machine_get_info(state.devices[i].machine, &info);
        at = put_range(ranges, n, at, info.addresses.start, info.addresses.bytes);
    }
    state_unlock();
    return at;
}

static CUresult make_machine(struct device *d)
{
    hd_machine_options o = {.print = keep_print,
                            .note = show_note,
                            .host_memory = host_is_pageable(),
                            .host_ranges = host_ranges,
                            .guarded = watch_is_on(),
                            .origin = watch_is_on() ? watch_origin : NULL,
                            .memory_bytes = state.limits.memory_bytes,
                            .stack_bytes = state.limits.stack_bytes,
                            .step_limit = state.limits.steps,
                            .engine = check_options() ? HD_ENGINE_INTERP : HD_ENGINE_AUTO,
                            .policy = check_options() ? check_options()->policy : NULL,
                            .device = secure_getenv("HEDDLE_DEVICE")};
    const char *error = NULL;
    hd_machine *machine = NULL;
    bool chooses = o.device && strcmp(o.device, "auto") == 0;
    hd_result r = (chooses ? auto_machine : hd_machine_create)(&o, &machine, &error);
    if (!r && ((r = check_machine(machine)) || (r = explain_machine(machine))))
        hd_machine_destroy(machine);
    if (!r) {
        hd_machine_info info;
        hd_machine_get_info(machine, &info);
        d->addresses = info.addresses;
        __atomic_store_n(&d->machine, machine, __ATOMIC_RELEASE);
    } else {
        say("device %d cannot be made: %s", d->ordinal, error ? error : hd_result_string(r));
    }
    return from_hd(r);
}

CUresult device_get(CUdevice ordinal, struct device **device)
{
    CUresult r = state_ready();
    if (r)
        return r;
    if (ordinal < 0 || ordinal >= state.n_devices)
        return CUDA_ERROR_INVALID_DEVICE;
    struct device *d = &state.devices[ordinal];
    if (!__atomic_load_n(&d->machine, __ATOMIC_ACQUIRE)) {
        state_lock();
        r = d->machine ? CUDA_SUCCESS : make_machine(d);
        state_unlock();
    }
    *device = d;
    return r;
}

struct device *device_of(const void *address, hd_memory_info *info)
{
    hd_memory_info ignored;
    for (int i = 0; i < state.n_devices; i++)
        if (state.devices[i].machine && hd_find(state.devices[i].machine, address, info ? info : &ignored))
            return &state.devices[i];
    return mapping_device(address, info ? info : &ignored);
}

bool is_of_machines(const void *address)
{
    for (int i = 0; i < state.n_devices; i++) {
        const struct device *d = &state.devices[i];
        size_t offset = (size_t)((const char *)address - (const char *)d->addresses.start);
        if (__atomic_load_n(&d->machine, __ATOMIC_ACQUIRE) && offset < d->addresses.bytes)
            return true;
    }
    return false;
}

/* ---- contexts ---- */

/* From a stream's thread: the paragraph that says what a kernel has done. */
static void show_fault(void *data, hd_result result, hd_report *report)
{
    (void)data;
    if (result == HD_ERROR_CANCELLED) /* contexts_finish() */
        return;
    print_flush();
    fflush(stdout);
    if (!check_found(report))
        fputs(hd_report_text(report), stderr);
}

/* An H200's (recorded). */
static const size_t first_limits[LIMITS] = {
    [CU_LIMIT_STACK_SIZE] = 1024,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608,
    [CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752,
    [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048,
    [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
    [CU_LIMIT_PERSISTING_L2_CACHE_SIZE] = 11796480,
    [CU_LIMIT_SHMEM_SIZE] = 232448,
};

CUresult context_start(CUcontext c)
{
    hd_context_options o = {.fault = show_fault};
    hd_result r = hd_context_create(c->device->machine, &o, &c->context);
    c->id = state_number();
    c->api_version = 3020;
    c->attributes = stream_first_attributes(LEAST_PRIORITY);
    memcpy(c->limits, first_limits, sizeof c->limits);
    return from_hd(r);
}

CUresult context_new(struct device *d, unsigned flags, CUcontext *context)
{
    CUcontext c = calloc(1, sizeof *c);
    if (!c)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *c = (struct CUctx_st){.kind = HANDLE_CONTEXT, .device = d, .flags = flags};
    CUresult r = context_start(c);
    if (r) {
        free(c);
        return r;
    }
    state_lock();
    c->next = state.contexts;
    state.contexts = c;
    state_unlock();
    *context = c;
    return CUDA_SUCCESS;
}

bool is_context(CUcontext context)
{
    bool found = false;
    state_lock();
    for (CUcontext c = state.contexts; c && !found; c = c->next)
        found = c == context;
    state_unlock();
    return found;
}

void context_each(void (*visit)(CUcontext context))
{
    state_lock();
    for (CUcontext c = state.contexts; c; c = c->next)
        visit(c);
    state_unlock();
}

CUcontext context_top(void)
{
    return stack.n ? stack.at[stack.n - 1] : NULL;
}

CUresult context_push(CUcontext context)
{
    if (stack.n == STACK_DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    stack.at[stack.n++] = context;
    return CUDA_SUCCESS;
}

CUresult context_pop(CUcontext *context)
{
    if (!stack.n)
        return CUDA_ERROR_INVALID_CONTEXT;
    stack.n--;
    if (context)
        *context = stack.at[stack.n];
    return CUDA_SUCCESS;
}

CUresult context_set(CUcontext context)
{
    if (stack.n)
        stack.n--;
    return context ? context_push(context) : CUDA_SUCCESS;
}

CUresult context_current(CUcontext *context)
{
    CUresult r = state_ready();
    if (r)
        return r;
    *context = context_top();
    if (!*context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return from_hd(hd_context_status((*context)->context));
}

/* ---- streams of threads ---- */

/* A thread's own default streams, one a context. */
struct own_stream {
    struct own_stream *next;
    uint64_t context_id;
    hd_stream *stream;
    struct stream_attributes attributes;
};

static bool context_lives_held(uint64_t id)
{
    bool found = false;
    for (CUcontext c = state.contexts; c && !found; c = c->next)
        found = c->id == id;
    return found;
}

bool context_lives(uint64_t id)
{
    state_lock();
    bool found = context_lives_held(id);
    state_unlock();
    return found;
}

static void drop_own_streams(void *list)
{
    state_lock();
    for (struct own_stream *o = list, *next; o; o = next) {
        next = o->next;
        if (context_lives_held(o->context_id))
            hd_stream_destroy(o->stream);
        free(o);
    }
    state_unlock();
}

static CUresult own_stream(CUcontext c, struct own_stream **own)
{
    struct own_stream *list = pthread_getspecific(state.own_streams);
    for (struct own_stream *o = list; o; o = o->next)
        if (o->context_id == c->id) {
            *own = o;
            return CUDA_SUCCESS;
        }
    struct own_stream *o = calloc(1, sizeof *o);
    hd_result r = o ? hd_stream_create(c->context, 0, &o->stream) : HD_ERROR_OUT_OF_MEMORY;
    if (r) {
        free(o);
        return from_hd(r);
    }
    o->next = list;
    o->context_id = c->id;
    o->attributes = stream_first_attributes(LEAST_PRIORITY);
    pthread_setspecific(state.own_streams, o);
    *own = o;
    return CUDA_SUCCESS;
}

static bool is_created(CUstream handle)
{
    return handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD;
}

CUresult stream_get(CUstream handle, hd_stream **stream, CUcontext *context)
{
    CUcontext c;
    bool created = is_created(handle);
    struct own_stream *own;
    CUresult r = created ? state_ready() : context_current(&c);
    if (r)
        return r;
    if (created) {
        if (!watch_handle(handle, "stream") || handle->kind != HANDLE_STREAM)
            return CUDA_ERROR_INVALID_HANDLE;
        c = handle->context;
        *stream = handle->stream;
        r = from_hd(hd_context_status(c->context));
    } else if (handle == CU_STREAM_PER_THREAD) {
        r = own_stream(c, &own);
        *stream = r ? NULL : own->stream;
    } else {
        *stream = hd_context_default_stream(c->context);
    }
    if (context)
        *context = c;
    return r;
}

CUresult stream_run(CUstream handle, hd_stream **stream, CUcontext *context)
{
    TRY(stream_get(handle, stream, context));
    return is_created(handle) && handle->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

int stream_priority(int priority)
{
    return priority > LEAST_PRIORITY ? LEAST_PRIORITY : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
}

struct stream_attributes stream_first_attributes(int priority)
{
    return (struct stream_attributes){
        .policy = CU_SYNC_POLICY_AUTO, .priority = stream_priority(priority), .domains = {.default_ = 0, .remote = 1}};
}

CUresult stream_attributes(CUstream handle, struct stream_attributes **attributes, CUcontext *context)
{
    hd_stream *stream;
    CUcontext c;
    struct own_stream *own;
    TRY(stream_get(handle, &stream, &c));
    if (handle == CU_STREAM_PER_THREAD)
        TRY(own_stream(c, &own));
    *attributes = is_created(handle)               ? &handle->attributes
                  : handle == CU_STREAM_PER_THREAD ? &own->attributes
                                                   : &c->attributes;
    if (context)
        *context = c;
    return CUDA_SUCCESS;
}

CUstreamCaptureMode *capture_mode(void)
{
    static _Thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return &mode;
}

/* ---- memory ---- */

struct allocation *allocation_find(const void *address, hd_memory_info *info, struct device **device)
{
    hd_memory_info own;
    struct device *d = device_of(address, info ? info : &own);
    if (device)
        *device = d;
    return d ? (info ? info : &own)->data : NULL;
}

CUresult allocation_new(CUcontext c, size_t bytes, bool host, struct allocation **allocation)
{
    struct allocation *a = calloc(1, sizeof *a);
    hd_result r = !a     ? HD_ERROR_OUT_OF_MEMORY
                  : host ? hd_alloc_host(c->device->machine, bytes, &a->start)
                         : hd_alloc(c->device->machine, bytes, &a->start);
    if (r) {
        free(a);
        return from_hd(r);
    }
    a->context = c;
    a->bytes = bytes;
    a->type = CU_MEMORYTYPE_DEVICE;
    a->id = state_number();
    state_lock();
    a->next = c->allocations;
    a->link = &c->allocations;
    if (a->next)
        a->next->link = &a->next;
    c->allocations = a;
    state_unlock();
    hd_set_data(c->device->machine, a->start, a);
    watch_allocated(a);
    *allocation = a;
    return CUDA_SUCCESS;
}

void allocation_is_undefined(const struct allocation *a)
{
    hd_checker *checker = hd_machine_checker(a->context->device->machine);
    if (checker)
        hd_checker_mark_undefined(checker, a->start, a->bytes, NULL);
}

void allocation_forget(struct allocation *a)
{
    watch_freed(a->start, a->bytes, a->type, a->stack);
    state_lock();
    *a->link = a->next;
    if (a->next)
        a->next->link = a->link;
    state_unlock();
    free(a);
}

/* The last registered range that starts at or before an address: its place from 1, or 0. */
static size_t registered_before(const void *address)
{
    size_t low = 0, high = state.n_registered;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((const char *)state.registered[middle].start <= (const char *)address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool registered_find(const void *address, struct registered *r)
{
    state_lock();
    size_t i = registered_before(address);
    struct registered *p = i ? &state.registered[i - 1] : NULL;
    bool found = p && (size_t)((const char *)address - (const char *)p->start) < p->bytes;
    if (found && r)
        *r = *p;
    state_unlock();
    return found;
}

CUresult registered_add_held(const struct registered *r)
{
    CUresult result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    size_t i = registered_before((const char *)r->start + r->bytes - 1);
    struct registered *p = i ? &state.registered[i - 1] : NULL;
    if (!p || (const char *)p->start + p->bytes <= (const char *)r->start) {
        result = CUDA_SUCCESS;
        if (state.n_registered == state.cap_registered) {
            size_t cap = state.cap_registered ? 2 * state.cap_registered : 16;
            struct registered *more = realloc(state.registered, cap * sizeof *more);
            if (more) {
                state.registered = more;
                state.cap_registered = cap;
            } else {
                result = CUDA_ERROR_OUT_OF_MEMORY;
            }
        }
    }
    if (!result) {
        memmove(&state.registered[i + 1], &state.registered[i], (state.n_registered++ - i) * sizeof *r);
        state.registered[i] = *r;
    }
    return result;
}

CUresult registered_add(const struct registered *r)
{
    state_lock();
    CUresult result = registered_add_held(r);
    state_unlock();
    return result;
}

CUresult registered_remove(const void *start)
{
    CUresult result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    state_lock();
    size_t i = registered_before(start);
    if (i && state.registered[i - 1].start == start) {
        memmove(&state.registered[i - 1], &state.registered[i], (state.n_registered-- - i) * sizeof *state.registered);
        result = CUDA_SUCCESS;
    }
    state_unlock();
    return result;
}

struct mappings *state_mappings(void)
{
    return &state.mappings;
}

/* ---- libraries ---- */

bool is_module(const struct CUmod_st *m, bool library)
{
    return m && m->kind == HANDLE_MODULE && (m->context == NULL) == library;
}

struct CUmod_st *library_first(void)
{
    return state.libraries;
}

void library_add(struct CUmod_st *m)
{
    state_lock();
    m->next = state.libraries;
    state.libraries = m;
    state_unlock();
}

void library_remove(struct CUmod_st *m)
{
    state_lock();
    struct CUmod_st **link = &state.libraries;
    while (*link && *link != m)
        link = &(*link)->next;
    if (*link)
        *link = m->next;
    state_unlock();
}

/* ---- the end of a context ---- */

void stream_add(CUstream s)
{
    state_lock();
    s->next = s->context->streams;
    s->context->streams = s;
    state_unlock();
}

void stream_remove(CUstream s)
{
    state_lock();
    CUstream *link = &s->context->streams;
    while (*link && *link != s)
        link = &(*link)->next;
    if (*link)
        *link = s->next;
    state_unlock();
}

void context_remove(CUcontext c)
{
    state_lock();
    CUcontext *link = &state.contexts;
    while (*link && *link != c)
        link = &(*link)->next;
    if (*link)
        *link = c->next;
    state_unlock();
    for (unsigned i = 0; i < stack.n; i++)
        if (stack.at[i] == c)
            stack.at[i] = NULL;
}

static void *synchronize_all(void *data)
{
    enum { MOST = 256 };
    hd_context *contexts[MOST];
    size_t n = 0;
    (void)data;
    state_lock(); /* not while waiting: launches ask for it (host_ranges) */
    for (CUcontext c = state.contexts; c && n < MOST; c = c->next)
        if (c->context)
            contexts[n++] = c->context;
    state_unlock();
    for (size_t i = 0; i < n; i++)
        hd_context_synchronize(contexts[i]);
    return NULL;
}

void contexts_wait(void)
{
    synchronize_all(NULL);
}

bool contexts_finish(double seconds)
{
    pthread_t thread;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += (time_t)seconds;
    if (pthread_create(&thread, NULL, synchronize_all, NULL))
        return false;
    bool done = pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &end) == 0;
    for (int i = 0; i < state.n_devices && !done; i++)
        if (state.devices[i].machine)
            hd_machine_cancel(state.devices[i].machine);
    if (!done)
        pthread_join(thread, NULL);
    print_flush();
    return done;
}

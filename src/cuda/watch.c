/* See watch.h. */
#include "cuda/watch.h"

#include "cuda/allocations.h"
#include "cuda/contexts.h"
#include "cuda/devices.h"
#include "cuda/registered.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_NOTES = 2,
    N_HANDLES = 1 << 10,
    MAX_FREED = 1 << 16,
    MAX_DESTROYED = 1 << 12,
    TEXT_BYTES = 640,
    REASON_BYTES = 400
};

/* A further place that a finding speaks of. */
struct note {
    const char *code, *text;
    const struct stack *stack;
};

/* One kind of mistake at one stack of calls. */
struct finding {
    struct finding *next;
    const char *code, *help;
    hd_severity severity;
    const struct stack *stack;
    struct note notes[MAX_NOTES];
    uint64_t count, bytes; /* bytes: of leaks, in all */
    char text[TEXT_BYTES];
};

/* An allocation that has been freed. */
struct freed {
    void *start;
    size_t bytes;
    CUmemorytype type;
    const struct stack *allocated, *freed;
};

/* A stream or event. */
struct watched {
    struct watched *next;
    const void *handle;
    const char *what;
    CUcontext context;
    bool ended; /* with its context */
    const struct stack *created, *destroyed;
};

/* Calls that have failed in the same way at the same place. */
struct failed {
    struct failed *next;
    const struct stack *stack;
    int error;
    const char *name;
    char reason[REASON_BYTES]; /* of the first */
    bool dropped;              /* what they returned */
    uint64_t count, seen;
};

static struct {
    bool on, ended;
    struct watch_options options;
    pthread_mutex_t lock;
    struct finding *findings, **last;
    struct freed *freed; /* a ring of MAX_FREED */
    size_t n_freed;
    struct watched *handles[N_HANDLES];
    void *destroyed[MAX_DESTROYED]; /* a ring of handles whose memory stays */
    size_t n_destroyed;
    struct failed *failed, **last_failed;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &watch.findings, .last_failed = &watch.failed};

/* Whether entry.S hands errors on. */
char watch_entries;

static _Thread_local struct {
    const struct stack *explained; /* of the last finding: the call's own error says no more */
    struct failed *unseen;         /* the last failed call, until somebody looks */
    char *reason;                  /* why the call that runs fails, in words; or NULL */
} thread;

/* (A pointer: programs load this library late, when there is little static thread-local memory left.) */
static void note_reason(const char *text)
{
    free(thread.reason);
    thread.reason = strdup(text);
}

void watch_start(const struct watch_options *o)
{
    watch.options = *o;
    watch.on = true;
    log_listen(note_reason);
    watch_entries = true;
}

void watch_stop(void)
{
    watch.on = false;
    watch_entries = false;
    watch.options = (struct watch_options){.errors = WATCH_ERRORS_NONE};
    pthread_mutex_init(&watch.lock, NULL);
}

bool watch_is_on(void)
{
    return watch.on;
}

/* ---- findings ---- */

static struct finding *find(const char *code, const struct stack *stack)
{
    struct finding *f = watch.findings;
    while (f && (f->stack != stack || strcmp(f->code, code) != 0))
        f = f->next;
    return f;
}

static struct finding *add(hd_severity severity, const char *code, const struct stack *stack)
{
    struct finding *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->severity = severity;
    f->code = code;
    f->stack = stack;
    *watch.last = f;
    watch.last = &f->next;
    return f;
}

/* What a finding has beside its text. */
struct found {
    bool at_end; /* one of many, which are reported together */
    hd_severity severity;
    const char *code, *help;
    const struct stack *stack; /* NULL: the calling thread's */
    struct note notes[MAX_NOTES];
    uint64_t bytes;
};

static void found(const struct found *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void found(const struct found *what, const char *format, ...)
{
    const struct stack *stack = what->stack ? what->stack : stack_here();
    pthread_mutex_lock(&watch.lock);
    struct finding *f = find(what->code, stack);
    bool fresh = !f && (f = add(what->severity, what->code, stack));
    if (f) {
        f->count++;
        f->bytes += what->bytes;
    }
    if (fresh) {
        va_list args;
        va_start(args, format);
        vsnprintf(f->text, sizeof f->text, format, args);
        va_end(args);
        f->help = what->help;
        memcpy(f->notes, what->notes, sizeof f->notes);
    }
    pthread_mutex_unlock(&watch.lock);
    if (!what->stack)
        thread.explained = stack;
    if (fresh && !what->at_end && watch.options.fresh)
        watch.options.fresh();
}

/* The call of CUDA's that the program has made. */
static const char *call_of(const struct stack *s)
{
    const char *call = stack_text(s).call;
    return call ? call : "a call";
}

/* ---- reporting ---- */

static hd_result put(hd_report **report, hd_severity severity, const char *code, const char *text, const char *help,
                     uint64_t count, const struct stack *stack)
{
    struct stack_text s = stack_text(stack);
    hd_diagnostic d = {.severity = severity,
                       .code = code,
                       .text = text,
                       .help = help,
                       .count = count,
                       .frames = s.frames,
                       .frame_count = s.n};
    return hd_report_add_diagnostic(report, &d);
}

static hd_result put_finding(hd_report **report, const struct finding *f)
{
    char text[TEXT_BYTES + 64];
    int n = f->bytes ? snprintf(text, sizeof text, "%llu bytes ", (unsigned long long)f->bytes) : 0;
    snprintf(text + n, sizeof text - (size_t)n, "%s", f->text);
    hd_result r = put(report, f->severity, f->code, text, f->help, f->count, f->stack);
    for (size_t i = 0; i < MAX_NOTES && f->notes[i].code && !r; i++)
        if (f->notes[i].stack)
            r = put(report, HD_SEVERITY_NOTE, f->notes[i].code, f->notes[i].text, NULL, 0, f->notes[i].stack);
    return r;
}

static hd_result put_failed(hd_report **report, const struct failed *f)
{
    char text[TEXT_BYTES];
    bool unseen = f->dropped && f->seen < f->count;
    if (!unseen && watch.options.errors != WATCH_ERRORS_ALL)
        return HD_SUCCESS;
    snprintf(text, sizeof text, "%s fails with %s%s%s%s", call_of(f->stack), f->name,
             unseen ? ", and nobody looks at that" : "", f->reason[0] ? ": " : "", f->reason);
    return put(report, unseen ? HD_SEVERITY_ERROR : HD_SEVERITY_WARNING, "api-error", text,
               unseen ? "compare what the call returns with cudaSuccess, or CUDA_SUCCESS; of a kernel's launch, what "
                        "cudaGetLastError returns"
                      : NULL,
               unseen ? f->count - f->seen : f->count, f->stack);
}

hd_result watch_report(hd_report **report)
{
    hd_result r = HD_SUCCESS;
    pthread_mutex_lock(&watch.lock);
    for (struct finding *f = watch.findings; f && !r; f = f->next)
        r = put_finding(report, f);
    for (struct failed *f = watch.failed; f && !r; f = f->next)
        r = put_failed(report, f);
    pthread_mutex_unlock(&watch.lock);
    return r;
}

/* ---- memory: where it came from ---- */

/* The function of CUDA's that gave it. */
static const char *giver(const struct stack *s, CUmemorytype type)
{
    const char *call = stack_text(s).call;
    return call ? call : type == CU_MEMORYTYPE_HOST ? "cudaMallocHost" : "cudaMalloc";
}

void watch_allocated(struct allocation *a)
{
    if (watch.on)
        a->stack = stack_here();
}

void watch_freed(void *start, size_t bytes, CUmemorytype type, const struct stack *allocated)
{
    if (!watch.on)
        return;
    const struct stack *s = stack_here();
    pthread_mutex_lock(&watch.lock);
    if (!watch.freed)
        watch.freed = calloc(MAX_FREED, sizeof *watch.freed);
    if (watch.freed)
        watch.freed[watch.n_freed++ % MAX_FREED] = (struct freed){start, bytes, type, allocated, s};
    pthread_mutex_unlock(&watch.lock);
}

/* The last freed one that held the address. */
static bool freed_find(const void *p, struct freed *freed)
{
    bool is_there = false;
    pthread_mutex_lock(&watch.lock);
    for (size_t i = 1; i <= watch.n_freed && i <= MAX_FREED && !is_there; i++) {
        const struct freed *f = &watch.freed[(watch.n_freed - i) % MAX_FREED];
        is_there = (size_t)((const char *)p - (const char *)f->start) < f->bytes;
        *freed = is_there ? *f : *freed;
    }
    pthread_mutex_unlock(&watch.lock);
    return is_there;
}

bool watch_origin(void *data, const void *start, bool was_freed, char *text, size_t bytes)
{
    struct freed f;
    struct allocation *a = was_freed ? NULL : allocation_find(start, NULL, NULL);
    (void)data;
    if (was_freed && freed_find(start, &f))
        snprintf(text, bytes, "%s (allocated %s)", stack_text(f.freed).place, stack_text(f.allocated).place);
    else if (a && a->stack)
        snprintf(text, bytes, "allocated %s", stack_text(a->stack).place);
    else
        return false;
    return true;
}

/* "the 3600-byte buffer", in a text of the caller's. */
static const char *buffer_name(char text[64], size_t bytes)
{
    snprintf(text, 64, "the %zu-byte buffer", bytes);
    return text;
}

/* ---- memory: bad frees ---- */

static void double_free(const struct found *what, const struct freed *f, const char *call, const void *p)
{
    struct found w = *what;
    w.code = "double-free";
    w.notes[0] = (struct note){"freed", "it was freed here", f->freed};
    w.notes[1] = (struct note){"allocated", "it was allocated here", f->allocated};
    found(&w, "%s of %p, a buffer of %zu bytes that was freed %s before", call, p, f->bytes,
          stack_text(f->freed).place);
}

static void free_inside(const struct found *what, const struct allocation *a, const char *call, const void *p,
                        CUmemorytype type)
{
    struct found w = *what;
    char name[64];
    size_t offset = (size_t)((const char *)p - (const char *)a->start);
    const char *by = giver(a->stack, a->type);
    w.notes[0] = (struct note){"allocated", "it was allocated here", a->stack};
    if (a->type != type) {
        w.help = a->type == CU_MEMORYTYPE_HOST ? "what cudaMallocHost and cudaHostAlloc give is freed by cudaFreeHost"
                                               : "what cudaMalloc and cudaMallocManaged give is freed by cudaFree";
        found(&w, "%s of %p, which %s has given %s", call, p, by, stack_text(a->stack).place);
    } else {
        w.help = "free the pointer that was given, not one that was moved on";
        found(&w, "%s of %p, which is %zu bytes into %s that %s has given %s", call, p, offset,
              buffer_name(name, a->bytes), by, stack_text(a->stack).place);
    }
}

void watch_bad_free(const void *p, CUmemorytype type)
{
    struct freed f;
    struct allocation *a = allocation_find(p, NULL, NULL);
    if (!watch.options.memory)
        return;
    struct found w = {.severity = HD_SEVERITY_ERROR, .code = "invalid-free"};
    const char *call = call_of(stack_here());
    if (a)
        free_inside(&w, a, call, p, type);
    else if (freed_find(p, &f) && f.start == p)
        double_free(&w, &f, call, p);
    else if (registered_find(p, NULL))
        found(&w, "%s of %p, which is memory of the host that was registered: cudaHostUnregister ends that", call, p);
    else
        found(&w, "%s of %p, which no function of CUDA has given", call, p);
}

/* ---- memory: copies and fills ---- */

static void use_after_free(const struct found *what, const struct freed *f, const char *call, const char *verb,
                           const void *p, size_t bytes)
{
    struct found w = *what;
    char name[64];
    w.code = "use-after-free";
    w.notes[0] = (struct note){"freed", "it was freed here", f->freed};
    w.notes[1] = (struct note){"allocated", "it was allocated here", f->allocated};
    found(&w, "%s %s %zu bytes at %p, in %s that was freed %s before", call, verb, bytes, p,
          buffer_name(name, f->bytes), stack_text(f->freed).place);
}

static void out_of_bounds(const struct found *what, const hd_memory_info *info, const char *call, const char *verb,
                          const void *p, size_t bytes)
{
    struct found w = *what;
    struct allocation *a = info->data;
    size_t offset = (size_t)((const char *)p - (const char *)info->start);
    char name[64], origin[TEXT_BYTES / 2] = "";
    if (a && a->stack)
        snprintf(origin, sizeof origin, " allocated %s", stack_text(a->stack).place);
    else if (info->name)
        snprintf(origin, sizeof origin, " `%s`", info->name);
    w.notes[0] = (struct note){"allocated", "it was allocated here", a ? a->stack : NULL};
    found(&w, "%s %s %zu bytes at byte %zu of %s%s: %zu bytes past its end", call, verb, bytes, offset,
          buffer_name(name, info->bytes), origin, offset + bytes - info->bytes);
}

void watch_bad_side(const void *p, size_t bytes, bool writes, enum watch_side wanted)
{
    struct freed f;
    hd_memory_info info;
    if (!watch.options.memory)
        return;
    struct found w = {.severity = HD_SEVERITY_ERROR, .code = "copy-out-of-bounds"};
    const char *call = call_of(stack_here()), *verb = writes ? "writes" : "reads";
    if (device_of(p, &info)) {
        out_of_bounds(&w, &info, call, verb, p, bytes);
    } else if (freed_find(p, &f)) {
        use_after_free(&w, &f, call, verb, p, bytes);
    } else if (!p) {
        w.code = "invalid-pointer";
        found(&w, "%s %s %zu bytes at a null pointer", call, verb, bytes);
    } else if (wanted == SIDE_FILL) {
        w.code = "invalid-pointer";
        found(&w, "%s %s %zu bytes at %p, which is no memory of the device", call, verb, bytes, p);
    } else if (wanted == SIDE_DEVICE) {
        w.code = "copy-direction";
        w.help = "the order is destination, source, bytes, direction; is that the direction of these pointers?";
        found(&w, "%s %s %zu bytes at %p, which the call says is memory of the device, and is not", call, verb, bytes,
              p);
    } else {
        w.code = "invalid-pointer";
        found(&w, "%s %s %zu bytes at %p, an address of the device where nothing is allocated", call, verb, bytes, p);
    }
}

/* "Calling cudaMemcpy() with dst and src pointers that do not match the direction of the copy results in an undefined
 * behavior" (CUDA Runtime API, cudaMemcpy). What is managed or pinned is on both sides. */
static bool is_wrong_side(const void *p, enum watch_side wanted, const struct stack **allocated)
{
    struct device *d;
    struct allocation *a = allocation_find(p, NULL, &d);
    *allocated = a ? a->stack : NULL;
    return wanted == SIDE_HOST && d && !(a && (a->managed || a->type == CU_MEMORYTYPE_HOST));
}

void watch_sides(const void *to, enum watch_side to_side, const void *from, enum watch_side from_side)
{
    const struct stack *allocated;
    bool wrong_to = watch.options.memory && is_wrong_side(to, to_side, &allocated);
    if (!watch.options.memory || !(wrong_to || is_wrong_side(from, from_side, &allocated)))
        return;
    struct found w = {.severity = HD_SEVERITY_ERROR,
                      .code = "copy-direction",
                      .help = "the direction has to be that of the pointers, or cudaMemcpyDefault",
                      .notes = {{"allocated", "it was allocated here", allocated}}};
    found(&w, "%s %s %p, which the call says is memory of the host, and is the device's", call_of(stack_here()),
          wrong_to ? "writes to" : "reads from", wrong_to ? to : from);
}

static bool is_device_only(const void *p)
{
    struct device *d;
    struct allocation *a = allocation_find(p, NULL, &d);
    return d && !(a && (a->managed || a->type == CU_MEMORYTYPE_HOST));
}

/* Between memories of the device the bytes stay what they are, and are a mistake where they are read. */
void watch_undefined_copy(void *data, const void *place, const void *to, const void *from, size_t bytes, size_t first)
{
    hd_memory_info info;
    struct allocation *a = allocation_find(from, &info, NULL);
    char name[64];
    (void)data;
    if (!a || !place)
        return;
    size_t at = (size_t)((const char *)from - (const char *)a->start) + first;
    struct found w = {.severity = is_device_only(to) ? HD_SEVERITY_WARNING : HD_SEVERITY_ERROR,
                      .code = "copy-uninitialised",
                      .stack = place,
                      .notes = {{"allocated", "it was allocated here", a->stack}}};
    found(&w,
          "%s reads %zu bytes of %s allocated %s, and byte %zu, the first of them that is so, has never been written",
          call_of(place), bytes, buffer_name(name, a->bytes), stack_text(a->stack).place, at);
}

/* ---- memory that nothing uses ---- */

struct unused {
    const struct stack *allocated;
    hd_machine *machine;
    void *start;
    size_t bytes;
};

static void look_for_unused(const struct unused *u, bool at_end)
{
    size_t n = hd_checker_undefined_bytes(hd_machine_checker(u->machine), u->start, u->bytes);
    struct found w = {
        .severity = HD_SEVERITY_WARNING, .code = "unused-memory", .stack = u->allocated, .at_end = at_end};
    if (!n || !u->allocated)
        return;
    if (n == u->bytes)
        found(&w, "nothing is ever written to the %zu bytes of %s", n, call_of(u->allocated));
    else
        found(&w, "%zu of the %zu bytes of %s are never written", n, u->bytes, call_of(u->allocated));
}

static void free_comes(void *data, hd_result status)
{
    if (!status)
        look_for_unused(data, false);
    free(data);
}

static struct unused unused_of(const struct allocation *a)
{
    return (struct unused){a->stack, a->context->device->machine, a->start, a->bytes};
}

void watch_unused(const struct allocation *a)
{
    struct unused u = unused_of(a);
    if (watch.options.unused)
        look_for_unused(&u, false);
}

void watch_free_in(hd_stream *stream, const struct allocation *a)
{
    struct unused *u = watch.options.unused ? malloc(sizeof *u) : NULL;
    if (!u)
        return;
    *u = unused_of(a);
    if (hd_stream_call(stream, free_comes, u, HD_CALL_ALWAYS | HD_CALL_UPKEEP))
        free(u);
}

/* ---- leaks ---- */

static void leaked(const struct stack *s, uint64_t bytes, hd_severity severity, const char *what)
{
    struct found w = {.severity = severity, .code = "leak", .stack = s, .bytes = bytes, .at_end = true};
    if (s)
        found(&w, "%s", what);
}

static void leaked_handles(CUcontext c)
{
    for (size_t i = 0; i < N_HANDLES; i++)
        for (struct watched *h = watch.handles[i]; h; h = h->next) {
            char what[128];
            if (h->context != c || h->destroyed || h->ended)
                continue;
            h->ended = true;
            snprintf(what, sizeof what, "the %s of %s is never destroyed", h->what, call_of(h->created));
            leaked(h->created, 0, HD_SEVERITY_WARNING, what);
        }
}

void watch_leaks(CUcontext c)
{
    if (watch.ended)
        return;
    for (const struct allocation *a = c->allocations; a && watch.options.unused; a = a->next)
        look_for_unused(&(struct unused){a->stack, c->device->machine, a->start, a->bytes}, true);
    if (!watch.options.leaks)
        return;
    for (const struct allocation *a = c->allocations; a; a = a->next) {
        char what[128];
        snprintf(what, sizeof what, "of %s are never freed", giver(a->stack, a->type));
        leaked(a->stack, a->bytes, HD_SEVERITY_ERROR, what);
    }
    leaked_handles(c);
}

void watch_end(void)
{
    if (!watch.on || watch.ended)
        return;
    context_each(watch_leaks);
    watch.ended = true;
}

/* ---- streams and events ---- */

static struct watched **bucket(const void *handle)
{
    return &watch.handles[((uintptr_t)handle >> 4) % N_HANDLES];
}

static struct watched *handle_find(const void *handle)
{
    struct watched *h = *bucket(handle);
    while (h && h->handle != handle)
        h = h->next;
    return h;
}

void watch_created(const void *handle, const char *what, CUcontext c)
{
    struct watched *h = watch.on ? calloc(1, sizeof *h) : NULL;
    if (!h)
        return;
    *h = (struct watched){.handle = handle, .what = what, .context = c, .created = stack_here()};
    pthread_mutex_lock(&watch.lock);
    h->next = *bucket(handle);
    *bucket(handle) = h;
    pthread_mutex_unlock(&watch.lock);
}

static void forget_handle(void *handle)
{
    struct watched **link = bucket(handle);
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    struct watched *h = *link;
    if (h)
        *link = h->next;
    free(h);
    free(handle);
}

void watch_destroyed(void *handle)
{
    if (!watch.on) {
        free(handle);
        return;
    }
    const struct stack *s = stack_here();
    pthread_mutex_lock(&watch.lock);
    struct watched *h = handle_find(handle);
    void **oldest = &watch.destroyed[watch.n_destroyed++ % MAX_DESTROYED];
    if (*oldest)
        forget_handle(*oldest);
    *oldest = handle;
    if (h)
        h->destroyed = s;
    pthread_mutex_unlock(&watch.lock);
}

bool watch_handle(const void *handle, const char *what)
{
    if (!watch.options.memory)
        return true;
    pthread_mutex_lock(&watch.lock);
    struct watched *known = handle_find(handle), h = known ? *known : (struct watched){0};
    pthread_mutex_unlock(&watch.lock);
    if (known && !h.destroyed)
        return true;
    struct found w = {.severity = HD_SEVERITY_ERROR, .code = "invalid-handle"};
    const char *call = call_of(stack_here());
    if (known) {
        w.code = "use-after-destroy";
        w.notes[0] = (struct note){"destroyed", "it was destroyed here", h.destroyed};
        w.notes[1] = (struct note){"created", "it was created here", h.created};
        found(&w, "%s with the %s %p, which was destroyed %s before", call, h.what, handle,
              stack_text(h.destroyed).place);
    } else if (handle) {
        found(&w, "%s with %p, which is no %s", call, handle, what);
    }
    return false;
}

/* ---- errors ---- */

/* Answers rather than mistakes: cudaErrorNotReady, and cudaErrorCudartUnloading at the program's end. And the errors of a
 * context after a fault, which every call returns: the fault itself has been reported. */
static bool says_nothing(int error)
{
    return error == CUDA_ERROR_NOT_READY || error == CUDA_ERROR_DEINITIALIZED ||
           (error >= CUDA_ERROR_ILLEGAL_ADDRESS && error <= CUDA_ERROR_LAUNCH_FAILED &&
            error != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && error != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED &&
            error != CUDA_ERROR_PEER_ACCESS_NOT_ENABLED && error != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED &&
            error != CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED && error != CUDA_ERROR_CONTEXT_IS_DESTROYED &&
            error != CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
}

static struct failed *failed_find(const struct stack *s, int error)
{
    struct failed *f = watch.failed;
    while (f && (f->stack != s || f->error != error))
        f = f->next;
    return f;
}

static struct failed *failed_add(const struct stack *s, int error, const char *name)
{
    struct failed *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    *f = (struct failed){.stack = s, .error = error, .name = name, .dropped = stack_drops_result(s)};
    snprintf(f->reason, sizeof f->reason, "%s", thread.reason ? thread.reason : "");
    *watch.last_failed = f;
    watch.last_failed = &f->next;
    return f;
}

void heddle_call_failed(int error, const char *name)
{
    if (!watch.on || watch.options.errors == WATCH_ERRORS_NONE || says_nothing(error))
        return;
    const struct stack *s = stack_here();
    const struct stack *explained = thread.explained;
    thread.explained = NULL;
    if (s == explained)
        return;
    pthread_mutex_lock(&watch.lock);
    struct failed *f = failed_find(s, error);
    bool fresh = !f && (f = failed_add(s, error, name));
    if (f)
        f->count++;
    pthread_mutex_unlock(&watch.lock);
    free(thread.reason);
    thread.reason = NULL;
    thread.unseen = f;
    if (fresh && watch.options.fresh)
        watch.options.fresh();
}

/* From entry.S: what an entry point returns to `caller`. The runtime's calls are no concern of the program's. */
CUresult watch_result(CUresult error, uintptr_t caller)
{
    const char *name = NULL;
    cuGetErrorName(error, &name);
    if (!stack_is_own(caller))
        heddle_call_failed((int)error, name ? name : "an error");
    return error;
}

void heddle_error_seen(void)
{
    if (thread.unseen)
        __atomic_add_fetch(&thread.unseen->seen, 1, __ATOMIC_RELAXED);
    thread.unseen = NULL;
}

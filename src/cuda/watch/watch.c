/* See watch.h. */
#include "cuda/watch/watch_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REASON_BYTES = 400 };

/* Mistakes of one kind at one call stack. */
struct finding {
    struct finding *next;
    const char *code, *help;
    hd_severity severity;
    const struct stack *stack;
    struct watch_note notes[WATCH_NOTES];
    uint64_t count, bytes; /* bytes: of leaks, in total */
    char text[WATCH_TEXT_BYTES];
};

/* Calls that failed in the same way at the same place. */
struct failed {
    struct failed *next;
    const struct stack *stack;
    int error;
    const char *name;
    char reason[REASON_BYTES]; /* of the first failure */
    bool dropped;              /* the program ignored their results */
    uint64_t count, seen;
};

static struct {
    bool on;
    struct watch_options options;
    pthread_mutex_t lock;
    struct finding *findings, **last;
    struct failed *failed, **last_failed;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &watch.findings, .last_failed = &watch.failed};

/* Does entry.S report errors? */
char watch_entries;

static _Thread_local struct {
    /* Of the last finding: the call's error would add nothing to it. */
    const struct stack *explained;
    struct failed *unseen; /* the last failed call whose error was not read */
    char *reason;          /* why the current call fails, in words; or NULL */
} thread;

/* (A pointer: programs load this library late, when there is little static thread-local memory
 * left.) */
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

const struct watch_options *watch_options(void)
{
    return &watch.options;
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

void watch_found(const struct watch_finding *what, const char *format, ...)
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

const char *watch_call_of(const struct stack *s)
{
    const char *call = stack_text(s).call;
    return call ? call : "a call";
}

const char *watch_call(void)
{
    return watch_call_of(stack_here());
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
    char text[WATCH_TEXT_BYTES + 64];
    int n = f->bytes ? snprintf(text, sizeof text, "%llu bytes ", (unsigned long long)f->bytes) : 0;
    snprintf(text + n, sizeof text - (size_t)n, "%s", f->text);
    hd_result r = put(report, f->severity, f->code, text, f->help, f->count, f->stack);
    for (size_t i = 0; i < WATCH_NOTES && f->notes[i].code && !r; i++)
        if (f->notes[i].stack)
            r = put(report, HD_SEVERITY_NOTE, f->notes[i].code, f->notes[i].text, NULL, 0, f->notes[i].stack);
    return r;
}

static hd_result put_failed(hd_report **report, const struct failed *f)
{
    char text[WATCH_TEXT_BYTES];
    bool unseen = f->dropped && f->seen < f->count;
    if (!unseen && watch.options.errors != WATCH_ERRORS_ALL)
        return HD_SUCCESS;
    snprintf(text, sizeof text, "%s fails with %s%s%s%s", watch_call_of(f->stack), f->name,
             unseen ? ", and the program does not check it" : "", f->reason[0] ? ": " : "", f->reason);
    return put(
        report, unseen ? HD_SEVERITY_ERROR : HD_SEVERITY_WARNING, "api-error", text,
        unseen
            ? "compare the call's result with cudaSuccess or CUDA_SUCCESS; after a kernel launch, call cudaGetLastError"
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

/* ---- errors ---- */

/* Results that are no mistakes: cudaErrorNotReady, and cudaErrorCudartUnloading at the program's
 * end; and the errors that every call returns after a fault of the context, which was reported. */
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

/* From entry.S: what an entry point returns to `caller`. Calls by the runtime are not the
 * program's. */
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

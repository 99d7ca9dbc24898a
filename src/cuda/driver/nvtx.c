/* NVTX 3: ranges and marks by which programs annotate profiles, for `heddle explain`, and
 * annotations of memory, for `heddle check` (nvtx_memory.h). Both commands name this library in
 * NVTX_INJECTION64_PATH. NVIDIA's header loads it, and passes tables of pointers to functions, by
 * module and number; Heddle's own header (nvtx3/nvToolsExt.h) asks for heddle_nvtx_functions.
 *
 * A message is prefixed with its domain. Colors, categories and payloads are ignored.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/driver/start.h"
#include "cuda/nvtx3/nvToolsExt.h"
#include "cuda/nvtx3/nvToolsExtMem.h"
#include "cuda/state/allocations.h"
#include "cuda/state/machines.h"
#include "cuda/state/state.h"
#include "cuda/watch/check.h"
#include "cuda/watch/explain.h"
#include "cuda/watch/nvtx_memory.h"
#include "cuda/watch/nvtx_text.h"
#include "cuda/watch/watch.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- texts ---- */

/* "domain: message", from malloc. */
static char *message_of(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    char *wide = event && event->messageType == NVTX_MESSAGE_TYPE_UNICODE ? nvtx_utf8(event->message.unicode) : NULL,
         *text;
    const char *message = !event                                               ? NULL
                          : event->messageType == NVTX_MESSAGE_TYPE_ASCII      ? event->message.ascii
                          : event->messageType == NVTX_MESSAGE_TYPE_REGISTERED ? nvtx_name_of(event->message.registered)
                                                                               : wide;
    const char *prefix = nvtx_name_of(domain);
    if (asprintf(&text, "%s%s%s", prefix ? prefix : "", prefix ? ": " : "", message ? message : "no message") < 0)
        text = NULL;
    free(wide);
    return text;
}

/* ---- what programs call ---- */

static void note(hd_range_event kind, nvtxRangeId_t id, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    char *text = kind == HD_RANGE_POP || kind == HD_RANGE_END ? NULL : message_of(domain, event);
    explain_range(kind, id, text);
    free(text);
}

static void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    note(HD_RANGE_MARK, 0, domain, event);
}

static nvtxRangeId_t start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    static _Atomic nvtxRangeId_t last;
    nvtxRangeId_t id = ++last;
    note(HD_RANGE_START, id, domain, event);
    return id;
}

static void end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    note(HD_RANGE_END, id, domain, NULL);
}

/* The number of open ranges of the thread, which NVTX's push and pop return. */
static _Thread_local int depth;

static int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    note(HD_RANGE_PUSH, 0, domain, event);
    return depth++;
}

static int pop(nvtxDomainHandle_t domain)
{
    if (!depth)
        return NVTX_NO_PUSH_POP_TRACKING;
    note(HD_RANGE_POP, 0, domain, NULL);
    return --depth;
}

static nvtxDomainHandle_t create_domain(const char *name)
{
    return (nvtxDomainHandle_t)nvtx_new_name(strdup(name ? name : "?"));
}

static nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    return (nvtxStringHandle_t)nvtx_new_name(strdup(text ? text : "?"));
}

/* ---- the same by other arguments ---- */

static nvtxEventAttributes_t event_of(const char *message)
{
    return (nvtxEventAttributes_t){.messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = message};
}

static nvtxEventAttributes_t wide_event_of(const wchar_t *message)
{
    return (nvtxEventAttributes_t){.messageType = NVTX_MESSAGE_TYPE_UNICODE, .message.unicode = message};
}

/* NAME##Ex, NAME##A and NAME##W for the default domain. */
#define VARIANTS(type, name, function)                                                                                 \
    static type name##_ex(const nvtxEventAttributes_t *event)                                                          \
    {                                                                                                                  \
        return function(NULL, event);                                                                                  \
    }                                                                                                                  \
    static type name##_a(const char *message)                                                                          \
    {                                                                                                                  \
        nvtxEventAttributes_t event = event_of(message);                                                               \
        return function(NULL, &event);                                                                                 \
    }                                                                                                                  \
    static type name##_w(const wchar_t *message)                                                                       \
    {                                                                                                                  \
        nvtxEventAttributes_t event = wide_event_of(message);                                                          \
        return function(NULL, &event);                                                                                 \
    }
VARIANTS(void, plain_mark, mark)
VARIANTS(nvtxRangeId_t, plain_start, start)
VARIANTS(int, plain_push, push)

static void plain_end(nvtxRangeId_t id)
{
    end(NULL, id);
}

static int plain_pop(void)
{
    return pop(NULL);
}

static nvtxDomainHandle_t create_wide_domain(const wchar_t *name)
{
    return (nvtxDomainHandle_t)nvtx_new_name(nvtx_utf8(name));
}

static nvtxStringHandle_t register_wide_string(nvtxDomainHandle_t domain, const wchar_t *text)
{
    (void)domain;
    return (nvtxStringHandle_t)nvtx_new_name(nvtx_utf8(text));
}

/* ---- how they get there ---- */

/* A range may come before any other call of CUDA: creates the device that counts it. */
static bool is_ready(void)
{
    struct device *device;
    return cuda_start() == CUDA_SUCCESS && (explain_options() || check_options()) &&
           device_get(0, &device) == CUDA_SUCCESS;
}

typedef void function(void);
enum { MODULE_CORE = 1, MODULE_CORE2 = 5, EXPORT_CALLBACKS = 1 };
struct export_callbacks {
    size_t bytes;
    int (*functions)(int module, function ***table[], unsigned *n);
};

#define F(f) ((function *)(f))
static function *const core[] = {NULL,
                                 F(plain_mark_ex),
                                 F(plain_mark_a),
                                 F(plain_mark_w),
                                 F(plain_start_ex),
                                 F(plain_start_a),
                                 F(plain_start_w),
                                 F(plain_end),
                                 F(plain_push_ex),
                                 F(plain_push_a),
                                 F(plain_push_w),
                                 F(plain_pop)};
static function *const core2[] = {NULL,
                                  F(mark),
                                  F(start),
                                  F(end),
                                  F(push),
                                  F(pop),
                                  NULL,
                                  NULL,
                                  NULL,
                                  NULL,
                                  F(register_string),
                                  F(register_wide_string),
                                  F(create_domain),
                                  F(create_wide_domain)};

static bool fill(const struct export_callbacks *callbacks, int module, function *const *functions, unsigned n)
{
    function ***table[1] = {NULL};
    unsigned size = 0;
    if (!callbacks->functions(module, table, &size) || !table[0])
        return false;
    for (unsigned i = 1; i < n && i < size; i++)
        if (functions[i] && table[0][i])
            *table[0][i] = functions[i];
    return true;
}

/* Called once by NVIDIA's header; returns 0 if nobody listens. */
EXPORT int InitializeInjectionNvtx2(const void *(*table)(uint32_t number));
EXPORT int InitializeInjectionNvtx2(const void *(*table)(uint32_t number))
{
    const struct export_callbacks *callbacks = table ? table(EXPORT_CALLBACKS) : NULL;
    return callbacks && callbacks->bytes >= sizeof *callbacks && is_ready() &&
           fill(callbacks, MODULE_CORE, core, sizeof core / sizeof core[0]) &&
           fill(callbacks, MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
}

/* ---- what nvtx_memory.c asks ---- */

static size_t allocation_at(const void *start)
{
    hd_memory_info info;
    const struct allocation *a = allocation_find(start, &info, NULL);
    return a && a->start == start ? a->bytes : 0;
}

static void mark_memory(const void *start, size_t bytes, bool defined)
{
    hd_memory_info info;
    struct device *d = NULL;
    hd_checker *c = allocation_find(start, &info, &d) && d ? hd_machine_checker(d->machine) : NULL;
    if (c && defined)
        hd_checker_mark_defined(c, start, bytes);
    else if (c)
        hd_checker_mark_undefined(c, start, bytes, NULL);
}

static const struct nvtx_memory_asks memory_asks = {allocation_at, mark_memory, watch_nvtx};

/* A table of NVIDIA's extension headers: slots for functions, by number. */
struct extension_segment {
    size_t number, n;
    intptr_t *functions;
};
struct extension {
    uint16_t nvtx, bytes, module, compatible_with;
    size_t n_segments;
    struct extension_segment *segments;
    /* further members follow */
};

/* Called once for each extension; returns 0 if nobody listens. */
EXPORT int InitializeInjectionNvtxExtension(const struct extension *e);
EXPORT int InitializeInjectionNvtxExtension(const struct extension *e)
{
    size_t n = sizeof(struct heddle_nvtx_memory) / sizeof(intptr_t);
    if (!e || e->bytes < sizeof *e || e->module != NVTX_EXT_MODULEID_MEM ||
        e->compatible_with != NVTX_EXT_COMPATID_MEM || e->n_segments != 1 || !check_options() || !is_ready())
        return 0;
    for (size_t i = 0; i < n && i < e->segments->n; i++)
        memcpy(&e->segments->functions[i], (const intptr_t *)nvtx_memory_functions(&memory_asks) + i, sizeof(intptr_t));
    return 1;
}

/* Called by Heddle's own header; returns NULL if nobody listens. */
EXPORT const struct heddle_nvtx *heddle_nvtx_functions(void);
EXPORT const struct heddle_nvtx *heddle_nvtx_functions(void)
{
    static struct heddle_nvtx functions = {
        mark, start, end, push, pop, create_domain, create_wide_domain, register_string, register_wide_string, NULL};
    if (!is_ready())
        return NULL;
    functions.memory = check_options() ? nvtx_memory_functions(&memory_asks) : NULL;
    return &functions;
}

/* NVTX, with which programs mark ranges and moments for profilers (NVTX 3, "C API reference").
 * Under `heddle explain` they are recorded by Heddle's driver, which NVTX_INJECTION64_PATH names
 * then; elsewhere the functions do nothing, and return what they return then.
 */
#ifndef HEDDLE_NVTX3_NVTOOLSEXT_H
#define HEDDLE_NVTX3_NVTOOLSEXT_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define NVTX_VERSION                           3
#define NVTX_SUCCESS                           0
#define NVTX_NO_PUSH_POP_TRACKING              ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE          ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_RESOURCE_ATTRIB_STRUCT_SIZE       ((uint16_t)sizeof(nvtxResourceAttributes_t))
#define NVTX_RESOURCE_MAKE_TYPE(class_, index) ((class_) << 16 | (index))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxResourceHandle *nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef enum nvtxResourceGenericType_t {
    NVTX_RESOURCE_TYPE_UNKNOWN = 0,
    NVTX_RESOURCE_TYPE_GENERIC_POINTER = NVTX_RESOURCE_MAKE_TYPE(1, 1),
    NVTX_RESOURCE_TYPE_GENERIC_HANDLE = NVTX_RESOURCE_MAKE_TYPE(1, 2),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE = NVTX_RESOURCE_MAKE_TYPE(1, 3),
    NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX = NVTX_RESOURCE_MAKE_TYPE(1, 4)
} nvtxResourceGenericType_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

typedef struct nvtxResourceAttributes_v0 {
    uint16_t version, size;
    int32_t identifierType;
    union {
        const void *pValue;
        uint64_t ullValue;
    } identifier;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxResourceAttributes_t;

/* ---- who listens ---- */

struct heddle_nvtx {
    void (*mark)(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event);
    nvtxRangeId_t (*start)(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event);
    void (*end)(nvtxDomainHandle_t domain, nvtxRangeId_t id);
    int (*push)(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event);
    int (*pop)(nvtxDomainHandle_t domain);
    nvtxDomainHandle_t (*domain)(const char *name);
    nvtxDomainHandle_t (*wide_domain)(const wchar_t *name);
    nvtxStringHandle_t (*string)(nvtxDomainHandle_t domain, const char *text);
    nvtxStringHandle_t (*wide_string)(nvtxDomainHandle_t domain, const wchar_t *text);
    const struct heddle_nvtx_memory *memory; /* nvToolsExtMem.h */
};

/* NULL: nobody does. */
static inline __attribute__((unused)) const struct heddle_nvtx *heddle_nvtx_listener(void)
{
    static const struct heddle_nvtx *listener;
    static int asked;
    const char *path;
    void *library, *function;
    const struct heddle_nvtx *(*functions)(void);
    if (__atomic_load_n(&asked, __ATOMIC_ACQUIRE))
        return listener;
    path = getenv("NVTX_INJECTION64_PATH");
    library = path ? dlopen(path, RTLD_LAZY) : NULL;
    function = library ? dlsym(library, "heddle_nvtx_functions") : NULL;
    memcpy(&functions, &function, sizeof function);
    listener = function ? functions() : NULL;
    __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
    return listener;
}

static inline __attribute__((unused)) nvtxEventAttributes_t heddle_nvtx_event(const char *text, const wchar_t *wide)
{
    nvtxEventAttributes_t event;
    memset(&event, 0, sizeof event);
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = text ? NVTX_MESSAGE_TYPE_ASCII : NVTX_MESSAGE_TYPE_UNICODE;
    if (text)
        event.message.ascii = text;
    else
        event.message.unicode = wide;
    return event;
}

/* ---- the functions ---- */

/* libnvToolsExt.so.1 has them by these definitions, too. */
#ifndef HEDDLE_NVTX_FUNCTION
#define HEDDLE_NVTX_FUNCTION static inline __attribute__((unused))
#endif

/* name(parameters) calls `function` of who listens, or returns `result`. */
#define HEDDLE_NVTX_CALL(type, name, result, call, ...)                                                                \
    HEDDLE_NVTX_FUNCTION type name(__VA_ARGS__)                                                                        \
    {                                                                                                                  \
        const struct heddle_nvtx *listener = heddle_nvtx_listener();                                                   \
        return listener ? listener->call : result;                                                                     \
    }
/* nvtxNAMEEx, nvtxNAMEA and nvtxNAMEW, and nvtxDomainNAMEEx. */
#define HEDDLE_NVTX_EVENT(type, name, result, function)                                                                \
    HEDDLE_NVTX_CALL(type, nvtxDomain##name##Ex, result, function(domain, event), nvtxDomainHandle_t domain,           \
                     const nvtxEventAttributes_t *event)                                                               \
    HEDDLE_NVTX_FUNCTION type nvtx##name##Ex(const nvtxEventAttributes_t *event)                                       \
    {                                                                                                                  \
        return nvtxDomain##name##Ex(NULL, event);                                                                      \
    }                                                                                                                  \
    HEDDLE_NVTX_FUNCTION type nvtx##name##A(const char *message)                                                       \
    {                                                                                                                  \
        nvtxEventAttributes_t event = heddle_nvtx_event(message, NULL);                                                \
        return nvtxDomain##name##Ex(NULL, &event);                                                                     \
    }                                                                                                                  \
    HEDDLE_NVTX_FUNCTION type nvtx##name##W(const wchar_t *message)                                                    \
    {                                                                                                                  \
        nvtxEventAttributes_t event = heddle_nvtx_event(NULL, message);                                                \
        return nvtxDomain##name##Ex(NULL, &event);                                                                     \
    }
HEDDLE_NVTX_EVENT(void, Mark, (void)0, mark)
HEDDLE_NVTX_EVENT(nvtxRangeId_t, RangeStart, 0, start)
HEDDLE_NVTX_EVENT(int, RangePush, NVTX_NO_PUSH_POP_TRACKING, push)
HEDDLE_NVTX_CALL(void, nvtxRangeEnd, (void)0, end(NULL, id), nvtxRangeId_t id)
HEDDLE_NVTX_CALL(void, nvtxDomainRangeEnd, (void)0, end(domain, id), nvtxDomainHandle_t domain, nvtxRangeId_t id)
HEDDLE_NVTX_CALL(int, nvtxRangePop, NVTX_NO_PUSH_POP_TRACKING, pop(NULL), void)
HEDDLE_NVTX_CALL(int, nvtxDomainRangePop, NVTX_NO_PUSH_POP_TRACKING, pop(domain), nvtxDomainHandle_t domain)
HEDDLE_NVTX_CALL(nvtxDomainHandle_t, nvtxDomainCreateA, NULL, domain(name), const char *name)
HEDDLE_NVTX_CALL(nvtxDomainHandle_t, nvtxDomainCreateW, NULL, wide_domain(name), const wchar_t *name)
HEDDLE_NVTX_CALL(nvtxStringHandle_t, nvtxDomainRegisterStringA, NULL, string(domain, text), nvtxDomainHandle_t domain,
                 const char *text)
HEDDLE_NVTX_CALL(nvtxStringHandle_t, nvtxDomainRegisterStringW, NULL, wide_string(domain, text),
                 nvtxDomainHandle_t domain, const wchar_t *text)
#undef HEDDLE_NVTX_CALL
#undef HEDDLE_NVTX_EVENT

/* What nobody listens to: name(parameters) returns `result`. */
#define HEDDLE_NVTX(type, name, result, ...)                                                                           \
    HEDDLE_NVTX_FUNCTION type name(__VA_ARGS__)                                                                        \
    {                                                                                                                  \
        return result;                                                                                                 \
    }
#define HEDDLE_NVTX_VOID(name, ...)                                                                                    \
    HEDDLE_NVTX_FUNCTION void name(__VA_ARGS__) {}
/* clang-format off: a table */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
HEDDLE_NVTX_VOID(nvtxInitialize, const void *reserved)
HEDDLE_NVTX_VOID(nvtxDomainDestroy, nvtxDomainHandle_t domain)
HEDDLE_NVTX(nvtxResourceHandle_t, nvtxDomainResourceCreate, NULL, nvtxDomainHandle_t domain,
            nvtxResourceAttributes_t *resource)
HEDDLE_NVTX_VOID(nvtxDomainResourceDestroy, nvtxResourceHandle_t resource)
HEDDLE_NVTX_VOID(nvtxNameCategoryA, uint32_t category, const char *name)
HEDDLE_NVTX_VOID(nvtxNameCategoryW, uint32_t category, const wchar_t *name)
HEDDLE_NVTX_VOID(nvtxDomainNameCategoryA, nvtxDomainHandle_t domain, uint32_t category, const char *name)
HEDDLE_NVTX_VOID(nvtxDomainNameCategoryW, nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name)
HEDDLE_NVTX_VOID(nvtxNameOsThreadA, uint32_t thread, const char *name)
HEDDLE_NVTX_VOID(nvtxNameOsThreadW, uint32_t thread, const wchar_t *name)
#ifdef __clang__
#pragma clang diagnostic pop
#else
#pragma GCC diagnostic pop
#endif
/* clang-format on */
#undef HEDDLE_NVTX
#undef HEDDLE_NVTX_VOID

/* A plain name is of char. */
#define nvtxMark                 nvtxMarkA
#define nvtxRangeStart           nvtxRangeStartA
#define nvtxRangePush            nvtxRangePushA
#define nvtxDomainCreate         nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxNameCategory         nvtxNameCategoryA
#define nvtxDomainNameCategory   nvtxDomainNameCategoryA
#define nvtxNameOsThread         nvtxNameOsThreadA

#endif

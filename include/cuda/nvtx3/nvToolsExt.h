/* NVTX, with which programs mark ranges and moments for profilers (NVTX 3, "C API reference"). Its functions do what they do without
 * a profiler: nothing. They return what they return then.
 */
#ifndef HEDDLE_NVTX3_NVTOOLSEXT_H
#define HEDDLE_NVTX3_NVTOOLSEXT_H

#include <stddef.h>
#include <stdint.h>
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

/* name(parameters) returns `result`. */
#define HEDDLE_NVTX(type, name, result, ...)                                                                           \
    static inline __attribute__((unused)) type name(__VA_ARGS__)                                                       \
    {                                                                                                                  \
        return result;                                                                                                 \
    }
#define HEDDLE_NVTX_VOID(name, ...)                                                                                    \
    static inline __attribute__((unused)) void name(__VA_ARGS__) {}
/* clang-format off: a table */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
HEDDLE_NVTX_VOID(nvtxInitialize, const void *reserved)
HEDDLE_NVTX_VOID(nvtxMarkA, const char *message)
HEDDLE_NVTX_VOID(nvtxMarkW, const wchar_t *message)
HEDDLE_NVTX_VOID(nvtxMarkEx, const nvtxEventAttributes_t *event)
HEDDLE_NVTX_VOID(nvtxDomainMarkEx, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartA, 0, const char *message)
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartW, 0, const wchar_t *message)
HEDDLE_NVTX(nvtxRangeId_t, nvtxRangeStartEx, 0, const nvtxEventAttributes_t *event)
HEDDLE_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx, 0, nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
HEDDLE_NVTX_VOID(nvtxRangeEnd, nvtxRangeId_t id)
HEDDLE_NVTX_VOID(nvtxDomainRangeEnd, nvtxDomainHandle_t domain, nvtxRangeId_t id)
HEDDLE_NVTX(int, nvtxRangePushA, NVTX_NO_PUSH_POP_TRACKING, const char *message)
HEDDLE_NVTX(int, nvtxRangePushW, NVTX_NO_PUSH_POP_TRACKING, const wchar_t *message)
HEDDLE_NVTX(int, nvtxRangePushEx, NVTX_NO_PUSH_POP_TRACKING, const nvtxEventAttributes_t *event)
HEDDLE_NVTX(int, nvtxDomainRangePushEx, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainHandle_t domain,
            const nvtxEventAttributes_t *event)
HEDDLE_NVTX(int, nvtxRangePop, NVTX_NO_PUSH_POP_TRACKING, void)
HEDDLE_NVTX(int, nvtxDomainRangePop, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainHandle_t domain)
HEDDLE_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, NULL, const char *name)
HEDDLE_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, NULL, const wchar_t *name)
HEDDLE_NVTX_VOID(nvtxDomainDestroy, nvtxDomainHandle_t domain)
HEDDLE_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, NULL, nvtxDomainHandle_t domain, const char *text)
HEDDLE_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringW, NULL, nvtxDomainHandle_t domain, const wchar_t *text)
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

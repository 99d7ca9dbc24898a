/* Waiting for a value in memory and writing one, in the order of a stream ("CUDA Driver API", 6.20). */
#include "cuda/state/state.h"

#include "cuda/state/capture.h"
#include "cuda/state/devices.h"
#include "cuda/state/mapping.h"
#include "cuda/state/registered.h"
#include "cuda/state/streams.h"

#include <stdlib.h>

#define OR_OWN(s) ((s) ? (s) : CU_STREAM_PER_THREAD)

struct memop {
    CUdeviceptr address;
    uint64_t value;
    bool wide;
    unsigned flags;
    CUcontext context;
};

static uint64_t load(const struct memop *m)
{
    const void *at = hd_own_view(m->context->device->machine, (void *)(uintptr_t)m->address);
    return m->wide ? __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE)
                   : __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
}

static bool is_met(const struct memop *m)
{
    uint64_t v = load(m);
    switch (m->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic */
        return m->wide ? (int64_t)(v - m->value) >= 0 : (int32_t)((uint32_t)v - (uint32_t)m->value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return v == m->value;
    case CU_STREAM_WAIT_VALUE_AND: return v & m->value;
    default: return (m->wide ? ~(v | m->value) : (uint32_t)~(v | m->value)) != 0; /* NOR */
    }
}

static bool is_open(void *data, hd_result status)
{
    bool open = status || is_met(data);
    if (open)
        free(data);
    return open;
}

static void write_value(void *data, hd_result status)
{
    struct memop m = *(struct memop *)data;
    void *at = hd_own_view(m.context->device->machine, (void *)(uintptr_t)m.address);
    free(data);
    if (status)
        return;
    hd_checker_mark_defined(hd_machine_checker(m.context->device->machine), at, m.wide ? 8 : 4);
    if (m.wide)
        __atomic_store_n((uint64_t *)at, m.value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)at, (uint32_t)m.value, __ATOMIC_RELEASE);
}

static CUresult put(CUstream s, CUdeviceptr address, uint64_t value, bool wide, bool wait, unsigned flags)
{
    hd_stream *stream;
    CUcontext c;
    const unsigned known = wait ? 3u | CU_STREAM_WAIT_VALUE_FLUSH : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
    CUstream object;
    TRY(stream_object(s, &object, &c));
    if (object && object->capture)
        return capture_unsupported(object, "a stream's operation on memory as a node of a graph");
    TRY(stream_run(s, &stream, &c));
    NEED((flags & ~known) == 0 && address && address % (wide ? 8 : 4) == 0);
    NEED(device_of((void *)(uintptr_t)address, NULL) || registered_find((void *)(uintptr_t)address, NULL));
    NEED(mapping_allows((void *)(uintptr_t)address, wide ? 8 : 4, !wait));
    struct memop *m = malloc(sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *m = (struct memop){address, value, wide, flags, c};
    return from_hd(wait ? hd_stream_gate(stream, is_open, m) : hd_stream_call(stream, write_value, m, HD_CALL_ALWAYS));
}

#define MEMOP(name, bits, type, wide, wait)                                                                            \
    CU_API CUresult name##bits##_v2(CUstream s, CUdeviceptr address, type value, unsigned flags)                       \
    {                                                                                                                  \
        return put(s, address, value, wide, wait, flags);                                                              \
    }                                                                                                                  \
    CU_API CUresult name##bits##_v2_ptsz(CUstream s, CUdeviceptr address, type value, unsigned flags)                  \
    {                                                                                                                  \
        return put(OR_OWN(s), address, value, wide, wait, flags);                                                      \
    }

MEMOP(cuStreamWaitValue, 32, cuuint32_t, false, true)
MEMOP(cuStreamWaitValue, 64, cuuint64_t, true, true)
MEMOP(cuStreamWriteValue, 32, cuuint32_t, false, false)
MEMOP(cuStreamWriteValue, 64, cuuint64_t, true, false)

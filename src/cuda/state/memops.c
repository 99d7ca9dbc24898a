/* See memops.h. */
#include "cuda/state/memops.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/state/devices.h"
#include "cuda/state/mapping.h"
#include "cuda/state/registered.h"

/* One operation, as it runs. */
struct memop {
    CUdeviceptr address;
    uint64_t value;
    bool wide, wait;
    unsigned flags;
    struct device *device;
};

static bool is_of_memory(const CUstreamBatchMemOpParams *p)
{
    return p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
           p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

/* Waits and writes have their members at the same offsets. */
static struct memop memop_of(const CUstreamBatchMemOpParams *p)
{
    bool wide = p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || p->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    bool wait = p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || p->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    return (struct memop){.address = p->waitValue.address,
                          .value = wide ? p->waitValue.value64 : p->waitValue.value,
                          .wide = wide,
                          .wait = wait,
                          .flags = p->waitValue.flags};
}

CUresult memops_check(const CUstreamBatchMemOpParams *ops, unsigned count)
{
    NEED(count <= MOST_MEMOPS && (ops || !count));
    for (unsigned i = 0; i < count; i++) {
        NEED((unsigned)ops[i].operation >= CU_STREAM_MEM_OP_WAIT_VALUE_32 &&
             (unsigned)ops[i].operation <= CU_STREAM_MEM_OP_BARRIER);
        if (!is_of_memory(&ops[i]))
            continue;
        const struct memop m = memop_of(&ops[i]);
        const unsigned known = m.wait ? 3u | CU_STREAM_WAIT_VALUE_FLUSH : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;
        NEED((m.flags & ~known) == 0 && m.address % (m.wide ? 8 : 4) == 0);
    }
    return CUDA_SUCCESS;
}

CUresult memops_check_memory(const CUstreamBatchMemOpParams *ops, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (!is_of_memory(&ops[i]))
            continue;
        const struct memop m = memop_of(&ops[i]);
        void *at = (void *)(uintptr_t)m.address;
        NEED(at && (device_of(at, NULL) || registered_find(at, NULL)) && mapping_allows(at, m.wide ? 8 : 4, !m.wait));
    }
    return CUDA_SUCCESS;
}

struct memops *memops_new(CUcontext context, const CUstreamBatchMemOpParams *ops, unsigned count)
{
    struct memops *m = malloc(sizeof *m + count * sizeof *ops);
    if (!m)
        return NULL;
    m->refs = 1;
    m->context = context;
    m->count = count;
    if (count)
        memcpy(m->at, ops, count * sizeof *ops);
    return m;
}

struct memops *memops_hold(struct memops *m)
{
    m->refs++;
    return m;
}

void memops_release(struct memops *m)
{
    if (--m->refs == 0)
        free(m);
}

/* ---- running ---- */

static uint64_t load(const struct memop *m)
{
    const void *at = hd_own_view(m->device->machine, (void *)(uintptr_t)m->address);
    return m->wide ? __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE)
                   : __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
}

static bool is_met(const struct memop *m)
{
    uint64_t v = load(m);
    switch (m->flags & 3) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* a cyclic comparison */
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
    void *at = hd_own_view(m.device->machine, (void *)(uintptr_t)m.address);
    free(data);
    if (status)
        return;
    hd_checker_mark_defined(hd_machine_checker(m.device->machine), at, m.wide ? 8 : 4);
    if (m.wide)
        __atomic_store_n((uint64_t *)at, m.value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)at, (uint32_t)m.value, __ATOMIC_RELEASE);
}

static CUresult run(hd_stream *stream, CUcontext c, const CUstreamBatchMemOpParams *p)
{
    struct memop *m = malloc(sizeof *m);
    if (!m)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *m = memop_of(p);
    m->device = c->device;
    return from_hd(m->wait ? hd_stream_gate(stream, is_open, m)
                           : hd_stream_call(stream, write_value, m, HD_CALL_ALWAYS));
}

CUresult memops_run(hd_stream *stream, CUcontext c, const CUstreamBatchMemOpParams *ops, unsigned count)
{
    TRY(memops_check_memory(ops, count));
    for (unsigned i = 0; i < count; i++)
        if (is_of_memory(&ops[i])) /* barriers are implied by stream order */
            TRY(run(stream, c, &ops[i]));
    return CUDA_SUCCESS;
}

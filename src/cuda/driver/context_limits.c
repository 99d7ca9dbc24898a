/* Limits and preferences of contexts ("CUDA Driver API", 6.8: cuCtxSetLimit). */
#include "cuda/state/capture.h"
#include "cuda/state/contexts.h"
#include "cuda/state/limits.h"
#include "cuda/state/state.h"

/* The least stack here, because frames differ from ptxas's. */
enum { LEAST_STACK_BYTES = 64 << 10 };

/* The stack's size within the environment's limit. */
static size_t stack_bytes(size_t value)
{
    size_t most = limits_given()->stack_bytes, bytes = value < LEAST_STACK_BYTES ? LEAST_STACK_BYTES : value;
    return most && bytes > most ? most : bytes;
}

/* CUDA's buffer holds the arguments of printf, and is drained while the kernel runs. An H200
 * printed 27 MB of text from one kernel with its buffer of 8 MiB, and the end of the text with the
 * smallest buffer, 512 KiB. Here the limit counts text: this many bytes for each byte of the
 * buffer. */
enum { LEAST_FIFO_BYTES = 512 << 10, TEXT_OF_FIFO_BYTE = 8 };

static hd_result set_print_limit(CUcontext c, size_t value)
{
    return hd_machine_set_limit(c->device->machine, HD_LIMIT_PRINT_BYTES, value * TEXT_OF_FIFO_BYTE);
}

/* Refuses limits that an H200 does not have or know. */
static CUresult check_limit(CUlimit limit)
{
    NEED((unsigned)limit < CU_LIMIT_MAX);
    bool gone = limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH || limit == CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED;
    return gone ? CUDA_ERROR_UNSUPPORTED_LIMIT : CUDA_SUCCESS;
}

static size_t between(size_t least, size_t value, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

static size_t rounded_up(size_t value, size_t part)
{
    return (value + part - 1) / part * part;
}

/* The heap and the buffer of printf keep their size once a kernel that uses them was launched,
 * as on an H200 (tests/texture_api/statuses.txt). */
static CUresult check_unused(const struct CUctx_st *c, CUlimit limit)
{
    NEED(limit != CU_LIMIT_MALLOC_HEAP_SIZE || !(c->called & HD_NESTS_HEAP));
    NEED(limit != CU_LIMIT_PRINTF_FIFO_SIZE || !(c->called & HD_NESTS_PRINTING));
    return CUDA_SUCCESS;
}

/* The value that an H200 stores for a requested one (tests/forbidden/graph_rules.txt). */
static CUresult round_limit(CUcontext c, CUlimit limit, size_t *value)
{
    enum { MOST_STACK = 512 << 10, MOST_PENDING = 599186, L2_PART = 3932160, L2 = 39321600, HEAP_PART = 64 << 10 };
    switch (limit) {
    case CU_LIMIT_STACK_SIZE: /* a larger stack is allocated when kernels have ended */
        NEED(*value <= MOST_STACK);
        if (*value > c->limits[limit])
            TRY(from_hd(hd_context_synchronize(c->context)));
        *value = *value > c->limits[limit] ? rounded_up(*value, 16) : *value;
        return CUDA_SUCCESS;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
        *value = rounded_up(between(LEAST_FIFO_BYTES, *value, (size_t)2 << 30), 256);
        return CUDA_SUCCESS;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
        *value = rounded_up(between(4 << 20, *value, SIZE_MAX - HEAP_PART), HEAP_PART);
        return CUDA_SUCCESS;
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: *value = between(32, *value, MOST_PENDING); return CUDA_SUCCESS;
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY: NEED(*value <= 128); return CUDA_SUCCESS;
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
        NEED(*value <= L2);
        *value = rounded_up(*value, L2_PART);
        return CUDA_SUCCESS;
    default: return CUDA_ERROR_NOT_PERMITTED;
    }
}

/* The limits of stack, heap, pending launches and printed text apply to the machine; the others are
 * hints, or sizes of things that have no fixed size here. */
static hd_result apply_limit(CUcontext c, CUlimit limit, size_t value)
{
    hd_machine *m = c->device->machine;
    switch (limit) {
    case CU_LIMIT_STACK_SIZE: return hd_machine_set_limit(m, HD_LIMIT_STACK_BYTES, stack_bytes(value));
    case CU_LIMIT_MALLOC_HEAP_SIZE: return hd_machine_set_limit(m, HD_LIMIT_HEAP_BYTES, value);
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT: return hd_machine_set_limit(m, HD_LIMIT_PENDING_LAUNCHES, value);
    case CU_LIMIT_PRINTF_FIFO_SIZE: return set_print_limit(c, value);
    default: return HD_SUCCESS;
    }
}

CU_API CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    CUcontext c;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    TRY(check_limit(limit));
    TRY(check_unused(c, limit));
    TRY(round_limit(c, limit, &value));
    TRY(from_hd(apply_limit(c, limit, value)));
    c->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult context_first_limits(CUcontext c, const struct CUctx_st *before)
{
    for (unsigned i = 0; i < LIMITS; i++)
        if (c->limits[i] != before->limits[i])
            TRY(from_hd(apply_limit(c, (CUlimit)i, c->limits[i])));
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(value);
    TRY(check_limit(limit));
    *value = c->limits[limit];
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(config);
    *config = (CUfunc_cache)c->cache_config;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    CUcontext c;
    TRY(context_current(&c));
    TRY(capture_unsafe());
    NEED((unsigned)config <= CU_FUNC_CACHE_PREFER_EQUAL);
    c->cache_config = (int)config;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED(config);
    *config = (CUsharedconfig)c->shared_config;
    return CUDA_SUCCESS;
}

CU_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config)
{
    CUcontext c;
    TRY(context_current(&c));
    NEED((unsigned)config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE);
    c->shared_config = (int)config;
    return CUDA_SUCCESS;
}

/* There is no cache to persist in. */
CU_API CUresult cuCtxResetPersistingL2Cache(void)
{
    CUcontext c;
    return context_current(&c);
}

/* See state.h. */
#include "cuda/state/state.h"

struct handle_table handle_table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    bool ready, forked;
    pthread_mutex_t lock, primary_lock;
    uint64_t numbers;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .primary_lock = PTHREAD_MUTEX_INITIALIZER};

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

CUresult state_ready(void)
{
    return state.ready && !state.forked ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

void state_set_ready(void)
{
    state.ready = true;
}

bool state_has_forked(void)
{
    return state.forked;
}

void state_after_fork(void)
{
    state.forked = state.ready;
    pthread_mutex_init(&state.lock, NULL);
    pthread_mutex_init(&state.primary_lock, NULL);
    handle_after_fork(&handle_table);
    calls_after_fork();
}

/* ---- handles ---- */

CUresult handle_give_held(enum handle_kind kind, void *record, CUcontext context, void *handle)
{
    if (context && context->ended)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *(void **)handle = handle_add(&handle_table, kind, record, context);
    return *(void **)handle ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult handle_give(enum handle_kind kind, void *record, CUcontext context, void *handle)
{
    state_lock();
    CUresult r = handle_give_held(kind, record, context, handle);
    state_unlock();
    return r;
}

void *record_take(const void *handle, enum handle_kind kind)
{
    return handle_take(&handle_table, handle, kind);
}

void record_replace(const void *handle, void *record)
{
    handle_replace(&handle_table, handle, record);
}

void *record_take_of(CUcontext context, uint32_t *at, unsigned *kind)
{
    return handle_take_owned(&handle_table, context, at, kind);
}

void records_each(enum handle_kind kind, void (*visit)(void *data, void *record), void *data)
{
    handle_each(&handle_table, kind, visit, data);
}

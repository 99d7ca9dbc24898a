/* See state.h. */
#include "cuda/state.h"

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
}

/* See memory.h. */
#include "explore/memory.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static _Thread_local jmp_buf *run_out;

void *memory_grow(void *at, size_t count, size_t size)
{
    void *grown = size && count > SIZE_MAX / size ? NULL : realloc(at, count * size + !count);
    if (!grown)
        longjmp(*run_out, 1);
    return grown;
}

void *memory_zeroed(size_t count, size_t size)
{
    return memset(memory_grow(NULL, count, size), 0, count * size);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t memory_for_runs(void)
{
    struct rlimit limit;
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        all = least(all, limit.rlim_cur);
    return least(2ull << 30, all / 2);
}

bool memory_try(struct arena *arena, void (*step)(void *), void *data)
{
    jmp_buf here, *const outer = run_out, *const outer_of_arena = arena->on_oom;
    volatile bool done = false;
    run_out = arena->on_oom = &here;
    if (setjmp(here) == 0) {
        step(data);
        done = true;
    }
    run_out = outer;
    arena->on_oom = outer_of_arena;
    return done;
}

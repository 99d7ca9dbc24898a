/* See memory.h. */
#include "explore/memory.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

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

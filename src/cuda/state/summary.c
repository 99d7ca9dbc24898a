/* HEDDLE_SUMMARY=1 (`heddle run -v`): prints on stderr what the process has done, when it ends. */
#include "cuda/state/work.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
    atomic_ullong launches, blocks, copies, bytes, fills, calls, library_calls;
} counts;
static struct timespec begin;

static double seconds_since_begin(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec);
}

void summary_count(const struct work *w)
{
    const unsigned *grid = w->launch.config.grid;
    switch (w->kind) {
    case WORK_LAUNCH:
        atomic_fetch_add(&counts.launches, 1);
        atomic_fetch_add(&counts.blocks, (unsigned long long)grid[0] * grid[1] * grid[2]);
        break;
    case WORK_COPY:
        atomic_fetch_add(&counts.copies, 1);
        atomic_fetch_add(&counts.bytes, w->copy.width * w->copy.height * w->copy.depth);
        break;
    case WORK_FILL: atomic_fetch_add(&counts.fills, 1); break;
    case WORK_CALL: atomic_fetch_add(&counts.calls, 1); break;
    case WORK_LIBRARY: atomic_fetch_add(&counts.library_calls, 1); break;
    default: break;
    }
}

__attribute__((constructor)) static void start(void)
{
    clock_gettime(CLOCK_MONOTONIC, &begin);
}

/* "1 launch", "2 launches". */
#define COUNTED(n, one, more) (n), (n) == 1 ? (one) : (more)

__attribute__((destructor)) static void print(void)
{
    char library[64] = "";
    unsigned long long library_calls = atomic_load(&counts.library_calls);
    if (!secure_getenv("HEDDLE_SUMMARY"))
        return;
    if (library_calls)
        snprintf(library, sizeof library, ", %llu library %s", COUNTED(library_calls, "call", "calls"));
    fprintf(stderr, "heddle: %s: %llu %s of %llu %s, %llu %s of %llu %s, %llu %s, %llu %s%s, %.3f s\n",
            program_invocation_short_name, COUNTED(atomic_load(&counts.launches), "launch", "launches"),
            COUNTED(atomic_load(&counts.blocks), "block", "blocks"),
            COUNTED(atomic_load(&counts.copies), "copy", "copies"),
            COUNTED(atomic_load(&counts.bytes), "byte", "bytes"), COUNTED(atomic_load(&counts.fills), "fill", "fills"),
            COUNTED(atomic_load(&counts.calls), "host function", "host functions"), library, seconds_since_begin());
}

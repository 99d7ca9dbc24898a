/* See budget.h. */
#include "check/shadow/budget.h"

#include <unistd.h>

void budget_init(struct budget *b, uint64_t limit_bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (!limit_bytes)
        limit_bytes = pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes / 2 : UINT64_MAX / 2;
    *b = (struct budget){.limit_bytes = limit_bytes};
}

bool budget_take(struct budget *b, uint64_t bytes)
{
    if (!b || atomic_fetch_add_explicit(&b->bytes, bytes, memory_order_relaxed) + bytes <= b->limit_bytes)
        return true;
    budget_give(b, bytes);
    atomic_store(&b->refused, true);
    return false;
}

void budget_give(struct budget *b, uint64_t bytes)
{
    if (b)
        atomic_fetch_sub_explicit(&b->bytes, bytes, memory_order_relaxed);
}

uint64_t budget_left(const struct budget *b)
{
    uint64_t taken = atomic_load_explicit(&b->bytes, memory_order_relaxed);
    return taken < b->limit_bytes ? b->limit_bytes - taken : 0;
}

bool budget_is_short(const struct budget *b)
{
    return atomic_load_explicit(&b->bytes, memory_order_relaxed) > b->limit_bytes / 2;
}

const char *budget_words(const struct budget *b, struct arena *arena)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    unsigned unit = 0;
    uint64_t n = b->limit_bytes;
    if (!atomic_load(&b->refused))
        return "memory has run out";
    for (; unit < 3 && n % 1024 == 0; unit++)
        n /= 1024;
    return arena_printf(arena, "the checker's records have reached their limit, %llu %s", (unsigned long long)n,
                        units[unit]);
}

const char *budget_help(const struct budget *b)
{
    return atomic_load(&b->refused) ? "--shadow-memory SIZE allows more memory; --tool, --kernel-name and "
                                      "--launch-count check less at a time"
                                    : "--tool, --kernel-name and --launch-count check less at a time";
}

/* Numbered things; see numbered.h. */
#include "check/numbered.h"

#include <sys/mman.h>

bool numbered_open(struct numbered *n, size_t each_bytes, uint32_t most, struct budget *budget)
{
    void *at =
        mmap(NULL, each_bytes * most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at != MAP_FAILED && each_bytes * most >= 1u << 30)
        madvise(at, each_bytes * most, MADV_HUGEPAGE);
    *n = (struct numbered){.at = at, .each_bytes = each_bytes, .most = most, .next = 1, .budget = budget};
    return at != MAP_FAILED;
}

static void give_all(struct numbered *n)
{
    budget_give(n->budget, (n->next - 1) * n->each_bytes);
}

void numbered_close(struct numbered *n)
{
    give_all(n);
    munmap(n->at, n->each_bytes * n->most);
}

uint32_t numbered_take_row(struct numbered *n, uint32_t count)
{
    uint32_t first = atomic_load_explicit(&n->next, memory_order_relaxed);
    if (!budget_take(n->budget, count * n->each_bytes))
        return 0;
    do {
        if (n->most - first < count) {
            budget_give(n->budget, count * n->each_bytes);
            return 0;
        }
    } while (!atomic_compare_exchange_weak_explicit(&n->next, &first, first + count, memory_order_relaxed,
                                                    memory_order_relaxed));
    return first;
}

void numbered_clear(struct numbered *n, uint64_t keep_bytes)
{
    uint64_t bytes = numbered_bytes(n);
    if (bytes > keep_bytes)
        madvise(n->at, bytes, MADV_DONTNEED);
    give_all(n);
    atomic_store(&n->next, 1);
}

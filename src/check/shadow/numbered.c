/* See numbered.h. */
#include "check/shadow/numbered.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 512, REGION = 4096 };

static void *reserve(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static size_t bytes_of_marks(const struct numbered *n)
{
    return ((size_t)n->most / REGION + 1) * REGION / 8;
}

bool numbered_open(struct numbered *n, size_t each_bytes, uint32_t most, struct budget *budget)
{
    void *at = reserve(each_bytes * most);
    if (at && each_bytes * most >= 1u << 30)
        madvise(at, each_bytes * most, MADV_HUGEPAGE);
    *n = (struct numbered){.at = at, .each_bytes = each_bytes, .most = most, .next = 1, .budget = budget};
    return at;
}

static void give_all(struct numbered *n)
{
    budget_give(n->budget, (n->next - 1) * n->each_bytes - n->dropped_bytes);
}

static void forget_marks(struct numbered *n)
{
    if (n->marks)
        munmap(n->marks, bytes_of_marks(n));
    n->marks = NULL;
    n->swept = n->kept = 0;
    n->dropped_bytes = 0;
    atomic_store(&n->region, 0);
    atomic_store(&n->again, 0);
}

void numbered_close(struct numbered *n)
{
    give_all(n);
    forget_marks(n);
    munmap(n->at, n->each_bytes * n->most);
}

void numbered_clear(struct numbered *n, uint64_t keep_bytes)
{
    uint64_t bytes = numbered_bytes(n);
    if (bytes > keep_bytes)
        madvise(n->at, bytes, MADV_DONTNEED);
    give_all(n);
    forget_marks(n);
    atomic_store(&n->next, 1);
}

/* ---- taking ---- */

uint32_t numbered_take_many(struct numbered *n, uint32_t count)
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

/* The first number from `from` on that is, or is not, marked; or `end`. */
static uint32_t find(const struct numbered *n, uint32_t from, uint32_t end, bool marked)
{
    while (from < end) {
        uint64_t word = (marked ? n->marks[from / 64] : ~n->marks[from / 64]) >> from % 64;
        if (word) {
            from += (uint32_t)__builtin_ctzll(word);
            break;
        }
        from = (from / 64 + 1) * 64;
    }
    return from < end ? from : end;
}

/* Finds so many consecutive free numbers in the rest of the reservation's region. */
static bool find_row(const struct numbered *n, struct reservation *s, uint32_t count)
{
    while (s->region < s->region_end) {
        uint32_t first = find(n, s->region, s->region_end, false);
        s->region = find(n, first, s->region_end, true);
        if (s->region - first >= count) {
            s->next = first;
            s->left = s->region - first;
            return true;
        }
    }
    return false;
}

static bool next_region(struct numbered *n, struct reservation *s)
{
    if (atomic_load_explicit(&n->region, memory_order_relaxed) >= n->swept)
        return false;
    uint32_t first = atomic_fetch_add_explicit(&n->region, REGION, memory_order_relaxed), marked = 0;
    if (first >= n->swept)
        return false;
    s->region = first;
    s->region_end = n->swept - first < REGION ? n->swept : first + REGION;
    for (uint32_t i = first / 64; i < (s->region_end + 63) / 64; i++)
        marked += (uint32_t)__builtin_popcountll(n->marks[i]);
    atomic_fetch_add_explicit(&n->again, s->region_end - first - marked, memory_order_relaxed);
    return true;
}

bool numbered_refill(struct numbered *n, struct reservation *s, uint32_t count)
{
    do
        if (find_row(n, s, count))
            return true;
    while (next_region(n, s));
    uint32_t batch = count > BATCH ? count : BATCH;
    s->next = numbered_take_many(n, batch);
    s->left = s->next ? batch : 0;
    return s->next;
}

/* ---- garbage collection ---- */

uint64_t numbered_bytes_since(const struct numbered *n)
{
    return ((uint64_t)atomic_load(&n->next) - n->swept + atomic_load(&n->again)) * n->each_bytes;
}

uint64_t numbered_bytes_left(const struct numbered *n)
{
    return ((uint64_t)n->most - n->kept) * n->each_bytes - numbered_bytes_since(n);
}

bool numbered_unmark(struct numbered *n)
{
    atomic_store(&n->region, n->swept); /* none is free for now */
    if (!n->marks && !(n->marks = reserve(bytes_of_marks(n))))
        return false;
    memset(n->marks, 0, atomic_load(&n->next) / 64 * 8 + 8);
    return numbered_mark(n, 0, 1);
}

bool numbered_mark(struct numbered *n, uint32_t first, uint32_t count)
{
    bool fresh = !numbered_is_marked(n, first);
    for (uint32_t i = first; fresh && i < first + count; i++)
        n->marks[i / 64] |= 1ull << i % 64;
    return fresh;
}

static void count_kept(struct numbered *n)
{
    n->swept = atomic_load(&n->next);
    n->kept = 0;
    for (uint32_t i = 0; i <= n->swept / 64; i++)
        n->kept += (uint32_t)__builtin_popcountll(n->marks[i]);
}

void numbered_sweep(struct numbered *n)
{
    count_kept(n);
    atomic_store(&n->region, 0);
    atomic_store(&n->again, 0);
}

void numbered_drop(struct numbered *n)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), dropped = 0;
    count_kept(n);
    for (uint32_t first = 0, end; first < n->swept; first = end) {
        first = find(n, first, n->swept, false);
        end = find(n, first, n->swept, true);
        uint64_t from = (first * n->each_bytes + page - 1) / page * page, to = end * n->each_bytes / page * page;
        if (from < to) {
            madvise(n->at + from, to - from, MADV_DONTNEED);
            dropped += to - from;
        }
    }
    budget_give(n->budget, dropped - n->dropped_bytes);
    n->dropped_bytes = dropped;
}

/* See guarded.h. */
#include "guarded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, UNIT = 64 << 10, MAX_PIECES = 4096, MAX_GAPS = 4096, ALIGN = 64 };
#define MARGIN (5ull << 30) /* above what 32 bits can be off by, either way */

struct worker;
void *__wrap_pool_take(struct worker *k, size_t bytes);
void __wrap_pool_give(struct worker *k, void *p, size_t bytes);
void *__wrap_pool_take_window(struct worker *k, size_t bytes);
void __wrap_pool_give_window(struct worker *k, void *p, size_t bytes);
void *__real_pool_take(struct worker *k, size_t bytes);
void __real_pool_give(struct worker *k, void *p, size_t bytes);
void *__real_pool_take_window(struct worker *k, size_t bytes);
void __real_pool_give_window(struct worker *k, void *p, size_t bytes);

/* A piece has a range of its own of twice the margin, in the middle of which it is. */
static struct piece {
    uint8_t *pages, *at;
    size_t length, bytes;
    bool used;
} pieces[MAX_PIECES];
static uint8_t *arena;
static enum guard_pieces how = GUARD_ENDS;
static unsigned taken, n_ever; /* pieces from n_ever on were never used */

static struct gap {
    uint8_t *at;
    size_t bytes;
} gaps[MAX_GAPS];
static size_t n_gaps;

static const void *broken;
static const char *broken_beside;
static uint8_t *margins[2];

static uint8_t pattern(const uint8_t *p)
{
    return (uint8_t)(0xA5 ^ (uintptr_t)p * 37);
}

static void put_pattern(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = pattern(p + i);
}

static void look_at_pattern(const uint8_t *p, size_t bytes, const char *beside)
{
    for (size_t i = 0; i < bytes && !broken; i++)
        if (p[i] != pattern(p + i)) {
            broken = p + i;
            broken_beside = beside;
        }
}

void guard_pieces(enum guard_pieces h)
{
    how = h;
}

/* ---- pieces of the pool ---- */

static struct piece *find_room(size_t bytes)
{
    unsigned i = 0;
    if (!arena) {
        arena = mmap(NULL, MAX_PIECES * 2 * MARGIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED)
            abort();
    }
    while (i < n_ever && pieces[i].used)
        i++;
    if (i == MAX_PIECES || bytes > MARGIN)
        return NULL;
    n_ever += i == n_ever;
    pieces[i].pages = arena + (2ull * i + 1) * MARGIN;
    return &pieces[i];
}

/* The piece's contents are never the same twice: who reads what he has not written is seen. */
static void *take_piece(size_t bytes)
{
    struct piece *p = find_room(bytes);
    size_t room = (bytes + ALIGN - 1) / ALIGN * ALIGN, length = (room + PAGE - 1) / PAGE * PAGE;
    if (!p) /* deep recursion: the rest has no pages of its own */
        return aligned_alloc(ALIGN, room);
    if (mprotect(p->pages, length, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    p->used = true;
    p->bytes = bytes;
    p->length = length;
    p->at = how == GUARD_ENDS ? p->pages + length - room : p->pages;
    put_pattern(p->pages, length);
    memset(p->at, (int)(++taken * 29), bytes);
    return p->at;
}

static void look_at_piece(const struct piece *p)
{
    look_at_pattern(p->pages, (size_t)(p->at - p->pages), "before memory of the pool");
    look_at_pattern(p->at + p->bytes, (size_t)(p->pages + p->length - (p->at + p->bytes)), "behind memory of the pool");
}

static void give_piece(void *given)
{
    size_t offset = (size_t)((uint8_t *)given - arena);
    if (!given || offset >= MAX_PIECES * 2 * MARGIN) {
        free(given);
        return;
    }
    struct piece *p = &pieces[offset / (2 * MARGIN)];
    if (!p->used || p->at != given)
        abort();
    look_at_piece(p);
    p->used = false;
    mmap(p->pages, p->length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void *__wrap_pool_take(struct worker *k, size_t bytes)
{
    return how == GUARD_NONE ? __real_pool_take(k, bytes) : take_piece(bytes);
}

void __wrap_pool_give(struct worker *k, void *p, size_t bytes)
{
    how == GUARD_NONE ? __real_pool_give(k, p, bytes) : give_piece(p);
}

void *__wrap_pool_take_window(struct worker *k, size_t bytes)
{
    return how == GUARD_NONE ? __real_pool_take_window(k, bytes) : take_piece(bytes);
}

void __wrap_pool_give_window(struct worker *k, void *p, size_t bytes)
{
    how == GUARD_NONE ? __real_pool_give_window(k, p, bytes) : give_piece(p);
}

/* ---- the machine's range ---- */

/* The system gives addresses from above: one margin lies above the machine, the other below. */
hd_result guard_machine(const hd_machine_options *o, hd_machine **m)
{
    margins[0] = mmap(NULL, 8 * MARGIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    hd_result r = hd_machine_create(o, m, NULL);
    margins[1] = mmap(NULL, 8 * MARGIN, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return r;
}

static void add_gap(uint8_t *at, const uint8_t *end)
{
    for (size_t i = 0; i < n_gaps; i++)
        if (gaps[i].at == at)
            return;
    if (at == end || n_gaps == MAX_GAPS)
        return;
    gaps[n_gaps++] = (struct gap){at, (size_t)(end - at)};
    put_pattern(at, (size_t)(end - at));
}

void guard_around(hd_machine *m, const void *p)
{
    hd_memory_info own, info;
    if (!hd_find(m, p, &own))
        return;
    uint8_t *from = (uint8_t *)((uintptr_t)own.start / UNIT * UNIT), *begin = from;
    const uint8_t *to = (uint8_t *)(((uintptr_t)own.start + own.bytes + UNIT - 1) / UNIT * UNIT);
    for (uint8_t *at = from; at < to;) {
        if (hd_find(m, at, &info)) {
            add_gap(begin, at);
            begin = at = (uint8_t *)info.start + info.bytes;
        } else {
            at += 16 - (uintptr_t)at % 16;
        }
    }
    add_gap(begin, to);
}

void guard_forget(void)
{
    n_gaps = 0;
}

const void *guard_broken(const char **beside)
{
    for (size_t i = 0; i < n_gaps; i++)
        look_at_pattern(gaps[i].at, gaps[i].bytes, "beside an allocation");
    for (unsigned i = 0; i < n_ever; i++)
        if (pieces[i].used)
            look_at_piece(&pieces[i]);
    if (beside)
        *beside = broken_beside;
    return broken;
}

const char *guard_describe(const void *p)
{
    uintptr_t at = (uintptr_t)p;
    if (arena && at - (uintptr_t)arena < MAX_PIECES * 2 * MARGIN)
        return "in the forbidden pages around memory of the pool";
    for (unsigned i = 0; i < 2; i++)
        if (margins[i] && at - (uintptr_t)margins[i] < 8 * MARGIN)
            return "in the forbidden pages around the machine";
    return "elsewhere";
}

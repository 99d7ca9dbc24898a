/* See handle_table.h. A handle: bit 62, which no address of a program has; how often its place had
 * been given out; the place; four bits of 0, as in an address. A place is not used again when its
 * count has come to the end.
 */
#include "base/handle_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLACE_BITS = 24, PLACE_SHIFT = 4, GENERATION_SHIFT = PLACE_SHIFT + PLACE_BITS, MARK_SHIFT = 62 };

#define KINDS       ((uint64_t)15)
#define MARK        ((uint64_t)1 << MARK_SHIFT)
#define GENERATIONS ((uint64_t)1 << (MARK_SHIFT - GENERATION_SHIFT))

_Static_assert(HANDLE_CHUNK *HANDLE_CHUNKS == 1 << PLACE_BITS && 1 << PLACE_SHIFT == KINDS + 1, "a tag has all bits");

static uint32_t place_of(uint64_t handle)
{
    return (uint32_t)(handle >> PLACE_SHIFT) & ((1 << PLACE_BITS) - 1);
}

/* NULL where no handle was ever given out for the place. */
static struct handle_slot *slot_at(struct handle_table *t, uint32_t place)
{
    struct handle_slot *chunk = atomic_load_explicit(&t->chunks[place / HANDLE_CHUNK], memory_order_acquire);
    return chunk ? &chunk[place % HANDLE_CHUNK] : NULL;
}

static struct handle_slot *slot_of(struct handle_table *t, const void *handle, unsigned kind, uint64_t *tag)
{
    uint64_t h = (uint64_t)(uintptr_t)handle;
    *tag = h | kind;
    return (h & (MARK | KINDS)) == MARK ? slot_at(t, place_of(h)) : NULL;
}

/* The record may be another one's where the place was given out anew between the two looks at its
 * tag. */
void *handle_find(struct handle_table *t, const void *handle, unsigned kind)
{
    uint64_t tag;
    struct handle_slot *s = slot_of(t, handle, kind, &tag);
    if (!s || atomic_load_explicit(&s->tag, memory_order_acquire) != tag)
        return NULL;
    void *record = atomic_load_explicit(&s->record, memory_order_acquire);
    return atomic_load_explicit(&s->tag, memory_order_relaxed) == tag ? record : NULL;
}

/* ---- giving out, and taking back: with the lock held ---- */

/* Handles of other processes begin elsewhere. */
static uint64_t first_generation(void)
{
    return ((uint64_t)getpid() << 8) % (GENERATIONS / 2);
}

static struct handle_slot *new_place(struct handle_table *t, uint32_t *place)
{
    if (t->n == HANDLE_CHUNK * HANDLE_CHUNKS)
        return NULL;
    if (t->n % HANDLE_CHUNK == 0) {
        struct handle_slot *chunk = calloc(HANDLE_CHUNK, sizeof *chunk);
        if (!chunk)
            return NULL;
        atomic_store_explicit(&t->chunks[t->n / HANDLE_CHUNK], chunk, memory_order_release);
    }
    *place = t->n++;
    struct handle_slot *s = slot_at(t, *place);
    s->generation = first_generation();
    return s;
}

static struct handle_slot *free_place(struct handle_table *t, uint32_t *place)
{
    if (!t->n_free)
        return new_place(t, place);
    *place = t->free[t->first_free];
    t->first_free = (t->first_free + 1) % t->free_capacity;
    t->n_free--;
    return slot_at(t, *place);
}

static bool grow_free(struct handle_table *t)
{
    uint32_t capacity = t->free_capacity ? 2 * t->free_capacity : 64;
    uint32_t *more = malloc(capacity * sizeof *more);
    if (!more)
        return false;
    for (uint32_t i = 0; i < t->n_free; i++)
        more[i] = t->free[(t->first_free + i) % t->free_capacity];
    free(t->free);
    t->free = more;
    t->first_free = 0;
    t->free_capacity = capacity;
    return true;
}

/* Without memory to remember it, the place is not used again. */
static void *take(struct handle_table *t, struct handle_slot *s, uint32_t place)
{
    void *record = atomic_load_explicit(&s->record, memory_order_relaxed);
    atomic_store(&s->tag, 0);
    if (++s->generation < GENERATIONS && (t->n_free < t->free_capacity || grow_free(t)))
        t->free[(t->first_free + t->n_free++) % t->free_capacity] = place;
    return record;
}

void *handle_add(struct handle_table *t, unsigned kind, void *record, const void *owner)
{
    uint32_t place;
    uint64_t handle = 0;
    pthread_mutex_lock(&t->lock);
    struct handle_slot *s = free_place(t, &place);
    if (s) {
        handle = MARK | s->generation << GENERATION_SHIFT | (uint64_t)place << PLACE_SHIFT;
        s->owner = owner;
        atomic_store_explicit(&s->record, record, memory_order_release);
        atomic_store_explicit(&s->tag, handle | kind, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    return (void *)(uintptr_t)handle;
}

void *handle_take(struct handle_table *t, const void *handle, unsigned kind)
{
    uint64_t tag;
    void *record = NULL;
    struct handle_slot *s = slot_of(t, handle, kind, &tag);
    if (!s)
        return NULL;
    pthread_mutex_lock(&t->lock);
    if (atomic_load_explicit(&s->tag, memory_order_relaxed) == tag)
        record = take(t, s, place_of(tag));
    pthread_mutex_unlock(&t->lock);
    return record;
}

void handle_replace(struct handle_table *t, const void *handle, void *record)
{
    atomic_store(&slot_at(t, place_of((uint64_t)(uintptr_t)handle))->record, record);
}

void *handle_take_owned(struct handle_table *t, const void *owner, uint32_t *at, unsigned *kind)
{
    void *record = NULL;
    pthread_mutex_lock(&t->lock);
    for (; *at < t->n && !record; ++*at) {
        struct handle_slot *s = slot_at(t, *at);
        uint64_t tag = atomic_load_explicit(&s->tag, memory_order_relaxed);
        if (tag && s->owner == owner) {
            *kind = tag & KINDS;
            record = take(t, s, *at);
        }
    }
    pthread_mutex_unlock(&t->lock);
    return record;
}

void handle_each(struct handle_table *t, unsigned kind, void (*visit)(void *data, void *record), void *data)
{
    pthread_mutex_lock(&t->lock);
    for (uint32_t i = 0; i < t->n; i++) {
        struct handle_slot *s = slot_at(t, i);
        uint64_t tag = atomic_load_explicit(&s->tag, memory_order_relaxed);
        if (tag && (tag & KINDS) == kind)
            visit(data, atomic_load_explicit(&s->record, memory_order_relaxed));
    }
    pthread_mutex_unlock(&t->lock);
}

void handle_after_fork(struct handle_table *t)
{
    pthread_mutex_init(&t->lock, NULL);
}

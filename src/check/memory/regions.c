/* Allocations of which some bytes have been undefined, or that a kernel has made: what findings say
 * of them; see memory.h. */
#include "check/checker.h"

#include <stdlib.h>

#include "base/demangle.h"

static struct region **bucket_of(struct checker *c, uint64_t start)
{
    return &c->memory.regions[start / 16 * 0x9E3779B97F4A7C15u >> 52];
}

_Static_assert(REGION_BUCKETS == 1 << (64 - 52), "the upper bits of the product are the bucket");

/* With the lock of the regions held. */
static struct region **find_link(struct checker *c, uint64_t start)
{
    struct region **link = bucket_of(c, start);
    while (*link && (*link)->start != start)
        link = &(*link)->next;
    return link;
}

/* The allocation that holds an address; the address itself where none does: memory of the host. */
static struct mem_block allocation_at(const struct checker *c, uint64_t address, uint64_t bytes)
{
    struct mem_block b;
    if (checker_find(c, address, &b))
        return b;
    return (struct mem_block){.start = address, .size = bytes};
}

struct region *region_find(struct checker *c, uint64_t address)
{
    uint64_t start = allocation_at(c, address, 0).start;
    pthread_rwlock_rdlock(&c->memory.regions_lock);
    struct region *r = *find_link(c, start);
    pthread_rwlock_unlock(&c->memory.regions_lock);
    return r;
}

bool region_note(struct checker *c, uint64_t address, uint64_t bytes, const char *name, struct finding *leak)
{
    struct mem_block b = allocation_at(c, address, bytes);
    bool whole = b.start == address && b.size == bytes;
    pthread_rwlock_wrlock(&c->memory.regions_lock);
    struct region **link = find_link(c, b.start), *r = *link;
    if (!r && (r = calloc(1, sizeof *r)))
        *link = r;
    if (r) {
        r->start = b.start;
        r->size = b.size;
        r->name = name ? name : r->name;
        r->leak = leak;
        if (whole)
            r->writer = NULL;
    }
    pthread_rwlock_unlock(&c->memory.regions_lock);
    return r != NULL;
}

const char *writer_words(const struct site *writer, struct arena *arena)
{
    return writer ? arena_printf(arena, "other parts of it are written %s", place_name(arena, writer))
                  : "nothing of it has been written";
}

static const char *region_written(const struct region *r, struct arena *arena)
{
    return writer_words(atomic_load_explicit(&r->writer, memory_order_relaxed), arena);
}

const char *memory_written(const struct finding *f, struct arena *arena)
{
    if (f->later)
        return arena_printf(arena, "it is written only later, %s", f->later);
    return f->region ? region_written(f->region, arena) : f->written;
}

void region_count_leak(struct checker *c, const struct region *r)
{
    if (r->leak->count++ == 0 || !r->leak->text)
        r->leak->text = arena_printf(&c->findings.arena, "%llu bytes of the device heap are never freed",
                                     (unsigned long long)r->size);
}

void region_freed(struct checker *c, uint64_t start)
{
    pthread_rwlock_wrlock(&c->memory.regions_lock);
    struct region *r = *find_link(c, start);
    if (r)
        r->leak = NULL;
    pthread_rwlock_unlock(&c->memory.regions_lock);
}

/* Findings say from now on what is known of it by now. */
static void settle_findings(struct checker *c, const struct region *r)
{
    pthread_mutex_lock(&c->findings.lock);
    if (r->leak) {
        region_count_leak(c, r);
        r->leak->leaked++;
    }
    for (struct finding *f = c->findings.newest; f; f = f->next) {
        if (f->region != r)
            continue;
        f->written = region_written(r, &c->findings.arena);
        f->region = NULL;
    }
    pthread_mutex_unlock(&c->findings.lock);
}

void region_forget(struct checker *c, uint64_t start)
{
    pthread_rwlock_wrlock(&c->memory.regions_lock);
    struct region **link = find_link(c, start), *r = *link;
    if (r) {
        *link = r->next;
        r->next = c->memory.retired;
        c->memory.retired = r;
    }
    pthread_rwlock_unlock(&c->memory.regions_lock);
    if (r)
        settle_findings(c, r);
}

/* ---- what to call it ---- */

static const char *shared_place(const struct site_table *k, uint64_t at, struct arena *arena)
{
    const struct site_variable *v = sites_shared_at(k, at);
    if (!v)
        return arena_printf(arena, "byte %llu of dynamic shared memory",
                            (unsigned long long)(at - k->static_shared_bytes));
    return arena_printf(arena, "byte %llu of shared variable `%s`", (unsigned long long)(at - v->at),
                        demangle(v->name, arena));
}

const char *memory_global_place(const struct checker *c, const struct region *r, uint64_t at, struct arena *arena)
{
    struct mem_block b = allocation_at(c, at, 0);
    if (!b.size)
        return arena_printf(arena, "0x%llx", (unsigned long long)at);
    return arena_printf(arena, "byte %llu of a buffer of %llu bytes%s", (unsigned long long)(at - b.start),
                        (unsigned long long)b.size,
                        r && r->name ? arena_printf(arena, " `%s`", r->name) : checker_buffer(c, &b, arena));
}

const char *memory_place(struct checker *c, const struct access_event *e, unsigned lane, struct arena *arena)
{
    uint64_t at = access_address(e, lane);
    switch (e->space) {
    case SPACE_SHARED: return shared_place(e->block->launch->kernel, at, arena);
    case SPACE_LOCAL: return arena_printf(arena, "local address 0x%llx", (unsigned long long)at);
    default: return memory_global_place(c, region_find(c, at), at, arena);
    }
}

/* ---- lives ---- */

static void free_regions(struct region **list)
{
    for (struct region *r = *list, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    *list = NULL;
}

void regions_idle(struct checker *c)
{
    free_regions(&c->memory.retired);
}

void regions_close(struct checker *c)
{
    regions_idle(c);
    for (unsigned i = 0; i < REGION_BUCKETS; i++)
        free_regions(&c->memory.regions[i]);
    pthread_rwlock_destroy(&c->memory.regions_lock);
}

/* initcheck: reads of memory that nobody has written; see memory.h.
 *
 * check/shadow/defined.h knows what has been written. Nearly always all bytes of an access are
 * defined: then an event costs a test of bits and no lock. Single lanes are tested where some byte
 * is not.
 */
#include "check/checker.h"

#include <stdlib.h>

#include "base/demangle.h"
#include "exec/machine.h"

/* ---- what cannot be followed ---- */

void initcheck_note_lost(struct checker *c, const struct event_launch *l, const char *place)
{
    struct arena *arena = &c->findings.arena;
    pthread_mutex_lock(&c->findings.lock);
    if (!c->memory.lost && l)
        c->memory.lost = arena_printf(arena, "launch %llu, of kernel `%s`, on (first %s)",
                                      (unsigned long long)l->number, demangle(l->kernel->kernel, arena), place);
    else if (!c->memory.lost)
        c->memory.lost = arena_printf(arena, "an allocation after launch %llu on",
                                      (unsigned long long)(c->machine ? atomic_load(&c->machine->launch_number) : 0));
    pthread_mutex_unlock(&c->findings.lock);
}

static void note_lost_global(struct checker *c, const struct access_event *e, uint64_t address)
{
    struct arena scratch = {0};
    if (atomic_load_explicit(&c->memory.lost, memory_order_relaxed))
        return;
    initcheck_note_lost(c, e->block->launch, memory_global_place(c, region_find(c, address), address, &scratch));
    arena_free(&scratch);
}

/* Shared or local memory of the block. */
static void note_lost_block(struct checker *c, const struct access_event *e)
{
    struct arena scratch = {0};
    if (atomic_load_explicit(&c->memory.lost, memory_order_relaxed))
        return;
    const char *memory = e->space == SPACE_SHARED ? "shared" : "local";
    initcheck_note_lost(c, e->block->launch,
                        arena_printf(&scratch, "%s memory of %s", memory,
                                     block_name(&scratch, e->space == SPACE_SHARED ? e->owner : e->block)));
    arena_free(&scratch);
}

void initcheck_report_lost(struct checker *c, struct diags *diags)
{
    const char *from = atomic_load(&c->memory.lost);
    unsigned long long bytes = atomic_load(&c->memory.written->defined.lost_bytes);
    if (!from && !bytes)
        return;
    diag_warn(diags, (struct place){0}, "not-watched", budget_help(c->budget),
              "initcheck no longer follows %s, and treats it as initialised%s: %s",
              bytes ? arena_printf(diags->arena, "%llu bytes of memory", bytes) : "memory of some blocks",
              from ? arena_printf(diags->arena, ", from %s", from) : "", budget_words(c->budget, diags->arena));
    diag_of_kernel(diags, NULL, "initcheck");
}

/* ---- what is kept of a block ---- */

static unsigned slot; /* of a block's record */

/* The block's record: it is made when the block first needs it. NULL where memory is exhausted. */
static struct block_memory *memory_of(struct checker *c, struct event_block *b)
{
    struct block_memory *of = event_kept(b, slot);
    const struct event_launch *l = b->launch;
    if (of)
        return of;
    pthread_mutex_lock(&c->memory.blocks_lock);
    for (struct block_memory **link = &c->memory.free_blocks; *link && !of; link = &(*link)->next)
        if ((*link)->shared_bytes == l->shared_bytes && (*link)->n_warps >= l->warps_per_block) {
            of = *link;
            *link = (*link)->next;
            break;
        }
    pthread_mutex_unlock(&c->memory.blocks_lock);
    if (!of && !(of = block_memory_new(l->shared_bytes, l->warps_per_block)))
        return NULL;
    event_keep(b, slot, of);
    block_memory_clear(of);
    /* Zero, as the system leaves it. */
    shared_set(of, l->reserved_shared_start, l->reserved_shared_bytes);
    return of;
}

void initcheck_block_ends(void *data, const struct schedule_event *e)
{
    struct checker *c = data;
    struct block_memory *b = event_kept(e->block, slot);
    uint32_t n = atomic_load_explicit(&c->memory.n_early, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (c->memory.early[i].owner == e->block)
            c->memory.early[i].owner = NULL;
    if (!b)
        return;
    pthread_mutex_lock(&c->memory.blocks_lock);
    b->next = c->memory.free_blocks;
    c->memory.free_blocks = b;
    pthread_mutex_unlock(&c->memory.blocks_lock);
}

void initcheck_open(struct checker *c)
{
    event_slot_take(&slot);
    pthread_mutex_init(&c->memory.blocks_lock, NULL);
}

void initcheck_idle(struct checker *c)
{
    while (c->memory.free_blocks) {
        struct block_memory *b = c->memory.free_blocks;
        c->memory.free_blocks = b->next;
        block_memory_free(b);
    }
    c->memory.n_early = 0;
}

/* ---- reads of what nobody has written ---- */

/* Whose memory it is, where several threads have memory of their own at one address. */
static const void *owner_of(const struct checker *c, const struct access_event *e)
{
    return e->space == SPACE_GLOBAL ? (const void *)c : e->space == SPACE_SHARED ? e->owner : e->block;
}
static uint32_t warp_of(const struct access_event *e)
{
    return e->space == SPACE_LOCAL ? e->warp : UINT32_MAX;
}

/* Remembers the place, for the first write to it. Places that there is no room for are not
 * remembered. */
static void expect_writer(struct checker *c, const struct access_event *e, uint64_t address, struct finding *f)
{
    uint32_t n = atomic_load_explicit(&c->memory.n_early, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (c->memory.early[i].finding == f)
            atomic_store_explicit(&c->memory.early[i].owner, NULL, memory_order_relaxed);
    if (n == MAX_EARLY)
        return;
    c->memory.early[n].address = address;
    c->memory.early[n].finding = f;
    c->memory.early[n].warp = warp_of(e);
    atomic_store_explicit(&c->memory.early[n].owner, owner_of(c, e), memory_order_relaxed);
    atomic_store_explicit(&c->memory.n_early, n + 1, memory_order_release);
}

static void read_undefined(struct checker *c, const struct access_event *e, uint32_t lanes)
{
    struct arena *arena = &c->findings.arena;
    lanes = event_users(e, lanes);
    if (!lanes)
        return;
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    uint64_t at = access_address(e, lane);
    struct finding *f = findings_error(&c->findings, "uninitialised-read", e->site, NULL, e->block, e->warp, lanes);
    if (!f)
        return;
    const struct site *writer = e->space == SPACE_SHARED ? memory_of(c, e->owner)->writer : NULL;
    f->region = e->space == SPACE_GLOBAL ? region_find(c, at) : NULL;
    f->later = NULL;
    f->written = writer_words(writer, arena);
    expect_writer(c, e, at, f);
    findings_describe(&c->findings, f, NULL, "%s reads %u bytes that have never been written: %s",
                      thread_name(arena, e->block, e->warp, lane), e->bytes, memory_place(c, e, lane, arena));
}

/* Somebody now writes what was read too early. */
static void note_late_writer(struct checker *c, const struct access_event *e, struct early_read *early)
{
    pthread_mutex_lock(&c->findings.lock);
    if (atomic_exchange(&early->owner, NULL))
        early->finding->later = place_name(&c->findings.arena, e->site);
    pthread_mutex_unlock(&c->findings.lock);
}

static void look_for_early_reads(struct checker *c, const struct access_event *e, const struct run *r)
{
    const void *owner = owner_of(c, e);
    uint32_t warp = warp_of(e), n = atomic_load_explicit(&c->memory.n_early, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load_explicit(&c->memory.early[i].owner, memory_order_relaxed) == owner &&
            c->memory.early[i].warp == warp && c->memory.early[i].address - r->address < r->bytes)
            note_late_writer(c, e, &c->memory.early[i]);
}

/* ---- writes of what was undefined ---- */

static uint32_t text_offset(const struct site *s)
{
    return s->place.source ? s->place.offset : UINT32_MAX;
}

/* The allocation that an operation stores to, remembered for as long as its block runs. */
static struct region *region_stored_to(struct checker *c, const struct access_event *e, uint64_t address)
{
    struct block_memory *b = memory_of(c, e->block);
    struct region_cache *s =
        &b->region_cache[(uintptr_t)e->site / sizeof *e->site % (sizeof b->region_cache / sizeof b->region_cache[0])];
    if (s->site != e->site || !s->region || address - s->region->start >= s->region->size)
        *s = (struct region_cache){e->site, region_find(c, address)};
    return s->region;
}

static void note_global_writer(struct checker *c, const struct access_event *e, uint64_t address)
{
    struct region *r = region_stored_to(c, e, address);
    const struct site *writer = r ? atomic_load_explicit(&r->writer, memory_order_relaxed) : NULL;
    if (r && writer != e->site && (!writer || text_offset(e->site) < text_offset(writer)))
        atomic_store_explicit(&r->writer, e->site, memory_order_relaxed);
}

/* ---- accesses ---- */

/* The lanes that read what is not defined. */
static uint32_t undefined_global(const struct checker *c, const struct access_event *e)
{
    uint32_t left = e->lanes, lanes = 0;
    bool good = true;
    struct run r;
    while (next_run(e, &left, &r))
        good &= defined_has(&c->memory.written->defined, r.address, r.bytes);
    for (uint32_t m = good ? 0 : e->lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        lanes |= defined_has(&c->memory.written->defined, access_address(e, l), e->bytes) ? 0 : 1u << l;
    }
    return lanes;
}

/* Are there no pages for the range of addresses, where it is small, or for those of the lanes? No
 * lane crosses the end of a page. */
static bool has_no_pages(const struct checker *c, const struct access_event *e)
{
    enum { FEW_BYTES = WARP_LANES * DEFINED_PAGE_BYTES };
    bool any = false;
    if (e->high - e->low > FEW_BYTES) {
        for (uint32_t m = e->address ? e->lanes : 0; m && !any; m &= m - 1)
            any = shadow_find(&c->memory.written->defined.pages, e->address[__builtin_ctz(m)]);
        return e->address && !any;
    }
    for (uint64_t at = e->low & ~(uint64_t)(DEFINED_PAGE_BYTES - 1); at < e->high && !any; at += DEFINED_PAGE_BYTES)
        any = shadow_find(&c->memory.written->defined.pages, at);
    return !any;
}

static void access_global(struct checker *c, const struct access_event *e)
{
    uint32_t left = e->lanes;
    struct run r;
    if (has_no_pages(c, e))
        return;
    if (e->reads) {
        uint32_t lanes = undefined_global(c, e);
        if (!lanes) /* nothing is left to define */
            return;
        read_undefined(c, e, lanes);
    }
    while (e->writes && next_run(e, &left, &r)) {
        if (defined_has(&c->memory.written->defined, r.address, r.bytes))
            continue;
        bool any = defined_set(&c->memory.written->defined, r.address, r.bytes);
        if (atomic_load_explicit(&c->memory.written->defined.lost_bytes, memory_order_relaxed))
            note_lost_global(c, e, r.address);
        if (!any)
            continue;
        note_global_writer(c, e, r.address);
        look_for_early_reads(c, e, &r);
    }
}

/* Is there a 1 among the bits of the lanes? What a lane accesses is aligned, and so within 64
 * bytes. */
static bool lanes_any(const uint64_t *bits, const struct access_event *e)
{
    uint64_t any = 0;
    for (uint32_t m = e->lanes; m; m &= m - 1) {
        uint64_t at = e->address[__builtin_ctz(m)];
        any |= bits[at / 64] >> at % 64;
    }
    return any & bits_from_to(0, e->bytes);
}

static uint32_t undefined_shared(const struct block_memory *b, const struct access_event *e)
{
    uint32_t left = e->lanes, lanes = 0;
    bool bad = e->pattern == ACCESS_ANY && lanes_any(b->shared, e);
    struct run r;
    while (e->pattern != ACCESS_ANY && next_run(e, &left, &r))
        bad |= bits_any(b->shared, r.address, r.bytes);
    for (uint32_t m = bad ? e->lanes : 0; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        lanes |= bits_any(b->shared, access_address(e, l), e->bytes) ? 1u << l : 0;
    }
    return lanes;
}

static void access_shared(struct checker *c, const struct access_event *e)
{
    struct block_memory *b = memory_of(c, e->owner);
    uint32_t left = e->lanes;
    struct run r;
    if (!b)
        note_lost_block(c, e);
    if (!b || !b->n_undefined)
        return;
    if (e->reads) {
        uint32_t lanes = undefined_shared(b, e);
        if (!lanes)
            return;
        read_undefined(c, e, lanes);
    }
    while (e->writes && next_run(e, &left, &r)) {
        if (!shared_set(b, r.address, r.bytes))
            continue;
        b->writer = e->site;
        look_for_early_reads(c, e, &r);
    }
}

/* Lanes at one address, which are all or one, are tested together. */
static void access_local(struct checker *c, const struct access_event *e)
{
    struct block_memory *b = memory_of(c, e->block);
    uint32_t lanes = 0;
    struct defined_local *d = b ? &b->local[e->warp] : NULL;
    if (!d || d->lost)
        note_lost_block(c, e);
    if (!d)
        return;
    for (uint32_t left = e->lanes, same; left; left &= ~same) {
        uint64_t at = access_address(e, (unsigned)__builtin_ctz(left));
        same = e->pattern == ACCESS_UNIFORM ? left : left & (0 - left);
        lanes |= e->reads ? local_undefined(d, at, e->bytes, same) : 0;
        if (e->writes)
            local_set(d, at, e->bytes, same);
        struct run r = {at, e->bytes, 0};
        if (e->writes && atomic_load_explicit(&c->memory.n_early, memory_order_relaxed))
            look_for_early_reads(c, e, &r);
    }
    if (lanes)
        read_undefined(c, e, lanes);
}

/* How many bytes of a copy's source from `at` on are alike: all defined, or all undefined. */
static uint64_t alike_in_source(struct checker *c, const struct access_source *from, uint64_t at, uint64_t bytes,
                                bool *defined)
{
    if (at >= from->bytes) { /* zeroes */
        *defined = true;
        return bytes - at;
    }
    if (from->space == SPACE_GLOBAL) {
        uint64_t n = defined_bytes(&c->memory.written->defined, from->address + at, from->bytes - at);
        *defined = n > 0;
        return n ? n : undefined_bytes(&c->memory.written->defined, from->address + at, from->bytes - at);
    }
    struct block_memory *b = memory_of(c, from->owner);
    *defined = !b || !bits_any(b->shared, from->address + at, 1);
    return 1;
}

/* What an asynchronous copy writes is as defined as its source. A reduction reads its destination,
 * too. */
static void access_async(struct checker *c, const struct access_event *e)
{
    struct access_event part = *e;
    uint64_t n = 0;
    bool reduces = e->site->access.type || e->site->mode == ASYNC_TENSOR_REDUCE, defined = !reduces;
    if (e->reads && !reduces)
        return;
    part.reads = reduces;
    part.writes = !reduces;
    for (uint64_t at = 0; at < e->bytes; at += n) {
        n = e->source && !reduces ? alike_in_source(c, e->source, at, e->bytes, &defined) : e->bytes;
        part.base = part.low = e->base + at;
        part.high = part.base + n;
        part.bytes = (uint32_t)n;
        if ((defined || reduces) && e->space == SPACE_SHARED)
            access_shared(c, &part);
        else if (defined || reduces)
            access_global(c, &part);
    }
}

void initcheck_access(void *data, const struct access_event *e)
{
    struct checker *c = data;
    if (e->is_async) {
        access_async(c, e);
        return;
    }
    switch (e->space) {
    case SPACE_SHARED: access_shared(c, e); break;
    case SPACE_LOCAL: access_local(c, e); break;
    default: access_global(c, e); break;
    }
}

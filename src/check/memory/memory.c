/* memcheck and initcheck: bad accesses, leaks of the kernels' heap, reads of memory that nobody has written; see check.h.
 *
 * What has been written is kept in defined.h. Where all bytes of an access are defined, which is nearly always, an event ends after
 * a test of bits and has taken no lock; single lanes are looked at where some byte is not.
 */
#include "check/report/findings.h"
#include "base/demangle.h"
#include "exec/events.h"
#include "exec/machine.h"

#include <stdlib.h>

/* ---- allocations of whose bytes some have been undefined ---- */

static struct region **bucket_of(struct checker *c, uint64_t start)
{
    return &c->regions[start / 16 * 0x9E3779B97F4A7C15u >> 52];
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
    if (mem_find(&c->machine->mem, address, &b))
        return b;
    return (struct mem_block){.start = address, .size = bytes};
}

static struct region *find_region(struct checker *c, uint64_t address)
{
    uint64_t start = allocation_at(c, address, 0).start;
    pthread_rwlock_rdlock(&c->regions_lock);
    struct region *r = *find_link(c, start);
    pthread_rwlock_unlock(&c->regions_lock);
    return r;
}

static const char *keep_text(struct checker *c, const char *text)
{
    pthread_mutex_lock(&c->findings.lock);
    const char *copy = text ? arena_strdup(&c->findings.arena, text) : NULL;
    pthread_mutex_unlock(&c->findings.lock);
    return copy;
}

static bool note_region(struct checker *c, uint64_t address, uint64_t bytes, const char *name, struct finding *leak)
{
    struct mem_block b = allocation_at(c, address, bytes);
    bool whole = b.start == address && b.size == bytes;
    pthread_rwlock_wrlock(&c->regions_lock);
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
    pthread_rwlock_unlock(&c->regions_lock);
    return r != NULL;
}

static const char *region_written(const struct region *r, struct arena *arena)
{
    const struct site *writer = atomic_load_explicit(&r->writer, memory_order_relaxed);
    return writer ? arena_printf(arena, "other parts of it are written %s", place_name(arena, writer))
                  : "nothing of it has been written";
}

/* What findings say of it is settled. */
static void settle_findings(struct checker *c, const struct region *r)
{
    pthread_mutex_lock(&c->findings.lock);
    for (struct finding *f = c->findings.newest; f; f = f->next) {
        if (f->region != r)
            continue;
        f->written = region_written(r, &c->findings.arena);
        f->region = NULL;
    }
    pthread_mutex_unlock(&c->findings.lock);
}

void memory_forget(struct checker *c, const void *p, uint64_t bytes)
{
    pthread_rwlock_wrlock(&c->regions_lock);
    struct region **link = find_link(c, (uint64_t)(uintptr_t)p), *r = *link;
    if (r) {
        *link = r->next;
        r->next = c->retired;
        c->retired = r;
    }
    pthread_rwlock_unlock(&c->regions_lock);
    if (r)
        settle_findings(c, r);
    checker_mark_defined(c, p, bytes);
}

/* ---- what the host says ---- */

static void note_lost(struct checker *c, const struct event_launch *l, const char *place);

bool checker_mark_undefined(struct checker *c, const void *p, uint64_t bytes, const char *name)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    if (!(c->options.tools & HD_TOOL_INITCHECK))
        return true;
    pthread_mutex_lock(&c->lock);
    bool ok = note_region(c, at, bytes, keep_text(c, name), NULL) && defined_set_undefined(&c->defined, at, bytes);
    pthread_mutex_unlock(&c->lock);
    if (!ok)
        note_lost(c, NULL, NULL);
    return ok;
}

void checker_forget_undefined(struct checker *c)
{
    pthread_mutex_lock(&c->lock);
    shadow_clear(&c->defined.pages);
    pthread_mutex_unlock(&c->lock);
}

void checker_mark_defined(struct checker *c, const void *p, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    defined_set_all(&c->defined, (uint64_t)(uintptr_t)p, bytes);
    pthread_mutex_unlock(&c->lock);
}

void checker_mark_copied(struct checker *c, const void *to, const void *from, uint64_t bytes)
{
    uint64_t a = (uint64_t)(uintptr_t)to, b = (uint64_t)(uintptr_t)from;
    if (!find_region(c, a)) /* memory that the host may write, too, which nobody sees */
        return;
    pthread_mutex_lock(&c->lock);
    while (bytes) {
        uint64_t n = defined_bytes(&c->defined, b, bytes);
        defined_set_all(&c->defined, a, n);
        bytes -= n;
        a += n;
        b += n;
        n = undefined_bytes(&c->defined, b, bytes);
        defined_set_undefined(&c->defined, a, n);
        bytes -= n;
        a += n;
        b += n;
    }
    pthread_mutex_unlock(&c->lock);
}

uint64_t checker_undefined_bytes(struct checker *c, const void *p, uint64_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p, sum = 0;
    pthread_mutex_lock(&c->lock);
    while (bytes) {
        uint64_t good = defined_bytes(&c->defined, at, bytes),
                 bad = undefined_bytes(&c->defined, at + good, bytes - good);
        sum += bad;
        at += good + bad;
        bytes -= good + bad;
    }
    pthread_mutex_unlock(&c->lock);
    return sum;
}

uint64_t checker_defined_bytes(struct checker *c, const void *p, uint64_t bytes)
{
    pthread_mutex_lock(&c->lock);
    uint64_t n = defined_bytes(&c->defined, (uint64_t)(uintptr_t)p, bytes);
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* Bytes that no member of a struct has: a few that follow written ones inside of a word, up to the end of one. */
static bool is_padding(uint64_t at, uint64_t bytes)
{
    return at % 4 != 0 && bytes > 1 && bytes < 8 && (at + bytes) % 4 == 0;
}

uint64_t checker_defined_data(struct checker *c, const void *p, uint64_t bytes)
{
    uint64_t from = (uint64_t)(uintptr_t)p, n = 0, gap = 0;
    pthread_mutex_lock(&c->lock);
    do {
        n += gap;
        n += defined_bytes(&c->defined, from + n, bytes - n);
        gap = undefined_bytes(&c->defined, from + n, bytes - n);
    } while (n && gap && is_padding(from + n, gap));
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* ---- what to call it ---- */

static const struct site_variable *shared_var_at(const struct site_table *k, uint64_t address)
{
    for (uint32_t i = 0; i < k->n_shared; i++)
        if (address - k->shared[i].at < k->shared[i].bytes)
            return &k->shared[i];
    return NULL;
}

static const char *shared_place(const struct site_table *k, uint64_t at, struct arena *arena)
{
    const struct site_variable *v = shared_var_at(k, at);
    if (!v)
        return arena_printf(arena, "byte %llu of dynamic shared memory",
                            (unsigned long long)(at - k->static_shared_bytes));
    return arena_printf(arena, "byte %llu of shared variable `%s`", (unsigned long long)(at - v->at),
                        demangle(v->name, arena));
}

static const char *global_place(const struct checker *c, const struct region *r, uint64_t at, struct arena *arena)
{
    struct mem_block b = allocation_at(c, at, 0);
    if (!b.size)
        return arena_printf(arena, "0x%llx", (unsigned long long)at);
    return arena_printf(
        arena, "byte %llu of a buffer of %llu bytes%s", (unsigned long long)(at - b.start), (unsigned long long)b.size,
        r && r->name ? arena_printf(arena, " `%s`", r->name) : fault_buffer(c->machine, &b, false, arena));
}

const char *memory_place(struct checker *c, const struct access_event *e, unsigned lane, struct arena *arena)
{
    uint64_t at = access_address(e, lane);
    switch (e->space) {
    case SPACE_SHARED: return shared_place(e->block->launch->kernel, at, arena);
    case SPACE_LOCAL: return arena_printf(arena, "local address 0x%llx", (unsigned long long)at);
    default: return global_place(c, find_region(c, at), at, arena);
    }
}

/* ---- what cannot be followed ---- */

/* Memory has run out, in a launch or (NULL) an allocation of the host's; `place`: what is not followed first. */
static void note_lost(struct checker *c, const struct event_launch *l, const char *place)
{
    struct arena *arena = &c->findings.arena;
    pthread_mutex_lock(&c->findings.lock);
    if (!c->lost && l)
        c->lost = arena_printf(arena, "launch %llu, of kernel `%s`, on (first %s)", (unsigned long long)l->number,
                               demangle(l->kernel->kernel, arena), place);
    else if (!c->lost)
        c->lost = arena_printf(arena, "an allocation behind launch %llu on",
                               (unsigned long long)atomic_load(&c->machine->launch_number));
    pthread_mutex_unlock(&c->findings.lock);
}

static void note_lost_global(struct checker *c, const struct access_event *e, uint64_t address)
{
    struct arena scratch = {0};
    if (atomic_load_explicit(&c->lost, memory_order_relaxed))
        return;
    note_lost(c, e->block->launch, global_place(c, find_region(c, address), address, &scratch));
    arena_free(&scratch);
}

/* Shared or local memory of the block. */
static void note_lost_block(struct checker *c, const struct access_event *e)
{
    struct arena scratch = {0};
    if (atomic_load_explicit(&c->lost, memory_order_relaxed))
        return;
    const char *memory = e->space == SPACE_SHARED ? "shared" : "local";
    note_lost(c, e->block->launch,
              arena_printf(&scratch, "%s memory of %s", memory,
                           block_name(&scratch, e->space == SPACE_SHARED ? e->owner : e->block)));
    arena_free(&scratch);
}

void memory_tell_lost(struct checker *c, struct diags *diags)
{
    const char *from = atomic_load(&c->lost);
    unsigned long long bytes = atomic_load(&c->defined.lost_bytes);
    if (!from && !bytes)
        return;
    diag_warn(diags, (struct place){0}, "not-watched", budget_help(c->budget),
              "initcheck takes %s for written, whether or not it is%s: %s",
              bytes ? arena_printf(diags->arena, "%llu bytes of memory", bytes) : "memory of some blocks",
              from ? arena_printf(diags->arena, ", from %s", from) : "", budget_words(c->budget, diags->arena));
    diag_of_kernel(diags, NULL, "initcheck");
}

/* ---- reads of what nobody has written ---- */

/* Where several threads have memory of their own at one address: whose. */
static const void *owner_of(const struct checker *c, const struct access_event *e)
{
    return e->space == SPACE_GLOBAL ? (const void *)c : e->space == SPACE_SHARED ? e->owner : e->block;
}
static uint32_t warp_of(const struct access_event *e)
{
    return e->space == SPACE_LOCAL ? e->warp : UINT32_MAX;
}

static struct block_memory *memory_of(struct checker *c, struct event_block *b);

/* From here on writes to the place are looked at. More places than there is room for are not. */
static void expect_writer(struct checker *c, const struct access_event *e, uint64_t address, struct finding *f)
{
    uint32_t n = atomic_load_explicit(&c->n_early, memory_order_relaxed);
    for (uint32_t i = 0; i < n; i++)
        if (c->early[i].finding == f)
            atomic_store_explicit(&c->early[i].owner, NULL, memory_order_relaxed);
    if (n == MAX_EARLY)
        return;
    c->early[n].address = address;
    c->early[n].finding = f;
    c->early[n].warp = warp_of(e);
    atomic_store_explicit(&c->early[n].owner, owner_of(c, e), memory_order_relaxed);
    atomic_store_explicit(&c->n_early, n + 1, memory_order_release);
}

static void describe_read(struct checker *c, const struct access_event *e, unsigned lane, struct finding *f)
{
    struct arena *arena = &c->findings.arena;
    uint64_t at = access_address(e, lane);
    const struct site *writer = e->space == SPACE_SHARED ? memory_of(c, e->owner)->writer : NULL;
    f->region = e->space == SPACE_GLOBAL ? find_region(c, at) : NULL;
    f->text = arena_printf(arena, "%s reads %u bytes that have never been written: %s",
                           thread_name(arena, e->block, e->warp, lane), e->bytes, memory_place(c, e, lane, arena));
    f->later = NULL;
    f->written = writer ? arena_printf(arena, "other parts of it are written %s", place_name(arena, writer))
                        : "nothing of it has been written";
    expect_writer(c, e, at, f);
}

static void read_undefined(struct checker *c, const struct access_event *e, uint32_t lanes)
{
    lanes = event_users(e, lanes);
    if (!lanes)
        return;
    unsigned lane = (unsigned)__builtin_ctz(lanes);
    struct sight s = {.code = "uninitialised-read",
                      .severity = DIAG_ERROR,
                      .site = e->site,
                      .block = e->block,
                      .warp = e->warp,
                      .lane = lane,
                      .count = (uint64_t)__builtin_popcount(lanes)};
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return;
    describe_read(c, e, lane, f);
    findings_done(&c->findings);
}

const char *memory_written(const struct finding *f, struct arena *arena)
{
    if (f->later)
        return arena_printf(arena, "it is written only later, %s", f->later);
    return f->region ? region_written(f->region, arena) : f->written;
}

/* Somebody now writes what was read too early. */
static void note_late_writer(struct checker *c, const struct access_event *e, struct early *early)
{
    pthread_mutex_lock(&c->findings.lock);
    if (atomic_exchange(&early->owner, NULL))
        early->finding->later = place_name(&c->findings.arena, e->site);
    pthread_mutex_unlock(&c->findings.lock);
}

static void look_for_early_reads(struct checker *c, const struct access_event *e, const struct run *r)
{
    const void *owner = owner_of(c, e);
    uint32_t warp = warp_of(e), n = atomic_load_explicit(&c->n_early, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load_explicit(&c->early[i].owner, memory_order_relaxed) == owner && c->early[i].warp == warp &&
            c->early[i].address - r->address < r->bytes)
            note_late_writer(c, e, &c->early[i]);
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
        *s = (struct region_cache){e->site, find_region(c, address)};
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
        good &= defined_has(&c->defined, r.address, r.bytes);
    for (uint32_t m = good ? 0 : e->lanes; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        lanes |= defined_has(&c->defined, access_address(e, l), e->bytes) ? 0 : 1u << l;
    }
    return lanes;
}

/* Is nothing known of the pages from the first address to the last, where these are few, or of those of the lanes? Lanes do not
 * reach over the end of a page. */
static bool has_no_pages(const struct checker *c, const struct access_event *e)
{
    enum { FEW_BYTES = WARP_LANES * DEFINED_PAGE_BYTES };
    bool any = false;
    if (e->high - e->low > FEW_BYTES) {
        for (uint32_t m = e->address ? e->lanes : 0; m && !any; m &= m - 1)
            any = shadow_find(&c->defined.pages, e->address[__builtin_ctz(m)]);
        return e->address && !any;
    }
    for (uint64_t at = e->low & ~(uint64_t)(DEFINED_PAGE_BYTES - 1); at < e->high && !any; at += DEFINED_PAGE_BYTES)
        any = shadow_find(&c->defined.pages, at);
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
        if (defined_has(&c->defined, r.address, r.bytes))
            continue;
        bool any = defined_set(&c->defined, r.address, r.bytes);
        if (atomic_load_explicit(&c->defined.lost_bytes, memory_order_relaxed))
            note_lost_global(c, e, r.address);
        if (!any)
            continue;
        note_global_writer(c, e, r.address);
        look_for_early_reads(c, e, &r);
    }
}

/* Is there a 1 among the bits of the lanes? What a lane accesses is aligned, and so within 64 bytes. */
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

/* Lanes at one address, which are all or one, are one question. */
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
        if (e->writes && atomic_load_explicit(&c->n_early, memory_order_relaxed))
            look_for_early_reads(c, e, &r);
    }
    if (lanes)
        read_undefined(c, e, lanes);
}

/* How many bytes of a copy's source behind the first `at` are as the next one: defined, or not. *defined: which. */
static uint64_t alike_in_source(struct checker *c, const struct access_source *from, uint64_t at, uint64_t bytes,
                                bool *defined)
{
    if (at >= from->bytes) { /* zeroes */
        *defined = true;
        return bytes - at;
    }
    if (from->space == SPACE_GLOBAL) {
        uint64_t n = defined_bytes(&c->defined, from->address + at, from->bytes - at);
        *defined = n > 0;
        return n ? n : undefined_bytes(&c->defined, from->address + at, from->bytes - at);
    }
    struct block_memory *b = memory_of(c, from->owner);
    *defined = !b || !bits_any(b->shared, from->address + at, 1);
    return 1;
}

/* What an asynchronous copy has written is as defined as what it has copied; a reduction reads it, as it does its source. */
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

static void on_access(void *data, const struct access_event *e)
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

/* ---- bad accesses ---- */

static bool on_fault(void *data, const struct fault_event *e)
{
    static const char *const kinds[] = {"reads", "writes", "updates"};
    struct checker *c = data;
    struct arena *arena = &c->findings.arena;
    bool atomic = site_is_atomic(e->site);
    struct sight s = {.code = fault_code(e->kind),
                      .kind = kinds[atomic + e->writes],
                      .severity = DIAG_ERROR,
                      .site = e->site,
                      .block = e->block,
                      .warp = e->warp,
                      .lane = e->lane,
                      .count = 1};
    if (c->options.on_error) /* the launch's own report says it */
        return false;
    struct finding *f = findings_sight(&c->findings, &s);
    if (!f)
        return true;
    f->text = arena_printf(arena, "%s %s", thread_name(arena, e->block, e->warp, e->lane),
                           e->block->launch->asks->describe(e, arena));
    findings_done(&c->findings);
    return true;
}

/* ---- the heap of the kernels ---- */

static void on_malloc(struct checker *c, const struct heap_event *e)
{
    struct sight s = {
        .code = "leak", .severity = DIAG_WARNING, .site = e->site, .block = e->block, .warp = e->warp, .lane = e->lane};
    struct finding *leak = NULL;
    if (c->options.tools & HD_TOOL_MEMCHECK) {
        pthread_mutex_lock(&c->findings.lock);
        leak = findings_add(&c->findings, &s);
        pthread_mutex_unlock(&c->findings.lock);
    }
    note_region(c, e->address, e->bytes, "malloc", leak);
    if (c->options.tools & HD_TOOL_INITCHECK)
        defined_set_undefined(&c->defined, e->address, e->bytes);
}

static void on_heap(void *data, const struct heap_event *e)
{
    struct mem_block b;
    if (!e->is_free)
        on_malloc(data, e);
    else if (mem_find(&((struct checker *)data)->machine->mem, e->address, &b) && b.kind == MEM_HEAP &&
             b.start == e->address)
        memory_forget(data, (const void *)(uintptr_t)e->address, b.size);
}

void memory_count_leaks(struct checker *c)
{
    for (struct finding *f = c->findings.newest; f; f = f->next)
        if (strcmp(f->code, "leak") == 0)
            f->count = 0;
    pthread_rwlock_rdlock(&c->regions_lock);
    for (unsigned i = 0; i < REGION_BUCKETS; i++)
        for (const struct region *r = c->regions[i]; r; r = r->next) {
            if (!r->leak)
                continue;
            if (r->leak->count++ == 0)
                r->leak->text = arena_printf(&c->findings.arena, "%llu bytes of the device heap are never freed",
                                             (unsigned long long)r->size);
        }
    pthread_rwlock_unlock(&c->regions_lock);
}

/* ---- lives ---- */

static unsigned slot; /* of a block's record */

/* The block's record: it is made when the block first needs it. NULL where memory is exhausted. */
static struct block_memory *memory_of(struct checker *c, struct event_block *b)
{
    struct block_memory *of = event_kept(b, slot);
    const struct event_launch *l = b->launch;
    if (of)
        return of;
    pthread_mutex_lock(&c->blocks_lock);
    for (struct block_memory **link = &c->free_blocks; *link && !of; link = &(*link)->next)
        if ((*link)->shared_bytes == l->shared_bytes && (*link)->n_warps >= l->warps_per_block) {
            of = *link;
            *link = (*link)->next;
            break;
        }
    pthread_mutex_unlock(&c->blocks_lock);
    if (!of && !(of = block_memory_new(l->shared_bytes, l->warps_per_block)))
        return NULL;
    event_keep(b, slot, of);
    block_memory_clear(of);
    shared_set(of, l->reserved_shared_start, l->reserved_shared_bytes); /* zero, as the system leaves it */
    return of;
}

static void on_schedule(void *data, const struct schedule_event *e)
{
    struct checker *c = data;
    struct block_memory *b = event_kept(e->block, slot);
    uint32_t n = atomic_load_explicit(&c->n_early, memory_order_acquire);
    for (uint32_t i = 0; i < n; i++)
        if (c->early[i].owner == e->block)
            c->early[i].owner = NULL;
    if (!b)
        return;
    pthread_mutex_lock(&c->blocks_lock);
    b->next = c->free_blocks;
    c->free_blocks = b;
    pthread_mutex_unlock(&c->blocks_lock);
}

static void take_slot(void)
{
    slot = event_slot_new();
}

bool memory_open(struct checker *c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    bool init = c->options.tools & HD_TOOL_INITCHECK, memory = c->options.tools & HD_TOOL_MEMCHECK;
    c->memory = (struct event_client){.data = c,
                                      .wants = (init ? EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_BLOCK_END) : 0) |
                                               (memory ? EVENT_BIT(EVENT_FAULT) : 0) | EVENT_BIT(EVENT_HEAP),
                                      .access = on_access,
                                      .fault = on_fault,
                                      .heap = on_heap,
                                      .schedule = on_schedule};
    pthread_once(&once, take_slot);
    pthread_rwlock_init(&c->regions_lock, NULL);
    pthread_mutex_init(&c->blocks_lock, NULL);
    return defined_init(&c->defined, c->budget);
}

void memory_rest(struct checker *c)
{
    while (c->retired) {
        struct region *r = c->retired;
        c->retired = r->next;
        free(r);
    }
    while (c->free_blocks) {
        struct block_memory *b = c->free_blocks;
        c->free_blocks = b->next;
        block_memory_free(b);
    }
    c->n_early = 0;
    shadow_reclaim(&c->defined.pages);
}

void memory_close(struct checker *c)
{
    memory_rest(c);
    for (unsigned i = 0; i < REGION_BUCKETS; i++)
        while (c->regions[i]) {
            struct region *r = c->regions[i];
            c->regions[i] = r->next;
            free(r);
        }
    defined_destroy(&c->defined);
    pthread_rwlock_destroy(&c->regions_lock);
    pthread_mutex_destroy(&c->blocks_lock);
}

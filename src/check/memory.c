/* Bad accesses, reads of memory that nobody has written, leaks; see check.h. */
#include "check/findings.h"

#include <stdlib.h>

#include "base/demangle.h"

/* ---- regions ---- */

static struct region *new_region(struct region **list, const void *owner, uint64_t start, uint64_t size)
{
    struct region *r = calloc(1, sizeof *r);
    if (!r || !(r->defined = calloc(size / 64 + 2, 8))) {
        free(r);
        return NULL;
    }
    r->start = start;
    r->size = size;
    r->owner = owner;
    r->next = *list;
    *list = r;
    return r;
}

static struct region *find_region(struct region *list, const void *owner, uint64_t address)
{
    for (struct region *r = list; r; r = r->next)
        if (r->owner == owner && address - r->start < r->size)
            return r;
    return NULL;
}

static void drop_regions(struct region **list, const void *owner)
{
    for (struct region **link = list; *link;) {
        struct region *r = *link;
        if (r->owner != owner) {
            link = &r->next;
            continue;
        }
        *link = r->next;
        free(r->defined);
        free(r);
    }
}

static void define(struct region *r, uint64_t at, uint64_t bytes)
{
    for (uint64_t i = at - r->start; i < at - r->start + bytes && i < r->size; i++)
        r->defined[i / 64] |= 1ull << (i % 64);
}

static bool is_defined(const struct region *r, uint64_t at, uint64_t bytes)
{
    for (uint64_t i = at - r->start; i < at - r->start + bytes && i < r->size; i++)
        if (!(r->defined[i / 64] >> (i % 64) & 1))
            return false;
    return true;
}

bool checker_mark_undefined(struct checker *c, const void *p, uint64_t bytes, const char *name)
{
    struct region *r = new_region(&c->global, NULL, (uint64_t)(uintptr_t)p, bytes);
    if (r && name)
        r->name = arena_strdup(&c->arena, name);
    return r != NULL;
}

void checker_mark_defined(struct checker *c, const void *p, uint64_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)p;
    for (struct region *r = c->global; r; r = r->next)
        if (at < r->start + r->size && r->start < at + bytes) {
            uint64_t from = at > r->start ? at : r->start, to = at + bytes;
            define(r, from, (to < r->start + r->size ? to : r->start + r->size) - from);
        }
}

void checker_forget_undefined(struct checker *c)
{
    for (struct region *r = c->global; r; r = r->next)
        define(r, r->start, r->size);
}

/* The region that an access of a lane touches; NULL where nothing is known of it: then it is defined. Local memory is
 * one region a warp, lane after lane; *at is the address there. */
static struct region *region_of(struct checker *c, const struct access_event *e, unsigned lane, uint64_t *at)
{
    const struct block *b = e->warp->block;
    *at = access_address(e, lane);
    if (e->space == SPACE_GLOBAL)
        return find_region(c->global, NULL, *at);
    if (e->space == SPACE_SHARED) {
        struct region *r = find_region(c->shared, b, *at);
        return r ? r : new_region(&c->shared, b, 0, b->launch->shared_bytes);
    }
    uint64_t local_bytes = b->launch->kernel->local_bytes;
    *at += lane * local_bytes;
    struct region *r = find_region(c->local, e->warp, *at);
    return r ? r : new_region(&c->local, e->warp, 0, local_bytes * WARP_LANES);
}

/* ---- what to call it ---- */

static const struct ptx_var *shared_var_at(const struct kernel *k, uint64_t address)
{
    for (uint32_t i = 0; i < k->shared_vars.n; i++)
        if (address - k->shared_vars.at[i].at < k->shared_vars.at[i].var->size)
            return k->shared_vars.at[i].var;
    return NULL;
}

static const char *place_in_memory(struct checker *c, const struct access_event *e, unsigned lane,
                                   const struct region *r)
{
    unsigned long long at = access_address(e, lane);
    if (e->space == SPACE_LOCAL)
        return arena_printf(&c->arena, "local address 0x%llx", at);
    if (e->space == SPACE_SHARED) {
        const struct ptx_var *v = shared_var_at(c->kernel, at);
        for (uint32_t i = 0; v && i < c->kernel->shared_vars.n; i++)
            if (c->kernel->shared_vars.at[i].var == v)
                return arena_printf(&c->arena, "byte %llu of shared variable `%s`",
                                    at - c->kernel->shared_vars.at[i].at, demangle(v->symbol.name, &c->arena));
        return arena_printf(&c->arena, "byte %llu of dynamic shared memory", at - c->kernel->static_shared_bytes);
    }
    const char *name = r->name ? arena_printf(&c->arena, " `%s`", r->name) : "";
    return arena_printf(&c->arena, "byte %llu of a buffer of %llu bytes%s", at - (unsigned long long)r->start,
                        (unsigned long long)r->size, name);
}

/* ---- reads of what nobody has written ---- */

static void read_undefined(struct checker *c, const struct access_event *e, unsigned lane, const struct region *r,
                           uint64_t at)
{
    bool fresh;
    struct finding *f = finding_add(c, "uninitialised-read", e->op, NULL, &fresh);
    if (!fresh)
        return;
    f->severity = DIAG_ERROR;
    f->text = arena_printf(&c->arena, "%s reads %u bytes that have never been written: %s",
                           thread_name(c, e->warp, lane), e->bytes, place_in_memory(c, e, lane, r));
    if (r->writer)
        f->written = arena_printf(&c->arena, "other parts of it are written %s", place_name(&c->arena, r->writer));
    else
        f->written = "nothing of it has been written";
    if (c->n_early < MAX_EARLY)
        c->early[c->n_early++] = (struct uninitialised){at, r->owner, f};
}

/* Does somebody now write what was read too early? */
static void note_writer(struct checker *c, const struct region *r, uint64_t at, uint64_t bytes, const struct op *op)
{
    for (uint32_t i = 0; i < c->n_early;) {
        struct uninitialised *u = &c->early[i];
        if (u->owner == r->owner && u->address - at < bytes) {
            if (!u->finding->writer)
                u->finding->writer = op;
            *u = c->early[--c->n_early];
        } else {
            i++;
        }
    }
}

void check_access(void *data, const struct access_event *e)
{
    struct checker *c = data;
    for (uint32_t lanes = e->lanes; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        uint64_t at;
        struct region *r = region_of(c, e, l, &at);
        if (!r)
            continue;
        if (e->reads && !is_defined(r, at, e->bytes))
            read_undefined(c, e, l, r, at);
        if (!e->writes)
            continue;
        define(r, at, e->bytes);
        r->writer = e->op;
        if (c->n_early)
            note_writer(c, r, at, e->bytes, e->op);
    }
}

/* ---- bad accesses ---- */

bool check_fault(void *data, const struct fault_event *e)
{
    struct checker *c = data;
    bool fresh;
    if (c->options.on_error)
        return false; /* the launch's own report says it */
    struct finding *f = finding_add(c, fault_code(e->kind), e->op, NULL, &fresh);
    if (!fresh)
        return true;
    struct fault fault = {.kind = e->kind,
                          .at = e->op->origin,
                          .address = e->address,
                          .bytes = e->bytes,
                          .window = e->window,
                          .space = e->space,
                          .is_write = e->op->kind != OP_LD,
                          .is_atomic = e->op->kind == OP_ATOM};
    f->severity = DIAG_ERROR;
    f->text = arena_printf(&c->arena, "%s %s", thread_name(c, e->warp, e->lane),
                           fault_describe(c->machine, &fault, &c->arena));
    return true;
}

/* ---- the heap of the kernels, and the lives of blocks ---- */

void check_heap(void *data, const struct heap_event *e)
{
    struct checker *c = data;
    uint64_t at = (uint64_t)(uintptr_t)e->p;
    if (e->is_free) {
        for (struct region **link = &c->global; *link; link = &(*link)->next)
            if ((*link)->start == at && (*link)->heap) {
                struct region *r = *link;
                *link = r->next;
                free(r->defined);
                free(r);
                return;
            }
        return;
    }
    struct region *r = new_region(&c->global, NULL, at, e->bytes);
    if (r) {
        r->heap = true;
        r->allocator = e->op;
        r->name = "malloc";
    }
}

void check_schedule(void *data, const struct schedule_event *e)
{
    struct checker *c = data;
    if (e->kind != SCHEDULE_BLOCK_END)
        return;
    drop_regions(&c->shared, e->block);
    for (uint32_t i = 0; i < e->block->n_warps; i++)
        drop_regions(&c->local, &e->block->warps[i]);
}

void check_leaks(struct checker *c)
{
    for (struct region *r = c->global; r; r = r->next) {
        bool fresh;
        if (!r->heap)
            continue;
        struct finding *f = finding_add(c, "leak", r->allocator, NULL, &fresh);
        f->severity = DIAG_WARNING;
        if (fresh)
            f->text =
                arena_printf(&c->arena, "%llu bytes of the device heap are never freed", (unsigned long long)r->size);
        r->heap = false; /* once */
    }
}

/* The checker's life and its findings; see check.h. */
#include "check/findings.h"

#include <stdlib.h>

#include "base/demangle.h"

struct checker *checker_new(struct machine *m, const hd_checker_options *o)
{
    struct checker *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->machine = m;
    c->options = *o;
    if (o->tools & HD_TOOL_RACECHECK) {
        c->strands = strands_new();
        if (!c->strands) {
            checker_free(c);
            return NULL;
        }
        atomic_store(&m->order, strands_hooks(c->strands));
    }
    c->hooks = (struct hooks){.data = c,
                              .access = o->tools & HD_TOOL_INITCHECK ? check_access : NULL,
                              .fault = o->tools & HD_TOOL_MEMCHECK ? check_fault : NULL,
                              .sync = o->tools & HD_TOOL_SYNCCHECK ? check_sync : NULL,
                              .sync_kinds = 1u << SYNC_BARRIER_ARRIVE | 1u << SYNC_BARRIER_OPEN | 1u << SYNC_COLLECTIVE,
                              .heap = check_heap,
                              .schedule = check_schedule};
    if (o->tools & HD_TOOL_RACECHECK && !(c->races = races_new(m, c->strands))) {
        checker_free(c);
        return NULL;
    }
    return c;
}

static void free_regions(struct region **list)
{
    while (*list) {
        struct region *r = *list;
        *list = r->next;
        free(r->defined);
        free(r);
    }
}

void checker_free(struct checker *c)
{
    if (!c)
        return;
    races_free(c->races);
    atomic_store(&c->machine->order, NULL);
    strands_free(c->strands);
    free_regions(&c->global);
    free_regions(&c->shared);
    free_regions(&c->local);
    arena_free(&c->arena);
    free(c);
}

struct strands *checker_strands(struct checker *c)
{
    return c->strands;
}

void checker_range(struct checker *c, uint32_t task, const void *p, uint64_t bytes, bool write)
{
    if (c->races && task)
        races_range(c->races, task, p, bytes, write);
}

void checker_add_hooks(struct checker *c, struct hook_list *hooks)
{
    hooks_add(hooks, &c->hooks);
    if (c->races)
        hooks_add(hooks, races_hooks(c->races));
}

void checker_begin(struct checker *c, const struct kernel *k)
{
    c->kernel = k;
    c->n_early = c->n_barriers = 0;
    if (c->races)
        races_begin(c->races, k);
}

void checker_end(struct checker *c)
{
    free_regions(&c->shared);
    free_regions(&c->local);
    c->kernel = NULL;
}

/* ---- findings ---- */

struct finding *finding_add(struct checker *c, const char *code, const struct op *op, const void *key, bool *fresh)
{
    for (struct finding *f = c->findings; f; f = f->next) {
        if (f->op == op && f->key == key && strcmp(f->code, code) == 0) {
            f->count++;
            *fresh = false;
            return f;
        }
    }
    struct finding *f = ARENA_NEW(&c->arena, struct finding);
    *fresh = true;
    if (!f)
        return &c->lost;
    *f = (struct finding){.next = c->findings, .code = code, .op = op, .kernel = c->kernel, .key = key, .count = 1};
    c->findings = f;
    c->n_findings++;
    return f;
}

const char *thread_name(struct checker *c, const struct warp *w, unsigned lane)
{
    const struct launch *l = w->block->launch;
    uint32_t t = w->index * WARP_LANES + lane;
    const uint32_t *b = w->block->ctaid;
    return arena_printf(&c->arena, "thread (%u,%u,%u) of block (%u,%u,%u)", t % l->block[0],
                        t / l->block[0] % l->block[1], t / l->block[0] / l->block[1], b[0], b[1], b[2]);
}

const char *lanes_name(struct checker *c, uint32_t lanes)
{
    return fault_members("lane", lanes, &c->arena);
}

const char *place_name(struct arena *arena, const struct op *op)
{
    return arena_printf(arena, "at %s", fault_line(op ? op->origin : NULL, arena));
}

static uint32_t text_place(const struct finding *f)
{
    return f->op && f->op->origin ? f->op->origin->origin->offset : UINT32_MAX;
}

static int by_place(const void *a, const void *b)
{
    const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
    uint32_t p = text_place(x), q = text_place(y);
    return p < q ? -1 : p > q ? 1 : strcmp(x->code, y->code);
}

static const char *text_of(struct arena *arena, const struct finding *f)
{
    if (f->writer)
        return arena_printf(arena, "%s; it is written only later, %s", f->text, place_name(arena, f->writer));
    return f->written ? arena_printf(arena, "%s; %s", f->text, f->written) : f->text;
}

void checker_finish(struct checker *c)
{
    if (c->options.tools & HD_TOOL_MEMCHECK)
        check_leaks(c);
}

size_t checker_count(const struct checker *c)
{
    return c->n_findings + (c->races ? races_count(c->races) : 0);
}

void checker_report(struct checker *c, struct diags *diags)
{
    const struct finding **sorted = ARENA_ARRAY(diags->arena, const struct finding *, c->n_findings);
    uint32_t n = 0;
    for (struct finding *f = c->findings; f; f = f->next)
        sorted[n++] = f;
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, by_place);
    for (uint32_t i = 0; i < n; i++) {
        const struct finding *f = sorted[i];
        diag_finding(diags, f->severity, fault_place(f->op ? f->op->origin : NULL, diags->arena), f->code, f->help,
                     f->count, "%s", text_of(diags->arena, f));
        diag_of_kernel(diags, f->kernel ? demangle(f->kernel->func->symbol.name, diags->arena) : NULL, NULL);
    }
    if (c->races)
        races_report(c->races, diags);
}

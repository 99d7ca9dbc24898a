/* One exploration, from the launch to the verdict; see explore.h. */
#include "explore/explore.h"

#include <setjmp.h>

enum { DEFAULT_UNROLL = 8 };

static void bound(struct explore_result *r, const struct ir_insn *at, const char *text)
{
    r->complete = false;
    if (r->n_bounds < sizeof r->bounds / sizeof r->bounds[0]) {
        r->bound_at[r->n_bounds] = at;
        r->bounds[r->n_bounds++] = text;
    }
}

static void note_bounds(const struct explorer *x, const struct explore_options *o, struct explore_result *r)
{
    const struct ir_insn *cut = r->verdict.cut_at;
    if (cut)
        bound(r, cut, arena_printf(&r->arena, "--unroll %u: a loop was left at line %u", x->unroll, program_line(cut)));
    if (x->steps_left && x->steps >= x->steps_left)
        bound(r, NULL, arena_printf(&r->arena, "--limit %llu", (unsigned long long)o->step_limit));
}

static void begin_program(const struct explore_launch *l, struct program *p, struct arena *arena)
{
    *p = (struct program){.arena = arena,
                          .kernel = l->kernel,
                          .mem = l->mem,
                          .lane = lane_table(NULL, NULL),
                          .explicit_cluster = l->dims.explicit_cluster,
                          .dynamic_shared_bytes = l->dims.shared_bytes,
                          .params = l->params};
    for (int i = 0; i < 3; i++) {
        p->grid[i] = l->dims.grid[i];
        p->block[i] = l->dims.block[i];
        p->cluster[i] = l->dims.cluster[i];
    }
}

/* The memory that makes an outcome has its locations from the beginning. */
static void observe(struct program *p, const struct explore_options *o, struct verdict *v)
{
    v->n_observed = o->n_observed;
    v->observed = ARENA_ARRAY(p->arena, uint16_t, o->n_observed);
    for (uint32_t i = 0; i < o->n_observed; i++) {
        const struct observed *w = &o->observed[i];
        struct place_in_grid at;
        program_place(p, w->block == GLOBAL_MEMORY ? 0 : w->block, 0, &at);
        struct found f =
            program_find(p, &at, w->block == GLOBAL_MEMORY ? SPACE_GLOBAL : SPACE_SHARED, w->address, w->bytes, false);
        if (f.target != TARGET_LOCATION)
            program_refuse(p, NULL, "what is to be observed is not in memory that threads share");
        v->observed[i] = f.location;
    }
}

void explore(const struct explore_launch *l, const struct explore_options *o, struct explore_result *r)
{
    struct program program;
    struct explorer x = {.program = &program, .arena = &r->arena, .verdict = &r->verdict};
    r->complete = true;
    begin_program(l, &program, &r->arena);
    verdict_begin(&r->verdict, &r->arena);
    x.unroll = o->unroll ? o->unroll : DEFAULT_UNROLL;
    x.symmetric = o->symmetric;
    x.steps_left = o->step_limit;
    if (program_begin(&program)) {
        observe(&program, o, &r->verdict);
        if (!program.refusal.text && search_begin(&x))
            search_run(&x);
    }
    r->refusal = program.refusal;
    r->n_threads = x.threads.n;
    for (uint16_t t = 0; t < x.threads.n; t++)
        r->n_events += x.runners[t].n_runs;
    note_bounds(&x, o, r);
    verdict_sort(&r->verdict);
    search_end(&x);
}

void explore_free(struct explore_result *r)
{
    verdict_end(&r->verdict);
    arena_free(&r->arena);
}

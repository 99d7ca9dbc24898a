/* The life of a replay; see replay.h. The file is read twice: first definitions and answers, then
 * events. */
#include "record/replay.h"

#include <stdlib.h>

#include "check/check.h"
#include "record/replaying.h"

static void add_checker(struct replay *r, const struct record *x)
{
    struct replay_checker *c = &r->checkers[r->n_checkers];
    if (x->checker.id != r->n_checkers || r->n_checkers == REPLAY_CHECKERS ||
        x->checker.tools & ~(unsigned)HD_TOOLS_ALL || x->checker.on_error > HD_ON_ERROR_CONTEXT) {
        record_fail(r->reader, "the number or the options of this checker are not possible");
        return;
    }
    c->replay = r;
    c->options = (hd_checker_options){.tools = x->checker.tools,
                                      .on_error = (enum hd_on_error)x->checker.on_error,
                                      .shadow_bytes = x->checker.shadow_bytes,
                                      .frames = replay_frames,
                                      .data = r};
    const struct checker_world world = replay_world(c);
    c->checker = checker_of_world(&world, &c->options, r->n_checkers ? r->checkers[0].checker : NULL);
    if (c->checker)
        r->n_checkers++;
    else
        record_fail(r->reader, "out of memory");
}

static void tell(struct replay *r, const struct record *x)
{
    static void (*const by_host[RECORD_KINDS])(struct replay *, const struct record *) = {
        [RECORD_CHECKER] = add_checker, [RECORD_HOST] = replay_host,     [RECORD_MEMORY] = replay_memory,
        [RECORD_RULE] = replay_rule,    [RECORD_LAUNCH] = replay_launch,
    };
    static bool (*const in_launch[RECORD_KINDS])(struct replay *, const struct record *) = {
        [RECORD_GRID] = replay_grid,     [RECORD_BLOCK] = replay_block,         [RECORD_END] = replay_block_end,
        [RECORD_ACCESS] = replay_access, [RECORD_PERFORMED] = replay_performed, [RECORD_ISSUE] = replay_issue,
        [RECORD_MATRIX] = replay_matrix, [RECORD_OVERTAKE] = replay_overtake,   [RECORD_FAULT] = replay_fault,
        [RECORD_HEAP] = replay_heap,     [RECORD_ENTER] = replay_enter,         [RECORD_SYNC] = replay_sync,
    };
    if (by_host[x->kind])
        by_host[x->kind](r, x);
    else if (in_launch[x->kind])
        in_launch[x->kind](r, x);
}

/* Records that may come before an access was performed: a test of an mbarrier, copies and their
 * arrivals. */
static bool may_come_between(const struct record *x)
{
    return x->kind == RECORD_PERFORMED || x->kind == RECORD_OVERTAKE ||
           (x->kind == RECORD_ACCESS && x->access.is_async) ||
           (x->kind == RECORD_SYNC && x->sync.kind == EVENT_MBARRIER_ARRIVE);
}

/* Not inlined, so that no variable of it is live when setjmp() returns a second time. */
__attribute__((noinline)) static void run(struct replay *r)
{
    struct record x;
    while (record_next(r->reader, &x))
        if (x.kind < RECORD_FIRST_EVENT || x.kind >= RECORD_FIRST_OTHER)
            replay_definition(r, &x);
    replay_sort(r);
    if (record_error(r->reader, &r->arena))
        return;
    record_rewind(r->reader);
    while (record_next(r->reader, &x)) {
        bool is_event = x.kind >= RECORD_FIRST_EVENT && x.kind < RECORD_FIRST_OTHER;
        r->position += is_event;
        if (is_event && r->performing.block && !may_come_between(&x))
            record_fail(r->reader, "after an access that writes or is strong, `performed` must come first");
        else if (is_event || x.kind == RECORD_CHECKER)
            tell(r, &x);
    }
    if (r->performing.block)
        record_fail(r->reader, "`performed` is missing after the last access");
}

struct replay *replay_run(const char *path, struct arena *arena, const char **error)
{
    jmp_buf no_memory;
    struct record_reader *reader = record_open(path, arena, error);
    struct replay *r = reader ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        record_close(reader);
        return NULL;
    }
    r->reader = reader;
    r->arena.on_oom = &no_memory;
    *error = NULL;
    if (setjmp(no_memory) == 0)
        run(r);
    else
        *error = "out of memory";
    r->arena.on_oom = NULL;
    if (!*error)
        *error = record_error(r->reader, arena);
    if (!*error)
        return r;
    replay_free(r);
    return NULL;
}

bool replay_report(struct replay *r, unsigned i, struct diags *diags, bool *whole)
{
    *whole = true;
    if (i >= r->n_checkers)
        return false;
    *whole = checker_report(r->checkers[i].checker, diags);
    return *whole;
}

const char *replay_program(const struct replay *r)
{
    return r->program;
}

uint64_t replay_launches(const struct replay *r)
{
    return r->launches.n;
}

const char *replay_findings(const struct replay *r)
{
    return r->findings ? r->findings : "";
}

const char *replay_kernel(const struct replay *r, unsigned i)
{
    return i < r->kernels.n ? r->kernels.at[i]->table.kernel.p : NULL;
}

void replay_free(struct replay *r)
{
    if (!r)
        return;
    if (r->performing.block) { /* ends the access that was begun */
        struct record x = {.kind = RECORD_PERFORMED};
        replay_performed(r, &x);
    }
    replay_free_blocks(r);
    for (uint32_t i = 0; i < r->launches.n; i++) {
        events_close(&r->launches.at[i]->events);
        rules_release(r->launches.at[i]->rules);
    }
    for (unsigned i = r->n_checkers; i-- > 0;) {
        checker_free(r->checkers[i].checker);
        free(r->checkers[i].memory.at);
    }
    record_close(r->reader);
    arena_free(&r->arena);
    free(r);
}

const char *replay_copy(const char *from, const char *to, struct arena *arena)
{
    const char *error;
    struct record x;
    struct record_reader *reader = record_open(from, arena, &error);
    if (!reader)
        return error;
    struct record_writer *writer = record_create(to);
    while (writer && record_next(reader, &x))
        record_write(writer, &x);
    bool written = writer && record_finish(writer);
    error = record_error(reader, arena);
    record_close(reader);
    return error ? error : written ? NULL : arena_printf(arena, "cannot write %s: %m", to);
}

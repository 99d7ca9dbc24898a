/* Replays what the host did: tasks, memory, the start of launches; see replaying.h. */
#include "record/replaying.h"

#include <stdlib.h>

#include "check/shadow/shadow.h"

/* No range of memory is larger than this. */
static const uint64_t MOST_RANGE = 1ull << 40;

static bool is_range(struct replay *r, uint64_t address, uint64_t bytes)
{
    bool good = bytes <= MOST_RANGE && address < 1ull << SHADOW_ADDRESS_BITS &&
                bytes <= (1ull << SHADOW_ADDRESS_BITS) - address;
    if (!good)
        record_fail(r->reader, "%llu bytes at 0x%llx are not a possible range of memory", (unsigned long long)bytes,
                    (unsigned long long)address);
    return good;
}

static struct replay_checker *checker_of(struct replay *r, uint32_t i)
{
    if (i < r->n_checkers)
        return &r->checkers[i];
    record_fail(r->reader, "there is no checker %u", i);
    return NULL;
}

/* ---- numbers of tasks and timelines ---- */

enum { MOST_NUMBERS = 1 << 26 };

#define KEEP_NUMBER(r, list, number, ours)                                                                             \
    do {                                                                                                               \
        if ((number) >= MOST_NUMBERS) {                                                                                \
            record_fail((r)->reader, "%u is not the number of a task", (unsigned)(number));                            \
            break;                                                                                                     \
        }                                                                                                              \
        while ((r)->list.n <= (number))                                                                                \
            *VEC_PUSH(&(r)->arena, &(r)->list) = 0;                                                                    \
        (r)->list.at[number] = (ours);                                                                                 \
    } while (0)

bool replay_task(struct replay *r, uint64_t number, uint32_t *task)
{
    *task = number && number < r->tasks.n ? r->tasks.at[number] : 0;
    if (number && !*task)
        record_fail(r->reader, "there is no task %llu", (unsigned long long)number);
    return !number || *task;
}

static bool tasks_of(struct replay *r, const struct number_list *list, uint32_t *tasks)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (!list->at[i] || !replay_task(r, list->at[i], &tasks[i]))
            return false;
    return true;
}

static uint32_t timeline_of(const struct replay *r, uint32_t timeline)
{
    return timeline < r->timelines.n ? r->timelines.at[timeline] : 0;
}

/* ---- tasks ---- */

/* Finds the launch's thread that submitted a task; false if there is none. */
static bool find_putter(struct replay *r, const struct record *x, const struct event_block **block)
{
    *block = x->host.block ? replay_warp_at(r, x->host.block - 1, x->host.warp) : NULL;
    if (*block && x->host.lane >= WARP_LANES)
        return replay_impossible(r, "the lane is not from 0 to 31");
    return *block || !x->host.block;
}

static void submit(struct replay *r, struct replay_checker *c, const struct record *x, struct host_event *e)
{
    uint32_t by = 0;
    const struct event_block *block;
    if ((x->host.by && !replay_task(r, x->host.by, &by)) || !find_putter(r, x, &block))
        return;
    const struct task_note note = {.kind = (enum task_kind)x->host.task_kind,
                                   .name =
                                       x->host.name.n ? arena_strndup(&r->arena, x->host.name.p, x->host.name.n) : NULL,
                                   .stream = x->host.stream,
                                   .where = e->place,
                                   .programmatic = x->host.programmatic,
                                   .by = by,
                                   .tail = x->host.tail};
    if (x->host.task_kind > TASK_WORK || x->host.task_kind == TASK_HOST || !x->host.task || !x->host.timeline_after ||
        (x->host.timeline && !timeline_of(r, x->host.timeline))) {
        record_fail(r->reader, "a submitted task needs a kind, a number and a timeline");
        return;
    }
    e->note = &note;
    if (block)
        checker_puts_for(block, x->host.warp, x->host.lane);
    uint32_t task = checker_submit(c->checker, &e->timeline, &note, e->tasks, e->n_tasks);
    checker_puts_for(NULL, 0, 0);
    /* If no tool asks for the order, any number will do. */
    KEEP_NUMBER(r, tasks, x->host.task, task ? task : 1);
    KEEP_NUMBER(r, timelines, x->host.timeline_after, e->timeline ? e->timeline : 1);
}

void replay_host(struct replay *r, const struct record *x)
{
    struct replay_checker *c = checker_of(r, x->host.checker);
    uint32_t *tasks = x->host.tasks.n ? malloc(x->host.tasks.n * sizeof *tasks) : NULL;
    char *name = x->host.name.n ? strndup(x->host.name.p, x->host.name.n) : NULL;
    struct host_event e = {.kind = x->host.kind,
                           .timeline = timeline_of(r, x->host.timeline),
                           .tasks = tasks,
                           .n_tasks = tasks ? x->host.tasks.n : 0,
                           .address = x->host.address,
                           .bytes = x->host.bytes,
                           .from = x->host.from,
                           .write = x->host.write,
                           .whole = x->host.whole,
                           .done = x->host.done,
                           .place = (const void *)(uintptr_t)x->host.place,
                           .name = name};
    bool sized = !e.whole || (e.bytes && e.bytes <= 8 && (e.bytes & (e.bytes - 1)) == 0 && e.address % e.bytes == 0);
    bool good = c && is_range(r, e.address, e.bytes) && is_range(r, e.from, e.bytes) &&
                tasks_of(r, &(struct number_list){x->host.tasks.at, e.n_tasks}, tasks);
    if (good && !sized)
        record_fail(r->reader, "%llu bytes at 0x%llx are not a single access: those have 1, 2, 4 or 8 bytes, aligned",
                    (unsigned long long)e.bytes, (unsigned long long)e.address);
    else if (good && e.kind == HOST_SUBMIT)
        submit(r, c, x, &e);
    else if (good && checker_has_order(c->checker, e.kind) && replay_task(r, x->host.task, &e.task))
        checker_host(c->checker, &e);
    free(tasks);
    free(name);
}

/* ---- memory ---- */

void replay_memory(struct replay *r, const struct record *x)
{
    struct replay_checker *c = checker_of(r, x->memory.checker);
    uint32_t i = 0;
    if (!c || !is_range(r, x->memory.address, x->memory.bytes) || x->memory.mem > MEM_PARAM)
        return;
    uint32_t low = 0, high = c->memory.n;
    while (low < high) {
        i = low + (high - low) / 2;
        if (c->memory.at[i].start < x->memory.address)
            low = i + 1;
        else
            high = i;
    }
    bool there = low < c->memory.n && c->memory.at[low].start == x->memory.address;
    if (!x->memory.bytes) {
        if (there)
            VEC_REMOVE(&c->memory, low, 1);
        return;
    }
    struct replay_memory *m = there ? &c->memory.at[low] : VEC_INSERT(&c->memory, low);
    if (m)
        *m = (struct replay_memory){x->memory.address, x->memory.bytes, (enum mem_kind)x->memory.mem,
                                    x->memory.name.n ? arena_strndup(&r->arena, x->memory.name.p, x->memory.name.n)
                                                     : NULL};
}

void replay_rule(struct replay *r, const struct record *x)
{
    const hd_memory_rule *last = r->rules.n ? &r->rules.at[r->rules.n - 1] : NULL;
    uint64_t after = last ? (uintptr_t)last->start + last->bytes : 0;
    if (x->rule.start >= x->rule.end || x->rule.start < after || x->rule.uses & ~(unsigned)HD_MEMORY_ALL ||
        !is_range(r, x->rule.start, x->rule.end - x->rule.start)) {
        record_fail(r->reader, "the range of a rule is empty, or overlaps the one before");
        return;
    }
    *VEC_PUSH(&r->arena, &r->rules) =
        (hd_memory_rule){.start = (void *)(uintptr_t)x->rule.start,
                         .bytes = x->rule.end - x->rule.start,
                         .uses = x->rule.uses,
                         .given = x->rule.given,
                         .name = x->rule.name.n ? arena_strndup(&r->arena, x->rule.name.p, x->rule.name.n) : NULL};
}

/* ---- launches ---- */

void replay_launch(struct replay *r, const struct record *x)
{
    struct replay_checker *c = checker_of(r, x->launch.checker);
    if (!c || x->launch.kernel >= r->kernels.n || x->launch.id != r->launches.n) {
        record_fail(r->reader, "launch %u is out of sequence, or it names an unknown kernel", x->launch.id);
        return;
    }
    struct replay_launch *l = ARENA_NEW(&r->arena, struct replay_launch);
    l->launch.kernel = &r->kernels.at[x->launch.kernel]->table;
    if (x->launch.ruled)
        l->rules = rules_new(r->rules.at, r->rules.n);
    l->launch.rules = l->rules;
    r->rules.n = 0;
    *VEC_PUSH(&r->arena, &r->launches) = l;
    if (!checker_begin(c->checker, l->launch.kernel, &l->events, l->rules))
        record_fail(r->reader, "out of memory");
}

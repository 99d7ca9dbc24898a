/* The tree of a thread's runs; see thread.h. */
#include "explore/machine.h"
#include "explore/memory.h"

#include <stdlib.h>
#include <string.h>

struct run_child {
    struct run_child *next;
    struct run *run;
    unsigned n;
    struct answer answers[];
};

static void *grown(void *at, uint32_t *room, uint32_t n, size_t size)
{
    if (n <= *room)
        return at;
    uint32_t more = n < 2 * *room ? 2 * *room : n + 16;
    at = memory_grow(at, more, size);
    *room = more;
    return at;
}

void machine_room(struct machine *m, uint32_t frames, uint32_t values, uint32_t local)
{
    uint32_t rooms[2] = {m->local_room, m->local_room};
    m->frames = grown(m->frames, &m->frames_room, frames, sizeof *m->frames);
    m->values = grown(m->values, &m->values_room, values, sizeof *m->values);
    m->local = grown(m->local, &m->local_room, local, 1);
    m->local_needs = grown(m->local_needs, &rooms[0], local, sizeof *m->local_needs);
    m->local_from = grown(m->local_from, &rooms[1], local, sizeof *m->local_from);
}

static void *copied(struct arena *a, const void *from, size_t bytes)
{
    return bytes ? memcpy(arena_alloc(a, bytes), from, bytes) : NULL;
}

static struct machine *machine_copy(struct arena *a, const struct machine *from)
{
    struct machine *m = ARENA_NEW(a, struct machine);
    *m = *from;
    m->frames = copied(a, from->frames, from->n_frames * sizeof *m->frames);
    m->values = copied(a, from->values, from->n_values * sizeof *m->values);
    m->heads = copied(a, from->heads, from->n_heads * sizeof *m->heads);
    m->local = copied(a, from->local, from->n_local);
    m->local_needs = copied(a, from->local_needs, from->n_local * sizeof *m->local_needs);
    m->local_from = copied(a, from->local_from, from->n_local * sizeof *m->local_from);
    return m;
}

/* Copies a machine into the one that instructions run on, which has its own memory. */
static void machine_load(struct machine *m, const struct machine *from)
{
    machine_room(m, from->n_frames, from->n_values, from->n_local);
    m->heads = grown(m->heads, &m->heads_room, from->n_heads, sizeof *m->heads);
    memcpy(m->frames, from->frames, from->n_frames * sizeof *m->frames);
    if (from->n_values)
        memcpy(m->values, from->values, from->n_values * sizeof *m->values);
    if (from->n_heads)
        memcpy(m->heads, from->heads, from->n_heads * sizeof *m->heads);
    if (from->n_local) {
        memcpy(m->local, from->local, from->n_local);
        memcpy(m->local_needs, from->local_needs, from->n_local * sizeof *m->local_needs);
        memcpy(m->local_from, from->local_from, from->n_local * sizeof *m->local_from);
    }
    m->n_frames = from->n_frames;
    m->n_values = from->n_values;
    m->n_heads = from->n_heads;
    m->n_local = from->n_local;
    m->n_events = from->n_events;
    m->n_steps = from->n_steps;
    m->trap = from->trap;
    m->trap_at = from->trap_at;
    m->control_from = from->control_from;
}

void machine_keep(struct execution *x)
{
    if (x->kept)
        return;
    uint16_t now = x->m->n_events;
    x->m->n_events = x->events_before;
    x->m->n_steps--;
    x->run->machine = machine_copy(x->r->arena, x->m);
    x->m->n_events = now;
    x->m->n_steps++;
    x->kept = true;
}

struct run_event *next_event(struct execution *x, enum run_kind kind, const struct ir_insn *i)
{
    struct run *run = x->run;
    struct run_event *e;
    if (x->m->n_events == run->n_events) {
        run->events = grown(run->events, &x->events_room, run->n_events + 1u, sizeof *run->events);
        run->events[run->n_events++] = (struct run_event){0};
    }
    enum round_kind round = loop_round(x);
    e = &run->events[x->m->n_events++];
    *e = (struct run_event){.kind = (uint8_t)kind,
                            .flags = e->flags & RUN_RESOLVED,
                            .round = (uint8_t)round,
                            .location = NO_LOCATION,
                            .read = e->read,
                            .step = x->m->n_steps,
                            .insn = i};
    return e;
}

static uint16_t complete_events(const struct run *run)
{
    uint16_t n = 0;
    for (; n < run->n_events; n++) {
        const struct run_event *e = &run->events[n];
        bool waits = e->kind == RUN_WRITE ? !(e->flags & RUN_VALUED) || !(e->flags & RUN_PLACED)
                     : e->kind == RUN_READ || e->kind == RUN_UPDATE ? !(e->flags & RUN_RESOLVED)
                                                                    : false;
        if (waits)
            break;
    }
    return n;
}

/* Continues a thread from a machine, with the events that it has had. */
static struct run *run_from(struct runner *r, const struct machine *from, const struct run_event *events, uint16_t n,
                            const struct answer *answers, unsigned n_answers)
{
    struct run *run = ARENA_NEW(r->arena, struct run);
    run->beyond = NO_EVENT;
    struct execution x = {.r = r, .run = run, .m = r->scratch};
    run->events = grown(NULL, &x.events_room, n + 8u, sizeof *events);
    if (n)
        memcpy(run->events, events, n * sizeof *events);
    run->n_events = n;
    for (unsigned i = 0; i < n_answers; i++) {
        run->events[answers[i].event].flags |= RUN_RESOLVED;
        run->events[answers[i].event].read = answers[i].value;
    }
    machine_load(r->scratch, from);
    run->end = (uint8_t)execute(&x);
    run->complete = complete_events(run);
    run->trap = r->scratch->trap;
    run->trap_at = r->scratch->trap_at;
    struct run_event *made = run->events;
    run->events = copied(r->arena, made, run->n_events * sizeof *made);
    free(made);
    if (run->end == RUN_SPINS) /* events from before this was known belong to the next iteration */
        run->n_events = r->scratch->n_events;
    r->n_runs++;
    return run;
}

const struct machine *run_stop(struct runner *r, const struct run *run)
{
    struct run again = {.n_events = run->n_events};
    struct execution x = {.r = r, .run = &again, .m = r->scratch, .kept = true};
    again.events = grown(NULL, &x.events_room, run->n_events + 1u, sizeof *again.events);
    if (run->n_events)
        memcpy(again.events, run->events, run->n_events * sizeof *again.events);
    machine_load(r->scratch, run->machine);
    execute(&x);
    free(again.events);
    return r->scratch;
}

struct run *run_begin(struct runner *r)
{
    const struct program *p = r->program;
    const struct code *entry = p->kernel->entry;
    struct frame frame = {
        .code = entry, .block = entry->ir->order[0], .local = (p->kernel->module_local_bytes + 15) & ~15u};
    struct machine start = {.frames = &frame, .n_frames = 1};
    start.n_values = entry->ir->regs.n;
    start.n_local = frame.local + entry->ir->frame_bytes;
    start.values = ARENA_ARRAY(r->arena, struct value, start.n_values);
    start.local = ARENA_ARRAY(r->arena, uint8_t, start.n_local);
    start.local_needs = ARENA_ARRAY(r->arena, uint64_t, start.n_local);
    start.local_from = ARENA_ARRAY(r->arena, uint16_t, start.n_local);
    r->entry = machine_copy(r->arena, &start);
    r->start = run_from(r, r->entry, NULL, 0, NULL, 0);
    return r->start;
}

static bool has_answers(const struct run_child *c, const struct answer *answers, unsigned n)
{
    if (c->n != n)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (c->answers[i].event != answers[i].event || c->answers[i].value != answers[i].value)
            return false;
    return true;
}

struct run *run_resolve_all(struct runner *r, struct run *run, const struct answer *answers, unsigned n)
{
    for (struct run_child **at = &run->children, *c = *at; c; at = &c->next, c = *at)
        /* Moves it to the front, because it will be asked for again. */
        if (has_answers(c, answers, n)) {
            *at = c->next;
            c->next = run->children;
            run->children = c;
            return c->run;
        }
    struct run_child *c = arena_alloc(r->arena, sizeof *c + n * sizeof *answers);
    *c = (struct run_child){.next = run->children, .n = n};
    memcpy(c->answers, answers, n * sizeof *answers);
    c->run = run_from(r, run->machine, run->events, run->n_events, answers, n);
    run->children = c;
    return c->run;
}

struct run *run_resolve(struct runner *r, struct run *run, unsigned event, uint64_t value)
{
    return run_resolve_all(r, run, &(struct answer){value, (uint16_t)event}, 1);
}

struct run *run_try(struct runner *r, struct run *run, unsigned event, uint64_t value)
{
    struct refusal before = r->program->refusal;
    r->program->tries = true;
    struct run *next = run_resolve(r, run, event, value);
    r->program->tries = false;
    if (before.text || !r->program->refusal.text)
        return next;
    r->program->refusal = before; /* the search refuses it if it gets there */
    run->children = run->children->next;
    return NULL;
}

struct machine *run_machine(struct arena *arena)
{
    return ARENA_NEW(arena, struct machine);
}

void run_machine_free(struct machine *m)
{
    if (!m)
        return;
    free(m->frames);
    free(m->values);
    free(m->heads);
    free(m->local);
    free(m->local_needs);
    free(m->local_from);
}

/* The checker's life; see check.h. */
#include "check/checker.h"

#include <stdlib.h>

#include "exec/machine.h"

static void init_locks(struct checker *c)
{
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->host_places_lock, NULL);
    pthread_mutex_init(&c->findings.lock, NULL);
}

static bool open_races(struct checker *c, const struct checker *with)
{
    if (!(c->options.tools & HD_TOOL_RACECHECK))
        return true;
    c->timelines = with && with->timelines ? timelines_share(with->timelines) : timelines_new();
    if (with && with->race.races)
        c->race.races = races_share(with->race.races, c);
    else if (c->timelines)
        c->race.races = races_new(c, c->timelines, c->budget);
    if (c->race.races)
        tasks_watch(c);
    return c->race.races;
}

static struct checker *new_checker(struct machine *m, const struct checker_world *world, const hd_checker_options *o,
                                   const struct checker *with)
{
    struct checker *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->machine = m;
    c->world = *world;
    c->options = *o;
    budget_init(&c->own_budget, o->shadow_bytes);
    c->budget = with ? with->budget : &c->own_budget;
    init_locks(c);
    sync_open(c);
    racecheck_open(c);
    if (memory_open(c, with) && open_races(c, with))
        return c;
    checker_free(c);
    return NULL;
}

static bool find_in_machine(void *data, uint64_t address, struct mem_block *block)
{
    struct machine *m = data;
    return mem_find(&m->mem, address, block);
}

static const char *buffer_of_machine(void *data, const struct mem_block *block, struct arena *arena)
{
    return fault_buffer(data, block, false, arena);
}

struct checker *checker_new(struct machine *m, const hd_checker_options *o, const struct checker *with)
{
    const struct checker_world world = {.data = m, .find = find_in_machine, .buffer = buffer_of_machine};
    return new_checker(m, &world, o, with);
}

struct checker *checker_of_world(const struct checker_world *world, const hd_checker_options *o,
                                 const struct checker *with)
{
    return new_checker(NULL, world, o, with);
}

void checker_free(struct checker *c)
{
    if (!c)
        return;
    tasks_unwatch(c);
    races_free(c->race.races, c);
    timelines_free(c->timelines);
    memory_close(c);
    wgmma_close(c);
    findings_close(&c->findings);
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->host_places_lock);
    free(c);
}

static bool add_clients(struct checker *c, const struct site_table *k, struct event_list *events, bool ruled)
{
    unsigned tools = c->options.tools;
    return (!(tools & (HD_TOOL_MEMCHECK | HD_TOOL_INITCHECK)) || events_add(events, &c->memory.client)) &&
           (!ruled || !(tools & HD_TOOL_MEMCHECK) || events_add(events, &c->memory.rules)) &&
           (!(tools & HD_TOOL_SYNCCHECK) || events_add(events, sync_client(c, k))) &&
           (!c->race.races || racecheck_begin(c, k, events));
}

bool checker_begin(struct checker *c, const struct site_table *k, struct event_list *events,
                   const struct memory_rules *rules)
{
    checker_hold(c);
    pthread_mutex_lock(&c->lock);
    c->running++;
    pthread_mutex_unlock(&c->lock);
    if (c->race.races)
        races_launch_begin(c->race.races);
    memory_begin(c);
    bool begun = k && add_clients(c, k, events, rules) &&
                 (!c->listener || c->listener->launch(c->listener->data, c, k, rules, events));
    checker_give_back(c);
    return begun;
}

size_t checker_count(struct checker *c)
{
    pthread_mutex_lock(&c->findings.lock);
    size_t n = c->findings.n;
    pthread_mutex_unlock(&c->findings.lock);
    return n + (atomic_load(&c->memory.lost) != NULL) + (c->race.races ? races_count(c->race.races) : 0);
}

void checker_period(struct checker *c)
{
    findings_period(&c->findings);
    if (c->race.races && races_reports(c->race.races, c))
        races_period(c->race.races);
}

bool checker_report(struct checker *c, struct diags *diags)
{
    jmp_buf oom, *outer = diags->arena->on_oom;
    volatile bool whole = false;
    diags->arena->on_oom = &oom;
    pthread_mutex_lock(&c->findings.lock);
    if (setjmp(oom) == 0) {
        if (c->finished && c->options.tools & HD_TOOL_MEMCHECK)
            memory_count_leaks(c);
        findings_report(&c->findings, memory_written, &c->options, diags);
        initcheck_report_lost(c, diags);
        if (c->race.races && races_reports(c->race.races, c))
            races_report(c->race.races, &c->options, diags);
        whole = true;
    }
    pthread_mutex_unlock(&c->findings.lock);
    diags->arena->on_oom = outer;
    return whole;
}

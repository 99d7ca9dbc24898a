/* The machine that the command line describes. */
#include <stdlib.h>

#include "cli/cli.h"
#include "isa/lanes.h"

const char *wrong_cpu_level(const char *option, struct arena *arena)
{
    const char *set = getenv("HEDDLE_CPU"), *list = "";
    const char *level = option ? option : set && *set ? set : NULL;
    if (lane_table(level, NULL))
        return NULL;
    for (size_t i = 0; hd_cpu_level(i); i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", hd_cpu_level(i));
    return arena_printf(arena, option ? "`--cpu %s`: this CPU has %s" : "HEDDLE_CPU=%s: this CPU has %s", level, list);
}

static bool read_engine(const char *word, hd_engine *engine)
{
    static const char *const words[] = {"auto", "interp", "jit"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        *engine = (hd_engine)i;
        if (!word || strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

int open_machine(struct session *s, const hd_machine_options *base, hd_machine **machine)
{
    hd_machine_options m = *base;
    const struct options *o = &s->o;
    m.workers = (unsigned)o->workers;
    m.memory_bytes = o->memory;
    m.heap_bytes = o->heap;
    m.print_bytes = o->print_limit;
    m.stack_bytes = o->stack;
    m.step_limit = o->step_limit;
    m.cpu_level = o->cpu;
    m.policy = o->policy;
    m.record_path = o->record;
    m.trace_path = o->trace;
    if (!read_engine(o->engine, &m.engine))
        return usage_error(s, "`--engine %s`: an engine is auto, interp or jit", o->engine);
    if (o->workers > 4096)
        return usage_error(s, "`--workers %llu`: at most 4096 are possible", (unsigned long long)o->workers);
    if (o->stack > UINT32_MAX / 2)
        return usage_error(s, "`--stack`: at most 1G is possible");
    const char *error = wrong_cpu_level(o->cpu, &s->arena);
    if (error)
        return usage_error(s, "%s", error);
    hd_result r = hd_machine_create(&m, machine, &error);
    if (r && error)
        return usage_error(s, "%s%s", error, r == HD_ERROR_FILE ? "" : " (--policy, --record)");
    if (r)
        return cli_failure(s, "cannot make the machine: %s", hd_result_string(r));
    return 0;
}

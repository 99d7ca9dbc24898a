/* The machine that the command line describes. */
#include "cli/cli.h"

static const char *cpu_levels(struct arena *arena)
{
    const char *list = "";
    for (size_t i = 0; hd_cpu_level(i); i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", hd_cpu_level(i));
    return list;
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
        return usage_error(s, "`--engine %s`: there are auto, interp and jit", o->engine);
    if (o->workers > 4096)
        return usage_error(s, "`--workers %llu`: at most 4096 are possible", (unsigned long long)o->workers);
    if (o->stack > UINT32_MAX / 2)
        return usage_error(s, "`--stack`: at most 1G is possible");
    const char *error;
    hd_result r = hd_machine_create(&m, machine, &error);
    if (r == HD_ERROR_INVALID_VALUE && o->cpu)
        return usage_error(s, "`--cpu %s`: this CPU has %s", o->cpu, cpu_levels(&s->arena));
    if (r && error)
        return usage_error(s, "%s%s", error, r == HD_ERROR_FILE ? "" : " (--policy, --record)");
    if (r)
        return cli_failure(s, "cannot make the machine: %s", hd_result_string(r));
    return 0;
}

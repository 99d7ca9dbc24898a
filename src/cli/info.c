/* heddle info: the machine as CUDA's deviceQuery would show it. */
#include <stdio.h>

#include "base/text.h"
#include "cli/cli.h"

static void row(const char *label, const char *value)
{
    printf("  %-44s %s\n", label, value);
}

static const char *dims_text(const unsigned d[3], struct arena *arena)
{
    return arena_printf(arena, "%u x %u x %u", d[0], d[1], d[2]);
}

/* Returns an attribute that deviceQuery shows and hd_machine_info does not have. */
static int attribute(const hd_machine *m, const char *name)
{
    int value = 0;
    for (int i = 1; i <= HD_ATTRIBUTE_LAST; i++)
        if (hd_attribute_name(i) && strcmp(hd_attribute_name(i), name) == 0)
            hd_machine_get_attribute(m, i, &value);
    return value;
}

static void print_info(const hd_machine *m, const hd_machine_info *i, struct arena *arena)
{
    printf("Device 0: \"%s\"\n", i->name);
    row("CUDA compute capability", arena_printf(arena, "%u.%u", i->compute_major, i->compute_minor));
    row("Global memory (of this computer)", size_text(i->memory_bytes, arena));
    row("Multiprocessors", arena_printf(arena, "%u", i->multiprocessors));
    row("Clock rate", arena_printf(arena, "%d MHz", attribute(m, "CLOCK_RATE") / 1000));
    row("Memory clock rate", arena_printf(arena, "%d MHz", attribute(m, "MEMORY_CLOCK_RATE") / 1000));
    row("Memory bus width", arena_printf(arena, "%d bits", attribute(m, "GLOBAL_MEMORY_BUS_WIDTH")));
    row("L2 cache", size_text((uint64_t)attribute(m, "L2_CACHE_SIZE"), arena));
    row("Constant memory", size_text(i->constant_bytes, arena));
    row("Shared memory of a block",
        arena_printf(arena, "%s, dynamic up to %s", size_text(i->shared_bytes_per_block, arena),
                     size_text(i->shared_bytes_per_block_optin, arena)));
    row("Shared memory of a multiprocessor", size_text(i->shared_bytes_per_multiprocessor, arena));
    row("Registers of a block", count_text(i->registers_per_block, arena));
    row("Warp size", arena_printf(arena, "%u", i->warp_lanes));
    row("Threads of a multiprocessor, at most", count_text(i->max_threads_per_multiprocessor, arena));
    row("Blocks of a multiprocessor, at most", count_text(i->max_blocks_per_multiprocessor, arena));
    row("Threads of a block, at most", count_text(i->max_threads_per_block, arena));
    row("Dimensions of a block, at most", dims_text(i->max_block, arena));
    row("Dimensions of a grid, at most", dims_text(i->max_grid, arena));
    printf("This computer:\n");
    row("Worker threads", arena_printf(arena, "%u", i->workers));
    row("Vector instructions", i->cpu_level);
    row("Heddle", hd_version());
}

static json_t *dims_json(const unsigned d[3])
{
    return json_pack("[I, I, I]", (json_int_t)d[0], (json_int_t)d[1], (json_int_t)d[2]);
}

static json_t *info_json(const hd_machine *m, const hd_machine_info *i)
{
    json_t *attributes = json_object();
    for (int n = 1; n <= HD_ATTRIBUTE_LAST; n++) {
        int value;
        if (hd_machine_get_attribute(m, n, &value))
            json_object_set_new(attributes, hd_attribute_name(n), json_integer(value));
    }
    return json_pack("{s:s, s:s, s:[I, I], s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:s, s:o}", "name", i->name, "version",
                     hd_version(), "compute_capability", (json_int_t)i->compute_major, (json_int_t)i->compute_minor,
                     "memory_bytes", (json_int_t)i->memory_bytes, "multiprocessors", (json_int_t)i->multiprocessors,
                     "warp_lanes", (json_int_t)i->warp_lanes, "max_threads_per_block",
                     (json_int_t)i->max_threads_per_block, "max_block", dims_json(i->max_block), "max_grid",
                     dims_json(i->max_grid), "workers", (json_int_t)i->workers, "cpu_level", i->cpu_level, "attributes",
                     attributes);
}

int cmd_info(struct session *s)
{
    static const hd_machine_options defaults;
    hd_machine *m;
    hd_machine_info info;
    if (s->n_words)
        return usage_error(s, "`%s` is unexpected: heddle info takes only options", s->words[0]);
    int status = open_machine(s, &defaults, &m);
    if (status)
        return status;
    hd_machine_get_info(m, &info);
    if (s->o.json)
        status = print_json(s, info_json(m, &info));
    else
        print_info(m, &info, &s->arena);
    hd_machine_destroy(m);
    return status;
}

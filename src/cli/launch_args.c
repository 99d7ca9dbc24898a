/* The arguments of a launch, and the buffers behind them: see launch.h. */
#include <stdlib.h>

#include "base/sparse.h"
#include "base/text.h"
#include "cli/launch.h"
#include "cli/show.h"

/* Lists the kernel's parameters, and a command line that fits them. */
static const char *parameter_list(const struct launch *l)
{
    struct session *s = l->s;
    struct arena *arena = &s->arena;
    struct text list = {.arena = arena}, example = {.arena = arena};
    hd_param_info p;
    text_printf(&example, "heddle %s", s->command->name);
    for (int i = 0; i < l->n_files; i++)
        text_printf(&example, " %s", s->words[i]);
    if (hd_module_kernel_count(l->module) > 1)
        text_printf(&example, " '%s'", l->name);
    text_printf(&example, " --grid 1 --block %u", l->info.required_block[0] ? l->info.required_block[0] : 32);
    for (size_t i = 0; hd_kernel_get_param(l->kernel, i, &p); i++) {
        text_printf(&list, "\n  %2zu  .%-4s %-20s %s", i + 1, p.type, p.name, arg_hint(&p, arena));
        text_printf(&example, " %s", arg_example(&p, arena));
    }
    return arena_printf(arena, "%s\nfor example:\n  %s", list.p ? list.p : "", example.p);
}

static int read_size(struct launch *l)
{
    struct session *s = l->s;
    struct options *o = &s->o;
    if (!o->grid[0])
        return usage_error(s, "the number of blocks is missing, as in --grid 4 or --grid 32,32");
    if (!o->block[0] && !l->info.required_block[0])
        return usage_error(s, "the number of threads in a block is missing, as in --block 256 or --block 16,16");
    arg_shape(o, &l->info, &l->config);
    l->config.flags = HD_LAUNCH_CLOSED | HD_LAUNCH_NON_PORTABLE_CLUSTER | (o->cooperative ? HD_LAUNCH_COOPERATIVE : 0u);
    return 0;
}

/* Refuses two buffers that would be saved to one file. */
static int check_saves(struct launch *l)
{
    const struct args *a = &l->args;
    for (uint32_t i = 0; i < a->buffers.n; i++)
        /* Few of a module's variables are saved. */
        for (uint32_t k = 0; a->buffers.at[i]->save && k < i; k++)
            if (a->buffers.at[k]->save && strcmp(a->buffers.at[i]->save, a->buffers.at[k]->save) == 0)
                return usage_error(l->s, "two buffers are saved to %s", a->buffers.at[i]->save);
    return 0;
}

int launch_read_args(struct launch *l)
{
    struct session *s = l->s;
    size_t given = (size_t)(s->n_words - l->first_arg);
    hd_param_info p;
    if (given != l->info.param_count)
        return usage_error(s, "%s takes %zu argument%s, not %zu%s", l->name, l->info.param_count,
                           l->info.param_count == 1 ? "" : "s", given, parameter_list(l));
    int status = read_size(l);
    l->args.arena = &s->arena;
    for (size_t i = 0; !status && hd_kernel_get_param(l->kernel, i, &p); i++) {
        const char *error = arg_parse(&l->args, s->words[l->first_arg + (int)i], &p);
        if (error)
            status = usage_error(s, "%s", error);
    }
    for (unsigned i = 0; !status && i < s->o.vars.n; i++) {
        const char *error = arg_parse_variable(&l->args, s->o.vars.at[i], l->module);
        if (error)
            status = usage_error(s, "%s", error);
    }
    if (!status)
        arg_add_variables(&l->args, l->module);
    return status ? status : check_saves(l);
}

static int place_buffer(struct launch *l, struct buffer *b)
{
    struct arena *arena = &l->s->arena;
    size_t bytes = arg_buffer_bytes(b);
    if (!b->at && hd_alloc_named(l->machine, bytes, buffer_label(b, arena), &b->at)) {
        hd_machine_info info;
        hd_machine_get_info(l->machine, &info);
        return cli_failure(l->s, "%s, `%s`, needs %s; of the machine's %s, %s are in use (--memory sets the limit)",
                           buffer_label(b, arena), b->text, size_text(bytes, arena),
                           size_text(info.memory_bytes, arena), size_text(info.memory_used_bytes, arena));
    }
    if (b->argument || b->has_content)
        content_fill(&b->content, b->type, b->at, b->count);
    content_free(&b->content);
    b->before = calloc(1, bytes);
    if (!b->before)
        return cli_failure(l->s, "out of memory for a copy of %s (%s)", buffer_label(b, arena),
                           size_text(bytes, arena));
    copy_sparse(b->before, b->at, bytes);
    return 0;
}

int launch_place_buffers(struct launch *l)
{
    int status = 0;
    progress_phase(&l->s->progress, "filling buffers", NULL);
    for (uint32_t i = 0; !status && i < l->args.buffers.n; i++)
        status = place_buffer(l, l->args.buffers.at[i]);
    return status;
}

int launch_pack_args(struct launch *l)
{
    arg_pack(&l->args, l->kernel, &l->config);
    return 0;
}

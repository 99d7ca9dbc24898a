/* Completion in heddle debug's terminal: commands, functions, variables, and the arguments of some
 * commands; see debug_commands.h. */
#include <string.h>

#include "cli/debug_commands.h"

static void add(json_t *words, const char *list)
{
    while (*list) {
        size_t n = strcspn(list, " ");
        json_array_append_new(words, json_stringn(list, n));
        list += n + strspn(list + n, " ");
    }
}

static void add_commands(json_t *words)
{
    for (const struct debug_command *c = debug_commands; c->name; c++)
        json_array_append_new(words, json_string(c->name));
}

/* Adds the variables that are visible at the thread's place, if a launch is stopped. */
static void add_variables(struct front *f, json_t *words)
{
    static const char *const lists[] = {"locals", "args"};
    for (size_t i = 0; i < 2 && f->state == FRONT_STANDS; i++) {
        json_t *answer = front_request(f, json_pack("{s:s}", "do", lists[i]));
        const json_t *v;
        size_t k;
        json_array_foreach(json_object_get(answer, "variables"), k, v)
            json_array_append(words, json_object_get(v, "name"));
        json_decref(answer);
    }
    add(words, "threadIdx blockIdx blockDim gridDim warpSize sizeof");
}

static void add_functions(struct front *f, json_t *words)
{
    json_t *answer = f->link >= 0 ? front_request(f, json_pack("{s:s}", "do", "functions")) : NULL;
    json_array_extend(words, json_object_get(answer, "names"));
    json_decref(answer);
}

/* The arguments of the commands whose names begin so. */
static const struct {
    void (*command)(struct front *f, char *arguments);
    const char *words;
} arguments[] = {
    {debug_command_info, "locals args registers breakpoints threads source frame display time cuda"},
    {debug_command_cuda, "block thread warp lane kernel"},
    {debug_command_set, "var"},
};

json_t *debug_completions(struct front *f, const char *before)
{
    const char *wrong, *line = before + strspn(before, " ");
    size_t n = strcspn(line, " /");
    json_t *words = json_array();
    const struct debug_command *c = line[n] ? debug_command_find(line, n, &f->arena, &wrong) : NULL;
    if (!line[n])
        add_commands(words);
    if (!c)
        return words;
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        if (c->run == arguments[i].command)
            add(words, c->run == debug_command_info && strstr(line, "cuda ") ? "kernels blocks warps lanes threads"
                                                                             : arguments[i].words);
    bool conditional = strstr(line, " if ");
    if (c->run == debug_command_help)
        add_commands(words);
    else if ((c->run == debug_command_set_break || c->run == debug_command_set_tbreak ||
              c->run == debug_command_advance || c->run == debug_command_until) &&
             !conditional)
        add_functions(f, words);
    else if (conditional || c->run == debug_command_print || c->run == debug_command_display ||
             c->run == debug_command_ptype || c->run == debug_command_whatis || c->run == debug_command_set ||
             c->run == debug_command_set_watch || c->run == debug_command_last_write || c->run == debug_command_examine)
        add_variables(f, words);
    return words;
}

/* The lines of heddle debug's terminal: read with history and completion on a terminal, plainly
 * elsewhere; see debug_front.h. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/debug_commands.h"

static const char prompt[] = "(heddle) ";

/* ---- libedit, where it is installed: no other command has to wait until it is loaded ---- */

typedef char **complete_function(const char *text, int start, int end);
typedef char *match_function(const char *text, int state);

static struct editor {
    char *(*readline)(const char *prompt);
    int (*add_history)(const char *line);
    char **(*rl_completion_matches)(const char *text, match_function *next);
    complete_function **rl_attempted_completion_function;
    char **rl_line_buffer;
} editor;

static void *editor_symbol(void *library, const char *name, bool *all)
{
    void *p = library ? dlsym(library, name) : NULL;
    *all &= p != NULL;
    return p;
}

/* What may stand there, while it is chosen from: libedit asks without saying for whom. */
static struct {
    struct front *f;
    json_t *words;
} completing;

static char *next_match(const char *text, int state)
{
    static size_t at;
    if (!state)
        at = 0;
    while (at < json_array_size(completing.words)) {
        const char *word = json_string_value(json_array_get(completing.words, at++));
        if (word && strncmp(word, text, strlen(text)) == 0)
            return strdup(word);
    }
    return NULL;
}

/* Where nothing matches, files do. */
static char **complete(const char *text, int start, int end)
{
    (void)end;
    completing.words =
        debug_completions(completing.f, arena_strndup(&completing.f->arena, *editor.rl_line_buffer, (size_t)start));
    char **matches = json_array_size(completing.words) ? editor.rl_completion_matches(text, next_match) : NULL;
    json_decref(completing.words);
    return matches;
}

/* Is there one? Distributions number it differently. */
static bool editor_load(void)
{
    static bool tried, found = true;
    if (tried)
        return found;
    tried = true;
    void *library = dlopen("libedit.so.2", RTLD_NOW);
    library = library ? library : dlopen("libedit.so.0", RTLD_NOW);
#define FIND(member) *(void **)&editor.member = editor_symbol(library, #member, &found)
    FIND(readline);
    FIND(add_history);
    FIND(rl_completion_matches);
    FIND(rl_attempted_completion_function);
    FIND(rl_line_buffer);
#undef FIND
    if (found)
        *editor.rl_attempted_completion_function = complete;
    return found;
}

/* From malloc; NULL at the end of the input. */
static char *read_line(struct front *f)
{
    char *line = NULL;
    size_t room = 0;
    if (f->on_terminal && editor_load()) {
        completing.f = f;
        line = editor.readline(prompt);
        if (line && *line)
            editor.add_history(line);
        return line;
    }
    fputs(prompt, stdout);
    fflush(stdout);
    if (getline(&line, &room, stdin) < 0) {
        free(line);
        puts("");
        return NULL;
    }
    line[strcspn(line, "\n")] = 0;
    if (!f->on_terminal) /* a session that is kept shows what was typed */
        puts(line);
    return line;
}

void front_run_line(struct front *f, const char *line)
{
    const char *wrong;
    while (isspace((unsigned char)*line))
        line++;
    if (*line == '#')
        return;
    if (!*line) {
        if (!f->last)
            return;
        line = f->last;
    }
    char *copy = arena_strdup(&f->arena, line);
    size_t n = strcspn(copy, " \t/");
    n += n == 0; /* a single / */
    const struct debug_command *c = debug_command_find(copy, n, &f->arena, &wrong);
    if (!c) {
        front_error(f, "%s", wrong);
        f->last = NULL;
        return;
    }
    char *arguments = copy + n;
    while (isspace((unsigned char)*arguments))
        arguments++;
    for (size_t end = strlen(arguments); end && isspace((unsigned char)arguments[end - 1]); end--)
        arguments[end - 1] = 0;
    bool again = line == f->last;
    c->run(f, arguments);
    if (!again) {
        arena_free(&f->last_arena);
        f->last = c->repeats ? arena_strdup(&f->last_arena, strncmp(c->name, "list", 4) == 0 ? "list" : line) : NULL;
    }
}

void front_loop(struct front *f)
{
    char *line;
    f->on_terminal = isatty(STDIN_FILENO);
    f->colours = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    while (!f->quits && (line = read_line(f))) {
        front_run_line(f, line);
        free(line);
        arena_free(&f->arena);
        fflush(stdout);
    }
}

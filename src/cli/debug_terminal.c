/* The lines of heddle debug's terminal: read with history and completion on a terminal, plainly elsewhere; see debug_front.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/debug_front.h"

#ifdef HAVE_LIBEDIT
#include <editline/readline.h>
#endif

static const char prompt[] = "(heddle) ";

#ifdef HAVE_LIBEDIT
static char *next_match(const char *text, int state)
{
    static size_t at;
    if (!state)
        at = 0;
    for (const struct debug_command *c; (c = &debug_commands[at])->name;) {
        at++;
        if (strncmp(c->name, text, strlen(text)) == 0)
            return strdup(c->name);
    }
    return NULL;
}

static char **complete(const char *text, int start, int end)
{
    (void)end;
    return start ? NULL : rl_completion_matches(text, next_match); /* files behind a command */
}
#endif

/* From malloc; NULL at the end of the input. */
static char *read_line(const struct front *f)
{
    char *line = NULL;
    size_t room = 0;
#ifdef HAVE_LIBEDIT
    if (f->on_terminal) {
        rl_attempted_completion_function = complete;
        line = readline(prompt);
        if (line && *line)
            add_history(line);
        return line;
    }
#endif
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

static void run_line(struct front *f, const char *line)
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
        run_line(f, line);
        free(line);
        arena_free(&f->arena);
        fflush(stdout);
    }
    front_end(f);
    arena_free(&f->last_arena);
}

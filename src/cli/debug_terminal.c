/* Lines for heddle debug: on a terminal with history and completion, else read plainly; see
 * debug_front.h. */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/debug_commands.h"

static const char prompt[] = "(heddle) ";

/* ---- libedit, where it is installed: no other command has to wait until it is loaded ---- */

typedef char **complete_function(const char *text, int start, int end);
typedef char *match_function(const char *text, int state);

static struct editor {
    char *(*readline)(const char *prompt);
    int (*add_history)(const char *line);
    int (*read_history)(const char *file);
    int (*write_history)(const char *file);
    void (*stifle_history)(int most);
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

/* The candidates of the current completion; libedit's callback has no argument to pass them by. */
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

/* Completes files if no candidate matches. */
static char **complete(const char *text, int start, int end)
{
    (void)end;
    completing.words =
        debug_completions(completing.f, arena_strndup(&completing.f->arena, *editor.rl_line_buffer, (size_t)start));
    char **matches = json_array_size(completing.words) ? editor.rl_completion_matches(text, next_match) : NULL;
    json_decref(completing.words);
    return matches;
}

/* Loads libedit, if it is installed. Distributions number it differently. */
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
    FIND(read_history);
    FIND(write_history);
    FIND(stifle_history);
    FIND(rl_completion_matches);
    FIND(rl_attempted_completion_function);
    FIND(rl_line_buffer);
#undef FIND
    if (found)
        *editor.rl_attempted_completion_function = complete;
    return found;
}

/* ---- history: in HEDDLE_HISTORY, or as the XDG Base Directory Specification has it ---- */

static const char *history_file(struct front *f)
{
    const char *own = getenv("HEDDLE_HISTORY"), *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (own)
        return strcmp(own, "off") == 0 || !*own ? NULL : own;
    if (state && *state == '/')
        return arena_printf(&f->s->arena, "%s/heddle/history", state);
    return home && *home == '/' ? arena_printf(&f->s->arena, "%s/.local/state/heddle/history", home) : NULL;
}

static void read_history(struct front *f)
{
    const char *file = f->on_terminal && editor_load() ? history_file(f) : NULL;
    if (file)
        editor.read_history(file);
}

/* Writes the history, and makes the folders above its file. */
static void write_history(struct front *f)
{
    enum { MOST = 1000 };
    const char *file = f->on_terminal && editor_load() ? history_file(f) : NULL;
    char *path = file ? arena_strdup(&f->arena, file) : NULL;
    for (char *slash = path; slash && (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    mode_t mask = umask(077);
    if (file) {
        editor.stifle_history(MOST);
        editor.write_history(file);
    }
    umask(mask);
}

char *front_read_line(struct front *f, const char *asked)
{
    char *line = NULL;
    size_t room = 0;
    if (!f->input && f->on_terminal && editor_load()) {
        completing.f = f;
        line = editor.readline(asked ? asked : prompt);
        if (line && *line)
            editor.add_history(line);
        return line;
    }
    if (!f->input) {
        fputs(asked ? asked : prompt, stdout);
        fflush(stdout);
    }
    if (getline(&line, &room, f->input ? f->input : stdin) < 0) {
        free(line);
        if (!f->input)
            puts("");
        return NULL;
    }
    line[strcspn(line, "\n")] = 0;
    if (!f->on_terminal && !f->input) /* a recorded session shows the commands, too */
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
    n = *copy == '!' || !n ? 1 : n; /* behind !ls or a single / */
    const char *instead = debug_elsewhere(line);
    if (instead) {
        front_error(f, "%s", instead);
        f->last = NULL;
        return;
    }
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

/* Runs the commands of the command line. */
static void run_given(struct front *f)
{
    const struct opt_list *files = &f->s->o.debug_files, *lines = &f->s->o.debug_lines;
    for (size_t i = 0; i < files->n && !f->quits; i++)
        debug_command_source(f, arena_strdup(&f->arena, files->at[i]));
    for (size_t i = 0; i < lines->n && !f->quits; i++) {
        front_run_line(f, lines->at[i]);
        front_run_commands(f);
        fflush(stdout);
    }
}

void front_loop(struct front *f)
{
    char *line;
    f->on_terminal = isatty(STDIN_FILENO);
    f->colours = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    f->run_line = front_run_line;
    f->read_line = front_read_line;
    read_history(f);
    run_given(f);
    while (!f->quits && !f->s->o.debug_batch && (line = front_read_line(f, NULL))) {
        front_run_line(f, line);
        front_run_commands(f);
        free(line);
        arena_free(&f->arena);
        fflush(stdout);
    }
    write_history(f);
}

/* heddle manual: writes man pages from the tables of commands, options and environment variables,
 * in the requests of man(7). */
#include <ctype.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/environment.h"

const struct environment environment[] = {
#define ENVIRONMENT(kind, name, value, help) {ENVIRONMENT_##kind, name, value, help},
#include "cli/environment.def"
#undef ENVIRONMENT
    {0},
};

/* Escapes text for man: dashes, backslashes, and dots at the start of a line. */
static void put_text(const char *text, size_t n)
{
    bool line_starts = true;
    for (size_t i = 0; i < n; i++) {
        if (line_starts && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", stdout);
        if (text[i] == '-')
            fputs("\\-", stdout);
        else if (text[i] == '\\')
            fputs("\\e", stdout);
        else
            putchar(text[i]);
        line_starts = text[i] == '\n';
    }
}

static void put(const char *text)
{
    put_text(text, strlen(text));
}

static void put_heading(const char *name, const char *title)
{
    fputs(".TH ", stdout);
    for (const char *c = name; *c; c++) {
        char upper = (char)toupper((unsigned char)*c);
        put_text(&upper, 1);
    }
    printf(" 1 \"\" \"Heddle %s\" \"Heddle\"\n.SH NAME\n", hd_version());
    put(name);
    fputs(" \\- ", stdout);
    put(title);
    putchar('\n');
}

static void put_options(const opt_lines *lines)
{
    for (uint32_t i = 0; i < lines->n; i++) {
        const struct opt_line *l = &lines->at[i];
        fputs(".TP\n\\fB", stdout);
        if (l->short_name)
            put(l->short_name);
        if (l->short_name && l->long_name)
            fputs("\\fR, \\fB", stdout);
        if (l->long_name)
            put(l->long_name);
        fputs("\\fR", stdout);
        if (*l->value) {
            fputs(" \\fI", stdout);
            put(l->value);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        put(l->help);
        putchar('\n');
    }
}

/* The line's length with its newline. */
static size_t line_length(const char *text)
{
    size_t n = strcspn(text, "\n");
    return n + (text[n] == '\n');
}

/* Writes paragraphs, which empty lines separate. Indented lines stay as they are; other lines are
 * filled. Stops before a paragraph that starts with `until`, unless that is NULL. */
static const char *put_paragraphs(const char *text, const char *until)
{
    bool as_it_is = false;
    while (*text && !(until && strncmp(text, until, strlen(until)) == 0)) {
        size_t n = line_length(text);
        bool empty = *text == '\n', indented = *text == ' ';
        if (as_it_is && !indented && !empty)
            fputs(".fi\n", stdout);
        if (!as_it_is && indented)
            fputs(".nf\n", stdout);
        as_it_is = empty ? as_it_is : indented;
        if (empty)
            fputs(as_it_is ? "\n" : ".PP\n", stdout);
        else
            put_text(text, n);
        text += n;
    }
    if (as_it_is)
        fputs(".fi\n", stdout);
    return text;
}

static const char *behind_synopsis(const struct command *c)
{
    return strstr(c->usage, "\n\n") + 2;
}

static void put_synopsis(const struct command *c)
{
    for (const char *line = c->usage, *end = behind_synopsis(c) - 1; line < end; line += line_length(line)) {
        fputs(".nf\n", stdout);
        put_text(line, line_length(line));
        fputs(".fi\n", stdout);
    }
}

/* Writes a section under `.SH`, or under `.SS` if the page describes two variants of a command. */
static void put_part(const char *request, const struct command *c, struct arena *arena)
{
    static const char examples[] = "Examples:\n";
    opt_lines lines = command_option_lines(c, arena);
    const char *details = c->details;
    put_paragraphs(behind_synopsis(c), NULL);
    if (*details && strncmp(details, examples, strlen(examples)) != 0)
        fputs(".PP\n", stdout);
    details = put_paragraphs(details, examples);
    printf("%s OPTIONS\n", request);
    put_options(&lines);
    if (*details) {
        printf("%s EXAMPLES\n", request);
        put_paragraphs(details + strlen(examples), NULL);
    }
}

static void put_see_also(const char *but)
{
    fputs(".SH SEE ALSO\n", stdout);
    if (but)
        fputs("\\fBheddle\\fR(1)", stdout);
    const char *comma = but ? ", " : "";
    for (const struct command *c = commands; c->name; c++)
        if (c->summary && (!but || strcmp(c->name, but) != 0)) {
            printf("%s\\fBheddle\\-%s\\fR(1)", comma, c->name);
            comma = ",\n";
        }
    putchar('\n');
}

static void put_command(const struct command *c, struct arena *arena)
{
    const struct command *programs = command_for_programs(c);
    put_heading(arena_printf(arena, "heddle-%s", c->name), c->summary);
    fputs(".SH SYNOPSIS\n", stdout);
    if (programs)
        put_synopsis(programs);
    put_synopsis(c);
    if (programs) {
        fputs(".SH PROGRAMS\n", stdout);
        put_part(".SS", programs, arena);
        fputs(".SH KERNELS OF PTX FILES\n", stdout);
        put_part(".SS", c, arena);
    } else {
        fputs(".SH DESCRIPTION\n", stdout);
        put_part(".SH", c, arena);
    }
    put_see_also(c->name);
}

static void put_environment(enum environment_kind kind, const char *title)
{
    printf(".SS %s\n", title);
    for (const struct environment *e = environment; e->name; e++)
        if (e->kind == kind) {
            fputs(".TP\n\\fB", stdout);
            put(e->name);
            fputs("\\fR=\\fI", stdout);
            put(e->value);
            fputs("\\fR\n", stdout);
            put(e->help);
            putchar('\n');
        }
}

static void put_heddle(void)
{
    put_heading("heddle", "run, check, explain, explore and debug CUDA programs with no GPU");
    fputs(".SH SYNOPSIS\n\\fBheddle\\fR \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n.SH DESCRIPTION\n", stdout);
    put("Heddle runs CUDA programs on the CPU: programs of nvcc and of heddle cc, unchanged, Python programs that use "
        "a GPU, and kernels of "
        "PTX files. Each command has a page of its own.\n");
    fputs(".SH COMMANDS\n", stdout);
    for (const struct command *c = commands; c->name; c++)
        if (c->summary) {
            printf(".TP\n\\fBheddle\\-%s\\fR(1)\n", c->name);
            put(c->summary);
            putchar('\n');
        }
    fputs(".SH EXIT STATUS\n", stdout);
    put("0 after a success, 1 where the input has errors or something was found, 2 for wrong usage. Commands that run "
        "a program end with "
        "the program's status; their pages say when they do not.\n");
    fputs(".SH ENVIRONMENT\n", stdout);
    put_environment(ENVIRONMENT_PROGRAM, "Programs that run under Heddle");
    put_environment(ENVIRONMENT_CC, "heddle cc");
    put_environment(ENVIRONMENT_KEPT, "Files and terminals");
    put_environment(ENVIRONMENT_LOOK, "Looking at compiled code");
    put_see_also(NULL);
}

int cmd_manual(struct session *s)
{
    const char *near;
    if (s->n_words == 0) {
        put_heddle();
        return 0;
    }
    const struct command *c = command_find(s->words[0], &near);
    if (s->n_words > 1)
        return usage_error(s, "one page at a time: `heddle manual %s`", s->words[0]);
    if (!c && near)
        return usage_error(s, "there is no command `%s`; did you mean `%s`?", s->words[0], near);
    if (!c)
        return usage_error(s, "there is no command `%s`; `heddle --help` lists them", s->words[0]);
    put_command(c, &s->arena);
    return 0;
}

/* Scripts of commands, and the history of printed values; see debug_commands.h. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/debug_commands.h"

/* ---- words of other debuggers ---- */

const char *debug_elsewhere(const char *line)
{
    static const struct {
        const char *words, *instead;
    } all[] = {
#define DEBUG_ELSEWHERE(words, instead) {words, instead},
#include "cli/debug_elsewhere.def"
#undef DEBUG_ELSEWHERE
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const char *p = line, *w = all[i].words;
        while (*w && (*w == *p || (*w == ' ' && *p == '\t'))) {
            p++;
            for (w++; w[-1] == ' ' && isspace((unsigned char)*p);)
                p++;
        }
        if (!*w && !isalnum((unsigned char)*p) && *p != '_' && *p != '-')
            return all[i].instead;
    }
    return NULL;
}

/* ---- values that were printed ---- */

void front_keep_value(struct front *f, const char *type, const char *value)
{
    json_array_append_new(f->printed, json_pack("{s:s, s:s}", "type", type ? type : "", "value", value));
    printf("$%zu = %s\n", json_array_size(f->printed), value);
}

const char *command_number_in(const char *value)
{
    const char *behind = *value == '(' ? strrchr(value, ')') : NULL;
    behind = behind ? behind + 1 : value;
    return behind + strspn(behind, " ");
}

struct str command_name_at(const char *text)
{
    size_t n = 0;
    if (*text != '$' || isdigit((unsigned char)text[1]))
        return (struct str){0};
    while (isalnum((unsigned char)text[1 + n]) || text[1 + n] == '_')
        n++;
    return (struct str){text + 1, n};
}

static const json_t *named_value(struct front *f, struct str name)
{
    return name.n ? json_object_get(f->variables, arena_strndup(&f->arena, name.p, name.n)) : NULL;
}

/* A printed value as an expression: "(unsigned int)7"; NULL if it was not a number. */
static const char *value_again(struct front *f, const json_t *one)
{
    const char *type = text_of(one, "type"), *value = text_of(one, "value");
    const char *number = command_number_in(value);
    size_t n = strcspn(number, " "); /* the number in 97 'a' */
    bool is = isalnum((unsigned char)*number) || *number == '-';
    return is ? arena_printf(&f->arena, "((%s)%.*s)", type, (int)n, number) : NULL;
}

/* Reads $$2 (a distance back) or $2 (a number) as a value's number. Returns the length of the word;
   0 if it is none. */
static size_t value_number(const struct front *f, const char *p, const char **end)
{
    bool back = p[1] == '$';
    char *behind;
    p += 1 + back;
    unsigned long long n =
        isdigit((unsigned char)*p) ? strtoull(p, &behind, 10) : (behind = (char *)(uintptr_t)p, back);
    bool named = behind > p;
    size_t printed = json_array_size(f->printed);
    *end = behind;
    if (isalnum((unsigned char)*behind) || *behind == '_')
        return 0;
    return back || !named ? (n < printed ? printed - n : SIZE_MAX) : n ? n : SIZE_MAX;
}

const char *front_expression(struct front *f, const char *text)
{
    struct text t = {.arena = &f->arena};
    while (*text) {
        size_t plain = strcspn(text, "$"), number;
        const char *end;
        struct str name;
        const json_t *named;
        text_put(&t, text, plain);
        text += plain;
        if (!*text)
            break;
        name = command_name_at(text);
        if (strncmp(text, "$pc", 3) == 0 && !isalnum((unsigned char)text[3]) && text[3] != '_') {
            text_printf(&t, "%lld", (long long)number_of(json_object_get(f->place, "frame"), "ptx_line"));
            text += 3;
        } else if ((named = named_value(f, name))) {
            const char *again = value_again(f, named);
            if (!again) {
                front_error(f, "`$%.*s` is no number", STR_ARG(name));
                return NULL;
            }
            text_puts(&t, again);
            text += 1 + name.n;
        } else if ((number = value_number(f, text, &end))) {
            const json_t *one = json_array_get(f->printed, number - 1);
            const char *again = one ? value_again(f, one) : NULL;
            if (!again) {
                front_error(f, one ? "`%.*s` was no number: print its expression again" : "there is no `%.*s`",
                            (int)(end - text), text);
                return NULL;
            }
            text_puts(&t, again);
            text = end;
        } else {
            text_put(&t, text++, 1);
        }
    }
    return t.p ? t.p : "";
}

const json_t *front_value(struct front *f, const char *text)
{
    const char *end = text;
    struct str name = command_name_at(text);
    const json_t *named = named_value(f, name);
    size_t number = *text != '$' || named ? 0 : value_number(f, text, &end);
    return named ? (text[1 + name.n] ? NULL : named) : number && !*end ? json_array_get(f->printed, number - 1) : NULL;
}

/* ---- commands of files, and of breakpoints ---- */

void debug_command_source(struct front *f, char *arguments)
{
    bool can = *arguments && f->sources < 10 && f->read_line;
    FILE *in = can ? fopen(arguments, "re") : NULL, *outer = f->input;
    char *line = NULL;
    if (!in) {
        front_error(f,
                    !*arguments        ? "which file?"
                    : !f->read_line    ? "`source FILE` works only in a terminal or a script"
                    : f->sources >= 10 ? "%s: files of commands run each other without end"
                                       : "cannot read %s: %s",
                    arguments, strerror(errno));
        return;
    }
    f->input = in;
    f->sources++;
    while (!f->quits && (line = f->read_line(f, NULL))) {
        f->run_line(f, line);
        front_run_commands(f);
        free(line);
    }
    f->sources--;
    f->input = outer;
    fclose(in);
}

void debug_command_commands(struct front *f, char *arguments)
{
    json_t *lines = json_array();
    char *line;
    char id[32];
    long long n = *arguments && strcmp(arguments, "$bpnum") != 0 ? strtoll(arguments, NULL, 10) : f->last_point;
    if (!f->read_line)
        front_error(f, "`commands` works only in a terminal or a script");
    while (f->read_line && (line = f->read_line(f, ">"))) {
        const char *start = line + strspn(line, " \t");
        bool ends = strcmp(start, "end") == 0;
        if (!ends)
            json_array_append_new(lines, json_string(start));
        free(line);
        if (ends)
            break;
    }
    if (n < 1)
        front_error(f, "commands N: the breakpoint's number is missing");
    snprintf(id, sizeof id, "%lld", n);
    if (n >= 1)
        json_object_set(f->commands, id, lines);
    json_decref(lines);
}

void front_run_commands(struct front *f)
{
    for (json_t *points; (points = f->stopped_at);) {
        size_t i, k;
        const json_t *id, *line;
        f->stopped_at = NULL;
        json_array_foreach(points, i, id)
        {
            char key[32];
            snprintf(key, sizeof key, "%lld", (long long)json_integer_value(id));
            json_t *lines = json_incref(json_object_get(f->commands, key));
            json_array_foreach(lines, k, line)
            {
                if (strcmp(json_string_value(line), "silent") == 0)
                    continue; /* this stop has not been shown yet */
                f->run_line(f, json_string_value(line));
                /* the remaining commands belong to the earlier stop */
                if (f->stopped_at || f->quits || f->state != FRONT_STANDS)
                    break;
            }
            json_decref(lines);
        }
        json_decref(points);
    }
}

/* ---- words and other programs ---- */

const char *command_put_escape(const char *p)
{
    char *end, digits[4] = {0};
    strncpy(digits, p, 3);
    long octal = strtol(digits, &end, 8);
    putchar(end > digits ? (int)octal : *p == 'n' ? '\n' : *p == 't' ? '\t' : *p);
    return p + (end > digits ? end - digits : 1);
}

void debug_command_echo(struct front *f, char *arguments)
{
    (void)f;
    for (const char *p = arguments; *p; p++) {
        if (p[0] == '\\' && p[1])
            p = command_put_escape(p + 1) - 1;
        else
            putchar(*p);
    }
}

void debug_command_shell(struct front *f, char *arguments)
{
    fflush(stdout);
    if (!*arguments)
        front_error(f, "the command is missing, for example: shell ls");
    else if (system(arguments) < 0)
        front_error(f, "cannot start a shell: %s", strerror(errno));
}

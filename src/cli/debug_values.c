/* Commands of heddle debug's terminal that print and change values; see debug_commands.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli/debug_commands.h"

/* ---- values ---- */

static const char formats[] = "xduotcaf"; /* `i` shows instructions of PTX */

/* Takes a format such as "/x" before an expression; 0 if there is none. */
static char take_format(struct front *f, char **at, bool may_be_ptx)
{
    char format = 0;
    if (**at != '/')
        return 0;
    for (++*at; **at && !isspace((unsigned char)**at); ++*at) {
        if (!strchr(formats, **at) && !(may_be_ptx && **at == 'i')) {
            front_error(f, "there is no format `%c`: x d u o t c a f", **at);
            return -1;
        }
        format = **at;
    }
    *at = command_skip(*at);
    return format;
}

/* Returns NULL after an error message. */
static json_t *ask_value(struct front *f, const char *text, char format, bool lanes)
{
    const char as[2] = {format, 0}, *expression = front_expression(f, text);
    return !expression ? NULL
                       : front_ask(f, json_pack("{s:s, s:s, s:s, s:b}", "do", "print", "expression", expression,
                                                "format", as, "lanes", lanes));
}

/* Prints a value's 32 lanes in a row, with a summary. */
static void show_lanes(struct front *f, const json_t *answer)
{
    const json_t *values = json_object_get(answer, "values");
    size_t width = 1, different = 0, there = 0, least = 32, greatest = 32;
    double min = 0, max = 0;
    for (size_t l = 0; l < 32; l++) {
        const char *v = json_string_value(json_array_get(values, l));
        bool seen = false;
        char *end = NULL;
        if (!v)
            continue;
        there++;
        width = strlen(v) > width ? strlen(v) : width;
        for (size_t k = 0; k < l; k++) {
            const char *other = json_string_value(json_array_get(values, k));
            seen |= other && strcmp(other, v) == 0;
        }
        different += !seen;
        double n = strtod(v, &end);
        if (end == v || (*end && *end != ' '))
            continue;
        if (least == 32 || n < min) {
            min = n;
            least = l;
        }
        if (greatest == 32 || n > max) {
            max = n;
            greatest = l;
        }
    }
    size_t columns = width > 40 ? 1 : width > 18 ? 4 : 8;
    for (size_t l = 0; l < 32; l++) {
        const char *v = json_string_value(json_array_get(values, l));
        if (l % columns == 0)
            printf("%slane %2zu:", l ? "\n" : "", l);
        printf("  %*s", (int)width, v ? v : "-");
    }
    printf("\n%zu lanes, %zu different value%s", there, different, different == 1 ? "" : "s");
    if (least < 32 && different > 1)
        printf("; least in lane %zu: %s, greatest in lane %zu: %s", least,
               json_string_value(json_array_get(values, least)), greatest,
               json_string_value(json_array_get(values, greatest)));
    puts("");
    (void)f;
}

void debug_command_print(struct front *f, char *arguments)
{
    char format = take_format(f, &arguments, false);
    bool lanes = command_has_word(&arguments, "-w");
    if (format < 0)
        return;
    if (!*arguments)
        arguments = "$";
    const json_t *again = format || lanes ? NULL : front_value(f, arguments);
    if (again) {
        front_keep_value(f, text_of(again, "type"), arena_strdup(&f->arena, text_of(again, "value")));
        return;
    }
    const char *wrong = strcmp(arguments, "$_exitcode") == 0 ? "the program has not ended"
                        : strstr(arguments, " -- ")          ? "print has no options but -w and formats such as /x"
                                                             : NULL;
    if (wrong)
        front_error(f, "%s", wrong);
    if (wrong || !front_stands(f))
        return;
    json_t *answer = ask_value(f, arguments, format, lanes);
    if (front_is_ok(answer) && lanes)
        show_lanes(f, answer);
    else if (front_is_ok(answer))
        front_keep_value(f, text_of(answer, "type"), text_of(answer, "value"));
    json_decref(answer);
}

void debug_command_output(struct front *f, char *arguments)
{
    char format = take_format(f, &arguments, false);
    json_t *answer = format < 0 || !front_stands(f) ? NULL : ask_value(f, arguments, format, false);
    if (front_is_ok(answer))
        fputs(text_of(answer, "value"), stdout);
    json_decref(answer);
}

static void show_type(struct front *f, char *arguments, const char *which)
{
    if (!*arguments) {
        front_error(f, "an expression or a type is missing, for example: %s x, %s struct point", which, which);
        return;
    }
    if (!front_stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s, s:s}", "do", "type", "expression", arguments));
    if (front_is_ok(answer))
        printf("type = %s\n", text_of(answer, strcmp(which, "ptype") == 0 ? "whole" : "type"));
    json_decref(answer);
}

void debug_command_ptype(struct front *f, char *arguments)
{
    show_type(f, arguments, "ptype");
}
void debug_command_whatis(struct front *f, char *arguments)
{
    show_type(f, arguments, "whatis");
}

void debug_command_display(struct front *f, char *arguments)
{
    char *expression = arguments;
    char format = take_format(f, &expression, true);
    if (format < 0)
        return;
    bool stands = f->state == FRONT_STANDS;
    if (!*expression && stands)
        front_show_displays(f);
    else if (*expression && (!stands || front_show_display(f, json_array_size(f->displays) + 1, arguments, true)))
        json_array_append_new(f->displays, json_string(arguments)); /* what cannot be shown here is an error */
}

void debug_command_undisplay(struct front *f, char *arguments)
{
    int64_t n = command_count(f, arguments);
    if (!*arguments)
        json_array_clear(f->displays);
    else if (n > 0 && (size_t)n <= json_array_size(f->displays))
        json_array_set_new(f->displays, (size_t)n - 1, json_null());
    else if (n > 0)
        front_error(f, "there is no display %lld", (long long)n);
}

/* Finds the `=` of an assignment, which is not part of a comparison. */
static char *find_assignment(char *text)
{
    for (char *p = text; *p; p++) {
        bool compares = p[0] == '=' && p[1] == '=';
        if (compares)
            p++;
        else if (*p == '=' && p > text && !strchr("<>!=", p[-1]))
            return p;
    }
    return NULL;
}

/* Does `$name` mean a register or something else that the debugger knows? */
static bool is_known(struct front *f, const char *name)
{
    json_t *answer =
        f->state == FRONT_STANDS ? front_request(f, json_pack("{s:s, s:s}", "do", "print", "expression", name)) : NULL;
    bool known = front_is_ok(answer);
    json_decref(answer);
    return known;
}

/* `set $n = VALUE`, where $n is no register. */
static void set_named(struct front *f, const char *name, const char *text)
{
    const char *value = front_expression(f, text);
    char *end;
    long long n = value ? strtoll(value, &end, 0) : 0;
    if (value && *value && !*end) {
        front_name_value(f, name, "int", arena_printf(&f->arena, "%lld", n));
    } else if (value && front_stands(f)) {
        json_t *answer = ask_value(f, text, 0, false);
        if (front_is_ok(answer))
            front_name_value(f, name, text_of(answer, "type"), text_of(answer, "value"));
        json_decref(answer);
    }
}

static void set_list_size(struct front *f, const char *text)
{
    char *end;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || n < 1)
        front_error(f, "set listsize N: how many lines `list` shows");
    else
        f->list_size = front_small(n);
}

void debug_command_set(struct front *f, char *arguments)
{
    if (command_has_word(&arguments, "listsize")) {
        set_list_size(f, arguments);
        return;
    }
    if (command_has_word(&arguments, "args")) {
        front_take_arguments(f, arguments);
        return;
    }
    bool assigns = strncmp(arguments, "var", 3) == 0;
    if (!command_has_word(&arguments, "variable"))
        command_has_word(&arguments, "var");
    char *equals = find_assignment(arguments);
    if (!equals) {
        front_error(f,
                    assigns || !*arguments ? "set var EXPRESSION = VALUE: the expression or the value is missing"
                                           : "there is no setting `%s`; `set var EXPRESSION = VALUE` assigns",
                    arguments);
        return;
    }
    *equals = 0;
    struct str name = command_name_at(arguments);
    if (name.n && !*command_skip(arguments + 1 + name.n)) {
        arguments[1 + name.n] = 0;
        if (json_object_get(f->variables, arguments + 1) || !is_known(f, arguments)) {
            set_named(f, arguments + 1, command_skip(equals + 1));
            return;
        }
    }
    const char *value = front_expression(f, command_skip(equals + 1));
    if (value && front_stands(f))
        json_decref(front_ask(f, json_pack("{s:s, s:s, s:s}", "do", "set", "to", arguments, "value", value)));
}

/* x/s: the text at an address. */
static void show_string(struct front *f, long long count, const char *address)
{
    if (count != 1 || !*address) {
        front_error(f, count != 1 ? "x/s shows one text at a time" : "the address is missing, for example: x/s $arg1");
        return;
    }
    if (!front_stands(f))
        return;
    json_t *answer = ask_value(f, arena_printf(&f->arena, "(char *)(%s)", address), 0, false);
    const char *value = text_of(answer, "value"), *at = value ? strstr(value, "0x") : NULL;
    if (front_is_ok(answer) && at && strchr(at, ' '))
        printf("%.*s:\t%s\n", (int)strcspn(at, " "), at, strchr(at, ' ') + 1);
    else if (front_is_ok(answer))
        front_error(f, "there is no text at `%s`", address);
    json_decref(answer);
}

void debug_command_examine(struct front *f, char *arguments)
{
    int64_t count = 1, size = 4;
    char format = 'x', *end;
    if (*arguments == '/') {
        int64_t n = front_small(strtoll(++arguments, &end, 10));
        count = end > arguments ? n : 1;
        for (arguments = end; *arguments && !isspace((unsigned char)*arguments); arguments++) {
            size_t shift = strcspn("bhwg", (char[2]){*arguments, 0});
            if (shift < 4)
                size = 1 << shift;
            else if (*arguments == 'i') {
                if (front_stands(f))
                    front_show_ptx(f, command_skip(arguments + 1), count);
                return;
            } else if (*arguments == 's') {
                show_string(f, count, command_skip(arguments + 1));
                return;
            } else if (strchr(formats, *arguments))
                format = *arguments;
            else {
                front_error(f, "there is no format `%c` of memory: x d u o t c a f, s of text, and i of PTX",
                            *arguments);
                return;
            }
        }
        arguments = command_skip(arguments);
    }
    const char as[2] = {format, 0};
    if (!*arguments) {
        front_error(f, "the address is missing, for example: x/8xw $arg1");
        return;
    }
    const char *address = front_expression(f, arguments);
    if (!address || !front_stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s, s:s, s:I, s:I, s:s}", "do", "memory", "expression", address, "count",
                                            (json_int_t)count, "size", (json_int_t)size, "format", as));
    const json_t *values = json_object_get(answer, "values");
    int64_t bytes = number_of(answer, "size"), per_line = bytes == 1 ? 8 : bytes == 8 ? 2 : 4;
    for (size_t i = 0; i < json_array_size(values); i++) {
        if (i % (size_t)per_line == 0)
            printf("%s0x%llx:", i ? "\n" : "", (unsigned long long)(number_of(answer, "address") + (int64_t)i * bytes));
        printf("\t%s", json_string_value(json_array_get(values, i)));
    }
    if (json_array_size(values))
        puts(json_array_size(values) < (size_t)count ? "\nthe memory ends there" : "");
    json_decref(answer);
}

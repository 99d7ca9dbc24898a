/* printf and dprintf of heddle debug's terminal; see debug_commands.h. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/debug_commands.h"

/* Cuts off the next of a list of expressions, which commas part. */
static char *next_expression(char **rest)
{
    unsigned depth = 0;
    char *start = *rest, *p = start, quote = 0;
    for (; *p && (*p != ',' || depth || quote); p++) {
        if (quote && *p == '\\' && p[1])
            p++;
        else if (*p == '"' || *p == '\'')
            quote = quote == *p ? 0 : quote ? quote : *p;
        else if (!quote)
            depth += strchr("([{", *p) ? 1 : strchr(")]}", *p) && depth ? UINT_MAX : 0;
    }
    *rest = *p ? p + 1 : p;
    *p = 0;
    return command_skip(start);
}

/* Reads a conversion such as "%-8.3f" without its sizes (l, h, z): its letter is the last one.
 * *is_int: it has none, and is of an int in C. NULL: it is none. */
static const char *read_conversion(const char **at, bool *is_int, struct arena *arena)
{
    const char *p = *at + 1;
    size_t n = strspn(p, "-+ #0123456789."), sizes = strspn(p + n, "hlzjtqL");
    char letter = p[n + sizes];
    *is_int = !sizes;
    *at = p + n + sizes + (letter != 0);
    return letter && strchr("diouxXcfFeEgGaAsp%", letter) && n < 16 ? arena_printf(arena, "%%%.*s%c", (int)n, p, letter)
                                                                    : NULL;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* Prints one value by a conversion. False: it is not of that kind. */
static bool print_as(const char *conversion, bool is_int, const char *value, struct arena *arena)
{
    size_t n = strlen(conversion);
    char letter = conversion[n - 1], *end;
    const char *number = command_number_in(value), *quoted = strchr(value, '"');
    bool is_true = strcmp(value, "true") == 0, is_word = is_true || strcmp(value, "false") == 0;
    char format[32];
    bool is_text = letter == 's' || letter == 'p';
    if (is_text) {
        const char *last = quoted ? strrchr(quoted, '"') : NULL, *from = letter == 'p' ? number : value;
        size_t bytes = letter == 'p' ? strcspn(number, " ") : strlen(value);
        if (letter == 's' && last > quoted) {
            from = quoted + 1;
            bytes = (size_t)(last - from);
        }
        snprintf(format, sizeof format, "%.*ss", (int)(n - 1), conversion);
        printf(format, arena_strndup(arena, from, bytes));
        return true;
    }
    bool is_float = strchr("fFeEgGaA", letter);
    double d = is_word ? is_true : strtod(number, &end);
    if (!is_word && end == number)
        return false;
    snprintf(format, sizeof format, "%.*s%s%c", (int)(n - 1), conversion, is_float || letter == 'c' ? "" : "ll",
             letter);
    bool is_fraction = !is_word && (*end == '.' || strcspn(number, ".en") < strcspn(number, " x"));
    long long i = is_word          ? is_true
                  : is_fraction    ? (long long)d
                  : *number == '-' ? strtoll(number, NULL, 0)
                                   : (long long)strtoull(number, NULL, 0);
    if (is_int && *number == '-' && i >= INT_MIN && strchr("ouxX", letter))
        i = (unsigned)i;
    if (is_float)
        printf(format, d);
    else if (letter == 'c')
        printf(format, (int)i);
    else
        printf(format, i);
    return true;
}
#pragma GCC diagnostic pop

/* The value of the next expression; NULL after an error message. */
static const char *next_value(struct front *f, char **rest, char letter)
{
    const char *text = next_expression(rest), *expression = *text ? front_expression(f, text) : NULL;
    if (*text == '"' && letter == 's')
        return text;
    if (!*text)
        front_error(f, "there are fewer values than conversions");
    if (!expression || !front_stands(f))
        return NULL;
    json_t *answer = front_ask(
        f, json_pack("{s:s, s:s, s:s}", "do", "print", "expression", expression, "format", letter == 'p' ? "a" : ""));
    const char *value = front_is_ok(answer) ? arena_strdup(&f->arena, text_of(answer, "value")) : NULL;
    json_decref(answer);
    return value;
}

void debug_command_printf(struct front *f, char *arguments)
{
    char *rest = arguments, *format = next_expression(&rest);
    size_t n = strlen(format);
    while (n && isspace((unsigned char)format[n - 1]))
        format[--n] = 0;
    if (n < 2 || *format != '"' || format[n - 1] != '"') {
        front_error(f,
                    "printf \"FORMAT\", VALUE...: the format is missing, for example: printf \"%%d %%f\\n\", i, x[i]");
        return;
    }
    format[n - 1] = 0;
    for (const char *p = format + 1; *p;) {
        if (*p == '\\' && p[1]) {
            p = command_put_escape(p + 1);
            continue;
        }
        if (*p != '%') {
            putchar(*p++);
            continue;
        }
        bool is_int;
        const char *start = p, *conversion = read_conversion(&p, &is_int, &f->arena);
        const char letter = conversion ? conversion[strlen(conversion) - 1] : 0;
        const char *value = !conversion ? NULL : letter == '%' ? "" : next_value(f, &rest, letter);
        if (!conversion)
            front_error(f, "`%.*s` is no conversion: d i u o x c f e g a s p", (int)(p - start), start);
        else if (value && letter == '%')
            putchar('%');
        else if (value && !print_as(conversion, is_int, value, &f->arena))
            front_error(f, "`%s` cannot show %s", conversion, value);
        if (!value)
            return;
    }
    if (*command_skip(rest))
        front_error(f, "there are more values than conversions");
}

void debug_command_dprintf(struct front *f, char *arguments)
{
    char *comma = strchr(arguments, ',');
    while (comma && *command_skip(comma + 1) != '"') /* that of a template's or a condition's arguments */
        comma = strchr(comma + 1, ',');
    if (!comma) {
        front_error(f, "dprintf PLACE, \"FORMAT\", VALUE...: the format is missing");
        return;
    }
    *comma = 0;
    long long before = f->last_point;
    command_break(f, arguments, false);
    if (f->last_point != before)
        json_object_set_new(f->commands, arena_printf(&f->arena, "%lld", f->last_point),
                            json_pack("[s, s, s]", "silent",
                                      arena_printf(&f->arena, "printf %s", command_skip(comma + 1)), "continue"));
}

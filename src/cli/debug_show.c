/* What the debugger's front end prints; see debug_front.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file_name.h"
#include "base/printable.h"
#include "cli/debug_front.h"

/* ---- words ---- */

const char *front_line_text(const json_t *frame, struct arena *arena)
{
    const char *file = text_of(frame, "file");
    if (file)
        return arena_printf(arena, "%s:%lld", file_as_shown(file, arena), (long long)number_of(frame, "line"));
    return arena_printf(arena, "PTX line %lld", (long long)number_of(frame, "ptx_line"));
}

static const char *coordinates(const json_t *j, const char *key, struct arena *arena)
{
    const json_t *at = json_object_get(j, key);
    return arena_printf(arena, "(%lld,%lld,%lld)", (long long)json_integer_value(json_array_get(at, 0)),
                        (long long)json_integer_value(json_array_get(at, 1)),
                        (long long)json_integer_value(json_array_get(at, 2)));
}

const char *front_thread_text(const json_t *focus, struct arena *arena)
{
    return arena_printf(arena, "block %s, thread %s, warp %lld, lane %lld", coordinates(focus, "block", arena),
                        coordinates(focus, "thread", arena), (long long)number_of(focus, "warp"),
                        (long long)number_of(focus, "lane"));
}

const char *front_lanes_text(uint32_t lanes, struct arena *arena)
{
    struct text t = {.arena = arena};
    text_puts(&t, lanes & (lanes - 1) ? "lanes" : "lane");
    for (unsigned l = 0; l < 32; l++) {
        unsigned last = l;
        if (!(lanes >> l & 1))
            continue;
        while (last < 31 && lanes >> (last + 1) & 1)
            last++;
        text_printf(&t, last > l ? "%s%u-%u" : "%s%u", t.n > 5 ? ", " : " ", l, last);
        l = last;
    }
    return t.p;
}

const char *front_point_text(const json_t *p, struct arena *arena)
{
    const char *what = text_of(p, "expression") ? text_of(p, "expression") : text_of(p, "function");
    const char *file = text_of(p, "file"), *condition = text_of(p, "condition");
    if (!what)
        what = json_object_get(p, "ptx_line")
                   ? arena_printf(arena, "PTX line %lld", (long long)number_of(p, "ptx_line"))
                   : arena_printf(arena, "%s%s%lld", file ? file_as_shown(file, arena) : "", file ? ":" : "line ",
                                  (long long)number_of(p, "line"));
    return condition ? arena_printf(arena, "%s if %s", what, condition) : what;
}

/* ---- lines ---- */

/* Opens a source file by its path, or by its name in the current folder. */
static FILE *open_source(struct front *f, const char *file)
{
    FILE *in = fopen(file, "re");
    const char *slash = strrchr(file, '/');
    return in || !slash ? in : fopen(arena_strdup(&f->arena, slash + 1), "re");
}

static void show_line(struct front *f, int64_t line, struct str text, bool here)
{
    const char *on = here && f->colours ? "\033[1m" : "", *off = here && f->colours ? "\033[0m" : "";
    printf("%s%lld%s\t%s%s\n", on, (long long)line, here ? "\xe2\x86\x92" : "",
           printable_excerpt(&f->arena, text, false), off);
}

int64_t front_show_lines(struct front *f, const char *file, int64_t from, int64_t to, int64_t here)
{
    FILE *in = open_source(f, file);
    char *text = NULL;
    size_t room = 0;
    ssize_t n;
    int64_t shown = 0;
    for (int64_t line = 1; in && line <= to && (n = getline(&text, &room, in)) > 0; line++)
        if (line >= from && ++shown)
            show_line(f, line, (struct str){text, (size_t)n - (text[n - 1] == '\n')}, line == here && from != to);
    free(text);
    if (in)
        fclose(in);
    return in ? shown : -1;
}

/* Shows the line of PTX if no source line is known. */
static void show_ptx_line(struct front *f, int64_t line)
{
    json_t *answer =
        front_ask(f, json_pack("{s:s, s:I, s:I}", "do", "ptx", "from", (json_int_t)line, "to", (json_int_t)line));
    const char *text = text_of(json_array_get(json_object_get(answer, "lines"), 0), "text");
    if (text)
        show_line(f, line, str_of(text), false);
    json_decref(answer);
}

static void show_source(struct front *f, const json_t *frame)
{
    const char *file = text_of(frame, "file");
    int64_t line = number_of(frame, "line");
    f->list_file = NULL;
    if (!file || !line)
        show_ptx_line(f, number_of(frame, "ptx_line"));
    else if (front_show_lines(f, file, line, line, line) <= 0)
        printf("%lld\tin %s, which cannot be read here\n", (long long)line, file_as_shown(file, &f->arena));
}

/* ---- stops ---- */

static bool same_focus(const struct front *f, const json_t *place)
{
    return json_equal(json_object_get(f->place, "focus"), json_object_get(place, "focus"));
}

static const char *state_text(const json_t *place)
{
    const char *state = text_of(place, "state");
    return !state                         ? ""
           : strcmp(state, "fresh") == 0  ? "it has not begun"
           : strcmp(state, "exited") == 0 ? "it has ended"
           : strcmp(state, "absent") == 0 ? "its block has ended or has not begun"
                                          : "";
}

static void print_frame(struct front *f, const json_t *place, const json_t *frame)
{
    const char *function = text_of(frame, "function");
    int64_t level = number_of(place, "level");
    if (level != number_of(place, "hidden"))
        printf("#%lld  ", (long long)level);
    printf("%s at %s\n", function ? function : "an inlined function", front_line_text(frame, &f->arena));
}

void front_show_place(struct front *f, const json_t *place, bool with_thread)
{
    const json_t *frame = json_object_get(place, "frame");
    const char *state = text_of(place, "state");
    if (with_thread)
        printf("[%s]\n", front_thread_text(json_object_get(place, "focus"), &f->arena));
    if (!frame) {
        puts(state_text(place));
        return;
    }
    if (state && strcmp(state, "waits") == 0)
        printf("waits in ");
    print_frame(f, place, frame);
    show_source(f, frame);
}

static void show_written(struct front *f, const json_t *w, const char *expression, bool is_last)
{
    const char *at = front_line_text(w, &f->arena), *before = text_of(w, "before"), *after = text_of(w, "after");
    bool is_read = json_is_true(json_object_get(w, "read"));
    if (is_last)
        printf("%s was last written by %s, at %s (time %lld)\n", expression,
               front_thread_text(json_object_get(w, "thread"), &f->arena), at, (long long)number_of(w, "time"));
    else
        printf("Watchpoint %lld: %s, %s at %s\n", (long long)number_of(w, "id"), expression,
               is_read ? "read" : "written", at);
    if (is_read)
        printf("Value = %s\n", after);
    else
        printf("Old value = %s\n%s = %s\n", before, is_last ? "Value now" : "New value", after);
}

static void show_reason(struct front *f, const json_t *event)
{
    const char *reason = text_of(event, "reason"), *text = text_of(event, "text");
    const json_t *w = json_object_get(event, "written"), *note;
    size_t i;
    if (w) {
        show_written(f, w, text ? text : "", reason && strcmp(reason, "last-write") == 0);
        if (json_object_get(event, "breakpoint"))
            printf("Breakpoint %lld\n", (long long)number_of(event, "breakpoint"));
        return;
    }
    if (reason && strcmp(reason, "last-write") == 0) {
        printf("this launch has not written %s so far\n", text ? text : "");
        return;
    }
    if (reason && strcmp(reason, "fault") == 0)
        printf("The kernel fails (%s): %s\n", text_of(event, "code"), text);
    else if (reason && strcmp(reason, "finding") == 0)
        printf("Found (%s): %s\n", text_of(event, "code"), text);
    else if (text && *text)
        printf("%s\n", text);
    json_array_foreach(json_object_get(event, "notes"), i, note) printf("  %s\n", json_string_value(note));
}

void front_show_stop(struct front *f, const json_t *event)
{
    show_reason(f, event);
    front_show_place(f, event, !same_focus(f, event));
    const json_t *returned = json_object_get(event, "returned");
    if (returned) {
        fputs("Value returned is ", stdout);
        front_keep_value(f, text_of(returned, "type"), text_of(returned, "value"));
    }
}

/* Prints an answer, and frees it. */
static void print_ptx(json_t *answer)
{
    size_t i;
    const json_t *line;
    json_array_foreach(json_object_get(answer, "lines"), i, line)
        printf("%s%5lld  %s\n", json_is_true(json_object_get(line, "here")) ? "=> " : "   ",
               (long long)number_of(line, "line"), text_of(line, "text") ? text_of(line, "text") : "");
    json_decref(answer);
}

void front_show_ptx_here(struct front *f)
{
    print_ptx(front_ask(f, json_pack("{s:s}", "do", "ptx")));
}

void front_show_ptx(struct front *f, const char *from, int64_t count)
{
    const char *text = front_expression(f, *from ? from : "$pc");
    char *end;
    int64_t first = text ? front_small(strtoll(text, &end, 10)) : 0;
    if (!text)
        return;
    if (first < 1 || end[strspn(end, " ")]) {
        front_error(f, "operations have no addresses here: x/4i $pc, or a line of the PTX, as in x/4i 27");
        return;
    }
    json_t *answer = front_ask(
        f, json_pack("{s:s, s:I, s:I}", "do", "ptx", "from", (json_int_t)first, "to", (json_int_t)(first + count - 1)));
    print_ptx(answer);
}

bool front_show_display(struct front *f, size_t number, const char *text, bool is_new)
{
    const char *rest = text; /* behind the format, as in "/x e" */
    if (*rest == '/')
        for (rest += strcspn(rest, " \t"); *rest == ' ' || *rest == '\t';)
            rest++;
    const char format[2] = {*text == '/' ? text[1] : 0};
    if (*format == 'i') {
        printf("%zu: %s\n", number, text);
        front_show_ptx(f, rest, 1);
        return true;
    }
    json_t *answer =
        front_request(f, json_pack("{s:s, s:s, s:s}", "do", "print", "expression", rest, "format", format));
    const char *value = text_of(answer, "value"), *error = text_of(answer, "error");
    bool can = value;
    if (can)
        printf("%zu: %s = %s\n", number, text, value);
    else if (error && (is_new || strncmp(error, "there is no `", strlen("there is no `")) != 0))
        front_error(f, "%s", error);
    json_decref(answer);
    return can;
}

void front_show_displays(struct front *f)
{
    size_t i;
    const json_t *expression;
    json_array_foreach(f->displays, i, expression) if (json_is_string(expression))
        front_show_display(f, i + 1, json_string_value(expression), false);
}

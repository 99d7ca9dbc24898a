/* Commands of heddle debug's terminal about breakpoints and watchpoints; see debug_commands.h.
 *
 * Each breakpoint is a request, in the array `points` of the front end, from the command that
 * sets it until it is deleted. A new run gets the requests again, with their numbers, conditions
 * and whether they are disabled. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/debug_commands.h"

/* ---- break and watch ---- */

bool command_forget_break(struct front *f, long long id)
{
    if (!front_point(f, id))
        return false;
    front_forget_point(f, id);
    if (f->link >= 0)
        json_decref(front_request(f, json_pack("{s:s, s:I}", "do", "delete", "id", (json_int_t)id)));
    return true;
}

/* The colon of "FILE:LINE" or "FILE:FUNCTION", which is none of a "::"; NULL: there is none. */
static char *find_colon(char *place)
{
    for (char *p = place; (p = strchr(p, ':')); p += 2)
        if (p[1] != ':')
            return p > place && p[1] ? p : NULL;
    return NULL;
}

/* "FILE:LINE", "LINE", "*PTXLINE", "FUNCTION", "FILE:FUNCTION". */
static json_t *read_place(struct front *f, char *place)
{
    char *colon = find_colon(place), *end;
    if (*place == '*' && strncmp(place + 1, "0x", 2) == 0)
        return NULL;
    if (*place == '*')
        return json_pack("{s:s, s:I}", "do", "break", "ptx_line", (json_int_t)strtoll(place + 1, NULL, 0));
    long long line = strtoll(place, &end, 10);
    const char *file = json_string_value(json_object_get(json_object_get(f->place, "frame"), "file"));
    if (*place && !*end)
        return json_pack("{s:s, s:I, s:s*}", "do", "break", "line", (json_int_t)line, "file", file);
    if (colon) {
        *colon = 0;
        line = strtoll(colon + 1, &end, 10);
        return line > 0 && !*end
                   ? json_pack("{s:s, s:s, s:I}", "do", "break", "file", place, "line", (json_int_t)line)
                   : json_pack("{s:s, s:s, s:s}", "do", "break", "file", place, "function", command_skip(colon + 1));
    }
    return json_pack("{s:s, s:s}", "do", "break", "function", place);
}

static void say_break(struct front *f, const json_t *answer, const char *place)
{
    const json_t *places = json_object_get(answer, "places"), *first = json_array_get(places, 0);
    size_t n = json_array_size(places);
    const char *meant = text_of(answer, "meant");
    if (json_object_get(answer, "moved"))
        printf("Line %lld has no code; the next line that has code is %lld\n", (long long)number_of(answer, "moved"),
               (long long)number_of(answer, "line"));
    printf("Breakpoint %lld", (long long)number_of(answer, "id"));
    if (n) {
        const char *function = text_of(first, "function");
        printf(" at %s%s%s", front_line_text(first, &f->arena), function ? ", in " : "", function ? function : "");
        printf(n > 1 ? " (%zu places)\n" : "\n", n);
    } else {
        printf(" (%s) has no code in this kernel; it is kept for later kernels%s%s%s", place, meant ? "; is `" : "",
               meant ? meant : "", meant ? "` meant?" : "");
        if (json_object_get(answer, "last"))
            printf("; the last line there that has code is %lld", (long long)number_of(answer, "last"));
        puts("");
    }
}

/* Cuts off "if CONDITION" behind a place, and returns the condition; NULL: there is none. */
static char *cut_condition(char *text)
{
    for (char *p = text; (p = strstr(p, "if")); p += 2)
        if ((p == text || isspace((unsigned char)p[-1])) && (!p[2] || isspace((unsigned char)p[2]) || p[2] == '(')) {
            *p = 0;
            return command_skip(p + 2);
        }
    return NULL;
}

int64_t command_break(struct front *f, char *arguments, bool temporary)
{
    char *place = arguments, *condition = cut_condition(arguments);
    if (condition && !*condition) {
        front_error(f, "the condition is missing, for example: break 12 if threadIdx.x == 3");
        return -1;
    }
    for (size_t n = strlen(place); n && isspace((unsigned char)place[n - 1]); n--)
        place[n - 1] = 0;
    if (!*place && !text_of(json_object_get(f->place, "frame"), "file")) {
        front_error(f, "the place is missing, for example: break saxpy.cu:12, break 12, break saxpy, or break *27 for "
                       "a line of PTX");
        return -1;
    }
    if (*place == '*' && !(place = (char *)(uintptr_t)front_expression(f, place)))
        return -1;
    const char *shown = arena_strdup(&f->arena, place);
    json_t *request = *place ? read_place(f, place)
                             : json_pack("{s:s, s:O, s:O}", "do", "break", "file",
                                         json_object_get(json_object_get(f->place, "frame"), "file"), "line",
                                         json_object_get(json_object_get(f->place, "frame"), "line"));
    if (!request) {
        front_error(
            f, "operations have no addresses here: break *27 stops at line 27 of the PTX, which `disassemble` shows");
        return -1;
    }
    if (condition)
        json_object_set_new(request, "condition", json_string(condition));
    json_object_set_new(request, "temporary", json_boolean(temporary));
    if (f->link < 0) {
        front_note_point(f, f->next_point + 1);
        json_object_set_new(request, "id", json_integer(f->last_point));
        json_array_append_new(f->points, request);
        printf("Breakpoint %lld (%s) will be set when the program's first kernel is launched\n", f->last_point, shown);
        return -1;
    }
    int64_t places = -1;
    json_t *answer = front_ask(f, json_incref(request));
    if (front_is_ok(answer)) {
        say_break(f, answer, shown);
        json_object_set(request, "id", json_object_get(answer, "id"));
        json_object_set_new(request, "is_set", json_true());
        front_note_point(f, number_of(answer, "id"));
        places = (int64_t)json_array_size(json_object_get(answer, "places"));
        if (places)
            json_object_set_new(request, "is_placed", json_true());
        json_array_append(f->points, request);
    }
    json_decref(request);
    json_decref(answer);
    return places;
}

void debug_command_set_break(struct front *f, char *arguments)
{
    command_break(f, arguments, false);
}
void debug_command_set_tbreak(struct front *f, char *arguments)
{
    command_break(f, arguments, true);
}
/* `on` is "write", "read" or "readWrite", as in the Debug Adapter Protocol. */
static void add_watch(struct front *f, char *arguments, const char *on)
{
    if (!command_has_word(&arguments, "-l")) /* what is watched is always the memory that it has now */
        command_has_word(&arguments, "-location");
    const char *what = front_expression(f, arguments);
    if (!*arguments)
        front_error(f, "what to watch is missing, for example: watch tile[3], or watch *(int *)$arg1");
    if (!*arguments || !what || !front_stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s, s:s, s:s}", "do", "watch", "expression", what, "on", on));
    if (front_is_ok(answer)) {
        front_note_point(f, number_of(answer, "id"));
        printf("Watchpoint %lld: %s (%lld bytes at 0x%llx)\n", (long long)number_of(answer, "id"), arguments,
               (long long)number_of(answer, "bytes"), (unsigned long long)number_of(answer, "address"));
    }
    json_decref(answer);
}
void debug_command_set_watch(struct front *f, char *arguments)
{
    add_watch(f, arguments, "write");
}
void debug_command_set_rwatch(struct front *f, char *arguments)
{
    add_watch(f, arguments, "read");
}
void debug_command_set_awatch(struct front *f, char *arguments)
{
    add_watch(f, arguments, "readWrite");
}

/* ---- by number ---- */

/* Is there a debugger to be asked? 0: no, a later run will be told. -1: it cannot be asked now,
 * which was printed. */
static int can_tell(struct front *f)
{
    return f->link < 0 ? 0 : front_stands(f) ? 1 : -1;
}

/* The same of one breakpoint, which a later run can be told of only if it is there. */
static int can_tell_of(struct front *f, long long id)
{
    int tells = can_tell(f);
    if (tells || front_point(f, id))
        return tells;
    front_error(f, "there is no breakpoint %lld", id);
    return -1;
}

/* `how` is "delete", "enable" or "disable"; id 0: all. */
static void change_one(struct front *f, const char *how, long long id)
{
    int tells = id ? can_tell_of(f, id) : can_tell(f);
    bool is_done = !tells;
    for (size_t i = 0; tells >= 0 && i < json_array_size(f->points); i++) {
        json_t *one = json_array_get(f->points, i);
        if (!id || number_of(one, "id") == id)
            json_object_set_new(one, "disabled", json_boolean(strcmp(how, "disable") == 0));
    }
    if (tells > 0) {
        json_t *answer = front_ask(f, json_pack("{s:s, s:I}", "do", how, "id", (json_int_t)id));
        is_done = front_is_ok(answer);
        json_decref(answer);
    }
    if (is_done && strcmp(how, "delete") == 0)
        front_forget_point(f, id);
    else if (is_done && strcmp(how, "disable") == 0)
        front_note_placed(f, id);
}

/* Of "2", "2-4", "$bpnum"; NULL after an error message. */
static char *read_numbers(struct front *f, char *text, long long *from, long long *to)
{
    static const char last[] = "$bpnum";
    char *end;
    if (strncmp(text, last, sizeof last - 1) == 0) {
        *from = *to = f->last_point;
        end = text + sizeof last - 1;
    } else {
        *from = *to = strtoll(text, &end, 10);
        char *second = *end == '-' && end > text ? end + 1 : NULL;
        if (second)
            *to = strtoll(second, &end, 10);
    }
    if (*from > 0 && *to >= *from && (!*end || isspace((unsigned char)*end)))
        return command_skip(end);
    front_error(f, "`%s` is neither the number of a breakpoint nor a range such as 2-4; `info breakpoints` lists them",
                text);
    return NULL;
}

static void change(struct front *f, const char *how, char *arguments)
{
    long long from = 0, to = 0;
    command_has_word(&arguments, "breakpoints");
    if (!*arguments)
        change_one(f, how, 0);
    while (*arguments && (arguments = read_numbers(f, arguments, &from, &to))) {
        change_one(f, how, from);
        for (to = to < f->next_point ? to : f->next_point; from < to;)
            change_one(f, how, ++from);
    }
}
void debug_command_delete(struct front *f, char *arguments)
{
    if (command_has_word(&arguments, "display"))
        debug_command_undisplay(f, arguments);
    else
        change(f, "delete", arguments);
}
void debug_command_enable(struct front *f, char *arguments)
{
    change(f, "enable", arguments);
}
void debug_command_disable(struct front *f, char *arguments)
{
    change(f, "disable", arguments);
}

/* Do two requests name the same place? */
static bool same_place(const json_t *a, const json_t *b)
{
    const char *file = text_of(a, "file"), *other = text_of(b, "file");
    const char *end = file ? strrchr(file, '/') : NULL, *other_end = other ? strrchr(other, '/') : NULL;
    bool same_file = !file || !other || strcmp(end ? end + 1 : file, other_end ? other_end + 1 : other) == 0;
    const char *function = text_of(a, "function"), *other_function = text_of(b, "function");
    return same_file && strcmp(function ? function : "", other_function ? other_function : "") == 0 &&
           number_of(a, "line") == number_of(b, "line") && number_of(a, "ptx_line") == number_of(b, "ptx_line");
}

void debug_command_clear(struct front *f, char *arguments)
{
    const json_t *at = json_object_get(f->place, "frame");
    const char *shown = arena_strdup(&f->arena, *arguments ? arguments : front_line_text(at, &f->arena));
    json_t *place = *arguments ? read_place(f, arguments) : json_copy((json_t *)at);
    bool any = false;
    if (!*arguments) { /* the line alone */
        json_object_del(place, "function");
        json_object_del(place, "ptx_line");
    }
    for (size_t i = json_array_size(f->points); place && i-- > 0;) {
        const json_t *one = json_array_get(f->points, i);
        if (!same_place(one, place))
            continue;
        any = true;
        printf("Breakpoint %lld is deleted\n", (long long)number_of(one, "id"));
        change_one(f, "delete", number_of(one, "id"));
    }
    json_decref(place);
    if (!any)
        front_error(f, "there is no breakpoint at %s", shown);
}

void debug_command_ignore(struct front *f, char *arguments)
{
    char *end, *end_of_count;
    long long id = strtoll(arguments, &end, 10), count = strtoll(end, &end_of_count, 10);
    bool is_number = end > arguments && end_of_count > end && !*command_skip(end_of_count);
    int tells = is_number ? can_tell_of(f, id) : -1;
    if (!is_number)
        front_error(f, "ignore N COUNT: the breakpoint's number or the count is missing");
    else if (tells > 0)
        json_decref(front_ask(
            f, json_pack("{s:s, s:I, s:I}", "do", "ignore", "id", (json_int_t)id, "count", (json_int_t)count)));
    else if (!tells)
        json_object_set_new(front_point(f, id), "ignore", json_integer(count));
}

void debug_command_condition(struct front *f, char *arguments)
{
    char *end;
    long long id = strtoll(arguments, &end, 10);
    const char *condition = command_skip(end);
    int tells = end > arguments ? can_tell_of(f, id) : -1;
    if (end == arguments)
        front_error(f, "condition N [CONDITION]: the breakpoint's number is missing");
    json_t *answer = tells > 0 ? front_ask(f, json_pack("{s:s, s:I, s:s}", "do", "condition", "id", (json_int_t)id,
                                                        "condition", condition))
                               : NULL;
    if (!tells || front_is_ok(answer)) {
        json_object_del(front_point(f, id), "condition");
        if (*condition)
            json_object_set_new(front_point(f, id), "condition", json_string(condition));
    }
    json_decref(answer);
}

/* ---- in a file ---- */

/* Writes the commands that set a breakpoint again. */
static void save_one(struct front *f, const json_t *p, FILE *out)
{
    const char *condition = text_of(p, "condition"), *function = text_of(p, "function"), *file = text_of(p, "file");
    const json_t *line,
        *lines = json_object_get(f->commands, arena_printf(&f->arena, "%lld", (long long)number_of(p, "id")));
    size_t i;
    fprintf(out, "%s ", json_is_true(json_object_get(p, "temporary")) ? "tbreak" : "break");
    if (json_object_get(p, "ptx_line"))
        fprintf(out, "*%lld", (long long)number_of(p, "ptx_line"));
    else if (function)
        fprintf(out, "%s%s%s", file ? file : "", file ? ":" : "", function);
    else
        fprintf(out, "%s%s%lld", file ? file : "", file ? ":" : "", (long long)number_of(p, "line"));
    fprintf(out, "%s%s\n", condition ? " if " : "", condition ? condition : "");
    if (json_is_true(json_object_get(p, "disabled")))
        fputs("disable $bpnum\n", out);
    if (json_array_size(lines))
        fputs("commands\n", out);
    json_array_foreach(lines, i, line) fprintf(out, "  %s\n", json_string_value(line));
    if (i)
        fputs("end\n", out);
}

void debug_command_save(struct front *f, char *arguments)
{
    bool is_right = command_has_word(&arguments, "breakpoints") && *arguments;
    FILE *out = is_right ? fopen(arguments, "we") : NULL;
    size_t i;
    const json_t *p;
    if (!out) {
        front_error(f, is_right ? "cannot write %s: %s" : "save breakpoints FILE: the file is missing", arguments,
                    strerror(errno));
        return;
    }
    json_array_foreach(f->points, i, p) save_one(f, p, out);
    if (fclose(out) != 0)
        front_error(f, "cannot write %s: %s", arguments, strerror(errno));
    else
        printf("%s has %zu breakpoint%s; `source %s` sets them again\n", arguments, i, i == 1 ? "" : "s", arguments);
}

/* The commands of heddle debug's terminal: debug_commands.def. Each takes what stands behind its name. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "cli/debug_front.h"

/* ---- arguments ---- */

static char *skip(char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

static bool is_ok(const json_t *answer)
{
    return answer && !json_object_get(answer, "error");
}

/* A count, 1 where there is none; -1 with what is wrong said. */
static int64_t count_of(struct front *f, char *text)
{
    char *end;
    if (!*text)
        return 1;
    long long n = strtoll(text, &end, 0);
    if (!*skip(end) && n > 0)
        return n;
    front_error(f, "`%s` is no count", text);
    return -1;
}

static bool has_word(char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0 || ((*at)[n] && !isspace((unsigned char)(*at)[n]) && (*at)[n] != '('))
        return false;
    *at = skip(*at + n);
    return true;
}

static bool stands(struct front *f)
{
    if (f->state == FRONT_STANDS || f->state == FRONT_READY || f->state == FRONT_ENDED)
        return true;
    front_error(f, f->state == FRONT_GONE ? "the program has ended; `run` starts it again"
                                          : "the program does not run: `run` starts it");
    return false;
}

/* ---- going on ---- */

static void run(struct front *f, char *arguments)
{
    if (*arguments) {
        front_error(f, "the program's arguments stand behind it on the command line: heddle debug PROGRAM ARGUMENT...");
        return;
    }
    if (f->state == FRONT_STANDS || f->state == FRONT_ENDED) {
        front_error(f, "the program runs already; `kill` ends it, `continue` goes on");
        return;
    }
    if (f->state != FRONT_READY) {
        json_decref(f->place);
        f->place = NULL;
        if (f->start(f)) {
            f->state = FRONT_GONE;
            return;
        }
        front_wait(f);
    }
    if (f->state == FRONT_READY)
        front_go(f, json_pack("{s:s}", "do", "run"));
}

static void move(struct front *f, const char *how, bool reverse, char *arguments)
{
    int64_t count = count_of(f, arguments);
    if (count < 0 || !stands(f))
        return;
    if (f->state == FRONT_READY && !reverse) {
        if (strcmp(how, "continue") != 0)
            json_decref(front_ask(f, json_pack("{s:s}", "do", "stop_at_launch")));
        front_go(f, json_pack("{s:s}", "do", "run"));
        return;
    }
    front_go(f, json_pack("{s:s, s:I, s:b}", "do", how, "count", (json_int_t)count, "reverse", reverse));
}

static void go_on(struct front *f, char *arguments)
{
    int64_t n = count_of(f, arguments);
    for (int64_t i = 0; i < n && (i == 0 || f->state == FRONT_STANDS); i++)
        move(f, "continue", false, "");
}
static void step_next(struct front *f, char *arguments)
{
    move(f, "next", false, arguments);
}
static void step_into(struct front *f, char *arguments)
{
    move(f, "step", false, arguments);
}
static void finish(struct front *f, char *arguments)
{
    move(f, "finish", false, arguments);
}
static void until(struct front *f, char *arguments)
{
    move(f, "until", false, arguments);
}
static void step_ptx(struct front *f, char *arguments)
{
    move(f, "stepi", false, arguments);
}
static void next_ptx(struct front *f, char *arguments)
{
    move(f, "nexti", false, arguments);
}
static void back_on(struct front *f, char *arguments)
{
    move(f, "continue", true, arguments);
}
static void back_next(struct front *f, char *arguments)
{
    move(f, "next", true, arguments);
}
static void back_step(struct front *f, char *arguments)
{
    move(f, "step", true, arguments);
}
static void back_finish(struct front *f, char *arguments)
{
    move(f, "finish", true, arguments);
}
static void back_ptx(struct front *f, char *arguments)
{
    move(f, "stepi", true, arguments);
}
static void back_next_ptx(struct front *f, char *arguments)
{
    move(f, "nexti", true, arguments);
}

static void last_write(struct front *f, char *arguments)
{
    if (!*arguments)
        front_error(f, "of which memory? As in last-write tile[3]");
    else if (stands(f))
        front_go(f, json_pack("{s:s, s:s}", "do", "last_write", "expression", arguments));
}

static void go_to(struct front *f, char *arguments)
{
    char *end;
    long long time = strtoll(arguments, &end, 0);
    if (!*arguments || *skip(end))
        front_error(f, "to which time? `info time` shows it");
    else if (stands(f))
        front_go(f, json_pack("{s:s, s:I}", "do", "goto", "time", (json_int_t)time));
}

static void kill(struct front *f, char *arguments)
{
    (void)arguments;
    front_end(f);
    puts("[The program has been ended]");
}

static void detach(struct front *f, char *arguments)
{
    (void)arguments;
    if (stands(f))
        front_go(f, json_pack("{s:s}", "do", "detach"));
}

static void quit(struct front *f, char *arguments)
{
    (void)arguments;
    f->quits = true;
}

/* ---- breakpoints ---- */

/* "FILE:LINE", "LINE", "*PTXLINE", "FUNCTION". */
static json_t *read_place(struct front *f, char *place)
{
    char *colon = strrchr(place, ':'), *end;
    if (*place == '*')
        return json_pack("{s:s, s:I}", "do", "break", "ptx_line", (json_int_t)strtoll(place + 1, NULL, 0));
    long long line = strtoll(place, &end, 10);
    const char *file = json_string_value(json_object_get(json_object_get(f->place, "frame"), "file"));
    if (*place && !*end)
        return json_pack("{s:s, s:I, s:s*}", "do", "break", "line", (json_int_t)line, "file", file);
    if (colon && colon > place && colon[-1] != ':' && (line = strtoll(colon + 1, &end, 10)) > 0 && !*end) {
        *colon = 0;
        return json_pack("{s:s, s:s, s:I}", "do", "break", "file", place, "line", (json_int_t)line);
    }
    return json_pack("{s:s, s:s}", "do", "break", "function", place);
}

static void say_break(struct front *f, const json_t *answer, const char *place)
{
    const json_t *places = json_object_get(answer, "places"), *first = json_array_get(places, 0);
    size_t n = json_array_size(places);
    const char *meant = text_of(answer, "meant");
    if (json_object_get(answer, "moved"))
        printf("Line %lld has no code; the next that has is %lld\n", (long long)number_of(answer, "moved"),
               (long long)number_of(answer, "line"));
    printf("Breakpoint %lld", (long long)number_of(answer, "id"));
    if (n) {
        const char *function = text_of(first, "function");
        printf(" at %s%s%s", front_line_text(first, &f->arena), function ? ", in " : "", function ? function : "");
        printf(n > 1 ? " (%zu places)\n" : "\n", n);
    } else {
        printf(" (%s) is nowhere in this kernel; it waits for one that has it%s%s%s\n", place, meant ? "; is `" : "",
               meant ? meant : "", meant ? "` meant?" : "");
    }
}

static void add_break(struct front *f, char *arguments, bool temporary)
{
    char *condition = strstr(arguments, " if ");
    char *place = arguments;
    if (condition) {
        *condition = 0;
        condition = skip(condition + 4);
    }
    for (size_t n = strlen(place); n && isspace((unsigned char)place[n - 1]); n--)
        place[n - 1] = 0;
    if (!*place && !text_of(json_object_get(f->place, "frame"), "file")) {
        front_error(f, "where? As in break saxpy.cu:12, break 12, break saxpy or break *27, a line of PTX");
        return;
    }
    const char *shown = arena_strdup(&f->arena, place);
    json_t *request = *place ? read_place(f, place)
                             : json_pack("{s:s, s:O, s:O}", "do", "break", "file",
                                         json_object_get(json_object_get(f->place, "frame"), "file"), "line",
                                         json_object_get(json_object_get(f->place, "frame"), "line"));
    if (condition)
        json_object_set_new(request, "condition", json_string(condition));
    json_object_set_new(request, "temporary", json_boolean(temporary));
    if (f->link < 0) {
        json_array_append_new(f->points, request);
        printf("Breakpoint (%s) will be set when the program's first kernel is launched\n", shown);
        return;
    }
    json_t *answer = front_ask(f, json_incref(request));
    if (is_ok(answer)) {
        say_break(f, answer, shown);
        json_object_set(request, "id", json_object_get(answer, "id"));
        if (!temporary)
            json_array_append(f->points, request);
    }
    json_decref(request);
    json_decref(answer);
}

static void set_break(struct front *f, char *arguments)
{
    add_break(f, arguments, false);
}
static void set_tbreak(struct front *f, char *arguments)
{
    add_break(f, arguments, true);
}

static void set_watch(struct front *f, char *arguments)
{
    if (!*arguments) {
        front_error(f, "what? As in watch tile[3] or watch *(int *)$arg1");
        return;
    }
    if (!stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s, s:s}", "do", "watch", "expression", arguments));
    if (is_ok(answer))
        printf("Watchpoint %lld: %s (%lld bytes at 0x%llx)\n", (long long)number_of(answer, "id"), arguments,
               (long long)number_of(answer, "bytes"), (unsigned long long)number_of(answer, "address"));
    json_decref(answer);
}

static void change(struct front *f, const char *how, char *arguments)
{
    int64_t id = *arguments ? count_of(f, arguments) : 0;
    if (id < 0)
        return;
    if (strcmp(how, "delete") == 0)
        for (size_t i = json_array_size(f->points); i-- > 0;)
            if (!id || number_of(json_array_get(f->points, i), "id") == id)
                json_array_remove(f->points, i);
    if (f->link < 0 && strcmp(how, "delete") == 0)
        return;
    if (stands(f))
        json_decref(front_ask(f, json_pack("{s:s, s:I}", "do", how, "id", (json_int_t)id)));
}
static void delete(struct front *f, char *arguments)
{
    change(f, "delete", arguments);
}
static void enable(struct front *f, char *arguments)
{
    change(f, "enable", arguments);
}
static void disable(struct front *f, char *arguments)
{
    change(f, "disable", arguments);
}

static void ignore(struct front *f, char *arguments)
{
    char *end, *end_of_count;
    long long id = strtoll(arguments, &end, 10), count = strtoll(end, &end_of_count, 10);
    if (end == arguments || end_of_count == end || *skip(end_of_count))
        front_error(f, "ignore N COUNT: which breakpoint, and how many times?");
    else if (stands(f))
        json_decref(front_ask(
            f, json_pack("{s:s, s:I, s:I}", "do", "ignore", "id", (json_int_t)id, "count", (json_int_t)count)));
}

static void condition(struct front *f, char *arguments)
{
    char *end;
    long long id = strtoll(arguments, &end, 10);
    if (end == arguments)
        front_error(f, "condition N [CONDITION]: of which breakpoint?");
    else if (stands(f))
        json_decref(front_ask(
            f, json_pack("{s:s, s:I, s:s}", "do", "condition", "id", (json_int_t)id, "condition", skip(end))));
}

/* ---- values ---- */

/* "/x" before an expression; 0 where there is none. */
static char take_format(struct front *f, char **at)
{
    static const char formats[] = "xduotcaf";
    char format = 0;
    if (**at != '/')
        return 0;
    for (++*at; **at && !isspace((unsigned char)**at); ++*at) {
        if (!strchr(formats, **at)) {
            front_error(f, "there is no format `%c`: x d u o t c a f", **at);
            return -1;
        }
        format = **at;
    }
    *at = skip(*at);
    return format;
}

static json_t *ask_value(struct front *f, const char *expression, char format, bool lanes)
{
    const char as[2] = {format, 0};
    return front_ask(
        f, json_pack("{s:s, s:s, s:s, s:b}", "do", "print", "expression", expression, "format", as, "lanes", lanes));
}

/* A row of 32, and what can be seen at a glance. */
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

static void print(struct front *f, char *arguments)
{
    char format = take_format(f, &arguments);
    bool lanes = has_word(&arguments, "-w");
    if (format < 0)
        return;
    if (!*arguments) {
        front_error(f, "what? As in print x, print/x $r5, print -w threadIdx.x");
        return;
    }
    if (!stands(f))
        return;
    json_t *answer = ask_value(f, arguments, format, lanes);
    if (is_ok(answer) && lanes)
        show_lanes(f, answer);
    else if (is_ok(answer))
        printf("$%u = %s\n", ++f->values, text_of(answer, "value"));
    json_decref(answer);
}

static void display(struct front *f, char *arguments)
{
    if (*arguments)
        json_array_append_new(f->displays, json_string(arguments));
    if (f->state == FRONT_STANDS)
        front_show_displays(f);
}

static void undisplay(struct front *f, char *arguments)
{
    int64_t n = count_of(f, arguments);
    if (n > 0 && (size_t)n <= json_array_size(f->displays))
        json_array_set_new(f->displays, (size_t)n - 1, json_null());
    else if (n > 0)
        front_error(f, "there is no display %lld", (long long)n);
}

/* The `=` that is no comparison. */
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

static void set(struct front *f, char *arguments)
{
    if (!has_word(&arguments, "variable"))
        has_word(&arguments, "var");
    char *equals = find_assignment(arguments);
    if (!equals) {
        front_error(f, "set var EXPRESSION = VALUE: what is to get which value?");
        return;
    }
    *equals = 0;
    if (stands(f))
        json_decref(
            front_ask(f, json_pack("{s:s, s:s, s:s}", "do", "set", "to", arguments, "value", skip(equals + 1))));
}

static void examine(struct front *f, char *arguments)
{
    int64_t count = 1, size = 4;
    char format = 'x', *end;
    if (*arguments == '/') {
        long long n = strtoll(++arguments, &end, 10);
        count = end > arguments ? n : 1;
        for (arguments = end; *arguments && !isspace((unsigned char)*arguments); arguments++) {
            size_t shift = strcspn("bhwg", (char[2]){*arguments, 0});
            if (shift < 4)
                size = 1 << shift;
            else
                format = *arguments;
        }
        arguments = skip(arguments);
    }
    const char as[2] = {format, 0};
    if (!*arguments) {
        front_error(f, "which address? As in x/8xw $arg1");
        return;
    }
    if (!stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s, s:s, s:I, s:I, s:s}", "do", "memory", "expression", arguments,
                                            "count", (json_int_t)count, "size", (json_int_t)size, "format", as));
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

/* ---- info ---- */

static void show_variables(struct front *f, const char *which, const char *name)
{
    json_t *answer = front_ask(f, json_pack("{s:s, s:s}", "do", which, "name", name ? name : ""));
    const json_t *list = json_object_get(answer, "variables"), *v;
    size_t i;
    json_array_foreach(list, i, v) printf("%s = %s\n", text_of(v, "name"), text_of(v, "value"));
    if (is_ok(answer) && !json_array_size(list))
        puts("There are none.");
    json_decref(answer);
}

static void show_points(struct front *f)
{
    if (f->link < 0) {
        printf("%zu breakpoints wait for the program to be started\n", json_array_size(f->points));
        return;
    }
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", "points"));
    const json_t *list = json_object_get(answer, "points"), *p;
    size_t i;
    if (is_ok(answer) && !json_array_size(list))
        puts("There are no breakpoints or watchpoints.");
    json_array_foreach(list, i, p)
    {
        const char *what = text_of(p, "expression") ? text_of(p, "expression") : text_of(p, "function");
        const char *file = text_of(p, "file"), *condition = text_of(p, "condition");
        if (!what)
            what = json_object_get(p, "ptx_line")
                       ? arena_printf(&f->arena, "PTX line %lld", (long long)number_of(p, "ptx_line"))
                       : arena_printf(&f->arena, "%s%s%lld", file ? file_as_shown(file, &f->arena) : "",
                                      file ? ":" : "line ", (long long)number_of(p, "line"));
        printf("%lld\t%s%s%s\t%s%s%s", (long long)number_of(p, "id"), text_of(p, "kind"),
               json_is_true(json_object_get(p, "temporary")) ? " (once)" : "",
               json_is_true(json_object_get(p, "enabled")) ? "" : " (disabled)", what, condition ? " if " : "",
               condition ? condition : "");
        printf("\t%lld hit%s%s\n", (long long)number_of(p, "hits"), number_of(p, "hits") == 1 ? "" : "s",
               number_of(p, "places") || text_of(p, "expression") || !json_is_true(json_object_get(p, "enabled"))
                   ? ""
                   : ", nowhere in this kernel");
    }
    json_decref(answer);
}

static void show_places(struct front *f, const json_t *places, const char *indent)
{
    size_t i;
    const json_t *p;
    json_array_foreach(places, i, p)
    {
        const json_t *frame = json_object_get(p, "frame");
        const char *state = text_of(p, "state"), *waits = text_of(p, "waits");
        printf("%s%-16s %s%s%s%s\n", indent, front_lanes_text((uint32_t)number_of(p, "lanes"), &f->arena),
               frame ? front_line_text(frame, &f->arena) : "",
               waits                         ? ", wait for "
               : frame                       ? ""
               : strcmp(state, "fresh") == 0 ? "have not begun"
                                             : "have ended",
               waits ? waits : "", "");
    }
}

static void show_list(struct front *f, const char *which)
{
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", which));
    const json_t *list = json_object_get(answer, "list"), *p;
    size_t i;
    if (is_ok(answer) && strcmp(which, "lanes") == 0) {
        show_places(f, list, "");
    } else if (is_ok(answer) && strcmp(which, "warps") == 0) {
        json_array_foreach(list, i, p)
        {
            printf("%swarp %lld\n",
                   number_of(json_object_get(answer, "focus"), "warp") == number_of(p, "warp") ? "* " : "  ",
                   (long long)number_of(p, "warp"));
            show_places(f, json_object_get(p, "places"), "      ");
        }
    } else if (is_ok(answer)) {
        json_array_foreach(list, i, p)
        {
            const json_t *at = json_object_get(p, "block");
            printf("%sblock (%lld,%lld,%lld)  %lld of %lld warps have ended\n",
                   json_is_true(json_object_get(p, "focus")) ? "* " : "  ",
                   (long long)json_integer_value(json_array_get(at, 0)),
                   (long long)json_integer_value(json_array_get(at, 1)),
                   (long long)json_integer_value(json_array_get(at, 2)), (long long)number_of(p, "done"),
                   (long long)number_of(answer, "warps"));
        }
        printf("%lld of %lld blocks run now\n", (long long)number_of(answer, "running"),
               (long long)number_of(answer, "blocks"));
    }
    json_decref(answer);
}

static void show_kernel(struct front *f, bool time)
{
    json_t *a = front_ask(f, json_pack("{s:s}", "do", "launch"));
    const json_t *g = json_object_get(a, "grid"), *b = json_object_get(a, "block");
    if (is_ok(a) && time)
        printf("time %lld, of %lld so far; %lld bytes kept to go back; policy %s\n", (long long)number_of(a, "time"),
               (long long)number_of(a, "furthest"), (long long)number_of(a, "kept"), text_of(a, "policy"));
    else if (is_ok(a))
        printf("* launch %lld: %s <<<(%lld,%lld,%lld),(%lld,%lld,%lld)>>>\n", (long long)number_of(a, "launch"),
               text_of(a, "kernel"), (long long)json_integer_value(json_array_get(g, 0)),
               (long long)json_integer_value(json_array_get(g, 1)), (long long)json_integer_value(json_array_get(g, 2)),
               (long long)json_integer_value(json_array_get(b, 0)), (long long)json_integer_value(json_array_get(b, 1)),
               (long long)json_integer_value(json_array_get(b, 2)));
    json_decref(a);
}

static void info_cuda(struct front *f, const char *what)
{
    static const struct {
        const char *word, *request;
    } lists[] = {{"blocks", "blocks"}, {"warps", "warps"}, {"lanes", "lanes"}, {"threads", "warps"}};
    if (!stands(f))
        return;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (*what && strncmp(lists[i].word, what, strlen(what)) == 0) {
            show_list(f, lists[i].request);
            return;
        }
    if (*what && strncmp("kernels", what, strlen(what)) == 0)
        show_kernel(f, false);
    else
        front_error(f, "info cuda kernels | blocks | warps | lanes | threads");
}

static bool begins(const char *word, const char *whole)
{
    return *word && strncmp(word, whole, strlen(word)) == 0;
}

static void info(struct front *f, char *arguments)
{
    char *rest = arguments + strcspn(arguments, " \t");
    if (*rest)
        *rest++ = 0;
    rest = skip(rest);
    if (begins(arguments, "breakpoints") || begins(arguments, "watchpoints"))
        show_points(f);
    else if (begins(arguments, "cuda"))
        info_cuda(f, rest);
    else if (begins(arguments, "threads"))
        info_cuda(f, "threads");
    else if (begins(arguments, "display"))
        front_show_displays(f);
    else if (!*arguments || !stands(f)) {
        if (!*arguments)
            front_error(
                f,
                "info locals | args | registers | breakpoints | threads | source | frame | display | time | cuda ...");
    } else if (begins(arguments, "locals") || begins(arguments, "args") || begins(arguments, "registers"))
        show_variables(f,
                       begins(arguments, "locals") ? "locals"
                       : begins(arguments, "args") ? "args"
                                                   : "registers",
                       rest);
    else if (begins(arguments, "frame") || begins(arguments, "source"))
        front_show_place(f, f->place, true);
    else if (begins(arguments, "time"))
        show_kernel(f, true);
    else
        front_error(f,
                    "there is no `info %s`: info locals | args | registers | breakpoints | threads | source | frame | "
                    "display | time | cuda ...",
                    arguments);
}

/* ---- places ---- */

static void take_place(struct front *f, json_t *answer)
{
    if (is_ok(answer)) {
        front_show_place(f, answer, false);
        json_object_update(f->place, answer);
        if (!json_object_get(answer, "frame"))
            json_object_del(f->place, "frame");
    }
    json_decref(answer);
}

/* "(1,2,3)", "1,2", "7". */
static json_t *read_coordinates(char **at)
{
    json_t *c = json_array();
    bool parenthesis = **at == '(';
    char *p = skip(*at + parenthesis), *end;
    for (int i = 0; i < 3; i++) {
        long long n = strtoll(p, &end, 10);
        if (end == p)
            break;
        json_array_append_new(c, json_integer(n));
        p = skip(end);
        if (*p != ',')
            break;
        p = skip(p + 1);
    }
    if (parenthesis && *p == ')')
        p++;
    *at = skip(p);
    return c;
}

static void thread(struct front *f, char *arguments)
{
    if (*arguments)
        front_error(f, "threads of the host are a debugger's of the host; `cuda thread %s` looks at one of the kernel",
                    arguments);
    else if (f->state == FRONT_STANDS)
        printf("[%s]\n", front_thread_text(json_object_get(f->place, "focus"), &f->arena));
    else
        front_error(f, "nothing stands still");
}

static void cuda(struct front *f, char *arguments)
{
    json_t *request = json_pack("{s:s}", "do", "focus");
    bool any = false, wrong = false;
    while (*arguments && !wrong) {
        const char *what = has_word(&arguments, "block") ? "block" : has_word(&arguments, "thread") ? "thread" : NULL;
        const char *number = what                           ? NULL
                             : has_word(&arguments, "warp") ? "warp"
                             : has_word(&arguments, "lane") ? "lane"
                                                            : NULL;
        if (!what && !number && has_word(&arguments, "kernel")) {
            json_decref(request);
            show_kernel(f, false);
            return;
        }
        if (!*arguments || (!what && !number)) {
            wrong = !(what || number) || any;
            break;
        }
        json_t *c = read_coordinates(&arguments);
        wrong = !json_array_size(c);
        any = true;
        if (what)
            json_object_set(request, what, c);
        else
            json_object_set(request, number, json_array_get(c, 0));
        json_decref(c);
    }
    if (wrong)
        front_error(f, "cuda [block (X,Y,Z)] [thread (X,Y,Z)] [warp N] [lane N]");
    if (wrong || !stands(f)) {
        json_decref(request);
        return;
    }
    if (!any) {
        json_decref(request);
        thread(f, "");
        return;
    }
    json_t *answer = front_ask(f, request);
    if (is_ok(answer))
        printf("[%s]\n", front_thread_text(json_object_get(answer, "focus"), &f->arena));
    take_place(f, answer);
}

static void look_at(struct front *f, int64_t level)
{
    if (stands(f))
        take_place(f, front_ask(f, json_pack("{s:s, s:I}", "do", "frame", "frame", (json_int_t)level)));
}

static void frame(struct front *f, char *arguments)
{
    look_at(f, *arguments ? strtoll(arguments, NULL, 10) : number_of(f->place, "level"));
}
static void up(struct front *f, char *arguments)
{
    int64_t n = count_of(f, arguments), level = number_of(f->place, "level");
    if (n > 0 && level + 1 >= number_of(f->place, "calls"))
        front_error(f, "that is the outermost call already");
    else if (n > 0)
        look_at(f, level + n < number_of(f->place, "calls") ? level + n : number_of(f->place, "calls") - 1);
}
static void down(struct front *f, char *arguments)
{
    int64_t n = count_of(f, arguments), level = number_of(f->place, "level");
    if (n > 0 && !level)
        front_error(f, "that is the innermost call already");
    else if (n > 0)
        look_at(f, level > n ? level - n : 0);
}

static void backtrace(struct front *f, char *arguments)
{
    (void)arguments;
    if (!stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", "frames"));
    const json_t *frame_at;
    size_t i;
    json_array_foreach(json_object_get(answer, "frames"), i, frame_at)
    {
        const char *function = text_of(frame_at, "function");
        printf("#%zu  %s at %s\n", i, function ? function : "an inlined function",
               front_line_text(frame_at, &f->arena));
    }
    json_decref(answer);
}

static void list(struct front *f, char *arguments)
{
    enum { LINES = 10 };
    const json_t *at = json_object_get(f->place, "frame");
    const char *file = text_of(at, "file");
    char *colon = strrchr(arguments, ':');
    int64_t here = number_of(at, "line"), from;
    if (colon && colon > arguments) {
        *colon = 0;
        f->list_file = arena_strdup(&f->s->arena, arguments);
        f->list_from = strtoll(colon + 1, NULL, 10) - LINES / 2;
    } else if (isdigit((unsigned char)*arguments)) {
        f->list_file = file;
        f->list_from = strtoll(arguments, NULL, 10) - LINES / 2;
    } else if (!f->list_file) {
        f->list_file = file;
        f->list_from = here - LINES / 2;
    }
    if (!f->list_file) {
        front_error(f, "no source is known: `disassemble` shows the PTX; compile with -G or -lineinfo for lines");
        return;
    }
    from = f->list_from < 1 ? 1 : f->list_from;
    bool same = file && strcmp(file, f->list_file) == 0;
    int64_t shown = front_show_lines(f, f->list_file, from, from + LINES - 1, same ? here : 0);
    if (shown < 0)
        front_error(f, "%s cannot be read here", f->list_file);
    else if (!shown)
        front_error(f, "%s ends before line %lld", file_as_shown(f->list_file, &f->arena), (long long)from);
    f->list_from = from + LINES;
}

static void disassemble(struct front *f, char *arguments)
{
    size_t i;
    const json_t *line;
    (void)arguments;
    if (!stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", "ptx"));
    json_array_foreach(json_object_get(answer, "lines"), i, line)
        printf("%s%5lld  %s\n", json_is_true(json_object_get(line, "here")) ? "=> " : "   ",
               (long long)number_of(line, "line"), text_of(line, "text") ? text_of(line, "text") : "");
    json_decref(answer);
}

/* ---- the table ---- */

static void help(struct front *f, char *arguments);

const struct debug_command debug_commands[] = {
#define DEBUG_COMMAND(name, alias, function, repeats, usage, help) {name, alias, function, usage, help, repeats},
#include "cli/debug_commands.def"
#undef DEBUG_COMMAND
    {0},
};

const struct debug_command *debug_command_find(const char *word, size_t n, struct arena *arena, const char **wrong)
{
    const struct debug_command *found = NULL, *c;
    unsigned many = 0;
    const char *names = "";
    for (c = debug_commands; c->name; c++)
        if ((strlen(c->name) == n && strncmp(c->name, word, n) == 0) ||
            (*c->alias && strlen(c->alias) == n && strncmp(c->alias, word, n) == 0))
            return c;
    for (c = debug_commands; c->name; c++)
        if (strncmp(c->name, word, n) == 0) {
            found = c;
            names = arena_printf(arena, "%s%s%s", names, many++ ? ", " : "", c->name);
        }
    *wrong = many ? arena_printf(arena, "`%.*s` may be %s", (int)n, word, names)
                  : arena_printf(arena, "there is no command `%.*s`; `help` lists them", (int)n, word);
    return many == 1 ? found : NULL;
}

static void help(struct front *f, char *arguments)
{
    const char *wrong;
    const struct debug_command *one =
        *arguments ? debug_command_find(arguments, strcspn(arguments, " \t"), &f->arena, &wrong) : NULL;
    if (*arguments && !one) {
        front_error(f, "%s", wrong);
        return;
    }
    for (const struct debug_command *c = one ? one : debug_commands; c->name; c++) {
        if (one)
            printf("%s\n  %s%s%s%s\n", c->usage, c->help, *c->alias ? " (" : "", c->alias, *c->alias ? ")" : "");
        else
            printf("%-17s %-4s %s\n", c->name, c->alias, c->help);
        if (one)
            break;
    }
    if (!one)
        puts("\nExpressions are C's, with threadIdx and its kind, $r5 for a register, $arg1 for a kernel's argument, "
             "e@8 for 8 elements from e on,\n"
             "and casts: *(float *)$arg1@4. The beginning of a command's name does, and an empty line repeats the last "
             "one.");
}

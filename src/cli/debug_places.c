/* Commands of heddle debug's terminal that list threads and sources, and select others; see
 * debug_commands.h. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/file_name.h"
#include "cli/debug_commands.h"

/* ---- info ---- */

/* Is a name among those that were asked for, as in "r1 %r2 $r3"? None was: all are. */
static bool is_asked(const char *name, const char *asked)
{
    name += *name == '%';
    for (const char *p = asked; *p; p += strspn(p, " \t")) {
        p += *p == '%' || *p == '$';
        size_t n = strcspn(p, " \t");
        if (strlen(name) == n && strncmp(name, p, n) == 0)
            return true;
        p += n;
    }
    return !*asked;
}

static void show_variables(struct front *f, const char *which, const char *names)
{
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", which));
    const json_t *list = json_object_get(answer, "variables"), *v;
    size_t i, shown = 0;
    json_array_foreach(list, i, v) if (is_asked(text_of(v, "name"), names) && ++shown)
        printf("%s = %s\n", text_of(v, "name"), text_of(v, "value"));
    if (front_is_ok(answer) && !shown)
        printf(*names ? "There is no `%s` here.\n" : "There are none.\n", names);
    json_decref(answer);
}

static void show_points(struct front *f)
{
    if (f->link < 0) {
        size_t n;
        const json_t *asked;
        if (!json_array_size(f->points))
            puts("There are no breakpoints or watchpoints.");
        json_array_foreach(f->points, n, asked) printf(
            "%lld\tbreakpoint%s%s\t%s\twill be set when the program starts\n", (long long)number_of(asked, "id"),
            json_is_true(json_object_get(asked, "temporary")) ? " (once)" : "",
            json_is_true(json_object_get(asked, "disabled")) ? " (disabled)" : "", front_point_text(asked, &f->arena));
        return;
    }
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", "points"));
    const json_t *list = json_object_get(answer, "points"), *p;
    size_t i;
    if (front_is_ok(answer) && !json_array_size(list))
        puts("There are no breakpoints or watchpoints.");
    json_array_foreach(list, i, p)
    {
        printf("%lld\t%s%s%s\t%s", (long long)number_of(p, "id"), text_of(p, "kind"),
               json_is_true(json_object_get(p, "temporary")) ? " (once)" : "",
               json_is_true(json_object_get(p, "enabled")) ? "" : " (disabled)", front_point_text(p, &f->arena));
        printf("\t%lld hit%s%s\n", (long long)number_of(p, "hits"), number_of(p, "hits") == 1 ? "" : "s",
               number_of(p, "places") || text_of(p, "expression") || !json_is_true(json_object_get(p, "enabled"))
                   ? ""
                   : ", without code in this kernel");
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
    if (front_is_ok(answer) && strcmp(which, "lanes") == 0) {
        show_places(f, list, "");
    } else if (front_is_ok(answer) && strcmp(which, "warps") == 0) {
        json_array_foreach(list, i, p)
        {
            printf("%swarp %lld\n",
                   number_of(json_object_get(answer, "focus"), "warp") == number_of(p, "warp") ? "* " : "  ",
                   (long long)number_of(p, "warp"));
            show_places(f, json_object_get(p, "places"), "      ");
        }
    } else if (front_is_ok(answer)) {
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
    if (front_is_ok(a) && time)
        printf("time %lld, of %lld so far; %lld bytes kept to go back; policy %s\n", (long long)number_of(a, "time"),
               (long long)number_of(a, "furthest"), (long long)number_of(a, "kept"), text_of(a, "policy"));
    else if (front_is_ok(a))
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
    if (!front_stands(f))
        return;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (*what && strncmp(lists[i].word, what, strlen(what)) == 0) {
            show_list(f, lists[i].request);
            return;
        }
    size_t n = strcspn(what, " \t");
    if (*what && strncmp("kernels", what, strlen(what)) == 0)
        show_kernel(f, false);
    else
        front_error(f,
                    what[n] ? "info cuda %.*s shows the selected block; `cuda block (X,Y,Z)` selects another one"
                            : "info cuda kernels | blocks | warps | lanes | threads",
                    (int)n, what);
}

static void show_names(struct front *f, const char *which)
{
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", which));
    const json_t *name;
    size_t i;
    json_array_foreach(json_object_get(answer, "names"), i, name) puts(json_string_value(name));
    if (front_is_ok(answer) && !i)
        puts("There are none.");
    json_decref(answer);
}

/* Shows a line given as "30" or "FILE:30", or the line of the selected place. */
static void show_line(struct front *f, char *text)
{
    const json_t *frame = json_object_get(f->place, "frame"), *range;
    char *colon = strrchr(text, ':');
    const char *file = colon ? text : text_of(frame, "file");
    long long line = *text ? strtoll(colon ? colon + 1 : text, NULL, 10) : number_of(frame, "line");
    size_t i;
    if (colon)
        *colon = 0;
    if (line < 1 || !file) {
        front_error(f, "info line [LINE | FILE:LINE]: the line is missing");
        return;
    }
    json_t *answer = front_ask(f, json_pack("{s:s, s:s, s:I}", "do", "line", "file", file, "line", (json_int_t)line));
    if (front_is_ok(answer))
        printf("Line %lld of %s ", line, file_as_shown(file, &f->arena));
    json_array_foreach(json_object_get(answer, "ranges"), i, range)
    {
        long long from = json_integer_value(json_array_get(range, 0)),
                  to = json_integer_value(json_array_get(range, 1));
        bool several = from < to || json_array_size(json_object_get(answer, "ranges")) > 1;
        printf(from < to ? "%s%lld to %lld" : "%s%lld",
               i         ? ", "
               : several ? "is PTX lines "
                         : "is PTX line ",
               from, to);
    }
    if (front_is_ok(answer))
        puts(i ? "" : "has no code in this kernel");
    json_decref(answer);
}

static bool begins(const char *word, const char *whole)
{
    return *word && strncmp(word, whole, strlen(word)) == 0;
}

void debug_command_info(struct front *f, char *arguments)
{
    char *rest = arguments + strcspn(arguments, " \t");
    if (*rest)
        *rest++ = 0;
    rest = command_skip(rest);
    if (begins(arguments, "breakpoints") || begins(arguments, "watchpoints"))
        show_points(f);
    else if (begins(arguments, "cuda"))
        info_cuda(f, rest);
    else if (begins(arguments, "threads"))
        info_cuda(f, "threads");
    else if (begins(arguments, "display"))
        front_show_displays(f);
    else if (!*arguments || !front_stands(f)) {
        if (!*arguments)
            front_error(f, "info locals | args | registers | breakpoints | threads | source | line | frame | display | "
                           "functions | shared | time | cuda ...");
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
    else if (begins(arguments, "line"))
        show_line(f, rest);
    else if (begins(arguments, "functions") || begins(arguments, "shared"))
        show_names(f, begins(arguments, "functions") ? "functions" : "shared");
    else
        front_error(
            f,
            "there is no `info %s`: info locals | args | registers | breakpoints | threads | source | line | frame | "
            "display | functions | shared | time | cuda ...",
            arguments);
}

/* ---- places ---- */

static void take_place(struct front *f, json_t *answer)
{
    if (front_is_ok(answer)) {
        front_show_place(f, answer, false);
        json_object_update(f->place, answer);
        if (!json_object_get(answer, "frame"))
            json_object_del(f->place, "frame");
    }
    json_decref(answer);
}

/* Reads "(1,2,3)", "1,2" or "7". */
static json_t *read_coordinates(char **at)
{
    json_t *c = json_array();
    bool parenthesis = **at == '(';
    char *p = command_skip(*at + parenthesis), *end;
    for (int i = 0; i < 3; i++) {
        long long n = strtoll(p, &end, 10);
        if (end == p)
            break;
        json_array_append_new(c, json_integer(n));
        p = command_skip(end);
        if (*p != ',')
            break;
        p = command_skip(p + 1);
    }
    if (parenthesis && *p == ')')
        p++;
    *at = command_skip(p);
    return c;
}

void debug_command_thread(struct front *f, char *arguments)
{
    if (*arguments)
        front_error(f, "host threads need a host debugger; `cuda thread %s` selects a thread of the kernel", arguments);
    else if (f->state == FRONT_STANDS)
        printf("[%s]\n", front_thread_text(json_object_get(f->place, "focus"), &f->arena));
    else
        front_error(f, "no launch is stopped");
}

/* Reads the number behind "kernel": only the launch that is stopped can be selected. Without a
 * number, shows which one that is. False after an error message. */
static bool is_launch(struct front *f, char **at)
{
    char *end;
    long long n = strtoll(*at, &end, 10);
    if (!front_stands(f))
        return false;
    json_t *a = front_ask(f, json_pack("{s:s}", "do", "launch"));
    long long is = number_of(a, "launch");
    bool asks = end == *at, ok = front_is_ok(a);
    json_decref(a);
    *at = command_skip(end);
    if (ok && asks)
        show_kernel(f, false);
    else if (ok && n != is && n != 0) /* cuda-gdb counts from 0 */
        front_error(f, "launch %lld is stopped, not %lld: `info cuda kernels` shows it", is, n);
    return ok && (asks || n == is || n == 0);
}

void debug_command_cuda(struct front *f, char *arguments)
{
    json_t *request = json_pack("{s:s}", "do", "focus");
    bool any = false, wrong = false;
    while (*arguments && !wrong) {
        const char *what = command_has_word(&arguments, "block")    ? "block"
                           : command_has_word(&arguments, "thread") ? "thread"
                                                                    : NULL;
        const char *number = what                                   ? NULL
                             : command_has_word(&arguments, "warp") ? "warp"
                             : command_has_word(&arguments, "lane") ? "lane"
                                                                    : NULL;
        if (!what && !number && command_has_word(&arguments, "kernel")) {
            if (any || !is_launch(f, &arguments)) {
                json_decref(request);
                return;
            }
            continue;
        }
        if (!what && !number) {
            wrong = true;
            break;
        }
        if (!isdigit((unsigned char)*arguments) && *arguments != '(') /* alone, as in `cuda block thread`: what it is */
            continue;
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
    if (wrong || !front_stands(f)) {
        json_decref(request);
        return;
    }
    if (!any) {
        json_decref(request);
        debug_command_thread(f, "");
        return;
    }
    json_t *answer = front_ask(f, request);
    if (front_is_ok(answer))
        printf("[%s]\n", front_thread_text(json_object_get(answer, "focus"), &f->arena));
    take_place(f, answer);
}

static void look_at(struct front *f, int64_t level)
{
    if (front_stands(f))
        take_place(f, front_ask(f, json_pack("{s:s, s:I}", "do", "frame", "frame", (json_int_t)level)));
}

void debug_command_frame(struct front *f, char *arguments)
{
    char *end = arguments;
    command_has_word(&arguments, "level");
    long long level = *arguments ? strtoll(arguments, &end, 10) : number_of(f->place, "level");
    if (*arguments && (end == arguments || *end))
        front_error(f, "frame N: a call is selected by its number, which `backtrace` shows");
    else
        look_at(f, level);
}
void debug_command_up(struct front *f, char *arguments)
{
    int64_t n = command_count(f, arguments), level = number_of(f->place, "level");
    if (n > 0 && level + 1 >= number_of(f->place, "calls"))
        front_error(f, "that is the outermost call already");
    else if (n > 0)
        look_at(f, level + n < number_of(f->place, "calls") ? level + n : number_of(f->place, "calls") - 1);
}
void debug_command_down(struct front *f, char *arguments)
{
    int64_t n = command_count(f, arguments), level = number_of(f->place, "level");
    if (n > 0 && !level)
        front_error(f, "that is the innermost call already");
    else if (n > 0)
        look_at(f, level > n ? level - n : 0);
}

static void show_variables_of(struct front *f, int64_t level)
{
    static const char *const lists[] = {"args", "locals"};
    json_decref(front_request(f, json_pack("{s:s, s:I}", "do", "frame", "frame", (json_int_t)level)));
    for (size_t i = 0; i < 2; i++) {
        json_t *answer = front_request(f, json_pack("{s:s}", "do", lists[i]));
        size_t k;
        const json_t *v;
        json_array_foreach(json_object_get(answer, "variables"), k, v)
            printf("        %s = %s\n", text_of(v, "name"), text_of(v, "value"));
        json_decref(answer);
    }
}

void debug_command_backtrace(struct front *f, char *arguments)
{
    bool full = command_has_word(&arguments, "full") || command_has_word(&arguments, "-full");
    char *end;
    long long most = *arguments ? strtoll(arguments, &end, 10) : LLONG_MAX; /* below 0: the outermost */
    if (*arguments && (*end || !most)) {
        front_error(f, "backtrace [full] [N]: N innermost calls, or -N outermost ones; full: with their variables");
        return;
    }
    if (!front_stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s}", "do", "frames"));
    const json_t *frame_at;
    long long n = (long long)json_array_size(json_object_get(answer, "frames"));
    size_t i;
    json_array_foreach(json_object_get(answer, "frames"), i, frame_at)
    {
        if (most > 0 ? (long long)i >= most : (long long)i < n + most)
            continue;
        const char *function = text_of(frame_at, "function");
        printf("#%zu  %s at %s\n", i, function ? function : "an inlined function",
               front_line_text(frame_at, &f->arena));
        if (full)
            show_variables_of(f, (int64_t)i);
    }
    if (full && n)
        json_decref(
            front_request(f, json_pack("{s:s, s:O}", "do", "frame", "frame", json_object_get(answer, "level"))));
    json_decref(answer);
}

/* The file and line of the kernel, where no thread has a place in the code; NULL: they are not
 * known. */
static const char *file_of_kernel(struct front *f, int64_t *line)
{
    json_t *launch = f->link >= 0 ? front_request(f, json_pack("{s:s}", "do", "launch")) : NULL;
    json_t *at =
        front_is_ok(launch)
            ? front_request(f, json_pack("{s:s, s:O}", "do", "function", "function", json_object_get(launch, "kernel")))
            : NULL;
    const char *file = text_of(at, "file") ? arena_strdup(&f->s->arena, text_of(at, "file")) : NULL;
    *line = number_of(at, "line");
    json_decref(launch);
    json_decref(at);
    return file;
}

static bool is_number(const char *text)
{
    return isdigit((unsigned char)*text) || *text == '-';
}

void debug_command_list(struct front *f, char *arguments)
{
    const json_t *at = json_object_get(f->place, "frame");
    const char *file = text_of(at, "file");
    char *colon = strrchr(arguments, ':');
    int64_t here = number_of(at, "line"), from, lines = f->list_size;
    if (!file && !f->list_file && (!*arguments || isdigit((unsigned char)*arguments)))
        file = file_of_kernel(f, &here);
    if (strcmp(arguments, "-") == 0 && !f->list_file)
        *arguments = 0;
    if (colon && colon > arguments && colon[-1] != ':' && !is_number(colon + 1))
        arguments = colon + 1; /* FILE:FUNCTION */
    if (strcmp(arguments, "-") == 0) {
        f->list_from -= 2 * lines; /* before what was shown last */
        if (f->list_from + lines <= 1) {
            front_error(f, "%s has no lines before", file_as_shown(f->list_file, &f->arena));
            f->list_from += 2 * lines;
            return;
        }
    } else if (colon && colon > arguments && is_number(colon + 1)) {
        *colon = 0;
        f->list_file = arena_strdup(&f->s->arena, arguments);
        f->list_from = front_small(strtoll(colon + 1, NULL, 10)) - lines / 2;
    } else if (isdigit((unsigned char)*arguments)) {
        char *end;
        f->list_file = file;
        f->list_from = front_small(strtoll(arguments, &end, 10));
        if (*end == ',')
            lines = front_small(strtoll(end + 1, NULL, 10)) - f->list_from + 1;
        else
            f->list_from -= lines / 2;
    } else if (*arguments) {
        json_t *at = front_ask(f, json_pack("{s:s, s:s}", "do", "function", "function", arguments));
        f->list_file = text_of(at, "file") ? arena_strdup(&f->s->arena, text_of(at, "file")) : NULL;
        f->list_from = number_of(at, "line") - lines / 2;
        bool known = f->list_file;
        json_decref(at);
        if (!known)
            return;
    } else if (!f->list_file) {
        f->list_file = file;
        f->list_from = here - lines / 2;
    }
    if (!f->list_file) {
        front_error(f, "no source is known: `disassemble` shows the PTX; compile with -G or -lineinfo for lines");
        return;
    }
    from = f->list_from < 1 ? 1 : f->list_from;
    bool same = file && strcmp(file, f->list_file) == 0;
    int64_t shown = front_show_lines(f, f->list_file, from, from + lines - 1, same ? here : 0);
    if (shown < 0)
        front_error(f, "%s cannot be read here", f->list_file);
    else if (!shown)
        front_error(f, "%s ends before line %lld", file_as_shown(f->list_file, &f->arena), (long long)from);
    f->list_from = from + lines;
}

void debug_command_disassemble(struct front *f, char *arguments)
{
    (void)arguments;
    if (front_stands(f))
        front_show_ptx_here(f);
}

/* Commands of heddle debug's terminal that continue the launch and set breakpoints; see
 * debug_commands.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "cli/debug_commands.h"

/* ---- arguments ---- */

char *command_skip(char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

bool front_is_ok(const json_t *answer)
{
    return answer && !json_object_get(answer, "error");
}

/* Reads a count, by default 1; returns -1 after an error message. */
int64_t command_count(struct front *f, char *text)
{
    char *end;
    if (!*text)
        return 1;
    long long n = strtoll(text, &end, 0);
    if (!*command_skip(end) && n > 0)
        return front_small(n);
    front_error(f, "`%s` is not a count", text);
    return -1;
}

bool command_has_word(char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0 || ((*at)[n] && !isspace((unsigned char)(*at)[n]) && (*at)[n] != '('))
        return false;
    *at = command_skip(*at + n);
    return true;
}

bool front_stands(struct front *f)
{
    if (f->state == FRONT_STANDS || f->state == FRONT_READY || f->state == FRONT_ENDED)
        return true;
    front_error(f, f->state == FRONT_GONE   ? "the program has ended; `run` starts it again"
                   : f->state == FRONT_RUNS ? "the program is running: it must stop first"
                                            : "the program is not running: `run` starts it");
    return false;
}

/* ---- going on ---- */

void debug_command_run(struct front *f, char *arguments)
{
    if (*arguments == '<') {
        char *file = command_skip(arguments + 1);
        f->input_of_it = *file ? arena_strdup(&f->s->arena, file) : NULL;
        if (!f->is_program || !*file || access(file, R_OK)) {
            front_error(f,
                        !f->is_program ? "a kernel of a PTX file reads no standard input"
                        : !*file       ? "run <FILE: the file is missing"
                                       : "cannot read %s: %s",
                        file, strerror(errno));
            return;
        }
    } else if (*arguments) {
        front_error(f, "write the program's arguments on the command line: heddle debug PROGRAM ARGUMENT...");
        return;
    }
    if (f->state == FRONT_STANDS || f->state == FRONT_ENDED || f->state == FRONT_RUNS) {
        front_error(f, "the program is already running; `kill` ends it, `continue` goes on");
        return;
    }
    if (f->state != FRONT_READY) {
        json_decref(f->place);
        f->place = NULL;
        if (f->start(f)) {
            f->state = FRONT_GONE;
            return;
        }
        f->await(f);
    }
    if (f->state == FRONT_READY)
        front_go(f, json_pack("{s:s}", "do", "run"));
}

void debug_command_start(struct front *f, char *arguments)
{
    if (f->state == FRONT_READY)
        json_decref(front_ask(f, json_pack("{s:s}", "do", "stop_at_launch")));
    f->stops_at_start = f->state == FRONT_IDLE || f->state == FRONT_GONE;
    debug_command_run(f, arguments);
    f->stops_at_start = false;
}

static void move(struct front *f, const char *how, bool reverse, char *arguments)
{
    int64_t count = command_count(f, arguments);
    if (count < 0 || !front_stands(f))
        return;
    if (f->state == FRONT_READY && !reverse) {
        if (strcmp(how, "continue") != 0)
            json_decref(front_ask(f, json_pack("{s:s}", "do", "stop_at_launch")));
        front_go(f, json_pack("{s:s}", "do", "run"));
        return;
    }
    front_go(f, json_pack("{s:s, s:I, s:b}", "do", how, "count", (json_int_t)count, "reverse", reverse));
}

void debug_command_go_on(struct front *f, char *arguments)
{
    int64_t n = command_count(f, arguments);
    for (int64_t i = 0; i < n && (i == 0 || f->state == FRONT_STANDS); i++)
        move(f, "continue", false, "");
}
void debug_command_step_next(struct front *f, char *arguments)
{
    move(f, "next", false, arguments);
}
void debug_command_step_into(struct front *f, char *arguments)
{
    move(f, "step", false, arguments);
}
void debug_command_finish(struct front *f, char *arguments)
{
    move(f, "finish", false, arguments);
}
void debug_command_step_ptx(struct front *f, char *arguments)
{
    move(f, "stepi", false, arguments);
}
void debug_command_next_ptx(struct front *f, char *arguments)
{
    move(f, "nexti", false, arguments);
}
void debug_command_back_on(struct front *f, char *arguments)
{
    move(f, "continue", true, arguments);
}
void debug_command_back_next(struct front *f, char *arguments)
{
    move(f, "next", true, arguments);
}
void debug_command_back_step(struct front *f, char *arguments)
{
    move(f, "step", true, arguments);
}
void debug_command_back_finish(struct front *f, char *arguments)
{
    move(f, "finish", true, arguments);
}
void debug_command_back_ptx(struct front *f, char *arguments)
{
    move(f, "stepi", true, arguments);
}
void debug_command_back_next_ptx(struct front *f, char *arguments)
{
    move(f, "nexti", true, arguments);
}

void debug_command_last_write(struct front *f, char *arguments)
{
    if (!*arguments)
        front_error(f, "the place in memory is missing, for example: last-write tile[3]");
    else if (front_stands(f))
        front_go(f, json_pack("{s:s, s:s}", "do", "last_write", "expression", arguments));
}

void debug_command_go_to(struct front *f, char *arguments)
{
    char *end;
    long long time = strtoll(arguments, &end, 0);
    if (!*arguments || *command_skip(end))
        front_error(f, "the time is missing; `info time` shows the current one");
    else if (front_stands(f))
        front_go(f, json_pack("{s:s, s:I}", "do", "goto", "time", (json_int_t)time));
}

void debug_command_kill(struct front *f, char *arguments)
{
    (void)arguments;
    front_end(f);
    puts("[The program has been ended]");
}

void debug_command_detach(struct front *f, char *arguments)
{
    (void)arguments;
    if (front_stands(f))
        front_go(f, json_pack("{s:s}", "do", "detach"));
}

void debug_command_quit(struct front *f, char *arguments)
{
    (void)arguments;
    f->quits = true;
}

/* ---- breakpoints ---- */

/* "FILE:LINE", "LINE", "*PTXLINE", "FUNCTION". */
static json_t *read_place(struct front *f, char *place)
{
    char *colon = strrchr(place, ':'), *end;
    if (*place == '*' && strncmp(place + 1, "0x", 2) == 0)
        return NULL;
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

/* In how many places of the kernel it is now; -1: there is none. */
static int64_t add_break(struct front *f, char *arguments, bool temporary)
{
    char *condition = strstr(arguments, " if ");
    char *place = arguments;
    size_t length = strlen(arguments);
    if (length > 3 && strcmp(arguments + length - 3, " if") == 0) {
        front_error(f, "the condition is missing, for example: break 12 if threadIdx.x == 3");
        return -1;
    }
    if (condition) {
        *condition = 0;
        condition = command_skip(condition + 4);
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
        json_array_append_new(f->points, request);
        printf("Breakpoint (%s) will be set when the program's first kernel is launched\n", shown);
        return -1;
    }
    int64_t places = -1;
    json_t *answer = front_ask(f, json_incref(request));
    if (front_is_ok(answer)) {
        say_break(f, answer, shown);
        json_object_set(request, "id", json_object_get(answer, "id"));
        f->last_point = number_of(answer, "id");
        places = (int64_t)json_array_size(json_object_get(answer, "places"));
        if (places)
            json_object_set_new(request, "is_placed", json_true());
        if (!temporary)
            json_array_append(f->points, request);
    }
    json_decref(request);
    json_decref(answer);
    return places;
}

void debug_command_set_break(struct front *f, char *arguments)
{
    add_break(f, arguments, false);
}
void debug_command_set_tbreak(struct front *f, char *arguments)
{
    add_break(f, arguments, true);
}
void debug_command_advance(struct front *f, char *arguments)
{
    if (!*arguments) {
        front_error(f, "the place is missing, for example: advance 12, or advance saxpy.cu:12");
        return;
    }
    if (!front_stands(f))
        return;
    int64_t places = add_break(f, arguments, true);
    if (places > 0) {
        move(f, "continue", false, "");
    } else if (!places) {
        json_decref(front_ask(f, json_pack("{s:s, s:I}", "do", "delete", "id", (json_int_t)f->last_point)));
        puts("The breakpoint is deleted again, and nothing has run");
    }
}
void debug_command_until(struct front *f, char *arguments)
{
    if (*arguments)
        debug_command_advance(f, arguments);
    else
        move(f, "until", false, "");
}

/* `on` is "write", "read" or "readWrite", as in the Debug Adapter Protocol. */
static void add_watch(struct front *f, char *arguments, const char *on)
{
    const char *what = front_expression(f, arguments);
    if (!*arguments)
        front_error(f, "what to watch is missing, for example: watch tile[3], or watch *(int *)$arg1");
    if (!*arguments || !what || !front_stands(f))
        return;
    json_t *answer = front_ask(f, json_pack("{s:s, s:s, s:s}", "do", "watch", "expression", what, "on", on));
    if (front_is_ok(answer)) {
        f->last_point = number_of(answer, "id");
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

static void change(struct front *f, const char *how, char *arguments)
{
    int64_t id = *arguments ? command_count(f, arguments) : 0;
    if (id < 0)
        return;
    if (strcmp(how, "delete") == 0)
        for (size_t i = json_array_size(f->points); i-- > 0;)
            if (!id || number_of(json_array_get(f->points, i), "id") == id)
                json_array_remove(f->points, i);
    if (strcmp(how, "disable") == 0)
        front_note_placed(f, id);
    if (f->link < 0 && strcmp(how, "delete") == 0)
        return;
    if (front_stands(f))
        json_decref(front_ask(f, json_pack("{s:s, s:I}", "do", how, "id", (json_int_t)id)));
}
void debug_command_delete(struct front *f, char *arguments)
{
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

void debug_command_ignore(struct front *f, char *arguments)
{
    char *end, *end_of_count;
    long long id = strtoll(arguments, &end, 10), count = strtoll(end, &end_of_count, 10);
    if (end == arguments || end_of_count == end || *command_skip(end_of_count))
        front_error(f, "ignore N COUNT: the breakpoint's number or the count is missing");
    else if (front_stands(f))
        json_decref(front_ask(
            f, json_pack("{s:s, s:I, s:I}", "do", "ignore", "id", (json_int_t)id, "count", (json_int_t)count)));
}

void debug_command_condition(struct front *f, char *arguments)
{
    char *end;
    long long id = strtoll(arguments, &end, 10);
    if (end == arguments)
        front_error(f, "condition N [CONDITION]: the breakpoint's number is missing");
    else if (front_stands(f))
        json_decref(front_ask(
            f, json_pack("{s:s, s:I, s:s}", "do", "condition", "id", (json_int_t)id, "condition", command_skip(end))));
}

/* ---- the table ---- */

const struct debug_command debug_commands[] = {
#define DEBUG_COMMAND(name, alias, function, repeats, usage, help)                                                     \
    {name, alias, debug_command_##function, usage, help, repeats},
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

void debug_command_help(struct front *f, char *arguments)
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
        puts("\nExpressions are those of C. They may contain threadIdx, blockIdx, blockDim and gridDim, $r5 (a "
             "register), $arg1 (an argument of the\nkernel), e@8 (8 elements from e on) and casts: *(float *)$arg1@4. "
             "A command's name may be shortened. An empty line repeats the last command.");
}

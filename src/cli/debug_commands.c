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

/* ---- going on ---- */

void debug_command_run(struct front *f, char *arguments)
{
    char *redirected = strchr(arguments, '<');
    if (redirected) {
        char *file = command_skip(redirected + 1);
        f->input_of_it = *file ? arena_strdup(&f->s->arena, file) : NULL;
        if (!f->is_program || !*file || access(file, R_OK)) {
            front_error(f,
                        !f->is_program ? "a kernel of a PTX file reads no standard input"
                        : !*file       ? "run <FILE: the file is missing"
                                       : "cannot read %s: %s",
                        file, strerror(errno));
            return;
        }
        *redirected = 0;
    }
    if (*arguments && !front_take_arguments(f, arguments))
        return;
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

/* ---- to a place ---- */

void debug_command_advance(struct front *f, char *arguments)
{
    if (!*arguments) {
        front_error(f, "the place is missing, for example: advance 12, or advance saxpy.cu:12");
        return;
    }
    if (!front_stands(f))
        return;
    int64_t places = command_break(f, arguments, true);
    long long id = f->last_point;
    if (places > 0)
        move(f, "continue", false, "");
    if (places >= 0 && command_forget_break(f, id) && !places)
        puts("The breakpoint is deleted again, and nothing has run");
}
void debug_command_until(struct front *f, char *arguments)
{
    if (*arguments)
        debug_command_advance(f, arguments);
    else
        move(f, "until", false, "");
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

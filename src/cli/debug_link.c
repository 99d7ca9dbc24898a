/* Sends requests to the debugger in the other process; see debug_front.h. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/debug_front.h"
#include "cli/supervise.h"
#include "debug/link.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted++;
}

void front_take_interrupts(void)
{
    const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGINT, &action, NULL);
}

void front_error(struct front *f, const char *format, ...)
{
    va_list args;
    (void)f;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static void say_ending(struct front *f, int status)
{
    if (WIFSIGNALED(status))
        printf("[The program was ended by signal %d (%s)]\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (f->is_program && WEXITSTATUS(status))
        printf("[The program has ended with exit status %d]\n", WEXITSTATUS(status));
    else if (f->is_program)
        puts("[The program has ended normally]");
    else
        puts("[The launch has ended]");
}

/* Names the breakpoints that were in no kernel. */
static void say_unplaced(struct front *f)
{
    size_t i;
    const json_t *request;
    json_array_foreach(f->points, i, request) if (!json_object_get(request, "is_set"))
    {
        puts("No kernel was launched, so no breakpoint was set");
        return;
    }
    json_array_foreach(f->points, i, request) if (!json_object_get(request, "is_placed"))
        printf("Breakpoint %lld (%s) was not reached: no kernel that was launched has code there\n",
               (long long)number_of(request, "id"), front_point_text(request, &f->arena));
}

void front_note_placed(struct front *f, int64_t id)
{
    size_t i;
    json_t *request;
    json_array_foreach(f->points, i, request) if (!id || number_of(request, "id") == id)
        json_object_set_new(request, "is_placed", json_true());
}

/* Notes that the connection, and with it the process, has ended. */
static void note_end(struct front *f)
{
    int status = 0;
    if (f->link >= 0)
        close(f->link);
    f->link = -1;
    while (f->pid > 0 && waitpid(f->pid, &status, 0) < 0 && errno == EINTR)
        ;
    f->pid = 0;
    f->state = FRONT_GONE;
    if (f->is_program && WIFEXITED(status))
        front_name_value(f, "_exitcode", "int", arena_printf(&f->arena, "%d", WEXITSTATUS(status)));
    f->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (f->says_nothing)
        return;
    say_ending(f, status);
    if (f->is_program)
        say_unplaced(f);
}

/* Has the program ended? Processes that it started may still hold its connection open. */
static bool has_ended(const struct front *f)
{
    siginfo_t how = {0};
    return f->pid > 0 && waitid(P_PID, (id_t)f->pid, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid == f->pid;
}

json_t *front_request(struct front *f, json_t *request)
{
    json_t *answer = f->link >= 0 && link_send(f->link, request) ? link_receive(f->link) : NULL;
    if (!answer && f->link >= 0)
        note_end(f);
    return answer;
}

json_t *front_ask(struct front *f, json_t *request)
{
    json_t *answer = front_request(f, request);
    const char *error = json_string_value(json_object_get(answer, "error"));
    if (error)
        front_error(f, "%s", error);
    return answer;
}

/* Tells the user of a breakpoint that was requested before there was a kernel, and is not where it
   was requested. */
static void say_place(const json_t *request, const json_t *answer)
{
    const json_t *moved = json_object_get(answer, "moved"), *last = json_object_get(answer, "last"),
                 *meant = json_object_get(answer, "meant");
    long long id = json_integer_value(json_object_get(answer, "id")),
              line = json_integer_value(json_object_get(answer, "line"));
    const char *function = json_string_value(json_object_get(request, "function"));
    if (moved)
        printf("Breakpoint %lld: line %lld has no code; the next line that has code is %lld\n", id,
               (long long)json_integer_value(moved), line);
    else if (last)
        printf("Breakpoint %lld: line %lld has no code in this kernel; the last line there that has code is %lld\n", id,
               line, (long long)json_integer_value(last));
    else if (meant && function)
        printf("Breakpoint %lld: `%s` is not a function of this kernel; did you mean `%s`?\n", id, function,
               json_string_value(meant));
}

/* What was asked of a breakpoint that was not set yet. */
static void tell_more(struct front *f, json_t *request)
{
    json_t *id = json_object_get(request, "id"), *count = json_object_get(request, "ignore");
    if (id && json_is_true(json_object_get(request, "disabled")))
        json_decref(front_request(f, json_pack("{s:s, s:O}", "do", "disable", "id", id)));
    if (id && count)
        json_decref(front_request(f, json_pack("{s:s, s:O, s:O}", "do", "ignore", "id", id, "count", count)));
    json_object_del(request, "ignore");
}

void front_ask_points(struct front *f, bool says)
{
    size_t i;
    json_t *request;
    json_array_foreach(f->points, i, request)
    {
        json_t *answer = front_ask(f, json_incref(request)), *id = json_object_get(answer, "id");
        if (id) {
            json_object_set(request, "id", id);
            json_object_set_new(request, "is_set", json_true());
            front_note_point(f, json_integer_value(id));
        }
        json_object_del(request, "is_placed");
        if (json_is_false(json_object_get(answer, "pending")) || json_is_true(json_object_get(request, "disabled")))
            json_object_set_new(request, "is_placed", json_true());
        tell_more(f, request);
        if (says)
            say_place(request, answer);
        json_decref(answer);
    }
}

void front_keep_place(struct front *f, json_t *event)
{
    json_decref(f->place);
    f->place = json_incref(event);
}

/* Do the commands of the breakpoints that stopped begin with `silent`? */
static bool is_silent(const struct front *f, const json_t *event)
{
    size_t i;
    const json_t *id;
    bool silent = false;
    json_array_foreach(json_object_get(event, "points"), i, id)
    {
        char key[32];
        snprintf(key, sizeof key, "%lld", (long long)json_integer_value(id));
        const char *first = json_string_value(json_array_get(json_object_get(f->commands, key), 0));
        silent |= first && strcmp(first, "silent") == 0;
    }
    return silent;
}

/* Returns true if the launch is stopped. */
static bool take_event(struct front *f, json_t *event)
{
    const char *name = json_string_value(json_object_get(event, "event"));
    if (name && strcmp(name, "ready") == 0) {
        f->state = FRONT_READY;
        front_keep_place(f, event);
        front_ask_points(f, f->is_program);
        if (f->stops_at_start)
            json_decref(front_ask(f, json_pack("{s:s}", "do", "stop_at_launch")));
        if (!f->is_program)
            return true;
        json_decref(front_ask(f, json_pack("{s:s}", "do", "run")));
        return f->link < 0;
    }
    if (name && strcmp(name, "stopped") == 0) {
        f->state = FRONT_STANDS;
        bool silent = is_silent(f, event);
        if (!silent)
            front_show_stop(f, event);
        front_keep_place(f, event);
        if (!silent)
            front_show_displays(f);
        front_forget_reached(f, json_object_get(event, "points"));
        json_decref(f->stopped_at);
        f->stopped_at = json_incref(json_object_get(event, "points"));
        return true;
    }
    if (name && strcmp(name, "placed") == 0)
        front_note_placed(f, number_of(event, "id"));
    if (name && strcmp(name, "failed") == 0) {
        const char *text = json_string_value(json_object_get(event, "text")),
                   *kernel = json_string_value(json_object_get(event, "kernel"));
        printf("[Kernel %s has failed in compiled code: %s; to stop there, `break %s` and `run` again]\n", kernel, text,
               kernel);
        return false;
    }
    if (name && strcmp(name, "ended") == 0) {
        const char *text = json_string_value(json_object_get(event, "text"));
        f->state = FRONT_ENDED;
        printf("[The launch has ended%s%s; reverse-continue and reverse-step lead back into it]\n", text ? ": " : "",
               text ? text : "");
        return true;
    }
    return false;
}

/* Ctrl-C stops the debugged kernel, or the next one if none runs; a
 * third Ctrl-C ends the program. */
static void pass_interrupt(struct front *f)
{
    if (interrupted == 1)
        link_send(f->link, json_pack("{s:s}", "do", "interrupt"));
    if (interrupted == 2)
        puts("[Nothing can be stopped: the program runs host code or a kernel without breakpoints. Ctrl-C again ends "
             "the program]");
    if (interrupted >= 3 && f->pid > 0)
        kill(f->pid, SIGKILL);
}

void front_wait(struct front *f)
{
    interrupted = 0;
    fflush(stdout);
    for (bool stands = false; !stands && f->link >= 0;) {
        struct pollfd p = {.fd = f->link, .events = POLLIN};
        int seen = interrupted, n = poll(&p, 1, 200);
        if (interrupted != seen)
            pass_interrupt(f);
        if (n <= 0 && has_ended(f))
            note_end(f);
        if (n <= 0)
            continue;
        json_t *event = link_receive(f->link);
        if (event)
            stands = take_event(f, event);
        else
            note_end(f);
        json_decref(event);
    }
}

void front_go(struct front *f, json_t *request)
{
    json_t *answer = front_ask(f, request);
    bool goes = answer && !json_object_get(answer, "error");
    json_decref(answer);
    if (goes)
        f->await(f);
}

void front_end(struct front *f)
{
    if (f->pid > 0) {
        kill(f->pid, SIGKILL);
        waitpid(f->pid, NULL, 0);
    }
    if (f->link >= 0)
        close(f->link);
    f->pid = 0;
    f->link = -1;
    f->state = FRONT_GONE;
}

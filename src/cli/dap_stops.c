/* Stops of the launch, its threads, and the requests that let it go on; see dap.h. */
#include "cli/dap.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug/link.h"

static int64_t at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

/* ---- stops ---- */

static void tell_stop(struct dap *d, const char *reason, const char *description)
{
    json_t *body = json_pack("{s:s, s:I, s:b}", "reason", reason, "threadId", (json_int_t)d->chosen.thread,
                             "allThreadsStopped", 1);
    const json_t *points = json_object_get(d->f.place, "points");
    if (description && *description) {
        json_object_set_new(body, "description", json_text(description, strlen(description)));
        json_object_set_new(body, "text", json_text(description, strlen(description)));
    }
    if (json_array_size(points))
        json_object_set(body, "hitBreakpointIds", (json_t *)points);
    d->reason = reason;
    dap_event(d, "stopped", body);
}

void dap_tell_focus(struct dap *d)
{
    d->chosen = d->focus;
    tell_stop(d, d->reason ? d->reason : "pause", "Another thread was selected");
}

/* Remembers a thread that stopped. The list keeps the most recent ones. */
static void keep_stopped(struct dap *d, int64_t thread)
{
    enum { MOST = 64 };
    for (uint32_t i = 0; i < d->had_stopped.n; i++)
        if (d->had_stopped.at[i] == thread)
            return;
    if (d->had_stopped.n == MOST)
        VEC_REMOVE(&d->had_stopped, 0, 1);
    int64_t *at_end = VEC_ADD(&d->had_stopped);
    if (at_end)
        *at_end = thread;
}

/* Asks for the dimensions of the stopped launch. */
static void learn_launch(struct dap *d)
{
    json_t *launch = front_request(&d->f, json_pack("{s:s}", "do", "launch"));
    if (d->number != number_of(launch, "launch"))
        d->had_stopped.n = 0;
    d->number = number_of(launch, "launch");
    for (size_t i = 0; i < 3; i++) {
        d->grid[i] = at(json_object_get(launch, "grid"), i);
        d->block[i] = at(json_object_get(launch, "block"), i);
    }
    json_decref(launch);
}

/* The protocol's word for the reason of a stop. */
static const char *reason_of(const struct dap *d, const json_t *event)
{
    static const struct {
        const char *reason, *as;
    } words[] = {{"breakpoint", "breakpoint"}, {"watchpoint", "data breakpoint"}, {"interrupt", "pause"},
                 {"fault", "exception"},       {"finding", "exception"},          {"start", "entry"},
                 {"last-write", "goto"}};
    const char *reason = text_of(event, "reason");
    const json_t *first = json_array_get(json_object_get(event, "points"), 0);
    if (first && json_integer_value(first) == d->goes_to)
        return "goto";
    for (uint32_t i = 0; first && i < d->points.n; i++)
        if (d->points.at[i].id == json_integer_value(first))
            return d->points.at[i].kind == DAP_FUNCTION      ? "function breakpoint"
                   : d->points.at[i].kind == DAP_INSTRUCTION ? "instruction breakpoint"
                                                             : "breakpoint";
    for (size_t i = 0; reason && i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].reason, reason) == 0)
            return d->stops_at_entry && strcmp(reason, "interrupt") == 0 ? "entry" : words[i].as;
    return "step";
}

/* Does the terminal print more about this stop than its reason? */
static bool has_more_to_say(const json_t *event)
{
    const char *reason = text_of(event, "reason");
    return json_object_get(event, "written") ||
           (reason &&
            (strcmp(reason, "fault") == 0 || strcmp(reason, "finding") == 0 || strcmp(reason, "last-write") == 0));
}

/* ---- events ---- */

/* A debugger that has found a kernel gets the breakpoints, and then lets the kernel run. */
void dap_begin(struct dap *d)
{
    dap_set_points(d);
    front_ask_points(&d->f, false);
    if (d->stops_at_entry)
        json_decref(front_request(&d->f, json_pack("{s:s}", "do", "stop_at_launch")));
    json_decref(front_request(&d->f, json_pack("{s:s}", "do", d->only_runs ? "detach" : "run")));
    if (d->f.state != FRONT_GONE)
        dap_await(&d->f);
}

static void take_ready(struct dap *d, json_t *event)
{
    d->f.state = FRONT_READY;
    front_keep_place(&d->f, event);
    if (d->configured)
        dap_begin(d);
}

static void take_stop(struct dap *d, json_t *event)
{
    const char *text = text_of(event, "text");
    dap_forget_stop(d);
    d->f.state = FRONT_STANDS;
    front_keep_place(&d->f, event);
    dap_take_answers(d);
    learn_launch(d);
    d->chosen = d->focus =
        (struct dap_frame){dap_thread_of(d, json_object_get(event, "focus")), number_of(event, "level")};
    d->focus_is_known = true;
    keep_stopped(d, d->chosen.thread);
    if (!dap_stops(d, event)) {
        dap_go(d, json_pack("{s:s}", "do", "continue"));
        return;
    }
    if (has_more_to_say(event))
        dap_show_stop(d, event);
    const char *reason = reason_of(d, event);
    if (d->goes_to)
        json_decref(front_request(&d->f, json_pack("{s:s, s:I}", "do", "delete", "id", (json_int_t)d->goes_to)));
    d->goes_to = 0;
    d->stops_at_entry = false;
    dap_compare_points(d);
    tell_stop(d, reason, text);
}

static void take_end(struct dap *d, json_t *event)
{
    const char *text = text_of(event, "text");
    dap_forget_stop(d);
    d->f.state = FRONT_ENDED;
    front_keep_place(&d->f, event);
    dap_take_answers(d);
    d->chosen = (struct dap_frame){HOST_THREAD, 0};
    tell_stop(d, "step",
              arena_printf(&d->at_stop, "The launch has ended%s%s; stepping back leads into it", text ? ": " : "",
                           text ? text : ""));
}

static void take_log(struct dap *d, const json_t *event)
{
    struct text t = {.arena = &d->at_stop};
    size_t i;
    const json_t *line;
    json_array_foreach(json_object_get(event, "lines"), i, line) text_printf(&t, "%s\n", json_string_value(line));
    dap_say(d, "console", t.p ? t.p : "");
    if (d->f.state == FRONT_RUNS)
        arena_free(&d->at_stop);
}

void dap_take_event(struct dap *d, json_t *event)
{
    const char *name = text_of(event, "event"), *kernel = text_of(event, "kernel"), *text = text_of(event, "text");
    if (!name)
        dap_take_answer(d, event);
    else if (strcmp(name, "ready") == 0)
        take_ready(d, event);
    else if (strcmp(name, "stopped") == 0)
        take_stop(d, event);
    else if (strcmp(name, "ended") == 0)
        take_end(d, event);
    else if (strcmp(name, "log") == 0)
        take_log(d, event);
    else if (strcmp(name, "failed") == 0 && kernel && text)
        dap_say(
            d, "important",
            arena_printf(&d->at_stop,
                         "Kernel %s has failed in compiled code: %s; to stop there, set a breakpoint in the kernel\n",
                         kernel, text));
    json_decref(event);
}

/* ---- going on ---- */

static const char *move(struct dap *d, const json_t *arguments, const char *lines, const char *instructions, bool back)
{
    const char *granularity = text_of(arguments, "granularity");
    const char *how = granularity && strcmp(granularity, "instruction") == 0 ? instructions : lines;
    if (d->f.state == FRONT_ENDED)
        how = back ? "step" : "continue";
    else {
        const char *wrong = dap_look_at_thread(d, number_of(arguments, "threadId"));
        if (wrong)
            return wrong;
    }
    return dap_go(d, json_pack("{s:s, s:b}", "do", how, "reverse", back));
}

const char *dap_next(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)body;
    return move(d, arguments, "next", "nexti", false);
}
const char *dap_step_in(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)body;
    return move(d, arguments, "step", "stepi", false);
}
const char *dap_step_out(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)body;
    return move(d, arguments, "finish", "finish", false);
}
const char *dap_step_back(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)body;
    return move(d, arguments, "next", "nexti", true);
}
const char *dap_go_on(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)arguments;
    json_object_set_new(body, "allThreadsContinued", json_true());
    return dap_go(d, json_pack("{s:s}", "do", "continue"));
}
const char *dap_reverse_continue(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)arguments;
    (void)body;
    return dap_go(d, json_pack("{s:s, s:b}", "do", "continue", "reverse", 1));
}

const char *dap_pause(struct dap *d, const json_t *arguments, json_t *body)
{
    (void)arguments;
    (void)body;
    if (d->f.state == FRONT_STANDS || d->f.state == FRONT_ENDED)
        return "it is stopped already";
    if (d->f.state != FRONT_RUNS || d->f.link < 0)
        return "nothing is running";
    link_send(d->f.link, json_pack("{s:s}", "do", "interrupt"));
    dap_say(d, "console",
            "The program stops in the kernel that is being debugged, or at the start of the next kernel.\n");
    return NULL;
}

/* Offers targets for `goto`: back to the line's last execution by this
 * thread, or on to its next. */
const char *dap_goto_targets(struct dap *d, const json_t *arguments, json_t *body)
{
    const char *path = text_of(json_object_get(arguments, "source"), "path");
    int64_t line = number_of(arguments, "line");
    json_t *targets = json_array();
    if (!path || line < 0)
        return "gotoTargets: the path of the source or the line is missing";
    free(d->goto_path);
    d->goto_path = strdup(path);
    for (int back = 1; back >= 0; back--)
        json_array_append_new(targets, json_pack("{s:I, s:s, s:I}", "id", (json_int_t)(2 * line + back), "label",
                                                 back ? "back to the last time that the thread reached this line"
                                                      : "forward until the thread reaches this line",
                                                 "line", (json_int_t)line));
    json_object_set_new(body, "targets", targets);
    return NULL;
}

const char *dap_go_to(struct dap *d, const json_t *arguments, json_t *body)
{
    int64_t id = number_of(arguments, "targetId"), thread = number_of(arguments, "threadId"), b[3], t[3];
    const char *wrong = d->goto_path ? dap_look_at_thread(d, thread) : "there is no such target";
    (void)body;
    if (wrong || !dap_thread_at(d, thread, b, t))
        return wrong ? wrong : "there is no such thread";
    const char *condition = arena_printf(&d->arena,
                                         "threadIdx.x == %lld && threadIdx.y == %lld && threadIdx.z == %lld && "
                                         "blockIdx.x == %lld && blockIdx.y == %lld && "
                                         "blockIdx.z == %lld",
                                         (long long)t[0], (long long)t[1], (long long)t[2], (long long)b[0],
                                         (long long)b[1], (long long)b[2]);
    json_t *answer = dap_ask(d,
                             json_pack("{s:s, s:s, s:I, s:s, s:b}", "do", "break", "file", d->goto_path, "line",
                                       (json_int_t)dap_line_meant(d, id / 2), "condition", condition, "no_pending", 1),
                             &wrong);
    if (!answer)
        return wrong;
    d->goes_to = number_of(answer, "id");
    json_decref(answer);
    wrong = dap_go(d, json_pack("{s:s, s:b}", "do", "continue", "reverse", (int)(id & 1)));
    if (wrong) {
        json_decref(front_request(&d->f, json_pack("{s:s, s:I}", "do", "delete", "id", (json_int_t)d->goes_to)));
        d->goes_to = 0;
    }
    return wrong;
}

/* Selects another block, warp, lane or thread, as the terminal's command `cuda` does. */
const char *dap_focus(struct dap *d, const json_t *arguments, json_t *body)
{
    json_t *request = json_object();
    json_object_update_new(request, json_copy((json_t *)arguments));
    json_object_set_new(request, "do", json_string("focus"));
    const char *wrong = dap_take_place(d, request);
    if (wrong)
        return wrong;
    json_object_set_new(body, "threadId", json_integer(d->focus.thread));
    d->then = dap_tell_focus;
    return NULL;
}

/* ---- threads ---- */

static void add_thread(struct dap *d, json_t *list, int64_t id, const char *state)
{
    int64_t b[3], t[3];
    size_t i;
    const json_t *other;
    if (!dap_thread_at(d, id, b, t))
        return;
    json_array_foreach(list, i, other) if (number_of(other, "id") == id) return;
    const char *name = arena_printf(&d->arena, "block (%lld,%lld,%lld), thread (%lld,%lld,%lld)%s", (long long)b[0],
                                    (long long)b[1], (long long)b[2], (long long)t[0], (long long)t[1], (long long)t[2],
                                    strcmp(state, "waits") == 0   ? ", waits"
                                    : strcmp(state, "fresh") == 0 ? ", has not begun"
                                                                  : "");
    json_array_append_new(list, json_pack("{s:I, s:s}", "id", (json_int_t)id, "name", name));
}

/* Adds the threads of the selected thread's block that have not ended. */
static void add_block(struct dap *d, json_t *list)
{
    int64_t first =
        FIRST_THREAD + (d->chosen.thread - FIRST_THREAD) / dap_threads_of_block(d) * dap_threads_of_block(d);
    const char *state_of[1024 + 32] = {NULL};
    size_t i, k;
    const json_t *warp, *place;
    json_t *warps = front_request(&d->f, json_pack("{s:s}", "do", "warps"));
    json_array_foreach(json_object_get(warps, "list"), i, warp)
        json_array_foreach(json_object_get(warp, "places"), k,
                           place) for (int lane = 0; lane < 32; lane++) if (number_of(place, "lanes") >> lane & 1 &&
                                                                            number_of(warp, "warp") < 32)
            state_of[number_of(warp, "warp") * 32 + lane] = text_of(place, "state");
    for (int64_t t = 0; t < dap_threads_of_block(d) && t < 1024; t++)
        if (state_of[t] && strcmp(state_of[t], "exited") != 0)
            add_thread(d, list, first + t, state_of[t]);
    json_decref(warps);
}

/* Adds threads of other blocks that stopped earlier and have not ended. */
static void add_stopped(struct dap *d, json_t *list)
{
    json_t *blocks = front_request(&d->f, json_pack("{s:s}", "do", "blocks"));
    for (uint32_t n = 0; n < d->had_stopped.n; n++) {
        size_t i;
        const json_t *b;
        int64_t block = (d->had_stopped.at[n] - FIRST_THREAD) / dap_threads_of_block(d);
        json_array_foreach(json_object_get(blocks, "list"), i,
                           b) if (dap_place_in(json_object_get(b, "block"), d->grid) == block)
            add_thread(d, list, d->had_stopped.at[n], "ready");
    }
    json_decref(blocks);
}

const char *dap_threads(struct dap *d, const json_t *arguments, json_t *body)
{
    json_t *list = json_array();
    (void)arguments;
    if (d->f.state == FRONT_STANDS && !dap_look_at_thread(d, d->chosen.thread)) {
        add_thread(d, list, d->chosen.thread, "ready");
        add_block(d, list);
        add_stopped(d, list);
    }
    if (!json_array_size(list))
        json_array_append_new(list, json_pack("{s:i, s:s}", "id", HOST_THREAD, "name",
                                              d->f.state == FRONT_ENDED ? "a launch that has ended" : "the program"));
    json_object_set_new(body, "threads", list);
    return NULL;
}

/* ---- the stack ---- */

static void add_frame(struct dap *d, json_t *list, const json_t *frame, int64_t thread, int64_t level)
{
    int64_t line, hidden = number_of(d->f.place, "hidden");
    const char *function = text_of(frame, "function");
    json_t *source = dap_source(d, frame, &line);
    *VEC_PUSH(&d->at_stop, &d->frames) = (struct dap_frame){thread, level};
    json_t *j =
        json_pack("{s:I, s:s, s:I, s:i}", "id", (json_int_t)d->frames.n, "name",
                  function ? function : "an inlined function", "line", (json_int_t)dap_line(d, line), "column", 1);
    json_object_set_new(
        j, "instructionPointerReference",
        json_string(arena_printf(&d->arena, "0x%llx", (unsigned long long)number_of(frame, "ptx_line"))));
    if (level < hidden) {
        json_object_set_new(source, "presentationHint", json_string("deemphasize"));
        json_object_set_new(j, "presentationHint", json_string("subtle"));
    }
    json_object_set_new(j, "source", source);
    json_array_append_new(list, j);
}

const char *dap_stack_trace(struct dap *d, const json_t *arguments, json_t *body)
{
    int64_t thread = number_of(arguments, "threadId"), first = number_of(arguments, "startFrame"),
            levels = number_of(arguments, "levels");
    json_t *list = json_array(), *answer = NULL;
    const char *wrong = thread == HOST_THREAD ? NULL : dap_look_at_thread(d, thread), *none;
    if (thread != HOST_THREAD && !wrong)
        /* A thread that has ended has no frames. */
        answer = dap_ask(d, json_pack("{s:s}", "do", "frames"), &none);
    const json_t *frames = json_object_get(answer, "frames");
    int64_t n = (int64_t)json_array_size(frames);
    for (int64_t i = first > 0 ? first : 0; i < n && (levels <= 0 || i < first + levels); i++)
        add_frame(d, list, json_array_get(frames, (size_t)i), thread, i);
    json_object_set_new(body, "stackFrames", list);
    json_object_set_new(body, "totalFrames", json_integer(n));
    json_decref(answer);
    return wrong;
}

const char *dap_exception_info(struct dap *d, const json_t *arguments, json_t *body)
{
    const char *text = text_of(d->f.place, "text"), *code = text_of(d->f.place, "code");
    struct text notes = {.arena = &d->arena};
    size_t i;
    const json_t *note;
    (void)arguments;
    if (!d->reason || strcmp(d->reason, "exception") != 0 || !code)
        return "it has not stopped for a fault";
    json_array_foreach(json_object_get(d->f.place, "notes"), i, note)
        text_printf(&notes, "%s%s", i ? "\n" : "", json_string_value(note));
    json_object_set_new(body, "exceptionId", json_string(code));
    json_object_set_new(body, "description", json_text(text, strlen(text)));
    json_object_set_new(body, "breakMode", json_string("always"));
    if (notes.p)
        json_object_set_new(body, "details", json_pack("{s:o}", "stackTrace", json_text(notes.p, notes.n)));
    return NULL;
}

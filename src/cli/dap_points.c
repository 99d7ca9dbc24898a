/* Breakpoints of an editor, whose requests each list all breakpoints of a kind; see dap.h. */
#include "cli/dap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/link.h"

static const char waits[] = "it is kept for a kernel that has code there";

/* ---- one ---- */

static void end_point(struct dap_point *p)
{
    free(p->path);
    free(p->refused);
    json_decref(p->request);
}

static void refuse(struct dap_point *p, const char *why)
{
    free(p->refused);
    p->refused = why ? strdup(why) : NULL;
}

static struct dap_point *find(struct dap *d, int64_t id)
{
    for (uint32_t i = 0; i < d->points.n; i++)
        if (d->points.at[i].id == id)
            return &d->points.at[i];
    return NULL;
}

static json_t *point_json(const struct dap *d, const struct dap_point *p)
{
    json_t *j = json_pack("{s:I, s:b}", "id", (json_int_t)p->id, "verified", p->verified);
    if (p->refused)
        json_object_set_new(j, "message", json_text(p->refused, strlen(p->refused)));
    else if (!p->verified)
        json_object_set_new(j, "message", json_string(waits));
    if (p->kind == DAP_LINE)
        json_object_set_new(j, "line", json_integer(dap_line(d, p->line)));
    if (p->kind == DAP_LINE && *p->path)
        json_object_set_new(j, "source", json_pack("{s:o}", "path", json_text(p->path, strlen(p->path))));
    if (p->kind == DAP_INSTRUCTION)
        json_object_set_new(j, "instructionReference",
                            json_object_get(p->request, "reference")
                                ? json_incref(json_object_get(p->request, "reference"))
                                : json_string(""));
    return j;
}

/* Notes the debugger's answer to a breakpoint. */
static void take_answer(struct dap_point *p, const json_t *answer)
{
    const char *error = text_of(answer, "error"), *meant = text_of(answer, "meant");
    char text[512];
    refuse(p, error);
    p->is_set = answer && !error;
    p->verified = p->is_set && !json_is_true(json_object_get(answer, "pending"));
    if (p->kind == DAP_LINE && p->verified)
        p->line = number_of(answer, "line");
    if (p->is_set && number_of(answer, "id"))
        p->id = number_of(answer, "id");
    if (meant) {
        snprintf(text, sizeof text, "%s; is `%.300s` meant?", waits, meant);
        refuse(p, text);
    }
}

static bool can_ask(const struct dap *d)
{
    return d->f.link >= 0 && d->f.state != FRONT_RUNS && d->f.state != FRONT_IDLE && d->f.state != FRONT_GONE;
}

/* Sends a request that is answered while the launch runs, or at the next launch. */
static void send_later(struct dap *d, json_t *request, int64_t id)
{
    int64_t *asked = d->f.link >= 0 && d->f.state == FRONT_RUNS && d->has_begun ? VEC_ADD(&d->asked) : NULL;
    if (!asked) {
        json_decref(request);
        return;
    }
    *asked = id;
    link_send(d->f.link, request);
}

/* Asks for the file by its name without folders: the program may have been compiled elsewhere. */
static void ask_by_name(struct dap *d, struct dap_point *p)
{
    const char *slash = p->path ? strrchr(p->path, '/') : NULL;
    if (p->kind != DAP_LINE || !p->is_set || p->verified || !slash || !text_of(p->request, "file"))
        return;
    json_t *request = json_deep_copy(p->request);
    json_object_set_new(request, "file", json_string(slash + 1));
    json_object_set_new(request, "no_pending", json_true());
    json_object_del(request, "id");
    json_t *answer = front_request(&d->f, request);
    if (answer && !json_object_get(answer, "error")) {
        json_decref(front_request(&d->f, json_pack("{s:s, s:I}", "do", "delete", "id", (json_int_t)p->id)));
        take_answer(p, answer);
    }
    json_decref(answer);
}

static void set_data_point(struct dap *d, struct dap_point *p)
{
    const char *wrong = dap_look(d, p->of);
    json_t *answer = wrong ? json_pack("{s:s}", "error", wrong) : front_request(&d->f, json_incref(p->request));
    take_answer(p, answer);
    json_decref(answer);
}

static void set_point(struct dap *d, struct dap_point *p)
{
    if (!json_object_get(p->request, "do")) /* a point without "do" is refused in every kernel */
        return;
    json_object_set_new(p->request, "id", json_integer(p->id));
    if (p->kind == DAP_DATA && can_ask(d)) {
        set_data_point(d, p);
    } else if (can_ask(d)) {
        json_t *answer = front_request(&d->f, json_incref(p->request));
        take_answer(p, answer);
        json_decref(answer);
        ask_by_name(d, p);
    } else if (p->kind == DAP_DATA) {
        refuse(p, "a watchpoint can only be set while a launch is stopped");
    } else {
        send_later(d, json_incref(p->request), p->id);
    }
}

static void remove_point(struct dap *d, uint32_t i)
{
    struct dap_point *p = &d->points.at[i];
    json_t *request = json_pack("{s:s, s:I}", "do", "delete", "id", (json_int_t)p->id);
    bool asked = false;
    for (uint32_t k = 0; k < d->asked.n; k++)
        asked |= d->asked.at[k] == p->id;
    if (p->is_set && can_ask(d))
        json_decref(front_request(&d->f, request));
    else if (p->is_set || asked)
        send_later(d, request, 0);
    else
        json_decref(request);
    end_point(p);
    VEC_REMOVE(&d->points, i, 1);
}

/* ---- all of a kind ---- */

static bool same_request(const json_t *a, const json_t *b)
{
    json_t *x = json_copy((json_t *)a), *y = json_copy((json_t *)b);
    json_object_del(x, "id");
    json_object_del(y, "id");
    bool same = json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

/* The editor's list of one kind of breakpoint, for one source. Breakpoints that it had before keep
   their counts of hits. */
struct list {
    struct dap *d;
    enum dap_point_kind kind;
    const char *path;
    VEC(int64_t) kept;
    json_t *answers;
};

static bool is_kept(const struct list *l, int64_t id)
{
    for (uint32_t i = 0; i < l->kept.n; i++)
        if (l->kept.at[i] == id)
            return true;
    return false;
}

static bool is_of_list(const struct list *l, const struct dap_point *p)
{
    return p->kind == l->kind && strcmp(p->path ? p->path : "", l->path ? l->path : "") == 0;
}

/* Adds the request to the list; `refused` says why it is not possible, or is NULL. */
static struct dap_point *want(struct list *l, json_t *request, int64_t line, const char *refused)
{
    struct dap *d = l->d;
    for (uint32_t i = 0; i < d->points.n; i++) {
        struct dap_point *p = &d->points.at[i];
        if (is_of_list(l, p) && !is_kept(l, p->id) && same_request(p->request, request)) {
            json_decref(request);
            *VEC_PUSH(&d->arena, &l->kept) = p->id;
            return p;
        }
    }
    struct dap_point *p = VEC_ADD(&d->points);
    if (!p) {
        json_decref(request);
        return NULL;
    }
    *p = (struct dap_point){.kind = l->kind,
                            .path = l->path ? strdup(l->path) : NULL,
                            .request = request,
                            .id = ++d->next_id,
                            .line = line,
                            .is_new = true};
    refuse(p, refused);
    return p;
}

static void take_list(struct list *l, json_t *body)
{
    struct dap *d = l->d;
    json_object_set_new(body, "breakpoints", l->answers);
    for (uint32_t i = d->points.n; i-- > 0;)
        if (is_of_list(l, &d->points.at[i]) && !is_kept(l, d->points.at[i].id))
            remove_point(d, i);
}

static void set_wanted(struct list *l, struct dap_point *p)
{
    if (p && p->is_new) {
        p->is_new = false;
        set_point(l->d, p);
        if (p->id > l->d->next_id)
            l->d->next_id = p->id;
        *VEC_PUSH(&l->d->arena, &l->kept) = p->id;
    }
    json_array_append_new(l->answers,
                          p ? point_json(l->d, p) : json_pack("{s:b, s:s}", "verified", 0, "message", "out of memory"));
}

/* Adds condition and hit count, which every kind may have. */
static json_t *conditions(json_t *request, const json_t *of)
{
    static const char *const keys[][2] = {{"condition", "condition"}, {"hitCondition", "hits"}, {"logMessage", "log"}};
    for (size_t i = 0; i < 3; i++) {
        const char *text = text_of(of, keys[i][0]);
        if (text && *text)
            json_object_set_new(request, keys[i][1], json_string(text));
    }
    return request;
}

static bool is_ptx(const char *path)
{
    size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".ptx") == 0;
}

const char *dap_set_breakpoints(struct dap *d, const json_t *arguments, json_t *body)
{
    const json_t *source = json_object_get(arguments, "source"), *one;
    const char *path = text_of(source, "path");
    bool ptx = number_of(source, "sourceReference") || (path && is_ptx(path));
    size_t i;
    if (!path && !ptx)
        return "setBreakpoints: the source has neither a path nor a sourceReference";
    struct list l = {.d = d, .kind = DAP_LINE, .path = path ? path : "", .answers = json_array()};
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, one)
    {
        int64_t line = dap_line_meant(d, front_small(number_of(one, "line")));
        json_t *request = ptx ? json_pack("{s:s, s:I}", "do", "break", "ptx_line", (json_int_t)line)
                              : json_pack("{s:s, s:s, s:I}", "do", "break", "file", path, "line", (json_int_t)line);
        set_wanted(&l, want(&l, conditions(request, one), line, NULL));
    }
    take_list(&l, body);
    return NULL;
}

const char *dap_set_function_breakpoints(struct dap *d, const json_t *arguments, json_t *body)
{
    struct list l = {.d = d, .kind = DAP_FUNCTION, .answers = json_array()};
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, one)
    {
        const char *name = text_of(one, "name");
        json_t *request = json_pack("{s:s, s:s}", "do", "break", "function", name ? name : "");
        set_wanted(&l, want(&l, conditions(request, one), 0, NULL));
    }
    take_list(&l, body);
    return NULL;
}

/* An instruction's reference is its line number in the PTX. */
const char *dap_set_instruction_breakpoints(struct dap *d, const json_t *arguments, json_t *body)
{
    struct list l = {.d = d, .kind = DAP_INSTRUCTION, .answers = json_array()};
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, one)
    {
        const char *reference = text_of(one, "instructionReference");
        int64_t line =
            (reference ? front_small(strtoll(reference, NULL, 0)) : 0) + front_small(number_of(one, "offset"));
        json_t *request =
            line > 0 ? json_pack("{s:s, s:I, s:s}", "do", "break", "ptx_line", (json_int_t)line, "reference", reference)
                     : json_object();
        set_wanted(&l, want(&l, conditions(request, one), line, line > 0 ? NULL : "it is no line of PTX"));
    }
    take_list(&l, body);
    return NULL;
}

/* ---- data ---- */

/* The name of a data breakpoint holds the frame and the expression. */
const char *dap_data_breakpoint_info(struct dap *d, const json_t *arguments, json_t *body)
{
    const char *name = text_of(arguments, "name"), *wrong, *expression = NULL;
    int64_t bytes = number_of(arguments, "bytes");
    if (d->f.state != FRONT_STANDS)
        wrong = "a watchpoint can only be set while a launch is stopped";
    else if (json_is_true(json_object_get(arguments, "asAddress"))) {
        wrong = dap_look_at_frame(d, json_object_get(arguments, "frameId"));
        expression =
            arena_printf(&d->arena, "*(unsigned char *)%s@%lld", name ? name : "", (long long)(bytes > 0 ? bytes : 1));
    } else if (number_of(arguments, "variablesReference"))
        wrong = dap_expression_of(d, number_of(arguments, "variablesReference"), name ? name : "", &expression);
    else {
        wrong = dap_look_at_frame(d, json_object_get(arguments, "frameId"));
        expression = name;
    }
    json_t *answer =
        wrong ? NULL
              : dap_ask(d, json_pack("{s:s, s:s}", "do", "parts", "expression", expression ? expression : ""), &wrong);
    if (answer && !json_object_get(answer, "address") && !json_object_get(answer, "leads_to"))
        wrong = "it is in a register, or not a variable: only memory can be watched";
    json_object_set_new(body, "dataId",
                        wrong ? json_null()
                              : json_string(arena_printf(&d->arena, "%lld/%lld/%s", (long long)d->focus.thread,
                                                         (long long)d->focus.level, expression)));
    json_object_set_new(body, "description",
                        wrong ? json_text(wrong, strlen(wrong))
                              : json_string(arena_printf(&d->arena, "%s, %lld bytes", expression,
                                                         (long long)number_of(answer, "bytes"))));
    if (!wrong)
        json_object_set_new(body, "accessTypes", json_pack("[s,s,s]", "read", "write", "readWrite"));
    json_decref(answer);
    return NULL;
}

const char *dap_set_data_breakpoints(struct dap *d, const json_t *arguments, json_t *body)
{
    struct list l = {.d = d, .kind = DAP_DATA, .answers = json_array()};
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(arguments, "breakpoints"), i, one)
    {
        const char *id = text_of(one, "dataId"), *access = text_of(one, "accessType");
        long long thread, level;
        int n = 0;
        bool is_id = id && sscanf(id, "%lld/%lld/%n", &thread, &level, &n) == 2 && n && id[n];
        json_t *request = is_id ? json_pack("{s:s, s:s, s:s, s:s}", "do", "watch", "expression", id + n, "data", id,
                                            "on", access ? access : "write")
                                : json_object();
        struct dap_point *p =
            want(&l, conditions(request, one), 0, is_id ? NULL : "its dataId does not come from dataBreakpointInfo");
        if (p && is_id)
            p->of = (struct dap_frame){thread, level};
        set_wanted(&l, p);
    }
    take_list(&l, body);
    return NULL;
}

/* ---- exceptions ---- */

const char *dap_set_exception_breakpoints(struct dap *d, const json_t *arguments, json_t *body)
{
    const json_t *filters = json_object_get(arguments, "filters");
    (void)body;
    json_decref(d->filters);
    d->filters = json_is_array(filters) ? json_copy((json_t *)filters) : json_array();
    return NULL;
}

static const char *filter_of(const json_t *event)
{
    const char *reason = text_of(event, "reason"), *code = text_of(event, "code");
    if (!reason || strcmp(reason, "finding") == 0)
        return reason;
    return strcmp(reason, "fault") != 0                                              ? NULL
           : code && strcmp(code, "assert") == 0                                     ? "assert"
           : code && (strcmp(code, "deadlock") == 0 || strcmp(code, "barrier") == 0) ? "deadlock"
                                                                                     : "fault";
}

bool dap_stops(struct dap *d, const json_t *event)
{
    const char *filter = filter_of(event);
    bool stops = !filter;
    size_t i;
    const json_t *one;
    json_array_foreach(d->filters, i, one) stops |=
        filter && strcmp(json_string_value(one) ? json_string_value(one) : "", filter) == 0;
    return stops;
}

/* ---- what becomes of them ---- */

static void tell_changed(struct dap *d, const struct dap_point *p, const char *reason)
{
    dap_event(d, "breakpoint", json_pack("{s:s, s:o}", "reason", reason, "breakpoint", point_json(d, p)));
}

void dap_set_points(struct dap *d)
{
    d->has_begun = true;
    for (uint32_t i = 0; i < d->points.n; i++) {
        struct dap_point *p = &d->points.at[i];
        bool verified = p->verified;
        /* A kernel of a PTX file was known when the breakpoint was set. */
        if (p->is_set && !d->f.is_program)
            continue;
        p->is_set = false;
        set_point(d, p);
        if (p->verified != verified || p->refused)
            tell_changed(d, p, "changed");
    }
}

void dap_take_answer(struct dap *d, json_t *answer)
{
    if (!d->asked.n)
        return;
    struct dap_point *p = find(d, d->asked.at[0]);
    VEC_REMOVE(&d->asked, 0, 1);
    if (!p)
        return;
    take_answer(p, answer);
    tell_changed(d, p, "changed");
}

void dap_take_answers(struct dap *d)
{
    while (d->asked.n && d->f.link >= 0) {
        json_t *answer = link_receive(d->f.link);
        if (!answer)
            return;
        dap_take_answer(d, answer);
        json_decref(answer);
    }
}

/* Tells the editor of a breakpoint that was set in the debug console. */
static void tell_foreign(struct dap *d, const json_t *j)
{
    int64_t id = number_of(j, "id"), line = number_of(j, "line");
    const char *file = text_of(j, "file");
    if (id <= d->next_id || id == d->goes_to)
        return;
    d->next_id = id;
    json_t *point = json_pack("{s:I, s:b}", "id", (json_int_t)id, "verified", number_of(j, "places") > 0);
    if (line && file) {
        json_object_set_new(point, "line", json_integer(dap_line(d, line)));
        json_object_set_new(point, "source", dap_source(d, j, &line));
    }
    dap_event(d, "breakpoint", json_pack("{s:s, s:o}", "reason", "new", "breakpoint", point));
}

void dap_compare_points(struct dap *d)
{
    json_t *answer = front_request(&d->f, json_pack("{s:s}", "do", "points"));
    const json_t *list = json_object_get(answer, "points"), *j;
    size_t i;
    for (uint32_t k = d->points.n; k-- > 0 && list;) {
        struct dap_point *p = &d->points.at[k];
        const json_t *found = NULL;
        json_array_foreach(list, i, j) found = number_of(j, "id") == p->id ? j : found;
        if (p->is_set && !found) {
            tell_changed(d, p, "removed");
            end_point(p);
            VEC_REMOVE(&d->points, k, 1);
        } else if (p->is_set && !p->verified && number_of(found, "places")) {
            p->verified = true;
            refuse(p, NULL);
            tell_changed(d, p, "changed");
        }
    }
    json_array_foreach(list, i, j) tell_foreign(d, j);
    json_decref(answer);
}

void dap_free_points(struct dap *d)
{
    for (uint32_t i = 0; i < d->points.n; i++)
        end_point(&d->points.at[i]);
    free(d->points.at);
}

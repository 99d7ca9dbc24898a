/* Requests about breakpoints and watchpoints; see requests.h. */
#include <stdlib.h>
#include <string.h>

#include "debug/requests.h"
#include "exec/access.h"
#include "exec/launch.h"
#include "exec/machine.h"

static bool copy(char **to, const char *text)
{
    free(*to);
    *to = text && *text ? strdup(text) : NULL;
    return !text || !*text || *to;
}

/* ---- break ---- */

/* Reports the places of a point, and what is wrong with its condition there. */
static const char *tell_places(struct asked *a, const struct point *p)
{
    struct run *r = a->r;
    json_t *list = json_array();
    const char *wrong = NULL;
    for (uint32_t i = 0; i < r->locations.n; i++) {
        const struct location_at *l = &r->locations.at[i];
        struct call_frame frames[MOST_FRAMES];
        if (l->point != p)
            continue;
        wrong = wrong ? wrong : l->wrong;
        struct activation none = {0};
        for (uint32_t f = 0; f < r->kernel->functions.n; f++) {
            struct code *c = r->kernel->functions.at[f];
            if (l->op >= c->ops && l->op < c->ops + c->n_ops)
                none.code = c;
        }
        const struct where w = {.act = &none, .op = l->op};
        uint32_t n = frames_find(&r->lines, &w, frames, &a->arena);
        for (uint32_t k = 0; k < n; k++)
            if (frames[k].inlined == l->level) {
                json_array_append_new(list, show_frame(&frames[k]));
                break;
            }
    }
    json_object_set_new(a->answer, "places", list);
    return wrong;
}

/* For a line without code, such as the last line of a statement: the next line with code. */
static void move_to_code(struct asked *a, struct point *p)
{
    uint32_t last = 0, next = p->kind == POINT_LINE ? point_nearest(a->r, p, &last) : 0;
    uint32_t other = p->kind == POINT_LINE ? point_elsewhere(a->r, p) : 0;
    next = other && (!next || other < next) ? other : next;
    if (!next && last)
        json_object_set_new(a->answer, "last", json_integer(last));
    if (!next || next == p->line)
        return;
    json_object_set_new(a->answer, "moved", json_integer(p->line));
    p->line = next;
    points_locate(a->r);
}

const char *request_break(struct asked *a)
{
    struct run *r = a->r;
    const char *function = asked_text(a, "function"), *file = asked_text(a, "file"),
               *condition = asked_text(a, "condition"), *hits = asked_text(a, "hits");
    int64_t line = asked_number(a, "line", 0), ptx_line = asked_number(a, "ptx_line", 0);
    enum point_kind kind = function ? POINT_FUNCTION : ptx_line ? POINT_PTX_LINE : POINT_LINE;
    if (!function && line <= 0 && ptx_line <= 0)
        return "a breakpoint is at a line, FILE:LINE, or a function";
    struct point *p = point_add(r->d, kind);
    if (!p || !copy(&p->file, file) || !copy(&p->function, function) || !copy(&p->condition, condition) ||
        !copy(&p->log, asked_text(a, "log")))
        return "out of memory";
    if (hits && *hits && !point_read_hits(p, hits)) {
        r->d->next_id -= p->id == r->d->next_id;
        point_delete(r->d, p);
        return arena_printf(&a->arena,
                            "`%s` is not a hit count: 3 or >= 3 stops from the third hit on; == 3, %% 3, <= 3, > 3 and "
                            "< 3 are possible, too",
                            hits);
    }
    int64_t id = asked_number(a, "id", 0);
    if (id > 0 && id < UINT32_MAX && (!point_find(r->d, (uint32_t)id) || p->id == id)) {
        r->d->next_id -= p->id != (uint32_t)id;
        if ((uint32_t)id > r->d->next_id)
            r->d->next_id = (uint32_t)id;
        p->id = (uint32_t)id;
    }
    p->line = (uint32_t)(kind == POINT_PTX_LINE ? ptx_line : line);
    p->temporary = asked_switch(a, "temporary");
    points_locate(r);
    if (!point_places(r, p))
        move_to_code(a, p);
    const char *wrong = tell_places(a, p);
    if (wrong) {
        wrong = arena_printf(&a->arena, "the condition is wrong: %s", wrong);
        r->d->next_id -= p->id == r->d->next_id;
        point_delete(r->d, p);
        return wrong;
    }
    bool pending = !point_places(r, p);
    if (pending && asked_switch(a, "no_pending")) {
        point_delete(r->d, p);
        return "there is no code there";
    }
    p->placed = !pending;
    const char *near = pending ? point_suggestion(r, p, &a->arena) : NULL;
    if (near)
        json_object_set_new(a->answer, "meant", json_string(near));
    json_object_set_new(a->answer, "id", json_integer(p->id));
    json_object_set_new(a->answer, "line", json_integer(p->line));
    json_object_set_new(a->answer, "pending", json_boolean(pending));
    return NULL;
}

/* ---- watch ---- */

struct point *watch_point(struct asked *a, const char *expression, const char **wrong)
{
    struct run *r = a->r;
    struct where w = {0};
    struct lanes_value v;
    struct location at;
    struct frame frame;
    const struct node *n = asked_expression(a, expression, &w, &frame, wrong);
    if (!n)
        return NULL;
    const struct node *address = node_address((struct node *)n, &a->arena);
    *wrong = arena_printf(&a->arena, "`%s` is in a register, or is not a variable: writes are known of memory alone",
                          expression);
    if (!address || !n->type->bytes)
        return NULL;
    struct node whole = *n;
    /* Its value is its address, whatever it is. */
    whole.type = &(struct c_type){.kind = C_STRUCT, .bytes = n->type->bytes};
    expression_eval(&whole, &frame, 1u << w.lane, &v);
    uint64_t generic = (uint64_t)v.at[w.lane].i;
    *wrong = arena_printf(&a->arena, "there are no %llu bytes of memory at 0x%llx", (unsigned long long)n->type->bytes,
                          (unsigned long long)generic);
    if (!v.lanes || n->type->bytes > UINT32_MAX ||
        access_locate(w.warp, SPACE_GENERIC, generic, (uint32_t)n->type->bytes, false, &at))
        return NULL;
    struct point *p = point_add(r->d, POINT_WATCH);
    *wrong = "out of memory";
    if (!p || !copy(&p->expression, expression))
        return NULL;
    p->on_writes = true;
    p->space = at.space;
    p->address = generic;
    p->in_space = at.address;
    p->bytes = n->type->bytes;
    p->of = r->focus;
    if (at.space == SPACE_SHARED && at.owner)
        p->of.block = at.owner->index;
    p->launch = at.space == SPACE_GLOBAL ? 0 : r->number;
    /* Types of the debugging information live only as long as the launch. */
    p->type = c_type_copy(n->type, &p->arena);
    *wrong = NULL;
    return p;
}

const char *request_watch(struct asked *a)
{
    const char *text = asked_text(a, "expression"), *wrong;
    struct point *p = watch_point(a, text ? text : "", &wrong);
    if (!p)
        return wrong;
    const char *on = asked_text(a, "on");
    p->on_reads = on && strcmp(on, "write") != 0;
    p->on_writes = !on || strcmp(on, "read") != 0;
    json_object_set_new(a->answer, "id", json_integer(p->id));
    json_object_set_new(a->answer, "address", json_integer((json_int_t)p->address));
    json_object_set_new(a->answer, "bytes", json_integer((json_int_t)p->bytes));
    return NULL;
}

/* ---- all of them ---- */

/* Calls `change` with the point that is asked for, or with all. */
static const char *each_point(struct asked *a, void (*change)(struct asked *a, struct point *p))
{
    struct debugger *d = a->r->d;
    int64_t id = asked_number(a, "id", 0);
    struct point *one = id ? point_find(d, (uint32_t)id) : NULL;
    if (id && !one)
        return arena_printf(&a->arena, "there is no breakpoint %lld", (long long)id);
    for (uint32_t i = d->points.n; !one && i-- > 0;)
        change(a, d->points.at[i]);
    if (one)
        change(a, one);
    points_locate(a->r);
    return NULL;
}

static void delete(struct asked *a, struct point *p)
{
    point_delete(a->r->d, p);
}
static void enable(struct asked *a, struct point *p)
{
    (void)a;
    p->enabled = true;
}
static void disable(struct asked *a, struct point *p)
{
    (void)a;
    p->enabled = false;
}
static void ignore(struct asked *a, struct point *p)
{
    p->ignored = p->hits + (uint64_t)asked_number(a, "count", 0);
}

const char *request_delete(struct asked *a)
{
    return each_point(a, delete);
}
const char *request_enable(struct asked *a)
{
    return each_point(a, enable);
}
const char *request_disable(struct asked *a)
{
    return each_point(a, disable);
}
const char *request_ignore(struct asked *a)
{
    return each_point(a, ignore);
}

const char *request_condition(struct asked *a)
{
    struct point *p = point_find(a->r->d, (uint32_t)asked_number(a, "id", 0));
    const char *condition = asked_text(a, "condition"), *wrong;
    if (!p || p->kind == POINT_WATCH)
        return "there is no such breakpoint";
    char *before = p->condition;
    p->condition = NULL;
    if (!copy(&p->condition, condition)) {
        p->condition = before;
        return "out of memory";
    }
    points_locate(a->r);
    wrong = tell_places(a, p);
    if (wrong) {
        wrong = arena_printf(&a->arena, "the condition is wrong: %s", wrong);
        free(p->condition);
        p->condition = before;
        points_locate(a->r);
        return wrong;
    }
    free(before);
    return NULL;
}

const char *request_points(struct asked *a)
{
    static const char *const kinds[] = {"breakpoint", "breakpoint", "breakpoint", "watchpoint"};
    struct debugger *d = a->r->d;
    json_t *list = json_array();
    for (uint32_t i = 0; i < d->points.n; i++) {
        const struct point *p = d->points.at[i];
        json_t *j = json_pack("{s:I, s:s, s:b, s:b, s:I, s:I}", "id", (json_int_t)p->id, "kind", kinds[p->kind],
                              "enabled", p->enabled, "temporary", p->temporary, "hits", (json_int_t)p->hits, "places",
                              (json_int_t)point_places(a->r, p));
        const struct {
            const char *key, *text;
        } texts[] = {
            {"file", p->file}, {"function", p->function}, {"condition", p->condition}, {"expression", p->expression}};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
            if (texts[k].text)
                json_object_set_new(j, texts[k].key, json_string(texts[k].text));
        if (p->line)
            json_object_set_new(j, p->kind == POINT_PTX_LINE ? "ptx_line" : "line", json_integer(p->line));
        json_array_append_new(list, j);
    }
    json_object_set_new(a->answer, "points", list);
    return NULL;
}

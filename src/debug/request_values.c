/* Requests about values; see requests.h. */
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "debug/requests.h"
#include "debug/scope.h"
#include "exec/access.h"
#include "exec/launch.h"

static char format_of(const struct asked *a)
{
    const char *f = asked_text(a, "format");
    return f ? *f : 0;
}

/* Why no source variable is known in a frame, and what to use instead; NULL: some are known. */
static const char *without_variables(const struct scope_data *s, const struct call_frame *frame, uint32_t n)
{
    static const char there[] = "`info registers`, `info args` and shared variables by name work without it";
    const char *dot = frame->file ? strrchr(frame->file, '.') : NULL;
    bool is_python = dot && strcmp(dot, ".py") == 0,
         is_numba = is_python && is_python_symbol(arena_strndup(&s->run->arena, s->code->ir->func->symbol.name.p,
                                                                s->code->ir->func->symbol.name.n));
    if (n || (s->info && s->info->reader && !(is_python && !is_numba)))
        return NULL;
    return arena_printf(&s->run->arena, "the code has no debugging information for variables%s; %s",
                        !is_python ? ": compile it with -G"
                        : is_numba ? ": use @cuda.jit(debug=True, opt=False)"
                                   : ", which Triton does not write",
                        there);
}

static uint32_t count_variables(struct scope_data *s, struct arena *arena)
{
    return scope_variables(s, ARENA_ARRAY(arena, struct dwarf_variable, MOST_VARIABLES));
}

static const char *join(const char *what, const char *why, struct arena *arena)
{
    return why ? arena_printf(arena, "%s: %s", what, why) : what;
}

struct node *asked_expression(struct asked *a, const char *text, struct where *w, struct frame *f, const char **wrong)
{
    const struct call_frame *frame = asked_frame(a, w, wrong);
    const char *absent = *wrong;
    struct scope scope = scope_of(a->r, frame);
    if (!frame && !w->warp)
        return NULL;
    *f = (struct frame){w->warp, frame ? frame->act : NULL};
    struct node *n = expression_parse(text, &scope, &a->arena, wrong);
    if (!n && strncmp(*wrong, "there is no `", strlen("there is no `")) == 0)
        *wrong =
            join(*wrong, frame ? without_variables(scope.data, frame, count_variables(scope.data, &a->arena)) : absent,
                 &a->arena);
    return n;
}

static json_t *all_lanes(const struct node *n, const struct frame *f, char format, struct arena *arena)
{
    json_t *list = json_array();
    for (unsigned l = 0; l < WARP_LANES; l++) {
        struct text t = {.arena = arena};
        bool there = f->warp->exists >> l & 1 && !(f->warp->exited >> l & 1);
        if (there)
            show_node(n, f, l, format, &t);
        json_array_append_new(list, there ? json_string(t.p) : json_null());
    }
    return list;
}

/* What a pointer leads to, as cuda-gdb has it: "(@shared int *) ". */
static void put_space(const struct node *n, const struct frame *f, unsigned lane, struct text *t)
{
    struct lanes_value v;
    struct location at;
    const char *type = c_type_text(n->type, t->arena);
    if (n->kind == NODE_GONE || n->type->kind != C_POINTER || n->type->is_reference)
        return;
    expression_eval(n, f, 1u << lane, &v);
    bool leads =
        v.lanes && *type != '@' && !access_locate(f->warp, SPACE_GENERIC, (uint64_t)v.at[lane].i, 1, false, &at);
    text_printf(t, "(%s%s) ",
                !leads                     ? ""
                : at.space == SPACE_SHARED ? "@shared "
                : at.space == SPACE_LOCAL  ? "@local "
                                           : "@global ",
                type);
}

const char *request_print(struct asked *a)
{
    struct where w = {0};
    struct frame f;
    const char *wrong, *text = asked_text(a, "expression");
    const struct node *n = asked_expression(a, text ? text : "", &w, &f, &wrong);
    if (!n)
        return wrong;
    json_object_set_new(a->answer, "type", json_string(c_type_text(n->type, &a->arena)));
    if (asked_switch(a, "lanes")) {
        json_object_set_new(a->answer, "values", all_lanes(n, &f, format_of(a), &a->arena));
        json_object_set_new(a->answer, "here", json_integer(w.lanes));
        return NULL;
    }
    struct text t = {.arena = &a->arena};
    if (!format_of(a))
        put_space(n, &f, w.lane, &t);
    show_node(n, &f, w.lane, format_of(a), &t);
    json_object_set_new(a->answer, "value", json_string(t.p));
    return NULL;
}

const char *request_type(struct asked *a)
{
    struct where w = {0};
    const char *wrong, *text = asked_text(a, "expression");
    const struct call_frame *frame = asked_frame(a, &w, &wrong);
    struct scope scope = scope_of(a->r, frame);
    const struct c_type *t = frame || w.warp ? expression_type(text ? text : "", &scope, &a->arena, &wrong) : NULL;
    if (!t)
        return wrong;
    json_object_set_new(a->answer, "type", json_string(c_type_text(t, &a->arena)));
    json_object_set_new(a->answer, "whole", json_string(c_type_whole(t, &a->arena)));
    return NULL;
}

static const char *keep_edit(struct run *r, const char *to, const char *value)
{
    struct edit *e = VEC_ADD(&r->d->edits);
    if (!e)
        return "out of memory";
    *e = (struct edit){r->time, r->focus, r->frame, strdup(to), strdup(value)};
    return e->to && e->value ? NULL : "out of memory";
}

const char *request_set(struct asked *a)
{
    struct where w = {0};
    struct frame f;
    const char *wrong, *to_text = asked_text(a, "to"), *value_text = asked_text(a, "value");
    const struct node *to = asked_expression(a, to_text ? to_text : "", &w, &f, &wrong);
    const struct node *value = to ? asked_expression(a, value_text ? value_text : "", &w, &f, &wrong) : NULL;
    if (!value || !expression_assign(to, value, &f, 1u << w.lane, &wrong))
        return wrong;
    return keep_edit(a->r, to_text, value_text);
}

/* ---- lists ---- */

static void add_variable(json_t *list, const char *name, const struct node *n, const struct frame *f, unsigned lane,
                         char format, struct arena *arena)
{
    struct text t = {.arena = arena};
    show_node(n, f, lane, format, &t);
    json_array_append_new(
        list, json_pack("{s:s, s:s, s:s}", "name", name, "type", c_type_text(n->type, arena), "value", t.p ? t.p : ""));
}

/* Those that an inner one hides are left out. */
static void add_visible(struct asked *a, struct scope_data *s, const struct dwarf_variable *all, uint32_t n,
                        const struct frame *f, unsigned lane, bool parameters)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) {
        bool hidden = false;
        for (uint32_t k = 0; k < i; k++)
            hidden |= strcmp(all[k].name, all[i].name) == 0;
        if (!hidden && !all[i].is_global && all[i].is_parameter == parameters)
            add_variable(list, all[i].name, scope_node(s, &all[i], &a->arena), f, lane, 0, &a->arena);
    }
    json_object_set_new(a->answer, "variables", list);
}

const char *request_locals(struct asked *a)
{
    struct where w = {0};
    const char *wrong;
    const struct call_frame *frame = asked_frame(a, &w, &wrong);
    if (!frame)
        return wrong;
    struct scope scope = scope_of(a->r, frame);
    struct scope_data *data = scope.data;
    struct dwarf_variable *all = ARENA_ARRAY(&a->arena, struct dwarf_variable, MOST_VARIABLES);
    uint32_t n = scope_variables(data, all);
    wrong = without_variables(data, frame, n);
    if (wrong)
        return wrong;
    add_visible(a, data, all, n, &(struct frame){w.warp, frame->act}, w.lane, false);
    return NULL;
}

const char *request_args(struct asked *a)
{
    struct where w = {0};
    const char *wrong;
    const struct call_frame *frame = asked_frame(a, &w, &wrong);
    if (!frame)
        return wrong;
    struct scope scope = scope_of(a->r, frame);
    const struct frame f = {w.warp, frame->act};
    struct scope_data *data = scope.data;
    struct dwarf_variable *all = ARENA_ARRAY(&a->arena, struct dwarf_variable, MOST_VARIABLES);
    uint32_t n = scope_variables(data, all);
    if (n) {
        add_visible(a, data, all, n, &f, w.lane, true);
        return NULL;
    }
    json_t *list = json_array();
    for (uint32_t i = 0; i < a->r->kernel->func->signature.params.n; i++) {
        const char *name = arena_printf(&a->arena, "$arg%u", i + 1);
        const struct node *n = expression_parse(name, &scope, &a->arena, &wrong);
        if (n)
            add_variable(list, name, n, &f, w.lane, 0, &a->arena);
    }
    json_object_set_new(a->answer, "variables", list);
    return NULL;
}

const char *request_registers(struct asked *a)
{
    struct where w = {0};
    const char *wrong;
    const struct call_frame *frame = asked_frame(a, &w, &wrong);
    if (!frame)
        return wrong;
    struct scope scope = scope_of(a->r, frame);
    const struct frame f = {w.warp, frame->act};
    const struct ir_func *ir = frame->act->code->ir;
    json_t *list = json_array();
    for (uint32_t i = 1; i < ir->regs.n; i++) {
        const char *name = ir->regs.at[i].origin ? register_name(frame->act->code, i, &a->arena) : NULL;
        if (!name || strchr(name, '.'))
            continue;
        const struct node *n = expression_parse(name, &scope, &a->arena, &wrong);
        if (n)
            add_variable(list, name, n, &f, w.lane, format_of(a), &a->arena);
    }
    json_object_set_new(a->answer, "variables", list);
    return NULL;
}

/* ---- memory ---- */

static const struct c_type *unit(int64_t size, char format)
{
    bool floats = format == 'f';
    return size == 1   ? &c_uchar
           : size == 2 ? (floats ? &c_half : &c_ushort)
           : size == 8 ? (floats ? &c_double : &c_ulong)
           : floats    ? &c_float
                       : &c_uint;
}

const char *request_memory(struct asked *a)
{
    enum { MOST = 1 << 16 };
    struct where w = {0};
    struct frame f;
    struct lanes_value v;
    const char *wrong, *text = asked_text(a, "expression");
    const struct node *n = asked_expression(a, text ? text : "", &w, &f, &wrong);
    int64_t count = asked_number(a, "count", 1), size = asked_number(a, "size", 4);
    char format = format_of(a);
    if (!n)
        return wrong;
    if (c_is_float(n->type))
        return "a floating-point number is not an address";
    if (count < 1 || count > MOST)
        return "1 to 65536 elements can be shown";
    expression_eval(n, &f, 1u << w.lane, &v);
    if (!v.lanes)
        return "the address is in memory that cannot be read";
    uint64_t at = (uint64_t)v.at[w.lane].i;
    const struct c_type *type = unit(size, format);
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        struct text t = {.arena = &a->arena};
        if (memory_read(&f, w.lane, at + (uint64_t)i * type->bytes, &bits, type->bytes) < type->bytes)
            break;
        show_value(type, c_load(type, &bits), format == 'x' ? 'z' : format, &t);
        json_array_append_new(list, json_string(t.p));
    }
    json_object_set_new(a->answer, "address", json_integer((json_int_t)at));
    json_object_set_new(a->answer, "size", json_integer((json_int_t)type->bytes));
    json_object_set_new(a->answer, "values", list);
    return json_array_size(list) ? NULL
                                 : arena_printf(&a->arena, "there is no memory at 0x%llx", (unsigned long long)at);
}

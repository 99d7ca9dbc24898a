/* Requests about the parts of values, and about values outside frames, for front ends that expand
 * them; see requests.h. */
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/qualified.h"
#include "debug/requests.h"
#include "debug/scope.h"
#include "exec/launch.h"

/* The context of a value: its thread's lane, and the scope that names its parts. */
struct asking {
    struct scope scope;
    struct frame frame;
    unsigned lane;
    struct arena *arena;
};

static bool is_operand(const char *e)
{
    return e[strspn(e, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.[]:")] == 0;
}

/* As the operand of what stands behind it. */
static const char *operand(const char *e, struct arena *arena)
{
    return is_operand(e) ? e : arena_printf(arena, "(%s)", e);
}

static uint64_t count_members(const struct c_type *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->n; i++)
        n += t->members[i].name ? 1 : count_members(t->members[i].type);
    return n;
}

/* The value of a scalar in the lane, or the address of any other value; false if there is none. */
static bool value_of(const struct asking *a, const struct node *n, uint64_t *value)
{
    struct lanes_value v;
    expression_eval(n, &a->frame, 1u << a->lane, &v);
    *value = (uint64_t)v.at[a->lane].i;
    return v.lanes;
}

static bool address_of(const struct asking *a, struct node *n, uint64_t *address)
{
    struct node whole = *n;
    if (n->kind == NODE_PLACES || !node_address(n, a->arena))
        return false;
    whole.type = &(struct c_type){.kind = C_STRUCT, .bytes = n->type->bytes};
    return value_of(a, &whole, address);
}

static bool leads_somewhere(const struct c_type *t)
{
    return t->kind == C_POINTER && t->of && t->of->bytes && t->of->kind != C_FUNCTION;
}

static json_t *part(const struct asking *a, const char *name, const char *expression)
{
    const char *wrong;
    uint64_t at;
    struct node *n = expression_parse(expression, &a->scope, a->arena, &wrong);
    json_t *j = json_pack("{s:o, s:o}", "name", tell_text(name), "expression", tell_text(expression));
    struct text t = {.arena = a->arena};
    if (!n) {
        json_object_set_new(j, "value", tell_text(arena_printf(a->arena, "<%s>", wrong)));
        return j;
    }
    show_node(n, &a->frame, a->lane, 0, &t);
    json_object_set_new(j, "value", tell_text(t.p ? t.p : ""));
    json_object_set_new(j, "type", tell_text(c_type_text(n->type, a->arena)));
    json_object_set_new(j, "bytes", json_integer((json_int_t)n->type->bytes));
    if (n->kind == NODE_GONE)
        return j;
    if (address_of(a, n, &at))
        json_object_set_new(j, "address", json_integer((json_int_t)at));
    if (n->type->kind == C_STRUCT)
        json_object_set_new(j, "members", json_integer((json_int_t)count_members(n->type)));
    if (n->type->kind == C_ARRAY)
        json_object_set_new(j, "elements", json_integer((json_int_t)n->type->count));
    if (leads_somewhere(n->type) && value_of(a, n, &at)) {
        json_object_set_new(j, "leads_to", json_integer((json_int_t)at));
        json_object_set_new(j, "members", json_integer(at ? 1 : 0));
    }
    return j;
}

/* Members of an unnamed member count as members of the struct that contains it. */
static void add_members(const struct asking *a, json_t *list, const struct c_type *t, const char *of)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const char *name = t->members[i].name;
        if (name)
            json_array_append_new(list, part(a, name, arena_printf(a->arena, "%s.%s", operand(of, a->arena), name)));
        else
            add_members(a, list, t->members[i].type, of);
    }
}

const char *request_parts(struct asked *a)
{
    struct where w = {0};
    const char *wrong, *e = asked_text(a, "expression");
    const struct call_frame *frame = asked_frame(a, &w, &wrong);
    if (!frame)
        return wrong;
    const struct asking in = {scope_of(a->r, frame), {w.warp, frame->act}, w.lane, &a->arena};
    const struct node *n = expression_parse(e ? e : "", &in.scope, &a->arena, &wrong);
    if (!n)
        return wrong;
    uint64_t from = (uint64_t)asked_number(a, "from", 0), count = (uint64_t)asked_number(a, "count", 0);
    json_t *list = json_array();
    if (count && n->type->kind == C_STRUCT)
        add_members(&in, list, n->type, e);
    if (n->type->kind == C_ARRAY)
        for (uint64_t i = from; i < n->type->count && i - from < count; i++)
            json_array_append_new(
                list, part(&in, arena_printf(&a->arena, "[%llu]", (unsigned long long)i),
                           arena_printf(&a->arena, "%s[%llu]", operand(e, &a->arena), (unsigned long long)i)));
    if (count && leads_somewhere(n->type))
        json_array_append_new(list, part(&in, arena_printf(&a->arena, "*%s", operand(e, &a->arena)),
                                         arena_printf(&a->arena, "*%s", operand(e, &a->arena))));
    json_t *whole = part(&in, e, e);
    json_object_update(a->answer, whole);
    json_decref(whole);
    json_object_set_new(a->answer, "parts", list);
    return NULL;
}

const char *request_shared(struct asked *a)
{
    const struct kernel *k = a->r->kernel;
    json_t *list = json_array();
    for (uint32_t i = 0; i < k->shared_vars.n; i++)
        json_array_append_new(
            list, tell_text(name_last(str_of(demangle(k->shared_vars.at[i].var->symbol.name, &a->arena))).p));
    const struct ptx_module *m = k->func->module;
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_var *v = scope_dynamic_shared(&m->items.at[i]);
        if (v)
            json_array_append_new(list, tell_text(demangle(v->symbol.name, &a->arena)));
    }
    json_object_set_new(a->answer, "names", list);
    return NULL;
}

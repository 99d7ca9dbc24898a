/* A repair as text and JSON; see repair.h. */
#include <string.h>

#include "explore/repair.h"

/* ---- what has to go ---- */

static bool is_finding(void *data, const struct notice *s)
{
    const struct exploration *e = data;
    const struct verdict *v = &e->result->verdict;
    if (e->chosen)
        return s->kind == NOTICE_OUTCOME &&
               memcmp(s->values, v->outcomes.at[e->chosen - 1], v->n_observed * sizeof *s->values) == 0;
    bool broken = s->kind != NOTICE_OUTCOME;
    for (unsigned i = 0; i < e->n_claims && s->kind == NOTICE_OUTCOME; i++)
        broken |= claim_is_broken(&e->claims[i], s->values);
    return broken;
}

struct wanted repair_findings(const struct exploration *e)
{
    return (struct wanted){is_finding, (void *)(uintptr_t)e};
}

/* ---- words ---- */

const char *notice_text(const struct exploration *e, const struct notice *s)
{
    static const char *const kinds[] = {"outcome", "race", "trap", "deadlock", "livelock"};
    struct text t = {.arena = e->arena};
    if (s->kind == NOTICE_OUTCOME) {
        text_puts(&t, "the outcome");
        for (uint32_t k = 0; k < e->result->verdict.n_observed; k++)
            text_printf(&t, " %s=%s", e->names[k], exploration_value_text(e, k, s->values[k]));
        return t.p;
    }
    text_printf(&t, "the %s at %s", s->fault ? "fault" : kinds[s->kind], exploration_place_text(e->arena, s->a));
    if (s->b)
        text_printf(&t, " and %s", exploration_place_text(e->arena, s->b));
    return t.p;
}

/* The statement of the PTX with its guard and the changed opcode. */
static const char *changed_statement(struct arena *arena, const struct change *c)
{
    const struct ptx_insn *insn = c->site->origin;
    const char *text = c->site->module->source->text.p, *opcode = text + insn->offset, *begin = opcode;
    const char *behind = opcode + insn->length, *end = strchr(behind, ';');
    const char *now = change_moves_order(c) ? change_opcode(arena, c) : arena_strndup(arena, opcode, insn->length);
    while (begin > text && !strchr(";{}:\n", begin[-1]))
        begin--;
    begin += strspn(begin, " \t");
    return arena_printf(arena, "%.*s%s%.*s", (int)(opcode - begin), begin, now, end ? (int)(end + 1 - behind) : 0,
                        behind);
}

/* The statements that replace one of the PTX. */
static unsigned changed_lines(struct arena *arena, const struct change *c, const char *lines[3])
{
    unsigned n = 0;
    if (c->to.before)
        lines[n++] = arena_printf(arena, "%s;", fence_opcode(arena, c->to.before, c->to.fence_scope));
    lines[n++] = changed_statement(arena, c);
    if (c->to.after)
        lines[n++] = arena_printf(arena, "%s;", fence_opcode(arena, c->to.after, c->to.fence_scope));
    return n;
}

static const char *const beyond_orders = "it stays possible even if every access is strong and has a fence.sc "
                                         "before it: use an atomic operation, a barrier or another algorithm";

static bool makes_atomic(const struct repair *r)
{
    for (uint32_t i = 0; i < r->changes.n; i++)
        if (strength_of(r->changes.at[i].site).order == ORDER_WEAK && r->changes.at[i].to.order == ORDER_RELAXED)
            return true;
    return false;
}

enum { MAX_SHOWN = 8 };

static void put_remaining(const struct exploration *e, const struct repair *r, struct text *t)
{
    for (uint32_t i = 0; i < r->remaining.n && i < MAX_SHOWN; i++)
        text_printf(t, "repair: no order, scope or fence forbids %s\n", notice_text(e, &r->remaining.at[i]));
    if (r->remaining.n > MAX_SHOWN)
        text_printf(t, "    nor %u more\n", r->remaining.n - MAX_SHOWN);
    if (r->remaining.n)
        text_printf(t, "    %s\n", beyond_orders);
}

static void put_change(const struct exploration *e, const struct change *c, struct text *t)
{
    const char *lines[3];
    unsigned n = changed_lines(e->arena, c, lines);
    text_printf(t, "    %s: %s\n", exploration_place_text(e->arena, c->site), change_text(e->arena, c));
    if (ptx_cuda_place(c->site->module, c->site->loc, e->arena))
        text_printf(t, "      in CUDA C++: %s\n", change_cuda_text(e->arena, c));
    for (unsigned k = 0; k < n; k++)
        text_printf(t, "      %s\n", lines[k]);
}

void repair_text(const struct exploration *e, const struct repair *r, struct text *t)
{
    put_remaining(e, r, t);
    if (r->reason)
        text_printf(t, "repair: none is verified: %s\n", r->reason);
    if (!r->changes.n) {
        if (!r->reason && !r->remaining.n)
            text_puts(t, "repair: there are no findings to remove\n");
        return;
    }
    text_printf(t,
                "repair: %u change%s, after which %s gone; verified: all executions of the changed kernel explored\n",
                r->changes.n, r->changes.n == 1 ? "" : "s",
                r->remaining.n ? "all else is"
                : e->chosen    ? "the outcome is"
                               : "all findings are");
    for (uint32_t i = 0; i < r->changes.n; i++)
        put_change(e, &r->changes.at[i], t);
    if (makes_atomic(r))
        text_puts(
            t,
            "  an atomic access in place of a plain one ends a race; it does not restrict the values that are read\n");
    if (r->minimal)
        text_printf(t, "  minimal: if any one part is left out, a finding comes back (%u smaller repair%s explored)\n",
                    r->n_parts, r->n_parts == 1 ? "" : "s");
    else
        text_puts(t, "  it may not be minimal: not all smaller changes could be explored\n");
}

json_t *repair_json(const struct exploration *e, const struct repair *r)
{
    json_t *o = json_object(), *changes = json_array(), *remaining = json_array();
    for (uint32_t i = 0; i < r->changes.n; i++) {
        const struct change *c = &r->changes.at[i];
        const char *lines[3];
        unsigned n = changed_lines(e->arena, c, lines);
        json_t *ptx = json_array();
        for (unsigned k = 0; k < n; k++)
            json_array_append_new(ptx, json_string(lines[k]));
        json_array_append_new(changes,
                              json_pack("{s:I, s:s, s:s, s:s, s:o}", "line", (json_int_t)program_line(c->site), "place",
                                        exploration_place_text(e->arena, c->site), "change", change_text(e->arena, c),
                                        "cuda", change_cuda_text(e->arena, c), "ptx", ptx));
    }
    for (uint32_t i = 0; i < r->remaining.n; i++)
        json_array_append_new(remaining, json_string(notice_text(e, &r->remaining.at[i])));
    json_object_set_new(o, "verified", json_boolean(r->verified));
    json_object_set_new(o, "minimal", json_boolean(r->minimal));
    json_object_set_new(o, "changes", changes);
    json_object_set_new(o, "remaining", remaining);
    json_object_set_new(o, "reason", r->reason ? json_string(r->reason) : json_null());
    json_object_set_new(o, "explored", json_integer(r->n_explored));
    return o;
}

/* What a function has returned that `finish` leaves: it is in the frame of the
 * caller until the next call. */
#include <string.h>

#include "debug/debugger.h"
#include "debug/requests.h"

void returned_note(struct run *r, const struct where *w)
{
    struct call_frame frames[MOST_FRAMES];
    uint32_t n = frames_find(&r->lines, w, frames, &r->arena);
    const struct activation *a = r->frame < n && !frames[r->frame].inlined ? frames[r->frame].act : NULL;
    if (a && a->parent) {
        r->finished.of = a->code;
        r->finished.caller = a->parent->code;
        r->finished.call = a->call;
    }
}

bool returned_is_there(const struct run *r, const struct stop *at)
{
    const struct code *c = r->finished.caller;
    if (!r->finished.call || at->act->code != c)
        return false;
    const struct op *o = &c->ops[c->blocks[r->finished.call->next].first];
    while (o < c->ops + c->n_ops - 1 && !o->origin)
        o++;
    return at->op == o;
}

void returned_tell(struct run *r, json_t *to, struct arena *arena)
{
    struct where w = thread_find(r->launch, &r->now, &r->focus);
    const struct frame f = {w.warp, w.act};
    struct text t = {.arena = arena};
    const struct node *n = w.act ? scope_returned(r, r->finished.of, r->finished.call->call, arena) : NULL;
    if (!n)
        return;
    show_node(n, &f, w.lane, 0, &t);
    json_object_set_new(
        to, "returned",
        json_pack("{s:o, s:o}", "type", tell_text(c_type_text(n->type, arena)), "value", tell_text(t.p ? t.p : "")));
}

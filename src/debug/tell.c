/* Events of the debugger, and parts that several answers share; see requests.h. */
#include <string.h>

#include "base/demangle.h"
#include "debug/link.h"
#include "debug/requests.h"
#include "exec/launch.h"
#include "exec/machine.h"

json_t *tell_text(const char *text)
{
    json_t *t = json_string(text);
    return t ? t : json_string("<text that is not UTF-8>");
}

/* ---- what is told ---- */

void tell_place(struct run *r, json_t *to, struct arena *arena)
{
    struct call_frame frames[MOST_FRAMES];
    struct where w = thread_find(r->launch, &r->now, &r->focus);
    uint32_t n = frames_find(&r->lines, &w, frames, arena), level = r->frame < n ? r->frame : 0;
    json_object_set_new(to, "focus", show_thread(r, &r->focus));
    json_object_set_new(to, "state", json_string(thread_state_word(w.state)));
    json_object_set_new(to, "lanes", json_integer(w.lanes));
    json_object_set_new(to, "time", json_integer((json_int_t)r->time));
    json_object_set_new(to, "level", json_integer(level));
    json_object_set_new(to, "hidden", json_integer(frames_hidden(&r->lines, &w)));
    json_object_set_new(to, "calls", json_integer(n));
    if (n)
        json_object_set_new(to, "frame", show_frame(&frames[level]));
}

void tell_written(struct run *r, json_t *to, struct arena *arena)
{
    const struct written *w = &r->written;
    uint8_t now[sizeof w->before];
    struct text before = {.arena = arena}, after = {.arena = arena};
    struct where at = thread_find(r->launch, &r->now, &w->thread);
    const struct frame f = {at.warp ? at.warp : r->now.warp, NULL};
    const struct site *s = site_of(&r->lines, w->op);
    const struct cuda_place *p = s ? s->place.cuda : NULL;
    const unsigned lane = w->thread.lane;
    if (f.warp) {
        show_bytes(w->point->type, w->before, w->n_before, &f, lane, 0, &before);
        show_bytes(w->point->type, now, memory_read(&f, lane, w->point->address, now, w->n_before), &f, lane, 0,
                   &after);
    }
    json_t *j = json_pack("{s:s, s:s, s:o, s:I, s:I, s:I}", "before", before.p ? before.p : "", "after",
                          after.p ? after.p : "", "thread", show_thread(r, &w->thread), "time", (json_int_t)w->time,
                          "ptx_line", (json_int_t)ptx_line(s), "id", (json_int_t)w->point->id);
    if (w->is_read)
        json_object_set_new(j, "read", json_true());
    if (p) {
        json_object_set_new(j, "file", json_string(p->file));
        json_object_set_new(j, "line", json_integer(p->line));
    }
    json_object_set_new(to, "written", j);
}

/* The fault as a report has it. */
static void tell_fault(struct run *r, json_t *to, struct arena *arena)
{
    struct diags diags = {.arena = arena, .limit = 50};
    struct launch *l = r->launch;
    if (l->report.list.n)
        diags_append(&diags, &l->report);
    else
        fault_report(r->machine, r->kernel, &l->fault, &diags);
    struct str text = diags.list.n ? str_of(diags.list.at[0].text) : (struct str){"the launch has failed", 21};
    json_object_set_new(to, "text", json_stringn(text.p, text.n));
    json_object_set_new(to, "code", json_string(diags.list.n ? diags.list.at[0].code : ""));
    json_t *notes = json_array();
    for (uint32_t i = 1; i < diags.list.n; i++)
        json_array_append_new(notes, tell_text(diags.list.at[i].text));
    json_object_set_new(to, "notes", notes);
}

static void tell_finding(const struct checked *f, json_t *to)
{
    json_t *notes = json_array();
    for (uint32_t i = 0; i < f->n_notes; i++)
        json_array_append_new(notes, tell_text(f->notes[i]));
    json_object_set_new(to, "text", tell_text(f->text));
    json_object_set_new(to, "code", tell_text(f->code));
    json_object_set_new(to, "notes", notes);
}

static void tell(struct run *r, json_t *message)
{
    r->d->gone |= !link_send(r->d->link, message);
}

void requests_tell_stop(struct run *r, const char *reason, const char *text)
{
    struct arena arena = {0};
    json_t *to = json_pack("{s:s, s:s}", "event", "stopped", "reason", reason);
    struct point *searched = r->searched;
    if (text)
        json_object_set_new(to, "text", tell_text(text));
    if (r->in_fault)
        tell_fault(r, to, &arena);
    if (r->at_finding)
        tell_finding(r->at_finding, to);
    if (r->written.any)
        tell_written(r, to, &arena);
    if (r->also)
        json_object_set_new(to, "breakpoint", json_integer(r->also));
    json_t *points = json_array();
    for (uint32_t i = 0; i < r->hit.n && strcmp(reason, "breakpoint") == 0; i++)
        json_array_append_new(points, json_integer(r->hit.at[i]));
    json_object_set_new(to, "points", points);
    tell_place(r, to, &arena);
    if (r->finished.done)
        returned_tell(r, to, &arena);
    r->finished.done = false;
    tell(r, to);
    if (searched) {
        r->searched = NULL;
        r->written = (struct written){0};
        point_delete(r->d, searched);
    }
    arena_free(&arena);
}

void requests_tell_ready(struct run *r)
{
    struct arena arena = {0};
    tell(r, json_pack("{s:s, s:s}", "event", "ready", "kernel", demangle(r->kernel->func->symbol.name, &arena)));
    arena_free(&arena);
}

void requests_tell_placed(struct run *r)
{
    for (uint32_t i = 0; i < r->d->points.n; i++) {
        struct point *p = r->d->points.at[i];
        if (p->placed || !point_places(r, p))
            continue;
        p->placed = true;
        tell(r, json_pack("{s:s, s:I}", "event", "placed", "id", (json_int_t)p->id));
    }
}

void requests_tell_end(struct run *r, hd_result result, const struct diags *diags)
{
    json_t *to =
        json_pack("{s:s, s:s, s:I}", "event", "ended", "result", hd_result_string(result), "time", (json_int_t)r->time);
    if (diags && diags->list.n)
        json_object_set_new(to, "text", tell_text(diags->list.at[0].text));
    tell(r, to);
}

void requests_tell_failure(struct debugger *d, const struct kernel *k, const struct diags *diags)
{
    struct arena arena = {0};
    const char *text = diags->list.n ? diags->list.at[0].text : "";
    json_t *to = json_pack("{s:s, s:s}", "event", "failed", "kernel", demangle(k->func->symbol.name, &arena));
    json_object_set_new(to, "text", tell_text(text));
    d->gone |= !link_send(d->link, to);
    arena_free(&arena);
}

/* Findings of --check as stops: at the second access of a race, or at a read of uninitialised
 * memory; see debugger.h.
 *
 * The checkers are clients of the launch's events and come before this one. If there is one
 * finding more after an event than before it, it was found at the event's operation. A finding is
 * found only once. Its place is remembered for later passes of the launch over it.
 */
#include <stdio.h>
#include <string.h>

#include "debug/show.h"
#include "base/file_name.h"
#include "exec/access.h"

static bool is_known(const struct run *r, const char *text)
{
    for (uint32_t i = 0; i < r->known.n; i++)
        if (strcmp(r->known.at[i], text) == 0)
            return true;
    return false;
}

/* Takes the first new finding, with its notes, and marks all as known. False: there is none. */
static bool take_new(struct run *r, struct checked *to)
{
    const struct debug_checks *c = r->names->checks;
    struct arena scratch = {0};
    struct diags d = {.arena = &scratch, .limit = UINT32_MAX};
    bool found = false;
    c->report(c->data, &d);
    for (uint32_t i = 0; i < d.list.n; i++) {
        const struct diag *one = &d.list.at[i];
        bool is_note = one->severity == DIAG_NOTE;
        if (!is_known(r, one->text)) {
            const char *text = *VEC_PUSH(&r->arena, &r->known) = arena_strdup(&r->arena, one->text);
            if (!found && !is_note) {
                *to = (struct checked){.text = text, .code = arena_strdup(&r->arena, one->code ? one->code : "")};
                found = true;
                continue;
            }
        }
        if (found && is_note && i && to->n_notes < 2 && strcmp(d.list.at[i - 1 - to->n_notes].text, to->text) == 0) {
            const struct cuda_place *at = one->place.cuda;
            to->notes[to->n_notes++] =
                at ? arena_printf(&r->arena, "%s:%u: %s", file_as_shown(at->file, &r->arena), at->line, one->text)
                   : arena_strdup(&r->arena, one->text);
        }
    }
    arena_free(&scratch);
    return found;
}

/* The lane of the thread that a text names, if it is one of these. */
static unsigned lane_in(const struct run *r, const char *text, const struct event_block *b, uint32_t warp,
                        uint32_t lanes)
{
    for (const char *p = text; (p = strstr(p, "thread (")); p++) {
        uint32_t at[3], block[3];
        struct thread_name t = {b->index, 0, 0};
        uint64_t index;
        if (sscanf(p, "thread (%u,%u,%u) of block (%u,%u,%u)", &at[0], &at[1], &at[2], &block[0], &block[1],
                   &block[2]) == 6 &&
            block_at(r, block, &index) && index == b->index && thread_at(r, at, &t) && t.warp == warp &&
            lanes >> t.lane & 1)
            return t.lane;
    }
    return (unsigned)__builtin_ctz(lanes);
}

static void look(struct run *r, const struct event_block *b, uint32_t warp, uint32_t lanes)
{
    const struct debug_checks *c = r->names->checks;
    uint64_t now = r->stopper.now - (r->stopper.now > 0);
    size_t n = c->count(c->data);
    struct checked found = {0};
    if (n > r->n_checked && lanes && take_new(r, &found)) {
        found.time = now;
        found.thread = (struct thread_name){b->index, warp, lane_in(r, found.text, b, warp, lanes)};
        *VEC_PUSH(&r->arena, &r->findings) = found;
    }
    r->n_checked = n;
    const struct checked *f = finding_at(r, now);
    if (f && f->thread.block == b->index && f->thread.warp == warp)
        move_on_finding(r, f);
}

static void on_access(void *data, const struct access_event *e)
{
    look(data, e->block, e->warp, e->lanes);
}

static bool on_fault(void *data, const struct fault_event *e)
{
    look(data, e->block, e->warp, 1u << e->lane);
    return false;
}

const struct checked *finding_at(const struct run *r, uint64_t time)
{
    for (uint32_t i = 0; i < r->findings.n; i++)
        if (r->findings.at[i].time == time)
            return &r->findings.at[i];
    return NULL;
}

void findings_forget(struct run *r)
{
    const struct debug_checks *c = r->names->checks;
    struct checked none;
    if (c && c->count(c->data) > r->n_checked)
        while (take_new(r, &none))
            ;
    r->n_checked = c ? c->count(c->data) : 0;
}

bool debug_listen(struct launch_request *q)
{
    struct run *r = q->stopper->data;
    if (!r->names->checks)
        return true;
    findings_forget(r);
    r->late = (struct event_client){
        .data = r, .wants = EVENT_BIT(EVENT_ACCESS) | EVENT_BIT(EVENT_FAULT), .access = on_access, .fault = on_fault};
    return events_add(&q->events, &r->late);
}

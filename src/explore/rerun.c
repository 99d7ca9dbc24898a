/* See rerun.h. */
#include "explore/rerun.h"

#include <string.h>

#include "explore/forbid.h"
#include "explore/memory.h"
#include "explore/picture.h"
#include "explore/repair.h"

const char *further_choose(struct exploration *e, uint64_t number)
{
    uint32_t n = e->result->verdict.outcomes.n;
    e->chosen = 0;
    if (number < 1 || number > n)
        return n ? arena_printf(e->arena,
                                n == 1 ? "there is %u outcome, number 1" : "there are %u outcomes; the first is 1", n)
                 : "there are no outcomes to choose from";
    e->chosen = (uint32_t)number;
    return NULL;
}

void further_repair(const struct exploration *e, const struct further *f, struct text *t, json_t *json)
{
    struct wanted findings = repair_findings(e);
    struct repair_options o = {f->explore, f->data, &findings};
    struct repair r = {0};
    if (e->chosen || exploration_findings(e))
        repair(&o, &r);
    repair_text(e, &r, t);
    if (json)
        json_object_set_new(json, "repair", repair_json(e, &r));
    repair_free(&r);
}

/* ---- which execution ---- */

/* The first execution with a finding, or with the chosen outcome. */
static bool find_execution(const struct exploration *e, const struct further *f, const struct changes *c,
                           struct explore_result *r)
{
    struct wanted w = repair_findings(e);
    f->explore(f->data, c, &w, r);
    return r->verdict.caught;
}

struct judging {
    struct explore_result *r;
    struct changes top;
    bool is_weak;
};

static void judge(void *data)
{
    struct judging *j = data;
    j->top = forbid_top(&j->r->arena, j->r->verdict.caught, true);
    j->is_weak = execution_judge(j->r->verdict.caught, &j->top) == FORBIDDEN;
}

enum { MAX_JUDGED = 64 };

/* Is no execution with the chosen outcome sequentially consistent? Tested by making all accesses of
 * such an execution strong and ordering them by fences: none may remain. */
static bool is_surprise(const struct exploration *e, const struct further *f)
{
    struct explore_result r = {0}, again = {0};
    struct judging j = {.r = &r};
    bool surprise = find_execution(e, f, NULL, &r) && memory_try(&r.arena, judge, &j) && j.is_weak &&
                    !find_execution(e, f, &j.top, &again) && again.complete;
    explore_free(&r);
    explore_free(&again);
    return surprise;
}

/* Without findings, chooses the first outcome that is not sequentially
 * consistent, else the first. */
static void choose_surprise(struct exploration *e, const struct further *f)
{
    uint32_t n = e->result->verdict.outcomes.n;
    for (e->chosen = 1; e->chosen <= n && e->chosen <= MAX_JUDGED; e->chosen++)
        if (is_surprise(e, f))
            return;
    e->chosen = n > 0;
}

/* The number of the first outcome that violates --require or --forbid; 0 if there is none. */
static uint32_t first_broken(const struct exploration *e)
{
    const struct verdict *v = &e->result->verdict;
    for (uint32_t i = 0; i < v->outcomes.n; i++)
        for (unsigned k = 0; k < e->n_claims; k++)
            if (claim_is_broken(&e->claims[k], v->outcomes.at[i]))
                return i + 1;
    return 0;
}

/* ---- its picture ---- */

enum picture_format picture_format_of(const char *extension)
{
    return strcmp(extension, ".html") == 0 ? PICTURE_PAGE : strcmp(extension, ".svg") == 0 ? PICTURE_SVG : PICTURE_NONE;
}

struct drawing {
    struct picture picture;
    struct why why;
    enum picture_format format;
    bool found;
    struct text *text;
};

static void draw(void *data)
{
    struct drawing *d = data;
    d->picture.why = &d->why;
    d->found = why(d->picture.arena, d->picture.e, &d->why);
    if (d->found && d->format == PICTURE_PAGE)
        picture_page(&d->picture, d->text);
    else if (d->found)
        picture_svg(&d->picture, d->text);
}

enum { MAX_EVENTS = 1000 };

static const char *draw_found(const struct exploration *e, const struct further *f, struct explore_result *r,
                              struct drawing *d)
{
    const struct execution *x = r->verdict.caught;
    if (!x)
        return "no execution was found that could be drawn";
    if (x->n_events > MAX_EVENTS)
        return arena_printf(e->arena, "the execution has %u events; a picture can show at most %d", x->n_events,
                            MAX_EVENTS);
    d->picture = (struct picture){.arena = &r->arena, .x = e, .e = x, .name = f->name, .data = f->data};
    if (!memory_try(&r->arena, draw, d))
        return "out of memory";
    return d->found ? NULL : "the execution has too many fence.sc in no fixed order";
}

const char *further_draw(const struct exploration *explored, const struct further *f, enum picture_format format,
                         struct text *picture, const char **shows)
{
    struct exploration e = *explored;
    struct explore_result r = {0};
    struct drawing d = {.format = format, .text = picture};
    e.chosen = e.chosen ? e.chosen : first_broken(&e);
    if (!e.chosen && !exploration_findings(&e))
        choose_surprise(&e, f);
    find_execution(&e, f, NULL, &r);
    const char *error = draw_found(&e, f, &r, &d);
    if (!error)
        *shows = arena_strdup(e.arena, picture_title(&d.picture));
    explore_free(&r);
    return error;
}

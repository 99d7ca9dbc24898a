/* Single executions of what heddle explore and heddle litmus have explored: a repair that forbids them, a picture. */
#include <stdio.h>
#include <string.h>

#include "cli/explore.h"
#include "explore/forbid.h"
#include "explore/memory.h"
#include "explore/picture.h"
#include "explore/repair.h"
#include "files/file.h"

int choose_outcome(struct session *s, struct exploration *e)
{
    uint32_t n = e->result->verdict.outcomes.n;
    e->numbered = s->o.graph || s->o.repair || s->o.outcome.given;
    if (s->o.outcome.given && (s->o.outcome.value < 1 || s->o.outcome.value > n))
        return usage_error(s, "--outcome %llu: there are %u outcomes, from 1 on",
                           (unsigned long long)s->o.outcome.value, n);
    e->chosen = (uint32_t)s->o.outcome.value;
    return 0;
}

/* The launch is explored again, with changes, and until something wanted is seen. */
static void explore_again(void *data, const struct changes *c, const struct wanted *w, struct explore_result *r)
{
    const struct explored_launch *l = data;
    struct explore_options o = *l->options;
    hd_report *report = NULL;
    o.changes = c;
    o.wanted = w;
    o.n_threads = 1; /* the same execution each time */
    if (api_explore(l->kernel, l->config, &o, r, &report))
        r->refusal = (struct refusal){.text = "the launch could not be prepared again"};
    hd_report_free(report);
}

static int repair_it(const struct exploration *e, const struct explored_launch *l, json_t *json)
{
    struct wanted findings = repair_findings(e);
    struct repair_options o = {explore_again, (void *)(uintptr_t)l, &findings};
    struct repair r = {0};
    struct text t = {.arena = e->arena};
    repair(&o, &r);
    repair_text(e, &r, &t);
    fputs(t.p, stdout);
    if (json)
        json_object_set_new(json, "repair", repair_json(e, &r));
    repair_free(&r);
    return 0;
}

/* ---- --graph ---- */

/* The first execution with a finding, or with the outcome that was chosen. */
static bool find_execution(const struct exploration *e, const struct explored_launch *l, const struct changes *c,
                           struct explore_result *r)
{
    struct wanted w = repair_findings(e);
    explore_again((void *)(uintptr_t)l, c, &w, r);
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

/* Is no execution with the chosen outcome sequentially consistent? Then there is none where all accesses of one of them are strong, and
 * ordered by fences. */
static bool is_surprise(const struct exploration *e, const struct explored_launch *l)
{
    struct explore_result r = {0}, again = {0};
    struct judging j = {.r = &r};
    bool surprise = find_execution(e, l, NULL, &r) && memory_try(&r.arena, judge, &j) && j.is_weak &&
                    !find_execution(e, l, &j.top, &again) && again.complete;
    explore_free(&r);
    explore_free(&again);
    return surprise;
}

/* Where nothing was found: the first outcome that surprises, else the first one. */
static void choose_surprise(struct exploration *e, const struct explored_launch *l)
{
    uint32_t n = e->result->verdict.outcomes.n;
    for (e->chosen = 1; e->chosen <= n && e->chosen <= MAX_JUDGED; e->chosen++)
        if (is_surprise(e, l))
            return;
    e->chosen = n > 0;
}

struct drawing {
    struct picture picture;
    struct why why;
    bool is_page, found;
    struct text text;
};

static void draw(void *data)
{
    struct drawing *d = data;
    d->picture.why = &d->why;
    d->text.arena = d->picture.arena;
    d->found = why(d->picture.arena, d->picture.e, &d->why);
    if (d->found && d->is_page)
        picture_page(&d->picture, &d->text);
    else if (d->found)
        picture_svg(&d->picture, &d->text);
}

enum { MAX_EVENTS = 1000 };

static int draw_it(struct session *s, const struct exploration *explored, const struct explored_launch *l)
{
    struct exploration chosen = *explored, *e = &chosen;
    struct explore_result r = {0};
    struct drawing d = {.is_page = strcmp(file_extension(s->o.graph), ".html") == 0};
    int status = 0;
    const char *error;
    if (!e->chosen && !exploration_findings(e))
        choose_surprise(e, l);
    if (!find_execution(e, l, NULL, &r))
        status = cli_failure(s, "--graph: no execution was found that could be drawn");
    else if (r.verdict.caught->n_events > MAX_EVENTS)
        status = cli_failure(s, "--graph: the execution has %u events, and %u can be drawn", r.verdict.caught->n_events,
                             MAX_EVENTS);
    if (!status) {
        d.picture =
            (struct picture){.arena = &r.arena, .x = e, .e = r.verdict.caught, .name = l->name, .data = l->data};
        if (!memory_try(&r.arena, draw, &d))
            status = cli_failure(s, "--graph: out of memory");
        else if (!d.found)
            status = cli_failure(s, "--graph: the execution has too many fence.sc whose order is open");
        else if ((error = file_write_whole(&s->arena, s->o.graph, d.text.p, d.text.n)))
            status = cli_failure(s, "%s", error);
        else
            printf("graph: %s is in %s\n", picture_title(&d.picture), s->o.graph);
    }
    explore_free(&r);
    return status;
}

int graph_name_error(struct session *s)
{
    const char *extension = s->o.graph ? file_extension(s->o.graph) : ".svg";
    return strcmp(extension, ".svg") == 0 || strcmp(extension, ".html") == 0
               ? 0
               : usage_error(s, "--graph %s: a file NAME.html or NAME.svg is written", s->o.graph);
}

int explored_further(struct session *s, const struct exploration *e, const struct explored_launch *l, json_t *json)
{
    int status = s->o.repair ? repair_it(e, l, json) : 0;
    return status || !s->o.graph ? status : draw_it(s, e, l);
}

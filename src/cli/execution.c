/* Single executions of what heddle explore and heddle litmus have explored: a repair that forbids them. */
#include <stdio.h>

#include "cli/explore.h"
#include "explore/repair.h"

int choose_outcome(struct session *s, struct exploration *e)
{
    uint32_t n = e->result->verdict.outcomes.n;
    e->numbered = s->o.repair || s->o.outcome.given;
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

int explored_further(struct session *s, const struct exploration *e, const struct explored_launch *l, json_t *json)
{
    return s->o.repair ? repair_it(e, l, json) : 0;
}

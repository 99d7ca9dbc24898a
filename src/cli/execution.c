/* Repairs for, and pictures of, single executions that heddle explore and heddle litmus found. */
#include <stdio.h>

#include "cli/explore.h"
#include "files/file.h"

int choose_outcome(struct session *s, struct exploration *e)
{
    e->numbered = s->o.graph || s->o.repair || s->o.outcome.given;
    const char *wrong = s->o.outcome.given ? further_choose(e, s->o.outcome.value) : NULL;
    return wrong ? usage_error(s, "--outcome %llu: %s", (unsigned long long)s->o.outcome.value, wrong) : 0;
}

static void explore_again(void *data, const struct changes *c, const struct wanted *w, struct explore_result *r)
{
    const struct explored_launch *l = data;
    struct explore_options o = *l->options;
    hd_report *report = NULL;
    o.changes = c;
    o.wanted = w;
    o.n_threads = 1;
    if (api_explore(l->kernel, l->config, &o, r, &report))
        r->refusal = (struct refusal){.text = "the launch could not be prepared again"};
    hd_report_free(report);
}

static const char *name_of(void *data, const struct location *at)
{
    const struct explored_launch *l = data;
    return l->name(l->data, at);
}

int written_name_error(struct session *s)
{
    const char *graph = s->o.graph, *json = s->o.explore_json;
    if (graph && !picture_format_of(file_extension(graph)))
        return usage_error(s, "--graph %s: the name must end in .html or .svg", graph);
    const char *wrong = graph ? file_may_create(&s->arena, graph) : NULL;
    wrong = !wrong && json ? file_may_create(&s->arena, json) : wrong;
    return wrong ? usage_error(s, "%s", wrong) : 0;
}

int write_graph(struct session *s, const struct text *picture, const char *shows, FILE *say)
{
    const char *error = file_write_whole(&s->arena, s->o.graph, picture->p, picture->n);
    if (error)
        return cli_failure(s, "%s", error);
    fprintf(say, "graph: %s is in %s\n", shows, s->o.graph);
    return 0;
}

int explored_further(struct session *s, const struct exploration *e, const struct explored_launch *l, json_t *json)
{
    struct further f = {explore_again, name_of, (void *)(uintptr_t)l};
    struct text told = {.arena = e->arena}, picture = {.arena = e->arena};
    const char *shows;
    if (s->o.repair) {
        further_repair(e, &f, &told, json);
        fputs(told.p, stdout);
    }
    if (!s->o.graph)
        return 0;
    const char *error = further_draw(e, &f, picture_format_of(file_extension(s->o.graph)), &picture, &shows);
    return error ? cli_failure(s, "--graph: %s", error) : write_graph(s, &picture, shows, stdout);
}

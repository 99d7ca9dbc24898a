/* heddle litmus: explores many litmus tests in one process. A test is a file in herd's format for
 * PTX (herd.h), or a JSON file beside the PTX of its kernel. The JSON has `kernel`, `grid`, `block`
 * and `cluster`; mem_bytes and out_bytes, the sizes of two zeroed buffers that are the kernel's
 * arguments; `init`, initial values (NAME: [OFFSET, VALUE]); and `keys` with `at`, the names and
 * places ([BUFFER, OFFSET]) of an outcome's values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "cli/explore.h"
#include "cli/herd.h"
#include "cli/ranks.h"

struct test {
    struct session *s;
    hd_machine *machine;
    const atomic_bool *interrupted;
    struct ranks *ranks; /* NULL: this process alone */
    hd_module *module;
    hd_kernel *kernel;
    json_t *json;                         /* of a JSON test */
    struct herd_test herd;                /* of a test in herd's format, if herd.ptx is not NULL */
    struct condition *condition, *filter; /* filter: NULL if all outcomes count */
    const char *path;
    void *mem, *out;
    size_t mem_bytes, out_bytes;
    hd_launch_config config;
    struct observed *observed;
    const char **names;
    size_t n;
};

static int bad_test(struct test *t, const char *what)
{
    return cli_failure(t->s, "%s: %s", t->path, what);
}

static int load_kernel(struct test *t, const hd_source *source, const char *kernel)
{
    hd_report *report = NULL;
    hd_result r = hd_module_load(t->machine, source, 1, &t->module, &report);
    if (!r) {
        hd_report_free(report);
        report = NULL;
        r = hd_module_get_kernel(t->module, kernel, &t->kernel, &report);
    }
    if (r)
        return report_failure(t->s, r, report);
    hd_report_free(report);
    return 0;
}

static int get_buffers(struct test *t)
{
    if (hd_alloc(t->machine, t->mem_bytes, &t->mem) || hd_alloc(t->machine, t->out_bytes, &t->out))
        return bad_test(t, "out of memory");
    memset(t->mem, 0, t->mem_bytes);
    memset(t->out, 0, t->out_bytes);
    return 0;
}

static void set_shape(struct test *t, unsigned grid, unsigned block, unsigned cluster)
{
    t->config.grid[0] = grid;
    t->config.block[0] = block;
    for (int i = 1; i < 3; i++)
        t->config.grid[i] = t->config.block[i] = 1;
    for (int i = 0; i < 3; i++)
        t->config.cluster[i] = cluster < 2 ? 0 : i ? 1 : cluster;
}

static void observe(struct test *t, size_t i, bool of_memory, uint64_t offset, const char *name)
{
    t->observed[i] =
        (struct observed){GLOBAL_MEMORY, (uint64_t)(uintptr_t)(of_memory ? t->mem : t->out) + offset, 4, NULL};
    t->names[i] = name;
}

static void make_room(struct test *t, size_t n)
{
    t->n = n;
    t->observed = ARENA_ARRAY(&t->s->arena, struct observed, n);
    t->names = ARENA_ARRAY(&t->s->arena, const char *, n);
}

/* ---- in herd's format ---- */

static int place_number(void *data, const char *name, unsigned *signed_bits)
{
    const struct herd_test *h = data;
    *signed_bits = h->is_signed ? 32 : 0;
    return atoi(name + strlen("place_"));
}

static int load_herd(struct test *t)
{
    struct arena *arena = &t->s->arena;
    struct herd_test *h = &t->herd;
    struct file_bytes bytes;
    const char *error = file_read(arena, t->path, 0, &bytes);
    if (error)
        return cli_failure(t->s, "%s", error);
    const char *text = arena_strndup(arena, (const char *)bytes.bytes, bytes.n);
    free(bytes.bytes);
    error = herd_read(arena, t->path, text, h);
    if (error)
        return cli_failure(t->s, "%s", error);
    t->condition = condition_parse(arena, h->expression, place_number, h, &error);
    if (t->condition && h->filter)
        t->filter = condition_parse(arena, h->filter, place_number, h, &error);
    if (!t->condition || (h->filter && !t->filter))
        return cli_failure(t->s, "%s: %s", t->path, error);
    t->mem_bytes = h->memory_bytes;
    t->out_bytes = h->register_bytes;
    int status = load_kernel(t, &(hd_source){t->path, h->ptx, strlen(h->ptx)}, "litmus");
    status = status ? status : get_buffers(t);
    for (uint32_t i = 0; !status && i < h->variables.n; i++)
        memcpy((uint8_t *)t->mem + 4 * i, &h->variables.at[i].value, 4);
    set_shape(t, h->grid, h->block, h->cluster);
    make_room(t, h->places.n);
    for (uint32_t i = 0; i < h->places.n; i++)
        observe(t, i, h->places.at[i].of_memory, h->places.at[i].offset, h->places.at[i].name);
    return status;
}

/* ---- as JSON ---- */

static unsigned number(const struct test *t, const char *name)
{
    json_t *v = json_object_get(t->json, name);
    json_int_t n = json_is_integer(v) ? json_integer_value(v) : 0;
    /* a larger value than any limit, so that it is refused */
    return n > UINT32_MAX ? UINT32_MAX : n > 0 ? (unsigned)n : 0;
}

static int fill_test(struct test *t)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(t->json, "init"), name, value)
    {
        json_int_t at = json_integer_value(json_array_get(value, 0));
        uint32_t v = (uint32_t)json_integer_value(json_array_get(value, 1));
        if (at < 0 || (size_t)at + 4 > t->mem_bytes)
            return bad_test(t, "`init` has a place beyond mem_bytes");
        memcpy((uint8_t *)t->mem + at, &v, 4);
    }
    set_shape(t, number(t, "grid"), number(t, "block"), number(t, "cluster"));
    return 0;
}

static int observe_test(struct test *t)
{
    json_t *keys = json_object_get(t->json, "keys"), *at = json_object_get(t->json, "at");
    make_room(t, json_array_size(at));
    for (size_t i = 0; i < t->n; i++) {
        json_t *one = json_array_get(at, i);
        const char *buffer = json_string_value(json_array_get(one, 0));
        json_int_t offset = json_integer_value(json_array_get(one, 1));
        bool mem = buffer && strcmp(buffer, "mem") == 0;
        if (!buffer || offset < 0 || (size_t)offset + 4 > (mem ? t->mem_bytes : t->out_bytes))
            return bad_test(t, "`at` is a list of [\"mem\" or \"out\", offset]");
        const char *key = json_string_value(json_array_get(keys, i));
        observe(t, i, mem, (uint64_t)offset, arena_strdup(&t->s->arena, key ? key : "?"));
    }
    return 0;
}

static int load_json(struct test *t)
{
    struct arena *arena = &t->s->arena;
    json_error_t error;
    t->json = json_load_file(t->path, 0, &error);
    if (!t->json)
        return cli_failure(t->s, "%s:%d: %s", t->path, error.line, error.text);
    const char *ptx = arena_printf(arena, "%.*s.ptx", (int)(strlen(t->path) - strlen(".json")), t->path), *wrong;
    struct file_bytes bytes;
    if ((wrong = file_read_ptx(arena, ptx, &bytes)))
        return cli_failure(t->s, "%s", wrong);
    const char *kernel = json_string_value(json_object_get(t->json, "kernel"));
    int status = load_kernel(t, &(hd_source){ptx, bytes.bytes, bytes.n}, kernel ? kernel : "litmus");
    free(bytes.bytes);
    t->mem_bytes = number(t, "mem_bytes") ? number(t, "mem_bytes") : 4;
    t->out_bytes = number(t, "out_bytes") ? number(t, "out_bytes") : 4;
    int (*const steps[])(struct test *) = {get_buffers, fill_test, observe_test};
    for (size_t i = 0; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](t);
    return status;
}

/* ---- results ---- */

static bool passes_filter(const struct test *t, const uint64_t *values)
{
    return !t->filter || condition_holds(t->filter, values);
}

struct observation {
    /* number of outcomes for which the condition's expression is true, and false */
    uint32_t positive, negative;
    bool holds; /* the condition is true, with its quantifier */
    const char *how_often;
};

static struct observation observation_of(const struct test *t, const struct verdict *v)
{
    struct observation o = {0};
    for (uint32_t i = 0; i < v->outcomes.n; i++)
        if (passes_filter(t, v->outcomes.at[i]))
            condition_holds(t->condition, v->outcomes.at[i]) ? o.positive++ : o.negative++;
    switch (t->herd.quantifier) {
    case HERD_EXISTS: o.holds = o.positive > 0; break;
    case HERD_NOT_EXISTS: o.holds = o.positive == 0; break;
    case HERD_FORALL: o.holds = o.negative == 0; break;
    }
    o.how_often = !o.positive ? "Never" : o.negative ? "Sometimes" : "Always";
    return o;
}

/* Prints a test's result in herd's format, which scripts parse; then any errors. */
static void print_herd(const struct test *t, const struct exploration *e)
{
    static const char *const kinds[] = {
        [HERD_EXISTS] = "Allowed", [HERD_NOT_EXISTS] = "Forbidden", [HERD_FORALL] = "Required"};
    const struct verdict *v = &e->result->verdict;
    struct observation o = observation_of(t, v);
    printf("Test %s %s\nStates %u\n", t->herd.name, kinds[t->herd.quantifier], o.positive + o.negative);
    for (uint32_t i = 0; i < v->outcomes.n; i++) {
        if (!passes_filter(t, v->outcomes.at[i]))
            continue;
        for (uint32_t k = 0; k < v->n_observed; k++)
            printf(t->herd.is_signed ? "%s%s=%d;" : "%s%s=%u;", k ? " " : "", t->names[k],
                   (uint32_t)v->outcomes.at[i][k]);
        putchar('\n');
    }
    printf("%s\nWitnesses\nPositive: %u Negative: %u\nCondition %s\nObservation %s %s %u %u\n", o.holds ? "Ok" : "No",
           o.positive, o.negative, t->herd.condition, t->herd.name, o.how_often, o.positive, o.negative);
    struct text text = {.arena = e->arena};
    exploration_findings_text(e, &text);
    fputs(text.p, stdout);
}

static json_t *result_json(const struct test *t, const struct exploration *e)
{
    json_t *json = exploration_json(e);
    json_object_set_new(json, "name", json_string(t->path));
    if (t->condition) {
        struct observation o = observation_of(t, &e->result->verdict);
        json_object_set_new(json, "condition", json_string(t->herd.condition));
        json_object_set_new(json, "holds", json_boolean(o.holds));
        json_object_set_new(json, "observation", json_string(o.how_often));
    }
    return json;
}

/* "x", "P1:r0", "mem[2]" */
static const char *name_of_place(void *data, const struct location *l)
{
    const struct test *t = data;
    uint64_t at = l->address - (uint64_t)(uintptr_t)t->mem;
    for (size_t i = 0; i < t->n; i++)
        if (l->block == t->observed[i].block && l->address == t->observed[i].address)
            return t->names[i];
    if (t->herd.ptx && at / 4 < t->herd.variables.n)
        return t->herd.variables.at[at / 4].name;
    return at < t->mem_bytes ? arena_printf(&t->s->arena, "mem[%llu]", (unsigned long long)at / l->bytes) : NULL;
}

/* The first outcome that satisfies the condition, or violates it. */
static uint32_t outcome_of_condition(const struct test *t, const struct verdict *v)
{
    for (uint32_t i = 0; t->condition && i < v->outcomes.n; i++)
        if (passes_filter(t, v->outcomes.at[i]) &&
            condition_holds(t->condition, v->outcomes.at[i]) == (t->herd.quantifier != HERD_FORALL))
            return i + 1;
    return 0;
}

static int tell(const struct test *t, struct exploration *e, const struct explore_options *o, json_t *results)
{
    struct explored_launch launch = {t->kernel, &t->config, o, name_of_place, (void *)(uintptr_t)t};
    json_t *json = results ? result_json(t, e) : NULL;
    if (!e->chosen)
        e->chosen = outcome_of_condition(t, &e->result->verdict);
    if (t->condition && !json) {
        print_herd(t, e);
    } else if (!json) {
        printf("%s\n", t->path);
        explored_print(e);
    }
    int status = explored_further(t->s, e, &launch, json);
    if (t->s->o.repair && t->herd.cluster && !json)
        puts("  each GPU of the test is explored as a cluster: its scope .gpu becomes .cluster, its scope .sys becomes "
             ".gpu");
    if (json)
        json_array_append_new(results, json);
    return status;
}

static int explore_test(struct test *t, json_t *results)
{
    struct explore_options o = {.unroll = t->s->o.unroll,
                                .step_limit = t->s->o.search_limit,
                                .interrupted = t->interrupted,
                                .symmetric = !t->s->o.no_symmetry,
                                .observed = t->observed,
                                .n_observed = (uint32_t)t->n,
                                .ranks = t->ranks};
    struct explore_result result = {0};
    uint64_t args[2] = {(uint64_t)(uintptr_t)t->mem, (uint64_t)(uintptr_t)t->out};
    hd_report *report;
    double start = seconds_now();
    t->config.packed_args = args;
    t->config.packed_bytes = sizeof args;
    hd_result r = api_explore(t->kernel, &t->config, &o, &result, &report);
    if (r || result.is_part) {
        explore_free(&result);
        return r ? report_failure(t->s, r, report) : 0;
    }
    hd_report_free(report);
    o.ranks = NULL;
    struct exploration e = explored(t->s, &result, seconds_now() - start);
    e.names = t->names;
    int status = result.refusal.text ? explore_refused(t->s, &e) : choose_outcome(t->s, &e);
    if (!status)
        status = tell(t, &e, &o, results);
    explore_free(&result);
    return status;
}

static bool is_json(const char *path)
{
    return strcmp(file_extension(path), ".json") == 0;
}

static int run_test(const struct test *pattern, const char *path, json_t *results)
{
    struct test t = *pattern;
    hd_machine *machine = t.machine;
    t.path = path;
    int status = is_json(path) ? load_json(&t) : load_herd(&t);
    status = status ? status : explore_test(&t, results);
    if (t.mem)
        hd_free(machine, t.mem);
    if (t.out)
        hd_free(machine, t.out);
    hd_module_unload(t.module);
    json_decref(t.json);
    return status;
}

static int run_tests(struct session *s, struct ranks *ranks)
{
    struct test pattern = {.s = s, .interrupted = explore_interrupted(ranks), .ranks = ranks->n > 1 ? ranks : NULL};
    json_t *results = s->o.explore_json ? json_array() : NULL;
    int status = open_machine(s, &(hd_machine_options){0}, &pattern.machine), worst = 0, i = 0;
    if (status)
        return status;
    if (!(worst = connect_ranks(s, ranks)))
        for (; i < s->n_words && !atomic_load(pattern.interrupted); i++) {
            status = run_test(&pattern, s->words[i], results);
            worst = status > worst ? status : worst;
        }
    if (atomic_load(pattern.interrupted))
        worst = cli_failure(s, "interrupted: %d of %d tests were begun", i, s->n_words);
    hd_machine_destroy(pattern.machine);
    if (results && !ranks->number && explored_write_json(s, results, JSON_COMPACT))
        worst = 1;
    json_decref(results);
    return worst;
}

int cmd_litmus(struct session *s)
{
    struct ranks ranks;
    if (s->n_words == 0)
        return usage_error(s, "the test is missing, as in `heddle litmus MP.litmus`");
    if (s->o.graph && s->n_words > 1)
        return usage_error(s, "--graph draws an execution of one test: %d were given", s->n_words);
    if (written_name_error(s))
        return 2;
    begin_equal_ranks(s, &ranks);
    return end_ranks(&ranks, run_tests(s, &ranks));
}

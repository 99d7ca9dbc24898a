/* heddle litmus: explores litmus tests, many in one process. A test is a JSON file beside the PTX of its kernel: `kernel`, `grid`, `block`,
 * `cluster`, the sizes of two buffers of zeros, mem_bytes and out_bytes, that are the kernel's arguments, what is there at first
 * (`init`: a name: [offset, value]), and where each value of an outcome stands (`keys`, `at`: [buffer, offset]). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "cli/exploration.h"

struct test {
    struct session *s;
    hd_machine *machine;
    hd_module *module;
    hd_kernel *kernel;
    json_t *json;
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

static int load_test(struct test *t)
{
    struct arena *arena = &t->s->arena;
    json_error_t error;
    size_t n = strlen(t->path);
    if (n < 5 || strcmp(t->path + n - 5, ".json") != 0)
        return bad_test(t, "a litmus test is a file NAME.json, with NAME.ptx beside it");
    t->json = json_load_file(t->path, 0, &error);
    if (!t->json)
        return cli_failure(t->s, "%s:%d: %s", t->path, error.line, error.text);
    const char *ptx = arena_printf(arena, "%.*s.ptx", (int)(n - 5), t->path), *wrong;
    struct file_bytes bytes;
    if ((wrong = file_read_ptx(arena, ptx, &bytes)))
        return cli_failure(t->s, "%s", wrong);
    hd_source source = {ptx, bytes.bytes, bytes.n};
    hd_report *report = NULL;
    hd_result r = hd_module_load(t->machine, &source, 1, &t->module, &report);
    if (!r) {
        hd_report_free(report);
        report = NULL;
        const char *kernel = json_string_value(json_object_get(t->json, "kernel"));
        r = hd_module_get_kernel(t->module, kernel ? kernel : "litmus", &t->kernel, &report);
    }
    free(bytes.bytes);
    if (r)
        return report_failure(t->s, r, report);
    hd_report_free(report);
    return 0;
}

static unsigned number(const struct test *t, const char *name)
{
    json_t *v = json_object_get(t->json, name);
    return v && json_is_integer(v) && json_integer_value(v) > 0 ? (unsigned)json_integer_value(v) : 0;
}

static int fill_test(struct test *t)
{
    const char *name;
    json_t *value;
    t->mem_bytes = number(t, "mem_bytes") ? number(t, "mem_bytes") : 4;
    t->out_bytes = number(t, "out_bytes") ? number(t, "out_bytes") : 4;
    if (hd_alloc(t->machine, t->mem_bytes, &t->mem) || hd_alloc(t->machine, t->out_bytes, &t->out))
        return bad_test(t, "out of memory");
    memset(t->mem, 0, t->mem_bytes);
    memset(t->out, 0, t->out_bytes);
    json_object_foreach(json_object_get(t->json, "init"), name, value)
    {
        json_int_t at = json_integer_value(json_array_get(value, 0));
        uint32_t v = (uint32_t)json_integer_value(json_array_get(value, 1));
        if (at < 0 || (size_t)at + 4 > t->mem_bytes)
            return bad_test(t, "`init` has a place beyond mem_bytes");
        memcpy((uint8_t *)t->mem + at, &v, 4);
    }
    t->config.grid[0] = number(t, "grid");
    t->config.block[0] = number(t, "block");
    unsigned cluster = number(t, "cluster");
    for (int i = 1; i < 3; i++)
        t->config.grid[i] = t->config.block[i] = 1;
    for (int i = 0; i < 3; i++)
        t->config.cluster[i] = cluster < 2 ? 0 : i ? 1 : cluster;
    return 0;
}

static int observe_test(struct test *t)
{
    json_t *keys = json_object_get(t->json, "keys"), *at = json_object_get(t->json, "at");
    t->n = json_array_size(at);
    t->observed = ARENA_ARRAY(&t->s->arena, struct observed, t->n);
    t->names = ARENA_ARRAY(&t->s->arena, const char *, t->n);
    for (size_t i = 0; i < t->n; i++) {
        json_t *one = json_array_get(at, i);
        const char *buffer = json_string_value(json_array_get(one, 0));
        json_int_t offset = json_integer_value(json_array_get(one, 1));
        bool mem = buffer && strcmp(buffer, "mem") == 0;
        if (!buffer || offset < 0 || (size_t)offset + 4 > (mem ? t->mem_bytes : t->out_bytes))
            return bad_test(t, "`at` is a list of [\"mem\" or \"out\", offset]");
        t->observed[i] =
            (struct observed){GLOBAL_MEMORY, (uint64_t)(uintptr_t)(mem ? t->mem : t->out) + (uint64_t)offset, 4};
        const char *key = json_string_value(json_array_get(keys, i));
        t->names[i] = arena_strdup(&t->s->arena, key ? key : "?");
    }
    return 0;
}

static int explore_test(struct test *t, json_t *results)
{
    struct explore_options o = {.n_threads = workers_of(t->machine),
                                .unroll = (uint32_t)t->s->o.unroll.value,
                                .symmetric = !t->s->o.no_symmetry,
                                .observed = t->observed,
                                .n_observed = (uint32_t)t->n};
    struct explore_result result = {0};
    uint64_t args[2] = {(uint64_t)(uintptr_t)t->mem, (uint64_t)(uintptr_t)t->out};
    hd_report *report;
    double start = seconds_now();
    t->config.packed_args = args;
    t->config.packed_bytes = sizeof args;
    hd_result r = api_explore(t->kernel, &t->config, &o, &result, &report);
    if (r) {
        explore_free(&result);
        return report_failure(t->s, r, report);
    }
    hd_report_free(report);
    struct exploration e = {.s = t->s, .result = &result, .names = t->names, .seconds = seconds_now() - start};
    int status = 0;
    if (result.refusal.text) {
        status = exploration_refused(&e);
    } else if (results) {
        json_t *json = exploration_json(&e);
        json_object_set_new(json, "name", json_string(t->path));
        json_array_append_new(results, json);
    } else {
        printf("%s\n", t->path);
        exploration_print(&e);
    }
    explore_free(&result);
    return status;
}

static int run_test(struct session *s, hd_machine *machine, const char *path, json_t *results)
{
    struct test t = {.s = s, .machine = machine, .path = path};
    int (*const steps[])(struct test *) = {load_test, fill_test, observe_test};
    int status = 0;
    for (size_t i = 0; !status && i < sizeof steps / sizeof steps[0]; i++)
        status = steps[i](&t);
    status = status ? status : explore_test(&t, results);
    if (t.mem)
        hd_free(machine, t.mem);
    if (t.out)
        hd_free(machine, t.out);
    hd_module_unload(t.module);
    json_decref(t.json);
    return status;
}

int cmd_litmus(struct session *s)
{
    hd_machine *machine;
    json_t *results = s->o.explore_json ? json_array() : NULL;
    if (s->n_words == 0)
        return usage_error(s, "which test? As in `heddle litmus tests/*.json`");
    int status = open_machine(s, &(hd_machine_options){0}, &machine), worst = 0;
    if (status)
        return status;
    for (int i = 0; i < s->n_words; i++) {
        status = run_test(s, machine, s->words[i], results);
        worst = status > worst ? status : worst;
    }
    hd_machine_destroy(machine);
    if (results && json_dump_file(results, s->o.explore_json, JSON_COMPACT))
        worst = cli_failure(s, "%s cannot be written", s->o.explore_json);
    json_decref(results);
    return worst;
}

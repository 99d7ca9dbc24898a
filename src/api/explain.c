/* Explainers of the library (include/heddle.h). */
#include <stdlib.h>

#include "api/handles.h"
#include "api/sized.h"
#include "explain/json.h"

/* Records the order of tasks, unless a checker does: it has one client. */
static void watch_streams(hd_explainer *e)
{
    const struct order_hooks *nobody = NULL;
    e->order = stream_log_hooks(e->streams);
    if (!e->order || !atomic_compare_exchange_strong(&e->machine->machine->order, &nobody, e->order))
        e->order = NULL;
}

hd_result hd_explainer_create_sized(hd_machine *machine, const hd_explainer_options *options, size_t bytes,
                                    hd_explainer **explainer)
{
    hd_explainer_options o;
    hd_result r = SIZED_READ(hd_explainer_options, &o, options, bytes);
    if (r)
        return r;
    if (!machine || !explainer || machine->explainer)
        return HD_ERROR_INVALID_VALUE;
    const struct device_model *model = o.device ? device_model_of_report(o.device) : machine->machine->model;
    if (!model)
        return HD_ERROR_INVALID_VALUE;
    hd_explainer *e = calloc(1, sizeof *e);
    if (!e || !(e->counter = counter_new(model, o.sample_after)) || !(e->calls = call_log_new(model)) ||
        !(e->streams = o.with ? o.with->streams : stream_log_new())) {
        counter_free(e ? e->counter : NULL);
        call_log_free(e ? e->calls : NULL);
        free(e);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    e->machine = machine;
    e->options = o;
    e->model = model;
    pthread_mutex_init(&e->lock, NULL);
    watch_streams(e);
    machine->explainer = *explainer = e;
    return HD_SUCCESS;
}

void hd_explainer_destroy(hd_explainer *e)
{
    if (!e)
        return;
    if (e->order)
        atomic_store(&e->machine->machine->order, NULL);
    if (!e->options.with)
        stream_log_free(e->streams);
    e->machine->explainer = NULL;
    counter_free(e->counter);
    call_log_free(e->calls);
    modules_forget(e->machine);
    alike_free(&e->alike);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Runs a step with a temporary arena. Returns false if memory is exhausted. */
static bool with_arena(bool (*step)(void *data, struct arena *arena), void *data)
{
    struct arena arena = {0};
    jmp_buf oom;
    volatile bool ok = false;
    arena.on_oom = &oom;
    if (setjmp(oom) == 0)
        ok = step(data, &arena);
    arena.on_oom = NULL;
    arena_free(&arena);
    return ok;
}

/* ---- launches ---- */

/* The text of a JSON value; frees the value. */
static char *dump(json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
    json_decref(json);
    return text;
}

struct ended {
    hd_explainer *explainer;
    struct counted_launch *launch;
    uint32_t task;
    struct kernel_counters counted;
    struct estimate estimate;
    char *text; /* or NULL */
};

static bool count_launch(void *data, struct arena *arena)
{
    struct ended *e = data;
    counter_end(e->launch, &e->counted, arena);
    e->estimate = model_estimate(&e->counted, e->explainer->model);
    if (e->explainer->order)
        stream_log_launched(e->explainer->streams, e->task, e->estimate.time.ns);
    return true;
}

static bool describe_launch(void *data, struct arena *arena)
{
    struct ended *e = data;
    e->text = dump(counters_json(&e->counted, e->explainer->model, &e->estimate, arena));
    return e->text != NULL;
}

/* A launch with a timeline equals no other. Call with the lock held. */
static void tell_launch(struct ended *ended)
{
    hd_explainer *e = ended->explainer;
    struct fingerprint f = fingerprint_of(&ended->counted);
    uint64_t alike = e->options.again ? alike_find(&e->alike, f) : 0;
    if (alike) {
        e->options.again(e->options.data, alike - 1);
        return;
    }
    if (with_arena(describe_launch, ended) && ++e->told && !ended->counted.timeline)
        alike_add(&e->alike, f, e->told);
    e->options.launched(e->options.data, ended->text);
    free(ended->text);
}

void explainer_end(hd_explainer *e, struct counted_launch *l, uint32_t task)
{
    struct ended ended = {.explainer = e, .launch = l, .task = task};
    bool counted = l && with_arena(count_launch, &ended);
    pthread_mutex_lock(&e->lock);
    if (counted && e->options.launched)
        tell_launch(&ended);
    else if (e->options.launched)
        e->options.launched(e->options.data, NULL);
    pthread_mutex_unlock(&e->lock);
    if (l)
        counter_launch_free(l);
}

/* ---- kernels ---- */

struct asked {
    hd_explainer *explainer;
    size_t i;
    char *text;
};

static bool describe_kernel(void *data, struct arena *arena)
{
    struct asked *a = data;
    struct kernel_counters sums;
    struct kernel_launches launches;
    if (!counter_kernel(a->explainer->counter, a->i, &sums, &launches, arena))
        return true;
    a->text = dump(counters_kernel_json(&sums, &launches, arena));
    return a->text != NULL;
}

hd_result hd_explainer_kernel(hd_explainer *e, size_t i, char **json)
{
    if (!e || !json)
        return HD_ERROR_INVALID_VALUE;
    struct asked a = {e, i, NULL};
    bool ok = with_arena(describe_kernel, &a);
    *json = a.text;
    return ok ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

void hd_explainer_range(hd_explainer *e, hd_range_event event, uint64_t id, const char *name)
{
    if (e)
        stream_log_range(e->streams, event, id, name);
}

hd_result hd_explainer_calls(hd_explainer *e, char **json)
{
    if (!e || !json)
        return HD_ERROR_INVALID_VALUE;
    *json = dump(call_log_json(e->calls));
    return *json ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

hd_result hd_explainer_streams(hd_explainer *e, char **json)
{
    if (!e || !json)
        return HD_ERROR_INVALID_VALUE;
    *json = dump(stream_log_json(e->streams));
    return *json ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

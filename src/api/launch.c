/* Launches of the library (include/heddle.h): checks of the configuration, and the packing of
 * parameters. */
#include <stdlib.h>

#include "api/handles.h"
#include "api/sized.h"
#include "base/monotonic.h"
#include "check/report/places.h"
#include "debug/run.h"

static bool launch_fits(const hd_kernel *k, const hd_launch_config *c, struct diags *d)
{
    static const unsigned max_block[3] = {DEVICE_MAX_BLOCK_DIM_X, DEVICE_MAX_BLOCK_DIM_Y, DEVICE_MAX_BLOCK_DIM_Z};
    static const unsigned max_grid[3] = {DEVICE_MAX_GRID_DIM_X, DEVICE_MAX_GRID_DIM_Y, DEVICE_MAX_GRID_DIM_Z};
    static const char axis[] = "xyz";
    const struct kernel *kernel = k->kernel;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (c->grid[i] == 0 || c->grid[i] > max_grid[i])
            diag_error(d, (struct place){0}, "launch-config", NULL, "grid.%c is %u; 1 to %u are possible", axis[i],
                       c->grid[i], max_grid[i]);
        if (c->block[i] == 0 || c->block[i] > max_block[i])
            diag_error(d, (struct place){0}, "launch-config", NULL, "block.%c is %u; 1 to %u are possible", axis[i],
                       c->block[i], max_block[i]);
        if (kernel->req_ntid[0] && kernel->req_ntid[i] != c->block[i])
            diag_error(d, (struct place){0}, "launch-config", NULL, "block.%c is %u; the kernel requires %u (.reqntid)",
                       axis[i], c->block[i], kernel->req_ntid[i]);
        threads *= c->block[i];
    }
    unsigned limit = device_max_threads(kernel);
    if (threads > limit)
        diag_error(d, (struct place){0}, "launch-config", NULL, "the block has %llu threads; at most %u are possible%s",
                   (unsigned long long)threads, limit,
                   limit < DEVICE_MAX_THREADS_PER_BLOCK ? " for this kernel (.maxntid)" : "");
    uint32_t optin = k->module->machine->machine->model->shared_bytes_optin;
    if (kernel->static_shared_bytes + (uint64_t)c->shared_bytes > optin)
        diag_error(d, (struct place){0}, "launch-config", NULL,
                   "the block needs %llu bytes of shared memory (%u static, %llu dynamic); it can have %u",
                   (unsigned long long)(kernel->static_shared_bytes + c->shared_bytes), kernel->static_shared_bytes,
                   (unsigned long long)c->shared_bytes, optin);
    return d->errors == 0;
}

/* The cluster size is the launch's, or else the one that the kernel requires. */
static struct launch_dims dims_of(const hd_kernel *k, const hd_launch_config *c)
{
    bool says = c->cluster[0] || c->cluster[1] || c->cluster[2];
    const uint32_t *cluster = says ? c->cluster : k->kernel->req_cluster;
    struct launch_dims d = {.explicit_cluster = says || cluster[0], .shared_bytes = (uint32_t)c->shared_bytes};
    for (int i = 0; i < 3; i++) {
        d.grid[i] = c->grid[i];
        d.block[i] = c->block[i];
        d.cluster[i] = cluster[i] ? cluster[i] : 1;
    }
    return d;
}

static void cluster_error(struct diags *d, const char *help, const char *text)
{
    diag_error(d, (struct place){0}, "cluster-size", help, "%s", text);
}

/* Do the kernel, the device and the grid allow the cluster size? Answers as an H200 does. */
static bool clusters_fit(const hd_kernel *k, const struct launch_dims *dims, unsigned flags, struct diags *d)
{
    enum { PORTABLE = 8, LARGEST = 16 };
    static const char axis[] = "xyz";
    const struct kernel *kernel = k->kernel;
    const uint32_t *cluster = dims->cluster;
    uint64_t blocks = 1, most = flags & HD_LAUNCH_NON_PORTABLE_CLUSTER ? LARGEST : PORTABLE;
    if (!dims->explicit_cluster && kernel->explicit_cluster)
        cluster_error(d, "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, --cluster, hd_launch_config.cluster",
                      "the launch has no cluster size, but the kernel requires one (.explicitcluster)");
    if (!dims->explicit_cluster)
        return d->errors == 0;
    for (int i = 0; i < 3; i++) {
        if (kernel->req_cluster[0] && kernel->req_cluster[i] != cluster[i])
            diag_error(d, (struct place){0}, "cluster-size", NULL,
                       "cluster.%c is %u; the kernel requires %u (.reqnctapercluster)", axis[i], cluster[i],
                       kernel->req_cluster[i]);
        if (dims->grid[i] % cluster[i])
            diag_error(d, (struct place){0}, "cluster-size", NULL,
                       "grid.%c is %u, which is not a multiple of the cluster's %u", axis[i], dims->grid[i],
                       cluster[i]);
        blocks = cluster[i] > LARGEST ? LARGEST + 1 : blocks * cluster[i];
    }
    if (blocks > most)
        diag_error(d, (struct place){0}, "cluster-size",
                   most < LARGEST ? "up to 16 with CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, "
                                    "HD_LAUNCH_NON_PORTABLE_CLUSTER"
                                  : "make it smaller: the device allows at most that many blocks in a cluster",
                   "the cluster has more than %u blocks", (unsigned)most);
    if (kernel->max_cluster_rank && blocks > kernel->max_cluster_rank)
        diag_error(d, (struct place){0}, "cluster-size", NULL,
                   "the cluster has %u blocks; the kernel allows %u (.maxclusterrank)", (unsigned)blocks,
                   kernel->max_cluster_rank);
    return d->errors == 0;
}

/* Can the kernel, and the device that the machine claims to be, have clusters of several blocks? */
static bool has_clusters(const hd_kernel *k, const uint32_t cluster[3], struct diags *d)
{
    if (cluster[0] * cluster[1] * cluster[2] <= 1)
        return true;
    if (k->module->machine->machine->model->arch < 90)
        cluster_error(d, NULL, "the device has no clusters: it is older than sm_90");
    return d->errors == 0 && kernel_runs_in_clusters(k->kernel, d);
}

static bool cooperates(const hd_kernel *k, const struct launch_dims *dims, unsigned flags, struct diags *d)
{
    uint32_t threads = dims->block[0] * dims->block[1] * dims->block[2];
    uint32_t shared = k->kernel->static_shared_bytes + dims->shared_bytes;
    uint64_t blocks = (uint64_t)dims->grid[0] * dims->grid[1] * dims->grid[2],
             limit = launch_capacity(k->module->machine->machine, threads, shared);
    if (!(flags & HD_LAUNCH_COOPERATIVE) || blocks <= limit)
        return true;
    diag_error(d, (struct place){0}, "cooperative", NULL,
               "the cooperative launch has %llu blocks; %llu of this size can be resident at once",
               (unsigned long long)blocks, (unsigned long long)limit);
    return false;
}

/* The packed parameters, from an array of pointers or an already packed buffer. */
static uint8_t *pack_params(const hd_kernel *k, const hd_launch_config *c)
{
    const struct ptx_signature *s = &k->kernel->func->signature;
    uint8_t *packed = launch_params(k->module->machine->machine, k->kernel);
    if (packed && c->packed_args) {
        memcpy(packed, c->packed_args, k->kernel->param_bytes);
    } else if (packed) {
        for (uint32_t i = 0; i < s->params.n; i++)
            memcpy(packed + s->params.at[i]->param_at, c->args[i], s->params.at[i]->size);
    }
    return packed;
}

static const unsigned ALL_FLAGS = HD_LAUNCH_COOPERATIVE | HD_LAUNCH_CLOSED | HD_LAUNCH_NON_PORTABLE_CLUSTER |
                                  HD_LAUNCH_UNCHECKED | HD_LAUNCH_PROGRAMMATIC | HD_LAUNCH_REPLAYED;
static const double MOST_SECONDS = 1e9; /* thirty years */

hd_result launch_dims(const hd_kernel *k, const hd_launch_config *c, struct launch_dims *dims, struct diags *d)
{
    if (!launch_fits(k, c, d))
        return HD_ERROR_INVALID_VALUE;
    *dims = dims_of(k, c);
    if (!clusters_fit(k, dims, c->flags, d))
        return HD_ERROR_INVALID_CLUSTER_SIZE;
    if (!has_clusters(k, dims->cluster, d))
        return HD_ERROR_NOT_SUPPORTED;
    return cooperates(k, dims, c->flags, d) ? HD_SUCCESS : HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

/* Checks a configuration before its launch. */
static hd_result check(const hd_kernel *k, const hd_launch_config *c, struct launch_dims *dims, struct diags *d)
{
    bool has_params = k->kernel->param_bytes > 0;
    if (c->flags & ~ALL_FLAGS || c->engine > HD_ENGINE_JIT)
        return HD_ERROR_INVALID_VALUE;
    if (!(c->timeout_seconds >= 0 && c->timeout_seconds <= MOST_SECONDS))
        return HD_ERROR_INVALID_VALUE;
    if (has_params &&
        ((c->args != NULL) == (c->packed_args != NULL) || (c->packed_args && c->packed_bytes < k->kernel->param_bytes)))
        return HD_ERROR_INVALID_VALUE;
    return launch_dims(k, c, dims, d);
}

void launch_release(const hd_machine *m, struct launch_request *q)
{
    launch_params_free(m->machine, q->params);
    if (q->textures)
        texture_table_leave(&m->machine->textures);
    q->textures = 0;
    for (uint32_t i = 0; i < q->n_bound; i++)
        texture_release(q->bound[i].texture);
    free(q->bound);
    q->params = NULL;
    q->bound = NULL;
    q->n_bound = 0;
}

bool launch_take_textures(hd_module *m, struct launch_request *q, uint64_t since)
{
    uint32_t n = m->references.n;
    q->textures = texture_table_enter(&m->machine->machine->textures, since);
    q->bound = n ? calloc(n, sizeof *q->bound) : NULL;
    if (n && !q->bound)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct texture_reference *r = &m->references.at[i]->reference;
        q->bound[i] = (struct bound_texture){r, texture_bound(&m->machine->machine->textures, r)};
    }
    q->n_bound = n;
    return true;
}

hd_result launch_prepare(hd_kernel *k, const hd_launch_config *c, struct launch_request *q, struct diags *d)
{
    *q = (struct launch_request){.kernel = k->kernel,
                                 .flags = c->flags & ~(k->kernel->nests ? HD_LAUNCH_CLOSED : 0u),
                                 .engine = c->engine ? c->engine : k->module->machine->machine->config.engine,
                                 .deadline = c->timeout_seconds > 0 ? seconds_now() + c->timeout_seconds : 0};
    hd_result r = check(k, c, &q->dims, d);
    if (r)
        return r;
    if (k->kernel->param_bytes && !(q->params = pack_params(k, c)))
        return HD_ERROR_OUT_OF_MEMORY;
    if (!launch_take_textures(k->module, q, 0))
        return HD_ERROR_OUT_OF_MEMORY;
    q->rules = (struct memory_rules *)c->rules;
    q->graph = c->graph;
    q->graph_run = c->graph_run;
    return HD_SUCCESS;
}

struct checking {
    hd_kernel *kernel;
    const hd_launch_config *config;
};

static hd_result check_alone(void *data, struct diags *d)
{
    struct checking *c = data;
    struct launch_dims dims;
    return check(c->kernel, c->config, &dims, d);
}

hd_result hd_launch_check_sized(hd_kernel *k, const hd_launch_config *config, size_t bytes, hd_report **report)
{
    hd_launch_config own;
    struct checking c = {k, config};
    if (report)
        *report = NULL;
    if (!k || !config)
        return HD_ERROR_INVALID_VALUE;
    hd_result unknown = SIZED_VIEW(hd_launch_config, &c.config, &own, bytes);
    return unknown ? unknown : report_during(report, NULL, check_alone, &c);
}

static void tell_launched(const hd_checker *c, struct str kernel, bool fresh)
{
    struct arena scratch = {0};
    const char *name = c->options.launched ? arena_strndup(&scratch, kernel.p, kernel.n) : NULL;
    if (name)
        c->options.launched(c->options.data, name, fresh);
    arena_free(&scratch);
}

static void tell_begun(void (*begun)(void *data, const char *kernel), void *data, struct str kernel)
{
    struct arena scratch = {0};
    const char *name = begun ? arena_strndup(&scratch, kernel.p, kernel.n) : NULL;
    if (name)
        begun(data, name);
    arena_free(&scratch);
}

static bool checked_begin(hd_checker *c, struct launch_request *q, struct running *r)
{
    r->findings = checker_count(c->checker);
    if (q->flags & HD_LAUNCH_UNCHECKED)
        return true;
    tell_begun(c->options.begun, c->options.data, q->kernel->func->symbol.name);
    return checker_begin(c->checker, kernel_sites(q->kernel), &q->events, q->rules);
}

static void checked_end(hd_checker *c, const struct launch_request *q, const struct running *r)
{
    bool watched = !(q->flags & HD_LAUNCH_UNCHECKED);
    checker_host(c->checker, &(struct host_event){.kind = watched ? HOST_LAUNCH_END : HOST_WRITTEN});
    if (watched)
        tell_launched(c, q->kernel->func->symbol.name, checker_count(c->checker) > r->findings);
}

const void *launch_place(const hd_machine *m)
{
    const hd_checker *c = m->checker;
    return c && c->options.place ? c->options.place(c->options.data) : NULL;
}

static hd_explainer *explainer_of(const hd_machine *m, const struct launch_request *q)
{
    return q->flags & HD_LAUNCH_UNCHECKED ? NULL : m->explainer;
}

void running_begin(hd_machine *m, struct launch_request *q, struct running *r, struct diags *diags)
{
    hd_explainer *e = explainer_of(m, q);
    bool watched = !m->tracer || events_add(&q->events, trace_client(m->tracer));
    *r = (struct running){.counted = e ? counter_begin(e->counter, &m->machine->mem, q) : NULL};
    if (e)
        tell_begun(e->options.begun, e->options.data, q->kernel->func->symbol.name);
    if (m->checker)
        watched &= checked_begin(m->checker, q, r);
    if (q->stopper)
        watched &= debug_listen(q);
    r->launch = watched ? launch_begin(m->machine, q, diags) : NULL;
}

hd_result running_end(hd_machine *m, struct launch_request *q, struct running *r, hd_launch_stats *stats,
                      struct diags *diags)
{
    hd_explainer *e = explainer_of(m, q);
    hd_result result = launch_end(r->launch, stats, diags);
    events_close(&q->events);
    if (m->checker) {
        checked_end(m->checker, q, r);
        if (result)
            place_launch(diags, &m->checker->options, q->where, false);
    }
    if (e)
        explainer_end(e, r->counted, q->task);
    return result;
}

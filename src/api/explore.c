/* Explorations of a launch; see explore.h. */
#include "api/explore.h"

#include "api/handles.h"

struct exploring {
    hd_kernel *kernel;
    const hd_launch_config *config;
    const struct explore_options *options;
    struct explore_result *result;
    struct launch_request request;
};

static hd_result prepare_and_explore(void *data, struct diags *diags)
{
    struct exploring *e = data;
    hd_result r = launch_prepare(e->kernel, e->config, &e->request, diags);
    if (r)
        return r;
    struct explore_launch l = {.kernel = e->request.kernel,
                               .mem = &e->kernel->module->machine->machine->mem,
                               .dims = e->request.dims,
                               .params = e->request.params};
    explore(&l, e->options, e->result);
    return HD_SUCCESS;
}

hd_result api_explore(hd_kernel *kernel, const hd_launch_config *config, const struct explore_options *options,
                      struct explore_result *result, hd_report **report)
{
    struct exploring e = {.kernel = kernel, .config = config, .options = options, .result = result};
    *report = NULL;
    hd_result r = report_during(report, NULL, prepare_and_explore, &e);
    launch_params_free(kernel->module->machine->machine, e.request.params);
    return r;
}

bool api_shared_variable(hd_kernel *kernel, const char *name, uint64_t *at, uint64_t *bytes)
{
    const struct kernel *k = kernel->kernel;
    for (uint32_t i = 0; i < k->shared_vars.n; i++) {
        const struct ptx_var *v = k->shared_vars.at[i].var;
        if (str_is(v->symbol.name, name)) {
            *at = k->shared_vars.at[i].at;
            *bytes = v->size;
            return true;
        }
    }
    return false;
}

/* See execution.h. */
#include "libraries/cufft/execution.h"

#include "libraries/cufft/used.h"

#include <stdlib.h>

static hd_result run(void *args)
{
    const struct execution *e = args;
    bool done = transform_run(&e->transform, e->backward, library_view(e->from), library_view(e->to));
    return done ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

/* Ranges that kernels may not use are not declared. */
static bool add_side(struct used_list *used, const struct execution *e, enum transform_side side, bool host)
{
    bool reads = side == TRANSFORM_SIDE_FROM;
    const void *at = reads ? e->from : e->to;
    if (host && heddle_library_memory(at) == LIBRARY_PAGEABLE)
        return true;
    return used_add(used, &e->transform, side, at, reads ? HD_READS : HD_WRITES);
}

CUresult execution_put(CUstream stream, const char *call, const struct execution *e, bool host)
{
    struct used_list used = {0};
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    if (add_side(&used, e, TRANSFORM_SIDE_FROM, host) && add_side(&used, e, TRANSFORM_SIDE_TO, host)) {
        const struct library_task t = {.name = call,
                                       .run = run,
                                       .args = e,
                                       .arg_bytes = sizeof *e,
                                       .used = used.at,
                                       .used_count = used.n,
                                       .flops = transform_flops(&e->transform),
                                       .unit = e->transform.type == TRANSFORM_DOUBLE ? HD_UNIT_FP64 : HD_UNIT_FP32};
        r = heddle_library_put(stream, &t, host);
    }
    free(used.at);
    return r;
}

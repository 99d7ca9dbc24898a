/* Operation graphs: which can be computed, and how. */
#include <stdlib.h>

#include "libraries/cudnn/backend.h"
#include "libraries/cudnn/convolution.h"
#include "libraries/cudnn/operations.h"

#define OWN_KERNELS " (torch.backends.cudnn.enabled = False makes PyTorch use its own kernels)"

bool descriptor_tensor(const struct descriptor *d, struct tensor *t)
{
    const struct attribute *dims = attribute_of(d, ATTR_TENSOR_DIMENSIONS),
                           *strides = attribute_of(d, ATTR_TENSOR_STRIDES);
    if (!dims || !strides || dims->type != TYPE_INT64 || strides->type != TYPE_INT64 || dims->n != strides->n ||
        dims->n < 1 || dims->n > MAX_DIMS)
        return false;
    *t = (struct tensor){.type = (int)attribute_int(d, ATTR_TENSOR_DATA_TYPE, -1), .n = (unsigned)dims->n};
    for (unsigned i = 0; i < t->n; i++) {
        t->dim[i] = ((int64_t *)dims->values)[i];
        t->stride[i] = ((int64_t *)strides->values)[i];
        if (t->dim[i] < 1 || t->stride[i] < 0)
            return false;
    }
    return true;
}

static bool read_space(const struct descriptor *d, int name, unsigned n, int64_t *to)
{
    const struct attribute *a = attribute_of(d, name);
    if (!a || a->type != TYPE_INT64 || a->n < (int64_t)n)
        return false;
    for (unsigned i = 0; i < n; i++)
        to[i] = ((int64_t *)a->values)[i];
    return true;
}

bool descriptor_convolution(const struct descriptor *op, struct convolution *c, int64_t ids[3])
{
    int first = op->type == BACKEND_CONVOLUTION_FORWARD ? ATTR_OPERATION_FORWARD
                : op->type == BACKEND_CONVOLUTION_DATA  ? ATTR_OPERATION_DATA
                                                        : ATTR_OPERATION_FILTER;
    enum { ALPHA, BETA, CONVOLUTION, FILTERS, IN, OUT };
    const struct descriptor *d = attribute_descriptor(op, first + CONVOLUTION),
                            *w = attribute_descriptor(op, first + FILTERS), *x = attribute_descriptor(op, first + IN),
                            *y = attribute_descriptor(op, first + OUT);
    if (!d || !w || !x || !y)
        return false;
    *c = (struct convolution){.kind = op->type == BACKEND_CONVOLUTION_FORWARD ? CONVOLUTION_FORWARD
                                      : op->type == BACKEND_CONVOLUTION_DATA  ? CONVOLUTION_DATA
                                                                              : CONVOLUTION_FILTER,
                              .space = (unsigned)attribute_int(d, ATTR_CONVOLUTION_SPATIAL_DIMS, 0),
                              .flipped =
                                  attribute_int(d, ATTR_CONVOLUTION_MODE, CUDNN_CROSS_CORRELATION) == CUDNN_CONVOLUTION,
                              .alpha = attribute_number(op, first + ALPHA, 1),
                              .beta = attribute_number(op, first + BETA, 0)};
    ids[0] = attribute_int(x, ATTR_TENSOR_UNIQUE_ID, 0);
    ids[1] = attribute_int(w, ATTR_TENSOR_UNIQUE_ID, 0);
    ids[2] = attribute_int(y, ATTR_TENSOR_UNIQUE_ID, 0);
    return c->space <= MAX_SPACE && read_space(d, ATTR_CONVOLUTION_STRIDES, c->space, c->stride) &&
           read_space(d, ATTR_CONVOLUTION_PRE_PADDINGS, c->space, c->pre) &&
           read_space(d, ATTR_CONVOLUTION_POST_PADDINGS, c->space, c->post) &&
           read_space(d, ATTR_CONVOLUTION_DILATIONS, c->space, c->dilation) && descriptor_tensor(x, &c->x) &&
           descriptor_tensor(w, &c->w) && descriptor_tensor(y, &c->y);
}

static const struct descriptor *only_operation(const struct descriptor *graph)
{
    const struct attribute *ops = attribute_of(graph, ATTR_GRAPH_OPS);
    const struct descriptor *op = attribute_descriptor(graph, ATTR_GRAPH_OPS);
    bool known = op && ops->n == 1 &&
                 (op->type == BACKEND_CONVOLUTION_FORWARD || op->type == BACKEND_CONVOLUTION_DATA ||
                  op->type == BACKEND_CONVOLUTION_FILTER);
    return known ? op : NULL;
}

static cudnnStatus_t finalize_operations(struct descriptor *graph)
{
    struct operations *o = malloc(sizeof *o);
    if (!o)
        return CUDNN_STATUS_ALLOC_FAILED;
    const char *wrong = operations_read(graph, o);
    free(graph->operations);
    graph->operations = wrong ? NULL : o;
    if (!wrong)
        return CUDNN_STATUS_SUCCESS;
    free(o);
    library_failed("cudnnBackendFinalize", "the graph has %s", wrong);
    LIBRARY_REFUSE(
        "a graph of cuDNN that is neither a convolution or its gradient, nor made of products, convolutions, "
        "pointwise operations, reductions, reshapes and dropout masks in float" OWN_KERNELS
        "; for attention: torch.backends.cuda.enable_cudnn_sdp(False)");
    return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t graph_finalize(struct descriptor *graph)
{
    struct convolution c;
    int64_t ids[3];
    const struct descriptor *op = only_operation(graph);
    if (!op)
        return finalize_operations(graph);
    if (!descriptor_convolution(op, &c, ids))
        return CUDNN_STATUS_BAD_PARAM;
    const char *wrong = convolution_wrong(&c);
    if (wrong) {
        library_failed("cudnnBackendFinalize", "convolution: %s", wrong);
        LIBRARY_REFUSE("a convolution of cuDNN with these types or sizes" OWN_KERNELS);
    }
    return wrong ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

/* ---- execution ---- */

struct run {
    struct convolution c;
    void *at[3];
};

static hd_result run_convolution(void *args)
{
    struct run *r = args;
    bool good = convolution_run(&r->c, library_view(r->at[0]), library_view(r->at[1]), library_view(r->at[2]));
    return good ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

static void *pointer_of(const struct descriptor *pack, int64_t id)
{
    const struct attribute *ids = attribute_of(pack, ATTR_PACK_UNIQUE_IDS),
                           *at = attribute_of(pack, ATTR_PACK_DATA_POINTERS);
    for (int64_t i = 0; ids && at && ids->type == TYPE_INT64 && at->type == TYPE_VOID_PTR && i < ids->n && i < at->n;
         i++)
        if (((int64_t *)ids->values)[i] == id)
            return ((void **)at->values)[i];
    return NULL;
}

/* Sets the addresses and the values of a graph's tensors; false if one is missing. */
static bool bind(struct operations *o, const struct descriptor *pack, hd_used *used, size_t *used_count)
{
    for (unsigned i = 0; i < o->value_count; i++) {
        struct value *v = &o->values[i];
        void *at = v->is_virtual ? NULL : pointer_of(pack, v->id);
        if (v->is_virtual || (!v->uses && !v->is_written))
            continue;
        if (!at)
            return false;
        if (v->is_by_value) {
            double value;
            tensor_move(&v->t, at, 1, 1, &value, false);
            v->constant = (float)value;
            continue;
        }
        v->at = at;
        used[(*used_count)++] = v->is_written ? library_writes(at, value_bytes(v)) : library_reads(at, value_bytes(v));
    }
    return true;
}

static cudnnStatus_t execute_operations(struct cudnn_handle *s, const struct descriptor *graph,
                                        const struct descriptor *pack)
{
    struct operations *o = malloc(sizeof *o);
    hd_used used[MAX_VALUES];
    size_t used_count = 0;
    cudnnStatus_t status = o ? CUDNN_STATUS_BAD_PARAM : CUDNN_STATUS_ALLOC_FAILED;
    if (o && graph->operations) {
        *o = *graph->operations;
        bool good = bind(o, pack, used, &used_count);
        const struct library_task t = {.name = "cudnnBackendExecute",
                                       .run = operations_run,
                                       .args = o,
                                       .arg_bytes = sizeof *o,
                                       .used = used,
                                       .used_count = used_count,
                                       .flops = operations_flops(o),
                                       .unit = HD_UNIT_TENSOR_FP16};
        status = good ? cudnn_status(heddle_library_put(s->stream, &t, false)) : CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    }
    free(o);
    return status;
}

cudnnStatus_t graph_execute(struct cudnn_handle *s, const struct descriptor *graph, const struct descriptor *pack)
{
    static const char *const names[] = {"cudnnConvolutionForward", "cudnnConvolutionBackwardData",
                                        "cudnnConvolutionBackwardFilter"};
    static const int written[] = {2, 0, 1};
    struct run r;
    int64_t ids[3];
    const struct descriptor *op = only_operation(graph);
    if (!op)
        return execute_operations(s, graph, pack);
    if (!descriptor_convolution(op, &r.c, ids))
        return CUDNN_STATUS_BAD_PARAM;
    const struct tensor *tensors[] = {&r.c.x, &r.c.w, &r.c.y};
    hd_used used[3];
    for (int i = 0; i < 3; i++) {
        r.at[i] = pointer_of(pack, ids[i]);
        if (!r.at[i])
            return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
        size_t bytes = tensor_bytes(tensors[i]);
        used[i] = i != written[r.c.kind] ? library_reads(r.at[i], bytes)
                  : r.c.beta != 0        ? library_updates(r.at[i], bytes)
                                         : library_writes(r.at[i], bytes);
    }
    const struct library_task t = {.name = names[r.c.kind],
                                   .run = run_convolution,
                                   .args = &r,
                                   .arg_bytes = sizeof r,
                                   .used = used,
                                   .used_count = 3,
                                   .flops = convolution_flops(&r.c),
                                   .unit = r.c.x.type == CUDNN_DATA_DOUBLE  ? HD_UNIT_FP64
                                           : r.c.x.type == CUDNN_DATA_FLOAT ? HD_UNIT_FP32
                                                                            : HD_UNIT_TENSOR_FP16};
    return cudnn_status(heddle_library_put(s->stream, &t, false));
}

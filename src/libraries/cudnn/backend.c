/* The backend API: descriptors, and the steps from an operation graph to a plan. Every graph has
 * one engine, without knobs, notes or workspace. */
#include "libraries/cudnn/backend.h"

#include <stdlib.h>
#include <string.h>

static size_t type_bytes(int type)
{
    switch (type) {
    case TYPE_BOOLEAN:
    case TYPE_CHAR: return 1;
    case TYPE_HANDLE:
    case TYPE_INT64:
    case TYPE_DOUBLE:
    case TYPE_VOID_PTR:
    case TYPE_DESCRIPTOR: return 8;
    case TYPE_FRACTION: return 16;
    default: return 4;
    }
}

/* ---- records ---- */

static void let_go(struct descriptor *d);

static void clear(struct attribute *a)
{
    for (int64_t i = 0; a->type == TYPE_DESCRIPTOR && i < a->n; i++)
        let_go(((struct descriptor **)a->values)[i]);
    free(a->values);
    a->values = NULL;
    a->n = 0;
}

static void let_go(struct descriptor *d)
{
    if (!d || --d->holders)
        return;
    for (uint32_t i = 0; i < d->attributes.n; i++)
        clear(&d->attributes.at[i]);
    free(d->attributes.at);
    free(d->operations);
    free(d);
}

static void let_go_later(void *d)
{
    let_go(d);
}

static struct descriptor *descriptor_new(int type)
{
    struct descriptor *d = calloc(1, sizeof *d);
    if (d)
        *d = (struct descriptor){.type = type, .holders = 1};
    return d;
}

static struct descriptor *descriptor_of(const void *handle)
{
    return handle_find(&library_handles, handle, KIND_BACKEND);
}

const struct attribute *attribute_of(const struct descriptor *d, int name)
{
    for (uint32_t i = 0; d && i < d->attributes.n; i++)
        if (d->attributes.at[i].name == name)
            return &d->attributes.at[i];
    return NULL;
}

struct descriptor *attribute_descriptor(const struct descriptor *d, int name)
{
    const struct attribute *a = attribute_of(d, name);
    return a && a->type == TYPE_DESCRIPTOR && a->n > 0 ? *(struct descriptor **)a->values : NULL;
}

int64_t attribute_int(const struct descriptor *d, int name, int64_t otherwise)
{
    const struct attribute *a = attribute_of(d, name);
    int64_t wide;
    int narrow;
    if (!a || a->n < 1)
        return otherwise;
    if (type_bytes(a->type) == 1)
        return *(signed char *)a->values;
    if (type_bytes(a->type) == sizeof wide)
        return memcpy(&wide, a->values, sizeof wide), wide;
    return type_bytes(a->type) == sizeof narrow ? (memcpy(&narrow, a->values, sizeof narrow), narrow) : otherwise;
}

double attribute_number(const struct descriptor *d, int name, double otherwise)
{
    const struct attribute *a = attribute_of(d, name);
    if (!a || a->n < 1)
        return otherwise;
    return a->type == TYPE_FLOAT ? *(float *)a->values : a->type == TYPE_DOUBLE ? *(double *)a->values : otherwise;
}

/* Copies the values; for descriptors, `values` are records. */
static cudnnStatus_t set(struct descriptor *d, int name, int type, int64_t n, const void *values)
{
    struct attribute *a = (struct attribute *)attribute_of(d, name);
    size_t bytes = (size_t)n * type_bytes(type);
    void *copy = malloc(bytes + 1);
    if (copy && !a && (a = VEC_ADD(&d->attributes)))
        *a = (struct attribute){.name = name};
    if (!copy || !a) {
        free(copy);
        return CUDNN_STATUS_ALLOC_FAILED;
    }
    memcpy(copy, values, bytes);
    for (int64_t i = 0; type == TYPE_DESCRIPTOR && i < n; i++)
        ((struct descriptor **)copy)[i]->holders++;
    clear(a);
    *a = (struct attribute){name, type, n, copy};
    return CUDNN_STATUS_SUCCESS;
}

/* ---- the API ---- */

LIBRARY_API cudnnStatus_t cudnnBackendCreateDescriptor(int type, cudnnBackendDescriptor_t *handle);
cudnnStatus_t cudnnBackendCreateDescriptor(int type, cudnnBackendDescriptor_t *handle)
{
    IN_CALL;
    if (!handle)
        return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (type < 0 || type >= BACKEND_TYPES)
        return CUDNN_STATUS_NOT_SUPPORTED;
    struct descriptor *d = descriptor_new(type);
    *handle = d ? handle_add(&library_handles, KIND_BACKEND, d, NULL) : NULL;
    if (!*handle)
        let_go(d);
    return *handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
}

LIBRARY_API cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle);
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t handle)
{
    IN_CALL;
    struct descriptor *d = handle_take(&library_handles, handle, KIND_BACKEND);
    if (d)
        call_later(let_go_later, d);
    return d || !handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

LIBRARY_API cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle, int name, int type, int64_t n,
                                                   const void *values);
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t handle, int name, int type, int64_t n,
                                       const void *values)
{
    IN_CALL;
    struct descriptor *d = descriptor_of(handle);
    if (!d || n < 0 || n > 1 << 20 || (n && !values))
        return CUDNN_STATUS_BAD_PARAM;
    if (d->final)
        return CUDNN_STATUS_NOT_INITIALIZED;
    if (type != TYPE_DESCRIPTOR)
        return set(d, name, type, n, values);
    struct descriptor **records = calloc((size_t)n + 1, sizeof *records);
    cudnnStatus_t status = records ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_ALLOC_FAILED;
    for (int64_t i = 0; !status && i < n; i++) {
        records[i] = descriptor_of(((void *const *)values)[i]);
        if (!records[i] || !records[i]->final)
            status = records[i] ? CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED : CUDNN_STATUS_BAD_PARAM;
    }
    status = status ? status : set(d, name, type, n, records);
    free(records);
    return status;
}

/* The engine of a graph; *made has a reference. */
static cudnnStatus_t engine_of(struct descriptor *graph, struct descriptor *engine)
{
    const int64_t first = 0;
    cudnnStatus_t status = set(engine, ATTR_ENGINE_OPERATION_GRAPH, TYPE_DESCRIPTOR, 1, &graph);
    status = status ? status : set(engine, ATTR_ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, &first);
    engine->final = true;
    return status;
}

/* Fills a descriptor that the caller made: the only configuration of a heuristic, or a
 * configuration's engine. */
static cudnnStatus_t fill(const struct descriptor *d, int name, struct descriptor *empty)
{
    if (name == ATTR_ENGINECFG_ENGINE) {
        struct descriptor *engine = attribute_descriptor(d, ATTR_ENGINECFG_ENGINE);
        struct descriptor *graph = attribute_descriptor(engine, ATTR_ENGINE_OPERATION_GRAPH);
        return graph ? engine_of(graph, empty) : CUDNN_STATUS_BAD_PARAM;
    }
    struct descriptor *graph = attribute_descriptor(d, ATTR_ENGINEHEUR_OPERATION_GRAPH);
    struct descriptor *engine = graph ? descriptor_new(BACKEND_ENGINE) : NULL;
    cudnnStatus_t status = engine ? engine_of(graph, engine) : CUDNN_STATUS_ALLOC_FAILED;
    status = status ? status : set(empty, ATTR_ENGINECFG_ENGINE, TYPE_DESCRIPTOR, 1, &engine);
    empty->final = true;
    let_go(engine);
    return status;
}

static cudnnStatus_t give_int(int64_t value, int64_t wanted, int64_t *n, void *values)
{
    if (n)
        *n = 1;
    if (wanted > 0 && values)
        memcpy(values, &value, sizeof value);
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t handle, int name, int type, int64_t wanted,
                                                   int64_t *n, void *values);
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t handle, int name, int type, int64_t wanted, int64_t *n,
                                       void *values)
{
    IN_CALL;
    const struct descriptor *d = descriptor_of(handle);
    if (!d || wanted < 0)
        return CUDNN_STATUS_BAD_PARAM;
    if (!d->final)
        return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
    if (name == ATTR_PLAN_WORKSPACE_SIZE)
        return give_int(0, wanted, n, values);
    if (name == ATTR_GRAPH_ENGINES)
        return give_int(1, wanted, n, values);
    if (type == TYPE_DESCRIPTOR && (name == ATTR_ENGINEHEUR_RESULTS || name == ATTR_ENGINECFG_ENGINE)) {
        if (n)
            *n = 1;
        struct descriptor *empty = wanted > 0 && values ? descriptor_of(*(void **)values) : NULL;
        return wanted == 0 || !values ? CUDNN_STATUS_SUCCESS : empty ? fill(d, name, empty) : CUDNN_STATUS_BAD_PARAM;
    }
    const struct attribute *a = attribute_of(d, name);
    if (n)
        *n = a ? a->n : 0; /* there are no notes or knobs */
    if (!a || !values)
        return CUDNN_STATUS_SUCCESS;
    if (a->type != type || type == TYPE_DESCRIPTOR)
        return CUDNN_STATUS_NOT_SUPPORTED;
    memcpy(values, a->values, (size_t)(a->n < wanted ? a->n : wanted) * type_bytes(type));
    return CUDNN_STATUS_SUCCESS;
}

LIBRARY_API cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle);
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle)
{
    IN_CALL;
    struct descriptor *d = descriptor_of(handle);
    if (!d)
        return CUDNN_STATUS_BAD_PARAM;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    if (d->type == BACKEND_OPERATIONGRAPH)
        status = graph_finalize(d);
    else if (d->type == BACKEND_ENGINE && attribute_int(d, ATTR_ENGINE_GLOBAL_INDEX, 0) != 0)
        status = CUDNN_STATUS_NOT_SUPPORTED;
    d->final = status == CUDNN_STATUS_SUCCESS;
    return status;
}

LIBRARY_API cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                              cudnnBackendDescriptor_t pack);
cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
    CONTEXT(s, handle);
    const struct descriptor *p = descriptor_of(plan), *v = descriptor_of(pack);
    const struct descriptor *config = attribute_descriptor(p, ATTR_PLAN_ENGINE_CONFIG);
    const struct descriptor *graph =
        attribute_descriptor(attribute_descriptor(config, ATTR_ENGINECFG_ENGINE), ATTR_ENGINE_OPERATION_GRAPH);
    if (!v || !graph || !p->final || !v->final)
        return CUDNN_STATUS_BAD_PARAM;
    return graph_execute(s, graph, v);
}

/* Descriptors of the backend API: sets of attributes. A descriptor lives as long as another one has
 * it as an attribute. */
#ifndef HEDDLE_LIBRARIES_CUDNN_BACKEND_H
#define HEDDLE_LIBRARIES_CUDNN_BACKEND_H

#include "base/vec.h"
#include "libraries/cudnn/cudnn.h"

/* cudnnBackendDescriptorType_t */
enum {
    BACKEND_CONVOLUTION = 1,
    BACKEND_ENGINE = 2,
    BACKEND_ENGINECFG = 3,
    BACKEND_ENGINEHEUR = 4,
    BACKEND_EXECUTION_PLAN = 5,
    BACKEND_CONVOLUTION_FORWARD = 10,
    BACKEND_CONVOLUTION_FILTER = 11,
    BACKEND_CONVOLUTION_DATA = 12,
    BACKEND_OPERATIONGRAPH = 15,
    BACKEND_VARIANT_PACK = 16,
    BACKEND_TENSOR = 17,
    BACKEND_TYPES = 64
};

/* cudnnBackendAttributeName_t */
enum {
    ATTR_CONVOLUTION_MODE = 101,
    ATTR_CONVOLUTION_DILATIONS = 102,
    ATTR_CONVOLUTION_STRIDES = 103,
    ATTR_CONVOLUTION_POST_PADDINGS = 104,
    ATTR_CONVOLUTION_PRE_PADDINGS = 105,
    ATTR_CONVOLUTION_SPATIAL_DIMS = 106,
    ATTR_ENGINEHEUR_OPERATION_GRAPH = 201,
    ATTR_ENGINEHEUR_RESULTS = 202,
    ATTR_ENGINECFG_ENGINE = 300,
    ATTR_PLAN_ENGINE_CONFIG = 401,
    ATTR_PLAN_WORKSPACE_SIZE = 402,
    ATTR_OPERATION_FORWARD = 700, /* followed by five more: alpha, beta, the convolution, w, x, y */
    ATTR_OPERATION_DATA = 706,    /* alpha, beta, the convolution, w, dx, dy */
    ATTR_OPERATION_FILTER = 712,  /* alpha, beta, the convolution, dw, x, dy */
    ATTR_GRAPH_OPS = 801,
    ATTR_GRAPH_ENGINES = 802,
    ATTR_TENSOR_DATA_TYPE = 901,
    ATTR_TENSOR_DIMENSIONS = 902,
    ATTR_TENSOR_STRIDES = 903,
    ATTR_TENSOR_UNIQUE_ID = 906,
    ATTR_PACK_UNIQUE_IDS = 1000,
    ATTR_PACK_DATA_POINTERS = 1001,
    ATTR_ENGINE_OPERATION_GRAPH = 1300,
    ATTR_ENGINE_GLOBAL_INDEX = 1301,
};

/* cudnnBackendAttributeType_t, those whose sizes are not an enum's */
enum {
    TYPE_HANDLE = 0,
    TYPE_BOOLEAN = 2,
    TYPE_INT64 = 3,
    TYPE_FLOAT = 4,
    TYPE_DOUBLE = 5,
    TYPE_VOID_PTR = 6,
    TYPE_DESCRIPTOR = 15,
    TYPE_CHAR = 24,
    TYPE_FRACTION = 26
};

struct descriptor;
struct attribute {
    int name, type;
    int64_t n;
    void *values; /* for TYPE_DESCRIPTOR: struct descriptor *, with references */
};

struct descriptor {
    int type;
    _Atomic unsigned holders;
    bool final;
    VEC(struct attribute) attributes;
};

/* Finds an attribute; NULL if it is not set. */
const struct attribute *attribute_of(const struct descriptor *d, int name);
/* The first descriptor of the attribute, or NULL. */
struct descriptor *attribute_descriptor(const struct descriptor *d, int name);
int64_t attribute_int(const struct descriptor *d, int name, int64_t otherwise);
/* A number with TYPE_FLOAT or TYPE_DOUBLE. */
double attribute_number(const struct descriptor *d, int name, double otherwise);

/* ---- graph.c ---- */

/* Can the operations be computed? Unsupported ones are named. */
cudnnStatus_t graph_finalize(const struct descriptor *graph);
cudnnStatus_t graph_execute(struct cudnn_handle *s, const struct descriptor *graph, const struct descriptor *pack);

#endif

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
    BACKEND_OPERATION_POINTWISE = 13,
    BACKEND_OPERATIONGRAPH = 15,
    BACKEND_VARIANT_PACK = 16,
    BACKEND_TENSOR = 17,
    BACKEND_OPERATION_MATMUL = 19,
    BACKEND_OPERATION_REDUCTION = 22,
    BACKEND_OPERATION_RESHAPE = 31,
    BACKEND_OPERATION_RNG = 33,
    BACKEND_TYPES = 64
};

/* cudnnBackendAttributeName_t */
enum {
    ATTR_POINTWISE_MODE = 0,
    ATTR_POINTWISE_LOWER_CLIP = 3,
    ATTR_POINTWISE_UPPER_CLIP = 4,
    ATTR_POINTWISE_SLOPE = 5,
    ATTR_POINTWISE_AXIS = 9,
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
    ATTR_OPERATION_FORWARD_W = 703,
    ATTR_OPERATION_FORWARD_X = 704,
    ATTR_OPERATION_FORWARD_Y = 705,
    ATTR_OPERATION_DATA = 706,   /* alpha, beta, the convolution, w, dx, dy */
    ATTR_OPERATION_FILTER = 712, /* alpha, beta, the convolution, dw, x, dy */
    ATTR_POINTWISE_DESCRIPTOR = 750,
    ATTR_POINTWISE_X = 751,
    ATTR_POINTWISE_B = 752,
    ATTR_POINTWISE_Y = 753,
    ATTR_POINTWISE_ALPHA1 = 754, /* followed by that of B */
    ATTR_POINTWISE_T = 758,
    ATTR_GRAPH_OPS = 801,
    ATTR_GRAPH_ENGINES = 802,
    ATTR_TENSOR_DATA_TYPE = 901,
    ATTR_TENSOR_DIMENSIONS = 902,
    ATTR_TENSOR_STRIDES = 903,
    ATTR_TENSOR_UNIQUE_ID = 906,
    ATTR_TENSOR_IS_VIRTUAL = 907,
    ATTR_TENSOR_IS_BY_VALUE = 908,
    ATTR_TENSOR_RAGGED_OFFSET = 913,
    ATTR_PACK_UNIQUE_IDS = 1000,
    ATTR_PACK_DATA_POINTERS = 1001,
    ATTR_ENGINE_OPERATION_GRAPH = 1300,
    ATTR_ENGINE_GLOBAL_INDEX = 1301,
    ATTR_MATMUL_A = 1520,
    ATTR_MATMUL_B = 1521,
    ATTR_MATMUL_C = 1522,
    ATTR_MATMUL_M_OVERRIDE = 1525, /* followed by those of N and K */
    ATTR_REDUCTION_MODE = 1600,
    ATTR_REDUCTION_X = 1610,
    ATTR_REDUCTION_Y = 1611,
    ATTR_REDUCTION_DESCRIPTOR = 1612,
    ATTR_RESHAPE_X = 2200,
    ATTR_RESHAPE_Y = 2201,
    ATTR_RNG_DISTRIBUTION = 2300,
    ATTR_RNG_PROBABILITY = 2305,
    ATTR_RNG_Y = 2310,
    ATTR_RNG_SEED = 2311,
    ATTR_RNG_DESCRIPTOR = 2312,
    ATTR_RNG_OFFSET = 2313,
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
    /* Of a graph that is final and no single convolution (graph.c). */
    struct operations *operations;
};

/* Finds an attribute; NULL if it is not set. */
const struct attribute *attribute_of(const struct descriptor *d, int name);
/* The first descriptor of the attribute, or NULL. */
struct descriptor *attribute_descriptor(const struct descriptor *d, int name);
int64_t attribute_int(const struct descriptor *d, int name, int64_t otherwise);
/* A number with TYPE_FLOAT or TYPE_DOUBLE. */
double attribute_number(const struct descriptor *d, int name, double otherwise);

/* ---- graph.c ---- */

/* Reads a tensor; false if its sizes are not supported. */
bool descriptor_tensor(const struct descriptor *d, struct tensor *t);

/* Can the operations be computed? Unsupported ones are named. */
cudnnStatus_t graph_finalize(struct descriptor *graph);
cudnnStatus_t graph_execute(struct cudnn_handle *s, const struct descriptor *graph, const struct descriptor *pack);

#endif

/* cuBLASLt's descriptors, which are structs in the program's memory ("opaque"), and tables of their
 * attributes. */
#ifndef HEDDLE_LIBRARIES_CUBLASLT_LT_H
#define HEDDLE_LIBRARIES_CUBLASLT_LT_H

#include <assert.h>

#include "cuda/cublasLt.h"

#include "libraries/blas/product.h"
#include "libraries/common/library.h"
#include "libraries/common/logger.h"

/* A matrix's layout. Its strides are in elements. */
struct layout {
    cudaDataType type;
    cublasLtOrder_t order;
    uint64_t rows, columns;
    int64_t ld;
    int32_t batch_count;
    cublasLtBatchMode_t batch_mode;
    int64_t batch_stride, plane_offset;
};
static_assert(sizeof(struct layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "a layout fits");

/* An operation's descriptor. */
struct operation {
    cublasComputeType_t compute;
    cudaDataType scale_type;
    int32_t pointer_mode, ta, tb, tc, fill_mode;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_stride;
    void *aux;
    int64_t aux_ld, aux_stride, alpha_stride;
    int32_t sm_count_target;
    uint32_t reserved;
    const void *a_scale, *b_scale, *c_scale, *d_scale;
    void *amax_d;
    int32_t aux_type;
    int32_t bias_type;
    const void *aux_scale;
    void *aux_amax;
    int32_t scale_modes[5]; /* of A, B, C, D, the auxiliary matrix */
    int32_t d_out_scale_mode;
    void *d_out_scale;
    void *emulation;
    int8_t fast_accumulation;
};
static_assert(sizeof(struct operation) <= sizeof(cublasLtMatmulDescOpaque_t), "an operation fits");

struct preference {
    uint32_t search_mode, reduction_schemes;
    uint64_t workspace, implementations;
    uint32_t alignment[4]; /* of A, B, C, D */
    float waves;
};
static_assert(sizeof(struct preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t), "a preference fits");

struct transformation {
    cudaDataType scale_type;
    int32_t pointer_mode, ta, tb;
};
static_assert(sizeof(struct transformation) <= sizeof(cublasLtMatrixTransformDescOpaque_t), "a transformation fits");

/* There is one algorithm; programs may set the attributes that the original's have. */
struct algorithm {
    uint32_t mark; /* ALGORITHM if initialised */
    int32_t id;
    uint32_t tile, split_k, reduction, swizzle, custom, stages;
    uint16_t inner_shape, cluster_shape, ten;
};
static_assert(sizeof(struct algorithm) <= sizeof(cublasLtMatmulAlgo_t), "an algorithm fits");
enum { ALGORITHM = 0x68656464 };

/* ---- attributes ---- */

struct attribute {
    unsigned number;
    unsigned offset, bytes;
    bool read_only;
};

cublasStatus_t attribute_set(void *record, const struct attribute *table, size_t n, unsigned number, const void *from,
                             size_t bytes);
cublasStatus_t attribute_get(const void *record, const struct attribute *table, size_t n, unsigned number, void *to,
                             size_t bytes, size_t *written);

/* ---- products ---- */

/* Checks a product; NULL layouts are an error. `say`: its name for messages. */
cublasStatus_t matmul_check(const char *say, const struct operation *o, const struct layout *a, const struct layout *b,
                            const struct layout *c, const struct layout *d);
bool is_algorithm(const struct algorithm *a);

/* Are its real and its imaginary parts matrices of their own? */
bool layout_is_planar(const struct layout *l);
/* The type of what lies in memory: of a planar matrix, that of the parts. */
cudaDataType layout_type(const struct layout *l);
/* A matrix's shape in memory: its columns, its rows, or its strips of tiles. */
struct library_shape layout_shape(const struct layout *l);
/* In a task: a matrix of a batch. Returns false if not all of it is memory. */
bool lt_matrix(struct matrix *m, const struct layout *l, const void *at, int64_t problem);

/* The memory that a call uses. */
struct ranges {
    hd_used *at;
    size_t n;
    bool no_memory;
};
void ranges_add(struct ranges *r, const void *at, size_t width, size_t height, size_t pitch, unsigned use);
/* Adds a matrix of all problems of a batch. Of a batch by addresses, adds their array. */
void ranges_add_matrix(struct ranges *r, const struct layout *l, const void *at, unsigned use);
/* In a task: adds the matrices of a batch by addresses, and nothing of other batches. */
void ranges_add_addressed(struct ranges *r, const struct layout *l, const void *at, unsigned use);
/* Puts the call into the stream with these ranges, and frees them. */
cublasStatus_t ranges_put(struct ranges *r, struct library_task *t, cudaStream_t stream);

#define API LIBRARY_API cublasStatus_t

#endif

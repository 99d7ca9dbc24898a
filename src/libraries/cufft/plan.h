/* Plans: requests, checked as cuFFT checks them, and their table. */
#ifndef HEDDLE_CUFFT_PLAN_H
#define HEDDLE_CUFFT_PLAN_H

#include <stdbool.h>

#include "cuda/cufftXt.h"
#include "libraries/common/library.h"
#include "libraries/cufft/transform.h"

/* The arguments of functions that make a plan or report sizes; `embed` may be NULL. */
struct plan_side {
    const long long *embed;
    long long stride, distance;
    cudaDataType type;
};

struct plan_request {
    int rank;
    const long long *n;
    struct plan_side in, out;
    cudaDataType execution;
    long long batch;
};

struct plan {
    bool is_made, is_basic; /* basic: contiguous, so that real numbers are padded in place */
    bool has_no_area;       /* the program must provide its work area, and has not done so */
    size_t work_bytes;
    struct transform transform;
    cudaStream_t stream;
    long long patient_jit;
};

/* The two types of a cufftType; false if it is invalid. */
bool plan_types(cufftType type, cudaDataType *in, cudaDataType *out);
/* Fills `p` if the request is valid. */
cufftResult plan_describe(struct plan *p, const struct plan_request *r);
/* Does the original transform one of its lengths by a convolution? */
bool plan_convolves(const struct plan *p);

/* ---- the table ---- */

cufftResult plans_add(cufftHandle *handle);
/* In a call (IN_CALL): the plan, or NULL. */
struct plan *plans_find(cufftHandle handle);
cufftResult plans_remove(cufftHandle handle);

#endif

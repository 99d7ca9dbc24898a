/* Plans: what a program has asked for, checked as cuFFT checks it, and the table of them. */
#ifndef HEDDLE_CUFFT_PLAN_H
#define HEDDLE_CUFFT_PLAN_H

#include <stdbool.h>

#include "cuda/cufftXt.h"
#include "libraries/common/library.h"
#include "libraries/cufft/transform.h"

/* Arguments of every function that makes a plan or asks for the size of one; `embed` may be NULL. */
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
    bool is_made, is_basic; /* basic: nothing between elements, so that real numbers are padded in place */
    bool has_no_area;       /* its work area is to be the program's, who has given none yet */
    size_t work_bytes;
    struct transform transform;
    cudaStream_t stream;
    long long patient_jit;
};

/* The pair of types of a cufftType. False: it is none. */
bool plan_types(cufftType type, cudaDataType *in, cudaDataType *out);
/* Fills `p` where nothing is wrong with the request. */
cufftResult plan_describe(struct plan *p, const struct plan_request *r);
/* Has it a length that the original transforms by a convolution? */
bool plan_convolves(const struct plan *p);

/* ---- the table ---- */

cufftResult plans_add(cufftHandle *handle);
/* In a call (IN_CALL): the plan, or NULL. */
struct plan *plans_find(cufftHandle handle);
cufftResult plans_remove(cufftHandle handle);

#endif

/* Plans of cuFFTW: a transform in the requested layout, its arrays, and the loops over it. */
#ifndef HEDDLE_CUFFTW_PLAN_H
#define HEDDLE_CUFFTW_PLAN_H

#include "cuda/cufftw.h"
#include "libraries/cufft/transform.h"

enum { PLAN_LOOPS = 8 };

/* Arguments of every planner. `call` is its name, a constant. */
struct wish {
    const char *call;
    enum transform_kind kind;
    enum transform_type type;
    int sign;
    void *in, *out;
};

/* One side for the advanced planners; without `embed` its arrays have the transform's size. */
struct wish_side {
    const int *embed;
    int stride, distance;
};

struct plan {
    struct transform transform; /* its batch is the longest loop */
    bool backward;
    void *in, *out;
    unsigned n_loops;
    fftw_iodim64 loop[PLAN_LOOPS]; /* the other loops */
};

/* Returns NULL, after printing why, if there is no such plan. Freed by free(). */
struct plan *plan_guru64(const struct wish *w, int rank, const fftw_iodim64 *dims, int loops, const fftw_iodim64 *loop);
struct plan *plan_guru(const struct wish *w, int rank, const fftw_iodim *dims, int loops, const fftw_iodim *loop);
struct plan *plan_many(const struct wish *w, int rank, const int *n, int howmany, struct wish_side in,
                       struct wish_side out);
struct plan *plan_basic(const struct wish *w, int rank, const int *n);

/* For memory of the host or a device; the transform is done on return. */
void plan_execute(const struct plan *p, const char *call, void *in, void *out);
void plan_print(const struct plan *p);

#endif

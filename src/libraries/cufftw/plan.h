/* Plans of cuFFTW: a transform in the layout that was asked for, its arrays, and how often it is
 * done from one place to the next. */
#ifndef HEDDLE_CUFFTW_PLAN_H
#define HEDDLE_CUFFTW_PLAN_H

#include "cuda/cufftw.h"
#include "libraries/cufft/transform.h"

enum { PLAN_LOOPS = 8 };

/* What every planner is asked. `call` is its name, a constant. */
struct wish {
    const char *call;
    enum transform_kind kind;
    enum transform_type type;
    int sign;
    void *in, *out;
};

/* One side of the advanced planners; without `embed` its arrays are as large as the transform. */
struct wish_side {
    const int *embed;
    int stride, distance;
};

struct plan {
    struct transform transform; /* its batch is the loop of most times */
    bool backward;
    void *in, *out;
    unsigned n_loops;
    fftw_iodim64 loop[PLAN_LOOPS]; /* the others */
};

/* NULL, with a sentence on stderr: there is no such plan. free() ends it. */
struct plan *plan_guru64(const struct wish *w, int rank, const fftw_iodim64 *dims, int loops, const fftw_iodim64 *loop);
struct plan *plan_guru(const struct wish *w, int rank, const fftw_iodim *dims, int loops, const fftw_iodim *loop);
struct plan *plan_many(const struct wish *w, int rank, const int *n, int howmany, struct wish_side in,
                       struct wish_side out);
struct plan *plan_basic(const struct wish *w, int rank, const int *n);

/* In memory of the host or of a device; it is done when this returns. */
void plan_execute(const struct plan *p, const char *call, void *in, void *out);
void plan_print(const struct plan *p);

#endif

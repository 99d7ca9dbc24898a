/* See plan.h. For the meaning of arguments see "FFTW 3", "FFTW Reference". */
#include "libraries/cufftw/plan.h"

#include "libraries/cufft/execution.h"

#include <stdio.h>
#include <stdlib.h>

static struct plan *refuse(const struct wish *w, const char *why)
{
    fprintf(stderr, "heddle: %s: %s\n", w->call, why);
    return NULL;
}

/* ---- axes ---- */

static bool widen(fftw_iodim64 *to, const fftw_iodim *from, int n, int most)
{
    if (n > most || (n > 0 && !from))
        return false;
    for (int i = 0; i < n; i++)
        to[i] = (fftw_iodim64){from[i].n, from[i].is, from[i].os};
    return true;
}

static bool are_forward(const fftw_iodim64 *dims, int n)
{
    for (int i = 0; i < n; i++)
        if (dims[i].n > 1 && (dims[i].is < 1 || dims[i].os < 1))
            return false;
    return true;
}

static bool are_lengths(const fftw_iodim64 *dims, int n)
{
    for (int i = 0; i < n; i++)
        if (dims[i].n < 1)
            return false;
    return true;
}

static const char *fault_of(const struct wish *w, int rank, const fftw_iodim64 *dims, int loops,
                            const fftw_iodim64 *loop)
{
    if (rank < 1 || rank > TRANSFORM_RANK)
        return "transforms have one to three axes";
    if (loops < 0 || loops > PLAN_LOOPS)
        return "vectors of transforms have up to eight axes";
    if (!dims || (loops && !loop) || !w->in || !w->out)
        return "an argument is NULL";
    if (w->sign != FFTW_FORWARD && w->sign != FFTW_BACKWARD)
        return "the sign is neither FFTW_FORWARD nor FFTW_BACKWARD";
    if (!are_lengths(dims, rank) || !are_lengths(loop, loops))
        return "a length is below 1";
    if (!are_forward(dims, rank) || !are_forward(loop, loops))
        return "strides below 1 are not supported by Heddle: docs/LIBRARIES.md";
    return NULL;
}

/* The longest loop becomes the transform's batch. */
static void set_loops(struct plan *p, int loops, const fftw_iodim64 *loop)
{
    int most = 0;
    for (int i = 1; i < loops; i++)
        if (loop[i].n > loop[most].n)
            most = i;
    for (int i = 0; i < loops; i++)
        if (i != most && loop[i].n > 1)
            p->loop[p->n_loops++] = loop[i];
    p->transform.batch = loops ? loop[most].n : 1;
    p->transform.from.distance = loops ? loop[most].is : 0;
    p->transform.to.distance = loops ? loop[most].os : 0;
}

/* Only arrays that are transformed together may overlap: others would read results. */
static bool loops_keep_their_places(const struct plan *p)
{
    ptrdiff_t from = (ptrdiff_t)transform_element_bytes(&p->transform, TRANSFORM_SIDE_FROM);
    ptrdiff_t to = (ptrdiff_t)transform_element_bytes(&p->transform, TRANSFORM_SIDE_TO);
    for (unsigned i = 0; i < p->n_loops; i++)
        if (p->loop[i].is * from != p->loop[i].os * to)
            return false;
    return true;
}

struct plan *plan_guru64(const struct wish *w, int rank, const fftw_iodim64 *dims, int loops, const fftw_iodim64 *loop)
{
    const char *fault = fault_of(w, rank, dims, loops, loop);
    if (fault)
        return refuse(w, fault);
    struct plan *p = calloc(1, sizeof *p);
    if (!p)
        return refuse(w, "out of memory");
    struct transform *t = &p->transform;
    *t = (struct transform){.kind = w->kind, .type = w->type, .rank = (unsigned)rank};
    for (int a = 0; a < rank; a++) {
        t->n[a] = dims[a].n;
        t->from.stride[a] = dims[a].is;
        t->to.stride[a] = dims[a].os;
    }
    set_loops(p, loops, loop);
    p->backward = w->sign == FFTW_BACKWARD;
    p->in = w->in;
    p->out = w->out;
    if (w->in == w->out && !loops_keep_their_places(p)) {
        free(p);
        return refuse(w, "transforms in place with different strides of input and output are not supported by Heddle: "
                         "docs/LIBRARIES.md");
    }
    return p;
}

struct plan *plan_guru(const struct wish *w, int rank, const fftw_iodim *dims, int loops, const fftw_iodim *loop)
{
    fftw_iodim64 wide[TRANSFORM_RANK], wide_loop[PLAN_LOOPS];
    bool fits = widen(wide, dims, rank, TRANSFORM_RANK) && widen(wide_loop, loop, loops, PLAN_LOOPS);
    return plan_guru64(w, rank, fits ? wide : NULL, loops, fits ? wide_loop : NULL);
}

/* Elements of a side along an axis; in place, the last axis of real numbers is as long as the
 * complex one. */
static int64_t room(const struct wish *w, enum transform_side side, const int *n, int axis, int rank)
{
    struct transform t = {.kind = w->kind, .type = w->type, .rank = 1, .n = {n[axis]}};
    if (axis < rank - 1)
        return n[axis];
    return transform_packed(&t, side, w->in == w->out).distance;
}

struct plan *plan_many(const struct wish *w, int rank, const int *n, int howmany, struct wish_side in,
                       struct wish_side out)
{
    fftw_iodim64 dims[TRANSFORM_RANK], loop = {howmany, in.distance, out.distance};
    ptrdiff_t is = in.stride, os = out.stride;
    for (int a = rank - 1; n && rank <= TRANSFORM_RANK && a >= 0; a--) {
        dims[a] = (fftw_iodim64){n[a], is, os};
        is *= in.embed ? in.embed[a] : room(w, TRANSFORM_SIDE_FROM, n, a, rank);
        os *= out.embed ? out.embed[a] : room(w, TRANSFORM_SIDE_TO, n, a, rank);
    }
    return plan_guru64(w, rank, n ? dims : NULL, 1, &loop);
}

struct plan *plan_basic(const struct wish *w, int rank, const int *n)
{
    return plan_many(w, rank, n, 1, (struct wish_side){NULL, 1, 0}, (struct wish_side){NULL, 1, 0});
}

/* ---- plans ---- */

static size_t times(const struct plan *p)
{
    size_t n = 1;
    for (unsigned i = 0; i < p->n_loops; i++)
        n *= (size_t)p->loop[i].n;
    return n;
}

/* The arrays of one iteration of the loops. */
static struct execution turn(const struct plan *p, char *in, char *out, size_t i)
{
    size_t from = transform_element_bytes(&p->transform, TRANSFORM_SIDE_FROM);
    size_t to = transform_element_bytes(&p->transform, TRANSFORM_SIDE_TO);
    for (unsigned k = 0; k < p->n_loops; k++) {
        size_t n = (size_t)p->loop[k].n;
        in += i % n * (size_t)p->loop[k].is * from;
        out += i % n * (size_t)p->loop[k].os * to;
        i /= n;
    }
    return (struct execution){p->transform, p->backward, in, out};
}

void plan_execute(const struct plan *p, const char *call, void *in, void *out)
{
    IN_CALL;
    if (!p || !in || !out) {
        fprintf(stderr, "heddle: %s: an argument is NULL\n", call);
        return;
    }
    CUcontext context;
    CUresult r = heddle_library_context(&context);
    for (size_t i = 0, n = times(p); !r && i < n; i++) {
        struct execution e = turn(p, in, out, i);
        r = execution_put(NULL, call, &e, true);
    }
    if (r)
        fprintf(stderr, "heddle: %s has failed: error %d of the driver\n", call, (int)r);
}

void plan_print(const struct plan *p)
{
    static const char *const kinds[] = {
        [TRANSFORM_COMPLEX] = "c2c", [TRANSFORM_FROM_REAL] = "r2c", [TRANSFORM_TO_REAL] = "c2r"};
    const struct transform *t = &p->transform;
    printf("(cufftw-%s-%s ", kinds[t->kind], p->backward ? "backward" : "forward");
    for (unsigned a = 0; a < t->rank; a++)
        printf("%s%lld", a ? "x" : "", (long long)t->n[a]);
    printf(" of %s, %zu)\n", t->type == TRANSFORM_DOUBLE ? "double" : "float", times(p) * (size_t)t->batch);
}

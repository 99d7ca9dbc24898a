/* Multiplications by zero, in which NaNs and infinities propagate as on a GPU, although BLAS would
 * skip them: an alpha of 0 in most routines, and the other triangle in trmv, tpmv and trmm
 * (recorded on an H200). Finite results stay as OpenBLAS computed them. */
#include "libraries/cublas/call.h"

#include <math.h>
#include <stdlib.h>

struct elements {
    size_t reals; /* real numbers in an element */
    bool wide;
};

static struct elements elements_of(const struct call *c)
{
    return (struct elements){element_is_complex(c->type) ? 2 : 1, c->type == CUDA_R_64F || c->type == CUDA_C_64F};
}

static double real_at(struct elements e, const void *at, size_t i)
{
    return e.wide ? ((const double *)at)[i] : (double)((const float *)at)[i];
}

static void set_real(struct elements e, void *at, size_t i, double x)
{
    if (e.wide)
        ((double *)at)[i] = x;
    else
        ((float *)at)[i] = (float)x;
}

static bool is_finite(struct elements e, const void *at, size_t element)
{
    for (size_t i = 0; i < e.reals; i++)
        if (!isfinite(real_at(e, at, element * e.reals + i)))
            return false;
    return true;
}

static void spoil(struct elements e, void *at, size_t element)
{
    for (size_t i = 0; i < e.reals; i++)
        set_real(e, at, element * e.reals + i, NAN);
}

static bool scalar_is(struct elements e, const void *scalar, bool real, double x)
{
    return real_at(e, scalar, 0) == x && (real || e.reals == 1 || real_at(e, scalar, 1) == 0);
}

/* ---- an alpha of 0 ---- */

/* With a beta of 1, beta * C leaves C unchanged, even an imaginary part on its diagonal. */
static bool does_nothing(const struct call *c, struct elements e)
{
    const unsigned u = c->routine->uses;
    return u & ZERO_TIMES && u & USES_BETA && !(u & ZERO_TIMES_ALWAYS) && scalar_is(e, c->alpha, u & ALPHA_REAL, 0) &&
           scalar_is(e, c->beta, u & BETA_REAL, 1);
}

bool call_does_nothing(const struct call *c, const void *alpha, const void *beta)
{
    struct call seen = *c;
    seen.alpha = alpha;
    seen.beta = beta;
    return does_nothing(&seen, elements_of(c));
}

static bool multiplies_by_zero(const struct call *c, struct elements e)
{
    const unsigned u = c->routine->uses;
    return u & ZERO_TIMES && scalar_is(e, c->alpha, u & ALPHA_REAL, 0);
}

/* Computes the product separately, and takes over what is not finite. */
static bool run_by_zero(const struct call *c, struct elements e)
{
    const double one[2] = {1, 0}, zero[2] = {0};
    const float one_f32[2] = {1, 0}, zero_f32[2] = {0};
    struct region r[OPERANDS] = {0};
    c->routine->regions(c, r);
    const bool vector = r[2].kind == REGION_VECTOR;
    const size_t step = (size_t)llabs((long long)c->op[2].ld), rows = (size_t)r[2].rows, columns = (size_t)r[2].columns,
                 n = vector ? (rows - 1) * step + 1 : (columns - 1) * step + rows;
    struct call probe = *c;
    void *product = calloc(n * e.reals, e.wide ? sizeof(double) : sizeof(float));
    if (!product)
        return false;
    probe.op[2].at = product;
    probe.alpha = e.wide ? (const void *)one : one_f32;
    probe.beta = e.wide ? (const void *)zero : zero_f32;
    const bool ok = c->routine->run(&probe) && c->routine->run(c);
    for (size_t i = 0; ok && i < n; i++)
        if (!is_finite(e, product, i))
            spoil(e, (void *)c->op[2].at, i);
    free(product);
    return ok;
}

/* ---- a triangle's other half ---- */

/* Vectors that the square is multiplied by: columns or rows of trmm's B and C, or trmv's vector. */
struct lines {
    size_t count, length, tile; /* tile: beyond the tiles of the triangle nothing is multiplied */
    const struct operand *from, *to;
    bool rows;
};

static struct lines lines_of(const struct call *c)
{
    if (!(c->routine->uses & USES_SIDE))
        return (struct lines){1, (size_t)c->n, (size_t)c->n, &c->op[1], &c->op[1], true};
    const bool rows = c->side == CUBLAS_SIDE_RIGHT;
    return (struct lines){(size_t)(rows ? c->m : c->n),
                          (size_t)(rows ? c->n : c->m),
                          c->type == CUDA_R_32F ? 64 : 32,
                          &c->op[1],
                          &c->op[2],
                          rows};
}

static size_t element_of(const struct lines *l, const struct operand *o, size_t line, size_t i)
{
    const size_t step = (size_t)llabs((long long)o->ld);
    return l->rows ? line + i * step : line * step + i;
}

static bool run_square(const struct call *c, struct elements e)
{
    const struct lines l = lines_of(c);
    const size_t tiles = (l.length + l.tile - 1) / l.tile;
    bool *spoilt = calloc(l.count * tiles, sizeof *spoilt);
    if (!spoilt)
        return false;
    for (size_t k = 0; k < l.count; k++)
        for (size_t i = 0; i < l.length; i++)
            spoilt[k * tiles + i / l.tile] |= !is_finite(e, l.from->at, element_of(&l, l.from, k, i));
    const bool ok = multiplies_by_zero(c, e) ? run_by_zero(c, e) : c->routine->run(c);
    for (size_t k = 0; ok && k < l.count; k++)
        for (size_t i = 0; i < l.length; i++)
            if (spoilt[k * tiles + i / l.tile])
                spoil(e, (void *)l.to->at, element_of(&l, l.to, k, i));
    free(spoilt);
    return ok;
}

bool call_run(const struct call *c)
{
    const struct elements e = elements_of(c);
    if (does_nothing(c, e))
        return true;
    return c->routine->uses & SQUARE_OF_TRIANGLE ? run_square(c, e)
           : multiplies_by_zero(c, e)            ? run_by_zero(c, e)
                                                 : c->routine->run(c);
}

/* See mma.h. Compiled once per CPU level, with what stands in mma_*.c, and MMA_LEVEL the name of
 * the level. Here: integers, f64, m8n8k4. */
#include "isa/isa.h"
#include "isa/mma_parts.h"
#include "isa/mma_vectors.h"
#include "isa/sem_mma.h"

static void multiply_quads(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    for (unsigned i = 0; i < (unsigned)p->m * p->n; i++) {
        u32 row[4], column[4];
        for (unsigned k = 0; k < 4; k++) {
            row[k] = a[k * p->m + i % p->m];
            column[k] = b[k * p->n + i / p->m];
        }
        d[i] = sem_mma_quad(p->d_type == TYPE_f16, row, column,
                            p->c_type == TYPE_f16 ? f32_of_f16((u16)c[i]) : f32_of(c[i]));
    }
}

static void multiply_f64(const struct mma_product *p, const u64 *a, const u64 *b, const u64 *c, u64 *d)
{
    for (unsigned i = 0; i < (unsigned)p->m * p->n; i++) {
        u64 sum = c[i];
        for (unsigned k = 0; k < p->k; k++)
            sum = sem_mma_fma(a[k * p->m + i % p->m], b[k * p->n + i / p->m], sum);
        d[i] = sum;
    }
}

/* ---- integers ---- */

static s32 integer_of(enum isa_type type, u32 code)
{
    switch (type) {
    case TYPE_s8: return (s8)code;
    case TYPE_s4: return (s32)(code << 28) >> 28;
    default: return (s32)code;
    }
}

/* Sums of products of bytes are exact in f32, whose multiplications are the fastest: 128 products
 * are less than 2^23. */
static void multiply_integers(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d,
                              const u8 *selected)
{
    f32 av[MMA_MAX_A] __attribute__((aligned(64))) = {0}, bv[MMA_MAX_B];
    unsigned k_count = selected ? 2u * p->k : p->k;
    for (unsigned i = 0; i < (unsigned)p->k * p->m; i++)
        av[selected ? selected[i] * p->m + i % p->m : i] += (f32)integer_of((enum isa_type)p->a_type, a[i]);
    for (unsigned i = 0; i < k_count * p->n; i++)
        bv[i] = (f32)integer_of((enum isa_type)p->b_type, b[i]);
    for (unsigned n = 0; n < p->n; n++)
        for (unsigned m = 0; m < p->m; m += W) {
            vf sum = {0};
            for (unsigned k = 0; k < k_count; k++) {
                vf v;
                LOAD(v, av + k * p->m + m);
                sum += v * bv[k * p->n + n];
            }
            vi exact = __builtin_convertvector(sum, vi);
            for (unsigned l = 0; l < W; l++)
                d[n * p->m + m + l] = sem_mma_add(c[n * p->m + m + l], exact[l], p->saturates);
        }
}

static void multiply_bits(const struct mma_product *p, const u32 *a, const u32 *b, const u32 *c, u32 *d)
{
    u32 flip = p->bit_op == MOD_xor;
    for (unsigned n = 0; n < p->n; n++)
        for (unsigned m = 0; m < p->m; m++) {
            u32 sum = c[n * p->m + m];
            for (unsigned k = 0; k < p->k; k++) {
                u32 x = a[k * p->m + m], y = b[k * p->n + n];
                sum += (u32)__builtin_popcount(flip ? x ^ y : x & y);
            }
            d[n * p->m + m] = sum;
        }
}

#if defined __AVX512F__
extern const struct mma_fns mma_v3; /* for matrices of eight rows */
#endif

static void multiply(const struct mma_product *p, const void *a, const void *b, const void *c, void *d,
                     const uint8_t *selected)
{
#if defined __AVX512F__
    if (p->m % W) {
        mma_v3.multiply(p, a, b, c, d, selected);
        return;
    }
#endif
    if (p->is_quad)
        multiply_quads(p, a, b, c, d);
    else if (p->a_type == TYPE_f64)
        multiply_f64(p, a, b, c, d);
    else if (p->a_type == TYPE_b1)
        multiply_bits(p, a, b, c, d);
    else if (p->d_type == TYPE_s32)
        multiply_integers(p, a, b, c, d, selected);
    else
        MMA_OF_LEVEL(mma_multiply_floats)(p, a, b, c, d, selected);
}

extern const struct mma_fns MMA_OF_LEVEL(mma);
const struct mma_fns MMA_OF_LEVEL(mma) = {MMA_OF_LEVEL(mma_take),
                                          MMA_OF_LEVEL(mma_put),
                                          MMA_OF_LEVEL(mma_load_halves),
                                          MMA_OF_LEVEL(mma_load_quads),
                                          multiply,
                                          MMA_OF_LEVEL(mma_multiply_in_place)};

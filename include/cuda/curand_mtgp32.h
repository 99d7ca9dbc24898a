/* MTGP32 in device code (Saito and Matsumoto, "Variants of Mersenne Twister Suitable for Graphic
 * Processors", ACM TOMS 39, 2013): the threads of a block, 256 at most, share a state, and draw
 * together. The host makes states of published parameters ("cuRAND Library Programming Guide",
 * 3.1.4). Included by curand_kernel.h; the host's part is curand_mtgp32_host.h.
 */
#ifndef HEDDLE_CURAND_MTGP32_H
#define HEDDLE_CURAND_MTGP32_H

#define MTGPDC_MEXP              11213
#define MTGPDC_N                 351
#define MTGP32_STATE_SIZE        1024
#define MTGP32_STATE_MASK        1023
#define CURAND_NUM_MTGP32_PARAMS 200

/* One set of parameters, in the form of its authors' program. */
struct mtgp32_params_fast {
    int mexp, pos, sh1, sh2;
    unsigned tbl[16], tmp_tbl[16], flt_tmp_tbl[16], mask;
    unsigned char poly_sha1[21];
};
typedef struct mtgp32_params_fast mtgp32_params_fast_t;

/* All sets, as kernels read them. */
struct mtgp32_kernel_params {
    unsigned pos_tbl[CURAND_NUM_MTGP32_PARAMS];
    unsigned param_tbl[CURAND_NUM_MTGP32_PARAMS][16];
    unsigned temper_tbl[CURAND_NUM_MTGP32_PARAMS][16];
    unsigned single_temper_tbl[CURAND_NUM_MTGP32_PARAMS][16];
    unsigned sh1_tbl[CURAND_NUM_MTGP32_PARAMS], sh2_tbl[CURAND_NUM_MTGP32_PARAMS];
    unsigned mask[1];
};
typedef struct mtgp32_kernel_params mtgp32_kernel_params_t;

struct curandStateMtgp32 {
    unsigned s[MTGP32_STATE_SIZE]; /* the last words: a ring */
    int offset, pIdx;
    mtgp32_kernel_params_t *k;
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;

#ifdef __CUDA__

/* Number `index` of the next n. */
static __device__ __inline__ __attribute__((nodebug)) unsigned heddle_mtgp32(curandStateMtgp32_t *s, unsigned index,
                                                                             unsigned n)
{
    const mtgp32_kernel_params_t *k = s->k;
    const unsigned first = s->offset + index, set = s->pIdx, pos = k->pos_tbl[set];
#define HEDDLE_MTGP(i) s->s[(first + (i)) & MTGP32_STATE_MASK]
    unsigned x = (HEDDLE_MTGP(0) & k->mask[0]) ^ HEDDLE_MTGP(1), t = HEDDLE_MTGP(pos - 1);
    x ^= x << k->sh1_tbl[set];
    const unsigned y = x ^ HEDDLE_MTGP(pos) >> k->sh2_tbl[set], word = y ^ k->param_tbl[set][y & 15];
    t ^= t >> 16;
    t ^= t >> 8;
    HEDDLE_MTGP(MTGPDC_N) = word;
#undef HEDDLE_MTGP
    __syncthreads();
    if (index == 0)
        s->offset = (s->offset + n) & MTGP32_STATE_MASK;
    __syncthreads();
    return word ^ k->temper_tbl[set][t & 15];
}
static __device__ __inline__ __attribute__((nodebug)) unsigned
curand_mtgp32_specific(curandStateMtgp32_t *s, unsigned char index, unsigned char n)
{
    return heddle_mtgp32(s, index, n);
}

#endif

#endif

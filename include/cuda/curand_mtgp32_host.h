/* States of MTGP32 and their parameters, which the host makes ("cuRAND Library Programming Guide",
 * 3.1.4). */
#ifndef CURAND_MTGP32_HOST_H
#define CURAND_MTGP32_HOST_H

#include "cuda_runtime.h"
#include "curand.h"
#include "curand_mtgp32.h"

#include <stdlib.h>
#include <string.h>

static inline curandStatus_t heddle_mtgp32_copy(void *to, void *from, size_t bytes)
{
    cudaError_t e = from ? cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice) : cudaErrorMemoryAllocation;
    free(from);
    return e == cudaSuccess                 ? CURAND_STATUS_SUCCESS
           : e == cudaErrorMemoryAllocation ? CURAND_STATUS_ALLOCATION_FAILED
                                            : CURAND_STATUS_INITIALIZATION_FAILED;
}

static inline curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t params[], mtgp32_kernel_params_t *p)
{
    mtgp32_kernel_params_t *k = (mtgp32_kernel_params_t *)calloc(1, sizeof *k);
    for (int i = 0; k && i < CURAND_NUM_MTGP32_PARAMS; i++) {
        k->pos_tbl[i] = (unsigned)params[i].pos;
        k->sh1_tbl[i] = (unsigned)params[i].sh1;
        k->sh2_tbl[i] = (unsigned)params[i].sh2;
        memcpy(k->param_tbl[i], params[i].tbl, sizeof params[i].tbl);
        memcpy(k->temper_tbl[i], params[i].tmp_tbl, sizeof params[i].tmp_tbl);
        memcpy(k->single_temper_tbl[i], params[i].flt_tmp_tbl, sizeof params[i].flt_tmp_tbl);
        k->mask[0] = params[0].mask;
    }
    return heddle_mtgp32_copy(p, k, sizeof *k);
}

static inline void heddle_mtgp32_seed(unsigned *s, const mtgp32_params_fast_t *p, unsigned seed)
{
    const unsigned hidden = p->tbl[4] ^ p->tbl[8] << 16;
    unsigned fill = hidden + (hidden >> 16);
    fill += fill >> 8;
    memset(s, (int)(fill & 0xff), MTGPDC_N * sizeof *s);
    s[0] = seed;
    s[1] = hidden;
    for (unsigned i = 1; i < MTGPDC_N; i++)
        s[i] ^= 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
}

/* n states, one a block: of the first n sets of parameters. */
static inline curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32_t *s, mtgp32_params_fast_t params[],
                                                         mtgp32_kernel_params_t *k, int n, unsigned long long seed)
{
    curandStateMtgp32_t *made = (curandStateMtgp32_t *)calloc(n > 0 ? (size_t)n : 1, sizeof *made);
    const unsigned folded = (unsigned)(seed ^ seed >> 32);
    for (int i = 0; made && i < n; i++) {
        heddle_mtgp32_seed(made[i].s, &params[i], folded + (unsigned)i + 1);
        made[i].pIdx = i;
        made[i].k = k;
    }
    return heddle_mtgp32_copy(s, made, (n > 0 ? (size_t)n : 0) * sizeof *made);
}

#endif

/* The time of a launch on a device, estimated: as events on both sides of it would measure it, L2
 * warm.
 *
 * A multiprocessor is a closed queue: the warps that it holds at a time ask its pipes for so many
 * cycles each, and wait between for what their instructions depend on (the chains of cost.h). One
 * warp takes the length of its chain, many the cycles of the pipe that is asked most, and what lies
 * between follows by mean value analysis (Schweitzer's approximation, "Approximate analysis of
 * multiclass closed networks of queues", 1979). Blocks come in rounds of as many as fit. Beside
 * that stand bounds of the whole device: L2, DRAM, atomics, the start of blocks. The time is a norm
 * of them, since they overlap but for their beginnings and ends.
 *
 * All of it is a pure function of what was counted, of the device's limits (exec/models.def) and
 * rates (rates.def), and of a few numbers that hold for all kernels (model.def).
 */
#ifndef HEDDLE_EXPLAIN_MODEL_H
#define HEDDLE_EXPLAIN_MODEL_H

#include "exec/device.h"
#include "explain/counters.h"
#include "explain/rates.h"

enum bound {
#define BOUND(name, ...) BOUND_##name,
#include "explain/model.def"
#undef BOUND
    BOUNDS
};

struct model_fit {
#define FIT(name, ...) double name;
#include "explain/model.def"
#undef FIT
};
extern const struct model_fit model_fit;

extern const struct bound_name {
    const char *name, *words; /* words: what the kernel waits for */
} bound_names[BOUNDS];

/* By its name, which is one. */
const char *bound_words(const char *name);

struct model_time {
    double ns;                /* the launch, all in all */
    double bound_ns[BOUNDS];  /* what it would take if nothing but this bounded it */
    enum bound first, second; /* the bound that decides, and the next one */
};

/* 0 ns where no block fits. */
struct model_time model_time(const struct kernel_counters *c, const struct device_model *d,
                             const struct device_rates *r, const struct model_fit *fit);

/* Of a launch on a device of rates.def: 0 ns where not all of its rates are known. */
struct estimate {
    struct device_rates rates;
    struct model_time time;
};
struct estimate model_estimate(const struct kernel_counters *c, const struct device_model *d);

/* Work per byte of a memory, and work a nanosecond by the estimated time: points of a roofline. */
struct roofline {
    double flops, flops64, flops_tensor;       /* operations of f32, f64 and tensor cores, an FMA is two */
    double dram_bytes, l2_bytes, shared_bytes; /* that went through */
    double loaded_bytes;                       /* that lanes have asked of global memory, each by itself */
    double peak_flops, peak_flops64;           /* a ns; ceilings of the device */
    double peak_tensor;                        /* of such a mix of types; 0: none */
    double peak_dram, peak_l2, peak_shared;    /* bytes a ns */
};
struct roofline model_roofline(const struct kernel_counters *c, const struct device_model *d,
                               const struct device_rates *r);

/* Machine instructions of a launch, estimated. */
double model_instructions(const struct kernel_counters *c);

#endif

/* Estimates the time of a launch on a device, as events around it would measure it with a warm L2.
 *
 * A multiprocessor is a closed queueing network: its resident warps use the pipes for some cycles
 * each, and between these wait for the results that their instructions depend on (the chains of
 * cost.h). One warp takes the length of its chain; many warps take the cycles of the busiest pipe;
 * for numbers between, mean value analysis gives the time (Schweitzer's approximation, "Approximate
 * analysis of multiclass closed networks of queues", 1979). Blocks run in rounds of as many as fit.
 * In addition the whole device has bounds: L2, DRAM, atomics, the start of blocks. The time is a
 * norm of all bounds, because they overlap except at their beginnings and ends.
 *
 * All of it is a pure function of the counts, the device's limits (exec/models.def) and rates
 * (rates.def), and a few constants for all kernels (model.def).
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

/* The words for a bound's name. */
const char *bound_words(const char *name);

struct model_time {
    double ns;                /* the whole launch */
    double bound_ns[BOUNDS];  /* the time if this were the only bound */
    enum bound first, second; /* the bound that decides, and the next one */
};

/* 0 ns if no block fits. */
struct model_time model_time(const struct kernel_counters *c, const struct device_model *d,
                             const struct device_rates *r, const struct model_fit *fit);

/* The estimate for a launch on a device of rates.def: 0 ns if some of its rates are not known. */
struct estimate {
    struct device_rates rates;
    struct model_time time;
};
struct estimate model_estimate(const struct kernel_counters *c, const struct device_model *d);

/* The points and ceilings of a roofline: work by byte of each memory, and work by nanosecond of the
   estimated time. */
struct roofline {
    /* Operations of f32, f64 and tensor cores; an FMA is two. */
    double flops, flops64, flops_tensor;
    double dram_bytes, l2_bytes, shared_bytes; /* bytes moved */
    /* bytes that lanes requested from global memory, each lane by itself */
    double loaded_bytes;
    double peak_flops, peak_flops64;        /* operations per ns: ceilings of the device */
    double peak_tensor;                     /* for the launch's mix of types; 0: none */
    double peak_dram, peak_l2, peak_shared; /* bytes per ns */
};
struct roofline model_roofline(const struct kernel_counters *c, const struct device_model *d,
                               const struct device_rates *r);

/* The estimated number of machine instructions of a launch. */
double model_instructions(const struct kernel_counters *c);

#endif

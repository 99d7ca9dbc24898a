/* See calls.h. */
#include "explain/calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "exec/device.h"
#include "explain/rates.h"
#include "explain/rules.h"

/* The units of a device: its rate in rates.def, and the bound that its
 * name stands for (model.def). */
static const struct unit {
    const char *words, *bound;
    enum rate rate;
    double operations;
} units[] = {
    [HD_UNIT_FP32] = {"f32", "fma", RATE_of_fma, 2 * DEVICE_WARP_SIZE},
    [HD_UNIT_FP64] = {"f64", "fp64", RATE_of_fp64, 2 * DEVICE_WARP_SIZE},
    [HD_UNIT_INT32] = {"s32", "alu", RATE_of_alu, DEVICE_WARP_SIZE},
    [HD_UNIT_TENSOR_TF32] = {"tensor tf32", "tensor", RATE_of_tensor_tf32, 1},
    [HD_UNIT_TENSOR_FP16] = {"tensor f16", "tensor", RATE_of_tensor_f16, 1},
    [HD_UNIT_TENSOR_FP8] = {"tensor f8", "tensor", RATE_of_tensor_f8, 1},
    [HD_UNIT_TENSOR_INT8] = {"tensor s8", "tensor", RATE_of_tensor_s8, 1},
    [HD_UNIT_TENSOR_FP64] = {"tensor f64", "tensor", RATE_of_tensor_f64, 1},
};
enum { UNITS = sizeof units / sizeof units[0] };

struct sums {
    char *name;
    unsigned unit;
    uint64_t calls;
    double flops, bytes, ns, computing_ns, l2_ns, dram_ns;
};

struct call_log {
    /* 0: not known. */
    double launch_ns, l2_resident, l2_bytes_per_ns, dram_bytes_per_ns, flops_per_ns[UNITS];
    /* protects what follows */
    pthread_mutex_t lock;
    struct sums *of;
    size_t n;
};

struct call_log *call_log_new(const struct device_model *d)
{
    struct call_log *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    double sms = d->multiprocessors * (d->clock_khz / 1e6);
    for (unsigned i = 0; i < UNITS; i++)
        l->flops_per_ns[i] = units[i].operations * device_rate(d->product, units[i].rate).value * sms;
    l->launch_ns = device_rate(d->product, RATE_of_launch).value;
    l->l2_resident = device_rate(d->product, RATE_of_l2_resident).value;
    l->l2_bytes_per_ns = SECTOR_BYTES * device_rate(d->product, RATE_of_l2_sectors).value;
    l->dram_bytes_per_ns = device_rate(d->product, RATE_of_dram).value;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

void call_log_free(struct call_log *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n; i++)
        free(l->of[i].name);
    free(l->of);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* Call with the lock held. Returns NULL if memory is exhausted. */
static struct sums *sums_of(struct call_log *l, const char *name, unsigned unit)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->of[i].unit == unit && strcmp(l->of[i].name, name) == 0)
            return &l->of[i];
    struct sums *grown = realloc(l->of, (l->n + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    l->of = grown;
    char *own = strdup(name);
    if (!own)
        return NULL;
    grown[l->n] = (struct sums){.name = own, .unit = unit};
    return &grown[l->n++];
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static bool times_are_known(const struct call_log *l, unsigned unit)
{
    return l->launch_ns > 0 && l->l2_bytes_per_ns > 0 && l->dram_bytes_per_ns > 0 && l->flops_per_ns[unit] > 0;
}

double call_log_add(struct call_log *l, const hd_work *w)
{
    unsigned unit = (unsigned)w->unit < UNITS ? (unsigned)w->unit : HD_UNIT_FP32;
    bool fits_l2 = w->bytes <= l->l2_resident;
    double computing = ratio(w->flops, l->flops_per_ns[unit]);
    double moving = ratio(w->bytes, fits_l2 ? l->l2_bytes_per_ns : l->dram_bytes_per_ns);
    double ns = times_are_known(l, unit) ? l->launch_ns + (computing > moving ? computing : moving) : 0;
    pthread_mutex_lock(&l->lock);
    struct sums *s = sums_of(l, w->name, unit);
    if (s) {
        s->calls++;
        s->flops += w->flops;
        s->bytes += w->bytes;
        s->ns += ns;
        s->computing_ns += computing;
        *(fits_l2 ? &s->l2_ns : &s->dram_ns) += moving;
    }
    pthread_mutex_unlock(&l->lock);
    return ns;
}

/* What takes most of the time beside the launches. */
static const char *bound_of(const struct sums *s)
{
    if (s->computing_ns > s->l2_ns + s->dram_ns)
        return units[s->unit].bound;
    return s->l2_ns > s->dram_ns ? "l2" : "dram";
}

json_t *call_log_json(struct call_log *l)
{
    json_t *list = json_array();
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < l->n; i++) {
        const struct sums *s = &l->of[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:f, s:f, s:f, s:f, s:s}", "call", s->name, "unit",
                                              units[s->unit].words, "calls", (json_int_t)s->calls, "flops", s->flops,
                                              "bytes", s->bytes, "launch_ns", (double)s->calls * l->launch_ns,
                                              "least_ns", s->ns, "bound", bound_of(s)));
    }
    pthread_mutex_unlock(&l->lock);
    return list;
}

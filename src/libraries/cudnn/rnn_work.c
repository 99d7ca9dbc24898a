/* See rnn_work.h. */
#include "libraries/cudnn/rnn_work.h"

#include <stdlib.h>
#include <string.h>

#include "libraries/blas/elements.h"

/* ---- sizes ---- */

int64_t rnn_gates(const struct rnn *r)
{
    return r->cell == RNN_LSTM ? 4 : r->cell == RNN_GRU ? 3 : 1;
}

static int64_t matrices(const struct rnn *r, int64_t layer)
{
    return rnn_gates(r) * r->hidden * (rnn_layer_input(r, layer) + r->projected) +
           (rnn_projects(r) ? r->projected * r->hidden : 0);
}

static int64_t biases(const struct rnn *r)
{
    return rnn_gates(r) * r->hidden * (rnn_has_bias(r, false) + rnn_has_bias(r, true));
}

struct rnn_weights rnn_weights(const struct rnn *r, int64_t pseudo_layer)
{
    const int64_t directions = rnn_directions(r), layer = pseudo_layer / directions, rows = rnn_gates(r) * r->hidden;
    struct rnn_weights w = {0};
    for (int64_t l = 0; l < layer; l++)
        w.input += directions * matrices(r, l);
    w.input += pseudo_layer % directions * matrices(r, layer);
    w.recurrent = w.input + rows * rnn_layer_input(r, layer);
    w.projection = w.recurrent + rows * r->projected;
    for (int64_t l = 0; l < r->layers; l++)
        w.input_bias += directions * matrices(r, l);
    w.input_bias += pseudo_layer * biases(r);
    w.recurrent_bias = w.input_bias + (rnn_has_bias(r, false) ? rows : 0);
    return w;
}

int64_t rnn_weight_count(const struct rnn *r)
{
    return rnn_weights(r, r->layers * rnn_directions(r) - 1).input_bias + biases(r);
}

struct kept rnn_kept(const struct rnn *r, int64_t vectors)
{
    const int64_t all = vectors * rnn_gates(r) * r->hidden, one = vectors * r->hidden;
    struct kept k = {.inner = all};
    k.gradients = k.inner + (r->cell >= RNN_LSTM ? one : 0);
    k.inner_gradients = k.gradients + all;
    k.output_gradients = k.inner_gradients + (r->cell == RNN_GRU ? one : 0);
    k.size = k.output_gradients + (rnn_projects(r) ? vectors * r->projected : 0);
    return k;
}

/* A layer's reserve: the kept values of both directions, the outputs, and the dropout factors. */
static int64_t layer_size(const struct rnn *r, int64_t vectors)
{
    const int64_t outputs = vectors * r->projected * rnn_directions(r);
    return rnn_kept(r, vectors).size * rnn_directions(r) + 2 * outputs;
}

size_t rnn_reserve_bytes(const struct rnn *r, int64_t vectors)
{
    return (size_t)(layer_size(r, vectors) * r->layers) * sizeof(double);
}

/* ---- memory and products ---- */

double *rnn_doubles(int64_t n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

void rnn_multiply(int64_t m, int64_t n, int64_t k, struct operand a, struct operand b, bool add, double *to,
                  int64_t pitch)
{
    const double one = 1, zero = 0;
    const int mi = (int)n, ni = (int)m, ki = (int)k, la = (int)b.pitch, lb = (int)a.pitch, lc = (int)pitch;
    if (m && n && k)
        heddle_openblas.gemm[PRECISION_D](b.transposed ? "T" : "N", a.transposed ? "T" : "N", &mi, &ni, &ki, &one, b.at,
                                          &la, a.at, &lb, add ? &one : &zero, to, &lc);
}

static double *layer_at(const struct work *w, int64_t layer)
{
    return w->reserve + layer * layer_size(w->r, w->vectors);
}
static double *kept_at(const struct work *w, int64_t layer, int64_t direction)
{
    return layer_at(w, layer) + direction * rnn_kept(w->r, w->vectors).size;
}
double *rnn_outputs(const struct work *w, int64_t layer)
{
    return kept_at(w, layer, rnn_directions(w->r));
}
double *rnn_masks(const struct work *w, int64_t layer)
{
    return rnn_outputs(w, layer) + w->vectors * w->r->projected * rnn_directions(w->r);
}

static int64_t place_of(const struct work *w, int64_t step, int64_t sequence)
{
    switch (w->c->batch.layout) {
    case RNN_PACKED: return w->row[step * w->sequences + sequence];
    case RNN_BATCH_FIRST: return sequence * w->steps + step;
    default: return step * w->sequences + sequence;
    }
}

void rnn_read_vectors(const struct work *w, const void *from, int64_t size, double *rows)
{
    for (int64_t i = 0; i < w->steps * w->sequences; i++)
        if (w->row[i] >= 0)
            elements_widen(PRECISION_D, rows + w->row[i] * size, w->type,
                           (const char *)from +
                               (size_t)(place_of(w, i / w->sequences, i % w->sequences) * size) * w->element,
                           1, (size_t)size);
}

void rnn_write_vectors(const struct work *w, void *to, int64_t size, const double *rows, const double *fill)
{
    for (int64_t i = 0; i < w->steps * w->sequences; i++) {
        bool has = w->row[i] >= 0;
        if (!has && (!fill || w->c->batch.layout == RNN_PACKED))
            continue;
        char *at = (char *)to + (size_t)(place_of(w, i / w->sequences, i % w->sequences) * size) * w->element;
        for (int64_t k = 0; !has && k < size; k++)
            elements_narrow(PRECISION_D, fill, w->type, at + (size_t)k * w->element, 1, 1);
        if (has)
            elements_narrow(PRECISION_D, rows + w->row[i] * size, w->type, at, 1, (size_t)size);
    }
}

void rnn_read_state(const struct work *w, const void *from, int64_t pseudo_layer, int64_t size, double *state)
{
    const int64_t n = w->sequences * size;
    if (from)
        elements_widen(PRECISION_D, state, w->type, (const char *)from + (size_t)(pseudo_layer * n) * w->element, 1,
                       (size_t)n);
    else
        memset(state, 0, (size_t)n * sizeof *state);
}

void rnn_write_state(const struct work *w, void *to, int64_t pseudo_layer, int64_t size, const double *state)
{
    const int64_t n = w->sequences * size;
    if (to)
        elements_narrow(PRECISION_D, state, w->type, (char *)to + (size_t)(pseudo_layer * n) * w->element, 1,
                        (size_t)n);
}

struct part rnn_part(const struct work *w, int64_t layer, int64_t direction)
{
    const struct rnn *r = w->r;
    const int64_t pseudo = layer * rnn_directions(r) + direction;
    return (struct part){.layer = layer,
                         .direction = direction,
                         .pseudo = pseudo,
                         .inputs = rnn_layer_input(r, layer),
                         .width = rnn_gates(r) * r->hidden,
                         .at = rnn_weights(r, pseudo),
                         .kept = rnn_kept(r, w->vectors),
                         .keeps = kept_at(w, layer, direction),
                         .outputs = rnn_outputs(w, layer) + direction * r->projected};
}

void rnn_set_input(struct work *w, int64_t layer, bool draws)
{
    const int64_t n = layer ? w->vectors * rnn_layer_input(w->r, layer) : 0;
    struct dropout_states *s = w->c->at.states;
    const double p = w->r->dropout.probability;
    if (!layer || !rnn_drops(w->r) || w->c->what == RNN_FORWARD) {
        w->x = layer ? rnn_outputs(w, layer - 1) : w->input;
        return;
    }
    double *mask = rnn_masks(w, layer - 1), *out = rnn_outputs(w, layer - 1);
    for (int64_t i = 0; i < n; i++) {
        if (draws)
            mask[i] = cudnn_drawn(s->seed, s->calls, (uint64_t)(layer * n + i)) < p ? 0 : 1 / (1 - p);
        w->x[i] = out[i] * mask[i];
    }
}

/* ---- a computation ---- */

static void set_rows(struct work *w)
{
    for (int64_t i = 0; i < w->steps * w->sequences; i++)
        w->row[i] = i / w->sequences < w->c->length[i % w->sequences] ? w->vectors++ : -1;
}

bool rnn_open(struct work *w)
{
    const struct rnn *r = w->r;
    const int64_t widest =
        rnn_layer_input(r, 0) > rnn_layer_input(r, 1) ? rnn_layer_input(r, 0) : rnn_layer_input(r, 1);
    const int64_t largest = r->hidden > r->projected ? r->hidden : r->projected;
    tensor_type(r->type, &w->type);
    w->element = element_bytes(w->type);
    w->row = calloc((size_t)(w->steps * w->sequences) + 1, sizeof *w->row);
    if (!w->row)
        return false;
    set_rows(w);
    w->weights = rnn_doubles(rnn_weight_count(r));
    w->input = rnn_doubles(w->vectors * r->input);
    w->x = rnn_doubles(w->vectors * widest);
    w->dx = rnn_doubles(w->vectors * widest);
    w->h = rnn_doubles(w->sequences * largest);
    w->c_now = rnn_doubles(w->sequences * largest);
    w->packed = rnn_doubles(w->sequences * largest + r->hidden);
    w->products = rnn_doubles(w->sequences * rnn_gates(r) * r->hidden);
    w->reserve = w->c->what == RNN_FORWARD ? rnn_doubles(layer_size(r, w->vectors) * r->layers) : w->c->at.reserve;
    return w->weights && w->input && w->x && w->dx && w->h && w->c_now && w->packed && w->products && w->reserve;
}

void rnn_close(struct work *w)
{
    if (w->c->what == RNN_FORWARD)
        free(w->reserve);
    free(w->row);
    free(w->weights);
    free(w->input);
    free(w->x);
    free(w->dx);
    free(w->h);
    free(w->c_now);
    free(w->packed);
    free(w->products);
}

/* Gradients of recurrent networks, and their computations; see rnn_work.h. */
#include "libraries/cudnn/rnn_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libraries/blas/elements.h"

/* The output, or the cell, of the previous step. */
static const double *before(const struct work *w, const struct part *p, int64_t step, int64_t sequence, bool cell,
                            const double *first)
{
    const int64_t size = cell ? w->r->hidden : w->r->projected;
    if (!step)
        return first + sequence * size;
    const int64_t row = rnn_row(w, p->direction, step - 1, sequence);
    return cell ? p->keeps + p->kept.inner + row * size : p->outputs + row * size * rnn_directions(w->r);
}

/* dh: the gradient of the cell's output; for a GRU it becomes the part that goes directly to the
   previous output. */
static void step_back(const struct rnn *r, const struct part *p, int64_t row, double *dh, double *dc, const double *old,
                      const double *output)
{
    const int64_t n = r->hidden;
    const double *gates = p->keeps + p->kept.gates + row * p->width, *inner = p->keeps + p->kept.inner + row * n;
    double *d = p->keeps + p->kept.gradients + row * p->width;
    for (int64_t i = 0; i < n; i++) {
        if (r->cell == RNN_LSTM) {
            const double in = gates[i], forget = gates[n + i], g = gates[2 * n + i], o = gates[3 * n + i];
            const double t = tanh(inner[i]), cell = dc[i] + dh[i] * o * (1 - t * t);
            d[i] = cell * g * in * (1 - in);
            d[n + i] = cell * old[i] * forget * (1 - forget);
            d[2 * n + i] = cell * in * (1 - g * g);
            d[3 * n + i] = dh[i] * t * o * (1 - o);
            dc[i] = cell * forget;
        } else if (r->cell == RNN_GRU) {
            const double reset = gates[i], z = gates[n + i], fresh = gates[2 * n + i];
            d[2 * n + i] = dh[i] * (1 - z) * (1 - fresh * fresh);
            d[n + i] = dh[i] * (old[i] - fresh) * z * (1 - z);
            d[i] = d[2 * n + i] * inner[i] * reset * (1 - reset);
            p->keeps[p->kept.inner_gradients + row * n + i] = d[2 * n + i] * reset;
            dh[i] *= z;
        } else {
            d[i] = r->cell == RNN_TANH ? dh[i] * (1 - output[i] * output[i]) : output[i] > 0 ? dh[i] : 0;
        }
    }
}

/* The gradients with respect to products with the previous output: those of the gates, except a
   GRU's n. */
static void recurrent_gradients(const struct work *w, const struct part *p, int64_t row, double *to)
{
    const int64_t n = w->r->hidden;
    memcpy(to, p->keeps + p->kept.gradients + row * p->width, (size_t)p->width * sizeof *to);
    if (w->r->cell == RNN_GRU)
        memcpy(to + 2 * n, p->keeps + p->kept.inner_gradients + row * n, (size_t)n * sizeof *to);
}

struct gradients {
    double *dh, *dc, *outputs; /* dh, dc by sequence; outputs: of the layer */
    double *first_h, *first_c; /* the initial states */
    double *cell;              /* size of one cell's output */
};

static void backward_step(const struct work *w, const struct part *p, const struct gradients *g, int64_t step)
{
    const struct rnn *r = w->r;
    const int64_t size = r->projected, pitch = size * rnn_directions(r);
    int64_t n = 0;
    for (int64_t b = 0; b < w->sequences; b++) {
        const int64_t row = rnn_row(w, p->direction, step, b);
        if (row < 0)
            continue;
        double *dh = g->dh + b * size, *cell = dh;
        for (int64_t i = 0; i < size; i++)
            dh[i] += g->outputs[row * pitch + p->direction * size + i];
        if (rnn_projects(r)) {
            memcpy(p->keeps + p->kept.output_gradients + row * size, dh, (size_t)size * sizeof *dh);
            cell = g->cell;
            rnn_multiply(1, r->hidden, size, (struct operand){dh, size, false},
                         (struct operand){w->weights + p->at.projection, r->hidden, false}, false, cell, r->hidden);
        }
        const bool lstm = r->cell == RNN_LSTM;
        step_back(r, p, row, cell, lstm ? g->dc + b * r->hidden : NULL,
                  before(w, p, step, b, lstm, lstm ? g->first_c : g->first_h), p->outputs + row * pitch);
        recurrent_gradients(w, p, row, w->products + n++ * p->width);
    }
    rnn_multiply(n, size, p->width, (struct operand){w->products, p->width, false},
                 (struct operand){w->weights + p->at.recurrent, size, false}, false, w->packed, size);
    n = 0;
    for (int64_t b = 0; b < w->sequences; b++) {
        if (rnn_row(w, p->direction, step, b) < 0)
            continue;
        for (int64_t i = 0; i < size; i++) {
            double *dh = g->dh + b * size + i;
            *dh = w->packed[n * size + i] + (r->cell == RNN_GRU ? *dh : 0);
        }
        n++;
    }
}

static void backward(const struct work *w, const struct part *p, const struct gradients *g)
{
    const struct rnn *r = w->r;
    const bool lstm = r->cell == RNN_LSTM;
    rnn_read_state(w, w->c->at.dhy, p->pseudo, r->projected, g->dh);
    rnn_read_state(w, w->c->at.hx, p->pseudo, r->projected, g->first_h);
    if (lstm) {
        rnn_read_state(w, w->c->at.dcy, p->pseudo, r->hidden, g->dc);
        rnn_read_state(w, w->c->at.cx, p->pseudo, r->hidden, g->first_c);
    }
    for (int64_t step = w->steps; step-- > 0;)
        backward_step(w, p, g, step);
    rnn_write_state(w, w->c->at.dhx, p->pseudo, r->projected, g->dh);
    if (lstm)
        rnn_write_state(w, w->c->at.dcx, p->pseudo, r->hidden, g->dc);
    rnn_multiply(w->vectors, p->inputs, p->width, (struct operand){p->keeps + p->kept.gradients, p->width, false},
                 (struct operand){w->weights + p->at.input, p->inputs, false}, p->direction > 0, w->dx, p->inputs);
}

bool rnn_backward(struct work *w)
{
    const struct rnn *r = w->r;
    const int64_t state = w->sequences * (r->hidden > r->projected ? r->hidden : r->projected);
    const int64_t outputs = r->projected * rnn_directions(r);
    double *memory = rnn_doubles(4 * state + r->hidden + w->vectors * outputs);
    const struct gradients g = {.dh = memory,
                                .dc = memory + state,
                                .first_h = memory + 2 * state,
                                .first_c = memory + 3 * state,
                                .cell = memory + 4 * state,
                                .outputs = memory + 4 * state + r->hidden};
    if (!memory)
        return false;
    rnn_read_vectors(w, w->c->at.dy, outputs, g.outputs);
    for (int64_t layer = r->layers; layer-- > 0;) {
        for (int64_t direction = 0; direction < rnn_directions(r); direction++) {
            struct part p = rnn_part(w, layer, direction);
            backward(w, &p, &g);
        }
        for (int64_t i = 0; layer && i < w->vectors * outputs; i++)
            g.outputs[i] = w->dx[i] * (rnn_drops(r) ? rnn_masks(w, layer - 1)[i] : 1);
    }
    const double zero = 0;
    rnn_write_vectors(w, w->c->at.dx, r->input, w->dx, &zero);
    free(memory);
    return true;
}

/* ---- the weights' gradients ---- */

static void sum_rows(const double *rows, int64_t n, int64_t width, double *to)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < width; k++)
            to[k] += rows[i * width + k];
}

/* old, out, recurrent: scratch memory for all rows. */
static void weigh(const struct work *w, const struct part *p, double *first, double *old, double *out,
                  double *recurrent, double *to)
{
    const struct rnn *r = w->r;
    const int64_t size = r->projected, n = r->hidden;
    rnn_read_state(w, w->c->at.hx, p->pseudo, size, first);
    for (int64_t step = 0; step < w->steps; step++)
        for (int64_t b = 0; b < w->sequences; b++) {
            const int64_t row = rnn_row(w, p->direction, step, b);
            if (row < 0)
                continue;
            memcpy(old + row * size, before(w, p, step, b, false, first), (size_t)size * sizeof *old);
            recurrent_gradients(w, p, row, recurrent + row * p->width);
            for (int64_t i = 0; rnn_projects(r) && i < n; i++)
                out[row * n + i] =
                    p->keeps[p->kept.gates + row * p->width + 3 * n + i] * tanh(p->keeps[p->kept.inner + row * n + i]);
        }
    const double *d = p->keeps + p->kept.gradients;
    rnn_multiply(p->width, p->inputs, w->vectors, (struct operand){d, p->width, true},
                 (struct operand){w->x, p->inputs, false}, true, to + p->at.input, p->inputs);
    rnn_multiply(p->width, size, w->vectors, (struct operand){recurrent, p->width, true},
                 (struct operand){old, size, false}, true, to + p->at.recurrent, size);
    if (rnn_projects(r))
        rnn_multiply(size, n, w->vectors, (struct operand){p->keeps + p->kept.output_gradients, size, true},
                     (struct operand){out, n, false}, true, to + p->at.projection, n);
    if (rnn_has_bias(r, false))
        sum_rows(d, w->vectors, p->width, to + p->at.input_bias);
    if (rnn_has_bias(r, true))
        sum_rows(recurrent, w->vectors, p->width, to + p->at.recurrent_bias);
}

bool rnn_weigh(struct work *w)
{
    const struct rnn *r = w->r;
    const int64_t width = rnn_gates(r) * r->hidden, all = rnn_weight_count(r);
    double *memory = rnn_doubles(w->sequences * r->projected + w->vectors * (r->projected + r->hidden + width) + all);
    if (!memory)
        return false;
    double *old = memory + w->sequences * r->projected, *out = old + w->vectors * r->projected,
           *recurrent = out + w->vectors * r->hidden, *sums = recurrent + w->vectors * width, *dropped = w->x;
    if (!w->c->replaces)
        elements_widen(PRECISION_D, sums, w->type, w->c->at.dweights, 1, (size_t)all);
    for (int64_t layer = 0; layer < r->layers; layer++) {
        w->x = dropped;
        rnn_set_input(w, layer, false);
        for (int64_t direction = 0; direction < rnn_directions(r); direction++) {
            struct part p = rnn_part(w, layer, direction);
            weigh(w, &p, memory, old, out, recurrent, sums);
        }
    }
    w->x = dropped;
    elements_narrow(PRECISION_D, sums, w->type, w->c->at.dweights, 1, (size_t)all);
    free(memory);
    return true;
}

hd_result rnn_compute(const struct rnn_call *c)
{
    struct work w = {.c = c, .r = &c->r, .steps = c->batch.steps, .sequences = c->batch.sequences};
    bool done = rnn_open(&w);
    if (done && c->at.weights)
        elements_widen(PRECISION_D, w.weights, w.type, c->at.weights, 1, (size_t)rnn_weight_count(&c->r));
    if (done && c->at.x)
        rnn_read_vectors(&w, c->at.x, c->r.input, w.input);
    if (done && c->what <= RNN_TRAINING)
        rnn_forward(&w);
    else if (done)
        done = c->what == RNN_BACKWARD_DATA ? rnn_backward(&w) : rnn_weigh(&w);
    rnn_close(&w);
    return done ? HD_SUCCESS : HD_ERROR_OUT_OF_MEMORY;
}

/* Results of recurrent networks; see rnn_work.h. */
#include "libraries/cudnn/rnn_work.h"

#include <math.h>
#include <string.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Computes a cell's output, before a projection. gates: from the input, with its bias; from: from
 * the previous output, with its bias; c: the cell, or a GRU's previous output. */
static void step_cell(const struct rnn *r, double *gates, const double *from, double *inner, double *c, double *out)
{
    const int64_t n = r->hidden;
    for (int64_t i = 0; i < n; i++) {
        if (r->cell == RNN_LSTM) {
            for (int64_t g = 0; g < 4; g++)
                gates[g * n + i] =
                    g == 2 ? tanh(gates[g * n + i] + from[g * n + i]) : sigmoid(gates[g * n + i] + from[g * n + i]);
            inner[i] = c[i] = gates[n + i] * c[i] + gates[i] * gates[2 * n + i];
            out[i] = gates[3 * n + i] * tanh(c[i]);
        } else if (r->cell == RNN_GRU) {
            gates[i] = sigmoid(gates[i] + from[i]);
            gates[n + i] = sigmoid(gates[n + i] + from[n + i]);
            inner[i] = from[2 * n + i];
            gates[2 * n + i] = tanh(gates[2 * n + i] + gates[i] * inner[i]);
            out[i] = (1 - gates[n + i]) * gates[2 * n + i] + gates[n + i] * c[i];
        } else {
            double sum = gates[i] + from[i];
            out[i] = gates[i] = r->cell == RNN_TANH ? tanh(sum) : sum > 0 ? sum : 0;
        }
    }
}

static void set_bias(const double *bias, bool has, int64_t rows, int64_t width, double *to)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = 0; k < width; k++)
            to[i * width + k] = has ? bias[k] : 0;
}

static void forward_step(const struct work *w, const struct part *p, int64_t step)
{
    const struct rnn *r = w->r;
    const int64_t size = r->projected, pitch = size * rnn_directions(r);
    int64_t n = 0;
    for (int64_t b = 0; b < w->sequences; b++)
        if (rnn_row(w, p->direction, step, b) >= 0)
            memcpy(w->packed + n++ * size, w->h + b * size, (size_t)size * sizeof(double));
    set_bias(w->weights + p->at.recurrent_bias, rnn_has_bias(r, true), n, p->width, w->products);
    rnn_multiply(n, p->width, size, (struct operand){w->packed, size, false},
                 (struct operand){w->weights + p->at.recurrent, size, true}, true, w->products, p->width);
    n = 0;
    for (int64_t b = 0; b < w->sequences; b++) {
        const int64_t row = rnn_row(w, p->direction, step, b);
        if (row < 0)
            continue;
        double *h = w->h + b * size, *out = rnn_projects(r) ? w->packed : p->outputs + row * pitch;
        step_cell(r, p->keeps + p->kept.gates + row * p->width, w->products + n++ * p->width,
                  p->keeps + p->kept.inner + row * r->hidden, r->cell == RNN_LSTM ? w->c_now + b * r->hidden : h, out);
        if (rnn_projects(r))
            rnn_multiply(1, size, r->hidden, (struct operand){out, r->hidden, false},
                         (struct operand){w->weights + p->at.projection, r->hidden, true}, false,
                         p->outputs + row * pitch, pitch);
        memcpy(h, p->outputs + row * pitch, (size_t)size * sizeof(double));
    }
}

static void forward(const struct work *w, const struct part *p)
{
    const struct rnn *r = w->r;
    double *gates = p->keeps + p->kept.gates;
    set_bias(w->weights + p->at.input_bias, rnn_has_bias(r, false), w->vectors, p->width, gates);
    rnn_multiply(w->vectors, p->width, p->inputs, (struct operand){w->x, p->inputs, false},
                 (struct operand){w->weights + p->at.input, p->inputs, true}, true, gates, p->width);
    rnn_read_state(w, w->c->at.hx, p->pseudo, r->projected, w->h);
    if (r->cell == RNN_LSTM)
        rnn_read_state(w, w->c->at.cx, p->pseudo, r->hidden, w->c_now);
    for (int64_t step = 0; step < w->steps; step++)
        forward_step(w, p, step);
    rnn_write_state(w, w->c->at.hy, p->pseudo, r->projected, w->h);
    if (r->cell == RNN_LSTM)
        rnn_write_state(w, w->c->at.cy, p->pseudo, r->hidden, w->c_now);
}

void rnn_forward(struct work *w)
{
    const struct rnn *r = w->r;
    double *dropped = w->x;
    for (int64_t layer = 0; layer < r->layers; layer++) {
        w->x = dropped;
        rnn_set_input(w, layer, true);
        for (int64_t direction = 0; direction < rnn_directions(r); direction++) {
            struct part p = rnn_part(w, layer, direction);
            forward(w, &p);
        }
    }
    w->x = dropped;
    rnn_write_vectors(w, w->c->at.y, r->projected * rnn_directions(r), rnn_outputs(w, r->layers - 1),
                      w->c->batch.fills ? &w->c->batch.fill : NULL);
    if (w->c->what == RNN_TRAINING && rnn_drops(r) && w->c->at.states)
        ((struct dropout_states *)w->c->at.states)->calls++;
}

/* See stops.h. */
#include "exec/stops.h"

void stops_mark(struct kernel *k, bool marked)
{
    for (uint32_t f = 0; f < k->functions.n; f++)
        for (uint32_t i = 0; i < k->functions.at[f]->n_ops; i++) {
            struct op *o = &k->functions.at[f]->ops[i];
            o->runs_as = marked ? OP_STOP : o->kind;
            o->breaks = false;
        }
}

bool stops_call(struct stopper *s, struct warp *w, struct activation *a, const struct op *o, uint32_t code_block,
                uint32_t lanes)
{
    const struct stop at = {w, a, o, code_block, lanes};
    return s->stop(s->data, &at);
}

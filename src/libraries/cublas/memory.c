/* See memory.h. */
#include "libraries/cublas/memory.h"

#include <stdlib.h>

void uses_add(struct uses *u, const void *at, int64_t width, int64_t height, int64_t pitch, unsigned use)
{
    if (width <= 0 || height <= 0 || u->n == MOST_USED)
        return;
    u->used[u->n++] = library_uses(at, (size_t)width, (size_t)height, (size_t)pitch, use);
    u->bytes += library_moved((double)width * (double)height, use);
}

static void add_triangle(struct uses *u, const struct operand *o, const struct region *r, int64_t bytes)
{
    const bool lower = r->kind == REGION_LOWER;
    const int64_t n = r->columns - r->strict;
    const double before = u->bytes;
    hd_used ranges[TRIANGLE_RANGES];
    const size_t told = library_triangle(ranges, (const char *)o->at + (r->strict ? lower ? 1 : o->ld : 0) * bytes,
                                         lower, n, o->ld, (size_t)bytes, r->use);
    for (size_t i = 0; i < told; i++)
        uses_add(u, ranges[i].at, (int64_t)ranges[i].width, (int64_t)ranges[i].height, (int64_t)ranges[i].pitch,
                 r->use);
    u->bytes = before + library_moved((double)(n * (n + 1) / 2) * (double)bytes, r->use);
}

/* Each diagonal of a band is a row of its matrix, which begins and ends with the diagonal. */
static void add_band(struct uses *u, const struct call *c, const struct operand *o, const struct region *r,
                     int64_t bytes)
{
    const bool general = c->routine->uses & USES_BAND, exact = r->rows <= PIECES;
    const int64_t height = general ? c->m : c->n, above = general                             ? c->ku
                                                          : c->uplo == CUBLAS_FILL_MODE_UPPER ? c->k
                                                                                              : 0;
    for (int64_t row = 0; exact && row < r->rows; row++) {
        const int64_t d = row - above, first = d < 0 ? -d : 0, end = height - d < r->columns ? height - d : r->columns;
        if (!(d == 0 && r->strict))
            uses_add(u, (const char *)o->at + (row + first * o->ld) * bytes, bytes, end - first, o->ld * bytes, r->use);
    }
    if (!exact) /* the corners are not read, but must be memory */
        uses_add(u, o->at, r->rows * bytes, r->columns, o->ld * bytes, 0);
}

static void add_region(struct uses *u, const struct call *c, const struct operand *o, const struct region *r,
                       int64_t bytes)
{
    const int64_t inc = o->ld < 0 ? -o->ld : o->ld;
    switch (r->kind) {
    case REGION_MATRIX: uses_add(u, o->at, r->rows * bytes, r->columns, o->ld * bytes, r->use); break;
    case REGION_LOWER:
    case REGION_UPPER: add_triangle(u, o, r, bytes); break;
    case REGION_BAND: add_band(u, c, o, r, bytes); break;
    case REGION_VECTOR:
        uses_add(u, o->at, inc == 1 ? r->rows * bytes : bytes,
                 inc == 1 ? 1
                 : inc    ? r->rows
                          : 1,
                 inc ? inc * bytes : bytes, r->use);
        break;
    case REGION_PACKED:
    case REGION_SCALAR: uses_add(u, o->at, r->rows * bytes, 1, r->rows * bytes, r->use); break;
    case REGION_COUNTS: uses_add(u, o->at, r->rows * (int64_t)sizeof(int32_t), 1, 0, r->use); break;
    case REGION_NONE: break;
    }
}

int64_t region_bytes(const struct call *c, int i, const struct region *r)
{
    return r->kind == REGION_COUNTS ? (int64_t)sizeof(int32_t) : (int64_t)element_bytes(operand_type(c, i));
}

/* A batch by addresses: the arrays of addresses. Other batches: all matrices as one range, a range
 * for each problem, or one for each column of all problems, whichever gives the fewest. */
static void add_batch(struct uses *u, const struct call *c, int i, const struct region *r)
{
    const int64_t bytes = region_bytes(c, i, r), stride = c->op[i].stride, problems = stride ? c->batch : 1,
                  ld = c->op[i].ld, columns = is_matrix(r->kind) ? r->columns : 1;
    const char *at = c->op[i].at;
    if (c->arrays && r->kind != REGION_COUNTS) {
        uses_add(u, at, c->batch * (int64_t)sizeof(void *), 1, 0, HD_READS);
        return;
    }
    if (r->kind == REGION_COUNTS) { /* contiguous */
        uses_add(u, at, problems * r->rows * (r->columns ? r->columns : 1) * bytes, 1, 0, r->use);
        return;
    }
    if (r->kind == REGION_MATRIX && stride == columns * ld) {
        uses_add(u, at, r->rows * bytes, columns * problems, ld * bytes, r->use);
        return;
    }
    const bool in_columns =
        columns < problems && stride > 0 && (r->kind == REGION_MATRIX || (r->kind == REGION_VECTOR && ld == 1));
    for (int64_t k = 0; k < (in_columns ? columns : problems) && k < PIECES; k++) {
        struct operand o = c->op[i];
        o.at = at + k * (in_columns ? ld : stride) * bytes;
        if (in_columns)
            uses_add(u, o.at, r->rows * bytes, problems, stride * bytes, r->use);
        else if (r->kind == REGION_MATRIX || r->kind == REGION_VECTOR)
            add_region(u, c, &o, r, bytes);
    }
}

void uses_add_operand(struct uses *u, const struct call *c, int i, const struct region *r)
{
    if (c->batched)
        add_batch(u, c, i, r);
    else
        add_region(u, c, &c->op[i], r, region_bytes(c, i, r));
}

/* Merges adjacent matrices. */
static bool add_to_last(hd_used *last, const hd_used *u)
{
    if (last->width != u->width || last->pitch != u->pitch || last->use != u->use ||
        (const char *)last->at + last->height * last->pitch != (const char *)u->at)
        return false;
    last->height += u->height;
    return true;
}

hd_used *uses_of_addresses(const struct call *c, const struct region r[], size_t *count)
{
    enum { MOST = 4096 };
    struct uses u;
    hd_used *used = NULL;
    *count = 0;
    for (int i = 0; i < OPERANDS; i++) {
        if (r[i].kind == REGION_NONE || r[i].kind == REGION_COUNTS || !c->op[i].at)
            continue;
        void *const *addresses = library_view(c->op[i].at);
        for (int64_t k = 0; k < c->batch && *count < MOST; k++) {
            u.n = 0;
            u.bytes = 0;
            struct operand o = c->op[i];
            o.at = addresses[k];
            add_region(&u, c, &o, &r[i], region_bytes(c, i, &r[i]));
            for (size_t j = 0; j < u.n; j++)
                if (!(*count && add_to_last(&used[*count - 1], &u.used[j])) &&
                    !library_add_use(&used, count, u.used[j]))
                    return used;
        }
    }
    return used;
}

/* Sampling of images at the points of a grid ("cudnn_ops": cudnnSpatialTfSampler*): bilinear, with
 * the corners' centres at -1 and 1, and zeros outside; and both gradients. Computed in double.
 */
#include <math.h>
#include <stdlib.h>

#include "libraries/cudnn/cudnn.h"

enum { SAMPLER_BILINEAR };
enum { IMAGES, CHANNELS, ROWS, COLUMNS, SAMPLER_DIMS };

struct sampler {
    int type; /* CUDNN_DATA_ */
    int64_t dim[SAMPLER_DIMS];
};

LIBRARY_API cudnnStatus_t cudnnCreateSpatialTransformerDescriptor(struct sampler **handle);
cudnnStatus_t cudnnCreateSpatialTransformerDescriptor(struct sampler **handle)
{
    IN_CALL;
    return cudnn_new(KIND_SAMPLER, sizeof(struct sampler), (void **)handle);
}

LIBRARY_API cudnnStatus_t cudnnDestroySpatialTransformerDescriptor(void *handle);
cudnnStatus_t cudnnDestroySpatialTransformerDescriptor(void *handle)
{
    IN_CALL;
    return cudnn_drop(KIND_SAMPLER, handle);
}

LIBRARY_API cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(void *handle, int sampler, int type, int n,
                                                                 const int *dims);
cudnnStatus_t cudnnSetSpatialTransformerNdDescriptor(void *handle, int sampler, int type, int n, const int *dims)
{
    IN_CALL;
    struct sampler *s = handle_find(&library_handles, handle, KIND_SAMPLER);
    cudaDataType data;
    if (!s || sampler != SAMPLER_BILINEAR || n != SAMPLER_DIMS || !dims || !tensor_type(type, &data))
        return CUDNN_STATUS_BAD_PARAM;
    *s = (struct sampler){.type = type};
    for (int i = 0; i < SAMPLER_DIMS; i++)
        if ((s->dim[i] = dims[i]) < 1)
            return CUDNN_STATUS_BAD_PARAM;
    return CUDNN_STATUS_SUCCESS;
}

/* A call. Backward it has dx, and then y is the gradient that comes in. */
struct sampling {
    struct tensor x, dx, y;
    const void *x_at, *grid;
    void *dx_at, *y_at, *dgrid;
    double alpha, beta, grid_alpha, grid_beta;
};

static size_t point_count(const struct sampling *s)
{
    return (size_t)(s->y.dim[ROWS] * s->y.dim[COLUMNS]);
}

/* One channel of one image, as doubles. */
static void move(const struct tensor *t, void *at, int64_t image, int64_t channel, double *plane, bool write)
{
    for (int64_t r = 0; r < t->dim[ROWS]; r++, plane += t->dim[COLUMNS]) {
        char *row = (char *)at + (image * t->stride[IMAGES] + channel * t->stride[CHANNELS] + r * t->stride[ROWS]) *
                                     (int64_t)tensor_element_bytes(t);
        tensor_move(t, row, t->stride[COLUMNS], (size_t)t->dim[COLUMNS], plane, write);
    }
}

/* Both numbers of all points of an image's grid. */
static void move_grid(const struct sampling *s, void *at, int64_t image, double *grid, bool write)
{
    const size_t n = 2 * point_count(s);
    tensor_move(&s->x, (char *)at + (size_t)image * n * tensor_element_bytes(&s->x), 1, n, grid, write);
}

/* The four pixels around a point, and how much of each it takes: by columns and rows. */
struct corners {
    int64_t at[4]; /* in a plane; negative: outside */
    double weight[4], by_column[4], by_row[4];
};

static struct corners corners_of(const struct sampling *s, const double *point)
{
    const int64_t columns = s->x.dim[COLUMNS], rows = s->x.dim[ROWS];
    const double half[2] = {(double)(columns - 1) / 2, (double)(rows - 1) / 2};
    const double at[2] = {(point[0] + 1) * half[0], (point[1] + 1) * half[1]};
    const double low[2] = {floor(at[0]), floor(at[1])}, part[2] = {at[0] - low[0], at[1] - low[1]};
    struct corners c;
    for (int i = 0; i < 4; i++) {
        const double column = low[0] + (i & 1), row = low[1] + (i >> 1);
        const double by[2] = {i & 1 ? part[0] : 1 - part[0], i >> 1 ? part[1] : 1 - part[1]};
        const bool inside = column >= 0 && column < (double)columns && row >= 0 && row < (double)rows;
        c.at[i] = inside ? (int64_t)row * columns + (int64_t)column : -1;
        c.weight[i] = by[0] * by[1];
        c.by_column[i] = (i & 1 ? by[1] : -by[1]) * half[0];
        c.by_row[i] = (i >> 1 ? by[0] : -by[0]) * half[1];
    }
    return c;
}

static void sample(const struct sampling *s, const double *grid, const double *from, double *to)
{
    for (size_t p = 0; p < point_count(s); p++) {
        const struct corners c = corners_of(s, grid + 2 * p);
        double sum = 0;
        for (int i = 0; i < 4; i++)
            sum += c.at[i] >= 0 ? c.weight[i] * from[c.at[i]] : 0;
        to[p] = s->alpha * sum + (s->beta != 0 ? s->beta * to[p] : 0);
    }
}

static void spread(const struct sampling *s, const double *grid, const double *from, const double *dy, double *dx,
                   double *dgrid)
{
    for (size_t p = 0; p < point_count(s); p++) {
        const struct corners c = corners_of(s, grid + 2 * p);
        for (int i = 0; i < 4; i++) {
            if (c.at[i] < 0)
                continue;
            dx[c.at[i]] += s->alpha * c.weight[i] * dy[p];
            dgrid[2 * p] += s->grid_alpha * c.by_column[i] * from[c.at[i]] * dy[p];
            dgrid[2 * p + 1] += s->grid_alpha * c.by_row[i] * from[c.at[i]] * dy[p];
        }
    }
}

static void scale(double *x, size_t n, double by)
{
    for (size_t i = 0; i < n; i++)
        x[i] = by != 0 ? by * x[i] : 0;
}

struct images {
    const struct sampling *s;
    _Atomic bool failed;
};

static void image(void *data, size_t number)
{
    struct images *all = data;
    const struct sampling *s = all->s;
    const size_t points = point_count(s), pixels = (size_t)(s->x.dim[ROWS] * s->x.dim[COLUMNS]);
    const int64_t n = (int64_t)number;
    double *grid = malloc((5 * points + 2 * pixels) * sizeof *grid);
    if (!grid) {
        all->failed = true;
        return;
    }
    double *dgrid = grid + 2 * points, *y = dgrid + 2 * points, *x = y + points, *dx = x + pixels;
    move_grid(s, (void *)s->grid, n, grid, false);
    if (s->dgrid) {
        move_grid(s, s->dgrid, n, dgrid, false);
        scale(dgrid, 2 * points, s->grid_beta);
    }
    for (int64_t c = 0; c < s->x.dim[CHANNELS]; c++) {
        move(&s->x, (void *)s->x_at, n, c, x, false);
        move(&s->y, s->y_at, n, c, y, false);
        if (!s->dgrid) {
            sample(s, grid, x, y);
            move(&s->y, s->y_at, n, c, y, true);
            continue;
        }
        move(&s->dx, s->dx_at, n, c, dx, false);
        scale(dx, pixels, s->beta);
        spread(s, grid, x, y, dx, dgrid);
        move(&s->dx, s->dx_at, n, c, dx, true);
    }
    if (s->dgrid)
        move_grid(s, s->dgrid, n, dgrid, true);
    free(grid);
}

static hd_result run_sampling(void *args)
{
    struct sampling s = *(struct sampling *)args;
    s.x_at = library_view(s.x_at);
    s.grid = library_view(s.grid);
    s.y_at = library_view(s.y_at);
    s.dx_at = s.dx_at ? library_view(s.dx_at) : NULL;
    s.dgrid = s.dgrid ? library_view(s.dgrid) : NULL;
    struct images all = {.s = &s};
    library_parallel((size_t)s.x.dim[IMAGES], image, &all);
    return all.failed ? HD_ERROR_OUT_OF_MEMORY : HD_SUCCESS;
}

static bool is_of(const struct sampler *d, const struct tensor *t)
{
    return t->n == SAMPLER_DIMS && t->type == d->type && t->dim[IMAGES] == d->dim[IMAGES] &&
           t->dim[CHANNELS] == d->dim[CHANNELS];
}

/* How a result is used that is added to beta times what is there. */
static unsigned use_by(double beta)
{
    return beta != 0 ? HD_READS | HD_WRITES : HD_WRITES;
}

static cudnnStatus_t put(struct cudnn_handle *h, const char *name, void *descriptor, struct sampling *s,
                         cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t dx, cudnnTensorDescriptor_t y)
{
    const struct sampler *d = handle_find(&library_handles, descriptor, KIND_SAMPLER);
    const struct tensor *tx = tensor_of(x), *tdx = dx ? tensor_of(dx) : tx, *ty = tensor_of(y);
    if (!d || !d->dim[0] || !tx || !tdx || !ty || !is_of(d, tx) || !is_of(d, tdx) || !is_of(d, ty) ||
        ty->dim[ROWS] != d->dim[ROWS] || ty->dim[COLUMNS] != d->dim[COLUMNS] || tdx->dim[ROWS] != tx->dim[ROWS] ||
        tdx->dim[COLUMNS] != tx->dim[COLUMNS])
        return CUDNN_STATUS_BAD_PARAM;
    s->x = *tx;
    s->dx = *tdx;
    s->y = *ty;
    const size_t grid = 2 * (size_t)tx->dim[IMAGES] * point_count(s) * tensor_element_bytes(tx);
    hd_used used[5] = {
        library_reads(s->x_at, tensor_bytes(tx)), library_reads(s->grid, grid),
        library_uses(s->y_at, tensor_bytes(ty), 1, tensor_bytes(ty), s->dgrid ? HD_READS : use_by(s->beta))};
    size_t count = 3;
    if (s->dgrid) {
        used[count++] = library_uses(s->dx_at, tensor_bytes(tdx), 1, tensor_bytes(tdx), use_by(s->beta));
        used[count++] = library_uses(s->dgrid, grid, 1, grid, use_by(s->grid_beta));
    }
    const struct library_task t = {.name = name,
                                   .run = run_sampling,
                                   .args = s,
                                   .arg_bytes = sizeof *s,
                                   .used = used,
                                   .used_count = count,
                                   .unit = HD_UNIT_FP32};
    return cudnn_status(heddle_library_put(h->stream, &t, false));
}

LIBRARY_API cudnnStatus_t cudnnSpatialTfSamplerForward(cudnnHandle_t handle, void *sampler, const void *alpha,
                                                       cudnnTensorDescriptor_t x_desc, const void *x, const void *grid,
                                                       const void *beta, cudnnTensorDescriptor_t y_desc, void *y);
cudnnStatus_t cudnnSpatialTfSamplerForward(cudnnHandle_t handle, void *sampler, const void *alpha,
                                           cudnnTensorDescriptor_t x_desc, const void *x, const void *grid,
                                           const void *beta, cudnnTensorDescriptor_t y_desc, void *y)
{
    CONTEXT(h, handle);
    if (!alpha || !beta || !x || !grid || !y)
        return CUDNN_STATUS_BAD_PARAM;
    struct sampling s = {
        .x_at = x, .grid = grid, .y_at = y, .alpha = tensor_factor(alpha, x_desc), .beta = tensor_factor(beta, x_desc)};
    return put(h, "cudnnSpatialTfSamplerForward", sampler, &s, x_desc, NULL, y_desc);
}

LIBRARY_API cudnnStatus_t cudnnSpatialTfSamplerBackward(cudnnHandle_t handle, void *sampler, const void *alpha,
                                                        cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                                        cudnnTensorDescriptor_t dx_desc, void *dx,
                                                        const void *grid_alpha, cudnnTensorDescriptor_t dy_desc,
                                                        const void *dy, const void *grid, const void *grid_beta,
                                                        void *dgrid);
cudnnStatus_t cudnnSpatialTfSamplerBackward(cudnnHandle_t handle, void *sampler, const void *alpha,
                                            cudnnTensorDescriptor_t x_desc, const void *x, const void *beta,
                                            cudnnTensorDescriptor_t dx_desc, void *dx, const void *grid_alpha,
                                            cudnnTensorDescriptor_t dy_desc, const void *dy, const void *grid,
                                            const void *grid_beta, void *dgrid)
{
    CONTEXT(h, handle);
    if (!alpha || !beta || !grid_alpha || !grid_beta || !x || !dx || !dy || !grid || !dgrid || !dx_desc)
        return CUDNN_STATUS_BAD_PARAM;
    struct sampling s = {.x_at = x,
                         .grid = grid,
                         .dx_at = dx,
                         .y_at = (void *)dy,
                         .dgrid = dgrid,
                         .alpha = tensor_factor(alpha, x_desc),
                         .beta = tensor_factor(beta, x_desc),
                         .grid_alpha = tensor_factor(grid_alpha, x_desc),
                         .grid_beta = tensor_factor(grid_beta, x_desc)};
    return put(h, "cudnnSpatialTfSamplerBackward", sampler, &s, x_desc, dx_desc, dy_desc);
}

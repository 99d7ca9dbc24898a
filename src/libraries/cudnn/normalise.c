/* Batch normalization by the older functions ("cudnn_ops": cudnnBatchNormalization*), per channel
 * over images and space, as PyTorch calls them. Means and variances are float, or double for
 * doubles; running variances are unbiased. Activations and additions are not fused.
 */
#include <math.h>
#include <stdlib.h>

#include "libraries/blas/elements.h"
#include "libraries/cudnn/cudnn.h"

enum { NORM_PER_ACTIVATION, NORM_SPATIAL, NORM_SPATIAL_PERSISTENT };

enum what { INFERENCE, TRAINING, BACKWARD };

/* A call's pointers; NULL if it does not have them. */
struct pointers {
    const void *x, *dy, *scale, *bias;
    /* INFERENCE: the estimates; BACKWARD: the saved mean and inverse deviation, or NULL. */
    const void *mean, *variance;
    void *y; /* BACKWARD: dx */
    void *running_mean, *running_variance, *saved_mean, *saved_inverse;
    void *scale_gradient, *bias_gradient;
};

struct norm {
    enum what what;
    struct tensor x, y, dy;
    cudaDataType parameter_type;
    double alpha, beta, parameter_alpha, parameter_beta, factor, epsilon;
    struct pointers at;
};

static double parameter(const struct norm *n, const void *at, int64_t i)
{
    return n->parameter_type == CUDA_R_64F ? ((const double *)at)[i] : ((const float *)at)[i];
}

static void set_parameter(const struct norm *n, void *at, int64_t i, double value)
{
    if (!at)
        return;
    if (n->parameter_type == CUDA_R_64F)
        ((double *)at)[i] = value;
    else
        ((float *)at)[i] = (float)value;
}

/* The number of lines of a channel along the last dimension. */
static int64_t line_count(const struct tensor *t)
{
    int64_t n = t->dim[0];
    for (unsigned i = 2; i + 1 < t->n; i++)
        n *= t->dim[i];
    return n;
}

static int64_t line_length(const struct tensor *t)
{
    return t->n > 2 ? t->dim[t->n - 1] : 1;
}

static int64_t line_at(const struct tensor *t, int64_t channel, int64_t line)
{
    int64_t index = channel * t->stride[1];
    for (unsigned i = t->n - 1; i-- > 2;) {
        index += line % t->dim[i] * t->stride[i];
        line /= t->dim[i];
    }
    return index + line * t->stride[0];
}

static void move(const struct tensor *t, void *at, int64_t channel, int64_t line, double *row, bool write)
{
    char *from = (char *)at + line_at(t, channel, line) * (int64_t)tensor_element_bytes(t);
    tensor_move(t, from, t->n > 2 ? t->stride[t->n - 1] : 1, (size_t)line_length(t), row, write);
}

struct moments {
    double mean, variance;
};

static struct moments moments_of(const struct norm *n, int64_t channel, double *row)
{
    int64_t lines = line_count(&n->x), length = line_length(&n->x);
    double sum = 0, squares = 0, count = (double)(lines * length);
    for (int64_t l = 0; l < lines; l++) {
        move(&n->x, (void *)n->at.x, channel, l, row, false);
        for (int64_t i = 0; i < length; i++)
            sum += row[i];
    }
    const double mean = sum / count;
    for (int64_t l = 0; l < lines; l++) {
        move(&n->x, (void *)n->at.x, channel, l, row, false);
        for (int64_t i = 0; i < length; i++)
            squares += (row[i] - mean) * (row[i] - mean);
    }
    return (struct moments){mean, squares / count};
}

static void note_moments(const struct norm *n, int64_t c, struct moments m)
{
    double count = (double)(line_count(&n->x) * line_length(&n->x));
    double unbiased = count > 1 ? m.variance * count / (count - 1) : m.variance;
    if (n->at.running_mean)
        set_parameter(n, n->at.running_mean, c,
                      (1 - n->factor) * parameter(n, n->at.running_mean, c) + n->factor * m.mean);
    if (n->at.running_variance)
        set_parameter(n, n->at.running_variance, c,
                      (1 - n->factor) * parameter(n, n->at.running_variance, c) + n->factor * unbiased);
    set_parameter(n, n->at.saved_mean, c, m.mean);
    set_parameter(n, n->at.saved_inverse, c, 1 / sqrt(m.variance + n->epsilon));
}

static void normalise(const struct norm *n, int64_t c, double *row, double *other)
{
    struct moments m = n->what == TRAINING
                           ? moments_of(n, c, row)
                           : (struct moments){parameter(n, n->at.mean, c), parameter(n, n->at.variance, c)};
    const double inverse = 1 / sqrt(m.variance + n->epsilon), scale = parameter(n, n->at.scale, c) * inverse,
                 bias = parameter(n, n->at.bias, c);
    if (n->what == TRAINING)
        note_moments(n, c, m);
    for (int64_t l = 0; l < line_count(&n->x); l++) {
        move(&n->x, (void *)n->at.x, c, l, row, false);
        if (n->beta != 0)
            move(&n->y, n->at.y, c, l, other, false);
        for (int64_t i = 0; i < line_length(&n->x); i++)
            row[i] = n->alpha * ((row[i] - m.mean) * scale + bias) + (n->beta != 0 ? n->beta * other[i] : 0);
        move(&n->y, n->at.y, c, l, row, true);
    }
}

static void blend_parameter(const struct norm *n, void *at, int64_t c, double value)
{
    if (at)
        set_parameter(n, at, c,
                      n->parameter_alpha * value +
                          (n->parameter_beta != 0 ? n->parameter_beta * parameter(n, at, c) : 0));
}

static void read_both(const struct norm *n, int64_t c, int64_t line, double *x, double *dy)
{
    move(&n->x, (void *)n->at.x, c, line, x, false);
    move(&n->dy, (void *)n->at.dy, c, line, dy, false);
}

static void gradient(const struct norm *n, int64_t c, double *row, double *other)
{
    int64_t lines = line_count(&n->x), length = line_length(&n->x);
    double mean, inverse, sum = 0, product = 0, count = (double)(lines * length);
    if (n->at.mean && n->at.variance) {
        mean = parameter(n, n->at.mean, c);
        inverse = parameter(n, n->at.variance, c);
    } else {
        struct moments m = moments_of(n, c, row);
        mean = m.mean;
        inverse = 1 / sqrt(m.variance + n->epsilon);
    }
    for (int64_t l = 0; l < lines; l++) {
        read_both(n, c, l, row, other);
        for (int64_t i = 0; i < length; i++) {
            sum += other[i];
            product += other[i] * (row[i] - mean) * inverse;
        }
    }
    for (int64_t l = 0; l < lines; l++) {
        read_both(n, c, l, row, other);
        for (int64_t i = 0; i < length; i++)
            row[i] = parameter(n, n->at.scale, c) * inverse *
                     (other[i] - sum / count - (row[i] - mean) * inverse * product / count) * n->alpha;
        if (n->beta != 0) {
            move(&n->y, n->at.y, c, l, other, false);
            for (int64_t i = 0; i < length; i++)
                row[i] += n->beta * other[i];
        }
        move(&n->y, n->at.y, c, l, row, true);
    }
    blend_parameter(n, n->at.scale_gradient, c, product);
    blend_parameter(n, n->at.bias_gradient, c, sum);
}

struct channels {
    struct norm *n;
    _Atomic bool failed;
};

static void channel(void *data, size_t c)
{
    struct channels *all = data;
    size_t length = (size_t)line_length(&all->n->x);
    double *row = malloc(2 * length * sizeof *row);
    if (!row)
        all->failed = true;
    else if (all->n->what == BACKWARD)
        gradient(all->n, (int64_t)c, row, row + length);
    else
        normalise(all->n, (int64_t)c, row, row + length);
    free(row);
}

static hd_result run_norm(void *args)
{
    struct norm n = *(struct norm *)args;
    const void **at = (const void **)&n.at;
    for (size_t i = 0; i < sizeof n.at / sizeof *at; i++)
        at[i] = at[i] ? library_view(at[i]) : NULL;
    struct channels all = {.n = &n};
    library_parallel((size_t)n.x.dim[1], channel, &all);
    return all.failed ? HD_ERROR_OUT_OF_MEMORY : HD_SUCCESS;
}

static cudnnStatus_t put(struct cudnn_handle *s, const char *name, struct norm *n, int mode, int ops,
                         cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y, cudnnTensorDescriptor_t dy,
                         cudnnTensorDescriptor_t parameters)
{
    const struct tensor *tx = tensor_of(x), *ty = tensor_of(y), *tdy = dy ? tensor_of(dy) : ty,
                        *tp = tensor_of(parameters);
    cudaDataType type;
    if (!tx || !ty || !tdy || !tp || tx->n < 2 || tx->n != ty->n || tx->n != tdy->n)
        return CUDNN_STATUS_BAD_PARAM;
    if (mode == NORM_PER_ACTIVATION || ops != 0 || !tensor_type(tx->type, &type) || !tensor_type(ty->type, &type) ||
        !tensor_type(tdy->type, &type) || !tensor_type(tp->type, &n->parameter_type) ||
        (n->parameter_type != CUDA_R_32F && n->parameter_type != CUDA_R_64F)) {
        LIBRARY_REFUSE("cuDNN's batch normalization per activation, with a fused operation, or of these types "
                       "(torch.backends.cudnn.enabled = False makes PyTorch use its own kernels)");
        return CUDNN_STATUS_NOT_SUPPORTED;
    }
    n->x = *tx;
    n->y = *ty;
    n->dy = *tdy;
    size_t bytes = (size_t)tx->dim[1] * element_bytes(n->parameter_type), count = 0;
    const struct pointers *p = &n->at;
    hd_used used[12];
    const struct {
        const void *at;
        size_t bytes;
        unsigned use;
    } all[] = {{p->x, tensor_bytes(tx), HD_READS},
               {p->dy, tensor_bytes(tdy), HD_READS},
               {p->scale, bytes, HD_READS},
               {p->bias, bytes, HD_READS},
               {p->mean, bytes, HD_READS},
               {p->variance, bytes, HD_READS},
               {p->y, tensor_bytes(ty), n->beta != 0 ? HD_READS | HD_WRITES : HD_WRITES},
               {p->running_mean, bytes, HD_READS | HD_WRITES},
               {p->running_variance, bytes, HD_READS | HD_WRITES},
               {p->saved_mean, bytes, HD_WRITES},
               {p->saved_inverse, bytes, HD_WRITES},
               {p->scale_gradient, bytes, HD_WRITES}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].at)
            used[count++] = library_uses(all[i].at, all[i].bytes, 1, all[i].bytes, all[i].use);
    const struct library_task t = {.name = name,
                                   .run = run_norm,
                                   .args = n,
                                   .arg_bytes = sizeof *n,
                                   .used = used,
                                   .used_count = count,
                                   .flops = 8.0 * (double)tensor_bytes(tx) / (double)tensor_element_bytes(tx),
                                   .unit = HD_UNIT_FP32};
    return cudnn_status(heddle_library_put(s->stream, &t, false));
}

LIBRARY_API cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, int mode, const void *alpha,
                                                                  const void *beta, cudnnTensorDescriptor_t x_desc,
                                                                  const void *x, cudnnTensorDescriptor_t y_desc,
                                                                  void *y, cudnnTensorDescriptor_t parameters,
                                                                  const void *scale, const void *bias, const void *mean,
                                                                  const void *variance, double epsilon);
cudnnStatus_t cudnnBatchNormalizationForwardInference(cudnnHandle_t handle, int mode, const void *alpha,
                                                      const void *beta, cudnnTensorDescriptor_t x_desc, const void *x,
                                                      cudnnTensorDescriptor_t y_desc, void *y,
                                                      cudnnTensorDescriptor_t parameters, const void *scale,
                                                      const void *bias, const void *mean, const void *variance,
                                                      double epsilon)
{
    CONTEXT(s, handle);
    if (!alpha || !beta || !x || !y || !scale || !bias || !mean || !variance)
        return CUDNN_STATUS_BAD_PARAM;
    struct norm n = {.what = INFERENCE,
                     .alpha = tensor_factor(alpha, x_desc),
                     .beta = tensor_factor(beta, x_desc),
                     .epsilon = epsilon,
                     .at = {.x = x, .y = y, .scale = scale, .bias = bias, .mean = mean, .variance = variance}};
    return put(s, "cudnnBatchNormalizationForwardInference", &n, mode, 0, x_desc, y_desc, NULL, parameters);
}

LIBRARY_API cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, int mode, int ops, const void *alpha, const void *beta, cudnnTensorDescriptor_t x_desc,
    const void *x, cudnnTensorDescriptor_t z_desc, const void *z, cudnnTensorDescriptor_t y_desc, void *y,
    cudnnTensorDescriptor_t parameters, const void *scale, const void *bias, double factor, void *running_mean,
    void *running_variance, double epsilon, void *saved_mean, void *saved_inverse, void *activation, void *workspace,
    size_t workspace_bytes, void *reserve, size_t reserve_bytes);
cudnnStatus_t cudnnBatchNormalizationForwardTrainingEx(
    cudnnHandle_t handle, int mode, int ops, const void *alpha, const void *beta, cudnnTensorDescriptor_t x_desc,
    const void *x, cudnnTensorDescriptor_t z_desc, const void *z, cudnnTensorDescriptor_t y_desc, void *y,
    cudnnTensorDescriptor_t parameters, const void *scale, const void *bias, double factor, void *running_mean,
    void *running_variance, double epsilon, void *saved_mean, void *saved_inverse, void *activation, void *workspace,
    size_t workspace_bytes, void *reserve, size_t reserve_bytes)
{
    CONTEXT(s, handle);
    (void)z_desc, (void)z, (void)activation, (void)workspace, (void)workspace_bytes, (void)reserve, (void)reserve_bytes;
    if (!alpha || !beta || !x || !y || !scale || !bias)
        return CUDNN_STATUS_BAD_PARAM;
    struct norm n = {.what = TRAINING,
                     .alpha = tensor_factor(alpha, x_desc),
                     .beta = tensor_factor(beta, x_desc),
                     .factor = factor,
                     .epsilon = epsilon,
                     .at = {.x = x,
                            .y = y,
                            .scale = scale,
                            .bias = bias,
                            .running_mean = running_mean,
                            .running_variance = running_variance,
                            .saved_mean = saved_mean,
                            .saved_inverse = saved_inverse}};
    return put(s, "cudnnBatchNormalizationForwardTrainingEx", &n, mode, ops, x_desc, y_desc, NULL, parameters);
}

LIBRARY_API cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, int mode, int ops, const void *alpha, const void *beta, const void *parameter_alpha,
    const void *parameter_beta, cudnnTensorDescriptor_t x_desc, const void *x, cudnnTensorDescriptor_t y_desc,
    const void *y, cudnnTensorDescriptor_t dy_desc, const void *dy, cudnnTensorDescriptor_t dz_desc, void *dz,
    cudnnTensorDescriptor_t dx_desc, void *dx, cudnnTensorDescriptor_t parameters, const void *scale, const void *bias,
    void *scale_gradient, void *bias_gradient, double epsilon, const void *saved_mean, const void *saved_inverse,
    void *activation, void *workspace, size_t workspace_bytes, void *reserve, size_t reserve_bytes);
cudnnStatus_t cudnnBatchNormalizationBackwardEx(
    cudnnHandle_t handle, int mode, int ops, const void *alpha, const void *beta, const void *parameter_alpha,
    const void *parameter_beta, cudnnTensorDescriptor_t x_desc, const void *x, cudnnTensorDescriptor_t y_desc,
    const void *y, cudnnTensorDescriptor_t dy_desc, const void *dy, cudnnTensorDescriptor_t dz_desc, void *dz,
    cudnnTensorDescriptor_t dx_desc, void *dx, cudnnTensorDescriptor_t parameters, const void *scale, const void *bias,
    void *scale_gradient, void *bias_gradient, double epsilon, const void *saved_mean, const void *saved_inverse,
    void *activation, void *workspace, size_t workspace_bytes, void *reserve, size_t reserve_bytes)
{
    CONTEXT(s, handle);
    (void)y_desc, (void)y, (void)dz_desc, (void)dz, (void)bias, (void)activation, (void)workspace,
        (void)workspace_bytes;
    (void)reserve, (void)reserve_bytes;
    if (!alpha || !beta || !parameter_alpha || !parameter_beta || !x || !dy || !dx || !scale)
        return CUDNN_STATUS_BAD_PARAM;
    struct norm n = {.what = BACKWARD,
                     .alpha = tensor_factor(alpha, x_desc),
                     .beta = tensor_factor(beta, x_desc),
                     .parameter_alpha = tensor_factor(parameter_alpha, x_desc),
                     .parameter_beta = tensor_factor(parameter_beta, x_desc),
                     .epsilon = epsilon,
                     .at = {.x = x,
                            .dy = dy,
                            .y = dx,
                            .scale = scale,
                            .mean = saved_mean,
                            .variance = saved_inverse,
                            .scale_gradient = scale_gradient,
                            .bias_gradient = bias_gradient}};
    return put(s, "cudnnBatchNormalizationBackwardEx", &n, mode, ops, x_desc, dx_desc, dy_desc, parameters);
}

LIBRARY_API cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, int mode, int ops, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t z,
    cudnnTensorDescriptor_t y, cudnnTensorDescriptor_t parameters, void *activation, size_t *bytes);
cudnnStatus_t cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    cudnnHandle_t handle, int mode, int ops, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t z,
    cudnnTensorDescriptor_t y, cudnnTensorDescriptor_t parameters, void *activation, size_t *bytes)
{
    (void)handle, (void)mode, (void)ops, (void)x, (void)z, (void)y, (void)parameters, (void)activation;
    return cudnn_no_bytes(bytes);
}

LIBRARY_API cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    cudnnHandle_t handle, int mode, int ops, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
    cudnnTensorDescriptor_t dy, cudnnTensorDescriptor_t dz, cudnnTensorDescriptor_t dx,
    cudnnTensorDescriptor_t parameters, void *activation, size_t *bytes);
cudnnStatus_t cudnnGetBatchNormalizationBackwardExWorkspaceSize(cudnnHandle_t handle, int mode, int ops,
                                                                cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
                                                                cudnnTensorDescriptor_t dy, cudnnTensorDescriptor_t dz,
                                                                cudnnTensorDescriptor_t dx,
                                                                cudnnTensorDescriptor_t parameters, void *activation,
                                                                size_t *bytes)
{
    (void)handle, (void)mode, (void)ops, (void)x, (void)y, (void)dy, (void)dz, (void)dx, (void)parameters,
        (void)activation;
    return cudnn_no_bytes(bytes);
}

LIBRARY_API cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle, int mode, int ops,
                                                                               void *activation,
                                                                               cudnnTensorDescriptor_t x,
                                                                               size_t *bytes);
cudnnStatus_t cudnnGetBatchNormalizationTrainingExReserveSpaceSize(cudnnHandle_t handle, int mode, int ops,
                                                                   void *activation, cudnnTensorDescriptor_t x,
                                                                   size_t *bytes)
{
    (void)handle, (void)mode, (void)ops, (void)activation, (void)x;
    return cudnn_no_bytes(bytes);
}

/* libcudnn's sampler, as PyTorch's grid_sample calls it, beside sums over all pixels; gradients
 * beside differences of them. */
#include <cuda_runtime_api.h>
#include <math.h>

#include "../../cuda/tap.h"

int cudnnCreate(void **), cudnnCreateTensorDescriptor(void **), cudnnCreateSpatialTransformerDescriptor(void **);
int cudnnSetTensorNdDescriptor(void *, int, int, const int *, const int *);
int cudnnSetSpatialTransformerNdDescriptor(void *, int, int, int, const int *);
int cudnnDestroySpatialTransformerDescriptor(void *);
int cudnnSpatialTfSamplerForward(void *, void *, const void *, void *, const void *, const void *, const void *, void *,
                                 void *);
int cudnnSpatialTfSamplerBackward(void *, void *, const void *, void *, const void *, const void *, void *, void *,
                                  const void *, void *, const void *, const void *, const void *, void *);

#define DONE(call) CHECK((call) == 0)

enum { DOUBLE = 1, IMAGES = 2, CHANNELS = 2, ROWS = 3, COLUMNS = 4, Y_ROWS = 2, Y_COLUMNS = 3, BAD_PARAM = 2000 };
enum { PIXELS = ROWS * COLUMNS, POINTS = Y_ROWS * Y_COLUMNS };
enum { X = IMAGES * CHANNELS * PIXELS, Y = IMAGES * CHANNELS * POINTS, GRID = IMAGES * POINTS * 2 };

static const double two = 2, half = 0.5, zero;
static void *handle, *sampler, *x_tensor, *y_tensor;
static double *x, *y, *grid, *dx, *dgrid;

/* Channels of x lie last. */
static int pixel(int n, int c, int p)
{
    return (n * PIXELS + p) * CHANNELS + c;
}

/* A pixel counts by how near it is to the point, in both directions. */
static double sampled(int n, int c, int p)
{
    const double *at = grid + (n * POINTS + p) * 2;
    double sum = 0;
    for (int i = 0; i < PIXELS; i++) {
        double column = fabs((at[0] + 1) / 2 * (COLUMNS - 1) - i % COLUMNS),
               row = fabs((at[1] + 1) / 2 * (ROWS - 1) - i / COLUMNS);
        sum += fmax(0, 1 - column) * fmax(0, 1 - row) * x[pixel(n, c, i)];
    }
    return sum;
}

/* What a step of y's gradient, its number, gives. */
static double total(void)
{
    double sum = 0;
    for (int i = 0; i < Y; i++)
        sum += sin(i) * sampled(i / POINTS / CHANNELS, i / POINTS % CHANNELS, i % POINTS);
    return sum;
}

static double difference(double *of)
{
    const double kept = *of, by = 1e-6;
    *of = kept + by;
    double sum = total();
    *of = kept - by;
    sum -= total();
    *of = kept;
    return sum / (2 * by);
}

static void start(void)
{
    for (int i = 0; i < X; i++)
        x[i] = sin(3 * i), dx[i] = i;
    for (int i = 0; i < GRID; i++)
        grid[i] = 1.3 * cos(5 * i), dgrid[i] = i; /* some points lie outside */
    for (int i = 0; i < Y; i++)
        y[i] = sin(i);
}

static void samples_are_sums_of_the_pixels_around(void)
{
    int wrong = 0;
    start();
    DONE(cudnnSpatialTfSamplerForward(handle, sampler, &two, x_tensor, x, grid, &half, y_tensor, y));
    DONE(cudaDeviceSynchronize());
    for (int i = 0; i < Y; i++)
        wrong +=
            !(fabs(y[i] - 2 * sampled(i / POINTS / CHANNELS, i / POINTS % CHANNELS, i % POINTS) - sin(i) / 2) < 1e-12);
    CHECK(!wrong);
}

static void gradients_are_differences(void)
{
    int wrong = 0;
    start();
    DONE(cudnnSpatialTfSamplerBackward(handle, sampler, &two, x_tensor, x, &half, x_tensor, dx, &half, y_tensor, y,
                                       grid, &zero, dgrid));
    DONE(cudaDeviceSynchronize());
    for (int i = 0; i < X; i++)
        wrong += !(fabs(dx[i] - 2 * difference(x + i) - 0.5 * i) < 1e-7);
    for (int i = 0; i < GRID; i++)
        wrong += !(fabs(dgrid[i] - 0.5 * difference(grid + i)) < 1e-7);
    CHECK(!wrong);
}

static void what_does_not_fit_is_an_error(void)
{
    CHECK(cudnnSpatialTfSamplerForward(handle, sampler, &two, y_tensor, x, grid, &zero, x_tensor, y) == BAD_PARAM);
    CHECK(cudnnSpatialTfSamplerForward(handle, sampler, &two, x_tensor, x, NULL, &zero, y_tensor, y) == BAD_PARAM);
    CHECK(cudnnSetSpatialTransformerNdDescriptor(sampler, 1, DOUBLE, 4, (int[]){1, 1, 1, 1}) == BAD_PARAM);
    DONE(cudnnDestroySpatialTransformerDescriptor(sampler));
    CHECK(cudnnSpatialTfSamplerForward(handle, sampler, &two, x_tensor, x, grid, &zero, y_tensor, y) == BAD_PARAM);
}

static double *managed(size_t n)
{
    double *p = NULL;
    DONE(cudaMallocManaged((void **)&p, n * sizeof *p, cudaMemAttachGlobal));
    return p;
}

int main(void)
{
    const int y_dims[] = {IMAGES, CHANNELS, Y_ROWS, Y_COLUMNS};
    DONE(cudnnCreate(&handle));
    DONE(cudnnCreateTensorDescriptor(&x_tensor));
    DONE(cudnnCreateTensorDescriptor(&y_tensor));
    DONE(cudnnSetTensorNdDescriptor(x_tensor, DOUBLE, 4, (int[]){IMAGES, CHANNELS, ROWS, COLUMNS},
                                    (int[]){PIXELS * CHANNELS, 1, COLUMNS * CHANNELS, CHANNELS}));
    DONE(cudnnSetTensorNdDescriptor(y_tensor, DOUBLE, 4, y_dims, (int[]){CHANNELS * POINTS, POINTS, Y_COLUMNS, 1}));
    DONE(cudnnCreateSpatialTransformerDescriptor(&sampler));
    DONE(cudnnSetSpatialTransformerNdDescriptor(sampler, 0, DOUBLE, 4, y_dims));
    x = managed(X), dx = managed(X), y = managed(Y), grid = managed(GRID), dgrid = managed(GRID);
    RUN(samples_are_sums_of_the_pixels_around);
    RUN(gradients_are_differences);
    RUN(what_does_not_fit_is_an_error);
    return summary();
}

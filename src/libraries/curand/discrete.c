/* Discrete distributions for the device API ("cuRAND Library Programming Guide", 3.1.5): a
 * histogram of the Poisson distribution (poisson.h) in device memory, in the format that device
 * code of cuRAND's and our headers reads. The program gets the address of one allocation. */
#include "libraries/common/library.h"
#include "libraries/curand/poisson.h"

#include "cuda/curand.h"

#include <stdlib.h>
#include <string.h>

/* Three structs with pointers to each other; their host pointers are unused. */
struct discrete {
    uint64_t host_self, shifted, host_shifted;
    double deviation, mean;
    int32_t method; /* CURAND_M2: by the histogram; else by normal numbers */
    uint32_t pad[5];
    uint64_t histogram, host_histogram;
    uint32_t first, n;
    uint64_t host_made, pad_shifted[4];
    uint64_t borders, host_borders, tops, host_tops, host, pad_histogram[3];
};

static curandStatus_t to_device(const struct poisson *p, CUdeviceptr *made)
{
    const size_t borders = p->n * sizeof *p->border, tops = p->n * sizeof *p->top;
    if (cuMemAlloc(made, sizeof(struct discrete) + borders + tops))
        return CURAND_STATUS_ALLOCATION_FAILED;
    const struct discrete d = {.shifted = *made + offsetof(struct discrete, histogram),
                               .deviation = sqrt(p->lambda),
                               .mean = p->lambda,
                               .method = p->lambda < POISSON_FIRST_NORMAL ? CURAND_M2 : CURAND_DISCRETE_GAUSS,
                               .histogram = *made + offsetof(struct discrete, borders),
                               .first = p->first,
                               .n = p->n,
                               .borders = *made + sizeof d,
                               .tops = *made + sizeof d + borders};
    if (!cuMemcpyHtoD(*made, &d, sizeof d) && !cuMemcpyHtoD(d.borders, p->border, borders) &&
        !cuMemcpyHtoD(d.tops, p->top, tops))
        return CURAND_STATUS_SUCCESS;
    cuMemFree(*made);
    return CURAND_STATUS_PREEXISTING_FAILURE;
}

LIBRARY_API curandStatus_t curandCreatePoissonDistribution(double lambda, curandDiscreteDistribution_t *distribution)
{
    CUcontext context;
    CUdeviceptr made;
    if (!distribution)
        return CURAND_STATUS_NOT_INITIALIZED;
    if (!poisson_has(lambda)) {
        library_failed("curandCreatePoissonDistribution", "lambda is %g; it has to be above 0, and at most 400,000",
                       lambda);
        return CURAND_STATUS_OUT_OF_RANGE;
    }
    if (heddle_library_context(&context))
        return CURAND_STATUS_INITIALIZATION_FAILED;
    struct poisson *p = poisson_new(lambda, POISSON_HISTOGRAM);
    const curandStatus_t status = p ? to_device(p, &made) : CURAND_STATUS_ALLOCATION_FAILED;
    poisson_free(p);
    if (!status)
        *distribution = (curandDiscreteDistribution_t)made;
    return status;
}

LIBRARY_API curandStatus_t curandDestroyDistribution(curandDiscreteDistribution_t distribution)
{
    if (!distribution)
        return CURAND_STATUS_NOT_INITIALIZED;
    return cuMemFree((CUdeviceptr)distribution) ? CURAND_STATUS_PREEXISTING_FAILURE : CURAND_STATUS_SUCCESS;
}

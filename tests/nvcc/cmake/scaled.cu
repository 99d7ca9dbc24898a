/* Only another object's kernel calls it. */
__device__ double factor = 3;
__device__ double scaled(double x, double by)
{
    return x * by * factor;
}

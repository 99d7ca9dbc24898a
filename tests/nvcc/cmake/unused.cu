/* No program needs it; it takes part nevertheless, and what a function calls that no kernel reaches may be nowhere. */
__device__ int nobody_has_this(int x);
__device__ int not_called(int x)
{
    return nobody_has_this(x);
}

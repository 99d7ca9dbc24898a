/* No program needs it, and none has what it calls: it stays in the library. */
int nobody_has_this();
__device__ int not_called(int x)
{
    return x;
}
int host_function()
{
    return nobody_has_this();
}

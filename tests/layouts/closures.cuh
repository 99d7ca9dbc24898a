// A lambda in a header, behind a macro.
#define BOTH __host__ __device__

template <class T> void in_header(int *p, T c)
{
    go<30>([=] BOTH(int x) { return x + c; }, p);
}

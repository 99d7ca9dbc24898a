/* Names of kernels. Those of nvcc's static kernels, and of those in anonymous namespaces, have its own names of a file in them. */
#include <cstdio>
__device__ int gd;
__constant__ int gc[3];
namespace n
{
__device__ int nd;
__global__ void nk(int *p)
{
    *p = nd;
}
} // namespace n
extern "C" __global__ void ck(int *p)
{
    *p = gd + gc[1];
}
template <class T> __device__ T tv = 1;
template <class T> __global__ void tk(T *p)
{
    *p = tv<T>;
}
template <class T, int N, int *Q> __global__ void pk(int *p)
{
    *p = *Q + N;
}
enum class E { A, B };
template <E e, bool b, char c, unsigned long long u> __global__ void ek(int *p)
{
    *p = (int)e + b + c + u;
}
template <class... A> __global__ void vk(int *p, A... a)
{
    *p = (a + ... + 0);
}
template <class F> __global__ void fk(F f, int *p)
{
    *p = f(1);
}
template <class F> void fgo(F f, int *p)
{
    fk<<<1, 1>>>(f, p);
}
template <template <class> class C> __global__ void ttk(C<int> c, int *p)
{
    *p = c.x;
}
template <class T> struct C1 {
    T x;
};
struct S {
    template <class T> static void go(int *p, T c)
    {
        auto g = [](int y) { return y; };
        fgo([=] __device__(int x) { return x + c; }, p);
        fgo([=] __device__(long x) { return int(x + c); }, p);
        fgo([=] __device__(int x) { return x - c; }, p);
        auto h = [&](int q) { fgo([=] __device__(int x) { return x + q; }, p); };
        h(g(1));
    }
};
inline void inl(int *p)
{
    fgo([] __device__(int x) { return x; }, p);
    {
        fgo([] __device__(int x) { return x + 1; }, p);
    }
}
template <class T> std::enable_if_t<sizeof(T) == 4> sfin(int *p, T c)
{
    fgo([=] __device__(int x) { return x + c; }, p);
}
int main()
{
    int *p = nullptr;
    n::nk<<<1, 1>>>(p);
    ck<<<1, 1>>>(p);
    tk<int><<<1, 1>>>(p);
    pk<int, 3, &n::nd><<<1, 1>>>(p);
    ek<E::B, true, 'c', 5><<<1, 1>>>(p);
    vk<<<1, 1>>>(p, 1, 2l, 'c');
    ttk<<<1, 1>>>(C1<int>{}, p);
    S::go(p, 1);
    inl(p);
    sfin(p, 2);
    fk<<<1, 1>>>(inl == nullptr ? nullptr : +[](int x) { return x; }, p);
}

/* Members, bases, bit fields, namespaces, constants. members.ptx.xz is what nvcc -G makes of it. */
namespace geo { namespace in { __device__ int depth = 4; struct pt { float x, y; static const int dims = 2; enum kind { A, B = 5 }; kind k; }; } using in::pt; __constant__ pt origin = {1, 2}; }
struct __attribute__((packed)) bits { unsigned a : 20; unsigned b : 20; unsigned long long c : 24; };
struct shape { int id; __device__ virtual float area() const { return 0; } };
struct sq : shape { float side; __device__ sq(int i, float s) { id = i; side = s; } __device__ float area() const override { float r = side * side; return r; } };
struct acc { int total; int hist[3]; __device__ void add(int v) { total += v; hist[v % 3]++; } };
template <class T, int N> struct arr { T v[N]; __device__ T &operator[](int i) { return v[i]; } };
__device__ static int calls = 0;
template <class F> __device__ int apply(F f, int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
extern "C" __global__ void members(int *out, const geo::pt *__restrict__ pts, int n)
{
    static __device__ int visits = 9;
    const int limit = 17;
    constexpr double pi = 3.25;
    int i = threadIdx.x;
    bits b = {5, 9, 77};
    sq s(i, 1.5f);
    const shape &sr = s;
    acc a = {0, {0, 0, 0}};
    a.add(i + 1);
    arr<arr<short, 2>, 3> m = {};
    m[1][1] = 7;
    geo::pt p = pts[i];
    p.k = geo::pt::B;
    int base = 3;
    int r = apply([&base, i](int k) { return base * k + i; }, 4);
    float4 v4[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    const char *names[2] = {"one", "two"};
    long grid3[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    volatile float vf = 0.1f;
    int hs[2] = {1, 2};
    void *raw = out;
    unsigned char uc = 200; bool flags[3] = {true, false, true};
    auto *np = (int *)nullptr;
    visits += limit; calls++;
    out[i] = (int)(r + pi + sr.area() + b.a + b.b + b.c + a.total + m[1][1] + p.x + v4[1].w + names[i & 1][0] + grid3[1][0][1] + vf + hs[0] + uc + flags[0] + geo::in::depth + geo::origin.y + (raw != np) + visits);
}

/* Extended lambdas that name constants of the function around: captures.cu, for `__device__` ones and for those of both sides.
 *
 * A kernel writes how long each closure is and what it computes. Where the host's code and the kernel are of two compilers, what it
 * computes shows that both have the same variables in the same places: each variable has a value of its own. */
struct Pair {
    int a, b;
};
struct Value {
    int a;
    constexpr HD Value(int a) : a(a) {}
    constexpr HD operator int() const { return a; }
};
enum Plain { PLAIN = 7 };
enum class Scoped : short { SCOPED = 8 };
using Hidden = const int;
constexpr int of_file = 9;
template <int N> [[nodiscard]] HD int argument() { return N; }

template <class T> struct Object {
    T m, also;
    void members(T v, Run run)
    {
        const T n = 3;
        const long w = 4;
        run([=] LAMBDA(int x) { return x + n * 10 + m; });
        run([=] LAMBDA(int x) { return x + v + also * 10 + n * 100; });
        run([=, *this] LAMBDA(int x) { return x + n * 10 + m * 100 + w * 1000; });
    }
};
template <class T> void in_template(T v, Run run)
{
    const T n = 3;
    constexpr char k = 4;
    const long size = sizeof(T) + v - v;
    run([=] LAMBDA(int x) { return x + n + k * 10 + v * 100 + size * 1000; });
    run([=] LAMBDA(int x) {
        int q[k] = {x, x};
        return q[1] + argument<k>() + v * 10 + n * 100 + (int)sizeof(k);
    });
    run([=] LAMBDA(int x) {
        switch (x) {
        case k: return 1;
        default: return int(n * 10 + v);
        }
    });
    run([=] LAMBDA(int x) {
        constexpr int q = k;
        const int z = n;
        int s[z] = {x, int(v)};
        return s[1] * 10 + q + z;
    });
}
void of_kinds(int argc, Run run)
{
    const int n = 3;
    constexpr char k = 4;
    const double d = 5.5;
    constexpr float f = 6;
    int v = 11 * argc;
    long w = 12 * argc;
    const int late = 13 * argc;
    const int next = n + 11;
    int &reference = v;
    const long &constant = w;
    const int &to_constant = n;
    const Plain plain = PLAIN;
    const Scoped scoped = Scoped::SCOPED;
    const bool yes = true;
    Hidden hidden = 15;
    const Pair pair = {16, 17};
    constexpr Value value(18);
    const int array[3] = {19, 20, 21};
    constexpr short list[2] = {22, 23};
    const char *const text = nullptr;
    static const int kept = 24;
    const volatile int changing = 25;
    auto [left, right] = Pair{26 * argc, 27 * argc};
    decltype(n) same = 28;

    run([=] LAMBDA(int x) { return n; });
    run([=] LAMBDA(int x) { return x + n; });
    run([n] LAMBDA(int x) { return x + n; });
    run([n, k] LAMBDA(int x) { return x; });
    run([v] LAMBDA(int x) { return x + n + v; });
    run([] LAMBDA(int x) { return x + n; });
    run([=] LAMBDA(int x) { return x + k; });
    run([=] LAMBDA(int x) { return x + int(d) + int(f); });
    run([=] LAMBDA(int x) { return x + late + next; });
    run([=] LAMBDA(int x) { return x + reference + (int)constant; });
    run([=] LAMBDA(int x) { return x + to_constant + k; });
    run([=] LAMBDA(int x) { return x + plain + int(scoped) + yes; });
    run([=] LAMBDA(int x) { return x + hidden + k; });
    run([=] LAMBDA(int x) { return x + same + k; });
    run([=] LAMBDA(int x) { return x + pair.b + k; });
    run([=] LAMBDA(int x) { return x + value + value.a + k; });
    run([=] LAMBDA(int x) { return x + array[1] + list[1] + k; });
    run([=] LAMBDA(int x) { return text ? x : k; });
    run([=] LAMBDA(int x) { return x + kept + of_file + k; });
    run([=] LAMBDA(int x) { return x + changing + k; });
#if __cplusplus >= 202002L
    run([=] LAMBDA(int x) { return x + right * 10 + n * 100 + left * 1000; });
#endif
    /* the order of first uses */
    run([=] LAMBDA(int x) { return x + v + n * 10 + int(w) * 100 + k * 1000; });
    run([=] LAMBDA(int x) {
        int q[k];
        q[n] = v + k;
        return q[n] + int(w);
    });
    run([=] LAMBDA(int x) {
        for (int i = k; i < v; i += n)
            x += i;
        return x;
    });
    /* not evaluated, or constant expressions */
    run([=] LAMBDA(int x) { return x + int(sizeof(n) + alignof(decltype(k))) + noexcept(n); });
    run([=] LAMBDA(int x) {
        static_assert(n == 3, "");
        enum { N = n };
        alignas(8) char c[k];
        struct Bits {
            int a : n;
            HD int in() { return n; }
        };
        constexpr int m = n;
        c[0] = x;
        return c[0] + argument<n>() + N + m + Bits().in();
    });
    run([=] LAMBDA(int x) {
        const int m = n;
        char c{n};
        int q[m];
        q[0] = x + c;
        (void)k;
        return q[0];
    });
    run([=] LAMBDA(int x) {
        if (false)
            return n;
        int n = 2, k = x;
        return n + k + v;
    });
    /* lambdas inside */
    run([=] LAMBDA(int x) {
        auto g = [=](int y) { return y + n + v; };
        return g(k) + x;
    });
    run([=] LAMBDA(int x) {
        auto g = [&](int y) { return y + n; };
        auto h = [](int y) { return y + k; };
        return g(x) + h(x) + v;
    });
    run([=] LAMBDA(int x) {
        auto g = [q = n, v, k = 2](int y) { return y + q + v + k; };
        return g(x);
    });
    run([=] LAMBDA(int x) {
        auto g = [n = n, &x, v](int y) { return [=] { return y + n + x + k; }() + v; };
        return g(x);
    });
    run([=] LAMBDA(int x) {
        int own = x + k;
        auto g = [=](int y) { return own + y + n; };
        return g(v);
    });
    for (const int i : {1, 2})
        run([=] LAMBDA(int x) mutable noexcept -> int { return (v += i) + n; });
}
void all(Run run)
{
    of_kinds(1, run);
    in_template(31, run);
    in_template<long>(31, run);
    auto *object = reinterpret_cast<Object<int> *>(run.memory); /* which the device reads, too */
    *object = {41, 42};
    object->members(43, run);
}

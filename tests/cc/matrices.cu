/* mma.h: products of every shape, type and layout, of small integers, which every type holds exactly; and inline PTX of mma and ldmatrix. */
#include <mma.h>

#include "tap.h"

using namespace nvcuda;

template <class T> struct number {
    typedef T type;
    static T of(int v) { return (T)v; }
};
template <> struct number<__half> {
    typedef __half type;
    static __half of(int v) { return __float2half((float)v); }
};
template <> struct number<__nv_bfloat16> {
    typedef __nv_bfloat16 type;
    static __nv_bfloat16 of(int v) { return __float2bfloat16((float)v); }
};
template <> struct number<wmma::precision::tf32> : number<float> {};

static int int_of(__half v) { return (int)__half2float(v); }
static int int_of(__nv_bfloat16 v) { return (int)__bfloat162float(v); }
template <class T> int int_of(T v) { return (int)v; }

template <class Layout> bool by_row();
template <> bool by_row<wmma::row_major>() { return true; }
template <> bool by_row<wmma::col_major>() { return false; }

/* D = 2 (A B + C), and in `filled` a matrix that is all 3. */
template <int m, int n, int k, class T, class C, class D, class LayoutA, class LayoutB>
__global__ void multiply(const typename number<T>::type *a, const typename number<T>::type *b, const C *c, D *d, D *filled, unsigned lda,
                         unsigned ldb, D three)
{
    wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, m, n, k, C> fc;
    wmma::fragment<wmma::accumulator, m, n, k, D> fd;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, n, wmma::mem_row_major);
    wmma::mma_sync(fd, fa, fb, fc);
    for (int i = 0; i < fd.num_elements; i++)
        fd.x[i] = fd.x[i] + fd.x[i];
    wmma::store_matrix_sync(d, fd, m, wmma::mem_col_major);
    wmma::fill_fragment(fd, three);
    wmma::store_matrix_sync(filled, fd, n, wmma::mem_row_major);
}

template <int m, int n, int k, class T, class C, class D, class LayoutA, class LayoutB> bool multiplies()
{
    typedef typename number<T>::type input;
    input *a = shared_memory<input>(m * k), *b = shared_memory<input>(k * n);
    C *c = shared_memory<C>(m * n);
    D *d = shared_memory<D>(m * n), *filled = shared_memory<D>(m * n);
    const bool is_unsigned = int_of(number<T>::of(-1)) > 0;
    auto value = [&](int x) { return x * 7 % 11 - (is_unsigned ? 0 : 5); };
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            a[by_row<LayoutA>() ? i * k + l : l * m + i] = number<T>::of(value(i * 3 + l + 60));
    for (int l = 0; l < k; l++)
        for (int j = 0; j < n; j++)
            b[by_row<LayoutB>() ? l * n + j : j * k + l] = number<T>::of(value(l * 5 + 2 * j + 60));
    for (int i = 0; i < m * n; i++)
        c[i] = number<C>::of(i % 9 - 4);
    multiply<m, n, k, T, C, D, LayoutA, LayoutB>
        <<<1, 32>>>(a, b, c, d, filled, by_row<LayoutA>() ? k : m, by_row<LayoutB>() ? n : k, number<D>::of(3));
    CUDA(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int sum = (i * n + j) % 9 - 4;
            for (int l = 0; l < k; l++)
                sum += value(i * 3 + l + 60) * value(l * 5 + 2 * j + 60);
            right = right && int_of(d[j * m + i]) == 2 * sum && int_of(filled[i * n + j]) == 3;
        }
    return right;
}

template <int m, int n, int k, class T, class C, class D> void check(const char *what)
{
    typedef wmma::row_major row;
    typedef wmma::col_major col;
    const bool rows = multiplies<m, n, k, T, C, D, row, row>(), columns = multiplies<m, n, k, T, C, D, col, col>(),
               both = multiplies<m, n, k, T, C, D, row, col>() && multiplies<m, n, k, T, C, D, col, row>();
    CHECK(rows && columns && both, "m%dn%dk%d of %s in all layouts", m, n, k, what);
}

template <class T, class C, class D> void check_shapes(const char *what)
{
    check<16, 16, 16, T, C, D>(what);
    check<32, 8, 16, T, C, D>(what);
    check<8, 32, 16, T, C, D>(what);
}

/* ---- types of less than a byte, saturation ---- */

template <int k, class T> __global__ void multiply_small(const unsigned *a, const unsigned *b, int *d, int start)
{
    wmma::fragment<wmma::matrix_a, 8, 8, k, T, wmma::row_major> fa, ones;
    wmma::fragment<wmma::matrix_b, 8, 8, k, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, k, int> fd;
    wmma::load_matrix_sync(fa, a, k);
    wmma::load_matrix_sync(fb, b, k);
    wmma::fill_fragment(fd, start);
    wmma::mma_sync(fd, fa, fb, fd, start > 1000);
    wmma::store_matrix_sync(d, fd, 8, wmma::mem_row_major);
    wmma::fill_fragment(ones, 1);
    wmma::fill_fragment(fd, 0);
    wmma::mma_sync(fd, ones, fb, fd);
    wmma::store_matrix_sync(d + 64, fd, 8, wmma::mem_row_major);
}

__global__ void multiply_bits(const unsigned *a, const unsigned *b, int *d)
{
    wmma::fragment<wmma::matrix_a, 8, 8, 128, wmma::experimental::precision::b1, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, wmma::experimental::precision::b1, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> c, d_xor, d_and;
    wmma::load_matrix_sync(fa, a, 128);
    wmma::load_matrix_sync(fb, b, 128);
    wmma::fill_fragment(c, 7);
    wmma::bmma_sync(d_xor, fa, fb, c);
    wmma::bmma_sync(d_and, fa, fb, c, wmma::experimental::bmmaBitOpAND, wmma::experimental::bmmaAccumulateOpPOPC);
    wmma::store_matrix_sync(d, d_xor, 8, wmma::mem_row_major);
    wmma::store_matrix_sync(d + 64, d_and, 8, wmma::mem_row_major);
}

static int nibble(const unsigned *x, int i, bool is_signed)
{
    const int v = x[i / 8] >> i % 8 * 4 & 15;
    return is_signed && v > 7 ? v - 16 : v;
}

template <class T> void check_small(const char *what, bool is_signed)
{
    unsigned *a = shared_memory<unsigned>(32), *b = shared_memory<unsigned>(32);
    int *d = shared_memory<int>(128);
    for (unsigned i = 0; i < 32; i++) {
        a[i] = 2654435761u * (i + 1);
        b[i] = 2246822519u * (i + 7);
    }
    for (int start : {-3, 2147483647}) {
        multiply_small<32, T><<<1, 32>>>(a, b, d, start);
        CUDA(cudaDeviceSynchronize());
        bool right = true;
        for (int i = 0; i < 64; i++) {
            long long sum = start, column = 0;
            for (int k = 0; k < 32; k++) {
                sum += nibble(a, i / 8 * 32 + k, is_signed) * nibble(b, i % 8 * 32 + k, is_signed);
                column += nibble(b, i % 8 * 32 + k, is_signed);
            }
            right = right && d[i] == (sum > 2147483647 ? 2147483647 : sum) && d[64 + i] == column;
        }
        CHECK(right, "m8n8k32 of %s, from %d", what, start);
    }
}

static void check_bits()
{
    unsigned *a = shared_memory<unsigned>(32), *b = shared_memory<unsigned>(32);
    int *d = shared_memory<int>(128);
    for (unsigned i = 0; i < 32; i++) {
        a[i] = 2654435761u * (i + 1);
        b[i] = 2246822519u * (i + 7);
    }
    multiply_bits<<<1, 32>>>(a, b, d);
    CUDA(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < 64; i++) {
        int sums[2] = {7, 7};
        for (int k = 0; k < 4; k++) {
            sums[0] += __builtin_popcount(a[i / 8 * 4 + k] ^ b[i % 8 * 4 + k]);
            sums[1] += __builtin_popcount(a[i / 8 * 4 + k] & b[i % 8 * 4 + k]);
        }
        right = right && d[i] == sums[0] && d[64 + i] == sums[1];
    }
    CHECK(right, "m8n8k128 of bits, by xor and by and");
}

/* ---- inline PTX ---- */

/* 16 x 8 x 16 of halves: rows of A and columns of B from shared memory by ldmatrix. */
__global__ void multiply_inline(const __half *a, const __half *b, float *d)
{
    __shared__ __align__(16) __half sa[256], sb[128];
    for (int i = threadIdx.x; i < 256; i += 32)
        sa[i] = a[i];
    for (int i = threadIdx.x; i < 128; i += 32)
        sb[i] = b[i];
    __syncwarp();
    const int lane = threadIdx.x;
    const unsigned pa = (unsigned)__cvta_generic_to_shared(&sa[lane % 16 * 16 + lane / 16 * 8]),
                   pb = (unsigned)__cvta_generic_to_shared(&sb[lane % 8 * 16 + lane / 8 % 2 * 8]);
    unsigned x[4], y[2];
    float z[4] = {0, 0, 0, 0};
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(pa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(y[0]), "=r"(y[1]) : "r"(pb));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    for (int i = 0; i < 4; i++)
        d[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = z[i];
}

static void check_inline()
{
    __half *a = shared_memory<__half>(256), *b = shared_memory<__half>(128);
    float *d = shared_memory<float>(128);
    for (int i = 0; i < 256; i++)
        a[i] = __float2half((float)(i * 7 % 11 - 5));
    for (int i = 0; i < 128; i++)
        b[i] = __float2half((float)(i * 5 % 13 - 6));
    multiply_inline<<<1, 32>>>(a, b, d);
    CUDA(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < 128; i++) {
        int sum = 0;
        for (int k = 0; k < 16; k++)
            sum += ((i / 8 * 16 + k) * 7 % 11 - 5) * ((i % 8 * 16 + k) * 5 % 13 - 6);
        right = right && d[i] == (float)sum;
    }
    CHECK(right, "inline mma of what ldmatrix has loaded");
}

__global__ void round(float *x)
{
    *x = wmma::__float_to_tf32(*x);
}

int main()
{
    check_shapes<__half, float, float>("f16, f32 + f32");
    check_shapes<__half, __half, __half>("f16, f16 + f16");
    check_shapes<__half, __half, float>("f16, f16 + f32");
    check_shapes<__half, float, __half>("f16, f32 + f16");
    check_shapes<__nv_bfloat16, float, float>("bf16");
    check_shapes<signed char, int, int>("s8");
    check_shapes<unsigned char, int, int>("u8");
    check<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
    check<8, 8, 4, double, double, double>("f64");
    check_small<wmma::experimental::precision::s4>("s4", true);
    check_small<wmma::experimental::precision::u4>("u4", false);
    check_bits();
    check_inline();
    float *x = shared_memory<float>(1);
    *x = 1 + 0x1p-11f + 0x1p-20f;
    round<<<1, 1>>>(x);
    CUDA(cudaDeviceSynchronize());
    CHECK(*x == 1 + 0x1p-10f, "__float_to_tf32() rounds to the nearest");
    wmma::fragment<wmma::matrix_a, 8, 8, 32, wmma::experimental::precision::u4, wmma::row_major> packed;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> halves;
    CHECK(packed.num_elements == 8 && packed.num_storage_elements == 1 && halves.num_elements == 16 && sizeof halves.x == 32,
          "fragments have as many elements as nvcc's");
    return done();
}

/* The end of an allocation, as an H200 has it: kernels may use what lies up to the next multiple of 512 bytes (of 256, for variables), and
 * nothing beyond it; such bytes are zeros at first, and nobody else's. Copies and fills end where the allocation does. */
#include "program.h"

/* Elements of p by all threads, n of them; *out gets a sum. */
#define OF_TYPE(read, write, type, sum, of_byte)                                                                       \
    KERNEL read(char *p, int n, unsigned *out) BODY(                                                                   \
        unsigned s = 0;                                                                                                \
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {                      \
            type v = ((type *)p)[i];                                                                                   \
            s += sum;                                                                                                  \
        }                                                                                                              \
        atomicAdd(out, s);                                                                                             \
    )                                                                                                                  \
    REGISTER_KERNEL(read)                                                                                              \
    KERNEL write(char *p, int n, unsigned *out) BODY(                                                                  \
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)                        \
            ((type *)p)[i] = of_byte;                                                                                  \
    )                                                                                                                  \
    REGISTER_KERNEL(write)

/* clang-format off */
OF_TYPE(read1, write1, unsigned char, v, 3)
OF_TYPE(read4, write4, unsigned, (v & 255) + (v >> 8 & 255) + (v >> 16 & 255) + (v >> 24), 0x03030303)
OF_TYPE(read8, write8, unsigned long long, __popcll(v), 0x0303030303030303)
OF_TYPE(read16, write16, uint4, v.x % 255 + v.y % 255 + v.z % 255 + v.w % 255, make_uint4(0x03030303, 0x03030303, 0x03030303, 0x03030303))

/* One element a thread. */
KERNEL one4(char *p, int n, unsigned *out) BODY(
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        ((unsigned *)p)[i] = 0x03030303;
)
REGISTER_KERNEL(one4)

/* In an order that no loop shows. */
KERNEL scatter4(char *p, int n, unsigned *out) BODY(
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        ((unsigned *)p)[(i * 7 + 3) % n] = 0x03030303;
)
REGISTER_KERNEL(scatter4)

KERNEL add4(char *p, int n, unsigned *out) BODY(
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[1] += atomicExch((unsigned *)p + i, 0x03030303);
)
REGISTER_KERNEL(add4)

/* Bytes by their words, as libcu++ has them. */
KERNEL word1(char *p, int n, unsigned *out) BODY(
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned *w = (unsigned *)((unsigned long long)(p + i) & ~3ull);
        unsigned shift = 8 * (i & 3);
        unsigned old = *(volatile unsigned *)w;
        unsigned seen;
        do {
            seen = old;
            old = atomicCAS(w, seen, (seen & ~(255u << shift)) | 3u << shift);
        } while (old != seen);
    }
)
REGISTER_KERNEL(word1)

KERNEL count4(char *p, int n, unsigned *out) BODY(
    for (int k = 0; k < 4; k++)
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 32 * n; i += gridDim.x * blockDim.x)
            atomicAdd((unsigned *)p + i % n, 1);
)
REGISTER_KERNEL(count4)

KERNEL async16(char *p, int n, unsigned *out) BODY(
    __shared__ uint4 staged[64];
    unsigned s = 0;
    unsigned to = (unsigned)__cvta_generic_to_shared(&staged[threadIdx.x]);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.wait_all;" : : "r"(to), "l"(p + 16 * i) : "memory");
        uint4 v = staged[threadIdx.x];
        s += v.x % 255 + v.y % 255 + v.z % 255 + v.w % 255;
    }
    atomicAdd(out, s);
)
REGISTER_KERNEL(async16)

KERNEL bulk16(char *p, int n, unsigned *out) BODY(
    __shared__ alignas(16) unsigned char staged[4096];
    __shared__ unsigned long long bar;
    unsigned to = (unsigned)__cvta_generic_to_shared(staged);
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    unsigned s = 0;
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" : : "r"(at) : "memory");
        for (int i = 0; i < 16 * n; i += 4096) {
            unsigned bytes = 16 * n - i < 4096 ? 16 * n - i : 4096;
            unsigned done = 0;
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" : : "r"(at), "r"(bytes) : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         : : "r"(to), "l"(p + i), "r"(bytes), "r"(at) : "memory");
            while (!done)
                asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], %2; selp.u32 %0, 1, 0, q; }"
                             : "=r"(done) : "r"(at), "r"(i / 4096 & 1) : "memory");
            for (unsigned k = 0; k < bytes; k++)
                s += staged[k];
        }
        atomicAdd(out, s);
    }
)
REGISTER_KERNEL(bulk16)

/* The kernels' own malloc. */
KERNEL own(char *p, int n, unsigned *out) BODY(
    unsigned char *a = (unsigned char *)malloc(1);
    unsigned char *b = (unsigned char *)malloc(1);
    *b = 7;
    for (int i = 1; i < n; i++)
        out[0] += a[i], a[i] = 5;
    out[1] = *b;
    free(a);
    free(b);
)
REGISTER_KERNEL(own)

/* Waits for what nobody will write, and stores what is there already. */
KERNEL stuck(char *p, int n, unsigned *out) BODY(
    __shared__ volatile unsigned flag;
    flag = 0;
    while (flag == 0)
        *(volatile unsigned *)(p + n) = 0;
)
REGISTER_KERNEL(stuck)

DEVICE unsigned char small;
REGISTER_VARIABLE(small)
DEVICE unsigned char neighbour;
REGISTER_VARIABLE(neighbour)
MANAGED(unsigned char, shared_byte)
REGISTER_MANAGED(shared_byte)
KERNEL variables(char *p, int n, unsigned *out) BODY(
    out[0] = small + neighbour + shared_byte;
)
REGISTER_KERNEL(variables)
/* clang-format on */

enum { UNIT = 512, VARIABLE_UNIT = 256 };
enum effect { READS, WRITES, COUNTS };

static const struct form {
    const char *name;
    const void *kernel;
    int bytes;
    enum effect effect;
} forms[] = {
    {"loads of bytes", (const void *)read1, 1, READS},
    {"loads of words", (const void *)read4, 4, READS},
    {"loads of 8 bytes", (const void *)read8, 8, READS},
    {"loads of vectors", (const void *)read16, 16, READS},
    {"stores of bytes", (const void *)write1, 1, WRITES},
    {"stores of words", (const void *)write4, 4, WRITES},
    {"stores of 8 bytes", (const void *)write8, 8, WRITES},
    {"stores of vectors", (const void *)write16, 16, WRITES},
    {"one store a thread", (const void *)one4, 4, WRITES},
    {"scattered stores", (const void *)scatter4, 4, WRITES},
    {"exchanges", (const void *)add4, 4, WRITES},
    {"bytes by their words", (const void *)word1, 1, WRITES},
    {"sums at many places", (const void *)count4, 4, COUNTS},
    {"cp.async", (const void *)async16, 16, READS},
    {"cp.async.bulk", (const void *)bulk16, 16, READS},
};

static unsigned *out;

/* All that is one element each, by a grid that is large enough. */
static cudaError_t run(const void *kernel, void *p, int n)
{
    char *at = (char *)p;
    int elements = n;
    CHECK(cudaMemset(out, 0, 8));
    CHECK(program_launch(kernel, kernel == (const void *)async16 ? 1 : (unsigned)(n + 63) / 64, 64, 0, 0,
                         (void *[]){&at, &elements, &out}));
    return cudaDeviceSynchronize();
}

static unsigned sum_of(void *p, int n)
{
    unsigned sum = 0;
    CHECK(run((const void *)read1, p, n));
    CHECK(cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost));
    return sum;
}

static int all_are(const void *p, size_t n, int value)
{
    unsigned char *host = (unsigned char *)malloc(n);
    size_t i = 0;
    CHECK(cudaMemcpy(host, p, n, cudaMemcpyDefault));
    while (i < n && host[i] == value)
        i++;
    free(host);
    return i == n;
}

/* Two neighbours of a size: a form of access to all of one and its tail is as on an H200. */
static int is_right(const struct form *f, size_t size)
{
    int room = (int)((size + UNIT - 1) / UNIT * UNIT), good = 1;
    unsigned got[2] = {0, 0}, n = (unsigned)room / (unsigned)f->bytes;
    char *p = NULL, *q = NULL, byte[2];
    CHECK(cudaMalloc((void **)&p, size));
    CHECK(cudaMalloc((void **)&q, size));
    good = good && (size_t)(q > p ? q - p : p - q) >= (size_t)room;
    CHECK(cudaMemset(p, 1, size));
    CHECK(cudaMemset(q, 2, size));
    good = good && sum_of(p, room) == size;
    CHECK(run(f->kernel, p, (int)n));
    CHECK(cudaMemcpy(got, out, 8, cudaMemcpyDeviceToHost));
    if (f->effect == READS) /* words and vectors: their sums modulo 255 are those of their bytes */
        good = good && got[0] == size;
    else if (f->effect == WRITES)
        good = good && sum_of(p, room) == 3 * (unsigned)room;
    else
        good = good && sum_of(p, room) == size + (unsigned)room / 4 * 128;
    good = good && all_are(q, size, 2);
    if (size % UNIT) {
        good = good && cudaMemcpy(byte, p + size - 1, 2, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue;
        good = good && cudaMemset(p, 0, size + 1) == cudaErrorInvalidValue;
        cudaGetLastError();
    }
    CHECK(cudaFree(p));
    CHECK(cudaFree(q));
    return good;
}

static void each_form_may_use_the_tail(void)
{
    static const size_t sizes[] = {1, 20, 256, 257, 511, 512, 513, 1040, 4097, 40000, 65537, 300000};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int good = 1;
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
            if (!is_right(&forms[i], sizes[k])) {
                printf("# %zu bytes\n", sizes[k]);
                good = 0;
            }
        expect(good, forms[i].name);
    }
}

static int is_known(const void *p)
{
    struct cudaPointerAttributes a;
    return cudaPointerGetAttributes(&a, p) == cudaSuccess && a.type != cudaMemoryTypeUnregistered;
}

static void no_form_may_go_beyond(void)
{
    static const size_t sizes[] = {100, 513, 70000};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int good = 1;
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            char *p = NULL;
            int n = (int)(sizes[k] + UNIT - 1) / UNIT * UNIT / forms[i].bytes;
            CHECK(cudaMalloc((void **)&out, 8));
            CHECK(run((const void *)read1, out, 1)); /* the module's variables have their places now */
            do
                CHECK(cudaMalloc((void **)&p, sizes[k]));
            while (is_known(p + n * forms[i].bytes)); /* to another allocation */
            good = good && run(forms[i].kernel, p, n) == cudaSuccess;
            good = good && run(forms[i].kernel, p, n + 1) == cudaErrorIllegalAddress;
            CHECK(cudaDeviceReset());
        }
        expect(good, forms[i].name);
    }
}

/* Of a piece of memory, whoever gave it. */
static int has_tail(void *p, int size, int unit)
{
    int n = (size + unit - 1) / unit * unit - size;
    if (sum_of((char *)p + size, n) != 0)
        return 0;
    CHECK(run((const void *)write1, (char *)p + size, n));
    return sum_of((char *)p + size, n) == 3u * (unsigned)n;
}

static int ends_there(void *p, int size, int unit)
{
    int n = (size + unit - 1) / unit * unit;
    int good = run((const void *)read1, (char *)p + n, 1) == cudaErrorIllegalAddress;
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc((void **)&out, 8));
    return good;
}

static void all_memory_has_tails(void)
{
    void *p = NULL;
    size_t pitch = 0, bytes = 0;
    expect(cudaMallocManaged(&p, 100, cudaMemAttachGlobal) == cudaSuccess && has_tail(p, 100, UNIT) &&
               ends_there(p, 100, UNIT),
           "cudaMallocManaged");
    expect(cudaMallocHost(&p, 1000) == cudaSuccess && has_tail(p, 1000, UNIT) && ends_there(p, 1000, UNIT),
           "cudaMallocHost");
    expect(cudaMallocAsync(&p, 700, 0) == cudaSuccess && cudaStreamSynchronize(0) == cudaSuccess &&
               has_tail(p, 700, UNIT) && ends_there(p, 700, UNIT),
           "cudaMallocAsync");
    expect(cudaMallocPitch(&p, &pitch, 100, 3) == cudaSuccess && pitch == 512 && sum_of((char *)p + 2 * pitch, 512) < 1 << 20 &&
               ends_there(p, (int)(3 * pitch), UNIT),
           "cudaMallocPitch: rows, and nothing behind the last");
    CHECK(cudaGetSymbolAddress(&p, (const void *)&small));
    expect(has_tail(p, 1, VARIABLE_UNIT), "a variable");
    CHECK(cudaGetSymbolSize(&bytes, (const void *)&small));
    expect(bytes == 1 && cudaMemcpyToSymbol((const void *)&small, "ab", 2, 0, cudaMemcpyHostToDevice) != cudaSuccess,
           "a variable is as large as it is to copies");
    cudaGetLastError();
    CHECK(cudaGetSymbolAddress(&p, (const void *)&neighbour));
    expect(sum_of(p, 1) == 0, "its neighbour");
    HOST(shared_byte) = 0;
    CHECK(cudaGetSymbolAddress(&p, (const void *)&shared_byte));
    expect(has_tail(p, 1, UNIT), "a managed variable");
}

static void what_is_given_again_is_zeros_again(void)
{
    int good = 1;
    for (int k = 0; k < 200; k++) {
        size_t size = (size_t)(k * k * 3 + 1);
        char *p = NULL;
        CHECK(cudaMalloc((void **)&p, size));
        good = good && (size % UNIT == 0 || has_tail(p, (int)size, UNIT));
        if (k % 3)
            CHECK(cudaFree(p));
    }
    expect(good, "tails of 200 allocations");
}

static void a_wait_that_cannot_end_is_found_out(void)
{
    char *p = NULL;
    int n = 100;
    CHECK(cudaMalloc((void **)&p, (size_t)n));
    CHECK(cudaMemset(out, 0, 4));
    CHECK(program_launch((const void *)stuck, 1, 32, 0, 0, (void *[]){&p, &n, &out}));
    expect(cudaDeviceSynchronize() == cudaErrorLaunchFailure, "a kernel that spins, and stores in the tail, is stuck");
    CHECK(cudaDeviceReset());
}

static void the_kernels_own_memory_has_tails_of_16_bytes(void)
{
    unsigned got[2] = {1, 1};
    for (int k = 0; k < 2; k++) {
        CHECK(cudaMemset(out, 0, 8));
        CHECK(run((const void *)own, NULL, 16));
        CHECK(cudaMemcpy(got, out, 8, cudaMemcpyDeviceToHost));
        expect(got[0] == 0 && got[1] == 7, "malloc");
    }
}

int main(void)
{
    CHECK(cudaMalloc((void **)&out, 8));
    each_form_may_use_the_tail();
    all_memory_has_tails();
    what_is_given_again_is_zeros_again();
    the_kernels_own_memory_has_tails_of_16_bytes();
    no_form_may_go_beyond();
    CHECK(cudaMalloc((void **)&out, 8));
    a_wait_that_cannot_end_is_found_out();
    return done();
}

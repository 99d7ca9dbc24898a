/* What matrix instructions cost: an mma of f16 in compiled code beside a loop in C of the same
 * model (isa/sem_mma.h), and of that the exact sums alone (isa/mma.h), beside sums in f32, which
 * are not what an H200 gives; a product by wmma beside the usual tiled one of FP32, by
 * multiply-add. A table (bench.h). Figures are processor time of one core, the best of a few.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "heddle.h"
#include "isa/isa.h"
#include "isa/lanes.h"
#include "isa/mma.h"
#include "isa/sem.h"
#include "isa/sem_mma.h"

enum { M = 16, N = 8, K = 16, TIMES = 4096, EDGE = 512, TILE = 16, ROUNDS = 5 };

static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry many(.param .u64 p, .param .u64 q, .param .u64 out, .param .u32 n)\n"
    "{\n"
    "    .reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<5>; .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [out]; ld.param.u32 %r7, [n];\n"
    "    mov.u32 %r8, %tid.x; mul.wide.u32 %rd2, %r8, 16; add.s64 %rd1, %rd1, %rd2;\n"
    "    mov.b32 %r1, 0x3c003c01; mov.b32 %r2, 0x3c003a01; add.u32 %r1, %r1, %r8; add.u32 %r2, %r2, %r8;\n"
    "    mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
    "L:  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r1, %r2}, {%r1, %r2}, "
    "{%f1, %f2, %f3, %f4};\n"
    "    sub.u32 %r7, %r7, 1; setp.ne.u32 %p, %r7, 0; @%p bra L;\n"
    "    st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};\n"
    "    ret;\n"
    "}\n"
    ".visible .entry by_wmma(.param .u64 p, .param .u64 q, .param .u64 out, .param .u32 n)\n"
    "{\n"
    "    .reg .b32 %a<8>; .reg .b32 %b<8>; .reg .f32 %c<8>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %ctaid.x; shl.b32 %r2, %r2, 4; mov.u32 %r3, %ctaid.y; shl.b32 %r3, %r3, 4; mov.u32 %r4, 0;\n"
    "    mul.lo.u32 %r5, %r3, %r1; mul.wide.u32 %rd4, %r5, 2; add.s64 %rd1, %rd1, %rd4;\n"
    "    mul.wide.u32 %rd5, %r2, 2; add.s64 %rd2, %rd2, %rd5; mul.wide.u32 %rd6, %r1, 32;\n"
    "    mov.f32 %c0, 0f00000000; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0; mov.f32 %c4, %c0; mov.f32 %c5, "
    "%c0;\n"
    "    mov.f32 %c6, %c0; mov.f32 %c7, %c0;\n"
    "L:  wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%rd1], %r1;\n"
    "    wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}, [%rd2], %r1;\n"
    "    wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7},\n"
    "        {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, {%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7},\n"
    "        {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7};\n"
    "    add.s64 %rd1, %rd1, 32; add.s64 %rd2, %rd2, %rd6; add.u32 %r4, %r4, 16; setp.lt.u32 %p, %r4, %r1; @%p bra L;\n"
    "    add.u32 %r5, %r5, %r2; mul.wide.u32 %rd7, %r5, 4; add.s64 %rd3, %rd3, %rd7;\n"
    "    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd3], {%c0, %c1, %c2, %c3, %c4, %c5, %c6, %c7}, %r1;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry by_tiles(.param .u64 p, .param .u64 q, .param .u64 out, .param .u32 n)\n"
    "{\n"
    "    .reg .f32 %f<4>; .reg .b32 %r<20>; .reg .b64 %rd<12>; .reg .pred %p; .shared .align 4 .b8 a[1024]; .shared "
    ".align 4 .b8 b[1024];\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [n];\n"
    "    mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y;\n"
    "    shl.b32 %r6, %r4, 4; add.u32 %r6, %r6, %r2; shl.b32 %r7, %r5, 4; add.u32 %r7, %r7, %r3;\n"
    "    mad.lo.u32 %r8, %r7, %r1, %r2; mul.wide.u32 %rd4, %r8, 4; add.s64 %rd1, %rd1, %rd4;\n"
    "    mad.lo.u32 %r9, %r3, %r1, %r6; mul.wide.u32 %rd5, %r9, 4; add.s64 %rd2, %rd2, %rd5; mul.wide.u32 %rd6, %r1, "
    "64;\n"
    "    mad.lo.u32 %r10, %r7, %r1, %r6; mul.wide.u32 %rd7, %r10, 4; add.s64 %rd3, %rd3, %rd7;\n"
    "    shl.b32 %r11, %r3, 6; mov.u32 %r12, a; add.u32 %r12, %r12, %r11; mov.u32 %r13, b; shl.b32 %r14, %r2, 2;\n"
    "    add.u32 %r15, %r12, %r14; add.u32 %r16, %r13, %r14; add.u32 %r17, %r16, %r11; mov.u32 %r18, 0; mov.f32 %f1, "
    "0f00000000;\n"
    "L:  ld.global.f32 %f2, [%rd1]; st.shared.f32 [%r15], %f2; ld.global.f32 %f3, [%rd2]; st.shared.f32 [%r17], %f3;\n"
    "    bar.sync 0;\n"
#define STEP(a, b)                                                                                                     \
    "    ld.shared.f32 %f2, [%r12+" #a "]; ld.shared.f32 %f3, [%r16+" #b "]; fma.rn.f32 %f1, %f2, %f3, %f1;\n"
    STEP(0, 0) STEP(4, 64) STEP(8, 128) STEP(12, 192) STEP(16, 256) STEP(20, 320) STEP(24, 384) STEP(28, 448)
        STEP(32, 512) STEP(36, 576) STEP(40, 640) STEP(44, 704) STEP(48, 768) STEP(52, 832) STEP(56, 896)
            STEP(60, 960) "    bar.sync 0;\n"
                          "    add.s64 %rd1, %rd1, 64; add.s64 %rd2, %rd2, %rd6; add.u32 %r18, %r18, 16; setp.lt.u32 "
                          "%p, %r18, %r1; @%p bra L;\n"
                          "    st.global.f32 [%rd3], %f1;\n"
                          "    ret;\n"
                          "}\n";

/* ---- in C ---- */

struct operands {
    u32 a[M][K], b[K][N];
    f32 x[M][K], y[K][N];
    f32 c[M][N];
};

static void exact(struct operands *o)
{
    for (unsigned i = 0; i < M; i++)
        for (unsigned j = 0; j < N; j++) {
            u32 column[K];
            for (unsigned k = 0; k < K; k++)
                column[k] = o->b[k][j];
            o->c[i][j] =
                f32_of(sem_mma_block(mma_unit_f32, mma_f16, mma_f16, K, o->a[i], column, f32_bits(o->c[i][j])));
        }
}

/* What the machine calls: on the registers of a warp, by the vectors of this CPU. What of `o` a
 * register has is the same to it. */
static void vectorised(struct operands *o)
{
    enum { A = 4, B = 2, C = 4, LANES = 32 };
    static const struct mma_places m16n8k16 = {.type = TYPE_f16,
                                               .d_type = TYPE_f32,
                                               .row_blocks = 2,
                                               .column_blocks = 1,
                                               .k_blocks = 2,
                                               .left = {{{{0, 0}, {2, 2}}, {{1, 1}, {3, 3}}}},
                                               .right = {{{{0, 0}, {1, 1}}}},
                                               .d = {{{{0, 1}}, {{2, 3}}}}};
    static const struct mma_fns *fns;
    const u32 *a[A], *b[B], *c[C];
    u32 *d[C];
    if (!fns)
        fns = mma_for_level(lane_level(0));
    for (unsigned i = 0; i < C; i++) {
        a[i] = &o->a[0][0] + i * LANES;
        b[i % B] = &o->b[0][0] + i % B * LANES;
        c[i] = d[i] = (u32 *)&o->c[0][0] + i * LANES;
    }
    bench_must(fns->multiply_in_place(&m16n8k16, a, b, c, d), "a product of plain numbers is not done");
}

static void not_exact(struct operands *o)
{
    for (unsigned i = 0; i < M; i++)
        for (unsigned k = 0; k < K; k++)
            for (unsigned j = 0; j < N; j++)
                o->c[i][j] += o->x[i][k] * o->y[k][j];
}

/* Nanoseconds a product. */
static double time_loop(void (*product)(struct operands *), unsigned times)
{
    static struct operands o;
    double best = INFINITY;
    for (unsigned i = 0; i < M * K; i++) {
        o.a[i / K][i % K] = (0x3c00 + i) * 0x10001; /* of two, where a register has two */
        o.x[i / K][i % K] = f32_of_f16((u16)(0x3c00 + i));
    }
    for (unsigned i = 0; i < K * N; i++) {
        o.b[i / N][i % N] = (0x3a00 + i) * 0x10001;
        o.y[i / N][i % N] = f32_of_f16((u16)(0x3a00 + i));
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        memset(o.c, 0, sizeof o.c);
        double start = bench_cpu();
        for (unsigned i = 0; i < times; i++) {
            product(&o);
            __asm__ volatile("" ::"r"(&o) : "memory");
        }
        best = fmin(best, (bench_cpu() - start) / times * 1e9);
    }
    return best;
}

/* ---- kernels ---- */

struct machine {
    hd_machine *m;
    hd_module *module;
    void *p, *q, *out;
};

/* Seconds of a launch. */
static double time_kernel(struct machine *x, const char *name, hd_launch_config config, unsigned n)
{
    hd_kernel *k;
    double best = INFINITY;
    const void *args[] = {&x->p, &x->q, &x->out, &n};
    config.args = args;
    bench_must(!hd_module_get_kernel(x->module, name, &k, NULL), "there is no kernel");
    for (unsigned round = 0; round < ROUNDS; round++) {
        double start = bench_cpu();
        bench_must(!hd_launch(k, &config, NULL, NULL), "a launch fails");
        if (round) /* the first compiles */
            best = fmin(best, bench_cpu() - start);
    }
    return best;
}

static struct machine open_machine(void)
{
    struct machine x;
    hd_source s = {"matrices.ptx", kernels, sizeof kernels - 1};
    hd_machine_options o = {.engine = HD_ENGINE_JIT, .workers = 1};
    bench_must(!hd_machine_create(&o, &x.m, NULL), "there is no compiler");
    bench_must(!hd_module_load(x.m, &s, 1, &x.module, NULL), "the kernels do not load");
    size_t bytes = sizeof(float) * EDGE * EDGE;
    bench_must(!hd_alloc(x.m, bytes, &x.p) && !hd_alloc(x.m, bytes, &x.q) && !hd_alloc(x.m, bytes, &x.out),
               "no memory");
    for (unsigned i = 0; i < EDGE * EDGE; i++) { /* two halves, or an f32, near 1 */
        ((u32 *)x.p)[i] = 0x3c003c00 + i % 1021;
        ((u32 *)x.q)[i] = 0x3c003c00 + i % 1019;
    }
    return x;
}

int main(void)
{
    struct machine x = open_machine();
    double loop = time_loop(exact, 256), plain = time_loop(not_exact, 65536), sums = time_loop(vectorised, 65536);
    double mma =
        time_kernel(&x, "many", (hd_launch_config){.grid = {1, 1, 1}, .block = {32, 1, 1}}, TIMES) / TIMES * 1e9;
    double macs = (double)EDGE * EDGE * EDGE;
    unsigned tiles = EDGE / TILE;
    double wmma =
        time_kernel(&x, "by_wmma", (hd_launch_config){.grid = {tiles, tiles, 1}, .block = {32, 1, 1}}, EDGE) / macs;
    double fp32 =
        time_kernel(&x, "by_tiles", (hd_launch_config){.grid = {tiles, tiles, 1}, .block = {TILE, TILE, 1}}, EDGE) /
        macs;
    bench_title("matrices");
    bench_line("m16n8k16 of f16, the model as a loop in C", loop, "ns");
    bench_at_most("mma.m16n8k16 of f16 in compiled code, beside the model", mma / loop, "times", 1.5);
    bench_line("mma.m16n8k16 of f16 in compiled code", mma, "ns");
    bench_line("  its sums alone, exact", sums, "ns");
    bench_line("  sums that are not exact: a loop in C that adds in f32", plain, "ns");
    bench_line("wmma of f16, a product of 512 x 512 x 512", 1e-9 / wmma, "10^9 multiply-adds/s");
    bench_line("tiled FP32, the same", 1e-9 / fp32, "10^9 multiply-adds/s");
    bench_at_least("wmma's multiply-adds beside FP32's", fp32 / wmma, "times", 0.25);
    hd_machine_destroy(x.m);
    return 0;
}

/* frontend [FILE.ptx...]: how fast PTX text is read and verified. One line a figure, with the bound
 * that the project sets itself where there is one. Without files it makes a text of its own:
 * kernels of 1,000 instructions, in the mixture of operations that nvcc writes, 32 MB in all. `make
 * bench` runs it.
 */
#include <stdlib.h>

#include "base/text.h"
#include "bench.h"
#include "ir/ir.h"
#include "ptx/link.h"

enum { TEXT_BYTES = 32 << 20, LINES_PER_KERNEL = 1000, ROUNDS = 3 };

/* Lines as nvcc writes them, each as often as real programs have it; %u is the number of a
 * register. */
static const char *const lines[] = {
    "\tadd.s32 \t%%r%u, %%r%u, %%r%u;\n",
    "\tmul.wide.s32 \t%%rd%u, %%r%u, 4;\n",
    "\tadd.s64 \t%%rd%u, %%rd%u, %%rd%u;\n",
    "\tld.global.f32 \t%%f%u, [%%rd%u];\n",
    "\tfma.rn.f32 \t%%f%u, %%f%u, %%f%u, 0f3F800000;\n",
    "\tsetp.lt.s32 \t%%p%u, %%r%u, %%r%u;\n",
    "\tst.shared.f32 \t[%%rd%u+128], %%f%u;\n",
    "\tmov.u32 \t%%r%u, %%tid.x;\n",
    "\tselp.b32 \t%%r%u, %%r%u, %%r%u, %%p1;\n",
    "\tcvt.rn.f32.s32 \t%%f%u, %%r%u;\n",
    "\tmad.lo.s32 \t%%r%u, %%r%u, %%r%u, 7;\n",
    "\tatom.global.add.u32 \t%%r%u, [%%rd%u], 1;\n",
};

static void add_kernel(struct text *t, unsigned number)
{
    text_printf(t,
                ".visible .entry _Z6kernel%uPfi(\n\t.param .u64 _Z6kernel%uPfi_param_0,\n"
                "\t.param .u32 _Z6kernel%uPfi_param_1\n)\n{\n\t.reg .pred \t%%p<1001>;\n\t.reg .f32 \t%%f<1001>;\n"
                "\t.reg .b32 \t%%r<1001>;\n\t.reg .b64 \t%%rd<1001>;\n\n",
                number, number, number);
    for (unsigned i = 0; i < LINES_PER_KERNEL; i++) {
        unsigned seed = number * LINES_PER_KERNEL + i;
        if (i % 10 == 0)
            text_printf(t, "\n$L__BB%u_%u:\n\t.loc\t1 %u 5\n", number, i, i + 1);
        if (i % 20 == 9)
            text_printf(t, "\t@%%p%u bra \t$L__BB%u_%u;\n", i, number, i / 40 * 40);
        const char *line = lines[seed % (sizeof lines / sizeof lines[0])];
        text_printf(t, line, i + 1, i, i / 2, i / 3);
    }
    text_puts(t, "\tret;\n\n}\n");
}

static struct str make_text(struct arena *a)
{
    struct text t = {.arena = a};
    text_puts(&t, ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"kernel.cu\"\n");
    for (unsigned i = 0; t.n < TEXT_BYTES; i++)
        add_kernel(&t, i);
    return (struct str){t.p, t.n};
}

static struct str read_file(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        fprintf(stderr, "bench: cannot read %s\n", path);
        exit(1);
    }
    size_t n = (size_t)ftell(f);
    char *p = arena_alloc(a, n + 1);
    rewind(f);
    n = fread(p, 1, n, f);
    fclose(f);
    return (struct str){p, n};
}

/* One thread does it all, so its own time counts, and other load on the machine does not. */
static double cpu_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void line(const char *what, double value, const char *unit, const char *bound)
{
    printf("%-58s %10.3g %-22s %s\n", what, value, unit, bound);
}

static struct ptx_module *read_module(struct arena *a, const struct source *s, double *parse, double *verify)
{
    struct diags diags = {.arena = a};
    double start = cpu_now();
    struct ptx_module *m = ptx_parse(a, s, &diags);
    double parsed = cpu_now();
    if (m)
        ptx_verify(m, &diags);
    *parse = parsed - start;
    *verify = cpu_now() - parsed;
    if (!m || diags.errors) {
        fprintf(stderr, "bench: %s has errors: %s\n", s->name, diags.list.n ? diags.list.at[0].text : "");
        exit(1);
    }
    return m;
}

/* The best of ROUNDS, for one source. */
static void measure(const struct source *s)
{
    double best = 1e9, best_parse = 0, best_verify = 0, print = 0, lower = 0;
    double bytes = (double)s->text.n;
    for (int i = 0; i < ROUNDS; i++) {
        struct arena a = {0};
        double parse, verify, start;
        struct ptx_module *m = read_module(&a, s, &parse, &verify);
        if (parse + verify < best) {
            best = parse + verify;
            best_parse = parse;
            best_verify = verify;
        }
        if (i == ROUNDS - 1) {
            struct diags diags = {.arena = &a};
            start = cpu_now();
            ptx_print(m, &a);
            print = cpu_now() - start;
            struct ptx_image *image = ptx_link(&a, &m, 1, &diags);
            start = cpu_now();
            for (uint32_t k = 0; k < image->kernels.n; k++) {
                struct arena kernel = {0};
                ir_build(&kernel, image->kernels.at[k], false, false, &diags);
                arena_free(&kernel);
            }
            lower = cpu_now() - start;
        }
        arena_free(&a);
    }
    printf("%s: %.1f MB\n", s->name, 1e-6 * bytes);
    line("read and verified", 1e-6 * bytes / best, "MB/s", "(at least 30)");
    line("  of that, parsing", 1e-6 * bytes / best_parse, "MB/s", "");
    line("  of that, verifying", 1e-6 * bytes / best_verify, "MB/s", "");
    line("printed", 1e-6 * bytes / print, "MB/s", "");
    line("lowered, with liveness and order of blocks", 1e-6 * bytes / lower, "MB/s", "");
}

int main(int argc, char **argv)
{
    struct arena a = {0};
    for (int i = 1; i < argc; i++) {
        struct source s = {.name = argv[i], .text = read_file(&a, argv[i])};
        measure(&s);
    }
    if (argc == 1) {
        struct source s = {.name = "kernels like nvcc's", .text = make_text(&a)};
        measure(&s);
    }
    arena_free(&a);
    return 0;
}

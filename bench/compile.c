/* What compiling costs: every kernel of examples/ and of bench/peers/kernels.ptx, for blocks of 256
 * and of 16 x 16 threads, by a compiler that runs already, and from the disk; large kernels; and
 * small launches that are not worth it. Processor time, so that what else runs on the machine does
 * not count. Kernels from the disk are launched with zeros for arguments: most end by a fault at
 * once.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/handles.h"
#include "bench.h"
#include "jit/host/compiler_process.h"

enum { MAX_FIGURES = 400, ROUNDS = 3, SMALL = 200, ELEMENTS = 20000 };

static const uint32_t shapes[][3] = {{256, 1, 1}, {16, 16, 1}};

struct figures {
    double at[MAX_FIGURES];
    size_t n;
};

static char *read_text(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    bench_must(f && fseek(f, 0, SEEK_END) == 0, path);
    *bytes = (size_t)ftell(f);
    char *text = malloc(*bytes + 1);
    rewind(f);
    bench_must(text && fread(text, 1, *bytes, f) == *bytes, path);
    fclose(f);
    return text;
}

static hd_machine *new_machine(void)
{
    hd_machine *m = NULL;
    bench_must(hd_machine_create(&(hd_machine_options){.workers = 1}, &m, NULL) == HD_SUCCESS, "no machine");
    return m;
}

static hd_module *load(hd_machine *m, const char *path)
{
    hd_module *module = NULL;
    hd_source s = {.name = path};
    s.text = read_text(path, &s.bytes);
    bench_must(hd_module_load(m, &s, 1, &module, NULL) == HD_SUCCESS, path);
    free((char *)s.text);
    return module;
}

static struct jit_process compiler;

/* Milliseconds of the compiler's. */
static double compile(const struct kernel *k, const char *level, const uint32_t block[3], enum jit_tier tier)
{
    struct ir_func *functions[k->functions.n];
    for (uint32_t i = 0; i < k->functions.n; i++)
        functions[i] = (struct ir_func *)k->functions.at[i]->ir;
    struct jit_request r = {.name = k->func->symbol.name,
                            .level = str_of(level),
                            .block = {block[0], block[1], block[2]},
                            .param_bytes = k->param_bytes,
                            .static_shared_bytes = k->static_shared_bytes,
                            .n_functions = k->functions.n,
                            .functions = functions,
                            .block_rows = k->block_rows};
    struct wire_ask ask = {.tier = tier, .seconds = 600, .object = true};
    struct jit_result result;
    size_t bytes;
    uint8_t *request = wire_write(&r, &bytes);
    ask.bytes = bytes;
    bench_must(request && process_ask(&compiler, HEDDLE_JIT, &ask, request, &result), compiler.why);
    bench_must(result.object != NULL, result.error);
    double s = result.shape_seconds + result.emit_seconds + result.pass_seconds + result.code_seconds;
    jit_release(&result);
    free(request);
    return 1e3 * s;
}

/* A kernel that loads n rows of floats, one after the other, and stores every fourth: all accesses
 * are to be tested, and 16 values are needed behind each. */
static char *large_kernel(unsigned n, size_t *bytes)
{
    static const char head[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry large(.param .u64 at, .param .u64 step)\n{\n"
                               ".reg .u64 %%rd<%u>; .reg .u32 %%r; .reg .f32 %%f<%u>, %%s<%u>;\n"
                               "ld.param.u64 %%rd1, [at];\nld.param.u64 %%rd2, [step];\nmov.u32 %%r, %%tid.x;\n"
                               "mad.wide.u32 %%rd3, %%r, 4, %%rd1;\nld.global.f32 %%s0, [%%rd3];\n";
    char *text = NULL;
    FILE *f = open_memstream(&text, bytes);
    bench_must(f != NULL, "no memory");
    fprintf(f, head, n + 4, n, n + 1);
    for (unsigned k = 0; k < n; k++) {
        fprintf(f, "ld.global.f32 %%f%u, [%%rd%u];\n", k, k + 3);
        fprintf(f, "fma.rn.f32 %%s%u, %%f%u, %%s%u, %%s%u;\n", k + 1, k, k > 15 ? k - 15 : 0, k > 7 ? k - 7 : 0);
        if (k % 4 == 0)
            fprintf(f, "st.global.f32 [%%rd%u], %%s%u;\n", k + 3, k + 1);
        fprintf(f, "add.u64 %%rd%u, %%rd%u, %%rd2;\n", k + 4, k + 3);
    }
    fprintf(f, "ret;\n}\n");
    bench_must(fclose(f) == 0, "no memory");
    return text;
}

/* Milliseconds for one of so many instructions, or a few more. */
static double compile_large(unsigned instructions)
{
    hd_machine *m = new_machine();
    hd_module *module = NULL;
    hd_kernel *k;
    hd_source s = {.name = "large"};
    double least = 1e9;
    s.text = large_kernel(instructions * 4 / 13, &s.bytes);
    bench_must(!hd_module_load(m, &s, 1, &module, NULL) && !hd_module_get_kernel(module, "large", &k, NULL), s.name);
    for (int round = 0; round < ROUNDS; round++) {
        double ms = compile(k->kernel, m->machine->cpu_level, shapes[0], TIER_FIRST);
        least = ms < least ? ms : least;
    }
    hd_machine_destroy(m);
    free((char *)s.text);
    return least;
}

/* Milliseconds of this thread for a launch of one block of compiled code. */
static double launch(hd_kernel *k, const uint32_t block[3])
{
    static const uint64_t zeros[512];
    const void *args[64];
    hd_kernel_info info;
    hd_kernel_get_info(k, &info);
    bench_must(info.param_count <= 64, "too many parameters");
    for (size_t i = 0; i < info.param_count; i++)
        args[i] = zeros;
    hd_launch_config c = {
        .grid = {1, 1, 1}, .block = {block[0], block[1], block[2]}, .args = args, .engine = HD_ENGINE_JIT};
    double start = bench_cpu();
    hd_result r = hd_launch(k, &c, NULL, NULL);
    bench_must(r != HD_ERROR_NOT_SUPPORTED, "there is no compiler: it needs LLVM 19");
    return 1e3 * (bench_cpu() - start);
}

/* A figure for each kernel and shape of blocks, or the least of what is there already. Tier 0: from
 * the disk. */
static void measure(const char *const *paths, size_t n, enum jit_tier tier, struct figures *f)
{
    hd_machine *m = new_machine();
    size_t at = 0;
    for (size_t p = 0; p < n; p++) {
        hd_module *module = load(m, paths[p]);
        for (size_t i = 0; i < hd_module_kernel_count(module); i++) {
            hd_kernel *k;
            bench_must(!hd_module_get_kernel(module, hd_module_kernel_name(module, i), &k, NULL), paths[p]);
            for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++, at++) {
                bench_must(at < MAX_FIGURES, "too many kernels");
                double ms = tier ? compile(k->kernel, m->machine->cpu_level, shapes[s], tier) : launch(k, shapes[s]);
                f->at[at] = at < f->n && f->at[at] < ms ? f->at[at] : ms;
            }
        }
        f->n = at > f->n ? at : f->n;
    }
    hd_machine_destroy(m);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double part(struct figures *f, double share)
{
    qsort(f->at, f->n, sizeof f->at[0], by_size);
    return f->at[(size_t)(share * (double)(f->n - 1) + 0.5)];
}

/* Seconds of many launches that are each not worth compiling. */
static double small_launches(hd_engine engine)
{
    hd_machine *m = new_machine();
    hd_module *module = load(m, BENCH_DIR "/../examples/saxpy/saxpy.ptx");
    hd_kernel *k;
    float *x = NULL, *y = NULL, a = 2;
    int n = ELEMENTS;
    bench_must(!hd_module_get_kernel(module, hd_module_kernel_name(module, 0), &k, NULL), "saxpy");
    bench_must(!hd_alloc(m, sizeof *x * ELEMENTS, (void **)&x) && !hd_alloc(m, sizeof *y * ELEMENTS, (void **)&y),
               "no memory");
    memset(x, 0, sizeof *x * ELEMENTS);
    memset(y, 0, sizeof *y * ELEMENTS);
    hd_launch_config c = {.grid = {(ELEMENTS + 255) / 256, 1, 1},
                          .block = {256, 1, 1},
                          .args = (const void *[]){&n, &a, &x, &y},
                          .engine = engine};
    double start = bench_cpu();
    for (int i = 0; i < SMALL; i++)
        bench_must(!hd_launch(k, &c, NULL, NULL), "saxpy");
    double seconds = bench_cpu() - start;
    hd_machine_destroy(m);
    return seconds;
}

static void measure_small(void)
{
    double least[HD_ENGINE_JIT + 1] = {1e9, 1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++)
        for (hd_engine e = HD_ENGINE_AUTO; e <= HD_ENGINE_INTERP; e++) {
            double s = small_launches(e);
            least[e] = s < least[e] ? s : least[e];
        }
    bench_line("200 launches of 20,000 elements, interp", 1e3 * least[HD_ENGINE_INTERP], "ms");
    bench_at_most("  the same, auto", least[HD_ENGINE_AUTO] / least[HD_ENGINE_INTERP], "of that", 1.05);
}

int main(void)
{
    static struct figures compiled[JIT_TIERS], peers[JIT_TIERS], kept;
    static const char *const peer = BENCH_DIR "/peers/kernels.ptx";
    char folder[] = "/tmp/heddle-bench-XXXXXX";
    glob_t g;
    bench_must(glob(BENCH_DIR "/../examples/*/*.ptx", 0, NULL, &g) == 0, "no examples");
    const char *const *paths = (const char *const *)g.gl_pathv;
    bench_must(mkdtemp(folder) != NULL, folder);
    bench_title("compiling");
    process_init(&compiler, false);
    for (int i = 0; i < ROUNDS * JIT_TIERS; i++) {
        measure(paths, g.gl_pathc, TIER_FIRST + i % JIT_TIERS, &compiled[i % JIT_TIERS]);
        measure(&peer, 1, TIER_FIRST + i % JIT_TIERS, &peers[i % JIT_TIERS]);
    }
    double half = compile_large(1000), whole = compile_large(2000);
    process_close(&compiler);
    setenv("HEDDLE_CACHE", folder, 1);
    measure(paths, g.gl_pathc, 0, &(struct figures){0});
    for (int round = 0; round < ROUNDS; round++)
        measure(paths, g.gl_pathc, 0, &kept);
    bench_line("kernels of examples/, two shapes each", (double)compiled[0].n, "");
    bench_at_most("  compiled: median", part(&compiled[0], 0.5), "ms", 18);
    bench_at_most("  compiled: 95th percentile", part(&compiled[0], 0.95), "ms", 94);
    bench_line("  again, in the background: median", part(&compiled[1], 0.5), "ms");
    bench_line("  again: 95th percentile", part(&compiled[1], 0.95), "ms");
    bench_at_most("  from the disk: median", part(&kept, 0.5), "ms", 2);
    bench_at_most("  from the disk: 95th percentile", part(&kept, 0.95), "ms", 2);
    bench_line("kernels of bench/peers, two shapes each: median", part(&peers[0], 0.5), "ms");
    bench_line("  95th percentile", part(&peers[0], 0.95), "ms");
    bench_line("  the slowest (bitonic_sort: 612 instructions)", part(&peers[0], 1), "ms");
    bench_line("  again, in the background: median", part(&peers[1], 0.5), "ms");
    bench_line("  again: 95th percentile", part(&peers[1], 0.95), "ms");
    bench_line("a kernel of 1,000 instructions, 390 of them accesses", half, "ms");
    bench_at_most("  twice as large", whole / half, "times that", 3);
    setenv("HEDDLE_CACHE", "off", 1);
    measure_small();
    char command[sizeof folder + 8];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    globfree(&g);
    return system(command) != 0;
}

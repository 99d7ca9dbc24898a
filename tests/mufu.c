/* mufu-checksums [--cpu LEVEL] [--bytes LIST | --all] [--compiled lanes | uniform] DIR: compares
 * the approximate functions with an H200.
 *
 * DIR holds the oracle's mufu/ folder (or is it). samples.tsv: instruction, operands and the
 * hardware's answer; all are compared. checksums.tsv: function, top byte of the operand, and the
 * sum over all 2^24 operands with that byte of mix(operand, answer); those of the bytes in LIST
 * (hexadecimal, with commas) are compared, with --all every one. One line for each difference, then
 * "samples N: A agree, D differ" and "checksums N: A agree, D differ". The lane functions
 * themselves are called, those that the instructions' names resolve to. With --compiled, the
 * checksums are compiled code's: of operands that differ between the lanes of a warp, or are the
 * same in all.
 */
#include <pthread.h>
#include <unistd.h>

#include "base/arena.h"
#include "isa/isa.h"
#include "isa/lanes.h"
#include "oracle.h"

enum { MAX_CHUNKS = 8192, MAX_THREADS = 64 };

/* One line of checksums.tsv. */
struct chunk {
    const char *function;
    lane_fn *fn;
    uint32_t top;
    uint64_t want, got;
};

struct sweep {
    unsigned n, next;
    struct chunk chunk[MAX_CHUNKS];
};

/* Compiled code, where --compiled asks for it: the machine, the kernel's name, and its sums, one a
 * thread. */
static struct {
    hd_machine *machine;
    const char *kernel;
    void *sums;
} compiled;

static struct isa isa;
static lane_fn *const *lanes;

static const struct isa_inst *resolve(const char *text)
{
    struct isa_error error;
    const struct isa_inst *inst = isa_resolve(&isa, str_of(text), &error);
    if (!inst || !inst->lane) {
        fprintf(stderr, "mufu-checksums: `%s` has no lane function\n", text);
        exit(ORACLE_USAGE);
    }
    return inst;
}

/* "rcp_ftz" is rcp.approx.ftz.f32. */
static void name_instruction(const char *function, char text[64])
{
    const char *ftz = strstr(function, "_ftz");
    snprintf(text, 64, "%.*s.approx%s.f32", ftz ? (int)(ftz - function) : (int)strlen(function), function,
             ftz ? ".ftz" : "");
}

static lane_fn *function_named(const char *function)
{
    char text[64];
    name_instruction(function, text);
    return lanes[resolve(text)->lane];
}

static uint64_t mix(uint32_t x, uint32_t y)
{
    uint64_t h = ((uint64_t)x << 32 | y) * 0x9E3779B97F4A7C15;
    h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9;
    return h ^ h >> 32;
}

static uint64_t sum_of(const struct chunk *c)
{
    _Alignas(64) uint32_t x[WARP_LANES], y[WARP_LANES];
    uint64_t sum = 0;
    for (uint32_t low = 0; low < 1 << 24; low += WARP_LANES) {
        for (uint32_t l = 0; l < WARP_LANES; l++)
            x[l] = c->top << 24 | (low + l);
        c->fn(y, NULL, x, NULL, NULL, 0);
        for (uint32_t l = 0; l < WARP_LANES; l++)
            sum += mix(x[l], y[l]);
    }
    return sum;
}

/* mix() and sum_of() in PTX: a warp has 4,096 operands, in turns of 32 or of one. */
static const char kernels[] = ".version 7.8\n.target sm_90\n.address_size 64\n"
#define KERNEL(name, first, step)                                                                                      \
    ".visible .entry " name "(.param .u32 top, .param .u64 sums) {\n"                                                  \
    "    .reg .b32 %%r<8>; .reg .b64 %%d<12>; .reg .f32 %%f<2>; .reg .pred %%p;\n"                                     \
    "    ld.param.u32 %%r0, [top]; ld.param.u64 %%d0, [sums]; mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%tid.x;\n"       \
    "    mad.lo.u32 %%r3, %%r1, 4096, %%r0; add.u32 %%r4, %%r3, " first "; add.u32 %%r5, %%r3, 4095;\n"                \
    "    mov.u64 %%d1, 0;\n"                                                                                           \
    "LOOP:\n"                                                                                                          \
    "    mov.b32 %%f0, %%r4; %s %%f1, %%f0; mov.b32 %%r6, %%f1; mov.b64 %%d2, {%%r6, %%r4};\n"                         \
    "    mul.lo.u64 %%d3, %%d2, 0x9E3779B97F4A7C15; shr.u64 %%d4, %%d3, 29; xor.b64 %%d5, %%d3, %%d4;\n"               \
    "    mul.lo.u64 %%d6, %%d5, 0xBF58476D1CE4E5B9; shr.u64 %%d7, %%d6, 32; xor.b64 %%d8, %%d6, %%d7;\n"               \
    "    add.u64 %%d1, %%d1, %%d8; sub.u32 %%r7, %%r5, %%r4; setp.ge.u32 %%p, %%r7, " step ";\n"                       \
    "    add.u32 %%r4, %%r4, " step "; @%%p bra LOOP;\n"                                                               \
    "    mad.lo.u32 %%r1, %%r1, 32, %%r2; mad.wide.u32 %%d9, %%r1, 8, %%d0; st.global.u64 [%%d9], %%d1; ret;\n}\n"
    KERNEL("lanes", "%%r2", "32") KERNEL("uniform", "0", "1");

static bool run_kernel(const struct chunk *c, hd_module **module, hd_report **report)
{
    char name[64], text[2 * sizeof kernels];
    name_instruction(c->function, name);
    int n = snprintf(text, sizeof text, kernels, name, name);
    hd_source source = {c->function, text, (size_t)n};
    uint32_t top = c->top << 24;
    const void *args[] = {&top, &compiled.sums};
    hd_launch_config launch = {.grid = {4096, 1, 1}, .block = {32, 1, 1}, .args = args};
    hd_kernel *kernel;
    return !hd_module_load(compiled.machine, &source, 1, module, report) &&
           !hd_module_get_kernel(*module, compiled.kernel, &kernel, report) &&
           !hd_launch(kernel, &launch, NULL, report);
}

static uint64_t compiled_sum_of(const struct chunk *c)
{
    hd_module *module = NULL;
    hd_report *report = NULL;
    uint64_t sum = 0;
    if (!run_kernel(c, &module, &report))
        printf("%s: %s", c->function, hd_report_text(report));
    else
        for (uint32_t i = 0; i < 4096 * WARP_LANES; i += strcmp(compiled.kernel, "lanes") ? WARP_LANES : 1)
            sum += ((const uint64_t *)compiled.sums)[i];
    hd_report_free(report);
    hd_module_unload(module);
    return sum;
}

static void *work(void *arg)
{
    struct sweep *s = arg;
    for (unsigned i; (i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < s->n;)
        s->chunk[i].got = compiled.machine ? compiled_sum_of(&s->chunk[i]) : sum_of(&s->chunk[i]);
    return NULL;
}

static bool chosen(const char *bytes, const char *byte)
{
    return !bytes || strstr(bytes, byte);
}

/* bytes: those to compare, NULL for all. */
static bool compare_checksums(const char *dir, const char *bytes)
{
    static struct sweep s;
    struct file table = oracle_read(dir, "checksums.tsv");
    char *rest = table.bytes;
    oracle_line(&rest); /* names of the columns */
    for (char *line; (line = oracle_line(&rest)) && s.n < MAX_CHUNKS;) {
        char *field[3];
        oracle_split(line, field, 3);
        if (chosen(bytes, field[1]))
            s.chunk[s.n++] = (struct chunk){field[0], function_named(field[0]), (uint32_t)strtoul(field[1], NULL, 16),
                                            strtoull(field[2], NULL, 16), 0};
    }
    pthread_t thread[MAX_THREADS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned started = 0, differ = 0;
    while (!compiled.machine && (long)started + 1 < cores && started < MAX_THREADS &&
           !pthread_create(&thread[started], NULL, work, &s))
        started++;
    work(&s);
    while (started)
        pthread_join(thread[--started], NULL);
    for (unsigned i = 0; i < s.n; i++) {
        const struct chunk *c = &s.chunk[i];
        if (c->got == c->want)
            continue;
        differ++;
        printf("%s of operands %02x......: sum %016llx, H200 %016llx\n", c->function, c->top,
               (unsigned long long)c->got, (unsigned long long)c->want);
    }
    free(table.bytes);
    printf("checksums %u: %u agree, %u differ\n", s.n, s.n - differ, differ);
    return s.n && !differ;
}

/* Does one sample agree? Its values are in every lane. */
static bool sample_agrees(char **field)
{
    _Alignas(64) uint8_t a[WARP_LANES * 8], b[WARP_LANES * 8], d[WARP_LANES * 8];
    const struct isa_inst *inst = resolve(field[0]);
    unsigned bytes = lane_info(inst->lane)->d / 8u;
    uint64_t x = strtoull(field[1], NULL, 16), y = strtoull(field[2], NULL, 16), want = strtoull(field[3], NULL, 16);
    uint64_t got = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        memcpy(a + l * bytes, &x, bytes);
        memcpy(b + l * bytes, &y, bytes);
    }
    lanes[inst->lane](d, NULL, a, b, NULL, 0);
    memcpy(&got, d, bytes);
    if (got != want)
        printf("%s of %s, %s: 0x%llx, H200 0x%llx\n", field[0], field[1], field[2], (unsigned long long)got,
               (unsigned long long)want);
    return got == want;
}

static bool compare_samples(const char *dir)
{
    struct file table = oracle_read(dir, "samples.tsv");
    char *rest = table.bytes;
    unsigned n = 0, differ = 0;
    oracle_line(&rest); /* names of the columns */
    for (char *line; (line = oracle_line(&rest)); n++) {
        char *field[4];
        oracle_split(line, field, 4);
        differ += !sample_agrees(field);
    }
    free(table.bytes);
    printf("samples %u: %u agree, %u differ\n", n, n - differ, differ);
    return n && !differ;
}

static int usage(void)
{
    fprintf(stderr, "usage: mufu-checksums [--cpu LEVEL] [--bytes LIST | --all] [--compiled lanes | uniform] DIR\n");
    return ORACLE_USAGE;
}

static bool start_machine(const char *level)
{
    hd_machine_options options = {.memory_bytes = 256 << 20, .engine = HD_ENGINE_JIT, .cpu_level = level};
    return !hd_machine_create(&options, &compiled.machine, NULL) &&
           !hd_alloc(compiled.machine, 4096 * WARP_LANES * sizeof(uint64_t), &compiled.sums);
}

int main(int argc, char **argv)
{
    const char *level = NULL, *bytes = "3f", *dir = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cpu") == 0 && i + 1 < argc)
            level = oracle_cpu_level(argv[++i]);
        else if (strcmp(argv[i], "--bytes") == 0 && i + 1 < argc)
            bytes = argv[++i];
        else if (strcmp(argv[i], "--all") == 0)
            bytes = NULL;
        else if (strcmp(argv[i], "--compiled") == 0 && i + 1 < argc)
            compiled.kernel = argv[++i];
        else if (argv[i][0] == '-' || dir)
            return usage();
        else
            dir = argv[i];
    }
    if (!dir || (compiled.kernel && !start_machine(level)))
        return usage();
    struct arena arena = {0};
    isa_init(&isa, &arena);
    lanes = lane_table(level, NULL);
    char at[4096];
    oracle_folder(dir, "mufu", "checksums.tsv", at, sizeof at);
    bool samples = compiled.machine || compare_samples(at), sums = compare_checksums(at, bytes);
    hd_machine_destroy(compiled.machine);
    arena_free(&arena);
    return samples && sums ? 0 : 1;
}

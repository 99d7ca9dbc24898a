/* mufu-checksums [--cpu LEVEL] [--bytes LIST | --all] DIR: compares the approximate functions with an H200.
 *
 * DIR holds the oracle's mufu/ folder (or is it). samples.tsv: instruction, operands and the hardware's answer; all are
 * compared. checksums.tsv: function, top byte of the operand, and the sum over all 2^24 operands with that byte of
 * mix(operand, answer); those of the bytes in LIST (hexadecimal, with commas) are compared, with --all every one. One line
 * for each difference, then "samples N: A agree, D differ" and "checksums N: A agree, D differ". The lane functions
 * themselves are called, those that the instructions' names resolve to.
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
static lane_fn *function_named(const char *function)
{
    char text[64];
    const char *ftz = strstr(function, "_ftz");
    snprintf(text, sizeof text, "%.*s.approx%s.f32", ftz ? (int)(ftz - function) : (int)strlen(function), function,
             ftz ? ".ftz" : "");
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

static void *work(void *arg)
{
    struct sweep *s = arg;
    for (unsigned i; (i = __atomic_fetch_add(&s->next, 1, __ATOMIC_RELAXED)) < s->n;)
        s->chunk[i].got = sum_of(&s->chunk[i]);
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
    while ((long)started + 1 < cores && started < MAX_THREADS && !pthread_create(&thread[started], NULL, work, &s))
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
    unsigned bytes = lane_info((enum lane_id)inst->lane)->d / 8u;
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
    fprintf(stderr, "usage: mufu-checksums [--cpu LEVEL] [--bytes LIST | --all] DIR\n");
    return ORACLE_USAGE;
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
        else if (argv[i][0] == '-' || dir)
            return usage();
        else
            dir = argv[i];
    }
    if (!dir)
        return usage();
    struct arena arena = {0};
    isa_init(&isa, &arena);
    lanes = lane_table(level, NULL);
    char at[4096];
    oracle_folder(dir, "mufu", "checksums.tsv", at, sizeof at);
    bool samples = compare_samples(at), sums = compare_checksums(at, bytes);
    arena_free(&arena);
    return samples && sums ? 0 : 1;
}

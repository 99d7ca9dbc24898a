/* litmus [--all] DIR [NAME]: litmus tests of the PTX memory consistency model (PTX ISA, chapter 8)
 * under every engine and under the checker.
 *
 * DIR holds verdicts.tsv, a line for each test, and NAME.ptx for each: a kernel `litmus(mem, out)`.
 * Fields of a line: name; what it is; blocks, threads of a block, blocks of a cluster, bytes of mem
 * and of out, which are zeroed; then what mem starts with (OFFSET=VALUE...); whether always, some
 * or never of the executions that the model allows have a data race; pairs of PTX lines that can
 * race; where the values of an outcome stand (memOFFSET, outOFFSET); all outcomes that are allowed;
 * and how it can end other than by all threads' end (deadlock, hang, trap).
 *
 * Every launch has to end with an allowed outcome. Under the checker a race has to be reported
 * where every execution has one, none may be where no execution has, and what is reported has to be
 * a pair that can race. Prints TAP: a line for each way to run them. With --all every way runs all
 * of them; with NAME it runs this one.
 */
#include "oracle.h"

enum { MEM_BYTES = 4096, OUT_BYTES = 4096, STEPS = 200000, FIELDS = 13, PTX_LINES = 1 << 12 };

struct way {
    const char *what, *policy;
    hd_engine engine;
    unsigned workers, every; /* tests run, of how many one: compiling takes long */
    bool checked;
};

/* Outcomes of relaxed accesses differ from run to run where several workers take part. */
static const struct way ways[] = {
    {"by the interpreter on one worker", NULL, HD_ENGINE_INTERP, 1, 1, false},
    {"by the interpreter on four workers", NULL, HD_ENGINE_INTERP, 4, 1, false},
    {"by the interpreter in a random order", "random:1", HD_ENGINE_INTERP, 1, 1, false},
    {"by compiled code", NULL, HD_ENGINE_JIT, 4, 5, false},
    {"checked, one warp after the other", "serial", HD_ENGINE_INTERP, 1, 1, true},
    {"checked on one worker", NULL, HD_ENGINE_INTERP, 1, 1, true},
    {"checked on two workers", NULL, HD_ENGINE_INTERP, 2, 1, true},
    {"checked on seven workers", NULL, HD_ENGINE_INTERP, 7, 1, true},
    {"checked in the random order of seed 1", "random:1", HD_ENGINE_INTERP, 1, 1, true},
    {"checked in the random order of seed 2", "random:2", HD_ENGINE_INTERP, 1, 1, true},
    {"checked in the random order of seed 3", "random:3", HD_ENGINE_INTERP, 1, 1, true},
};

struct test {
    const char *name, *what, *init, *verdict, *pairs, *at, *outcomes, *ends;
    unsigned grid, block, cluster, mem_bytes, out_bytes;
    struct file ptx;
};

struct run {
    hd_machine *machine;
    const struct way *way;
    uint8_t *mem, *out;
    char why[1 << 12];
    unsigned launches, failed, racy, reported; /* tests that can race; those that were seen to */
};

static void test_read(struct test *t, const char *dir, char *line)
{
    char *f[FIELDS], name[64];
    oracle_split(line, f, FIELDS);
    *t = (struct test){f[0],
                       f[1],
                       f[7],
                       f[8],
                       f[9],
                       f[10],
                       f[11],
                       f[12],
                       (unsigned)atoi(f[2]),
                       (unsigned)atoi(f[3]),
                       (unsigned)atoi(f[4]),
                       (unsigned)atoi(f[5]),
                       (unsigned)atoi(f[6]),
                       {0}};
    snprintf(name, sizeof name, "%s.ptx", t->name);
    t->ptx = oracle_read(dir, name);
}

static void memory_start(struct run *r, const struct test *t)
{
    memset(r->mem, 0, MEM_BYTES);
    memset(r->out, 0, OUT_BYTES);
    for (const char *p = t->init; *p;) {
        char *end;
        unsigned long at = strtoul(p, &end, 10);
        uint32_t value = (uint32_t)strtoul(end + 1, &end, 10);
        memcpy(r->mem + at, &value, sizeof value);
        p = end + (*end == ' ');
    }
}

/* "1,0,1,1", as outcomes are written. */
static void outcome_name(const struct run *r, const struct test *t, char *text, size_t size)
{
    size_t n = 0;
    for (const char *p = t->at; *p;) {
        const uint8_t *buffer = *p == 'm' ? r->mem : r->out;
        char *end;
        uint32_t value;
        memcpy(&value, buffer + strtoul(p + 3, &end, 10), sizeof value);
        n += (size_t)snprintf(text + n, size - n, "%s%u", n ? "," : "", value);
        p = end + (*end == ' ');
    }
    text[n] = 0;
}

/* Is the word in a list between spaces? */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == 0 || p[n] == ' '))
            return true;
    return false;
}

static bool ends_as_allowed(struct run *r, const struct test *t, hd_result result)
{
    char outcome[512];
    if (result) {
        bool stuck = result == HD_ERROR_LAUNCH_FAILED || result == HD_ERROR_LAUNCH_TIMEOUT;
        snprintf(r->why, sizeof r->why, "ends with %s", hd_result_name(result));
        /* The reference lets each loop end; two threads that take two locks in different orders may
         * wait for ever. */
        return stuck && (strcmp(t->ends, "always") != 0 || strstr(t->what, "lockorder"));
    }
    outcome_name(r, t, outcome, sizeof outcome);
    snprintf(r->why, sizeof r->why, "outcome %s is none of %s", outcome, t->outcomes);
    return listed(t->outcomes, outcome);
}

/* The lines of a data race: of the finding, and of the note behind it about the other access. */
static bool race_lines(const hd_report *report, size_t i, unsigned line[2])
{
    hd_diagnostic d, other;
    if (!hd_report_get(report, i, &d) || strcmp(d.code, "data-race") != 0 || d.severity == HD_SEVERITY_NOTE)
        return false;
    line[0] = line[1] = d.line;
    if (hd_report_get(report, i + 1, &other) && other.severity == HD_SEVERITY_NOTE && other.line)
        line[1] = other.line;
    return true;
}

static bool finds_as_it_has_to(struct run *r, const struct test *t, hd_checker *checker)
{
    hd_report *findings = NULL;
    hd_checker_report(checker, &findings);
    unsigned line[2], races = 0;
    bool good = true;
    for (size_t i = 0; good && i < hd_report_count(findings); i++)
        if (race_lines(findings, i, line)) {
            char pair[64], turned[64];
            snprintf(pair, sizeof pair, "%u-%u", line[0], line[1]);
            snprintf(turned, sizeof turned, "%u-%u", line[1], line[0]);
            good = listed(t->pairs, pair) || listed(t->pairs, turned);
            snprintf(r->why, sizeof r->why, "reported %s is none of [%s]: %s", pair, t->pairs,
                     hd_report_text(findings));
            races++;
        }
    if (good && !races && strcmp(t->verdict, "always") == 0) {
        snprintf(r->why, sizeof r->why, "nothing of the race that every execution has: one of %s", t->pairs);
        good = false;
    }
    r->racy += strcmp(t->verdict, "never") != 0;
    r->reported += races > 0;
    hd_report_free(findings);
    return good;
}

static bool launch(struct run *r, const struct test *t, hd_kernel *k)
{
    const void *args[] = {&r->mem, &r->out};
    hd_launch_config c = {.grid = {t->grid, 1, 1}, .block = {t->block, 1, 1}, .flags = HD_LAUNCH_CLOSED, .args = args};
    hd_report *report = NULL;
    hd_checker *checker = NULL;
    memory_start(r, t);
    if (r->way->checked && hd_checker_create(r->machine, NULL, &checker)) {
        snprintf(r->why, sizeof r->why, "there is no checker");
        return false;
    }
    hd_result result = hd_launch(k, &c, NULL, &report);
    bool good = ends_as_allowed(r, t, result) && (!checker || finds_as_it_has_to(r, t, checker));
    hd_checker_destroy(checker);
    hd_report_free(report);
    r->launches++;
    return good;
}

static bool run_test(struct run *r, const struct test *t)
{
    hd_module *module;
    hd_kernel *k;
    hd_report *report = NULL;
    hd_source source = {t->name, t->ptx.bytes, t->ptx.n};
    hd_result result = hd_module_load(r->machine, &source, 1, &module, &report);
    if (result)
        return oracle_ran(result, report, r->why, sizeof r->why);
    result = hd_module_get_kernel(module, "litmus", &k, &report);
    bool good = oracle_ran(result, report, r->why, sizeof r->why) && launch(r, t, k);
    hd_module_unload(module);
    return good;
}

static hd_result run_all(struct run *r, const struct test *tests, unsigned n, unsigned every, const char *only)
{
    hd_machine_options options = {.memory_bytes = 64 << 20,
                                  .policy = r->way->policy,
                                  .engine = r->way->engine,
                                  .workers = r->way->workers,
                                  .step_limit = STEPS};
    hd_result result = hd_machine_create(&options, &r->machine, NULL);
    if (result)
        return result;
    result = hd_alloc(r->machine, MEM_BYTES, (void **)&r->mem);
    if (!result)
        result = hd_alloc(r->machine, OUT_BYTES, (void **)&r->out);
    for (unsigned i = 0; !result && i < n; i++) {
        if (only ? strcmp(only, tests[i].name) != 0 : i % every != 0)
            continue;
        if (!run_test(r, &tests[i])) {
            printf("# %s (%s): %s\n", tests[i].name, tests[i].what, r->why);
            r->failed++;
        }
    }
    hd_machine_destroy(r->machine);
    return result;
}

/* Prints the line of a way; false where something failed. */
static bool run_way(const struct way *way, unsigned number, const struct test *tests, unsigned n, bool all,
                    const char *only)
{
    struct run r = {.way = way};
    hd_result result = run_all(&r, tests, n, all ? 1 : way->every, only);
    bool good = !result && !r.failed && r.launches;
    printf("%sok %u - %u litmus tests %s: %u go wrong", good ? "" : "not ", number, r.launches, way->what, r.failed);
    if (way->checked)
        printf(", races seen in %u of %u that can have one", r.reported, r.racy);
    printf("%s%s\n", result ? ": " : "", result ? hd_result_string(result) : "");
    fflush(stdout);
    return good;
}

int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    const char *dir = argv[1 + all], *only = dir ? argv[2 + all] : NULL;
    if (!dir) {
        fprintf(stderr, "usage: %s [--all] DIR [NAME]\n", argv[0]);
        return ORACLE_USAGE;
    }
    static struct test tests[1024];
    struct file list = oracle_read(dir, "verdicts.tsv");
    char *rest = list.bytes, *line;
    unsigned n = 0, failed = 0, n_ways = sizeof ways / sizeof ways[0];
    while (n < sizeof tests / sizeof tests[0] && (line = oracle_line(&rest)))
        test_read(&tests[n++], dir, line);
    for (unsigned i = 0; i < n_ways; i++)
        failed += !run_way(&ways[i], i + 1, tests, n, all, only);
    for (unsigned i = 0; i < n; i++)
        free(tests[i].ptx.bytes);
    free(list.bytes);
    printf("1..%u\n", n_ways);
    return failed != 0;
}

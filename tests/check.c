/* check SOURCE_DIR [--write]: the checker says of each kernel of mistakes.cu what stands beside it,
 * the same under every schedule, on one worker and on several. Prints TAP. With --write the
 * expectations are written.
 */
#include "expect.h"
#include "oracle.h"

enum { OUT_BYTES = 4096 };

static const char *const kernels[] = {
    "clean_reduction",
    "clean_early_exit",
    "clean_heap",
    "clean_local",
    "three_bad_accesses",
    "shared_never_written",
    "shared_read_too_early",
    "shared_partly_written",
    "local_never_written",
    "heap_never_written",
    "heap_leak",
    "barrier_in_both_branches",
    "barrier_with_two_counts",
    "not_in_its_mask",
    "shuffles_from_outside",
    "shuffles_from_the_exited",
};

struct setting {
    const char *policy;
    unsigned workers, blocks, tools;
};

/* Races are pairs of lines of CUDA; which threads and instructions of these are named depends on
 * the schedule. */
static void list_lines(hd_report *findings, char *got, size_t size)
{
    hd_diagnostic d;
    size_t n = 0;
    for (size_t i = 0; hd_report_get(findings, i, &d) && n < size; i++)
        n += (size_t)snprintf(got + n, size - n, "%s %u\n", d.code, d.cuda_line);
}

static void run(hd_machine *m, hd_module *module, void *out, const char *name, const struct setting *s, char *got,
                size_t size)
{
    const hd_checker_options tools = {.tools = s->tools};
    unsigned blocks = s->blocks;
    hd_kernel *k;
    hd_checker *checker;
    hd_report *report = NULL, *findings = NULL;
    const void *args[] = {&out};
    hd_launch_config c = {.grid = {blocks, 1, 1}, .block = {64, 1, 1}, .flags = HD_LAUNCH_CLOSED, .args = args};
    memset(out, 0, OUT_BYTES);
    hd_result r = hd_checker_create(m, &tools, &checker);
    if (!r)
        r = hd_module_get_kernel(module, name, &k, &report);
    if (!r) {
        r = hd_launch(k, &c, NULL, &report);
        hd_checker_end(checker);
        hd_checker_report(checker, &findings);
    }
    if (s->tools == HD_TOOL_RACECHECK)
        list_lines(findings, got, size);
    else
        snprintf(got, size, "%s\n%s%s", hd_result_name(r), report ? hd_report_text(report) : "",
                 findings ? hd_report_text(findings) : "");
    expect_hide_addresses(got);
    hd_report_free(report);
    hd_report_free(findings);
    hd_checker_destroy(checker);
}

/* What is found in a kernel on a machine of its own. */
static void find(const struct file *text, const struct setting *s, const char *name, char *got, size_t size)
{
    hd_machine_options options = {.memory_bytes = 64 << 20, .policy = s->policy, .workers = s->workers};
    hd_machine *m;
    hd_module *module;
    hd_report *report = NULL;
    hd_source source = {"mistakes.ptx", text->bytes, text->n};
    void *out;
    got[0] = 0;
    if (hd_machine_create(&options, &m, NULL))
        return;
    if (hd_alloc_named(m, OUT_BYTES, "out", &out) || hd_module_load(m, &source, 1, &module, &report))
        snprintf(got, size, "cannot load\n%s", hd_report_text(report));
    else
        run(m, module, out, name, s, got, size);
    hd_machine_destroy(m);
}

static bool is_the_same_on_all(const struct file *text, const char *name, unsigned tools)
{
    static const struct setting all[] = {
        {"serial", 1, 24, 0}, {"fair", 1, 24, 0}, {"fair", 2, 24, 0}, {"fair", 5, 24, 0}};
    static char first[1 << 16], got[1 << 16];
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct setting s = all[i];
        s.tools = tools;
        find(text, &s, name, i ? got : first, sizeof got);
        if (i && strcmp(first, got) != 0) {
            printf("# %s:\n%s# %s, %u workers:\n%s", all[0].policy, first, s.policy, s.workers, got);
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : ".";
    bool write = argc > 2 && strcmp(argv[2], "--write") == 0;
    struct file text = oracle_read(dir, "tests/check/mistakes.ptx");
    static const struct setting golden[] = {{"serial", 1, 1, 0}, {"fair", 3, 1, 0}};
    unsigned failed = 0, tests = 0;
    for (unsigned i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        static char got[1 << 16];
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/check/%s.txt", dir, kernels[i]);
        for (unsigned k = 0; k < sizeof golden / sizeof golden[0]; k++) {
            find(&text, &golden[k], kernels[i], got, sizeof got);
            bool ok = expect_file(path, got, write);
            printf("%sok %u - %s, %s\n", ok ? "" : "not ", ++tests, kernels[i], golden[k].policy);
            if (!ok)
                printf("# got:\n%s", got);
            failed += !ok;
        }
        if (strcmp(kernels[i], "barrier_with_two_counts") == 0)
            continue; /* it waits for ever, which ends the launch wherever that is seen first */
        bool same = is_the_same_on_all(&text, kernels[i], HD_TOOLS_ALL & ~HD_TOOL_RACECHECK) &&
                    is_the_same_on_all(&text, kernels[i], HD_TOOL_RACECHECK);
        printf("%sok %u - %s, the same on one worker and on several\n", same ? "" : "not ", ++tests, kernels[i]);
        failed += !same;
    }
    free(text.bytes);
    printf("1..%u\n", tests);
    return failed != 0;
}

/* check SOURCE_DIR [--write]: the checker says of each kernel of mistakes.cu what stands beside it, the same under every
 * schedule of one thread that is tried. Prints TAP. With --write the expectations are written.
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

static void run(hd_machine *m, hd_module *module, void *out, const char *name, char *got, size_t size)
{
    hd_kernel *k;
    hd_checker *checker;
    hd_report *report = NULL, *findings = NULL;
    const void *args[] = {&out};
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {64, 1, 1}, .flags = HD_LAUNCH_CLOSED, .args = args};
    memset(out, 0, OUT_BYTES);
    hd_result r = hd_checker_create(m, NULL, &checker);
    if (!r)
        r = hd_module_get_kernel(module, name, &k, &report);
    if (!r) {
        r = hd_launch(k, &c, NULL, &report);
        hd_checker_end(checker);
        hd_checker_report(checker, &findings);
    }
    snprintf(got, size, "%s\n%s%s", hd_result_name(r), report ? hd_report_text(report) : "",
             findings ? hd_report_text(findings) : "");
    expect_hide_addresses(got);
    hd_report_free(report);
    hd_report_free(findings);
    hd_checker_destroy(checker);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : ".";
    bool write = argc > 2 && strcmp(argv[2], "--write") == 0;
    struct file text = oracle_read(dir, "tests/check/mistakes.ptx");
    hd_machine_options options = {.memory_bytes = 64 << 20, .policy = "serial"};
    hd_machine *m;
    hd_module *module;
    hd_report *report = NULL;
    hd_source source = {"mistakes.ptx", text.bytes, text.n};
    void *out;
    if (hd_machine_create(&options, &m, NULL) || hd_alloc_named(m, OUT_BYTES, "out", &out) ||
        hd_module_load(m, &source, 1, &module, &report)) {
        printf("not ok - cannot load\n%s", hd_report_text(report));
        return 1;
    }
    unsigned failed = 0, n = sizeof kernels / sizeof kernels[0];
    for (unsigned i = 0; i < n; i++) {
        static char got[1 << 16];
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/check/%s.txt", dir, kernels[i]);
        run(m, module, out, kernels[i], got, sizeof got);
        bool ok = expect_file(path, got, write);
        printf("%sok %u - %s\n", ok ? "" : "not ", i + 1, kernels[i]);
        if (!ok)
            printf("# got:\n%s", got);
        failed += !ok;
    }
    hd_machine_destroy(m);
    free(text.bytes);
    printf("1..%u\n", n);
    return failed != 0;
}

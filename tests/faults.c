/* faults SOURCE_DIR [--write]: kernels that hang or fault on purpose fail with the report that stands beside their
 * source, and the machine goes on. Prints TAP. With --write the reports are written instead of compared.
 */
#include "expect.h"
#include "oracle.h"

enum { OUT_BYTES = 4096, STEP_LIMIT = 50000000 };

static const struct {
    const char *name;
    unsigned grid, block, shared;
} tests[] = {
    {"warps_at_two_barriers", 1, 64, 0},
    {"halves_at_two_barriers", 1, 32, 0},
    {"barrier_in_a_branch", 1, 64, 0},
    {"barrier_for_too_many", 1, 64, 0},
    {"mask_names_waiting_lane", 1, 32, 0},
    {"masks_differ", 1, 32, 0},
    {"spin_on_shared", 1, 64, 0},
    {"spin_on_global", 1, 32, 0},
    {"lock_never_released", 1, 32, 0},
    {"blocks_wait_in_a_ring", 3, 32, 0},
    {"empty_loop", 1, 32, 0},
    {"one_lane_spins_rest_at_barrier", 1, 64, 0},
    {"past_the_end", 2, 32, 0},
    {"null_pointer", 1, 32, 0},
    {"misaligned", 1, 32, 0},
    {"past_shared", 1, 64, 1000},
    {"past_local", 1, 1, 0},
    {"atomic_on_local", 1, 32, 0},
    {"endless_recursion", 1, 32, 0},
    {"bad_function_pointer", 1, 32, 0},
    {"executes_trap", 1, 32, 0},
    {"fails_assertion", 1, 32, 0},
    {"writes_constant", 1, 32, 0},
    {"barrier_sixteen", 1, 32, 0},
    {"frees_twice", 1, 1, 0},
    {"uses_freed_memory", 1, 1, 0},
    {"runs_for_ever", 1, 32, 0},
};

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : ".";
    bool write = argc > 2 && strcmp(argv[2], "--write") == 0;
    struct file text = oracle_read(dir, "tests/faults/faults.ptx");
    /* compiled code comes to the limit sooner than anybody looks whether it spins for ever */
    const char *engine = getenv("HEDDLE_ENGINE");
    bool compiled = engine && strcmp(engine, "jit") == 0;
    hd_machine_options options = {.memory_bytes = 64 << 20,
                                  .step_limit = compiled ? 40ull * STEP_LIMIT : STEP_LIMIT,
                                  .workers = 1,
                                  .engine = compiled ? HD_ENGINE_AUTO : HD_ENGINE_INTERP};
    hd_machine *m;
    hd_module *module;
    hd_report *report = NULL;
    hd_source source = {"faults.ptx", text.bytes, text.n};
    void *out;
    if (hd_machine_create(&options, &m, NULL) || hd_alloc_named(m, OUT_BYTES, "out", &out) ||
        hd_module_load(m, &source, 1, &module, &report)) {
        printf("not ok - cannot load\n%s", hd_report_text(report));
        return 1;
    }
    unsigned failed = 0, n = sizeof tests / sizeof tests[0];
    for (unsigned i = 0; i < n; i++) {
        hd_kernel *k;
        const void *args[] = {&out};
        hd_launch_config c = {.grid = {tests[i].grid, 1, 1},
                              .block = {tests[i].block, 1, 1},
                              .shared_bytes = tests[i].shared,
                              .flags = HD_LAUNCH_CLOSED,
                              .args = args};
        memset(out, 0, OUT_BYTES);
        hd_result r = hd_module_get_kernel(module, tests[i].name, &k, &report);
        if (!r)
            r = hd_launch(k, &c, NULL, &report);
        static char got[16384];
        snprintf(got, sizeof got, "%s\n%s", hd_result_name(r), report ? hd_report_text(report) : "");
        expect_hide_addresses(got);
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/faults/%s.txt", dir, tests[i].name);
        bool ok = r != HD_SUCCESS && expect_file(path, got, write);
        printf("%sok %u - %s\n", ok ? "" : "not ", i + 1, tests[i].name);
        if (!ok)
            printf("# got:\n%s", got);
        fflush(stdout);
        failed += !ok;
        hd_report_free(report);
    }
    hd_machine_destroy(m);
    free(text.bytes);
    printf("1..%u\n", n);
    return failed != 0;
}

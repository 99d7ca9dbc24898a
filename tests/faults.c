/* faults SOURCE_DIR [--write]: kernels that hang or fault on purpose fail with the report that
 * stands beside their source, and the machine goes on; one that runs for ever, on another machine,
 * which has a step limit. Prints TAP. With --write the reports are written instead of compared.
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

struct machine {
    hd_machine *machine;
    hd_module *module;
    void *out;
};

static bool open_machine(struct machine *m, const struct file *text, uint64_t step_limit)
{
    const char *engine = getenv("HEDDLE_ENGINE");
    hd_machine_options options = {.memory_bytes = 64 << 20,
                                  .step_limit = step_limit,
                                  .workers = 1,
                                  .engine = engine && strcmp(engine, "jit") == 0 ? HD_ENGINE_AUTO : HD_ENGINE_INTERP};
    hd_source source = {"faults.ptx", text->bytes, text->n};
    hd_report *report = NULL;
    if (!hd_machine_create(&options, &m->machine, NULL) && !hd_alloc_named(m->machine, OUT_BYTES, "out", &m->out) &&
        !hd_module_load(m->machine, &source, 1, &m->module, &report))
        return true;
    printf("not ok - cannot load\n%s", hd_report_text(report));
    return false;
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : ".";
    bool write = argc > 2 && strcmp(argv[2], "--write") == 0;
    struct file text = oracle_read(dir, "tests/faults/faults.ptx");
    struct machine machines[2];
    if (!open_machine(&machines[0], &text, 0) || !open_machine(&machines[1], &text, STEP_LIMIT))
        return 1;
    unsigned failed = 0, n = sizeof tests / sizeof tests[0];
    for (unsigned i = 0; i < n; i++) {
        struct machine *m = &machines[strcmp(tests[i].name, "runs_for_ever") == 0];
        hd_report *report = NULL;
        hd_kernel *k;
        const void *args[] = {&m->out};
        hd_launch_config c = {.grid = {tests[i].grid, 1, 1},
                              .block = {tests[i].block, 1, 1},
                              .shared_bytes = tests[i].shared,
                              .flags = HD_LAUNCH_CLOSED,
                              .args = args};
        memset(m->out, 0, OUT_BYTES);
        hd_result r = hd_module_get_kernel(m->module, tests[i].name, &k, &report);
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
    for (int i = 0; i < 2; i++)
        hd_machine_destroy(machines[i].machine);
    free(text.bytes);
    printf("1..%u\n", n);
    return failed != 0;
}

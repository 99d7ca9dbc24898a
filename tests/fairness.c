/* fairness SOURCE_DIR [SEEDS]: kernels whose threads wait for one another end, with the right
 * result, under every policy and number of workers. Prints TAP.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "oracle.h"

enum { OUT_WORDS = 1 << 16 };

struct kernel_test {
    const char *name;
    unsigned grid, block, expected;
    bool host; /* a host thread takes part */
};

static const struct kernel_test tests[] = {
    {"lane_waits_for_later", 1, 32, 7, false},
    {"lane_waits_for_earlier", 1, 32, 7, false},
    {"lanes_in_turn", 1, 32, 1000, false},
    {"warp_waits_for_later", 1, 64, 32, false},
    {"warp_waits_for_earlier", 1, 64, 32, false},
    {"warps_in_turn_shared", 1, 128, 200, false},
    {"block_waits_for_last", 300, 32, 299, false},
    {"barrier_until_last", 10, 64, 640, false},
    {"grid_barrier", 256, 64, 15, false},
    {"ticket_lock", 4, 64, 768, false},
    {"cas_lock", 4, 64, 256, false},
    {"try_lock", 4, 64, 256, false},
    {"lock_in_function", 4, 64, 512, false},
    {"look_back_scan", 1000, 64, 64000, false},
    {"producer_consumer", 2, 32, 2686700, false},
    {"sleepers", 2, 64, 64, false},
    {"host_ping_pong", 1, 1, 1000, true},
};

static atomic_bool stop;

static void *answer(void *data)
{
    _Atomic uint32_t *cell = data;
    while (!atomic_load(&stop)) {
        uint32_t v = atomic_load(cell);
        if (v & 1)
            atomic_store(cell, v + 1);
    }
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs one kernel; false with *why where the result is not the expected. */
static bool run(hd_machine *m, hd_module *module, uint32_t *out, const struct kernel_test *t, char *why, size_t size)
{
    hd_kernel *k;
    hd_report *report = NULL;
    pthread_t host;
    const void *args[] = {&out};
    hd_launch_config c = {
        .grid = {t->grid, 1, 1}, .block = {t->block, 1, 1}, .flags = t->host ? 0 : HD_LAUNCH_CLOSED, .args = args};
    (void)m;
    memset(out, 0, OUT_WORDS * 4);
    atomic_store(&stop, false);
    if (t->host)
        pthread_create(&host, NULL, answer, &out[1]);
    hd_result r = hd_module_get_kernel(module, t->name, &k, &report);
    if (!r)
        r = hd_launch(k, &c, NULL, &report);
    atomic_store(&stop, true);
    if (t->host)
        pthread_join(host, NULL);
    if (r)
        snprintf(why, size, "%s", report ? hd_report_text(report) : hd_result_string(r));
    else
        snprintf(why, size, "out[0] is %u, not %u", out[0], t->expected);
    hd_report_free(report);
    return r == HD_SUCCESS && out[0] == t->expected;
}

/* The instructions of a launch in which all threads of `blocks` blocks take one lock; 0 where it
 * failed. */
static uint64_t instructions_of_lock(hd_kernel *k, uint32_t *out, unsigned blocks)
{
    hd_launch_stats stats = {0};
    const void *args[] = {&out};
    hd_launch_config c = {.grid = {blocks, 1, 1}, .block = {128, 1, 1}, .flags = HD_LAUNCH_CLOSED, .args = args};
    memset(out, 0, OUT_WORDS * 4);
    bool ok = hd_launch(k, &c, &stats, NULL) == HD_SUCCESS && out[0] == blocks * 128;
    return ok ? stats.warp_instructions : 0;
}

/* Threads that wait for a lock do not keep those from running that have it: work grows with the
 * number of threads, not with its square. */
static bool lock_grows_linearly(const struct file *text, char *why, size_t size)
{
    hd_machine_options options = {.memory_bytes = 64 << 20, .workers = 1};
    hd_source source = {"fairness.ptx", text->bytes, text->n};
    hd_machine *m;
    hd_module *module;
    hd_kernel *k;
    void *out;
    if (hd_machine_create(&options, &m, NULL) || hd_alloc(m, OUT_WORDS * 4, &out) ||
        hd_module_load(m, &source, 1, &module, NULL) || hd_module_get_kernel(module, "cas_lock", &k, NULL))
        return false;
    uint64_t few = instructions_of_lock(k, out, 4), many = instructions_of_lock(k, out, 64);
    snprintf(why, size, "%lu instructions for 512 threads, %lu for 8192", (unsigned long)few, (unsigned long)many);
    hd_machine_destroy(m);
    return few && many && many < 24 * few;
}

int main(int argc, char **argv)
{
    static char policies[64][32] = {"fair", "fair", "fair", "serial"};
    static const unsigned workers[64] = {0, 1, 7};
    unsigned n = 4, seeds = argc > 2 ? (unsigned)atoi(argv[2]) : 5, count = 0, failed = 0;
    for (unsigned s = 1; s <= seeds && n < 64; s++)
        snprintf(policies[n++], 32, "random:%u", s);
    struct file text = oracle_read(argc > 1 ? argv[1] : ".", "tests/fairness/fairness.ptx");
    for (unsigned p = 0; p < n; p++) {
        hd_machine_options options = {.memory_bytes = 64 << 20, .workers = workers[p], .policy = policies[p]};
        hd_machine *m;
        hd_module *module;
        hd_report *report = NULL;
        hd_source source = {"fairness.ptx", text.bytes, text.n};
        void *out;
        if (hd_machine_create(&options, &m, NULL) || hd_alloc(m, OUT_WORDS * 4, &out) ||
            hd_module_load(m, &source, 1, &module, &report)) {
            printf("not ok - cannot load\n%s", hd_report_text(report));
            return 1;
        }
        for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
            char why[4096] = "";
            double start = now();
            if (tests[i].host && options.workers == 0 && strncmp(options.policy, "fair", 4))
                continue; /* the host's answers are not part of a schedule */
            bool ok = run(m, module, out, &tests[i], why, sizeof why);
            printf("%sok %u - %s under %s, %u workers (%.2f s)\n", ok ? "" : "not ", ++count, tests[i].name,
                   policies[p], workers[p], now() - start);
            if (!ok)
                printf("# %s\n", why);
            failed += !ok;
            fflush(stdout);
        }
        hd_machine_destroy(m);
    }
    char why[128] = "cannot load";
    bool ok = lock_grows_linearly(&text, why, sizeof why);
    printf("%sok %u - work for a lock grows with the number of threads: %s\n", ok ? "" : "not ", ++count, why);
    failed += !ok;
    free(text.bytes);
    printf("1..%u\n", count);
    return failed != 0;
}

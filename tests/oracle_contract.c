/* oracle-contract [OPTION]... DIR: runs the recorded kernels of products and sums and compares with
 * what an H200 answered.
 *
 * DIR holds the oracle's contract/ folder (or is it): kernels.ptx, inputs.bin (of f32, f64, f16 and
 * bf16, in this order), and results.tsv: a kernel's name, its number in inputs.bin, and the FNV-1a
 * sums of what 64 threads left in each of its outputs. One line for each kernel that differs, then
 * "kernels N: A agree, D differ". Exit status 1 where any differs.
 */
#include "oracle.h"

enum { THREADS = 64, SLOTS = 10, SLOT_BYTES = 8, BYTES = THREADS * SLOTS * SLOT_BYTES, INPUTS = 4 };

static uint64_t sum_of(const uint8_t *out, unsigned slot)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < SLOT_BYTES; i++)
            sum = (sum ^ out[(t * SLOTS + slot) * SLOT_BYTES + i]) * 0x100000001b3;
    return sum;
}

struct contract {
    hd_module *module;
    struct file inputs;
    void *in, *out;
};

/* Some kernels have two numbers as parameters, too, of their type. */
static hd_result run(struct contract *c, const char *name, bool is_f64, hd_report **report)
{
    static const float f32[] = {1.7F, -0.3F};
    static const double f64[] = {1.7, -0.3};
    hd_kernel *k;
    hd_result r = hd_module_get_kernel(c->module, name, &k, report);
    const void *args[] = {&c->in, &c->out, is_f64 ? (const void *)&f64[0] : &f32[0],
                          is_f64 ? (const void *)&f64[1] : &f32[1]};
    hd_launch_config config = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .args = args};
    memset(c->out, 0xA5, BYTES);
    return r ? r : hd_launch(k, &config, NULL, report);
}

/* The sums of a line of results.tsv, after its first two fields. */
static bool differs(const char *sums, const uint8_t *out, char *text, size_t size)
{
    bool bad = false;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        char *end;
        uint64_t want = strtoull(sums, &end, 16);
        if (end == sums || want != sum_of(out, slot)) {
            size_t n = strlen(text);
            snprintf(text + n, size - n, "%s%u", bad ? ", " : "other results in output ", slot);
            bad = true;
        }
        sums = end;
    }
    return bad;
}

static bool agrees(void *data, unsigned n, char **field, char *text, size_t size)
{
    struct contract *c = data;
    hd_report *report = NULL;
    int table = atoi(field[1]) % INPUTS;
    (void)n;
    memcpy(c->in, c->inputs.bytes + (size_t)table * BYTES, BYTES);
    hd_result r = run(c, field[0], table == 1, &report);
    return oracle_ran(r, report, text, size) && !differs(field[2], c->out, text, size);
}

int main(int argc, char **argv)
{
    struct oracle_options o = oracle_parse(argc, argv, "contract", "results.tsv");
    struct file program = oracle_read(o.dir, "kernels.ptx");
    hd_source source = {"kernels.ptx", program.bytes, program.n};
    struct contract c = {.inputs = oracle_read(o.dir, "inputs.bin")};
    if (c.inputs.n != (size_t)INPUTS * BYTES || hd_module_load(o.machine, &source, 1, &c.module, NULL) ||
        hd_alloc(o.machine, BYTES, &c.in) || hd_alloc(o.machine, BYTES, &c.out))
        return ORACLE_USAGE;
    int status = oracle_run(&o, "results.tsv", 3, ORACLE_NO_GROUP, "kernels", agrees, &c);
    free(c.inputs.bytes);
    free(program.bytes);
    return status;
}

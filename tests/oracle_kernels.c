/* oracle-kernels [OPTION]... DIR: runs recorded kernels that take 64 bytes a thread and give 64,
 * and compares with what an H200 answered.
 *
 * DIR holds the oracle's kernels/ folder (or is it): GROUP.ptx, inputs.bin (4096 bytes; GROUP.bin,
 * where a group has its own), and results.tsv: a kernel's name, its group, and the CRC-32 of what
 * 64 threads have stored. One line for each kernel that differs, then "kernels N: A agree, D
 * differ". Exit status 1 where any differs.
 */
#include "oracle.h"

enum { THREADS = 64, BYTES = THREADS * 64 };

/* zlib's, bit by bit: this is 4096 bytes a kernel. */
static uint32_t crc32_of(const uint8_t *bytes, size_t n)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

struct kernels {
    const struct oracle_options *o;
    char group[64]; /* whose module is loaded, and whose input is in `in` */
    struct file text;
    hd_module *module;
    void *in, *out;
};

/* A group's kernels stand one after the other in results.tsv. */
static hd_result load_group(struct kernels *k, const char *group, hd_report **report)
{
    char name[80];
    if (strcmp(k->group, group) == 0)
        return HD_SUCCESS;
    snprintf(name, sizeof name, "%s.bin", group);
    struct file input =
        oracle_has(k->o->dir, name) ? oracle_read(k->o->dir, name) : oracle_read(k->o->dir, "inputs.bin");
    if (input.n != BYTES)
        exit(ORACLE_USAGE);
    memcpy(k->in, input.bytes, BYTES);
    free(input.bytes);
    if (k->module)
        hd_module_unload(k->module);
    free(k->text.bytes);
    snprintf(name, sizeof name, "%s.ptx", group);
    k->text = oracle_read(k->o->dir, name);
    hd_source source = {name, k->text.bytes, k->text.n};
    k->module = NULL;
    hd_result r = hd_module_load(k->o->machine, &source, 1, &k->module, report);
    snprintf(k->group, sizeof k->group, "%s", r ? "" : group);
    return r;
}

static bool agrees(void *data, unsigned n, char **field, char *text, size_t size)
{
    struct kernels *k = data;
    hd_report *report = NULL;
    hd_kernel *kernel;
    const void *args[] = {&k->in, &k->out};
    hd_launch_config config = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}, .args = args};
    (void)n;
    hd_result r = load_group(k, field[1], &report);
    if (!r)
        r = hd_module_get_kernel(k->module, field[0], &kernel, &report);
    memset(k->out, 0xA5, BYTES);
    if (!r)
        r = hd_launch(kernel, &config, NULL, &report);
    if (!oracle_ran(r, report, text, size))
        return false;
    uint32_t sum = crc32_of(k->out, BYTES), want = (uint32_t)strtoul(field[2], NULL, 16);
    if (sum != want)
        snprintf(text, size, "CRC-32 %08x, not %08x", sum, want);
    return sum == want;
}

int main(int argc, char **argv)
{
    struct oracle_options o = oracle_parse(argc, argv, "kernels", "results.tsv");
    struct kernels k = {.o = &o};
    if (hd_alloc(o.machine, BYTES, &k.in) || hd_alloc(o.machine, BYTES, &k.out))
        return ORACLE_USAGE;
    int status = oracle_run(&o, "results.tsv", 3, 1, "kernels", agrees, &k);
    free(k.text.bytes);
    return status;
}

/* oracle-forms [OPTION]... DIR: runs every recorded instruction form and compares with what an H200
 * answered.
 *
 * DIR holds the oracle's golden/ folder (or is it): manifest.tsv, mNNN.ptx, inputs.bin,
 * expected.tsv, expected.bin. One line for each form that differs, then "forms N: A agree, D
 * differ". Exit status 1 where any differs. The options are those of oracle.h.
 */
#include "oracle.h"

enum { THREADS = 256, COLUMNS = 10, COLUMN_BYTES = 4096, CELL_BYTES = 32, BLOCK_BYTES = 40960 };
enum { OUT_BYTES = COLUMNS * COLUMN_BYTES + THREADS * CELL_BYTES };

/* Fields of the manifest. */
enum { F_ID, F_MODULE, F_ENTRY, F_INPUT, F_GROUP, F_TYPES, F_CELL, F_VECTOR, F_SPACE, F_TOLERANCE, F_TEXT, F_COUNT };

static unsigned type_bytes(const char *type)
{
    const char *digits = type;
    if (strncmp(type, "pred", 4) == 0)
        return 4;
    while (*digits && (*digits < '0' || *digits > '9'))
        digits++;
    unsigned bits = (unsigned)atoi(digits);
    return strstr(type, "x2") ? bits / 4 : bits / 8;
}

/* How many values of the output buffer differ from the record; the first one in words. */
static int differs(char **field, const unsigned char *out, const unsigned char *expected, char *where)
{
    char types[256];
    unsigned column = 0;
    const unsigned char *e = expected;
    snprintf(types, sizeof types, "%s", field[F_TYPES]);
    int count = 0;
    for (char *t = strcmp(types, "-") ? strtok(types, ",") : NULL; t; t = strtok(NULL, ","), column++) {
        unsigned bytes = type_bytes(t);
        for (unsigned i = 0; i < THREADS; i++, e += bytes) {
            const unsigned char *got = out + column * COLUMN_BYTES + 16 * i;
            if (memcmp(got, e, bytes) == 0)
                continue;
            if (count++ == 0) {
                int n = sprintf(where, "d%u of thread %u: got 0x", column, i);
                for (unsigned b = bytes; b-- > 0;)
                    n += sprintf(where + n, "%02x", got[b]);
                n += sprintf(where + n, ", H200 0x");
                for (unsigned b = bytes; b-- > 0;)
                    n += sprintf(where + n, "%02x", e[b]);
            }
        }
    }
    if (strcmp(field[F_CELL], "-") == 0)
        return count;
    for (unsigned i = 0; i < THREADS; i++, e += CELL_BYTES) {
        const unsigned char *low = out + 8 * COLUMN_BYTES + 16 * i, *high = out + 9 * COLUMN_BYTES + 16 * i;
        if ((memcmp(low, e, 16) || memcmp(high, e + 16, 16)) && count++ == 0)
            sprintf(where, "cell of thread %u: got 0x%08x, H200 0x%08x", i, *(const unsigned *)low,
                    *(const unsigned *)e);
    }
    return count;
}

struct forms {
    const struct oracle_options *o;
    struct file inputs, index, expected;
    char *places; /* lines of the index, from `place` on */
    unsigned place;
    void *in, *out;
};

static hd_result run(struct forms *f, hd_module *module, const char *entry, hd_report **report)
{
    hd_kernel *k;
    hd_result r = hd_module_get_kernel(module, entry, &k, report);
    if (r)
        return r;
    const void *args[] = {&f->in, &f->out};
    hd_launch_config c = {.grid = {2, 1, 1}, .block = {128, 1, 1}, .args = args};
    memset(f->out, 0xA5, OUT_BYTES);
    return hd_launch(k, &c, NULL, report);
}

/* The module of a form; kept while consecutive forms share it. */
static hd_module *load(const struct oracle_options *o, const char *name)
{
    static hd_module *module;
    static char loaded[64];
    if (strcmp(loaded, name) == 0)
        return module;
    hd_module_unload(module);
    module = NULL;
    snprintf(loaded, sizeof loaded, "%s", name);
    struct file text = oracle_read(o->dir, name);
    hd_source s = {name, text.bytes, text.n};
    hd_report *report = NULL;
    if (hd_module_load(o->machine, &s, 1, &module, &report))
        printf("%s does not load:\n%s", name, hd_report_text(report));
    hd_report_free(report);
    free(text.bytes);
    return module;
}

/* What the H200 answered to form n, which comes after those that were asked for before. */
static const unsigned char *expected_of(struct forms *f, unsigned n)
{
    char *line = NULL, *field[3];
    for (; f->place <= n; f->place++)
        line = oracle_line(&f->places);
    oracle_split(line, field, 3);
    return (const unsigned char *)f->expected.bytes + atol(field[1]);
}

static bool agrees(void *data, unsigned n, char **field, char *text, size_t size)
{
    struct forms *f = data;
    hd_report *report = NULL;
    char why[512] = "";
    int bad = 1;
    hd_module *module = load(f->o, field[F_MODULE]);
    memcpy(f->in, f->inputs.bytes + (size_t)atoi(field[F_INPUT]) * BLOCK_BYTES, BLOCK_BYTES);
    hd_result r = module ? run(f, module, field[F_ENTRY], &report) : HD_ERROR_INVALID_PTX;
    if (oracle_ran(r, report, why, sizeof why))
        bad = differs(field, f->out, expected_of(f, n), why);
    snprintf(text, size, "%s: %d differ, %s", field[F_TEXT], bad, why);
    return !bad;
}

int main(int argc, char **argv)
{
    struct oracle_options o = oracle_parse(argc, argv, "golden", "manifest.tsv");
    struct forms f = {.o = &o,
                      .inputs = oracle_read(o.dir, "inputs.bin"),
                      .index = oracle_read(o.dir, "expected.tsv"),
                      .expected = oracle_read(o.dir, "expected.bin")};
    f.places = f.index.bytes;
    if (hd_alloc(o.machine, BLOCK_BYTES, &f.in) || hd_alloc(o.machine, OUT_BYTES, &f.out))
        return ORACLE_USAGE;
    int status = oracle_run(&o, "manifest.tsv", F_COUNT, F_GROUP, "forms", agrees, &f);
    free(f.inputs.bytes);
    free(f.index.bytes);
    free(f.expected.bytes);
    return status;
}

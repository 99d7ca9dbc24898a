/* oracle-forms DIR: runs every recorded instruction form and compares with what an H200 answered.
 *
 * DIR holds the oracle's golden/ folder (or is it): manifest.tsv, mNNN.ptx, inputs.bin, expected.tsv,
 * expected.bin. One line for each form that differs, then "forms N: A agree, D differ". Exit status 1 where
 * any differs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle.h"

enum { THREADS = 256, COLUMNS = 10, COLUMN_BYTES = 4096, CELL_BYTES = 32, BLOCK_BYTES = 40960 };
enum { OUT_BYTES = COLUMNS * COLUMN_BYTES + THREADS * CELL_BYTES, MAX_FIELDS = 16 };

struct file {
    char *bytes;
    size_t n;
};

static struct file read_file(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    struct file r = {0};
    if (!f) {
        fprintf(stderr, "oracle-forms: cannot read %s\n", path);
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    r.n = (size_t)ftell(f);
    rewind(f);
    r.bytes = malloc(r.n + 1);
    if (!r.bytes || fread(r.bytes, 1, r.n, f) != r.n)
        exit(2);
    r.bytes[r.n] = 0;
    fclose(f);
    return r;
}

/* One form of the manifest. */
struct form {
    char *field[MAX_FIELDS];
    size_t expected_at, expected_bytes;
};

enum { F_ID, F_MODULE, F_ENTRY, F_INPUT, F_GROUP, F_TYPES, F_CELL, F_VECTOR, F_SPACE, F_TOLERANCE, F_TEXT };

static char *next_line(char **rest)
{
    char *line = *rest, *end = line ? strchr(line, '\n') : NULL;
    if (!line || !*line)
        return NULL;
    if (end)
        *end = 0;
    *rest = end ? end + 1 : NULL;
    return line;
}

static void split(char *line, char **field, int n)
{
    for (int i = 0; i < n; i++) {
        field[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = 0;
    }
}

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

/* The first difference between the output buffer and the record; false where there is none. */
static int differs(const struct form *f, const unsigned char *out, const unsigned char *expected, char *where)
{
    char types[256];
    unsigned column = 0;
    const unsigned char *e = expected;
    snprintf(types, sizeof types, "%s", f->field[F_TYPES]);
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
    if (strcmp(f->field[F_CELL], "-") == 0)
        return count;
    for (unsigned i = 0; i < THREADS; i++, e += CELL_BYTES) {
        const unsigned char *low = out + 8 * COLUMN_BYTES + 16 * i, *high = out + 9 * COLUMN_BYTES + 16 * i;
        if ((memcmp(low, e, 16) || memcmp(high, e + 16, 16)) && count++ == 0)
            sprintf(where, "cell of thread %u: got 0x%08x, H200 0x%08x", i, *(const unsigned *)low,
                    *(const unsigned *)e);
    }
    return count;
}

static hd_result run(hd_module *module, const char *entry, void *in, void *out, hd_report **report)
{
    hd_kernel *k;
    hd_result r = hd_module_get_kernel(module, entry, &k, report);
    if (r)
        return r;
    const void *args[] = {&in, &out};
    hd_launch_config c = {.grid = {2, 1, 1}, .block = {128, 1, 1}, .args = args};
    memset(out, 0xA5, OUT_BYTES);
    return hd_launch(k, &c, NULL, report);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: oracle-forms DIR\n");
        return 2;
    }
    char dir[4096];
    snprintf(dir, sizeof dir, "%s/golden", argv[argc - 1]);
    char probe[4200];
    snprintf(probe, sizeof probe, "%s/manifest.tsv", dir);
    FILE *p = fopen(probe, "rb");
    if (p)
        fclose(p);
    else
        snprintf(dir, sizeof dir, "%s", argv[argc - 1]);

    struct file manifest = read_file(dir, "manifest.tsv"), inputs = read_file(dir, "inputs.bin");
    struct file index = read_file(dir, "expected.tsv"), expected = read_file(dir, "expected.bin");
    hd_machine *m;
    hd_machine_options options = {.memory_bytes = 256 << 20};
    if (hd_machine_create(&options, &m, NULL)) {
        fprintf(stderr, "oracle-forms: no machine\n");
        return 2;
    }
    void *in, *out;
    if (hd_alloc(m, BLOCK_BYTES, &in) || hd_alloc(m, OUT_BYTES, &out))
        return 2;
    hd_module *module = NULL;
    char loaded[64] = "";
    unsigned agree = 0, differ = 0;
    for (char *line; (line = next_line(&manifest.bytes));) {
        struct form f;
        char *where_line = next_line(&index.bytes), *where[3];
        split(line, f.field, 11);
        split(where_line, where, 3);
        if (strcmp(loaded, f.field[F_MODULE])) {
            hd_module_unload(module);
            module = NULL;
            struct file text = read_file(dir, f.field[F_MODULE]);
            hd_source s = {f.field[F_MODULE], text.bytes, text.n};
            hd_report *report = NULL;
            if (hd_module_load(m, &s, 1, &module, &report)) {
                printf("%s does not load:\n%s", f.field[F_MODULE], hd_report_text(report));
                module = NULL;
            }
            hd_report_free(report);
            free(text.bytes);
            snprintf(loaded, sizeof loaded, "%s", f.field[F_MODULE]);
        }
        memcpy(in, inputs.bytes + (size_t)atoi(f.field[F_INPUT]) * BLOCK_BYTES, BLOCK_BYTES);
        hd_report *report = NULL;
        hd_result r = module ? run(module, f.field[F_ENTRY], in, out, &report) : HD_ERROR_INVALID_PTX;
        char text[512] = "";
        int bad = 0;
        if (r) {
            hd_diagnostic d;
            snprintf(text, sizeof text, "%s", hd_report_get(report, 0, &d) ? d.text : hd_result_string(r));
            bad = 1;
        } else {
            bad = differs(&f, out, (unsigned char *)expected.bytes + atol(where[1]), text);
        }
        if (bad) {
            differ++;
            printf("%s %s: %d differ, %s\n", f.field[F_ID], f.field[F_TEXT], bad, text);
        } else {
            agree++;
        }
        hd_report_free(report);
    }
    hd_machine_destroy(m);
    printf("forms %u: %u agree, %u differ\n", agree + differ, agree, differ);
    return differ != 0;
}

/* ptx-errors FILE: all errors of a PTX file, one a line: "line TAB code TAB text". Exit status 1 where there are any. */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/module.h"

static struct str read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) {
        fprintf(stderr, "ptx-errors: cannot read %s\n", path);
        exit(2);
    }
    size_t n = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(n + 1);
    if (!text || fread(text, 1, n, f) != n)
        exit(2);
    fclose(f);
    return (struct str){text, n};
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    struct source source = {.name = argv[1], .text = read_file(argv[1])};
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    struct ptx_module *m = ptx_parse(&arena, &source, &diags);
    if (m)
        ptx_verify(m, &diags);
    uint32_t line = 1, at = 0;
    for (uint32_t i = 0; i < diags.list.n; i++) {
        const struct diag *d = &diags.list.at[i];
        if (d->severity != DIAG_ERROR)
            continue;
        if (d->place.offset < at)
            line = 1, at = 0;
        for (; at < d->place.offset; at++)
            line += source.text.p[at] == '\n';
        printf("%u\t%s\t%s\n", line, d->code, d->text);
    }
    arena_free(&arena);
    free((char *)source.text.p);
    return diags.errors > 0;
}

/* ptx-errors FILE: all errors of a PTX file, one a line: "line TAB code TAB text". Exit status 1
 * where there are any. */
#include <stdio.h>

#include "ptx/module.h"
#include "read_file.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    struct arena arena = {0};
    struct source source = {.name = argv[1]};
    if (!read_file(argv[1], &arena, &source.text)) {
        fprintf(stderr, "ptx-errors: cannot read %s\n", argv[1]);
        return 2;
    }
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
    return diags.errors > 0;
}

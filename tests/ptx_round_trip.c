/* ptx-round-trip FILE...: does a printed module read back as the same module? One TAP line a file. */
#include <stdio.h>

#include "ptx/module.h"
#include "read_file.h"

static struct ptx_module *parse(struct arena *a, const char *name, struct str text, struct diags *diags)
{
    const struct source *s = source_new(a, name, text);
    struct ptx_module *m = ptx_parse(a, s, diags);
    if (m)
        ptx_verify(m, diags);
    return m;
}

/* What is wrong, or NULL. */
static const char *round_trip(struct arena *a, const char *path, struct str text)
{
    struct diags diags = {.arena = a};
    struct ptx_module *first = parse(a, path, text, &diags);
    if (!first || diags.errors)
        return "it has errors";
    struct str printed = ptx_print(first, a);
    struct ptx_module *second = parse(a, "printed", printed, &diags);
    if (!second || diags.errors)
        return arena_printf(a, "printed, it has errors: %s", diags.list.at[0].text);
    const char *what = NULL;
    if (!ptx_equal(first, second, a, &what))
        return what;
    return str_eq(printed, ptx_print(second, a)) ? NULL : "printed twice, it differs";
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct arena arena = {0};
        struct str text = {0};
        const char *wrong = read_file(argv[i], &arena, &text) ? round_trip(&arena, argv[i], text) : "it cannot be read";
        if (wrong)
            printf("# %s\n", wrong);
        printf("%s %d - %s reads back as it was printed\n", wrong ? "not ok" : "ok", i, argv[i]);
        failed += wrong != NULL;
        arena_free(&arena);
    }
    printf("1..%d\n", argc - 1);
    return failed > 0;
}

/* ir-round-trip FILE.ptx...: does the IR of all functions read back from its text? One TAP line a
 * file. ir-round-trip --damage SEED N FILE.ir...: of N damaged versions of each text, is each a
 * function or refused with a place in it? */
#include <stdio.h>
#include <stdlib.h>

#include "ir/text.h"
#include "isa/isa.h"
#include "read_file.h"

/* The text of a function that is read from a text; what is wrong in *wrong. */
static struct str printed_again(struct arena *a, struct str text, const char **wrong)
{
    struct diags diags = {.arena = a};
    struct ir_func *f = ir_read(a, source_new(a, "printed", text), &diags);
    if (f)
        return ir_print(f, NULL, a);
    const struct diag *d = &diags.list.at[0];
    struct place_line at = place_locate(d->place);
    *wrong = arena_printf(a, "printed, it has an error: line %u, column %u: %s: %.*s", at.line, at.column, d->text,
                          STR_ARG(at.text));
    return text;
}

/* What is wrong with a function, or NULL. */
static const char *round_trip(struct arena *a, const struct ir_func *f)
{
    const uint32_t block[3] = {16, 4, 1};
    struct ir_shapes shapes = {0};
    const char *wrong = NULL;
    struct str text = ir_print(f, NULL, a), again = printed_again(a, text, &wrong);
    if (!wrong && !str_eq(text, again))
        wrong = arena_printf(a, "printed twice, it differs:\n%.*s\n%.*s", STR_ARG(text), STR_ARG(again));
    if (wrong || !ir_find_shapes(f, block, a, &shapes))
        return wrong;
    again = printed_again(a, ir_print_shapes(f, &shapes, a), &wrong);
    if (!wrong && !str_eq(text, again))
        wrong = "its notes are no comments";
    return wrong;
}

/* What is wrong with a module, or NULL; *n grows by its functions. What the machine refuses is left
 * out. */
static const char *round_trips(struct arena *a, const char *path, struct str text, unsigned *n)
{
    struct diags diags = {.arena = a}, refused = {.arena = a};
    struct ptx_module *m = ptx_parse(a, source_new(a, path, text), &diags);
    if (m)
        ptx_verify(m, &diags);
    struct ptx_image *image = m && !diags.errors ? ptx_link(a, &m, 1, &diags) : NULL;
    uint32_t kernels = image ? image->kernels.n : 0, all = kernels + (image ? image->functions.n : 0);
    for (uint32_t i = 0; i < all; i++) {
        struct arena scratch = {0};
        struct ptx_func *func = i < kernels ? image->kernels.at[i] : image->functions.at[i - kernels];
        struct ir_func *f = ir_build(&scratch, func, false, false, &refused),
                       *rows = ir_build(&scratch, func, true, true, &refused);
        const char *wrong = f ? round_trip(&scratch, f) : NULL;
        if (!wrong && rows && !str_eq(ir_print(f, NULL, &scratch), ir_print(rows, NULL, &scratch)))
            wrong = round_trip(&scratch, rows);
        *n += f != NULL;
        wrong = wrong ? arena_printf(a, "%.*s: %s", STR_ARG(func->symbol.name), wrong) : NULL;
        arena_free(&scratch);
        if (wrong)
            return wrong;
    }
    return NULL;
}

static int round_trip_files(int n, char **paths)
{
    unsigned functions = 0;
    int failed = 0;
    for (int i = 0; i < n; i++) {
        struct arena arena = {0};
        struct str text = {0};
        const char *wrong =
            read_file(paths[i], &arena, &text) ? round_trips(&arena, paths[i], text, &functions) : "it cannot be read";
        if (wrong)
            printf("not ok - the IR of %s reads back as it was printed\n# %s\n", paths[i], wrong);
        failed += wrong != NULL;
        arena_free(&arena);
    }
    printf("%sok - the IR of %u functions of %d files reads back as it was printed\n",
           failed || !functions ? "not " : "", functions, n);
    return failed > 0;
}

/* ---- damage ---- */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* A place, a piece of the text from another place, a character that means something, or nothing. */
static struct str damaged(struct arena *a, struct str text)
{
    static const char signs[] = "%:,[]+-;@!._0179abx=> \n";
    char *p = arena_alloc(a, 2 * text.n + 64);
    size_t n = text.n;
    memcpy(p, text.p, n);
    for (uint32_t k = 1 + draw(3); k > 0; k--) {
        size_t at = draw((uint32_t)n), from = draw((uint32_t)text.n), length = draw(12);
        switch (draw(4)) {
        case 0: p[at] = signs[draw(sizeof signs - 1)]; break;
        case 1:
            length = length < n - at ? length : n - at - 1;
            memmove(p + at, p + at + length, n - at - length);
            n -= length;
            break;
        case 2:
            length = length < text.n - from ? length : text.n - from;
            length = n + length < 2 * text.n ? length : 0;
            memmove(p + at + length, p + at, n - at);
            memcpy(p + at, text.p + from, length);
            n += length;
            break;
        default: p[at] = (char)draw(256); break;
        }
    }
    return (struct str){p, n};
}

/* NULL where the text is read, and printed reads back, or where the error has a place in the text. */
static const char *try_text(struct arena *a, struct str text, bool *is_read)
{
    struct diags diags = {.arena = a};
    const char *wrong = NULL;
    const struct ir_func *f = ir_read(a, source_new(a, "damaged", text), &diags);
    *is_read = f != NULL;
    if (!f)
        return diags.errors == 1 && diags.list.at[0].place.source && diags.list.at[0].place.offset <= text.n
                   ? NULL
                   : "it is refused without a place in it";
    struct str printed = ir_print(f, NULL, a), again = printed_again(a, printed, &wrong);
    return wrong ? wrong : str_eq(printed, again) ? NULL : "printed twice, it differs";
}

static int damage_files(uint64_t seed, unsigned long rounds, int n, char **paths)
{
    unsigned failed = 0, were_read = 0, refused = 0;
    for (int i = 0; i < n; i++) {
        struct arena file = {0};
        struct str text;
        if (!read_file(paths[i], &file, &text) || text.n < 2)
            return 2;
        state = seed + (uint64_t)i;
        for (unsigned long k = 0; k < rounds && !failed; k++) {
            struct arena arena = {0};
            struct str bad = damaged(&arena, text);
            bool is_read;
            const char *wrong = try_text(&arena, bad, &is_read);
            were_read += is_read;
            refused += !is_read;
            failed += wrong != NULL;
            if (wrong)
                printf("# %s, round %lu: %s\n%.*s\n", paths[i], k, wrong, STR_ARG(bad));
            arena_free(&arena);
        }
        arena_free(&file);
    }
    bool ok = !failed && were_read && refused;
    printf("%sok - damaged texts of functions are refused with a place (%u), or are other functions (%u)\n",
           ok ? "" : "not ", refused, were_read);
    return !ok;
}

int main(int argc, char **argv)
{
    if (argc > 4 && strcmp(argv[1], "--damage") == 0)
        return damage_files(strtoull(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), argc - 4, argv + 4);
    return round_trip_files(argc - 1, argv + 1);
}

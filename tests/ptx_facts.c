/* ptx-facts FILE: what the vendor's assembler accepts, Heddle does too, and refuses what it
 * refuses.
 *
 * A line of FILE is a verdict, a tab, and PTX text in which \n stands for a line's end:
 *     +        a module that is accepted
 *     -        one that is refused
 *     PTX SM   an instruction that is valid from this version (10 * major + minor) and this target on
 *     0 0      an instruction that is never valid
 * Instructions stand in the function that the lines beginning with "|" make; \i there is the
 * instruction's place, \v the version, \t the target. One TAP line for all modules, one for all
 * instructions. scripts/ptx-corpus writes instructions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"
#include "ptx/module.h"

struct facts {
    struct text frame;
    unsigned modules, instructions, wrong_modules, wrong_instructions;
};

/* \n, \i, \v and \t replaced; *at is where the instruction begins. */
static struct str expand(struct arena *a, struct str from, unsigned ptx, const char *target, struct str insn,
                         uint32_t *at)
{
    struct text t = {.arena = a};
    for (size_t i = 0; i < from.n; i++) {
        if (from.p[i] != '\\' || i + 1 == from.n) {
            text_put(&t, from.p + i, 1);
            continue;
        }
        switch (from.p[++i]) {
        case 'n': text_puts(&t, "\n"); break;
        case 'v': text_printf(&t, "%u.%u", ptx / 10, ptx % 10); break;
        case 't': text_puts(&t, target); break;
        case 'i':
            *at = (uint32_t)t.n;
            text_str(&t, insn);
            break;
        default: text_put(&t, from.p + i - 1, 2); break;
        }
    }
    return (struct str){t.p, t.n};
}

/* The first error from `from` on, before `to`; NULL where there is none. */
static const char *first_error(struct arena *a, struct str text, uint32_t from, uint32_t to)
{
    const struct source *s = source_new(a, "fact", text);
    struct diags diags = {.arena = a};
    struct ptx_module *m = ptx_parse(a, s, &diags);
    if (m)
        ptx_verify(m, &diags);
    for (uint32_t i = 0; i < diags.list.n; i++) {
        const struct diag *d = &diags.list.at[i];
        if (d->severity == DIAG_ERROR && d->place.offset >= from && d->place.offset < to)
            return d->text;
    }
    return NULL;
}

static void check_module(struct facts *f, bool valid, struct str line)
{
    struct arena a = {0};
    uint32_t at;
    struct str text = expand(&a, line, 0, "", (struct str){0}, &at);
    const char *error = first_error(&a, text, 0, UINT32_MAX);
    f->modules++;
    if (valid != (error == NULL)) {
        f->wrong_modules++;
        printf("# %s, but should be %s: %.*s\n", error ? error : "accepted", valid ? "accepted" : "refused",
               STR_ARG(line));
    }
    arena_free(&a);
}

static bool accepts(struct facts *f, struct str insn, unsigned ptx, const char *target, const char **error)
{
    struct arena a = {0};
    uint32_t at = 0;
    struct str text = expand(&a, (struct str){f->frame.p, f->frame.n}, ptx, target, insn, &at);
    const char *first = first_error(&a, text, at, at + (uint32_t)insn.n);
    bool ok = first == NULL;
    if (first)
        *error = arena_strdup(f->frame.arena, first);
    arena_free(&a);
    return ok;
}

static void check_instruction(struct facts *f, unsigned ptx, unsigned sm, struct str insn)
{
    char least[16], less[16];
    const char *error = "";
    snprintf(least, sizeof least, sm >= 100 ? "sm_%ua" : "sm_%u", sm);
    snprintf(less, sizeof less, "sm_%u", sm - 1);
    bool newest = accepts(f, insn, 90, "sm_100a", &error);
    const char *wrong = NULL;
    if (newest != (ptx > 0))
        wrong = newest ? "accepted, though never valid" : error;
    else if (ptx && !accepts(f, insn, ptx, least, &error))
        wrong = error;
    else if (ptx > 10 && accepts(f, insn, ptx - 1, least, &error))
        wrong = "accepted in an older version";
    else if (ptx && sm > 10 && accepts(f, insn, ptx, less, &error))
        wrong = "accepted for an older target";
    f->instructions++;
    if (wrong && f->wrong_instructions++ < 50)
        printf("# %s: %.*s (%u, sm_%u)\n", wrong, STR_ARG(insn), ptx, sm);
}

static void check_line(struct facts *f, struct str line)
{
    unsigned ptx, sm;
    const char *tab = memchr(line.p, '\t', line.n);
    if (line.n && line.p[0] == '|') {
        text_put(&f->frame, line.p + 1, line.n - 1);
        text_puts(&f->frame, "\\n");
        return;
    }
    if (!tab)
        return;
    struct str text = {tab + 1, (size_t)(line.p + line.n - tab - 1)};
    if (line.p[0] == '+' || line.p[0] == '-')
        check_module(f, line.p[0] == '+', text);
    else if (sscanf(line.p, "%u %u", &ptx, &sm) == 2)
        check_instruction(f, ptx, sm, text);
}

int main(int argc, char **argv)
{
    struct arena a = {0};
    struct facts f = {.frame.arena = &a};
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return 2;
    while ((n = getline(&line, &capacity, file)) > 0)
        check_line(&f, (struct str){line, (size_t)n - (line[n - 1] == '\n')});
    fclose(file);
    free(line);
    if (f.modules)
        printf("%s - %u modules are accepted or refused as the vendor's assembler does: %u are not\n",
               f.wrong_modules ? "not ok" : "ok", f.modules, f.wrong_modules);
    if (f.instructions)
        printf("%s - %u instructions have the version and target of the vendor's assembler: %u have not\n",
               f.wrong_instructions ? "not ok" : "ok", f.instructions, f.wrong_instructions);
    arena_free(&a);
    return f.wrong_modules || f.wrong_instructions || !(f.modules + f.instructions);
}

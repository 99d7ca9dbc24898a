/* See sections.h. */
#include "debug/sections.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>

#include "base/text.h"

enum { MOST_SECTIONS = 16 };

struct section {
    struct str name;
    struct text bytes;
};

/* A number that is known when all labels are: where it stands, and what is added. */
struct later {
    struct section *section;
    uint64_t at;
    unsigned bytes;
    struct str name, minus;
    int64_t plus;
};

struct layout {
    struct sections *of;
    struct arena *arena;
    struct section at[MOST_SECTIONS];
    unsigned n;
    VEC(struct later) later;
    bool wrong;
};

static void put(struct layout *l, struct map *to, struct str key, uint64_t value)
{
    uint64_t *v = ARENA_NEW(l->arena, uint64_t);
    *v = value;
    map_put(to, key, v);
}

static void number_code(struct layout *l, const struct ptx_func *f)
{
    *VEC_PUSH(l->arena, &l->of->functions) = f;
    for (uint32_t i = 0; i < f->body.n; i++) {
        const struct ptx_stmt *s = &f->body.at[i];
        uint64_t at = l->of->functions.n * CODE_OF_FUNCTION + i;
        if (s->kind == STMT_LABEL)
            put(l, &l->of->labels, s->label->symbol.name, at);
        else if (s->kind == STMT_INSN)
            put(l, &l->of->places, (struct str){(const char *)&s->insn, sizeof s->insn}, at);
    }
}

/* ---- reading ---- */

static struct str take_word(const char **p, const char *end)
{
    for (;;) {
        while (*p < end && (isspace((unsigned char)**p) || **p == ','))
            ++*p;
        if (end - *p < 2 || (*p)[0] != '/' || (*p)[1] != '/')
            break;
        while (*p < end && **p != '\n')
            ++*p;
    }
    const char *start = *p;
    while (*p < end && !isspace((unsigned char)**p) && !strchr(",{}:", **p) && !(*p > start && strchr("+-", **p)))
        ++*p;
    if (*p == start && *p < end)
        ++*p;
    return (struct str){start, (size_t)(*p - start)};
}

static void put_number(struct section *s, uint64_t v, unsigned bytes)
{
    char raw[8];
    memcpy(raw, &v, 8);
    text_put(&s->bytes, raw, bytes);
}

static bool is_number(struct str w)
{
    return w.n && (isdigit((unsigned char)w.p[0]) || (w.n > 1 && w.p[0] == '-'));
}

static int64_t number(struct layout *l, struct str w)
{
    return (int64_t)strtoull(arena_strndup(l->arena, w.p, w.n), NULL, 0);
}

/* "label", "label+8", "label-label", behind a directive. */
static void put_symbol(struct layout *l, struct section *s, struct str name, unsigned bytes, const char **p,
                       const char *end)
{
    struct later *a = VEC_PUSH(l->arena, &l->later);
    *a = (struct later){.section = s, .at = s->bytes.n, .bytes = bytes, .name = name};
    while (*p < end && (**p == '+' || **p == '-')) {
        bool minus = *(*p)++ == '-';
        struct str w = take_word(p, end);
        if (is_number(w))
            a->plus += minus ? -number(l, w) : number(l, w);
        else
            a->minus = w;
    }
    put_number(s, 0, bytes);
}

static unsigned width_of(struct str directive)
{
    return str_is(directive, ".b8")    ? 1
           : str_is(directive, ".b16") ? 2
           : str_is(directive, ".b32") ? 4
           : str_is(directive, ".b64") ? 8
                                       : 0;
}

static void read_section(struct layout *l, struct str text)
{
    const char *p = text.p, *end = text.p + text.n;
    struct str word = take_word(&p, end);
    if (str_is(word, ".section"))
        word = take_word(&p, end);
    if (l->n == MOST_SECTIONS)
        return;
    struct section *s = &l->at[l->n++];
    *s = (struct section){.name = word, .bytes.arena = l->arena};
    unsigned bytes = 0;
    while (p < end) {
        word = take_word(&p, end);
        if (!word.n || str_is(word, "{") || str_is(word, "}"))
            continue;
        if (*p == ':') {
            put(l, &l->of->labels, word, s->bytes.n);
            p++;
        } else if (width_of(word)) {
            bytes = width_of(word);
        } else if (is_number(word)) {
            put_number(s, (uint64_t)number(l, word), bytes);
        } else if (bytes >= 4) {
            put_symbol(l, s, word, bytes, &p, end);
        } else {
            l->wrong = true;
        }
    }
}

/* ---- symbols ---- */

static bool value_of(struct layout *l, struct str name, uint64_t *value)
{
    const uint64_t *label = map_get(&l->of->labels, name);
    for (unsigned i = 0; i < l->n && !label; i++)
        if (str_eq(l->at[i].name, name)) {
            *value = 0;
            return true;
        }
    *value = label ? *label : 0;
    return label;
}

static void resolve(struct layout *l, const struct later *a)
{
    uint64_t v, minus = 0;
    if (!value_of(l, a->name, &v)) {
        *VEC_PUSH(l->arena, &l->of->variables) = a->name;
        /* A section that is not there: .debug_line. */
        v = a->name.p[0] == '.' ? 0 : VARIABLE + l->of->variables.n - 1;
    }
    if (a->minus.n)
        value_of(l, a->minus, &minus);
    v += (uint64_t)a->plus - minus;
    memcpy(a->section->bytes.p + a->at, &v, a->bytes);
}

/* ---- the file ---- */

static struct str write_elf(struct layout *l)
{
    struct text image = {.arena = l->arena}, names = {.arena = l->arena};
    Elf64_Shdr headers[MOST_SECTIONS + 2] = {0};
    Elf64_Ehdr head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_EXEC,
                       .e_machine = EM_CUDA,
                       .e_version = EV_CURRENT,
                       .e_ehsize = sizeof head,
                       .e_shentsize = sizeof headers[0],
                       .e_shnum = (Elf64_Half)(l->n + 2),
                       .e_shstrndx = (Elf64_Half)(l->n + 1)};
    text_put(&image, (const char *)&head, sizeof head);
    text_put(&names, "", 1);
    for (unsigned i = 0; i < l->n; i++) {
        headers[i + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)names.n,
                                      .sh_type = SHT_PROGBITS,
                                      .sh_offset = image.n,
                                      .sh_size = l->at[i].bytes.n,
                                      .sh_addralign = 1};
        text_str(&names, l->at[i].name);
        text_put(&names, "", 1);
        text_put(&image, l->at[i].bytes.p ? l->at[i].bytes.p : "", l->at[i].bytes.n);
    }
    headers[l->n + 1] =
        (Elf64_Shdr){.sh_name = (Elf64_Word)names.n, .sh_type = SHT_STRTAB, .sh_addralign = 1, .sh_offset = image.n};
    text_put(&names, ".shstrtab", sizeof ".shstrtab");
    headers[l->n + 1].sh_size = names.n;
    text_put(&image, names.p, names.n);
    while (image.n % 8)
        text_put(&image, "", 1);
    ((Elf64_Ehdr *)(void *)image.p)->e_shoff = image.n;
    text_put(&image, (const char *)headers, (l->n + 2) * sizeof headers[0]);
    return (struct str){image.p, image.n};
}

void sections_read(struct sections *s, const struct ptx_module *m, struct arena *arena)
{
    struct layout l = {.of = s, .arena = arena};
    *s = (struct sections){.module = m};
    map_init(&s->labels, arena);
    map_init(&s->places, arena);
    for (uint32_t i = 0; i < m->items.n; i++)
        if (m->items.at[i].kind == ITEM_FUNC && m->items.at[i].func->has_body)
            number_code(&l, m->items.at[i].func);
    for (uint32_t i = 0; i < m->items.n; i++)
        if (m->items.at[i].kind == ITEM_SECTION)
            read_section(&l, *m->items.at[i].text);
    for (uint32_t i = 0; i < l.later.n; i++)
        resolve(&l, &l.later.at[i]);
    for (unsigned i = 0; i < l.n; i++)
        if (str_is(l.at[i].name, ".debug_str"))
            s->strings = (struct str){l.at[i].bytes.p, l.at[i].bytes.n};
    if (l.n && !l.wrong)
        s->image = write_elf(&l);
}

const char *sections_string(const struct sections *s, struct str label, int64_t on)
{
    const uint64_t *at = map_get(&s->labels, label);
    uint64_t from = at ? *at + (uint64_t)on : UINT64_MAX;
    bool ends = from < s->strings.n && memchr(s->strings.p + from, 0, s->strings.n - from);
    return ends ? s->strings.p + from : NULL;
}

uint64_t sections_place(const struct sections *s, const struct ptx_insn *insn)
{
    const uint64_t *at = map_get(&s->places, (struct str){(const char *)&insn, sizeof insn});
    return at ? *at : 0;
}

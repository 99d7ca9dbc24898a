/* The instruction set, for those who ask the library (include/heddle.h): the tables of isa/ in words. */
#include <stdio.h>

#include "api/handles.h"

static void target_name(char *to, size_t n, struct isa_need need)
{
    snprintf(to, n, "sm_%u%s", need.sm, need.arch ? "a" : "");
}

/* ---- operands ---- */

struct text {
    char *at;
    size_t n, left;
};

static void put(struct text *t, const char *s)
{
    size_t n = strlen(s);
    if (n >= t->left)
        return;
    memcpy(t->at + t->n, s, n + 1);
    t->n += n;
    t->left -= n;
}

/* Operand lists with rules of their own. */
static const char *list_text(struct str word)
{
    static const char *const lists[][2] = {
        {"CALL", "(d), function, (a), prototype"},
        {"MOV", "d, a"},
        {"BRANCHTARGETS", "targets"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (str_is(word, lists[i][0]))
            return lists[i][1];
    return "a";
}

/* One operand of ops.def ("d|p", "s:u32?", "m") as the PTX ISA would write it. Sources are a, b, c in order.
 */
static void put_operand(struct text *t, struct str word, char *next_source)
{
    char source[2] = {*next_source, 0};
    bool list = word.p[0] >= 'A' && word.p[0] <= 'Z';
    bool braces = word.p[word.n - 1] == '?' && t->n > 0;
    if (t->n)
        put(t, braces ? "{, " : ", ");
    if (list) {
        put(t, list_text(word));
    } else if (word.p[0] == 'd') {
        put(t, word.n > 1 && word.p[1] == 'p' ? "p" : "d");
        if (memchr(word.p, '|', word.n))
            put(t, "|p");
    } else if (word.p[0] == 'l') {
        put(t, "label");
    } else {
        put(t, word.p[0] == 'm' ? "[" : "");
        put(t, source);
        put(t, word.p[0] == 'm' ? "]" : "");
        ++*next_source;
    }
    put(t, braces ? "}" : "");
}

static void operands_text(char *to, size_t n, const char *operands)
{
    struct text t = {to, 0, n};
    char next_source = 'a';
    *to = 0;
    if (*operands == '*')
        put(&t, "...");
    while (*operands && *operands != '*') {
        size_t length = strcspn(operands, " ");
        put_operand(&t, (struct str){operands, length}, &next_source);
        operands += length + strspn(operands + length, " ");
    }
}

/* ---- the tables ---- */

bool hd_isa_get_form(size_t i, hd_isa_form *form)
{
    unsigned count;
    const struct isa_form *f = isa_forms(&count) + i;
    if (i >= count || !form)
        return false;
    *form = (hd_isa_form){.opcode = isa_op_name(f->op),
                          .section = isa_op_section(f->op),
                          .doc = isa_op_doc(f->op),
                          .syntax = f->syntax,
                          .ptx_major = f->need.ptx / 10u,
                          .ptx_minor = f->need.ptx % 10u,
                          .missing = f->kind == KIND_REFUSED ? f->meaning : NULL};
    operands_text(form->operands, sizeof form->operands, f->operands);
    target_name(form->target, sizeof form->target, f->need);
    return true;
}

bool hd_isa_get_register(size_t i, hd_isa_register *reg)
{
    if (i >= SREG_COUNT || !reg)
        return false;
    const struct isa_sreg_info *r = isa_sreg_info((enum isa_sreg)i);
    *reg = (hd_isa_register){.name = r->name,
                             .type = isa_type_name(r->type),
                             .doc = r->doc,
                             .components = r->components,
                             .ptx_major = r->need.ptx / 10u,
                             .ptx_minor = r->need.ptx % 10u};
    target_name(reg->target, sizeof reg->target, r->need);
    return true;
}

bool hd_isa_get_set(size_t i, hd_isa_set *set)
{
    if (!set)
        return false;
    if (i + 1 < SLOT_COUNT) {
        enum isa_slot slot = (enum isa_slot)(i + 1);
        *set = (hd_isa_set){isa_slot_name(slot), isa_slot_words(slot), false};
        return true;
    }
    *set = (hd_isa_set){.of_types = true};
    return isa_type_set(i + 1 - SLOT_COUNT, &set->name, &set->words);
}

const char *hd_isa_suggest(const char *name)
{
    return name ? isa_op_suggest(str_of(name)) : NULL;
}

/* Resolving opcodes: the form that a text matches, or what is wrong with
 * it; see isa.h and forms.h. */
#include "isa/forms.h"

#include <stdio.h>

#include "isa/lane_ids.h"
#include "isa/lanes.h"
#include "isa/needs.h"

/* ---- matching ---- */

enum { MAX_WORDS = ISA_MAX_TYPES + ISA_MAX_MODS };

/* An opcode text taken apart. */
struct opcode_words {
    unsigned n;
    struct str text[MAX_WORDS];
    struct word word[MAX_WORDS];
};

/* How a form fits: 0 is a match; else the distance, with the word or the element that is in the
 * way. */
struct fit {
    unsigned cost;
    int bad_word;                  /* index, or -1 */
    const struct element *missing; /* or NULL */
    uint8_t filled[MAX_ELEMENTS];  /* 1 + index of the word in each element */
};

static bool accepts(const struct isa *isa, const struct element *e, struct word w)
{
    if (w.type)
        return e->type_mask >> w.type & 1;
    if (w.shape.m)
        return e->is_shape;
    if (!w.mod)
        return false;
    return e->mod == w.mod || (e->slot && isa_bit_test(isa->slot_mods[e->slot], w.mod));
}

static struct fit fit_form(const struct isa *isa, const struct compiled_form *c, const struct opcode_words *o)
{
    struct fit f = {.bad_word = -1};
    unsigned first_type = 0;
    for (unsigned i = 0; i < o->n; i++) {
        bool is_type = o->word[i].type != 0, placed = false;
        for (unsigned e = is_type ? first_type : 0; e < c->n && !placed; e++) {
            if (is_type && !c->element[e].type_mask)
                continue;
            if (!f.filled[e] && accepts(isa, &c->element[e], o->word[i])) {
                f.filled[e] = (uint8_t)(i + 1);
                placed = true;
                if (is_type)
                    first_type = e + 1;
            } else if (is_type) {
                break; /* types stand in the form's order */
            }
        }
        if (!placed && !c->open) {
            /* The operation tells forms apart, so a wrong word costs more than a wrong type. */
            f.cost += is_type ? 3 : 5;
            if (f.bad_word < 0)
                f.bad_word = (int)i;
        }
    }
    for (unsigned e = 0; e < c->n; e++)
        if (!f.filled[e] && !c->element[e].optional) {
            f.cost += 2;
            if (!f.missing)
                f.missing = &c->element[e];
        }
    return f;
}

static bool split(struct str text, struct str *op, struct opcode_words *o)
{
    const char *p = text.p, *end = text.p + text.n;
    const char *dot = memchr(p, '.', text.n);
    *op = (struct str){p, dot ? (size_t)(dot - p) : text.n};
    o->n = 0;
    while (dot && dot < end) {
        const char *start = dot + 1;
        const char *next = memchr(start, '.', (size_t)(end - start));
        struct str w = {start, next ? (size_t)(next - start) : (size_t)(end - start)};
        if (o->n == MAX_WORDS)
            return false;
        o->text[o->n] = w;
        o->word[o->n++] = isa_look_up(w);
        dot = next;
    }
    return true;
}

/* ---- meanings ---- */

static const char *width_name(enum isa_type t)
{
    switch (isa_type_bits(t)) {
    case 8: return "b8";
    case 16: return "b16";
    case 32: return "b32";
    case 64: return "b64";
    default: return "b128";
    }
}

static bool is_compare(enum isa_slot slot)
{
    return slot == SLOT_BOOL || (slot >= SLOT_CMP && slot <= SLOT_CMPB);
}

/* The condition of set and setp; lo, ls, hi, hs are the unsigned names of lt, le, gt, ge. */
static const char *compare_name(const struct isa *isa, const struct isa_inst *inst)
{
    enum isa_mod m = isa_pick(isa, inst, SLOT_CMPU);
    switch (m ? m : isa_pick(isa, inst, SLOT_CMP)) {
    case MOD_lo: return "lt";
    case MOD_ls: return "le";
    case MOD_hi: return "gt";
    case MOD_hs: return "ge";
    default: return isa_mod_text(m ? m : isa_pick(isa, inst, SLOT_CMP));
    }
}

/* The lane function's name: the form's template with types and optional modifiers put in. */
static lane_id find_lane(const struct isa *isa, const struct compiled_form *c, const struct fit *f,
                         const struct opcode_words *o, const struct isa_inst *inst)
{
    char name[96], *p = name;
    char *end = name + sizeof name - 24;
    if (c->form->kind == KIND_REFUSED || !c->form->meaning[0])
        return LANE_none;
    for (const char *t = c->form->meaning; *t && p < end; t++) {
        if (*t != '%') {
            *p++ = *t;
            continue;
        }
        enum isa_type type = (enum isa_type)inst->type[*++t == 'u' || *t == 'v'];
        if (*t == 'c')
            p += sprintf(p, "%s", compare_name(isa, inst));
        if (*t == 't' || *t == 'u')
            p += sprintf(p, "%s", isa_type_name(type));
        else if (*t == 'w' || *t == 'v')
            p += sprintf(p, "%s", width_name(type));
        for (unsigned e = 0; *t == 'm' && e < c->n && p < end; e++) {
            const struct element *el = &c->element[e];
            if (el->type_mask || is_compare(el->slot) || (el->mod && !el->optional))
                continue;
            enum isa_mod m = f->filled[e] ? o->word[f->filled[e] - 1].mod : el->absent;
            if (m && !(el->mod == MOD_rn))
                p += sprintf(p, "_%s", isa_mod_text(m));
        }
    }
    *p = 0;
    return isa_lane_by_name((struct str){name, (size_t)(p - name)});
}

/* ---- errors ---- */

static const char *element_text(struct isa *isa, const struct element *e)
{
    if (e->mod)
        return arena_printf(isa->arena, "`.%s`", isa_mod_text(e->mod));
    if (e->slot) {
        char *list = arena_printf(isa->arena, "one of");
        const char *rest = isa_slot_words(e->slot);
        for (struct str w; isa_next_word(&rest, ' ', &w);)
            list = arena_printf(isa->arena, "%s `.%.*s`", list, STR_ARG(w));
        return list;
    }
    if (e->is_shape)
        return "a shape, as in `.m16n8k16`";
    char *list = arena_printf(isa->arena, "a type:");
    for (unsigned t = 1; t < TYPE_COUNT; t++)
        if (e->type_mask >> t & 1)
            list = arena_printf(isa->arena, "%s `.%s`", list, isa_type_name((enum isa_type)t));
    return list;
}

/* The words of a set that the forms name, or NULL. */
static const char *words_of_set(struct str name)
{
    enum isa_slot slot = isa_slot_by_name(name);
    if (str_is(name, "SHAPE"))
        return "a shape";
    return slot ? isa_slot_words(slot) : isa_types_of(name);
}

/* A form's syntax with sets of words and of types written out. */
static const char *with_sets(struct isa *isa, const char *syntax)
{
    const char *text = "";
    while (*syntax) {
        size_t n = strcspn(syntax + 1, ".{}=*") + 1;
        const char *words = *syntax == '.' ? words_of_set((struct str){syntax + 1, n - 1}) : NULL;
        text = words ? arena_printf(isa->arena, "%s.<%s>", text, words)
                     : arena_printf(isa->arena, "%s%.*s", text, (int)n, syntax);
        syntax += n;
    }
    return text;
}

/* The form that was meant, it seems, and how to see the others. */
static const char *nearest_form(struct isa *isa, const struct op_forms *of, const struct isa_form *form)
{
    const char *op = isa_op_name(form->op);
    char operands[64];
    isa_operands_text(operands, sizeof operands, form->operands);
    const char *more =
        of->n > 1 ? arena_printf(isa->arena, "\n  `heddle ptx --isa %s` shows all %u forms", op, of->n) : "";
    return arena_printf(isa->arena, "%s%s%s%s;%s", op, with_sets(isa, form->syntax), *operands ? " " : "", operands,
                        more);
}

/* The word of the set or type list nearest to one that is none, or NULL. */
static const char *nearest_word(struct str word)
{
    const char *best = NULL;
    unsigned least = word.n < 4 ? 2 : 3;
    for (unsigned i = 1; i < MOD_COUNT + TYPE_COUNT; i++) {
        const char *name =
            i < MOD_COUNT ? isa_mod_text((enum isa_mod)i) : isa_type_name((enum isa_type)(i - MOD_COUNT));
        unsigned distance = *name ? str_distance(word, str_of(name), 2) : 3;
        if (distance < least && distance < word.n) {
            least = distance;
            best = name;
        }
    }
    return best;
}

static void explain(struct isa *isa, const struct op_forms *of, const struct isa_form *form, const struct fit *f,
                    struct str op, const struct opcode_words *o, struct isa_error *error)
{
    error->help = nearest_form(isa, of, form);
    if (f->bad_word >= 0) {
        struct str w = o->text[f->bad_word];
        struct word known = o->word[f->bad_word];
        error->offset = (uint32_t)(w.p - op.p) - 1;
        error->length = (uint32_t)w.n + 1;
        bool is_known = known.mod || known.type || known.shape.m;
        if (is_known)
            error->text = arena_printf(isa->arena, "`%.*s` does not take `.%.*s` here", STR_ARG(op), STR_ARG(w));
        else
            error->text = arena_printf(isa->arena, "unknown modifier `.%.*s`", STR_ARG(w));
        const char *near = is_known ? NULL : nearest_word(w);
        if (near)
            error->help = arena_printf(isa->arena, "did you mean `.%s`?", near);
    } else {
        error->text = arena_printf(isa->arena, "`%.*s` lacks %s", STR_ARG(op), element_text(isa, f->missing));
    }
}

/* ---- resolving ---- */

static const struct isa_inst *make_inst(struct isa *isa, struct str text, struct str op, const struct compiled_form *c,
                                        const struct fit *f, const struct opcode_words *o)
{
    struct isa_inst *inst = ARENA_NEW(isa->arena, struct isa_inst);
    inst->text = (struct str){arena_strndup(isa->arena, text.p, text.n), text.n};
    inst->form = c->form;
    inst->op = c->form->op;
    inst->kind = c->form->kind;
    inst->need = c->form->need;
    inst->open = c->form->operands[0] == '*';
    inst->n_operands = c->n_operands;
    memcpy(inst->operand, c->operand, sizeof inst->operand);
    for (unsigned i = 0; i < o->n; i++) {
        if (o->word[i].shape.m)
            inst->shape = o->word[i].shape;
        else if (o->word[i].type && inst->n_types < ISA_MAX_TYPES)
            inst->type[inst->n_types++] = (uint8_t)o->word[i].type;
        else if (o->word[i].mod && inst->n_mods < ISA_MAX_MODS)
            inst->mod[inst->n_mods++] = (uint8_t)o->word[i].mod;
    }
    isa_apply_rules(inst, op, o->text, o->n);
    inst->lane = find_lane(isa, c, f, o, inst);
    map_put(&isa->insts, inst->text, inst);
    return inst;
}

const struct isa_inst *isa_resolve(struct isa *isa, struct str text, struct isa_error *error)
{
    const struct isa_inst *known = map_get(&isa->insts, text);
    if (known)
        return known;
    struct str name;
    struct opcode_words words;
    *error = (struct isa_error){.length = (uint32_t)text.n};
    bool fits = split(text, &name, &words);
    isa_op op = isa_op_by_name(name);
    if (!op || !fits) {
        const char *near = isa_op_suggest(name);
        error->length = (uint32_t)name.n;
        error->text = fits ? arena_printf(isa->arena, "unknown instruction `%.*s`", STR_ARG(name))
                           : arena_printf(isa->arena, "too many modifiers");
        error->help = fits && near ? arena_printf(isa->arena, "did you mean `%s`?", near) : NULL;
        return NULL;
    }
    const struct op_forms *of = isa_forms_of(isa, op);
    struct fit best = {.cost = ~0u};
    const struct isa_form *nearest = of->form[0].form;
    for (unsigned i = 0; i < of->n; i++) {
        struct fit f = fit_form(isa, &of->form[i], &words);
        if (f.cost == 0)
            return make_inst(isa, text, name, &of->form[i], &f, &words);
        /* Open forms accept any word: they tell nothing. */
        if (f.cost + 9 * of->form[i].open < best.cost) {
            best = f;
            best.cost += 9 * of->form[i].open;
            nearest = of->form[i].form;
        }
    }
    explain(isa, of, nearest, &best, name, &words, error);
    return NULL;
}

const struct isa_inst *isa_unknown(struct isa *isa, struct str text)
{
    static const struct isa_form newer = {
        .kind = KIND_REFUSED, .syntax = "", .operands = "*", .meaning = "instructions of newer PTX versions"};
    struct isa_inst *inst = ARENA_NEW(isa->arena, struct isa_inst);
    *inst = (struct isa_inst){
        .text = {arena_strndup(isa->arena, text.p, text.n), text.n}, .form = &newer, .kind = newer.kind, .open = true};
    map_put(&isa->insts, inst->text, inst);
    return inst;
}

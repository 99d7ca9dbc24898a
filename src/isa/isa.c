/* Resolving opcodes against ops.def; see isa.h.
 *
 * A form's syntax is compiled, on the first use of its opcode, into elements: a word, a set of words, or a
 * set of types. An opcode text matches a form when its types fill the type elements in order, each modifier
 * fills one element, and every element that is not optional is filled.
 */
#include "isa/isa.h"

#include <stdio.h>

#include "isa/lanes.h"
#include "isa/needs.h"

/* ---- the tables ---- */

static const struct {
    const char *name;
    uint8_t bits, class;
} types[TYPE_COUNT] = {
    {"", 0, CLASS_O},
#define TYPE(name, bits, class) {#name, bits, CLASS_##class},
#include "isa/types.def"
#undef TYPE
};

static const char *const mods[MOD_COUNT] = {
    "",
#define MOD(ident, text) text,
#define SLOT(name, words)
#include "isa/mods.def"
#undef MOD
#undef SLOT
};

static const struct {
    const char *name, *words;
} slots[SLOT_COUNT] = {
    {"", ""},
#define MOD(ident, text)
#define SLOT(name, words) {#name, words},
#include "isa/mods.def"
#undef MOD
#undef SLOT
};

static const struct {
    const char *name, *list;
} type_sets[] = {
#define TYPES(name, list) {#name, list},
#define OP(name, section, doc)
#define FORM(...)
#include "isa/ops.def"
#undef TYPES
#undef OP
#undef FORM
};

static const struct {
    const char *name, *section, *doc;
} ops[OP_COUNT] = {
    {"", "", ""},
#define TYPES(name, list)
#define OP(name, section, doc) {#name, section, doc},
#define FORM(...)
#include "isa/ops.def"
#undef TYPES
#undef OP
#undef FORM
};

#define ARCH_FLAG 0x8000
#define A(sm)     ((sm) | ARCH_FLAG)
static const struct isa_form forms[] = {
#define TYPES(name, list)
#define OP(name, section, doc)
#define FORM(name, kind, syntax, operands, ptx, sm, meaning)                                                           \
    {OP_##name, KIND_##kind, syntax, operands, {ptx, (sm) & ~ARCH_FLAG, ((sm) & ARCH_FLAG) != 0}, meaning},
#include "isa/ops.def"
#undef TYPES
#undef OP
#undef FORM
};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

#undef A

static const struct isa_sreg_info sregs[SREG_COUNT] = {
#define SREG(name, type, components, when, ptx, sm, doc)                                                               \
    {#name, TYPE_##type, components, WHEN_##when, {ptx, sm, false}, doc},
#include "isa/sregs.def"
#undef SREG
};

static const struct {
    const char *name;
    enum lane_id as;
} lane_synonyms[] = {
#define LANE(...)
#define SAME(name, as) {#name, LANE_##as},
#include "isa/lanes.def"
#undef LANE
#undef SAME
};

const char *isa_op_name(enum isa_op op)
{
    return ops[op].name;
}

const char *isa_op_section(enum isa_op op)
{
    return ops[op].section;
}

const char *isa_op_doc(enum isa_op op)
{
    return ops[op].doc;
}

const char *isa_mod_text(enum isa_mod mod)
{
    return mods[mod];
}

const char *isa_slot_name(enum isa_slot slot)
{
    return slots[slot].name;
}

const char *isa_slot_words(enum isa_slot slot)
{
    return slots[slot].words;
}

const char *isa_types_of(struct str set_name)
{
    for (size_t i = 0; i < sizeof type_sets / sizeof type_sets[0]; i++)
        if (str_is(set_name, type_sets[i].name))
            return type_sets[i].list;
    return NULL;
}

bool isa_type_set(size_t i, const char **name, const char **types)
{
    if (i >= sizeof type_sets / sizeof type_sets[0])
        return false;
    *name = type_sets[i].name;
    *types = type_sets[i].list;
    return true;
}

const char *isa_type_name(enum isa_type type)
{
    return types[type].name;
}

unsigned isa_type_bits(enum isa_type type)
{
    return types[type].bits;
}

enum isa_class isa_type_class(enum isa_type type)
{
    return types[type].class;
}

const struct isa_sreg_info *isa_sreg_info(enum isa_sreg sreg)
{
    return &sregs[sreg];
}

const struct isa_form *isa_forms(unsigned *count)
{
    *count = FORM_COUNT;
    return forms;
}

/* ---- words ---- */

/* A word of an opcode text: a modifier, a type, a shape, or none of them. */
struct word {
    enum isa_mod mod;
    enum isa_type type;
    struct isa_shape shape;
};

/* "16" of "m16n8k16" behind the letter; false where that is not what stands there. */
static bool take_extent(struct str *text, char letter, uint16_t *n)
{
    unsigned value = 0, digits = 0;
    if (text->n < 2 || text->p[0] != letter)
        return false;
    while (++digits < text->n && digits < 5 && text->p[digits] >= '0' && text->p[digits] <= '9')
        value = value * 10 + (unsigned)(text->p[digits] - '0');
    *n = (uint16_t)value;
    *text = (struct str){text->p + digits, text->n - digits};
    return digits > 1 && value && value <= UINT16_MAX;
}

static struct word shape_word(struct str text)
{
    struct isa_shape s = {0};
    bool ok =
        take_extent(&text, 'm', &s.m) && take_extent(&text, 'n', &s.n) && (!text.n || take_extent(&text, 'k', &s.k));
    return ok && !text.n ? (struct word){.shape = s} : (struct word){0};
}

static struct word look_up(const struct isa *isa, struct str text)
{
    uintptr_t v = (uintptr_t)map_get(&isa->words, text);
    if (!v)
        return shape_word(text);
    return v < TYPE_COUNT ? (struct word){.type = (enum isa_type)v}
                          : (struct word){.mod = (enum isa_mod)(v - TYPE_COUNT)};
}

static void bit_set(uint64_t *set, unsigned i)
{
    set[i / 64] |= 1ull << (i % 64);
}

static bool bit_test(const uint64_t *set, unsigned i)
{
    return set[i / 64] >> (i % 64) & 1;
}

void isa_init(struct isa *isa, struct arena *arena)
{
    *isa = (struct isa){.arena = arena};
    map_init(&isa->words, arena);
    map_init(&isa->ops, arena);
    map_init(&isa->lanes, arena);
    map_init(&isa->insts, arena);
    for (uintptr_t i = 1; i < TYPE_COUNT; i++)
        map_put(&isa->words, str_of(types[i].name), (void *)i);
    for (uintptr_t i = 1; i < MOD_COUNT; i++)
        map_put(&isa->words, str_of(mods[i]), (void *)(TYPE_COUNT + i));
    for (uintptr_t i = 1; i < OP_COUNT; i++)
        map_put(&isa->ops, str_of(ops[i].name), (void *)i);
    for (uintptr_t i = 1; i < LANE_COUNT; i++)
        map_put(&isa->lanes, str_of(lane_info((enum lane_id)i)->name), (void *)i);
    for (size_t i = 0; i < sizeof lane_synonyms / sizeof lane_synonyms[0]; i++)
        map_put(&isa->lanes, str_of(lane_synonyms[i].name), (void *)(uintptr_t)lane_synonyms[i].as);
    for (unsigned s = 1; s < SLOT_COUNT; s++) {
        const char *rest = slots[s].words;
        for (struct str w; isa_next_word(&rest, ' ', &w);)
            bit_set(isa->slot_mods[s], look_up(isa, w).mod);
    }
}

enum isa_op isa_op_by_name(struct isa *isa, struct str name)
{
    return (enum isa_op)(uintptr_t)map_get(&isa->ops, name);
}

enum isa_type isa_type_by_name(struct isa *isa, struct str name)
{
    return look_up(isa, name).type;
}

const char *isa_op_suggest(struct str name)
{
    const char *best = NULL;
    unsigned least = 3;
    for (unsigned i = 1; i < OP_COUNT; i++) {
        unsigned distance = str_distance(name, str_of(ops[i].name), 2);
        if (distance < least) {
            least = distance;
            best = ops[i].name;
        }
    }
    return best;
}

enum isa_mod isa_pick(const struct isa *isa, const struct isa_inst *i, enum isa_slot slot)
{
    for (unsigned k = 0; k < i->n_mods; k++)
        if (bit_test(isa->slot_mods[slot], i->mod[k]))
            return i->mod[k];
    return MOD_none;
}

/* ---- forms, compiled ---- */

/* One element of a form's syntax. Exactly one of mod, slot, type_mask, is_shape is set. */
struct element {
    enum isa_mod mod;
    enum isa_slot slot;
    uint64_t type_mask;
    enum isa_mod absent; /* the word that absence stands for */
    bool optional, is_shape;
};

enum { MAX_ELEMENTS = 16 };

struct compiled_form {
    const struct isa_form *form;
    uint8_t n, n_operands;
    bool open; /* any further words are accepted */
    struct element element[MAX_ELEMENTS];
    struct isa_operand operand[ISA_MAX_OPERANDS];
};

struct op_forms {
    unsigned n;
    struct compiled_form form[];
};

static uint64_t type_mask_of(const struct isa *isa, const char *list, char separator)
{
    uint64_t mask = 0;
    for (struct str w; isa_next_word(&list, separator, &w);)
        mask |= 1ull << look_up(isa, w).type;
    return mask;
}

static enum isa_slot slot_by_name(struct str name)
{
    for (unsigned s = 1; s < SLOT_COUNT; s++)
        if (str_is(name, slots[s].name))
            return (enum isa_slot)s;
    return SLOT_none;
}

static struct element compile_element(struct isa *isa, struct str text, bool optional)
{
    struct element e = {.optional = optional};
    const char *equals = memchr(text.p, '=', text.n);
    if (equals) {
        struct str word = {equals + 1, (size_t)(text.p + text.n - equals - 1)};
        e.absent = look_up(isa, word).mod;
        text.n = (size_t)(equals - text.p);
    }
    if (text.p[0] == '<') {
        char *list = arena_strndup(isa->arena, text.p + 1, text.n - 2);
        e.type_mask = type_mask_of(isa, list, ',');
        return e;
    }
    if (str_is(text, "SHAPE")) {
        e.is_shape = true;
        return e;
    }
    const char *set = isa_types_of(text);
    struct word w = look_up(isa, text);
    if (set)
        e.type_mask = type_mask_of(isa, set, ' ');
    else if ((e.slot = slot_by_name(text)) != SLOT_none)
        return e;
    else if (w.type)
        e.type_mask = 1ull << w.type;
    else
        e.mod = w.mod;
    return e;
}

static void compile_syntax(struct isa *isa, struct compiled_form *c, const char *s)
{
    while (*s) {
        if (*s == '*') {
            c->open = true;
            s++;
            continue;
        }
        bool optional = *s == '{';
        s += optional ? 2 : 1; /* "{." or "." */
        const char *end = s;
        if (*end == '<')
            end = strchr(end, '>') + 1;
        else
            while (*end && *end != '{' && *end != '}' && *end != '*' && *end != '.')
                end++;
        c->element[c->n++] = compile_element(isa, (struct str){s, (size_t)(end - s)}, optional);
        s = end + (optional ? 1 : 0);
    }
}

static struct isa_operand compile_operand(struct isa *isa, struct str text)
{
    struct isa_operand o = {0};
    if (text.p[0] >= 'A' && text.p[0] <= 'Z') {
        o.kind = OPERAND_LIST;
        o.optional = text.p[text.n - 1] == '?';
        o.list = arena_strndup(isa->arena, text.p, text.n - o.optional);
        return o;
    }
    switch (text.p[0]) {
    case 'd': o.kind = OPERAND_DST; break;
    case 'r': o.kind = OPERAND_REG; break;
    case 'i': o.kind = OPERAND_IMM; break;
    case 'm': o.kind = OPERAND_MEM; break;
    case 'l': o.kind = OPERAND_LABEL; break;
    default: o.kind = OPERAND_SRC; break;
    }
    for (size_t i = 1; i < text.n; i++) {
        switch (text.p[i]) {
        case 'p': o.kind = o.kind == OPERAND_DST ? OPERAND_DPRED : OPERAND_SPRED; break;
        case 'v': o.vector = true; break;
        case 'x': o.selector = true; break;
        case 'w': o.wide = true; break;
        case '1': o.from = 1; break;
        case '2': o.from = 2; break;
        case 's': o.shared = true; break;
        case 'g': o.global = true; break;
        case '?': o.optional = true; break;
        case '|':
            o.pair = true;
            i++;
            break;
        case ':': {
            size_t end = ++i;
            while (end < text.n && text.p[end] != '?' && text.p[end] != '|')
                end++;
            o.type = look_up(isa, (struct str){text.p + i, end - i}).type;
            i = end - 1;
            break;
        }
        default: break;
        }
    }
    if (o.kind == OPERAND_DPRED || o.kind == OPERAND_SPRED)
        o.type = TYPE_pred;
    return o;
}

static const struct op_forms *forms_of(struct isa *isa, enum isa_op op)
{
    if (isa->forms[op])
        return isa->forms[op];
    unsigned first = 0, n = 0;
    while (first < FORM_COUNT && forms[first].op != op)
        first++;
    while (first + n < FORM_COUNT && forms[first + n].op == op)
        n++;
    struct op_forms *of = arena_alloc(isa->arena, sizeof *of + n * sizeof of->form[0]);
    of->n = n;
    for (unsigned i = 0; i < n; i++) {
        struct compiled_form *c = &of->form[i];
        c->form = &forms[first + i];
        compile_syntax(isa, c, c->form->syntax);
        const char *rest = c->form->operands;
        for (struct str w; c->form->operands[0] != '*' && isa_next_word(&rest, ' ', &w);)
            c->operand[c->n_operands++] = compile_operand(isa, w);
    }
    return isa->forms[op] = of;
}

enum isa_type isa_operand_type(const struct isa_inst *i, const struct isa_operand *o)
{
    if (o->type)
        return o->type;
    enum isa_type t = (enum isa_type)i->type[o->from];
    if (!o->wide)
        return t;
    switch (t) {
    case TYPE_u16: return TYPE_u32;
    case TYPE_s16: return TYPE_s32;
    case TYPE_u32: return TYPE_u64;
    case TYPE_s32: return TYPE_s64;
    default: return t;
    }
}

/* ---- matching ---- */

enum { MAX_WORDS = ISA_MAX_TYPES + ISA_MAX_MODS };

/* An opcode text taken apart. */
struct opcode_words {
    unsigned n;
    struct str text[MAX_WORDS];
    struct word word[MAX_WORDS];
};

/* How a form fits: 0 is a match; else the distance, with the word or the element that is in the way. */
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
    return e->mod == w.mod || (e->slot && bit_test(isa->slot_mods[e->slot], w.mod));
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

static bool split(struct isa *isa, struct str text, struct str *op, struct opcode_words *o)
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
        o->word[o->n++] = look_up(isa, w);
        dot = next;
    }
    return true;
}

/* ---- meanings ---- */

static const char *width_name(enum isa_type t)
{
    switch (types[t].bits) {
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
    default: return mods[m ? m : isa_pick(isa, inst, SLOT_CMP)];
    }
}

/* The lane function's name: the form's template with types and optional modifiers put in. */
static uint16_t find_lane(const struct isa *isa, const struct compiled_form *c, const struct fit *f,
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
            p += sprintf(p, "%s", types[type].name);
        else if (*t == 'w' || *t == 'v')
            p += sprintf(p, "%s", width_name(type));
        for (unsigned e = 0; *t == 'm' && e < c->n && p < end; e++) {
            const struct element *el = &c->element[e];
            if (el->type_mask || is_compare(el->slot) || (el->mod && !el->optional))
                continue;
            enum isa_mod m = f->filled[e] ? o->word[f->filled[e] - 1].mod : el->absent;
            if (m && !(el->mod == MOD_rn))
                p += sprintf(p, "_%s", mods[m]);
        }
    }
    *p = 0;
    return (uint16_t)(uintptr_t)map_get(&isa->lanes, (struct str){name, (size_t)(p - name)});
}

/* ---- errors ---- */

static const char *element_text(struct isa *isa, const struct element *e)
{
    if (e->mod)
        return arena_printf(isa->arena, "`.%s`", mods[e->mod]);
    if (e->slot) {
        char *list = arena_printf(isa->arena, "one of");
        const char *rest = slots[e->slot].words;
        for (struct str w; isa_next_word(&rest, ' ', &w);)
            list = arena_printf(isa->arena, "%s `.%.*s`", list, STR_ARG(w));
        return list;
    }
    if (e->is_shape)
        return "a shape, as in `.m16n8k16`";
    char *list = arena_printf(isa->arena, "a type:");
    for (unsigned t = 1; t < TYPE_COUNT; t++)
        if (e->type_mask >> t & 1)
            list = arena_printf(isa->arena, "%s `.%s`", list, types[t].name);
    return list;
}

/* A form's syntax with sets of types written out. */
static const char *with_types(struct isa *isa, const char *syntax)
{
    const char *text = "";
    while (*syntax) {
        size_t n = strcspn(syntax + 1, ".{}=") + 1;
        const char *types_of_set = *syntax == '.' ? isa_types_of((struct str){syntax + 1, n - 1}) : NULL;
        text = types_of_set ? arena_printf(isa->arena, "%s.<%s>", text, types_of_set)
                            : arena_printf(isa->arena, "%s%.*s", text, (int)n, syntax);
        syntax += n;
    }
    return text;
}

/* The form that was meant, it seems, and how to see the others. */
static const char *nearest_form(struct isa *isa, const struct op_forms *of, const struct isa_form *form)
{
    const char *op = ops[form->op].name;
    char operands[64];
    isa_operands_text(operands, sizeof operands, form->operands);
    const char *more =
        of->n > 1 ? arena_printf(isa->arena, "\n  `heddle ptx --isa %s` shows all %u forms", op, of->n) : "";
    return arena_printf(isa->arena, "%s%s%s%s;%s", op, with_types(isa, form->syntax), *operands ? " " : "", operands,
                        more);
}

/* The word of the set or type list nearest to one that is none, or NULL. */
static const char *nearest_word(struct str word)
{
    const char *best = NULL;
    unsigned least = word.n < 4 ? 2 : 3;
    for (unsigned i = 1; i < MOD_COUNT + TYPE_COUNT; i++) {
        const char *name = i < MOD_COUNT ? mods[i] : types[i - MOD_COUNT].name;
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
    bool fits = split(isa, text, &name, &words);
    enum isa_op op = isa_op_by_name(isa, name);
    if (!op || !fits) {
        const char *near = isa_op_suggest(name);
        error->length = (uint32_t)name.n;
        error->text = fits ? arena_printf(isa->arena, "unknown instruction `%.*s`", STR_ARG(name))
                           : arena_printf(isa->arena, "too many modifiers");
        error->help = fits && near ? arena_printf(isa->arena, "did you mean `%s`?", near) : NULL;
        return NULL;
    }
    const struct op_forms *of = forms_of(isa, op);
    struct fit best = {.cost = ~0u};
    const struct isa_form *nearest = &forms[0];
    for (unsigned i = 0; i < of->n; i++) {
        struct fit f = fit_form(isa, &of->form[i], &words);
        if (f.cost == 0)
            return make_inst(isa, text, name, &of->form[i], &f, &words);
        if (f.cost + 9 * of->form[i].open < best.cost) { /* open forms accept any word: they tell nothing */
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

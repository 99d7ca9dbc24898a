/* Compiling the forms of ops.def; see forms.h. */
#include "isa/forms.h"

#include "isa/needs.h"

static uint64_t type_mask_of(const char *list, char separator)
{
    uint64_t mask = 0;
    for (struct str w; isa_next_word(&list, separator, &w);)
        mask |= 1ull << isa_look_up(w).type;
    return mask;
}

enum isa_slot isa_slot_by_name(struct str name)
{
    for (unsigned s = 1; s < SLOT_COUNT; s++)
        if (str_is(name, isa_slot_name((enum isa_slot)s)))
            return (enum isa_slot)s;
    return SLOT_none;
}

static struct element compile_element(struct isa *isa, struct str text, bool optional)
{
    struct element e = {.optional = optional};
    const char *equals = memchr(text.p, '=', text.n);
    if (equals) {
        struct str word = {equals + 1, (size_t)(text.p + text.n - equals - 1)};
        e.absent = isa_look_up(word).mod;
        text.n = (size_t)(equals - text.p);
    }
    if (text.p[0] == '<') {
        char *list = arena_strndup(isa->arena, text.p + 1, text.n - 2);
        e.type_mask = type_mask_of(list, ',');
        return e;
    }
    if (str_is(text, "SHAPE")) {
        e.is_shape = true;
        return e;
    }
    const char *set = isa_types_of(text);
    struct word w = isa_look_up(text);
    if (set)
        e.type_mask = type_mask_of(set, ' ');
    else if ((e.slot = isa_slot_by_name(text)) != SLOT_none)
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
            o.type = isa_look_up((struct str){text.p + i, end - i}).type;
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

const struct op_forms *isa_forms_of(struct isa *isa, isa_op op)
{
    if (isa->forms[op])
        return isa->forms[op];
    unsigned first = 0, n = 0, count;
    const struct isa_form *all = isa_forms(&count);
    while (first < count && all[first].op != op)
        first++;
    while (first + n < count && all[first + n].op == op)
        n++;
    struct op_forms *of = arena_alloc(isa->arena, sizeof *of + n * sizeof of->form[0]);
    of->n = n;
    for (unsigned i = 0; i < n; i++) {
        struct compiled_form *c = &of->form[i];
        c->form = &all[first + i];
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

/* The tables of the instruction set, and what words of opcodes name in them; see isa.h. */
#include "isa/forms.h"

#include "isa/lane_ids.h"
#include "isa/lanes.h"
#include "isa/needs.h"
#include "isa/opcodes.h"

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
    lane_id as;
} lane_synonyms[] = {
#define LANE(...)
#define SAME(name, as) {#name, LANE_##as},
#include "isa/lanes.def"
#undef LANE
#undef SAME
};

const char *isa_op_name(isa_op op)
{
    return ops[op].name;
}

const char *isa_op_section(isa_op op)
{
    return ops[op].section;
}

const char *isa_op_doc(isa_op op)
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

struct word isa_look_up(const struct isa *isa, struct str text)
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

static void enter(struct map *map, const char *name, uintptr_t number)
{
    map_put(map, str_of(name), (void *)number);
}

void isa_init(struct isa *isa, struct arena *arena)
{
    *isa = (struct isa){.arena = arena, .forms = ARENA_ARRAY(arena, struct op_forms *, OP_COUNT)};
    map_init(&isa->words, arena);
    map_init(&isa->ops, arena);
    map_init(&isa->lanes, arena);
    map_init(&isa->insts, arena);
    for (uintptr_t i = 1; i < TYPE_COUNT; i++)
        enter(&isa->words, types[i].name, i);
    for (uintptr_t i = 1; i < MOD_COUNT; i++)
        enter(&isa->words, mods[i], TYPE_COUNT + i);
    for (uintptr_t i = 1; i < OP_COUNT; i++)
        enter(&isa->ops, ops[i].name, i);
    for (uintptr_t i = 1; i < LANE_COUNT; i++)
        enter(&isa->lanes, lane_info((lane_id)i)->name, i);
    for (size_t i = 0; i < sizeof lane_synonyms / sizeof lane_synonyms[0]; i++)
        enter(&isa->lanes, lane_synonyms[i].name, lane_synonyms[i].as);
    for (unsigned s = 1; s < SLOT_COUNT; s++) {
        const char *rest = slots[s].words;
        for (struct str w; isa_next_word(&rest, ' ', &w);)
            bit_set(isa->slot_mods[s], isa_look_up(isa, w).mod);
    }
}

isa_op isa_op_by_name(struct isa *isa, struct str name)
{
    return (isa_op)(uintptr_t)map_get(&isa->ops, name);
}

enum isa_type isa_type_by_name(struct isa *isa, struct str name)
{
    return isa_look_up(isa, name).type;
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
        if (isa_bit_test(isa->slot_mods[slot], i->mod[k]))
            return i->mod[k];
    return MOD_none;
}

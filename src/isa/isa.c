/* The tables of the instruction set, and what words of opcodes name in them; see isa.h. */
#include "isa/forms.h"

#include <assert.h>
#include <pthread.h>

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

static void bit_set(uint64_t *set, unsigned i)
{
    set[i / 64] |= 1ull << (i % 64);
}

/* ---- what has a name ----
 *
 * The tables never change, so a process enters their names once, whichever module asks first:
 * numbers by the hash of the name, with open addressing, at most half full.
 */

typedef const char *name_of(unsigned number);

struct names {
    name_of *name;
    uint16_t *at; /* numbers; 0: free */
    unsigned capacity, last;
};

static const char *word_name(unsigned i)
{
    return i < TYPE_COUNT ? types[i].name : mods[i - TYPE_COUNT];
}

static const char *op_name(unsigned i)
{
    return ops[i].name;
}

static const char *lane_name(unsigned i)
{
    return i < LANE_COUNT ? lane_info((lane_id)i)->name : lane_synonyms[i - LANE_COUNT].name;
}

enum {
    LAST_WORD = TYPE_COUNT + MOD_COUNT - 1,
    LAST_OP = OP_COUNT - 1,
    LAST_LANE = LANE_COUNT + sizeof lane_synonyms / sizeof lane_synonyms[0] - 1,
};

static uint16_t words_at[1024], ops_at[512], lanes_at[4096];

#define NAMES(name, at, last) {name, at, sizeof at / sizeof at[0], last}
static const struct names words = NAMES(word_name, words_at, LAST_WORD), operations = NAMES(op_name, ops_at, LAST_OP),
                          lanes = NAMES(lane_name, lanes_at, LAST_LANE);

static_assert(2 * LAST_WORD <= sizeof words_at / sizeof words_at[0] &&
                  2 * LAST_OP <= sizeof ops_at / sizeof ops_at[0] &&
                  2 * LAST_LANE <= sizeof lanes_at / sizeof lanes_at[0],
              "tables of names are at most half full");

static bool is_named(const struct names *t, unsigned number, struct str name)
{
    const char *s = t->name(number);
    return strncmp(s, name.p, name.n) == 0 && !s[name.n];
}

/* Where the name's number stands, or would. */
static uint16_t *names_place(const struct names *t, struct str name)
{
    unsigned i = str_hash(name) % t->capacity;
    while (t->at[i] && !is_named(t, t->at[i], name))
        i = (i + 1) % t->capacity;
    return &t->at[i];
}

static void names_enter(const struct names *t)
{
    for (unsigned i = 1; i <= t->last; i++)
        if (*t->name(i))
            *names_place(t, str_of(t->name(i))) = (uint16_t)i;
}

static void enter_all(void)
{
    names_enter(&words);
    names_enter(&operations);
    names_enter(&lanes);
}

void isa_init(struct isa *isa, struct arena *arena)
{
    static pthread_once_t entered = PTHREAD_ONCE_INIT;
    pthread_once(&entered, enter_all);
    *isa = (struct isa){.arena = arena, .forms = ARENA_ARRAY(arena, struct op_forms *, OP_COUNT)};
    map_init(&isa->insts, arena);
    for (unsigned s = 1; s < SLOT_COUNT; s++) {
        const char *rest = slots[s].words;
        for (struct str w; isa_next_word(&rest, ' ', &w);)
            bit_set(isa->slot_mods[s], isa_look_up(w).mod);
    }
}

struct word isa_look_up(struct str text)
{
    unsigned v = *names_place(&words, text);
    if (!v)
        return shape_word(text);
    return v < TYPE_COUNT ? (struct word){.type = (enum isa_type)v}
                          : (struct word){.mod = (enum isa_mod)(v - TYPE_COUNT)};
}

isa_op isa_op_by_name(struct str name)
{
    return (isa_op)*names_place(&operations, name);
}

lane_id isa_lane_by_name(struct str name)
{
    unsigned v = *names_place(&lanes, name);
    return v < LANE_COUNT ? (lane_id)v : lane_synonyms[v - LANE_COUNT].as;
}

enum isa_type isa_type_by_name(struct str name)
{
    return isa_look_up(name).type;
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

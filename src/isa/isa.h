/* The instruction set of PTX as data: opcodes, forms, types, modifiers, special registers.
 *
 * The facts stand in the .def tables of this folder. This header turns them into enums and offers
 * one service: isa_resolve() takes an opcode as written ("atom.relaxed.gpu.global.add.u32"), finds
 * the form that it is a use of, and says what it needs and means. Everything above (parser,
 * verifier, printer, engines, `heddle ptx --isa`) reads the same entries.
 */
#ifndef HEDDLE_ISA_ISA_H
#define HEDDLE_ISA_ISA_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

enum isa_type {
    TYPE_none,
#define TYPE(name, bits, class) TYPE_##name,
#include "isa/types.def"
#undef TYPE
    TYPE_COUNT
};

/* Classes of types.def. */
enum isa_class { CLASS_U, CLASS_S, CLASS_F, CLASS_B, CLASS_P, CLASS_V, CLASS_X, CLASS_O };

enum isa_mod {
    MOD_none,
#define MOD(ident, text) MOD_##ident,
#define SLOT(name, words)
#include "isa/mods.def"
#undef MOD
#undef SLOT
    MOD_COUNT
};
_Static_assert(MOD_COUNT <= UINT8_MAX, "instructions keep them in bytes");

enum isa_slot {
    SLOT_none,
#define MOD(ident, text)
#define SLOT(name, words) SLOT_##name,
#include "isa/mods.def"
#undef MOD
#undef SLOT
    SLOT_COUNT
};

/* An opcode: isa/opcodes.h, which only those include that name one. */
typedef uint16_t isa_op;

enum isa_sreg {
#define SREG(name, type, components, when, ptx, sm, doc) SREG_##name,
#include "isa/sregs.def"
#undef SREG
    SREG_COUNT
};

/* How often a special register's value changes; see sregs.def. */
enum isa_when { WHEN_LANE, WHEN_WARP, WHEN_BLOCK, WHEN_LAUNCH, WHEN_NOW };

/* What a form is to the engines. PURE: registers in, registers out, no effect else: a lane function
 * (lanes.def). */
enum isa_kind {
    KIND_PURE,
    KIND_SET,
    KIND_SETP,
    KIND_LOP3P,
    KIND_VIDEO,
    KIND_MOV,
    KIND_LD,
    KIND_ST,
    KIND_ATOM,
    KIND_RED,
    KIND_PREFETCH,
    KIND_POLICY,
    KIND_CVTA,
    KIND_ISSPACEP,
    KIND_MAPA,
    KIND_GETCTARANK,
    KIND_ALLOCA,
    KIND_STACKSAVE,
    KIND_STACKRESTORE,
    KIND_BRA,
    KIND_BRX,
    KIND_CALL,
    KIND_RET,
    KIND_EXIT,
    KIND_TRAP,
    KIND_BRKPT,
    KIND_BAR,
    KIND_CLUSTERBAR,
    KIND_MBARRIER,
    KIND_ASYNC,
    KIND_GROUP,
    KIND_TENSORMAP,
    KIND_WARPSYNC,
    KIND_SHFL,
    KIND_VOTE,
    KIND_MATCH,
    KIND_REDUX,
    KIND_ACTIVEMASK,
    KIND_ELECT,
    KIND_MATRIX,  /* isa/matrix.h */
    KIND_TEXTURE, /* isa/texture.h */
    KIND_FENCE,
    KIND_NANOSLEEP,
    KIND_NOP,
    KIND_REFUSED,
};

/* A target: sm_90 is {90, 0}, sm_90a {90, 'a'}, sm_100f {100, 'f'}. */
struct isa_target {
    uint16_t sm;
    char suffix;
};

/* What a use needs of its module. ptx is 10 * major + minor. */
struct isa_need {
    uint16_t ptx, sm;
    bool arch; /* the target needs the suffix a (or f) */
};

enum isa_operand_kind {
    OPERAND_DST,
    OPERAND_SRC,   /* register, immediate or special register */
    OPERAND_REG,   /* register only */
    OPERAND_IMM,   /* constant */
    OPERAND_DPRED, /* destination predicate */
    OPERAND_SPRED, /* source predicate, may be negated */
    /* In the state space that the opcode names, or .shared or .global where it names both. */
    OPERAND_MEM,
    OPERAND_LABEL,
    OPERAND_LIST, /* rules of its own, by name: "MOV", "CALL", ... */
};

struct isa_operand {
    enum isa_operand_kind kind;
    /* TYPE_none: of the opcode's type number `from`, at twice its width where `wide`. */
    enum isa_type type;
    uint8_t from;
    bool wide, optional, pair, vector, selector;
    bool shared, global; /* OPERAND_MEM */
    const char *list;    /* OPERAND_LIST */
};

struct isa_form {
    isa_op op;
    enum isa_kind kind;
    const char *syntax, *operands; /* as in ops.def */
    struct isa_need need;
    const char *meaning;
};

enum { ISA_MAX_TYPES = 4, ISA_MAX_MODS = 12, ISA_MAX_OPERANDS = 10 };

/* The shape of a matrix instruction, a word as m16n8k16; k 0: a matrix of m8n8. */
struct isa_shape {
    uint16_t m, n, k;
};

/* One opcode as written, resolved. */
struct isa_inst {
    struct str text; /* "add.rn.ftz.f32" */
    isa_op op;
    enum isa_kind kind;
    uint8_t n_types, n_mods, n_operands;
    uint8_t type[ISA_MAX_TYPES];
    uint8_t mod[ISA_MAX_MODS]; /* as written */
    struct isa_shape shape;    /* m 0: it has none */
    uint16_t lane;             /* lane_id of a form that has a meaning there, else LANE_none */
    struct isa_need need;
    /* From this version and target on it is no longer valid; ptx 0: it stays. */
    struct isa_need gone;
    const char *gone_help; /* what took its place */
    const char *ban;       /* why these words do not go together, or NULL */
    bool open;             /* its operands follow no entry: they are kept as text */
    const struct isa_form *form;
    struct isa_operand operand[ISA_MAX_OPERANDS];
};

/* Why an opcode did not resolve. */
struct isa_error {
    const char *text, *help; /* in the arena of the isa; help may be NULL */
    uint32_t offset, length; /* the culprit within the opcode text */
};

/* Resolving is remembered by text; one struct isa serves one thread. */
struct isa {
    struct arena *arena;
    struct map insts;        /* resolved opcodes by text */
    struct op_forms **forms; /* by opcode */
    uint64_t slot_mods[SLOT_COUNT][(MOD_COUNT + 63) / 64];
};

void isa_init(struct isa *isa, struct arena *arena);
/* The resolved opcode, the same pointer for the same text; NULL with *error filled where there is
 * none. */
const struct isa_inst *isa_resolve(struct isa *isa, struct str text, struct isa_error *error);
/* An opcode that no table has, in a module that is newer than they are: refused where it would run;
 * remembered like others. */
const struct isa_inst *isa_unknown(struct isa *isa, struct str text);

const char *isa_op_name(isa_op op);
const char *isa_op_section(isa_op op);
const char *isa_op_doc(isa_op op);
isa_op isa_op_by_name(struct str name);
/* The name in ops.def nearest to `name`, or NULL. */
const char *isa_op_suggest(struct str name);

/* All forms, in the order of ops.def; those of one opcode are consecutive. */
const struct isa_form *isa_forms(unsigned *count);

/* The operands of a form as the PTX ISA would write them: "d, a, b{, c}". */
void isa_operands_text(char *to, size_t n, const char *operands);

const char *isa_mod_text(enum isa_mod mod);
const char *isa_slot_name(enum isa_slot slot);
const char *isa_slot_words(enum isa_slot slot);
/* The types of a set named in ops.def ("INT"), or NULL. */
const char *isa_types_of(struct str set_name);
/* The sets by number; false where there are not so many. */
bool isa_type_set(size_t i, const char **name, const char **types);

const char *isa_type_name(enum isa_type type);
unsigned isa_type_bits(enum isa_type type);
enum isa_class isa_type_class(enum isa_type type);
/* TYPE_none where there is no such type. */
enum isa_type isa_type_by_name(struct str name);

struct isa_sreg_info {
    const char *name;
    enum isa_type type;
    uint8_t components;
    enum isa_when when;
    struct isa_need need;
    const char *doc;
};
const struct isa_sreg_info *isa_sreg_info(enum isa_sreg sreg);

static inline bool isa_has(const struct isa_inst *i, enum isa_mod mod)
{
    for (unsigned k = 0; k < i->n_mods; k++)
        if (i->mod[k] == mod)
            return true;
    return false;
}

/* Does it name a rounding of floats (.rn, .rz, .rm, .rp)? */
static inline bool isa_rounds(const struct isa_inst *i)
{
    return isa_has(i, MOD_rn) || isa_has(i, MOD_rz) || isa_has(i, MOD_rm) || isa_has(i, MOD_rp);
}

/* The modifier of the set `slot` that stands in `i`, or MOD_none. */
enum isa_mod isa_pick(const struct isa *isa, const struct isa_inst *i, enum isa_slot slot);

/* The type an operand is held to. */
enum isa_type isa_operand_type(const struct isa_inst *i, const struct isa_operand *o);

/* An entry of directives.def. */
struct isa_directive {
    const char *name;
    enum { OF_KERNELS = 1, OF_FUNCTIONS = 2, OF_BOTH = 3 } of;
    uint8_t least, most; /* numbers that it takes */
    struct isa_need need;
};
/* The directive without its dot, or NULL. */
const struct isa_directive *isa_directive_by_name(struct str name);

/* The version from which on `.target` may name it; 0 where there is no such target. */
uint16_t isa_target_since(struct str name);
/* Was there a PTX version 10 * major + minor? */
bool isa_version_exists(unsigned ptx);
/* Does it come after all that these tables know? */
bool isa_version_is_newer(unsigned ptx);

/* Does a module of this version and target satisfy the need? */
static inline bool isa_need_met(struct isa_need need, unsigned ptx, struct isa_target target)
{
    return ptx >= need.ptx && target.sm >= need.sm && (!need.arch || target.suffix || need.sm < target.sm);
}

#endif

/* A PTX module as data: what the parser makes, the verifier checks, the printer writes and ir/
 * reads.
 *
 * Everything lives in the module's arena. Names are views into the source text, which must outlive
 * the module. Constant expressions are already values here, parametrised names (%r<100>) one
 * declaration, and initialisers the bytes that they stand for. Sections quoted are those of the PTX
 * ISA.
 */
#ifndef HEDDLE_PTX_MODULE_H
#define HEDDLE_PTX_MODULE_H

#include "base/diag.h"
#include "base/map.h"
#include "heddle.h"
#include "isa/isa.h"

/* SPACE_TEX is the textures of PTX before 1.5 (5.1.8): names without memory of the machine. */
enum ptx_space {
    SPACE_GENERIC,
    SPACE_REG,
    SPACE_GLOBAL,
    SPACE_CONST,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_TEX
};

enum ptx_linkage { LINK_STATIC, LINK_EXTERN, LINK_VISIBLE, LINK_WEAK, LINK_COMMON };

/* Things with a name. The kind tells which struct below this one starts. */
enum ptx_symbol_kind { SYMBOL_VAR, SYMBOL_FUNC, SYMBOL_LABEL, SYMBOL_TABLE, SYMBOL_REG };

struct ptx_symbol {
    enum ptx_symbol_kind kind;
    struct str name;
    uint32_t offset; /* in the source text */
};

/* An address in an initialiser (5.4.4): its low 8 * bytes bits, shifted right by `shift`, stand at
 * `at`. */
struct ptx_reloc {
    uint64_t at;
    uint8_t bytes, shift;
    bool generic; /* generic(symbol) */
    struct ptx_symbol *symbol;
    int64_t addend;
};

/* Variables and parameters (5.4, 5.1.6). */
struct ptx_var {
    struct ptx_symbol symbol;
    enum ptx_space space;
    enum ptx_linkage linkage;
    enum isa_type type;
    uint8_t vector; /* 1, 2, 4 or 8 */
    uint32_t align; /* as written or natural */
    bool align_written;
    bool unsized; /* the first dimension is open: [] */
    uint8_t n_dims;
    uint64_t *dims;
    uint64_t size; /* bytes; 0 where unsized */
    bool managed, unified, grid_constant;
    uint64_t unified_id[2];
    /* .ptr of kernel parameters */
    bool pointer;
    enum ptx_space pointer_space; /* SPACE_GENERIC where not said */
    uint32_t pointer_align;       /* 0 where not said */
    /* initialiser: the first init_bytes bytes; the rest is zero */
    uint8_t *init;
    uint64_t init_bytes;
    VEC(struct ptx_reloc) relocs;
    bool initialised;
    struct ptx_func *func; /* the function it is declared in, or NULL */
    /* Among all variables and parameters that func declares, prototypes included. */
    uint32_t number;
    bool is_param;       /* one of func's inputs */
    uint64_t param_at;   /* is_param: its offset where they are packed at their alignments */
    struct ptx_reg *reg; /* the register that a parameter in .reg is */
    /* After linking: the variable that this declaration stands for, or itself. */
    struct ptx_var *definition;
    /* After loading: 1 + its index among what has an address, or 0; textures: REFERENCE. */
    uint32_t handle;
};

/* Registers: one declaration, plain or parametrised (6.4.? "Parameterized Variable Names"). */
struct ptx_reg {
    struct ptx_symbol symbol;
    enum isa_type type;
    uint8_t vector; /* 1, 2 or 4 */
    bool parametrised;
    uint32_t count; /* registers that it declares: 1 where plain */
    uint32_t first; /* number of the first in its function; vectors take `vector` numbers each */
    /* PTX before 3.0: declared outside of functions, the same in all of them, with the same number.
     * Each thread has it here, in .local. */
    struct ptx_var *storage;
};

struct ptx_label {
    struct ptx_symbol symbol;
    bool defined;
    uint32_t stmt; /* index in the function's body */
};

/* .branchtargets, .calltargets, .callprototype (9.7.12, 11.3) */
enum ptx_table_kind { TABLE_BRANCHTARGETS, TABLE_CALLTARGETS, TABLE_CALLPROTOTYPE };

struct ptx_signature {
    VEC(struct ptx_var *) returns;
    VEC(struct ptx_var *) params;
    uint64_t param_bytes; /* of params, packed at their alignments */
    bool variadic;        /* .b8 name[] last */
    bool noreturn, abi_preserve;
};

struct ptx_table {
    struct ptx_symbol symbol;
    enum ptx_table_kind table_kind;
    VEC(struct ptx_symbol *) targets;
    struct ptx_signature signature;
};

enum ptx_operand_kind {
    OPND_NONE,
    OPND_REG,    /* reg, number, component */
    OPND_INT,    /* bits as u64; is_unsigned where written so */
    OPND_FLOAT,  /* bits of `type` f32 or f64 */
    OPND_SYMBOL, /* symbol, disp */
    OPND_SREG,   /* sreg, component */
    OPND_SINK,   /* _ */
    OPND_VECTOR, /* elems, n: {a, b} */
    OPND_PAIR,   /* elems, 2: a|b */
    /* [base + disp]: elems[0] is REG, SYMBOL or INT; n > 1: coordinates of it stand last, a
     * sampler before them. */
    OPND_MEM,
};

enum { COMPONENT_NONE = 0xff };

/* Selectors of video instructions as written behind a dot: .b0, .h1, .b3210 */
struct ptx_operand {
    uint8_t kind;
    bool negated; /* !p, or -a of vmad */
    bool is_unsigned;
    uint8_t component; /* 0..3 for .x .y .z .w, else COMPONENT_NONE */
    uint8_t n;
    uint8_t float_type;      /* OPND_FLOAT: TYPE_f32 or TYPE_f64 */
    uint32_t offset, length; /* in the source text */
    struct str selector;
    union {
        struct {
            const struct ptx_reg *reg;
            uint32_t number; /* of the register in its function */
        };
        uint64_t bits;
        struct ptx_symbol *symbol;
        uint32_t sreg; /* enum isa_sreg; envreg and other numbered ones in sreg_index */
        struct ptx_operand *elems;
    };
    /* OPND_SYMBOL, OPND_MEM, OPND_REG (reg + 4); for OPND_SREG the number in the name
     * (%envreg3). */
    int64_t disp;
};

static inline bool ptx_is_vector_register(const struct ptx_operand *o)
{
    return o->kind == OPND_REG && o->reg->vector > 1 && o->component == COMPONENT_NONE;
}

static inline bool ptx_is_list(const struct ptx_operand *o)
{
    return o->kind == OPND_VECTOR || ptx_is_vector_register(o);
}

/* Of how many values an operand is: those in braces, or the elements of a vector register that
 * stands whole (5.4.2). */
static inline unsigned ptx_n_elements(const struct ptx_operand *o)
{
    return o->kind == OPND_VECTOR ? o->n : ptx_is_vector_register(o) ? o->reg->vector : 1;
}

/* Element k of an operand; a special register has components, and what is one value is all
 * elements. */
static inline struct ptx_operand ptx_element(const struct ptx_operand *o, unsigned k)
{
    if (o->kind == OPND_VECTOR)
        return o->elems[k < o->n ? k : 0];
    struct ptx_operand e = *o;
    bool components = o->kind == OPND_SREG && isa_sreg_info((enum isa_sreg)o->sreg)->components > 1;
    if (ptx_is_vector_register(o) || (components && o->component == COMPONENT_NONE))
        e.component = (uint8_t)k;
    return e;
}

/* call (returns), callee, (args), table */
struct ptx_call {
    struct ptx_operand *returns, *args;
    uint32_t n_returns, n_args;
    struct ptx_operand callee;
    struct ptx_symbol *table; /* a struct ptx_table, or NULL */
};

struct ptx_insn {
    const struct isa_inst *inst;
    uint32_t offset, length; /* of the opcode, in the source text */
    uint8_t n_operands;
    /* keeps_rolled: a loop whose head has it, by .pragma "nounroll" (23.1). */
    bool guard_negated, keeps_rolled;
    const struct ptx_reg *guard; /* or NULL */
    uint32_t guard_number;
    struct ptx_operand *operands;
    struct ptx_call *call;    /* KIND_CALL */
    struct ptx_symbol *table; /* KIND_BRX */
    struct str raw;           /* inst->open: the operands as written */
};

/* .loc file line column {, function_name label {+ disp}, inlined_at file line column} (11.5.3) */
struct ptx_loc {
    uint32_t file, line, column;
    bool inlined;
    struct str function_name; /* label of .debug_str */
    int64_t function_disp;
    uint32_t at_file, at_line, at_column;
    /* The .loc of that place that is meant, where the text has it before this one; else NULL. */
    const struct ptx_loc *at;
};

enum ptx_stmt_kind {
    STMT_INSN,
    STMT_LABEL,
    STMT_REG,
    STMT_VAR,
    STMT_OPEN,
    STMT_CLOSE,
    STMT_LOC,
    STMT_PRAGMA,
    STMT_TABLE,
};

struct ptx_stmt {
    enum ptx_stmt_kind kind;
    union {
        struct ptx_insn *insn;
        struct ptx_label *label;
        struct ptx_reg *reg;
        struct ptx_var *var;
        struct ptx_loc *loc;
        struct str *pragma; /* its strings, from behind the first quote to before the last */
        struct ptx_table *table;
    };
};

/* A performance or other directive between a function's parameters and
 * its body: .maxntid 256, 1, 1 */
struct ptx_directive {
    struct str name; /* without the dot; in the source text */
    uint32_t n;
    uint64_t value[3];
    struct str text; /* .pragma: its strings, from behind the first quote to before the last */
};

struct ptx_func {
    struct ptx_symbol symbol;
    bool entry, has_body;
    uint32_t body_offset; /* has_body: of its first brace in the text */
    enum ptx_linkage linkage;
    struct ptx_signature signature;
    VEC(struct ptx_directive) directives;
    VEC(struct ptx_stmt) body;
    VEC(struct ptx_reg *) regs;
    uint32_t n_registers; /* numbers that regs take, and before them the module's so far */
    uint32_t n_vars;      /* numbers that variables take */
    struct ptx_module *module;
    struct ptx_func *alias_of;   /* .alias */
    struct ptx_func *definition; /* after linking; itself where it has a body */
    uint32_t handle;             /* after linking: its index in ptx_image.functions */
};

enum ptx_item_kind { ITEM_VAR, ITEM_FUNC, ITEM_FILE, ITEM_SECTION, ITEM_ALIAS, ITEM_PRAGMA, ITEM_REG };

struct ptx_file {
    uint32_t index;
    struct str name; /* without quotes */
    bool has_time;
    uint64_t time, size;
};

struct ptx_item {
    enum ptx_item_kind kind;
    union {
        struct ptx_var *var;
        struct ptx_func *func;
        struct ptx_file *file;
        struct str *text;       /* section: from the name to the closing brace; pragma */
        struct ptx_func *alias; /* the function that is an alias */
        struct ptx_reg *reg;
    };
};

struct ptx_module {
    struct arena *arena;
    struct isa *isa;
    const struct source *source;
    uint16_t version; /* 10 * major + minor */
    struct isa_target target;
    VEC(struct str) target_words; /* all words of .target */
    /* .pragma "nounroll" stands outside of functions: it holds for all loops. */
    bool keeps_rolled;
    uint8_t address_bits;       /* 64 or 32, or 0 where the module does not say: then 64 */
    VEC(struct ptx_item) items; /* in the order of the text */
    uint32_t n_registers;       /* numbers that registers outside of functions take */
    struct map files;           /* struct ptx_file by the bytes of its index; the first of each */
};

static inline struct place ptx_place(const struct ptx_module *m, uint32_t offset, uint32_t length)
{
    return (struct place){m->source, offset, length, NULL};
}

/* The last of a function's directives of that name, or NULL; the product of its numbers, at most
 * UINT32_MAX. */
const struct ptx_directive *ptx_directive(const struct ptx_func *f, const char *name);
uint32_t ptx_product(const struct ptx_directive *d);

/* The line of CUDA C that a .loc names, with those of the calls that are inlined there, in the
 * arena; NULL where it names none. */
const struct cuda_place *ptx_cuda_place(const struct ptx_module *m, const struct ptx_loc *loc, struct arena *arena);
/* The .loc of the first instruction with a line that uses what the load, the function's statement
 * `load`, has loaded; NULL where there is none. LLVM gives line 0 to a load that it moves out of a
 * loop: its line is where its value is used. */
const struct ptx_loc *ptx_loc_of_use(const struct ptx_func *f, uint32_t load);

/* What the function that is called takes and gives, or what its prototype or list of targets says;
 * NULL where neither does. */
const struct ptx_signature *ptx_signature_of(const struct ptx_call *c);

/* The text after `type`'s dot, e.g. for messages. */
const char *ptx_space_name(enum ptx_space space);

/* Reads a module. Diagnostics go to `diags`; where there are errors the module is not to be used
 * further. Returns NULL only where nothing could be read. */
struct ptx_module *ptx_parse(struct arena *arena, const struct source *source, struct diags *diags);

/* Checks what the syntax leaves open: types, widths, state spaces, versions and targets, operand
 * counts. */
void ptx_verify(const struct ptx_module *m, struct diags *diags);

/* The module as PTX text, in the arena. Parsing it gives an equal module. */
struct str ptx_print(const struct ptx_module *m, struct arena *arena);

/* The module's text as `code` wants it. */
struct str ptx_rewrite(const struct ptx_module *m, const hd_ptx_code *code, struct arena *arena);

/* Are two modules the same, apart from places in the text? On a difference *what says where, in
 * words. */
bool ptx_equal(const struct ptx_module *a, const struct ptx_module *b, struct arena *arena, const char **what);

#endif

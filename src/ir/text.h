/* A function as text, which HEDDLE_DUMP=ir shows and tests are written in: print.c writes it,
 * read.c reads it back; what both go by is text.c.
 *
 *     kernel NAME                       `func` where it is none
 *         frame BYTES                   of local memory, where there is some
 *         zeroed %1:32, ...             registers that may be read before they are written
 *     block 0:                          blocks in their order of execution, numbered by it
 *         %2:64 = ld.param.b64 [0]
 *         %3:1 = cmp_s32_lt %tid.x, 7
 *         @!%3 bra 2
 *         -> 1                          where lanes go on that no branch takes elsewhere
 *     block 1: loop, spins, serial 1..3 what heads a loop, and one that spins; in a serial part, from a block to before another
 *
 * A register is %NUMBER, and where it is written its width in bits stands behind it (1: a
 * predicate). An operand is a register, a special register, `_` where there is none, or a constant:
 * a number, or what is added to an address that only a launch knows (`symbol + 4`, `shared_window +
 * 0`). A constant is as wide as the operand, or says so (`7:64`).
 *
 *     [@[!]%p] [results =] LANE_FUNCTION operands [, imm N]      isa/lanes_*.def
 *     [@[!]%p] [results =] OPERATION operands                    operations.def
 *     [@[!]%p] [results =] OPERATION .SPACE[.volatile][.ORDER][.SCOPE][.nc][.OP.TYPE].b|s BITS [xN] [ADDRESS], operands
 *     [@[!]%p] [results =] PTX_OPCODE [access.SPACE.b BITS [ADDRESS],] operands     of matrices
 *
 * In one word, as in `atom.shared.relaxed.gpu.add.u32.b32 [%4 + 8], 1`. `.s32` is a load that
 * extends by the sign. `;` begins a comment, to the end of the line: there stands what analyses
 * have found out.
 *
 * What a text does not have is what only the interpreter needs: places in PTX, names of symbols,
 * whom calls call.
 */
#ifndef HEDDLE_IR_TEXT_H
#define HEDDLE_IR_TEXT_H

#include "base/diag.h"
#include "base/text.h"
#include "ir/shape.h"

/* What is written as comments, each where it is not NULL: text without a line's end, or none. */
struct ir_notes {
    const void *data;
    void (*of_function)(const void *data, struct text *t);
    void (*of_block)(const void *data, uint32_t order, struct text *t);
    /* By its number in f->insns. */
    void (*of_insn)(const void *data, uint32_t insn, struct text *t);
};

struct str ir_print(const struct ir_func *f, const struct ir_notes *notes, struct arena *arena);
/* With the shapes of results as notes: `uniform`, `lane * 4` (so much over lane 0), `divergent`, or
 * the values over lane 0, one by one. */
struct str ir_print_shapes(const struct ir_func *f, const struct ir_shapes *s, struct arena *arena);

/* The function that a text is, as ir_build() leaves it but for places of rows
 * (ir_assign_slots). NULL where it is not such a text: then the first thing that is wrong is an
 * error in `diags`. Whether the order of blocks is one in which they can be run
 * (ir_order_blocks) is not looked at. */
struct ir_func *ir_read(struct arena *arena, const struct source *source, struct diags *diags);

/* ---- what printer and reader share: text.c ---- */

struct isa_inst;
struct ir_operation {
    uint8_t kind, mode;
    const char *text, *operands, *words; /* as in operations.def */
};
/* NULL behind the last. */
const struct ir_operation *ir_operation(size_t i);
/* The one that an instruction of PTX gets, lowered to this kind; NULL where there is none. */
const struct ir_operation *ir_operation_of(enum ir_kind kind, const struct isa_inst *inst);
/* The next part of a word with dots in it. */
struct str ir_next_part(struct str *word);
/* By value; NULL behind the last. */
const char *ir_base_text(size_t base);   /* enum ir_base */
const char *ir_order_text(size_t order); /* enum ir_order */
/* What follows the `%` of a special register, as a reference numbers them. */
const char *ir_sreg_text(uint32_t sreg, struct arena *arena);

/* An operand where it stands in the text. */
struct ir_text_operand {
    char what;        /* as in operations.def; of a lane function I, its number, behind `imm` */
    uint8_t width;    /* of a constant that does not say another */
    bool is_optional; /* where it is not there, and none behind it is, it is not written */
    ir_ref *ref;      /* NULL: it is no reference */
};
/* Of an instruction whose kind, mode, lane function and kind of access are known, by the letters of
 * its operation, and how many. A matrix instruction has q, its reads, behind the access that it may
 * have; one of textures Q. */
unsigned ir_text_operands(struct ir_insn *i, const char *form, struct ir_text_operand out[IR_MAX_REFS]);
/* What may stand before the `=`. */
unsigned ir_text_results(struct ir_insn *i, ir_ref *out[FRAGMENT_MAX_REGS]);

#endif

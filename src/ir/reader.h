/* What the files that read a function's text share: read.c (functions, blocks, instructions),
 * read_operand.c (operands, accesses). Private to ir/.
 */
#ifndef HEDDLE_IR_READER_H
#define HEDDLE_IR_READER_H

#include "ir/builder.h"
#include "ir/scan.h"
#include "ir/text.h"

/* Names are numbers: more registers than any function of a test has would only cost memory. */
enum { MAX_REGISTER = 1 << 20, MAX_RESULTS = FRAGMENT_MAX_REGS };

/* A block that is named before it is known how many there are. */
struct mention {
    uint32_t at, block; /* in the text */
    bool may_be_end;    /* it is one that something ends before */
};

struct reader {
    struct scanner s;
    struct builder b; /* its function and arena: for constants */
    struct ir_func *f;
    struct arena *arena;
    struct map lanes; /* 1 + lane_id, by name */
    struct map sregs; /* 1 + what a special register is referred to as, by name */
    VEC(struct mention) mentions;
    VEC(uint32_t) seen; /* by register: 1 + where it is first named */
};

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Behind the `%`. */
uint32_t reader_sreg(struct reader *r);
ir_ref reader_operand(struct reader *r, unsigned width);
/* A register where it is written, with its width; `_` for none. */
ir_ref reader_result(struct reader *r);
/* "shared.relaxed.gpu.add.u32.b32", behind the operation */
bool reader_access(struct reader *r, struct str word, struct ir_insn *i);
bool reader_address(struct reader *r, struct ir_insn *i);
/* Passes the next part of a word if it is the one. */
bool reader_part_is(struct str *word, const char *text);

#endif

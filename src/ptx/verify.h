/* What the files of the verifier share: verify.c (modules, declarations, bodies), verify_insn.c
 * (instructions), verify_call.c, verify_matrix.c (calls, matrix instructions), verify_operand.c
 * (operands against what a form of isa/ops.def says), verify_need.c (versions and targets). Private
 * to ptx/.
 *
 * Functions report what is wrong and go on, so that one run finds several errors.
 */
#ifndef HEDDLE_PTX_VERIFY_H
#define HEDDLE_PTX_VERIFY_H

#include "ptx/module.h"

struct verifier {
    const struct ptx_module *m;
    struct diags *diags;
    const struct ptx_func *func; /* whose body is being checked */
    const struct ptx_insn *insn;
};

/* Of v->insn. */
static inline struct place insn_place(const struct verifier *v)
{
    return ptx_place(v->m, v->insn->offset, v->insn->length);
}

void verify_insn(struct verifier *v, const struct ptx_insn *insn);

void verify_matrix(struct verifier *v);  /* v->insn, of KIND_MATRIX */
void verify_texture(struct verifier *v); /* of KIND_TEXTURE */
void verify_call(struct verifier *v);    /* a call, */

/* An operand of v->insn against its entry. `relaxed`: wider registers will do, as in ld, st and cvt
 * (9.4.1). */
void verify_operand(struct verifier *v, const struct ptx_operand *o, const struct isa_operand *spec, bool relaxed);
/* [address] of an instruction that accesses `space`. */
void verify_address(struct verifier *v, const struct ptx_operand *o, enum ptx_space space);
/* Operands of v->insn, a mov of vectors. */
void verify_vector_mov(struct verifier *v);
/* A register, constant or address of type `want`. */
void verify_source(struct verifier *v, const struct ptx_operand *o, enum isa_type want, bool relaxed);
void verify_destination(struct verifier *v, const struct ptx_operand *o, enum isa_type want, bool relaxed);
/* May a register of this type, or this register, stand where a type is wanted? */
bool types_fit(enum isa_type have, enum isa_type want, bool relaxed);
bool register_fits(const struct ptx_reg *r, enum isa_type want, bool relaxed);

/* The operand as the user wrote it. */
struct str operand_text(const struct verifier *v, const struct ptx_operand *o);
/* An error at an operand of v->insn. */
void operand_error(struct verifier *v, const struct ptx_operand *o, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports where the module's version or target is below what `what` needs. */
void verify_need(struct verifier *v, struct place at, const char *what, struct isa_need need);

#endif

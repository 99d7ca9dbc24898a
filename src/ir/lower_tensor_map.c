/* Changes of tensor maps (PTX ISA 9.7.9.28, tensormap.replace) and copies to global memory
 * (tensormap.cp_fenceproxy), as loads and stores of bytes (isa/tensor_map.h); see builder.h. */
#include "ir/builder.h"
#include "isa/lane_ids.h"
#include "isa/tensor_map.h"

#include <stddef.h>

static const struct field {
    enum isa_mod word;
    uint16_t offset;
    uint8_t bytes, less; /* bytes of an element */
    uint64_t mask;
} fields[] = {
#define FIELD(name, elements, less, mask, greatest)                                                                    \
    {MOD_##name, offsetof(struct tensor_map_bytes, name), sizeof((struct tensor_map_bytes *)NULL)->name / (elements),  \
     less, mask},
#include "isa/tensor_map.def"
};

static const struct field *field_of(const struct isa_inst *inst)
{
    const struct field *f = fields;
    while (!isa_has(inst, f->word))
        f++;
    return f;
}

static void store(struct builder *b, unsigned offset, unsigned bytes, ir_ref value)
{
    struct ir_access *a = ir_new_access(b, lower_space(b, b->insn->inst), bytes, 1);
    ir_ref base = lower_place(b, &b->insn->operands[0], a);
    lower_displace(a, offset);
    a->regs[0] = value;
    ir_emit_access(b, IR_ST, base, a);
}

static ir_ref number(struct builder *b, unsigned bytes, uint64_t n)
{
    return ir_const_of(b, bytes == 1 ? 16 : 8 * bytes, n);
}

static void lower_elemtype(struct builder *b, unsigned number_of_type)
{
    struct tensor_map_type type = tensor_map_type_of(number_of_type);
    store(b, offsetof(struct tensor_map_bytes, elemtype), 1, number(b, 1, type.elemtype));
    if (type.tf32)
        store(b, offsetof(struct tensor_map_bytes, tf32), 1, number(b, 1, 1));
}

static void lower_field(struct builder *b, const struct field *f)
{
    const struct ptx_insn *in = b->insn;
    enum isa_type type = (enum isa_type)in->inst->type[0];
    unsigned width = isa_type_bits(type), element = in->n_operands > 2 ? (unsigned)in->operands[1].bits : 0;
    ir_ref value = ir_source(b, &in->operands[in->n_operands - 1], type);
    ir_ref less = ir_const_of(b, width, -(uint64_t)f->less), mask = ir_const_of(b, width, f->mask);
    value = ir_lanes(b, LANE_AS_WIDE(add, width), value, less, REF_NONE);
    value = ir_lanes(b, LANE_AS_WIDE(and, width), value, mask, REF_NONE);
    store(b, f->offset + element * f->bytes, f->bytes, ir_resize(b, value, f->bytes == 1 ? 16 : width, false));
}

static void lower_replace(struct builder *b)
{
    const struct ptx_insn *in = b->insn;
    if (isa_has(in->inst, MOD_elemtype))
        lower_elemtype(b, (unsigned)in->operands[1].bits);
    else
        lower_field(b, field_of(in->inst));
    store(b, offsetof(struct tensor_map_bytes, mark), 8, number(b, 8, TENSOR_MAP_MARK));
}

/* All lanes copy the same bytes. */
static void lower_copy(struct builder *b)
{
    enum { PART = 16 };
    for (unsigned at = 0; at < TENSOR_MAP_BYTES; at += PART) {
        struct ir_access *from = ir_new_access(b, SPACE_SHARED, 8, PART / 8);
        struct ir_access *to = ir_new_access(b, SPACE_GLOBAL, 8, PART / 8);
        ir_ref source = lower_place(b, &b->insn->operands[1], from), place = lower_place(b, &b->insn->operands[0], to);
        lower_displace(from, at);
        lower_displace(to, at);
        for (unsigned k = 0; k < PART / 8; k++)
            to->regs[k] = from->regs[k] = ir_temp(b, 64);
        ir_emit_access(b, IR_LD, source, from);
        ir_emit_access(b, IR_ST, place, to);
    }
    ir_emit_guarded(b, IR_FENCE)->imm = ORDER_ACQ_REL;
}

void lower_tensor_map(struct builder *b)
{
    if (isa_has(b->insn->inst, MOD_replace))
        lower_replace(b);
    else
        lower_copy(b);
}

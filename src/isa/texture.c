/* Instructions of textures and surfaces; see texture.h. */
#include "isa/texture.h"

#include "isa/opcodes.h"

static enum texture_shape shape_of(enum isa_mod geometry)
{
    switch (geometry) {
    case MOD_d2: return SHAPE_2D;
    case MOD_d3: return SHAPE_3D;
    case MOD_a1d: return SHAPE_LAYERED_1D;
    case MOD_a2d: return SHAPE_LAYERED_2D;
    case MOD_cube: return SHAPE_CUBE;
    case MOD_acube: return SHAPE_LAYERED_CUBE;
    default: return SHAPE_1D;
    }
}

static enum texture_lod lod_of(const struct isa_inst *inst)
{
    return isa_has(inst, MOD_base)    ? LOD_BASE
           : isa_has(inst, MOD_level) ? LOD_LEVEL
           : isa_has(inst, MOD_grad)  ? LOD_GRADIENTS
                                      : LOD_NONE;
}

static unsigned channel_of(enum isa_mod component)
{
    return component == MOD_g ? 1 : component == MOD_b ? 2 : component == MOD_a ? 3 : 0;
}

static enum texture_op op_of(isa_op op)
{
    switch (op) {
    case OP_tld4: return TEXTURE_GATHER;
    case OP_txq:
    case OP_suq: return TEXTURE_QUERY;
    case OP_istypep: return TEXTURE_TEST;
    case OP_suld: return SURFACE_LOAD;
    case OP_sust: return SURFACE_STORE;
    case OP_sured: return SURFACE_REDUCE;
    default: return TEXTURE_READ;
    }
}

struct texture_form texture_form_of(const struct isa *isa, const struct isa_inst *inst)
{
    struct texture_form f = {.op = (uint8_t)op_of(inst->op),
                             .shape = (uint8_t)shape_of(isa_pick(isa, inst, SLOT_GEOMETRY)),
                             .lod = (uint8_t)lod_of(inst),
                             .type = inst->type[0],
                             .n = isa_has(inst, MOD_v2)   ? 2
                                  : isa_has(inst, MOD_v4) ? 4
                                                          : 1,
                             .query = (uint8_t)isa_pick(isa, inst, SLOT_QUERY),
                             .formatted = isa_has(inst, MOD_p),
                             .is_surface = inst->op >= OP_suld && inst->op <= OP_suq};
    f.by_integers = f.op >= SURFACE_LOAD || inst->type[1] == TYPE_s32;
    f.bounds = isa_has(inst, MOD_clamp) ? BOUNDS_CLAMP : isa_has(inst, MOD_zero) ? BOUNDS_ZERO : BOUNDS_TRAP;
    if (f.op == TEXTURE_GATHER)
        f.channel = (uint8_t)channel_of(isa_pick(isa, inst, SLOT_COMPONENT));
    if (f.op == TEXTURE_TEST)
        f.query = inst->type[0];
    return f;
}

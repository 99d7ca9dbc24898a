/* Instructions of textures and surfaces taken apart (PTX ISA 9.7.10, 9.7.11): what a use reads,
 * asks for or writes. The verifier counts operands by it, lowering finds them, the engine does what
 * it says (exec/texture.c, by texture/sample.h).
 */
#ifndef HEDDLE_ISA_TEXTURE_H
#define HEDDLE_ISA_TEXTURE_H

#include "isa/isa.h"

enum texture_op {
    TEXTURE_READ,   /* tex */
    TEXTURE_GATHER, /* tld4 */
    TEXTURE_QUERY,  /* txq, suq */
    TEXTURE_TEST,   /* istypep */
    SURFACE_LOAD,   /* suld */
    SURFACE_STORE,  /* sust */
    SURFACE_REDUCE, /* sured */
};

/* Of an instruction and of what it reads. */
enum texture_shape {
    SHAPE_1D,
    SHAPE_2D,
    SHAPE_3D,
    SHAPE_LAYERED_1D,
    SHAPE_LAYERED_2D,
    SHAPE_CUBE,
    SHAPE_LAYERED_CUBE,
    SHAPE_BUFFER /* linear memory, by integers alone; of no instruction */
};

/* How a read chooses levels (9.7.10.3). */
enum texture_lod { LOD_NONE, LOD_BASE, LOD_LEVEL, LOD_GRADIENTS };

/* What is done outside of a surface (9.7.11.1): the launch ends, the nearest texel is taken, or 0
 * is read and nothing written. */
enum surface_bounds { BOUNDS_TRAP, BOUNDS_CLAMP, BOUNDS_ZERO };

struct texture_form {
    uint8_t op;       /* enum texture_op */
    uint8_t shape;    /* enum texture_shape */
    uint8_t lod;      /* enum texture_lod; of a query LOD_LEVEL where it names a level */
    uint8_t type;     /* enum isa_type of a result or value */
    uint8_t n;        /* registers of results, or values */
    uint8_t channel;  /* TEXTURE_GATHER: 0 to 3 */
    uint8_t query;    /* enum isa_mod: MOD_width, ...; TEXTURE_TEST: enum isa_type */
    uint8_t bounds;   /* enum surface_bounds */
    bool by_integers; /* coordinates */
    bool formatted;   /* sust.p, sured.p: values are converted to the surface's format */
    bool is_surface;
};

struct texture_form texture_form_of(const struct isa *isa, const struct isa_inst *inst);

/* Of memory. */
static inline bool texture_writes(const struct texture_form *f)
{
    return f->op == SURFACE_STORE || f->op == SURFACE_REDUCE;
}
static inline bool texture_reads(const struct texture_form *f)
{
    return f->op <= TEXTURE_GATHER || f->op == SURFACE_LOAD || f->op == SURFACE_REDUCE;
}

static inline bool shape_is_layered(enum texture_shape shape)
{
    return shape == SHAPE_LAYERED_1D || shape == SHAPE_LAYERED_2D || shape == SHAPE_LAYERED_CUBE;
}
static inline bool shape_is_cube(enum texture_shape shape)
{
    return shape == SHAPE_CUBE || shape == SHAPE_LAYERED_CUBE;
}
/* x, y, z; of cubes the direction's three. */
static inline unsigned shape_coordinates(enum texture_shape shape)
{
    return shape == SHAPE_1D || shape == SHAPE_LAYERED_1D || shape == SHAPE_BUFFER ? 1
           : shape == SHAPE_2D || shape == SHAPE_LAYERED_2D                        ? 2
                                                                                   : 3;
}

#endif

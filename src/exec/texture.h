/* Instructions of textures and surfaces, ready to run (PTX ISA 9.7.10, 9.7.11): which descriptor a
 * lane names, whether what it reads is there, and where results go. What a read gives is the
 * texture unit's business (texture/sample.h). Private to exec/.
 */
#ifndef HEDDLE_EXEC_TEXTURE_H
#define HEDDLE_EXEC_TEXTURE_H

#include "exec/warp.h"
#include "ir/ir.h"

struct op_texture {
    const struct ir_texture *ir;
    row_ref reads[IR_TEXTURE_READS], writes[IR_TEXTURE_WRITES];
    uint8_t write_width[IR_TEXTURE_WRITES]; /* 0: nobody wants it */
};

/* False after a fault. */
bool texture_run(struct warp *w, uint8_t *const base[4], const struct op *o, uint32_t mask);

#endif

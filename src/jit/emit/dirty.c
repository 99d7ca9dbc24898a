/* Which registers are clean where code is being emitted; see emit.h, dirty_registers.c. */
#include "jit/emit/emit.h"

#include <string.h>

void start_clean(struct emit *e, uint32_t block)
{
    memcpy(e->clean, dirty_sets(e, block), dirty_words(e) * sizeof *e->clean);
}

void start_dirty(struct emit *e)
{
    memset(e->clean, 0, dirty_words(e) * sizeof *e->clean);
}

bool is_clean(const struct emit *e, uint32_t reg)
{
    uint32_t n = e->shapes->live.number[reg];
    return n && ir_in_set(e->clean, n - 1);
}

bool is_spare_clean(const struct emit *e, uint32_t reg)
{
    uint32_t n = e->shapes->live.number[reg];
    return n && ir_in_set(e->clean + e->shapes->live.words, n - 1);
}

void note_dirty(struct emit *e, uint32_t reg)
{
    dirty_clear(e, e->clean, ir_make_ref(REF_REG, reg));
}

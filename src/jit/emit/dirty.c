/* The clean registers at the current position; see emit.h, dirty_registers.c. */
#include "jit/emit/emit.h"

#include <string.h>

void dirty_begin(struct emit *e, uint64_t *clean_in)
{
    e->clean_in = clean_in;
    e->clean = ARENA_ARRAY(e->arena, uint64_t, dirty_words(e->fn));
}

void dirty_start_clean(struct emit *e, uint32_t block)
{
    memcpy(e->clean, e->clean_in + (size_t)block * dirty_words(e->fn), dirty_words(e->fn) * sizeof *e->clean);
}

void dirty_start_all(struct emit *e)
{
    memset(e->clean, 0, dirty_words(e->fn) * sizeof *e->clean);
}

void dirty_start_spilled(struct emit *e, uint32_t block)
{
    uint32_t words = e->fn->shapes->live.words;
    for (uint32_t w = 0; w < dirty_words(e->fn); w++)
        e->clean[w] = live_in(e->fn, block)[w % words] | live_out(e->fn, block)[w % words];
}

bool dirty_is_clean(const struct emit *e, uint32_t reg)
{
    return live_has(e->fn, e->clean, ir_make_ref(REF_REG, reg));
}

bool dirty_is_seed_clean(const struct emit *e, uint32_t reg)
{
    return live_has(e->fn, e->clean + e->fn->shapes->live.words, ir_make_ref(REF_REG, reg));
}

void dirty_note(struct emit *e, uint32_t reg)
{
    dirty_clear(e->fn, e->clean, ir_make_ref(REF_REG, reg));
}

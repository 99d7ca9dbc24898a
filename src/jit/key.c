/* What compiled code depends on, as a number of 128 bits: see cache.h. */
#include <dlfcn.h>
#include <sys/stat.h>

#include "jit/cache.h"

static void mix(struct cache_key *k, uint64_t v)
{
    static const uint64_t odd[2] = {0x9E3779B97F4A7C15u, 0xC2B2AE3D27D4EB4Fu};
    for (int i = 0; i < 2; i++) {
        uint64_t h = (k->at[i] ^ v) * odd[i];
        k->at[i] = (h ^ h >> 29) + 0x165667B19E3779F9u * (uint64_t)(i + 1);
    }
}

static void mix_text(struct cache_key *k, const char *s)
{
    for (; *s; s++)
        mix(k, (uint8_t)*s);
    mix(k, 256);
}

static void mix_file(struct cache_key *k, const char *path)
{
    struct stat s = {0};
    if (path && stat(path, &s) == 0) {
        mix(k, (uint64_t)s.st_size);
        mix(k, (uint64_t)s.st_mtim.tv_sec);
        mix(k, (uint64_t)s.st_mtim.tv_nsec);
    }
}

static void mix_access(struct cache_key *k, const struct ir_access *a)
{
    uint64_t fields[] = {a->space,       a->frame,    a->bytes, a->n,    a->sign,           a->order,     a->scope,
                         a->is_volatile, a->is_const, a->atom,  a->type, (uint64_t)a->disp, a->disp_const};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        mix(k, fields[i]);
    for (unsigned i = 0; i < 8; i++) {
        mix(k, a->regs[i]);
        mix(k, a->operands[i]);
    }
}

static void mix_insn(struct cache_key *k, const struct ir_insn *i, const struct op *o)
{
    uint64_t fields[] = {i->kind, i->guard_negated, i->lane, i->guard, i->d, i->e, i->a, i->b, i->c, i->f, i->imm};
    for (size_t n = 0; n < sizeof fields / sizeof fields[0]; n++)
        mix(k, fields[n]);
    uint64_t places[] = {o->kind, o->mode, o->target, o->next, o->guard, o->d, o->e, o->a, o->b, o->c, o->f};
    for (size_t n = 0; n < sizeof places / sizeof places[0]; n++)
        mix(k, places[n]);
    if (i->kind == IR_LD || i->kind == IR_ST || i->kind == IR_ATOM)
        mix_access(k, i->access);
    for (uint32_t n = 0; i->kind == IR_BRX && n < o->n_targets; n++)
        mix(k, o->targets[n]);
    if (i->kind == IR_CALL)
        mix(k, i->call->syscall);
}

static void mix_function(struct cache_key *k, const struct code *c)
{
    const struct ir_func *f = c->ir;
    mix(k, f->func->entry);
    mix(k, c->frame_bytes);
    for (uint32_t r = 1; r < f->regs.n; r++)
        mix(k, (uint64_t)f->regs.at[r].width << 32 | f->regs.at[r].slot);
    for (uint32_t r = 1; r < f->consts.n; r++) {
        const struct ir_const *x = &f->consts.at[r];
        mix(k, x->width);
        mix(k, x->base);
        mix(k, x->lo);
        mix(k, x->hi);
    }
    for (uint32_t z = 0; z < f->zeroed.n; z++)
        mix(k, f->zeroed.at[z]);
    for (uint32_t b = 0; b < f->n_ordered; b++) {
        const struct ir_block *block = &f->blocks.at[f->order[b]];
        mix(k, (uint64_t)block->n << 1 | c->blocks[b].spins);
        mix(k, c->blocks[b].first);
        for (uint32_t n = 0; n < block->n; n++)
            mix_insn(k, &f->insns.at[block->first + n], &c->ops[c->blocks[b].first + n]);
        mix(k, c->ops[c->blocks[b].first + (block->n ? block->n - 1 : 0)].next);
    }
}

struct cache_key cache_key(const struct kernel *kernel, const uint32_t block[3], const char *level, const char *plugin)
{
    struct cache_key k = {{1, 2}};
    Dl_info self;
    mix_text(&k, HEDDLE_VERSION);
    mix(&k, JIT_LAYOUT);
    mix_text(&k, level);
    mix_file(&k, plugin);
    mix_file(&k, dladdr((void *)(uintptr_t)cache_key, &self) ? self.dli_fname : NULL);
    for (int i = 0; i < 3; i++)
        mix(&k, block[i]);
    mix(&k, kernel->param_bytes);
    for (uint32_t i = 0; i < kernel->functions.n; i++)
        mix_function(&k, kernel->functions.at[i]);
    return k;
}

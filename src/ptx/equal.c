/* Are two modules the same, apart from places in the text? See module.h. Names are compared, not
 * addresses: what a name stands for is compared where it is declared. */
#include "ptx/module.h"

struct comparison {
    struct arena *arena;
    const char *what;    /* the first difference */
    struct str in, part; /* the function, what of it */
};

static bool differ(struct comparison *c, const char *what)
{
    if (!c->what)
        c->what = c->in.n ? arena_printf(c->arena, "`%.*s`: %s (`%.*s`)", STR_ARG(c->in), what, STR_ARG(c->part))
                          : arena_printf(c->arena, "%s (`%.*s`)", what, STR_ARG(c->part));
    return false;
}

static bool same_name(const struct ptx_symbol *a, const struct ptx_symbol *b)
{
    if (!a || !b)
        return a == b;
    return a->kind == b->kind && str_eq(a->name, b->name);
}

/* Are the elements of two arrays of as many, of `size` bytes each, the same? */
typedef bool same_fn(struct comparison *c, const void *a, const void *b);
static bool same_each(struct comparison *c, const void *a, const void *b, uint32_t n, size_t size, same_fn *same)
{
    for (uint32_t i = 0; i < n; i++)
        if (!same(c, (const char *)a + i * size, (const char *)b + i * size))
            return false;
    return true;
}

#define SAME_EACH(c, a, b, same) same_each((c), (a).at, (b).at, (a).n, sizeof *(a).at, (same))

/* ---- variables ---- */

static uint8_t byte_at(const struct ptx_var *v, uint64_t i)
{
    return i < v->init_bytes ? v->init[i] : 0;
}

static bool same_reloc(struct comparison *c, const void *x, const void *y)
{
    const struct ptx_reloc *a = x, *b = y;
    bool same = a->at == b->at && a->bytes == b->bytes && a->shift == b->shift && a->generic == b->generic &&
                a->addend == b->addend && same_name(a->symbol, b->symbol);
    return same || differ(c, "another address in the initialiser");
}

static bool same_initialiser(struct comparison *c, const struct ptx_var *a, const struct ptx_var *b)
{
    uint64_t n = a->init_bytes > b->init_bytes ? a->init_bytes : b->init_bytes;
    for (uint64_t i = 0; i < n; i++)
        if (byte_at(a, i) != byte_at(b, i))
            return differ(c, "another initial value");
    if (a->relocs.n != b->relocs.n)
        return differ(c, "another number of addresses in the initialiser");
    return SAME_EACH(c, a->relocs, b->relocs, same_reloc);
}

static bool same_var(struct comparison *c, const struct ptx_var *a, const struct ptx_var *b)
{
    c->part = a->symbol.name;
    if (!same_name(&a->symbol, &b->symbol))
        return differ(c, "another name");
    if (a->space != b->space || a->linkage != b->linkage || a->type != b->type || a->vector != b->vector)
        return differ(c, "another type, state space or linkage");
    if (a->align != b->align || a->align_written != b->align_written || a->unsized != b->unsized || a->size != b->size)
        return differ(c, "another size or alignment");
    if (a->n_dims != b->n_dims || (a->n_dims && memcmp(a->dims, b->dims, a->n_dims * sizeof *a->dims)))
        return differ(c, "other dimensions");
    if (a->managed != b->managed || a->unified != b->unified ||
        memcmp(a->unified_id, b->unified_id, sizeof a->unified_id))
        return differ(c, "other attributes");
    if (a->pointer != b->pointer || a->pointer_space != b->pointer_space || a->pointer_align != b->pointer_align)
        return differ(c, "another .ptr");
    return a->initialised == b->initialised ? same_initialiser(c, a, b) : differ(c, "an initialiser");
}

static bool same_parameter(struct comparison *c, const void *x, const void *y)
{
    const struct ptx_var *const *a = x, *const *b = y;
    return same_var(c, *a, *b);
}

static bool same_signature(struct comparison *c, const struct ptx_signature *a, const struct ptx_signature *b)
{
    if (a->returns.n != b->returns.n || a->params.n != b->params.n)
        return differ(c, "another number of parameters");
    if (!SAME_EACH(c, a->returns, b->returns, same_parameter) || !SAME_EACH(c, a->params, b->params, same_parameter))
        return false;
    bool same = a->variadic == b->variadic && a->noreturn == b->noreturn && a->abi_preserve == b->abi_preserve;
    return same || differ(c, "another kind of function");
}

/* ---- instructions ---- */

static bool same_operand(const struct ptx_operand *a, const struct ptx_operand *b);

static bool same_list(const struct ptx_operand *a, const struct ptx_operand *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!same_operand(&a[i], &b[i]))
            return false;
    return true;
}

static bool same_operand(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (a->kind != b->kind || a->negated != b->negated || a->component != b->component || a->disp != b->disp ||
        !str_eq(a->selector, b->selector))
        return false;
    switch (a->kind) {
    case OPND_REG: return same_name(&a->reg->symbol, &b->reg->symbol) && a->number == b->number;
    case OPND_INT: return a->bits == b->bits;
    case OPND_FLOAT: return a->bits == b->bits && a->float_type == b->float_type;
    case OPND_SYMBOL: return same_name(a->symbol, b->symbol);
    case OPND_SREG: return a->sreg == b->sreg;
    case OPND_VECTOR:
    case OPND_PAIR:
    case OPND_MEM: return a->n == b->n && same_list(a->elems, b->elems, a->n);
    default: return true;
    }
}

static bool same_call(const struct ptx_call *a, const struct ptx_call *b)
{
    return a->n_returns == b->n_returns && a->n_args == b->n_args && same_operand(&a->callee, &b->callee) &&
           same_list(a->returns, b->returns, a->n_returns) && same_list(a->args, b->args, a->n_args) &&
           same_name(a->table, b->table);
}

static bool same_insn(struct comparison *c, const struct ptx_insn *a, const struct ptx_insn *b)
{
    c->part = a->inst->text;
    if (!str_eq(a->inst->text, b->inst->text))
        return differ(c, "another instruction");
    if (!a->guard != !b->guard || a->guard_negated != b->guard_negated ||
        (a->guard && (a->guard_number != b->guard_number || !same_name(&a->guard->symbol, &b->guard->symbol))))
        return differ(c, "another guard");
    bool same = a->n_operands == b->n_operands && same_list(a->operands, b->operands, a->n_operands) &&
                str_eq(a->raw, b->raw) && same_name(a->table, b->table) && !a->call == !b->call;
    return (same && (!a->call || same_call(a->call, b->call))) || differ(c, "other operands");
}

/* ---- statements ---- */

static bool same_target(struct comparison *c, const void *x, const void *y)
{
    const struct ptx_symbol *const *a = x, *const *b = y;
    return same_name(*a, *b) || differ(c, "another target");
}

static bool same_table(struct comparison *c, const struct ptx_table *a, const struct ptx_table *b)
{
    c->part = a->symbol.name;
    if (!same_name(&a->symbol, &b->symbol) || a->table_kind != b->table_kind || a->targets.n != b->targets.n)
        return differ(c, "another table");
    return SAME_EACH(c, a->targets, b->targets, same_target) && same_signature(c, &a->signature, &b->signature);
}

static bool same_loc(const struct ptx_loc *a, const struct ptx_loc *b)
{
    return a->file == b->file && a->line == b->line && a->column == b->column && a->inlined == b->inlined &&
           str_eq(a->function_name, b->function_name) && a->function_disp == b->function_disp &&
           a->at_file == b->at_file && a->at_line == b->at_line && a->at_column == b->at_column;
}

static bool same_reg(const struct ptx_reg *a, const struct ptx_reg *b)
{
    return same_name(&a->symbol, &b->symbol) && a->type == b->type && a->vector == b->vector &&
           a->parametrised == b->parametrised && a->count == b->count && a->first == b->first;
}

static bool same_statement(struct comparison *c, const void *x, const void *y)
{
    const struct ptx_stmt *a = x, *b = y;
    if (a->kind != b->kind)
        return differ(c, "another kind of statement");
    switch (a->kind) {
    case STMT_INSN: return same_insn(c, a->insn, b->insn);
    case STMT_LABEL: return same_name(&a->label->symbol, &b->label->symbol) || differ(c, "another label");
    case STMT_REG: c->part = a->reg->symbol.name; return same_reg(a->reg, b->reg) || differ(c, "another register");
    case STMT_VAR: return same_var(c, a->var, b->var);
    case STMT_LOC: return same_loc(a->loc, b->loc) || differ(c, "another .loc");
    case STMT_PRAGMA: return str_eq(*a->pragma, *b->pragma) || differ(c, "another .pragma");
    case STMT_TABLE: return same_table(c, a->table, b->table);
    default: return true;
    }
}

static bool same_directive(struct comparison *c, const void *x, const void *y)
{
    const struct ptx_directive *a = x, *b = y;
    bool same = str_eq(a->name, b->name) && a->n == b->n && memcmp(a->value, b->value, sizeof a->value) == 0 &&
                str_eq(a->text, b->text);
    return same || differ(c, "another directive");
}

static bool same_func(struct comparison *c, const struct ptx_func *a, const struct ptx_func *b)
{
    c->in = c->part = a->symbol.name;
    if (!same_name(&a->symbol, &b->symbol) || a->entry != b->entry || a->has_body != b->has_body ||
        a->linkage != b->linkage || a->n_registers != b->n_registers)
        return differ(c, "another function");
    if (!same_signature(c, &a->signature, &b->signature))
        return false;
    if (a->directives.n != b->directives.n || a->body.n != b->body.n)
        return differ(c, "another number of statements");
    return SAME_EACH(c, a->directives, b->directives, same_directive) && SAME_EACH(c, a->body, b->body, same_statement);
}

/* ---- modules ---- */

static bool same_file(const struct ptx_file *a, const struct ptx_file *b)
{
    return a->index == b->index && str_eq(a->name, b->name) && a->has_time == b->has_time && a->time == b->time &&
           a->size == b->size;
}

static bool same_item(struct comparison *c, const void *x, const void *y)
{
    const struct ptx_item *a = x, *b = y;
    c->in = c->part = (struct str){0};
    if (a->kind != b->kind)
        return differ(c, "another kind of item");
    switch (a->kind) {
    case ITEM_VAR: return same_var(c, a->var, b->var);
    case ITEM_FUNC: return same_func(c, a->func, b->func);
    case ITEM_REG: return same_reg(a->reg, b->reg) || differ(c, "another register");
    case ITEM_FILE: return same_file(a->file, b->file) || differ(c, "another .file");
    case ITEM_ALIAS:
        return (same_name(&a->alias->symbol, &b->alias->symbol) &&
                same_name(&a->alias->alias_of->symbol, &b->alias->alias_of->symbol)) ||
               differ(c, "another .alias");
    default: return str_eq(*a->text, *b->text) || differ(c, "another text");
    }
}

static bool same_word(struct comparison *c, const void *x, const void *y)
{
    const struct str *a = x, *b = y;
    return str_eq(*a, *b) || differ(c, "another .target");
}

static bool same_module(struct comparison *c, const struct ptx_module *a, const struct ptx_module *b)
{
    if (a->version != b->version || a->address_bits != b->address_bits || a->target_words.n != b->target_words.n)
        return differ(c, "another .version, .target or .address_size");
    if (!SAME_EACH(c, a->target_words, b->target_words, same_word))
        return false;
    if (a->items.n != b->items.n)
        return differ(c, "another number of items");
    return SAME_EACH(c, a->items, b->items, same_item);
}

bool ptx_equal(const struct ptx_module *a, const struct ptx_module *b, struct arena *arena, const char **what)
{
    struct comparison c = {.arena = arena};
    bool same = same_module(&c, a, b);
    *what = c.what;
    return same;
}

/* A module as PTX text (PTX ISA 4 to 11): what parse.c reads, the other way round; see module.h.
 *
 * Constant expressions are written as their values, initialisers in full; comments are gone. One
 * item, statement or register declaration stands on a line.
 */
#include <inttypes.h>

#include "base/text.h"
#include "ptx/module.h"

/* ---- variables ---- */

static const char *const linkages[] = {[LINK_STATIC] = "",
                                       [LINK_EXTERN] = ".extern ",
                                       [LINK_VISIBLE] = ".visible ",
                                       [LINK_WEAK] = ".weak ",
                                       [LINK_COMMON] = ".common "};

static void print_float(struct text *t, bool is_f32, uint64_t bits)
{
    if (is_f32)
        text_printf(t, "0f%08" PRIX32, (uint32_t)bits);
    else
        text_printf(t, "0d%016" PRIX64, bits);
}

/* An address within an initialiser: sym, generic(sym)+4, 0xff00(sym). */
static void print_reloc(struct text *t, const struct ptx_reloc *r)
{
    bool masked = r->bytes == 1;
    if (masked)
        text_printf(t, "0x%llx(", 0xffull << r->shift);
    text_printf(t, r->generic ? "generic(%.*s)" : "%.*s", STR_ARG(r->symbol->name));
    if (r->addend)
        text_printf(t, "+%" PRId64, r->addend);
    if (masked)
        text_puts(t, ")");
}

/* Relocations stand in the order of their places. */
static const struct ptx_reloc *reloc_at(const struct ptx_var *v, uint64_t at)
{
    uint32_t first = 0, end = v->relocs.n;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (v->relocs.at[middle].at < at)
            first = middle + 1;
        else
            end = middle;
    }
    return first < v->relocs.n && v->relocs.at[first].at == at ? &v->relocs.at[first] : NULL;
}

static void print_element(struct text *t, const struct ptx_var *v, uint64_t at, unsigned bytes)
{
    const struct ptx_reloc *r = reloc_at(v, at);
    if (r) {
        print_reloc(t, r);
        return;
    }
    uint64_t bits = 0;
    if (at < v->init_bytes)
        memcpy(&bits, v->init + at, bytes < 8 ? bytes : 8);
    if (v->type == TYPE_f32 || v->type == TYPE_f64)
        print_float(t, v->type == TYPE_f32, bits);
    else
        text_printf(t, "%" PRIu64, bits);
}

/* Braces for each dimension from `depth` on, the vector being the innermost. Returns where the next
 * value stands. */
static uint64_t print_values(struct text *t, const struct ptx_var *v, unsigned depth, uint64_t at, unsigned bytes)
{
    unsigned depths = v->n_dims + (v->vector > 1);
    if (depth == depths) {
        print_element(t, v, at, bytes);
        return at + bytes;
    }
    uint64_t n = depth < v->n_dims ? v->dims[depth] : v->vector;
    text_puts(t, "{");
    for (uint64_t i = 0; i < n && (i == 0 || at < v->init_bytes); i++) {
        text_puts(t, i ? ", " : "");
        at = print_values(t, v, depth + 1, at, bytes);
    }
    text_puts(t, "}");
    return at;
}

static void print_type(struct text *t, const struct ptx_var *v)
{
    if (v->managed)
        text_puts(t, " .attribute(.managed)");
    if (v->unified)
        text_printf(t, " .attribute(.unified(%" PRIu64 ", %" PRIu64 "))", v->unified_id[0], v->unified_id[1]);
    if (v->align_written)
        text_printf(t, " .align %u", v->align);
    if (v->vector > 1)
        text_printf(t, " .v%u", v->vector);
    text_printf(t, " .%s", isa_type_name(v->type));
    if (v->pointer)
        text_puts(t, " .ptr");
    if (v->pointer && v->pointer_space)
        text_printf(t, " .%s", ptx_space_name(v->pointer_space));
    if (v->pointer && v->pointer_align)
        text_printf(t, " .align %u", v->pointer_align);
}

/* Without linkage and semicolon. */
static void print_var(struct text *t, const struct ptx_var *v)
{
    text_printf(t, ".%s", ptx_space_name(v->space));
    print_type(t, v);
    text_printf(t, " %.*s", STR_ARG(v->symbol.name));
    for (unsigned d = 0; d < v->n_dims; d++) {
        if (d == 0 && v->unsized)
            text_puts(t, "[]");
        else
            text_printf(t, "[%" PRIu64 "]", v->dims[d]);
    }
    if (v->initialised) {
        text_puts(t, " = ");
        print_values(t, v, 0, 0, isa_type_bits(v->type) / 8);
    }
}

/* ---- operands ---- */

static void print_operand(struct text *t, const struct ptx_operand *o, bool video);

static void print_reg(struct text *t, const struct ptx_reg *r, uint32_t number)
{
    text_str(t, r->symbol.name);
    if (r->parametrised)
        text_printf(t, "%u", (number - r->first) / r->vector);
}

static void print_list(struct text *t, const struct ptx_operand *list, uint32_t n, bool video)
{
    for (uint32_t i = 0; i < n; i++) {
        text_puts(t, i ? ", " : "");
        print_operand(t, &list[i], video);
    }
}

static void print_disp(struct text *t, int64_t disp)
{
    if (disp)
        text_printf(t, "+%" PRId64, disp);
}

static void print_operand(struct text *t, const struct ptx_operand *o, bool video)
{
    if (o->negated)
        text_puts(t, video ? "-" : "!");
    switch (o->kind) {
    case OPND_REG:
        print_reg(t, o->reg, o->number);
        if (o->disp)
            text_printf(t, " + %" PRId64, o->disp);
        break;
    case OPND_INT: text_printf(t, o->is_unsigned ? "%" PRIu64 : "%" PRId64, o->bits); break;
    case OPND_FLOAT: print_float(t, o->float_type == TYPE_f32, o->bits); break;
    case OPND_SYMBOL:
        text_str(t, o->symbol->name);
        print_disp(t, o->disp);
        break;
    case OPND_SREG:
        text_printf(t, "%%%s", isa_sreg_info((enum isa_sreg)o->sreg)->name);
        if (o->sreg == SREG_envreg)
            text_printf(t, "%" PRId64, o->disp);
        break;
    case OPND_SINK: text_puts(t, "_"); break;
    case OPND_VECTOR:
        text_puts(t, "{");
        print_list(t, o->elems, o->n, video);
        text_puts(t, "}");
        break;
    case OPND_PAIR:
        print_operand(t, &o->elems[0], video);
        text_puts(t, "|");
        print_operand(t, &o->elems[1], video);
        break;
    case OPND_MEM:
        text_puts(t, "[");
        print_operand(t, o->elems, video);
        print_disp(t, o->disp);
        for (unsigned k = 1; k < o->n; k++) {
            text_puts(t, ", ");
            print_operand(t, &o->elems[k], video);
        }
        text_puts(t, "]");
        break;
    default: break;
    }
    if (o->component != COMPONENT_NONE)
        text_printf(t, ".%c", "xyzw"[o->component]);
    if (o->selector.n)
        text_printf(t, ".%.*s", STR_ARG(o->selector));
}

/* ---- statements ---- */

static void print_call(struct text *t, const struct ptx_call *c)
{
    text_puts(t, " ");
    if (c->n_returns) {
        text_puts(t, "(");
        print_list(t, c->returns, c->n_returns, false);
        text_puts(t, "), ");
    }
    print_operand(t, &c->callee, false);
    if (c->n_args || c->table) {
        text_puts(t, ", (");
        print_list(t, c->args, c->n_args, false);
        text_puts(t, ")");
    }
    if (c->table)
        text_printf(t, ", %.*s", STR_ARG(c->table->name));
}

static void print_insn(struct text *t, const struct ptx_insn *i)
{
    if (i->guard) {
        text_puts(t, i->guard_negated ? "@!" : "@");
        print_reg(t, i->guard, i->guard_number);
        text_puts(t, " ");
    }
    text_str(t, i->inst->text);
    if (i->call) {
        print_call(t, i->call);
    } else if (i->raw.n) {
        text_printf(t, " %.*s", STR_ARG(i->raw));
    } else if (i->n_operands) {
        text_puts(t, " ");
        print_list(t, i->operands, i->n_operands, i->inst->kind == KIND_VIDEO);
    }
    if (i->table)
        text_printf(t, ", %.*s", STR_ARG(i->table->name));
    text_puts(t, ";");
}

static void print_side(struct text *t, struct ptx_var *const *vars, uint32_t n)
{
    text_puts(t, "(");
    for (uint32_t i = 0; i < n; i++) {
        text_puts(t, i ? ", " : "");
        print_var(t, vars[i]);
    }
    text_puts(t, ")");
}

static void print_signature(struct text *t, const struct ptx_signature *s, struct str name)
{
    if (s->returns.n) {
        print_side(t, s->returns.at, s->returns.n);
        text_puts(t, " ");
    }
    text_str(t, name);
    print_side(t, s->params.at, s->params.n);
}

static void print_table(struct text *t, const struct ptx_table *table)
{
    static const char *const kinds[] = {".branchtargets", ".calltargets", ".callprototype"};
    text_printf(t, "%.*s: %s ", STR_ARG(table->symbol.name), kinds[table->table_kind]);
    for (uint32_t i = 0; i < table->targets.n; i++)
        text_printf(t, "%s%.*s", i ? ", " : "", STR_ARG(table->targets.at[i]->name));
    if (table->table_kind == TABLE_CALLPROTOTYPE)
        print_signature(t, &table->signature, str_of("_"));
    if (table->signature.noreturn)
        text_puts(t, " .noreturn");
    if (table->signature.abi_preserve)
        text_puts(t, " .abi_preserve");
    text_puts(t, ";");
}

static void print_loc(struct text *t, const struct ptx_loc *l)
{
    text_printf(t, ".loc %u %u %u", l->file, l->line, l->column);
    if (l->function_name.n) {
        text_printf(t, ", function_name %.*s", STR_ARG(l->function_name));
        print_disp(t, l->function_disp);
    }
    if (l->inlined)
        text_printf(t, ", inlined_at %u %u %u", l->at_file, l->at_line, l->at_column);
}

static void print_reg_declaration(struct text *t, const struct ptx_reg *r)
{
    text_puts(t, ".reg");
    if (r->vector > 1)
        text_printf(t, " .v%u", r->vector);
    text_printf(t, " .%s %.*s", isa_type_name(r->type), STR_ARG(r->symbol.name));
    if (r->parametrised)
        text_printf(t, "<%u>", r->count);
    text_puts(t, ";");
}

static void print_statement(struct text *t, const struct ptx_stmt *s)
{
    switch (s->kind) {
    case STMT_INSN: print_insn(t, s->insn); break;
    case STMT_LABEL: text_printf(t, "%.*s:", STR_ARG(s->label->symbol.name)); break;
    case STMT_REG: print_reg_declaration(t, s->reg); break;
    case STMT_VAR:
        text_puts(t, linkages[s->var->linkage]);
        print_var(t, s->var);
        text_puts(t, ";");
        break;
    case STMT_OPEN: text_puts(t, "{"); break;
    case STMT_CLOSE: text_puts(t, "}"); break;
    case STMT_LOC: print_loc(t, s->loc); break;
    case STMT_PRAGMA: text_printf(t, ".pragma \"%.*s\";", STR_ARG(*s->pragma)); break;
    case STMT_TABLE: print_table(t, s->table); break;
    }
    text_puts(t, "\n");
}

/* ---- items ---- */

static void print_directive(struct text *t, const struct ptx_directive *d)
{
    text_printf(t, "\n.%.*s", STR_ARG(d->name));
    if (str_is(d->name, "pragma"))
        text_printf(t, " \"%.*s\";", STR_ARG(d->text));
    for (uint32_t i = 0; i < d->n; i++)
        text_printf(t, i ? ", %" PRIu64 : " %" PRIu64, d->value[i]);
}

static void print_func(struct text *t, const struct ptx_func *f)
{
    text_printf(t, "%s%s ", linkages[f->linkage], f->entry ? ".entry" : ".func");
    print_signature(t, &f->signature, f->symbol.name);
    for (uint32_t i = 0; i < f->directives.n; i++)
        print_directive(t, &f->directives.at[i]);
    if (!f->has_body) {
        text_puts(t, ";\n");
        return;
    }
    text_puts(t, "\n{\n");
    unsigned depth = 1;
    for (uint32_t i = 0; i < f->body.n; i++) {
        const struct ptx_stmt *s = &f->body.at[i];
        depth -= s->kind == STMT_CLOSE;
        for (unsigned d = 0; d < depth && s->kind != STMT_LABEL; d++)
            text_puts(t, "\t");
        depth += s->kind == STMT_OPEN;
        print_statement(t, s);
    }
    text_puts(t, "}\n");
}

static void print_file(struct text *t, const struct ptx_file *f)
{
    text_printf(t, ".file %u \"", f->index);
    for (size_t i = 0; i < f->name.n; i++) { /* see file_name() in parse.c */
        unsigned char c = (unsigned char)f->name.p[i];
        bool is_quoted = c == '"' || c == '\\';
        text_printf(t, c < ' ' || c > '~' ? "\\%03o" : is_quoted ? "\\%c" : "%c", c);
    }
    text_puts(t, "\"");
    if (f->has_time)
        text_printf(t, ", %" PRIu64 ", %" PRIu64, f->time, f->size);
    text_puts(t, "\n");
}

static void print_item(struct text *t, const struct ptx_item *it)
{
    switch (it->kind) {
    case ITEM_VAR:
        text_puts(t, linkages[it->var->linkage]);
        print_var(t, it->var);
        text_puts(t, ";\n");
        break;
    case ITEM_FUNC:
        text_puts(t, "\n");
        print_func(t, it->func);
        break;
    case ITEM_FILE: print_file(t, it->file); break;
    case ITEM_SECTION: text_printf(t, ".section %.*s\n", STR_ARG(*it->text)); break;
    case ITEM_ALIAS:
        text_printf(t, ".alias %.*s, %.*s;\n", STR_ARG(it->alias->symbol.name),
                    STR_ARG(it->alias->alias_of->symbol.name));
        break;
    case ITEM_PRAGMA: text_printf(t, ".pragma \"%.*s\";\n", STR_ARG(*it->text)); break;
    case ITEM_REG:
        print_reg_declaration(t, it->reg);
        text_puts(t, "\n");
        break;
    }
}

struct str ptx_print(const struct ptx_module *m, struct arena *arena)
{
    struct text t = {.arena = arena};
    text_printf(&t, ".version %u.%u\n.target ", m->version / 10u, m->version % 10u);
    for (uint32_t i = 0; i < m->target_words.n; i++)
        text_printf(&t, "%s%.*s", i ? ", " : "", STR_ARG(m->target_words.at[i]));
    text_puts(&t, "\n");
    if (m->address_bits)
        text_printf(&t, ".address_size %u\n", m->address_bits);
    for (uint32_t i = 0; i < m->items.n; i++)
        print_item(&t, &m->items.at[i]);
    return (struct str){t.p, t.n};
}

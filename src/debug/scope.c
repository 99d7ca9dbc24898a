/* The names visible in a frame of a thread: variables from debugging information, if there is any;
 * see expression.h. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/qualified.h"
#include "debug/scope.h"
#include "exec/launch.h"

/* ---- the debugging information of the kernel's modules ---- */

static const struct dwarf_reader_calls *dwarf;

void scope_load(const char *path)
{
    void *library = dwarf ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        dwarf = dlsym(library, "heddle_dwarf");
}

static struct module_info *info_of(struct run *r, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < r->modules.n; i++)
        if (r->modules.at[i]->sections.module == m)
            return r->modules.at[i];
    struct module_info *info = ARENA_NEW(&r->arena, struct module_info);
    sections_read(&info->sections, m, &r->arena);
    if (info->sections.image.n && dwarf)
        info->reader = dwarf->open(info->sections.image.p, info->sections.image.n);
    *VEC_PUSH(&r->arena, &r->modules) = info;
    return info;
}

void scope_close(struct run *r)
{
    for (uint32_t i = 0; i < r->modules.n; i++)
        if (r->modules.at[i]->reader)
            dwarf->close(r->modules.at[i]->reader);
    r->modules.n = 0;
}

/* ---- where a variable is ---- */

/* nvcc and LLVM write a register's name as a number, its first letter in
 * the most significant byte. */
static uint32_t register_of(const struct code *code, uint64_t number)
{
    char name[9] = "";
    unsigned n = 0;
    for (int shift = 56; shift >= 0; shift -= 8)
        if (number >> shift & 0xff)
            name[n++] = (char)(number >> shift & 0xff);
    return name[0] == '%' ? register_named(code, (struct str){name + 1, n - 1}) : 0;
}

static const struct ptx_var *variable_of(const struct ptx_func *f, struct str name)
{
    for (uint32_t i = 0; i < f->body.n; i++)
        if (f->body.at[i].kind == STMT_VAR && str_eq(f->body.at[i].var->symbol.name, name))
            return f->body.at[i].var;
    for (uint32_t i = 0; i < f->signature.params.n; i++)
        if (str_eq(f->signature.params.at[i]->symbol.name, name))
            return f->signature.params.at[i];
    return NULL;
}

static struct node *plain(enum node_kind kind, struct arena *arena)
{
    struct node *n = ARENA_NEW(arena, struct node);
    n->kind = kind;
    n->type = &c_ulong;
    return n;
}

const struct ptx_var *scope_dynamic_shared(const struct ptx_item *item)
{
    const struct ptx_var *v = item->kind == ITEM_VAR ? item->var : NULL;
    return v && v->space == SPACE_SHARED && v->unsized ? v : NULL;
}

static bool is_named(const struct ptx_var *v, struct str name, struct arena *arena)
{
    return str_eq(v->symbol.name, name) || name_ends_with(str_of(demangle(v->symbol.name, arena)), name);
}

/* It lies behind all that has a size (preparer_symbol_address() of exec/code.c). */
static const struct ptx_var *dynamic_shared(const struct ptx_module *m, struct str name, struct arena *arena)
{
    for (uint32_t i = 0; i < m->items.n; i++) {
        const struct ptx_var *v = scope_dynamic_shared(&m->items.at[i]);
        if (v && is_named(v, name, arena))
            return v;
    }
    return NULL;
}

static int64_t behind_static(const struct kernel *k, const struct ptx_var *v)
{
    enum { DEFAULT_ALIGN = 16 };
    uint32_t align = v->align > DEFAULT_ALIGN ? v->align : DEFAULT_ALIGN;
    return (k->static_shared_bytes + align - 1) / align * align;
}

/* What is as long as the launch says. */
static const struct c_type *sized(struct scope_data *s, const struct c_type *t, struct arena *arena)
{
    bool open = t->kind == C_ARRAY && !t->count && t->of->bytes;
    return open ? c_array_of(t->of, s->run->request->dims.shared_bytes / t->of->bytes, arena) : t;
}

/* The generic address of a variable that the sections name, in a function; NULL: it has none. */
static struct node *address_of(struct scope_data *s, struct str name, struct arena *arena)
{
    const struct ptx_func *f = s->code->ir->func;
    const struct ptx_var *v = variable_of(f, name);
    const struct kernel *k = s->run->kernel;
    uint64_t address;
    if (v && v->is_param && f->entry)
        return node_offset(plain(NODE_PARAM, arena), (int64_t)v->param_at, arena);
    if (v && (v->is_param || v->space == SPACE_LOCAL))
        return s->code->ir->frame_at[v->number]
                   ? node_offset(plain(NODE_LOCAL, arena), ir_frame_offset(s->code->ir, v), arena)
                   : NULL;
    for (uint32_t i = 0; i < k->shared_vars.n; i++)
        if (str_eq(k->shared_vars.at[i].var->symbol.name, name))
            return node_offset(plain(NODE_SHARED, arena), k->shared_vars.at[i].at, arena);
    if ((v = dynamic_shared(s->code->ir->func->module, name, arena)))
        return node_offset(plain(NODE_SHARED, arena), behind_static(k, v), arena);
    return s->run->names->global(s->run->names->data, name, &address, &v)
               ? node_const((int64_t)address, &c_ulong, arena)
               : NULL;
}

static struct node *gone(const struct dwarf_variable *v, const char *why, struct arena *arena)
{
    struct node *n = plain(NODE_GONE, arena);
    n->type = v->type;
    n->text = why;
    return n;
}

/* LLVM records no place for a struct that is passed by value and only read: it stays in parameter
 * memory. */
static struct node *given(struct scope_data *s, const struct dwarf_variable *v, struct arena *arena)
{
    const struct ptx_signature *f = &s->code->ir->func->signature;
    uint32_t i = v->parameter - 1;
    if (s->level || i >= f->params.n || f->params.at[i]->size != v->type->bytes || v->type->kind != C_STRUCT)
        return NULL;
    struct node *address = address_of(s, f->params.at[i]->symbol.name, arena);
    return address ? node_memory(address, v->type, arena) : NULL;
}

static struct node *place_of(struct scope_data *s, const struct dwarf_variable *v, struct arena *arena)
{
    const struct sections *sections = &s->info->sections;
    uint32_t reg = v->number ? register_of(s->code, v->number) : 0;
    struct node *address;
    switch (v->kind) {
    case DWARF_GONE: address = given(s, v, arena); return address ? address : gone(v, v->why, arena);
    case DWARF_VALUE:
        if (!c_is_scalar(v->type))
            return gone(v, "the compiler has removed it", arena);
        address = node_const(0, v->type, arena);
        address->value = c_load(v->type, &v->address);
        return address;
    case DWARF_DYNAMIC:
        address = address_of(s, str_of(v->name), arena);
        return address ? node_memory(address, sized(s, v->type, arena), arena)
                       : gone(v, "this kernel has no dynamic shared memory of this name", arena);
    case DWARF_REGISTER:
        if (!reg)
            return gone(v, "its register is not used", arena);
        return c_is_scalar(v->type) ? node_register(s->code, reg, v->type, arena)
                                    : gone(v, "it is in a register, in pieces", arena);
    default: break;
    }
    if (v->number) {
        if (!reg)
            return gone(v, "its register is not used", arena);
        address = node_register(s->code, reg, &c_ulong, arena);
    } else {
        uint64_t i = v->address - VARIABLE;
        address = v->address >= VARIABLE && i < sections->variables.n ? address_of(s, sections->variables.at[i], arena)
                                                                      : NULL;
        if (!address)
            return gone(v, "it has no memory in this kernel", arena);
    }
    return node_memory(node_offset(address, v->offset, arena), sized(s, v->type, arena), arena);
}

/* A reference is what it refers to. */
static struct node *node_of(struct scope_data *s, const struct dwarf_variable *v, struct arena *arena)
{
    struct node *n = place_of(s, v, arena);
    return n->type->is_reference && n->kind != NODE_GONE ? node_memory(n, n->type->of, arena) : n;
}

/* ---- names ---- */

/* The place of an operation in the debugging information; 0: there is none. */
static uint64_t place_in(const struct module_info *info, const struct code *c, const struct op *op)
{
    const struct ptx_insn *i = op && op->origin ? op->origin->origin : NULL;
    /* One that is no instruction of the text. */
    for (const struct op *o = op; c && !i && o && o > c->ops; o--)
        i = o->origin ? o->origin->origin : NULL;
    return info && info->reader && i ? sections_place(&info->sections, i) : 0;
}

uint32_t scope_variables(struct scope_data *s, struct dwarf_variable to[MOST_VARIABLES])
{
    uint64_t at = place_in(s->info, s->code, s->op);
    return at ? dwarf->variables(s->info->reader, at, s->level, to, MOST_VARIABLES) : 0;
}

struct node *scope_node(struct scope_data *s, const struct dwarf_variable *v, struct arena *arena)
{
    return node_of(s, v, arena);
}

/* Is "geo::depth" this variable, whose name in the PTX has its namespaces? nvcc gives it that
 * name in debugging information, too. */
static bool is_of_namespace(const struct scope_data *s, const struct dwarf_variable *v, struct str name,
                            struct arena *arena)
{
    const struct sections *sections = &s->info->sections;
    uint64_t i = v->address - VARIABLE;
    bool is_mangled = strncmp(v->name, "_Z", 2) == 0;
    if (!v->is_global || v->kind != DWARF_MEMORY || v->address < VARIABLE || i >= sections->variables.n ||
        (!is_mangled && (name_last(name).n == name.n || !str_is(name_last(name), v->name))))
        return false;
    return name_ends_with(str_of(demangle(sections->variables.at[i], arena)), name);
}

static struct node *variable(void *data, struct str name, struct arena *arena)
{
    struct scope_data *s = data;
    struct dwarf_variable *all = ARENA_ARRAY(arena, struct dwarf_variable, MOST_VARIABLES);
    uint32_t n = scope_variables(s, all);
    for (uint32_t i = 0; i < n; i++)
        if (str_is(all[i].kind == DWARF_DYNAMIC ? name_last(name) : name, all[i].name) ||
            is_of_namespace(s, &all[i], name, arena))
            return node_of(s, &all[i], arena);
    struct dwarf_variable constant;
    if (s->info && s->info->reader &&
        dwarf->constant(s->info->reader, place_in(s->info, s->code, s->op), s->level,
                        arena_strndup(arena, name.p, name.n), &constant))
        return node_of(s, &constant, arena);
    const struct ptx_var *v = dynamic_shared(s->code->ir->func->module, name, arena);
    if (!v)
        return NULL;
    struct node *address = node_offset(plain(NODE_SHARED, arena), behind_static(s->run->kernel, v), arena);
    const struct c_type *element = v->align >= 8   ? &c_ulong
                                   : v->align == 4 ? &c_uint
                                   : v->align == 2 ? &c_ushort
                                                   : &c_uchar;
    return node_memory(address, sized(s, c_array_of(element, 0, arena), arena), arena);
}

/* A variable that lies in no thread's frame, at an operation; NULL: it has no such name. */
static struct node *shared_or_global(struct scope_data *at, struct str name, struct arena *arena)
{
    struct dwarf_variable *all = ARENA_ARRAY(arena, struct dwarf_variable, MOST_VARIABLES);
    uint32_t n = scope_variables(at, all);
    for (uint32_t i = 0; i < n; i++) {
        const struct sections *sections = &at->info->sections;
        uint64_t k = all[i].address - VARIABLE;
        if (!str_is(name, all[i].name) || all[i].kind != DWARF_MEMORY || all[i].number || all[i].address < VARIABLE ||
            k >= sections->variables.n)
            continue;
        const struct node *root = address_of(at, sections->variables.at[k], arena);
        while (root && root->kind == NODE_BINARY)
            root = root->a;
        if (root && (root->kind == NODE_CONST || root->kind == NODE_SHARED))
            return node_of(at, &all[i], arena);
    }
    return NULL;
}

/* The same where no thread has a place in the kernel, of the kernel's blocks one after the
 * other. */
static struct node *variable_of_kernel(void *data, struct str name, struct arena *arena)
{
    struct scope_data at = *(struct scope_data *)data;
    const struct lines *lines = &at.run->lines;
    const struct source_place *last = NULL, *here;
    at.code = at.run->kernel->entry;
    for (at.op = at.code->ops; at.op < at.code->ops + at.code->n_ops; at.op++) {
        here = place_of_op(lines, at.op);
        bool is_new = here && (!last || here->at[0].line != last->at[0].line);
        struct node *n = is_new ? shared_or_global(&at, name, arena) : NULL;
        if (n)
            return n;
        last = here ? here : last;
    }
    return NULL;
}

static const struct c_type *type(void *data, struct str name, struct arena *arena)
{
    struct scope_data *s = data;
    static const char *const words[] = {"struct ", "class ", "union ", "enum "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_starts(name, words[i]))
            name = (struct str){name.p + strlen(words[i]), name.n - strlen(words[i])};
    name = name_last(name);
    return s->info && s->info->reader ? dwarf->type(s->info->reader, arena_strndup(arena, name.p, name.n)) : NULL;
}

static const struct c_type *enumerator(void *data, struct str name, int64_t *value, struct arena *arena)
{
    struct scope_data *s = data;
    return s->info && s->info->reader ? dwarf->enumerator(s->info->reader, arena_strndup(arena, name.p, name.n), value)
                                      : NULL;
}

static bool global(void *data, struct str name, uint64_t *address, const struct ptx_var **var)
{
    struct scope_data *s = data;
    return s->run->names->global(s->run->names->data, name, address, var);
}

static bool function(void *data, struct str name, struct arena *arena)
{
    const struct kernel *k = ((struct scope_data *)data)->run->kernel;
    const char *asked = arena_strndup(arena, name.p, name.n);
    for (uint32_t i = 0; i < k->functions.n; i++)
        if (point_is_called(k->functions.at[i]->ir->func->symbol.name, asked, arena))
            return true;
    return false;
}

struct scope scope_at(struct run *r, const struct code *code, const struct op *op, uint32_t level)
{
    struct scope_data *s = ARENA_NEW(&r->arena, struct scope_data);
    const struct ptx_func *func = code ? code->ir->func : r->kernel->func;
    *s = (struct scope_data){r, code, op, level, info_of(r, func->module)};
    return (struct scope){.code = code,
                          .kernel = r->kernel,
                          .data = s,
                          .function = function,
                          .global = global,
                          .variable = code ? variable : variable_of_kernel,
                          .type = type,
                          .enumerator = enumerator};
}

struct scope scope_of(struct run *r, const struct call_frame *frame)
{
    return scope_at(r, frame && frame->act ? frame->act->code : NULL, frame ? frame->op : NULL,
                    frame ? frame->inlined : 0);
}

struct node *scope_returned(struct run *r, const struct code *of, const struct ir_call *call, struct arena *arena)
{
    const struct module_info *info = info_of(r, of->ir->func->module);
    if (call->results.n != 1)
        return NULL;
    const struct ptx_var *v = of->ir->func->signature.returns.at[0];
    uint64_t at = place_in(info, of, of->ops);
    const struct c_type *t = at ? dwarf->returns(info->reader, at) : v->n_dims ? NULL : c_type_of_ptx(v->type);
    if (!t || t->bytes > call->results.at[0].bytes)
        return NULL;
    struct node *n =
        node_memory(node_offset(plain(NODE_LOCAL, arena), (int64_t)call->results.at[0].caller_at, arena), t, arena);
    return t->is_reference ? node_memory(n, t->of, arena) : n;
}

/* ---- lines ---- */

static const char *readable(struct run *r, const char *name)
{
    return name ? demangle(str_of(name), &r->arena) : NULL;
}

static const char *inlined_function(void *data, const struct code *c, const struct ptx_loc *loc)
{
    struct run *r = data;
    const struct module_info *info = info_of(r, c->ir->func->module);
    return readable(r, sections_string(&info->sections, loc->function_name, loc->function_disp));
}

static const char *file_of(struct run *r, const struct ptx_module *m, uint32_t number)
{
    const struct ptx_file *f = map_get(&m->files, (struct str){(const char *)&number, sizeof number});
    return f ? arena_strndup(&r->arena, f->name.p, f->name.n) : NULL;
}

static uint32_t inlined_calls(void *data, const struct code *c, const struct op *o, struct source_line at[MOST_INLINED])
{
    struct run *r = data;
    const struct ptx_module *m = c->ir->func->module;
    const struct module_info *info = info_of(r, m);
    struct dwarf_call calls[MOST_INLINED];
    uint64_t place = place_in(info, c, o);
    uint32_t n = place ? dwarf->calls(info->reader, place, calls, MOST_INLINED) : 0;
    for (uint32_t i = 0; i < n; i++) {
        at[i] = (struct source_line){
            .file = file_of(r, m, calls[i].file), .function = readable(r, calls[i].function), .line = calls[i].line};
        if (!at[i].file)
            return i;
    }
    return n;
}

void scope_lines(struct run *r)
{
    const struct lines_known known = {r, inlined_function, inlined_calls};
    lines_find(&r->lines, r->kernel, &known, &r->arena);
}

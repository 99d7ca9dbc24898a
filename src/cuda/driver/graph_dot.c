/* Pictures of graphs for Graphviz, with the text that an H200's driver writes ("CUDA Driver
 * API", 6.23, cuGraphDebugDotPrint; tests/graph_nodes/dots.txt.xz). A node is a shape with a few
 * lines, or a record with a table, if a flag asks for what it has. */
#include "cuda/state/graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/state/arrays.h"
#include "cuda/state/graph_condition.h"
#include "cuda/state/graph_memory.h"
#include "cuda/state/devices.h"
#include "cuda/state/memops.h"
#include "cuda/state/module.h"

#define HANDLE(p)      ((unsigned long long)(uintptr_t)(p))
#define HANDLE_FORMAT  "0x%016llX"
#define FLAG(p, which) has(p, CU_GRAPH_DEBUG_DOT_FLAGS_##which)

struct picture {
    FILE *file;
    unsigned flags;
};

static bool has(const struct picture *p, CUgraphDebugDot_flags flag)
{
    return p->flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
}

/* The node's number, and in which order a search from the graph's ends finds it. */
static void put_id(const struct picture *p, const struct CUgraphNode_st *n)
{
    fprintf(p->file, "%zu", n->number);
    if (FLAG(p, EXTRA_TOPO_INFO))
        fprintf(p->file, " (topoId: %zu)", n->place);
}

static void begin_shape(const struct picture *p, const struct CUgraphNode_st *n, const char *attributes,
                        const char *word)
{
    fprintf(p->file, "[%slabel=\"", attributes);
    put_id(p, n);
    fprintf(p->file, "\n%s\n", word);
}

static void put_handle(const struct picture *p, const struct CUgraphNode_st *n)
{
    if (FLAG(p, HANDLES))
        fprintf(p->file, "node handle: " HANDLE_FORMAT "\n", HANDLE(n->handle));
}

/* The first columns of a table: the node's number, and its handle if a flag asks for it. */
static const char *id_columns(const struct picture *p)
{
    return FLAG(p, HANDLES) ? "ID | node handle" : "ID";
}

static void put_id_columns(const struct picture *p, const struct CUgraphNode_st *n)
{
    put_id(p, n);
    if (FLAG(p, HANDLES))
        fprintf(p->file, " | " HANDLE_FORMAT, HANDLE(n->handle));
}

/* The first rows of a record, with these columns alone. */
static void begin_record(const struct picture *p, const struct CUgraphNode_st *n, const char *word)
{
    fprintf(p->file, "[style=\"solid\" shape=\"record\" label=\"{\n%s\n| {{%s} | {", word, id_columns(p));
    put_id_columns(p, n);
    fprintf(p->file, "}}\n");
}

/* ---- kernels ---- */

/* As many dimensions as there are. */
static void put_dims(const struct picture *p, const uint32_t d[3])
{
    if (d[2] > 1)
        fprintf(p->file, "\\{%u,%u,%u\\}", d[0], d[1], d[2]);
    else if (d[1] > 1)
        fprintf(p->file, "\\{%u,%u\\}", d[0], d[1]);
    else
        fprintf(p->file, "%u", d[0]);
}

static void put_shape_of_launch(const struct picture *p, const hd_launch_config *c)
{
    if (!FLAG(p, KERNEL_NODE_PARAMS))
        return;
    fprintf(p->file, "\\<\\<\\<");
    put_dims(p, c->grid);
    fprintf(p->file, ",");
    put_dims(p, c->block);
    fprintf(p->file, ",%zu\\>\\>\\>", c->shared_bytes);
}

static void put_attributes(const struct picture *p, const struct CUgraphNode_st *n)
{
    static const char letters[] = {
        [CU_ACCESS_PROPERTY_NORMAL] = 'N', [CU_ACCESS_PROPERTY_STREAMING] = 'S', [CU_ACCESS_PROPERTY_PERSISTING] = 'P'};
    const CUaccessPolicyWindow *w = &n->hints.window;
    fprintf(p->file,
            "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | missProp} | {" HANDLE_FORMAT
            " | %zu | %f | %c | %c}}\n| {cooperative | %d}\n| {priority | %d}\n",
            HANDLE(w->base_ptr), w->num_bytes, (double)w->hitRatio, letters[w->hitProp], letters[w->missProp],
            n->work.launch.cooperative, n->hints.priority);
}

static void put_kernel_record(const struct picture *p, const struct CUgraphNode_st *n, const struct CUfunc_st *f)
{
    fprintf(p->file, "[style=\"bold\" shape=\"record\" label=\"{KERNEL\n| {ID | ");
    put_id(p, n);
    fprintf(p->file, " | %s", f->name);
    put_shape_of_launch(p, &n->work.launch.config);
    fprintf(p->file, "}\n");
    if (FLAG(p, HANDLES))
        fprintf(p->file, "| {{node handle | func handle} | {" HANDLE_FORMAT " | " HANDLE_FORMAT "}}\n",
                HANDLE(n->handle), HANDLE(f->handle));
    put_attributes(p, n);
    fprintf(p->file, "}");
}

static void put_kernel(const struct picture *p, const struct CUgraphNode_st *n)
{
    const struct CUfunc_st *f = n->work.kind == WORK_LAUNCH ? function_of(n->work.launch.function) : NULL;
    if (f && FLAG(p, KERNEL_NODE_ATTRIBUTES)) {
        put_kernel_record(p, n, f);
        return;
    }
    begin_shape(p, n, "style=\"bold\" shape=\"octagon\" ", f ? f->name : "a library's call");
    put_handle(p, n);
    if (f && FLAG(p, HANDLES))
        fprintf(p->file, "func handle: " HANDLE_FORMAT "\n", HANDLE(f->handle));
    if (f)
        put_shape_of_launch(p, &n->work.launch.config);
}

/* ---- copies and fills ---- */

static char letter_of(CUmemorytype type)
{
    return type == CU_MEMORYTYPE_HOST     ? 'H'
           : type == CU_MEMORYTYPE_DEVICE ? 'D'
           : type == CU_MEMORYTYPE_ARRAY  ? 'A'
                                          : 'U';
}

static const char *memory_of(unsigned char kind)
{
    static const char *const words[] = {[MEMORY_DEVICE] = "DEVICE",
                                        [MEMORY_MANAGED] = "MANAGED",
                                        [MEMORY_PINNED] = "HOST PINNED",
                                        [MEMORY_PAGEABLE] = "HOST PAGEABLE"};
    return words[kind];
}

/* One side of a copy. */
struct side {
    const char *name; /* "src", "dst" */
    CUarray array;    /* NULL: memory */
    unsigned long long memory;
    size_t pitch, rows, x, y, z;
};

static struct side from_of(const CUDA_MEMCPY3D *m)
{
    bool host = m->srcMemoryType == CU_MEMORYTYPE_HOST;
    return (struct side){"src",
                         m->srcMemoryType == CU_MEMORYTYPE_ARRAY ? m->srcArray : NULL,
                         host ? HANDLE(m->srcHost) : m->srcDevice,
                         m->srcPitch,
                         m->srcHeight,
                         m->srcXInBytes,
                         m->srcY,
                         m->srcZ};
}

static struct side to_of(const CUDA_MEMCPY3D *m)
{
    bool host = m->dstMemoryType == CU_MEMORYTYPE_HOST;
    return (struct side){"dst",
                         m->dstMemoryType == CU_MEMORYTYPE_ARRAY ? m->dstArray : NULL,
                         host ? HANDLE(m->dstHost) : m->dstDevice,
                         m->dstPitch,
                         m->dstHeight,
                         m->dstXInBytes,
                         m->dstY,
                         m->dstZ};
}

/* Beside an array, widths are in texels. */
static size_t unit_of(const struct side *a, const struct side *b)
{
    hd_array_level l;
    CUarray array = a->array || b->array ? array_of(a->array ? a->array : b->array) : NULL;
    return array && hd_array_get_level(array->array, 0, &l) ? l.texel_bytes : 1;
}

#define PITCHED "pitch | ptr | xsize | ysize"

static void put_pitched(const struct picture *p, const struct side *s)
{
    fprintf(p->file, "%zu | " HANDLE_FORMAT " | 0 | %zu", s->pitch, s->memory, s->rows);
}

static void put_sides(const struct picture *p, const struct side *from, const struct side *to)
{
    if (!from->array && !to->array) {
        fprintf(p->file, "| {{srcPtr | dstPtr} | {" PITCHED " | " PITCHED "} | {");
        put_pitched(p, from);
        fprintf(p->file, " | ");
        put_pitched(p, to);
        fprintf(p->file, "}}\n");
        return;
    }
    if (from->array && to->array) {
        fprintf(p->file, "| {{srcArray | dstArray} | {" HANDLE_FORMAT " | " HANDLE_FORMAT "}}\n", HANDLE(from->array),
                HANDLE(to->array));
        return;
    }
    for (const struct side *s = from; s; s = s == from ? to : NULL)
        if (s->array) {
            fprintf(p->file, "| {%sArray | " HANDLE_FORMAT "}\n", s->name, HANDLE(s->array));
        } else {
            fprintf(p->file, "| {%sPtr | {" PITCHED "} | {", s->name);
            put_pitched(p, s);
            fprintf(p->file, "}}\n");
        }
}

static void put_copy_record(const struct picture *p, const struct CUgraphNode_st *n)
{
    const struct work *w = &n->work;
    const CUDA_MEMCPY3D box = work_box(w), *m = &box;
    const struct side from = from_of(m), to = to_of(m);
    size_t unit = unit_of(&from, &to);
    bool unified = w->from_type == CU_MEMORYTYPE_UNIFIED && w->to_type == CU_MEMORYTYPE_UNIFIED;
    begin_record(p, n, "MEMCPY");
    fprintf(p->file, "| {kind | ");
    if (unified)
        fprintf(p->file, "default");
    else
        fprintf(p->file, "%cto%c", letter_of(w->from_type), letter_of(w->to_type));
    fprintf(p->file, " (%s to %s)}\n", memory_of(w->from_kind), memory_of(w->to_kind));
    put_sides(p, &from, &to);
    fprintf(p->file, "| {");
    for (const struct side *s = &from; s; s = s == &from ? &to : NULL)
        fprintf(p->file, "{%sPos | {{x | %zu} | {y | %zu} | {z | %zu}}} | ", s->name, s->x / unit, s->y, s->z);
    fprintf(p->file, "{Extent | {{Width | %zu} | {Height | %zu} | {Depth | %zu}}}}\n}", m->WidthInBytes / unit,
            m->Height, m->Depth);
}

static void put_copy(const struct picture *p, const struct CUgraphNode_st *n)
{
    const struct work *w = &n->work;
    if (FLAG(p, MEMCPY_NODE_PARAMS)) {
        put_copy_record(p, n);
        return;
    }
    begin_shape(p, n, "style=\"solid\" shape=\"trapezium\"", "MEMCPY");
    put_handle(p, n);
    fprintf(p->file, "(%cto%c,%zu)\n", letter_of(w->from_type), letter_of(w->to_type),
            w->copy.width * w->copy.height * w->copy.depth);
}

static void put_fill(const struct picture *p, const struct CUgraphNode_st *n)
{
    const hd_fill *f = &n->work.fill;
    if (!FLAG(p, MEMSET_NODE_PARAMS)) {
        begin_shape(p, n, "style=\"solid\" shape=\"invtrapezium\"", "MEMSET");
        put_handle(p, n);
        fprintf(p->file, "(%u,%zu)\n", (unsigned)f->value, f->width * f->height * f->element_bytes);
        return;
    }
    fprintf(p->file,
            "[style=\"solid\" style=\"solid\" shape=\"record\" label=\"{MEMSET\n| {{%s | dptr | pitch | value | "
            "elementSize | width | height} | {",
            id_columns(p));
    put_id_columns(p, n);
    fprintf(p->file, " | " HANDLE_FORMAT " | %zu | %u | %zu | %zu | %zu}}}", HANDLE(f->to), f->pitch,
            (unsigned)f->value, (size_t)f->element_bytes, f->width, f->height);
}

/* ---- memory ---- */

static const char *access_of(CUmemAccess_flags flags)
{
    return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? "READWRITE"
           : flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? "READ"
                                                       : "NONE";
}

static void put_allocation(const struct picture *p, const struct CUgraphNode_st *n)
{
    const struct graph_memory *m = n->work.memory.at;
    begin_record(p, n, "MEM_ALLOC");
    fprintf(
        p->file,
        "| {{{poolProps | {allocType | handleTypes | {location | {type | id}}} | {PINNED | NONE | DEVICE | %d}}}}\n",
        graph_memory_device(m)->ordinal);
    for (size_t i = 0; i < n->n_access; i++)
        fprintf(p->file, "| {{accessDescs[%zu]} | {{location | {type | id}} | flags} | {DEVICE | %d | %s}}\n", i,
                n->access[i].location.id, access_of(n->access[i].flags));
    fprintf(p->file, "| {{bytesize | dptr} | {%zu | " HANDLE_FORMAT "}}\n}", n->work.memory.bytes,
            HANDLE(graph_memory_start(m)));
}

static void put_free(const struct picture *p, const struct CUgraphNode_st *n)
{
    begin_record(p, n, "MEM_FREE");
    fprintf(p->file, "| {{dptr} | {" HANDLE_FORMAT "}}\n}", HANDLE(graph_memory_start(n->work.memory.at)));
}

/* ---- operations on memory ---- */

static const char *operation_of(CUstreamBatchMemOpType type)
{
    switch (type) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return "WAIT_VALUE_32";
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return "WRITE_VALUE_32";
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return "WAIT_VALUE_64";
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return "WRITE_VALUE_64";
    case CU_STREAM_MEM_OP_BARRIER: return "BARRIER";
    default: return "FLUSH_REMOTE_WRITES";
    }
}

/* The address, the value (decimal digits, even behind 0x) and the flags. */
static void put_operation(const struct picture *p, const CUstreamBatchMemOpParams *o)
{
    static const char *const waits[] = {"GEQ", "EQ", "AND", "NOR"};
    bool is_64 = o->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || o->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64,
         waiting = o->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || o->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64,
         writing = o->operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || o->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    fprintf(p->file, "%s", operation_of(o->operation));
    if (!waiting && !writing)
        return;
    fprintf(p->file, " | " HANDLE_FORMAT, (unsigned long long)o->writeValue.address);
    if (is_64)
        fprintf(p->file, " | 0x%016llu", (unsigned long long)o->writeValue.value64);
    else
        fprintf(p->file, " | 0x%08u", o->writeValue.value);
    fprintf(p->file, " | %s",
            waiting               ? waits[o->waitValue.flags & 3]
            : o->writeValue.flags ? "NO_MEMORY_BARRIER"
                                  : "DEFAULT");
}

static void put_operations(const struct picture *p, const struct CUgraphNode_st *n)
{
    const struct memops *m = n->work.memops;
    fprintf(p->file, "[style=\"solid\" shape=\"record\" label=\"{\nBATCH_MEM_OP\n| {{%s | count | flags } | {",
            id_columns(p));
    put_id_columns(p, n);
    fprintf(p->file, " | %u | 0x%08x }}\n| {{", m->count, 0);
    for (unsigned i = 0; i < m->count; i++)
        fprintf(p->file, "%s{paramArray[%u] | {op | addr | val | flags }}%s\n", i ? "| " : "", i,
                i + 1 == m->count ? "}" : "");
    for (unsigned i = 0; i < m->count; i++) {
        fprintf(p->file, i ? "\n| " : "| {");
        put_operation(p, &m->at[i]);
    }
    fprintf(p->file, "}}\n}");
}

/* ---- other nodes ---- */

/* The number of the node's condition among the handles of its graph, from 1 on. */
static unsigned condition_number(const struct CUgraphNode_st *n)
{
    unsigned number = 0;
    for (const struct condition_use *u = n->graph->conditions; u; u = u->next)
        number = u->condition == n->work.condition.of ? 1 : number + (number > 0);
    return number;
}

static void put_bodies(const struct picture *p, const struct CUgraphNode_st *n)
{
    unsigned bodies = n->work.condition.n;
    if (n->work.condition.type == CU_GRAPH_COND_TYPE_SWITCH)
        for (unsigned i = 0; i < bodies; i++)
            fprintf(p->file, "| {%u|  graph_%u}\n", i, n->bodies[i]->number);
    else if (bodies == 1)
        fprintf(p->file, "| {True|graph_%u}\n", n->bodies[0]->number);
    else
        fprintf(p->file, "| {True | graph_%u}\n| {False| graph_%u}\n", n->bodies[0]->number, n->bodies[1]->number);
}

static void put_conditional(const struct picture *p, const struct CUgraphNode_st *n)
{
    static const char *const types[] = {"IF", "WHILE", "SWITCH"};
    fprintf(p->file, "[style=\"bold\" shape=\"record\" label=\"{\nCONDITIONAL\n| {ID | ");
    put_id(p, n);
    fprintf(p->file, "}\n");
    if (FLAG(p, HANDLES))
        fprintf(p->file, "| {node handle| " HANDLE_FORMAT "}\n", HANDLE(n->handle));
    if (p->flags & CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)
        fprintf(p->file, "| {Conditional Handle|%u}\n", condition_number(n));
    fprintf(p->file, "| {Conditional Type| %s}\n", types[n->work.condition.type]);
    put_bodies(p, n);
    fprintf(p->file, "}\n");
}

#define RECTANGLE "style=\"solid\" shape=\"rectangle\" "

static void put_plain(const struct picture *p, const struct CUgraphNode_st *n, const char *word)
{
    begin_shape(p, n, RECTANGLE, word);
    put_handle(p, n);
}

static void put_call(const struct picture *p, const struct CUgraphNode_st *n)
{
    put_plain(p, n, "HOST");
    if (FLAG(p, HOST_NODE_PARAMS) && n->work.kind == WORK_CALL)
        fprintf(p->file, "fn: " HANDLE_FORMAT "\nuserData: " HANDLE_FORMAT "\n", HANDLE(n->work.call.function),
                HANDLE(n->work.call.data));
}

static void put_event(const struct picture *p, const struct CUgraphNode_st *n, const char *word)
{
    put_plain(p, n, word);
    if (FLAG(p, EVENT_NODE_PARAMS))
        fprintf(p->file, "event: " HANDLE_FORMAT "\n", HANDLE(n->work.event));
}

static void put_child(const struct picture *p, const struct CUgraphNode_st *n)
{
    char name[32];
    snprintf(name, sizeof name, "graph_%u", n->child->number);
    put_plain(p, n, name);
}

static void put_node(const struct picture *p, const struct CUgraphNode_st *n)
{
    fprintf(p->file, "\"graph_%u_node_%zu\"", n->graph->number, n->number);
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: put_kernel(p, n); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: put_copy(p, n); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: put_fill(p, n); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: put_conditional(p, n); break;
    case CU_GRAPH_NODE_TYPE_HOST: put_call(p, n); break;
    case CU_GRAPH_NODE_TYPE_GRAPH: put_child(p, n); break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: put_event(p, n, "EVENT_WAIT"); break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: put_event(p, n, "EVENT_RECORD"); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        FLAG(p, MEM_ALLOC_NODE_PARAMS) ? put_allocation(p, n) : put_plain(p, n, "MEM_ALLOC");
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        FLAG(p, MEM_FREE_NODE_PARAMS) ? put_free(p, n) : put_plain(p, n, "MEM_FREE");
        break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        FLAG(p, BATCH_MEM_OP_NODE_PARAMS) ? put_operations(p, n) : put_plain(p, n, "BATCH_MEM_OP");
        break;
    default: put_plain(p, n, "EMPTY"); break;
    }
    fprintf(p->file, "\"];\n\n");
}

/* ---- graphs ---- */

/* Numbers the nodes as they are found from those that no other depends on, the last of these first,
 * along their dependencies. */
static CUresult number_nodes(CUgraph g)
{
    CUgraphNode *found = malloc((g->n + 1) * sizeof *found);
    size_t n, n_ends = 0;
    if (!found)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (CUgraphNode node = g->first; node; node = node->next) {
        n_ends += !node->before.n;
        node->mark = node->before.n ? NODE_UNSEEN : NODE_PLACED;
        node->place = 0;
    }
    n = n_ends;
    for (CUgraphNode node = g->first; node; node = node->next)
        if (!node->before.n)
            found[--n_ends] = node;
    for (size_t i = 0; i < n; i++) {
        found[i]->place = i;
        for (size_t k = 0; k < found[i]->after.n; k++) {
            CUgraphNode earlier = found[i]->after.at[k].node;
            if (earlier->mark == NODE_UNSEEN)
                found[n++] = earlier;
            earlier->mark = NODE_PLACED;
        }
    }
    free(found);
    return CUDA_SUCCESS;
}

static void put_edges(const struct picture *p, const struct CUgraphNode_st *n)
{
    for (size_t i = 0; i < n->before.n; i++) {
        fprintf(p->file, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\"", n->graph->number, n->number,
                n->graph->number, n->before.at[i].node->number);
        if (FLAG(p, EXTRA_TOPO_INFO))
            fprintf(p->file, " [headlabel=%u]", n->before.at[i].at);
        fprintf(p->file, ";\n");
    }
}

static CUresult put_graph(const struct picture *p, CUgraph g)
{
    TRY(number_nodes(g));
    fprintf(p->file, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", g->number, g->number);
    for (CUgraphNode n = g->first; n; n = n->next)
        put_node(p, n);
    for (CUgraphNode n = g->first; n; n = n->next)
        put_edges(p, n);
    fprintf(p->file, "}\n");
    return CUDA_SUCCESS;
}

/* Draws the graph, then the graphs inside its nodes, then those inside these. */
static CUresult put_graphs(const struct picture *p, CUgraph g)
{
    VEC(CUgraph) all = {0};
    CUresult r = VEC_RESERVE(&all, 1) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    if (!r)
        all.at[all.n++] = g;
    for (size_t i = 0; i < all.n && !r; i++) {
        r = put_graph(p, all.at[i]);
        for (CUgraphNode n = all.at[i]->first; n && !r; n = n->next) {
            unsigned bodies = n->bodies ? n->work.condition.n : 0;
            r = VEC_RESERVE(&all, bodies + 1) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
            if (!r && n->child)
                all.at[all.n++] = n->child;
            for (unsigned k = 0; k < bodies && !r; k++)
                all.at[all.n++] = n->bodies[k];
        }
    }
    free(all.at);
    return r;
}

CU_API CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
    CUgraph g;
    TRY(graph_of(graph, &g));
    NEED(path);
    struct picture p = {fopen(path, "w"), flags};
    if (!p.file)
        return CUDA_ERROR_OPERATING_SYSTEM;
    fprintf(p.file, "digraph dot {\n");
    CUresult r = put_graphs(&p, g);
    fprintf(p.file, "}\n");
    return fclose(p.file) ? CUDA_ERROR_OPERATING_SYSTEM : r;
}

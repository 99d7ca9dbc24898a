/* Pictures of graphs for Graphviz, as an H200's driver draws them ("CUDA Driver API", 6.23,
 * cuGraphDebugDotPrint). Flags add lines to a node's label. */
#include "cuda/state/graph.h"

#include <stdio.h>

#include "cuda/state/module.h"

static const char *const words[] = {
    [CU_GRAPH_NODE_TYPE_HOST] = "HOST",
    [CU_GRAPH_NODE_TYPE_EMPTY] = "EMPTY",
    [CU_GRAPH_NODE_TYPE_WAIT_EVENT] = "EVENT_WAIT",
    [CU_GRAPH_NODE_TYPE_EVENT_RECORD] = "EVENT_RECORD",
    [CU_GRAPH_NODE_TYPE_MEM_ALLOC] = "MEM_ALLOC",
    [CU_GRAPH_NODE_TYPE_MEM_FREE] = "MEM_FREE",
    [CU_GRAPH_NODE_TYPE_BATCH_MEM_OP] = "BATCH_MEM_OP",
};

struct picture {
    FILE *file;
    unsigned flags;
};

static bool has(const struct picture *p, CUgraphDebugDot_flags flag)
{
    return p->flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE);
}

static const char *side(unsigned char kind)
{
    return kind == MEMORY_DEVICE || kind == MEMORY_MANAGED ? "D" : "H";
}

static void put_handle(const struct picture *p, const struct CUgraphNode_st *n)
{
    if (has(p, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(p->file, "node handle: 0x%016llX\n", (unsigned long long)(uintptr_t)n->handle);
}

static void put_kernel(const struct picture *p, const struct CUgraphNode_st *n, size_t id)
{
    const hd_launch_config *c = &n->work.launch.config;
    const struct CUfunc_st *f = n->work.kind == WORK_LAUNCH ? function_of(n->work.launch.function) : NULL;
    fprintf(p->file, "[style=\"bold\" shape=\"octagon\" label=\"%zu\n%s\n", id, f ? f->name : "a library's call");
    put_handle(p, n);
    if (f && has(p, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(p->file, "func handle: 0x%016llX\n", (unsigned long long)(uintptr_t)f->handle);
    if (f && has(p, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
        fprintf(p->file, "\\<\\<\\<%u,%u,%zu\\>\\>\\>", c->grid[0] * c->grid[1] * c->grid[2],
                c->block[0] * c->block[1] * c->block[2], c->shared_bytes);
    if (f && has(p, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES))
        fprintf(p->file, "\ncooperative: %d\npriority: %d\n", n->work.launch.cooperative, n->hints.priority);
}

static void put_copy(const struct picture *p, const struct CUgraphNode_st *n, size_t id)
{
    const struct work *w = &n->work;
    fprintf(p->file, "[style=\"solid\" shape=\"trapezium\"label=\"%zu\nMEMCPY\n", id);
    put_handle(p, n);
    fprintf(p->file, "(%sto%s,%zu)\n", side(w->from_kind), side(w->to_kind),
            w->copy.width * w->copy.height * w->copy.depth);
    if (has(p, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
        fprintf(p->file, "src: %p\ndst: %p\nextent: %zu %zu %zu\n", w->copy.from, w->copy.to, w->copy.width,
                w->copy.height, w->copy.depth);
}

static void put_fill(const struct picture *p, const struct CUgraphNode_st *n, size_t id)
{
    const hd_fill *f = &n->work.fill;
    fprintf(p->file, "[style=\"solid\" shape=\"invtrapezium\"label=\"%zu\nMEMSET\n", id);
    put_handle(p, n);
    fprintf(p->file, "(%u,%zu)\n", (unsigned)f->value, f->width * f->height * f->element_bytes);
    if (has(p, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
        fprintf(p->file, "dptr: %p\npitch: %zu\nelementSize: %zu\n", f->to, f->pitch, (size_t)f->element_bytes);
}

static void put_conditional(const struct picture *p, const struct CUgraphNode_st *n, size_t id)
{
    static const char *const types[] = {"IF", "WHILE", "SWITCH"};
    fprintf(p->file,
            "[style=\"bold\" shape=\"record\" label=\"{\nCONDITIONAL\n| {ID | %zu}\n| {Conditional Type| %s}\n", id,
            types[n->work.condition.type]);
    for (unsigned i = 0; i < n->work.condition.n; i++)
        fprintf(p->file, "| {%u|  graph_%u}\n", i, n->bodies[i]->number);
    fprintf(p->file, "}\n");
}

static void put_other(const struct picture *p, const struct CUgraphNode_st *n, size_t id)
{
    fprintf(p->file, "[style=\"solid\" shape=\"rectangle\" label=\"%zu\n", id);
    if (n->child)
        fprintf(p->file, "graph_%u\n", n->child->number);
    else
        fprintf(p->file, "%s\n", words[n->type]);
    put_handle(p, n);
    if (n->work.kind == WORK_CALL && has(p, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
        fprintf(p->file, "fn: 0x%016llX\nuserData: 0x%016llX\n", (unsigned long long)(uintptr_t)n->work.call.function,
                (unsigned long long)(uintptr_t)n->work.call.data);
    if ((n->work.kind == WORK_RECORD || n->work.kind == WORK_WAIT) &&
        has(p, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
        fprintf(p->file, "event: 0x%016llX\n", (unsigned long long)(uintptr_t)n->work.event);
}

static void put_node(const struct picture *p, const struct CUgraphNode_st *n, size_t id)
{
    fprintf(p->file, "\"graph_%u_node_%zu\"", n->graph->number, id);
    switch (n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: put_kernel(p, n, id); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: put_copy(p, n, id); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: put_fill(p, n, id); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: put_conditional(p, n, id); break;
    default: put_other(p, n, id); break;
    }
    fprintf(p->file, "\"];\n\n");
}

/* Draws the graph, and then the graphs inside its nodes. */
static void put_graph(const struct picture *p, CUgraph g)
{
    size_t id = 0;
    fprintf(p->file, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", g->number, g->number);
    for (CUgraphNode n = g->first; n; n = n->next) {
        n->place = id++;
        put_node(p, n, n->place);
    }
    for (CUgraphNode n = g->first; n; n = n->next)
        for (size_t i = 0; i < n->after.n; i++)
            fprintf(p->file, "\"graph_%u_node_%zu\" -> \"graph_%u_node_%zu\"%s;\n", g->number,
                    n->after.at[i].node->place, g->number, n->place,
                    has(p, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO) ? " [headlabel=0]" : "");
    fprintf(p->file, "}\n");
    for (CUgraphNode n = g->first; n; n = n->next) {
        if (n->child)
            put_graph(p, n->child);
        for (unsigned i = 0; n->bodies && i < n->work.condition.n; i++)
            put_graph(p, n->bodies[i]);
    }
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
    put_graph(&p, g);
    fprintf(p.file, "}\n");
    return fclose(p.file) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

/* Graphs: work with an order between its pieces, put together by hand or captured from streams, and
 * launched as often as wanted. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_GRAPH_H
#define HEDDLE_CUDA_STATE_GRAPH_H

#include "base/vec.h"
#include "cuda/state/user_object.h"
#include "cuda/state/work.h"

/* CUgraphEdgeData without its reserved bytes, so that graphs with many edges stay small. */
struct edge_kind {
    unsigned char from_port, to_port, type;
};

/* The edges on one side of a node. An edge is in the lists of both its nodes, and knows its index
 * in the other list, so the cost of removing edges grows only with their number. */
struct edges {
    struct edge_end {
        CUgraphNode node;
        uint32_t at;           /* in that node's list */
        struct edge_kind kind; /* in both lists */
    } *at;
    size_t n, capacity;
};

/* Attributes of a kernel that change no result. */
struct launch_hints {
    CUaccessPolicyWindow window;
    CUlaunchMemSyncDomainMap domains;
    CUlaunchMemSyncDomain domain;
    int priority, cluster_policy;
    unsigned carveout;
};

struct CUgraphNode_st {
    CUgraphNode handle;
    CUgraphNode next, *link; /* in the graph, in the order of making */
    CUgraph graph;
    size_t number;        /* among all nodes that the graph has ever had; a clone keeps it */
    CUgraphNode original; /* in the graph that this one is a clone of: its handle, or NULL */
    CUgraphNodeType type;
    CUcontext context;          /* its handle */
    struct work work;           /* with its own copy of the parameters */
    struct launch_hints hints;  /* of a kernel */
    struct CUgraph_st *child;   /* of a child graph node: its own copy of the graph */
    struct CUgraph_st **bodies; /* of a conditional node */
    CUgraph *body_handles;      /* handles of the bodies: the list that the program got */
    bool updatable;             /* a kernel node that kernels may update */
    /* Memory that was not freed when the graph was instantiated: no node can free it. */
    bool is_kept;
    CUmemAccessDesc *access; /* of a memory node: n_access entries, as the program gave them */
    size_t n_access;
    /* of a kernel node: the list that cuGraphKernelNodeGetParams returned, or NULL */
    void **parameters;
    /* Edges to nodes that it depends on, and to nodes that depend on it. */
    struct edges after, before;
    /* For a node that no other depends on: a counter of when that began. */
    size_t end_since;
    enum node_mark { NODE_UNSEEN, NODE_OPEN, NODE_PLACED } mark; /* during sorting, its state; */
    /* how far its dependencies are placed, and then its index */
    size_t place;
    /* the examination of a tail that saw it last: capture.c */
    uint64_t seen;
};

/* A map from nodes' handles, which are not dereferenced. */
struct node_index {
    struct node_entry {
        CUgraphNode key;
        void *value;
    } *at;
    size_t n;
};

struct CUgraph_st {
    CUgraph handle;
    unsigned number; /* in the order of creation */
    CUgraphNode first, *end;
    size_t n, n_made, n_turns;
    struct node_index clones; /* of a clone: its nodes by their originals, made on demand */
    struct kept *kept;
    bool capturing;    /* a stream captures into it (capture.h) */
    bool is_child;     /* belongs to a node, and ends with it */
    bool is_body;      /* of a conditional node; also a child */
    bool is_moved;     /* the program's graph that became a child */
    bool is_flat;      /* made by graph_flatten() */
    size_t n_children; /* nodes that have a child */
    size_t n_memory;   /* memory nodes, with those of moved children */
    size_t n_conditional;
    size_t n_updatable;               /* kernel nodes that kernels update */
    struct condition_use *conditions; /* condition handles made for it */
    CUgraphExec instance;             /* the handle of its last instance */
};

/* An instantiated graph: its nodes in topological order. */
struct CUgraphExec_st {
    CUgraphExec handle;
    cuuint64_t flags;
    size_t n, n_branches;    /* branches: graph_branch.c */
    struct node_index index; /* steps by their nodes */
    /* Indices of the steps that no other depends on, in the order of graph_ends(). */
    size_t *ends, n_ends;
    struct earlier {           /* dependencies of the steps: */
        uint32_t place;        /* the step's index, */
        struct edge_kind kind; /* and the kind of edge */
    } *after;
    size_t n_after;
    /* by branch; the last is for branch 0 if no stream of the program's launches the graph */
    hd_stream **streams;
    CUcontext streams_of; /* the context: its handle */
    uint64_t streams_of_id;
    struct kept *kept;
    CUgraph outline;                  /* the outline of the graph if it has children; else NULL */
    struct condition_use *conditions; /* conditions whose values are set at each launch */
    bool has_bodies;                  /* some work is submitted while it runs */
    bool has_updatable;               /* has kernels that kernels update */
    bool uses_memory;                 /* allocates graph memory */
    size_t memory_bytes;              /* memory that a launch needs, in blocks */
    hd_event *begun, *ended;          /* begin and end of the last launch */
    uint64_t launched_in;             /* number of the stream of the last launch */
    pthread_mutex_t launching;        /* held while a launch is submitted */
    _Atomic uint32_t refs;
    /* For graphs that kernels launch, or whose kernels launch graphs: graph_device.c */
    size_t n_launching; /* number of steps whose kernels launch graphs */
    bool uploaded;      /* kernels may launch it, */
    bool is_changed;    /* but it was changed since the upload */
    bool is_queued;     /* a launch is queued */
    unsigned n_running; /* launches that are running, or submitted by the host */
    struct step {
        CUgraphNode node; /* of the graph: its handle */
        CUgraphNodeType type;
        CUcontext context;              /* its handle */
        struct work work, uploaded;     /* `uploaded`: as kernels launch it */
        struct CUgraphExec_st **bodies; /* of a conditional node */
        bool disabled, uploaded_disabled;
        bool launches;          /* its kernel launches graphs */
        bool overlaps;          /* a kernel that may begin before the previous one has ended */
        bool is_first, is_last; /* it has no dependencies; no step depends on it */
        /* Its dependencies: their place in the exec's list, in the order of edges. */
        size_t after, n_after;
        size_t branch;
        VEC(struct step *) waits_for; /* steps in other branches */
        hd_event *event;              /* its end, if other branches wait for it, or NULL */
    } steps[];
};

/* Look up by handles. */
CUresult graph_of(CUgraph handle, CUgraph *g);
CUresult node_of(CUgraphNode handle, CUgraphNode *n);
/* Finds a kernel node of the program. The node of a library's call, which has no kernel here, is
 * refused by name. */
CUresult node_of_kernel(CUgraphNode handle, CUgraphNode *n);
/* Are all of these handles of its nodes? */
CUresult graph_has_nodes(CUgraph g, const CUgraphNode *handles, size_t n);
CUresult graph_new(CUgraph *g);
/* Ends a graph and its nodes: their handles become invalid. Records that running calls use stay
 * until these calls end. */
void graph_end(CUgraph g);
/* Do streams capture into it, or into a graph inside it? */
bool graph_is_captured(CUgraph g);
void node_end(CUgraphNode n);
/* Adds a node with a copy of the work and its parameters. The context and the nodes before it are
 * given by handles. */
CUresult graph_put_node(CUgraph g, CUgraphNodeType type, const struct work *w, CUcontext c, const CUgraphNode *after,
                        size_t n, CUgraphNode *node);

/* Can it have only one instance at a time, and no copies? */
bool graph_is_single(CUgraph g);

/* ---- graph_edges.c ---- */

/* Makes `node` depend on `earlier`; data NULL: a full dependency. */
CUresult graph_put_edge(CUgraphNode earlier, CUgraphNode node, const CUgraphEdgeData *data);
void graph_set_edge(CUgraphNode earlier, CUgraphNode node, const CUgraphEdgeData *data);
bool graph_is_ordered(CUgraphNode earlier, CUgraphNode node);
static inline CUgraphEdgeData edge_data(struct edge_kind k)
{
    return (CUgraphEdgeData){.from_port = k.from_port, .to_port = k.to_port, .type = k.type};
}
/* Is such an edge possible between nodes of these types? */
bool edge_is_good(const CUgraphEdgeData *data, CUgraphNodeType earlier, CUgraphNodeType node);
static inline bool edge_is_plain(const CUgraphEdgeData *data)
{
    return !data->from_port && !data->to_port && !data->type;
}
/* Removes an edge; false if there is none. With data NULL or plain, an edge of any kind. */
bool graph_forget_order(CUgraphNode earlier, CUgraphNode node, const CUgraphEdgeData *data);
void graph_forget_edges(CUgraphNode node);
/* The nodes that no node depends on, in the order in which they became so. The caller frees
 * them. */
CUresult graph_ends(CUgraph g, CUgraphNode **ends, size_t *n);

/* An index of n entries, which the caller fills before it calls node_index_sort(). */
CUresult node_index_make(struct node_index *x, size_t n);
void node_index_sort(struct node_index *x);
void *node_index_find(const struct node_index *x, CUgraphNode key); /* NULL: there is none */
void node_index_free(struct node_index *x);

/* ---- graph.c ---- */

/* The first makes a copy of work with its current parameters, for the device of a context (by
 * handle); the second frees it. */
CUresult work_own(const struct work *w, CUcontext c, struct work *own);
void work_disown(struct work *own);
/* A launch's kernel on a context's device. */
CUresult work_kernel(const struct work *w, CUcontext c, hd_kernel **kernel);
/* Can the work be a node? Nodes have more restrictions than work in streams. */
CUresult node_check(const struct work *w, CUcontext c);

/* ---- graph_update.c ---- */

/* Can an instantiated node change from a to b? */
bool work_can_become(const struct work *a, const struct work *b);

/* ---- graph_copy.c ---- */

/* Copies nodes, children and edges into an empty graph, which gets references to the same user
 * objects. */
CUresult graph_copy_to(CUgraph from, CUgraph to);
/* Makes a copy for a node; then attaches it. */
CUresult graph_copy_child(CUgraph child, CUgraph *copy);
void graph_give_child(CUgraphNode n, CUgraph copy);
/* The nodes, edges and children of a graph, without what the nodes do. */
CUresult graph_outline(CUgraph g, CUgraph *outline);
/* Makes an equivalent graph without children. `original` of each node is the node of `from`, or of
 * its children, that it stands for. */
CUresult graph_flatten(CUgraph from, CUgraph *flat);

/* ---- memory in a graph: graph_rules.c ---- */

struct graph_memory;
/* Memory for a new node behind `after`, with a reference: memory that earlier nodes freed, or new
 * memory. */
CUresult graph_find_memory(CUgraph g, struct device *d, size_t bytes, const CUgraphNode *after, size_t n,
                           struct graph_memory **m);
/* After an instantiation: what no node frees, none can free from now on (recorded). */
void graph_keep_memory(CUgraph g);
/* The memory that a new node frees, with a reference. */
CUresult graph_find_freed(CUgraph g, const void *start, struct graph_memory **m);

/* ---- what a program says of nodes: graph_params.c ---- */

/* Versions 1 and 2 of the structure have a common beginning; version 1 ends before the kernel. *c
 * is NULL if it names no context. */
CUresult work_of_kernel(const CUDA_KERNEL_NODE_PARAMS *p, bool v2, struct work *w, CUcontext *c);
CUresult work_of_fill(const CUDA_MEMSET_NODE_PARAMS *p, struct work *w);
CUresult work_of_call(const CUDA_HOST_NODE_PARAMS *p, struct work *w);
CUresult work_of_event(CUevent e, CUgraphNodeType type, struct work *w);
/* Copies the attributes of a launch that are not among its parameters. */
void launch_copy_attributes(struct work_launch *to, const struct work_launch *from);

/* ---- graphs made ready: graph_exec.c ---- */

CUresult exec_of(CUgraphExec handle, CUgraphExec *x);
/* The node by which the step of this node is found. */
CUgraphNode node_key(CUgraphNode n);
/* Why a graph cannot be instantiated: the error, and the node, or NULL. */
struct bad_graph {
    CUgraphInstantiateResult result;
    CUgraphNode node;
};
/* Only the nodes of the graph itself, in order; a child graph is one of them. */
CUresult exec_of_nodes(CUgraph g, cuuint64_t flags, CUgraphExec *exec, struct bad_graph *bad);
/* Makes one without a handle. */
CUresult exec_new(CUgraph g, cuuint64_t flags, CUgraphExec *exec, struct bad_graph *bad);
/* The step of a node, which may be in a body; NULL if there is none. */
struct step *exec_step(CUgraphExec x, CUgraphNode node);

/* Waits for launches that a change could affect. */
void exec_settle(CUgraphExec x);

/* ---- what becomes of them: graph_life.c ---- */

/* Uploads the graph in its current state, so that kernels can update and launch it. */
CUresult exec_upload(CUgraphExec x);
/* Which functions of the device runtime a node's kernel calls: enum hd_nesting. */
unsigned work_nesting(const struct work *w, CUcontext context);
/* Finds whether the kernel of a step, or of all steps, launches graphs, after a change. */
void step_find_launches(CUgraphExec x, struct step *s);
void exec_find_launches(CUgraphExec x);
struct CUgraphExec_st *exec_hold(struct CUgraphExec_st *x);
void exec_free(void *x); /* frees it */

/* ---- updates: graph_update.c ---- */

/* Gives x the work of another graph of the same shape, or says what differs. */
CUresult exec_update(CUgraphExec x, CUgraph g, CUgraphExecUpdateResultInfo *info);

/* ---- what can be made ready: graph_rules.c ---- */

CUresult graph_check(CUgraph g, cuuint64_t flags, struct bad_graph *bad);

/* ---- decided when the stream gets there: graph_deferred.c ---- */

/* Launches the bodies of a conditional node, or an updatable kernel in its current state, when the
 * stream reaches it. */
CUresult bodies_launch(struct step *s, hd_stream *stream, CUcontext c);
CUresult updatable_launch(const struct work *w, hd_stream *stream, CUcontext c);

/* ---- launching: graph_branch.c ---- */

/* Call it once, when the steps are complete. */
CUresult branches_find(CUgraphExec x);
CUresult branches_launch(CUgraphExec x, hd_stream *stream, CUcontext c);
struct graph_run;
/* Launches the graph in its own streams. `after`: a further event to wait for, or NULL; `ended` is
 * recorded at its end. */
CUresult branches_launch_apart(CUgraphExec x, CUcontext c, struct graph_run *run, hd_event *after, hd_event *ended);

/* ---- graphs that kernels launch: graph_device.c ---- */

/* The record of a host launch of a graph whose kernels launch graphs. It belongs to the launch's
 * kernels; it is freed if they cannot be submitted. */
CUresult run_new(CUgraphExec x, CUcontext c, struct graph_run **run);
CUresult run_finish(struct graph_run *run, hd_stream *stream);
void run_free(struct graph_run *run);
/* Has a kernel launched it? Then its graph is the last uploaded state. */
bool run_is_by_kernel(const struct graph_run *run);
/* hd_context_options.launch_graph */
int run_launch_graph(void *data, hd_kernel_call *call, void *graph_run, uint64_t graph, uint64_t stream);

#endif

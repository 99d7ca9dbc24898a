/* The fields of records; see records.h. */
#include "record/records.h"

const char *const record_names[RECORD_KINDS] = {
    [RECORD_SOURCE] = "source",
    [RECORD_FILE] = "file",
    [RECORD_LINE] = "line",
    [RECORD_LOC] = "loc",
    [RECORD_KERNEL] = "kernel",
    [RECORD_VARIABLE] = "variable",
    [RECORD_SITE] = "site",
    [RECORD_MISUSE] = "misuse",
    [RECORD_FRAMES] = "frame",
    [RECORD_CHECKER] = "checker",
    [RECORD_HOST] = "host",
    [RECORD_MEMORY] = "memory",
    [RECORD_RULE] = "rule",
    [RECORD_LAUNCH] = "launch",
    [RECORD_GRID] = "grid",
    [RECORD_BLOCK] = "block",
    [RECORD_END] = "end",
    [RECORD_ACCESS] = "access",
    [RECORD_PERFORMED] = "performed",
    [RECORD_ISSUE] = "issue",
    [RECORD_MATRIX] = "matrix",
    [RECORD_OVERTAKE] = "overtake",
    [RECORD_FAULT] = "fault",
    [RECORD_HEAP] = "heap",
    [RECORD_ENTER] = "enter",
    [RECORD_SYNC] = "sync",
    [RECORD_ANSWER] = "answer",
    [RECORD_SUMMARY] = "summary",
    [RECORD_DONE] = "done",
};

static const char *const hosts[HOST_EVENT_KINDS] = {"submit", "begin",   "done",      "wait",    "close",
                                                    "range",  "access",  "undefined", "defined", "copied",
                                                    "forget", "written", "launched",  "finish"};
static const char *const site_kinds[] = {"other", "load",  "store", "atom",   "red",   "fence", "barrier", "mbarrier",
                                         "copy",  "group", "warp",  "matrix", "wgmma", "call",  "exit"};
static const char *const patterns[] = {"any", "uniform", "linear", "uniform-halves", "linear-halves"};
static const char *const answers[ANSWER_KINDS] = {"users", "alike", "describe", "buffer", "behind"};
/* By enum event_kind, from EVENT_BARRIER_ARRIVE on. */
static const char *const syncs[] = {"arrive",       "counts",          "mixed",        "open",           "meet",
                                    "fence",        "group",           "exit",         "cluster-arrive", "cluster-open",
                                    "cluster-wait", "mbarrier-arrive", "mbarrier-wait"};
_Static_assert(sizeof syncs / sizeof *syncs == EVENT_KINDS - EVENT_BARRIER_ARRIVE, "a name for each");

/* Each lane's bytes are of these sizes, or of a range. */
static void space(struct codec *c, const char *name, uint8_t *v)
{
    static const char *const words[] = {"global", "shared", "local"};
    static const uint8_t spaces[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL};
    uint64_t i = *v == SPACE_SHARED ? 1 : *v == SPACE_LOCAL ? 2 : 0;
    codec_word(c, name, &i, words, 3);
    *v = spaces[i];
}

/* Orders and scopes as PTX writes them; in a byte each. */
static void order(struct codec *c, const char *name, uint8_t *v)
{
    static const char *const words[] = {"weak", "relaxed", "acquire", "release", "acq_rel", "sc"};
    uint64_t i = *v;
    codec_word(c, name, &i, words, sizeof words / sizeof *words);
    *v = (uint8_t)i;
}

static void scope(struct codec *c, const char *name, uint8_t *v)
{
    static const char *const words[] = {"none", "cta", "cluster", "gpu", "sys"};
    static const uint8_t scopes[] = {MOD_none, MOD_cta, MOD_cluster, MOD_gpu, MOD_sys};
    uint64_t i = 0;
    while (!c->reads && i + 1 < sizeof scopes && scopes[i] != *v)
        i++;
    codec_word(c, name, &i, words, sizeof scopes);
    *v = scopes[i];
}

static void state_space(struct codec *c, const char *name, enum ptx_space *v)
{
    static const char *const words[] = {"generic", "global", "const", "shared", "local", "param"};
    static const enum ptx_space spaces[] = {SPACE_GENERIC, SPACE_GLOBAL, SPACE_CONST,
                                            SPACE_SHARED,  SPACE_LOCAL,  SPACE_PARAM};
    uint64_t i = 0, n = sizeof spaces / sizeof *spaces;
    while (!c->reads && i + 1 < n && spaces[i] != *v)
        i++;
    codec_word(c, name, &i, words, (unsigned)n);
    *v = spaces[i];
}

/* What is written as a number is one of these tables' or of an enum of ir/ir.h: where they change, it is another version. */
_Static_assert(RECORD_VERSION == 1 && TYPE_COUNT == 49 && ATOM_COUNT == 10 && FAULT_COUNT == 35,
               "RECORD_VERSION grows with these tables");

static void visit_site(struct codec *c, struct record *r)
{
    struct site *s = &r->site.site;
    CODEC_NUMBER(c, "kernel", r->site.kernel);
    CODEC_NUMBER(c, "number", s->number);
    CODEC_WORD(c, "kind", s->kind, site_kinds);
    CODEC_NUMBER(c, "mode", s->mode);
    CODEC_LANES(c, "fence", s->fence);
    order(c, "order", &s->order);
    scope(c, "scope", &s->scope);
    CODEC_FLAG(c, "reads", s->reads);
    CODEC_FLAG(c, "writes", s->writes);
    CODEC_FLAG(c, "aligned", s->aligned);
    CODEC_FLAG(c, "whole", s->whole);
    CODEC_FLAG(c, "active", s->active);
    CODEC_FLAG(c, "signals", s->signals);
    CODEC_FLAG(c, "accesses", s->accesses);
    state_space(c, "space", &s->access.space);
    CODEC_NUMBER(c, "bytes", s->access.bytes);
    CODEC_NUMBER(c, "elements", s->access.n);
    CODEC_FLAG(c, "volatile", s->access.is_volatile);
    order(c, "memory_order", &s->access.order);
    scope(c, "memory_scope", &s->access.scope);
    CODEC_NUMBER(c, "atom", s->access.atom);
    CODEC_NUMBER(c, "type", s->access.type);
    CODEC_NUMBER(c, "imm", s->imm);
    CODEC_NUMBER(c, "function", s->function);
    CODEC_NUMBER(c, "block", s->block);
    CODEC_NUMBER(c, "instruction", r->site.instruction);
    codec_text(c, "opcode", &s->opcode);
    CODEC_NUMBER(c, "source", r->site.source);
    CODEC_NUMBER(c, "offset", r->site.offset);
    CODEC_NUMBER(c, "length", r->site.length);
    CODEC_NUMBER(c, "line", r->site.line);
    CODEC_NUMBER(c, "loc", r->site.loc);
}

static void visit_host(struct codec *c, struct record *r)
{
    CODEC_WORD(c, "kind", r->host.kind, hosts);
    CODEC_NUMBER(c, "checker", r->host.checker);
    CODEC_NUMBER(c, "task", r->host.task);
    CODEC_NUMBER(c, "strand", r->host.strand);
    CODEC_NUMBER(c, "strand_after", r->host.strand_after);
    CODEC_NUMBER(c, "does", r->host.task_kind);
    CODEC_NUMBER(c, "stream", r->host.stream);
    codec_address(c, "place", &r->host.place, 0);
    codec_address(c, "address", &r->host.address, 1);
    CODEC_NUMBER(c, "bytes", r->host.bytes);
    codec_address(c, "from", &r->host.from, 2);
    CODEC_FLAG(c, "programmatic", r->host.programmatic);
    CODEC_FLAG(c, "write", r->host.write);
    CODEC_FLAG(c, "whole", r->host.whole);
    CODEC_FLAG(c, "done", r->host.done);
    codec_text(c, "name", &r->host.name);
    codec_list(c, "tasks", &r->host.tasks, false);
}

static void visit_grid(struct codec *c, struct record *r)
{
    static const char *const grid[] = {"grid_x", "grid_y", "grid_z"}, *const block[] = {"block_x", "block_y",
                                                                                        "block_z"};
    CODEC_NUMBER(c, "launch", r->grid.launch);
    CODEC_NUMBER(c, "number", r->grid.number);
    CODEC_NUMBER(c, "task", r->grid.task);
    for (int i = 0; i < 3; i++)
        CODEC_NUMBER(c, grid[i], r->grid.grid[i]);
    for (int i = 0; i < 3; i++)
        CODEC_NUMBER(c, block[i], r->grid.block[i]);
    CODEC_NUMBER(c, "cluster", r->grid.cluster);
    CODEC_NUMBER(c, "shared_bytes", r->grid.shared_bytes);
    CODEC_NUMBER(c, "reserved_start", r->grid.reserved_start);
    CODEC_NUMBER(c, "reserved_bytes", r->grid.reserved_bytes);
    CODEC_FLAG(c, "writes_known", r->grid.writes_known);
    codec_list(c, "writes", &r->grid.writes, true);
}

static void visit_block(struct codec *c, struct record *r)
{
    CODEC_NUMBER(c, "id", r->block.id);
    CODEC_NUMBER(c, "launch", r->block.launch);
    CODEC_NUMBER(c, "index", r->block.index);
    CODEC_NUMBER(c, "x", r->block.ctaid[0]);
    CODEC_NUMBER(c, "y", r->block.ctaid[1]);
    CODEC_NUMBER(c, "z", r->block.ctaid[2]);
    CODEC_NUMBER(c, "rank", r->block.rank);
    CODEC_NUMBER(c, "peer", r->block.peer);
    codec_address(c, "shared", &r->block.shared, 3);
    CODEC_NUMBER(c, "worker", r->block.worker);
}

/* Addresses are near those of the same instruction before. */
static void visit_access(struct codec *c, struct record *r)
{
    CODEC_NUMBER(c, "block", r->access.block);
    CODEC_NUMBER(c, "warp", r->access.warp);
    CODEC_NUMBER(c, "site", r->access.site);
    space(c, "space", &r->access.space);
    CODEC_NUMBER(c, "owner", r->access.owner);
    CODEC_WORD(c, "pattern", r->access.pattern, patterns);
    CODEC_LANES(c, "lanes", r->access.lanes);
    CODEC_NUMBER(c, "bytes", r->access.bytes);
    CODEC_FLAG(c, "reads", r->access.reads);
    CODEC_FLAG(c, "writes", r->access.writes);
    CODEC_FLAG(c, "strong", r->access.strong);
    codec_address(c, "base", &r->access.base, 16 + r->access.site);
    codec_list(c, "address", &r->access.address, true);
    CODEC_FLAG(c, "async", r->access.is_async);
    CODEC_NUMBER(c, "signals", r->access.signals);
    CODEC_NUMBER(c, "object", r->access.object);
    CODEC_FLAG(c, "parity", r->access.parity);
    CODEC_FLAG(c, "copies", r->access.has_source);
    space(c, "source_space", &r->access.source_space);
    CODEC_NUMBER(c, "source_owner", r->access.source_owner);
    codec_address(c, "source", &r->access.source_address, 4);
    CODEC_NUMBER(c, "source_bytes", r->access.source_bytes);
}

static void visit_sync(struct codec *c, struct record *r)
{
    uint64_t kind = r->sync.kind - EVENT_BARRIER_ARRIVE;
    codec_word(c, "kind", &kind, syncs, sizeof syncs / sizeof *syncs);
    r->sync.kind = (enum event_kind)(EVENT_BARRIER_ARRIVE + kind);
    CODEC_NUMBER(c, "block", r->sync.block);
    CODEC_NUMBER(c, "warp", r->sync.warp);
    CODEC_NUMBER(c, "site", r->sync.site);
    CODEC_LANES(c, "lanes", r->sync.lanes);
    CODEC_NUMBER(c, "id", r->sync.id);
    CODEC_NUMBER(c, "threads", r->sync.threads);
    CODEC_LANES(c, "mask", r->sync.membermask);
    CODEC_NUMBER(c, "owner", r->sync.owner);
    CODEC_NUMBER(c, "address", r->sync.address);
    order(c, "order", &r->sync.order);
    scope(c, "scope", &r->sync.scope);
    CODEC_FLAG(c, "parity", r->sync.parity);
    CODEC_FLAG(c, "completes", r->sync.completes);
    CODEC_FLAG(c, "invalid", r->sync.invalid);
    codec_list(c, "sources", &r->sync.sources, false);
    CODEC_NUMBER(c, "first", r->sync.first);
    CODEC_NUMBER(c, "expected", r->sync.expected);
    codec_list(c, "waited", &r->sync.waited, true);
    codec_list(c, "arrived", &r->sync.arrived, true);
    codec_list(c, "party_block", &r->sync.party_block, false);
    codec_list(c, "party_warp", &r->sync.party_warp, false);
    codec_list(c, "party_lanes", &r->sync.party_lanes, true);
    codec_list(c, "party_site", &r->sync.party_site, false);
    codec_list(c, "party_call", &r->sync.party_call, false);
    codec_list(c, "party_alone", &r->sync.party_alone, false);
    codec_list(c, "wait_site", &r->sync.wait_site, false);
    codec_list(c, "waiting", &r->sync.waiting, true);
    codec_list(c, "wait_barrier", &r->sync.wait_barrier, false);
}

static void visit_issue(struct codec *c, struct record *r)
{
    CODEC_NUMBER(c, "block", r->issue.block);
    CODEC_NUMBER(c, "warp", r->issue.warp);
    CODEC_NUMBER(c, "site", r->issue.site);
    CODEC_LANES(c, "lanes", r->issue.lanes);
    CODEC_NUMBER(c, "bytes", r->issue.bytes);
    CODEC_LANES(c, "ranks", r->issue.ranks);
    CODEC_NUMBER(c, "signals", r->issue.signals);
    CODEC_NUMBER(c, "object", r->issue.object);
    CODEC_FLAG(c, "tensor", r->issue.of_tensor);
    codec_list(c, "to", &r->issue.to, true);
    codec_list(c, "from", &r->issue.from, true);
    codec_list(c, "taken", &r->issue.taken, false);
    codec_list(c, "ranges", &r->issue.ranges, true);
}

static void visit_still(struct codec *c, struct record *r)
{
    switch (r->kind) {
    case RECORD_SOURCE:
        CODEC_NUMBER(c, "id", r->source.id);
        codec_text(c, "name", &r->source.name);
        codec_text(c, "text", &r->source.text);
        break;
    case RECORD_FILE:
        CODEC_NUMBER(c, "id", r->file.id);
        codec_text(c, "name", &r->file.name);
        break;
    case RECORD_LINE:
        CODEC_NUMBER(c, "id", r->line.id);
        CODEC_NUMBER(c, "shown", r->line.shown);
        codec_list(c, "files", &r->line.files, false);
        codec_list(c, "lines", &r->line.lines, false);
        break;
    case RECORD_LOC:
        CODEC_NUMBER(c, "id", r->loc.id);
        CODEC_NUMBER(c, "file", r->loc.file);
        CODEC_NUMBER(c, "line", r->loc.line);
        CODEC_NUMBER(c, "column", r->loc.column);
        CODEC_FLAG(c, "inlined", r->loc.inlined);
        CODEC_NUMBER(c, "at_file", r->loc.at_file);
        CODEC_NUMBER(c, "at_line", r->loc.at_line);
        CODEC_NUMBER(c, "at_column", r->loc.at_column);
        CODEC_NUMBER(c, "at", r->loc.at);
        break;
    case RECORD_KERNEL:
        CODEC_NUMBER(c, "id", r->kernel.id);
        codec_text(c, "name", &r->kernel.name);
        CODEC_NUMBER(c, "sites", r->kernel.sites);
        CODEC_NUMBER(c, "shared_bytes", r->kernel.static_shared_bytes);
        CODEC_FLAG(c, "clustered", r->kernel.clustered);
        CODEC_FLAG(c, "async", r->kernel.has_async);
        break;
    case RECORD_VARIABLE:
        CODEC_NUMBER(c, "kernel", r->variable.kernel);
        codec_text(c, "name", &r->variable.name);
        CODEC_NUMBER(c, "at", r->variable.at);
        CODEC_NUMBER(c, "bytes", r->variable.bytes);
        break;
    case RECORD_SITE: visit_site(c, r); break;
    case RECORD_MISUSE:
        CODEC_NUMBER(c, "kernel", r->misuse.kernel);
        CODEC_NUMBER(c, "function", r->misuse.function);
        CODEC_NUMBER(c, "block", r->misuse.block);
        CODEC_NUMBER(c, "site", r->misuse.site);
        CODEC_NUMBER(c, "what", r->misuse.what);
        break;
    case RECORD_FRAMES:
        codec_address(c, "place", &r->frames.place, 0);
        codec_text(c, "function", &r->frames.function);
        codec_text(c, "file", &r->frames.file);
        CODEC_NUMBER(c, "line", r->frames.line);
        codec_text(c, "object", &r->frames.object);
        CODEC_NUMBER(c, "offset", r->frames.offset);
        break;
    default:
        CODEC_NUMBER(c, "id", r->checker.id);
        CODEC_LANES(c, "tools", r->checker.tools);
        CODEC_NUMBER(c, "on_error", r->checker.on_error);
        CODEC_NUMBER(c, "shadow_bytes", r->checker.shadow_bytes);
        break;
    }
}

static void visit_event(struct codec *c, struct record *r)
{
    switch (r->kind) {
    case RECORD_HOST: visit_host(c, r); break;
    case RECORD_MEMORY:
        CODEC_NUMBER(c, "checker", r->memory.checker);
        codec_address(c, "address", &r->memory.address, 1);
        CODEC_NUMBER(c, "bytes", r->memory.bytes);
        CODEC_NUMBER(c, "kind", r->memory.mem);
        codec_text(c, "name", &r->memory.name);
        break;
    case RECORD_RULE:
        codec_address(c, "start", &r->rule.start, 1);
        codec_address(c, "end", &r->rule.end, 1);
        CODEC_LANES(c, "uses", r->rule.uses);
        CODEC_FLAG(c, "given", r->rule.given);
        codec_text(c, "name", &r->rule.name);
        break;
    case RECORD_LAUNCH:
        CODEC_NUMBER(c, "id", r->launch.id);
        CODEC_NUMBER(c, "checker", r->launch.checker);
        CODEC_NUMBER(c, "kernel", r->launch.kernel);
        CODEC_FLAG(c, "ruled", r->launch.ruled);
        break;
    case RECORD_GRID: visit_grid(c, r); break;
    case RECORD_BLOCK: visit_block(c, r); break;
    case RECORD_END: CODEC_NUMBER(c, "id", r->block.id); break;
    case RECORD_ACCESS: visit_access(c, r); break;
    case RECORD_PERFORMED: CODEC_LANES(c, "wrote", r->access.wrote); break;
    case RECORD_ISSUE: visit_issue(c, r); break;
    case RECORD_MATRIX:
        CODEC_NUMBER(c, "block", r->matrix.block);
        CODEC_NUMBER(c, "warp", r->matrix.warp);
        CODEC_NUMBER(c, "site", r->matrix.site);
        CODEC_LANES(c, "lanes", r->matrix.lanes);
        codec_address(c, "address", &r->matrix.address, 5);
        CODEC_NUMBER(c, "bytes", r->matrix.bytes);
        break;
    case RECORD_OVERTAKE:
        CODEC_NUMBER(c, "block", r->overtake.block);
        CODEC_NUMBER(c, "lane", r->overtake.lane);
        CODEC_NUMBER(c, "copy", r->overtake.copy);
        CODEC_FLAG(c, "written", r->overtake.written);
        break;
    case RECORD_FAULT:
        CODEC_NUMBER(c, "block", r->fault.block);
        CODEC_NUMBER(c, "warp", r->fault.warp);
        CODEC_NUMBER(c, "site", r->fault.site);
        CODEC_NUMBER(c, "lane", r->fault.lane);
        CODEC_NUMBER(c, "fault", r->fault.fault);
        space(c, "space", &r->fault.space);
        codec_address(c, "address", &r->fault.address, 6);
        CODEC_NUMBER(c, "bytes", r->fault.bytes);
        CODEC_NUMBER(c, "window", r->fault.window);
        CODEC_FLAG(c, "writes", r->fault.writes);
        break;
    case RECORD_HEAP:
        CODEC_NUMBER(c, "block", r->heap.block);
        CODEC_NUMBER(c, "warp", r->heap.warp);
        CODEC_NUMBER(c, "site", r->heap.site);
        CODEC_NUMBER(c, "lane", r->heap.lane);
        CODEC_FLAG(c, "free", r->heap.is_free);
        codec_address(c, "address", &r->heap.address, 7);
        CODEC_NUMBER(c, "bytes", r->heap.bytes);
        break;
    case RECORD_ENTER:
        CODEC_NUMBER(c, "block", r->enter.block);
        CODEC_NUMBER(c, "warp", r->enter.warp);
        CODEC_LANES(c, "lanes", r->enter.lanes);
        CODEC_NUMBER(c, "function", r->enter.function);
        CODEC_NUMBER(c, "code", r->enter.code_block);
        codec_list(c, "wait_site", &r->enter.site, false);
        codec_list(c, "left", &r->enter.left, false);
        codec_list(c, "waiting", &r->enter.waiting, true);
        codec_list(c, "wait_barrier", &r->enter.barrier, false);
        break;
    default: visit_sync(c, r); break;
    }
}

void record_visit(struct codec *c, struct record *r)
{
    if (r->kind < RECORD_FIRST_EVENT) {
        visit_still(c, r);
    } else if (r->kind < RECORD_FIRST_OTHER) {
        visit_event(c, r);
    } else if (r->kind == RECORD_ANSWER) {
        CODEC_WORD(c, "kind", r->answer.kind, answers);
        CODEC_NUMBER(c, "at", r->answer.position);
        codec_address(c, "key", &r->answer.key, 8);
        CODEC_NUMBER(c, "value", r->answer.value);
        codec_text(c, "text", &r->answer.text);
        codec_list(c, "list", &r->answer.list, true);
    } else if (r->kind == RECORD_SUMMARY) {
        codec_text(c, "program", &r->summary.program);
        codec_text(c, "findings", &r->summary.findings);
    }
}

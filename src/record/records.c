/* The fields of records; see records.h. */
#include "record/records.h"

#include <string.h>

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

static const char *const hosts[HOST_EVENT_KINDS] = {"submit", "begin",  "done",    "wait",      "learn",
                                                    "close",  "range",  "access",  "undefined", "defined",
                                                    "copied", "forget", "written", "launched",  "finish"};
static const char *const site_kinds[] = {"other", "load",  "store", "atom",   "red",   "fence", "barrier", "mbarrier",
                                         "copy",  "group", "warp",  "matrix", "wgmma", "call",  "exit"};
static const char *const patterns[] = {"any", "uniform", "linear", "uniform-halves", "linear-halves"};
static const char *const answers[ANSWER_KINDS] = {"users", "alike", "describe", "buffer", "behind"};
/* By enum event_kind, from EVENT_BARRIER_ARRIVE on. */
static const char *const syncs[] = {"arrive",       "counts",          "mixed",        "open",           "meet",
                                    "fence",        "group",           "exit",         "cluster-arrive", "cluster-open",
                                    "cluster-wait", "mbarrier-arrive", "mbarrier-wait"};
_Static_assert(sizeof syncs / sizeof *syncs == EVENT_KINDS - EVENT_BARRIER_ARRIVE, "a name for each");

/* A field that is a member of struct record. */
struct field {
    const char *name;
    enum { FIELD_NUMBER, FIELD_SET, FIELD_WORD, FIELD_TEXT, FIELD_LIST, FIELD_ADDRESSES, FIELD_ADDRESS } how;
    uint16_t at, size;
    uint64_t most; /* the largest number or set; the number of words; an address's context */
    const char *const *words;
};

#define MEMBER(m) ((struct record *)0)->m
#define FIELD(name, how, m, most, words)                                                                               \
    {(name), FIELD_##how, offsetof(struct record, m), sizeof MEMBER(m), (most), (words)}
#define NUMBER(name, m)                                                                                                \
    FIELD(name, NUMBER, m, (typeof(MEMBER(m)))-1 > 0 ? (uint64_t)(typeof(MEMBER(m)))-1 : INT64_MAX, NULL)
#define FLAG(name, m)             FIELD(name, NUMBER, m, 1, NULL)
#define LANES(name, m)            FIELD(name, SET, m, UINT32_MAX, NULL)
#define WORD(name, m, w)          FIELD(name, WORD, m, sizeof(w) / sizeof *(w), w)
#define TEXT(name, m)             FIELD(name, TEXT, m, 0, NULL)
#define LIST(name, m)             FIELD(name, LIST, m, 0, NULL)
#define ADDRESSES(name, m)        FIELD(name, ADDRESSES, m, 0, NULL)
#define ADDRESS(name, m, context) FIELD(name, ADDRESS, m, context, NULL)

static void visit_number(struct codec *c, void *at, const struct field *f)
{
    uint64_t v = 0;
    memcpy(&v, at, f->size); /* little-endian: the first bytes are the low ones */
    if (f->how == FIELD_WORD)
        codec_word(c, f->name, &v, f->words, (unsigned)f->most);
    else if (f->how == FIELD_SET)
        codec_set(c, f->name, &v, f->most);
    else
        codec_number(c, f->name, &v, f->most);
    memcpy(at, &v, f->size);
}

static void visit_fields(struct codec *c, struct record *r, const struct field *f, size_t n)
{
    for (; n > 0; n--, f++) {
        void *at = (char *)r + f->at;
        switch (f->how) {
        case FIELD_TEXT: codec_text(c, f->name, at); break;
        case FIELD_LIST:
        case FIELD_ADDRESSES: codec_list(c, f->name, at, f->how == FIELD_ADDRESSES); break;
        case FIELD_ADDRESS: codec_address(c, f->name, at, f->most); break;
        default: visit_number(c, at, f); break;
        }
    }
}

#define VISIT(c, r, fields) visit_fields((c), (r), (fields), sizeof(fields) / sizeof *(fields))

/* The sizes of each lane's bytes, or of a range. */
static void space(struct codec *c, const char *name, uint8_t *v)
{
    static const char *const words[] = {"global", "shared", "local"};
    static const uint8_t spaces[] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL};
    uint64_t i = *v == SPACE_SHARED ? 1 : *v == SPACE_LOCAL ? 2 : 0;
    codec_word(c, name, &i, words, 3);
    *v = spaces[i];
}

/* Orders and scopes in PTX's words; a byte each. */
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

/* Numbers in records are indexes in these tables, or values of enums in ir/ir.h: a change there
 * needs a new version. */
_Static_assert(RECORD_VERSION == 5 && TYPE_COUNT == 49 && ATOM_COUNT == 10 && FAULT_COUNT == 49,
               "RECORD_VERSION grows with these tables");

static const struct field site_fields[] = {
    NUMBER("kernel", site.kernel),  NUMBER("number", site.site.number), WORD("kind", site.site.kind, site_kinds),
    NUMBER("mode", site.site.mode), LANES("fence", site.site.fence),
};
static const struct field site_fields_2[] = {
    FLAG("reads", site.site.reads),       FLAG("writes", site.site.writes), FLAG("aligned", site.site.aligned),
    FLAG("whole", site.site.whole),       FLAG("active", site.site.active), FLAG("signals", site.site.signals),
    FLAG("accesses", site.site.accesses),
};
static const struct field site_fields_3[] = {
    NUMBER("bytes", site.site.access.bytes),
    NUMBER("elements", site.site.access.n),
    FLAG("volatile", site.site.access.is_volatile),
};
static const struct field site_fields_4[] = {
    NUMBER("atom", site.site.access.atom),
    NUMBER("type", site.site.access.type),
    NUMBER("imm", site.site.imm),
    NUMBER("function", site.site.function),
    NUMBER("block", site.site.block),
    NUMBER("instruction", site.instruction),
    TEXT("opcode", site.site.opcode),
    NUMBER("source", site.source),
    NUMBER("offset", site.offset),
    NUMBER("length", site.length),
    NUMBER("line", site.line),
    NUMBER("loc", site.loc),
};

static void visit_site(struct codec *c, struct record *r)
{
    struct site *s = &r->site.site;
    VISIT(c, r, site_fields);
    order(c, "order", &s->order);
    scope(c, "scope", &s->scope);
    VISIT(c, r, site_fields_2);
    state_space(c, "space", &s->access.space);
    VISIT(c, r, site_fields_3);
    order(c, "memory_order", &s->access.order);
    scope(c, "memory_scope", &s->access.scope);
    VISIT(c, r, site_fields_4);
}

static const struct field host_fields[] = {
    WORD("kind", host.kind, hosts),
    NUMBER("checker", host.checker),
    NUMBER("task", host.task),
    NUMBER("timeline", host.timeline),
    NUMBER("timeline_after", host.timeline_after),
    NUMBER("does", host.task_kind),
    NUMBER("stream", host.stream),
    ADDRESS("place", host.place, 0),
    ADDRESS("address", host.address, 1),
    NUMBER("bytes", host.bytes),
    ADDRESS("from", host.from, 2),
    FLAG("programmatic", host.programmatic),
    NUMBER("by", host.by),
    FLAG("tail", host.tail),
    NUMBER("block", host.block),
    NUMBER("warp", host.warp),
    NUMBER("lane", host.lane),
    FLAG("write", host.write),
    FLAG("whole", host.whole),
    FLAG("done", host.done),
    TEXT("name", host.name),
    LIST("tasks", host.tasks),
};

static void visit_host(struct codec *c, struct record *r)
{
    VISIT(c, r, host_fields);
}

static const struct field grid_fields[] = {
    NUMBER("launch", grid.launch),
    NUMBER("number", grid.number),
    NUMBER("task", grid.task),
    ADDRESS("place", grid.place, 0),
};
static const struct field grid_fields_2[] = {
    NUMBER("cluster", grid.cluster),
    NUMBER("shared_bytes", grid.shared_bytes),
    NUMBER("reserved_start", grid.reserved_start),
    NUMBER("reserved_bytes", grid.reserved_bytes),
    FLAG("writes_known", grid.writes_known),
    ADDRESSES("writes", grid.writes),
};

static void visit_grid(struct codec *c, struct record *r)
{
    static const char *const grid[] = {"grid_x", "grid_y", "grid_z"}, *const block[] = {"block_x", "block_y",
                                                                                        "block_z"};
    VISIT(c, r, grid_fields);
    for (int i = 0; i < 3; i++)
        CODEC_NUMBER(c, grid[i], r->grid.grid[i]);
    for (int i = 0; i < 3; i++)
        CODEC_NUMBER(c, block[i], r->grid.block[i]);
    VISIT(c, r, grid_fields_2);
}

static const struct field block_fields[] = {
    NUMBER("id", block.id),         NUMBER("launch", block.launch), NUMBER("index", block.index),
    NUMBER("x", block.ctaid[0]),    NUMBER("y", block.ctaid[1]),    NUMBER("z", block.ctaid[2]),
    NUMBER("rank", block.rank),     NUMBER("peer", block.peer),     ADDRESS("shared", block.shared, 3),
    NUMBER("worker", block.worker),
};

static void visit_block(struct codec *c, struct record *r)
{
    VISIT(c, r, block_fields);
}

/* An access is near the last one of the same instruction. */
static const struct field access_fields[] = {
    NUMBER("block", access.block),
    NUMBER("warp", access.warp),
    NUMBER("site", access.site),
};
static const struct field access_fields_2[] = {
    NUMBER("owner", access.owner), WORD("pattern", access.pattern, patterns),
    LANES("lanes", access.lanes),  NUMBER("bytes", access.bytes),
    FLAG("reads", access.reads),   FLAG("writes", access.writes),
    FLAG("strong", access.strong),
};
static const struct field access_fields_3[] = {
    ADDRESSES("address", access.address), FLAG("async", access.is_async), NUMBER("signals", access.signals),
    NUMBER("object", access.object),      FLAG("parity", access.parity),  FLAG("copies", access.has_source),
};
static const struct field access_fields_4[] = {
    NUMBER("source_owner", access.source_owner),
    ADDRESS("source", access.source_address, 4),
    NUMBER("source_bytes", access.source_bytes),
};

static void visit_access(struct codec *c, struct record *r)
{
    VISIT(c, r, access_fields);
    space(c, "space", &r->access.space);
    VISIT(c, r, access_fields_2);
    codec_address(c, "base", &r->access.base, 16 + r->access.site);
    VISIT(c, r, access_fields_3);
    space(c, "source_space", &r->access.source_space);
    VISIT(c, r, access_fields_4);
}

static const struct field sync_fields[] = {
    NUMBER("block", sync.block),    NUMBER("warp", sync.warp),   NUMBER("site", sync.site),
    LANES("lanes", sync.lanes),     NUMBER("id", sync.id),       NUMBER("threads", sync.threads),
    LANES("mask", sync.membermask), NUMBER("owner", sync.owner), NUMBER("address", sync.address),
};
static const struct field sync_fields_2[] = {
    FLAG("parity", sync.parity),
    FLAG("completes", sync.completes),
    FLAG("invalid", sync.invalid),
    LIST("sources", sync.sources),
    NUMBER("first", sync.first),
    NUMBER("expected", sync.expected),
    ADDRESSES("waited", sync.waited),
    ADDRESSES("arrived", sync.arrived),
    LIST("party_block", sync.party_block),
    LIST("party_warp", sync.party_warp),
    ADDRESSES("party_lanes", sync.party_lanes),
    LIST("party_site", sync.party_site),
    LIST("party_call", sync.party_call),
    LIST("party_alone", sync.party_alone),
    LIST("wait_site", sync.wait_site),
    ADDRESSES("waiting", sync.waiting),
    LIST("wait_barrier", sync.wait_barrier),
};

static void visit_sync(struct codec *c, struct record *r)
{
    uint64_t kind = r->sync.kind - EVENT_BARRIER_ARRIVE;
    codec_word(c, "kind", &kind, syncs, sizeof syncs / sizeof *syncs);
    r->sync.kind = (enum event_kind)(EVENT_BARRIER_ARRIVE + kind);
    VISIT(c, r, sync_fields);
    order(c, "order", &r->sync.order);
    scope(c, "scope", &r->sync.scope);
    VISIT(c, r, sync_fields_2);
}

static const struct field issue_fields[] = {
    NUMBER("block", issue.block),      NUMBER("warp", issue.warp),     NUMBER("site", issue.site),
    LANES("lanes", issue.lanes),       NUMBER("bytes", issue.bytes),   LANES("ranks", issue.ranks),
    NUMBER("signals", issue.signals),  NUMBER("object", issue.object), FLAG("tensor", issue.of_tensor),
    ADDRESSES("to", issue.to),         ADDRESSES("from", issue.from),  LIST("taken", issue.taken),
    ADDRESSES("ranges", issue.ranges),
};

static void visit_issue(struct codec *c, struct record *r)
{
    VISIT(c, r, issue_fields);
}

static const struct field source_fields[] = {
    NUMBER("id", source.id),
    TEXT("name", source.name),
    TEXT("text", source.text),
};
static const struct field line_fields[] = {
    NUMBER("id", line.id),
    NUMBER("shown", line.shown),
    LIST("files", line.files),
    LIST("lines", line.lines),
};
static const struct field loc_fields[] = {
    NUMBER("id", loc.id),           NUMBER("file", loc.file),           NUMBER("line", loc.line),
    NUMBER("column", loc.column),   FLAG("inlined", loc.inlined),       NUMBER("at_file", loc.at_file),
    NUMBER("at_line", loc.at_line), NUMBER("at_column", loc.at_column), NUMBER("at", loc.at),
};
static const struct field kernel_fields[] = {
    NUMBER("id", kernel.id),
    TEXT("name", kernel.name),
    NUMBER("sites", kernel.sites),
    NUMBER("shared_bytes", kernel.static_shared_bytes),
    FLAG("clustered", kernel.clustered),
    FLAG("async", kernel.has_async),
};
static const struct field variable_fields[] = {
    NUMBER("kernel", variable.kernel),
    TEXT("name", variable.name),
    NUMBER("at", variable.at),
    NUMBER("bytes", variable.bytes),
};
static const struct field misuse_fields[] = {
    NUMBER("kernel", misuse.kernel), NUMBER("function", misuse.function), NUMBER("block", misuse.block),
    NUMBER("site", misuse.site),     NUMBER("what", misuse.what),
};
static const struct field frames_fields[] = {
    ADDRESS("place", frames.place, 0), TEXT("function", frames.function), TEXT("file", frames.file),
    NUMBER("line", frames.line),       TEXT("object", frames.object),     NUMBER("offset", frames.offset),
};
static const struct field checker_fields[] = {
    NUMBER("id", checker.id),
    LANES("tools", checker.tools),
    NUMBER("on_error", checker.on_error),
    NUMBER("shadow_bytes", checker.shadow_bytes),
};

static void visit_definition(struct codec *c, struct record *r)
{
    switch (r->kind) {
    case RECORD_SOURCE: VISIT(c, r, source_fields); break;
    case RECORD_FILE:
        CODEC_NUMBER(c, "id", r->file.id);
        codec_text(c, "name", &r->file.name);
        break;
    case RECORD_LINE: VISIT(c, r, line_fields); break;
    case RECORD_LOC: VISIT(c, r, loc_fields); break;
    case RECORD_KERNEL: VISIT(c, r, kernel_fields); break;
    case RECORD_VARIABLE: VISIT(c, r, variable_fields); break;
    case RECORD_SITE: visit_site(c, r); break;
    case RECORD_MISUSE: VISIT(c, r, misuse_fields); break;
    case RECORD_FRAMES: VISIT(c, r, frames_fields); break;
    default: VISIT(c, r, checker_fields); break;
    }
}

static const struct field memory_fields[] = {
    NUMBER("checker", memory.checker), ADDRESS("address", memory.address, 1),
    NUMBER("bytes", memory.bytes),     NUMBER("kind", memory.mem),
    TEXT("name", memory.name),
};
static const struct field rule_fields[] = {
    ADDRESS("start", rule.start, 1), ADDRESS("end", rule.end, 1), LANES("uses", rule.uses),
    FLAG("given", rule.given),       TEXT("name", rule.name),
};
static const struct field launch_fields[] = {
    NUMBER("id", launch.id),
    NUMBER("checker", launch.checker),
    NUMBER("kernel", launch.kernel),
    FLAG("ruled", launch.ruled),
};
static const struct field matrix_fields[] = {
    NUMBER("block", matrix.block), NUMBER("warp", matrix.warp),           NUMBER("site", matrix.site),
    LANES("lanes", matrix.lanes),  ADDRESS("address", matrix.address, 5), NUMBER("bytes", matrix.bytes),
};
static const struct field overtake_fields[] = {
    NUMBER("block", overtake.block),
    NUMBER("lane", overtake.lane),
    NUMBER("copy", overtake.copy),
    FLAG("written", overtake.written),
};
static const struct field fault_fields[] = {
    NUMBER("block", fault.block), NUMBER("warp", fault.warp),   NUMBER("site", fault.site),
    NUMBER("lane", fault.lane),   NUMBER("fault", fault.fault),
};
static const struct field fault_fields_2[] = {
    ADDRESS("address", fault.address, 6),
    NUMBER("bytes", fault.bytes),
    NUMBER("window", fault.window),
    FLAG("writes", fault.writes),
};
static const struct field heap_fields[] = {
    NUMBER("block", heap.block), NUMBER("warp", heap.warp),  NUMBER("site", heap.site),
    NUMBER("lane", heap.lane),   FLAG("free", heap.is_free), ADDRESS("address", heap.address, 7),
    NUMBER("bytes", heap.bytes),
};
static const struct field enter_fields[] = {
    NUMBER("block", enter.block),       NUMBER("warp", enter.warp),          LANES("lanes", enter.lanes),
    NUMBER("function", enter.function), NUMBER("code", enter.code_block),    LIST("wait_site", enter.site),
    LIST("left", enter.left),           ADDRESSES("waiting", enter.waiting), LIST("wait_barrier", enter.barrier),
};

static void visit_event(struct codec *c, struct record *r)
{
    switch (r->kind) {
    case RECORD_HOST: visit_host(c, r); break;
    case RECORD_MEMORY: VISIT(c, r, memory_fields); break;
    case RECORD_RULE: VISIT(c, r, rule_fields); break;
    case RECORD_LAUNCH: VISIT(c, r, launch_fields); break;
    case RECORD_GRID: visit_grid(c, r); break;
    case RECORD_BLOCK: visit_block(c, r); break;
    case RECORD_END: CODEC_NUMBER(c, "id", r->block.id); break;
    case RECORD_ACCESS: visit_access(c, r); break;
    case RECORD_PERFORMED: CODEC_LANES(c, "wrote", r->access.wrote); break;
    case RECORD_ISSUE: visit_issue(c, r); break;
    case RECORD_MATRIX: VISIT(c, r, matrix_fields); break;
    case RECORD_OVERTAKE: VISIT(c, r, overtake_fields); break;
    case RECORD_FAULT:
        VISIT(c, r, fault_fields);
        space(c, "space", &r->fault.space);
        VISIT(c, r, fault_fields_2);
        break;
    case RECORD_HEAP: VISIT(c, r, heap_fields); break;
    case RECORD_ENTER: VISIT(c, r, enter_fields); break;
    default: visit_sync(c, r); break;
    }
}

void record_visit(struct codec *c, struct record *r)
{
    if (r->kind < RECORD_FIRST_EVENT) {
        visit_definition(c, r);
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

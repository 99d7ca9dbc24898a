/* The contents of a file of events: records of numbers, each defined before it is used.
 * docs/CHECK.md shows a file as text.
 *
 * Definitions (texts, places, kernels and their sites) come once, before the first event that needs
 * them. Then come what the host does (check/check.h: struct host_event) and what launches do
 * (exec/events.h), in the order in which the checker was told. An answer to a question that a
 * checker asked during an event names that event by its position among the file's events.
 */
#ifndef HEDDLE_RECORD_RECORDS_H
#define HEDDLE_RECORD_RECORDS_H

#include "check/world.h"
#include "record/codec.h"

enum record_kind {
    /* Definitions: */
    RECORD_SOURCE,
    RECORD_FILE,
    RECORD_LINE,
    RECORD_LOC,
    RECORD_KERNEL,
    RECORD_VARIABLE,
    RECORD_SITE,
    RECORD_MISUSE,
    RECORD_FRAMES,
    RECORD_CHECKER,
    /* Events: */
    RECORD_FIRST_EVENT,
    RECORD_HOST = RECORD_FIRST_EVENT,
    RECORD_MEMORY,
    RECORD_RULE,
    RECORD_LAUNCH,
    RECORD_GRID,
    RECORD_BLOCK,
    RECORD_END,
    RECORD_ACCESS,
    RECORD_PERFORMED,
    RECORD_ISSUE,
    RECORD_MATRIX,
    RECORD_OVERTAKE,
    RECORD_FAULT,
    RECORD_HEAP,
    RECORD_ENTER,
    RECORD_SYNC,
    /* Others: */
    RECORD_FIRST_OTHER,
    RECORD_ANSWER = RECORD_FIRST_OTHER,
    RECORD_SUMMARY,
    RECORD_DONE, /* the last record */
    RECORD_KINDS
};

enum answer_kind { ANSWER_USERS, ANSWER_ALIKE, ANSWER_DESCRIBE, ANSWER_BUFFER, ANSWER_BEHIND, ANSWER_KINDS };

/* References that may be missing are stored as 1 + the number; 0 is none. */
struct record {
    enum record_kind kind;
    union {
        struct {
            uint32_t id;
            struct str name, text;
        } source;
        struct {
            uint32_t id;
            struct str name;
        } file;
        /* A struct cuda_place: files and lines from the kernel's own to the innermost call. */
        struct {
            uint32_t id, shown;
            struct number_list files, lines;
        } line;
        struct { /* a struct ptx_loc */
            uint32_t id, file, line, column, at_file, at_line, at_column, at;
            bool inlined;
        } loc;
        struct {
            uint32_t id, static_shared_bytes, sites;
            struct str name;
            bool clustered, has_async;
        } kernel;
        struct {
            uint32_t kernel, at;
            uint64_t bytes;
            struct str name;
        } variable;
        struct {
            uint32_t kernel, source, offset, length, line, loc;
            uint64_t instruction;
            struct site site;
        } site;
        struct { /* for wgmma: check/race/wgmma.c */
            uint32_t kernel, function, block, site, what;
        } misuse;
        struct { /* for a place of the host */
            uint64_t place;
            struct str function, file, object;
            uint32_t line;
            uint64_t offset;
        } frames; /* one frame; the frames of a place come from the innermost out */
        struct {
            uint32_t id, tools, on_error;
            uint64_t shadow_bytes;
        } checker;
        struct {
            enum host_event_kind kind;
            uint32_t checker, task, timeline, timeline_after, task_kind, by;
            uint32_t block, warp, lane; /* the thread that submitted the task; block 0: the host */
            uint64_t stream, place, address, bytes, from;
            bool programmatic, tail, write, whole, done;
            struct str name;
            struct number_list tasks;
        } host;
        struct { /* an allocation, or (bytes 0) the end of one */
            uint32_t checker, mem;
            uint64_t address, bytes;
            struct str name;
        } memory;
        struct { /* for the next launch */
            uint64_t start, end;
            uint32_t uses;
            bool given;
            struct str name;
        } rule;
        struct { /* a launch begins; `ruled`: by the rules before it */
            uint32_t id, checker, kernel;
            bool ruled;
        } launch;
        struct { /* for a launch that has begun, before its first block */
            uint32_t launch, task, cluster, shared_bytes, reserved_start, reserved_bytes;
            uint64_t number, place;
            uint32_t grid[3], block[3];
            bool writes_known;
            struct number_list writes; /* struct event_writes: starts and ends */
        } grid;
        struct {
            /* peer: a block of its cluster that started before; 0: none. */
            uint32_t id, launch, rank, peer;
            uint64_t index, shared, worker;
            uint32_t ctaid[3];
        } block; /* RECORD_END: id alone */
        struct {
            uint32_t block, warp, site, owner, lanes, wrote, bytes, signals;
            uint8_t space, pattern;
            bool is_async, reads, writes, strong, parity, has_source;
            uint64_t base, object, source_address, source_bytes;
            uint8_t source_space;
            uint32_t source_owner;
            struct number_list address; /* by lane, if neither UNIFORM nor LINEAR */
        } access; /* RECORD_PERFORMED refers to the warp's last access: block, warp, wrote alone */
        struct {
            uint32_t block, warp, site, lanes, bytes, ranks, signals;
            uint64_t object;
            bool of_tensor;
            struct number_list to, from, taken; /* by lane */
            /* global memory that a copy by a tensor map touches: starts and ends */
            struct number_list ranges;
        } issue;
        struct {
            uint32_t block, warp, site, lanes, bytes;
            uint64_t address;
        } matrix;
        struct {
            uint32_t block, lane, copy;
            bool written;
        } overtake; /* for the block's last access */
        struct {
            uint32_t block, warp, site, lane, bytes;
            uint8_t fault, space;
            bool writes;
            uint64_t address, window;
        } fault;
        struct {
            uint32_t block, warp, site, lane;
            bool is_free;
            uint64_t address, bytes;
        } heap;
        struct {
            uint32_t block, warp, lanes, function, code_block;
            struct number_list site, left, waiting, barrier;
        } enter;
        struct {
            enum event_kind kind;
            uint32_t block, warp, site, lanes, id, threads, membermask, owner, first, expected;
            uint64_t address;
            uint8_t order, scope;
            bool parity, completes, invalid;
            struct number_list sources, waited, arrived;
            struct number_list party_block, party_warp, party_lanes, party_site, party_call, party_alone;
            struct number_list wait_site, waiting, wait_barrier;
        } sync;
        struct {
            enum answer_kind kind;
            uint64_t position, key, value;
            struct str text;
            struct number_list list;
        } answer;
        struct {
            /* findings: as JSON, those that no detector of events made. */
            struct str program, findings;
        } summary;
    };
};

/* The version of the format. */
enum { RECORD_VERSION = 5 };

extern const char *const record_names[RECORD_KINDS];

/* Reads or writes the fields of r->kind. */
void record_visit(struct codec *c, struct record *r);

#endif

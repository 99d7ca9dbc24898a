/* Diagnostics: what is wrong with the user's input, where, and what helps.
 *
 * A diagnostic is data; report/ turns lists of them into text and JSON. Nothing here prints.
 */
#ifndef HEDDLE_BASE_DIAG_H
#define HEDDLE_BASE_DIAG_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "heddle.h"

/* A text being read, kept whole so that a diagnostic can show its line. */
struct source {
    const char *name; /* as the user wrote it */
    struct str text;
    uint32_t lines_before; /* of the file, where the text is only a part of it */
    /* Where each line starts, n_lines of them; NULL: they are counted each time. */
    const uint32_t *lines;
    uint32_t n_lines;
};

/* A copy of name and text in the arena, its lines counted. */
struct source *source_new(struct arena *arena, const char *name, struct str text);

struct place {
    const struct source *source; /* NULL: no place */
    uint32_t offset;             /* of the first byte */
    uint32_t length;             /* bytes to underline */
    /* The line that the user wrote, where the text was made from it; or NULL. */
    const struct cuda_place *cuda;
};

/* A line of CUDA C. What inlined functions have brought to it has a chain of lines, from the
 * kernel's own to the innermost; `file` and `line` are the one of them that the user has to look
 * at: the outermost that is no library's, else the outermost. */
struct cuda_line {
    const char *file;
    uint32_t line;
};
struct cuda_place {
    const char *file;
    uint32_t line;
    const struct cuda_line *chain; /* NULL where nothing is inlined */
    uint32_t n_chain;
    uint32_t shown; /* in the chain */
};

/* The innermost line, where it is another than that of the place; else NULL. */
static inline const struct cuda_line *cuda_innermost(const struct cuda_place *p)
{
    return p->n_chain && p->shown + 1 < p->n_chain ? &p->chain[p->n_chain - 1] : NULL;
}
/* All lines are the same; both may be NULL. */
bool cuda_place_equal(const struct cuda_place *a, const struct cuda_place *b);
/* NULL of NULL. */
const struct cuda_place *cuda_place_copy(struct arena *arena, const struct cuda_place *from);
/* Is it a header of the CUDA toolkit, of CCCL, of Heddle or of the system? */
bool is_library_file(const char *file);
/* Lines and columns count from 1; a column counts bytes. */
struct place_line {
    uint32_t line, column;
    struct str text; /* the line without its end */
};
struct place_line place_locate(struct place p);

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

struct diag {
    enum diag_severity severity;
    const char *code; /* stable, kebab-case: "ptx-syntax" */
    struct place place;
    const char *text;
    const char *help;       /* what to do about it, or NULL */
    uint64_t count;         /* how often it was seen; 0 where that says nothing */
    const hd_frame *frames; /* of the host's call stack, innermost first; or NULL */
    uint32_t n_frames;
    /* The calls that launched the kernel of the place, innermost first; or NULL. */
    const hd_frame *launch;
    uint32_t n_launch;
    /* Findings of a run; NULL where there is nothing to say: */
    const char *kernel; /* that was running, as the source has it */
    /* A stable word that tells findings of one code and place apart. */
    const char *reason;
    const struct diag_origin *origin; /* whose run it was */
};

/* A process that was checked. */
struct diag_origin {
    const char *program;
    int pid; /* 0 where nothing else was checked */
    /* The command that repeats the run; NULL where the one that was typed does. */
    const char *repeat;
    const char *stops; /* the one that stops at what was found in a kernel of it; or NULL */
};

struct diags {
    struct arena *arena;
    VEC(struct diag) list;
    uint32_t errors, warnings;
    /* Errors, and warnings, after this many are counted, not kept; 0 means no limit. */
    uint32_t limit;
    bool dropping; /* the last error or warning was not kept: nor are its notes */
};

/* Are further errors counted only? Then what a message would say of one need not be found out. */
static inline bool diags_full(const struct diags *d)
{
    return d->limit && d->errors >= d->limit;
}

/* Adds an error. `help` may be NULL. Text and help are kept as printable_excerpt() makes them. */
void diag_error(struct diags *d, struct place place, const char *code, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void diag_verror(struct diags *d, struct place place, const char *code, const char *help, const char *format,
                 va_list args);
void diag_warn(struct diags *d, struct place place, const char *code, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* A finding of a run, seen `count` times. */
void diag_finding(struct diags *d, enum diag_severity severity, struct place place, const char *code, const char *help,
                  uint64_t count, const char *format, ...) __attribute__((format(printf, 7, 8)));
/* A finding in what the host does: its line is that of the first frame that has one. A note
 * (severity) has no help and no count. Frames are copied. */
void diag_host(struct diags *d, enum diag_severity severity, const char *code, const char *help, uint64_t count,
               const hd_frame *frames, uint32_t n_frames, const char *text);
/* Of the diagnostic that was added last: the kernel, and what tells it apart; both may be NULL, and
 * are copied. */
void diag_of_kernel(struct diags *d, const char *kernel, const char *reason);
/* Adds, to the diagnostic that was added last and is no note (`of_note`: or is one), copies of the
 * calls that launched its kernel. Adds nothing if all they say is that main has launched it. */
void diag_launched(struct diags *d, const hd_frame *frames, size_t n, bool of_note);
/* Adds copies of all diagnostics of another list; the sources of their places are shared. */
void diags_append(struct diags *to, const struct diags *from);
/* Puts those from element `first` on, which are of one source, in the order of its text. */
void diags_sort(struct diags *d, uint32_t first);
/* A note belongs to the error or warning before it. */
void diag_note(struct diags *d, struct place place, const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

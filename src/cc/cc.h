/* heddle cc, in parts: options.c reads the command line, process.c runs compilers, rewrite.c,
 * operands.c, closures.c and captures.c read sources as nvcc does, fatbin.c packs PTX, units.c
 * finds what has to be linked of objects of -rdc=true, registry.c writes what joins them,
 * diagnostics.c prints what clang says, clusters.c finds kernels with clusters, link.c links,
 * toolkit.c is what build systems take for a toolkit; commands.c has the compilers' command lines,
 * compile.c compiles a file by them, and cc.c leads.
 */
#ifndef HEDDLE_CC_CC_H
#define HEDDLE_CC_CC_H

#include "base/arena.h"
#include "base/opts.h"
#include "base/str.h"
#include "base/vec.h"
#include "heddle.h"

/* The command with its arguments; usage and details are of its help. Returns the exit status. */
int cc_main(int argc, char **argv, const char *usage, const char *details, struct arena *arena);

enum cc_id {
#define CC(id, kind, short_name, long_name, value, help) CC_##id,
#include "cc/flags.def"
#undef CC
    CC_COUNT
};

typedef VEC(const char *) cc_words;

/* What the command line says. */
struct cc_options {
    bool given[CC_COUNT];        /* switches, and all others that were given */
    const char *value[CC_COUNT]; /* the last value */
    cc_words list[CC_COUNT];     /* all values of LIST and LETTER */
    cc_words inputs;
    cc_words host;          /* -f..., -m..., -pthread: for the host's compiler, as they are */
    cc_words both;          /* -W...: for both */
    cc_words link;          /* -Wl,...: for the linker */
    cc_words archs;         /* "75", "90a": each once, at least one */
    cc_words unknown_archs; /* "sm_100": what clang does not know */
    bool rdc;
};

/* Reads the arguments. Returns NULL or what is wrong, in the arena. */
const char *cc_read_options(int argc, char **argv, struct cc_options *o, struct arena *arena);
/* The options that have an effect. */
opt_lines cc_option_lines(struct arena *arena);
/* All options, between what is said before and behind them. */
const char *cc_help(const char *usage, const char *details, struct arena *arena);
/* An option whose value is true or false. */
bool cc_is_true(const struct cc_options *o, enum cc_id id, bool otherwise);

/* "750,900": the numbers of all devices, also of those that clang does not know, each once, the
 * least first. Thrust's and CUB's namespaces are named after it. */
const char *cc_arch_list(const struct cc_options *o, struct arena *arena);
/* Does an option define the macro? */
bool cc_defines(const struct cc_options *o, const char *macro);
/* Is stream 0 the thread's own? As nvcc, by -default-stream or by the macro that this defines. */
bool cc_has_own_streams(const struct cc_options *o);
/* All architectures, a line each, behind `prefix`. */
const char *cc_list_archs(const char *prefix, struct arena *arena);
/* The words of a text, which `separators` part; quotes and backslashes as in a shell. */
void cc_split(const char *text, const char *separators, cc_words *words, struct arena *arena);

/* ---- fatbin.c ---- */

/* PTX for one architecture. */
struct cc_ptx {
    const char *arch; /* "75", "90a" */
    const char *text;
    size_t n;
};

/* A fat binary of PTX, compressed; from malloc. NULL: out of memory. */
void *cc_fatbin(const struct cc_ptx *ptx, size_t n, size_t *bytes);

/* ---- diagnostics.c, user_lines.c, hints.c ---- */

/* A text of the user's that clang reads: the source, or a header. */
struct cc_source {
    const char *path;
    struct str user;     /* what is in it */
    struct str text;     /* what clang reads */
    const char *instead; /* the file that has this, if it is another text; or NULL */
    uint64_t device, inode;
};

/* What clang has said so far. */
struct cc_diagnostics {
    const char *headers; /* the folder of ours */
    bool color;
    cc_words said;
    const struct cc_source *sources;
    uint32_t n_sources;
    bool failed; /* there was an error in a source that clang reads rewritten */
};

/* Prints to stderr what clang says, with places in the user's files, and with hints; but for what
 * has been said before. */
void cc_print_diagnostics(struct cc_diagnostics *d, const char *text, struct arena *arena);
/* The source of the place FILE:LINE:COLUMN, if clang reads another text
 * than the user's; or NULL. */
const struct cc_source *cc_source_at(const struct cc_diagnostics *d, struct str place);
/* The place and the picture of a message about a line of such a source, as the user wrote it.
 * False: they are that already. */
bool cc_users_line(const struct cc_diagnostics *d, struct str *place, struct str *picture, struct arena *arena);
/* What clang says, without what sources are rewritten to. */
struct str cc_users_text(struct str text, struct arena *arena);
/* Does it, or the error that it is a note of, only follow from another mistake in a launch by a
 * kernel? */
bool cc_is_echo(struct str text, struct str picture);
/* What to do about an error, or NULL. */
const char *cc_hint(struct str text, struct arena *arena);

/* ---- rewrite.c ---- */

/* A source as clang reads it, line by line; nothing, .p is NULL, where it is that already. In the
 * arena. */
struct str cc_rewrite(struct str text, struct arena *arena);
/* The three `>` of the launch whose `<` end before `at`: where they are, or 0. */
size_t cc_launch_end(struct str text, size_t at);
/* Behind the comment, string or character that begins at `at`, else `at`. */
size_t cc_skip(struct str text, size_t at);

/* ---- dynamic.c ---- */

/* The same of dynamic shared memory, so that debugging information has its types. */
struct str cc_say_dynamic(struct str text, struct arena *arena);

/* ---- nested.c ---- */

/* The same of launches by kernels, in a source and its headers, whose launches are joined: texts
 * that change are replaced. `in_both`: also in `__host__ __device__` functions. */
void cc_rewrite_nested(struct str *texts, uint32_t n, bool in_both, struct arena *arena);

/* ---- operands.c ---- */

/* An error of a source whose inline assembly names an operand that is not there, or NULL. In the
 * arena. */
const char *cc_check_operands(struct str text, const char *name, struct arena *arena);
/* Does an operand of inline assembly, which ends with the `)` at `close`, lack the comma that clang
 * wants before the next? */
bool cc_operand_without_comma(struct str text, size_t close);

/* ---- closures.c, captures.c, captures.c ---- */

/* Does a source, preprocessed or not, have lambdas whose closures nvcc may lay out otherwise? */
bool cc_has_closures(struct str text, struct arena *arena);
/* The lambdas of a text that may name a constant of the function around. */
struct cc_captures {
    VEC(struct str) lambdas;
    /* Of each, what has its body capture what nvcc's does: statements; NULL: nobody has asked
     * yet. */
    const char **found;
};
/* A preprocessed source for clang to dump whatever has CC_CAPTURES in its name: a variable for each
 * such lambda, with its number. Nothing, .p is NULL, where there is none. In the arena, as all
 * else. */
#define CC_CAPTURES "heddle_captures_"
struct str cc_mark_closures(struct str text, struct cc_captures *captures, struct arena *arena);
/* What clang has said of that text. */
void cc_read_captures(struct str text, struct str dump, struct cc_captures *captures, struct arena *arena);
/* A preprocessed source that lays out closures as nvcc does, with those statements; nothing, .p is
 * NULL, where it has no such lambda. */
struct str cc_lay_out_closures(struct str text, const struct cc_captures *captures, struct arena *arena);
/* Behind the bracket that closes the one at `at`; text.n where none does. */
size_t cc_behind_bracket(struct str text, size_t at);

/* ---- statics.c ---- */

/* The PTX of -rdc=true with one name for each static variable; in the arena, or the same. */
struct str cc_name_statics(struct str ptx, struct arena *arena);

/* ---- clusters.c ---- */

/* May kernels of this PTX have clusters? */
bool cc_has_clusters(struct str ptx);
/* The PTX with the clusters that the LLVM IR of the same file says; in the arena. */
struct str cc_add_clusters(struct str ptx, struct str ir, struct arena *arena);

/* ---- registers.c ---- */

/* The PTX with .maxnreg at the kernels that do not say themselves what they take; in the arena, or
 * the same where it has mistakes. */
struct str cc_limit_registers(struct str ptx, unsigned most, struct arena *arena);

/* ---- process.c ---- */

/* A running program. Its stderr is collected, and its stdout where that is asked for; its stdin is
 * `in` (or empty where that is -1). Two run at a time at most. */
struct process {
    int pid;
    int err, out; /* files that take its stderr and stdout; -1: not ours */
    int in;       /* written to by us, then closed; -1: none */
};
enum process_flags { PROCESS_INPUT = 1, PROCESS_OUTPUT = 2 };

/* Starts argv[0], found by PATH. Returns 0 or an errno: EINTR where a signal has come that ends
 * heddle. */
int process_start(struct process *p, char *const *argv, unsigned flags);
/* Closes its stdin, waits, and gives its exit status (128 + signal), its stdout (`out` may be NULL)
 * and stderr, in the arena. */
int process_finish(struct process *p, struct arena *arena, const char **out, const char **err);
/* From here on SIGINT, SIGTERM and SIGHUP end the programs that run, and no more are started. */
void process_catch_signals(void);
/* Ends heddle by such a signal, if one has come. */
void process_end_by_signal(void);

/* ---- pch.c ---- */

/* Says how many precompiled headers are kept, if there are any; with `clear` removes them. False:
 * not all of them. */
bool cc_show_headers(struct arena *arena, bool clear);

/* ---- units.c, registry.c, registry.c ---- */

/* The library of -lNAME in the folders of -L, where that is one of objects; NULL for a shared one,
 * which is linked already. */
const char *cc_find_library(const cc_words *folders, const char *name, struct arena *arena);

/* The device code of objects of -rdc=true, by what their symbols call it. */
struct cc_units {
    cc_words all;
    cc_words linked; /* those that objects among the files have taken up */
};

/* The units of objects and libraries of objects; other files have none. Returns NULL or what is
 * wrong, in the arena. */
const char *cc_find_units(const cc_words *files, struct cc_units *units, struct arena *arena);
/* A C source that defines what the units call at their start, so that all their device code is
 * loaded as one; in the arena. */
const char *cc_registry(const struct cc_units *units, struct arena *arena);

#endif

/* One run of `heddle cc`, and what its parts share: words of command lines, programs that run,
 * files that are made on the way. Private to cc/. */
#ifndef HEDDLE_CC_JOB_H
#define HEDDLE_CC_JOB_H

#include "cc/cc.h"

struct job {
    struct arena *arena;
    struct cc_options o;
    const char *clang;    /* compiles all that is CUDA */
    const char *host_cxx; /* -ccbin: compiles the host's own files, and links; NULL: clang does */
    const char *headers, *libraries;
    /* Of the newest GCC; empty: there is none; NULL: not looked for yet. */
    const char *gcc_headers;
    const char *folder;            /* of what is made on the way */
    VEC(struct cc_source) sources; /* the source and the user's headers */
    bool may_have_closures;        /* that nvcc lays out otherwise: closures.c */
    struct cc_captures captures;   /* of the side that clang was asked about first */
    /* Preprocessed, with such closures; read instead of both; NULL: it has none. */
    const char *laid_out_host, *laid_out_device;
    /* of the source: it has shown that it needs texture or surface references, as CUDA 11 has them;
     * it is compiled with them (heddle/references.h) */
    bool lacks_references, has_references;
    const char *headers_kept; /* pch.c's folder; "": none; NULL: nobody has asked yet */
    cc_words temporary;       /* to be removed at the end */
    struct cc_diagnostics diagnostics;
};

#define ADD(words, word) (*VEC_PUSH(j->arena, words) = (word))

/* Prints "heddle: cc: ..." to stderr and returns 1. */
int cc_failure(struct job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

void job_add_all(struct job *j, cc_words *to, const cc_words *words);
/* Each value of an option, as `flag` VALUE or, where `joined`, as one word. */
void job_add_values(struct job *j, cc_words *to, enum cc_id id, const char *flag, bool joined);
/* The parts of values like "-fPIC,-g", each for itself, behind `flag` where that is not NULL. */
void job_add_parts(struct job *j, cc_words *to, enum cc_id id, const char *flag);
/* A path as compilers take it for one, and not for a file of arguments or an option. */
const char *job_path(struct job *j, const char *path);

/* "#$ " and the command, as nvcc -v writes it. */
void job_show(struct job *j, const cc_words *command, const char *prefix);
/* Words as a shell reads them. */
const char *job_quoted(struct job *j, const cc_words *words);
/* The words, and a NULL behind them. */
char *const *job_arguments(struct job *j, cc_words *command);
/* True where the program runs; prints why not. */
bool job_start(struct job *j, struct process *p, cc_words *command, unsigned flags);
/* Waits for a compiler and prints what it says; with -v, word for word. Returns its exit status. */
int job_finish(struct job *j, struct process *p);
/* Runs a program to its end. False where it fails; with --dry-run it is shown only. */
bool job_run(struct job *j, cc_words *command);
/* "dir/kernel.cu" with another ending, in the current folder or that of -odir, as compilers name
 * their output. */
const char *job_named_after(struct job *j, const char *input, const char *ending);
/* A file that is made on the way; removed at the end, but for --keep. */
const char *job_temporary(struct job *j, const char *input, const char *ending);
bool job_write(struct job *j, const char *path, const void *bytes, size_t n);

/* ---- pch.c ---- */

/* What all .cu files include before all else. */
#define CC_HEADER "cuda_runtime.h"

/* The precompiled header of these options, which begin with the compiler and name no source; NULL:
 * there is none yet, or is not to be. */
const char *cc_precompiled_header(struct job *j, const cc_words *options);

/* ---- rule.c ---- */

/* What the host's compilation, which makes `output`, is told of the rule for
 * make that it is to write. */
void cc_add_rule(struct job *j, cc_words *c, const char *input, const char *output);
/* Of a header that is precompiled, clang names what that was made of, /dev/null, in the place of
 * the source, and the source behind the headers; make's $< is the first. It cannot be mended in
 * a pipe. False where it cannot be written. */
bool cc_can_mend_rule(struct job *j, const char *input, const char *output);
bool cc_mend_rule(struct job *j, const char *input, const char *output);

/* ---- link.c ---- */

/* Links a program or a shared library, or, with -dlink, what the device code of objects needs to be
 * one; with -lib, a library. */
bool cc_link(struct job *j, const cc_words *objects);
/* clang++-19 for clang-19: what links. */
const char *cc_linker(struct job *j);
/* -L's of the toolkit's libraries, as options of the linker. */
void cc_add_library_paths(struct job *j, cc_words *c);

/* CUDA's libraries that Heddle has, where they are installed: rows of cuda/libraries.def, and
 * {NULL, NULL}. */
struct cc_drop_in {
    const char *name, *soname;
};
extern const struct cc_drop_in cc_drop_ins[];

/* ---- usage.c ---- */

/* -Xptxas -v, --resource-usage. */
bool cc_wants_usage(struct job *j);
/* What the kernels of a PTX text take, as ptxas says it. */
void cc_print_usage(const hd_ptx *ptx, const hd_source *source);

/* ---- toolkit.c ---- */

/* nvcc's lines before all commands, which build systems read: where the toolkit is, its headers and
 * libraries. */
void cc_show_toolkit(struct job *j);
/* What needs no files: --version, --list-gpu-arch and so on. False:
 * nothing of that was asked for. */
bool cc_answer(struct job *j);
/* Do the options for the host's compiler ask what it is (-Xcompiler --version)? Build systems
 * do, with a source that does not exist. *command: the one that answers. */
bool cc_asks_host_compiler(struct job *j, cc_words *command);
/* --install-tools. Returns the exit status. */
int cc_install_tools(struct job *j, const char *folder);
/* --with nvcc: its arguments are ours, without this option; it links our runtime, unless it is told
 * another. */
int cc_with_nvcc(struct job *j, int argc, char **argv);

#endif

/* Files that a program's processes write for the command that started it (cuda/process/file.h).
 * They are in a temporary folder. */
#ifndef HEDDLE_CLI_PROCESS_FILES_H
#define HEDDLE_CLI_PROCESS_FILES_H

#include <sys/types.h>

#include "cli/cli.h"
#include "cli/supervise.h"

/* Makes the temporary folder "heddle-WHAT-XXXXXX"; NULL after an error. */
char *process_folder_make(struct session *s, const char *what);
/* Removes the folder with its contents, even if a surviving process still writes there. */
void process_folder_remove(const char *folder);

/* The path made absolute, for processes that run in other folders; in the arena. */
const char *process_path(const char *path, struct arena *arena);

/* Calls `each` with the file of every process, in the order of their starts. Returns their
 * number. */
unsigned process_files_each(const char *folder, void (*each)(void *data, const char *path), void *data);
/* Has a process taken the task that only one process may do (process_takes())? */
bool process_has_taken(const char *folder);
/* Did a process fail to write its results? */
bool process_files_lost(const char *folder);

/* Waits a short time for processes that have outlived the program. Returns a text that names one
 * that still runs, in the arena, or NULL. */
const char *process_files_await(const char *folder, struct arena *arena);

/* The options of process_files_run(), and what it returns. */
struct process_run {
    const char *file, *what; /* what: the argument of process_folder_make() */
    /* called when the folder exists: returns 0, or the exit status; or NULL */
    int (*begin)(void *data);
    void (*in_child)(void *data); /* called in the child before it becomes the program */
    /* called with the file of every process after the program's end */
    void (*each)(void *data, const char *path);
    void (*tick)(void *data); /* called some times a second while it runs; or NULL */
    void *data;
    const char *folder;
    struct ending ending;
    const char *survivor; /* names a process that still runs, or NULL */
    bool lost;            /* a process could not write its results */
};

/* Runs the program of the session's words, within the time of its options. Returns 0, or the exit
 * status after an error. */
int process_files_run(struct session *s, struct process_run *r);

/* A note for the reader of the results: the signal that ended the program (or 0; `when` as " in run
 * 2"), and the process that survived it (or NULL). In the arena; "" if there is nothing to note. */
const char *process_ending_text(const char *program, int signal, const char *when, const char *survivor,
                                struct arena *arena);
/* Why there are no results although the program may use CUDA: they were lost, or it was cut short
 * before it did. NULL: it ran without using CUDA. In the arena. */
const char *process_nothing_text(const char *program, bool lost, bool is_cut, struct arena *arena);

#endif

/* The files that the processes of a program write for the command that has started it
 * (cuda/process/file.h), in a folder of its own. */
#ifndef HEDDLE_CLI_PROCESS_FILES_H
#define HEDDLE_CLI_PROCESS_FILES_H

#include <sys/types.h>

#include "cli/cli.h"
#include "cli/supervise.h"

/* "heddle-WHAT-XXXXXX" among temporary files; NULL after an error that has been said. */
char *process_folder_make(struct session *s, const char *what);
/* With all that is in it, also while a process that goes on writes there. */
void process_folder_remove(const char *folder);

/* A path that processes in other folders find; in the arena. */
const char *process_path(const char *path, struct arena *arena);

/* Calls `each` with the file of every process, in the order in which they have started; returns how
 * many there are. */
unsigned process_files_each(const char *folder, void (*each)(void *data, const char *path), void *data);
/* Has a process taken what only one is to do (process_takes())? */
bool process_has_taken(const char *folder);
/* Has a process not been able to write what it had to say? */
bool process_files_lost(const char *folder);

/* Waits, but not for long, for processes that have outlived the program; a text that names one that
 * goes on, in the arena, or NULL. */
const char *process_files_await(const char *folder, struct arena *arena);

/* A program that is run for what its processes write. */
struct process_run {
    const char *file, *what;                    /* what: as process_folder_make() has it */
    int (*begin)(void *data);                   /* when there is a folder; 0, or the exit status; NULL: nothing */
    void (*in_child)(void *data);               /* before the program takes over */
    void (*each)(void *data, const char *path); /* with the file of every process, when it has ended */
    void (*tick)(void *data);                   /* some times a second while it runs; NULL: nothing */
    void *data;
    const char *folder;
    struct ending ending;
    const char *survivor; /* a process that goes on, or NULL */
    bool lost;            /* a process has not been able to write what it had to say */
};

/* With the session's words, for so long as its options allow. Returns 0, or the exit status of what
 * has been said. */
int process_files_run(struct session *s, struct process_run *r);

/* What the reader of a command's results has to know: what has ended the program (a signal, or 0;
 * `when` as " in run 2"), and what goes on without it, or NULL. In the arena. */
const char *process_ending_text(const char *program, int signal, const char *when, const char *survivor,
                                struct arena *arena);

#endif

/* The file that a process writes for the command that has started it (`heddle check`, `heddle explain`): one in the command's folder
 * for each process that uses CUDA, named PROCESS-TIME.TIME after its number and its start.
 */
#ifndef HEDDLE_CUDA_PROCESS_FILE_H
#define HEDDLE_CUDA_PROCESS_FILE_H

#include <signal.h>

/* Of this process, from malloc; NULL where memory is exhausted. */
char *process_file_path(const char *folder);

/* A file that may not grow is an error of write(), and no end of the program: between these two. errno stays. */
void process_file_begin(sigset_t *before);
void process_file_end(const sigset_t *before);

/* What should be in the file could not be written, and errno says why: tells the user, and the command by a file FILE.lost, which
 * needs no room on a disk that is full. */
void process_file_lost(const char *path, const char *what);

/* Calls `look` some times a second, from a thread of its own, which no signal is for, until it is stopped: what is written then stays,
 * whatever ends the process. One at a time; where there is no room for a thread, nobody looks. */
void process_file_watch(void (*look)(void));
void process_file_unwatch(void);

#endif

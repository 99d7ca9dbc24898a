/* The file that a process writes for the command that started it (`heddle check`, `heddle
 * explain`). Each process that uses CUDA has one in the command's folder, named PROCESS-TIME.TIME
 * by its number and start time. It consists of lines with a JSON object each, and only grows, so
 * that it stays readable whatever ends the process.
 *
 *     {"process", "program"}   the first line
 *     {"ended": true, ...}     the last line, if the process ended by itself
 */
#ifndef HEDDLE_CUDA_PROCESS_FILE_H
#define HEDDLE_CUDA_PROCESS_FILE_H

#include <stdbool.h>

struct process_file {
    const char *what; /* what the file contains, in words */
    char *path;
    int fd;   /* -1: there is none */
    bool cut; /* its last line is incomplete */
    bool lost;
};

/* Creates the process's file in the folder, with its first line. False after an error, which it has
 * printed. */
bool process_file_open(struct process_file *f, const char *folder, const char *what);
/* Appends lines, given as a text in three parts; `text` is NULL if memory is exhausted. If they
 * cannot be written, the user is told once, the command by an empty file FILE.lost (possible on a
 * full disk), and this returns false. errno is kept. */
bool process_file_append(struct process_file *f, const char *head, const char *text, const char *tail);

/* A task that only one of the processes may do goes to the first that asks. The folder then has a
 * file PROCESS_TAKEN. */
#define PROCESS_TAKEN "taken"
bool process_takes(const char *folder);

/* Calls `look` some times a second, from a thread of its own that receives no signals, until it is
 * stopped: so a process that ends in any way leaves recent results. Only one such thread exists; if
 * none can be created, nothing is called. */
void process_file_watch(void (*look)(void));
void process_file_unwatch(void);

#endif

/* The file that a process writes for the command that has started it (`heddle check`, `heddle
 * explain`): one in the command's folder for each process that uses CUDA, named PROCESS-TIME.TIME
 * after its number and its start. It has a JSON object a line, and only grows, so that what ends
 * the process leaves what is there:
 *     {"process", "program"}   the first
 *     {"ended": true, ...}     the last, where the process has ended by itself
 */
#ifndef HEDDLE_CUDA_PROCESS_FILE_H
#define HEDDLE_CUDA_PROCESS_FILE_H

#include <stdbool.h>

struct process_file {
    const char *what; /* is kept in it, in words */
    char *path;
    int fd;   /* -1: there is none */
    bool cut; /* its last line is not whole */
    bool lost;
};

/* A new one in the folder, with its first line. False where there is none, which has been said. */
bool process_file_open(struct process_file *f, const char *folder, const char *what);
/* Appends lines, a text in three parts; `text` is NULL where memory is exhausted. What cannot be
 * written is told to the user once, and to the command by a file FILE.lost, which needs no room on
 * a disk that is full; then false. errno stays. */
bool process_file_append(struct process_file *f, const char *head, const char *text, const char *tail);

/* Of all processes with files in the folder one does what only one is to do: the first that asks.
 * Then the folder has a file PROCESS_TAKEN. */
#define PROCESS_TAKEN "taken"
bool process_takes(const char *folder);

/* Calls `look` some times a second, from a thread of its own, which no signal is for, until it is
 * stopped: what is written then stays, whatever ends the process. One at a time; where there is no
 * room for a thread, nobody looks. */
void process_file_watch(void (*look)(void));
void process_file_unwatch(void);

#endif

/* The second wall: what a process gives up before it has to do with a stranger's kernels, so that a
 * mistake of ours which lets such a kernel run code of its own in the process lets it do no more
 * than that.
 *
 * It is for the whole process, all threads, and for ever. Inside, system calls that name a file are
 * refused, so whatever else is needed of files or processes comes through a process that stays
 * outside (broker.h).
 */
#ifndef HEDDLE_SANDBOX_SANDBOX_H
#define HEDDLE_SANDBOX_SANDBOX_H

#include <stdbool.h>

#include "base/arena.h"

/* Who is confined: a column of syscalls.def each. */
enum sandbox_profile {
    SANDBOX_KERNELS = 1, /* who runs kernels: memory, threads, what is open already */
    /* The compiler: the same without new threads and without making code executable. */
    SANDBOX_COMPILER = 2,
};

/* NULL, or why there can be no wall here: the system is too old or does not allow it, or this is a
 * build with a sanitizer. */
const char *sandbox_obstacle(void);

/* Closes the wall around all threads. Returns NULL, or why there can be none here; then nothing has
 * changed. A system call that nothing in Heddle makes ends in SIGSYS; what libraries try of
 * themselves fails with EPERM. */
const char *sandbox_enter(enum sandbox_profile profile);

/* For a handler of SIGSYS: the name of a system call by what siginfo says (si_syscall, si_arch);
 * NULL where no table has it. */
const char *sandbox_call_name(int number, unsigned architecture);

/* For a program that is to be executed next: it, and all that it starts, writes files below the
 * folders alone (NULL ends them; those that are not there are left out), and to devices, has no
 * sockets, and gets no new privileges. Returns NULL, or in the arena why that cannot be had. */
const char *sandbox_confine_program(const char *const *folders, struct arena *arena);

#endif

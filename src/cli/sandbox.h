/* --sandbox: the process gives up what kernels do not need (heddle.h, hd_sandbox_enter) before a
 * stranger's PTX is parsed; of files it keeps those that the command line names. */
#ifndef HEDDLE_CLI_SANDBOX_H
#define HEDDLE_CLI_SANDBOX_H

#include "cli/cli.h"

/* For the machine; the session's first n_files words are the PTX files. By default, where the
 * system can do it; --sandbox insists. Returns the exit status, 0 where the launch is to go on. */
int enter_sandbox(struct session *s, hd_machine *machine, int n_files);

/* --sandbox of heddle run and heddle check: for the program that is to be executed, which can also
 * write below `folder` (or NULL). Returns the exit status. */
int confine_program(struct session *s, const char *folder);
/* Says that a program there cannot write it; returns the exit status. */
int confined_write_error(struct session *s, const char *path);
/* Could that program, without a folder of its own, write such a file? */
bool confined_may_write(const char *path);

#endif

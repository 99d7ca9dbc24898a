/* --sandbox: the process gives up what kernels do not need (heddle.h, hd_sandbox_enter) before a
 * stranger's PTX is parsed; of files it keeps those that the command line names. */
#ifndef HEDDLE_CLI_SANDBOX_H
#define HEDDLE_CLI_SANDBOX_H

#include "cli/cli.h"

/* Enters the sandbox, which the machine can still use; the session's first n_files words are the
 * PTX files. Without --sandbox, a system that has no sandbox is no error. Returns 0, or the exit
 * status after an error. */
int enter_sandbox(struct session *s, hd_machine *machine, int n_files);

/* --sandbox of heddle run and heddle check: confines the program that this process will execute. It
 * can also write below `folder` (or NULL). Returns 0, or the exit status after an error. */
int confine_program(struct session *s, const char *folder);
/* Reports that a confined program cannot write the file; returns the exit status. */
int confined_write_error(struct session *s, const char *path);
/* Could a confined program without a further folder write this file? */
bool confined_may_write(const char *path);

#endif

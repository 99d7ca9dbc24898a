/* The broker: a process that stays outside of the sandbox and does what those inside still need of
 * files and processes. It is forked off when the sandbox is entered; each service has a connection
 * and a thread there, and a protocol of its own, which is all that a compromised process has to
 * talk to. So a service takes nothing that it is sent on trust.
 *
 * It ends when the process does, however that ends. No signal of a terminal reaches it.
 */
#ifndef HEDDLE_SANDBOX_BROKER_H
#define HEDDLE_SANDBOX_BROKER_H

#include <stdbool.h>
#include <stddef.h>

/* Serves the connection, in the broker, until the other side closes it. */
typedef void broker_serve_fn(int fd, void *data);

/* Before broker_start(): adds a service, and returns this side's end of its
 * connection; -1 with errno where there can be none. `data` is what it is when the
 * broker starts: a copy of all memory. */
int broker_add(broker_serve_fn *serve, void *data);
/* Forks the broker off with all services; false with errno. Once a process. */
bool broker_start(void);
/* What that errno says has run out, and how there is more of it. */
const char *broker_shortage(int error);

/* Beside the bytes of a service (base/channel.h): an error number (0: none), and where that is 0 a
 * descriptor (-1: none), which stays open here. */
bool broker_send_fd(int fd, int error, int passed);
/* The descriptor; -1 with errno: the other side's error, or EPIPE. *error is 0 where there was
 * none, with or without descriptor. */
int broker_receive_fd(int fd, int *error);

/* ---- files to be read ---- */

enum sandbox_files { SANDBOX_ANY_FILE, SANDBOX_REGULAR_FILES /* no pipe, which might never answer, and no device */ };

/* Opens a file for reading; inside of the sandbox the broker does, where sandbox_serve_files() said
 * that it may. -1 with errno. */
int sandbox_open(const char *path, enum sandbox_files kind);
/* Adds the service, before broker_start(): `may_read` is asked in the broker. False with errno. */
bool sandbox_serve_files(bool (*may_read)(void *data, const char *path), void *data);

#endif

/* Bytes over a connection between two processes of ours (a stream socket), whole or not at all. No
 * SIGPIPE comes of it. */
#ifndef HEDDLE_BASE_CHANNEL_H
#define HEDDLE_BASE_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>

/* All n bytes; false where the other side is gone, or takes longer than the socket allows. */
bool channel_send(int fd, const void *at, size_t n);
bool channel_receive(int fd, void *at, size_t n);

#endif

/* Messages between the process whose kernels are debugged and the front end: a JSON value each,
 * behind its length. */
#ifndef HEDDLE_DEBUG_LINK_H
#define HEDDLE_DEBUG_LINK_H

#include <jansson.h>
#include <stdbool.h>

/* False where the other side is gone. Takes the value. */
bool link_send(int fd, json_t *message);
/* NULL where the other side is gone, or has sent what is no message. */
json_t *link_receive(int fd);
/* Has the other side sent something, or gone? */
bool link_has_message(int fd);

#endif

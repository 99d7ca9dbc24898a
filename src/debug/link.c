/* See link.h. */
#include "debug/link.h"

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/channel.h"

enum { LONGEST_MESSAGE = 64 << 20 };

bool link_send(int fd, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    uint32_t n = text ? (uint32_t)strlen(text) : 0;
    bool sent = text && channel_send(fd, &n, sizeof n) && channel_send(fd, text, n);
    json_decref(message);
    free(text);
    return sent;
}

json_t *link_receive(int fd)
{
    uint32_t n;
    if (!channel_receive(fd, &n, sizeof n) || n > LONGEST_MESSAGE)
        return NULL;
    char *text = malloc(n + 1u);
    json_t *message = text && channel_receive(fd, text, n) ? json_loadb(text, n, JSON_ALLOW_NUL, NULL) : NULL;
    free(text);
    return message;
}

bool link_has_message(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

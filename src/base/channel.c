/* See channel.h. */
#include "base/channel.h"

#include <errno.h>
#include <sys/socket.h>

bool channel_send(int fd, const void *at, size_t n)
{
    for (const char *p = at; n;) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        p += sent;
        n -= (size_t)sent;
    }
    return true;
}

bool channel_receive(int fd, void *at, size_t n)
{
    for (char *p = at; n;) {
        ssize_t got = recv(fd, p, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

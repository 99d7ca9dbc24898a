/* Numbers of files that no standard stream has. */
#ifndef HEDDLE_BASE_ABOVE_STANDARD_H
#define HEDDLE_BASE_ABOVE_STANDARD_H

#include <fcntl.h>
#include <unistd.h>

enum { ABOVE_STANDARD = STDERR_FILENO + 1 };

/* Moves an open file to such a number, so that what is printed does not go there when a program has
 * closed its standard output. Closed on exec. A negative number stays; -1: there is none left. */
static inline int above_standard(int fd)
{
    int high = fd < 0 || fd >= ABOVE_STANDARD ? fd : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STANDARD);
    if (high != fd)
        close(fd);
    return high;
}

#endif

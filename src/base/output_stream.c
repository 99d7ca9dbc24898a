/* See output_stream.h. */
#include "base/output_stream.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

FILE *written_open(const char *path)
{
    if (strcmp(path, "-") != 0)
        return fopen(path, "wbe");
    int fd = fflush(stdout) == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : -1;
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file && fd >= 0)
        close(fd);
    return file;
}

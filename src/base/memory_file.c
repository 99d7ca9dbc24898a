/* See memory_file.h. */
#include "base/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "heddle-memory";

bool memory_file_resize(int file, size_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
        errno = EFBIG; /* without the signal, SIGXFSZ, which would end the program */
        return false;
    }
    return ftruncate(file, (off_t)bytes) == 0;
}

int memory_file_new(size_t bytes)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || (memory_file_resize(file, bytes) && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) == 0))
        return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

bool memory_file_is(int file)
{
    struct stat s;
    int seals = fstat(file, &s) == 0 && S_ISREG(s.st_mode) ? fcntl(file, F_GET_SEALS) : -1;
    return seals >= 0 && seals & F_SEAL_SHRINK && seals & F_SEAL_SEAL;
}

/* What the system calls one of ours. */
static bool is_named(const char *path)
{
    char link[64], prefix[32];
    ssize_t n = readlink(path, link, sizeof link);
    int length = snprintf(prefix, sizeof prefix, "/memfd:%s", name);
    return n >= length && memcmp(link, prefix, (size_t)length) == 0;
}

int memory_file_open(const char *path)
{
    char own[32];
    struct stat s;
    if (lstat(path, &s) != 0)
        return -1;
    /* Named first, then held, then opened: between any two of these the other process may exchange
     * it. */
    int held = is_named(path) ? open(path, O_PATH | O_CLOEXEC) : -1;
    snprintf(own, sizeof own, "/proc/self/fd/%d", held);
    int file = held >= 0 && is_named(own) ? open(own, O_RDWR | O_CLOEXEC) : -1;
    if (held >= 0)
        close(held);
    if (file >= 0 && !memory_file_is(file)) {
        close(file);
        file = -1;
    }
    if (file < 0)
        errno = EINVAL;
    return file;
}

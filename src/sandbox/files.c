/* Files to be read, from inside of the sandbox: see broker.h. A request is a path; the answer is a
 * descriptor or an error. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/channel.h"
#include "sandbox/broker.h"

/* Set once, before the sandbox is entered. */
static struct {
    int fd;
    bool (*may_read)(void *data, const char *path);
    void *data;
    pthread_mutex_t lock; /* of the connection: a question and its answer */
} files = {.fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

struct request {
    enum sandbox_files kind;
    char path[PATH_MAX];
};

static int open_here(const char *path, enum sandbox_files kind)
{
    struct stat s;
    if (kind != SANDBOX_REGULAR_FILES)
        return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &s) == 0 && S_ISREG(s.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static void serve(int fd, void *data)
{
    struct request q;
    bool more = true;
    (void)data;
    while (more && channel_receive(fd, &q, sizeof q)) {
        q.path[sizeof q.path - 1] = 0;
        bool may = files.may_read(files.data, q.path);
        int file = may ? open_here(q.path, q.kind) : -1;
        more = broker_send_fd(fd, !may ? EACCES : file < 0 ? errno : 0, file);
        if (file >= 0)
            close(file);
    }
}

bool sandbox_serve_files(bool (*may_read)(void *data, const char *path), void *data)
{
    files.may_read = may_read;
    files.data = data;
    files.fd = broker_add(serve, NULL);
    return files.fd >= 0;
}

int sandbox_open(const char *path, enum sandbox_files kind)
{
    struct request q = {.kind = kind};
    size_t n = strlen(path);
    int error = n < sizeof q.path ? 0 : ENAMETOOLONG, file = -1;
    if (files.fd < 0)
        return open_here(path, kind);
    if (!error) {
        memcpy(q.path, path, n);
        pthread_mutex_lock(&files.lock);
        if (channel_send(files.fd, &q, sizeof q))
            file = broker_receive_fd(files.fd, &error);
        else
            error = EPIPE;
        pthread_mutex_unlock(&files.lock);
    }
    errno = error;
    return file;
}

/* See outputs.h. A question is what to do, and a path; the answer a text (empty: it went well) and
 * a descriptor where one was asked for. */
#include "files/outputs.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/vec.h"
#include "files/file.h"
#include "sandbox/broker.h"

enum todo { MAY_CREATE, CREATE, FINISH, REMOVE };

struct question {
    enum todo todo;
    char path[PATH_MAX];
};

struct answer {
    char error[PATH_MAX + 128];
};

static struct {
    int fd;
    bool (*may_write)(void *data, const char *path);
    void *data;
} outputs = {.fd = -1};

/* ---- in the broker ---- */

struct server {
    struct arena arena;
    VEC(struct file_writer *) writers;
};

static struct file_writer **find(struct server *s, const char *path)
{
    for (uint32_t i = 0; i < s->writers.n; i++)
        if (strcmp(s->writers.at[i]->path, path) == 0)
            return &s->writers.at[i];
    return NULL;
}

static const char *create(struct server *s, const char *path, int *fd)
{
    if (find(s, path))
        return arena_printf(&s->arena, "cannot write %s: this command already writes it", path);
    struct file_writer *w = ARENA_NEW(&s->arena, struct file_writer);
    const char *error = file_create(w, &s->arena, arena_strdup(&s->arena, path));
    *fd = w->fd;
    if (!error)
        *VEC_PUSH(&s->arena, &s->writers) = w;
    return error;
}

static const char *finish(struct server *s, const char *path, bool good)
{
    struct file_writer **place = find(s, path), *w = place ? *place : NULL;
    if (!w)
        return "no such file is being written";
    *place = s->writers.at[--s->writers.n];
    if (!good)
        w->error = ""; /* whoever asks knows it */
    return file_finish(w);
}

static const char *serve_one(struct server *s, const struct question *q, int *fd)
{
    if (!outputs.may_write(outputs.data, q->path))
        return arena_printf(&s->arena, "cannot write %s: the sandbox allows only the files that the command line names",
                            q->path);
    switch (q->todo) {
    case MAY_CREATE: return file_may_create(&s->arena, q->path);
    case CREATE: return create(s, q->path, fd);
    default: return finish(s, q->path, q->todo == FINISH);
    }
}

static void serve(int fd, void *data)
{
    jmp_buf oom;
    struct server s = {.arena = {.on_oom = &oom}};
    struct question q;
    (void)data;
    outputs.fd = -1; /* what is asked of file.h here is done here */
    if (setjmp(oom) != 0)
        return;
    while (channel_receive(fd, &q, sizeof q)) {
        struct answer a = {0};
        int file = -1;
        q.path[sizeof q.path - 1] = 0;
        const char *error = serve_one(&s, &q, &file);
        if (error)
            strncpy(a.error, error, sizeof a.error - 1);
        if (!channel_send(fd, &a, sizeof a) || (q.todo == CREATE && !error && !broker_send_fd(fd, 0, file)))
            break;
    }
}

/* ---- inside ---- */

bool outputs_serve(bool (*may_write)(void *data, const char *path), void *data)
{
    outputs.may_write = may_write;
    outputs.data = data;
    outputs.fd = broker_add(serve, NULL);
    return outputs.fd >= 0;
}

bool outputs_are_outside(void)
{
    return outputs.fd >= 0;
}

static const char *ask(struct arena *arena, enum todo todo, const char *path)
{
    struct question q = {.todo = todo};
    struct answer a;
    if (strlen(path) >= sizeof q.path)
        return arena_printf(arena, "cannot write %s: %s", path, strerror(ENAMETOOLONG));
    strcpy(q.path, path);
    if (!channel_send(outputs.fd, &q, sizeof q) || !channel_receive(outputs.fd, &a, sizeof a))
        return arena_printf(arena, "cannot write %s: the process that writes files for the sandbox has ended", path);
    return a.error[0] || (todo == REMOVE) ? arena_strdup(arena, a.error) : NULL;
}

const char *outputs_may_create(struct arena *arena, const char *path)
{
    return ask(arena, MAY_CREATE, path);
}

const char *outputs_create(struct arena *arena, const char *path, int *fd)
{
    int error = 0;
    const char *text = ask(arena, CREATE, path);
    if (!text && (*fd = broker_receive_fd(outputs.fd, &error)) < 0)
        text = arena_printf(arena, "cannot write %s: %s", path, strerror(error ? error : EMFILE));
    return text;
}

const char *outputs_finish(struct arena *arena, const char *path, bool good)
{
    return ask(arena, good ? FINISH : REMOVE, path);
}

/* See file.h. */
#include "files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "files/outputs.h"
#include "sandbox/broker.h"

static const char *failure(struct arena *arena, const char *doing, const char *path, int error)
{
    return arena_printf(arena, "cannot %s %s: %s", doing, path, strerror(error));
}

/* ---- reading ---- */

/* What there is to read. */
struct reading {
    bool ends;       /* a regular file: it has a size */
    bool is_device;  /* it may give bytes for ever; a terminal's user ends what he types */
    uint64_t most;   /* bytes to read */
    size_t capacity; /* bytes to start with */
};

/* Of what has no size, so much is read in vain before it is refused: of a device, of a pipe. */
static const uint64_t MOST_OF_DEVICE = 16 << 20, MOST_OF_PIPE = 4ull << 30;

static int look_at(int fd, uint64_t wanted, struct reading *r)
{
    struct stat st;
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (fstat(fd, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    *r = (struct reading){.ends = S_ISREG(st.st_mode), .is_device = S_ISCHR(st.st_mode) && !isatty(fd)};
    r->most = r->ends ? memory : r->is_device && wanted ? wanted : r->is_device ? MOST_OF_DEVICE : MOST_OF_PIPE;
    if (r->ends && (uint64_t)st.st_size > r->most)
        return EFBIG;
    r->capacity = r->ends && st.st_size > 0 ? (size_t)st.st_size + 1 : 1 << 16;
    return 0;
}

/* Returns 0 or an error number; EOVERFLOW: there is more than r->most. */
static int read_all(int fd, const struct reading *r, struct file_bytes *f)
{
    struct {
        char *at;
        size_t n, capacity;
    } all = {0};
    int error = VEC_RESERVE(&all, r->capacity) ? 0 : ENOMEM;
    for (ssize_t got = 1; got && !error;) {
        if (all.n == r->most)
            error = EOVERFLOW;
        else if (!VEC_RESERVE(&all, 2)) /* one more and the zero */
            error = ENOMEM;
        if (error)
            break;
        size_t room = all.capacity - all.n - 1, left = r->most - all.n;
        got = read(fd, all.at + all.n, room < left ? room : left);
        error = got < 0 && errno != EINTR ? errno : 0;
        all.n += got > 0 ? (size_t)got : 0;
    }
    *f = (struct file_bytes){all.at, all.n};
    if (f->bytes)
        f->bytes[f->n] = 0;
    return error;
}

static const char *no_end(struct arena *arena, const char *path, const struct reading *r)
{
    const char *hint =
        r->is_device ? ": for a device, give the number of elements to read, as in u8[1024]=@/dev/urandom" : "";
    return arena_printf(arena, "cannot read %s: it has more than %llu bytes%s", path, (unsigned long long)r->most,
                        hint);
}

const char *file_read(struct arena *arena, const char *path, uint64_t wanted, struct file_bytes *f)
{
    struct reading r = {0};
    *f = (struct file_bytes){0};
    int fd = strcmp(path, "-") ? sandbox_open(path, SANDBOX_ANY_FILE) : dup(STDIN_FILENO);
    if (fd < 0)
        return failure(arena, "read", path, errno);
    int error = look_at(fd, wanted, &r);
    if (!error)
        error = read_all(fd, &r, f);
    close(fd);
    bool enough = error == EOVERFLOW && r.is_device && f->n == wanted;
    if (enough)
        f->bytes[f->n] = 0;
    if (!error || enough)
        return NULL;
    free(f->bytes);
    f->bytes = NULL;
    return error == EOVERFLOW ? no_end(arena, path, &r) : failure(arena, "read", path, error);
}

/* What a GPU's machine code begins with: fat binaries, and ELF files, at whose offset 18 the
 * machine stands. */
static const char elf[4] = "\177ELF", fat_binary[4] = "\x50\xed\x55\xba";
enum { ELF_MACHINE_AT = 18, ELF_MACHINE_CUDA = 190 };

/* Text up to its first statement, which is .version (PTX ISA 11.1.1). */
static bool begins_as_ptx(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n");
        const char *end = strncmp(p, "//", 2) == 0   ? strchr(p, '\n')
                          : strncmp(p, "/*", 2) == 0 ? strstr(p, "*/")
                                                     : NULL;
        if (!end)
            return strncmp(p, ".version", 8) == 0;
        p = end + (*end == '*' ? 2 : 1);
    }
}

bool file_is_ptx(const char *path)
{
    static char head[64 << 10];
    struct stat st;
    if (strcmp(path, "-") == 0 || strcmp(file_extension(path), ".ptx") == 0)
        return true;
    if (stat(path, &st) != 0)
        return false;
    if (!S_ISREG(st.st_mode))
        return S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head - 1) : 0;
    if (fd >= 0)
        close(fd);
    head[n > 0 ? n : 0] = 0;
    bool cubin =
        n > ELF_MACHINE_AT && memcmp(head, elf, 4) == 0 && (unsigned char)head[ELF_MACHINE_AT] == ELF_MACHINE_CUDA;
    return cubin || (n >= 4 && memcmp(head, fat_binary, 4) == 0) || begins_as_ptx(head);
}

const char *file_read_ptx(struct arena *arena, const char *path, struct file_bytes *f)
{
    const char *error = file_read(arena, path, 0, f);
    if (error || f->n < 4)
        return error;
    if (memcmp(f->bytes, elf, 4) == 0)
        error = arena_printf(arena, "%s is machine code, not PTX: `heddle run` runs programs", path);
    else if (memcmp(f->bytes, fat_binary, 4) == 0)
        error = arena_printf(arena, "%s is a fat binary: PTX itself comes from `nvcc -ptx` or `heddle cc -ptx`", path);
    else if (strcmp(file_extension(path), ".cu") == 0)
        error = arena_printf(arena, "%s is CUDA C++, not PTX: `heddle cc -ptx -lineinfo %s -o %.*s.ptx` compiles it",
                             path, path, (int)(strlen(path) - strlen(".cu")), path);
    if (error) {
        free(f->bytes);
        *f = (struct file_bytes){0};
    }
    return error;
}

/* ---- writing ---- */

bool file_is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static bool is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0;
}

const char *file_create(struct file_writer *w, struct arena *arena, const char *path)
{
    *w = (struct file_writer){.path = path, .fd = -1, .arena = arena};
    if (is_standard_output(path)) {
        fflush(stdout);
        w->fd = STDOUT_FILENO;
        return NULL;
    }
    if (outputs_are_outside()) {
        w->is_outside = true;
        return outputs_create(arena, path, &w->fd);
    }
    if (file_is_special(path)) {
        w->fd = open(path, O_WRONLY | O_CLOEXEC);
        return w->fd < 0 ? failure(arena, "write", path, errno) : NULL;
    }
    char *real = realpath(path, NULL);
    w->target = arena_strdup(arena, real ? real : path);
    free(real);
    w->temporary = arena_printf(arena, "%s.XXXXXX", w->target);
    w->fd = mkostemp(w->temporary, O_CLOEXEC);
    if (w->fd < 0)
        return failure(arena, "write", path, errno);
    mode_t mask = umask(0);
    umask(mask);
    fchmod(w->fd, 0666 & ~mask); /* mkostemp leaves it to its owner alone */
    return NULL;
}

const char *file_write(struct file_writer *w, const void *bytes, size_t n)
{
    while (n > 0 && !w->error) {
        ssize_t put = write(w->fd, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0) {
            w->error = failure(w->arena, "write", w->path, errno);
            break;
        }
        bytes = (const char *)bytes + put;
        n -= (size_t)put;
    }
    return w->error;
}

const char *file_finish(struct file_writer *w)
{
    if (is_standard_output(w->path))
        return w->error;
    if (close(w->fd) != 0 && !w->error)
        w->error = failure(w->arena, "write", w->path, errno);
    if (w->is_outside) {
        const char *error = outputs_finish(w->arena, w->path, !w->error);
        return w->error ? w->error : error;
    }
    if (!w->temporary)
        return w->error;
    if (!w->error && rename(w->temporary, w->target) != 0)
        w->error = failure(w->arena, "write", w->path, errno);
    if (w->error)
        unlink(w->temporary);
    return w->error;
}

const char *file_write_whole(struct arena *arena, const char *path, const void *bytes, size_t n)
{
    struct file_writer w;
    const char *error = file_create(&w, arena, path);
    if (error)
        return error;
    file_write(&w, bytes, n);
    return file_finish(&w);
}

/* An option that takes a file may stand before the program by mistake, as in --csv ./app. */
static bool is_program(const char *path)
{
    char begin[4];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, begin, sizeof begin) == sizeof begin && memcmp(begin, "\177ELF", sizeof begin) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

const char *file_may_create(struct arena *arena, const char *path)
{
    struct stat st;
    if (is_standard_output(path))
        return NULL;
    if (outputs_are_outside())
        return outputs_may_create(arena, path);
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return failure(arena, "write", path, EISDIR);
        if (!S_ISREG(st.st_mode))
            return access(path, W_OK) ? failure(arena, "write", path, errno) : NULL;
        if (is_program(path))
            return arena_printf(arena, "%s is a program and is not written over: name another file", path);
    }
    const char *slash = strrchr(path, '/');
    const char *folder = !slash ? "." : slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
    return access(folder, W_OK | X_OK) ? failure(arena, "write", path, errno) : NULL;
}

const char *file_extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

const char *file_stem(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    return arena_strndup(arena, base, strlen(base) - strlen(file_extension(base)));
}

const char *file_find_program(const char *name, struct arena *arena)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, F_OK) == 0 ? name : NULL;
    for (const char *p = path ? path : "/usr/local/bin:/bin:/usr/bin"; *p;) {
        size_t n = strcspn(p, ":");
        const char *file = arena_printf(arena, "%.*s%s%s", (int)n, p, n ? "/" : "", name);
        if (access(file, X_OK) == 0)
            return file;
        p += n + (p[n] == ':');
    }
    return NULL;
}

/* Preloaded by `heddle check` beside preload.c: functions of the C library that let the system read
 * or write a program's memory, that copy memory, or that block signals.
 *
 * Memory that is closed to the host (check/host/host.h) is closed to the system, too: read() into
 * it would fail. So these functions pass the address by which the machine accesses the same memory,
 * and report the access. Nothing else changes. libcuda, which knows the closed memory, calls
 * heddle_watch_io() when there is some. Copies would be seen without this, one instruction at a
 * time; here they are one access. SIGSEGV and SIGTRAP stay unblocked, because an instruction that
 * raises a blocked signal ends the process.
 */
#undef _FILE_OFFSET_BITS /* pread() and pread64() are separate names */
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#undef fread_unlocked
#undef fwrite_unlocked
#undef memcpy
#undef memmove
#undef memset
#define EXPORT __attribute__((visibility("default")))

typedef void *view_fn(const void *p);
typedef void access_fn(const void *p, size_t bytes, bool write);

static view_fn *view_now;
static access_fn *access_now;

EXPORT void heddle_watch_io(view_fn *view, access_fn *access)
{
    access_now = access;
    __atomic_store_n(&view_now, view, __ATOMIC_RELEASE);
}

static void *view_of(const void *p)
{
    view_fn *view = __atomic_load_n(&view_now, __ATOMIC_ACQUIRE);
    return view ? view(p) : (void *)(uintptr_t)p;
}

/* Reports that the system has accessed so many bytes by the other address. */
static void tell(const void *p, const void *view, int64_t bytes, bool write)
{
    if (view != p && bytes > 0)
        access_now(p, (size_t)bytes, write);
}

/* The C library's function. */
#define NEXT(name)                                                                                                     \
    static __typeof__(name) *next;                                                                                     \
    if (!next)                                                                                                         \
    next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

/* Functions that write to memory report behind the call, when they know the length; others before
 * it. `to` is the buffer parameter. */
#define READS(type, name, params, to, ...)                                                                             \
    EXPORT type name params                                                                                            \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        void *const own = to;                                                                                          \
        to = view_of(own);                                                                                             \
        type result = next(__VA_ARGS__);                                                                               \
        tell(own, to, (int64_t)result, true);                                                                          \
        return result;                                                                                                 \
    }
#define WRITES(type, name, params, from, bytes, ...)                                                                   \
    EXPORT type name params                                                                                            \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        const void *const own = from;                                                                                  \
        from = view_of(own);                                                                                           \
        tell(own, from, (int64_t)(bytes), false);                                                                      \
        return next(__VA_ARGS__);                                                                                      \
    }

/* clang-format off */
READS(ssize_t, read, (int f, void *p, size_t n), p, f, p, n)
READS(ssize_t, pread, (int f, void *p, size_t n, off_t at), p, f, p, n, at)
READS(ssize_t, pread64, (int f, void *p, size_t n, off64_t at), p, f, p, n, at)
READS(ssize_t, recv, (int f, void *p, size_t n, int flags), p, f, p, n, flags)
READS(ssize_t, recvfrom, (int f, void *p, size_t n, int flags, __SOCKADDR_ARG from, socklen_t *length),
      p, f, p, n, flags, from, length)
WRITES(ssize_t, write, (int f, const void *p, size_t n), p, n, f, p, n)
WRITES(ssize_t, pwrite, (int f, const void *p, size_t n, off_t at), p, n, f, p, n, at)
WRITES(ssize_t, pwrite64, (int f, const void *p, size_t n, off64_t at), p, n, f, p, n, at)
WRITES(ssize_t, send, (int f, const void *p, size_t n, int flags), p, n, f, p, n, flags)
WRITES(ssize_t, sendto, (int f, const void *p, size_t n, int flags, __CONST_SOCKADDR_ARG to, socklen_t length),
       p, n, f, p, n, flags, to, length)
WRITES(size_t, fwrite, (const void *p, size_t size, size_t n, FILE *f), p, size * n, p, size, n, f)
WRITES(size_t, fwrite_unlocked, (const void *p, size_t size, size_t n, FILE *f), p, size * n, p, size, n, f)
/* clang-format on */

/* Functions that count elements. */
#define READS_ELEMENTS(name)                                                                                           \
    EXPORT size_t name(void *p, size_t size, size_t n, FILE *f)                                                        \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        void *view = view_of(p);                                                                                       \
        size_t result = next(view, size, n, f);                                                                        \
        tell(p, view, (int64_t)(size * result), true);                                                                 \
        return result;                                                                                                 \
    }
READS_ELEMENTS(fread)
READS_ELEMENTS(fread_unlocked)

/* Functions that programs compiled with _FORTIFY_SOURCE call. */
extern ssize_t __read_chk(int f, void *p, size_t n, size_t room);
extern ssize_t __pread_chk(int f, void *p, size_t n, off_t at, size_t room);
extern ssize_t __pread64_chk(int f, void *p, size_t n, off64_t at, size_t room);
extern size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f);

READS(ssize_t, __read_chk, (int f, void *p, size_t n, size_t room), p, f, p, n, room)
READS(ssize_t, __pread_chk, (int f, void *p, size_t n, off_t at, size_t room), p, f, p, n, at, room)
READS(ssize_t, __pread64_chk, (int f, void *p, size_t n, off64_t at, size_t room), p, f, p, n, at, room)

EXPORT size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f)
{
    NEXT(__fread_chk);
    void *view = view_of(p);
    size_t result = next(view, room, size, n, f);
    tell(p, view, (int64_t)(size * result), true);
    return result;
}

/* ---- copies ---- */

/* Small copies are passed through unchanged: every copy of the process comes here. */
enum { FEW_BYTES = 256 };

/* The other address if the memory is closed entirely; NULL if partly; else the address itself. */
static void *view_of_all(const void *p, size_t bytes)
{
    char *view = bytes > FEW_BYTES ? view_of(p) : (void *)(uintptr_t)p;
    return view == p || (char *)view_of((const char *)p + bytes - 1) == view + bytes - 1 ? view : (void *)(uintptr_t)p;
}

#define COPIES(name, room_param, ...)                                                                                  \
    EXPORT void *name(void *to, const void *from, size_t n room_param)                                                 \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        void *to_view = view_of_all(to, n);                                                                            \
        const void *from_view = view_of_all(from, n);                                                                  \
        tell(from, from_view, (int64_t)n, false);                                                                      \
        tell(to, to_view, (int64_t)n, true);                                                                           \
        next(to_view, from_view, __VA_ARGS__);                                                                         \
        return to;                                                                                                     \
    }
#define FILLS(name, room_param, ...)                                                                                   \
    EXPORT void *name(void *to, int byte, size_t n room_param)                                                         \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        void *to_view = view_of_all(to, n);                                                                            \
        tell(to, to_view, (int64_t)n, true);                                                                           \
        next(to_view, byte, __VA_ARGS__);                                                                              \
        return to;                                                                                                     \
    }
#define NO_ROOM
#define ROOM , size_t room
extern void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
extern void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
extern void *__memset_chk(void *to, int byte, size_t n, size_t room);
COPIES(memcpy, NO_ROOM, n)
COPIES(memmove, NO_ROOM, n)
COPIES(__memcpy_chk, ROOM, n, room)
COPIES(__memmove_chk, ROOM, n, room)
FILLS(memset, NO_ROOM, n)
FILLS(__memset_chk, ROOM, n, room)

/* ---- signals ---- */

static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *room)
{
    if (!set || how == SIG_UNBLOCK)
        return set;
    *room = *set;
    sigdelset(room, SIGSEGV);
    sigdelset(room, SIGTRAP);
    return room;
}

#define MASKS(name)                                                                                                    \
    EXPORT int name(int how, const sigset_t *set, sigset_t *old)                                                       \
    {                                                                                                                  \
        NEXT(name);                                                                                                    \
        sigset_t room;                                                                                                 \
        return next(how, without_ours(how, set, &room), old);                                                          \
    }
MASKS(pthread_sigmask)
MASKS(sigprocmask)

/* ---- lists of buffers ---- */

enum { MOST_PARTS = 64 }; /* longer lists are not examined */

static const struct iovec *views_of(const struct iovec *parts, int n, struct iovec *views)
{
    if (n < 0 || n > MOST_PARTS)
        return parts;
    for (int i = 0; i < n; i++)
        views[i] = (struct iovec){view_of(parts[i].iov_base), parts[i].iov_len};
    return views;
}

static void tell_parts(const struct iovec *parts, const struct iovec *views, int n, int64_t bytes, bool write)
{
    for (int i = 0; views != parts && i < n && bytes > 0; i++) {
        int64_t part = (int64_t)parts[i].iov_len < bytes ? (int64_t)parts[i].iov_len : bytes;
        tell(parts[i].iov_base, views[i].iov_base, part, write);
        bytes -= part;
    }
}

EXPORT ssize_t readv(int f, const struct iovec *parts, int n)
{
    NEXT(readv);
    struct iovec room[MOST_PARTS];
    const struct iovec *views = views_of(parts, n, room);
    ssize_t result = next(f, views, n);
    tell_parts(parts, views, n, result, true);
    return result;
}

EXPORT ssize_t writev(int f, const struct iovec *parts, int n)
{
    NEXT(writev);
    struct iovec room[MOST_PARTS];
    const struct iovec *views = views_of(parts, n, room);
    tell_parts(parts, views, n, INT64_MAX, false);
    return next(f, views, n);
}

/* sandbox_confine_program(): Landlock (Linux, Documentation/userspace-api/landlock.rst) for files, a filter of system calls for
 * the network. What of Landlock a system is too old for is left out, but for its first version. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/filter.h"

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

/* From linux/landlock.h, which is of older versions on the systems that we build on. */
enum { LANDLOCK_CREATE_RULESET_VERSION = 1, LANDLOCK_RULE_PATH_BENEATH = 1 };

struct ruleset_attr {
    uint64_t handled_access_fs, handled_access_net, scoped;
};
struct __attribute__((packed)) path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
};

enum {
    FS_WRITE_FILE = 1 << 1,
    FS_CHANGES = 0x1ff << 4,        /* removing and making entries of each kind */
    FS_REFER = 1 << 13,             /* version 2: to another folder */
    FS_TRUNCATE = 1 << 14,          /* version 3 */
    FS_IOCTL_DEV = 1 << 15,         /* version 5; devices are as before */
    NET_TCP = 1 << 0 | 1 << 1,      /* version 4 */
    SCOPE_OTHERS = 1 << 0 | 1 << 1, /* version 6: abstract sockets and signals of processes outside */
};

struct wall {
    int ruleset, version;
    uint64_t writing;
};

/* What every program may write to: devices that keep nothing, terminals, shared memory. */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
                                      "/dev/tty",  "/dev/pts",  "/dev/ptmx", "/dev/shm"};

/* A file has no rights but writing and truncating. */
static bool open_below(const struct wall *w, const char *folder)
{
    struct path_beneath_attr a = {w->writing, open(folder, O_PATH | O_CLOEXEC)};
    struct stat s;
    if (a.parent_fd < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    if (fstat(a.parent_fd, &s) == 0 && !S_ISDIR(s.st_mode))
        a.allowed_access &= FS_WRITE_FILE | FS_TRUNCATE;
    bool ok = syscall(SYS_landlock_add_rule, w->ruleset, LANDLOCK_RULE_PATH_BENEATH, &a, 0) == 0;
    close(a.parent_fd);
    return ok;
}

static bool make_ruleset(struct wall *w)
{
    struct ruleset_attr a = {0};
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1)
        return false;
    w->version = (int)version;
    w->writing = FS_WRITE_FILE | FS_CHANGES | (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0);
    a.handled_access_fs = w->writing;
    a.handled_access_net = version >= 4 ? NET_TCP : 0;
    a.scoped = version >= 6 ? SCOPE_OTHERS : 0;
    /* The system takes a longer structure where what it does not know is zero. */
    w->ruleset = (int)syscall(SYS_landlock_create_ruleset, &a, sizeof a, 0);
    return w->ruleset >= 0;
}

/* No sockets but pairs; nothing that makes calls which no filter sees; before Landlock 3, no shortening of files by name. */
static const char *refuse_calls(const struct wall *w)
{
    static const int refused[] = {
        SYS_socket,         SYS_userfaultfd, SYS_bpf, SYS_keyctl, SYS_add_key, SYS_request_key,
#ifdef SYS_io_uring_setup
        SYS_io_uring_setup,
#endif
    };
    struct filter f;
    filter_start(&f, SECCOMP_RET_ERRNO | EPERM);
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        filter_answer(&f, refused[i], SECCOMP_RET_ERRNO | EPERM);
    if (w->version < 3)
        filter_answer(&f, SYS_truncate, SECCOMP_RET_ERRNO | EPERM);
    return filter_install(&f, SECCOMP_RET_ALLOW);
}

const char *sandbox_confine_program(const char *const *folders, struct arena *arena)
{
    struct wall w;
    if (!make_ruleset(&w))
        return arena_printf(arena, "this system has no Landlock (Linux 5.13 and later have it, where it is turned on)");
    for (; *folders; folders++)
        if (!open_below(&w, *folders))
            return arena_printf(arena, "%s cannot be opened for it: %s", *folders, strerror(errno));
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (!open_below(&w, devices[i]))
            return arena_printf(arena, "%s cannot be opened for it: %s", devices[i], strerror(errno));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_landlock_restrict_self, w.ruleset, 0) != 0)
        return arena_printf(arena, "Landlock refuses: %s", strerror(errno));
    close(w.ruleset);
    return refuse_calls(&w);
}

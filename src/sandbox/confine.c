/* sandbox_confine_program(): Landlock (Linux, Documentation/userspace-api/landlock.rst) for files
 * and signals, namespaces for shared memory (namespaces(7)), and a filter that lets through the
 * system calls of program_calls.def. What of Landlock a system is too old for is left out, but for
 * its first version; where there are no namespaces, there is no shared memory by names. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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
    FS_CHANGES = 0x1ff << 4, /* removing and making entries of each kind */
    FS_MAKE_DEVICE = 1 << 6 | 1 << 11,
    FS_REFER = 1 << 13,        /* version 2: to another folder */
    FS_TRUNCATE = 1 << 14,     /* version 3 */
    FS_IOCTL_DEV = 1 << 15,    /* version 5; devices are as before */
    NET_TCP = 1 << 0 | 1 << 1, /* version 4 */
    /* Version 6: abstract sockets and signals of processes outside. */
    SCOPE_OTHERS = 1 << 0 | 1 << 1,
};

struct wall {
    int ruleset, version;
    uint64_t writing;
};

#define SHARED_MEMORY "/dev/shm"

/* What every program may write to: devices that keep nothing, and terminals. */
static const char *const devices[] = {"/dev/null",    "/dev/zero", "/dev/full", "/dev/random",
                                      "/dev/urandom", "/dev/tty",  "/dev/pts",  "/dev/ptmx"};

/* A file has no rights but writing and truncating; devices are made nowhere. Closes the folder. */
static bool allow_below(const struct wall *w, int folder)
{
    struct path_beneath_attr a = {w->writing & ~(uint64_t)FS_MAKE_DEVICE, folder};
    struct stat s;
    if (fstat(folder, &s) == 0 && !S_ISDIR(s.st_mode))
        a.allowed_access &= FS_WRITE_FILE | FS_TRUNCATE;
    bool ok = syscall(SYS_landlock_add_rule, w->ruleset, LANDLOCK_RULE_PATH_BENEATH, &a, 0) == 0;
    close(folder);
    return ok;
}

static bool open_below(const struct wall *w, const char *path)
{
    int folder = open(path, O_PATH | O_CLOEXEC);
    if (folder < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
    return allow_below(w, folder);
}

/* Below it are the system's own files and devices, and all others. */
static bool is_root_folder(const char *folder)
{
    struct stat s, root;
    return stat(folder, &s) == 0 && stat("/", &root) == 0 && s.st_dev == root.st_dev && s.st_ino == root.st_ino;
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

/* ---- shared memory of its own ---- */

static bool write_file(const char *path, const char *text)
{
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return ok;
}

/* Who is not root needs a user namespace for the others, in which it has the ids that it has
 * outside, and no others. */
static bool keep_ids(uid_t user, gid_t group)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "%u %u 1", user, user);
    snprintf(groups, sizeof groups, "%u %u 1", group, group);
    return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", users) &&
           write_file("/proc/self/gid_map", groups);
}

/* mq_open() needs no path, but Landlock a folder: `queues` is that of the program's own
 * (mq_overview(7)), -1 where there are none. It has been mounted for this alone, below the shared
 * memory. */
static bool leave_shared_memory(int *queues)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    if (unshare(CLONE_NEWNS | CLONE_NEWIPC | (user ? CLONE_NEWUSER : 0)) != 0 || (user && !keep_ids(user, group)))
        return false;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return false;
    unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    bool has_queues = mount("mqueue", SHARED_MEMORY, "mqueue", flags, NULL) == 0;
    *queues = has_queues ? open(SHARED_MEMORY, O_PATH | O_CLOEXEC) : -1;
    return mount("shm", SHARED_MEMORY, "tmpfs", flags, "mode=1777") == 0;
}

/* Tried by a process of its own first: what fails half way cannot be taken back. */
static bool has_namespaces(void)
{
    int status, queues;
    pid_t child = fork();
    if (child == 0)
        _exit(!leave_shared_memory(&queues));
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---- capabilities ---- */

/* Of root's, a program keeps those that are about files and users (capabilities(7)). The bounding
 * set keeps the others from the programs that it starts, unless it has inherited them. Errors of
 * the former: who is not root may not drop any. */
static bool drop_capabilities(void)
{
    enum { MOST = 64 };
    struct __user_cap_header_struct of_this = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];
    const uint32_t kept[_LINUX_CAPABILITY_U32S_3] = {1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE |
                                                     1u << CAP_DAC_READ_SEARCH | 1u << CAP_FOWNER | 1u << CAP_FSETID |
                                                     1u << CAP_SETGID | 1u << CAP_SETUID};
    if (syscall(SYS_capget, &of_this, has) != 0)
        return false;
    for (int i = 0; i < MOST; i++)
        if (!(kept[i / 32] >> i % 32 & 1))
            prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        has[i].effective &= kept[i];
        has[i].permitted &= kept[i];
        has[i].inheritable &= kept[i];
    }
    return syscall(SYS_capset, &of_this, has) == 0;
}

/* ---- system calls ---- */

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS) /* newer than the table */
#define CLONE_NEWANY                                                                                                   \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

/* From Linux 6.2 on all architectures have the same new numbers. */
enum { FIRST_UNKNOWN_CALL = 451 };

enum call_when { ALWAYS, WHERE, UNLESS, IN_NAMESPACE, ANSWERED };

static const struct call {
    int number;
    enum call_when when;
    unsigned n;
    struct filter_condition all[2];
    int error;
} calls[] = {
#define CALL(name)                               {__NR_##name, ALWAYS, 0, {{0, 0, 0}}, 0},
#define CALL_IF(name, argument, mask, value)     {__NR_##name, WHERE, 1, {{argument, mask, value}}, 0},
#define CALL_UNLESS(name, argument, mask, value) {__NR_##name, UNLESS, 1, {{argument, mask, value}}, 0},
#define CALL_IF_BOTH(name, argument, mask, value, other, other_mask, other_value)                                      \
    {__NR_##name, WHERE, 2, {{argument, mask, value}, {other, other_mask, other_value}}, 0},
#define CALL_IN_NAMESPACE(name)    {__NR_##name, IN_NAMESPACE, 0, {{0, 0, 0}}, 0},
#define CALL_ANSWERED(name, error) {__NR_##name, ANSWERED, 0, {{0, 0, 0}}, error},
#include "sandbox/program_calls.def"
};

static void add_call(struct filter *f, const struct call *c, bool in_namespace)
{
    const struct filter_condition *first = c->all;
    switch (c->when) {
    case ALWAYS: filter_answer(f, c->number, SECCOMP_RET_ALLOW); break;
    case WHERE: filter_allow_where(f, c->number, c->all, c->n); break;
    case UNLESS:
        filter_answer_if(f, c->number, first->argument, first->mask, first->value, REFUSED, SECCOMP_RET_ALLOW);
        break;
    case IN_NAMESPACE: filter_answer(f, c->number, in_namespace ? SECCOMP_RET_ALLOW : REFUSED); break;
    case ANSWERED: filter_answer(f, c->number, SECCOMP_RET_ERRNO | (uint32_t)c->error); break;
    }
}

static const char *refuse_calls(const struct wall *w, bool in_namespace)
{
    struct filter f;
    filter_start(&f, REFUSED);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        add_call(&f, &calls[i], in_namespace);
    if (w->version >= 3) /* before, Landlock does not see it */
        filter_answer(&f, __NR_truncate, SECCOMP_RET_ALLOW);
    filter_answer_from(&f, FIRST_UNKNOWN_CALL, UNKNOWN);
    return filter_install(&f, REFUSED);
}

const char *sandbox_confine_program(const char *const *folders, struct arena *arena)
{
    struct wall w;
    int queues = -1;
    bool in_namespace = has_namespaces() && leave_shared_memory(&queues);
    if (!make_ruleset(&w))
        return arena_printf(arena, "this system has no Landlock (Linux 5.13 and later have it, where it is turned on)");
    for (; *folders; folders++) {
        if (is_root_folder(*folders))
            return arena_printf(
                arena,
                "the program could write below `%s`, which is /, so nothing would be protected: choose another "
                "folder",
                *folders);
        if (!open_below(&w, *folders))
            return arena_printf(arena, "%s cannot be opened for the sandbox: %s", *folders, strerror(errno));
    }
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        if (!open_below(&w, devices[i]))
            return arena_printf(arena, "%s cannot be opened for the sandbox: %s", devices[i], strerror(errno));
    if (in_namespace && (!open_below(&w, SHARED_MEMORY) || (queues >= 0 && !allow_below(&w, queues))))
        return arena_printf(arena, SHARED_MEMORY " cannot be opened for the sandbox: %s", strerror(errno));
    if (!drop_capabilities())
        return arena_printf(arena, "capabilities cannot be given up: %s", strerror(errno));
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || syscall(SYS_landlock_restrict_self, w.ruleset, 0) != 0)
        return arena_printf(arena, "Landlock refuses: %s", strerror(errno));
    close(w.ruleset);
    return refuse_calls(&w, in_namespace);
}

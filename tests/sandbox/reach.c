/* reach PID SHM SOCKET FILE: what a program can reach, tried call by call. Prints a line each: what
 * was tried, and "done" or the error. PID is another process of the user's, SHM shared memory of
 * System V, SOCKET a named datagram socket, FILE a file elsewhere. What has an effect outside is
 * looked at by who has started it. */
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/kd.h>
#include <linux/perf_event.h>
#include <linux/tiocl.h>
#include <linux/vt.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static void tell(const char *what, long result)
{
    printf("%s %s\n", what, result == -1 ? strerrorname_np(errno) : "done");
}

#define TRY(what, call) (errno = 0, tell(what, (long)(call)))

static char memory[1 << 16];

static long pair_sends(int type, const char *path, int by_message)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct iovec part = {"outside", 7};
    struct msghdr m = {.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &part, .msg_iovlen = 1};
    int ends[2];
    strncpy(a.sun_path, path, sizeof a.sun_path - 1);
    if (socketpair(AF_UNIX, type, 0, ends))
        return -1;
    return by_message ? sendmsg(ends[0], &m, 0) : sendto(ends[0], "outside", 7, 0, (struct sockaddr *)&a, sizeof a);
}

static long pair_connects(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int ends[2];
    strncpy(a.sun_path, path, sizeof a.sun_path - 1);
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? -1 : connect(ends[0], (struct sockaddr *)&a, sizeof a);
}

static long new_namespace(int flag)
{
    return syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
}

static long make_node(const char *name, mode_t kind, dev_t device)
{
    unlink(name);
    return mknod(name, kind | 0600, device);
}

static long own_shared_memory(void)
{
    int file = shm_open("/heddle-reach", O_CREAT | O_RDWR, 0600);
    return file < 0 || ftruncate(file, 4096) ? -1 : shm_unlink("/heddle-reach");
}

static long own_queue(void)
{
    mqd_t queue = mq_open("/heddle-reach", O_CREAT | O_RDWR, 0600, NULL);
    return queue < 0 || mq_send(queue, "x", 1, 0) ? -1 : mq_unlink("/heddle-reach");
}

static long children_end(void)
{
    int status;
    pid_t child = fork();
    if (child == 0)
        pause();
    return child < 0 || kill(child, SIGTERM) || waitpid(child, &status, 0) != child ? -1 : 0;
}

static long pairs_work(int type)
{
    int ends[2];
    char c;
    return socketpair(AF_UNIX, type, 0, ends) || send(ends[0], "x", 1, 0) != 1 || recv(ends[1], &c, 1, 0) != 1 ? -1 : 0;
}

static long writes(const char *path, int more)
{
    int file = open(path, O_WRONLY | more, 0600);
    return file < 0 ? -1 : close(file);
}

/* Is it elsewhere then? Nothing is to be seen where there is one processor. */
static long moves(pid_t pid)
{
    cpu_set_t before, one, after;
    if (sched_getaffinity(pid, sizeof before, &before) || CPU_COUNT(&before) < 2)
        return -1;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    if (sched_setaffinity(pid, sizeof one, &one) || sched_getaffinity(pid, sizeof after, &after))
        return -1;
    return CPU_EQUAL(&before, &after) ? -1 : 0;
}

static void try_others(pid_t pid, int shm)
{
    struct rlimit limit = {1, 1};
    struct iovec here = {memory, 8}, there = {(void *)0x400000, 8};
    struct sched_param batch = {0};
    TRY("kill", kill(pid, SIGTERM));
    TRY("kill-everybody", kill(-1, SIGURG));
    TRY("tgkill", syscall(SYS_tgkill, pid, pid, SIGTERM));
    TRY("sigqueue", sigqueue(pid, SIGTERM, (union sigval){0}));
    int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    TRY("pidfd_send_signal", syscall(SYS_pidfd_send_signal, handle, SIGTERM, 0, 0));
    TRY("pidfd_getfd", syscall(SYS_pidfd_getfd, handle, 1, 0));
    TRY("process_madvise", syscall(SYS_process_madvise, handle, &there, 1, MADV_COLD, 0));
    TRY("prlimit", prlimit(pid, RLIMIT_CPU, &limit, NULL));
    TRY("setpriority", setpriority(PRIO_PROCESS, pid, 19));
    TRY("setpriority-user", setpriority(PRIO_USER, 0, 19));
    TRY("ioprio_set", syscall(SYS_ioprio_set, 1, pid, 3 << 13));
    TRY("sched_setaffinity", moves(pid));
    TRY("sched_setscheduler", sched_setscheduler(pid, SCHED_BATCH, &batch));
    TRY("migrate_pages", syscall(SYS_migrate_pages, pid, 0, 0, 0));
    TRY("move_pages", syscall(SYS_move_pages, pid, 0, 0, 0, 0, 0));
    TRY("kcmp", syscall(SYS_kcmp, getpid(), pid, 0, 1, 1));
    TRY("ptrace", ptrace(PTRACE_SEIZE, pid, 0, 0));
    TRY("process_vm_readv", process_vm_readv(pid, &here, 1, &there, 1, 0));
    TRY("process_vm_writev", process_vm_writev(pid, &here, 1, &there, 1, 0));
    TRY("shmat", (long)shmat(shm, NULL, 0));
    TRY("shmctl", shmctl(shm, IPC_RMID, NULL));
    TRY("setown", fcntl(0, F_SETOWN, pid));
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
    TRY("oom_score_adj", writes(path, 0));
    snprintf(path, sizeof path, "/proc/%d/mem", pid);
    TRY("mem", writes(path, 0));
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    TRY("environ", close(open(path, O_RDONLY)));
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    TRY("command-line", close(open(path, O_RDONLY)));
}

static void try_sockets(const char *path)
{
    TRY("socket-inet", socket(AF_INET, SOCK_STREAM, 0));
    TRY("socket-unix", socket(AF_UNIX, SOCK_DGRAM, 0));
    TRY("socket-netlink", socket(AF_NETLINK, SOCK_RAW, 0));
    TRY("sendto-datagram-pair", pair_sends(SOCK_DGRAM, path, 0));
    TRY("sendto-raw-pair", pair_sends(SOCK_RAW, path, 0));
    TRY("sendmsg-datagram-pair", pair_sends(SOCK_DGRAM, path, 1));
    TRY("sendto-stream-pair", pair_sends(SOCK_STREAM, path, 0));
    TRY("connect-stream-pair", pair_connects(path));
    TRY("bind", bind(0, NULL, 0));
    TRY("listen", listen(0, 1));
    TRY("accept", accept(0, NULL, NULL));
}

static void try_system(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    struct perf_event_attr attr = {.size = sizeof attr};
    TRY("mount", mount("none", ".", "tmpfs", 0, NULL));
    TRY("umount", umount2("/dev/shm", MNT_DETACH));
    TRY("pivot_root", syscall(SYS_pivot_root, ".", "."));
    TRY("chroot", chroot("."));
    TRY("unshare-user", unshare(CLONE_NEWUSER));
    TRY("unshare-net", unshare(CLONE_NEWNET));
    TRY("clone-newuser", new_namespace(CLONE_NEWUSER));
    TRY("clone-newpid", new_namespace(CLONE_NEWPID));
    TRY("setns", syscall(SYS_setns, 0, 0));
    TRY("bpf", syscall(SYS_bpf, 0, memory, sizeof memory));
    TRY("perf_event_open", syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0));
    TRY("userfaultfd", syscall(SYS_userfaultfd, 0));
    TRY("io_uring_setup", syscall(SYS_io_uring_setup, 1, memory));
    TRY("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, -3, 0));
    TRY("add_key", syscall(SYS_add_key, "user", "x", "y", 1, -3));
    TRY("open_by_handle_at", syscall(SYS_open_by_handle_at, -1, memory, 0));
    TRY("fanotify_init", syscall(SYS_fanotify_init, 0, 0));
    TRY("quotactl", syscall(SYS_quotactl, 0, 0, 0, 0));
    TRY("swapon", syscall(SYS_swapon, "x", 0));
    TRY("reboot", syscall(SYS_reboot, 0, 0, 0, 0));
    TRY("sethostname", sethostname("x", 1));
    TRY("settimeofday", settimeofday(&now, NULL));
    TRY("adjtimex", adjtimex(&(struct timex){.modes = 0}));
    TRY("syslog", syscall(SYS_syslog, 10, 0, 0));
    TRY("init_module", syscall(SYS_init_module, 0, 0, ""));
    TRY("kexec_load", syscall(SYS_kexec_load, 0, 0, 0, 0));
    TRY("acct", acct("x"));
    TRY("vhangup", vhangup());
    TRY("char-device", make_node("character", S_IFCHR, makedev(1, 3)));
    TRY("block-device", make_node("block", S_IFBLK, makedev(7, 0)));
#ifdef SYS_iopl
    TRY("iopl", syscall(SYS_iopl, 3));
    TRY("modify_ldt", syscall(SYS_modify_ldt, 0, memory, 16));
#endif
}

static void try_terminal(void)
{
    int terminal = open("/dev/tty", O_RDWR), discipline = 0;
    struct {
        char code;
    } select = {TIOCL_UNBLANKSCREEN};
    TRY("TIOCSTI", ioctl(terminal, TIOCSTI, "x"));
    TRY("TIOCLINUX", ioctl(terminal, TIOCLINUX, &select));
    TRY("TIOCSETD", ioctl(terminal, TIOCSETD, &discipline));
    TRY("TIOCCONS", ioctl(terminal, TIOCCONS, 0));
    TRY("KDSETMODE", ioctl(terminal, KDSETMODE, KD_TEXT));
    TRY("VT_ACTIVATE", ioctl(terminal, VT_ACTIVATE, 1));
    TRY("FBIOPUT_VSCREENINFO", ioctl(terminal, 0x4601, memory));
    TRY("TIOCSCTTY-of-others", ioctl(terminal, TIOCSCTTY, 1));
    TRY("terminal-read", close(open("/dev/tty", O_RDONLY)));
    struct winsize size;
    TRY("terminal", ioctl(terminal, TIOCGWINSZ, &size) || write(terminal, "", 0) ? -1 : 0);
}

static void try_files(const char *file)
{
    struct timespec times[2] = {{1, 0}, {1, 0}};
    TRY("open-elsewhere", writes(file, 0));
    TRY("truncate-elsewhere", truncate(file, 0));
    TRY("remove-elsewhere", unlink(file));
    TRY("rename-elsewhere", rename(file, "mine"));
    TRY("link-elsewhere", link(file, "mine"));
    TRY("setxattr", setxattr(file, "user.x", "y", 1, 0));
    TRY("removexattr", removexattr(file, "user.x"));
    TRY("setxattr-own", setxattr(".", "user.x", "y", 1, 0));
    TRY("FS_IOC_SETFLAGS", ioctl(0, 0x40086602, memory));
    TRY("read-elsewhere", close(open(file, O_RDONLY)));
    TRY("mode-elsewhere", chmod(file, 0640));
    TRY("owner-elsewhere", chown(file, getuid(), getgid()));
    TRY("times-elsewhere", utimensat(AT_FDCWD, file, times, 0));
    TRY("watch-elsewhere", syscall(SYS_inotify_add_watch, (int)syscall(SYS_inotify_init1, 0), file, 2));
    int outside = open(file, O_RDONLY);
    TRY("lock-elsewhere", flock(outside, 2 | 4));
}

static void try_own(void)
{
    TRY("own-file", writes("own", O_CREAT));
    TRY("own-fifo", make_node("fifo", S_IFIFO, 0));
    TRY("own-children", children_end());
    TRY("own-limits", setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}));
    TRY("own-priority", setpriority(PRIO_PROCESS, 0, 19));
    TRY("own-stream-pair", pairs_work(SOCK_STREAM));
    TRY("own-packet-pair", pairs_work(SOCK_SEQPACKET));
    TRY("own-shared-memory", own_shared_memory());
    TRY("own-queue", own_queue());
    TRY("own-system-v", shmget(IPC_PRIVATE, 4096, 0600));
    TRY("null", writes("/dev/null", 0));
    TRY("new-call", syscall(460));
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    try_others(atoi(argv[1]), atoi(argv[2]));
    try_sockets(argv[3]);
    try_system();
    try_terminal();
    try_files(argv[4]);
    try_own();
    return 0;
}

/* What the sandbox refuses: each attempt by a child of its own, which has entered it as those do
 * that run kernels, or compile. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "heddle.h"
#include "sandbox/broker.h"
#include "sandbox/sandbox.h"

/* What a child's attempt came to: 0 is success, an error number, or STOPPED by SIGSYS. */
enum { STOPPED = 255, NO_SANDBOX = 254 };

typedef long attempt_fn(void);

static int outcome(enum sandbox_profile profile, attempt_fn *attempt)
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGSYS, SIG_DFL); /* cmocka's own */
        if (sandbox_enter(profile))
            _exit(NO_SANDBOX);
        errno = 0;
        _exit(attempt() >= 0 ? 0 : errno ? errno : 253);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? (WTERMSIG(status) == SIGSYS ? STOPPED : 256 + WTERMSIG(status)) : WEXITSTATUS(status);
}

static char *page; /* shared with children; can be read and written */
static pid_t parent;

static long open_to_read(void)
{
    return open("/etc/passwd", O_RDONLY);
}
static long open_to_write(void)
{
    return open("/tmp/heddle-test-escape", O_WRONLY | O_CREAT, 0600);
}
static long open_by_openat2(void)
{
    return syscall(437, AT_FDCWD, "/etc/passwd", (uint64_t[3]){0}, 24);
}
static long open_own_memory(void)
{
    return open("/proc/self/mem", O_RDWR);
}
static long look_at_a_file(void)
{
    struct stat st;
    return stat("/etc/passwd", &st);
}
static long remove_file(void)
{
    return unlink("/tmp/heddle-test-escape");
}
static long rename_file(void)
{
    return rename("/tmp/heddle-test-a", "/tmp/heddle-test-b");
}
static long link_file(void)
{
    return symlink("/etc/passwd", "/tmp/heddle-test-link");
}
static long make_folder(void)
{
    return mkdir("/tmp/heddle-test-folder", 0700);
}
static long change_mode(void)
{
    return chmod("/etc/passwd", 0666);
}
static long read_a_link(void)
{
    char b[64];
    return readlink("/proc/self/exe", b, sizeof b);
}
static long list_a_folder(void)
{
    char b[512];
    return syscall(SYS_getdents64, 0, b, sizeof b);
}
static long run_program(void)
{
    return execl("/bin/true", "true", (char *)NULL);
}
static long run_descriptor(void)
{
    return syscall(SYS_execveat, 0, "", NULL, NULL, AT_EMPTY_PATH);
}
static long make_process(void)
{
    return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}
static long make_process_by_fork(void)
{
    return fork();
}
static long make_process_by_clone3(void)
{
    return syscall(435, (uint64_t[11]){0}, 88);
}
static long make_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}
static long make_unix_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}
static long make_pair(void)
{
    int fds[2];
    return socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
}
static long trace_parent(void)
{
    return ptrace(PTRACE_ATTACH, parent, NULL, NULL);
}
static long read_parent(void)
{
    char b;
    struct iovec to = {&b, 1}, from = {page, 1};
    return process_vm_readv(parent, &to, 1, &from, 1, 0);
}
static long write_parent(void)
{
    struct iovec to = {page, 1}, from = {page, 1};
    return process_vm_writev(parent, &to, 1, &from, 1, 0);
}
static long signal_parent(void)
{
    return kill(parent, 0);
}
static long signal_parents_thread(void)
{
    return syscall(SYS_tgkill, parent, parent, 0);
}
static long signal_everybody(void)
{
    return kill(-1, 0);
}
static long signal_by_tkill(void)
{
    return syscall(SYS_tkill, parent, 0);
}
static long descriptor_of_parent(void)
{
    return syscall(SYS_pidfd_open, parent, 0);
}
static long limits_of_parent(void)
{
    struct rlimit l;
    return prlimit(parent, RLIMIT_NOFILE, NULL, &l);
}
static long signals_by_file(void)
{
    return fcntl(0, F_SETOWN, parent);
}
static long type_at_terminal(void)
{
    return ioctl(0, TIOCSTI, "x");
}
static long code_at_once(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1
                                                                                                                  : 0;
}
static long code_by_mmap(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}
static long code_that_is_written(void)
{
    return mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
}
static long code_by_keys(void)
{
    return syscall(SYS_pkey_mprotect, page, 4096, PROT_READ | PROT_EXEC, -1);
}
static long code_after_writing(void)
{
    return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}
static long memory_file(void)
{
    return memfd_create("x", 0);
}
static long ring(void)
{
    return syscall(425, 8, (char[120]){0});
}
static long faults(void)
{
    return syscall(SYS_userfaultfd, 0);
}
static long bpf(void)
{
    return syscall(SYS_bpf, 0, NULL, 0);
}
static long keys(void)
{
    return syscall(SYS_keyctl, 0, 0, 0);
}
static long space(void)
{
    return unshare(CLONE_NEWUSER);
}
static long filter_again(void)
{
    return syscall(SYS_seccomp, 1, 0, NULL);
}
#ifdef __x86_64__
static long x32(void)
{
    return syscall(0x40000000 | SYS_getpid);
}
static long as_i386(void)
{
    long r; /* getpid by 32-bit numbers */
    __asm__ volatile("int $0x80" : "=a"(r) : "0"(20) : "memory");
    return r;
}
#endif

static long use_memory(void)
{
    char *p = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q = malloc(1 << 20);
    memset(p, 1, 1 << 22);
    q = realloc(q, 1 << 25);
    return madvise(p, 1 << 22, MADV_DONTNEED) == 0 && munmap(p, 1 << 22) == 0 && q ? 0 : -1;
}
static void *nothing(void *p)
{
    return p;
}
static long use_threads(void)
{
    pthread_t t;
    errno = pthread_create(&t, NULL, nothing, NULL);
    return errno ? -1 : pthread_join(t, NULL);
}
static long use_stdio(void)
{
    return printf("# printed inside\n") > 0 && fflush(stdout) == 0 ? 0 : -1;
}
static long use_signals(void)
{
    signal(SIGUSR1, SIG_IGN);
    return raise(SIGUSR1);
}
static long leave_no_core(void)
{
    struct rlimit l;
    return getrlimit(RLIMIT_CORE, &l) == 0 && l.rlim_max == 0 ? 0 : -1;
}

static const struct attempt {
    const char *name;
    attempt_fn *make;
    int kernels, compiler; /* outcomes */
} attempts[] = {
#define ENTRY(name, kernels, compiler) {#name, name, kernels, compiler}
    ENTRY(open_to_read, EPERM, EPERM),
    ENTRY(open_to_write, EPERM, EPERM),
    ENTRY(open_by_openat2, EPERM, EPERM),
    ENTRY(open_own_memory, EPERM, EPERM),
    ENTRY(look_at_a_file, EPERM, EPERM),
    ENTRY(remove_file, EPERM, EPERM),
    ENTRY(rename_file, EPERM, EPERM),
    ENTRY(link_file, EPERM, EPERM),
    ENTRY(make_folder, EPERM, EPERM),
    ENTRY(change_mode, EPERM, EPERM),
    ENTRY(read_a_link, EPERM, EPERM),
    ENTRY(list_a_folder, EPERM, EPERM),
    ENTRY(run_program, STOPPED, STOPPED),
    ENTRY(run_descriptor, STOPPED, STOPPED),
    ENTRY(make_process, STOPPED, EPERM),
    ENTRY(make_process_by_fork, STOPPED, EPERM),
    ENTRY(make_process_by_clone3, ENOSYS, ENOSYS),
    ENTRY(make_socket, STOPPED, STOPPED),
    ENTRY(make_unix_socket, STOPPED, STOPPED),
    ENTRY(make_pair, EPERM, EPERM),
    ENTRY(trace_parent, STOPPED, STOPPED),
    ENTRY(read_parent, EPERM, EPERM),
    ENTRY(write_parent, STOPPED, STOPPED),
    ENTRY(signal_parent, STOPPED, STOPPED),
    ENTRY(signal_parents_thread, STOPPED, STOPPED),
    ENTRY(signal_everybody, STOPPED, STOPPED),
    ENTRY(signal_by_tkill, STOPPED, STOPPED),
    ENTRY(descriptor_of_parent, STOPPED, STOPPED),
    ENTRY(limits_of_parent, EPERM, EPERM),
    ENTRY(signals_by_file, EPERM, EPERM),
    ENTRY(type_at_terminal, EPERM, EPERM),
    ENTRY(code_at_once, STOPPED, STOPPED),
    ENTRY(code_by_mmap, STOPPED, STOPPED),
    ENTRY(code_that_is_written, STOPPED, STOPPED),
    ENTRY(code_by_keys, STOPPED, STOPPED),
    ENTRY(code_after_writing, 0, STOPPED),
    ENTRY(memory_file, STOPPED, STOPPED),
    ENTRY(ring, STOPPED, STOPPED),
    ENTRY(faults, STOPPED, STOPPED),
    ENTRY(bpf, STOPPED, STOPPED),
    ENTRY(keys, STOPPED, STOPPED),
    ENTRY(space, STOPPED, STOPPED),
    ENTRY(filter_again, EPERM, EPERM),
#ifdef __x86_64__
    ENTRY(x32, STOPPED, STOPPED),
    ENTRY(as_i386, STOPPED, STOPPED),
#endif
    ENTRY(use_memory, 0, 0),
    ENTRY(use_threads, 0, EPERM),
    ENTRY(use_stdio, 0, 0),
    ENTRY(use_signals, 0, 0),
    ENTRY(leave_no_core, 0, 0),
};

static void try_all(enum sandbox_profile profile)
{
    unsigned wrong = 0;
    if (sandbox_obstacle())
        skip();
    for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
        const struct attempt *a = &attempts[i];
        int expected = profile == SANDBOX_KERNELS ? a->kernels : a->compiler, got = outcome(profile, a->make);
        if (strcmp(a->name, "as_i386") == 0 && got == 256 + SIGSEGV)
            got = STOPPED; /* a system that has no such calls at all */
        if (got != expected)
            print_message("%s: %d, not %d\n", a->name, got, expected);
        wrong += got != expected;
    }
    assert_int_equal(wrong, 0);
}

static void who_runs_kernels(void **state)
{
    (void)state;
    try_all(SANDBOX_KERNELS);
}

static void who_compiles_them(void **state)
{
    (void)state;
    try_all(SANDBOX_COMPILER);
}

/* ---- threads that are there already ---- */

static pthread_barrier_t entered;

static void *try_in_thread(void *data)
{
    pthread_barrier_wait(&entered);
    *(int *)data = open("/etc/passwd", O_RDONLY) < 0 ? errno : 0;
    return NULL;
}

static long threads_are_inside(void)
{
    /* in a child that is inside already: the wall is one for whoever comes later, too */
    int error = -1;
    pthread_t t;
    pthread_barrier_init(&entered, NULL, 1);
    if (pthread_create(&t, NULL, try_in_thread, &error) != 0 || pthread_join(t, NULL) != 0)
        return -1;
    errno = error;
    return -1;
}

static void threads_that_come_later_are_inside(void **state)
{
    (void)state;
    if (sandbox_obstacle())
        skip();
    assert_int_equal(outcome(SANDBOX_KERNELS, threads_are_inside), EPERM);
}

static void threads_that_were_there_are_inside(void **state)
{
    int status, error = -1;
    (void)state;
    if (sandbox_obstacle())
        skip();
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t;
        pthread_barrier_init(&entered, NULL, 2);
        if (pthread_create(&t, NULL, try_in_thread, &error) != 0 || sandbox_enter(SANDBOX_KERNELS))
            _exit(NO_SANDBOX);
        pthread_barrier_wait(&entered);
        pthread_join(t, NULL);
        _exit(error);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EPERM);
}

/* ---- the library's function ---- */

static bool may_read_this(void *data, const char *path)
{
    return strcmp(path, data) == 0;
}

/* The exit status of a child: which step failed, or 0. */
static int use_library(void)
{
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry seven(.param .u64 p) { .reg .u64 %rd; .reg .u32 %r;\n"
                               "ld.param.u64 %rd, [p]; mov.u32 %r, 7; st.global.u32 [%rd], %r; ret; }\n";
    hd_machine_options options = {.workers = 2};
    hd_source source = {"seven.ptx", text, sizeof text - 1};
    hd_launch_config config = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    hd_machine *machine;
    hd_module *module;
    hd_kernel *kernel;
    void *p;
    if (hd_machine_create(&options, &machine, NULL) || !sandbox_serve_files(may_read_this, "/etc/passwd"))
        return 1;
    if (hd_sandbox_enter(machine, NULL) || hd_sandbox_enter(machine, NULL) != HD_ERROR_INVALID_VALUE)
        return 2;
    if (hd_module_load(machine, &source, 1, &module, NULL) || hd_module_get_kernel(module, "seven", &kernel, NULL) ||
        hd_alloc(machine, 4, &p))
        return 3;
    config.packed_args = &p;
    config.packed_bytes = sizeof p;
    if (hd_launch(kernel, &config, NULL, NULL) || *(uint32_t *)p != 7)
        return 4;
    char byte;
    int file = sandbox_open("/etc/passwd", SANDBOX_REGULAR_FILES);
    if (file < 0 || read(file, &byte, 1) != 1)
        return 5;
    if (sandbox_open("/etc/group", SANDBOX_REGULAR_FILES) >= 0 || errno != EACCES)
        return 6;
    return hd_machine_destroy(machine) ? 7 : 0;
}

static void a_program_that_enters_runs_kernels_and_gets_the_files_it_was_allowed(void **state)
{
    int status;
    (void)state;
    if (sandbox_obstacle())
        skip();
    pid_t pid = fork();
    if (pid == 0)
        exit(use_library()); /* not _exit(): the broker is waited for */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void machines_that_use_the_programs_memory_are_refused(void **state)
{
    hd_machine_options options = {.workers = 1, .host_memory = true};
    hd_machine *machine;
    (void)state;
    assert_int_equal(hd_machine_create(&options, &machine, NULL), HD_SUCCESS);
    assert_int_equal(hd_sandbox_enter(machine, NULL), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_sandbox_enter(NULL, NULL), HD_ERROR_INVALID_VALUE);
    hd_machine_destroy(machine);
}

int main(void)
{
    parent = getpid();
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_runs_kernels),
        cmocka_unit_test(who_compiles_them),
        cmocka_unit_test(threads_that_come_later_are_inside),
        cmocka_unit_test(threads_that_were_there_are_inside),
        cmocka_unit_test(a_program_that_enters_runs_kernels_and_gets_the_files_it_was_allowed),
        cmocka_unit_test(machines_that_use_the_programs_memory_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

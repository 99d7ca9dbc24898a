/* Programs that start programs, and that end while kernels run. */
#include "program.h"

#include <signal.h>
#include <sys/wait.h>

KERNEL endless(volatile int *flag) BODY(
    while (!*flag) {}
)
KERNEL store(int *p) BODY(
    *p = 42;
)
REGISTER_KERNEL(endless)
REGISTER_KERNEL(store)

static int as_child(const char *which)
{
    int *p = (int *)device_memory(4), got = 0;
    if (strcmp(which, "simple") == 0) {
        CHECK(LAUNCH(store, 1, 1, 0, 0, &p));
        CHECK(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost));
        return got;
    }
    CHECK(LAUNCH(endless, 1, 1, 0, 0, &p));
    usleep(10000);
    if (strcmp(which, "killed") == 0)
        raise(SIGKILL);
    return 7; /* while the kernel runs */
}

static int child(const char *self, const char *which)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        execl(self, self, which, (char *)NULL);
        _exit(99);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return as_child(argv[1]);
    int *p = (int *)device_memory(4), got = 0;
    CHECK(LAUNCH(store, 1, 1, 0, 0, &p));
    CHECK(cudaDeviceSynchronize());
    expect(child(argv[0], "simple") == 42, "a child after fork and exec has a device, too");
    expect(child(argv[0], "exits") == 7, "a program ends while its kernel runs");
    expect(child(argv[0], "killed") == -SIGKILL, "and when it is killed");
    CHECK(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost));
    expect(got == 42, "the parent goes on");
    return done();
}

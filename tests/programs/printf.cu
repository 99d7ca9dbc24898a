/* What kernels print stands on stdout, in order, before the host goes on behind a synchronization. */
#include "program.h"

#include <fcntl.h>

KERNEL say(int n) BODY(
    printf("thread %d of %d: %5.2f %s %c %x %lld%%\n", threadIdx.x, n, 1.5 * threadIdx.x, "text", 'c', 255u, -1LL);
)
REGISTER_KERNEL(say)

int main(void)
{
    static char got[4096], want[4096];
    char name[] = "/tmp/heddle-printf-XXXXXX";
    int file = mkstemp(name), out = dup(1), n = 3;
    unlink(name);
    for (int i = 0; i < n; i++)
        sprintf(want + strlen(want), "thread %d of %d: %5.2f %s %c %x %lld%%\n", i, n, 1.5 * i, "text", 'c', 255u,
                -1LL);
    strcat(want, "and the host\n");
    fflush(stdout);
    dup2(file, 1);
    CHECK(LAUNCH(say, 1, 3, 0, 0, &n));
    CHECK(cudaDeviceSynchronize());
    printf("and the host\n");
    fflush(stdout);
    dup2(out, 1);
    lseek(file, 0, SEEK_SET);
    expect(read(file, got, sizeof got - 1) > 0 && strcmp(got, want) == 0, "printf of a kernel, then of the host");
    if (strcmp(got, want) != 0)
        printf("# got: %s# want: %s", got, want);
    return done();
}

// A program with mistakes in its kernels, and many ways to end: ways WAY.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void beyond(int *p, int n)
{
    int i = threadIdx.x;
    if (i <= n)
        p[i] = i; // beyond the end
}

__global__ void clean(int *p, int n)
{
    int i = threadIdx.x;
    if (i < n)
        p[i] = i;
}

template <typename T> __global__ void unwritten(T *p)
{
    __shared__ T s[64];
    p[threadIdx.x] = s[threadIdx.x]; // never written
}

template <typename T> __global__ void also_unwritten(T *p)
{
    __shared__ T s[64];
    p[threadIdx.x] = s[63 - threadIdx.x]; // never written
}

// Whether the last warp reads before the first one has written is a matter of the schedule.
__global__ void too_early(int *p)
{
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 7;
    if (threadIdx.x == 64)
        p[0] = s; // too early, perhaps
}

__global__ void spin(volatile int *p)
{
    while (!*p)
        ;
}

static int *memory()
{
    int *p;
    if (cudaMalloc(&p, 400) || cudaMemset(p, 0, 400))
        exit(9);
    return p;
}

static int synchronize()
{
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(e));
    fflush(stdout);
    return e != cudaSuccess;
}

static int bad()
{
    int *p = memory();
    beyond<<<1, 128>>>(p, 100);
    unwritten<float><<<1, 64>>>((float *)p);
    return synchronize();
}

static int child(char *program, bool exec)
{
    pid_t pid = fork();
    if (pid == 0) {
        if (exec)
            execl("/proc/self/exe", program, "bad", (char *)NULL);
        _exit(bad());
    }
    int status;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static int threads()
{
    std::vector<std::thread> all;
    for (int t = 0; t < 4; t++)
        all.emplace_back([t] {
            cudaStream_t s;
            cudaStreamCreate(&s);
            int *p = memory();
            for (int i = 0; i < 5; i++)
                clean<<<1, 128, 0, s>>>(p, 100);
            beyond<<<1, 128, 0, s>>>(p, t == 3 ? 100 : 99);
            cudaStreamSynchronize(s);
            cudaStreamDestroy(s);
        });
    for (std::thread &t : all)
        t.join();
    return synchronize();
}

static int graph()
{
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;
    int *p = memory();
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    beyond<<<1, 128, 0, s>>>(p, 100);
    cudaStreamEndCapture(s, &g);
    cudaGraphInstantiate(&e, g, NULL, NULL, 0);
    for (int i = 0; i < 3; i++)
        cudaGraphLaunch(e, s);
    return synchronize();
}

// Mistakes of the host alone.
static int host(bool crash)
{
    static int values[200];
    int *p = memory();
    p = memory();
    cudaMemcpy(p, values, 500, cudaMemcpyHostToDevice); // beyond the end
    if (cudaMemset(p, 0, 500)) // is looked at
        cudaGetLastError();
    if (crash)
        abort();
    cudaFree(p);
    return 0;
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "bad";
    auto is = [way](const char *name) { return strcmp(way, name) == 0; };
    if (is("nothing"))
        return 3;
    if (is("outlived") && fork() == 0) {
        freopen("/dev/null", "w", stdout);
        freopen("/dev/null", "w", stderr);
        bad();
        sleep(8);
        return 0;
    }
    if (is("fork"))
        return child(argv[0], false);
    if (is("exec"))
        return child(argv[0], true) + bad();
    if (is("unused")) {
        int *written = memory(), *p;
        cudaMalloc(&p, 800); // never used
        cudaMalloc(&p, 800); // used in part
        clean<<<1, 128>>>(p, 50);
        cudaDeviceSynchronize();
        cudaFree(p);
        return cudaFree(written);
    }
    if (is("host") || is("crash"))
        return host(is("crash"));
    if (is("threads"))
        return threads();
    if (is("graph"))
        return graph();
    if (is("clean")) {
        int *p = memory();
        for (int i = 0; i < 7; i++)
            clean<<<1, 128>>>(p, 100);
        return synchronize();
    }
    if (is("early")) {
        too_early<<<1, 96>>>(memory());
        return synchronize();
    }
    if (is("spin")) {
        bad();
        spin<<<1, 1>>>(memory());
        return synchronize();
    }
    if (is("spin only")) {
        int *p = memory();
        puts("launching");
        fflush(stdout);
        spin<<<1, 1>>>(p);
        return synchronize();
    }
    if (is("endless")) {
        beyond<<<1, 128>>>(memory(), 100);
        spin<<<1, 1>>>(memory());
        return 0;
    }
    if (is("unwaited")) {
        beyond<<<1, 128>>>(memory(), 100);
        return 0;
    }
    if (is("types")) {
        unwritten<float><<<1, 64>>>((float *)memory());
        also_unwritten<int><<<1, 64>>>(memory());
        return synchronize();
    }
    int status = bad();
    if (is("abort"))
        abort();
    if (is("kill"))
        kill(getpid(), SIGKILL);
    if (is("_exit"))
        _exit(status);
    if (is("fail"))
        return 5;
    if (is("reset"))
        cudaDeviceReset();
    if (is("sleep"))
        sleep(100);
    return status;
}

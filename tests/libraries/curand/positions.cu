// Where a draw begins after other draws and settings, and what a graph draws each time: for each, some words and a hash of all, as an H200 printed them.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <curand.h>
#include <functional>
#include <vector>

static const struct kind {
    curandRngType_t type;
    const char *name;
} kinds[] = {{CURAND_RNG_PSEUDO_XORWOW, "xorwow"}, {CURAND_RNG_PSEUDO_MRG32K3A, "mrg"}, {CURAND_RNG_PSEUDO_PHILOX4_32_10, "philox"},
             {CURAND_RNG_PSEUDO_MTGP32, "mtgp"},   {CURAND_RNG_PSEUDO_MT19937, "mt"},   {CURAND_RNG_QUASI_SOBOL32, "sobol"}};
enum { BITS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, POISSON = 7 };
static void *numbers;
static cudaStream_t stream;

static int put(curandGenerator_t g, int distribution, size_t n)
{
    switch (distribution) {
    case BITS: return curandGenerate(g, (unsigned *)numbers, n);
    case UNIFORM: return curandGenerateUniform(g, (float *)numbers, n);
    case UNIFORM_DOUBLE: return curandGenerateUniformDouble(g, (double *)numbers, n);
    case NORMAL: return curandGenerateNormal(g, (float *)numbers, n, 0, 1);
    case NORMAL_DOUBLE: return curandGenerateNormalDouble(g, (double *)numbers, n, 0, 1);
    default: return curandGeneratePoisson(g, (unsigned *)numbers, n, distribution == POISSON ? 3.5 : distribution == POISSON + 1 ? 150 : 5000);
    }
}

static void see(int distribution, size_t n)
{
    const size_t words = distribution == UNIFORM_DOUBLE || distribution == NORMAL_DOUBLE ? 2 : 1;
    std::vector<unsigned> u(n * words);
    cudaDeviceSynchronize();
    cudaMemcpy(u.data(), numbers, u.size() * 4, cudaMemcpyDeviceToHost);
    uint64_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < u.size() * 4; i++)
        hash = (hash ^ ((const unsigned char *)u.data())[i]) * 1099511628211ull;
    printf(" %08x,%08x,%08x,%016llx", u[words - 1], u[2 * words - 1], u.back(), (unsigned long long)hash);
}

static void draw(curandGenerator_t g, int distribution, size_t n)
{
    if (int status = put(g, distribution, n))
        printf(" s%d", status);
    else
        see(distribution, n);
}

static cudaGraphExec_t captured(curandGenerator_t g, int distribution, size_t n)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    put(g, distribution, n);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    return exec;
}

static void cases(const kind &k)
{
    const bool is_slow = k.type == CURAND_RNG_PSEUDO_MT19937; // to begin many generators
    auto run = [&](const char *name, std::function<void(curandGenerator_t)> f) {
        curandGenerator_t g;
        printf("%s_%s:", k.name, name);
        curandCreateGenerator(&g, k.type);
        curandSetStream(g, stream);
        f(g);
        puts("");
        curandDestroyGenerator(g);
    };
    auto setting = [&](const char *name, std::function<int(curandGenerator_t)> set) {
        if (is_slow && (!strcmp(name, "offset3") || !strcmp(name, "dim2") || !strcmp(name, "legacy")))
            return;
        run(name, [&](curandGenerator_t g) {
            draw(g, UNIFORM_DOUBLE, 5000);
            for (int i = 0; i < 2; i++)
                printf(" =%d", set(g)), draw(g, BITS, 1024);
        });
    };
    setting("seed0", [](curandGenerator_t g) { return curandSetPseudoRandomGeneratorSeed(g, 0); });
    setting("seed7", [](curandGenerator_t g) { return curandSetPseudoRandomGeneratorSeed(g, 7); });
    setting("offset3", [](curandGenerator_t g) { return curandSetGeneratorOffset(g, 3); });
    setting("best", [](curandGenerator_t g) { return curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_BEST); });
    setting("legacy", [](curandGenerator_t g) { return curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_LEGACY); });
    setting("dim2", [](curandGenerator_t g) { return curandSetQuasiRandomGeneratorDimensions(g, 2); });
    setting("seeds", [](curandGenerator_t g) { return curandGenerateSeeds(g); });
    run("mixed", [&](curandGenerator_t g) {
        const int distributions[] = {BITS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, POISSON, POISSON + 1, POISSON + 2};
        for (int i = 0; i < 24; i++)
            draw(g, distributions[i % 8], 102);
        curandSetPseudoRandomGeneratorSeed(g, 9);
        for (int i = 0; i < 16; i++)
            draw(g, distributions[i % 8], 102);
    });
    for (int d : {BITS, NORMAL_DOUBLE})
        for (size_t n : {6, 100000}) {
            char name[64];
            if (n > 6 && is_slow)
                continue;
            snprintf(name, sizeof name, "replay_%d_%zu", d, n);
            run(name, [&](curandGenerator_t g) {
                draw(g, BITS, 1000);
                cudaGraphExec_t exec = captured(g, d, n);
                for (int i = 0; i < 4; i++) {
                    cudaGraphLaunch(exec, stream);
                    see(d, n);
                    if (i > 1)
                        draw(g, BITS, 1000);
                }
            });
        }
}

int main()
{
    cudaMalloc(&numbers, 1 << 20);
    cudaStreamCreate(&stream);
    for (const kind &k : kinds)
        cases(k);
}

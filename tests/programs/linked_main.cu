/* Device code of two sources, linked: nvcc -rdc=true. */
#include "program.h"

#include "linked.h"

KERNEL use_other(int *out) BODY(
    out[threadIdx.x] = square(threadIdx.x) + atomicAdd(&shared_counter, 1) * 0;
)
REGISTER_KERNEL(use_other)

#ifndef __CUDACC__
void count_more(int *out);
REGISTER_KERNEL(count_more)
#endif
#ifdef __cplusplus
extern "C"
#endif
    void launch_count_more(int *out);

int main(void)
{
    int out[32], good = 1, *p = (int *)device_memory(sizeof out);
    CHECK(LAUNCH(use_other, 1, 32, 0, 0, &p));
    CHECK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        good &= out[i] == i * i;
    expect(good, "a function of another source");
    launch_count_more(p);
    CHECK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    expect(out[0] == 32 + 64, "a variable that both sources count in");
    return done();
}

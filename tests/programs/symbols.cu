/* Variables of the device, by their names in the program. */
#include "program.h"

DEVICE int numbers[8];
CONSTANT float factors[4];
DEVICE double alone;
KERNEL use(float *out) BODY(
    int i = threadIdx.x;
    out[i] = numbers[i] * factors[i % 4];
    numbers[i] = -i;
    if (i == 0)
        alone = 2.5;
)
REGISTER_KERNEL(use)
REGISTER_VARIABLE(numbers)
REGISTER_VARIABLE(factors)
REGISTER_VARIABLE(alone)

#define SYMBOL(name) ((const void *)&name)

int main(void)
{
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8], two[2] = {30, 40};
    float f[4] = {0.5f, 2, 4, 8}, out[8];
    double d = 0;
    void *p = NULL;
    size_t n = 0;
    cudaStream_t s;
    CHECK(cudaMemcpyToSymbol(SYMBOL(numbers), host, sizeof host, 0, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(SYMBOL(numbers), two, sizeof two, 2 * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(SYMBOL(factors), f, sizeof f, 0, cudaMemcpyDefault));
    CHECK(cudaMemcpyFromSymbol(back, SYMBOL(numbers), sizeof back, 0, cudaMemcpyDeviceToHost));
    expect(back[0] == 1 && back[2] == 30 && back[3] == 40 && back[7] == 8, "copies to a part of a variable and back");
    float *dev = (float *)device_memory(sizeof out);
    CHECK(LAUNCH(use, 1, 8, 0, 0, &dev));
    CHECK(cudaMemcpy(out, dev, sizeof out, cudaMemcpyDeviceToHost));
    expect(out[0] == 0.5f && out[1] == 4 && out[2] == 120 && out[7] == 64, "a kernel reads what was copied");
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMemcpyFromSymbolAsync(&d, SYMBOL(alone), sizeof d, 0, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    expect(d == 2.5, "what a kernel wrote comes back");
    CHECK(cudaGetSymbolAddress(&p, SYMBOL(numbers)));
    CHECK(cudaGetSymbolSize(&n, SYMBOL(numbers)));
    CHECK(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost));
    expect(n == sizeof numbers && back[7] == -7, "address and size of a variable");
    void *again = NULL;
    CHECK(cudaGetSymbolAddress(&again, SYMBOL(numbers)));
    expect(p == again, "its address stays");
    EXPECT_ERROR(cudaMemcpyToSymbol(SYMBOL(numbers), host, sizeof host, 4, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemcpyToSymbol(SYMBOL(numbers), host, 4, 0, cudaMemcpyDeviceToHost),
                 cudaErrorInvalidMemcpyDirection);
    EXPECT_ERROR(cudaMemcpyToSymbol((const void *)host, host, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
    EXPECT_ERROR(cudaGetSymbolAddress(&p, (const void *)&d), cudaErrorInvalidSymbol);
    return done();
}

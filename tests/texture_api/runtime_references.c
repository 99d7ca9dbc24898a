/* Texture and surface references of CUDA 11's runtime, as nvcc 11 has programs register and bind
 * them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_runtime_api.h"

struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureAddressMode addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, reserved[14];
};
struct surfaceReference {
    struct cudaChannelFormatDesc channelDesc;
};
void __cudaRegisterTexture(void **, const struct textureReference *, const void **, const char *, int, int, int);
void __cudaRegisterSurface(void **, const struct surfaceReference *, const void **, const char *, int, int);
cudaError_t cudaBindTexture(size_t *, const struct textureReference *, const void *,
                            const struct cudaChannelFormatDesc *, size_t);
cudaError_t cudaBindTexture2D(size_t *, const struct textureReference *, const void *,
                              const struct cudaChannelFormatDesc *, size_t, size_t, size_t);
cudaError_t cudaBindTextureToArray(const struct textureReference *, cudaArray_const_t,
                                   const struct cudaChannelFormatDesc *);
cudaError_t cudaUnbindTexture(const struct textureReference *);
cudaError_t cudaGetTextureAlignmentOffset(size_t *, const struct textureReference *);
cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *, cudaArray_const_t,
                                   const struct cudaChannelFormatDesc *);

__asm__(".section .nv_fatbin, \"a\"\n.balign 8\nimage: .incbin \"" IMAGE "\"\n.previous\n");
extern const char image[];
static struct {
    unsigned magic, version;
    const void *container;
    void *more;
} wrapper = {0x466243b1, 1, image, NULL};
static struct textureReference board = {.addressMode = {1, 1, 1},
                                        .channelDesc = {8, 8, 8, 8, cudaChannelFormatKindUnsigned}},
                               row = {.addressMode = {1, 1, 1},
                                      .channelDesc = {32, 0, 0, 0, cudaChannelFormatKindUnsigned}};
static struct surfaceReference paper;
static void picture(void) {}
static void line(void) {}
static void draw(void) {}

static int failed;
static void check(int line, long is, long want)
{
    if (is != want)
        printf("line %d: %ld, not %ld\n", line, is, want), failed = 1;
}
#define IS(a, b) check(__LINE__, (long)(a), (long)(b))

int main(void)
{
    void **b = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(b, (const char *)picture, (char *)"picture", "picture", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(b, (const char *)line, (char *)"line", "line", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFunction(b, (const char *)draw, (char *)"draw", "draw", -1, 0, 0, 0, 0, 0);
    __cudaRegisterTexture(b, &board, NULL, "board", 2, 1, 0);
    __cudaRegisterTexture(b, &row, NULL, "row", 1, 0, 0);
    __cudaRegisterSurface(b, &paper, NULL, "paper", 2, 0);
    __cudaRegisterFatBinaryEnd(b);
    unsigned char texels[16][16][4];
    for (int i = 0; i < 1024; i++)
        ((unsigned char *)texels)[i] = (unsigned char)(i * 7);
    cudaArray_t a, s;
    float *out, back[1024];
    unsigned words[1024];
    void *args[] = {&out};
    dim3 one = {1, 1, 1}, block = {256, 1, 1};
    IS(cudaMalloc((void **)&out, 4096), 0);
    struct cudaChannelFormatDesc u32 = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
    IS(cudaMallocArray(&a, &board.channelDesc, 16, 16, 0), 0);
    IS(cudaMallocArray(&s, &u32, 16, 16, cudaArraySurfaceLoadStore), 0);
    IS(cudaMemcpy2DToArray(a, 0, 0, texels, 64, 64, 16, cudaMemcpyHostToDevice), 0);
    /* an array, as fractions */
    IS(cudaBindTextureToArray(&board, a, &board.channelDesc), 0);
    IS(cudaLaunchKernel((const void *)picture, one, block, args, 0, NULL), 0);
    IS(cudaMemcpy(back, out, 4096, cudaMemcpyDeviceToHost), 0);
    IS(back[0] * 255 + .5f, texels[0][0][0]);                              /* (-1, 0.3), which is clamped */
    IS(back[4 * 100 + 2] * 255 + .5f, texels[6][(int)(4 * 1.05f - 1)][2]); /* thread 100: (3.2, 6.9) */
    /* rows in memory */
    void *p;
    size_t pitch, offset = 7;
    IS(cudaMallocPitch(&p, &pitch, 64, 16), 0);
    IS(cudaMemcpy2D(p, pitch, texels, 64, 64, 16, cudaMemcpyHostToDevice), 0);
    IS(cudaBindTexture2D(&offset, &board, p, &board.channelDesc, 16, 16, pitch), 0);
    IS(offset, 0);
    IS(cudaLaunchKernel((const void *)picture, one, block, args, 0, NULL), 0);
    IS(cudaMemcpy(words, out, 4096, cudaMemcpyDeviceToHost), 0);
    IS(memcmp(words, back, 4096), 0);
    /* linear memory, from an address that is none of a texture's */
    IS(cudaMemcpy(p, texels, 1024, cudaMemcpyHostToDevice), 0);
    IS(cudaBindTexture(&offset, &row, (char *)p + 64, &u32, ~0u), 0);
    IS(offset, 64);
    offset = 7;
    IS(cudaGetTextureAlignmentOffset(&offset, &row), 0);
    IS(offset, 64);
    IS(cudaLaunchKernel((const void *)line, one, block, args, 0, NULL), 0);
    IS(cudaMemcpy(words, out, 4096, cudaMemcpyDeviceToHost), 0);
    IS(words[0], ((unsigned *)texels)[0]);
    IS(words[4 * 255], ((unsigned *)texels)[255]);
    IS(cudaBindTexture(NULL, &row, (char *)p + 64, &u32, 400), cudaErrorInvalidValue);
    IS(cudaGetTextureAlignmentOffset(&offset, &row), cudaErrorInvalidTextureBinding);
    IS(cudaGetTextureAlignmentOffset(&offset, &board), 0);
    IS(offset, 0);
    /* a surface */
    IS(cudaBindSurfaceToArray(&paper, s, &u32), 0);
    IS(cudaLaunchKernel((const void *)draw, one, block, args, 0, NULL), 0);
    IS(cudaMemcpy2DFromArray(words, 64, s, 0, 0, 64, 16, cudaMemcpyDeviceToHost), 0);
    IS(words[0], 0);
    IS(words[255], 255 * 77);
    /* what is none, and nothing */
    IS(cudaBindTextureToArray((struct textureReference *)&paper, a, &u32), cudaErrorInvalidTexture);
    IS(cudaBindSurfaceToArray((struct surfaceReference *)&board, s, &u32), cudaErrorInvalidSurface);
    IS(cudaUnbindTexture(&board), 0);
    IS(cudaGetTextureAlignmentOffset(&offset, &board), cudaErrorInvalidTextureBinding);
    IS(cudaLaunchKernel((const void *)picture, one, block, args, 0, NULL), 0);
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    if (!failed)
        puts("all as it should be");
    return failed;
}

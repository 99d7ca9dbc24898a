/* Copies and fills in one, two and three dimensions. */
#include "program.h"

KERNEL scale(float *p, size_t pitch, int width, int height) BODY(
    int x = threadIdx.x;
    int y = blockIdx.x;
    if (x < width && y < height)
        ((float *)((char *)p + y * pitch))[x] *= 2;
)
REGISTER_KERNEL(scale)

enum { W = 30, H = 20, D = 4 };

static void two_dimensions(void)
{
    static float a[H][W], b[H][W], c[H][2 * W];
    float *p;
    size_t pitch;
    int w = W, h = H, good = 1;
    CHECK(cudaMallocPitch((void **)&p, &pitch, W * sizeof(float), H));
    expect(pitch >= W * sizeof(float) && pitch % 512 == 0, "rows of cudaMallocPitch are aligned");
    for (int i = 0; i < W * H; i++)
        a[i / W][i % W] = (float)i;
    CHECK(cudaMemcpy2D(p, pitch, a, sizeof a[0], W * sizeof(float), H, cudaMemcpyHostToDevice));
    CHECK(LAUNCH(scale, H, 32, 0, 0, &p, &pitch, &w, &h));
    CHECK(cudaMemcpy2D(b, sizeof b[0], p, pitch, W * sizeof(float), H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W * H; i++)
        good &= b[i / W][i % W] == 2 * a[i / W][i % W];
    expect(good, "2-D copies from and to a pitch");
    CHECK(cudaMemset(c, 0, 0));
    CHECK(cudaMemcpy2DAsync(&c[0][W], sizeof c[0], p, pitch, W * sizeof(float), H, cudaMemcpyDefault, 0));
    CHECK(cudaDeviceSynchronize());
    good = 1;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            good &= c[y][x] == 0 && c[y][W + x] == b[y][x];
    expect(good, "a 2-D copy writes nothing beside its rows");
    CHECK(cudaMemset2D(p, pitch, 0x3f, 8, 3));
    CHECK(cudaMemcpy2D(b, sizeof b[0], p, pitch, W * sizeof(float), H, cudaMemcpyDeviceToHost));
    unsigned bits;
    memcpy(&bits, &b[2][1], 4);
    expect(bits == 0x3f3f3f3f && b[2][2] == 2 * a[2][2] && b[3][0] == 2 * a[3][0], "a 2-D fill keeps to its rows");
    EXPECT_ERROR(cudaMemcpy2D(p, 8, a, sizeof a[0], W * sizeof(float), H, cudaMemcpyHostToDevice),
                 cudaErrorInvalidPitchValue);
    EXPECT_ERROR(cudaMemcpy2D(p, 8, a, sizeof a[0], W * sizeof(float), 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemcpy2D(p, 8, a, sizeof a[0], W * sizeof(float), 0, cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_ERROR(cudaFree(p), cudaSuccess);
}

static struct cudaPitchedPtr pitched(void *p, size_t pitch, size_t width, size_t height)
{
    struct cudaPitchedPtr r;
    r.ptr = p, r.pitch = pitch, r.xsize = width, r.ysize = height;
    return r;
}

static void three_dimensions(void)
{
    static short a[D][H][W], b[D][H][W];
    struct cudaPitchedPtr p;
    struct cudaExtent all, part;
    struct cudaMemcpy3DParms c;
    int good = 1;
    all.width = W * sizeof(short), all.height = H, all.depth = D;
    CHECK(cudaMalloc3D(&p, all));
    for (int i = 0; i < D * H * W; i++)
        a[i / W / H][i / W % H][i % W] = (short)i;
    memset(&c, 0, sizeof c);
    c.srcPtr = pitched(a, W * sizeof(short), W, H);
    c.dstPtr = p;
    c.extent = all;
    c.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&c));
    /* A box of it, moved by one in each direction. */
    part.width = 4 * sizeof(short), part.height = 3, part.depth = 2;
    memset(&c, 0, sizeof c);
    c.srcPtr = p;
    c.srcPos.x = 2 * sizeof(short), c.srcPos.y = 5, c.srcPos.z = 1;
    c.dstPtr = pitched(b, W * sizeof(short), W, H);
    c.dstPos.x = 3 * sizeof(short), c.dstPos.y = 6, c.dstPos.z = 2;
    c.extent = part;
    c.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3DAsync(&c, 0));
    CHECK(cudaDeviceSynchronize());
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                int inside = x >= 3 && x < 7 && y >= 6 && y < 9 && z >= 2 && z < 4;
                good &= b[z][y][x] == (inside ? a[z - 1][y - 1][x - 1] : 0);
            }
    expect(good, "a 3-D copy moves a box");
    part.width = 6, part.height = 2, part.depth = 2;
    CHECK(cudaMemset3D(p, 0x11, part));
    memset(&c, 0, sizeof c);
    c.srcPtr = p;
    c.dstPtr = pitched(b, W * sizeof(short), W, H);
    c.extent = all;
    c.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&c));
    good = 1;
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                good &= b[z][y][x] == (x < 3 && y < 2 && z < 2 ? 0x1111 : a[z][y][x]);
    expect(good, "a 3-D fill keeps to its box");
    /* Rows longer than their pitch: another error where there is one row alone, as on an H200. */
    c.dstPtr.pitch = 2;
    EXPECT_ERROR(cudaMemcpy3D(&c), cudaErrorInvalidPitchValue);
    c.extent.height = c.extent.depth = 1;
    EXPECT_ERROR(cudaMemcpy3D(&c), cudaErrorInvalidValue);
}

int main(void)
{
    char a[100], b[100], c[100];
    for (int i = 0; i < 100; i++)
        a[i] = (char)i, b[i] = c[i] = 0;
    char *p = (char *)device_memory(100), *q = (char *)device_memory(100);
    CHECK(cudaMemcpy(p, a, 100, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(q, p, 100, cudaMemcpyDeviceToDevice));
    CHECK(cudaMemcpy(b, q, 100, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(c, b, 100, cudaMemcpyHostToHost));
    expect(memcmp(a, c, 100) == 0, "there, across, back, and on the host");
    CHECK(cudaMemcpy(q + 1, p, 50, cudaMemcpyDefault));
    CHECK(cudaMemset(q + 60, 0xee, 10));
    CHECK(cudaMemcpy(b, q, 100, cudaMemcpyDefault));
    expect(b[0] == 0 && b[1] == 0 && b[50] == 49 && b[51] == 51 && (unsigned char)b[60] == 0xee && b[70] == 70,
           "cudaMemcpyDefault finds the direction");
    EXPECT_ERROR(cudaMemcpy(p, a, 100, (enum cudaMemcpyKind)9), cudaErrorInvalidMemcpyDirection);
    EXPECT_ERROR(cudaMemcpy(p, a, 1 << 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemcpy(p, a, 0, cudaMemcpyHostToDevice), cudaSuccess);
    two_dimensions();
    three_dimensions();
    return done();
}

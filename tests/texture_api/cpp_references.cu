/* Texture and surface references of C++ (CUDA 11): each reads what an object of the same array reads. A line for each that does not. */
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

static int wrong;

static void need(bool is, const char *what)
{
    if (!is)
        wrong++, printf("wrong: %s\n", what);
}
#define OK(call) need((call) == cudaSuccess, #call)

enum { LINEAR = cudaFilterModeLinear, POINT = cudaFilterModePoint };

texture<float> numbers;
static texture<int2, 1, cudaReadModeElementType> pairs;
texture<unsigned char, cudaTextureType1D, cudaReadModeNormalizedFloat> fractions;
texture<float, 1> line(0, cudaFilterModeLinear);
namespace deep {
texture<float, 2, cudaReadModeElementType> board(0, cudaFilterModeLinear, cudaAddressModeClamp);
}
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colours(1, cudaFilterModeLinear, cudaAddressModeWrap, cudaCreateChannelDesc<uchar4>());
texture<short2, 2> rows;
texture<float, 3> volume(1, cudaFilterModeLinear, cudaAddressModeMirror);
texture<unsigned short, cudaTextureType1DLayered> tapes;
texture<float4, cudaTextureType2DLayered> sheets(0, cudaFilterModeLinear);
texture<float, cudaTextureTypeCubemap> cube(0, cudaFilterModeLinear);
texture<int, cudaTextureTypeCubemapLayered> cubes;
texture<float, 2> levels(1, cudaFilterModeLinear);
surface<void, 2> paper;
surface<void, cudaSurfaceType3D> block;
extern texture<char, 2> later;

/* As the reference is read, whatever class of program it stands in. */
template <class T> struct Reader {
    __device__ static T at(int i) { return tex1Dfetch(pairs, i); }
};
__device__ float in_a_function(texture<float, 2, cudaReadModeElementType> tex, float x) { return tex2D(tex, x, 1.25f); }

#define READS(X)                                                                                                       \
    X(0, numbers, float, tex1Dfetch(numbers, i), tex1Dfetch<float>(t, i))                                              \
    X(1, pairs, int2, Reader<int2>::at(i), tex1Dfetch<int2>(t, i))                                                     \
    X(2, fractions, float, tex1Dfetch(fractions, i), tex1Dfetch<float>(t, i))                                          \
    X(3, line, float, tex1D(line, f), tex1D<float>(t, f))                                                              \
    X(4, deep::board, float, in_a_function(deep::board, f), tex2D<float>(t, f, 1.25f))                                 \
    X(5, deep::board, float4, tex2Dgather(deep::board, f, 2.f), tex2Dgather<float4>(t, f, 2.f))                        \
    X(6, colours, float4, tex2D(colours, f / 5, .3f), tex2D<float4>(t, f / 5, .3f))                                    \
    X(7, rows, short2, tex2D(rows, f, 1.f), tex2D<short2>(t, f, 1.f))                                                  \
    X(8, volume, float, tex3D(volume, f / 5, .4f, .9f), tex3D<float>(t, f / 5, .4f, .9f))                              \
    X(9, tapes, unsigned short, tex1DLayered(tapes, f, 2), tex1DLayered<unsigned short>(t, f, 2))                      \
    X(10, sheets, float4, tex2DLayered(sheets, f, 1.5f, 1), tex2DLayered<float4>(t, f, 1.5f, 1))                       \
    X(11, cube, float, texCubemap(cube, f - 2, 1, .5f), texCubemap<float>(t, f - 2, 1, .5f))                           \
    X(12, cubes, int, texCubemapLayered(cubes, 1, f - 2, .5f, 1), texCubemapLayered<int>(t, 1, f - 2, .5f, 1))         \
    X(13, levels, float, tex2DLod(levels, f / 8, .3f, f / 4), tex2DLod<float>(t, f / 8, .3f, f / 4))                   \
    X(14, levels, float, tex2DGrad(levels, .3f, .4f, make_float2(f / 8, 0), make_float2(0, .1f)),                      \
      tex2DGrad<float>(t, .3f, .4f, make_float2(f / 8, 0), make_float2(0, .1f)))                                       \
    X(15, later, char, tex2D(later, f, 1), tex2D<char>(t, f, 1))

template <class A, class B> __device__ bool are_equal(const A &a, const B &b)
{
    static_assert(std::is_same<A, B>::value, "what a reference gives");
    for (int i = 0; i < (int)sizeof a; i++)
        if (((const char *)&a)[i] != ((const char *)&b)[i])
            return false;
    return true;
}

__device__ int differ;
__device__ float seen;

__global__ void compare(int which, cudaTextureObject_t t)
{
    int i = threadIdx.x;
    float f = i * .37f;
    switch (which) {
#define READ(number, tex, T, by_reference, by_object)                                                                  \
    case number: {                                                                                                     \
        auto a = by_reference;                                                                                         \
        T b = by_object;                                                                                               \
        if (!are_equal(a, b))                                                                                          \
            atomicAdd(&differ, 1);                                                                                     \
        atomicAdd(&seen, i == 3 ? (float)*(char *)&a + ((char *)&a)[sizeof a - 1] : 0);                                \
    } break;
        READS(READ)
    }
}

__global__ void draw()
{
    int i = threadIdx.x;
    surf2Dwrite(i * 3.5f, paper, (i % 8) * 4, i / 8);
    surf3Dwrite((unsigned char)(i * 3), block, i % 4, i / 4 % 4, i / 16);
    __syncthreads();
    int j = 63 - i;
    float v, w = surf2Dread<float>(paper, (j % 8) * 4, j / 8);
    surf2Dread(&v, paper, (j % 8) * 4, j / 8);
    if (v != j * 3.5f || w != v || surf3Dread<unsigned char>(block, j % 4, j / 4 % 4, j / 16) != (unsigned char)(j * 3))
        atomicAdd(&differ, 1);
}

texture<char, 2> later;

static void compare_with(int which, const char *name, const textureReference &r, bool as_float, cudaResourceDesc resource)
{
    cudaTextureDesc d = {};
    cudaTextureObject_t t;
    int n = -1, none = 0;
    memcpy(d.addressMode, r.addressMode, sizeof d.addressMode);
    d.filterMode = r.filterMode;
    d.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.normalizedCoords = r.normalized;
    d.mipmapFilterMode = r.mipmapFilterMode;
    d.maxMipmapLevelClamp = r.maxMipmapLevelClamp;
    OK(cudaCreateTextureObject(&t, &resource, &d, nullptr));
    OK(cudaMemcpyToSymbol(differ, &none, sizeof none));
    compare<<<1, 32>>>(which, t);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&n, differ, sizeof n));
    if (n)
        wrong++, printf("wrong: %d lanes read %s otherwise (%d)\n", n, name, which);
    OK(cudaDestroyTextureObject(t));
}

static std::vector<unsigned char> noise(size_t bytes)
{
    std::vector<unsigned char> v(bytes);
    for (size_t i = 0; i < bytes; i++)
        v[i] = i % 4 == 3 ? 0x3f + i / 4 % 3 : i * 41; /* floats of usual sizes */
    return v;
}

static cudaArray_t array_of(cudaChannelFormatDesc d, cudaExtent e, unsigned flags)
{
    cudaArray_t a;
    OK(cudaMalloc3DArray(&a, &d, e, flags));
    cudaMemcpy3DParms p = {};
    size_t texel = (d.x + d.y + d.z + d.w) / 8;
    std::vector<unsigned char> v = noise(texel * e.width * (e.height ? e.height : 1) * (e.depth ? e.depth : 1));
    p.srcPtr = make_cudaPitchedPtr(v.data(), e.width * texel, e.width, e.height ? e.height : 1);
    p.dstArray = a;
    p.extent = make_cudaExtent(e.width, e.height ? e.height : 1, e.depth ? e.depth : 1);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    return a;
}

static cudaResourceDesc resource_of(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}

template <class T, int D, cudaTextureReadMode M>
static void arrays(int which, const char *name, texture<T, D, M> &tex, cudaExtent e, unsigned flags = 0)
{
    cudaArray_t a = array_of(tex.channelDesc, e, flags);
    if (which % 2)
        OK(cudaBindTextureToArray(tex, a));
    else
        OK(cudaBindTextureToArray(tex, a, tex.channelDesc));
    compare_with(which, name, tex, M == cudaReadModeNormalizedFloat, resource_of(a));
    OK(cudaUnbindTexture(tex));
}

template <class T, int D, cudaTextureReadMode M> static void linear(int which, const char *name, texture<T, D, M> &tex)
{
    std::vector<unsigned char> v = noise(4096);
    char *p;
    size_t off = 1;
    cudaResourceDesc r = {};
    OK(cudaMalloc(&p, v.size()));
    OK(cudaMemcpy(p, v.data(), v.size(), cudaMemcpyHostToDevice));
    OK(which % 2 ? cudaBindTexture(&off, tex, p, v.size()) : cudaBindTexture(nullptr, &tex, p, &tex.channelDesc, v.size()));
    need(off == (which % 2 ? 0 : 1), "offset");
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = p;
    r.res.linear.desc = tex.channelDesc;
    r.res.linear.sizeInBytes = v.size();
    compare_with(which, name, tex, M == cudaReadModeNormalizedFloat, r);
    OK(cudaBindTexture(&off, tex, p + 256, tex.channelDesc));
    need(off == 256, "offset of what is not aligned");
}

static void pitched()
{
    short2 *p;
    size_t pitch;
    cudaResourceDesc r = {};
    std::vector<unsigned char> v = noise(16 * 4 * 8);
    OK(cudaMallocPitch(&p, &pitch, 16 * 4, 8));
    OK(cudaMemcpy2D(p, pitch, v.data(), 16 * 4, 16 * 4, 8, cudaMemcpyHostToDevice));
    OK(cudaBindTexture2D(0, rows, p, 16, 8, pitch));
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D = {p, rows.channelDesc, 16, 8, pitch};
    compare_with(7, "rows", rows, false, r);
}

static void mipmapped()
{
    cudaMipmappedArray_t m;
    cudaResourceDesc r = {};
    OK(cudaMallocMipmappedArray(&m, &levels.channelDesc, make_cudaExtent(8, 8, 0), 3));
    for (unsigned i = 0; i < 3; i++) {
        cudaArray_t a;
        std::vector<unsigned char> v = noise(4 * (8 >> i) * (8 >> i));
        OK(cudaGetMipmappedArrayLevel(&a, m, i));
        OK(cudaMemcpyToArray(a, 0, 0, v.data(), v.size(), cudaMemcpyHostToDevice));
    }
    levels.mipmapFilterMode = cudaFilterModeLinear;
    levels.maxMipmapLevelClamp = 2;
    OK(cudaBindTextureToMipmappedArray(levels, m));
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    compare_with(13, "levels", levels, false, r);
    compare_with(14, "levels", levels, false, r);
}

static void surfaces()
{
    int n = 0;
    OK(cudaMemcpyToSymbol(differ, &n, sizeof n));
    OK(cudaBindSurfaceToArray(paper, array_of(cudaCreateChannelDesc<float>(), make_cudaExtent(8, 8, 0), cudaArraySurfaceLoadStore)));
    cudaChannelFormatDesc d = cudaCreateChannelDesc<unsigned char>();
    OK(cudaBindSurfaceToArray(block, array_of(d, make_cudaExtent(4, 4, 4), cudaArraySurfaceLoadStore), d));
    draw<<<1, 64>>>();
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(&n, differ, sizeof n));
    need(n == 0, "what surfaces read back");
}

/* The texel 0 to a coordinate that is subnormal and negative, in each mode, as on an H200. */
__global__ void read_at(cudaTextureObject_t t, float x, float *value)
{
    *value = tex1D<float>(t, x + threadIdx.x);
}
static bool subnormals_are_zero()
{
    const float texels[] = {1, 2, 3, 4};
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    float *value, sum = 0;
    cudaMallocArray(&array, &format, 4), cudaMalloc(&value, sizeof *value);
    cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels, sizeof texels, 1, cudaMemcpyHostToDevice);
    for (int mode = 0; mode < 8; mode++) {
        cudaResourceDesc resource = {};
        cudaTextureDesc description = {};
        cudaTextureObject_t object;
        float v = 0;
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        description.addressMode[0] = (cudaTextureAddressMode)(mode / 2);
        description.normalizedCoords = mode % 2;
        cudaCreateTextureObject(&object, &resource, &description, nullptr);
        read_at<<<1, 1>>>(object, -1e-40f, value);
        cudaMemcpy(&v, value, sizeof v, cudaMemcpyDeviceToHost);
        cudaDestroyTextureObject(object);
        sum += v;
    }
    return sum == 8;
}

int main()
{
    const cudaChannelFormatDesc half = cudaCreateChannelDescHalf4(),
                                pair = cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized8X2>();
    if (half.w != 16 || half.f != cudaChannelFormatKindFloat || cudaCreateChannelDescHalf().y != 0 || pair.y != 8 ||
        pair.z != 0 || pair.f != cudaChannelFormatKindUnsignedNormalized8X2)
        return 1;
    if (!subnormals_are_zero())
        return 2;
    const textureReference *r;
    const surfaceReference *s;
    float sum = 0;
    linear(0, "numbers", numbers);
    linear(1, "pairs", pairs);
    linear(2, "fractions", fractions);
    arrays(3, "line", line, make_cudaExtent(16, 0, 0));
    arrays(4, "board", deep::board, make_cudaExtent(16, 8, 0));
    arrays(5, "board", deep::board, make_cudaExtent(16, 8, 0), cudaArrayTextureGather);
    arrays(6, "colours", colours, make_cudaExtent(5, 7, 0));
    pitched();
    arrays(8, "volume", volume, make_cudaExtent(6, 5, 4));
    arrays(9, "tapes", tapes, make_cudaExtent(16, 0, 3), cudaArrayLayered);
    arrays(10, "sheets", sheets, make_cudaExtent(9, 8, 3), cudaArrayLayered);
    arrays(11, "cube", cube, make_cudaExtent(8, 8, 6), cudaArrayCubemap);
    arrays(12, "cubes", cubes, make_cudaExtent(4, 4, 12), cudaArrayCubemap | cudaArrayLayered);
    mipmapped();
    arrays(15, "later", later, make_cudaExtent(16, 8, 0));
    surfaces();
    OK(cudaGetTextureReference(&r, &volume));
    OK(cudaGetSurfaceReference(&s, &paper));
    need(r == &volume && s == &paper, "what stands behind a symbol");
    need(cudaBindTexture(nullptr, (textureReference *)&sum, nullptr, nullptr, 0) == cudaErrorInvalidTexture, "what is no reference");
    cudaGetLastError();
    OK(cudaMemcpyFromSymbol(&sum, seen, sizeof sum));
    need(sum != 0, "what was read");
    if (!wrong)
        puts("all as objects");
    return wrong != 0;
}

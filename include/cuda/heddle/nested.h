/* Launches by kernels. `heddle cc` writes k<<<grid, block>>>(x) of device code as
 * heddle::nested(HEDDLE_KERNEL(1, k), grid, block)(x), as clang has no such launches, nor lets
 * device code name a kernel (src/cc/nested.c). */
#ifndef HEDDLE_NESTED_H
#define HEDDLE_NESTED_H

#include "define.h"

/* A pointer to a kernel of n parameters. In the body of a function of the device clang chooses
 * among no kernels of one name, but in that of a class it does; before C++17 an argument of a
 * template is no call. */
#if __cplusplus >= 201703L
#define HEDDLE_KERNEL(n, ...)                                                                                          \
    ([] {                                                                                                              \
        struct heddle_named {                                                                                          \
            using type = ::heddle::named_kernel<decltype(::heddle::of_parameters<n>::choose(&__VA_ARGS__)),            \
                                                ::heddle::of_parameters<n>::choose(&__VA_ARGS__)>;                     \
        };                                                                                                             \
        return ::heddle::pointer_of((typename heddle_named::type *)nullptr);                                           \
    }())
#else
#define HEDDLE_KERNEL(n, ...) ::heddle::kernel_pointer<decltype(&__VA_ARGS__), &__VA_ARGS__>
#endif

/* What only one side's code has, of a function of both. */
#ifdef __CUDA_ARCH__
#define HEDDLE_ON_HOST(...)
#define HEDDLE_ON_DEVICE(...) __VA_ARGS__
#else
#define HEDDLE_ON_HOST(...) __VA_ARGS__
#define HEDDLE_ON_DEVICE(...)
#endif

namespace heddle
{

/* Of kernels with one name, the one that has so many parameters; any number: -1. One that is alone
 * is taken; its launch says then what is wrong with the arguments. */
template <int n> struct of_parameters {
    template <class... P> static constexpr auto choose(void (*f)(P...)) -> void (*)(P...)
    {
        return f;
    }
};
#define HEDDLE_CHOOSE(n, classes, names)                                                                               \
    template <> struct of_parameters<n> {                                                                              \
        template <classes> static constexpr auto choose(void (*f)(names)) -> void (*)(names)                           \
        {                                                                                                              \
            return f;                                                                                                  \
        }                                                                                                              \
        template <class F> static constexpr auto choose(F f) -> F                                                      \
        {                                                                                                              \
            return f;                                                                                                  \
        }                                                                                                              \
    };
#define HEDDLE_CLASSES_1    class P1
#define HEDDLE_CLASSES_2    HEDDLE_CLASSES_1, class P2
#define HEDDLE_CLASSES_3    HEDDLE_CLASSES_2, class P3
#define HEDDLE_CLASSES_4    HEDDLE_CLASSES_3, class P4
#define HEDDLE_CLASSES_5    HEDDLE_CLASSES_4, class P5
#define HEDDLE_CLASSES_6    HEDDLE_CLASSES_5, class P6
#define HEDDLE_CLASSES_7    HEDDLE_CLASSES_6, class P7
#define HEDDLE_CLASSES_8    HEDDLE_CLASSES_7, class P8
#define HEDDLE_CLASSES_9    HEDDLE_CLASSES_8, class P9
#define HEDDLE_CLASSES_10   HEDDLE_CLASSES_9, class P10
#define HEDDLE_CLASSES_11   HEDDLE_CLASSES_10, class P11
#define HEDDLE_CLASSES_12   HEDDLE_CLASSES_11, class P12
#define HEDDLE_CLASSES_13   HEDDLE_CLASSES_12, class P13
#define HEDDLE_CLASSES_14   HEDDLE_CLASSES_13, class P14
#define HEDDLE_CLASSES_15   HEDDLE_CLASSES_14, class P15
#define HEDDLE_CLASSES_16   HEDDLE_CLASSES_15, class P16
#define HEDDLE_NAMES_1      P1
#define HEDDLE_NAMES_2      HEDDLE_NAMES_1, P2
#define HEDDLE_NAMES_3      HEDDLE_NAMES_2, P3
#define HEDDLE_NAMES_4      HEDDLE_NAMES_3, P4
#define HEDDLE_NAMES_5      HEDDLE_NAMES_4, P5
#define HEDDLE_NAMES_6      HEDDLE_NAMES_5, P6
#define HEDDLE_NAMES_7      HEDDLE_NAMES_6, P7
#define HEDDLE_NAMES_8      HEDDLE_NAMES_7, P8
#define HEDDLE_NAMES_9      HEDDLE_NAMES_8, P9
#define HEDDLE_NAMES_10     HEDDLE_NAMES_9, P10
#define HEDDLE_NAMES_11     HEDDLE_NAMES_10, P11
#define HEDDLE_NAMES_12     HEDDLE_NAMES_11, P12
#define HEDDLE_NAMES_13     HEDDLE_NAMES_12, P13
#define HEDDLE_NAMES_14     HEDDLE_NAMES_13, P14
#define HEDDLE_NAMES_15     HEDDLE_NAMES_14, P15
#define HEDDLE_NAMES_16     HEDDLE_NAMES_15, P16
#define HEDDLE_CHOOSE_OF(n) HEDDLE_CHOOSE(n, HEDDLE_CLASSES_##n, HEDDLE_NAMES_##n)
HEDDLE_CHOOSE_OF(1)
HEDDLE_CHOOSE_OF(2)
HEDDLE_CHOOSE_OF(3)
HEDDLE_CHOOSE_OF(4)
HEDDLE_CHOOSE_OF(5)
HEDDLE_CHOOSE_OF(6)
HEDDLE_CHOOSE_OF(7)
HEDDLE_CHOOSE_OF(8)
HEDDLE_CHOOSE_OF(9)
HEDDLE_CHOOSE_OF(10)
HEDDLE_CHOOSE_OF(11)
HEDDLE_CHOOSE_OF(12)
HEDDLE_CHOOSE_OF(13)
HEDDLE_CHOOSE_OF(14)
HEDDLE_CHOOSE_OF(15)
HEDDLE_CHOOSE_OF(16)
#undef HEDDLE_CHOOSE
#undef HEDDLE_CHOOSE_OF
#undef HEDDLE_CLASSES_1
#undef HEDDLE_NAMES_1
#undef HEDDLE_CLASSES_2
#undef HEDDLE_NAMES_2
#undef HEDDLE_CLASSES_3
#undef HEDDLE_NAMES_3
#undef HEDDLE_CLASSES_4
#undef HEDDLE_NAMES_4
#undef HEDDLE_CLASSES_5
#undef HEDDLE_NAMES_5
#undef HEDDLE_CLASSES_6
#undef HEDDLE_NAMES_6
#undef HEDDLE_CLASSES_7
#undef HEDDLE_NAMES_7
#undef HEDDLE_CLASSES_8
#undef HEDDLE_NAMES_8
#undef HEDDLE_CLASSES_9
#undef HEDDLE_NAMES_9
#undef HEDDLE_CLASSES_10
#undef HEDDLE_NAMES_10
#undef HEDDLE_CLASSES_11
#undef HEDDLE_NAMES_11
#undef HEDDLE_CLASSES_12
#undef HEDDLE_NAMES_12
#undef HEDDLE_CLASSES_13
#undef HEDDLE_NAMES_13
#undef HEDDLE_CLASSES_14
#undef HEDDLE_NAMES_14
#undef HEDDLE_CLASSES_15
#undef HEDDLE_NAMES_15
#undef HEDDLE_CLASSES_16
#undef HEDDLE_NAMES_16

/* A kernel may be named where a variable of the device gets its initial value. */
template <class F, F f> __device__ F kernel_pointer = f;

template <class F, F f> struct named_kernel {
};
template <class F, F f> __device__ __forceinline__ HEDDLE_NODEBUG F pointer_of(named_kernel<F, f> *)
{
    return kernel_pointer<F, f>;
}

/* Parameters stand as in the declaration of an entry, each aligned to
 * its type (PTX ISA 4.2, 5.4). */
template <class... P> struct arguments {
    __device__ __forceinline__ HEDDLE_NODEBUG void put(char *, size_t) const {}
};
template <class A, class... P> struct arguments<A, P...> {
    A first;
    arguments<P...> rest;

    __device__ __forceinline__ HEDDLE_NODEBUG arguments(A a, P... p) : first(a), rest(p...) {}
    __device__ __forceinline__ HEDDLE_NODEBUG void put(char *buffer, size_t at) const
    {
        at = (at + alignof(A) - 1) / alignof(A) * alignof(A);
        __builtin_memcpy(buffer + at, &first, sizeof(A));
        rest.put(buffer, at + sizeof(A));
    }
};

/* A kernel and what it is called with. */
template <class F, F f> struct kernel_call;
template <class... P, void (*f)(P...)> struct kernel_call<void (*)(P...), f> {
    arguments<P...> values;

    __device__ __forceinline__ HEDDLE_NODEBUG kernel_call(P... p) : values(p...) {}
};

/* What stands in <<<...>>>. */
struct nested_shape {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;

    template <class... P>
    __device__ __forceinline__ HEDDLE_NODEBUG void launch(void (*kernel)(P...), const arguments<P...> &values) const
    {
        char *buffer =
            (char *)__cudaCDP2GetParameterBufferV2((void *)kernel, grid, block, static_cast<unsigned>(shared));
        if (!buffer)
            return;
        values.put(buffer, 0);
        __cudaCDP2LaunchDeviceV2(buffer, stream);
    }
    template <class F, F f>
    __device__ __forceinline__ HEDDLE_NODEBUG void operator<<(const kernel_call<F, f> &call) const
    {
        launch(kernel_pointer<F, f>, call.values);
    }
};

__device__ __forceinline__ HEDDLE_NODEBUG nested_shape nested_in(dim3 grid, dim3 block, size_t shared = 0,
                                                                 cudaStream_t stream = nullptr)
{
    return {grid, block, shared, stream};
}

/* A launch of a kernel whose arguments, or those of its template, may be left out: the function in
 * parentheses makes the call, and has the default arguments of the kernel. */
#define HEDDLE_BARE(...)             __VA_ARGS__
#define HEDDLE_LAUNCH(function, ...) ::heddle::nested_in(__VA_ARGS__) << HEDDLE_BARE function

template <class... P> struct nested_launch {
    void (*kernel)(P...);
    nested_shape shape;

    __device__ __forceinline__ HEDDLE_NODEBUG void operator()(P... args) const
    {
        shape.launch(kernel, arguments<P...>(args...));
    }
};

template <class... P>
__device__ __forceinline__ HEDDLE_NODEBUG nested_launch<P...> nested(void (*kernel)(P...), dim3 grid, dim3 block,
                                                                     size_t shared = 0, cudaStream_t stream = nullptr)
{
    return {kernel, nested_in(grid, block, shared, stream)};
}

} // namespace heddle

#endif

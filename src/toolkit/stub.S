/* What programs are linked with in the place of libcuda.so.1, libcudart.so.13, libnvrtc.so.13 or
 * one of src/libraries/: their names, and no code. `heddle cc --install-tools` writes where
 * Heddle's library is into its copy, as the library's own name (DT_SONAME), by which programs then
 * find it. */
    .text

    .macro entry name
    .globl \name
#ifdef __aarch64__
    .type \name, %function
#else
    .type \name, @function
#endif
\name:
    ret
    .size \name, . - \name
    .endm

#ifdef STUB_CUDA
#define ENTRY_plain(name) entry name
#define ENTRY_ptds(name)  entry name; entry name##_ptds
#define ENTRY_ptsz(name)  entry name; entry name##_ptsz
#define API(export, name, version, stream, state) ENTRY_##stream(export)
#include "cuda/api.def"
#elif defined STUB_NVRTC
#define LAST_12(name)
#define LAST_13(name) entry nvrtc##name;
#define NVRTC(name, first, last, state) LAST_##last(name)
#include "toolkit/nvrtc.def"
#elif defined LIBRARY_DEF
#define LAST_11(name)
#define LAST_12(name)
#define LAST_13(name) entry name;
#define ENTRY(name, first, last, state) LAST_##last(name)
#include LIBRARY_DEF
#else
#define STATIC(name) entry name;
#include "cuda/runtime/static.def"
#endif

    .section .note.GNU-stack, "", %progbits

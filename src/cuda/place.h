/* A mark in files that programs are linked with; behind it is room for the path of Heddle's
 * libraries, which `heddle cc --install-tools` writes (cc/toolkit.c). In libcudart_static.a the
 * path follows the mark; in stubs (toolkit/stub.S), whose soname it is, it replaces the mark. Meson
 * has the same numbers. */
#ifndef HEDDLE_CUDA_PLACE_H
#define HEDDLE_CUDA_PLACE_H

#define PLACE_MARK "heddle-libraries:"
enum { PLACE_BYTES = 1024 };

#endif

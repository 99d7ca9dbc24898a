/* Where the files that programs are linked with say which folder Heddle's libraries are in: a mark
 * and room behind it, where `heddle cc --install-tools` writes the path (cc/toolkit.c); in
 * libcudart_static.a behind the mark, in stubs, whose name it is (toolkit/stub.S), in its place.
 * Meson has the same numbers. */
#ifndef HEDDLE_CUDA_PLACE_H
#define HEDDLE_CUDA_PLACE_H

#define PLACE_MARK "heddle-libraries:"
enum { PLACE_BYTES = 1024 };

#endif

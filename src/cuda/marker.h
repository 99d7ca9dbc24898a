/* A section that marks our libraries whose names are also those of CUDA's libraries. Private to
 * cuda/ and toolkit/. */
#ifndef HEDDLE_CUDA_MARKER_H
#define HEDDLE_CUDA_MARKER_H

#define HEDDLE_MARKER ".heddle"

#endif

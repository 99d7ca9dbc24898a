/* A section that marks our libraries with the names of CUDA's. Private to cuda/ and toolkit/. */
#ifndef HEDDLE_CUDA_MARKER_H
#define HEDDLE_CUDA_MARKER_H

#define HEDDLE_MARKER ".heddle"

#endif

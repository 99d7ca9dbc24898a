/* How libraries of ours that have the name of one of CUDA's are told from those: a section. Private
 * to cuda/ and toolkit/. */
#ifndef HEDDLE_CUDA_MARKER_H
#define HEDDLE_CUDA_MARKER_H

#define HEDDLE_MARKER ".heddle"

#endif

/* cuda_pipeline.h: asynchronous copies of a thread in groups ("CUDA C++ Programming Guide",
 * Pipeline Primitives Interface). */
#ifndef HEDDLE_CUDA_PIPELINE_H
#define HEDDLE_CUDA_PIPELINE_H

#include "cuda_pipeline_primitives.h"

#endif

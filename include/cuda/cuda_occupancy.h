/* Of NVIDIA's header, what Thrust needs of it: that it is there. Occupancy is a question to the
 * runtime's cudaOccupancy*(). */
#include "cuda_runtime_api.h"

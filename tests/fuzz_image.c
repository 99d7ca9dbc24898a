/* Any bytes as an image (cuda/image/fatbin.h): reading them must end with texts or with an error.
 * For libFuzzer: `make fuzz`. */
#include <stdint.h>
#include <stdlib.h>

#include "cuda/image/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct image image;
    if (image_read(data, bytes, 90, &image) == IMAGE_OK)
        image_free(&image);
    return 0;
}

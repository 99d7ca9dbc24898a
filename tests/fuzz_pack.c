/* Any bytes as a pack of kernels (cuda/image/pack.h): reading them must end with texts or with an
 * error. For libFuzzer: `make fuzz`. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/image/pack_belongs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64], why[512];
    struct pack_found f;
    size_t n;
    int fd = memfd_create("pack", 0);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct pack *p = pack_open(path, why, sizeof why);
    close(fd);
    for (size_t i = 0; p && i < pack_count(p) && i < 64; i++)
        if (pack_at(p, i, &f, why, sizeof why))
            free(pack_text(p, f.symbol.slice, &n, why, sizeof why));
    if (p) {
        pack_find(p, PACK_KERNEL, "k", &f, why, sizeof why);
        pack_belongs(p, "/nowhere/liba.so", why, sizeof why);
    }
    pack_close(p);
    return 0;
}

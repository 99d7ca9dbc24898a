/* Compiled code on disk (include/heddle.h). */
#include "jit/cache.h"

bool hd_cache_get_info(hd_cache_info *info)
{
    *info = (hd_cache_info){.limit_bytes = CACHE_LIMIT_BYTES};
    if (!cache_folder(info->folder, sizeof info->folder))
        return false;
    cache_survey(&info->kernels, &info->bytes, false);
    return true;
}

void hd_cache_clear(void)
{
    size_t entries;
    uint64_t bytes;
    cache_survey(&entries, &bytes, true);
}

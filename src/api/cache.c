/* Compiled code on disk (include/heddle.h). */
#include <string.h>

#include "api/sized.h"
#include "jit/host/code_cache.h"

static bool survey(hd_cache_info *info, bool clear)
{
    struct code_cache_refusal why;
    code_cache_survey(&info->kernels, &info->bytes, clear, &why);
    memcpy(info->refused, why.text, sizeof why.text);
    return !why.text[0];
}

bool hd_cache_get_info_sized(hd_cache_info *info, size_t bytes)
{
    hd_cache_info own = {.limit_bytes = CODE_CACHE_LIMIT_BYTES};
    if (!info)
        return false;
    bool is_kept = code_cache_folder(own.folder, sizeof own.folder);
    if (is_kept)
        survey(&own, false);
    SIZED_WRITE(info, bytes, &own);
    return is_kept;
}

hd_result hd_cache_clear(void)
{
    hd_cache_info info;
    return survey(&info, true) ? HD_SUCCESS : HD_ERROR_FILE;
}

/* Compiled code on disk (include/heddle.h). */
#include <string.h>

#include "jit/host/code_cache.h"

static bool survey(hd_cache_info *info, bool clear)
{
    struct code_cache_refusal why;
    code_cache_survey(&info->kernels, &info->bytes, clear, &why);
    memcpy(info->refused, why.text, sizeof why.text);
    return !why.text[0];
}

bool hd_cache_get_info(hd_cache_info *info)
{
    if (!info)
        return false;
    *info = (hd_cache_info){.limit_bytes = CODE_CACHE_LIMIT_BYTES};
    if (!code_cache_folder(info->folder, sizeof info->folder))
        return false;
    survey(info, false);
    return true;
}

hd_result hd_cache_clear(void)
{
    hd_cache_info info;
    return survey(&info, true) ? HD_SUCCESS : HD_ERROR_FILE;
}

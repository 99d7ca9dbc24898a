/* HEDDLE_LOG: messages of the library on stderr. Without it only messages for every user are
 * printed: failed kernels, programs that contain nothing to run. */
#include "cuda/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == 0))
            return true;
    }
    return false;
}

static bool is_wanted(enum log_topic topic)
{
    static const char *const words[] = {
#define LOG_TOPIC(name, word) word,
#include "base/log_topics.def"
#undef LOG_TOPIC
    };
    return has_word(secure_getenv("HEDDLE_LOG"), words[topic]);
}

static void (*error_listener)(const char *text);

void log_listen(void (*listener)(const char *text))
{
    error_listener = listener;
}

void log_line(enum log_topic topic, const char *format, ...)
{
    bool wanted = is_wanted(topic), heard = topic == LOG_ERROR && error_listener;
    if (!wanted && !heard)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (heard)
        error_listener(text);
    if (wanted)
        fprintf(stderr, "heddle: %s\n", text);
}

void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("heddle: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

CUresult api_not_supported(const char *what)
{
    log_line(LOG_API, "%s is not supported", what);
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* The logger of cuBLASLt and of cuSPARSE, which are alike ("cuBLAS Library", 3.4.8; "cuSPARSE
 * Library", 4): messages go, by level, to a callback and to a file, by default stdout. Nothing is
 * logged unless a level or mask is set, by a call or by PREFIX_LOG_LEVEL, PREFIX_LOG_MASK and
 * PREFIX_LOG_FILE in the environment.
 */
#ifndef HEDDLE_LIBRARIES_LOGGER_H
#define HEDDLE_LIBRARIES_LOGGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum log_level { LOG_OFF, LOG_OF_ERROR, LOG_OF_TRACE, LOG_OF_HINT, LOG_OF_INFO, LOG_OF_API, LOG_LEVELS };

typedef void logger_callback(int level, const char *function, const char *message);

struct logger {
    const char *library, *prefix; /* for lines; for environment variables */
    pthread_mutex_t lock;
    bool started, disabled;
    _Atomic unsigned mask; /* bit l - 1 is level l */
    logger_callback *callback;
    FILE *file; /* NULL: stdout */
};

/* The logger that library_failed() writes to; or NULL. */
extern struct logger *library_logger;

#define LOGGER(library_, prefix_) {.library = (library_), .prefix = (prefix_), .lock = PTHREAD_MUTEX_INITIALIZER}

/* Is this level enabled? */
bool logger_takes(struct logger *l, enum log_level level);
void logger_say(struct logger *l, enum log_level level, const char *function, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Change the settings; false if the value is invalid. */
bool logger_set_level(struct logger *l, int level);
void logger_set_mask(struct logger *l, int mask);
void logger_set_callback(struct logger *l, logger_callback *callback);
void logger_set_file(struct logger *l, FILE *file);
bool logger_open_file(struct logger *l, const char *path);
void logger_disable(struct logger *l);

/* Logs a call of the library with arguments as "name=value". */
#define LOGGER_CALL(function, ...)                                                                                     \
    do {                                                                                                               \
        if (logger_takes(library_logger, LOG_OF_API))                                                                  \
            logger_say(library_logger, LOG_OF_API, function, __VA_ARGS__);                                             \
    } while (0)

/* The six functions of a library's logger. */
#define LOGGER_FUNCTIONS(l, Prefix, Status, Good, Bad)                                                                 \
    __attribute__((constructor)) static void start_logger(void)                                                        \
    {                                                                                                                  \
        library_logger = l;                                                                                            \
    }                                                                                                                  \
    LIBRARY_API Status Prefix##LoggerSetCallback(Prefix##LoggerCallback_t callback)                                    \
    {                                                                                                                  \
        logger_set_callback(l, callback);                                                                              \
        return Good;                                                                                                   \
    }                                                                                                                  \
    LIBRARY_API Status Prefix##LoggerSetFile(FILE *file)                                                               \
    {                                                                                                                  \
        logger_set_file(l, file);                                                                                      \
        return Good;                                                                                                   \
    }                                                                                                                  \
    LIBRARY_API Status Prefix##LoggerOpenFile(const char *logFile)                                                     \
    {                                                                                                                  \
        return logger_open_file(l, logFile) ? Good : Bad;                                                              \
    }                                                                                                                  \
    LIBRARY_API Status Prefix##LoggerSetLevel(int level)                                                               \
    {                                                                                                                  \
        LOGGER_CALL(#Prefix "LoggerSetLevel", "level=%d", level);                                                      \
        return logger_set_level(l, level) ? Good : Bad;                                                                \
    }                                                                                                                  \
    LIBRARY_API Status Prefix##LoggerSetMask(int mask)                                                                 \
    {                                                                                                                  \
        LOGGER_CALL(#Prefix "LoggerSetMask", "mask=%d", mask);                                                         \
        logger_set_mask(l, mask);                                                                                      \
        return Good;                                                                                                   \
    }                                                                                                                  \
    LIBRARY_API Status Prefix##LoggerForceDisable(void)                                                                \
    {                                                                                                                  \
        logger_disable(l);                                                                                             \
        return Good;                                                                                                   \
    }

#endif

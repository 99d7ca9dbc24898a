/* The topics of HEDDLE_LOG: log_topics.def. */
#ifndef HEDDLE_BASE_LOG_H
#define HEDDLE_BASE_LOG_H

enum log_topic {
#define LOG_TOPIC(name, word) LOG_##name,
#include "base/log_topics.def"
#undef LOG_TOPIC
    N_LOG_TOPICS
};

#endif

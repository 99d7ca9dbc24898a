/* See events.h. */
#include "trace/events.h"

#include <jansson.h>

/* A string of JSON; "?" where it is no UTF-8. */
static void put_string(FILE *f, const char *s)
{
    json_t *string = json_string(s);
    if (!string || json_dumpf(string, f, JSON_ENCODE_ANY))
        fputs("\"?\"", f);
    json_decref(string);
}

void trace_head(FILE *f)
{
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"heddle\",\"pid\":0}", f);
}

void trace_tail(FILE *f)
{
    fputs("\n]}\n", f);
}

static void put_name(FILE *f, const char *of, struct trace_thread t, const char *name)
{
    fprintf(f, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%llu,\"tid\":%u,\"args\":{\"name\":", of,
            (unsigned long long)t.process, t.thread);
    put_string(f, name);
    fputs("}}", f);
}

void trace_name_process(FILE *f, uint64_t process, const char *name)
{
    put_name(f, "process_name", (struct trace_thread){process, 0}, name);
}

void trace_name_thread(FILE *f, struct trace_thread t, const char *name)
{
    put_name(f, "thread_name", t, name);
}

static void put_event(FILE *f, char phase, struct trace_thread t, const char *name, double at)
{
    fprintf(f, ",\n{\"ph\":\"%c\",\"ts\":%.3f,\"pid\":%llu,\"tid\":%u,\"name\":", phase, at,
            (unsigned long long)t.process, t.thread);
    put_string(f, name);
}

void trace_event(FILE *f, char phase, struct trace_thread t, const char *name, double at)
{
    put_event(f, phase, t, name, at);
    fputs("}", f);
}

void trace_span(FILE *f, struct trace_thread t, const char *name, const char *category, double from, double to)
{
    put_event(f, 'X', t, name, from);
    fprintf(f, ",\"cat\":\"%s\",\"dur\":%.3f}", category, to - from);
}

/* See schedule.h. A record is a line that names its format and the policy (or says that all blocks
 * begin at once), and perhaps the launch of a program that it is of (" of launch 2 of push"), then
 * each choice among more than one as a number in groups of seven bits (a serial run makes none: its
 * record is the line). */
#include "exec/schedule.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/output_stream.h"

static const char magic[] = "heddle schedule 1", serial[] = " serial", at_once[] = " at once",
                  of_launch[] = " of launch ";

static bool skip(const char **text, const char *word)
{
    bool begins = strncmp(*text, word, strlen(word)) == 0;
    *text += begins ? strlen(word) : 0;
    return begins;
}

/* The first line, without its end; NULL where the file is no record. From malloc. */
static char *read_head(FILE *f)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, f);
    if (n > 0 && line[n - 1] == '\n' && strncmp(line, magic, strlen(magic)) == 0) {
        line[n - 1] = 0;
        return line;
    }
    free(line);
    return NULL;
}

static bool open_replay(struct schedule *s, const char *path, const char **error)
{
    s->replay = fopen(path, "rb");
    if (!s->replay) {
        *error = "the schedule to replay cannot be opened";
        return false;
    }
    char *head = read_head(s->replay);
    const char *at = head ? head + strlen(magic) : "?";
    if (skip(&at, serial))
        s->policy = POLICY_SERIAL;
    else
        s->at_once = skip(&at, at_once);
    if (*at && !skip(&at, of_launch))
        *error = "the file to replay is not a recorded schedule";
    free(head);
    return !*error;
}

bool schedule_read_launch(const char *path, struct schedule_launch *of)
{
    FILE *f = fopen(path, "rbe");
    char *head = f ? read_head(f) : NULL;
    const char *at = head ? strstr(head, of_launch) : NULL;
    char *end;
    bool read = head;
    *of = (struct schedule_launch){0};
    if (at) {
        of->number = strtoull(at + strlen(of_launch), &end, 10);
        at = end;
        read = of->number && skip(&at, " of ") && *at && (of->kernel = strdup(at));
    }
    free(head);
    if (f)
        fclose(f);
    return read;
}

static char *name_of(const char *policy)
{
    char *name;
    if (strcmp(policy, "random") != 0)
        return strdup(policy);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return asprintf(&name, "random:%lu", (unsigned long)(now.tv_nsec ^ now.tv_sec) % 1000000) < 0 ? NULL : name;
}

/* splitmix64 */
static uint64_t next_random(struct schedule *s)
{
    uint64_t z = s->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void schedule_begin(struct schedule *s, uint64_t launch)
{
    if (s->policy != POLICY_RANDOM)
        return;
    s->state = s->seed ^ (launch - 1) * 0xD1B54A32D192ED03u;
    /* Seeds side by side would else give one stream, each a choice further on. */
    s->state = next_random(s);
}

static bool begin_record(struct schedule *s, const char *path, const struct schedule_launch *of)
{
    s->record = written_open(path);
    if (!s->record)
        return false;
    fputs(magic, s->record); /* schedule_close() tells */
    fputs(s->policy == POLICY_SERIAL ? serial : s->at_once ? at_once : "", s->record);
    if (of)
        fprintf(s->record, "%s%llu of %s", of_launch, (unsigned long long)of->number, of->kernel);
    fputs("\n", s->record);
    return true;
}

static const char replay_all[] = "replay:", replay_one[] = "replay-launch:";

const char *schedule_replayed_file(const char *policy)
{
    const char *file = policy;
    return (skip(&file, replay_all) || skip(&file, replay_one)) && *file ? file : NULL;
}

bool schedule_open(struct schedule *s, const char *asked, const char *record_path, const char **error)
{
    char *end = "", *policy = name_of(asked ? asked : "fair");
    const char *file;
    *s = (struct schedule){.name = policy};
    if (!policy) {
        *error = "out of memory";
        return false;
    }
    if (strcmp(policy, "fair") == 0) {
        s->policy = POLICY_FAIR;
    } else if (strcmp(policy, "serial") == 0) {
        s->policy = POLICY_SERIAL;
    } else if (strncmp(policy, "random:", 7) == 0 && policy[7]) {
        s->policy = POLICY_RANDOM;
        s->seed = strtoull(policy + 7, &end, 0);
        schedule_begin(s, 1);
    } else if ((file = schedule_replayed_file(policy))) {
        s->policy = POLICY_REPLAY;
        s->of_one = strncmp(policy, replay_one, strlen(replay_one)) == 0;
        if (!open_replay(s, file, error))
            return false;
    } else {
        end = "?";
    }
    if (*end) {
        *error = "a policy is fair, serial, random, random:SEED or replay:FILE";
        return false;
    }
    if (record_path && s->policy == POLICY_FAIR) {
        *error = "a run under `fair` has no schedule to record: choose serial or random:SEED";
        return false;
    }
    if (record_path && !begin_record(s, record_path, NULL)) {
        *error = "the file for the schedule cannot be written";
        return false;
    }
    return true;
}

bool schedule_open_guided(struct schedule *s, const struct guide *guide, const char *record_path,
                          const struct schedule_launch *of)
{
    *s = (struct schedule){.policy = POLICY_GUIDED, .guide = guide, .at_once = true, .name = strdup("guided")};
    return s->name && begin_record(s, record_path, of);
}

bool schedule_close(struct schedule *s)
{
    bool ok = true;
    if (s->replay)
        fclose(s->replay);
    if (s->record)
        ok = fflush(s->record) == 0 && !ferror(s->record);
    if (s->record)
        ok &= fclose(s->record) == 0;
    free(s->name);
    *s = (struct schedule){0};
    return ok;
}

static uint32_t read_choice(struct schedule *s)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 7) {
        int c = getc(s->replay);
        if (c == EOF) {
            s->diverged = true;
            return 0;
        }
        value |= (uint32_t)(c & 127) << shift;
        if (c < 128)
            break;
    }
    return value;
}

static void write_choice(struct schedule *s, uint32_t value)
{
    for (; value > 127; value >>= 7)
        putc((int)(value & 127) | 128, s->record);
    putc((int)value, s->record);
}

uint32_t schedule_choose(struct schedule *s, uint32_t n)
{
    uint32_t value = 0;
    if (n <= 1)
        return 0;
    s->choices++;
    if (s->policy == POLICY_RANDOM)
        value = (uint32_t)((next_random(s) >> 32) * n >> 32);
    else if (s->policy == POLICY_REPLAY)
        value = read_choice(s);
    else if (s->n_hints)
        value = s->hints[--s->n_hints];
    if (value >= n) {
        s->diverged = true;
        value = 0;
    }
    if (s->record && s->policy != POLICY_SERIAL)
        write_choice(s, value);
    return value;
}

void schedule_hint(struct schedule *s, uint32_t value)
{
    if (s->n_hints < MAX_HINTS)
        s->hints[s->n_hints++] = value;
}

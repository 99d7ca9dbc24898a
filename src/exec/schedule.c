/* See schedule.h. A record is a line that names its format and the policy (or says that all blocks begin at once), then each choice among
 * more than one as a number in groups of seven bits (a serial run makes none: its record is the line). */
#include "exec/schedule.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/written.h"

static const char magic_choices[] = "heddle schedule 1\n", magic_serial[] = "heddle schedule 1 serial\n",
                  magic_at_once[] = "heddle schedule 1 at once\n";

static bool open_replay(struct schedule *s, const char *path, const char **error)
{
    char line[sizeof magic_at_once];
    s->replay = fopen(path, "rb");
    if (!s->replay) {
        *error = "the schedule to replay cannot be opened";
        return false;
    }
    const char *first = fgets(line, sizeof line, s->replay);
    if (first && strcmp(line, magic_serial) == 0)
        s->policy = POLICY_SERIAL;
    else if (first && strcmp(line, magic_at_once) == 0)
        s->at_once = true;
    else if (!first || strcmp(line, magic_choices) != 0)
        *error = "the file to replay is not a recorded schedule";
    return !*error;
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

static bool begin_record(struct schedule *s, const char *path)
{
    const char *magic = s->policy == POLICY_SERIAL ? magic_serial : s->at_once ? magic_at_once : magic_choices;
    s->record = written_open(path);
    return s->record && fputs(magic, s->record) >= 0;
}

bool schedule_open(struct schedule *s, const char *asked, const char *record_path, const char **error)
{
    char *end = "", *policy = name_of(asked ? asked : "fair");
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
        s->state = s->seed;
        s->state = next_random(s); /* seeds side by side would else give one stream, each a choice further on */
    } else if (strncmp(policy, "replay:", 7) == 0 && policy[7]) {
        s->policy = POLICY_REPLAY;
        if (!open_replay(s, policy + 7, error))
            return false;
    } else {
        end = "?";
    }
    if (*end) {
        *error = "the policy is one of fair, serial, random, random:SEED, replay:FILE";
        return false;
    }
    if (record_path && s->policy == POLICY_FAIR) {
        *error = "a fair run has no schedule to record: choose serial or random:SEED";
        return false;
    }
    if (record_path && !begin_record(s, record_path)) {
        *error = "the schedule cannot be recorded there";
        return false;
    }
    return true;
}

bool schedule_open_guided(struct schedule *s, const struct guide *guide, const char *record_path)
{
    *s = (struct schedule){.policy = POLICY_GUIDED, .guide = guide, .at_once = true, .name = strdup("guided")};
    return s->name && begin_record(s, record_path);
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

/* See job.h. */
#include "cc/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "base/shell.h"
#include "files/file.h"

int cc_failure(struct job *j, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message_print(j->arena, "cc: ", format, args);
    va_end(args);
    return 1;
}

void job_add_all(struct job *j, cc_words *to, const cc_words *words)
{
    for (uint32_t i = 0; i < words->n; i++)
        ADD(to, words->at[i]);
}

void job_add_values(struct job *j, cc_words *to, enum cc_id id, const char *flag, bool joined)
{
    for (uint32_t i = 0; i < j->o.list[id].n; i++) {
        const char *value = j->o.list[id].at[i];
        if (joined) {
            ADD(to, arena_printf(j->arena, "%s%s", flag, value));
        } else {
            ADD(to, flag);
            ADD(to, value);
        }
    }
}

void job_add_parts(struct job *j, cc_words *to, enum cc_id id, const char *flag)
{
    for (uint32_t i = 0; i < j->o.list[id].n; i++) {
        cc_words parts = {0};
        cc_split(j->o.list[id].at[i], ", \t\r\n", &parts, j->arena);
        for (uint32_t k = 0; k < parts.n; k++) {
            if (flag)
                ADD(to, flag);
            ADD(to, parts.at[k]);
        }
    }
}

const char *job_path(struct job *j, const char *path)
{
    return *path == '@' || *path == '-' ? arena_printf(j->arena, "./%s", path) : path;
}

/* ---- running programs ---- */

const char *job_quoted(struct job *j, const cc_words *words)
{
    const char *text = "";
    for (uint32_t i = 0; i < words->n; i++)
        text = arena_printf(j->arena, "%s%s%s", text, i ? " " : "", shell_word(j->arena, words->at[i]));
    return text;
}

void job_show(struct job *j, const cc_words *command, const char *prefix)
{
    fprintf(stderr, "#$ %s%s\n", prefix, job_quoted(j, command));
}

char *const *job_arguments(struct job *j, cc_words *command)
{
    ADD(command, NULL);
    command->n--;
    return (char *const *)command->at;
}

bool job_start(struct job *j, struct process *p, cc_words *command, unsigned flags)
{
    if (j->o.given[CC_VERBOSE])
        job_show(j, command, "");
    int error = process_start(p, job_arguments(j, command), flags);
    if (error == ENOENT)
        cc_failure(j, "`%s` is not installed: on Debian, run `apt-get install clang-19`", command->at[0]);
    else if (error && error != EINTR)
        cc_failure(j, "cannot run `%s`: %s", command->at[0], strerror(error));
    return error == 0;
}

/* Does clang say so? Names that are anybody's, which CUDA 13 leaves to programs. */
static bool lacks_references(const char *err)
{
    return strstr(err, "no template named 'texture'") || strstr(err, "no template named 'surface'");
}

int job_finish(struct job *j, struct process *p)
{
    const char *err;
    int status = process_finish(p, j->arena, NULL, &err);
    j->lacks_references = j->lacks_references || (!j->has_references && lacks_references(err));
    if (j->o.given[CC_VERBOSE])
        fputs(err, stderr);
    else if (!j->lacks_references) /* else the next compilation says what is wrong */
        cc_print_diagnostics(&j->diagnostics, err, j->arena);
    int signal = status - 128; /* one that the user has sent ends heddle, too */
    if (signal > 0 && signal != SIGINT && signal != SIGTERM && signal != SIGHUP && !strstr(err, "PLEASE submit"))
        cc_failure(j, "the compiler was ended by signal %d%s", signal,
                   signal == SIGKILL ? ": is memory exhausted?" : "");
    return status;
}

bool job_run(struct job *j, cc_words *command)
{
    struct process p;
    if (j->o.given[CC_DRY_RUN]) {
        job_show(j, command, "");
        return true;
    }
    return job_start(j, &p, command, 0) && job_finish(j, &p) == 0;
}

/* ---- files ---- */

const char *job_named_after(struct job *j, const char *input, const char *ending)
{
    const char *name = arena_printf(j->arena, "%s%s", file_stem(j->arena, input), ending);
    return j->o.given[CC_OUTPUT_FOLDER] ? arena_printf(j->arena, "%s/%s", j->o.value[CC_OUTPUT_FOLDER], name) : name;
}

const char *job_temporary(struct job *j, const char *input, const char *ending)
{
    const char *path = arena_printf(j->arena, "%s/%s%s", j->folder, file_stem(j->arena, input), ending);
    if (!j->o.given[CC_KEEP])
        ADD(&j->temporary, path);
    return path;
}

bool job_write(struct job *j, const char *path, const void *bytes, size_t n)
{
    const char *error = file_write_whole(j->arena, path, bytes, n);
    if (error)
        cc_failure(j, "%s", error);
    return !error;
}

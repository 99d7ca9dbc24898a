/* Creation of communicators: group.h. A job proceeds without waiting for other ranks, because one
 * thread may have several.
 *
 * Split: each rank tells its color and key to the others of the parent's world; the first rank of
 * each color opens a meeting (meeting.h) and sends the id. Shrink: all ranks know which remain.
 * Then both continue as with an id from ncclGetUniqueId.
 */
#include "libraries/nccl/jobs.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libraries/nccl/meeting.h"

enum stage { STAGE_SAY, STAGE_HEAR, STAGE_MAIL, STAGE_JOIN, STAGE_GATHER };

struct job {
    struct job_request q;
    struct comm *comm; /* NULL: none for this rank */
    enum stage stage;
    int leader;     /* members in the parent's numbers, bits of: */
    uint32_t ranks; /* the parent's ranks */
    ncclUniqueId id;
    bool left;
};

static ncclResult_t lost(const struct job *j, int rank)
{
    return nccl_failed(ncclRemoteError, j->q.call, "rank %d has ended or failed", rank);
}

/* ---- splitting ---- */

static struct member *parents_member(const struct job *j, int rank)
{
    return &j->q.parent->world->shared->members[rank];
}

static bool all_have_said(const struct job *j, uint64_t splits)
{
    for (int i = 0; i < j->q.parent->n_ranks; i++)
        if (atomic_load(&parents_member(j, i)->splits) < splits)
            return false;
    return true;
}

static uint32_t all_ranks(int n)
{
    return (1u << n) - 1;
}

static ncclResult_t wait_for(const struct job *j, uint32_t ranks)
{
    int rank = comm_lost_rank(j->q.parent, ranks);
    return rank < 0 ? ncclInProgress : lost(j, rank);
}

/* A note can be overwritten once all ranks have written the following one, because then all have
   read it. */
static ncclResult_t say_color(struct job *j)
{
    struct member *own = parents_member(j, j->q.parent->rank);
    uint64_t splits = atomic_load(&own->splits);
    if (!all_have_said(j, splits))
        return wait_for(j, all_ranks(j->q.parent->n_ranks));
    own->notes[(splits + 1) % 2] = (struct split_note){j->q.color, j->q.key};
    atomic_store(&own->splits, splits + 1);
    j->stage = STAGE_HEAR;
    return j->comm ? ncclInProgress : ncclSuccess;
}

static void number_ranks(struct job *j, uint64_t splits)
{
    struct split_note notes[WORLD_RANKS];
    struct comm *c = j->comm;
    const int n = j->q.parent->n_ranks, me = j->q.parent->rank;
    int first = me;
    for (int i = 0; i < n; i++)
        notes[i] = parents_member(j, i)->notes[splits % 2];
    c->n_ranks = c->rank = 0;
    for (int i = 0; i < n; i++) {
        if (notes[i].color != j->q.color)
            continue;
        bool before_me = notes[i].key < notes[me].key || (notes[i].key == notes[me].key && i < me);
        bool before = notes[i].key < notes[first].key || (notes[i].key == notes[first].key && i < first);
        c->rank += before_me;
        c->n_ranks++;
        j->ranks |= 1u << i;
        first = before ? i : first;
    }
    j->leader = first;
}

static ncclResult_t hear(struct job *j)
{
    uint64_t splits = atomic_load(&parents_member(j, j->q.parent->rank)->splits);
    if (!all_have_said(j, splits))
        return wait_for(j, all_ranks(j->q.parent->n_ranks));
    number_ranks(j, splits);
    j->stage = STAGE_MAIL;
    return ncclInProgress;
}

static void plan_shrink(struct job *j)
{
    const int me = j->q.parent->rank;
    j->ranks = j->q.remaining;
    j->leader = __builtin_ctz(j->ranks);
    j->comm->n_ranks = __builtin_popcount(j->ranks);
    j->comm->rank = __builtin_popcount(j->ranks & ((1u << me) - 1));
}

static ncclResult_t mail(struct job *j)
{
    struct comm *parent = j->q.parent;
    struct member *leader = parents_member(j, j->leader);
    uint64_t mails = atomic_load(&leader->mails);
    if (j->leader != parent->rank && (mails == parent->mails_seen[j->leader] || leader->mail_ranks != j->ranks))
        return wait_for(j, j->ranks);
    if (j->leader == parent->rank) {
        ncclResult_t r = meeting_open(&j->id);
        if (r)
            return r;
        leader->mail = j->id;
        leader->mail_ranks = j->ranks;
        atomic_store(&leader->mails, mails + 1);
    } else {
        j->id = leader->mail;
        parent->mails_seen[j->leader] = mails;
    }
    j->stage = STAGE_JOIN;
    return ncclInProgress;
}

/* ---- joining ---- */

static ncclResult_t join(struct job *j)
{
    struct comm *c = j->comm;
    struct invitation v;
    const char *why;
    CUuuid uuid;
    ncclResult_t r = meeting_join(&j->id, c->n_ranks, c->rank, &v, &why);
    if (r)
        return nccl_failed(r, j->q.call, "rank %d of %d: %s", c->rank, c->n_ranks, why);
    c->connection = v.connection;
    c->world = world_enter(v.file, c->n_ranks, c->rank);
    close(v.file);
    if (!c->world)
        return nccl_failed(ncclSystemError, j->q.call, "the memory that ranks share cannot be mapped");
    if (cuDeviceGetUuid(&uuid, c->device))
        return ncclUnhandledCudaError;
    struct member *own = &c->world->shared->members[c->rank];
    memcpy(own->device, uuid.bytes, sizeof own->device);
    atomic_store(&own->seat, SEAT_TAKEN);
    j->stage = STAGE_GATHER;
    return ncclInProgress;
}

/* Did the process that made the id end before all ranks had come? */
static bool is_over(const struct comm *c)
{
    struct pollfd p = {.fd = c->connection, .events = POLLIN};
    return c->connection >= 0 && !atomic_load(&c->world->shared->complete) && poll(&p, 1, 0) > 0 &&
           !atomic_load(&c->world->shared->complete);
}

static ncclResult_t gather(struct job *j)
{
    struct comm *c = j->comm;
    const struct member *m = c->world->shared->members;
    for (int i = 0; i < c->n_ranks; i++)
        if (atomic_load(&m[i].seat) == SEAT_EMPTY) {
            int rank = comm_lost_rank(c, all_ranks(c->n_ranks));
            return rank >= 0    ? lost(j, rank)
                   : is_over(c) ? nccl_failed(ncclRemoteError, j->q.call, "the process that made the id has ended")
                                : ncclInProgress;
        }
    for (int i = 0; i < c->n_ranks; i++)
        for (int k = 0; k < i; k++)
            if (memcmp(m[i].device, m[k].device, sizeof m->device) == 0)
                return nccl_failed(ncclInvalidUsage, j->q.call,
                                   "ranks %d and %d are on one device: `--devices N` provides more", k, i);
    if (c->connection >= 0)
        close(c->connection);
    c->connection = -1;
    return ncclSuccess;
}

ncclResult_t job_go_on(struct job *j)
{
    ncclResult_t r = ncclInProgress;
    enum stage before;
    do {
        before = j->stage;
        switch (j->stage) {
        case STAGE_SAY: r = say_color(j); break;
        case STAGE_HEAR: r = hear(j); break;
        case STAGE_MAIL: r = mail(j); break;
        case STAGE_JOIN: r = join(j); break;
        default: r = gather(j);
        }
    } while (r == ncclInProgress && j->stage != before);
    return r;
}

/* ---- their life ---- */

struct job *job_new(const struct job_request *q, ncclResult_t *result)
{
    struct job *j = calloc(1, sizeof *j);
    bool makes = q->how != JOB_SPLIT || q->color != NCCL_SPLIT_NOCOLOR;
    *result = ncclSystemError;
    *q->out = NULL;
    if (!j)
        return NULL;
    *j = (struct job){.q = *q,
                      .stage = q->how == JOB_SPLIT    ? STAGE_SAY
                               : q->how == JOB_SHRINK ? STAGE_MAIL
                                                      : STAGE_JOIN};
    if (makes && !(j->comm = comm_new(q->n_ranks, q->rank))) {
        *result = ncclUnhandledCudaError;
        free(j);
        return NULL;
    }
    if (makes && !comm_publish(j->comm)) {
        comm_release(j->comm);
        free(j);
        return NULL;
    }
    if (q->how == JOB_INIT)
        j->id = *q->id;
    if (q->how == JOB_SHRINK)
        plan_shrink(j);
    if (q->parent)
        comm_hold(q->parent);
    if (makes) {
        j->comm->blocking = q->blocking;
        j->comm->context = q->parent ? q->parent->context : j->comm->context;
        j->comm->device = q->parent ? q->parent->device : j->comm->device;
        *q->out = j->comm->handle;
    }
    *result = ncclSuccess;
    return j;
}

const struct comm *job_parent(const struct job *j)
{
    return j->q.parent;
}

bool job_is_blocking(const struct job *j)
{
    return j->q.blocking || !j->comm; /* it only contributes its color */
}

static void job_free(struct job *j)
{
    if (j->q.parent)
        comm_release(j->q.parent);
    free(j);
}

void job_leave(struct job *j)
{
    j->left = true;
    atomic_store(&j->comm->error, ncclInProgress);
    pthread_mutex_lock(&j->comm->lock);
    j->comm->job = j;
    pthread_mutex_unlock(&j->comm->lock);
}

void job_end(struct job *j, ncclResult_t result)
{
    if (j->comm && j->left) {
        atomic_store(&j->comm->error, (int)result);
    } else if (j->comm && result) {
        handle_take(&library_handles, j->comm->handle, KIND_COMM);
        *j->q.out = NULL;
        comm_release(j->comm);
    }
    job_free(j);
}

/* libheddle-mpi.so: messages of ranks by MPI; see ranks.h. Whatever fails in MPI ends all ranks, as
 * MPI has it. */
#include "ranks/ranks.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

static bool mpi_connect(unsigned *n, unsigned *number, unsigned *on_this_host)
{
    int has, size, rank, local;
    MPI_Comm here;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &has) != MPI_SUCCESS || has < MPI_THREAD_SERIALIZED)
        return false;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &local);
    MPI_Comm_free(&here);
    *n = (unsigned)size;
    *number = (unsigned)rank;
    *on_this_host = (unsigned)local;
    return true;
}

static bool mpi_send(unsigned to, int kind, const void *bytes, size_t n)
{
    return n <= INT_MAX && MPI_Send(bytes, (int)n, MPI_BYTE, (int)to, kind, MPI_COMM_WORLD) == MPI_SUCCESS;
}

static bool mpi_receive(struct rank_message *m)
{
    MPI_Status status;
    int any, n;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any, &status);
    if (!any)
        return false;
    MPI_Get_count(&status, MPI_BYTE, &n);
    *m = (struct rank_message){
        .from = (unsigned)status.MPI_SOURCE, .kind = status.MPI_TAG, .n = (size_t)n, .bytes = malloc((size_t)n + 1)};
    if (!m->bytes)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Recv(m->bytes, n, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
}

static void mpi_disconnect(void)
{
    MPI_Finalize();
}

static void mpi_abort(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

__attribute__((visibility("default"))) const struct rank_transport heddle_rank_transport = {
    .connect = mpi_connect, .send = mpi_send, .receive = mpi_receive, .disconnect = mpi_disconnect, .abort = mpi_abort};

/* Submits work to its stream, or adds it to the graph of a capture. */
#include "cuda/process/printed.h"
#include "cuda/state/capture.h"
#include "cuda/state/streams.h"
#include "cuda/state/work.h"

CUresult work_put(CUstream stream, const struct work *w, bool wait)
{
    CUstream s;
    CUcontext c;
    TRY(stream_object(stream, &s, &c));
    if (s && s->capture)
        return wait ? capture_forbid(s) : capture_work(s, w);
    if (!s)
        TRY(capture_legacy(c));
    TRY(work_check_given(w));
    hd_stream *runs_in = s ? s->stream : hd_context_default_stream(c->context);
    CUresult r = work_run(runs_in, c, w, wait ? WORK_SYNC : WORK_ASYNC);
    if (wait)
        print_flush();
    return r;
}

/* Random calls on streams and events, some of which capture: what each says, and the states of all
 * streams behind it. A line is a seed. */
#include "rules.h"

enum { STREAMS = 5, EVENTS = 3, CALLS = 30 };

static CUstream
    streams[STREAMS]; /* two that wait for the legacy stream, one that does not, that itself, the thread's own */
static CUevent events[EVENTS];
static unsigned state;

static unsigned below(unsigned n)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % n;
}

static void CUDA_CB nothing(void *data)
{
    (void)data;
}

/* What has been put may be done or not. */
static int done(CUresult r)
{
    return r == CUDA_ERROR_NOT_READY ? 0 : (int)r;
}

static int end(CUstream s)
{
    CUgraph g = NULL;
    size_t nodes = 0, edges = 0;
    CUresult r = cuStreamEndCapture(s, &g);
    if (r || !g)
        return (int)r;
    cuGraphGetNodes(g, NULL, &nodes);
    cuGraphGetEdges(g, NULL, NULL, NULL, &edges);
    cuGraphDestroy(g);
    return (int)(10000 + 100 * nodes + edges);
}

static int drop_dependencies(CUstream s)
{
    return (int)cuStreamUpdateCaptureDependencies(s, NULL, NULL, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

static int allocate(void)
{
    CUdeviceptr p;
    CUresult r = cuMemAlloc(&p, 64);
    if (!r)
        cuMemFree(p);
    return (int)r;
}

static int exchange(void)
{
    CUstreamCaptureMode m = (CUstreamCaptureMode)below(3);
    return (int)cuThreadExchangeStreamCaptureMode(&m);
}

/* By weight: captures begin often, and most of what happens in them is allowed. */
static int call(char *letter)
{
    static const char letters[] = "bbbbllllllllrrrrrrwwwwwwwweeeemmhxXRWsqyQaudn";
    CUstream s = streams[below(10) < 9 ? below(3) : 3 + below(2)];
    CUevent e = events[below(EVENTS)];
    unsigned mode = below(3);
    *letter = letters[below(sizeof letters - 1)];
    switch (*letter) {
    case 'b': return (int)cuStreamBeginCapture(s, (CUstreamCaptureMode)mode);
    case 'l': return (int)launch(add, s);
    case 'r': return (int)cuEventRecord(e, s);
    case 'w': return (int)cuStreamWaitEvent(s, e, 0);
    case 'e': return end(s);
    case 'm': return (int)cuMemsetD32Async(memory, 1, 4, s);
    case 'h': return (int)cuLaunchHostFunc(s, nothing, NULL);
    case 'x': return exchange();
    case 'X': return (int)cuMemcpyDtoD(memory, other_memory, 4);
    case 'R': return (int)cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL);
    case 'W': return (int)cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL);
    case 's': return done(cuStreamSynchronize(s));
    case 'q': return done(cuStreamQuery(s));
    case 'y': return done(cuEventSynchronize(e));
    case 'Q': return done(cuEventQuery(e));
    case 'a': return allocate();
    case 'u': return drop_dependencies(s);
    case 'd': return (int)cuEventRecord(e, streams[2]);
    default: return done(cuCtxSynchronize());
    }
}

static void states(void)
{
    for (int i = 0; i < STREAMS; i++) {
        CUstreamCaptureStatus now = (CUstreamCaptureStatus)9;
        CUresult r = cuStreamIsCapturing(streams[i], &now);
        printf("%c", r ? 'L' : (char)('0' + now));
    }
}

static void run(unsigned seed)
{
    state = seed * 2654435761u + 1;
    NEEDED(cuStreamCreate(&streams[0], CU_STREAM_DEFAULT));
    NEEDED(cuStreamCreate(&streams[1], CU_STREAM_DEFAULT));
    NEEDED(cuStreamCreate(&streams[2], CU_STREAM_NON_BLOCKING));
    streams[3] = CU_STREAM_LEGACY;
    streams[4] = CU_STREAM_PER_THREAD;
    for (int i = 0; i < EVENTS; i++)
        NEEDED(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
    printf("%u:", seed);
    for (int i = 0; i < CALLS; i++) {
        char letter;
        int r = call(&letter);
        printf(" %c%d/", letter, r);
        states();
    }
    printf("\n");
    CUstreamCaptureMode m = CU_STREAM_CAPTURE_MODE_GLOBAL;
    cuThreadExchangeStreamCaptureMode(&m);
    end(CU_STREAM_PER_THREAD);
    for (int i = 0; i < 3; i++)
        NEEDED(cuStreamDestroy(streams[i]));
    for (int i = 0; i < EVENTS; i++)
        NEEDED(cuEventDestroy(events[i]));
    NEEDED(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
    unsigned first = argc > 1 ? (unsigned)atoi(argv[1]) : 0, n = argc > 2 ? (unsigned)atoi(argv[2]) : 600;
    begin_rules();
    for (unsigned seed = first; seed < first + n; seed++)
        run(seed);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/*
 * Weft as the network of another simulator: send, receive, schedule, time. A C interface with the meaning of
 * ASTRA-sim's network interface, for C and C++ programs. Link with libweft_net.so, which brings SystemC's
 * kernel; or, in a program with an sc_main of its own, with the static library weft::network_interface.
 *
 * Weft owns time. Your program opens a machine, begins its work, and calls weft_net_run_until(); Weft calls
 * back. Callbacks come one after the other and never from inside another call, not even for a message that
 * is there already. A callback may send, receive, schedule and finish; it may not run, step or close.
 * At one instant callbacks come in the order in which they became due; those of weft_net_schedule() for one
 * time, in the order of the calls.
 *
 * Times are picoseconds. A process has one machine in its life, as SystemC elaborates once. All calls come
 * from one thread.
 *
 * Functions that return int return WEFT_NET_OK (0) or a positive state, or a negative error; weft_net_error()
 * then says what is wrong, where, and what to do.
 */

#ifndef WEFT_NETWORK_INTERFACE_WEFT_NET_H
#define WEFT_NETWORK_INTERFACE_WEFT_NET_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_NET_API __attribute__((visibility("default")))
#else
#define WEFT_NET_API
#endif

#define WEFT_NET_VERSION 1

enum {
  WEFT_NET_OK = 0,
  WEFT_NET_FINISHED = 1, /* every rank has called weft_net_finish() */
  WEFT_NET_IDLE = 2,     /* nothing is left to happen */
  WEFT_NET_USAGE = -1,   /* a call that cannot be: the text names the argument */
  WEFT_NET_FAILED = -2   /* the simulation has failed; only weft_net_close() is left */
};

/* When a send's callback comes. */
enum {
  WEFT_NET_DONE_ARRIVAL = 0, /* the message is at its receiver (ASTRA-sim's analytical network) */
  WEFT_NET_DONE_SENT = 1     /* its last byte has left the sender (as with ns-3) */
};

/* What belongs to what. */
enum {
  WEFT_NET_MATCH_EXACT = 0, /* the n-th send and the n-th receive of one (tag, source, destination, bytes) */
  WEFT_NET_MATCH_BYTES = 1  /* messages of one (tag, source, destination) are a stream of bytes; receives
                               take from it in the order of their calls */
};

/* Time without end, for weft_net_run_until(). */
#define WEFT_NET_FOREVER INT64_MAX

typedef struct weft_net weft_net;
typedef void (*weft_net_callback)(void* arg);

typedef struct weft_net_options {
  size_t size;            /* sizeof(weft_net_options) of the caller */
  int send_done;          /* WEFT_NET_DONE_.. */
  int match;              /* WEFT_NET_MATCH_.. */
  const char* const* set; /* keys in place of the file's, "nmu.endpoint_delay=10 ns", up to a null; or null */
} weft_net_options;

/* Builds the machine of a configuration file, and waits for the simulators at ranks whose `binding` is
 * `remote`, as weft_net_join() does. `options` may be null: arrival, exact. Null on failure: then
 * weft_net_error(NULL) says why. */
WEFT_NET_API weft_net* weft_net_open(const char* yaml, const weft_net_options* options);
/* Takes the machine down. `net` may be null. WEFT_NET_USAGE from a callback, which changes nothing. */
WEFT_NET_API int weft_net_close(weft_net* net);

/* Sends `bytes` from rank `src` to rank `dst` now. `callback` (may be null) comes as `send_done` says. A
 * rank's message to itself is there at once. */
WEFT_NET_API int weft_net_send(weft_net* net, int src, int dst, uint64_t bytes, int tag,
                               weft_net_callback callback, void* arg);
/* Rank `dst` receives `bytes` from rank `src`, before or after they arrive. `callback` (may be null) comes
 * when both are there. */
WEFT_NET_API int weft_net_recv(weft_net* net, int dst, int src, uint64_t bytes, int tag,
                               weft_net_callback callback, void* arg);
/* `callback` comes `delta` picoseconds from now (>= 0). */
WEFT_NET_API int weft_net_schedule(weft_net* net, int64_t delta, weft_net_callback callback, void* arg);
/* The simulated time in picoseconds. */
WEFT_NET_API int64_t weft_net_now(const weft_net* net);

/* How many ranks the machine has. */
WEFT_NET_API int weft_net_ranks(const weft_net* net);
/* The rank whose message the running callback is about: the sender's for a send, the receiver's for a
 * receive. -1 in a scheduled callback and outside callbacks. */
WEFT_NET_API int weft_net_rank(const weft_net* net);
/* How many dimensions the topology has; 0 for a graph. */
WEFT_NET_API int weft_net_dimensions(const weft_net* net);
/* Bytes a second of one link of a dimension, in one direction, as `bandwidth` of the configuration; -1: there
 * is no such dimension. */
WEFT_NET_API double weft_net_bandwidth(const weft_net* net, int dimension);
/* Rank `rank` has nothing more to do. After the last one weft_net_run_until() returns. Once a rank. */
WEFT_NET_API int weft_net_finish(weft_net* net, int rank);

/* A simulator of a host that stands at a rank, in another process. Both sides speak SimBricks' protocol
 * (version 1, Ethernet frames) over a Unix socket and shared memory. */
typedef struct weft_net_remote {
  size_t size;           /* sizeof(weft_net_remote) of the caller */
  const char* socket;    /* path of the Unix socket */
  int connects;          /* 0: Weft listens there; 1: the simulator does */
  int64_t latency;       /* ps, of the link between them, each way; > 0: SimBricks' default is 500000 */
  int64_t sync_interval; /* ps, at most the latency; 0: the latency */
  int64_t patience_ms;   /* wall-clock time to wait for it, at the begin and for each answer; 0: 10000 */
} weft_net_remote;

/* Waits for the simulator at rank `rank`. Before the first run; a rank has one. From then on
 * weft_net_run_until() keeps in step with it, and weft_net_step() is refused. Its frames go through the
 * machine as messages, to the rank that has the destination's address (a switch that learns); weft_net_send()
 * and weft_net_recv() work beside them with tags from -2^30 on. WEFT_NET_USAGE: it does not come, or does not
 * fit; nothing is left of it. A simulator that dies or says nothing makes the run fail. */
WEFT_NET_API int weft_net_join(weft_net* net, int rank, const weft_net_remote* remote);

/* Runs to the time `ps` (absolute, >= now), with what happens at it. WEFT_NET_OK: the time is there.
 * WEFT_NET_IDLE: .. and nothing is left to happen (with WEFT_NET_FOREVER the time is then that of the last
 * event). WEFT_NET_FINISHED: every rank has finished; the time may be earlier. */
WEFT_NET_API int weft_net_run_until(weft_net* net, int64_t ps);
/* Runs to the next time at which something happens, with what happens then. WEFT_NET_OK, _IDLE, _FINISHED. */
WEFT_NET_API int weft_net_step(weft_net* net);

/* What waits: a line for each key with messages under way, messages that nobody has received, and receives
 * without a message; "" when nothing waits. Valid until the next call. */
WEFT_NET_API const char* weft_net_pending(weft_net* net);
/* The text of the last error; "" if there was none. NULL: of weft_net_open(). Valid until the next error. */
WEFT_NET_API const char* weft_net_error(const weft_net* net);

#ifdef __cplusplus
}
#endif

#endif

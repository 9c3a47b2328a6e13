/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Weft authors
 *
 * libweft_comm: a program's connection to `weft emulate`. One process is one real rank. Its communication
 * calls go to Weft, which simulates the fabric and every rank that is not real, and answers when they are
 * over in simulated time. Plain C; no SystemC.
 *
 * Rules
 *  - Times are picoseconds (int64_t) since the start of the emulation. The rank's local time is weft_now().
 *  - Between two calls the local time grows by the compute time of the process: what `--compute` says.
 *  - Functions return WEFT_OK or a code of weft_error (a negative number). weft_last_error() has the text of
 *    the last one of the session: what is wrong, where, and what to do. After WEFT_ERROR_REFUSED,
 *    WEFT_ERROR_SHUTDOWN, WEFT_ERROR_PROTOCOL and WEFT_ERROR_CONNECTION the session is over: every later
 *    call returns the same code. Other codes change nothing.
 *  - Ranks of `peer`, `root` and of lists are ranks in the communicator, from 0.
 *  - All functions of one session are thread-safe: they take the session's lock. A blocking call holds it
 *    while it waits, so that one thread waits at a time.
 */
#ifndef WEFT_COMM_H
#define WEFT_COMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

/** Of this header. The library's: weft_comm_version(). Equal major numbers (version / 100) fit. */
#define WEFT_COMM_VERSION 100
WEFT_API int weft_comm_version(void);

typedef struct weft_session weft_session;
/** A communicator's number. */
typedef uint32_t weft_comm;
/** A request's number, > 0; never used again in a session. */
typedef uint64_t weft_request;

#define WEFT_COMM_WORLD ((weft_comm)0)
/** What a rank gets that is no member of the new communicator. */
#define WEFT_COMM_NULL ((weft_comm)0xffffffffu)
#define WEFT_REQUEST_NULL ((weft_request)0)
#define WEFT_ANY_SOURCE (-1)
#define WEFT_ANY_TAG (-1)
/** A peer that is nobody: sends and receives are over at once (MPI_PROC_NULL). */
#define WEFT_NOBODY (-2)
/** weft_comm_split(): this rank joins no group (MPI_UNDEFINED). */
#define WEFT_UNDEFINED (-32766)
#define WEFT_UNIQUE_ID_BYTES 128

typedef enum weft_error {
  WEFT_OK = 0,
  WEFT_ERROR_ARGUMENT = -1,    /**< an argument is wrong; nothing was sent */
  WEFT_ERROR_CONNECTION = -2,  /**< there is no server, or it has gone */
  WEFT_ERROR_PROTOCOL = -3,    /**< the server's answer makes no sense, or its version does not fit */
  WEFT_ERROR_REFUSED = -4,     /**< the server answered ERROR: the job is wrong (text: both sides) */
  WEFT_ERROR_SHUTDOWN = -5,    /**< the server ended the job: another rank failed, time limit, Ctrl-C */
  WEFT_ERROR_TRUNCATED = -6,   /**< a receive was shorter than its message */
  WEFT_ERROR_MEMORY = -7,      /**< no memory for a buffer */
  WEFT_ERROR_UNSUPPORTED = -8, /**< Weft cannot do this: the text says what instead */
  WEFT_ERROR_NOT_EMULATED = -9 /**< WEFT_SOCKET is not set: not under `weft emulate` */
} weft_error;
/** A few words for a code. Never null. */
WEFT_API const char* weft_strerror(int code);

/* ---- session ---------------------------------------------------------------------------------------- */

typedef enum weft_shim {
  WEFT_SHIM_C = 0,
  WEFT_SHIM_MPI = 1,
  WEFT_SHIM_TORCH = 2,
  WEFT_SHIM_NCCL = 3
} weft_shim;

typedef struct weft_options {
  uint32_t size;       /**< sizeof(weft_options) */
  uint32_t shim;       /**< weft_shim */
  const char* socket;  /**< null: the environment's WEFT_SOCKET */
  int32_t rank;        /**< -1: the environment's WEFT_RANK */
  int32_t world;       /**< -1: the environment's WEFT_WORLD_SIZE */
  const char* version; /**< of the shim, for the report; may be null */
} weft_options;
/** size and the defaults. */
WEFT_API void weft_options_init(weft_options* options);

/** Joins the emulation; blocks until the server has answered. `options` may be null. On failure *session is
 * still set (unless there is no memory): ask weft_last_error(), then weft_close(). */
WEFT_API int weft_open(const weft_options* options, weft_session** session);
/** Tells the server that the rank has ended (0: well). Requests that are not finished are an error. */
WEFT_API int weft_bye(weft_session* session, int exit_status);
/** Closes the connection and frees the session. Without weft_bye() the server takes the rank for failed. */
WEFT_API void weft_close(weft_session* session);
/** The text of the session's last error; "" if there was none. Valid until the next call. */
WEFT_API const char* weft_last_error(const weft_session* session);

WEFT_API int weft_rank(const weft_session* session);
WEFT_API int weft_world(const weft_session* session);
/** This rank's number on its node, and how many ranks a node has. */
WEFT_API int weft_local_rank(const weft_session* session);
WEFT_API int weft_local_size(const weft_session* session);
/** The name of the node of a rank of the world, as machine.yaml has it: "node3". Valid until weft_close(). */
WEFT_API const char* weft_node_name(weft_session* session, int world_rank);

typedef enum weft_data {
  WEFT_DATA_DUMMY = 0,  /**< receive buffers are filled with zeros */
  WEFT_DATA_MIRROR = 1, /**< as if every other member held what this rank holds */
  WEFT_DATA_FUNCTIONAL =
      2 /**< exact over the real members; each other one holds what its representative holds */
} weft_data;
WEFT_API weft_data weft_data_mode(const weft_session* session);
typedef enum weft_clock { WEFT_CLOCK_VIRTUAL = 0, WEFT_CLOCK_WALL = 1 } weft_clock;
WEFT_API weft_clock weft_clock_kind(const weft_session* session);

/* ---- time ------------------------------------------------------------------------------------------- */

/** This rank's local time in ps. Compute since the last call counts. */
WEFT_API int64_t weft_now(weft_session* session);
/** The rank computes for `ps` of simulated time, in place of the time measured since the last call. */
WEFT_API int weft_compute(weft_session* session, int64_t ps);
/** .. as long as the machine's NPU needs for so many operations and bytes of memory traffic. `region`: a name
 * for the report; may be null. */
WEFT_API int weft_compute_work(weft_session* session, uint64_t flops, uint64_t bytes, const char* region);

typedef enum weft_mark_kind {
  WEFT_MARK_ITERATION = 0,
  WEFT_MARK_REGION = 1,
  WEFT_MARK_WARM_UP = 2
} weft_mark_kind;
/** Where an iteration, region or the warm-up begins (begin != 0) or ends. */
WEFT_API int weft_mark(weft_session* session, weft_mark_kind kind, int64_t number, int begin,
                       const char* name);

/* ---- communicators ---------------------------------------------------------------------------------- */

/** A communicator of the given ranks of `parent`, in that order. Every real member of the list calls it with
 * the same list. A rank that is not in the list may call it and gets WEFT_COMM_NULL. A duplicate is one of
 * all ranks, in order: ranks == null, n == 0. */
WEFT_API int weft_comm_create(weft_session* session, weft_comm parent, const int32_t* ranks, uint32_t n,
                              weft_comm* comm);
/** MPI_Comm_split: the arguments of emulated ranks come from a rule, or from a grid that two real ranks fix.
 * Every real rank of `parent` calls it. */
WEFT_API int weft_comm_split(weft_session* session, weft_comm parent, int32_t color, int32_t key,
                             weft_comm* comm);
/** MPI_Cart_create: row-major, the first product(dims) ranks of `parent`; the others get WEFT_COMM_NULL. */
WEFT_API int weft_comm_cart(weft_session* session, weft_comm parent, uint32_t ndims, const int32_t* dims,
                            const int32_t* periods, weft_comm* comm);
/** NCCL's way: n ranks that share an id; this one is `rank` of them. `id` came from weft_unique_id() of one
 * of them. `site` says where, for messages; may be null. */
WEFT_API int weft_comm_unique(weft_session* session, const unsigned char id[WEFT_UNIQUE_ID_BYTES], uint32_t n,
                              uint32_t rank, const char* site, weft_comm* comm);
/** The id, the same on every rank for the same ordinal (0, 1, ..): emulated ranks could not hand theirs on.
 */
WEFT_API int weft_unique_id(weft_session* session, uint32_t ordinal, unsigned char id[WEFT_UNIQUE_ID_BYTES]);
WEFT_API int weft_comm_free(weft_session* session, weft_comm comm);

/** -1 for an unknown communicator. */
WEFT_API int weft_comm_rank(const weft_session* session, weft_comm comm);
WEFT_API int weft_comm_size(const weft_session* session, weft_comm comm);
/** The world's rank of a member; -1 if there is none. */
WEFT_API int weft_comm_world_rank(const weft_session* session, weft_comm comm, int rank);
/** The member that is this rank of the world; -1 if there is none. */
WEFT_API int weft_comm_member(const weft_session* session, weft_comm comm, int world_rank);

/* ---- collectives ------------------------------------------------------------------------------------ */

typedef enum weft_operation {
  WEFT_ALL_REDUCE = 0,
  WEFT_ALL_GATHER = 1,
  WEFT_REDUCE_SCATTER = 2,
  WEFT_ALL_TO_ALL = 3,
  WEFT_BROADCAST = 4,
  WEFT_REDUCE = 5,
  WEFT_GATHER = 6,
  WEFT_SCATTER = 7,
  WEFT_BARRIER = 8
} weft_operation;

typedef enum weft_type {
  WEFT_BYTE = 0, /**< anything else: `element_bytes` says how large; no arithmetic */
  WEFT_INT8 = 1,
  WEFT_UINT8 = 2,
  WEFT_INT16 = 3,
  WEFT_UINT16 = 4,
  WEFT_INT32 = 5,
  WEFT_UINT32 = 6,
  WEFT_INT64 = 7,
  WEFT_UINT64 = 8,
  WEFT_FLOAT16 = 9,
  WEFT_BFLOAT16 = 10,
  WEFT_FLOAT32 = 11,
  WEFT_FLOAT64 = 12
} weft_type;
/** Bytes of an element; 1 for WEFT_BYTE, 0 for an unknown type. */
WEFT_API uint32_t weft_type_bytes(weft_type type);

typedef enum weft_reduction {
  WEFT_SUM = 0,
  WEFT_PROD = 1,
  WEFT_MIN = 2,
  WEFT_MAX = 3,
  WEFT_AVG = 4,
  WEFT_BAND = 5,
  WEFT_BOR = 6,
  WEFT_BXOR = 7,
  WEFT_LAND = 8,
  WEFT_LOR = 9,
  WEFT_LXOR = 10,
  WEFT_USER = 11, /**< the program's own: timed; of data, only mirror of one's own buffer */
  /** .. timed; `receive` gets what all members contribute, one after the other, for the program to combine:
   * of all_reduce and reduce (the root) their buffers, of reduce_scatter their parts for this member */
  WEFT_GATHERED = 12
} weft_reduction;

typedef struct weft_coll_args {
  uint32_t size;          /**< sizeof(weft_coll_args); weft_coll_init() */
  weft_comm comm;         /**< WEFT_COMM_WORLD */
  uint32_t operation;     /**< weft_operation */
  uint32_t type;          /**< weft_type */
  uint32_t element_bytes; /**< 0: the type's; of WEFT_BYTE: of an opaque element */
  uint32_t reduction;     /**< weft_reduction */
  int32_t root;           /**< of broadcast, reduce, gather, scatter */
  /** Elements: all_reduce, reduce, broadcast: of the buffer. all_gather, gather: of one rank's shard.
   * reduce_scatter, scatter: of one rank's part of the result. all_to_all: for one peer. */
  uint64_t count;
  /** Unequal counts (MPI's v-versions), one a member, in elements; null: `count` for all. all_gather,
   * gather, reduce_scatter, scatter: of every member (of gather and scatter only the root need give it; the
   * others give their own as `count`). all_to_all: what this rank sends to each member. */
  const uint64_t* counts;
  /** all_to_all with `counts`: what this rank receives from each member. */
  const uint64_t* receive_counts;
  /** Buffers; may be null (then no data moves). In place: equal pointers, or only `receive`. With `counts`
   * parts lie one after the other. They stay the program's until the request is finished. */
  const void* send;
  void* receive;
  const char* name; /**< for rules (`collectives.rules`) and reports; may be null */
  uint32_t stream;  /**< for reports */
  uint32_t flags;   /**< 0 */
} weft_coll_args;
/** size; everything else 0. */
WEFT_API void weft_coll_init(weft_coll_args* args);
/** Joins the collective at the local time; it is over when *request is. */
WEFT_API int weft_coll(weft_session* session, const weft_coll_args* args, weft_request* request);
/** .. and waits for it. */
WEFT_API int weft_coll_wait(weft_session* session, const weft_coll_args* args);

/* ---- point to point --------------------------------------------------------------------------------- */

typedef enum weft_send_mode {
  WEFT_SEND_STANDARD = 0,   /**< over when the last byte has left this rank */
  WEFT_SEND_SYNCHRONOUS = 1 /**< over when the receiver has it */
} weft_send_mode;

/** `buffer` may be null (no data). `tag` >= 0. `name` may be null. */
WEFT_API int weft_send(weft_session* session, weft_comm comm, int peer, int tag, const void* buffer,
                       uint64_t bytes, weft_send_mode mode, const char* name, weft_request* request);
/** `peer` may be WEFT_ANY_SOURCE, `tag` WEFT_ANY_TAG. `bytes`: room. */
WEFT_API int weft_recv(weft_session* session, weft_comm comm, int peer, int tag, void* buffer, uint64_t bytes,
                       const char* name, weft_request* request);

typedef struct weft_status {
  int32_t source; /**< member of the communicator; receives only */
  int32_t tag;
  uint64_t bytes; /**< received; of a send: sent */
  int32_t error;  /**< WEFT_OK or WEFT_ERROR_TRUNCATED */
  int32_t pad;
  int64_t time;     /**< when it was over, ps */
  int64_t queue;    /**< of its time: before it could start, and while others went first; ps */
  int64_t network;  /**< on the wires */
  int64_t reduce;   /**< reductions and endpoint delays */
  int64_t injected; /**< by `collectives.rules[].delay` */
} weft_status;

/** A message that could be received now. `blocking` == 0: *found says whether there is one (costs the poll
 * cost of local time); else it waits for one. `status` may be null. The message stays. */
WEFT_API int weft_probe(weft_session* session, weft_comm comm, int peer, int tag, int blocking, int* found,
                        weft_status* status);

/* ---- completion ------------------------------------------------------------------------------------- */

/** Blocks until all requests are over. Entries that are WEFT_REQUEST_NULL are skipped; finished ones become
 * WEFT_REQUEST_NULL. `statuses` may be null. Returns the first error of a request. */
WEFT_API int weft_wait_all(weft_session* session, uint32_t n, weft_request* requests, weft_status* statuses);
/** .. until one is: its index in *which, -1 if all entries are null. `status` may be null. */
WEFT_API int weft_wait_any(weft_session* session, uint32_t n, weft_request* requests, int* which,
                           weft_status* status);
/** .. until at least one is: the indices of all finished in which[0 .. *count - 1], statuses in that order.
 */
WEFT_API int weft_wait_some(weft_session* session, uint32_t n, weft_request* requests, uint32_t* count,
                            int* which, weft_status* statuses);
/** Do not block. *done: all (any) are over; nothing changes otherwise. Each call costs the poll cost of local
 * time, so that a program that spins comes to an end. */
WEFT_API int weft_test_all(weft_session* session, uint32_t n, weft_request* requests, int* done,
                           weft_status* statuses);
WEFT_API int weft_test_any(weft_session* session, uint32_t n, weft_request* requests, int* done, int* which,
                           weft_status* status);
WEFT_API int weft_test_some(weft_session* session, uint32_t n, weft_request* requests, uint32_t* count,
                            int* which, weft_status* statuses);
/** One request. */
WEFT_API int weft_wait(weft_session* session, weft_request* request, weft_status* status);
WEFT_API int weft_test(weft_session* session, weft_request* request, int* done, weft_status* status);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Weft authors
 *
 * A program of words: each argument is a step of every rank, or of one ("8:step"). Prints the local time of
 * the rank at its end, in ps.
 *
 *   coll:OP:COUNT[:ROOT]  a collective, waited for      icoll:OP:COUNT[:ROOT]  .. not waited for
 *   as:TYPE:REDUCTION[:BYTES]  the next collectives are of these numbers of weft_type, weft_reduction, bytes an element
 *   on:N                  the N-th communicator made (0: all) for the next steps
 *   comm:R,R,..           makes one of these ranks      split:COLOR:KEY   color and key may be /K, %K of the rank
 *   unique:N:RANK:ID      .. by id                      cart:DIMS,..
 *   size:N, member:N      checks the communicator's size, the rank's number in it
 *   send:PEER:TAG:BYTES, isend, ssend, recv:PEER:TAG:BYTES, irecv; PEER may be +K, -K, any
 *   sendrecv:K:TAG:BYTES  to rank + K, from rank - K
 *   probe:PEER:TAG        waits for a message
 *   wait, waitany, testall (spins)
 *   spin:US (CPU time), compute:PS, work:FLOPS:BYTES, mark:N, endmark:N, exit:STATUS, hang, close, kill
 *   repeat:N steps.. end
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "pattern.h"

static weft_comm comms[64];
static int made = 1, current;
static weft_request requests[4096];
static uint32_t open_requests;
static weft_type type = WEFT_FLOAT32;
static weft_reduction reduction = WEFT_SUM;
static uint32_t element_bytes;

static const char* const kOperations[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast",
                                          "reduce",     "gather",     "scatter",        "barrier"};

static int is(const char* step, const char* word) {
  const size_t n = strlen(word);
  return strncmp(step, word, n) == 0 && (step[n] == 0 || step[n] == ':');
}

static const char* field(const char* step, int n) {
  while (n-- > 0) {
    step = strchr(step, ':');
    if (step == NULL) return "";
    ++step;
  }
  return step;
}
static long long number(const char* step, int n) { return atoll(field(step, n)); }

/* A member: 3, +1, -1, any; or /8, %8 of the own number. */
static int member(const char* text) {
  const int me = weft_comm_rank(session, comms[current]), size = weft_comm_size(session, comms[current]);
  if (strncmp(text, "any", 3) == 0) return WEFT_ANY_SOURCE;
  if (*text == '+') return (me + atoi(text + 1)) % size;
  if (*text == '-') return (me + size - atoi(text + 1) % size) % size;
  if (*text == '/') return me / atoi(text + 1);
  if (*text == '%') return me % atoi(text + 1);
  return atoi(text);
}

static void collective(const char* step, int blocking) {
  weft_coll_args args = args_of(comms[current], WEFT_BARRIER, (uint64_t)number(step, 2));
  const char* name = field(step, 1);
  unsigned op = 0;
  while (op < 9 && (strncmp(name, kOperations[op], strlen(kOperations[op])) != 0 ||
                    (name[strlen(kOperations[op])] != 0 && name[strlen(kOperations[op])] != ':')))
    ++op;
  NEED(op < 9);
  args.operation = op;
  args.type = type;
  args.reduction = reduction;
  if (element_bytes != 0) args.element_bytes = element_bytes;
  args.root = (int32_t)number(step, 3);
  args.name = kOperations[op];
  if (blocking)
    CHECK(weft_coll_wait(session, &args));
  else
    CHECK(weft_coll(session, &args, &requests[open_requests++]));
}

static void message(const char* step, int sends, int blocking, weft_send_mode mode) {
  const int peer = member(field(step, 1)), tag = (int)number(step, 2);
  const uint64_t bytes = (uint64_t)number(step, 3);
  weft_request* request = &requests[open_requests];
  if (sends)
    CHECK(weft_send(session, comms[current], peer, tag, NULL, bytes, mode, NULL, request));
  else
    CHECK(weft_recv(session, comms[current], peer, tag, NULL, bytes, NULL, request));
  if (blocking)
    CHECK(weft_wait(session, request, NULL));
  else
    ++open_requests;
}

static void exchange(const char* step) {
  const int me = weft_comm_rank(session, comms[current]), size = weft_comm_size(session, comms[current]);
  const int by = (int)number(step, 1) % size, tag = (int)number(step, 2);
  const uint64_t bytes = (uint64_t)number(step, 3);
  weft_request both[2];
  CHECK(weft_recv(session, comms[current], (me + size - by) % size, tag, NULL, bytes, NULL, &both[0]));
  CHECK(weft_send(session, comms[current], (me + by) % size, tag, NULL, bytes, WEFT_SEND_STANDARD, NULL, &both[1]));
  CHECK(weft_wait_all(session, 2, both, NULL));
}

static void make(const char* step) {
  int32_t list[4096];
  uint32_t n = 0;
  for (const char* at = field(step, 1); *at != 0; ++at) {
    list[n++] = atoi(at);
    at = strchr(at, ',');
    if (at == NULL) break;
  }
  if (is(step, "comm")) {
    CHECK(weft_comm_create(session, comms[current], list, n, &comms[made]));
  } else {
    const int32_t periods[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    CHECK(weft_comm_cart(session, comms[current], n, list, periods, &comms[made]));
  }
}

static void run(const char* step) {
  if (is(step, "coll")) return collective(step, 1);
  if (is(step, "icoll")) return collective(step, 0);
  if (is(step, "send")) return message(step, 1, 1, WEFT_SEND_STANDARD);
  if (is(step, "ssend")) return message(step, 1, 1, WEFT_SEND_SYNCHRONOUS);
  if (is(step, "isend")) return message(step, 1, 0, WEFT_SEND_STANDARD);
  if (is(step, "recv")) return message(step, 0, 1, WEFT_SEND_STANDARD);
  if (is(step, "irecv")) return message(step, 0, 0, WEFT_SEND_STANDARD);
  if (is(step, "sendrecv")) return exchange(step);
  if (is(step, "as")) {
    type = (weft_type)number(step, 1);
    reduction = (weft_reduction)number(step, 2);
    element_bytes = (uint32_t)number(step, 3);
  }
  if (is(step, "probe")) {
    const int peer = member(field(step, 1));
    CHECK(weft_probe(session, comms[current], peer, (int)number(step, 2), 1, NULL, NULL));
  }
  if (is(step, "on")) current = (int)number(step, 1);
  if (is(step, "comm") || is(step, "cart")) {
    make(step);
    ++made;
  }
  if (is(step, "split")) {
    CHECK(weft_comm_split(session, comms[current], member(field(step, 1)), member(field(step, 2)), &comms[made]));
    ++made;
  }
  if (is(step, "unique")) {
    unsigned char id[WEFT_UNIQUE_ID_BYTES];
    CHECK(weft_unique_id(session, (uint32_t)member(field(step, 3)), id));
    CHECK(weft_comm_unique(session, id, (uint32_t)number(step, 1), (uint32_t)member(field(step, 2)), "pattern.c",
                           &comms[made]));
    ++made;
  }
  if (is(step, "size")) NEED(weft_comm_size(session, comms[current]) == number(step, 1));
  if (is(step, "member")) NEED(weft_comm_rank(session, comms[current]) == number(step, 1));
  if (is(step, "wait")) {
    CHECK(weft_wait_all(session, open_requests, requests, NULL));
    open_requests = 0;
  }
  if (is(step, "waitany")) {
    int which = -1;
    CHECK(weft_wait_any(session, open_requests, requests, &which, NULL));
    NEED(which >= 0);
  }
  if (is(step, "testall")) {
    int done = 0;
    while (!done) CHECK(weft_test_all(session, open_requests, requests, &done, NULL));
    open_requests = 0;
  }
  if (is(step, "compute")) CHECK(weft_compute(session, number(step, 1)));
  if (is(step, "spin")) {
    struct timespec begin, now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000LL + (now.tv_nsec - begin.tv_nsec) / 1000 < number(step, 1));
  }
  if (is(step, "work")) CHECK(weft_compute_work(session, (uint64_t)number(step, 1), (uint64_t)number(step, 2), "w"));
  if (is(step, "mark")) CHECK(weft_mark(session, WEFT_MARK_ITERATION, number(step, 1), 1, NULL));
  if (is(step, "endmark")) CHECK(weft_mark(session, WEFT_MARK_ITERATION, number(step, 1), 0, NULL));
  if (is(step, "exit")) exit((int)number(step, 1));
  if (is(step, "hang"))
    while (1) sleep(1);
  if (is(step, "close")) {
    weft_close(session);
    sleep(5);
    exit(0);
  }
  if (is(step, "kill")) raise(SIGKILL);
}

static int run_all(int argc, char** argv, int at) {
  for (; at < argc; ++at) {
    const char* step = argv[at];
    if (strcmp(step, "end") == 0) return at;
    const int by_rank = *step >= '0' && *step <= '9';
    if (by_rank) {
      if (atoi(step) != weft_rank(session)) continue;
      step = strchr(step, ':') + 1;
    }
    if (is(step, "repeat")) {
      const long long times = number(step, 1);
      int end = at;
      for (long long i = 0; i < times; ++i) end = run_all(argc, argv, at + 1);
      at = end;
      continue;
    }
    run(step);
  }
  return at;
}

int main(int argc, char** argv) {
  open_session();
  run_all(argc, argv, 1);
  printf("time %lld\n", (long long)weft_now(session));
  fflush(stdout);
  close_session();
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Weft authors
 *
 * A training loop in C on libweft_comm: each iteration computes, reduces the gradients of four layers while
 * the next layer computes, and waits for all.
 *
 *     cc -o training training.c -lweft_comm
 *     weft emulate machine.yaml --real 0 --compute fixed:0 -- ./training 5
 */
#include <stdio.h>
#include <stdlib.h>

#include "weft_comm.h"

#define LAYERS 4
#define PARAMETERS (1 << 20)

static weft_session* session;

static void check(int code) {
  if (code == WEFT_OK) return;
  fprintf(stderr, "%s: %s\n", weft_strerror(code), weft_last_error(session));
  exit(1);
}

int main(int argc, char** argv) {
  const int iterations = argc > 1 ? atoi(argv[1]) : 3;
  check(weft_open(NULL, &session));
  float* gradients = calloc(LAYERS * PARAMETERS, sizeof(float));
  if (gradients == NULL) return 1;
  for (int i = 0; i < iterations; ++i) {
    weft_request requests[LAYERS];
    check(weft_mark(session, WEFT_MARK_ITERATION, i, 1, NULL));
    for (int layer = 0; layer < LAYERS; ++layer) {
      check(weft_compute(session, 100000000)); /* 100 us of the backward pass */
      weft_coll_args args;
      weft_coll_init(&args);
      args.operation = WEFT_ALL_REDUCE;
      args.type = WEFT_FLOAT32;
      args.count = PARAMETERS;
      args.receive = gradients + layer * PARAMETERS; /* in place */
      args.name = "gradients";
      check(weft_coll(session, &args, &requests[layer]));
    }
    check(weft_wait_all(session, LAYERS, requests, NULL));
    check(weft_mark(session, WEFT_MARK_ITERATION, i, 0, NULL));
  }
  if (weft_rank(session) == 0) printf("%.3f us\n", (double)weft_now(session) / 1e6);
  check(weft_bye(session, 0));
  weft_close(session);
  free(gradients);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Weft authors
 * What the test programs share. */
#ifndef WEFT_TESTS_PATTERN_H
#define WEFT_TESTS_PATTERN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_comm.h"

static weft_session* session;

static void check(int code, const char* call) {
  if (code == WEFT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", call, weft_strerror(code), weft_last_error(session));
  exit(9);
}
#define CHECK(call) check(call, #call)

static void need(int holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: not so: %s\n", line, what);
  exit(8);
}
#define NEED(what) need(what, #what, __LINE__)

static inline void open_session(void) {
  const int code = weft_open(NULL, &session);
  check(code, "weft_open");
}

static inline void close_session(void) {
  CHECK(weft_bye(session, 0));
  weft_close(session);
}

/* A collective of `count` floats on a communicator. */
static inline weft_coll_args args_of(weft_comm comm, weft_operation operation, uint64_t count) {
  weft_coll_args args;
  weft_coll_init(&args);
  args.comm = comm;
  args.operation = operation;
  args.type = WEFT_FLOAT32;
  args.count = count;
  return args;
}

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Weft authors
 *
 * A delay source of `weft emulate` (`environment.delay: plugin`): a shared library with one function, which
 * says how long each step of a collective takes.
 *
 *     #include <weft_delay.h>
 *     int64_t weft_delay(const weft_collective* c) { return 2000000 + (int64_t)(c->message_bytes * 40); }
 *
 *     cc -shared -fPIC -o delay.so delay.c
 */
#ifndef WEFT_DELAY_H
#define WEFT_DELAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One message that a real rank receives. */
typedef struct weft_collective {
  uint32_t size;          /**< bytes of this struct as Weft knows it; later versions add fields at its end */
  uint32_t operation;     /**< weft_operation of weft_comm.h: 0 all_reduce, 1 all_gather, .. */
  uint64_t bytes;         /**< of the collective: each rank's buffer */
  uint64_t message_bytes; /**< of this message */
  uint32_t group;         /**< number of the communicator; 0: all ranks */
  uint32_t members;       /**< ranks in it */
  uint32_t step;  /**< of the messages that `dst` receives in this collective: from 0, in their order */
  uint32_t steps; /**< how many these are */
  uint32_t src;   /**< ranks of the job */
  uint32_t dst;
  int64_t now; /**< ps since the members have joined: when the step begins */
} weft_collective;

/** ps from the beginning of the step (`dst` has all of the round before) until the message is there. Called
 *  once for each message of each kind of collective, and kept: the answer must follow from the arguments. A
 *  negative number is an error, which ends the job. */
int64_t weft_delay(const weft_collective* collective);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Weft authors
 *
 * A delay source: 3 us a step, and 1 ps a byte. Of collectives of 7 B it knows nothing.
 */
#include "weft_delay.h"

int64_t weft_delay(const weft_collective* c) {
  if (c->size < sizeof *c || c->step >= c->steps || c->now < 0) return -2;
  if (c->bytes == 7 * (uint64_t)c->members) return -1;
  return 3000000 + (int64_t)c->message_bytes;
}

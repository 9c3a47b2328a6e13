/* SPDX-License-Identifier: Apache-2.0
 * Copyright the Weft authors
 *
 * A delay source of `weft emulate`: a step takes 8 us and 0.04 ns a byte, and between nodes of eight ranks
 * 25 us and 0.2 ns a byte.
 *
 *     cc -shared -fPIC -o alpha_beta.so alpha_beta.c
 *     weft emulate machine.yaml --set environment.delay=plugin --set environment.delay_plugin=alpha_beta.so ..
 */
#include "weft_delay.h"

int64_t weft_delay(const weft_collective* c) {
  const int between_nodes = c->src / 8 != c->dst / 8;
  const int64_t start = between_nodes ? 25000000 : 8000000;         /* ps */
  const int64_t femtoseconds_per_byte = between_nodes ? 200000 : 40000;
  return start + (int64_t)c->message_bytes * femtoseconds_per_byte / 1000;
}

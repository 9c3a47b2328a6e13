/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Weft authors */
/*
 * Two ranks of a machine send a message to and fro.
 *
 *     ping_pong machine.yaml A B BYTES
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft_net.h>

struct game {
  weft_net* net;
  int a;
  int b;
  uint64_t bytes;
  int rounds;
};

static void serve(struct game* game);

/* A callback has nobody to return an error to. */
static void check(const struct game* game, int state) {
  if (state >= 0) return;
  fprintf(stderr, "ping_pong: %s\n", weft_net_error(game->net));
  exit(1);
}

static void back(void* arg) {
  struct game* const game = arg;
  if (++game->rounds < 10) serve(game);
}

static void there(void* arg) {
  struct game* const game = arg;
  check(game, weft_net_send(game->net, game->b, game->a, game->bytes, 1, NULL, NULL));
}

static void serve(struct game* game) {
  check(game, weft_net_recv(game->net, game->b, game->a, game->bytes, 0, there, game));
  check(game, weft_net_recv(game->net, game->a, game->b, game->bytes, 1, back, game));
  check(game, weft_net_send(game->net, game->a, game->b, game->bytes, 0, NULL, NULL));
}

int main(int argc, char** argv) {
  struct game game = {NULL, 0, 0, 0, 0};
  if (argc != 5) {
    fprintf(stderr, "ping_pong MACHINE.yaml A B BYTES\n");
    return 2;
  }
  game.net = weft_net_open(argv[1], NULL);
  if (game.net == NULL) {
    fprintf(stderr, "ping_pong: %s\n", weft_net_error(NULL));
    return 2;
  }
  game.a = atoi(argv[2]);
  game.b = atoi(argv[3]);
  game.bytes = strtoull(argv[4], NULL, 10);
  serve(&game);
  check(&game, weft_net_run_until(game.net, WEFT_NET_FOREVER));
  if (game.rounds != 10) {
    fprintf(stderr, "ping_pong: stalled\n%s\n", weft_net_pending(game.net));
    return 1;
  }
  printf("%" PRId64 " ps a round trip\n", weft_net_now(game.net) / game.rounds);
  return weft_net_close(game.net) == WEFT_NET_OK ? 0 : 1;
}

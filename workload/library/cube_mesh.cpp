// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/cube_mesh.h"

#include <algorithm>
#include <array>

namespace weft::library {
namespace {

constexpr uint32_t kLinks[kCubeMeshGpus][kCubeMeshGpus] = {
    {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
    {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
constexpr uint32_t kHalf = kCubeMeshGpus / 2;

double load_of_all() {
  std::array<std::array<uint32_t, kCubeMeshGpus>, kCubeMeshGpus> messages{};
  for (uint32_t from = 0; from < kCubeMeshGpus; ++from)
    for (uint32_t to = 0; to < kCubeMeshGpus; ++to) {
      if (from == to) continue;
      const uint32_t via = kLinks[from][to] != 0 ? to : cube_mesh_via(from, to);
      ++messages[from][via];
      if (via != to) ++messages[via][to];
    }
  double most = 0;
  for (uint32_t from = 0; from < kCubeMeshGpus; ++from)
    for (uint32_t to = 0; to < kCubeMeshGpus; ++to)
      if (kLinks[from][to] != 0)
        most = std::max(most, static_cast<double>(messages[from][to]) / kLinks[from][to]);
  return most;
}

}  // namespace

uint32_t cube_mesh_links(uint32_t from, uint32_t to) {
  return kLinks[from][to];
}

/// NCCL searches from the receiver on: over its thickest links first, and of equals that to the lowest GPU.
uint32_t cube_mesh_via(uint32_t from, uint32_t to) {
  uint32_t best = to;
  const auto width = [&](uint32_t via) { return std::min(kLinks[to][via], kLinks[via][from]); };
  for (uint32_t via = 0; via < kCubeMeshGpus; ++via) {
    if (width(via) == 0) continue;
    if (best == to || width(via) > width(best) ||
        (width(via) == width(best) && kLinks[to][via] > kLinks[to][best]))
      best = via;
  }
  return best;
}

double cube_mesh_load(uint32_t gpus) {
  static const double all = load_of_all();
  if (gpus > kHalf) return all;
  return gpus > 2 ? 1 : 0.5;  // two are taken to be a pair with two links
}

}  // namespace weft::library

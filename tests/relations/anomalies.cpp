// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tests/relations/anomalies.h"

#include <fmt/format.h>

#include <vector>

namespace weft::relations {
namespace {

struct Anomaly {
  const char* relation;
  const char* fingerprint;
  const char* why;  ///< the two schedules, worked out by hand
};

/// None is known.
const std::vector<Anomaly>& anomalies() {
  static const std::vector<Anomaly> list = {};
  return list;
}

}  // namespace

std::string fingerprint(const Case& c) {
  std::string text = c.machine.yaml();
  if (c.collective)
    text += fmt::format("{} {} {}", c.collective->op, c.collective->bytes, c.collective->root);
  if (c.job) text += c.job->text() + fmt::format("{} {} {}", c.job->order, c.job->ids, c.job->key_order);
  for (const auto& [name, value] : c.choices) text += fmt::format("{}={} ", name, value);
  uint64_t h = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char byte : text) h = (h ^ static_cast<unsigned char>(byte)) * 0x100000001b3ull;
  return fmt::format("{:016x}", h);
}

bool listed_anomaly(const std::string& relation, const Case& c) {
  for (const Anomaly& anomaly : anomalies())
    if (relation == anomaly.relation && fingerprint(c) == anomaly.fingerprint) return true;
  return false;
}

}  // namespace weft::relations

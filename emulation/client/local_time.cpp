// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/client/local_time.h"

#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <memory>
#include <stdexcept>

namespace weft::emulation {
namespace {

int64_t clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/// Lines "rank,call,ps"; of this rank, calls from 0 in order.
std::vector<int64_t> read_table(const std::string& path, uint32_t rank) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"), &std::fclose);
  if (file == nullptr) throw std::runtime_error("--compute table:" + path + ": the file cannot be read");
  std::vector<int64_t> table;
  char line[256];
  for (unsigned number = 1; std::fgets(line, sizeof line, file.get()) != nullptr; ++number) {
    if (line[0] == '#' || line[0] == '\n' || (number == 1 && line[0] == 'r')) continue;
    uint32_t of = 0;
    uint64_t call = 0;
    int64_t ps = 0;
    if (std::sscanf(line, "%" SCNu32 ",%" SCNu64 ",%" SCNd64, &of, &call, &ps) != 3 || ps < 0)
      throw std::runtime_error("--compute table:" + path + ":" + std::to_string(number) +
                               ": a line must be `rank,call,ps`");
    if (of != rank) continue;
    if (call != table.size())
      throw std::runtime_error("--compute table:" + path + ":" + std::to_string(number) + ": call " +
                               std::to_string(table.size()) + " of rank " + std::to_string(rank) +
                               " should stand here, calls count from 0");
    table.push_back(ps);
  }
  if (table.empty())
    throw std::runtime_error("--compute table:" + path + ": there is no line for rank " +
                             std::to_string(rank));
  return table;
}

}  // namespace

void LocalTime::begin(const Welcome& welcome, uint32_t rank) {
  wall_ = welcome.clock == 1;
  kind_ = static_cast<ComputeKind>(welcome.compute);
  scale_ = welcome.scale;
  fixed_ = welcome.fixed;
  epoch_ = welcome.epoch;
  if (kind_ == ComputeKind::table) table_ = read_table(welcome.table, rank);
}

int64_t LocalTime::measured() const {
  return clock_ns(kind_ == ComputeKind::wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID);
}

void LocalTime::enter(bool communicates) {
  if (wall_) {
    set((clock_ns(CLOCK_MONOTONIC) - epoch_) * 1000);
    return;
  }
  if (told_) {
    if (communicates) told_ = false;
    return;
  }
  if (kind_ == ComputeKind::cpu || kind_ == ComputeKind::wall) {
    const int64_t clock = measured();
    now_ += static_cast<int64_t>(static_cast<double>(clock - left_) * 1000 * scale_);
    left_ = clock;
  } else if (communicates) {
    if (kind_ == ComputeKind::fixed)
      now_ += fixed_;
    else
      now_ += table_[calls_ < table_.size() ? calls_ : table_.size() - 1];
    ++calls_;
  }
}

void LocalTime::leave() {
  if (!wall_ && (kind_ == ComputeKind::cpu || kind_ == ComputeKind::wall)) left_ = measured();
}

void LocalTime::compute(int64_t ps) {
  if (wall_) return;
  now_ += ps;
  told_ = true;
}

}  // namespace weft::emulation

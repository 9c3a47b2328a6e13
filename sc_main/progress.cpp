// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "sc_main/decimal.h"

namespace weft::cli {
namespace {

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

void Progress::update(double elapsed_s, Picoseconds simulated, uint64_t done, uint64_t total) {
  update(elapsed_s, simulated, [&] { return Work{done, total, "", -1, ""}; });
}

void Progress::update(double elapsed_s, Picoseconds simulated, const std::function<Work()>& work) {
  update_text(elapsed_s, [&] {
    const Work w = work();
    const double part = w.total == 0 ? 1 : static_cast<double>(w.done) / static_cast<double>(w.total);
    const double share = std::min(1.0, w.share < 0 ? part : w.share);
    return std::make_pair(fmt::format("simulated {}, {} of {} {} ({:.0f} %){}{}", readable_time(simulated),
                                      grouped(w.done), grouped(w.total), w.unit.empty() ? unit_ : w.unit,
                                      100 * share, w.how.empty() ? "" : ", ", w.how),
                          share);
  });
}

void Progress::update_text(double elapsed_s, const std::function<std::pair<std::string, double>()>& done) {
  if (elapsed_s < next_s_) return;
  next_s_ = elapsed_s + (terminal_ ? kTerminalEvery_s : kLogEvery_s);
  const auto [text, share] = done();
  const std::string eta = share == 0 ? "unknown" : duration(elapsed_s * (1 - share) / share);
  std::string line = fmt::format("{}, {} so far, ETA {}", text, duration(elapsed_s), eta);
  if (!terminal_) {
    write_(line + "\n");
    return;
  }
  const size_t size = line.size();
  if (size < width_) line.append(width_ - size, ' ');
  width_ = size;
  write_("\r" + line);
  shown_ = true;
}

void Progress::end() {
  if (shown_) write_("\n");
  shown_ = false;
}

}  // namespace weft::cli

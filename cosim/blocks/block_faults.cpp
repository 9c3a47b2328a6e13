// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/block_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <systemc>
#include <utility>

#include "cosim/axis/stream_master.h"
#include "cosim/axis/stream_slave.h"

namespace weft::cosim {
namespace {

constexpr size_t kKept = 1000;
constexpr size_t kTold = 5;

}  // namespace

std::string describe(const BlockFault& fault) {
  return fmt::format("at {} ps, port {}: {}{}", fault.at, fault.port,
                     fault.known ? describe(fault.message) + ": " : "", fault.what);
}

void FaultList::add(BlockFault fault) {
  ++count_;
  if (kept_.size() < kKept) kept_.push_back(std::move(fault));
}

void FaultList::add(Picoseconds at, uint32_t port, const MessageFace* message, std::string what) {
  BlockFault fault;
  fault.at = at;
  fault.port = port;
  fault.known = message != nullptr;
  if (message != nullptr) fault.message = *message;
  fault.what = std::move(what);
  add(std::move(fault));
}

std::string FaultList::stall_line() const {
  return kept_.empty() ? std::string() : "\n  fault of the block: " + describe(kept_.front());
}

void FaultList::tell(const std::string& whose, std::vector<std::string>& lines) const {
  for (size_t i = 0; i < std::min(kTold, kept_.size()); ++i)
    lines.push_back(fmt::format("{}: {}", whose, describe(kept_[i])));
  if (count_ > kTold) lines.push_back(fmt::format("{}: {} faults in all", whose, count_));
}

void warn_of_late_frame(const std::string& block, const MessageFace& message, Picoseconds told,
                        Picoseconds last) {
  SC_REPORT_WARNING(
      "weft/cosim/late_frame",
      fmt::format("{}: at {} ps: {}: the last beat of its frame comes {} ps after its end on the link, which "
                  "followed from the first beat; a frame that has begun is to come out without gaps, else "
                  "times are too early. Further ones are only counted",
                  block, last, describe(message), last - told)
          .c_str());
}

std::string late_line(uint64_t frames) {
  if (frames == 0) return {};
  return fmt::format("\n  frames that came out with gaps, and ended after their messages on the links: {}",
                     frames);
}

std::string late_warning(const std::string& block, uint64_t frames) {
  return fmt::format(
      "{}: {} frame{} came out with gaps, and ended later on the pins than on the links: times behind the "
      "block may be too early; let a frame that has begun come out without gaps",
      block, frames, frames == 1 ? "" : "s");
}

std::string stall_lines(const StreamMaster& in, const StreamSlave& out) {
  std::string text;
  for (const std::string& line : {in.stall_text(), out.stall_text()})
    if (!line.empty()) text += "\n  " + line;
  return text;
}

}  // namespace weft::cosim

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/programs/loop_pieces.h"

#include <algorithm>
#include <cmath>

namespace weft::library {
namespace {

constexpr double kMostPieces = 16;    // of a loop
constexpr double kFewestJoined = 8;   // pieces of a call whose loops are joined
constexpr uint32_t kLeastWindow = 2;  // while one piece is on its way back, the next is sent

}  // namespace

LoopPieces::LoopPieces(const Making& making, double sends, double heads)
    : costs_(making.costs), total_(static_cast<double>(making.plan.bytes)) {
  loop_ = std::min(static_cast<double>(making.plan.loop_bytes), total_);
  first_loop_ = costs_.latency + making.plan.fill * (loop_ * costs_.byte + costs_.sigma);
  const double loops = total_ / loop_;
  const double room = kMostSends / (sends * loops);  // pieces of a loop
  if (room < 1 && loops >= 2 * kFewestJoined) {
    const double joined = std::floor(std::min(std::ceil(1 / room), loops / kFewestJoined));
    piece_ = loop_ * joined;
    window_ = std::max(kLeastWindow, static_cast<uint32_t>(kStepsInFlight / joined));
  } else {
    const double elements = loop_ / (heads * making.out.buffers().unit);
    const double pieces = std::floor(std::clamp(std::min(room, elements), 1.0, kMostPieces));
    piece_ = loop_ / pieces;
    window_ = kStepsInFlight * static_cast<uint32_t>(pieces);
  }
  count_ = static_cast<uint32_t>(std::max(1.0, std::ceil(total_ / piece_ - 1e-9)));
}

}  // namespace weft::library

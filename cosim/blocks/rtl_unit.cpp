// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/rtl_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "configs/units.h"
#include "cosim/blocks/message_bytes.h"
#include "workload/collectives/elements.h"

namespace weft::cosim {

RtlUnit::RtlUnit(sc_core::sc_module_name module_name, const UnitPlace& place,
                 const BlockClock::Options& clock)
    : UnitModel(module_name),
      ports_(place.fabric.config.dimensions[place.dimension].size),
      model_(unit_parameters(place.fabric.config.dimensions[place.dimension].collective_unit)),
      blocks_(place, name()),
      clock_("clock", clock) {
  if (const collectives::DataContext* data = place.context.data) {
    type_ = data->type();
    if (data->op() != ReduceOp::sum) {
      throw UserError(ExitCode::usage, fmt::format("{} sums, and `run.reduce` is {}; set it to sum", name(),
                                                   collectives::to_string(data->op())));
    }
  }
  place.fabric.wheel.add(*this);
}

RtlUnit::~RtlUnit() = default;

void RtlUnit::log_times(const std::string& file) {
  times_ = std::make_unique<UnitTiming>(model_, ports_, file);
}

void RtlUnit::add_input(StreamPins pins) {
  inputs_.push_back(
      std::make_unique<StreamMaster>(fmt::format("in{}", inputs_.size()).c_str(), clock_, std::move(pins)));
}

void RtlUnit::set_output(StreamPins pins) {
  output_ = std::make_unique<StreamSlave>(
      "out", clock_, std::move(pins),
      [this](StreamFrame frame, Picoseconds, Picoseconds) { result(std::move(frame)); });
}

void RtlUnit::before_end_of_elaboration() {
  const auto refuse = [this](const std::string& what) {
    throw UserError(ExitCode::usage, fmt::format("{}: {}", name(), what));
  };
  if (inputs_.size() < ports_)
    refuse(fmt::format("the RTL has {} inputs, and its switch {} ports; build it with PORTS = {} or more",
                       inputs_.size(), ports_, ports_));
  if (!output_) refuse("no output was given (set_output)");
  tags_in_all_ = ~uint64_t{0};
  for (const auto& input : inputs_) {
    const StreamPins& pins = input->pins();
    if (pins.any(StreamSignal::tid) == nullptr) pins.refuse("it needs TID, for the tags of blocks");
    if (pins.width(StreamSignal::tuser) < ports_)
      pins.refuse(fmt::format("it needs a TUSER of {} bits, one for each port of the switch", ports_));
    const uint32_t bits = std::min(pins.width(StreamSignal::tid), 32u);
    tags_in_all_ = std::min(tags_in_all_, uint64_t{1} << bits);
  }
  if (output_->pins().any(StreamSignal::tid) == nullptr)
    output_->pins().refuse("it needs TID, for the tags of blocks");
}

void RtlUnit::receive(fabric::PacketRef packet, Picoseconds head, Picoseconds tail, Picoseconds before) {
  const UnitBlocks::Contribution c = blocks_.take(packet, head, tail, before);
  if (times_) times_->arrived(c, sc_core::sc_time_stamp().value());
  Block& block = open_[c.block];
  auto& arrived = block.arrived;
  arrived.insert(std::upper_bound(arrived.begin(), arrived.end(), c,
                                  [](const auto& a, const auto& b) { return a.contributor < b.contributor; }),
                 c);
  if (arrived.size() == c.contributors) hand_over(c.block, block);
}

void RtlUnit::hand_over(const UnitBlocks::BlockId& id, Block& block) {
  if (tags_.size() == tags_in_all_) {
    untagged_.push_back(id);
    return;
  }
  while (tags_.count(next_tag_) != 0) next_tag_ = (next_tag_ + 1) % tags_in_all_;
  block.tag = next_tag_;
  block.in_rtl = true;
  tags_[block.tag] = id;
  next_tag_ = (next_tag_ + 1) % tags_in_all_;
  uint64_t mask = 0;
  for (const auto& c : block.arrived) mask |= uint64_t{1} << c.port;
  for (size_t i = 0; i < block.arrived.size(); ++i) {
    const auto& c = block.arrived[i];
    if (c.tail > block.arrived[block.last].tail) block.last = i;
    StreamFrame frame;
    frame.bytes = payload(id, c);
    block.sent.push_back(frame.bytes);
    frame.id = block.tag;
    frame.user = mask;
    const Rate pace = pace_of(c.bytes, c.tail - c.head);
    inputs_[c.port]->send(std::move(frame), pace.bytes_per_second == 0 ? c.tail : c.head, {}, pace);
  }
}

/// The elements of a contribution, or a pattern that names block and contributor.
std::vector<uint8_t> RtlUnit::payload(const UnitBlocks::BlockId& id,
                                      const UnitBlocks::Contribution& c) const {
  std::vector<uint8_t> bytes(c.bytes);
  if (const std::byte* elements = blocks_.elements(c)) {
    if (c.bytes != 0) std::memcpy(bytes.data(), elements, c.bytes);
    return bytes;
  }
  const uint32_t first = (id.stream * 31 + id.chunk * 7 + id.slot) * 2654435761u + c.contributor;
  const auto word = [first](size_t i) { return (first + static_cast<uint32_t>(i)) * 1664525u ^ first >> 7; };
  size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    const uint32_t value = word(i);
    std::memcpy(bytes.data() + i, &value, 4);
  }
  const uint32_t rest = word(i);
  if (i < bytes.size()) std::memcpy(bytes.data() + i, &rest, bytes.size() - i);
  return bytes;
}

std::string RtlUnit::block_name(const UnitBlocks::BlockId& id) const {
  return fmt::format("collective {} chunk {} phase {} block {}", id.stream, id.chunk, id.phase, id.slot);
}

/// A frame has come out of the RTL, in a process of the kernel: what it leads to waits for the unit's turn.
void RtlUnit::result(StreamFrame frame) {
  const auto at = tags_.find(frame.id);
  if (at == tags_.end()) {
    output_->pins().refuse(
        fmt::format("a result with TID {} came out at {}, and no block with this tag is in the unit; "
                    "hand TID on unchanged, once for each block",
                    frame.id, sc_core::sc_time_stamp().to_string()));
  }
  done_.push_back({at->second, std::move(frame.bytes)});
  tags_.erase(at);
  wake_at(sc_core::sc_time_stamp().value());
}

void RtlUnit::compare(const UnitBlocks::BlockId& id, Block& block, const std::vector<uint8_t>& bytes) const {
  const uint64_t size = block.arrived.front().bytes;
  const auto refuse = [&](const std::string& what) {
    output_->pins().refuse(fmt::format("the result of {} {}, at {}", block_name(id), what,
                                       sc_core::sc_time_stamp().to_string()));
  };
  if (bytes.size() != size)
    refuse(fmt::format("has {} B and not {} B: a beat or a byte was lost or made", bytes.size(), size));
  const uint32_t element = collectives::element_bytes(type_);
  const uint64_t elements = (size + element - 1) / element;
  std::vector<const std::byte*> pointers;
  for (std::vector<uint8_t>& operand : block.sent) {
    operand.resize(elements * element);  // the last element may have fewer bytes
    pointers.push_back(reinterpret_cast<const std::byte*>(operand.data()));
  }
  std::vector<std::byte> expected(elements * element);
  if (!block.arrived.front().reduces) {
    std::memcpy(expected.data(), pointers.front(), expected.size());
  } else if (elements != 0) {
    collectives::combine(type_, ReduceOp::sum, pointers, elements, expected.data());
  }
  if (size == 0 || std::memcmp(expected.data(), bytes.data(), size) == 0) return;
  uint64_t wrong = 0;
  while (static_cast<uint8_t>(expected[wrong]) == bytes[wrong]) ++wrong;
  const uint64_t first = wrong / element * element;
  std::vector<std::byte> got(element);
  std::memcpy(got.data(), bytes.data() + first, std::min<uint64_t>(element, size - first));
  refuse(fmt::format("is wrong in element {}: it is {}, and the sum in the declared order is {}",
                     wrong / element, collectives::element_text(type_, got.data()),
                     collectives::element_text(type_, expected.data() + first)));
}

void RtlUnit::activate(Picoseconds now) {
  ++activations_;
  // What came out at one time, in the order of the blocks: nothing depends on the order of processes.
  std::sort(done_.begin(), done_.end(), [](const Done& a, const Done& b) { return a.block < b.block; });
  for (Done& done : std::exchange(done_, {})) {
    const auto at = open_.find(done.block);
    Block& block = at->second;
    compare(done.block, block, done.bytes);
    UnitBlocks::Result result;
    result.block = done.block;
    result.bytes = done.bytes.size();
    result.contributions = &block.arrived;
    result.last = block.last;
    const Picoseconds tail = block.arrived[block.last].tail;
    const uint32_t data = blocks_.combine(result, reinterpret_cast<const std::byte*>(done.bytes.data()));
    (void)blocks_.send(result, data, now > tail ? now - tail : 0, now);
    open_.erase(at);
    if (times_) times_->result(done.block, now, open_.empty());
  }
  while (!untagged_.empty() && tags_.size() < tags_in_all_) {
    const UnitBlocks::BlockId id = untagged_.front();
    untagged_.pop_front();
    hand_over(id, open_.at(id));
  }
}

void RtlUnit::left(uint32_t block, Picoseconds when) {
  (void)blocks_.left(block, when);
}

void RtlUnit::count(Counters& counters) const {
  counters.activations += activations_;
  counters.in_flight += open_.size();
  blocks_.count(counters);
}

void RtlUnit::find_unbalanced(std::vector<std::string>& lines) const {
  blocks_.find_unbalanced(lines);
  for (const auto& input : inputs_) {
    if (input->queued() != 0)
      lines.push_back(fmt::format("{}: {} frames were never taken", input->name(), input->queued()));
  }
  if (output_ && output_->in_frame()) lines.push_back(output_->stall_text());
}

std::vector<std::string> RtlUnit::describe_waits(size_t limit) const {
  std::vector<std::string> lines;
  for (const auto& input : inputs_) {
    if (lines.size() < limit && input->queued() != 0)
      lines.push_back(fmt::format("{}: {}", name(), input->stall_text()));
  }
  if (output_ && lines.size() < limit && !output_->stall_text().empty())
    lines.push_back(fmt::format("{}: {}", name(), output_->stall_text()));
  for (const auto& [id, block] : open_) {
    if (lines.size() >= limit) break;
    if (block.in_rtl) {
      lines.push_back(fmt::format("{}: {} ({} B) is in the RTL with tag {} and has not come out", name(),
                                  block_name(id), block.arrived.front().bytes, block.tag));
      continue;
    }
    std::string missing;
    size_t next = 0;
    for (uint32_t contributor = 0; contributor < block.arrived.front().contributors; ++contributor) {
      if (next < block.arrived.size() && block.arrived[next].contributor == contributor) {
        ++next;
      } else {
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", blocks_.rank(id, contributor));
      }
    }
    lines.push_back(fmt::format("{}: {} waits for {}", name(), block_name(id),
                                missing.empty() ? "a tag" : "the contribution(s) of rank(s) " + missing));
  }
  return lines;
}

}  // namespace weft::cosim

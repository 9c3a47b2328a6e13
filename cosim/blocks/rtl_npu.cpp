// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/rtl_npu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tlm_interconnect/border/bytes.h"

namespace weft::cosim {
namespace {

enum Kind : uint8_t { kCompute, kLoad, kStore };
constexpr uint64_t kIdMask = (uint64_t{1} << 48) - 1;
constexpr uint32_t kMostTagBits = 12;
constexpr size_t kToldNodes = 4;

Kind kind_of(const trace::Node& node) {
  if (node.type == trace::NodeType::comp) return kCompute;
  return node.type == trace::NodeType::mem_store ? kStore : kLoad;
}

}  // namespace

RtlNpu::RtlNpu(sc_core::sc_module_name module_name, const NpuContext& context, Parameters& parameters,
               const BlockClock::Options& defaults)
    : Npu(module_name, context), clock_("clock", read_clock(parameters, defaults)) {}

RtlNpu::~RtlNpu() = default;

void RtlNpu::connect(StreamPins commands, StreamPins answers) {
  uint32_t bits = kMostTagBits;
  for (const StreamPins* pins : {&commands, &answers}) {
    if (pins->any(StreamSignal::tid) == nullptr)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: an NPU needs TID, by which answers are known", pins->name()));
    bits = std::min(bits, pins->bits(StreamSignal::tid));
  }
  open_.resize(size_t{1} << bits);
  for (uint32_t tag = 0; tag < open_.size(); ++tag) free_.push_back(tag);
  StreamMaster::Options padded;
  padded.pad = true;
  commands_ = std::make_unique<StreamMaster>("commands", clock_, std::move(commands), padded);
  answers_ = std::make_unique<StreamSlave>(
      "answers", clock_, std::move(answers),
      [this](StreamFrame frame, Picoseconds, Picoseconds last) { answered(frame, last); });
}

void RtlNpu::before_end_of_elaboration() {
  Npu::before_end_of_elaboration();
  if (!commands_)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the block has no ports; call connect() in its adapter's constructor", name()));
}

/// Of nodes that the block runs it is not asked.
Picoseconds RtlNpu::compute_time(const trace::Node&, Picoseconds time) {
  return time;
}

bool RtlNpu::takes_compute(const trace::Node& node, Picoseconds time) {
  if (time == kNever) return false;  // an error, which the rank's engine tells
  take({&node, time});
  return true;
}

bool RtlNpu::takes_memory(const trace::Node& node) {
  if (compute_only_) return false;
  take({&node, 0});
  return true;
}

void RtlNpu::take(const Command& command) {
  if (free_.empty()) return waiting_.push_back(command);
  const uint32_t tag = free_.front();
  free_.pop_front();
  send(tag, command);
}

void RtlNpu::send(uint32_t tag, const Command& command) {
  open_[tag] = command;
  const trace::Node& node = *command.node;
  const Kind kind = kind_of(node);
  const uint64_t place = kind == kCompute ? (node.is_cpu_op ? 1 : 0) : static_cast<uint64_t>(node.location);
  const Picoseconds period = clock_.period();
  fabric::ByteWriterOf<uint8_t> bytes;
  bytes.number(uint64_t{kind} | place << 8 | (node.id & kIdMask) << 16);
  bytes.number(uint64_t{kind == kCompute ? node.num_ops : 0});
  bytes.number(uint64_t{node.tensor_size});
  bytes.number(uint64_t{command.time / period + (command.time % period != 0 ? 1 : 0)});
  StreamFrame frame;
  frame.bytes = bytes.take();
  frame.id = tag;
  commands_->send(std::move(frame), sc_core::sc_time_stamp().value());
}

void RtlNpu::answered(const StreamFrame& frame, Picoseconds last) {
  const auto tag = static_cast<uint32_t>(frame.id);
  if (tag >= open_.size() || open_[tag].node == nullptr)
    return faults_.add(last, 0, nullptr, fmt::format("it answers tag {}, of which there is no command", tag));
  const trace::Node& node = *std::exchange(open_[tag], {}).node;
  if (waiting_.empty()) {
    free_.push_back(tag);
  } else {
    const Command next = waiting_.front();
    waiting_.pop_front();
    send(tag, next);
  }
  if (kind_of(node) == kCompute) {
    compute_done(node);
  } else {
    start_access(node);
  }
}

std::string RtlNpu::stall_text() const {
  const size_t open = open_.size() - free_.size();
  if (open == 0 && faults_.count() == 0) return {};
  std::string text = fmt::format("{}: its RTL has not answered {} commands, and {} wait for a tag", name(),
                                 open, waiting_.size());
  size_t told = 0;
  for (uint32_t tag = 0; tag < open_.size() && told < kToldNodes; ++tag) {
    if (open_[tag].node == nullptr) continue;
    ++told;
    text += fmt::format("\n  tag {}: {}", tag, describe(*open_[tag].node));
  }
  return text + stall_lines(*commands_, *answers_) + faults_.stall_line() + clock_.stall_line() + "\n";
}

void RtlNpu::find_unbalanced(std::vector<std::string>& lines) const {
  faults_.tell(std::string(name()) + ": fault of the RTL", lines);
}

}  // namespace weft::cosim

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/tlm_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace weft::cosim {
namespace {

constexpr size_t kMostWrong = 8;

}  // namespace

TlmMemory::TlmMemory(sc_core::sc_module_name module_name, const MemoryContext& context,
                     const Options& options)
    : MemoryTarget(module_name, context.figures.capacity, context.sockets, context.probes),
      out_("out", options.blocking, options.outstanding) {
  const uint64_t wanted = context.figures.capacity;
  if (options.capacity != 0 && (wanted == 0 || wanted > options.capacity))
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the target has {} B, and the configuration wants {}; set its capacity to no "
                    "more (`hbm.capacity`; `capacity` of `memory.pool`, `memory.host` or `memory.nvme`)",
                    name(), options.capacity, wanted == 0 ? "any number" : std::to_string(wanted)));
}

TlmMemory::~TlmMemory() = default;

void TlmMemory::begin(Ticket ticket, const Access& access, Picoseconds at) {
  auto moved = std::make_unique<Moved>();
  moved->ticket = ticket;
  moved->access = access;
  moved->at = at;
  moved->data.resize(access.length);
  if (access.write && stored() != nullptr) {  // MemoryTarget has done the access
    stored()->read(access.address, moved->data.data(), access.length);
  } else if (access.write) {
    for (uint64_t i = 0; i < access.length; ++i)
      moved->data[i] = static_cast<unsigned char>((access.address + i) * 131 >> 3);
  }
  under_way_.push_back(std::move(moved));
  start_those_that_can();
}

void TlmMemory::start_those_that_can() {
  const auto conflict = [](const Access& a, const Access& b) {
    return (a.write || b.write) && a.address < b.address + b.length && b.address < a.address + a.length;
  };
  for (size_t i = 0; i < under_way_.size(); ++i) {
    Moved& moved = *under_way_[i];
    if (moved.started) continue;
    const auto end = under_way_.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::none_of(under_way_.begin(), end,
                     [&](const auto& before) { return conflict(before->access, moved.access); }))
      start(moved);
  }
}

void TlmMemory::start(Moved& moved) {
  const Access& access = moved.access;
  moved.started = true;
  if (access.write) {
    written_.write(access.address, moved.data.data(), access.length);
    known_.write(access.address, std::vector<unsigned char>(access.length, 1).data(), access.length);
  } else {
    moved.expected.resize(access.length);
    moved.known.resize(access.length);
    written_.read(access.address, moved.expected.data(), access.length);
    known_.read(access.address, moved.known.data(), access.length);
  }
  InitiatorEdge::Access out;
  out.write = access.write;
  out.address = access.address;
  out.data = moved.data.data();
  out.length = out.width = static_cast<uint32_t>(access.length);
  out.done = [this, &moved](tlm::tlm_response_status status, Picoseconds at) { end(moved, status, at); };
  out_.start(std::move(out), std::max<Picoseconds>(moved.at, sc_core::sc_time_stamp().value()));
}

void TlmMemory::end(Moved& moved, tlm::tlm_response_status status, Picoseconds at) {
  const Access& access = moved.access;
  const auto note = [&](const std::string& what) {
    if (wrong_.size() < kMostWrong)
      wrong_.push_back(fmt::format("{}: a {} of {} B at 0x{:x}, at {} ps: {}", name(),
                                   access.write ? "write" : "read", access.length, access.address, at, what));
  };
  if (status != tlm::TLM_OK_RESPONSE) note("the target answered with an error");
  for (size_t i = 0; i < moved.expected.size() && status == tlm::TLM_OK_RESPONSE; ++i) {
    if (moved.known[i] == 0) continue;
    ++compared_;
    if (moved.data[i] == moved.expected[i]) continue;
    note(fmt::format("byte {} came back as 0x{:02x}, and 0x{:02x} was written", i, moved.data[i],
                     moved.expected[i]));
    break;
  }
  const Picoseconds from = std::max(moved.at, busy_until_);
  if (at > from) busy_ += at - from;
  busy_until_ = std::max(busy_until_, at);
  const Ticket ticket = moved.ticket;
  under_way_.erase(std::find_if(under_way_.begin(), under_way_.end(),
                                [&](const auto& one) { return one.get() == &moved; }));
  finish(ticket, at);
  start_those_that_can();
}

std::string TlmMemory::stall_text() const {
  const auto first =
      std::find_if(under_way_.begin(), under_way_.end(), [](const auto& one) { return one->started; });
  if (first == under_way_.end()) return MemoryTarget::stall_text();
  const Access& access = (*first)->access;
  return fmt::format(
      "  {}: the target has not answered {} accesses, the first one a {} of {} B at 0x{:x} since {} ps\n",
      name(), under_way_.size(), access.write ? "write" : "read", access.length, access.address,
      (*first)->at);
}

void TlmMemory::find_unbalanced(std::vector<std::string>& lines) const {
  lines.insert(lines.end(), wrong_.begin(), wrong_.end());
}

}  // namespace weft::cosim

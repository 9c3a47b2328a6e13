// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/mm_to_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cosim/kernel_time.h"

namespace weft::cosim {
namespace {

/// A payload of its own for bytes of another one.
void look_like(tlm::tlm_generic_payload& p, tlm::tlm_generic_payload& of, const ExternalMemory::Part& part) {
  p.set_command(of.get_command());
  p.set_address(part.address);
  p.set_data_ptr(of.get_data_ptr() + part.offset);
  p.set_data_length(part.length);
  p.set_streaming_width(part.width);
  p.set_byte_enable_ptr(part.enables);
  p.set_byte_enable_length(part.enable_length);
}

}  // namespace

// ---- LinkToMm

LinkToMm::LinkToMm(sc_core::sc_module_name module_name, Machine& machine, uint32_t rank,
                   const Options& options)
    : LinkToMm(module_name, machine, rank, machine.config().hbm.capacity, options) {
  out_.socket.bind(machine.hbm_socket(rank));
}

LinkToMm::LinkToMm(sc_core::sc_module_name module_name, Machine& machine, uint32_t rank, uint64_t capacity,
                   const Options& options)
    : sc_core::sc_module(module_name),
      tap_(machine.tap(rank)),
      capacity_(capacity),
      options_(options),
      out_("out", false, options.outstanding),
      wake_("wake") {
  if (tap_.memory != nullptr)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: rank {} has two of LinkToMm; remove one", name(), rank));
  tap_.memory = this;
  SC_HAS_PROCESS(LinkToMm);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

LinkToMm::~LinkToMm() {
  tap_.memory = nullptr;
}

void LinkToMm::access(tlm::tlm_generic_payload& payload, const Part& part, Done done) {
  InitiatorEdge::Access access = InitiatorEdge::part_of(
      payload, {part.address, part.offset, part.length, false, part.width}, part.enables);
  access.done = std::move(done);
  out_.start(std::move(access), now());
}

unsigned LinkToMm::debug(tlm::tlm_generic_payload& payload) {
  return out_.socket->transport_dbg(payload);
}

void LinkToMm::respond(NpuId destination, uint64_t bytes, ExternalMessage& message, Picoseconds at) {
  responses_.push(at, sequence_++, {destination, bytes + options_.header, &message});
  wake_at(wake_, responses_.next());
}

void LinkToMm::process() {
  while (responses_.next() <= now()) {
    const Response response = responses_.pop().payload;
    tap_.send_external(response.destination, response.bytes, *response.message);
  }
  if (!responses_.empty()) wake_at(wake_, responses_.next());
}

// ---- MmToLink

/// A piece of an access: request, access and response.
struct MmToLink::Crossing final : ExternalMessage {
  void arrived() override {
    if (!back) return owner->at_memory(*this);
    owner->over(*this, status, now());
  }

  MmToLink* owner = nullptr;
  uint32_t number = 0;
  TargetEdge::Ticket ticket = 0;
  Payload* payload = nullptr;
  MappedMemory memory;
  ExternalMemory::Part part;
  bool back = false;  ///< it is the response
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
};

MmToLink::MmToLink(sc_core::sc_module_name module_name, Machine& machine, uint32_t rank, AddressMap map,
                   const Options& options)
    : sc_core::sc_module(module_name),
      machine_(machine),
      tap_(machine.tap(rank)),
      map_(std::move(map)),
      options_(options),
      cut_(*this, &MmToLink::start, in_),
      in_(
          "in", options.depth,
          [this](TargetEdge::Ticket ticket, Payload& payload, Picoseconds at) { begin(ticket, payload, at); },
          [this](Payload& payload) { return debug(payload); }),
      wake_("wake") {
  SC_HAS_PROCESS(MmToLink);
  SC_METHOD(process);
  sensitive << wake_;
  dont_initialize();
}

MmToLink::~MmToLink() = default;

void MmToLink::end_of_elaboration() {
  const auto served = [&](uint32_t rank) {
    ExternalMemory* memory = nullptr;
    try {
      memory = machine_.tap(rank).memory;
    } catch (const std::out_of_range&) {
    }
    if (memory == nullptr)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: the address map leads to the memory of rank {}, where nothing takes "
                                  "accesses; name the rank in Machine::Options::external and make a LinkToMm "
                                  "for it",
                                  name(), rank));
    return memory->capacity();
  };
  map_.check(machine_.config(), served);
  for (const MappedMemory& memory : map_.memories()) {
    if (memory.kind == MappedMemory::Kind::rank) {
      served(memory.number);
    } else if (machine_.memory_pool() == nullptr || !machine_.memory_pool()->serves_external()) {
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: the address map leads to memory group {}, and groups are not simulated "
                      "one by one; set memory.pool.fidelity to `message` and memory.pool.split to "
                      "`whole`",
                      name(), memory.number));
    }
  }
}

/// By ranges of the map, and chunks of the memory pool. `outside`: an address that is not in the map.
std::vector<AccessPiece> MmToLink::pieces(const Payload& p, uint64_t& outside) const {
  std::vector<AccessPiece> cut;
  const uint32_t length = p.get_data_length();
  const uint32_t width = std::min(p.get_streaming_width(), length);
  const auto at = [&](uint64_t address) {
    AddressMap::Place place = map_.find(address);
    if (place.memory.kind == MappedMemory::Kind::group)
      place.bytes = std::min(place.bytes, machine_.config().memory_pool->chunk);
    return place;
  };
  const AddressMap::Place first = at(p.get_address());
  const bool chunks = first.memory.kind == MappedMemory::Kind::group;
  if (width < length && first.bytes >= width &&
      !(chunks && length > machine_.config().memory_pool->chunk)) {  // the memory wraps
    cut.push_back({p.get_address(), 0, length, false, width});
    return cut;
  }
  for (uint32_t beat = 0; beat < length; beat += width) {
    const uint32_t end = std::min(length - beat, width) + beat;
    for (uint32_t i = beat; i < end;) {
      const uint64_t address = p.get_address() + (i - beat);
      const uint64_t bytes = at(address).bytes;
      if (bytes == 0 || address < p.get_address()) {
        outside = address;
        return {};
      }
      const auto n = static_cast<uint32_t>(std::min<uint64_t>(bytes, end - i));
      cut.push_back({address, i, n, i == beat && beat != 0 && p.is_write(), n});
      i += n;
    }
  }
  return cut;
}

void MmToLink::begin(TargetEdge::Ticket ticket, Payload& payload, Picoseconds at) {
  uint64_t outside = 0;
  std::vector<AccessPiece> cut = pieces(payload, outside);
  if (!cut.empty()) return cut_.begin(ticket, payload, std::move(cut), true, at);
  if (outside_++ == 0 && options_.warn)
    SC_REPORT_WARNING(
        "weft/cosim/mm_to_link",
        fmt::format("{}: a {} of {} bytes at 0x{:x}: the address map has nothing at 0x{:x}; the "
                    "response is TLM_ADDRESS_ERROR_RESPONSE. Further ones are only counted",
                    name(), payload.is_write() ? "write" : "read", payload.get_data_length(),
                    payload.get_address(), outside)
            .c_str());
  in_.finish(ticket, tlm::TLM_ADDRESS_ERROR_RESPONSE, at);
}

void MmToLink::start(TargetEdge::Ticket ticket, Payload& payload, const AccessPiece& piece,
                     unsigned char* enables, Picoseconds at) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(crossings_.size()));
    crossings_.emplace_back();
    crossings_.back().owner = this;
    crossings_.back().number = free_.back();
  }
  Crossing& crossing = crossings_[free_.back()];
  free_.pop_back();
  const AddressMap::Place place = map_.find(piece.address);
  crossing.ticket = ticket;
  crossing.payload = &payload;
  crossing.memory = place.memory;
  crossing.part = {place.address, piece.offset, piece.length,
                   piece.width,   enables,      enables == nullptr ? 0 : piece.length};
  crossing.back = false;
  starts_.push(at, sequence_++, crossing.number);
  wake_at(wake_, starts_.next());
}

void MmToLink::process() {
  while (starts_.next() <= now()) go(crossings_[starts_.pop().payload]);
  if (!starts_.empty()) wake_at(wake_, starts_.next());
}

void MmToLink::go(Crossing& crossing) {
  const bool write = crossing.payload->is_write();
  if (crossing.memory.kind == MappedMemory::Kind::group) {
    MemoryPool& pool = *machine_.memory_pool();
    const uint64_t chunk = crossing.part.address / machine_.config().memory_pool->chunk;
    pool.access(index(tap_.rank()), crossing.number, write, crossing.memory.number,
                static_cast<uint32_t>(chunk % pool.layout().ways()), crossing.part.length, *this);
  } else if (crossing.memory.number == index(tap_.rank())) {
    tap_.memory->access(
        *crossing.payload, crossing.part,
        [this, &crossing](tlm::tlm_response_status status, Picoseconds at) { over(crossing, status, at); });
  } else {
    tap_.send_external(NpuId{crossing.memory.number}, options_.header + (write ? crossing.part.length : 0),
                       crossing);
  }
}

void MmToLink::at_memory(Crossing& crossing) {
  ExternalMemory* const memory = machine_.tap(crossing.memory.number).memory;
  crossing.back = true;
  memory->access(*crossing.payload, crossing.part,
                 [this, memory, &crossing](tlm::tlm_response_status status, Picoseconds at) {
                   crossing.status = status;
                   const bool data = crossing.payload->is_read() && status == tlm::TLM_OK_RESPONSE;
                   memory->respond(tap_.rank(), data ? crossing.part.length : 0, crossing, at);
                 });
}

void MmToLink::over(Crossing& crossing, tlm::tlm_response_status status, Picoseconds at) {
  const TargetEdge::Ticket ticket = crossing.ticket;
  free_.push_back(crossing.number);
  cut_.piece_over(ticket, status, at);
}

void MmToLink::pool_done(uint32_t token, Picoseconds at) {
  Crossing& crossing = crossings_[token];
  Payload piece;
  look_like(piece, *crossing.payload, crossing.part);
  machine_.memory_pool()->external_bytes(crossing.memory.number).execute(piece);
  over(crossing, tlm::TLM_OK_RESPONSE, at);
}

unsigned MmToLink::debug(Payload& payload) {
  unsigned moved = 0;
  if (payload.get_data_ptr() == nullptr) return 0;
  while (moved < payload.get_data_length()) {
    const AddressMap::Place place = map_.find(payload.get_address() + moved);
    const auto n = static_cast<unsigned>(std::min<uint64_t>(place.bytes, payload.get_data_length() - moved));
    if (n == 0) break;
    Payload piece;
    look_like(piece, payload, {place.address, moved, n, n, nullptr, 0});
    if (place.memory.kind == MappedMemory::Kind::group) {
      machine_.memory_pool()->external_bytes(place.memory.number).execute(piece);
      moved += n;
      continue;
    }
    const unsigned done = machine_.tap(place.memory.number).memory->debug(piece);
    moved += done;
    if (done < n) break;
  }
  return moved;
}

}  // namespace weft::cosim

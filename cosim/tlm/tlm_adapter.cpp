// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/tlm/tlm_adapter.h"

#include <fmt/format.h>

#include <stdexcept>

namespace weft::cosim {

TlmAdapter::TlmAdapter(sc_core::sc_module_name module_name, const Options& options)
    : sc_core::sc_module(module_name),
      options_(options),
      cut_(*this, &TlmAdapter::start, in_),
      in_(
          "in", options.depth,
          [this](TargetEdge::Ticket ticket, Payload& payload, Picoseconds at) { begin(ticket, payload, at); },
          [this](Payload& payload) { return out_.socket->transport_dbg(payload); }),
      out_("out", options.blocking, options.outstanding) {
  const uint32_t piece = options.piece;
  if ((piece & (piece - 1)) != 0)
    throw std::invalid_argument(
        fmt::format("{}: pieces of {} bytes; give a power of two, or 0 for none", name(), piece));
}

TlmAdapter::~TlmAdapter() = default;

void TlmAdapter::begin(TargetEdge::Ticket ticket, Payload& payload, Picoseconds at) {
  if (options_.piece == 0) {
    InitiatorEdge::Access access = InitiatorEdge::access_of(payload);
    access.done = [this, ticket](tlm::tlm_response_status status, Picoseconds end) {
      in_.finish(ticket, status, end);
    };
    out_.start(std::move(access), at);
    return;
  }
  cut_.begin(ticket, payload, pieces_of(payload, options_.piece, options_.no_byte_enables),
             !options_.no_byte_enables, at);
}

void TlmAdapter::start(TargetEdge::Ticket ticket, Payload& payload, const AccessPiece& piece,
                       unsigned char* enables, Picoseconds at) {
  InitiatorEdge::Access access = InitiatorEdge::part_of(payload, piece, enables);
  access.done = [this, ticket](tlm::tlm_response_status status, Picoseconds end) {
    cut_.piece_over(ticket, status, end);
  };
  out_.start(std::move(access), at);
}

}  // namespace weft::cosim

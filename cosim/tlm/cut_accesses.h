// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Accesses that go on in pieces and come back as one.

#ifndef WEFT_COSIM_TLM_CUT_ACCESSES_H
#define WEFT_COSIM_TLM_CUT_ACCESSES_H

#include <cstdint>
#include <functional>
#include <map>
#include <tlm>
#include <vector>

#include "configs/types.h"
#include "cosim/tlm/access_pieces.h"
#include "cosim/tlm/target_edge.h"

namespace weft::cosim {

class CutAccesses {
 public:
  using Payload = tlm::tlm_generic_payload;
  /// A piece begins at `at`. `enables`: null, or one for each byte of the piece. piece_over() when it is
  /// complete, from here or later.
  using Start = std::function<void(uint32_t ticket, Payload& payload, const AccessPiece& piece,
                                   unsigned char* enables, Picoseconds at)>;
  /// The access is complete.
  using Over = std::function<void(uint32_t ticket, tlm::tlm_response_status status, Picoseconds at)>;

  CutAccesses(Start start, Over over) : start_(std::move(start)), over_(std::move(over)) {}
  /// Pieces begin by `start` of the owner, and an access ends at the edge that it came by.
  template <typename Owner>
  CutAccesses(Owner& owner,
              void (Owner::*start)(uint32_t ticket, Payload& payload, const AccessPiece& piece,
                                   unsigned char* enables, Picoseconds at),
              TargetEdge& edge)
      : start_([&owner, start](uint32_t ticket, Payload& payload, const AccessPiece& piece,
                               unsigned char* enables,
                               Picoseconds at) { (owner.*start)(ticket, payload, piece, enables, at); }),
        over_([&edge](uint32_t ticket, tlm::tlm_response_status status, Picoseconds at) {
          edge.finish(ticket, status, at);
        }) {}

  /// `with_enables`: pieces cover bytes that are not enabled, too.
  void begin(uint32_t ticket, Payload& payload, std::vector<AccessPiece> pieces, bool with_enables,
             Picoseconds at);
  void piece_over(uint32_t ticket, tlm::tlm_response_status status, Picoseconds at);

 private:
  struct Cut {
    Payload* payload = nullptr;
    std::vector<AccessPiece> pieces;
    std::vector<unsigned char> enables;  ///< by byte of the data; empty: pieces need none
    size_t next = 0;
    uint32_t under_way = 0;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    Picoseconds last = 0;
  };

  void go_on(uint32_t ticket, Picoseconds at);

  Start start_;
  Over over_;
  std::map<uint32_t, Cut> cut_;
};

}  // namespace weft::cosim

#endif

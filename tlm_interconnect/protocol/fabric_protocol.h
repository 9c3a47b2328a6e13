// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The fabric's own TLM-2.0 protocol: a traits class on the standard transport interfaces (IEEE
// 1666-2011, 14.2.2), so that binding a fabric socket to a base-protocol socket is a compile error. Virtual
// channels, credits and multicast break the base protocol's rules; here the rules are:
//
//  1. A link is one initiator and one target socket and is full duplex: the initiator side sends with
//  nb_transport_fw,
//     the target side with nb_transport_bw. Both directions carry bursts and credits alike.
//  2. Only the non-blocking calls are used. The callee copies the Transfer; the caller's object may be reused
//  when the
//     call returns. The answer is TLM_ACCEPTED; nothing else is ever returned.
//  3. Time: Transfer::first is absolute and may lie in the future (models commit early), never in the
//  past; the
//     sc_time argument is added to it. At `packet` fidelity it and flit_time are ticks (configs/ticks.h), at
//     others picoseconds. Two bursts on one link and VC are sent in the order of their times.
//  4. A burst names a packet and a range of its flits, back to back from `first`, one every `flit_time`. At
//  `message`
//     fidelity a message is one burst of one flit whose flit_time is the whole serialisation: its head
//     arrives at `first` and its tail at first + flit_time. A receiver acts on the head (cut-through) or tail
//     (store-and-forward).
//  5. Flow control: at `packet` fidelity a burst is sent only against credits of its VC, returned by
//  transfers of kind
//     `credit` with their own times (count flits from `first`, one every `flit_time`). Sending without a
//     credit is a fatal model error. At `message` fidelity credits are unlimited.
//  6. Multicast and in-switch reduction create new packets; one packet object is never in two places.
//  7. A burst passes one reference to its packet; the last burst of a packet passes it on or releases it.
//  8. Debug transport and DMI do not exist here: they return 0 and false.
//  9. Priority flow control, above the credits: a receiver sends `pause` when the buffers of a virtual
//  network
//     fill up and `resume` when they have emptied, in turns; `vc` is the virtual network's first. From
//     `first` on the sender begins no packet of it on this link; what it has begun it ends.

#ifndef WEFT_TLM_INTERCONNECT_PROTOCOL_FABRIC_PROTOCOL_H
#define WEFT_TLM_INTERCONNECT_PROTOCOL_FABRIC_PROTOCOL_H

#include <cstdint>
#include <systemc>
#include <tlm>

#include "configs/types.h"
#include "tlm_interconnect/protocol/fabric_sockets.h"
#include "tlm_interconnect/protocol/packet_pool.h"

namespace weft::fabric {

/// What one call on a fabric socket carries.
struct Transfer {
  enum class Kind : uint8_t { burst, credit, pause, resume };

  uint64_t first = 0;            ///< absolute time of the first flit (or credit, or of the pause)
  uint64_t flit_time = 0;        ///< from one flit to the next
  PacketRef packet = kNoPacket;  ///< burst only
  union {
    uint32_t first_flit = 0;  ///< `packet` fidelity only
    uint32_t last_link;       ///< `analytical` only: which of the receiver's last links it takes
  };
  uint32_t flits = 1;  ///< how many flits (credits)
  uint32_t data = 0;   ///< handle of the carried elements, 0: none
  union {
    uint32_t target = 0;    ///< DirectFabric only: the receiving member
    uint32_t packet_flits;  ///< `packet` fidelity only: flits of the whole packet, so that a tail is known
  };
  VcId vc{};
  Kind kind = Kind::burst;

  /// Of a message, which is one burst: its first byte leaves at `start` and arrives a latency later, its last
  /// byte `time` after that. Throws TimeOverflow.
  void leave(Picoseconds start, Picoseconds latency, Picoseconds time) {
    first = later(start, latency);
    flit_time = later(first, time) - first;
  }
};

enum class FabricPhase : uint8_t { transfer };

struct fabric_protocol {
  using tlm_payload_type = Transfer;
  using tlm_phase_type = FabricPhase;
};

using fabric_fw_if = tlm::tlm_fw_transport_if<fabric_protocol>;
using fabric_bw_if = tlm::tlm_bw_transport_if<fabric_protocol>;

constexpr unsigned kFabricBusWidth = 32;  ///< a type tag only: bytes are in the transfer

using fabric_initiator_socket = InitiatorSocket<kFabricBusWidth, fabric_fw_if, fabric_bw_if>;
using fabric_target_socket = TargetSocket<kFabricBusWidth, fabric_fw_if, fabric_bw_if>;
/// What any socket of the protocol is, and any end of a link.
using fabric_initiator_base = fabric_initiator_socket::Same;
using fabric_target_base = fabric_target_socket::Same;
using fabric_initiator_end = InitiatorEnd<kFabricBusWidth, fabric_fw_if, fabric_bw_if>;
using fabric_target_end = TargetEnd<kFabricBusWidth, fabric_fw_if, fabric_bw_if>;
using fabric_initiator_port = SharedPort<fabric_fw_if>;
using fabric_target_port = SharedPort<fabric_bw_if>;
/// Bound by any number of initiators; operator[](i) answers the i-th one bound.
using fabric_multi_target_socket = tlm::tlm_base_target_socket<kFabricBusWidth, fabric_fw_if, fabric_bw_if, 0,
                                                               sc_core::SC_ZERO_OR_MORE_BOUND>;

/// Both ends of a link in one object: derive, implement receive(), export it on a socket of either kind.
class FabricEndpoint : public fabric_fw_if, public fabric_bw_if {
 public:
  /// A transfer has been sent to this end; its time has the sc_time annotation already added.
  virtual void receive(const Transfer& transfer) = 0;

  tlm::tlm_sync_enum nb_transport_fw(Transfer& transfer, FabricPhase&, sc_core::sc_time& t) final {
    return accept(transfer, t);
  }
  tlm::tlm_sync_enum nb_transport_bw(Transfer& transfer, FabricPhase&, sc_core::sc_time& t) final {
    return accept(transfer, t);
  }
  void b_transport(Transfer&, sc_core::sc_time&) final {
    SC_REPORT_FATAL("weft/tlm_interconnect/protocol", "b_transport does not exist in the fabric protocol");
  }
  bool get_direct_mem_ptr(Transfer&, tlm::tlm_dmi&) final { return false; }
  unsigned transport_dbg(Transfer&) final { return 0; }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) final {}

 protected:
  /// `per_picosecond`: units of a Transfer's times.
  explicit FabricEndpoint(uint64_t per_picosecond = 1) : per_picosecond_(per_picosecond) {}
  ~FabricEndpoint() override = default;

 private:
  tlm::tlm_sync_enum accept(const Transfer& transfer, const sc_core::sc_time& t) {
    if (t == sc_core::SC_ZERO_TIME) {
      receive(transfer);
    } else {
      Transfer later = transfer;
      later.first += t.value() * per_picosecond_;
      receive(later);
    }
    return tlm::TLM_ACCEPTED;
  }

  const uint64_t per_picosecond_;
};

}  // namespace weft::fabric

#endif

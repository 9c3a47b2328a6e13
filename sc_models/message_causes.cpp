// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/message_causes.h"

#include <utility>

#include "insight/activity_listener.h"
#include "sc_models/message_bits.h"

namespace weft {

uint32_t cause_stream(const fabric::Packet& packet) {
  const MessageId id = unpack(packet.id_low, packet.id_high);
  return id.kind == MessageId::Kind::point_to_point ? insight::kPointToPoint : id.stream + 1;
}

LinkCauses::LinkCauses(insight::CausalLog& log, const std::string& name, std::string link_class,
                       LinkObserver* other)
    : log_(log), link_(log.add_link({name, std::move(link_class)})), other_(other) {}

void LinkCauses::occupied(const Use& use) {
  const MessageId id = unpack(use.id_low, 0);
  const uint32_t what = id.kind == MessageId::Kind::point_to_point ? insight::kPointToPoint : id.stream + 1;
  if (log_.keeps()) {
    insight::Activity crossing;
    crossing.ready = use.ready;
    crossing.begin = use.start;
    crossing.end = use.end;
    crossing.what = what;
    crossing.where = link_;
    crossing.by_head = use.not_before_end > use.ready ? 1 : 0;
    crossing.tail_limited =
        use.not_before_end != 0 && use.end == use.not_before_end && use.end > use.start ? 1 : 0;
    log_.crossed(use.packet, crossing);
  }
  const bool message = use.packet != 0 && log_.present() == nullptr;
  if (log_.listener() != nullptr)
    log_.listener()->crossed({link_, message ? use.packet : 0, message ? what : insight::kOtherTraffic,
                              id.chunk, id.phase, use.bytes, use.ready, use.start, use.end,
                              use.end - use.start});
  if (other_ != nullptr) other_->occupied(use);
}

void tell_network(insight::CausalLog& log, const fabric::Packet& packet, fabric::PacketRef ref, uint32_t link,
                  const NetworkPassage& passage, const std::vector<PacketHop>& hops) {
  insight::Activity crossing;
  crossing.what = cause_stream(packet);
  crossing.kind = static_cast<uint32_t>(insight::ActivityKind::crossing);
  Picoseconds at = passage.submitted;
  if (log.keeps()) {
    for (const HopShare& share : share_passage(passage, link, hops)) {
      crossing.where = share.link;
      crossing.ready = at;
      crossing.begin = crossing.ready + share.queueing;
      crossing.end = crossing.begin + share.serialise;
      at = crossing.end + share.latency;
      log.follow(ref, crossing);
    }
  }
  if (log.listener() != nullptr)
    log.listener()->entered(ref, crossing.what, packet.source, packet.bytes, passage.submitted);
}

}  // namespace weft

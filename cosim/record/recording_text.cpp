// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Recorded events in words.

#include <fmt/format.h>

#include "cosim/blocks/message_face.h"
#include "cosim/record/recording.h"

namespace weft::cosim {
namespace {

std::string describe_node(const RecordedNode& recorded) {
  if (recorded.node == nullptr) return fmt::format("start {} is answered", recorded.number);
  const trace::Node& node = *recorded.node;
  const std::string named = fmt::format("start {}: node {} \"{}\"", recorded.number, node.id, node.name);
  if (node.type == trace::NodeType::comp)
    return fmt::format("{}, {} FLOP, {} B, {} ps{}", named, node.num_ops, node.tensor_size, recorded.time,
                       node.is_cpu_op ? ", of the CPU" : "");
  return fmt::format("{}, {} of {} B, {} memory", named,
                     node.type == trace::NodeType::mem_load ? "load" : "store", node.tensor_size,
                     trace::to_string(node.location));
}

}  // namespace

std::string name_of(uint64_t id_low, const std::vector<RecordedCollective>& names) {
  for (const RecordedCollective& collective : names)
    if (collective.stream == static_cast<uint32_t>(id_low)) return collective.name;
  return {};
}

std::string describe_event(const RecordedEvent& event, const std::vector<RecordedCollective>& names) {
  if (const auto* const message = std::get_if<fabric::Crossing>(&event.what))
    return fmt::format(
        "{}{}",
        describe(MessageFace{message->id_low, message->id_high, message->source, message->destination,
                             message->bytes},
                 name_of(message->id_low, names)),
        message->has_elements ? fmt::format(", {} B of elements", message->elements.size()) : "");
  if (const auto* const access = std::get_if<RecordedAccess>(&event.what))
    return fmt::format("access {}: {} of {} B at address {:#x}", access->number,
                       access->write ? "write" : "read", access->length, access->address);
  if (const auto* const node = std::get_if<RecordedNode>(&event.what)) return describe_node(*node);
  const auto& flits = std::get<fabric::FlitCrossing>(event.what);
  switch (flits.kind) {
    case fabric::FlitCrossing::Kind::credits:
      return fmt::format("{} credits of VC {}", flits.count, flits.vc);
    case fabric::FlitCrossing::Kind::pause:
      return fmt::format("pause of VC {}", flits.vc);
    case fabric::FlitCrossing::Kind::resume:
      return fmt::format("resume of VC {}", flits.vc);
    default:
      break;
  }
  std::string text = fmt::format("flits {}..{} of {} on VC {}", flits.first_flit,
                                 flits.first_flit + flits.count - 1, flits.packet_flits, flits.vc);
  if (flits.has_head())
    text +=
        fmt::format(", rank {} to {}, {} B, {}", flits.head.source, flits.head.destination, flits.head.bytes,
                    describe_id(flits.head.id_low, flits.head.id_high, name_of(flits.head.id_low, names)));
  return text;
}

}  // namespace weft::cosim

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/rtl_router.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cosim/blocks/message_face.h"

namespace weft::cosim {
namespace {

uint32_t bits_for(uint32_t values) {
  uint32_t bits = 1;
  while ((uint64_t{1} << bits) < values) ++bits;
  return bits;
}

/// The bits of all ports that one pin has, as words.
class Lanes {
 public:
  explicit Lanes(uint32_t bits) : words_(words_of(bits) + 1, 0) {}
  void set(uint32_t lane, uint32_t width, uint64_t value) {
    for (uint32_t i = 0; i < width; ++i) {
      const uint32_t at = lane * width + i;
      if (((value >> i) & 1) != 0) words_[at / 32] |= uint32_t{1} << at % 32;
    }
  }
  uint64_t get(uint32_t lane, uint32_t width) const {
    uint64_t value = 0;
    for (uint32_t i = 0; i < width; ++i) {
      const uint32_t at = lane * width + i;
      value |= static_cast<uint64_t>(words_[at / 32] >> at % 32 & 1) << i;
    }
    return value;
  }
  uint32_t* words() { return words_.data(); }

 private:
  std::vector<uint32_t> words_;
};

Lanes read_lanes(const Pin& pin) {
  Lanes lanes(pin.most_bits());
  pin.read(lanes.words());
  return lanes;
}

std::string describe(const fabric::PacketHead& head) {
  return fmt::format("a packet of {} B from rank {} to {}, {}", head.bytes, head.source, head.destination,
                     describe_id(head.id_low, head.id_high));
}

BlockClock::Options clock_of(Parameters& parameters, const RouterPlace& place) {
  const Ticks cycle = place.config.cycle;
  if (cycle % kTicksPerPicosecond != 0)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: the network's clock has no period of whole picoseconds, which RTL needs; "
                    "set `packet.cycle` to such a time",
                    place.name));
  BlockClock::Options options;
  options.period = cycle / kTicksPerPicosecond;
  options.policy = BlockClock::Policy::gated;  // a router without traffic does nothing
  options.reset_cycles = 1;
  options = read_clock(parameters, options);
  if (options.period * kTicksPerPicosecond != cycle)
    throw UserError(ExitCode::usage, fmt::format("{}: a router has the network's clock of {} ps; leave out "
                                                 "`period`",
                                                 place.name, cycle / kTicksPerPicosecond));
  return options;
}

}  // namespace

RtlRouter::RtlRouter(sc_core::sc_module_name module_name, RouterPlace of, Parameters& parameters,
                     const RouterShape& shape)
    : RouterModel(module_name, std::move(of)),
      shape_(shape),
      clock_("clock", clock_of(parameters, place())),
      vc_bits_(bits_for(shape.vcs)),
      port_bits_(bits_for(shape.ports)),
      coming_(shape.ports),
      credits_(size_t{shape.ports} * shape.vcs),
      entering_(size_t{shape.ports} * shape.vcs, ~0u),
      flits_(size_t{1} << shape.tag_bits),
      held_(size_t{shape.ports} * shape.vcs, 0) {
  const auto refuse = [&](const std::string& what) {
    throw UserError(ExitCode::usage, fmt::format("{}: {}", place().name, what));
  };
  if (place().ports.size() > shape.ports)
    refuse(fmt::format("the block has {} ports, and the router needs {}", shape.ports, place().ports.size()));
  if (place().config.total_vcs() > shape.vcs)
    refuse(fmt::format("the block has {} virtual channels, and the network {}; set `packet.vcs`", shape.vcs,
                       place().config.total_vcs()));
  for (uint32_t p = 0; p < place().ports.size(); ++p) {
    const RouterPlace::Port& port = place().ports[p];
    if (port.terms.depth > shape.depth || port.terms.depth > 255)
      refuse(fmt::format(
          "the block has buffers of {} flits, and the network counts on {}; set `packet.buffer_flits`",
          shape.depth, port.terms.depth));
    for (const Ticks t : {port.flit_time, port.terms.latency, port.terms.credit_latency})
      if (t % place().config.cycle != 0 || t == 0 || port.flit_time / place().config.cycle > 255)
        refuse(
            fmt::format("port {}: a flit takes {} ps on its link and {} ps along it; RTL needs whole cycles "
                        "of {} ps",
                        p, picoseconds(port.flit_time), picoseconds(port.terms.latency),
                        picoseconds(place().config.cycle)));
  }
  for (uint32_t tag = static_cast<uint32_t>(flits_.size()); tag-- > 0;) free_tags_.push_back(tag);
  clock_.add(*this);
}

RtlRouter::~RtlRouter() = default;

void RtlRouter::connect(sc_core::sc_in<bool>& clock, sc_core::sc_in<bool>& reset, RouterPins pins) {
  pins_ = std::move(pins);
  clock_.clock(clock);
  clock_.reset(reset);
  Lanes depth(8);
  depth.set(0, 8, place().ports.empty() ? 1 : place().ports[0].terms.depth);
  pins_.cfg_depth->write(depth.words());
  Lanes gap(8 * shape_.ports);
  for (uint32_t p = 0; p < shape_.ports; ++p)
    gap.set(p, 8, p < place().ports.size() ? place().ports[p].flit_time / place().config.cycle : 1);
  pins_.cfg_gap->write(gap.words());
}

uint32_t RtlRouter::new_packet(uint32_t port, const fabric::FlitCrossing& crossing) {
  if (free_packets_.empty()) {
    free_packets_.push_back(static_cast<uint32_t>(packets_.size()));
    packets_.emplace_back();
  }
  const uint32_t number = free_packets_.back();
  free_packets_.pop_back();
  PacketHere& packet = packets_[number];
  packet = {};
  packet.head = crossing.head;
  packet.flits = packet.left = crossing.packet_flits;
  const packet::RouteCandidate way = place().way(port, crossing.vc, crossing.head);
  packet.out = way.port;
  packet.out_vcs = way.vc_mask;
  return number;
}

void RtlRouter::arrive(uint32_t port, const fabric::FlitCrossing& crossing) {
  const Picoseconds period = clock_.period();
  const uint32_t channel = port * shape_.vcs + crossing.vc;
  if (crossing.kind == fabric::FlitCrossing::Kind::credits) {
    credits_[channel].push_back({crossing.first, crossing.stride, crossing.count});
    credits_waiting_ += crossing.count;
  } else if (crossing.kind == fabric::FlitCrossing::Kind::flits) {
    if (crossing.has_head()) entering_[channel] = new_packet(port, crossing);
    coming_[port].push_back({crossing.first, crossing.stride, crossing.count, entering_[channel],
                             crossing.first_flit, crossing.vc});
    waiting_ += crossing.count;
  } else {
    wrong(port, "it is paused, and RTL routers take links without `pfc`");
  }
  // On the pins before the first edge after it.
  const Picoseconds at = crossing.first / kTicksPerPicosecond;
  clock_.wake(at > period ? at - period : 0);
}

void RtlRouter::wrong(uint32_t port, const std::string& what) const {
  throw UserError(ExitCode::internal,
                  fmt::format("{}: fault of the RTL block: at {} ps, port {}: {}", place().name,
                              sc_core::sc_time_stamp().value(), port, what));
}

void RtlRouter::edge(Picoseconds now, bool reset) {
  if (reset) {
    Lanes none(64 * shape_.ports);
    pins_.in_valid->write(none.words());
    pins_.out_credit->write(none.words());
    return;
  }
  take(now);
  show(now);
}

/// What the block has on its pins at this edge.
void RtlRouter::take(Picoseconds now) {
  const Lanes in_credit = read_lanes(*pins_.in_credit);
  const auto ports = static_cast<uint32_t>(place().ports.size());
  for (uint32_t p = 0; p < ports; ++p) {
    const uint64_t back = in_credit.get(p, shape_.vcs);
    for (uint32_t v = 0; back >> v != 0; ++v) {
      if ((back >> v & 1) == 0) continue;
      if (held_[p * shape_.vcs + v] == 0)
        wrong(p, fmt::format("it gives a credit of VC {} back, and holds no flit of it", v));
      --held_[p * shape_.vcs + v];
      fabric::FlitCrossing credit;
      credit.kind = fabric::FlitCrossing::Kind::credits;
      credit.vc = static_cast<uint8_t>(v);
      credit.first = ticks(now) + place().ports[p].terms.credit_latency;
      send(p, credit);
      clock_.progress();
    }
  }
  const Lanes valid = read_lanes(*pins_.out_valid);
  const Lanes vc = read_lanes(*pins_.out_vc);
  const Lanes tag = read_lanes(*pins_.out_tag);
  for (uint32_t p = 0; p < ports; ++p)
    if (valid.get(p, 1) != 0)
      send_flit(p, static_cast<uint32_t>(vc.get(p, vc_bits_)),
                static_cast<uint32_t>(tag.get(p, shape_.tag_bits)), now);
}

void RtlRouter::send_flit(uint32_t p, uint32_t vc, uint32_t tag, Picoseconds now) {
  Flit& flit = flits_[tag];
  if (flit.packet == ~0u)
    wrong(p, fmt::format("it sends a flit with tag {}, which is none that it has got", tag));
  PacketHere& packet = packets_[flit.packet];
  if (packet.out != p)
    wrong(p, fmt::format("it sends flit {} of {} that was to leave by port {}", flit.number,
                         describe(packet.head), packet.out));
  if ((packet.out_vcs >> vc & 1) == 0)
    wrong(p, fmt::format("it sends flit {} of {} on VC {}, which the packet may not take", flit.number,
                         describe(packet.head), vc));
  const RouterPlace::Port& port = place().ports[p];
  fabric::FlitCrossing crossing;
  crossing.vc = static_cast<uint8_t>(vc);
  // A link slower than the clock also takes longer for each flit.
  crossing.first = ticks(now) + port.terms.latency + (port.flit_time - place().config.cycle);
  crossing.stride = port.flit_time;
  crossing.first_flit = flit.number;
  crossing.packet_flits = packet.flits;
  if (flit.number == 0) crossing.head = packet.head;
  const uint32_t number = flit.packet;
  flit = {};
  free_tags_.push_back(tag);
  if (--packet.left == 0) free_packets_.push_back(number);
  --in_block_;
  try {
    send(p, crossing);
  } catch (const std::logic_error& e) {
    wrong(p, e.what());
  }
  clock_.progress();
}

/// What the block sees at the next edge.
void RtlRouter::show(Picoseconds now) {
  const Ticks next = ticks(now + clock_.period());
  Lanes valid(shape_.ports), vc(shape_.ports * vc_bits_), head(shape_.ports), tail(shape_.ports),
      out(shape_.ports * port_bits_), ovcs(shape_.ports * shape_.vcs), tags(shape_.ports * shape_.tag_bits),
      credit(shape_.ports * shape_.vcs);
  const bool was_shown = std::exchange(shown_, false);
  for (uint32_t p = 0; p < place().ports.size(); ++p) {
    std::deque<Run>& coming = coming_[p];
    if (!coming.empty() && coming.front().first < next) {
      Run& run = coming.front();
      const PacketHere& packet = packets_[run.packet];
      const uint32_t tag = free_tags_.back();
      free_tags_.pop_back();
      flits_[tag] = {run.packet, run.first_flit};
      valid.set(p, 1, 1);
      vc.set(p, vc_bits_, run.vc);
      head.set(p, 1, run.first_flit == 0 ? 1 : 0);
      tail.set(p, 1, run.first_flit + 1 == packet.flits ? 1 : 0);
      out.set(p, port_bits_, packet.out);
      ovcs.set(p, shape_.vcs, packet.out_vcs);
      tags.set(p, shape_.tag_bits, tag);
      ++held_[p * shape_.vcs + run.vc];
      ++in_block_;
      --waiting_;
      shown_ = true;
      run.first += run.stride;
      ++run.first_flit;
      if (--run.count == 0) coming.pop_front();
    }
    for (uint32_t v = 0; v < shape_.vcs; ++v) {
      std::deque<CreditRun>& back = credits_[p * shape_.vcs + v];
      if (back.empty() || back.front().first >= next) continue;
      credit.set(p * shape_.vcs + v, 1, 1);
      --credits_waiting_;
      shown_ = true;
      back.front().first += back.front().stride;
      if (--back.front().count == 0) back.pop_front();
    }
  }
  if (!shown_ && !was_shown) return;
  pins_.in_valid->write(valid.words());
  pins_.in_vc->write(vc.words());
  pins_.in_head->write(head.words());
  pins_.in_tail->write(tail.words());
  pins_.in_out->write(out.words());
  pins_.in_ovcs->write(ovcs.words());
  pins_.in_tag->write(tags.words());
  pins_.out_credit->write(credit.words());
}

std::string RtlRouter::explain_stall() const {
  if (in_flight() == 0) return {};
  std::string text =
      fmt::format("the RTL block holds {} flits, and {} are on their way to it", in_block_, waiting_);
  for (uint32_t p = 0; p < place().ports.size(); ++p)
    for (uint32_t v = 0; v < shape_.vcs; ++v)
      if (held_[p * shape_.vcs + v] != 0)
        text += fmt::format("\n  input {} VC {}: {} flits whose credit (in_credit) has not come back", p, v,
                            held_[p * shape_.vcs + v]);
  size_t shown = 0;
  for (const Flit& flit : flits_) {
    if (flit.packet == ~0u || shown == 4) continue;
    ++shown;
    const PacketHere& packet = packets_[flit.packet];
    text += fmt::format("\n  flit {} of {} from {} to {} waits to leave by output {} (out_valid)",
                        flit.number, packet.flits, packet.head.source, packet.head.destination, packet.out);
  }
  return text + clock_.stall_line();
}

}  // namespace weft::cosim

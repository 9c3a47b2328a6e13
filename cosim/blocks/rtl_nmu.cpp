// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/rtl_nmu.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "cosim/blocks/message_bytes.h"
#include "tlm_interconnect/border/bytes.h"

namespace weft::cosim {
namespace {

constexpr uint32_t kHeaderBytes = 7;

/// Errors: UserError(usage) for a port of segments whose beats are too narrow.
void check_header_fits(const StreamPins& pins, uint32_t beat_bytes) {
  if (beat_bytes < kHeaderBytes)
    pins.refuse(
        fmt::format("TDATA has {} bits; a segment begins with a beat that holds its header of {} bytes: take "
                    "TDATA of 64 bits or more for all ports of the datapath",
                    8 * beat_bytes, kHeaderBytes));
}

uint32_t get(const std::vector<uint8_t>& bytes, size_t at) {
  return bytes[at] | static_cast<uint32_t>(bytes[at + 1]) << 8;
}

}  // namespace

RtlNmu::RtlNmu(sc_core::sc_module_name module_name, NpuId npu, const NmuContext& context,
               Parameters& parameters, const BlockClock::Options& defaults)
    : Nmu(module_name, npu, context),
      clock_("clock", read_clock(parameters, defaults)),
      elements_(context.data == nullptr ? nullptr
                                        : std::make_unique<PayloadElements>(context.data->payloads())),
      feed_("segments_due") {
  for (const DimensionConfig& d : context.config.fabric_dimensions())
    if (d.size > 1 && (carrier_of(d) == Carrier::direct || carrier_of(d) == Carrier::packets))
      throw UserError(
          ExitCode::usage,
          fmt::format("{}: an NMU with an RTL datapath needs dimensions at `message` fidelity", name()));
  use_datapath(path_);
  SC_HAS_PROCESS(RtlNmu);
  SC_METHOD(feed);
  sensitive << feed_;
  dont_initialize();
}

RtlNmu::~RtlNmu() = default;

uint32_t RtlNmu::contexts_of(const StreamPins& pins) {
  if (pins.any(StreamSignal::tid) == nullptr || pins.any(StreamSignal::tlast) == nullptr ||
      pins.any(StreamSignal::tkeep) == nullptr)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: an NMU's datapath needs TID, TKEEP and TLAST", pins.name()));
  return uint32_t{1} << std::min(pins.bits(StreamSignal::tid), 12u);
}

void RtlNmu::segmentation(StreamPins in, StreamPins out) {
  if (in.any(StreamSignal::tuser) == nullptr)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: the segmentation needs TUSER, which says how many beats a "
                                "message has",
                                in.name()));
  out_.contexts.resize(std::min(contexts_of(in), contexts_of(out)));
  out_.in = std::make_unique<StreamMaster>("message_in", clock_, std::move(in));
  out_.out = std::make_unique<StreamSlave>(
      "segment_out", clock_, std::move(out),
      [this](StreamFrame frame, Picoseconds, Picoseconds last) { segment(frame, last); });
  check_header_fits(out_.out->pins(), out_.out->beat_bytes());
}

void RtlNmu::reassembly(StreamPins in, StreamPins out, uint32_t segment_beats) {
  in_.contexts.resize(std::min(contexts_of(in), contexts_of(out)));
  segment_beats_ = segment_beats;
  in_.in = std::make_unique<StreamMaster>("segment_in", clock_, std::move(in));
  check_header_fits(in_.in->pins(), in_.in->beat_bytes());
  StreamSlave::Options options;
  options.interleaved = true;
  in_.out = std::make_unique<StreamSlave>(
      "message_out", clock_, std::move(out),
      [this](StreamFrame frame, Picoseconds, Picoseconds last) { message(frame, last); }, options);
}

void RtlNmu::before_end_of_elaboration() {
  if (!out_.in || !in_.in)
    throw UserError(ExitCode::usage, fmt::format("{}: the datapath has no {}; call both in its adapter's "
                                                 "constructor",
                                                 name(), out_.in ? "reassembly()" : "segmentation()"));
}

RtlNmu::InBlock RtlNmu::in_block(fabric::PacketRef ref) {
  fabric::Packet& own = packet(ref);
  InBlock block;
  block.packet = ref;
  block.face = {own.id_low, own.id_high, own.source, own.destination, own.bytes};
  block.payload = message_bytes(own, elements_.get());
  if (block.payload.empty()) block.payload = pattern_of(block.face);
  return block;
}

void RtlNmu::outbound(fabric::PacketRef ref, Picoseconds ready) {
  InBlock block = in_block(ref);
  block.ready = block.tail = ready;
  enter(out_, std::move(block));
}

void RtlNmu::inbound(fabric::PacketRef ref, uint32_t port, Picoseconds head, Picoseconds tail) {
  InBlock block = in_block(ref);
  block.ready = head;
  block.tail = tail;
  block.port = port;
  enter(in_, std::move(block));
}

void RtlNmu::enter(Way& way, InBlock block) {
  const auto free = std::find_if(way.contexts.begin(), way.contexts.end(),
                                 [](const InBlock& context) { return !context.used; });
  if (free == way.contexts.end() || (!way.waiting.empty() && block.segments == 0 && !block.used)) {
    way.waiting.push_back(std::move(block));
    return;
  }
  ++way.messages;
  block.used = true;
  *free = std::move(block);
  const auto context = static_cast<uint32_t>(free - way.contexts.begin());
  if (&way == &in_) return cut(context);
  StreamFrame frame;
  frame.bytes = free->payload;
  frame.id = context;
  frame.user = frame.bytes.empty() ? 0 : way.in->beats(frame.bytes.size());
  way.in->send(std::move(frame), free->ready);
}

/// The segments of a message that comes, each when its last byte is here.
void RtlNmu::cut(uint32_t context) {
  const InBlock& block = in_.contexts[context];
  const uint32_t beat = in_.in->beat_bytes();
  const size_t most = size_t{segment_beats_} * beat;
  const size_t size = block.payload.size();
  size_t at = 0;
  for (uint32_t number = 0; number == 0 || at < size; ++number) {
    const size_t part = std::min(most, size - at);
    fabric::ByteWriterOf<uint8_t> header;
    for (const size_t value : {size_t{context}, size_t{number}, (part + beat - 1) / beat})
      header.number(static_cast<uint16_t>(value));
    header.flag(at + part == size);
    StreamFrame frame;
    frame.bytes = header.take();
    frame.bytes.resize(beat, 0);
    const auto begin = block.payload.begin() + static_cast<std::ptrdiff_t>(at);
    frame.bytes.insert(frame.bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(part));
    frame.id = context;
    at += part;
    const Picoseconds length = block.tail - block.ready;
    const Picoseconds here =
        size == 0 ? length : static_cast<Picoseconds>(static_cast<Wide>(length) * at / size);
    coming_.emplace(std::max<Picoseconds>(block.ready + here, sc_core::sc_time_stamp().value()),
                    std::move(frame));
  }
  feed();
}

void RtlNmu::feed() {
  const Picoseconds t = sc_core::sc_time_stamp().value();
  while (!coming_.empty() && coming_.begin()->first <= t) {
    in_.in->send(std::move(coming_.begin()->second), t);
    ++segments_in_;
    coming_.erase(coming_.begin());
  }
  if (!coming_.empty()) feed_.notify(sc_core::sc_time::from_value(coming_.begin()->first - t));
}

/// A segment of a message that leaves.
void RtlNmu::segment(const StreamFrame& frame, Picoseconds last) {
  ++segments_out_;
  const uint32_t beat = out_.out->beat_bytes();
  if (frame.bytes.size() < kHeaderBytes)
    return fault(last, 0, nullptr, fmt::format("a segment of {} B has no header", frame.bytes.size()));
  const uint32_t context = get(frame.bytes, 0);
  const uint32_t number = get(frame.bytes, 2);
  const uint32_t beats = get(frame.bytes, 4);
  const bool ends = frame.bytes[6] != 0;
  if (context >= out_.contexts.size() || !out_.contexts[context].used)
    return fault(last, 0, nullptr, fmt::format("a segment of context {}, which has no message", context));
  InBlock& block = out_.contexts[context];
  if (number != (block.segments & 0xffff))
    fault(last, 0, &block, fmt::format("segment {} comes where segment {} was due", number, block.segments));
  const size_t size = frame.bytes.size() - std::min<size_t>(beat, frame.bytes.size());
  if ((size + beat - 1) / beat != beats)
    fault(last, 0, &block,
          fmt::format("segment {} says that it has {} beats, and has {} B", number, beats, size));
  if (block.segments++ == 0) departed(block.packet, block.ready);
  block.gathered.insert(block.gathered.end(), frame.bytes.end() - static_cast<std::ptrdiff_t>(size),
                        frame.bytes.end());
  if (!ends) return;
  if (block.gathered != block.payload)
    fault(last, 0, &block,
          fmt::format("its segments have {} B that are not those of the message, {} B", block.gathered.size(),
                      block.payload.size()));
  release(out_, context);
}

/// A message that has come is whole.
void RtlNmu::message(const StreamFrame& frame, Picoseconds last) {
  const auto context = static_cast<uint32_t>(frame.id);
  if (context >= in_.contexts.size() || !in_.contexts[context].used)
    return fault(last, 1, nullptr, fmt::format("a message of context {}, which has none", context));
  InBlock& block = in_.contexts[context];
  if (frame.bytes != block.payload)
    fault(last, 1, &block,
          fmt::format("it is put together to {} B that are not those of the message, {} B",
                      frame.bytes.size(), block.payload.size()));
  const fabric::PacketRef ref = block.packet;
  const uint32_t port = block.port;
  release(in_, context);
  arrived(ref, port);
}

void RtlNmu::release(Way& way, uint32_t context) {
  way.contexts[context] = {};
  --way.messages;
  if (way.waiting.empty()) return;
  InBlock next = std::move(way.waiting.front());
  way.waiting.pop_front();
  next.used = true;
  enter(way, std::move(next));
}

void RtlNmu::fault(Picoseconds at, uint32_t port, const InBlock* block, std::string what) {
  faults_.add(at, port, block == nullptr ? nullptr : &block->face, std::move(what));
}

void RtlNmu::count(Counters& counters) const {
  Nmu::count(counters);
  counters.in_flight += out_.messages + out_.waiting.size() + in_.messages + in_.waiting.size();
}

std::string RtlNmu::stall_text() const {
  std::string text;
  for (const Way* way : {&out_, &in_}) {
    if (!way->in) continue;
    text += stall_lines(*way->in, *way->out);
    const auto first = std::find_if(way->contexts.begin(), way->contexts.end(),
                                    [](const InBlock& context) { return context.used; });
    if (first != way->contexts.end())
      text += fmt::format("\n  {} messages in its {}, among them {}", way->messages,
                          way == &out_ ? "segmentation" : "reassembly", cosim::describe(first->face));
  }
  text += faults_.stall_line();
  if (!text.empty()) text += clock_.stall_line();
  return text.empty() ? text : fmt::format("{}: its RTL datapath:{}\n", name(), text);
}

void RtlNmu::find_unbalanced(std::vector<std::string>& lines) const {
  faults_.tell(std::string(name()) + ": fault of the RTL datapath", lines);
}

}  // namespace weft::cosim

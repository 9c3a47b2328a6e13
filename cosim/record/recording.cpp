// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/record/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "configs/file_set.h"
#include "configs/input_file.h"
#include "configs/varint.h"
#include "configs/zigzag.h"
#include "tlm_interconnect/border/bytes.h"
#include "tlm_interconnect/packet/packet_config.h"

namespace weft::cosim {
namespace {

constexpr uint8_t kEnd = 0;
constexpr uint8_t kMessage = 1;
constexpr uint8_t kFlits = 2;
constexpr uint8_t kAccess = 3;
constexpr uint8_t kNode = 4;
constexpr uint8_t kInto = 0x80;
constexpr size_t kBuffer = size_t{1} << 20;
constexpr size_t kLongestText = 4096;
constexpr size_t kLongestConfiguration = size_t{64} << 20;
/// What a configuration allows (`packet.buffer_flits`).
constexpr uint32_t kDeepestBuffer = 1u << 24;
/// Of all ports of a router together, so that a damaged file does not fill the memory.
constexpr uint64_t kMostBuffers = uint64_t{1} << 28;

using HeaderWriter = fabric::ByteWriterOf<uint8_t>;

void put_text(HeaderWriter& out, const std::string& value, size_t longest = kLongestText) {
  out.bytes(std::vector<uint8_t>(
      value.begin(), value.begin() + static_cast<std::ptrdiff_t>(std::min(value.size(), longest))));
}

/// Reads with a look at the end.
class Reader {
 public:
  Reader(const uint8_t* bytes, size_t size, const std::string& origin)
      : bytes_(bytes), size_(size), origin_(origin) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw UserError(ExitCode::usage, fmt::format("{}: {}", origin_, why));
  }
  [[noreturn]] void cut_short() const {
    refuse(
        fmt::format("the recording is cut short after {} events, at byte {}; record again, and let the run "
                    "end",
                    events, at_));
  }
  [[noreturn]] void damaged(const std::string& what) const {
    refuse(fmt::format("the recording is damaged behind event {}, at byte {}: {}; record again", events, at_,
                       what));
  }
  size_t left() const { return size_ - at_; }
  size_t at() const { return at_; }
  uint8_t byte() {
    if (left() == 0) cut_short();
    return bytes_[at_++];
  }
  uint64_t fixed(int size = 8) {
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) value |= static_cast<uint64_t>(byte()) << (8 * i);
    return value;
  }
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      const uint8_t next = byte();
      if (shift == 63 && next > 1) damaged("a number of more than 64 bits");
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if ((next & 0x80) == 0) return value;
    }
    damaged("a number of more than 64 bits");
  }
  template <typename Number>
  Number small(const char* what) {
    const uint64_t value = number();
    if (value > static_cast<Number>(~Number{0})) damaged(fmt::format("{} of {}", what, value));
    return static_cast<Number>(value);
  }
  /// A fixed number of at most 32 bits.
  uint32_t fixed_small(const char* what) {
    const uint64_t value = fixed();
    if (value > ~uint32_t{0}) damaged(fmt::format("{} of {}", what, value));
    return static_cast<uint32_t>(value);
  }
  bool flag() {
    const uint64_t value = number();
    if (value > 1) damaged("a flag that is neither 0 nor 1");
    return value == 1;
  }
  std::string text(size_t longest = kLongestText) {
    const uint64_t size = fixed();
    if (size > longest) damaged(fmt::format("a text of {} bytes", size));
    if (size > left()) cut_short();
    const char* const begin = reinterpret_cast<const char*>(bytes_ + at_);
    at_ += size;
    return std::string(begin, size);
  }
  /// A list's length: each of its entries has at least `least` bytes.
  size_t length(uint64_t size, size_t least) {
    if (size > left() / least) cut_short();
    return static_cast<size_t>(size);
  }
  std::vector<std::byte> raw(uint64_t size) {
    if (size > left()) cut_short();
    std::vector<std::byte> out(size);
    if (size != 0) std::memcpy(out.data(), bytes_ + at_, size);
    at_ += size;
    return out;
  }

  uint64_t events = 0;

 private:
  const uint8_t* bytes_;
  size_t size_;
  const std::string& origin_;
  size_t at_ = 0;
};

void put_header(HeaderWriter& out, const RecordingHeader& header) {
  for (const std::string* text : {&header.kind, &header.block, &header.level, &header.program})
    put_text(out, *text);
  out.number(header.digest);
  out.number((header.cut_through ? uint64_t{1} : 0) | (header.turn_by_sender ? 2 : 0) |
             (header.has_unit ? 4 : 0));
  out.number(uint64_t{header.cycle});
  out.number(uint64_t{header.virtual_networks});
  put_text(out, header.configuration, kLongestConfiguration);
  out.number(uint64_t{header.ports.size()});
  for (const RecordedPort& port : header.ports) {
    put_text(out, port.name);
    put_text(out, port.peer);
    for (const uint64_t value :
         {uint64_t{port.initiator}, port.rate, port.rate_per, port.latency, uint64_t{port.vcs},
          uint64_t{port.depth}, port.flit_latency, port.credit_latency, port.flit_time})
      out.number(value);
  }
}

/// A router's port. One without VCs has no link, and no events.
void check_port(const Reader& in, const RecordingHeader& header, size_t p) {
  const RecordedPort& port = header.ports[p];
  if (port.vcs > packet::kMostVcs || port.vcs % header.virtual_networks != 0)
    in.damaged(
        fmt::format("port {} has {} VCs for {} virtual networks", p, port.vcs, header.virtual_networks));
  if (port.vcs != 0 && (port.depth == 0 || port.depth > kDeepestBuffer))
    in.damaged(fmt::format("port {} has buffers of {} flits", p, port.depth));
}

RecordingHeader get_header(Reader& in) {
  RecordingHeader header;
  for (std::string* text : {&header.kind, &header.block, &header.level, &header.program}) *text = in.text();
  header.digest = in.fixed();
  const uint64_t flags = in.fixed();
  header.cut_through = (flags & 1) != 0;
  header.turn_by_sender = (flags & 2) != 0;
  header.has_unit = (flags & 4) != 0;
  header.cycle = in.fixed();
  const uint64_t networks = in.fixed();
  if (networks == 0 || networks > 64) in.damaged(fmt::format("{} virtual networks", networks));
  header.virtual_networks = static_cast<uint32_t>(networks);
  header.configuration = in.text(kLongestConfiguration);
  if (header.level != "message" && header.level != "packet" && header.level != "access" &&
      header.level != "node")
    in.damaged(fmt::format("the level '{}'", header.level));
  const size_t ports = in.length(in.fixed(), 11 * 8);
  uint64_t buffers = 0;
  for (size_t p = 0; p < ports; ++p) {
    RecordedPort port;
    port.name = in.text();
    port.peer = in.text();
    port.initiator = in.fixed() != 0;
    port.rate = in.fixed();
    port.rate_per = in.fixed();
    port.latency = in.fixed();
    port.vcs = in.fixed_small("VCs");
    port.depth = in.fixed_small("a depth");
    port.flit_latency = in.fixed();
    port.credit_latency = in.fixed();
    port.flit_time = in.fixed();
    if (header.level == "message" && (port.rate == 0 || port.rate_per == 0))
      in.damaged(fmt::format("port {} has no rate", p));
    header.ports.push_back(std::move(port));
    if (header.level != "packet") continue;
    check_port(in, header, p);
    buffers += uint64_t{header.ports[p].vcs} * header.ports[p].depth;
    if (buffers > kMostBuffers) in.damaged("buffers of more than 2^28 flits");
  }
  return header;
}

fabric::Crossing get_message(Reader& in, Picoseconds at) {
  fabric::Crossing c;
  c.first = at + in.number();
  if (c.first < at) in.damaged("a time beyond the end of the clock");
  c.length = in.number();
  c.bytes = in.number();
  const auto low = in.small<uint32_t>("a stream");
  const auto chunk = in.small<uint16_t>("a chunk");
  const auto rest = in.small<uint16_t>("a phase");
  c.id_low = low | static_cast<uint64_t>(chunk) << 32 | static_cast<uint64_t>(rest) << 48;
  const auto round = in.small<uint32_t>("a round");
  c.id_high = round | static_cast<uint64_t>(in.small<uint32_t>("a sequence")) << 32;
  c.submitted = at + unzigzag(in.number());
  c.queued = in.number();
  c.latency = in.number();
  c.source = in.small<uint32_t>("a source");
  c.destination = in.small<uint32_t>("a destination");
  c.target = in.small<uint32_t>("a target");
  c.flags = in.byte();
  c.plane = in.byte();
  c.has_elements = in.flag();
  if (c.has_elements) c.elements = in.raw(in.number());
  return c;
}

RecordedAccess get_access(Reader& in, Picoseconds at) {
  RecordedAccess access;
  access.number = in.number();
  access.address = in.number();
  access.length = in.number();
  access.write = in.flag();
  access.at = at + in.number();
  if (access.at < at) in.damaged("a time beyond the end of the clock");
  if (access.length == 0 || access.length > ~uint32_t{0})
    in.damaged(fmt::format("an access of {} bytes", access.length));
  return access;
}

/// The types of nodes that are recorded.
constexpr trace::NodeType kNodeTypes[] = {trace::NodeType::comp, trace::NodeType::mem_load,
                                          trace::NodeType::mem_store};

RecordedNode get_node(Reader& in, Picoseconds at, bool into) {
  RecordedNode recorded;
  recorded.number = in.number();
  recorded.at = at + in.number();
  if (recorded.at < at) in.damaged("a time beyond the end of the clock");
  if (!into) return recorded;
  recorded.time = in.number();
  trace::Node node;
  const uint8_t type = in.byte();
  if (type >= std::size(kNodeTypes)) in.damaged(fmt::format("a node of kind {}", type));
  node.type = kNodeTypes[type];
  node.id = in.number();
  node.is_cpu_op = in.flag();
  const uint8_t location = in.byte();
  if (location > static_cast<uint8_t>(trace::Location::nvme))
    in.damaged(fmt::format("location {}", location));
  node.location = static_cast<trace::Location>(location);
  node.num_ops = in.number();
  node.tensor_size = in.number();
  for (uint64_t& size : node.gemm) size = in.number();
  node.has_duration = in.flag();
  node.duration = in.number();
  const uint64_t size = in.number();
  if (size > kLongestText) in.damaged(fmt::format("a name of {} bytes", size));
  for (const std::byte b : in.raw(size)) node.name += static_cast<char>(b);
  recorded.node = std::make_shared<const trace::Node>(std::move(node));
  return recorded;
}

fabric::FlitCrossing get_flits(Reader& in, const RecordingHeader& header, uint32_t port, Picoseconds at) {
  fabric::FlitCrossing c;
  const uint8_t kind = in.byte();
  if (kind > static_cast<uint8_t>(fabric::FlitCrossing::Kind::resume))
    in.damaged("neither flits nor credits nor a pause");
  c.kind = static_cast<fabric::FlitCrossing::Kind>(kind);
  c.vc = in.byte();
  if (c.vc >= header.ports[port].vcs)
    in.damaged(fmt::format("VC {} of {} at port {}", c.vc, header.ports[port].vcs, port));
  c.first = ticks(at) + unzigzag(in.number());
  c.stride = in.number();
  c.count = in.small<uint32_t>("a count");
  if (c.count > kDeepestBuffer) in.damaged(fmt::format("a count of {}", c.count));
  if (c.kind != fabric::FlitCrossing::Kind::flits) return c;
  c.first_flit = in.small<uint32_t>("a flit");
  c.packet_flits = in.small<uint32_t>("a number of flits");
  if (c.first_flit > c.packet_flits || c.count > c.packet_flits - c.first_flit)
    in.damaged(fmt::format("{} flits from flit {} of a packet of {}", c.count, c.first_flit, c.packet_flits));
  if (c.first_flit != 0) return c;
  fabric::PacketHead& head = c.head;
  head.bytes = in.number();
  head.id_low = in.fixed();
  head.id_high = in.fixed();
  head.submitted = ticks(at) + unzigzag(in.number());
  head.interface = in.number();
  head.source = in.small<uint32_t>("a source");
  head.destination = in.small<uint32_t>("a destination");
  head.elements = in.small<uint32_t>("elements");
  head.virtual_network = in.byte();
  if (head.virtual_network >= header.virtual_networks)
    in.damaged(fmt::format("virtual network {} of {}", head.virtual_network, header.virtual_networks));
  head.flags = in.byte();
  head.marked = in.flag();
  return c;
}

uint8_t kind_of_level(const std::string& level) {
  if (level == "message") return kMessage;
  if (level == "packet") return kFlits;
  return level == "access" ? kAccess : kNode;
}

Recording parse(const uint8_t* bytes, size_t length, const std::string& origin) {
  Reader in(bytes, length, origin);
  if (length < sizeof kRecordingMagic || std::memcmp(bytes, kRecordingMagic, sizeof kRecordingMagic) != 0)
    in.refuse("is no recording of a block; `weft run --record BLOCK` makes one");
  in.raw(sizeof kRecordingMagic);
  const uint64_t version = in.fixed();
  if (version < kOldestRecording || version > kRecordingVersion)
    in.refuse(
        fmt::format("is of version {} of the format, and this program reads versions {} to {}; record again "
                    "with this program",
                    version, kOldestRecording, kRecordingVersion));
  const uint64_t size = in.fixed();
  const uint64_t sum = in.fixed();
  if (size > in.left()) in.cut_short();
  const size_t begin = in.at();
  Recording recording;
  if (checksum(bytes + begin, size) != sum) in.damaged("the header's checksum is another one");
  recording.header = get_header(in);
  if (in.at() != begin + size) in.damaged("the header has another length");
  const size_t first = in.at();
  Picoseconds at = 0;
  for (;;) {
    const size_t begins = in.at();
    const uint8_t tag = in.byte();
    if (tag == kEnd) {
      const uint64_t events_sum = checksum(bytes + first, begins - first);
      const uint64_t count = in.fixed();
      if (count != recording.events.size()) in.damaged(fmt::format("its end counts {} events", count));
      if (in.fixed() != events_sum) in.damaged("the events' checksum is another one");
      break;
    }
    const uint8_t kind = tag & static_cast<uint8_t>(~kInto);
    if (kind < kMessage || kind > kNode) in.damaged(fmt::format("an event of the unknown kind {}", kind));
    RecordedEvent event;
    event.into = (tag & kInto) != 0;
    const uint64_t step = in.number();
    if (at + step < at) in.damaged("a time beyond the end of the clock");
    at += step;
    event.at = at;
    event.port = in.small<uint32_t>("a port");
    if (event.port >= recording.header.ports.size())
      in.damaged(fmt::format("port {} of {}", event.port, recording.header.ports.size()));
    const std::string& level = recording.header.level;
    if (kind != kind_of_level(level)) in.damaged(fmt::format("an event of another level than {}", level));
    if (kind == kMessage) {
      event.what = get_message(in, at);
    } else if (kind == kFlits) {
      event.what = get_flits(in, recording.header, event.port, at);
    } else if (kind == kAccess) {
      event.what = get_access(in, at);
    } else {
      event.what = get_node(in, at, event.into);
    }
    recording.events.push_back(std::move(event));
    ++in.events;
  }
  const size_t names = in.length(in.fixed(), 16);
  for (size_t i = 0; i < names; ++i) {
    RecordedCollective collective;
    collective.stream = static_cast<uint32_t>(in.fixed());
    collective.name = in.text();
    recording.collectives.push_back(std::move(collective));
  }
  if (in.left() != 0) in.damaged(fmt::format("{} bytes behind its end", in.left()));
  return recording;
}

}  // namespace

uint64_t checksum(const void* bytes, size_t size, uint64_t so_far) {
  const auto* const begin = static_cast<const uint8_t*>(bytes);
  for (size_t i = 0; i < size; ++i) so_far = (so_far ^ begin[i]) * 0x100000001b3ull;
  return so_far;
}

RecordingWriter::RecordingWriter(std::string path, const RecordingHeader& header)
    : path_(std::move(path)), checksum_(checksum(nullptr, 0)) {
  refuse_symlink(path_);
  file_.reset(std::fopen(path_.c_str(), "wb"));
  if (!file_) fail();
  HeaderWriter out;
  put_header(out, header);
  const std::vector<uint8_t> bytes = out.take();
  buffer_.insert(buffer_.end(), std::begin(kRecordingMagic), std::end(kRecordingMagic));
  HeaderWriter front;
  front.number(uint64_t{kRecordingVersion});
  front.number(uint64_t{bytes.size()});
  front.number(checksum(bytes.data(), bytes.size()));
  append(front.take());
  append(bytes);
  flush();
}

RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::fail() const {
  throw UserError(
      ExitCode::usage,
      fmt::format("{}: the recording cannot be written: {}; choose another file with --record-file", path_,
                  std::strerror(errno)));
}

void RecordingWriter::flush() {
  if (!buffer_.empty() && std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size())
    fail();
  written_ += buffer_.size();
  buffer_.clear();
}

void RecordingWriter::append(const std::vector<uint8_t>& bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void RecordingWriter::number(uint64_t value) {
  append_varint(buffer_, value);
}

void RecordingWriter::add(const RecordedEvent& event) {
  const size_t begin = buffer_.size();
  static constexpr uint8_t kKinds[] = {kMessage, kFlits, kAccess, kNode};  // as the variant has them
  buffer_.push_back(static_cast<uint8_t>(kKinds[event.what.index()] | (event.into ? kInto : 0)));
  number(event.at - last_);
  last_ = event.at;
  number(event.port);
  std::visit([&](const auto& what) { add(what, event.at); }, event.what);
  checksum_ = checksum(buffer_.data() + begin, buffer_.size() - begin, checksum_);
  ++events_;
  if (buffer_.size() >= kBuffer) flush();
}

void RecordingWriter::add(const fabric::Crossing& c, Picoseconds at) {
  number(c.first - at);
  for (const uint64_t value :
       {c.length, c.bytes, c.id_low & 0xffffffff, c.id_low >> 32 & 0xffff, c.id_low >> 48,
        c.id_high & 0xffffffff, c.id_high >> 32, zigzag(c.submitted - at), c.queued, c.latency,
        uint64_t{c.source}, uint64_t{c.destination}, uint64_t{c.target}})
    number(value);
  buffer_.push_back(c.flags);
  buffer_.push_back(c.plane);
  number(c.has_elements ? 1 : 0);
  if (!c.has_elements) return;
  number(c.elements.size());
  for (const std::byte b : c.elements) buffer_.push_back(std::to_integer<uint8_t>(b));
}

void RecordingWriter::add(const fabric::FlitCrossing& c, Picoseconds at) {
  buffer_.push_back(static_cast<uint8_t>(c.kind));
  buffer_.push_back(c.vc);
  number(zigzag(c.first - ticks(at)));
  number(c.stride);
  number(c.count);
  if (c.kind != fabric::FlitCrossing::Kind::flits) return;
  number(c.first_flit);
  number(c.packet_flits);
  if (c.first_flit != 0) return;
  const fabric::PacketHead& head = c.head;
  number(head.bytes);
  HeaderWriter ids;
  ids.number(head.id_low);
  ids.number(head.id_high);
  append(ids.take());
  number(zigzag(head.submitted - ticks(at)));
  number(head.interface);
  number(head.source);
  number(head.destination);
  number(head.elements);
  buffer_.push_back(head.virtual_network);
  buffer_.push_back(head.flags);
  number(head.marked ? 1 : 0);
}

void RecordingWriter::add(const RecordedAccess& access, Picoseconds at) {
  for (const uint64_t value :
       {access.number, access.address, access.length, uint64_t{access.write}, access.at - at})
    number(value);
}

void RecordingWriter::add(const RecordedNode& recorded, Picoseconds at) {
  number(recorded.number);
  number(recorded.at - at);
  if (recorded.node == nullptr) return;
  number(recorded.time);
  const trace::Node& node = *recorded.node;
  buffer_.push_back(
      static_cast<uint8_t>(std::find(std::begin(kNodeTypes), std::end(kNodeTypes), node.type) - kNodeTypes));
  number(node.id);
  number(node.is_cpu_op ? 1 : 0);
  buffer_.push_back(static_cast<uint8_t>(node.location));
  const size_t size = std::min(node.name.size(), kLongestText);
  for (const uint64_t value : {node.num_ops, node.tensor_size, node.gemm[0], node.gemm[1], node.gemm[2],
                               uint64_t{node.has_duration}, node.duration, uint64_t{size}})
    number(value);
  buffer_.insert(buffer_.end(), node.name.begin(), node.name.begin() + static_cast<std::ptrdiff_t>(size));
}

void RecordingWriter::finish(const std::vector<RecordedCollective>& collectives) {
  buffer_.push_back(kEnd);
  HeaderWriter out;
  out.number(events_);
  out.number(checksum_);
  out.number(uint64_t{collectives.size()});
  for (const RecordedCollective& collective : collectives) {
    out.number(uint64_t{collective.stream});
    put_text(out, collective.name);
  }
  append(out.take());
  flush();
  std::FILE* const file = file_.release();
  if (std::fclose(file) != 0) fail();
}

Recording parse_recording(const std::vector<uint8_t>& bytes, const std::string& origin) {
  return parse(bytes.data(), bytes.size(), origin);
}

Recording read_recording(const std::string& path) {
  static const InputKind kind{"recording", ExitCode::usage,
                              "check the path; `weft run --record BLOCK` makes a recording",
                              uint64_t{4} << 30};
  const std::string text = read_input(path, kind);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(text.data());
  return parse(bytes, text.size(), path);
}

}  // namespace weft::cosim

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/timeline/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "configs/file_set.h"

namespace weft::timeline {
namespace {

constexpr size_t kBuffer = 1u << 20;
constexpr size_t kLongestPacket = 8192;
/// Names that are written once. Of more, which a trace without layers in its names may have, each is written
/// with its event.
constexpr size_t kMostNames = 1u << 16;

constexpr const char* kArgNames[kArgs] = {"ps",
                                          "end_ps",
                                          "bytes",
                                          "collective",
                                          "chunk",
                                          "phase",
                                          "round",
                                          "from",
                                          "node",
                                          "queued_ps",
                                          "endpoint_ps",
                                          "reduce_ps",
                                          "waited_ps",
                                          "dimension",
                                          "count",
                                          "busy_ps",
                                          "compute_ps",
                                          "local_memory_ps",
                                          "remote_memory_ps",
                                          "communication_ps",
                                          "unfinished",
                                          "left_out"};

// Numbers of the fields, by message of the schema.
enum TraceField : uint32_t { kTracePacket = 1 };
enum PacketField : uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kFirstPacket = 87,
  kTrackDescriptor = 60
};
enum EventField : uint32_t {
  kDebugAnnotations = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kName = 23,
  kCounterValue = 30,
  kDoubleCounterValue = 44,
  kFlowIds = 47,
  kTerminatingFlowIds = 48
};
enum AnnotationField : uint32_t { kAnnotationNameIid = 1, kUintValue = 3 };
enum InternedField : uint32_t { kEventNames = 2, kAnnotationNames = 3 };
enum NameField : uint32_t { kIid = 1, kText = 2 };
enum DescriptorField : uint32_t {
  kUuid = 1,
  kTrackName = 2,
  kParentUuid = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kSiblingRank = 12,
  kAbout = 14
};
enum CounterField : uint32_t { kUnitName = 6 };

constexpr uint32_t kSliceBegin = 1;
constexpr uint32_t kSliceEnd = 2;
constexpr uint32_t kInstant = 3;
constexpr uint32_t kCounterType = 4;
constexpr uint32_t kExplicitOrder = 3;
constexpr uint32_t kSequence = 1;
constexpr uint32_t kStateCleared = 1;
constexpr uint32_t kNeedsState = 2;

enum Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };

[[gnu::always_inline]] inline char* put_varint(char* p, uint64_t v) {
  if (v < 0x80) {
    *p = static_cast<char>(v);
    return p + 1;
  }
  while (v >= 0x80) {
    *p++ = static_cast<char>(v | 0x80);
    v >>= 7;
  }
  *p++ = static_cast<char>(v);
  return p;
}
/// Of a field below 16, whose tag is one byte, and of those above.
[[gnu::always_inline]] inline char* put_number(char* p, uint32_t field, uint64_t v) {
  if (field < 16) {
    *p++ = static_cast<char>(field << 3 | kVarint);
    return put_varint(p, v);
  }
  return put_varint(put_varint(p, field << 3 | kVarint), v);
}
[[gnu::always_inline]] inline char* put_fixed(char* p, uint64_t v) {
  for (unsigned i = 0; i < 8; ++i) p[i] = static_cast<char>(v >> (8 * i));
  return p + 8;
}
/// Tag and length, in three bytes, of what goes from there to `end`.
void put_length(char* p, uint32_t field, const char* end) {
  const auto length = static_cast<size_t>(end - p - 3);
  p[0] = static_cast<char>(field << 3 | kBytes);
  p[1] = static_cast<char>(length | 0x80);
  p[2] = static_cast<char>(length >> 7);
}

/// A message as it is put together.
template <size_t kRoom>
class Message {
 public:
  void varint(uint64_t v) {
    while (v >= 0x80) {
      data_[size_++] = static_cast<char>(v | 0x80);
      v >>= 7;
    }
    data_[size_++] = static_cast<char>(v);
  }
  void tag(uint32_t field, Wire wire) { varint(field << 3 | wire); }
  void number(uint32_t field, uint64_t v) {
    tag(field, kVarint);
    varint(v);
  }
  void fixed(uint32_t field, uint64_t v) {
    tag(field, kFixed64);
    for (unsigned i = 0; i < 8; ++i) data_[size_++] = static_cast<char>(v >> (8 * i));
  }
  void bytes(uint32_t field, std::string_view text) {
    tag(field, kBytes);
    varint(text.size());
    std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  std::string_view view() const { return {data_, size_}; }

 private:
  char data_[kRoom];
  size_t size_ = 0;
};

/// Longer names are cut: Perfetto shows them in one line.
constexpr size_t kLongestName = 400;

std::string_view cut(std::string_view name) {
  if (name.size() <= kLongestName) return name;
  size_t length = kLongestName;
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80)
    --length;  // whole characters
  return name.substr(0, length);
}

const char* remedy(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG
             ? "free some space, choose another folder with --out, or set a smaller output.timeline_budget"
             : "check its permissions or choose another folder with --out";
}

}  // namespace

TraceFile::TraceFile(std::string path) : path_(std::move(path)), part_(path_ + kPartSuffix) {
  refuse_symlink(path_);
  refuse_symlink(part_);
  file_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) {
    const int error = errno;
    throw UserError(error == ENOSPC || error == EDQUOT ? ExitCode::internal : ExitCode::usage,
                    fmt::format("{}: the timeline cannot be written: {}; {}", part_, std::strerror(error),
                                remedy(error)));
  }
  buffer_ = std::make_unique<char[]>(kBuffer + kLongestPacket);
  Message<2048> names;
  for (uint32_t a = 0; a < kArgs; ++a) {
    Message<64> name;
    name.number(kIid, a + 1);
    name.bytes(kText, kArgNames[a]);
    names.bytes(kAnnotationNames, name.view());
  }
  Message<4096> content;
  content.number(kSequenceId, kSequence);
  content.number(kSequenceFlags, kStateCleared | kNeedsState);
  content.number(kFirstPacket, 1);
  content.bytes(kInternedData, names.view());
  put(content.view());
}

TraceFile::~TraceFile() {
  close();
}

void TraceFile::put(std::string_view content) {
  if (file_ < 0) return;
  char* p = room();
  *p++ = kTracePacket << 3 | kBytes;
  p = put_varint(p, content.size());
  std::memcpy(p, content.data(), content.size());
  fill_to(p + content.size());
  ++packets_;
}

/// Where the next packet goes.
inline char* TraceFile::room() {
  if (size_ >= kBuffer) flush();
  return buffer_.get() + size_;
}

inline void TraceFile::fill_to(const char* end) {
  size_ = static_cast<size_t>(end - buffer_.get());
}

TrackId TraceFile::add_track(const TrackDescription& track) {
  const TrackId id = ++tracks_;
  Message<2048> about;
  about.number(kUuid, id);
  about.bytes(kTrackName, cut(track.name));
  if (track.parent != 0) about.number(kParentUuid, track.parent);
  about.number(kChildOrdering, kExplicitOrder);
  about.number(kSiblingRank, track.rank);
  if (!track.about.empty()) about.bytes(kAbout, cut(track.about));
  if (track.counter) {
    Message<512> counter;
    if (!track.unit.empty()) counter.bytes(kUnitName, cut(track.unit));
    about.bytes(kCounter, counter.view());
  }
  Message<2304> content;
  content.number(kSequenceId, kSequence);
  content.number(kSequenceFlags, kNeedsState);
  content.bytes(kTrackDescriptor, about.view());
  put(content.view());
  return id;
}

EventName TraceFile::name(std::string_view text) {
  text = cut(text);
  const auto known = names_.find(std::string(text));
  if (known != names_.end()) return {known->second, text};
  if (names_.size() >= kMostNames) return {0, text};
  const auto number = static_cast<uint32_t>(names_.size() + 1);
  names_.emplace(text, number);
  Message<kLongestName + 32> name;
  name.number(kIid, number);
  name.bytes(kText, text);
  Message<kLongestName + 64> names;
  names.bytes(kEventNames, name.view());
  Message<kLongestName + 96> content;
  content.number(kSequenceId, kSequence);
  content.number(kSequenceFlags, kNeedsState);
  content.bytes(kInternedData, names.view());
  put(content.view());
  return {number, text};
}

/// Most of a timeline is these, so they are written in place. Lengths take two bytes, whatever they are.
inline char* TraceFile::event(char* const packet, uint32_t type, TrackId track, EventName name,
                              Picoseconds at, Arg remainder, Flow flow, const Arguments* arguments) {
  const uint64_t nanoseconds = at / 1000;
  const auto rest = static_cast<uint32_t>(at - nanoseconds * 1000);
  char* p = put_number(packet + 3, kTimestamp, nanoseconds);
  // The sequence's id and flags, the event's tag and length, its type, the tag of its track.
  static constexpr char kFixed[] = {
      kSequenceId << 3, kSequence, kSequenceFlags << 3, kNeedsState, kTrackEvent << 3 | kBytes, 0, 0,
      kType << 3};
  std::memcpy(p, kFixed, sizeof kFixed);
  char* const own = p + 7;
  p[8] = static_cast<char>(type);
  p = put_number(p + 9, kTrackUuid, track);
  if (name.number != 0) {
    p = put_number(p, kNameIid, name.number);
  } else if (!name.text.empty()) {
    const std::string_view text = cut(name.text);
    p = put_varint(p, kName << 3 | kBytes);
    p = put_varint(p, text.size());
    std::memcpy(p, text.data(), text.size());
    p += text.size();
  }
  if (flow.id != 0) {
    p = put_varint(p, (flow.ends ? kTerminatingFlowIds : kFlowIds) << 3 | kFixed64);
    p = put_fixed(p, flow.id);
  }
  const auto annotate = [&p](Arg arg, uint64_t value) __attribute__((always_inline)) {
    p[0] = kDebugAnnotations << 3 | kBytes;
    p[2] = kAnnotationNameIid << 3;
    p[3] = static_cast<char>(static_cast<uint32_t>(arg) + 1);
    char* const end = put_number(p + 4, kUintValue, value);
    p[1] = static_cast<char>(end - p - 2);
    p = end;
  };
  if (arguments != nullptr) {
    for (const Arguments::One& argument : *arguments) annotate(argument.name, argument.value);
  }
  if (rest != 0) annotate(remainder, rest);
  put_length(own - 3, kTrackEvent, p);
  put_length(packet, kTracePacket, p);
  ++packets_;
  return p;
}

void TraceFile::slice(TrackId track, EventName name, Picoseconds begin, Picoseconds end, Flow flow,
                      const Arguments& arguments) {
  if (file_ < 0) return;
  char* const middle = event(room(), kSliceBegin, track, name, begin, Arg::ps, flow, &arguments);
  fill_to(event(middle, kSliceEnd, track, {}, end, Arg::end_ps, {}, nullptr));
}

void TraceFile::instant(TrackId track, EventName name, Picoseconds at, Flow flow,
                        const Arguments& arguments) {
  if (file_ < 0) return;
  fill_to(event(room(), kInstant, track, name, at, Arg::ps, flow, &arguments));
}

char* TraceFile::value_begins(TrackId track, Picoseconds at, char* packet) const {
  char* p = packet + 3;
  p = put_number(p, kTimestamp, at / 1000);
  p = put_number(p, kSequenceId, kSequence);
  p = put_number(p, kSequenceFlags, kNeedsState);
  p += 3;
  p = put_number(p, kType, kCounterType);
  return put_number(p, kTrackUuid, track);
}

void TraceFile::value_ends(Picoseconds at, char* packet, char* end) {
  char* own = packet + 3;
  own = put_number(own, kTimestamp, at / 1000);
  own = put_number(own, kSequenceId, kSequence);
  own = put_number(own, kSequenceFlags, kNeedsState);
  put_length(own, kTrackEvent, end);
  put_length(packet, kTracePacket, end);
  fill_to(end);
  ++packets_;
}

void TraceFile::value(TrackId track, Picoseconds at, uint64_t value) {
  if (file_ < 0) return;
  char* const packet = room();
  value_ends(at, packet, put_number(value_begins(track, at, packet), kCounterValue, value));
}

void TraceFile::value(TrackId track, Picoseconds at, double value) {
  if (file_ < 0) return;
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  char* const packet = room();
  char* const p = put_varint(value_begins(track, at, packet), kDoubleCounterValue << 3 | kFixed64);
  value_ends(at, packet, put_fixed(p, bits));
}

void TraceFile::flush() {
  size_t done = 0;
  while (file_ >= 0 && done < size_) {
    const ssize_t n = write(file_, buffer_.get() + done, size_ - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      const int error = errno;
      // Back to whole packets. Where even that fails, a reader meets a packet that is cut off.
      if (ftruncate(file_, static_cast<off_t>(written_)) != 0) errno = error;
      fail("cannot be written", error);
    }
  }
  if (file_ >= 0) written_ += size_;
  size_ = 0;
}

void TraceFile::fail(const char* what, int error) {
  of_disk_ = error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO;
  failure_ = fmt::format("{}: the timeline {}: {}; {}", part_, what, std::strerror(error), remedy(error));
  ::close(file_);
  file_ = -1;
}

void TraceFile::close() {
  if (file_ < 0) return;
  flush();
  if (file_ < 0) return;
  if (::close(file_) != 0) {  // some file systems report a full disk only here
    file_ = -1;
    const int error = errno;
    of_disk_ = true;
    failure_ =
        fmt::format("{}: the timeline cannot be written: {}; {}", part_, std::strerror(error), remedy(error));
    return;
  }
  file_ = -1;
  if (std::rename(part_.c_str(), path_.c_str()) != 0)
    failure_ = fmt::format("{}: the timeline cannot get this name: {}; it is there as {}", path_,
                           std::strerror(errno), part_);
}

}  // namespace weft::timeline

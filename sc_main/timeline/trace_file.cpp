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
/// Names that are written once. Of more, which a trace without layers in its names may have, each is written
/// with its event.
constexpr size_t kMostNames = 1u << 16;

constexpr const char* kArgNames[kArgs] = {
    "ps",        "end_ps",      "bytes",     "collective", "chunk",   "phase",      "round",           "from",
    "node",      "queued_ps",   "endpoint_ps", "reduce_ps", "waited_ps", "dimension", "count",           "busy_ps",
    "compute_ps", "local_memory_ps", "remote_memory_ps", "communication_ps", "unfinished", "left_out"};

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
  while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0) == 0x80) --length;  // whole characters
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
  buffer_.reserve(kBuffer + 4096);
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
  Message<16> head;
  head.tag(kTracePacket, kBytes);
  head.varint(content.size());
  buffer_ += head.view();
  buffer_ += content;
  ++packets_;
  if (buffer_.size() >= kBuffer) flush();
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

void TraceFile::event(uint32_t type, TrackId track, EventName name, Picoseconds at, Arg remainder, Flow flow,
                      const Arguments& arguments) {
  if (file_ < 0) return;
  Message<1024> own;
  own.number(kType, type);
  own.number(kTrackUuid, track);
  if (name.number != 0) {
    own.number(kNameIid, name.number);
  } else if (!name.text.empty()) {
    own.bytes(kName, cut(name.text));
  }
  if (flow.id != 0) own.fixed(flow.ends ? kTerminatingFlowIds : kFlowIds, flow.id);
  const auto annotate = [&own](Arg arg, uint64_t value) {
    Message<32> annotation;
    annotation.number(kAnnotationNameIid, static_cast<uint32_t>(arg) + 1);
    annotation.number(kUintValue, value);
    own.bytes(kDebugAnnotations, annotation.view());
  };
  for (const Arguments::One& argument : arguments) annotate(argument.name, argument.value);
  if (at % 1000 != 0) annotate(remainder, at % 1000);
  Message<1200> content;
  content.number(kTimestamp, at / 1000);
  content.number(kSequenceId, kSequence);
  content.number(kSequenceFlags, kNeedsState);
  content.bytes(kTrackEvent, own.view());
  put(content.view());
}

void TraceFile::slice(TrackId track, EventName name, Picoseconds begin, Picoseconds end, Flow flow,
                      const Arguments& arguments) {
  event(kSliceBegin, track, name, begin, Arg::ps, flow, arguments);
  event(kSliceEnd, track, {}, end, Arg::end_ps, {}, {});
}

void TraceFile::instant(TrackId track, EventName name, Picoseconds at, Flow flow,
                        const Arguments& arguments) {
  event(kInstant, track, name, at, Arg::ps, flow, arguments);
}

void TraceFile::value(TrackId track, Picoseconds at, uint64_t value) {
  Message<64> own;
  own.number(kType, kCounterType);
  own.number(kTrackUuid, track);
  own.number(kCounterValue, value);
  Message<96> content;
  content.number(kTimestamp, at / 1000);
  content.number(kSequenceId, kSequence);
  content.number(kSequenceFlags, kNeedsState);
  content.bytes(kTrackEvent, own.view());
  put(content.view());
}

void TraceFile::value(TrackId track, Picoseconds at, double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  Message<64> own;
  own.number(kType, kCounterType);
  own.number(kTrackUuid, track);
  own.fixed(kDoubleCounterValue, bits);
  Message<96> content;
  content.number(kTimestamp, at / 1000);
  content.number(kSequenceId, kSequence);
  content.number(kSequenceFlags, kNeedsState);
  content.bytes(kTrackEvent, own.view());
  put(content.view());
}

void TraceFile::flush() {
  size_t done = 0;
  while (file_ >= 0 && done < buffer_.size()) {
    const ssize_t n = write(file_, buffer_.data() + done, buffer_.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      const int error = errno;
      // Back to whole packets. Where even that fails, a reader meets a packet that is cut off.
      if (ftruncate(file_, static_cast<off_t>(written_)) != 0) errno = error;
      fail("cannot be written", error);
    }
  }
  if (file_ >= 0) written_ += buffer_.size();
  buffer_.clear();
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
    failure_ = fmt::format("{}: the timeline cannot be written: {}; {}", part_, std::strerror(error),
                           remedy(error));
    return;
  }
  file_ = -1;
  if (std::rename(part_.c_str(), path_.c_str()) != 0)
    failure_ = fmt::format("{}: the timeline cannot get this name: {}; it is there as {}", path_,
                           std::strerror(errno), part_);
}

}  // namespace weft::timeline

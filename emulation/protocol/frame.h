// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Frames of the protocol weft-comm/1: what a real rank's process and `weft emulate` send each other over a
// Unix stream socket. A frame is a head of 24 bytes and fields, little endian, padded to 8 bytes. No SystemC,
// and no other room: the client library is made of it, too.

#ifndef WEFT_EMULATION_PROTOCOL_FRAME_H
#define WEFT_EMULATION_PROTOCOL_FRAME_H

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace weft::emulation {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are written as they lie in memory");

constexpr uint32_t kProtocolVersion = 1;
constexpr uint32_t kMagic = 0x54464557;  // "WEFT"
constexpr uint32_t kMaxFrame = 1u << 20;
constexpr uint32_t kHeadBytes = 24;
/// FrameHead::flags, bit 0: a receiver that does not know the type skips the frame.
constexpr uint16_t kOptional = 1;

enum class FrameType : uint16_t {
  // of clients
  hello = 1,
  comm_new = 2,
  comm_free = 3,
  coll = 4,
  send = 5,
  recv = 6,
  wait = 7,
  test = 8,
  probe = 9,
  compute = 10,
  mark = 11,
  bye = 12,
  // of the server
  welcome = 32,
  done = 33,
  error = 34,
  shutdown = 35,
  comm = 36
};
/// "COLL"; "frame type 99" for an unknown one.
std::string to_string(FrameType type);
/// Does this version know the type?
bool known(FrameType type);

struct FrameHead {
  uint32_t bytes = 0;  ///< of the frame, this head included; a multiple of 8
  FrameType type{};
  uint16_t flags = 0;
  uint64_t request = 0;  ///< the client's number of what it asks; the answer has the same
  int64_t t = 0;         ///< ps: the sender's local time; of the server: simulated time
};
static_assert(sizeof(FrameHead) == kHeadBytes && std::is_trivially_copyable_v<FrameHead>);

/// What came is no frame of this protocol. The text says what is wrong with it.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Frame {
  FrameHead head;
  std::vector<uint8_t> fields;
};

/// Appends frames to a buffer.
class FrameWriter {
 public:
  explicit FrameWriter(std::vector<uint8_t>& out) : out_(out) {}

  void begin(FrameType type, uint64_t request, int64_t t, uint16_t flags = 0);
  /// Pads the frame and writes its size. Throws std::length_error for one above kMaxFrame; it is removed.
  void end();

  template <typename T>
  std::enable_if_t<std::is_arithmetic_v<T>, FrameWriter&> operator()(const T& value) {
    raw(&value, sizeof value);
    return *this;
  }
  FrameWriter& operator()(const std::string& text);
  FrameWriter& name(const std::string& text) { return (*this)(text); }
  template <typename T>
  FrameWriter& operator()(const std::vector<T>& list) {
    (*this)(static_cast<uint32_t>(list.size()));
    if constexpr (std::is_arithmetic_v<T>) {
      raw(list.data(), list.size() * sizeof(T));
    } else {
      for (T item : list) item.fields(*this);
    }
    return *this;
  }

 private:
  void raw(const void* data, size_t bytes) {
    const auto* from = static_cast<const uint8_t*>(data);
    out_.insert(out_.end(), from, from + bytes);
  }

  std::vector<uint8_t>& out_;
  size_t begin_ = 0;
};

/// Reads a frame's fields. Throws ProtocolError when they end too early.
class FrameReader {
 public:
  FrameReader(const uint8_t* data, size_t bytes) : at_(data), end_(data + bytes) {}
  explicit FrameReader(const Frame& frame) : FrameReader(frame.fields.data(), frame.fields.size()) {}

  template <typename T>
  std::enable_if_t<std::is_arithmetic_v<T>, FrameReader&> operator()(T& value) {
    raw(&value, sizeof value);
    return *this;
  }
  FrameReader& operator()(std::string& text);
  /// A text that people will read in messages, tables and traces: bytes that are no UTF-8 or control a
  /// terminal become
  /// '?'.
  FrameReader& name(std::string& text);
  template <typename T>
  FrameReader& operator()(std::vector<T>& list) {
    uint32_t count = 0;
    (*this)(count);
    // A count that the rest cannot hold takes no memory.
    if (count > left() / (std::is_arithmetic_v<T> ? sizeof(T) : 8))
      throw ProtocolError("a list of " + std::to_string(count) + " entries does not fit into its frame");
    list.resize(count);
    if constexpr (std::is_arithmetic_v<T>) {
      raw(list.data(), list.size() * sizeof(T));
    } else {
      for (T& item : list) item.fields(*this);
    }
    return *this;
  }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  /// What follows the fields may only be padding. Throws ProtocolError.
  void finish() const;

 private:
  void raw(void* to, size_t bytes);

  const uint8_t* at_;
  const uint8_t* end_;
};

/// Puts frames together from what a stream socket gives.
class FrameBuffer {
 public:
  void append(const uint8_t* data, size_t bytes) { bytes_.insert(bytes_.end(), data, data + bytes); }
  /// The next complete frame. False: more bytes are needed. Throws ProtocolError for a size that no frame
  /// has; the stream is then of no use any more.
  bool next(Frame& frame);
  /// Part of a frame is there.
  bool midway() const { return read_ != bytes_.size(); }

 private:
  std::vector<uint8_t> bytes_;
  size_t read_ = 0;
};

/// Appends a message (messages.h) as a frame.
template <typename Message>
void write_frame(std::vector<uint8_t>& out, uint64_t request, int64_t t, Message message) {
  FrameWriter writer(out);
  writer.begin(Message::kType, request, t);
  message.fields(writer);
  writer.end();
}

/// The frame's message. Throws ProtocolError that names its type.
template <typename Message>
Message read_message(const Frame& frame) {
  Message message;
  try {
    FrameReader reader(frame);
    message.fields(reader);
    reader.finish();
  } catch (const ProtocolError& e) {
    throw ProtocolError(to_string(frame.head.type) + ": " + e.what());
  }
  return message;
}

}  // namespace weft::emulation

#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/protocol/frame.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::emulation {
namespace {

constexpr std::array<std::pair<FrameType, const char*>, 17> kTypes{{{FrameType::hello, "HELLO"},
                                                                    {FrameType::comm_new, "COMM_NEW"},
                                                                    {FrameType::comm_free, "COMM_FREE"},
                                                                    {FrameType::coll, "COLL"},
                                                                    {FrameType::send, "SEND"},
                                                                    {FrameType::recv, "RECV"},
                                                                    {FrameType::wait, "WAIT"},
                                                                    {FrameType::test, "TEST"},
                                                                    {FrameType::probe, "PROBE"},
                                                                    {FrameType::compute, "COMPUTE"},
                                                                    {FrameType::mark, "MARK"},
                                                                    {FrameType::bye, "BYE"},
                                                                    {FrameType::welcome, "WELCOME"},
                                                                    {FrameType::done, "DONE"},
                                                                    {FrameType::error, "ERROR"},
                                                                    {FrameType::shutdown, "SHUTDOWN"},
                                                                    {FrameType::comm, "COMM"}}};

/// The bytes of the character of UTF-8 (RFC 3629) that begins at `at`; 0: none begins there, or it controls a
/// terminal.
size_t character_at(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const unsigned second = byte(1);
  // Longer than needed, halves of pairs, beyond the last character; and the controls from 0x80 on.
  const bool none = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                    (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ||
                    (first == 0xc2 && second < 0xa0);
  return none ? 0 : length;
}

}  // namespace

std::string to_string(FrameType type) {
  for (const auto& row : kTypes)
    if (row.first == type) return row.second;
  return "frame type " + std::to_string(static_cast<unsigned>(type));
}

bool known(FrameType type) {
  for (const auto& row : kTypes)
    if (row.first == type) return true;
  return false;
}

void FrameWriter::begin(FrameType type, uint64_t request, int64_t t, uint16_t flags) {
  begin_ = out_.size();
  FrameHead head;
  head.type = type;
  head.flags = flags;
  head.request = request;
  head.t = t;
  raw(&head, sizeof head);
}

void FrameWriter::end() {
  const size_t padded = begin_ + (out_.size() - begin_ + 7) / 8 * 8;
  if (padded - begin_ > kMaxFrame) {
    out_.resize(begin_);
    throw std::length_error("a frame of " + std::to_string(padded - begin_) + " bytes: at most " +
                            std::to_string(kMaxFrame) + " are possible");
  }
  out_.resize(padded);
  const auto bytes = static_cast<uint32_t>(padded - begin_);
  std::memcpy(out_.data() + begin_, &bytes, sizeof bytes);
}

FrameWriter& FrameWriter::operator()(const std::string& text) {
  (*this)(static_cast<uint32_t>(text.size()));
  raw(text.data(), text.size());
  return *this;
}

FrameReader& FrameReader::operator()(std::string& text) {
  uint32_t bytes = 0;
  (*this)(bytes);
  if (bytes > left())
    throw ProtocolError("a string of " + std::to_string(bytes) + " bytes does not fit into its frame");
  text.assign(reinterpret_cast<const char*>(at_), bytes);
  at_ += bytes;
  return *this;
}

FrameReader& FrameReader::name(std::string& text) {
  (*this)(text);
  for (size_t i = 0; i < text.size();) {
    const size_t length = character_at(text, i);
    if (length == 0) text[i] = '?';
    i += std::max<size_t>(length, 1);
  }
  return *this;
}

void FrameReader::finish() const {
  if (left() >= 8) throw ProtocolError("the frame has " + std::to_string(left()) + " bytes too many");
}

void FrameReader::raw(void* to, size_t bytes) {
  if (bytes > left()) throw ProtocolError("the frame ends in the midst of a field");
  if (bytes != 0) std::memcpy(to, at_, bytes);
  at_ += bytes;
}

bool FrameBuffer::next(Frame& frame) {
  const size_t there = bytes_.size() - read_;
  if (there < kHeadBytes) return false;
  std::memcpy(&frame.head, bytes_.data() + read_, kHeadBytes);
  const uint32_t bytes = frame.head.bytes;
  if (bytes < kHeadBytes || bytes > kMaxFrame || bytes % 8 != 0)
    throw ProtocolError("a frame says that it has " + std::to_string(bytes) +
                        " bytes: it must be a multiple of 8 from 24 to " + std::to_string(kMaxFrame));
  if (there < bytes) return false;
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(read_);
  frame.fields.assign(begin + kHeadBytes, begin + bytes);
  read_ += bytes;
  if (read_ == bytes_.size()) {
    bytes_.clear();
    read_ = 0;
  } else if (read_ > kMaxFrame) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(read_));
    read_ = 0;
  }
  return true;
}

}  // namespace weft::emulation

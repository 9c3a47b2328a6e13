// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/protocol/frame.h"

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

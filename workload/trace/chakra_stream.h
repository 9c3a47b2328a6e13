// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Reads a Chakra file from its first byte to its last: a sequence of protobuf messages, each preceded by its
// length as a varint; GlobalMetadata first, then Nodes.

#ifndef WEFT_WORKLOAD_TRACE_CHAKRA_STREAM_H
#define WEFT_WORKLOAD_TRACE_CHAKRA_STREAM_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "configs/input_file.h"

namespace ChakraProtoMsg {
class GlobalMetadata;
class Node;
}  // namespace ChakraProtoMsg

namespace weft::trace {

/// The encoded bytes of one message, valid until the next call of its stream.
struct RawMessage {
  const uint8_t* data = nullptr;
  size_t size = 0;
  uint64_t offset = 0;  ///< of its length prefix in the file, bytes
};

/// Sequential reader with its own buffer (256 KiB; it grows only for a message that is larger). Every error
/// is a UserError(ExitCode::trace) that names file, byte offset and node number.
class ChakraStream {
 public:
  static constexpr size_t kBufferBytes = 256 * 1024;
  /// No node of a sane trace comes near; a larger length means corrupt bytes.
  static constexpr uint64_t kMaxMessageBytes = 64ull * 1024 * 1024;

  /// Opens the file and reads its GlobalMetadata. A file that is something else (empty, text, JSON, gzip,
  /// ...) is an error that says what it looks like.
  explicit ChakraStream(const std::string& path);
  /// The same of an open file.
  explicit ChakraStream(InputFile file);
  ChakraStream(const ChakraStream&) = delete;
  ChakraStream& operator=(const ChakraStream&) = delete;

  /// The next node's bytes; false at the end of the file.
  bool next(RawMessage& message);
  /// The next node, parsed by the protobuf library (reuse one object for speed); false at the end of the
  /// file. One of more than `most_bytes` is an error: parsed, it takes tens of times as much.
  bool next(ChakraProtoMsg::Node& node, uint64_t most_bytes = kMaxMessageBytes);
  /// The file's metadata, parsed.
  ChakraProtoMsg::GlobalMetadata metadata() const;

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_bytes_; }
  uint64_t nodes_read() const { return nodes_read_; }

 private:
  bool next_message(RawMessage& message);
  void fill(size_t wanted);
  void check_metadata(const RawMessage& message) const;
  [[noreturn]] void fail(uint64_t offset, const std::string& what) const;
  [[noreturn]] void fail_not_chakra(const std::string& why) const;

  std::string path_;
  InputFile file_;
  uint64_t file_bytes_ = 0;
  uint64_t read_offset_ = 0;  ///< file offset of the byte after the buffer's last
  size_t begin_ = 0;          ///< unread bytes are buffer_[begin_, end_)
  size_t end_ = 0;
  std::vector<uint8_t> buffer_;
  std::vector<uint8_t> metadata_;
  uint64_t nodes_read_ = 0;
  bool have_metadata_ = false;
};

}  // namespace weft::trace

#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Writes a Chakra file: length-delimited GlobalMetadata, then Nodes.

#ifndef WEFT_WORKLOAD_TRACE_CHAKRA_WRITER_H
#define WEFT_WORKLOAD_TRACE_CHAKRA_WRITER_H

#include <cstdint>
#include <string>

namespace google::protobuf {
class MessageLite;
}
namespace ChakraProtoMsg {
class GlobalMetadata;
class Node;
}  // namespace ChakraProtoMsg

namespace weft::trace {

/// A message as it stands in a Chakra file: its length as a varint, then its bytes.
void append_delimited(const google::protobuf::MessageLite& message, std::string& out);

/// Buffered; close() reports what the destructor cannot (a full disk). Errors are
/// UserError(ExitCode::internal) that name the file and the system's reason.
class ChakraWriter {
 public:
  /// Creates or replaces the file and writes a GlobalMetadata with this version.
  explicit ChakraWriter(const std::string& path, const std::string& version = "0.0.4");
  /// The same with a metadata message of the caller's.
  ChakraWriter(const std::string& path, const ChakraProtoMsg::GlobalMetadata& metadata);
  ~ChakraWriter();
  ChakraWriter(const ChakraWriter&) = delete;
  ChakraWriter& operator=(const ChakraWriter&) = delete;

  void write(const ChakraProtoMsg::Node& node);
  /// Bytes given so far: the offset at which the next node starts.
  uint64_t offset() const { return flushed_ + buffer_.size(); }
  uint64_t nodes() const { return nodes_; }
  /// Flushes and closes; nothing may be written after.
  void close();

 private:
  void open();
  void append(const google::protobuf::MessageLite& message);
  void flush();

  std::string path_;
  int fd_ = -1;
  std::string buffer_;
  uint64_t flushed_ = 0;
  uint64_t nodes_ = 0;
};

}  // namespace weft::trace

#endif

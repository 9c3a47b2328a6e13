// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/chakra_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "configs/types.h"
#include "configs/varint.h"
#include "workload/trace/chakra.pb.h"

namespace weft::trace {
namespace {

constexpr size_t kFlushBytes = 256 * 1024;

}  // namespace

ChakraWriter::ChakraWriter(const std::string& path, const std::string& version) : path_(path) {
  open();
  ChakraProtoMsg::GlobalMetadata metadata;
  metadata.set_version(version);
  append(metadata);
}

ChakraWriter::ChakraWriter(const std::string& path, const ChakraProtoMsg::GlobalMetadata& metadata)
    : path_(path) {
  open();
  append(metadata);
}

ChakraWriter::~ChakraWriter() {
  if (fd_ < 0) return;
  try {
    close();
  } catch (const UserError&) {
    // Whoever wants to know calls close().
  }
}

void ChakraWriter::open() {
  do {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) {
    throw UserError(ExitCode::internal,
                    fmt::format("{}: cannot be written: {}. Choose another output folder or change "
                                "its permissions.",
                                path_, std::strerror(errno)));
  }
}

void append_delimited(const google::protobuf::MessageLite& message, std::string& out) {
  append_varint(out, message.ByteSizeLong());
  message.AppendToString(&out);
}

void ChakraWriter::append(const google::protobuf::MessageLite& message) {
  append_delimited(message, buffer_);
  if (buffer_.size() >= kFlushBytes) flush();
}

void ChakraWriter::write(const ChakraProtoMsg::Node& node) {
  append(node);
  ++nodes_;
}

void ChakraWriter::flush() {
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t n = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw UserError(ExitCode::internal,
                      fmt::format("{}: writing failed after {} bytes: {}. Free some space or choose "
                                  "another output folder.",
                                  path_, flushed_ + done, std::strerror(errno)));
    }
    done += static_cast<size_t>(n);
  }
  flushed_ += buffer_.size();
  buffer_.clear();
}

void ChakraWriter::close() {
  if (fd_ < 0) return;
  try {
    flush();
  } catch (const UserError&) {
    ::close(fd_);
    fd_ = -1;
    throw;
  }
  const int result = ::close(fd_);
  fd_ = -1;
  if (result != 0) {
    throw UserError(ExitCode::internal,
                    fmt::format("{}: closing failed: {}. Free some space or choose another output "
                                "folder.",
                                path_, std::strerror(errno)));
  }
}

}  // namespace weft::trace

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/chakra_stream.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>

#include "configs/types.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/wire.h"

namespace weft::trace {
namespace {

// What a file that is not a Chakra trace seems to be, from its first bytes.
std::string looks_like(const uint8_t* data, size_t size) {
  const auto starts = [&](std::initializer_list<uint8_t> magic) {
    return size >= magic.size() && std::equal(magic.begin(), magic.end(), data);
  };
  if (starts({0x1f, 0x8b})) return "It looks gzip-compressed: decompress it first (gunzip).";
  if (starts({0x28, 0xb5, 0x2f, 0xfd})) return "It looks zstd-compressed: decompress it first (unzstd).";
  if (starts({0xfd, '7', 'z', 'X', 'Z'})) return "It looks xz-compressed: decompress it first (unxz).";
  if (starts({'B', 'Z', 'h'})) return "It looks bzip2-compressed: decompress it first (bunzip2).";
  if (starts({'P', 'K', 3, 4})) return "It looks like a zip archive: unpack it first.";
  if (starts({0x7f, 'E', 'L', 'F'})) return "It looks like an executable (ELF).";
  if (starts({'S', 'Q', 'L', 'i', 't', 'e'})) return "It looks like an SQLite database.";
  const size_t n = std::min<size_t>(size, 512);
  // Text: no control bytes, and mostly ASCII whatever the encoding of the rest.
  const auto control = std::count_if(data, data + n, [](uint8_t c) {
    return (c < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
  });
  const auto ascii = std::count_if(data, data + n, [](uint8_t c) { return c < 0x80; });
  const bool text = n > 0 && control == 0 && static_cast<size_t>(ascii) * 2 > n;
  if (text) {
    const auto* first = std::find_if(data, data + n, [](uint8_t c) { return std::isspace(c) == 0; });
    if (first != data + n && (*first == '{' || *first == '[')) {
      return "It looks like JSON: convert the PyTorch or Kineto trace to Chakra first.";
    }
    return "It looks like a text file.";
  }
  if (std::all_of(data, data + n, [](uint8_t c) { return c == 0; })) return "It starts with zero bytes only.";
  return "Its first bytes are no known format; was it written by a Chakra feeder or converter?";
}

}  // namespace

ChakraStream::ChakraStream(const std::string& path) : ChakraStream(InputFile(path, kTraceInput)) {}

ChakraStream::ChakraStream(InputFile file)
    : path_(file.path()), file_(std::move(file)), file_bytes_(file_.bytes()) {
  file_.advise_sequential();
  if (file_bytes_ == 0) {
    throw UserError(
        ExitCode::trace,
        fmt::format("{}: not a Chakra trace: the file is empty. Generate or copy it again.", path_));
  }
  buffer_.resize(static_cast<size_t>(std::min<uint64_t>(kBufferBytes, file_bytes_)));
  fill(buffer_.size());
  RawMessage first;
  if (!next_message(first)) fail_not_chakra("it has no first message.");
  check_metadata(first);
  metadata_.assign(first.data, first.data + first.size);
  have_metadata_ = true;
}

void ChakraStream::fail(uint64_t offset, const std::string& what) const {
  throw UserError(ExitCode::trace, fmt::format("{}: byte {}, node number {} of the file: {}", path_, offset,
                                               nodes_read_ + 1, what));
}

void ChakraStream::fail_not_chakra(const std::string& why) const {
  const size_t n = static_cast<size_t>(std::min<uint64_t>(512, file_bytes_));
  std::vector<uint8_t> head(n);
  const size_t got = file_.read(0, head.data(), n);
  throw UserError(ExitCode::trace, fmt::format("{}: byte 0: not a Chakra trace: {} {}", path_, why,
                                               looks_like(head.data(), got)));
}

void ChakraStream::check_metadata(const RawMessage& message) const {
  // Only the two known fields, with their wire types, and well-formed inside: anything else is another
  // format.
  wire::Cursor c(message.data, message.size);
  bool good = true;
  while (good && !c.done()) {
    uint32_t field = 0, type = 0;
    wire::Cursor sub;
    good = c.tag(field, type) && (field == 1 || field == 2) && type == wire::kBytes && c.bytes(sub);
    while (good && field == 2 && !sub.done()) {
      uint32_t f = 0, t = 0;
      good = sub.tag(f, t) && sub.skip(t);
    }
  }
  if (!good) fail_not_chakra("its first message is no GlobalMetadata.");
}

void ChakraStream::fill(size_t wanted) {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (wanted > buffer_.size()) buffer_.resize(wanted);
  const auto want =
      static_cast<size_t>(std::min<uint64_t>(buffer_.size() - end_, file_bytes_ - read_offset_));
  const size_t got = file_.read(read_offset_, buffer_.data() + end_, want);
  end_ += got;
  read_offset_ += got;
  if (got < want) fail(read_offset_, "the file became shorter while it was read.");
}

bool ChakraStream::next_message(RawMessage& message) {
  if (end_ - begin_ < 10 && read_offset_ < file_bytes_) fill(0);
  if (begin_ == end_) return false;
  const uint64_t offset = read_offset_ - (end_ - begin_);
  wire::Cursor c(buffer_.data() + begin_, end_ - begin_);
  uint64_t size = 0;
  if (!c.varint(size)) {
    const bool at_end = file_bytes_ - offset < 10;
    if (!have_metadata_) fail_not_chakra("its first length is malformed.");
    fail(offset, at_end ? "truncated: the file ends inside a message's length. Generate or copy it again."
                        : "corrupt: a message's length is no valid varint. Generate or copy the file again.");
  }
  const size_t prefix = end_ - begin_ - c.left();
  if (size > kMaxMessageBytes) {
    if (!have_metadata_) fail_not_chakra(fmt::format("its first message would have {} bytes.", size));
    fail(offset,
         fmt::format("corrupt: a message of {} bytes (more than the {} allowed). Generate or copy the file "
                     "again.",
                     size, kMaxMessageBytes));
  }
  const uint64_t left = file_bytes_ - offset - prefix;
  if (size > left) {
    if (!have_metadata_)
      fail_not_chakra(fmt::format("its first message would have {} bytes, the file {} more.", size, left));
    fail(offset,
         fmt::format(
             "truncated: the message's length says {} bytes, the file has {} more. Generate or copy it "
             "again.",
             size, left));
  }
  if (prefix + size > end_ - begin_) fill(prefix + static_cast<size_t>(size));
  message.data = buffer_.data() + begin_ + prefix;
  message.size = static_cast<size_t>(size);
  message.offset = offset;
  begin_ += prefix + message.size;
  return true;
}

bool ChakraStream::next(RawMessage& message) {
  if (!next_message(message)) return false;
  ++nodes_read_;
  return true;
}

bool ChakraStream::next(ChakraProtoMsg::Node& node, uint64_t most_bytes) {
  RawMessage message;
  if (!next_message(message)) return false;
  if (message.size > most_bytes) {
    fail(message.offset, fmt::format("a node of {} bytes, more than the {} that are allowed here.",
                                     message.size, most_bytes));
  }
  const google::protobuf::LogSilencer silent;  // it prints what the error below says
  if (!node.ParseFromArray(message.data, static_cast<int>(message.size))) {
    fail(message.offset, "corrupt: the message is no Chakra Node. Generate or copy the file again.");
  }
  ++nodes_read_;
  return true;
}

ChakraProtoMsg::GlobalMetadata ChakraStream::metadata() const {
  ChakraProtoMsg::GlobalMetadata result;
  const google::protobuf::LogSilencer silent;
  if (!result.ParseFromArray(metadata_.data(), static_cast<int>(metadata_.size()))) {
    fail_not_chakra("its first message is no GlobalMetadata.");
  }
  return result;
}

}  // namespace weft::trace

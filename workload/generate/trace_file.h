// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The files that the generator of training steps writes. Private to it.

#ifndef WEFT_WORKLOAD_GENERATE_TRACE_FILE_H
#define WEFT_WORKLOAD_GENERATE_TRACE_FILE_H

#include <cstdint>
#include <fstream>
#include <string>

namespace google::protobuf {
class MessageLite;
}

namespace weft::generate {

/// A file that is either complete or not there.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(const std::string& text);
  void close();
  uint64_t bytes() const { return bytes_; }

 private:
  void check() const;

  std::string path_;
  std::ofstream stream_;
  uint64_t bytes_ = 0;
  bool complete_ = false;
};

/// Length-delimited protobuf messages, written in pieces of about 1 MiB.
class TraceFile {
 public:
  explicit TraceFile(const std::string& path) : file_(path) {}

  void write(const google::protobuf::MessageLite& message);
  void close();
  uint64_t bytes() const { return file_.bytes() + buffer_.size(); }

 private:
  void drain();

  OutputFile file_;
  std::string buffer_;
};

/// <out>/<name>, for traces of so many ranks; the folder is created. Throws UserError(usage) for a name with
/// folders, for a folder that cannot be created, and when traces of a larger job are there, which would be
/// taken for this job's. `what`: the generator.
std::string trace_prefix(const char* what, const std::string& out, const std::string& name, uint32_t ranks);

}  // namespace weft::generate

#endif

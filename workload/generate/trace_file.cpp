// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/generate/trace_file.h"

#include <fmt/format.h>
#include <google/protobuf/message_lite.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "configs/stop.h"
#include "configs/types.h"
#include "configs/varint.h"
#include "workload/generate/llm_shape.h"
#include "workload/generate/parameter_checks.h"

namespace weft::generate {
namespace {

std::string reason() {
  return errno != 0 ? std::strerror(errno) : "unknown reason";
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  errno = 0;
  stream_.open(path_, std::ios::binary | std::ios::trunc);
  if (!stream_)
    throw UserError(ExitCode::usage,
                    fmt::format("weft generate: cannot write {}: {}; give --out a folder that can be written",
                                path_, reason()));
}

OutputFile::~OutputFile() {
  if (complete_) return;
  stream_.close();
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void OutputFile::write(const std::string& text) {
  errno = 0;
  stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
  check();
  bytes_ += text.size();
}

void OutputFile::close() {
  errno = 0;
  stream_.flush();
  check();
  stream_.close();
  check();
  complete_ = true;
}

void OutputFile::check() const {
  if (stream_) return;
  throw UserError(ExitCode::internal,
                  fmt::format("weft generate llm: writing {} failed: {}; the file was removed. "
                              "Make room or give --out another folder.",
                              path_, reason()));
}

void TraceFile::write(const google::protobuf::MessageLite& message) {
  check_stop();
  append_varint(buffer_, message.ByteSizeLong());
  // The schema has no map fields, the only ones whose order protobuf leaves open.
  message.AppendToString(&buffer_);
  if (buffer_.size() >= (1u << 20)) drain();
}

void TraceFile::close() {
  drain();
  file_.close();
}

void TraceFile::drain() {
  file_.write(buffer_);
  buffer_.clear();
}

std::string trace_prefix(const char* what, const std::string& out, const std::string& name, uint32_t ranks) {
  const ParameterChecks checks(what);
  if (name.empty() || name.find('/') != std::string::npos)
    checks.refuse(
        fmt::format("name is \"{}\"; it must be a file name without folders, as in \"{}\"", name, what));
  std::error_code error;
  const std::filesystem::path folder = out.empty() ? "." : out;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error))
    checks.refuse(fmt::format("cannot create the folder {}: {}; give --out a folder that can be written",
                              folder.string(),
                              error ? error.message() : "a file of that name is in the way"));
  const std::string prefix = (folder / name).string();
  const std::string beyond = fmt::format("{}.{}.et", prefix, ranks);
  if (std::filesystem::exists(beyond, error))
    checks.refuse(fmt::format(
        "{} is there already, but this job has only ranks 0 to {}; remove the older traces, or choose "
        "another --out or --name",
        beyond, ranks - 1));
  return prefix;
}

}  // namespace weft::generate

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/trace_set.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "configs/stop.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_writer.h"

namespace weft::convert {

std::string output_prefix(const std::string& out, const std::string& name, uint32_t ranks) {
  const auto refuse = [](const std::string& what) {
    throw UserError(ExitCode::usage, "weft trace convert: " + what);
  };
  if (name.empty() || name.find('/') != std::string::npos)
    refuse(fmt::format("--name '{}' must be a file name without folders; name those with --out", name));
  std::error_code error;
  const std::filesystem::path folder = out.empty() ? "." : out;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder, error))
    refuse(fmt::format("cannot create the folder {}: {}; give --out a folder that can be written",
                       folder.string(), error ? error.message() : "a file of that name is in the way"));
  const std::string prefix = (folder / name).string();
  const std::string beyond = fmt::format("{}.{}.et", prefix, ranks);
  if (std::filesystem::exists(beyond, error))
    refuse(fmt::format(
        "{} is there already, but these traces have ranks 0 to {} only; remove the older ones, or "
        "choose another --out or --name",
        beyond, ranks - 1));
  return prefix;
}

RankFile::RankFile(const std::string& prefix, uint32_t rank)
    : writer_(std::make_unique<trace::ChakraWriter>(fmt::format("{}.{}.et", prefix, rank))),
      node_(std::make_unique<ChakraProtoMsg::Node>()) {}

RankFile::~RankFile() = default;

void RankFile::begin(uint64_t id, const std::string& name, Type type) {
  check_stop();
  node_->Clear();
  node_->set_id(id);
  node_->set_name(name);
  node_->set_type(static_cast<ChakraProtoMsg::NodeType>(type));
}

void RankFile::data(uint64_t dependency) {
  node_->add_data_deps(dependency);
}
void RankFile::control(uint64_t dependency) {
  node_->add_ctrl_deps(dependency);
}

void RankFile::duration(Picoseconds time) {
  constexpr Picoseconds kMicro = 1000000;
  node_->set_duration_micros(time / kMicro + (time % kMicro != 0 ? 1 : 0));
  if (time % kMicro != 0 || time == 0) number("duration_ps", time);
}

ChakraProtoMsg::AttributeProto& RankFile::attribute(const char* name) {
  ChakraProtoMsg::AttributeProto& a = *node_->add_attr();
  a.set_name(name);
  return a;
}

void RankFile::number(const char* name, uint64_t value) {
  attribute(name).set_uint64_val(value);
}
void RankFile::flag(const char* name, bool value) {
  attribute(name).set_bool_val(value);
}
void RankFile::text(const char* name, const std::string& value) {
  attribute(name).set_string_val(value);
}

void RankFile::end() {
  writer_->write(*node_);
}
uint64_t RankFile::nodes() const {
  return writer_->nodes();
}
void RankFile::close() {
  writer_->close();
}

}  // namespace weft::convert

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Small traces written to a temporary folder, and a check on an error's text.

#ifndef WEFT_TESTS_TRACE_TRACE_FILES_H
#define WEFT_TESTS_TRACE_TRACE_FILES_H

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "configs/types.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_writer.h"

namespace weft::trace::test {

using PbNode = ChakraProtoMsg::Node;

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weft_trace_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

inline void attribute(PbNode& node, const std::string& name, int64_t value) {
  auto* a = node.add_attr();
  a->set_name(name);
  a->set_int64_val(value);
}

inline PbNode make(uint64_t id, const std::string& name, ChakraProtoMsg::NodeType type,
                   std::initializer_list<uint64_t> data_deps = {}) {
  PbNode node;
  node.set_id(id);
  node.set_name(name);
  node.set_type(type);
  for (uint64_t d : data_deps) node.add_data_deps(d);
  return node;
}

inline PbNode comp(uint64_t id, std::initializer_list<uint64_t> data_deps = {}, uint64_t micros = 1) {
  PbNode node = make(id, "comp" + std::to_string(id), ChakraProtoMsg::COMP_NODE, data_deps);
  node.set_duration_micros(micros);
  return node;
}

inline PbNode collective(uint64_t id, ChakraProtoMsg::CollectiveCommType op, int64_t bytes,
                         const std::string& group = "") {
  PbNode node = make(id, "coll" + std::to_string(id), ChakraProtoMsg::COMM_COLL_NODE);
  attribute(node, "comm_type", op);
  attribute(node, "comm_size", bytes);
  if (!group.empty()) {
    auto* a = node.add_attr();
    a->set_name("pg_name");
    a->set_string_val(group);
  }
  return node;
}

inline PbNode send(uint64_t id, int64_t to, int64_t bytes, int64_t tag) {
  PbNode node = make(id, "send" + std::to_string(id), ChakraProtoMsg::COMM_SEND_NODE);
  attribute(node, "comm_dst", to);
  attribute(node, "comm_size", bytes);
  attribute(node, "comm_tag", tag);
  return node;
}

inline PbNode receive(uint64_t id, int64_t from, int64_t bytes, int64_t tag) {
  PbNode node = make(id, "recv" + std::to_string(id), ChakraProtoMsg::COMM_RECV_NODE);
  attribute(node, "comm_src", from);
  attribute(node, "comm_size", bytes);
  attribute(node, "comm_tag", tag);
  return node;
}

/// Writes the file and gives the offset of every node.
inline std::vector<uint64_t> write_trace(const std::string& path, const std::vector<PbNode>& nodes) {
  std::vector<uint64_t> offsets;
  ChakraWriter writer(path);
  for (const auto& node : nodes) {
    offsets.push_back(writer.offset());
    writer.write(node);
  }
  writer.close();
  return offsets;
}

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void spit(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// `action` throws UserError(code) whose text holds every one of `parts`.
template <typename F>
void expect_error(F&& action, std::initializer_list<std::string> parts, ExitCode code = ExitCode::trace) {
  try {
    action();
  } catch (const UserError& e) {
    EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(code));
    for (const auto& part : parts)
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "no \"" << part << "\" in: " << e.what();
    return;
  }
  ADD_FAILURE() << "no error was reported";
}

}  // namespace weft::trace::test

#endif

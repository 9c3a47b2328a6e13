// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/goal/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/input_file.h"
#include "workload/goal/readers.h"

namespace weft::goal {

const char* to_string(Kind kind) {
  return kind == Kind::send ? "send" : kind == Kind::receive ? "recv" : "calc";
}

std::string_view RankProgram::label(uint32_t operation) const {
  if (operation >= name_ends.size()) return {};
  const uint64_t begin = operation == 0 ? 0 : name_ends[operation - 1];
  return std::string_view(names).substr(begin, name_ends[operation] - begin);
}

uint64_t Program::operations() const {
  uint64_t n = 0;
  for (const RankProgram& rank : ranks) n += rank.operations.size();
  return n;
}

uint32_t Program::cpus() const {
  uint32_t most = 0;
  for (const RankProgram& rank : ranks)
    for (const Operation& op : rank.operations) most = std::max<uint32_t>(most, op.cpu);
  return most + 1;
}

uint32_t Program::nics() const {
  uint32_t most = 0;
  for (const RankProgram& rank : ranks)
    for (const Operation& op : rank.operations) most = std::max<uint32_t>(most, op.nic);
  return most + 1;
}

std::string Program::where(uint32_t rank, uint32_t operation) const {
  const Operation& op = ranks[rank].operations[operation];
  const std::string_view label = ranks[rank].label(operation);
  const auto number = [](uint32_t n) { return n == kAny ? std::string("any") : std::to_string(n); };
  const std::string what =
      op.kind == Kind::calc
          ? fmt::format("calc {} ns", op.size)
          : fmt::format("{} {} B {} rank {}, tag {}", to_string(op.kind), op.size,
                        op.kind == Kind::send ? "to" : "from", number(op.peer), number(op.tag));
  return fmt::format(
      "{}, {} {}: rank {}, {} ({})", path, binary ? "byte" : "line", op.place, rank,
      label.empty() ? fmt::format("operation {}", operation) : fmt::format("label {}", label.substr(0, 60)),
      what);
}

Program read_program(const std::string& path) {
  const InputFile file(path, kGoalInput);
  Program program = is_binary(file) ? read_binary(file) : read_text(file);
  check_program(program);
  return program;
}

}  // namespace weft::goal

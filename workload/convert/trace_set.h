// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a converter writes, and what it says about it.

#ifndef WEFT_WORKLOAD_CONVERT_TRACE_SET_H
#define WEFT_WORKLOAD_CONVERT_TRACE_SET_H

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "configs/types.h"

namespace ChakraProtoMsg {
class AttributeProto;
class Node;
}  // namespace ChakraProtoMsg

namespace weft::trace {
class ChakraWriter;
}

namespace weft::convert {

/// What a converter has met, mended and written.
struct Report {
  std::string prefix;       ///< rank r is <prefix>.<r>.et
  std::string groups_file;  ///< "": there are no groups
  uint32_t ranks = 0;
  uint64_t nodes = 0;
  std::vector<std::pair<std::string, uint64_t>>
      counts;  ///< what, and how many; also zeros that say something
  std::vector<std::string> warnings;

  void count(std::string what, uint64_t n) { counts.emplace_back(std::move(what), n); }
};

/// OUT/NAME, after OUT was made. Throws UserError(usage) for a name with folders, a folder that cannot be
/// made, and when a rank `ranks` of other traces is there, which would be read with these.
std::string output_prefix(const std::string& out, const std::string& name, uint32_t ranks);

enum class Type : uint8_t { metadata = 1, comp = 4, send = 5, receive = 6, collective = 7 };

/// The trace of one rank, node by node.
class RankFile {
 public:
  /// Throws UserError(internal) if it cannot be written.
  RankFile(const std::string& prefix, uint32_t rank);
  ~RankFile();

  void begin(uint64_t id, const std::string& name, Type type);
  void data(uint64_t dependency);
  void control(uint64_t dependency);
  /// Exact, also in duration_micros, rounded up, for other readers.
  void duration(Picoseconds time);
  void number(const char* attribute, uint64_t value);
  void flag(const char* attribute, bool value);
  void text(const char* attribute, const std::string& value);
  void end();

  uint64_t nodes() const;
  void close();

 private:
  ChakraProtoMsg::AttributeProto& attribute(const char* name);

  std::unique_ptr<trace::ChakraWriter> writer_;
  std::unique_ptr<ChakraProtoMsg::Node> node_;
};

}  // namespace weft::convert

#endif

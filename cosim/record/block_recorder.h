// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Records what crosses the boundary of one block of a machine. It stands at no place of its own: the machine
// puts a border into each of the block's links, which changes no time.

#ifndef WEFT_COSIM_RECORD_BLOCK_RECORDER_H
#define WEFT_COSIM_RECORD_BLOCK_RECORDER_H

#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "configs/config.h"
#include "cosim/record/recording.h"
#include "sc_models/boundary.h"
#include "sc_models/node_watch.h"

namespace weft::cosim {

/// The name of a block as a machine has it: `npu[3].nmu` and `npu3.nmu` are `nmu3`.
std::string block_name(const std::string& written);

/// Of what decides on a machine and its jobs; where results go does not.
uint64_t configuration_digest(const Config& config);

class BlockRecorder final : public BoundaryListener, private NodeWatch {
 public:
  /// What `block` may be: `nmu3`, `npu[3].nmu`, `switch0_1`, `packet0_0.router5`, `hbm3`, `npu3`. `program`:
  /// its version.
  BlockRecorder(const std::string& block, std::string file, const Config& config, std::string program);
  ~BlockRecorder() override;

  fabric::CrossingWatch watch(const JoinedLink& link) override;
  fabric::FlitWatch watch_packets(const JoinedLink& link) override;

  fabric::CrossingWatch watch_messages(const BlockEnd& nmu) override;
  MemoryTarget::AccessWatch watch_accesses(const MemoryTarget& memory) override;
  NodeWatch* watch_nodes(const std::string& npu) override;
  /// Errors: UserError(usage).
  void no_nodes(const std::string& npu) override;

  /// When the machine is built. Errors: UserError(usage) for a block that has no links with two ends of their
  /// own, and for a file that cannot be written.
  void begin();
  /// When the simulation is over.
  void end(const std::vector<RecordedCollective>& collectives);

  const std::string& block() const { return header_.block; }
  const std::string& file() const { return file_; }
  uint64_t events() const { return writer_ ? writer_->events() : 0; }
  uint64_t bytes() const { return writer_ ? writer_->bytes() : 0; }

 private:
  void started(const trace::Node& node, Picoseconds time) override;
  void answered(const trace::Node& node, Picoseconds at) override;
  /// Is the block at an end of the link, and at which port? `out`: it has the link's initiator.
  bool take(const JoinedLink& link, const char* level, bool& initiator, uint32_t& port);
  template <typename What>
  void add(uint32_t port, bool into, const What& what);

  RecordingHeader header_;
  std::string file_;
  std::set<std::string> seen_;  ///< blocks that it could have been
  std::unique_ptr<RecordingWriter> writer_;
  std::unordered_map<trace::NodeIndex, uint64_t> open_;  ///< nodes that run, and their numbers
  uint64_t nodes_ = 0;                                   ///< that have started
};

}  // namespace weft::cosim

#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The binary form (little endian, packed), as LogGOPSim's txt2bin writes it:
//
//     u64 4223; u32 ranks; u8 highest cpu, u8 highest nic; ranks x (u64 begin, u64 end)
//     at each begin: u32 nodes, u32 roots, roots x u32 node; nodes x 39 bytes; u32 nodes that wait
//
// Begins and ends count from after the first 8 bytes.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "configs/stop.h"
#include "workload/goal/readers.h"

namespace weft::goal {
namespace {

constexpr uint64_t kBase = 8;
constexpr uint64_t kNodeBytes = 39;

uint64_t little(const unsigned char* bytes, int count) {
  uint64_t value = 0;
  for (int i = count; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

class BinaryReader {
 public:
  explicit BinaryReader(const InputFile& file) : file_(file) {
    program_.path = file.path();
    program_.binary = true;
  }

  Program read() {
    const std::vector<unsigned char> head = bytes(8, 6, "the header");
    const uint64_t ranks = little(&head[0], 4);
    highest_cpu_ = head[4];
    highest_nic_ = head[5];
    if (ranks == 0 || ranks > kMostRanks)
      fail(8, fmt::format("{} ranks; a program has 1 to {}", ranks, kMostRanks));
    if (file_.bytes() < 14 + ranks * 16)
      fail(file_.bytes(), fmt::format("the file ends within the table of its {} ranks; it was cut", ranks));
    const std::vector<unsigned char> table = bytes(14, ranks * 16, "the table of ranks");
    program_.ranks.resize(ranks);
    for (uint64_t r = 0; r < ranks; ++r) {
      const uint64_t begin = little(&table[r * 16], 8);
      const uint64_t end = little(&table[r * 16 + 8], 8);
      if (begin > end || end > file_.bytes() - kBase)
        fail(14 + r * 16,
             fmt::format(
                 "rank {} goes from byte {} to {}, and the file has {} after its first 8; it was cut, or "
                 "is no GOAL file",
                 r, begin, end, file_.bytes() - kBase));
      read_rank(static_cast<uint32_t>(r), kBase + begin, kBase + end);
    }
    return std::move(program_);
  }

 private:
  [[noreturn]] void fail(uint64_t at, const std::string& what) const {
    throw UserError(ExitCode::trace, fmt::format("{}, byte {}: {}", file_.path(), at, what));
  }

  std::vector<unsigned char> bytes(uint64_t at, uint64_t count, const std::string& what) const {
    if (count > file_.bytes() || at > file_.bytes() - count)
      fail(file_.bytes(), fmt::format("the file ends within {}; it was cut", what));
    std::vector<unsigned char> data(count);
    if (file_.read(at, data.data(), count) != count)
      fail(at, fmt::format("the file ends within {}; it was cut", what));
    return data;
  }

  /// Where a rank's parts are.
  struct Block {
    uint32_t rank;
    uint32_t nodes;
    uint64_t at;       ///< of its first node
    uint64_t waiting;  ///< entries of its table of nodes that wait
  };

  void read_rank(uint32_t r, uint64_t begin, uint64_t end) {
    const std::string name = fmt::format("rank {}", r);
    const auto need = [&](uint64_t at, uint64_t count) {
      if (end - at < count)
        fail(at, fmt::format("{} ends at byte {}, within its nodes; the file was cut or its table is wrong",
                             name, end));
    };
    need(begin, 8);
    const std::vector<unsigned char> counts = bytes(begin, 8, name);
    const uint64_t nodes = little(&counts[0], 4);
    const uint64_t roots = little(&counts[4], 4);
    if (roots > nodes) fail(begin + 4, fmt::format("{} has {} roots of {} nodes", name, roots, nodes));
    need(begin + 8, roots * 4 + nodes * kNodeBytes);
    const Block block{r, static_cast<uint32_t>(nodes), begin + 8 + roots * 4,
                      (end - (begin + 8 + roots * 4 + nodes * kNodeBytes)) / 4};
    const std::vector<unsigned char> first = bytes(begin + 8, roots * 4, name);
    const std::vector<unsigned char> data = bytes(block.at, nodes * kNodeBytes, name);
    const std::vector<unsigned char> waiting = bytes(block.at + nodes * kNodeBytes, block.waiting * 4, name);
    for (uint64_t i = 0; i < nodes; ++i) read_node(block, static_cast<uint32_t>(i), &data[i * 39], waiting);
    check_counts(block, data, first);
  }

  void read_node(const Block& block, uint32_t i, const unsigned char* node,
                 const std::vector<unsigned char>& waiting) {
    check_stop();
    RankProgram& rank = program_.ranks[block.rank];
    const uint64_t at = block.at + i * kNodeBytes;
    const std::string name = fmt::format("rank {}, operation {}", block.rank, i);
    Operation op;
    op.place = at;
    if (node[4] < 1 || node[4] > 3)
      fail(at + 4, fmt::format("{} has type {}; types are 1 (send), 2 (recv) and 3 (calc)", name, node[4]));
    op.kind = static_cast<Kind>(node[4]);
    op.peer = static_cast<uint32_t>(little(node + 5, 4));
    op.size = little(node + 9, 8);
    op.tag = static_cast<uint32_t>(little(node + 17, 4));
    op.cpu = node[21];
    op.nic = node[22];
    if (op.cpu > highest_cpu_ || op.nic > highest_nic_)
      fail(at + 21, fmt::format("{} is on cpu {}, nic {}; the header says that {} and {} are the highest",
                                name, op.cpu, op.nic, highest_cpu_, highest_nic_));
    if (op.kind == Kind::calc) {
      op.peer = op.tag = 0;
      if (op.size > ~uint64_t{0} / 1000)
        fail(at + 9, fmt::format("{} lasts {} ns, more than simulated time holds (213 days)", name, op.size));
    } else {
      const bool any = op.kind == Kind::receive && op.peer == kAny;
      if (!any && op.peer >= program_.ranks.size())
        fail(at + 5, fmt::format("{}: rank {} is out of range: ranks are 0 to {}", name, op.peer,
                                 program_.ranks.size() - 1));
      if (op.kind == Kind::send && op.tag == kAny) fail(at + 17, fmt::format("{}: a send needs a tag", name));
    }
    rank.operations.push_back(op);
    for (const bool start : {false, true}) {
      const uint64_t count = little(node + (start ? 31 : 23), 4);
      const uint64_t first = little(node + (start ? 35 : 27), 4);
      if (count != 0 && (first > block.waiting || count > block.waiting - first))
        fail(at + (start ? 31 : 23),
             fmt::format(
                 "{}: those that wait for its {} are entries {} to {} of a table of {}; the file was cut "
                 "or is broken",
                 name, start ? "start" : "end", first, first + count - 1, block.waiting));
      for (uint64_t k = 0; k < count; ++k) {
        const uint64_t after = little(&waiting[(first + k) * 4], 4);
        if (after >= block.nodes)
          fail(at,
               fmt::format("{}: operation {} waits for it, and the rank has {}", name, after, block.nodes));
        rank.dependencies.push_back({i, static_cast<uint32_t>(after), start});
      }
    }
  }

  void check_counts(const Block& block, const std::vector<unsigned char>& data,
                    const std::vector<unsigned char>& roots) {
    const RankProgram& rank = program_.ranks[block.rank];
    std::vector<uint64_t> unmet(block.nodes);
    for (const Dependency& d : rank.dependencies) ++unmet[d.after];
    std::vector<bool> root(block.nodes);
    for (size_t k = 0; k + 4 <= roots.size(); k += 4) {
      const uint64_t i = little(&roots[k], 4);
      if (i >= block.nodes)
        fail(block.at - roots.size() + k,
             fmt::format("rank {}: root {} of {} operations", block.rank, i, block.nodes));
      root[i] = true;
    }
    for (uint32_t i = 0; i < block.nodes; ++i) {
      const uint64_t at = block.at + i * kNodeBytes;
      const uint64_t said = little(&data[i * kNodeBytes], 4);
      if (said != unmet[i])
        fail(at, fmt::format(
                     "rank {}, operation {} says that it waits for {} others, and {} name it; the file is "
                     "broken",
                     block.rank, i, said, unmet[i]));
      if (root[i] != (unmet[i] == 0))
        fail(at, fmt::format("rank {}, operation {} waits for {} others and {} among the roots; the file is "
                             "broken",
                             block.rank, i, unmet[i], root[i] ? "is" : "is not"));
    }
  }

  const InputFile& file_;
  Program program_;
  uint8_t highest_cpu_ = 0;
  uint8_t highest_nic_ = 0;
};

}  // namespace

bool is_binary(const InputFile& file) {
  unsigned char head[8] = {};
  return file.read(0, head, sizeof head) == sizeof head && little(head, 8) == kMagic;
}

Program read_binary(const InputFile& file) {
  return BinaryReader(file).read();
}

}  // namespace weft::goal

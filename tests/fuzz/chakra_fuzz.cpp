// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The Chakra traces of one to three ranks: index, `trace info`, the check of the ranks against each other,
// and the feeders from the first node to the last. See split_files() for the input.

#include <deque>

#include "tests/fuzz/fuzz.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_stream.h"
#include "workload/trace/trace_info.h"
#include "workload/trace/workload_check.h"

namespace {

using namespace weft;
using weft::fuzz::expect;

constexpr size_t kMostRanks = 3;

std::string name_of(size_t rank) {
  return "t." + std::to_string(rank) + ".et";
}

void walk(const trace::JobTrace& job, uint32_t rank) {
  const auto feeder = job.feeder(rank);
  std::deque<trace::NodeIndex> taken;
  for (;;) {
    if (const trace::Node* node = feeder->take_ready()) {
      taken.push_back(node->index);
      continue;
    }
    if (taken.empty()) break;
    feeder->finished(taken.front());
    taken.pop_front();
  }
  expect(feeder->finished_count() == feeder->node_count(),
         "a trace that was accepted cannot be run to its end");
  expect(feeder->blocked(4).empty(), "nodes are blocked at the end");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::Folder folder;
  const auto files = fuzz::split_files(data, size, kMostRanks);
  for (size_t r = 0; r < files.size(); ++r) folder.write(name_of(r), files[r]);
  for (size_t r = files.size(); r < kMostRanks; ++r) folder.remove(name_of(r));

  bool good = true;
  for (size_t r = 0; r < files.size(); ++r) {
    good = fuzz::tolerate([&] {
             const std::vector<trace::TraceInfo> info{trace::trace_info(folder.file(name_of(r)))};
             expect(!trace::to_text(info).empty() && !trace::to_json(info).empty(), "no text");
           }) &&
           good;
    fuzz::tolerate([&] {
      trace::ChakraStream stream(folder.file(name_of(r)));
      static_cast<void>(stream.metadata());
      ChakraProtoMsg::Node node;
      while (stream.next(node)) {
      }
    });
  }
  for (const bool strict : {false, true}) {
    fuzz::tolerate([&] {
      const trace::JobTrace job =
          trace::open_job(folder.file("t"), static_cast<uint32_t>(files.size()), "", strict);
      expect(good, "a job's trace is good, and alone it is not");
      for (uint32_t r = 0; r < job.npus(); ++r) walk(job, r);
    });
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A trace of one rank that does not fit the memory it may use: how long the index and the feed take, and what
// they hold. Writes the trace to a temporary folder and removes it.
//
//   trace_bench [--mib 2048] [--shape chain|wide|shuffled] [--folder DIR]

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_writer.h"
#include "workload/trace/trace_feeder.h"
#include "workload/trace/trace_index.h"

namespace {

namespace pb = ChakraProtoMsg;
using Clock = std::chrono::steady_clock;
using weft::trace::Node;
using weft::trace::NodeIndex;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double mebibytes(uint64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

/// chain: each node needs the one before and one some way back. wide: four nodes in five need one of the last
/// thousand. shuffled: as wide, with ids that say nothing of the position in the file.
void generate(const std::string& path, uint64_t bytes, const std::string& shape) {
  weft::trace::ChakraWriter writer(path);
  std::mt19937_64 random(1);
  std::vector<uint64_t> recent;
  pb::Node node;
  auto attribute = [&](const char* name, int64_t value) {
    auto& a = *node.add_attr();
    a.set_name(name);
    a.set_int64_val(value);
  };
  for (uint64_t i = 0; writer.offset() < bytes; ++i) {
    // An odd multiplier permutes the ids.
    const uint64_t id = shape == "shuffled" ? (i * 0x9e3779b97f4a7c15ull) >> 16 : i;
    node.Clear();
    node.set_id(id);
    node.set_name("aten::layer_" + std::to_string(i % 96) + "/linear_forward_" + std::to_string(i));
    if (i % 16 == 15) {
      node.set_type(pb::COMM_COLL_NODE);
      attribute("comm_type", pb::ALL_REDUCE);
      attribute("comm_size", 1 << 20);
    } else {
      node.set_type(pb::COMP_NODE);
      node.set_duration_micros(1 + i % 50);
      attribute("num_ops", static_cast<int64_t>(random() % 1'000'000'000));
      attribute("tensor_size", static_cast<int64_t>(random() % 100'000'000));
    }
    if (!recent.empty()) {
      if (shape == "chain") {
        node.add_data_deps(recent.back());
        node.add_ctrl_deps(recent[random() % recent.size()]);
      } else if (random() % 5 != 0) {
        node.add_data_deps(recent[random() % recent.size()]);
      }
    }
    writer.write(node);
    if (recent.size() < 1000) {
      recent.push_back(id);
    } else if (shape == "chain") {
      recent.erase(recent.begin());
      recent.push_back(id);
    } else {
      recent[i % 1000] = id;
    }
  }
  writer.close();
}

void run(const std::string& path) {
  const double before = peak_mebibytes();
  auto start = Clock::now();
  const weft::trace::TraceIndex index(path, 0, {});
  const double indexed = seconds_since(start);
  const double size = mebibytes(index.stats().file_bytes);
  std::printf("file            %10.1f MiB, %u nodes\n", size, index.size());
  std::printf("index           %10.2f s, %.0f MiB/s\n", indexed, size / indexed);
  const double after_index = peak_mebibytes();
  start = Clock::now();
  weft::trace::TraceFeeder feeder(index);
  std::deque<NodeIndex> running;
  uint64_t window = 0;
  uint64_t taken = 0;
  while (feeder.finished_count() < feeder.node_count()) {
    while (const Node* node = feeder.take_ready()) {
      running.push_back(node->index);
      if (++taken % 4096 == 0) window = std::max(window, feeder.window_bytes());
    }
    if (running.empty()) {
      std::fprintf(stderr, "the feed stands still at %llu nodes\n",
                   static_cast<unsigned long long>(feeder.finished_count()));
      std::exit(1);
    }
    feeder.finished(running.front());
    running.pop_front();
  }
  const double fed = seconds_since(start);
  const double resident_index = mebibytes(index.memory_bytes() + feeder.walk_bytes());
  std::printf("feed            %10.2f s, %.2f million nodes/s\n", fed, index.size() / fed / 1e6);
  std::printf("index memory    %10.1f MiB, %.1f B a node (the walk's part included)\n", resident_index,
              resident_index * (1 << 20) / index.size());
  std::printf("window          %10.1f MiB at most\n", mebibytes(window));
  std::printf("peak resident   %10.1f MiB after the index, %.1f at the end, %.1f beside the index\n",
              after_index - before, peak_mebibytes() - before, peak_mebibytes() - before - resident_index);
}

}  // namespace

int main(int argc, char** argv) try {
  uint64_t size = 2048;
  std::string shape = "chain";
  std::string folder = std::filesystem::temp_directory_path().string();
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--mib") {
      size = std::strtoull(argv[i + 1], nullptr, 10);
    } else if (option == "--shape") {
      shape = argv[i + 1];
    } else if (option == "--folder") {
      folder = argv[i + 1];
    } else {
      std::fprintf(stderr, "trace_bench [--mib 2048] [--shape chain|wide|shuffled] [--folder DIR]\n");
      return 2;
    }
  }
  const std::string path = folder + "/weft_trace_bench_" + std::to_string(getpid()) + ".0.et";
  struct Remove {
    std::string path;
    ~Remove() {
      std::error_code ignored;
      std::filesystem::remove(path, ignored);
    }
  } remove{path};
  // Each part in a process of its own, so that the memory measured is its own.
  for (const bool writing : {true, false}) {
    const auto start = Clock::now();
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      try {
        if (writing) {
          generate(path, size << 20, shape);
        } else {
          run(path);
        }
      } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        _exit(1);
      }
      std::fflush(stdout);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
    if (writing) std::printf("shape %s, written in %.1f s\n", shape.c_str(), seconds_since(start));
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}

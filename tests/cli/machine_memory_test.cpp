// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a process may still take, from files as the kernel writes them.

#include "sc_main/machine_memory.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
constexpr uint64_t kGiB = uint64_t{1} << 30;

class MachineMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft_memory_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void meminfo(uint64_t available) const {
    put("/proc/meminfo", "MemTotal:       65536000 kB\nMemFree:         1000 kB\nMemAvailable:   " +
                             std::to_string(available / 1024) + " kB\nBuffers:  10 kB\n");
  }
  AvailableMemory available() const { return available_memory(root_); }

  std::string root_;
};

TEST_F(MachineMemory, NothingIsKnown) {
  EXPECT_EQ(available().what, "");
  EXPECT_EQ(available().bytes, ~uint64_t{0});
}

TEST_F(MachineMemory, OfTheMachine) {
  meminfo(8 * kGiB);
  EXPECT_EQ(available().bytes, 8 * kGiB);
  EXPECT_EQ(available().what, "available on this machine");
}

TEST_F(MachineMemory, OfControlGroupsOfVersion2AndThoseAbove) {
  meminfo(8 * kGiB);
  put("/proc/self/cgroup", "0::/user/job\n");
  put("/sys/fs/cgroup/user/job/memory.max", "max\n");
  put("/sys/fs/cgroup/user/job/memory.current", "1000\n");
  EXPECT_EQ(available().bytes, 8 * kGiB);
  put("/sys/fs/cgroup/user/memory.max", std::to_string(4 * kGiB) + "\n");
  put("/sys/fs/cgroup/user/memory.current", std::to_string(3 * kGiB) + "\n");
  put("/sys/fs/cgroup/user/memory.stat",
      "anon 5\nfile 7\ninactive_file " + std::to_string(kGiB) + "\nactive_file 3\n");
  EXPECT_EQ(available().bytes, 2 * kGiB) << "cached files can be taken back";
  EXPECT_NE(available().what.find("control group"), std::string::npos);
  put("/sys/fs/cgroup/user/job/memory.max", "500\n");
  EXPECT_EQ(available().bytes, 0u) << "more is held than the limit allows";
}

TEST_F(MachineMemory, OfControlGroupsOfVersion1) {
  meminfo(8 * kGiB);
  put("/proc/self/cgroup", "9:name=systemd:/\n5:cpu,memory:/box/inner\n0::/\n");
  // In a container the path is often that of the world outside; the mounted folder is the container's own.
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", std::to_string(3 * kGiB) + "\n");
  put("/sys/fs/cgroup/memory/memory.usage_in_bytes", std::to_string(kGiB) + "\n");
  put("/sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file " + std::to_string(kGiB / 2) + "\n");
  EXPECT_EQ(available().bytes, 3 * kGiB - kGiB / 2);
  put("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712\n");
  put("/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1\n");
  EXPECT_EQ(available().bytes, 3 * kGiB - kGiB / 2) << "no limit there";
}

TEST_F(MachineMemory, OfTheAddressSpace) {
  meminfo(800 * kGiB);
  put("/proc/self/statm", "1024 100 10 1 0 5 0\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 700 * kGiB;
  if (before.rlim_max != RLIM_INFINITY && before.rlim_max < limit.rlim_cur) GTEST_SKIP() << "limited already";
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer reserves more than any limit";
#endif
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  const AvailableMemory found = available();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(found.bytes, 700 * kGiB - 1024 * 4096);
  EXPECT_NE(found.what.find("ulimit -v"), std::string::npos);
}

TEST_F(MachineMemory, HoldsSomething) {
  EXPECT_GT(resident_memory(), uint64_t{1} << 20);
  EXPECT_LT(resident_memory(), 64 * kGiB);
}

}  // namespace
}  // namespace weft::cli

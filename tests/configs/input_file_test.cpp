// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The one reader of files: what it reads, and what it refuses without waiting or filling the memory.

#include "configs/input_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace weft {
namespace {

namespace fs = std::filesystem;

class InputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft_input_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  /// The error of reading the path as a whole, which names the path.
  static void expect(const std::string& path, const InputKind& kind, ExitCode code,
                     std::initializer_list<const char*> parts) {
    try {
      read_input(path, kind);
      ADD_FAILURE() << path << " was read";
    } catch (const UserError& e) {
      const std::string text = e.what();
      EXPECT_EQ(static_cast<int>(e.code()), static_cast<int>(code)) << text;
      EXPECT_EQ(text.find(path.substr(0, 200)), 0u) << text;
      for (const char* part : parts)
        EXPECT_NE(text.find(part), std::string::npos) << part << " not in " << text;
    }
  }

  fs::path folder_;
};

TEST_F(InputFileTest, ReadsWholeFilesOfAnyLength) {
  for (const size_t length :
       {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4097}, size_t{1} << 20}) {
    std::string text(length, 'x');
    for (size_t i = 0; i < length; i += 7) text[i] = static_cast<char>(i);
    write("f", text);
    EXPECT_EQ(read_input(at("f"), kGroupsInput), text) << length;
  }
  write("f", "through a link");
  fs::create_symlink(at("f"), at("link"));
  EXPECT_EQ(read_input(at("link"), kConfigurationInput), "through a link");
  // Says that it has no bytes, and has some.
  EXPECT_NE(read_input("/proc/self/status", kConfigurationInput).find("Name:"), std::string::npos);
}

TEST_F(InputFileTest, ReadsAtAnOffset) {
  write("f", "0123456789");
  const InputFile file(at("f"), kTraceInput);
  EXPECT_EQ(file.bytes(), 10u);
  char buffer[8] = {};
  EXPECT_EQ(file.read(7, buffer, 8), 3u);
  EXPECT_EQ(std::string(buffer, 3), "789");
  EXPECT_EQ(file.read(10, buffer, 8), 0u);
}

TEST_F(InputFileTest, SpecialFilesAreRefused) {
  ASSERT_EQ(::mkfifo(at("pipe").c_str(), 0600), 0);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_GE(fd, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, at("socket").c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  fs::create_symlink("/dev/zero", at("link"));
  for (const InputKind* kind :
       {&kConfigurationInput, &kRoutesInput, &kGroupsInput, &kPatternInput, &kTraceInput}) {
    expect("/dev/zero", *kind, kind->code, {"is a device", "not a regular file", kind->remedy});
    expect(at("link"), *kind, kind->code, {"is a device"});
    expect(at("pipe"), *kind, kind->code, {"is a pipe", "not a regular file"});
    expect(at("socket"), *kind, kind->code, {"is a socket"});
    expect(folder_.string(), *kind, kind->code, {"is a folder", "not a regular file"});
    expect(at("absent"), *kind, kind->code, {"no such", kind->noun, kind->remedy});
  }
  ::close(fd);
}

TEST_F(InputFileTest, PathsThatNoFileCanHaveAreBadUsage) {
  fs::create_symlink(at("b"), at("a"));
  fs::create_symlink(at("a"), at("b"));
  for (const InputKind* kind : {&kConfigurationInput, &kGroupsInput, &kTraceInput}) {
    expect(at("a"), *kind, ExitCode::usage, {"loop of symbolic links"});
    expect(at(std::string(256, 'n')), *kind, ExitCode::usage, {"too long", "255"});
    expect(std::string(5000, 'n'), *kind, ExitCode::usage, {"too long", "..."});
  }
  EXPECT_THROW(read_input(std::string("a\0b", 3), kGroupsInput), UserError);
}

TEST_F(InputFileTest, LargeFilesAreRefusedBeforeTheyAreRead) {
  write("large", "");
  fs::resize_file(at("large"), kConfigurationInput.most_bytes + 1);  // takes no room on the disk
  expect(at("large"), kConfigurationInput, ExitCode::usage, {"16777217 bytes", "16 MiB"});
  fs::resize_file(at("large"), uint64_t{1} << 40);
  expect(at("large"), kGroupsInput, ExitCode::trace, {"256 MiB"});
  EXPECT_NO_THROW(InputFile(at("large"), kTraceInput));  // what is streamed has no limit
}

TEST_F(InputFileTest, Exists) {
  EXPECT_TRUE(input_exists("/dev/zero"));
  EXPECT_FALSE(input_exists(at("absent")));
  EXPECT_FALSE(input_exists(std::string(5000, 'n')));
  fs::create_symlink(at("loop"), at("loop"));
  EXPECT_TRUE(input_exists(at("loop")));
}

}  // namespace
}  // namespace weft

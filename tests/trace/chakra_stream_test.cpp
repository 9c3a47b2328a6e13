// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/trace/chakra_stream.h"

#include <sys/stat.h>

#include <sys/resource.h>

#include "tests/trace/trace_files.h"
#include "workload/trace/file_pool.h"

namespace weft::trace::test {
namespace {

void read_all(const std::string& path) {
  ChakraStream stream(path);
  PbNode node;
  while (stream.next(node)) {
  }
}

TEST(ChakraStream, ReadsWhatTheWriterWrote) {
  TempFolder folder;
  const std::string path = folder / "a.0.et";
  std::vector<PbNode> nodes;
  for (uint64_t i = 0; i < 3000; ++i) {
    nodes.push_back(comp(i * 977, {i, i + 1}));
    nodes.back().set_name(std::string(i % 700, 'n'));
  }
  nodes[1500].set_name(std::string(ChakraStream::kBufferBytes * 2 + 5, 'x'));  // larger than the buffer
  const auto offsets = write_trace(path, nodes);

  ChakraStream stream(path);
  EXPECT_EQ(stream.metadata().version(), "0.0.4");
  PbNode node;
  for (const auto& expected : nodes) {
    ASSERT_TRUE(stream.next(node));
    ASSERT_EQ(node.SerializeAsString(), expected.SerializeAsString());
  }
  EXPECT_FALSE(stream.next(node));
  EXPECT_EQ(stream.nodes_read(), nodes.size());

  ChakraStream raw(path);
  RawMessage message;
  for (size_t i = 0; i < nodes.size(); ++i) {
    ASSERT_TRUE(raw.next(message));
    ASSERT_EQ(message.offset, offsets[i]);
  }
}

TEST(ChakraStream, EmptyMetadataAndNoNodesAreATrace) {
  TempFolder folder;
  const std::string path = folder / "a.0.et";
  ChakraWriter(path, ChakraProtoMsg::GlobalMetadata()).close();
  EXPECT_EQ(slurp(path), std::string(1, '\0'));
  EXPECT_NO_THROW(read_all(path));
}

TEST(ChakraStream, SaysWhatAnotherFormatLooksLike) {
  TempFolder folder;
  const std::string path = folder / "x.0.et";
  const auto expect = [&](const std::string& content, const std::string& words) {
    spit(path, content);
    expect_error([&] { read_all(path); }, {path, "not a Chakra trace", words});
  };
  expect("", "empty");
  expect(std::string("\x1f\x8b\x08\x00 and so on and on", 20), "gunzip");
  expect("{\n  \"schema\": \"1.0.2-chakra.0.0.4\", \"nodes\": []" + std::string(300, ' ') + "}", "JSON");
  expect("[" + std::string(200, ' ') + "]", "JSON");
  expect("This is a text file, not a trace at all.\n", "text file");
  expect(std::string("\x7f"
                     "ELF\x02\x01\x01\x00\x00\x00\x00\x00",
                     12),
         "ELF");
  expect("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "no known format");
  // Nodes from the first byte on: the metadata is missing.
  std::string node = comp(1).SerializeAsString();
  expect(std::string(1, static_cast<char>(node.size())) + node, "GlobalMetadata");
}

TEST(ChakraStream, MissingFileAndFolder) {
  TempFolder folder;
  expect_error([&] { read_all(folder / "none.0.et"); },
               {"none.0.et", "no such trace file", "check the path"});
  expect_error([&] { read_all(folder / "."); }, {"is a folder", "not a regular file"});
  expect_error([&] { read_all("/dev/zero"); }, {"/dev/zero", "is a device"});
  ASSERT_EQ(::mkfifo((folder / "pipe.0.et").c_str(), 0600), 0);
  expect_error([&] { read_all(folder / "pipe.0.et"); }, {"is a pipe"});
}

TEST(ChakraStream, AFileOfManyGiBIsStreamed) {
  TempFolder folder;
  const std::string path = folder / "large.0.et";
  write_trace(path, {comp(1), comp(2)});
  const auto written = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, uint64_t{64} << 30);  // zero bytes: messages of no length
  ChakraStream stream(path);
  RawMessage message;
  for (int i = 0; i < 100000; ++i) ASSERT_TRUE(stream.next(message)) << i;
  EXPECT_EQ(message.size, 0u);
  EXPECT_EQ(message.offset, written + 100000 - 3);
}

TEST(ChakraStream, TruncationAtEveryByteIsAnErrorThatNamesTheNode) {
  TempFolder folder;
  const std::string whole = folder / "whole.0.et";
  std::vector<PbNode> nodes = {comp(1), comp(2, {1}), comp(3, {2})};
  nodes[2].set_name(std::string(200, 'n'));  // a length of two bytes
  const auto offsets = write_trace(whole, nodes);
  const std::string content = slurp(whole);
  const std::string path = folder / "cut.0.et";
  for (size_t size = offsets[0]; size < content.size(); ++size) {
    spit(path, content.substr(0, size));
    size_t node = 0;
    while (node + 1 < offsets.size() && offsets[node + 1] <= size) ++node;
    if (size == offsets[node]) {
      EXPECT_NO_THROW(read_all(path));  // a shorter trace, but a whole one
    } else {
      expect_error([&] { read_all(path); },
                   {path, "byte " + std::to_string(offsets[node]), "node number " + std::to_string(node + 1),
                    "truncated", "again"});
    }
  }
}

TEST(ChakraStream, CorruptAndOversizeMessages) {
  TempFolder folder;
  const std::string path = folder / "bad.0.et";
  const auto offsets = write_trace(path, {comp(1), comp(2)});
  const std::string content = slurp(path);
  std::string bad = content;
  bad[offsets[1] + 1] = '\x0f';  // wire type 7
  spit(path, bad);
  expect_error([&] { read_all(path); },
               {path, "byte " + std::to_string(offsets[1]), "node number 2", "corrupt"});

  spit(path, content + "\xff\xff\xff\xff\x0f");  // 4 GiB
  expect_error([&] { read_all(path); },
               {"byte " + std::to_string(content.size()), "node number 3", "4294967295 bytes"});
  spit(path, content + std::string(11, '\xff') + "abc");
  expect_error([&] { read_all(path); }, {"node number 3", "no valid varint"});
}

TEST(ChakraWriter, ReportsWhereItCannotWrite) {
  TempFolder folder;
  expect_error([&] { ChakraWriter(folder / "no/such/folder.et"); },
               {"no/such/folder.et", "cannot be written"}, ExitCode::internal);
  if (std::filesystem::exists("/dev/full")) {
    expect_error(
        [&] {
          ChakraWriter writer("/dev/full");
          writer.write(comp(1));
          writer.close();
        },
        {"/dev/full", "writing failed", "Free some space"}, ExitCode::internal);
  }
}

TEST(FilePool, KeepsFewFilesOpen) {
  TempFolder folder;
  FilePool pool(3);
  std::vector<FilePool::FileId> ids;
  for (int i = 0; i < 20; ++i) {
    const std::string path = folder / std::to_string(i);
    spit(path, "content " + std::to_string(i));
    ids.push_back(pool.add(path));
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 20; ++i) {
      std::string text(2, ' ');
      const std::string number = std::to_string(i);
      pool.read(ids[static_cast<size_t>(i)], 8, text.data(), number.size());
      EXPECT_EQ(text.substr(0, number.size()), number);
      EXPECT_LE(pool.open_count(), 3u);
    }
  }
  char c = 0;
  expect_error([&] { pool.read(ids[0], 100, &c, 1); }, {folder / "0", "byte 100"});
}

TEST(FilePool, GivesDescriptorsBackWhenTheProcessRunsOut) {
  TempFolder folder;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = 40;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  {
    FilePool pool(1000);
    char c = 0;
    for (int i = 0; i < 100; ++i) {
      const std::string path = folder / std::to_string(i);
      if (i < 30) spit(path, "x");
      const auto id = pool.add(i < 30 ? path : folder / std::to_string(i % 30));
      EXPECT_NO_THROW(pool.read(id, 0, &c, 1));
    }
    EXPECT_LT(pool.open_count(), 40u);
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

}  // namespace
}  // namespace weft::trace::test

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The text of large tables is made by all processors, block by block, and written in its order.

#ifndef WEFT_SC_MAIN_FORMAT_IN_BLOCKS_H
#define WEFT_SC_MAIN_FORMAT_IN_BLOCKS_H

#include <algorithm>
#include <cstddef>
#include <deque>
#include <future>
#include <thread>

namespace weft::cli {

/// Calls `format(begin, end)` for all blocks of `rows` rows, of several at a time in other threads, and
/// `write` with what it returns, here and in order. What either of them throws comes out of here, when no
/// thread runs any more. A table of one block, and one on one processor, is made here.
template <typename Format, typename Write>
void format_in_blocks(size_t rows, const Format& format, const Write& write, size_t block = 4096) {
  const size_t threads = std::min(std::max(1u, std::thread::hardware_concurrency()), 8u);
  // Deferred: made here when it is asked for, as is a block for which no thread can be had.
  const auto where =
      threads == 1 || rows <= block ? std::launch::deferred : std::launch::async | std::launch::deferred;
  std::deque<std::future<decltype(format(rows, rows))>> made;
  size_t begun = 0;
  while (begun < rows || !made.empty()) {
    for (; begun < rows && made.size() < threads; begun += std::min(block, rows - begun))
      made.push_back(std::async(where, format, begun, std::min(rows, begun + block)));
    write(made.front().get());
    made.pop_front();
  }
}

}  // namespace weft::cli

#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "emulation/client/buffers.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

#include "emulation/protocol/elements.h"

namespace weft::emulation {
namespace {

[[noreturn]] void wrong(const std::string& text) {
  throw CallError(WEFT_ERROR_ARGUMENT, "collective: " + text);
}

uint64_t sum(const std::vector<uint64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}
uint64_t before(const std::vector<uint64_t>& counts, uint32_t member) {
  return std::accumulate(counts.begin(), counts.begin() + member, uint64_t{0});
}

bool rooted(uint32_t operation) {
  return operation == WEFT_BROADCAST || operation == WEFT_REDUCE || operation == WEFT_GATHER ||
         operation == WEFT_SCATTER;
}

/// Elements of member m's part, and of all parts before it.
uint64_t count_of(const BufferUse& use, uint32_t m) {
  return use.counts.empty() ? use.count : use.counts[m];
}
uint64_t offset_of(const BufferUse& use, uint32_t m) {
  return use.counts.empty() ? use.count * m : before(use.counts, m);
}
uint64_t all_of(const BufferUse& use) {
  return use.counts.empty() ? use.count * use.members : sum(use.counts);
}

bool in_place(const BufferUse& use) {
  return use.send == nullptr || use.send == use.receive;
}

const uint8_t* bytes_at(const void* data, uint64_t offset) {
  return data == nullptr ? nullptr : static_cast<const uint8_t*>(data) + offset;
}

/// Parts of the receive buffer, one a member: all get this one, as far as it reaches.
void repeat(const BufferUse& use, const std::vector<uint8_t>& part, const std::vector<uint64_t>& counts) {
  auto* to = static_cast<uint8_t*>(use.receive);
  for (uint32_t m = 0; m < use.members; ++m) {
    const uint64_t bytes = (counts.empty() ? use.count : counts[m]) * use.element_bytes;
    const uint64_t copied = std::min<uint64_t>(bytes, part.size());
    if (copied != 0) std::memcpy(to, part.data(), copied);
    if (bytes != copied) std::memset(to + copied, 0, bytes - copied);
    to += bytes;
  }
}

std::vector<uint8_t> copy_of(const Part& part) {
  if (part.data == nullptr) return {};
  const auto* from = static_cast<const uint8_t*>(part.data);
  return {from, from + part.bytes};
}

/// As if every member held what this one holds.
void mirror(const BufferUse& use) {
  const uint64_t eb = use.element_bytes;
  std::vector<uint8_t> own = copy_of(contribution(use));
  switch (use.operation) {
    case WEFT_ALL_REDUCE:
    case WEFT_REDUCE:
    case WEFT_REDUCE_SCATTER: {
      if (use.operation == WEFT_REDUCE && !use.root) return;
      const uint64_t skip = use.operation == WEFT_REDUCE_SCATTER ? offset_of(use, use.me) * eb : 0;
      const uint64_t times = use.reduction == WEFT_GATHERED ? use.members : 1;
      const uint64_t bytes = received_bytes(use) / times;
      if (own.size() < skip + bytes) return;
      for (uint64_t m = 0; m < times && bytes != 0; ++m)
        std::memmove(static_cast<uint8_t*>(use.receive) + m * bytes, own.data() + skip, bytes);
      if (can_reduce(use.type, use.reduction) && use.reduction != WEFT_AVG)
        replicate(use.type, use.reduction, use.receive, bytes / eb, use.members);
      return;
    }
    case WEFT_ALL_GATHER:
    case WEFT_GATHER:
      if (use.operation == WEFT_ALL_GATHER || use.root) repeat(use, own, use.counts);
      return;
    case WEFT_ALL_TO_ALL: {
      const uint64_t skip = std::min<uint64_t>(own.size(), offset_of(use, use.me) * eb);
      const uint64_t bytes = std::min<uint64_t>(own.size() - skip, count_of(use, use.me) * eb);
      own = {own.begin() + static_cast<std::ptrdiff_t>(skip),
             own.begin() + static_cast<std::ptrdiff_t>(skip + bytes)};
      repeat(use, own, use.receive_counts);
      return;
    }
    case WEFT_BROADCAST:
      if (use.send != nullptr && use.send != use.receive)
        std::memmove(use.receive, use.send, received_bytes(use));
      return;
    case WEFT_SCATTER:
      if (use.root && !own.empty()) {
        const uint64_t bytes = received_bytes(use);
        std::memmove(use.receive, own.data() + offset_of(use, use.me) * eb, bytes);
      } else if (!use.root) {
        std::memset(use.receive, 0, received_bytes(use));
      }
      return;
    default:
      return;
  }
}

}  // namespace

BufferUse use_of(const weft_coll_args& args, const CommView& view) {
  if (args.size < sizeof(weft_coll_args)) wrong("`size` is not set: call weft_coll_init()");
  if (args.operation > WEFT_BARRIER) wrong("operation " + std::to_string(args.operation) + " does not exist");
  const uint32_t bytes = bytes_of_type(args.type);
  if (bytes == 0) wrong("type " + std::to_string(args.type) + " does not exist");
  if (args.reduction > WEFT_GATHERED)
    wrong("reduction " + std::to_string(args.reduction) + " does not exist");
  if (rooted(args.operation) && (args.root < 0 || static_cast<uint32_t>(args.root) >= view.count))
    wrong("root " + std::to_string(args.root) + " is no member");
  BufferUse use;
  use.collective = true;
  use.operation = args.operation;
  use.type = args.type;
  use.reduction = args.reduction;
  use.element_bytes = args.type == WEFT_BYTE && args.element_bytes != 0 ? args.element_bytes : bytes;
  use.me = view.my_rank;
  use.members = view.count;
  use.root = rooted(args.operation) && static_cast<uint32_t>(args.root) == view.my_rank;
  use.count = args.count;
  if (args.counts != nullptr) use.counts.assign(args.counts, args.counts + view.count);
  if (args.receive_counts != nullptr)
    use.receive_counts.assign(args.receive_counts, args.receive_counts + view.count);
  if (args.operation == WEFT_ALL_TO_ALL && use.counts.empty() != use.receive_counts.empty())
    wrong("all_to_all needs `counts` and `receive_counts`, or neither");
  use.send = args.send;
  use.receive = args.receive;
  return use;
}

bool needs_server(const BufferUse& use, uint32_t data_mode) {
  if (data_mode == WEFT_DATA_FUNCTIONAL) return use.operation != WEFT_BARRIER;
  // A real root's data is there to be had.
  return data_mode == WEFT_DATA_MIRROR && (use.operation == WEFT_BROADCAST || use.operation == WEFT_SCATTER);
}

Part contribution(const BufferUse& use) {
  const uint64_t eb = use.element_bytes;
  const void* from = use.send != nullptr ? use.send : use.receive;
  if (from == nullptr) return {};
  switch (use.operation) {
    case WEFT_ALL_REDUCE:
    case WEFT_REDUCE:
      return {from, use.count * eb};
    case WEFT_BROADCAST:
      return use.root ? Part{from, use.count * eb} : Part{};
    case WEFT_ALL_GATHER:
    case WEFT_GATHER: {
      const bool whole = use.operation == WEFT_ALL_GATHER || use.root;
      const uint64_t bytes = (whole ? count_of(use, use.me) : use.count) * eb;
      return {in_place(use) && whole ? bytes_at(from, offset_of(use, use.me) * eb) : from, bytes};
    }
    case WEFT_REDUCE_SCATTER:
    case WEFT_ALL_TO_ALL:
      return {from, all_of(use) * eb};
    case WEFT_SCATTER:
      return use.root ? Part{use.send, use.send == nullptr ? 0 : all_of(use) * eb} : Part{};
    default:
      return {};
  }
}

uint64_t received_bytes(const BufferUse& use) {
  const uint64_t eb = use.element_bytes;
  // All contributions, for the program to combine.
  const uint64_t times = use.reduction == WEFT_GATHERED ? use.members : 1;
  switch (use.operation) {
    case WEFT_ALL_REDUCE:
      return times * use.count * eb;
    case WEFT_BROADCAST:
      return use.count * eb;
    case WEFT_REDUCE:
      return use.root ? times * use.count * eb : 0;
    case WEFT_ALL_GATHER:
      return all_of(use) * eb;
    case WEFT_GATHER:
      return use.root ? all_of(use) * eb : 0;
    case WEFT_REDUCE_SCATTER:
      return times * count_of(use, use.me) * eb;
    case WEFT_SCATTER:
      return (use.root ? count_of(use, use.me) : use.count) * eb;
    case WEFT_ALL_TO_ALL:
      return (use.receive_counts.empty() ? use.count * use.members : sum(use.receive_counts)) * eb;
    default:
      return 0;
  }
}

void fill(const BufferUse& use, uint32_t data_mode, const Finished& finished, const uint8_t* arrived) {
  if (use.receive == nullptr) return;
  const uint64_t room = use.collective ? received_bytes(use) : std::min(use.room, finished.bytes);
  if (arrived != nullptr) {
    if (room != 0) std::memcpy(use.receive, arrived, room);
  } else if (data_mode == WEFT_DATA_DUMMY || !use.collective) {
    // A root keeps what it has sent to the others.
    const bool kept = use.collective && use.operation == WEFT_BROADCAST && use.root;
    if (!kept && room != 0) std::memset(use.receive, 0, room);
  } else {
    mirror(use);
  }
}

weft_status status_of(const Finished& finished) {
  weft_status status{};
  status.source = finished.source;
  status.tag = finished.tag;
  status.bytes = finished.bytes;
  status.error = finished.error;
  status.time = finished.t;
  status.queue = finished.queue;
  status.network = finished.network;
  status.reduce = finished.reduce;
  status.injected = finished.injected;
  return status;
}

}  // namespace weft::emulation

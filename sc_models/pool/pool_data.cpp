// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/pool/pool_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "configs/hash64.h"

namespace weft {
namespace {

constexpr uint64_t kMostHeld = uint64_t{8} << 30;

/// Elements are bytes, and their sums are modulo 256.
void add(const PoolData::Bytes& from, PoolData::Bytes& to) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<std::byte>(std::to_integer<unsigned>(to[i]) + std::to_integer<unsigned>(from[i]));
}

constexpr std::byte kUnwritten{0xad};

/// Of its tensor, in the groups and at NPUs.
uint64_t copies(const PoolTransfer& transfer) {
  return transfer.operation == PoolOperation::gather_load ? transfer.members.size() + 1 : 2;
}

}  // namespace

void PoolData::fill(const PoolTransfer& transfer, uint32_t u, uint64_t offset, Bytes& bytes) const {
  const uint64_t seed = hash64(static_cast<uint64_t>(transfer.id) << 32 | u);
  for (uint64_t i = 0; i < bytes.size(); ++i) {
    const uint64_t at = offset + i;
    bytes[i] = static_cast<std::byte>(hash64(seed + at / 8) >> (at % 8 * 8));
  }
}

void PoolData::begin(const PoolTransfer& transfer) {
  held_ += transfer.tensor * copies(transfer);
  if (held_ > kMostHeld)
    throw UserError(
        ExitCode::usage,
        fmt::format("the tensors of the memory pool's accesses are more than {} GiB with `run.data: "
                    "functional`; use smaller tensors, fewer NPUs, or `run.data: none`",
                    kMostHeld >> 30));
  Tensors& t = tensors_[transfer.id];
  t.in_groups.assign(transfer.tensor, kUnwritten);
  t.written.assign(stores(transfer.operation) ? transfer.tensor : 0, false);
  if (stores(transfer.operation)) return;
  fill(transfer, transfer.npu, 0, t.in_groups);
  t.at_npus.assign(transfer.members.size(), Bytes(transfer.tensor, kUnwritten));
  t.came.assign(transfer.members.size(), std::vector<bool>(transfer.tensor, false));
}

void PoolData::end(const PoolTransfer& transfer) {
  const Tensors& t = tensors_.at(transfer.id);
  if (stores(transfer.operation)) {
    Bytes should(transfer.tensor);
    if (transfer.operation == PoolOperation::scatter_store) {
      should = expected_sum(transfer);
    } else {
      fill(transfer, transfer.npu, 0, should);
    }
    compare(transfer, t.in_groups, t.written, should, "in the groups");
  } else {
    for (size_t u = 0; u < t.at_npus.size(); ++u)
      compare(transfer, t.at_npus[u], t.came[u], t.in_groups,
              fmt::format("at NPU {}", transfer.npus != nullptr ? (*transfer.npus)[u] : transfer.npu));
  }
  held_ -= transfer.tensor * copies(transfer);
  tensors_.erase(transfer.id);
}

PoolData::Bytes PoolData::expected_sum(const PoolTransfer& transfer) const {
  Bytes sum(transfer.tensor, std::byte{0});
  Bytes input(transfer.tensor);
  for (const uint32_t u : *transfer.npus) {
    fill(transfer, u, 0, input);
    add(input, sum);
  }
  return sum;
}

void PoolData::compare(const PoolTransfer& transfer, const Bytes& is, const std::vector<bool>& came,
                       const Bytes& should, const std::string& where) {
  verified_ += is.size();
  for (uint64_t i = 0; i < is.size(); ++i) {
    if (is[i] == should[i] && came[i]) continue;
    note(fmt::format("memory pool, {} of {} B: byte {} {} is {} and should be {}",
                     to_string(transfer.operation), transfer.bytes, i, where,
                     came[i] ? fmt::format("{}", std::to_integer<unsigned>(is[i])) : "not there",
                     std::to_integer<unsigned>(should[i])));
    return;
  }
}

void PoolData::note(const std::string& line) {
  if (wrong_.size() < 8) wrong_.push_back(line);
}

uint32_t PoolData::make(const std::byte* from, uint64_t bytes) {
  uint32_t handle = static_cast<uint32_t>(payloads_.size());
  if (free_.empty()) {
    payloads_.emplace_back();
  } else {
    handle = free_.back();
    free_.pop_back();
  }
  payloads_[handle].assign(from, from + bytes);
  return handle;
}

void PoolData::free(uint32_t payload) {
  payloads_[payload] = {};
  free_.push_back(payload);
}

uint32_t PoolData::copy(uint32_t payload) {
  const Bytes bytes = payloads_[payload];
  return make(bytes.data(), bytes.size());
}

void PoolData::combine(const std::vector<uint32_t>& payloads) {
  for (size_t i = 1; i < payloads.size(); ++i) {
    add(payloads_[payloads[i]], payloads_[payloads.front()]);
    free(payloads[i]);
  }
}

uint32_t PoolData::read(const PoolTransfer& transfer, uint64_t offset, uint64_t bytes) {
  return make(tensors_.at(transfer.id).in_groups.data() + offset, bytes);
}

void PoolData::write(const PoolTransfer& transfer, uint64_t offset, uint32_t payload) {
  Tensors& t = tensors_.at(transfer.id);
  const Bytes& bytes = payloads_[payload];
  for (uint64_t i = 0; i < bytes.size(); ++i) {
    if (t.written[offset + i]) note(fmt::format("memory pool: byte {} of a store came twice", offset + i));
    t.written[offset + i] = true;
    t.in_groups[offset + i] = bytes[i];
  }
  free(payload);
}

uint32_t PoolData::send(const PoolTransfer& transfer, uint32_t u, uint64_t offset, uint64_t bytes) {
  Bytes part(bytes);
  fill(transfer, u, offset, part);
  return make(part.data(), part.size());
}

void PoolData::receive(const PoolTransfer& transfer, uint32_t u, uint64_t offset, uint32_t payload) {
  Tensors& t = tensors_.at(transfer.id);
  const size_t member = transfer.place_of(u);
  const Bytes& bytes = payloads_[payload];
  for (uint64_t i = 0; i < bytes.size(); ++i) {
    if (t.came[member][offset + i])
      note(fmt::format("memory pool: byte {} of a load came twice", offset + i));
    t.came[member][offset + i] = true;
    t.at_npus[member][offset + i] = bytes[i];
  }
  free(payload);
}

}  // namespace weft

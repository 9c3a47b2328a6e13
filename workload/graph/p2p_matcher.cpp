// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/graph/p2p_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

namespace weft::graph {

namespace {

uint64_t channel(uint32_t peer, uint32_t tag) {
  return uint64_t{peer} << 32 | tag;
}

template <class Map>
auto sorted_keys(const Map& map, size_t limit) {
  std::vector<typename Map::key_type> keys;
  keys.reserve(map.size());
  for (const auto& entry : map) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end());
  if (keys.size() > limit) keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(limit), keys.end());
  return keys;
}

}  // namespace

bool P2pMatcher::Key::operator<(const Key& o) const {
  return std::tie(source, tag, ordinal) < std::tie(o.source, o.tag, o.ordinal);
}

size_t P2pMatcher::Hash::operator()(const Key& key) const {
  // Multiplicative mixing: sources, tags and ordinals are all small consecutive numbers.
  uint64_t h = channel(key.source, key.tag) * 0x9E3779B97F4A7C15ull;
  h ^= h >> 32;
  h = (h + key.ordinal) * 0xD6E8FEB86659FD93ull;
  return static_cast<size_t>(h ^ (h >> 32));
}

MessageId P2pMatcher::send(const trace::Node& node) {
  MessageId id;
  id.kind = MessageId::Kind::point_to_point;
  id.stream = sends_[channel(node.peer, node.tag)]++;
  id.round = node.tag;
  return id;
}

void P2pMatcher::check_sizes(const Key& key, const Posted& receive, uint64_t sent) const {
  if (receive.bytes == sent) return;
  throw UserError(
      ExitCode::trace,
      fmt::format("rank {}, node {} (COMM_RECV): it expects {} bytes from rank {} with tag {} (message {} of "
                  "that source and tag), but {} bytes were sent; give both nodes the same comm_size",
                  rank_, receive.id, receive.bytes, key.source, key.tag, key.ordinal, sent));
}

std::optional<P2pMatcher::Match> P2pMatcher::receive(const trace::Node& node) {
  const Key key{node.peer, node.tag, receives_[channel(node.peer, node.tag)]++};
  const Posted posted{node.index, node.id, node.comm_size};
  const auto it = early_.find(key);
  if (it == early_.end()) {
    posted_.emplace(key, posted);
    return std::nullopt;
  }
  check_sizes(key, posted, it->second.bytes);
  const Match match{node.index, it->second};
  early_.erase(it);
  return match;
}

std::optional<P2pMatcher::Match> P2pMatcher::arrived(const Completion& message) {
  const Key key{index(message.source), message.id.round, message.id.stream};
  const auto it = posted_.find(key);
  if (it == posted_.end()) {
    const uint32_t* const received = receives_.find(channel(key.source, key.tag));
    const bool again = received != nullptr && key.ordinal < *received;
    if (again || !early_.emplace(key, message).second)
      throw std::logic_error(fmt::format("rank {}: message {} from rank {} with tag {} arrived twice", rank_,
                                         key.ordinal, key.source, key.tag));
    return std::nullopt;
  }
  check_sizes(key, it->second, message.bytes);
  const Match match{it->second.index, message};
  posted_.erase(it);
  return match;
}

void P2pMatcher::adopt(const P2pMatcher& like, const RankImage& image) {
  const auto counts = [&](FlatMap<uint64_t, uint32_t>& own, const FlatMap<uint64_t, uint32_t>& others) {
    own = {};
    others.for_each([&](uint64_t key, uint32_t count) {
      own.insert(channel(image.rank(static_cast<uint32_t>(key >> 32)), static_cast<uint32_t>(key)), count);
    });
  };
  counts(sends_, like.sends_);
  counts(receives_, like.receives_);
  const auto of = [&](const Key& key) { return Key{image.rank(key.source), key.tag, key.ordinal}; };
  posted_.clear();
  for (const auto& [key, posted] : like.posted_)
    posted_.emplace(of(key), Posted{posted.index, image.node(posted.index).id, posted.bytes});
  early_.clear();
  for (const auto& [key, message] : like.early_) {
    Completion own = message;
    own.source = NpuId{of(key).source};
    early_.emplace(of(key), own);
  }
}

std::vector<P2pMatcher::Unmatched> P2pMatcher::unmatched(size_t limit) const {
  std::vector<Unmatched> list;
  for (const Key& key : sorted_keys(posted_, limit)) {
    const Posted& receive = posted_.at(key);
    list.push_back(
        {true, key.source, key.tag, key.ordinal, receive.bytes, receive.id,
         fmt::format("rank {}, node {} (COMM_RECV) waits for message {} from rank {} with tag {} ({} bytes), "
                     "which never arrived",
                     rank_, receive.id, key.ordinal, key.source, key.tag, receive.bytes)});
  }
  for (const Key& key : sorted_keys(early_, limit)) {
    const uint64_t bytes = early_.at(key).bytes;
    list.push_back({false, key.source, key.tag, key.ordinal, bytes, 0,
                    fmt::format("rank {}: message {} from rank {} with tag {} ({} bytes) was never received",
                                rank_, key.ordinal, key.source, key.tag, bytes)});
  }
  return list;
}

}  // namespace weft::graph

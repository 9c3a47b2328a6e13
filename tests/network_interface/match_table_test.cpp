// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Which message belongs to which receive, against a plain reckoning with lists.

#include "network_interface/match_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

namespace weft::network_interface {
namespace {

void nothing(void*) {}

Callback numbered(size_t number) {
  return {nothing, reinterpret_cast<void*>(number)};
}

size_t number_of(const Callback& callback) {
  return reinterpret_cast<size_t>(callback.arg);
}

using Key = std::tuple<int, int, int, uint64_t>;

/// What must have been complete by now, found from all that has happened.
class Reckoning {
 public:
  explicit Reckoning(bool merges) : merges_(merges) {}
  uint64_t sent(const Key& key) { return sends_[of(key)]++; }
  void arrived(const Key& key, uint64_t ordinal) {
    there_[of(key)] += std::get<3>(key);
    arrivals_[of(key)].push_back(ordinal);
  }
  void posted(const Key& key, size_t number) { posts_[of(key)].push_back({number, std::get<3>(key)}); }
  std::vector<size_t> complete() const {
    std::vector<size_t> numbers;
    for (const auto& [key, posts] : posts_) {
      uint64_t need = 0;
      for (size_t i = 0; i < posts.size(); ++i) {
        need += posts[i].second;
        const auto here = arrivals_.find(key);
        if (here == arrivals_.end()) continue;
        const bool done =
            merges_ ? need <= there_.at(key) : std::count(here->second.begin(), here->second.end(), i) != 0;
        if (done) numbers.push_back(posts[i].first);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

 private:
  Key of(Key key) const {
    if (merges_) std::get<3>(key) = 0;
    return key;
  }
  bool merges_;
  std::map<Key, uint64_t> sends_;
  std::map<Key, uint64_t> there_;
  std::map<Key, std::vector<uint64_t>> arrivals_;
  std::map<Key, std::vector<std::pair<size_t, uint64_t>>> posts_;
};

void draw(bool merges, unsigned seed) {
  std::mt19937 random(seed);
  MatchTable table(merges);
  Reckoning reckoning(merges);
  struct Flying {
    Key key;
    uint64_t ordinal;
  };
  std::vector<Flying> flying;
  std::vector<size_t> done;
  std::vector<Callback> complete;
  size_t receives = 0;
  for (int step = 0; step < 2000; ++step) {
    const Key key{random() % 3, random() % 3, random() % 2, 1 + random() % 3};
    const auto [source, destination, tag, bytes] = key;
    const unsigned what = random() % 3;
    if (what == 0) {
      const uint64_t ordinal = table.sent(source, destination, tag, bytes);
      // The table begins to count anew when a key is at rest; the reckoning has to as well.
      flying.push_back({key, ordinal});
      reckoning.sent(key);
    } else if (what == 1 && !flying.empty()) {
      // Any of those under way: packets may overtake each other.
      const size_t i = merges ? 0 : random() % flying.size();
      const auto [s, d, t, b] = flying[i].key;
      table.arrived(s, d, t, b, flying[i].ordinal, complete);
      reckoning.arrived(flying[i].key, flying[i].ordinal);
      flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (what == 2) {
      table.posted(source, destination, tag, bytes, numbered(receives), complete);
      reckoning.posted(key, receives++);
    }
    for (const Callback& callback : complete) done.push_back(number_of(callback));
    complete.clear();
    if (!merges) continue;
    std::vector<size_t> sorted = done;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted, reckoning.complete()) << "step " << step;
  }
  std::sort(done.begin(), done.end());
  EXPECT_EQ(std::adjacent_find(done.begin(), done.end()), done.end()) << "a receive was complete twice";
  EXPECT_GT(done.size(), 200u);
}

TEST(MatchTable, MergedBytesAreTakenInTheOrderOfReceives) {
  for (unsigned seed = 1; seed <= 20; ++seed) draw(true, seed);
}

TEST(MatchTable, NoReceiveIsCompleteTwice) {
  for (unsigned seed = 1; seed <= 20; ++seed) draw(false, seed);
}

TEST(MatchTable, TheNthReceiveHasTheNthMessageWhateverArrivesFirst) {
  MatchTable table(false);
  std::vector<Callback> complete;
  std::vector<uint64_t> ordinals;
  for (int i = 0; i < 3; ++i) ordinals.push_back(table.sent(0, 1, 7, 100));
  table.arrived(0, 1, 7, 100, ordinals[2], complete);
  table.posted(0, 1, 7, 100, numbered(10), complete);
  EXPECT_TRUE(complete.empty());
  table.arrived(0, 1, 7, 100, ordinals[0], complete);
  ASSERT_EQ(complete.size(), 1u);
  EXPECT_EQ(number_of(complete[0]), 10u);
  table.posted(0, 1, 7, 100, numbered(11), complete);
  table.posted(0, 1, 7, 100, numbered(12), complete);
  ASSERT_EQ(complete.size(), 2u);
  EXPECT_EQ(number_of(complete[1]), 12u);
  EXPECT_EQ(table.waiting(),
            std::vector<std::string>{"from rank 0 to rank 1, tag 7, 100 B: 1 messages under way, 1 receives "
                                     "that wait"});
  table.arrived(0, 1, 7, 100, ordinals[1], complete);
  ASSERT_EQ(complete.size(), 3u);
  EXPECT_EQ(number_of(complete[2]), 11u);
  EXPECT_TRUE(table.empty());
}

TEST(MatchTable, SizesAreSeparateUnlessMessagesMerge) {
  std::vector<Callback> complete;
  MatchTable exact(false);
  exact.posted(0, 1, 0, 300, numbered(1), complete);
  exact.arrived(0, 1, 0, 100, exact.sent(0, 1, 0, 100), complete);
  exact.arrived(0, 1, 0, 200, exact.sent(0, 1, 0, 200), complete);
  EXPECT_TRUE(complete.empty());
  EXPECT_EQ(exact.waiting().size(), 3u);
  MatchTable merging(true);
  merging.posted(0, 1, 0, 300, numbered(1), complete);
  merging.arrived(0, 1, 0, 100, merging.sent(0, 1, 0, 100), complete);
  EXPECT_TRUE(complete.empty());
  merging.arrived(0, 1, 0, 250, merging.sent(0, 1, 0, 250), complete);
  EXPECT_EQ(complete.size(), 1u);
  EXPECT_EQ(merging.waiting(),
            std::vector<std::string>{"from rank 0 to rank 1, tag 0: 50 B that nobody received"});
}

}  // namespace
}  // namespace weft::network_interface

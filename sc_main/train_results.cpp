// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/train_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "sc_main/decimal.h"

namespace weft::cli {
namespace {

using packet::TrainCounts;
using packet::TrainReason;

struct Why {
  const char* key;
  const char* text;
  uint64_t (*packets)(const TrainCounts&);
};

/// Why packets went one by one, as a user can tell it: a sum over all is all of them.
constexpr std::array<Why, 7> kWhys = {{
    {"filling", "their path was not full yet",
     [](const TrainCounts& c) { return c.of(TrainReason::filling); }},
    {"not_recurred", "their stream had not recurred",
     [](const TrainCounts& c) {
       return c.of(TrainReason::stepping) + c.of(TrainReason::compared) + c.of(TrainReason::unsettled);
     }},
    {"company", "others used their path", [](const TrainCounts& c) { return c.of(TrainReason::company); }},
    {"last", "too few of their message were left",
     [](const TrainCounts& c) { return c.of(TrainReason::last); }},
    {"no_balance", "looking for trains had not paid",
     [](const TrainCounts& c) { return c.of(TrainReason::account); }},
    {"no_certain_path", "their path was not certain",
     [](const TrainCounts& c) { return c.of(TrainReason::never); }},
    {"replayed", "their train ended in the middle of a period",
     [](const TrainCounts& c) { return c.of(TrainReason::replayed); }},
}};

constexpr uint64_t kWorthALine = 100000;  ///< packets

double percent(uint64_t part, uint64_t all) {
  return 100 * static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

void add_trains(JsonText& json, const TrainCounts& trains) {
  if (trains.all() == 0) return;
  json.key("trains").begin_object();
  json.key("packets").number(trains.all());
  json.key("carried").number(trains.packets);
  json.key("carried_hops").number(trains.hops);
  json.key("set_aside").number(trains.trains);
  json.key("of_several_messages").number(trains.joint);
  json.key("known_from_the_beginning").number(trains.known);
  json.key("known_later").number(trains.known_later);
  json.key("known_early").number(trains.early);
  json.key("known_early_in_vain").number(trains.early_failed);
  json.key("ended_early").number(trains.splits);
  for (const Why& why : kWhys) json.key(why.key).number(why.packets(trains));
  json.end_object();
}

std::string trains_text(const TrainCounts& trains) {
  const uint64_t all = trains.all();
  if (all < kWorthALine) return "";
  std::string text =
      fmt::format("{:.1f} % of {} packets went by train ({} trains, {} ended early)",
                  percent(trains.packets, all), grouped(all), grouped(trains.trains), grouped(trains.splits));
  std::vector<std::pair<uint64_t, const char*>> most;
  for (const Why& why : kWhys)
    if (why.packets(trains) * 100 >= all) most.emplace_back(why.packets(trains), why.text);
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < std::min<size_t>(3, most.size()); ++i)
    text += fmt::format("{}{:.1f} %: {}", i == 0 ? "; one by one " : ", ", percent(most[i].first, all),
                        most[i].second);
  return text;
}

std::string trains_share(const TrainCounts& trains) {
  if (trains.all() == 0) return "";
  return fmt::format("{:.0f} % of packets by train", percent(trains.packets, trains.all()));
}

}  // namespace weft::cli

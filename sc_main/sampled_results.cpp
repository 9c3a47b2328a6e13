// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/sampled_results.h"

#include <fmt/format.h>

#include <cmath>

#include "sc_main/decimal.h"

namespace weft::cli {
namespace {

double share_of(double part, const SampledError& of) {
  return of.given <= 0 ? 0 : std::abs(part) / of.given;
}

}  // namespace

void add_sampling(JsonText& json, const SampledFigures& sampled, Picoseconds time) {
  if (!sampled.on) return;
  json.key("sampling").begin_object();
  json.key("simulated_collectives").number(sampled.simulated);
  json.key("with_others").number(sampled.with_others);
  json.key("given_collectives").number(sampled.given);
  json.key("met_by_others").number(sampled.met);
  json.key("given_messages").number(sampled.messages);
  json.key("given_time_share").number(sampled.share(time));
  json.key("given_time_error").number(sampled.worst.error());
  json.key("off").number(share_of(sampled.worst.off, sampled.worst));
  json.key("scatter").number(share_of(std::sqrt(sampled.worst.variance), sampled.worst));
  json.key("uncertain").number(share_of(sampled.worst.uncertain, sampled.worst));
  json.key("time_error").number(sampled.time_error(time));
  json.end_object();
}

std::string sampling_text(const SampledFigures& sampled, Picoseconds time) {
  if (!sampled.on) return "";
  const uint64_t all = sampled.simulated + sampled.given;
  if (sampled.given == 0)
    return fmt::format(
        "all {} collectives were simulated: {} had company, and of the rest too little was known",
        grouped(all), grouped(sampled.with_others));
  return fmt::format(
      "{:.1f} % of {} collectives were not simulated, but given the time of others of their kind: error of "
      "these times {:.2f} %, of the job's {:.2f} % (measured)",
      100 * static_cast<double>(sampled.given) / static_cast<double>(all), grouped(all),
      100 * sampled.worst.error(), 100 * sampled.time_error(time));
}

}  // namespace weft::cli

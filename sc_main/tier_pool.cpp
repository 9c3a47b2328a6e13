// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/tier_pool.h"

#include <algorithm>
#include <map>

#include "workload/tiers/tier_path.h"

namespace weft::cli {

pool::ClosedForm tier_form(const Config& config, trace::Location place, bool store, uint64_t bytes,
                           uint32_t npus) {
  using Kind = tiers::Stage::Kind;
  const HostMemoryConfig& host = *config.host_memory;
  const tiers::Path path = tiers::path_of(config, place, store);
  const uint32_t of_host = host.npus_of_host(config.npus());
  const uint32_t links = host.links_of_host(config.npus());
  const uint32_t sharing = std::min(npus, of_host);        // of the busiest host
  const uint32_t on_link = (sharing + links - 1) / links;  // of its busiest link
  pool::ClosedForm form;
  form.chunks = path.chunks(bytes);
  const double chunks = static_cast<double>(form.chunks);
  std::map<Kind, double> busy;  // of all bytes of the busiest host, its busiest link
  std::map<Kind, double> chunk;
  for (const tiers::Stage& stage : path.stages) {
    const double alone =
        stage.rate.bytes_per_second == 0 ? 0 : static_cast<double>(bytes) / stage.rate.value() * 1e12;
    busy[stage.kind] += alone * (stage.kind == Kind::npu_link ? on_link : sharing);
    chunk[stage.kind] += alone / chunks;
  }
  double rest = 0;  // after the first chunk
  for (const auto& [kind, time] : busy) {
    form.stages.push_back({tiers::to_string(kind), chunk[kind], time});
    if (time > form.least_ps) {
      form.least_ps = time;
      form.bottleneck = form.stages.size() - 1;
    }
    rest = std::max(rest, time - chunk[kind]);
  }
  form.time_ps = std::max(path.closed_form(bytes), path.first_chunk(bytes) + rest);
  form.exact = path.exact && sharing == 1;
  const uint32_t hosts = host.hosts(config.npus());
  const Wide total = static_cast<Wide>(bytes) * npus;
  const uint64_t least =
      npus == config.npus() && of_host % links == 0 ? uint64_t{bytes} * (of_host / links) : 0;
  form.loads.push_back({"host/npu", uint64_t{hosts} * links, total, bytes * on_link, least});
  if (place == trace::Location::nvme)
    form.loads.push_back(
        {"nvme/host", hosts, total, bytes * sharing, npus == config.npus() ? bytes * of_host : 0});
  return form;
}

}  // namespace weft::cli

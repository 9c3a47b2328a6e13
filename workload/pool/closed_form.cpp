// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/pool/closed_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "configs/units.h"
#include "workload/pool/striping.h"

namespace weft::pool {
namespace {

double picoseconds_of(double bytes, Rate rate) {
  return bytes * static_cast<double>(rate.divisor) / static_cast<double>(rate.bytes_per_second) * 1e12;
}

std::string where(const Config& config) {
  return config.file.empty() ? "configuration" : config.file;
}

/// Counts bytes link by link, then puts stages together.
class Form {
 public:
  Form(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus)
      : pool_(*config.memory_pool),
        whole_(pool_.split == PoolSplit::whole && !analytical()),
        operation_(operation),
        bytes_(bytes),
        npus_(npus),
        all_(config.npus()),
        layout_(PoolLayout::make(config, PoolLayout::folds(pool_))),
        groups_(layout_->folded() ? pool_.groups : layout_->groups()),
        on_link_(2 * layout_->links().size()),
        on_group_(groups_) {}

  ClosedForm make() {
    if (whole_) {
      count_chunks();
    } else {
      count_shares();
    }
    add_loads();
    if (whole_) {
      whole_stages();
    } else {
      fluid_stages();
    }
    finish();
    return std::move(form_);
  }

 private:
  /// The tensors that move: of each NPU, or the shards that make the gathered one.
  Wide total() const { return static_cast<Wide>(bytes_) * (in_switch(operation_) ? all_ : npus_); }

  void put(uint32_t u, uint32_t group, uint32_t way, Wide bytes) {
    on_group_[group] += bytes;
    const uint32_t node = layout_->folded() ? 0 : group;
    if (in_switch(operation_)) {
      const PoolLayout::Tree& tree = layout_->tree(node, way);
      // Contributions go the other way.
      const uint32_t back = stores(operation_) ? 1 : 0;
      for (const uint32_t link : tree.links) on_link_[link ^ back] += bytes;
      const uint32_t from = layout_->group_node(node);
      on_link_[PoolLayout::directed(layout_->ports(from)[layout_->next(from, 0, way)]) ^ back] += bytes;
      hops_ = std::max(hops_, tree.depth);
      if (measured_.insert(node).second)
        for (uint32_t v = 0; v < all_; ++v) measure(layout_->path(node, v, way, false));
      return;
    }
    const std::vector<uint32_t> path = layout_->path(node, u, way, stores(operation_));
    for (const uint32_t link : path) on_link_[link] += bytes;
    hops_ = std::max(hops_, static_cast<uint32_t>(path.size()));
    measure(path);
  }

  void measure(const std::vector<uint32_t>& path) {
    Picoseconds latency = 0;
    for (const uint32_t link : path) latency += layout_->classes()[layout_->links()[link / 2].cls].latency;
    latency_ = std::max(latency_, latency);
  }

  void count_chunks() {
    const auto striping = make_striping(pool_.striping, groups_, layout_->ways());
    const uint64_t chunks = (bytes_ + pool_.chunk - 1) / pool_.chunk;
    const uint32_t tensors = in_switch(operation_) ? all_ : npus_;
    for (uint32_t u = 0; u < tensors; ++u) {
      for (uint64_t j = 0; j < chunks; ++j) {
        const Place place = striping->place(u, j);
        put(u, place.group, place.way, std::min(pool_.chunk, bytes_ - j * pool_.chunk));
      }
    }
    form_.chunks = chunks;
  }

  void count_shares() {
    if (layout_->folded()) {
      for (uint32_t u = 0; u < (in_switch(operation_) ? 1 : npus_); ++u)
        put(u, 0, 0, in_switch(operation_) ? total() : static_cast<Wide>(bytes_));
      // All groups alike.
      const Wide all = total();
      for (uint32_t r = 0; r < groups_; ++r) on_group_[r] = all / groups_ + (r < all % groups_);
      return;
    }
    const uint32_t sources = in_switch(operation_) ? 1 : npus_;
    const Wide tensor = in_switch(operation_) ? total() : static_cast<Wide>(bytes_);
    for (uint32_t u = 0; u < sources; ++u)
      for (const PoolLayout::Share& share : layout_->shares(tensor, u))
        put(u, share.group, share.way, share.bytes);
  }

  void add_loads() {
    ClassLoad groups{"group", groups_, 0, 0, ~uint64_t{0}};
    for (const Wide bytes : on_group_) {
      groups.total += bytes;
      groups.most = std::max(groups.most, static_cast<uint64_t>(bytes));
      groups.least = std::min(groups.least, static_cast<uint64_t>(bytes));
    }
    form_.loads.push_back(groups);
    for (uint32_t c = 0; c < layout_->classes().size(); ++c) {
      if (layout_->classes()[c].name == "group") continue;
      ClassLoad load{layout_->classes()[c].name, 0, 0, 0, ~uint64_t{0}};
      for (size_t i = 0; i < on_link_.size(); ++i) {
        const PoolLayout::Link& link = layout_->links()[i / 2];
        if (link.cls != c || (!layout_->both_ways(c) && (i % 2 == 0) != stores(operation_))) continue;
        load.links += link.count;
        load.total += on_link_[i];
        load.most = std::max(load.most, static_cast<uint64_t>((on_link_[i] + link.count - 1) / link.count));
        load.least = std::min(load.least, static_cast<uint64_t>(on_link_[i] / link.count));
      }
      form_.loads.push_back(load);
    }
  }

  Rate rate_of(const ClassLoad& load) const {
    if (load.name == "group") return layout_->group_rate();
    for (const PoolLayout::Class& c : layout_->classes())
      if (c.name == load.name) return c.rate;
    return layout_->group_rate();
  }

  /// T = max_k((m_k - 1) tau_k) + the sum of all tau.
  void whole_stages() {
    const double chunk = static_cast<double>(std::min(pool_.chunk, bytes_));
    const bool tiered = !pool_.upper.empty();
    // The square fits: an NPU is at one group at a time, and a node's NPUs are at one switch each.
    form_.exact = tiered && !in_switch(operation_) && npus_ == pool_.groups && pool_.upper.size() == 1 &&
                  npus_ == layout_->ways() * pool_.nodes;
    for (const ClassLoad& load : form_.loads) {
      const double tau = picoseconds_of(chunk, rate_of(load));
      form_.stages.push_back(
          {load.name, tau, std::max(tau, picoseconds_of(static_cast<double>(load.most), rate_of(load)))});
      form_.exact = form_.exact && load.most == load.least;
    }
  }

  /// A tandem of equal chunks. Their size is that of a (group, switch) link.
  void fluid_stages() {
    const uint64_t links = layout_->folded()         ? layout_->round_links()
                           : layout_->spreads_ways() ? uint64_t{groups_} * layout_->group_ports()
                                                     : groups_;
    const Wide round = static_cast<Wide>(links) * pool_.chunk;
    const Wide rounds = std::max<Wide>(1, (total() + round - 1) / round);
    form_.chunks = static_cast<uint64_t>(rounds);
    const auto n = static_cast<double>(form_.chunks);
    form_.exact = layout_->folded() && pool_.upper.size() == 1;
    for (const ClassLoad& load : form_.loads) {
      if (load.name == "group" && layout_->folded()) continue;  // its links are the service
      double busiest = static_cast<double>(load.most);
      if (layout_->folded()) {  // not rounded to whole bytes of a link
        busiest = 0;
        for (size_t i = 0; i < on_link_.size(); ++i) {
          const PoolLayout::Link& link = layout_->links()[i / 2];
          if (layout_->classes()[link.cls].name == load.name)
            busiest = std::max(busiest, static_cast<double>(on_link_[i]) / link.count);
        }
      }
      const double busy = picoseconds_of(busiest, rate_of(load));
      form_.stages.push_back({load.name, busy / n, busy});
    }
  }

  void finish() {
    if (pool_.group_memory != kDefaultMemoryModel || pool_.as_packets()) form_.exact = false;
    if (stores(operation_)) std::reverse(form_.stages.begin(), form_.stages.end());
    for (size_t k = 0; k < form_.stages.size(); ++k)
      if (form_.stages[k].busy_ps > form_.stages[form_.bottleneck].busy_ps * (1 + 1e-9)) form_.bottleneck = k;
    form_.least_ps = form_.stages[form_.bottleneck].busy_ps;
    if (analytical()) {  // no chunk's way through the other hops
      form_.chunks = 1;
      form_.time_ps = form_.least_ps + static_cast<double>(latency_);
      if (!stores(operation_)) form_.time_ps += static_cast<double>(pool_.request_latency);
      return;
    }
    double longest = 0;  // of a stage, after its first chunk
    for (const ClosedForm::Stage& stage : form_.stages) {
      form_.time_ps += stage.chunk_ps;
      longest = std::max(longest, stage.busy_ps - stage.chunk_ps);
    }
    form_.time_ps += longest;
    const bool placed = !layout_->group_hop() && !layout_->folded();
    if (placed && whole_ && hops_ > 3)  // the other hops from place to place
      for (const auto& stage : form_.stages)
        if (stage.name == "ring" || stage.name == "mesh")
          form_.time_ps += stage.chunk_ps * static_cast<double>(hops_ - 3);
    form_.time_ps += static_cast<double>(latency_);
    if (!stores(operation_)) form_.time_ps += static_cast<double>(pool_.request_latency);
    add_warnings();
  }

  void add_warnings() {
    const auto empty = static_cast<uint64_t>(std::count(on_group_.begin(), on_group_.end(), Wide{0}));
    if (!whole_) {
      if (pool_.striping != "latin")
        form_.warnings.push_back(
            fmt::format("memory.pool.striping: {} has no effect with `split: fluid`, which "
                        "spreads every chunk evenly; set `split: whole` to see it",
                        pool_.striping));
      return;
    }
    if (empty != 0)
      form_.warnings.push_back(fmt::format(
          "memory.pool.striping: {} leaves {} of {} groups empty: their bandwidth is not used; choose "
          "smaller chunks (memory.pool.chunk), fewer groups or another striping",
          pool_.striping, empty, groups_));
    for (const ClassLoad& load : form_.loads) {
      if (load.links == 0 || load.total == 0) continue;
      const double mean = static_cast<double>(load.total) / static_cast<double>(load.links);
      const double most = static_cast<double>(load.most);
      if (pool_.striping != "latin" && load.name == form_.stages[form_.bottleneck].name && most > 1.02 * mean)
        form_.warnings.push_back(fmt::format(
            "memory.pool.striping: {} is uneven: one {} carries {:.4g} times the mean ({} B of {:.6g} "
            "B), and the access waits for it",
            pool_.striping, load.name == "group" ? "group" : "link " + load.name, most / mean, load.most,
            mean));
    }
  }

  bool analytical() const { return pool_.as_flows(); }

  const MemoryPoolConfig& pool_;
  bool whole_;
  PoolOperation operation_;
  uint64_t bytes_;
  uint32_t npus_;
  uint32_t all_;
  std::unique_ptr<PoolLayout> layout_;
  uint32_t groups_;
  std::vector<Wide> on_link_;
  std::vector<Wide> on_group_;
  uint32_t hops_ = 0;
  Picoseconds latency_ = 0;  ///< of the longest way
  std::set<uint32_t> measured_;
  ClosedForm form_;
};

}  // namespace

void check_access(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus) {
  const MemoryPoolConfig& pool = *config.memory_pool;
  if (bytes == 0)
    throw UserError(ExitCode::usage,
                    fmt::format("{}: the {} is of a tensor of 0 bytes, which moves nothing; give "
                                "a size of 1 B or more",
                                where(config), to_string(operation)));
  const Wide all = static_cast<Wide>(bytes) * (in_switch(operation) ? config.npus() : npus);
  const Wide room = static_cast<Wide>(pool.capacity) * pool.groups;
  if (pool.capacity != 0 && all > room)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `memory.pool.capacity`: tensors of {} B in all ({} of {}) do not fit {} "
                    "groups of {}; use a smaller tensor, more groups or a larger capacity",
                    where(config), saturated(all), npus, print_size(bytes), pool.groups,
                    print_size(pool.capacity)));
  const Wide chunks = static_cast<Wide>((bytes + pool.chunk - 1) / pool.chunk) * npus;
  if (pool.split == PoolSplit::whole && !pool.as_flows() && chunks > kMostPoolChunks)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `memory.pool.chunk`: chunks of {} make {} chunks of the tensors; at most {} "
                    "are possible: use larger chunks, or `split: fluid`",
                    where(config), print_size(pool.chunk), saturated(chunks), kMostPoolChunks));
}

ClosedForm closed_form(const Config& config, PoolOperation operation, uint64_t bytes, uint32_t npus) {
  const uint32_t active = npus == 0 || in_switch(operation) ? config.npus() : npus;
  check_access(config, operation, bytes, active);
  return Form(config, operation, bytes, active).make();
}

}  // namespace weft::pool

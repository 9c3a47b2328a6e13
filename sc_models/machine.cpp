// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "configs/blueprint/names.h"
#include "configs/stop.h"
#include "sc_models/machine_check.h"
#include "sc_models/memory_model.h"
#include "workload/trace/collective_numbers.h"

namespace weft {

namespace {

/// By link of the graph, or by dimension.
std::vector<fabric::LinkType> link_types_of(const Config& config) {
  std::vector<fabric::LinkType> types;
  if (config.graph != nullptr) {
    for (const GraphLink& link : config.graph->spec().links) types.emplace_back(link.rate(), link.latency);
  }
  for (const DimensionConfig& d : config.fabric_dimensions()) types.emplace_back(d.link_rate(), d.latency);
  return types;
}

}  // namespace

Machine::Machine(sc_core::sc_module_name name, const Config& config, const Options& options)
    : sc_core::sc_module(name),
      config_(config),
      fidelity_(config),
      geometry_(Geometry::of_fabric(config)),
      data_(collectives::DataContext::make(config)),
      cuts_(config, pool_, data_.get()),
      link_types_(link_types_of(config)),
      wheel_("wheel"),
      end_of_instant_("end_of_instant", InstantPart::decisions, [this] { slot_waits_.settled(); }),
      starts_("starts", InstantPart::starts,
              [this] {
                if (on_starts_) on_starts_();
              }),
      slot_waits_(config, [this] { end_of_instant_.request(); }),
      folded_(!options.mirrored.empty()),
      mirrored_(options.mirrored),
      whole_(options.whole),
      dram_(dram_spec(config.hbm)) {
  if (folded_ && config_.remapped())
    throw std::logic_error("a machine whose logical topology is not its physical one does not fold");
  for (const DimensionConfig& d : config_.fabric_dimensions()) {
    level_types_.emplace_back();
    for (uint32_t l = 1; d.tree != nullptr && l < d.tree->levels(); ++l)
      level_types_.back().emplace_back(d.tree->level(l).rate(), d.tree->level(l).latency);
  }
  bool units = false;
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) units = units || collectives::uses_unit(config_, d);
  if (!folded_) {
    whole_.resize(geometry_.npus());
    std::iota(whole_.begin(), whole_.end(), 0u);
  }
  std::vector<uint32_t> built;
  std::merge(whole_.begin(), whole_.end(), options.mirrored.begin(), options.mirrored.end(),
             std::back_inserter(built));
  nmus_.resize(built.back() + size_t{1});
  for (const uint32_t r : built) {
    check_stop();
    const bool whole = std::binary_search(whole_.begin(), whole_.end(), r);
    NmuContext context{config_, geometry_, link_types_, pool_, wheel_, options.waves, data_.get()};
    if (units) context.units = &directory_;
    if (whole) {
      context.fidelity = &fidelity_;
      context.waits = &slot_waits_;
    }
    nmus_[r] = std::make_unique<Nmu>(("nmu" + std::to_string(r)).c_str(), NpuId{r}, context);
    components_.push_back(nmus_[r].get());
  }
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const DimensionConfig& dimension = config_.fabric_dimensions()[d];
    if (dimension.size <= 1) continue;
    for (const uint32_t r : options.mirrored) {
      if (dimension.fidelity != Fidelity::analytical)
        throw std::logic_error("only analytical dimensions have mirrors");
      mirrors_.push_back(
          std::make_unique<fabric::MirrorFabric>(fmt::format("mirror{}_{}", d, r).c_str(), r, pool_));
      fabric::join(*nmus_[r]->port(d)->initiator, mirrors_.back()->socket);
    }
    build_dimension(0, d, options.waves);
  }
  for (uint32_t p = 1; p < fidelity_.planes(); ++p) {
    for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
      const auto like = [&](uint32_t q) {
        return fidelity_.plane(q).fabric_dimensions()[d].fidelity ==
               fidelity_.plane(p).fabric_dimensions()[d].fidelity;
      };
      uint32_t q = 0;
      while (!like(q)) ++q;
      if (q == p) build_dimension(p, d, options.waves);
    }
  }
  if (config_.graph != nullptr) build_graph();
  cuts_.check(config_.file.empty() ? "configuration" : config_.file);
  build_packets(options.waves);
  if (config_.memory_pool && (options.npus || options.memory_pool)) build_memory_pool();
  if (options.npus || config_.collectives.reduction == ReductionKind::hbm) build_npus(options, built);
  if (options.waves != nullptr && options.waves->on()) observe_links(*options.waves);
}

Machine::Machine(sc_core::sc_module_name name, const Config& config, NmuClient& client,
                 const Options& options)
    : Machine(name, config, options) {
  attach(client);
}

Machine::~Machine() = default;

void Machine::attach(NmuClient& client) {
  for (const auto& nmu : nmus_) {
    if (nmu && nmu->attached()) throw std::logic_error(fmt::format("{} has a job already", nmu->name()));
  }
  for (const auto& nmu : nmus_) {
    if (nmu) nmu->attach(client);
  }
}

void Machine::detach() {
  for (const auto& nmu : nmus_) {
    if (nmu) nmu->detach();
  }
}

uint32_t Machine::take_streams(uint32_t count) {
  if (count > trace::CollectiveNumbers::kMost - streams_)
    throw UserError(ExitCode::trace,
                    fmt::format("the jobs on this machine have more than {} collectives in all",
                                trace::CollectiveNumbers::kMost));
  const uint32_t first = streams_ + 1;
  streams_ += count;
  return first;
}

/// The links and switches that carry the plane's messages along dimension d.
void Machine::build_dimension(uint32_t p, uint32_t d, vcd::Waves* waves) {
  const DimensionConfig& dimension = fidelity_.plane(p).fabric_dimensions()[d];
  if (whole_.empty() || dimension.size <= 1 || dimension.fidelity == Fidelity::packet) return;
  const Shape shape(dimension);
  if (dimension.fidelity == Fidelity::analytical || shape.joins_pairs()) {
    build_direct(p, d, waves);
  } else if (shape.tree() != nullptr) {
    build_trees(p, d);
  } else if (shape.has_switches()) {
    if (dimension.implementation == kDefaultSwitchModel) {
      build_switches(p, d, waves);
    } else {
      build_line_switches(p, d);
    }
  } else {
    build_neighbours(p, d);
  }
}

/// Tells modules and links of a dimension at a rule's fidelity from its own.
std::string Machine::suffix(uint32_t p, uint32_t d) const {
  return p == 0 ? std::string()
                : fmt::format("_{}", to_string(fidelity_.plane(p).fabric_dimensions()[d].fidelity));
}

std::string Machine::link_name_of(const Nmu::Port& port) const {
  return report(*port.nmu, port.nmu->rank(), port, 0, 0).name;
}

void Machine::join_line(Nmu::Port& port, fabric::fabric_target_base& target, const char* module) {
  cuts_.join(*port.initiator, target, [&]() -> std::vector<std::string> {
    return {link_name_of(port), fmt::format("{}.to{}", module, index(port.nmu->rank()))};
  });
}

void Machine::build_neighbours(uint32_t p, uint32_t d) {
  for (uint32_t r = 0; r < npus(); ++r) {
    Nmu::Port* up = at(r).port(d, false, p);
    if (up == nullptr) continue;  // the upper end of a mesh
    const uint32_t next =
        geometry_.with_coordinate(r, d, geometry_.shape(d).peer(geometry_.coordinate(r, d), Shape::kUp));
    Nmu::Port* down = at(next).port(d, true, p);
    cuts_.join(*up->initiator, *down->target, [&]() -> std::vector<std::string> {
      return {link_name_of(*up), link_name_of(*down)};
    });
    Nmu::hint(*up, at(next));
    Nmu::hint(*down, at(r));
  }
}

void Machine::build_direct(uint32_t p, uint32_t d, vcd::Waves* waves) {
  const uint32_t lines = collectives::uses_unit(config_, d) ? npus() / geometry_.size(d) : 0;
  const auto ranks = static_cast<uint32_t>(whole_.size());
  std::vector<uint32_t> slots;
  if (folded_) {
    slots.resize(npus() + lines);
    for (uint32_t i = 0; i < ranks; ++i) slots[whole_[i]] = i;
    for (uint32_t i = 0; i < lines; ++i) slots[npus() + i] = ranks + i;
  }
  direct_.push_back(std::make_unique<fabric::DirectFabric>(
      ("direct" + std::to_string(d) + suffix(p, d)).c_str(), ranks + lines, std::move(slots)));
  // Whether places or ranks: a folded system's are the same.
  for (const uint32_t r : whole_) direct_.back()->bind_member(*at(r).port(d, false, p)->initiator);
  if (lines == 0) return;
  for (uint32_t r = 0; r < npus(); ++r) {
    if (geometry_.coordinate(r, d) != 0) continue;
    const std::string name = switch_name(geometry_, d, r);
    analytical_switches_.push_back(
        {std::make_unique<AnalyticalSwitch>(name.c_str(), d, fabric_context(), link_types_[d],
                                            UnitContext{directory_, data_.get(), waves}),
         d, r});
    AnalyticalSwitch& module = *analytical_switches_.back().module;
    direct_.back()->bind_member(module.socket);
    components_.insert(components_.end(), {&module, &module.unit()});
  }
}

void Machine::build_switches(uint32_t p, uint32_t d, vcd::Waves* waves) {
  const UnitContext context{directory_, data_.get(), waves};
  const UnitContext* const unit = collectives::uses_unit(config_, d) ? &context : nullptr;
  for (uint32_t r = 0; r < npus(); ++r) {
    if (geometry_.coordinate(r, d) != 0) continue;
    const std::string name = switch_name(geometry_, d, r, suffix(p, d));
    switches_.push_back(
        std::make_unique<FabricSwitch>(name.c_str(), d, fabric_context(), link_types_[d], unit));
    components_.push_back(switches_.back().get());
    if (unit != nullptr) components_.push_back(switches_.back()->unit());
    switch_dimensions_.push_back(d);
    switch_lines_.push_back(r);
    for (uint32_t c = 0; c < geometry_.size(d); ++c) {
      join_line(*at(geometry_.with_coordinate(r, d, c)).port(d, false, p), switches_.back()->socket,
                switches_.back()->name());
    }
  }
}

/// The switches of a graph, joined with each other and with NPUs: `npu_port(n, i)` is port i of NPU n in it.
void Machine::join_switches(const Graph& graph, const GraphLine& line, const std::string& prefix,
                            const SwitchKind& kind, const std::vector<fabric::LinkType*>& types,
                            const std::function<Nmu::Port&(uint32_t, uint32_t)>& npu_port) {
  const size_t first = placed_switches_.size();
  for (uint32_t n = graph.npus(); n < graph.nodes(); ++n) {
    SwitchContext context{{}, std::make_shared<GraphWays>(graph, line, n), kind.switching, pool_, wheel_};
    for (const Graph::Port& port : graph.ports(n)) context.ports.push_back({types[port.link], port.at_from});
    placed_switches_.push_back(
        {make_switch(kind.implementation, kind.key, (prefix + graph.name(n)).c_str(), std::move(context)),
         &graph, line, n});
    components_.push_back(placed_switches_.back().module.get());
  }
  const auto at_node = [&](uint32_t n) -> SwitchModel& {
    return *placed_switches_[first + n - graph.npus()].module;
  };
  for (uint32_t n = 0; n < graph.nodes(); ++n) {
    for (uint32_t i = 0; i < graph.ports(n).size(); ++i) {
      const Graph::Port& end = graph.ports(n)[i];
      if (!end.at_from) continue;
      fabric::fabric_initiator_base* from = nullptr;
      fabric::fabric_target_base* to = nullptr;
      if (graph.is_npu(n)) {
        from = npu_port(n, i).initiator.get();
      } else {
        from = at_node(n).ports()[i].initiator.get();
      }
      if (graph.is_npu(end.peer)) {
        to = npu_port(end.peer, end.peer_port).target.get();
      } else {
        to = at_node(end.peer).ports()[end.peer_port].target.get();
      }
      const auto name = [&](uint32_t node, uint32_t port) {
        return graph.is_npu(node)
                   ? link_name_of(npu_port(node, port))
                   : report(placed_switches_[first + node - graph.npus()], at_node(node).ports()[port]).name;
      };
      cuts_.join(*from, *to, [&]() -> std::vector<std::string> {
        return {name(n, i), name(end.peer, end.peer_port)};
      });
    }
  }
}

/// Every line's switches.
void Machine::build_trees(uint32_t p, uint32_t d) {
  const DimensionConfig& dimension = config_.fabric_dimensions()[d];
  const Graph& graph = dimension.tree->graph();
  std::vector<fabric::LinkType*> types;
  for (uint32_t i = 0; i < graph.spec().links.size(); ++i) {
    const uint32_t level = dimension.tree->level_of_link(i);
    types.push_back(level == 0 ? &link_types_[d] : &level_types_[d][level - 1]);
  }
  for (uint32_t r = 0; r < npus(); ++r) {
    if (geometry_.coordinate(r, d) != 0) continue;
    const GraphLine line{d, r, geometry_.stride(d), dimension.size};
    join_switches(graph, line, switch_name(geometry_, d, r, suffix(p, d)) + "_",
                  {dimension.implementation, switch_model_key(d), dimension.switching}, types,
                  [&](uint32_t n, uint32_t) -> Nmu::Port& { return *at(line.npu(n)).port(d, false, p); });
  }
}

/// The switches of a Switch dimension whose model is not the crossbar.
void Machine::build_line_switches(uint32_t p, uint32_t d) {
  const DimensionConfig& dimension = config_.fabric_dimensions()[d];
  check_switch_model(config_, d);
  const auto ways = std::make_shared<LineWays>(geometry_, d);
  for (uint32_t r = 0; r < npus(); ++r) {
    if (geometry_.coordinate(r, d) != 0) continue;
    SwitchContext context{std::vector<SwitchContext::PortContext>(dimension.size, {&link_types_[d], false}),
                          ways, dimension.switching, pool_, wheel_};
    const std::string name = switch_name(geometry_, d, r, suffix(p, d));
    placed_switches_.push_back(
        {make_switch(dimension.implementation, switch_model_key(d), name.c_str(), std::move(context)),
         nullptr,
         {d, r, geometry_.stride(d), dimension.size},
         0});
    components_.push_back(placed_switches_.back().module.get());
    SwitchModel& module = *placed_switches_.back().module;
    for (uint32_t c = 0; c < dimension.size; ++c)
      join_line(*at(geometry_.with_coordinate(r, d, c)).port(d, false, p), *module.ports()[c].target,
                module.name());
  }
}

void Machine::build_graph() {
  const Graph& graph = *config_.graph;
  if (graph.spec().fidelity == Fidelity::packet) return;
  if (graph.spec().fidelity == Fidelity::analytical) {
    direct_.push_back(std::make_unique<fabric::DirectFabric>("graph", npus()));
    for (uint32_t n = 0; n < npus(); ++n) direct_.back()->bind_member(*at(n).ports()[0].initiator);
    return;
  }
  std::vector<fabric::LinkType*> types;
  for (fabric::LinkType& type : link_types_) types.push_back(&type);
  join_switches(graph, GraphLine{}, "switch_",
                {graph.spec().implementation, "topology.graph.implementation", graph.spec().switching}, types,
                [&](uint32_t n, uint32_t i) -> Nmu::Port& { return at(n).ports()[i]; });
}

void Machine::build_packets(vcd::Waves* waves) {
  for (uint32_t p = 0; p < fidelity_.planes() && !whole_.empty(); ++p) {
    const Config& plane = fidelity_.plane(p);
    std::vector<PacketRegion> fresh;
    for (PacketRegion& region : packet_regions_of(plane)) {
      bool same_start = false;
      PacketFabric* fabric = nullptr;  // planes share the networks of the same dimensions
      for (const auto& other : packets_) {
        if (other->dimensions() == region.dimensions) fabric = other.get();
        same_start = same_start || (!region.dimensions.empty() && !other->dimensions().empty() &&
                                    other->dimensions()[0] == region.dimensions[0]);
      }
      if (fabric == nullptr) {
        std::string suffix;
        for (const uint32_t d : region.dimensions)
          suffix += fmt::format("{}d{}", suffix.empty() ? "_" : "", d);
        packets_.push_back(
            std::make_unique<PacketFabric>(plane, geometry_, region, same_start ? suffix : std::string()));
        fabric = packets_.back().get();
        components_.push_back(fabric);
        for (uint32_t n = 0; waves != nullptr && n < fabric->networks(); ++n)
          fabric->network(n).record(*waves);
        build_packet_switches(*fabric, waves);
        fresh.push_back(std::move(region));
      }
      for (const uint32_t r : whole_) nmus_[r]->join(*fabric, p);
    }
    for (std::string& warning : packet_warnings(plane, fresh)) warnings_.push_back(std::move(warning));
  }
}

/// The collective units of the region's switches. No rule changes their dimensions, so that there is one
/// region with them (FidelityRules).
void Machine::build_packet_switches(PacketFabric& fabric, vcd::Waves* waves) {
  for (const uint32_t d : fabric.dimensions()) {
    for (uint32_t r = 0; r < npus() && collectives::uses_unit(config_, d); ++r) {
      if (geometry_.coordinate(r, d) != 0) continue;
      const std::string name = switch_name(geometry_, d, r);
      packet_switches_.push_back(std::make_unique<PacketSwitch>(name.c_str(), d, r, fabric_context(), fabric,
                                                                UnitContext{directory_, data_.get(), waves}));
      components_.push_back(&packet_switches_.back()->unit());
    }
  }
}

void Machine::build_memory_pool() {
  if (folded_) throw std::logic_error("a machine with a memory pool does not fold");
  memory_pool_ = std::make_unique<MemoryPool>(
      "pool", config_, pool_, wheel_, [this](const pool::PoolLayout& layout, uint32_t node, uint32_t port) {
        return shared_link(layout, node, port);
      });
  components_.push_back(memory_pool_.get());
}

/// The link that the memory pool shares: of the graph, or between an NPU and its switch of a dimension.
fabric::Link* Machine::shared_link(const pool::PoolLayout& layout, uint32_t node, uint32_t port) {
  if (config_.graph != nullptr) {
    const pool::PoolLayout::GraphEnd end = layout.graph_end(node, port);
    if (config_.graph->is_npu(end.node)) return &at(end.node).ports()[end.port].link(0);
    for (const PlacedSwitch& s : placed_switches_)
      if (s.node == end.node) return &s.module->ports()[end.port].link;
    throw std::logic_error("the memory pool shares a graph without switches");
  }
  const uint32_t d = *config_.memory_pool->share;
  if (node < npus()) return &nmus_[node]->port(d, false, 0)->link(0);
  const uint32_t npu = layout.ports(node)[port].peer;
  for (size_t s = 0; s < switches_.size(); ++s)
    if (switch_dimensions_[s] == d && switch_lines_[s] == geometry_.with_coordinate(npu, d, 0))
      return &switches_[s]->links()[geometry_.coordinate(npu, d)];
  throw std::logic_error("the memory pool shares a dimension without switches");
}

std::unique_ptr<MemoryTarget> Machine::make_hbm(const std::string& name, uint32_t sockets,
                                                vcd::Waves* waves) const {
  if (config_.hbm.implementation != kDefaultMemoryModel) {
    const MemoryContext context{hbm_timing(config_.hbm), sockets, waves};
    return make_memory(config_.hbm.implementation, "hbm.implementation", name.c_str(), context);
  }
  if (config_.hbm.banked()) {
    return std::make_unique<BankedHbm>(name.c_str(), dram_, config_.hbm.stacks, config_.hbm.capacity, sockets,
                                       waves);
  }
  return std::make_unique<Hbm>(name.c_str(), hbm_timing(config_.hbm), sockets, waves);
}

void Machine::build_npus(const Options& options, const std::vector<uint32_t>& built) {
  const bool reduces = config_.collectives.reduction == ReductionKind::hbm;
  npu_modules_.resize(nmus_.size());
  for (const uint32_t r : built) {
    const std::string suffix = std::to_string(r);
    memories_.push_back(make_hbm("hbm" + suffix, reduces ? 2 : 1, options.waves));
    MemoryTarget& hbm = *memories_.back();
    memory_ranks_.push_back(r);
    npu_modules_[r] = std::make_unique<Npu>(("npu" + suffix).c_str(), NpuId{r}, config_, *nmus_[r],
                                            options.waves, memory_pool_.get());
    if (options.footprint && options.waves != nullptr) npu_modules_[r]->add_footprint_signal(*options.waves);
    components_.insert(components_.end(), {npu_modules_[r].get(), &hbm});
    npu_modules_[r]->memory().socket.bind(hbm.socket(0));
    if (reduces) nmus_[r]->memory()->socket.bind(hbm.socket(1));
    if (MemoryDma* remote = npu_modules_[r]->remote_memory()) {
      const MemoryTiming timing{config_.remote_memory->bandwidth, config_.remote_memory->latency, 0, 1.0};
      const std::string& model = config_.remote_memory->implementation;
      memories_.push_back(make_memory(model == kDefaultMemoryModel ? "bandwidth" : model,
                                      "remote_memory.implementation", ("remote" + suffix).c_str(),
                                      {timing, 1, options.waves}));
      memory_ranks_.push_back(r);
      remote->socket.bind(memories_.back()->socket(0));
      components_.push_back(memories_.back().get());
    }
  }
}

}  // namespace weft

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

/// Waveforms of one link: busy with explicit edges, the bytes that have entered it, and whose they are.
class LinkWaves final : public fabric::LinkObserver {
 public:
  LinkWaves(vcd::Waves& waves, const std::string& name)
      : busy_(waves.bit(name + ".busy")),
        bytes_(waves.number(name + ".bytes", 64)),
        flow_(waves.number(name + ".flow", 32)) {}
  bool wanted() const { return busy_ || bytes_ || flow_; }

  void occupied(Picoseconds start, Picoseconds end, uint64_t bytes, uint64_t id_low) override {
    total_ += bytes;
    busy_.set(start, true);
    flow_.set(start, static_cast<uint32_t>(id_low));
    bytes_.set(end, total_);
    busy_.set(end, false);
  }

 private:
  vcd::Probe busy_;
  vcd::Probe bytes_;
  vcd::Probe flow_;
  uint64_t total_ = 0;
};

LinkReport of_link(const fabric::Link& link) {
  LinkReport report;
  report.link = &link;
  report.bytes = link.bytes();
  report.messages = link.messages();
  report.busy = link.busy();
  report.queued = link.queued();
  return report;
}

}  // namespace

Machine::Machine(sc_core::sc_module_name name, const Config& config, const Options& options)
    : sc_core::sc_module(name),
      config_(config),
      fidelity_(config),
      geometry_(Geometry::of_fabric(config)),
      data_(collectives::DataContext::make(config)),
      cuts_(config, pool_, data_.get()),
      wheel_("wheel"),
      end_of_instant_("end_of_instant", InstantPart::decisions, [this] { slot_waits_.settled(); }),
      slot_waits_(config, [this] { end_of_instant_.request(); }),
      folded_(!options.mirrored.empty()),
      whole_(options.whole),
      dram_(dram_spec(config.hbm)) {
  if (folded_ && config_.remapped())
    throw std::logic_error("a system whose logical topology is not its physical one does not fold");
  if (config_.graph != nullptr) {
    for (const GraphLink& link : config_.graph->spec().links)
      link_types_.emplace_back(link.rate(), link.latency);
  }
  for (const DimensionConfig& d : config_.fabric_dimensions()) {
    link_types_.emplace_back(d.link_rate(), d.latency);
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
      nmus_[r]->port(d)->initiator->bind(mirrors_.back()->socket);
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

template <typename Target>
void Machine::join_line(Nmu::Port& port, Target& target, const char* module) {
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
      fabric::fabric_initiator_socket& from =
          graph.is_npu(n) ? *npu_port(n, i).initiator : *at_node(n).ports()[i].initiator;
      fabric::fabric_target_socket& to = graph.is_npu(end.peer)
                                             ? *npu_port(end.peer, end.peer_port).target
                                             : *at_node(end.peer).ports()[end.peer_port].target;
      const auto name = [&](uint32_t node, uint32_t port) {
        return graph.is_npu(node)
                   ? link_name_of(npu_port(node, port))
                   : report(placed_switches_[first + node - graph.npus()], at_node(node).ports()[port]).name;
      };
      cuts_.join(from, to, [&]() -> std::vector<std::string> {
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

std::string Machine::explain_stall() const {
  std::string text;
  for (const Component* component : components_) text += component->stall_text();
  return text;
}

bool Machine::rescue() {
  uint32_t chunks = 0;
  for (const auto& nmu : nmus_) chunks += nmu ? nmu->rescue() : 0;
  if (chunks == 0) return false;
  rescues_.last = sc_core::sc_time_stamp().value();
  if (rescues_.times++ == 0) rescues_.first = rescues_.last;
  rescues_.chunks += chunks;
  return true;
}

std::vector<std::string> Machine::slot_warnings(uint64_t beyond) const {
  std::vector<std::string> lines;
  // What the last resort has started is told by its own line.
  beyond -= std::min(beyond, rescues_.chunks);
  if (beyond != 0) {
    lines.push_back(
        fmt::format("{} chunks were started beyond collectives.active_chunks_per_dimension, because ranks in "
                    "unequal situations had chosen different chunks and waited for each other",
                    beyond));
  }
  if (rescues_.times != 0) {
    lines.push_back(fmt::format(
        "nothing in the machine moved any more ({} time{}, first at {} ps, last at {} ps), and {} chunks "
        "that waited "
        "for a slot were then started beyond collectives.active_chunks_per_dimension: ranks wait in a circle "
        "of "
        "slots and of messages or dependencies of the workload, so times depend on work that is unrelated; "
        "raise "
        "collectives.active_chunks_per_dimension, or let all ranks reach collectives in one order",
        rescues_.times, rescues_.times == 1 ? "" : "s", rescues_.first, rescues_.last, rescues_.chunks));
  }
  return lines;
}

void Machine::restart_networks() {
  for (const auto& fabric : packets_) {
    for (uint32_t n = 0; n < fabric->networks(); ++n) fabric->network(n).restart();
  }
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
    npu_modules_[r] =
        std::make_unique<Npu>(("npu" + suffix).c_str(), NpuId{r}, config_, *nmus_[r], options.waves);
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

void Machine::observe_links(vcd::Waves& waves) {
  for_each_link([&](const LinkReport& report) {
    auto observer = std::make_unique<LinkWaves>(waves, report.name);
    if (!observer->wanted() || report.link == nullptr) return;
    const_cast<fabric::Link*>(report.link)->observe(observer.get());
    observers_.push_back(std::move(observer));
  });
}

/// The link of `like` that is used as this one of `rank` is.
uint32_t Machine::image(uint32_t d, uint32_t rank, uint32_t link, uint32_t like, uint32_t exchanges) const {
  return geometry_.shape(d).image(link, geometry_.coordinate(rank, d), geometry_.coordinate(like, d),
                                  (exchanges >> d & 1) != 0);
}

std::vector<fabric::Link> Machine::links(uint32_t rank) const {
  std::vector<fabric::Link> result;
  for (const Nmu::Port& port : nmu(rank).ports()) {
    if (port.nmu == nullptr) continue;
    for (uint32_t i = 0; i < port.links(); ++i) result.push_back(port.link(i));
  }
  return result;
}

void Machine::adopt_links(uint32_t rank, uint32_t like, const std::vector<fabric::Link>& before,
                          uint32_t dimensions, uint32_t exchanges) {
  size_t at = 0;
  for (size_t p = 0; p < nmu(like).ports().size(); ++p) {
    const Nmu::Port& from = nmu(like).ports()[p];
    if (from.nmu == nullptr) continue;
    Nmu::Port& to = nmu(rank).ports()[p];
    const uint32_t d = from.dimension;
    for (uint32_t i = 0; (dimensions >> d & 1) != 0 && i < to.links(); ++i) {
      const uint32_t alike = image(d, rank, i, like, exchanges);
      to.link(i).adopt(from.link(alike), before[at + alike]);
    }
    at += from.links();
    for (uint32_t i = 0; (dimensions >> d & 1) != 0 && i < to.lasts(); ++i) to.last(i).adopt(from.last(i));
  }
}

LinkReport Machine::report(const Nmu& nmu, NpuId rank, const Nmu::Port& port, uint32_t i,
                           uint32_t exchanges) const {
  const uint32_t r = geometry_.place(index(rank));
  if (config_.graph != nullptr)
    return report_end(nmu.name(), *config_.graph, {}, "switch_", r,
                      port.analytical != Nmu::Port::Analytical::no ? i : port.number, port.link(i));
  const uint32_t d = port.dimension;
  const bool own = rank == nmu.rank();
  LinkReport report = of_link(port.link(own ? i : image(d, r, i, nmu.place(), exchanges)));
  const uint32_t link = port.descending ? uint32_t{Shape::kDown} : i;
  const std::string behind = suffix(port.plane, d);
  report.name = own ? nmu.name() : fmt::format("{}.{}", name(), nmu_name(geometry_, r));
  report.name += '.';
  report.name += link_name(geometry_, d, r, link, behind);
  report.to = link_end(geometry_, d, r, link, behind);
  report.fidelity = nmu.fidelity_of(port);
  report.dimension = d;
  return report;
}

LinkReport Machine::report(const LineSwitch& s, uint32_t i) const {
  // A folded system has links to ranks that are not built.
  const uint32_t peer = geometry_.rank_at(geometry_.with_coordinate(s.base, s.dimension, i));
  LinkReport report = of_link(s.module->links()[i]);
  report.name = fmt::format("{}.to{}", s.module->name(), peer);
  report.to = fmt::format("nmu{}", peer);
  report.dimension = s.dimension;
  report.fidelity = Fidelity::analytical;
  return report;
}

std::vector<std::string> Machine::describe_unit_waits(size_t limit) const {
  std::vector<std::string> lines;
  for_each_unit([&](const SwitchUnit& unit) {
    for (std::string& line : unit.describe_waits(limit - lines.size())) lines.push_back(std::move(line));
  });
  return lines;
}

LinkReport Machine::report(const PlacedSwitch& s, const SwitchModel::Port& port) const {
  const SwitchModel& module = *s.module;
  if (s.graph == nullptr) {
    const uint32_t peer =
        geometry_.rank_at(geometry_.with_coordinate(s.line.base, s.line.dimension, port.number));
    LinkReport report = of_link(port.link);
    report.name = fmt::format("{}.to{}", module.name(), peer);
    report.to = nmus_[peer]->basename();
    report.dimension = s.line.dimension;
    return report;
  }
  if (s.line.stride == 0)
    return report_end(module.name(), *s.graph, {}, "switch_", s.node, port.number, port.link);
  // The switch's own name is that of its line and then its node's.
  std::string prefix = module.basename();
  prefix.resize(prefix.size() - s.graph->name(s.node).size());
  LinkReport report = report_end(module.name(), *s.graph, s.line, prefix, s.node, port.number, port.link);
  report.fidelity = Fidelity::message;
  report.dimension = s.line.dimension;
  return report;
}

/// The link that leaves a node of the graph at one of its ends. Parallel links are numbered.
LinkReport Machine::report_end(const char* owner, const Graph& graph, const GraphLine& line,
                               const std::string& switch_prefix, uint32_t node, uint32_t end,
                               const fabric::Link& link) const {
  const uint32_t peer = graph.ports(node)[end].peer;
  LinkReport report = of_link(link);
  report.fidelity = graph.spec().fidelity;
  // At analytical fidelity a switch is no module, but it has its name.
  report.to = graph.is_npu(peer) ? nmus_[geometry_.rank_at(line.npu(peer))]->basename()
                                 : switch_prefix + graph.name(peer);
  report.name = fmt::format("{}.to_{}{}", owner, report.to, parallel_number(graph, node, end));
  return report;
}

LinkReport Machine::report(size_t s, uint32_t i) const {
  const uint32_t d = switch_dimensions_[s];
  const uint32_t peer = geometry_.rank_at(geometry_.with_coordinate(switch_lines_[s], d, i));
  LinkReport report = of_link(switches_[s]->links()[i]);
  report.name = fmt::format("{}.to{}", switches_[s]->name(), peer);
  report.to = nmus_[peer]->basename();
  report.dimension = d;
  return report;
}

uint64_t Machine::memory_bytes(uint32_t rank) const {
  uint64_t bytes = 0;
  const auto [first, last] = std::equal_range(memory_ranks_.begin(), memory_ranks_.end(), rank);
  for (auto at = first; at != last; ++at)
    bytes += memories_[static_cast<size_t>(at - memory_ranks_.begin())]->bytes();
  return bytes;
}

Machine::Totals Machine::totals() const {
  Totals t;
  for (const Component* component : components_) component->count(t);
  return t;
}

Machine::Congestion Machine::congestion() const {
  Congestion c;
  for (const auto& fabric : packets_) {
    for (uint32_t n = 0; n < fabric->networks(); ++n) {
      const packet::PacketNetwork& network = fabric->network(n);
      c.packet_hops += network.packet_hops();
      c.marked += network.packets_marked();
      c.notifications += network.notifications();
    }
    for (PacketFabric::FlowUse& flow : fabric->slowed_flows()) c.flows.push_back(std::move(flow));
  }
  return c;
}

std::vector<std::string> Machine::check_conservation() const {
  std::vector<std::string> broken;
  const Totals t = totals();
  // What NMUs and collective units send, and what the two receive.
  const uint64_t messages_sent = t.messages_submitted + t.unit_messages_out;
  const uint64_t messages_received = t.messages_delivered + t.unit_messages_in;
  if (messages_sent != messages_received) {
    broken.push_back(
        fmt::format("{} messages were submitted and {} delivered", messages_sent, messages_received));
  }
  const uint64_t bytes_sent = t.bytes_submitted + t.unit_bytes_out;
  const uint64_t bytes_received = t.bytes_delivered + t.unit_bytes_in;
  if (bytes_sent != bytes_received) {
    broken.push_back(fmt::format("{} bytes were submitted and {} delivered", bytes_sent, bytes_received));
  }
  for (const Component* component : components_) component->find_unbalanced(broken);
  if (pool_.live() != 0) broken.push_back(fmt::format("{} packets were never released", pool_.live()));
  if (data_ && data_->payloads().live() != 0) {
    broken.push_back(fmt::format("the elements of {} messages were never applied", data_->payloads().live()));
  }
  if (t.in_flight != 0)
    broken.push_back(fmt::format("{} messages are still in NMUs and switches", t.in_flight));
  if (t.memory_outstanding != 0) {
    broken.push_back(fmt::format("{} memory requests were never answered", t.memory_outstanding));
  }
  return broken;
}

}  // namespace weft

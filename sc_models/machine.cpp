// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "configs/blueprint/carrier.h"
#include "configs/blueprint/names.h"
#include "configs/stop.h"
#include "sc_models/analytical_switch.h"
#include "sc_models/banked_hbm.h"
#include "sc_models/hbm.h"
#include "sc_models/machine_check.h"
#include "sc_models/memory_model.h"
#include "sc_models/message_bits.h"
#include "sc_models/packet_switch.h"
#include "sc_models/switch_ways.h"
#include "tlm_interconnect/fabric/direct_fabric.h"
#include "workload/trace/collective_numbers.h"

namespace weft {

Machine::Machine(sc_core::sc_module_name name, const Config& config, const Options& options)
    : sc_core::sc_module(name),
      config_(config),
      fidelity_(config),
      geometry_(Geometry::of_fabric(config)),
      data_(collectives::DataContext::make(config)),
      cuts_(config, choices_, pool_, data_.get(), options.boundaries),
      link_types_(link_types_of(config)),
      wheel_("wheel"),
      npu_wheel_("npu_wheel"),
      end_of_instant_("end_of_instant", InstantPart::decisions, [this] { slot_waits_.settled(); }),
      starts_("starts", InstantPart::starts,
              [this] {
                if (on_starts_) on_starts_();
              }),
      slot_waits_(config, [this] { end_of_instant_.request(); }),
      folded_(!options.mirrored.empty() || !options.only.empty()),
      partial_(!options.only.empty()),
      mirrored_(options.mirrored),
      images_([](const fabric::Packet& packet) {
        return unpack(packet.id_low, packet.id_high).kind == MessageId::Kind::point_to_point;
      }),
      mirrors_(geometry_.dimensions()),
      neighbour_mirrors_(geometry_.dimensions()),
      line_switches_(geometry_.dimensions()),
      whole_(options.only.empty() ? options.whole : options.only),
      choices_(config),
      dram_(config.hbm.banked() ? make_dram_device(config.hbm, config.hbm.stacks) : nullptr) {
  if (folded_ && config_.remapped())
    throw std::logic_error("a machine whose logical topology is not its physical one does not fold");
  choices_.check(fidelity_, geometry_);
  if (options.part != nullptr) {
    part_links_ = std::make_unique<PartLinks>(*options.part, pool_);
    slot_waits_.expect_some_of(geometry_.npus(), true);
  }
  for (const DimensionConfig& d : config_.fabric_dimensions()) {
    level_types_.emplace_back();
    for (uint32_t l = 1; d.tree != nullptr && l < d.tree->levels(); ++l)
      level_types_.back().emplace_back(d.tree->level(l).rate(), d.tree->level(l).latency);
  }
  if (!folded_) {
    whole_.resize(geometry_.npus());
    std::iota(whole_.begin(), whole_.end(), 0u);
    const auto other = [this](uint32_t r) { return part_links_ != nullptr && !part_links_->own(r); };
    whole_.erase(std::remove_if(whole_.begin(), whole_.end(), other), whole_.end());
  }
  std::vector<uint32_t> built;
  std::merge(whole_.begin(), whole_.end(), options.mirrored.begin(), options.mirrored.end(),
             std::back_inserter(built));
  nmus_.resize(part_links_ != nullptr ? geometry_.npus() : built.back() + size_t{1});
  for (const auto& image : options.images)
    images_.add(image.from, image.to, {image.source, image.destination});
  pool_.keep_causes(options.causes);
  if (!options.joined.empty() || partial_) slot_waits_.expect_some_of(geometry_.npus(), false);
  build_nmus(built, options);
  build_taps(options);
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
    const DimensionConfig& dimension = config_.fabric_dimensions()[d];
    if (dimension.size <= 1) continue;
    if (folded_ && carrier_of(dimension) == Carrier::crossbars) {
      build_folded_switch(d, built);
      continue;
    }
    build_mirrors(d, built);
    build_dimension(0, d, options.probes);
  }
  for (uint32_t p = 1; p < fidelity_.planes(); ++p) {
    for (uint32_t d = 0; d < geometry_.dimensions(); ++d) {
      const auto like = [&](uint32_t q) {
        return fidelity_.plane(q).fabric_dimensions()[d].fidelity ==
               fidelity_.plane(p).fabric_dimensions()[d].fidelity;
      };
      uint32_t q = 0;
      while (!like(q)) ++q;
      if (q == p) build_dimension(p, d, options.probes);
    }
  }
  if (config_.graph != nullptr) build_graph();
  if (config_.collectives.library.on())
    library_ = std::make_unique<LibraryRuns>(
        "library", config_, fidelity_, [this](uint32_t npu) { return nmus_[npu].get(); },
        [this](uint32_t dimension, uint32_t npu) { return program_unit(dimension, npu); }, data(),
        options.causes);
  build_packets(options.probes);
  join_far_members();
  const size_t cut = cuts_.models().size();
  for (const auto& model : cuts_.models()) components_.push_back(model.get());
  if (config_.memory_pool && (options.npus || options.memory_pool)) build_memory_pool(options.probes);
  if (config_.host_memory && (options.npus || options.memory_pool)) build_memory_tiers(built, options.probes);
  for (size_t i = cut; i < cuts_.models().size(); ++i) components_.push_back(cuts_.models()[i].get());
  if (!config_.memory_pool || memory_pool_) {  // else what they name may be the pool's
    choices_.check_joined();
    cuts_.check(config_.file.empty() ? "configuration" : config_.file, [this] { return wireless_links(); });
  }
  if (options.npus || config_.collectives.reduction == ReductionKind::hbm) build_npus(options, built);
  alarm_ = std::make_unique<WheelAlarm>(wheel_);
  if (options.probes != nullptr && options.probes->on()) observe_links(*options.probes);
  if (options.causes != nullptr) tell_causes_of_links(*options.causes);
}

Machine::Machine(sc_core::sc_module_name name, const Config& config, NmuClient& client,
                 const Options& options)
    : Machine(name, config, options) {
  attach(client);
}

Machine::~Machine() = default;

void Machine::build_taps(const Options& options) {
  if (options.external.nmus.empty() && options.external.hbms.empty()) return;
  if (folded_) throw std::logic_error("a folded machine has no room for modules of others");
  for (const uint32_t r : options.external.hbms)
    if (!built(r)) throw std::out_of_range(fmt::format("{}: there is no HBM of rank {}", name(), r));
  for (const uint32_t r : options.external.nmus) {
    if (!built(r)) throw std::out_of_range(fmt::format("{}: there is no NMU of rank {}", name(), r));
    if (taps_.count(r) == 0) taps_[r] = std::make_unique<NmuTap>(*nmus_[r], external_messages_);
  }
}

FabricService& Machine::service(uint32_t rank) {
  const auto tap = taps_.find(rank);
  if (tap == taps_.end()) return *nmus_[rank];
  return *tap->second;
}

void Machine::attach(NmuClient& client) {
  for (uint32_t r = 0; r < nmus_.size(); ++r) {
    const auto tap = taps_.find(r);
    if (nmus_[r] && (tap != taps_.end() ? tap->second->attached() : nmus_[r]->attached()))
      throw std::logic_error(fmt::format("{} has a job already", nmus_[r]->name()));
  }
  for (uint32_t r = 0; r < nmus_.size(); ++r) {
    if (nmus_[r]) service(r).attach(client);
  }
}

void Machine::detach() {
  for (uint32_t r = 0; r < nmus_.size(); ++r) {
    if (nmus_[r]) service(r).detach();
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

void Machine::build_nmus(const std::vector<uint32_t>& built, const Options& options) {
  bool units = false;
  for (uint32_t d = 0; d < geometry_.dimensions(); ++d) units = units || collectives::uses_unit(config_, d);
  for (const uint32_t r : built) {
    check_stop();
    const bool whole = std::binary_search(whole_.begin(), whole_.end(), r);
    NmuContext context{config_, geometry_, link_types_, pool_, wheel_, options.probes, data_.get()};
    if (units) context.units = &directory_;
    if (whole) {
      context.fidelity = &fidelity_;
      context.waits = &slot_waits_;
    } else if (folded_) {
      context.images = &images_;
      if (std::binary_search(options.joined.begin(), options.joined.end(), r)) context.waits = &slot_waits_;
    }
    const std::string nmu = "nmu" + std::to_string(r);
    const auto model = choices_.of(ModuleKind::nmu, nmu, {config_.nmu.implementation, "nmu.implementation"});
    nmus_[r] = make_nmu(model.implementation, model.owner, nmu, NpuId{r}, context);
    cuts_.watch_messages(*nmus_[r], nmu_name(geometry_, geometry_.place(r)));
    components_.push_back(nmus_[r].get());
  }
}

/// The links and switches that carry the plane's messages along dimension d.
void Machine::build_dimension(uint32_t p, uint32_t d, vcd::ProbeHub* probes) {
  const DimensionConfig& dimension = fidelity_.plane(p).fabric_dimensions()[d];
  if (whole_.empty() || dimension.size <= 1) return;
  switch (carrier_of(dimension)) {
    case Carrier::direct:
    case Carrier::pairs:
      build_direct(p, d, probes);
      break;
    case Carrier::neighbours:
      build_neighbours(p, d);
      break;
    case Carrier::crossbars:
      build_switches(p, d, probes);
      break;
    case Carrier::switches:
      build_trees(p, d);
      break;
    case Carrier::packets:
      break;  // build_packets
  }
}

/// Tells modules and links of a dimension at a rule's fidelity from its own.
std::string Machine::suffix(uint32_t p, uint32_t d) const {
  return p == 0 ? std::string()
                : fmt::format("_{}", to_string(fidelity_.plane(p).fabric_dimensions()[d].fidelity));
}

std::string Machine::link_name_at(uint32_t p, uint32_t d, uint32_t place, uint32_t link) const {
  return fmt::format("{}.{}.{}", name(), nmu_name(geometry_, place),
                     link_name(geometry_, d, place, link, suffix(p, d)));
}

void Machine::build_neighbours(uint32_t p, uint32_t d) {
  for (uint32_t r = 0; r < npus(); ++r) {
    const LinkEndAt up{d, false, p};
    const LinkEndAt down{d, true, p};
    const uint32_t c = geometry_.coordinate(r, d);
    if (!geometry_.shape(d).leads_on(c, Shape::kUp)) continue;  // the upper end of a mesh
    const uint32_t next = geometry_.with_coordinate(r, d, geometry_.shape(d).peer(c, Shape::kUp));
    if (part_links_ != nullptr && part_of_place(r) != part_of_place(next)) {
      part_links_->cut(elsewhere(r) ? nullptr : at(r).end(up).initiator, part_of_place(r),
                       elsewhere(next) ? nullptr : at(next).end(down).target, part_of_place(next),
                       link_types_[d].latency());
      continue;
    }
    if (elsewhere(r) || !joined_here(r, next)) continue;
    const LinkSocket from = at(r).end(up);
    cuts_.join(*from.initiator, *at(next).end(down).target, [&]() -> JoinedLink {
      return {{link_name_at(p, d, r, Shape::kUp), link_name_at(p, d, next, Shape::kDown)},
              nmu_end(r),
              nmu_end(next),
              &link_types_[d]};
    });
    at(r).hint(up, at(next));
    at(next).hint(down, at(r));
  }
}

BlockEnd Machine::nmu_end(uint32_t place) const {
  return {BlockEnd::Kind::nmu, nmu_name(geometry_, place)};
}

/// What joins an NPU with the carrier of a dimension: its own socket, or that of a border at which some of
/// its pair links are cut.
fabric::fabric_initiator_base& Machine::end_at_carrier(uint32_t p, uint32_t d, uint32_t place) {
  fabric::fabric_initiator_base& own_end = *at(place).end({d, false, p}).initiator;
  const DimensionConfig& dimension = fidelity_.plane(p).fabric_dimensions()[d];
  if (cuts_.none() || carrier_of(dimension) != Carrier::pairs) return own_end;
  const Shape& shape = geometry_.shape(d);
  const uint32_t here = geometry_.coordinate(place, d);
  LinkCuts::PairLinks links;
  for (uint32_t i = 0; i < shape.links(); ++i) {
    const uint32_t there = shape.peer(here, i);
    const uint32_t peer = geometry_.with_coordinate(place, d, there);
    links.emplace_back(peer, [=]() -> JoinedLink {
      return {{link_name_at(p, d, place, i),
               link_name_at(p, d, peer, geometry_.shape(d).link_to(there, here, false))},
              nmu_end(place),
              nmu_end(peer),
              &link_types_[d]};
    });
  }
  return cuts_.join_pairs(own_end, links);
}

/// Links without sockets of their own.
std::vector<std::string> Machine::wireless_links() const {
  std::vector<std::string> names;
  for_each_link([&](const LinkReport& link) {
    if (link.direct()) names.push_back(link.name);
  });
  return names;
}

void Machine::build_direct(uint32_t p, uint32_t d, vcd::ProbeHub* probes) {
  const uint32_t lines = has_units(p, d) ? npus() / geometry_.size(d) : 0;
  fabric::DirectFabric& direct =
      make_carrier("direct" + std::to_string(d) + suffix(p, d), lines, latency_to_other_parts(d));
  for (const uint32_t place : carrier_places()) direct.bind_member(end_at_carrier(p, d, place));
  if (lines == 0) return;
  for (uint32_t r = 0; r < npus(); ++r) {
    if (geometry_.coordinate(r, d) != 0) continue;
    const std::string name = switch_name(geometry_, d, r);
    auto& module = own(std::make_unique<AnalyticalSwitch>(name.c_str(), d, r, fabric_context(),
                                                          link_types_[d], unit_context(d, name, probes)));
    direct.bind_member(module.socket);
    components_.push_back(&module);
    add_unit(module.unit());
  }
}

bool Machine::has_units(uint32_t p, uint32_t d) const {
  return collectives::uses_unit(config_, d) && fidelity_.units_on(p, d);
}

ProgramUnit* Machine::program_unit(uint32_t d, uint32_t npu) const {
  // Those of a dimension are in the order of their lines.
  uint32_t before = geometry_.line(geometry_.place(npu), d);
  for (const UnitModel* const unit : units_) {
    auto* const found = dynamic_cast<ProgramUnit*>(const_cast<UnitModel*>(unit));
    if (found != nullptr && found->dimension() == d && before-- == 0) return found;
  }
  return nullptr;
}

UnitContext Machine::unit_context(uint32_t d, const std::string& of_switch, vcd::ProbeHub* probes) {
  auto model = choices_.of(ModuleKind::unit, of_switch + ".unit",
                           {config_.dimensions[d].collective_unit.implementation,
                            fmt::format("topology.dimensions[{}].collective_unit.implementation", d)});
  return {directory_, data_.get(), probes, std::move(model.implementation), std::move(model.owner)};
}

/// The switches of a Switch dimension's lines.
void Machine::build_switches(uint32_t p, uint32_t d, vcd::ProbeHub* probes) {
  const DimensionConfig& dimension = config_.fabric_dimensions()[d];
  const bool units = has_units(p, d);
  for (uint32_t r = 0; r < npus(); ++r) {
    if (geometry_.coordinate(r, d) != 0) continue;
    const uint32_t number = numbered_modules_++;
    const bool cut = line_is_cut(d, r);
    if (!line_is_here(d, r)) {
      if (cut) part_links_->skip(dimension.size, link_types_[d].latency());
      if (p == 0) line_switches_[d].push_back(nullptr);
      continue;
    }
    const std::string name = switch_name(geometry_, d, r, suffix(p, d));
    const auto model =
        choices_.of(ModuleKind::fabric_switch, name, {dimension.implementation, switch_model_key(d)});
    SwitchContext context{std::vector<SwitchContext::PortContext>(dimension.size, {&link_types_[d], false}),
                          std::make_shared<LineWays>(geometry_, d, r), dimension.switching, pool_, wheel_};
    context.link_place = LinkPlace::crossbars;
    context.elements = cuts_.elements();
    if (units)
      context.make_unit = [&](UnitPorts& ports) {
        return make_unit("unit", {d, fabric_context(), unit_context(d, name, probes), ports});
      };
    auto& module = own(make_switch(model.implementation, model.owner, name.c_str(), std::move(context)));
    components_.push_back(&module);
    if (p == 0) line_switches_[d].push_back(&module);
    if (part_links_ != nullptr) module_numbers_[&module] = number;
    if (units) add_unit(*module.unit());
    if (cut) {
      join_line_in_parts(p, d, r, module);
      continue;
    }
    for (uint32_t c = 0; c < dimension.size; ++c) {
      const uint32_t place = geometry_.with_coordinate(r, d, c);
      module.ports()[c].peer_hint = at(place).hot();
      cuts_.join(*at(place).end({d, false, p}).initiator, *module.ports()[c].target, [&]() -> JoinedLink {
        return {{link_name_at(p, d, place, 0), module.report(c).name},
                nmu_end(place),
                {BlockEnd::Kind::fabric_switch, name, c, &module},
                &link_types_[d]};
      });
    }
  }
}

fabric::Link& Machine::link_to(uint32_t rank, uint32_t d) {
  const uint32_t place = geometry_.place(rank);
  return line_switches_[d].at(geometry_.line(place, d))->ports()[geometry_.coordinate(place, d)].sends();
}

/// The switches of a graph, joined with each other and with NPUs: `npu_end(n, i)` is port i of NPU n in it.
void Machine::join_switches(const Graph& graph, const GraphLine& line, const SwitchKind& kind,
                            const std::vector<fabric::LinkType*>& types, const NpuSocket& npu_end) {
  std::vector<SwitchModel*> switches;
  const std::vector<uint32_t> parts = parts_of_nodes(graph, line);  // empty: all nodes are here
  const auto here = [&](uint32_t n) { return parts.empty() || parts[n] == part_links_->self(); };
  for (uint32_t n = graph.npus(); n < graph.nodes(); ++n) {
    const uint32_t number = numbered_modules_++;
    if (!here(n)) {
      switches.push_back(nullptr);
      continue;
    }
    const std::string name = kind.names + graph.name(n);
    const auto model = choices_.of(ModuleKind::fabric_switch, name, kind.model);
    SwitchContext context{{},
                          std::make_shared<GraphWays>(graph, geometry_, line, kind.names, n),
                          kind.switching,
                          pool_,
                          wheel_};
    context.elements = cuts_.elements();
    for (const Graph::Port& port : graph.ports(n)) context.ports.push_back({types[port.link], port.at_from});
    switches.push_back(
        &own(make_switch(model.implementation, model.owner, name.c_str(), std::move(context))));
    components_.push_back(switches.back());
    if (part_links_ != nullptr) module_numbers_[switches.back()] = number;
  }
  const auto at_node = [&](uint32_t n) -> SwitchModel& { return *switches[n - graph.npus()]; };
  const auto end = [&](uint32_t n, uint32_t i) -> LinkSocket {
    if (graph.is_npu(n)) return npu_end(n, i);
    SwitchModel::Port& port = at_node(n).ports()[i];
    return {port.initiator.get(), port.target.get()};
  };
  const auto name = [&](uint32_t n, uint32_t i) {
    if (!graph.is_npu(n)) return at_node(n).report(i).name;
    const uint32_t place = line.npu(n);
    return line.stride == 0 ? at(place).name() + graph_end(graph, geometry_, line, kind.names, {n, i}).link
                            : link_name_at(kind.plane, line.dimension, place, 0);
  };
  const auto block = [&](uint32_t n, uint32_t i) -> BlockEnd {
    if (graph.is_npu(n)) return nmu_end(line.npu(n));
    return {BlockEnd::Kind::fabric_switch, at_node(n).basename(), i, &at_node(n)};
  };
  for (uint32_t n = 0; n < graph.nodes(); ++n) {
    for (uint32_t i = 0; i < graph.ports(n).size(); ++i) {
      const Graph::Port& port = graph.ports(n)[i];
      if (!port.at_from) continue;
      if (!parts.empty() && parts[n] != parts[port.peer]) {
        part_links_->cut(here(n) ? end(n, i).initiator : nullptr, parts[n],
                         here(port.peer) ? end(port.peer, port.peer_port).target : nullptr, parts[port.peer],
                         types[port.link]->latency());
        continue;
      }
      if (!here(n)) continue;
      cuts_.join(*end(n, i).initiator, *end(port.peer, port.peer_port).target, [&]() -> JoinedLink {
        return {{name(n, i), name(port.peer, port.peer_port)},
                block(n, i),
                block(port.peer, port.peer_port),
                types[port.link]};
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
    join_switches(graph, line,
                  {{dimension.implementation, switch_model_key(d)},
                   dimension.switching,
                   switch_name(geometry_, d, r, suffix(p, d)) + "_",
                   p},
                  types, [&](uint32_t n, uint32_t) {
                    return at(line.npu(n)).end({d, false, p});
                  });
  }
}

void Machine::build_graph() {
  const Graph& graph = *config_.graph;
  if (carrier_of(graph) == Carrier::packets) return;  // build_packets
  if (carrier_of(graph) == Carrier::direct) {
    Picoseconds latency = kNever;
    for (const fabric::LinkType& type : link_types_) latency = std::min(latency, type.latency());
    fabric::DirectFabric& direct = make_carrier("graph", 0, latency);
    for (const uint32_t place : carrier_places()) direct.bind_member(*at(place).end({0}).initiator);
    return;
  }
  std::vector<fabric::LinkType*> types;
  for (fabric::LinkType& type : link_types_) types.push_back(&type);
  join_switches(
      graph, GraphLine{},
      {{graph.spec().implementation, "topology.graph.implementation"}, graph.spec().switching, "switch_", 0},
      types, [&](uint32_t n, uint32_t i) { return at(n).end({i}); });
}

void Machine::build_packets(vcd::ProbeHub* probes) {
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
        packets_.push_back(std::make_unique<PacketFabric>(
            plane, geometry_, region, same_start ? suffix : std::string(), cuts_, part_links_.get()));
        fabric = packets_.back().get();
        components_.push_back(fabric);
        for (uint32_t n = 0; probes != nullptr && n < fabric->networks(); ++n)
          fabric->network(n).record(*probes);
        build_packet_switches(p, *fabric, probes);
        fresh.push_back(std::move(region));
      }
      for (const uint32_t r : whole_) nmus_[r]->join(*fabric, p);
    }
    for (std::string& warning : packet_warnings(plane, fresh)) warnings_.push_back(std::move(warning));
  }
}

/// The collective units of the region's switches.
void Machine::build_packet_switches(uint32_t p, PacketFabric& fabric, vcd::ProbeHub* probes) {
  for (const uint32_t d : fabric.dimensions()) {
    for (uint32_t r = 0; r < npus() && has_units(p, d); ++r) {
      if (geometry_.coordinate(r, d) != 0) continue;
      const std::string name = switch_name(geometry_, d, r);
      add_unit(own(std::make_unique<PacketSwitch>(name.c_str(), d, r, fabric_context(), fabric,
                                                  unit_context(d, name, probes)))
                   .unit());
    }
  }
}

void Machine::build_memory_pool(vcd::ProbeHub* probes) {
  if (folded_) throw std::logic_error("a machine with a memory pool does not fold");
  memory_pool_ = std::make_unique<MemoryPool>(
      "pool", config_, pool_, wheel_,
      [this](const pool::PoolLayout& layout, uint32_t node, uint32_t port) {
        return shared_link(layout, node, port);
      },
      &choices_, probes, pool_host(), &cuts_);
  components_.push_back(memory_pool_.get());
}

void Machine::build_memory_tiers(const std::vector<uint32_t>& built, vcd::ProbeHub* probes) {
  if (folded_ && config_.host_memory->per != "npu")
    throw std::logic_error("a machine whose NPUs share hosts does not fold");
  tiers_ = std::make_unique<MemoryTiers>(config_, wheel_, built, choices_, probes);
  for (const Component* host : tiers_->components()) components_.push_back(host);
  if (causes() != nullptr) tiers_->keep_causes(*causes());
}

/// The link that a switch sends on by a port. Null: there is no such switch.
fabric::Link* Machine::switch_link(const std::string& of_switch, uint32_t port) {
  for (const auto& part : parts_) {
    if (of_switch != part->basename()) continue;
    if (auto* const model = dynamic_cast<SwitchModel*>(part.get())) return &model->ports()[port].link;
  }
  return nullptr;
}

/// The packet network that carries the memory pool. Null: the pool has links of its own, or no packets.
packet::PacketNetwork* Machine::pool_host() {
  for (const auto& fabric : packets_)
    if (fabric->network(0).topology().guests != nullptr) return &fabric->network(0);
  return nullptr;
}

/// The link that the memory pool shares: of the graph, or between an NPU and its switch of a dimension.
fabric::Link* Machine::shared_link(const pool::PoolLayout& layout, uint32_t node, uint32_t port) {
  const auto of_nmu = [](NmuModel& nmu, const LinkEndAt& end) {
    fabric::Link* const link = nmu.link(end);
    if (link == nullptr)
      throw UserError(ExitCode::usage,
                      fmt::format("{}: this NMU's model shares no links, and the memory pool is to share "
                                  "them; use another model, or a pool with links of its own",
                                  nmu.name()));
    return link;
  };
  fabric::Link* link = nullptr;
  if (config_.graph != nullptr) {
    const pool::PoolLayout::GraphEnd end = layout.graph_end(node, port);
    if (config_.graph->is_npu(end.node)) return of_nmu(at(end.node), {end.port});
    link = switch_link("switch_" + config_.graph->name(end.node), end.port);
  } else {
    const uint32_t d = *config_.memory_pool->share;
    if (node < npus()) return of_nmu(*nmus_[node], {d});
    const uint32_t npu = layout.ports(node)[port].peer;
    link = switch_link(switch_name(geometry_, d, npu), geometry_.coordinate(npu, d));
  }
  if (link == nullptr) throw std::logic_error("the memory pool shares links of a switch that is not there");
  return link;
}

std::unique_ptr<MemoryTarget> Machine::make_hbm(const std::string& name, uint32_t sockets,
                                                vcd::ProbeHub* probes) {
  const auto model =
      choices_.of(ModuleKind::memory, name, {config_.hbm.implementation, "hbm.implementation"});
  if (model.implementation != kDefaultMemoryModel) {
    const MemoryContext context{hbm_timing(config_.hbm), sockets, probes};
    return make_memory(model.implementation, model.owner, name.c_str(), context);
  }
  if (config_.hbm.banked()) {
    return std::make_unique<BankedHbm>(name.c_str(), dram_, config_.hbm.stacks, config_.hbm.capacity, sockets,
                                       probes);
  }
  return std::make_unique<Hbm>(name.c_str(), hbm_timing(config_.hbm), sockets, probes);
}

void Machine::build_npus(const Options& options, const std::vector<uint32_t>& built) {
  const bool reduces = config_.collectives.reduction == ReductionKind::hbm;
  // With data NPUs store and load bytes. Reductions of NMUs do not: their elements are the engine's.
  const auto join = [&](MemoryDma& dma, MemoryTarget& memory, uint32_t socket) {
    if (config_.run.data == "functional") memory.keep_bytes();
    if (memory.stored() != nullptr && !dma.carries_bytes()) dma.without_bytes();
    dma.socket.bind(memory.socket(socket));
  };
  npu_modules_.resize(nmus_.size());
  for (const uint32_t r : built) {
    const std::string suffix = std::to_string(r);
    MemoryDma* const of_nmu = reduces ? nmus_[r]->memory() : nullptr;
    const auto& open = options.external.hbms;
    const bool for_others = std::find(open.begin(), open.end(), r) != open.end();
    const uint32_t sockets = (of_nmu != nullptr ? 2u : 1u) + (for_others ? 1u : 0u);
    memories_.push_back(make_hbm("hbm" + suffix, sockets, options.probes));
    MemoryTarget& hbm = *memories_.back();
    memory_ranks_.push_back(r);
    if (for_others) {
      hbm.keep_bytes();
      hbm_sockets_[r] = &hbm.socket(sockets - 1);
    }
    const auto of_npu =
        choices_.of(ModuleKind::npu, "npu" + suffix, {config_.npu.implementation, "npu.implementation"});
    npu_modules_[r] = make_npu(of_npu.implementation, of_npu.owner, "npu" + suffix,
                               {NpuId{r}, config_, service(r), options.probes, memory_pool_.get(),
                                tiers_.get(), options.causes, &npu_wheel_});
    if (options.footprint && options.probes != nullptr)
      npu_modules_[r]->add_footprint_signal(*options.probes);
    components_.insert(components_.end(), {npu_modules_[r].get(), &hbm});
    cuts_.watch_accesses(hbm);
    cuts_.watch_nodes(*npu_modules_[r]);
    if (options.causes != nullptr) hbm.keep_causes(make_hbm_causes(*options.causes, hbm.name()));
    join(npu_modules_[r]->memory(), hbm, 0);
    if (of_nmu != nullptr) join(*of_nmu, hbm, 1);
    if (MemoryDma* remote = npu_modules_[r]->remote_memory()) {
      const MemoryTiming timing{config_.remote_memory->bandwidth, config_.remote_memory->latency, 0, 1.0};
      const auto model = choices_.of(ModuleKind::memory, "remote" + suffix,
                                     {config_.remote_memory->implementation, "remote_memory.implementation"});
      memories_.push_back(
          make_memory(model.implementation == kDefaultMemoryModel ? "bandwidth" : model.implementation,
                      model.owner, ("remote" + suffix).c_str(), {timing, 1, options.probes}));
      memory_ranks_.push_back(r);
      cuts_.watch_accesses(*memories_.back());
      if (options.causes != nullptr)
        memories_.back()->keep_causes(
            make_memory_causes(*options.causes, memories_.back()->name(), "remote memory"));
      join(*remote, *memories_.back(), 0);
      components_.push_back(memories_.back().get());
    }
  }
}

}  // namespace weft

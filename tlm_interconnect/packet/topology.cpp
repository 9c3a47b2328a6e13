// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "tlm_interconnect/packet/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "configs/notation.h"
#include "configs/tree_notation.h"

namespace weft::packet {
namespace {

constexpr uint64_t kMostNpus = 1u << 16;   // some 23 KB each once they are modules
constexpr uint64_t kMostPorts = 1u << 24;  // what n (n - 1) links of FullyConnected come to quickly

[[noreturn]] void fail(const std::string& message) {
  throw UserError(ExitCode::usage, message);
}

/// Joins two ports; both must exist.
void join(PacketTopology& t, uint32_t a, uint32_t port_a, uint32_t b, uint32_t port_b, uint32_t link) {
  t.routers[a].ports[port_a] = {false, b, port_b, link, false};
  t.routers[b].ports[port_b] = {false, a, port_a, link, false};
}

void join_ni(PacketTopology& t, uint32_t router, uint32_t port, uint32_t ni, uint32_t link) {
  t.routers[router].ports[port] = {true, ni, 0, link, false};
  t.nis[ni] = {router, port, ni};
}

/// The switches of the tree of one line: `base` is its rank at coordinate 0, and `attach(coordinate, router,
/// port)` joins an NPU to a port of a leaf switch.
template <typename Attach>
void add_tree(PacketTopology& t, uint32_t d, uint32_t base, uint32_t first_level_class,
              const Attach& attach) {
  const Tree& tree = *t.dimensions[d].tree;
  const Graph& graph = tree.graph();
  const auto first = static_cast<uint32_t>(t.routers.size());
  for (uint32_t n = graph.npus(); n < graph.nodes(); ++n) {
    TopologyRouter s;
    s.name = fmt::format("switch_{}_{}_{}", d, base, graph.name(n));
    s.role = RouterRole::dimension_switch;
    s.rank = base;
    s.dimension = d;
    s.node = n;
    s.ports.resize(graph.ports(n).size());
    t.routers.push_back(std::move(s));
  }
  for (uint32_t n = graph.npus(); n < graph.nodes(); ++n) {
    const uint32_t router = first + n - graph.npus();
    for (uint32_t p = 0; p < graph.ports(n).size(); ++p) {
      const Graph::Port& port = graph.ports(n)[p];
      if (graph.is_npu(port.peer)) {
        attach(port.peer, router, p);
      } else if (port.at_from) {  // the lower end
        const uint32_t link = first_level_class + tree.level_of_link(port.link) - 1;
        join(t, router, p, first + port.peer - graph.npus(), port.peer_port, link);
        t.routers[router].ports[p].up = true;
      }
    }
  }
}

/// Link classes of a tree's levels above the NPUs; answers the first one.
uint32_t add_levels(PacketTopology& t, const TopologyDimension& dimension) {
  const auto first = static_cast<uint32_t>(t.links.size());
  for (const LinkTiming& level : dimension.levels) t.add_link(level);
  return first;
}

/// A crossbar that joins NPUs port by port.
TopologyRouter crossbar(const std::string& name, uint32_t ports) {
  TopologyRouter s;
  s.name = name;
  s.role = RouterRole::dimension_switch;
  s.ports.resize(ports);
  for (uint32_t i = 0; i < ports; ++i) s.ways.push_back(i);
  return s;
}

/// The only dimension is a Switch or a tree: the interfaces are at the ports of its switches.
void add_lone_switches(PacketTopology& t) {
  const TopologyDimension& dimension = t.dimensions[0];
  const uint32_t link_class = t.add_link(dimension.link);
  const auto attach = [&](uint32_t c, uint32_t router, uint32_t port) {
    join_ni(t, router, port, c, link_class);
  };
  if (dimension.tree != nullptr) {
    add_tree(t, 0, 0, add_levels(t, dimension), attach);
    return;
  }
  t.routers.push_back(crossbar("switch", dimension.shape.size()));
  for (uint32_t c = 0; c < dimension.shape.size(); ++c) attach(c, 0, c);
}

/// A router an NPU. Its ports are those of its links that lead on, dimension by dimension, then its
/// interface's.
void add_npu_routers(PacketTopology& t, uint32_t ni_class) {
  uint32_t ways = 0;
  for (const TopologyDimension& d : t.dimensions) {
    t.way_offset.push_back(ways);
    ways += d.shape.links();
  }
  const auto npus = static_cast<uint32_t>(t.nis.size());
  if (uint64_t{npus} * ways > kMostPorts) {
    fail(fmt::format("{} has more than {} ports: make it smaller, or use Switch in place of FullyConnected",
                     t.name, kMostPorts));
  }
  for (uint32_t rank = 0; rank < npus; ++rank) {
    TopologyRouter r;
    r.name = fmt::format("router_{}", rank);
    r.role = RouterRole::npu;
    r.rank = rank;
    r.ways.assign(ways, ~0u);
    uint32_t ports = 0;
    for (uint32_t d = 0; d < t.dimensions.size(); ++d) {
      const Shape& shape = t.dimensions[d].shape;
      for (uint32_t link = 0; link < shape.links(); ++link) {
        if (shape.leads_on(t.coordinate(rank, d), link)) r.ways[t.way_offset[d] + link] = ports++;
      }
    }
    r.ports.resize(ports + 1);
    t.routers.push_back(std::move(r));
    join_ni(t, rank, ports, rank, ni_class);
  }
}

/// The links of a dimension that join NPUs with each other.
void join_peers(PacketTopology& t, uint32_t d, uint32_t link_class) {
  const Shape& shape = t.dimensions[d].shape;
  for (uint32_t rank = 0; rank < t.nis.size(); ++rank) {
    const uint32_t here = t.coordinate(rank, d);
    for (uint32_t link = 0; link < shape.links(); ++link) {
      const uint32_t peer = shape.peer(here, link);
      if (peer >= shape.size() || peer < here) continue;  // no NPU, or joined from there
      const uint32_t other = rank + (peer - here) * t.strides[d];
      join(t, rank, t.port_of(t.routers[rank], d, link), other,
           t.port_of(t.routers[other], d, shape.link_back(here, link)), link_class);
    }
  }
}

/// The switches of a dimension's lines.
void add_switches(PacketTopology& t, uint32_t d, uint32_t link_class, uint32_t level_class) {
  const Shape& shape = t.dimensions[d].shape;
  const uint32_t stride = t.strides[d];
  for (uint32_t base = 0; base < t.nis.size(); ++base) {
    if (t.coordinate(base, d) != 0) continue;
    const auto attach = [&](uint32_t c, uint32_t router, uint32_t port) {
      const uint32_t npu = base + c * stride;
      join(t, npu, t.port_of(t.routers[npu], d, 0), router, port, link_class);
    };
    if (shape.tree() != nullptr) {
      add_tree(t, d, base, level_class, attach);
      continue;
    }
    const auto id = static_cast<uint32_t>(t.routers.size());
    t.routers.push_back(crossbar(fmt::format("switch_{}_{}", d, base), shape.size()));
    t.routers[id].rank = base;
    t.routers[id].dimension = d;
    for (uint32_t c = 0; c < shape.size(); ++c) attach(c, id, c);
  }
}

}  // namespace

uint32_t PacketTopology::add_link(const LinkTiming& timing) {
  links.push_back(timing);
  return static_cast<uint32_t>(links.size() - 1);
}

uint32_t PacketTopology::add_router(const std::string& router_name) {
  TopologyRouter r;
  r.name = router_name;
  routers.push_back(std::move(r));
  return static_cast<uint32_t>(routers.size() - 1);
}

std::pair<uint32_t, uint32_t> PacketTopology::connect(uint32_t a, uint32_t b, uint32_t link,
                                                      bool bidirectional) {
  if (a >= routers.size() || b >= routers.size() || link >= links.size() || a == b) {
    fail(fmt::format(
        "topology '{}': cannot connect router {} with router {}: there are {} routers; a link joins two "
        "different ones",
        name, a, b, routers.size()));
  }
  routers[a].ports.emplace_back();
  routers[b].ports.emplace_back();
  const auto pa = static_cast<uint32_t>(routers[a].ports.size() - 1);
  const auto pb = static_cast<uint32_t>(routers[b].ports.size() - 1);
  join(*this, a, pa, b, pb, link);
  routers[b].ports[pb].sends = bidirectional;
  return {pa, pb};
}

uint32_t PacketTopology::attach(uint32_t router, uint32_t link) {
  if (router >= routers.size() || link >= links.size()) {
    fail(fmt::format("topology '{}': cannot attach an NPU to router {}: there are {}", name, router,
                     routers.size()));
  }
  routers[router].ports.emplace_back();
  nis.emplace_back();
  const auto ni = static_cast<uint32_t>(nis.size() - 1);
  join_ni(*this, router, static_cast<uint32_t>(routers[router].ports.size() - 1), ni, link);
  return ni;
}

void PacketTopology::add_lanes() {
  const uint32_t last = ranks();
  std::vector<uint32_t> ni_class(links.size(), ~0u);  // interfaces keep the pace of the link they serve
  for (uint32_t rank = 0; rank < last; ++rank) {
    TopologyRouter& router = routers[nis[rank].router];
    if (router.role != RouterRole::npu) continue;  // directly at a switch
    const auto links_of_rank = static_cast<uint32_t>(router.ports.size() - 1);
    const uint32_t own = nis[rank].port;
    router.lanes.assign(router.ports.size(), own);
    bool first = true;
    for (uint32_t p = 0; p <= links_of_rank; ++p) {
      if (router.ports[p].ni) continue;
      const uint32_t served = router.ports[p].link;
      if (ni_class[served] == ~0u) {
        LinkTiming timing = links[router.ports[own].link];
        timing.flit_time = links[served].flit_time;
        ni_class[served] = add_link(timing);
      }
      if (first) {
        router.ports[own].link = ni_class[served];
        first = false;
        continue;
      }
      router.ports.emplace_back();
      const auto port = static_cast<uint32_t>(router.ports.size() - 1);
      nis.emplace_back();
      ++more_nis;
      join_ni(*this, nis[rank].router, port, static_cast<uint32_t>(nis.size() - 1), ni_class[served]);
      nis.back().rank = rank;
      router.lanes[p] = port;
      router.lanes.push_back(port);
    }
  }
}

void PacketTopology::add_unit(uint32_t router_index) {
  TopologyRouter& router = routers[router_index];
  const uint32_t rank = ranks() + static_cast<uint32_t>(units.size());
  const auto ports = static_cast<uint32_t>(router.ports.size());
  units.push_back(router_index);
  uint32_t served = ~0u;
  uint32_t interface = 0;
  for (uint32_t p = 0; p < ports; ++p) {
    if (router.ports[p].link != served) {
      served = router.ports[p].link;
      LinkTiming timing;
      timing.flit_time = links[served].flit_time;
      interface = add_link(timing);
    }
    router.ports.emplace_back();
    nis.emplace_back();
    ++more_nis;
    join_ni(*this, router_index, ports + p, static_cast<uint32_t>(nis.size() - 1), interface);
    nis.back().rank = rank;
    router.unit_lanes.push_back(ports + p);
  }
}

uint32_t PacketTopology::add_guest(uint32_t router, uint32_t link, uint32_t rank) {
  const auto port = static_cast<uint32_t>(routers[router].ports.size());
  routers[router].ports.emplace_back();
  nis.emplace_back();
  ++more_nis;
  join_ni(*this, router, port, static_cast<uint32_t>(nis.size() - 1), link);
  nis.back().rank = rank;
  return port;
}

uint32_t PacketTopology::unit_at(uint32_t router) const {
  uint32_t u = 0;
  while (u < units.size() && units[u] != router) ++u;
  return u;
}

std::vector<uint32_t> PacketTopology::hops(uint32_t router, bool from) const {
  std::vector<uint32_t> result(routers.size(), kUnreached);
  std::vector<uint32_t> order{router};
  result[router] = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const TopologyPort& port : routers[order[i]].ports) {
      if (port.ni || result[port.peer] != kUnreached) continue;
      if (!(from ? port.sends : routers[port.peer].ports[port.peer_port].sends)) continue;
      result[port.peer] = result[order[i]] + 1;
      order.push_back(port.peer);
    }
  }
  return result;
}

bool PacketTopology::has_pfc() const {
  return std::any_of(links.begin(), links.end(), [](const LinkTiming& timing) { return timing.pfc; });
}

bool PacketTopology::one_way() const {
  for (const TopologyRouter& router : routers) {
    for (const TopologyPort& port : router.ports) {
      if (!port.sends) return true;
    }
  }
  return false;
}

void PacketTopology::check() const {
  if (nis.empty()) fail(fmt::format("topology '{}' has no NPU", name));
  for (uint32_t r = 0; r < routers.size(); ++r) {
    for (uint32_t p = 0; p < routers[r].ports.size(); ++p) {
      const TopologyPort& port = routers[r].ports[p];
      const bool sound =
          port.ni ? port.peer < nis.size() && nis[port.peer].router == r && nis[port.peer].port == p
                  : port.peer < routers.size() && port.peer_port < routers[port.peer].ports.size() &&
                        !routers[port.peer].ports[port.peer_port].ni &&
                        routers[port.peer].ports[port.peer_port].peer == r &&
                        routers[port.peer].ports[port.peer_port].peer_port == p;
      if (!sound || port.link >= links.size()) {
        fail(fmt::format("topology '{}': port {} of router {} is not joined to anything", name, p,
                         routers[r].name));
      }
    }
  }
  for (const bool from : {true, false}) {  // through rank 0 everybody then reaches everybody
    const std::vector<uint32_t> reached = hops(nis[0].router, from);
    for (uint32_t n = 0; n < nis.size(); ++n) {
      if (reached[nis[n].router] != kUnreached) continue;
      fail(fmt::format("topology '{}': rank {} cannot reach rank {}: join their routers ({} and {})", name,
                       from ? 0 : nis[n].rank, from ? nis[n].rank : 0, routers[nis[0].router].name,
                       routers[nis[n].router].name));
    }
  }
}

PacketTopology make_dimensions(const std::vector<TopologyDimension>& dimensions, const LinkTiming& ni_link) {
  PacketTopology t;
  t.dimensions = dimensions;
  uint64_t npus = 1;
  for (const TopologyDimension& d : dimensions) {
    const uint32_t size = d.shape.size();
    if (size == 0) fail("a dimension needs at least one NPU");
    t.strides.push_back(static_cast<uint32_t>(npus));
    npus *= size;
    if (npus > kMostNpus)
      fail(fmt::format("more than {} NPUs at packet fidelity: make the topology smaller", kMostNpus));
    t.name += (t.name.empty() ? "" : "_") + d.shape.name();
  }
  if (dimensions.empty()) fail("a packet network needs at least one dimension");
  t.routing = "dimension_order";
  t.selection = "random";
  t.nis.resize(npus);
  const uint32_t ni_class = t.add_link(ni_link);
  if (dimensions.size() == 1 && dimensions[0].shape.has_switches()) {
    add_lone_switches(t);
    return t;
  }
  add_npu_routers(t, ni_class);
  for (const TopologyDimension& d : dimensions) t.add_link(d.link);
  for (uint32_t d = 0; d < dimensions.size(); ++d) {
    const uint32_t link_class = ni_class + 1 + d;
    const uint32_t level_class = add_levels(t, dimensions[d]);
    if (dimensions[d].shape.size() == 1) continue;
    if (dimensions[d].shape.has_switches()) {
      add_switches(t, d, link_class, level_class);
    } else {
      join_peers(t, d, link_class);
    }
  }
  return t;
}

PacketTopology make_fat_tree(uint32_t k, uint32_t n, const LinkTiming& link, const LinkTiming& ni_link) {
  return make_fat_tree(k, n, std::vector<LinkTiming>(n > 1 ? n - 1 : 0, link), ni_link);
}

PacketTopology make_fat_tree(uint32_t k, uint32_t n, const std::vector<LinkTiming>& levels,
                             const LinkTiming& ni_link) {
  if (k < 2 || n < 1) fail(fmt::format("FatTree(k={},n={}): k must be at least 2 and n at least 1", k, n));
  uint64_t leaves = 1;
  for (uint32_t i = 0; i < n; ++i) {
    leaves *= k;
    if (leaves > kMostNpus)
      fail(fmt::format("FatTree(k={},n={}) has more than {} NPUs: make it smaller", k, n, kMostNpus));
  }
  PacketTopology t;
  t.name = fmt::format("FatTree(k={},n={})", k, n);
  t.routing = "nearest_common_ancestor";
  t.selection = "random";
  t.arity = k;
  t.levels = n;
  t.nis.resize(leaves);
  const uint32_t ni_class = t.add_link(ni_link);
  const auto first_class = static_cast<uint32_t>(t.links.size());
  for (const LinkTiming& link : levels) t.add_link(link);
  const auto per_level = static_cast<uint32_t>(leaves / k);
  for (uint32_t level = 0; level < n; ++level) {
    for (uint32_t position = 0; position < per_level; ++position) {
      TopologyRouter r;
      r.name = fmt::format("tree_{}_{}", level, position);
      r.role = RouterRole::tree;
      r.level = level;
      r.position = position;
      r.ports.resize(level == 0 ? k : 2 * k);
      t.routers.push_back(std::move(r));
    }
  }
  // A subtree at level l has k^(n-1-l) routers, each joined down its port j to one router of the j-th child
  // subtree.
  uint32_t group = per_level;
  for (uint32_t level = 0; level + 1 < n; ++level) {
    const uint32_t child_group = group / k;
    for (uint32_t position = 0; position < per_level; ++position) {
      const uint32_t subtree = position / group;
      const uint32_t within = position % group;
      for (uint32_t j = 0; j < k; ++j) {
        const uint32_t child = (subtree * k + j) * child_group + within % child_group;
        const uint32_t child_id = (level + 1) * per_level + child;
        const uint32_t up_port = k + within / child_group;
        // Level 0 is the roots; the classes begin at the leaves.
        join(t, level * per_level + position, j, child_id, up_port, first_class + n - 2 - level);
        t.routers[child_id].ports[up_port].up = true;
      }
    }
    group = child_group;
  }
  for (uint32_t leaf = 0; leaf < leaves; ++leaf)
    join_ni(t, (n - 1) * per_level + leaf / k, leaf % k, leaf, ni_class);
  return t;
}

PacketTopology make_clos(uint32_t hosts, uint32_t leaves, uint32_t spines, const LinkTiming& link) {
  if (uint64_t{hosts} * leaves > kMostNpus || uint64_t{leaves} * spines > kMostPorts)
    fail(fmt::format(
        "Clos(hosts={},leaves={},spines={}): more than {} NPUs or {} ports at packet fidelity: make it "
        "smaller",
        hosts, leaves, spines, kMostNpus, kMostPorts));
  PacketTopology t;
  t.name = fmt::format("Clos(hosts={},leaves={},spines={})", hosts, leaves, spines);
  t.routing = "shortest_path";
  t.selection = "hash";
  t.add_link({});  // joins a rank to a router of its own, which there is none of
  const uint32_t link_class = t.add_link(link);
  for (uint32_t i = 0; i < leaves; ++i) t.add_router(fmt::format("leaf{}", i));
  for (uint32_t i = 0; i < spines; ++i) t.add_router(fmt::format("spine{}", i));
  for (uint32_t rank = 0; rank < hosts * leaves; ++rank) t.attach(rank / hosts, link_class);
  for (uint32_t leaf = 0; leaf < leaves; ++leaf)
    for (uint32_t spine = 0; spine < spines; ++spine) t.connect(leaf, leaves + spine, link_class);
  return t;
}

PacketTopology make_from_notation(const std::string& notation, const LinkTiming& link,
                                  const LinkTiming& ni_link) {
  if (is_tree_notation(notation)) {
    const TreeNotation tree = parse_tree_notation(notation, kMostPorts);
    return tree.kind == TreeNotation::Kind::clos ? make_clos(tree.hosts, tree.leaves, tree.spines, link)
                                                 : make_fat_tree(tree.k, tree.n, link, ni_link);
  }
  std::vector<TopologyDimension> dimensions;
  for (const NotationDimension& d : parse_notation(notation)) {
    TopologyDimension dimension;
    dimension.link = link;
    if (d.tree) {
      dimension.levels.assign(d.tree->levels() - 1, link);
      dimension.tree = std::make_shared<const Tree>(*d.tree, std::vector<TreeLevel>(d.tree->levels() - 1));
    }
    dimension.shape = Shape(d.kind, d.size, dimension.tree.get());
    dimensions.push_back(dimension);
  }
  return make_dimensions(dimensions, ni_link);
}

}  // namespace weft::packet

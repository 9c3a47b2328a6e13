// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// From YAML to Config: what is read, what is resolved, and every way of being wrong.

#include "configs/loader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "configs/effective.h"
#include "configs/graph.h"
#include "configs/tree.h"
#include "configs/units.h"
#include "tests/support/paths.h"

namespace weft {
namespace {

namespace fs = std::filesystem;

const char* const kMinimal =
    "weft: 1\n"
    "topology:\n"
    "  notation: Ring(4)_FullyConnected(8)_Switch(4)\n"
    "  dimensions:\n"
    "    - {bandwidth: 100 GB/s}\n";

std::string with(const std::string& more) {
  return kMinimal + more;
}

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_config(text, "machine.yaml", overrides);
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

void expect_same_graph(const GraphSpec& a, const GraphSpec& b) {
  const auto& [npus, switches, links, fidelity, switching, npus_forward, routing, routes, implementation] = a;
  EXPECT_EQ(npus, b.npus);
  EXPECT_EQ(switches, b.switches);
  EXPECT_EQ(fidelity, b.fidelity);
  EXPECT_EQ(switching, b.switching);
  EXPECT_EQ(npus_forward, b.npus_forward);
  EXPECT_EQ(routing, b.routing);
  EXPECT_EQ(implementation, b.implementation);
  ASSERT_EQ(links.size(), b.links.size());
  for (size_t i = 0; i < links.size(); ++i) {
    const auto& [from, to, bandwidth, latency, count, bidirectional, credit_latency, flit_error_rate,
                 replay] = links[i];
    EXPECT_EQ(credit_latency, b.links[i].credit_latency) << i;
    EXPECT_EQ(flit_error_rate, b.links[i].flit_error_rate) << i;
    EXPECT_EQ(replay, b.links[i].replay) << i;
    EXPECT_EQ(from, b.links[i].from) << i;
    EXPECT_EQ(to, b.links[i].to) << i;
    EXPECT_EQ(bandwidth, b.links[i].bandwidth) << i;
    EXPECT_EQ(latency, b.links[i].latency) << i;
    EXPECT_EQ(count, b.links[i].count) << i;
    EXPECT_EQ(bidirectional, b.links[i].bidirectional) << i;
  }
  ASSERT_EQ(routes.size(), b.routes.size());
  for (size_t i = 0; i < routes.size(); ++i) {
    const auto& [at, to, via] = routes[i];
    EXPECT_EQ(at, b.routes[i].at) << i;
    EXPECT_EQ(to, b.routes[i].to) << i;
    EXPECT_EQ(via, b.routes[i].via) << i;
  }
}

void expect_same_packets(const PacketFabricConfig& a, const PacketFabricConfig& b) {
  const auto& [packet_bytes, flit_bytes, phit_bytes, header_bytes, header_efficiency, cycle, vcs,
               virtual_networks, strict_priority, collectives_network, point_to_point_network, buffer_flits,
               route_cycles, vc_alloc_cycles, switch_alloc_cycles, traversal_cycles, credit_cycles, switching,
               strict_cut_through, release_on_credit, quantum, allocator_iterations, switch_allocator,
               vc_allocator, routing, selection, vc_classes, forwarding, injection, ecn, dcqcn, sampling,
               flow_control, pfc_networks, pfc_xoff, pfc_xon, pfc_delay] = a;
  EXPECT_EQ(packet_bytes, b.packet_bytes);
  EXPECT_EQ(flit_bytes, b.flit_bytes);
  EXPECT_EQ(phit_bytes, b.phit_bytes);
  EXPECT_EQ(header_bytes, b.header_bytes);
  EXPECT_EQ(header_efficiency, b.header_efficiency);
  EXPECT_EQ(cycle, b.cycle);
  EXPECT_EQ(vcs, b.vcs);
  EXPECT_EQ(virtual_networks, b.virtual_networks);
  EXPECT_EQ(strict_priority, b.strict_priority);
  EXPECT_EQ(collectives_network, b.collectives_network);
  EXPECT_EQ(point_to_point_network, b.point_to_point_network);
  EXPECT_EQ(buffer_flits, b.buffer_flits);
  EXPECT_EQ(route_cycles, b.route_cycles);
  EXPECT_EQ(vc_alloc_cycles, b.vc_alloc_cycles);
  EXPECT_EQ(switch_alloc_cycles, b.switch_alloc_cycles);
  EXPECT_EQ(traversal_cycles, b.traversal_cycles);
  EXPECT_EQ(credit_cycles, b.credit_cycles);
  EXPECT_EQ(switching, b.switching);
  EXPECT_EQ(strict_cut_through, b.strict_cut_through);
  EXPECT_EQ(release_on_credit, b.release_on_credit);
  EXPECT_EQ(quantum, b.quantum);
  EXPECT_EQ(allocator_iterations, b.allocator_iterations);
  EXPECT_EQ(switch_allocator, b.switch_allocator);
  EXPECT_EQ(vc_allocator, b.vc_allocator);
  EXPECT_EQ(routing, b.routing);
  EXPECT_EQ(selection, b.selection);
  EXPECT_EQ(vc_classes, b.vc_classes);
  EXPECT_EQ(forwarding, b.forwarding);
  EXPECT_EQ(injection, b.injection);
  {
    const auto& [enabled, k_min, k_max, p_max] = ecn;
    EXPECT_EQ(enabled, b.ecn.enabled);
    EXPECT_EQ(k_min, b.ecn.k_min);
    EXPECT_EQ(k_max, b.ecn.k_max);
    EXPECT_EQ(p_max, b.ecn.p_max);
  }
  {
    const auto& [enabled, share] = sampling;
    EXPECT_EQ(enabled, b.sampling.enabled);
    EXPECT_EQ(share, b.sampling.share);
  }
  const auto& [enabled, cnp_interval, alpha_timer, rate_timer, byte_counter, fast_recovery, g, rate_ai,
               rate_hai, min_rate] = dcqcn;
  EXPECT_EQ(enabled, b.dcqcn.enabled);
  EXPECT_EQ(cnp_interval, b.dcqcn.cnp_interval);
  EXPECT_EQ(alpha_timer, b.dcqcn.alpha_timer);
  EXPECT_EQ(rate_timer, b.dcqcn.rate_timer);
  EXPECT_EQ(byte_counter, b.dcqcn.byte_counter);
  EXPECT_EQ(fast_recovery, b.dcqcn.fast_recovery);
  EXPECT_EQ(g, b.dcqcn.g);
  EXPECT_EQ(rate_ai, b.dcqcn.rate_ai);
  EXPECT_EQ(rate_hai, b.dcqcn.rate_hai);
  EXPECT_EQ(min_rate, b.dcqcn.min_rate);
  EXPECT_EQ(flow_control, b.flow_control);
  EXPECT_EQ(pfc_networks, b.pfc_networks);
  EXPECT_EQ(pfc_xoff, b.pfc_xoff);
  EXPECT_EQ(pfc_xon, b.pfc_xon);
  EXPECT_EQ(pfc_delay, b.pfc_delay);
}

void expect_same(const TextWorkloadConfig& a, const TextWorkloadConfig& b) {
  const auto& [file, passes, compute_scale, comm_scale, clock, update, state_cycles, priorities,
               model_dimensions] = a;
  EXPECT_EQ(file, b.file);
  EXPECT_EQ(passes, b.passes);
  EXPECT_EQ(compute_scale, b.compute_scale);
  EXPECT_EQ(comm_scale, b.comm_scale);
  EXPECT_EQ(clock, b.clock);
  EXPECT_EQ(update, b.update);
  EXPECT_EQ(state_cycles, b.state_cycles);
  EXPECT_EQ(priorities, b.priorities);
  EXPECT_EQ(model_dimensions, b.model_dimensions);
}

void expect_same(const LogGpConfig& a, const LogGpConfig& b) {
  const auto& [L, o, g, G, O, S, resolution] = a;
  EXPECT_EQ(L, b.L);
  EXPECT_EQ(o, b.o);
  EXPECT_EQ(g, b.g);
  EXPECT_EQ(G, b.G);
  EXPECT_EQ(O, b.O);
  EXPECT_EQ(S, b.S);
  EXPECT_EQ(resolution, b.resolution);
}

void expect_same(const WorkloadConfig& a, const WorkloadConfig& b) {
  const auto& [goal, text, trace, groups, strict, npus] = a;
  EXPECT_EQ(goal, b.goal);
  expect_same(text, b.text);
  EXPECT_EQ(trace, b.trace);
  EXPECT_EQ(groups, b.groups);
  EXPECT_EQ(strict, b.strict);
  EXPECT_EQ(npus, b.npus);
}

void expect_same(const HostMemoryConfig& a, const HostMemoryConfig& b) {
  const auto& [per, nodes, bandwidth, latency, efficiency, capacity, over_capacity, implementation, links,
               link_bandwidth, link_latency, chunk, window, order] = a;
  EXPECT_EQ(per, b.per);
  EXPECT_EQ(nodes, b.nodes);
  EXPECT_EQ(bandwidth, b.bandwidth);
  EXPECT_EQ(latency, b.latency);
  EXPECT_EQ(efficiency, b.efficiency);
  EXPECT_EQ(capacity, b.capacity);
  EXPECT_EQ(over_capacity, b.over_capacity);
  EXPECT_EQ(implementation, b.implementation);
  EXPECT_EQ(links, b.links);
  EXPECT_EQ(link_bandwidth, b.link_bandwidth);
  EXPECT_EQ(link_latency, b.link_latency);
  EXPECT_EQ(chunk, b.chunk);
  EXPECT_EQ(window, b.window);
  EXPECT_EQ(order, b.order);
}

void expect_same(const NvmeConfig& a, const NvmeConfig& b) {
  const auto& [bandwidth, latency, efficiency, capacity, over_capacity, implementation, link_bandwidth,
               link_latency, path, chunk, window, order] = a;
  EXPECT_EQ(bandwidth, b.bandwidth);
  EXPECT_EQ(latency, b.latency);
  EXPECT_EQ(efficiency, b.efficiency);
  EXPECT_EQ(capacity, b.capacity);
  EXPECT_EQ(over_capacity, b.over_capacity);
  EXPECT_EQ(implementation, b.implementation);
  EXPECT_EQ(link_bandwidth, b.link_bandwidth);
  EXPECT_EQ(link_latency, b.link_latency);
  EXPECT_EQ(path, b.path);
  EXPECT_EQ(chunk, b.chunk);
  EXPECT_EQ(window, b.window);
  EXPECT_EQ(order, b.order);
}

void expect_same(const EnvironmentConfig& a, const EnvironmentConfig& b) {
  const auto& [real, classes, detail, delay, delay_table, delay_plugin, communicators, peers, skew,
               skew_distribution, poll_cost] = a;
  EXPECT_EQ(real, b.real);
  EXPECT_EQ(detail, b.detail);
  EXPECT_EQ(delay, b.delay);
  EXPECT_EQ(delay_table, b.delay_table);
  EXPECT_EQ(delay_plugin, b.delay_plugin);
  EXPECT_EQ(skew, b.skew);
  EXPECT_EQ(skew_distribution, b.skew_distribution);
  EXPECT_EQ(poll_cost, b.poll_cost);
  ASSERT_EQ(classes.size(), b.classes.size());
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto& [of, ranks, origin] = classes[i];
    EXPECT_EQ(of, b.classes[i].real);
    EXPECT_EQ(ranks, b.classes[i].ranks);
  }
  ASSERT_EQ(communicators.size(), b.communicators.size());
  for (size_t i = 0; i < communicators.size(); ++i) {
    const auto& [call, stride, count, origin] = communicators[i];
    EXPECT_EQ(call, b.communicators[i].call);
    EXPECT_EQ(stride, b.communicators[i].stride);
    EXPECT_EQ(count, b.communicators[i].count);
  }
  ASSERT_EQ(peers.size(), b.peers.size());
  for (size_t i = 0; i < peers.size(); ++i) {
    const auto& [rank, tag, when, peer_delay, origin] = peers[i];
    EXPECT_EQ(rank, b.peers[i].rank);
    EXPECT_EQ(tag, b.peers[i].tag);
    EXPECT_EQ(when, b.peers[i].when);
    EXPECT_EQ(peer_delay, b.peers[i].delay);
  }
}

// Every field of every struct: a new field does not compile here until it is compared.
void expect_same(const Config& a, const Config& b) {
  {
    const auto& [file, plugins, notation, dimensions, npu, hbm, remote, pool, host, nvme, nmu, packets,
                 collectives, workload, jobs, run, output, loggp, logical, physical, graph, levels,
                 fidelity_rules, mapping, implementations, environment, expect] = a;
    ASSERT_EQ(environment.has_value(), b.environment.has_value());
    if (environment) expect_same(*environment, *b.environment);
    ASSERT_EQ(loggp.has_value(), b.loggp.has_value());
    if (loggp) expect_same(*loggp, *b.loggp);
    ASSERT_EQ(expect.size(), b.expect.size());
    for (size_t i = 0; i < expect.size(); ++i) {
      const auto& [name, job, metric, of, statistic, at_most, at_least, equals, tolerance, origin] =
          expect[i];
      const ExpectConfig& o = b.expect[i];
      EXPECT_EQ(name, o.name);
      EXPECT_EQ(job, o.job);
      EXPECT_EQ(metric, o.metric);
      EXPECT_EQ(of, o.of);
      EXPECT_EQ(statistic, o.statistic);
      EXPECT_EQ(at_most, o.at_most);
      EXPECT_EQ(at_least, o.at_least);
      EXPECT_EQ(equals, o.equals);
      EXPECT_EQ(tolerance, o.tolerance);
    }
    ASSERT_EQ(implementations.size(), b.implementations.size());
    for (size_t i = 0; i < implementations.size(); ++i) {
      const auto& [modules, implementation, origin] = implementations[i];
      EXPECT_EQ(modules, b.implementations[i].modules);
      EXPECT_EQ(implementation, b.implementations[i].implementation);
    }
    ASSERT_EQ(fidelity_rules.size(), b.fidelity_rules.size());
    for (size_t r = 0; r < fidelity_rules.size(); ++r) {
      const auto& [name, group, operation, point_to_point, iteration, from, to, lifted, fidelity, origin] =
          fidelity_rules[r];
      const FidelityRule& o = b.fidelity_rules[r];
      EXPECT_EQ(name, o.name);
      EXPECT_EQ(group, o.group);
      EXPECT_EQ(operation, o.operation);
      EXPECT_EQ(point_to_point, o.point_to_point);
      EXPECT_EQ(iteration, o.iteration);
      EXPECT_EQ(from, o.from);
      EXPECT_EQ(to, o.to);
      EXPECT_EQ(lifted, o.dimensions);
      EXPECT_EQ(fidelity, o.fidelity);
    }
    (void)file;
    EXPECT_EQ(plugins, b.plugins);
    expect_same_packets(packets, b.packet);
    EXPECT_EQ(logical, b.logical);
    EXPECT_EQ(mapping, b.mapping);
    for (const auto& [mine, other] :
         {std::make_pair(&physical, &b.physical), std::make_pair(&levels, &b.levels)}) {
      ASSERT_EQ(mine->size(), other->size());
      for (size_t d = 0; d < mine->size(); ++d) {
        EXPECT_EQ((*mine)[d].kind, (*other)[d].kind);
        EXPECT_EQ((*mine)[d].size, (*other)[d].size);
        EXPECT_EQ((*mine)[d].bandwidth, (*other)[d].bandwidth);
        EXPECT_EQ((*mine)[d].latency, (*other)[d].latency);
        EXPECT_EQ((*mine)[d].links_per_npu, (*other)[d].links_per_npu);
        EXPECT_EQ((*mine)[d].fidelity, (*other)[d].fidelity);
        EXPECT_EQ((*mine)[d].switching, (*other)[d].switching);
      }
    }
    ASSERT_EQ(graph != nullptr, b.graph != nullptr);
    if (graph != nullptr) expect_same_graph(graph->spec(), b.graph->spec());
    EXPECT_EQ(notation, b.notation);
    ASSERT_EQ(dimensions.size(), b.dimensions.size());
    for (size_t d = 0; d < dimensions.size(); ++d) {
      const auto& [kind, size, bandwidth, latency, links, nic_latency, own_endpoint, own_queues, direction,
                   phase_queues, fidelity, switching, unit, tree, credit_latency, flit_error_rate, replay,
                   flow_control, packet_bytes, phit_bytes, header_efficiency, implementation] = dimensions[d];
      const DimensionConfig& o = b.dimensions[d];
      EXPECT_EQ(nic_latency, o.nic_latency);
      EXPECT_EQ(own_endpoint, o.endpoint_delay);
      EXPECT_EQ(own_queues, o.queues);
      EXPECT_EQ(direction, o.direction);
      EXPECT_EQ(phase_queues, o.phase_queues);
      EXPECT_EQ(kind, o.kind);
      EXPECT_EQ(size, o.size);
      EXPECT_EQ(bandwidth.bytes_per_second, o.bandwidth.bytes_per_second);
      EXPECT_EQ(bandwidth.divisor, o.bandwidth.divisor);
      EXPECT_EQ(latency, o.latency);
      EXPECT_EQ(links, o.links_per_npu);
      EXPECT_EQ(fidelity, o.fidelity);
      EXPECT_EQ(switching, o.switching);
      EXPECT_EQ(credit_latency, o.credit_latency);
      EXPECT_EQ(flit_error_rate, o.flit_error_rate);
      EXPECT_EQ(replay, o.replay);
      ASSERT_EQ(tree != nullptr, o.tree != nullptr);
      if (tree != nullptr) {
        EXPECT_EQ(tree->notation(), o.tree->notation());
        for (uint32_t l = 1; l < tree->levels(); ++l) {
          const auto& [level_bandwidth, level_latency, count, level_credit, level_errors, level_replay] =
              tree->level(l);
          EXPECT_EQ(level_bandwidth, o.tree->level(l).bandwidth);
          EXPECT_EQ(level_latency, o.tree->level(l).latency);
          EXPECT_EQ(count, o.tree->level(l).count);
          EXPECT_EQ(level_credit, o.tree->level(l).credit_latency);
          EXPECT_EQ(level_errors, o.tree->level(l).flit_error_rate);
          EXPECT_EQ(level_replay, o.tree->level(l).replay);
        }
      }
      EXPECT_EQ(flow_control, o.flow_control);
      EXPECT_EQ(packet_bytes, o.packet_bytes);
      EXPECT_EQ(phit_bytes, o.phit_bytes);
      EXPECT_EQ(header_efficiency, o.header_efficiency);
      EXPECT_EQ(implementation, o.implementation);
      const auto& [ingress, unit_reduction, unit_latency, buffer, segment, unit_model] = unit;
      EXPECT_EQ(unit_model, o.collective_unit.implementation);
      EXPECT_EQ(ingress, o.collective_unit.ingress_bandwidth);
      EXPECT_EQ(unit_reduction, o.collective_unit.reduction_bandwidth);
      EXPECT_EQ(unit_latency, o.collective_unit.latency);
      EXPECT_EQ(buffer, o.collective_unit.buffer);
      EXPECT_EQ(segment, o.collective_unit.segment);
    }
    EXPECT_EQ(remote.has_value(), b.remote_memory.has_value());
    if (remote && b.remote_memory) {
      const auto& [bandwidth, latency, implementation] = *remote;
      EXPECT_EQ(implementation, b.remote_memory->implementation);
      EXPECT_EQ(bandwidth, b.remote_memory->bandwidth);
      EXPECT_EQ(latency, b.remote_memory->latency);
    }
    ASSERT_EQ(host.has_value(), b.host_memory.has_value());
    if (host) expect_same(*host, *b.host_memory);
    ASSERT_EQ(nvme.has_value(), b.nvme.has_value());
    if (nvme) expect_same(*nvme, *b.nvme);
    EXPECT_EQ(pool.has_value(), b.memory_pool.has_value());
    if (pool && b.memory_pool) {
      const auto& [design, nodes, out_switches, groups, group_bandwidth, out_node_bandwidth,
                   in_node_bandwidth, latency, request_latency, chunk, split, striping, pool_capacity,
                   group_memory, pool_efficiency, buffer, fidelity, pool_levels, shape, placement, wraparound,
                   share, upper, width, height] = *pool;
      const MemoryPoolConfig& o = *b.memory_pool;
      EXPECT_EQ(design, o.design);
      EXPECT_EQ(nodes, o.nodes);
      EXPECT_EQ(out_switches, o.out_switches);
      EXPECT_EQ(groups, o.groups);
      EXPECT_EQ(group_bandwidth, o.group_bandwidth);
      EXPECT_EQ(out_node_bandwidth, o.out_node_bandwidth);
      EXPECT_EQ(in_node_bandwidth, o.in_node_bandwidth);
      EXPECT_EQ(latency, o.latency);
      EXPECT_EQ(request_latency, o.request_latency);
      EXPECT_EQ(chunk, o.chunk);
      EXPECT_EQ(split, o.split);
      EXPECT_EQ(striping, o.striping);
      EXPECT_EQ(pool_capacity, o.capacity);
      EXPECT_EQ(group_memory, o.group_memory);
      EXPECT_EQ(pool_efficiency, o.efficiency);
      EXPECT_EQ(buffer, o.buffer);
      EXPECT_EQ(fidelity, o.fidelity);
      EXPECT_EQ(pool_levels, o.levels);
      EXPECT_EQ(shape, o.shape);
      EXPECT_EQ(placement, o.placement);
      EXPECT_EQ(wraparound, o.wraparound);
      EXPECT_EQ(share, o.share);
      ASSERT_EQ(upper.size(), o.upper.size());
      for (size_t l = 0; l < upper.size(); ++l) {
        EXPECT_EQ(upper[l].switches, o.upper[l].switches);
        EXPECT_EQ(upper[l].bandwidth, o.upper[l].bandwidth);
      }
      EXPECT_EQ(width, o.width);
      EXPECT_EQ(height, o.height);
    }
    const auto& [peak, memory_bandwidth, roofline, cpu_slots, compute_slots, compute_model, rows, cols,
                 dataflow, clock, clock_hz, npu_model] = npu;
    EXPECT_EQ(compute_model, b.npu.model);
    EXPECT_EQ(rows, b.npu.rows);
    EXPECT_EQ(cols, b.npu.cols);
    EXPECT_EQ(dataflow, b.npu.dataflow);
    EXPECT_EQ(clock, b.npu.clock);
    EXPECT_EQ(clock_hz, b.npu.clock_hz);
    EXPECT_EQ(npu_model, b.npu.implementation);
    EXPECT_EQ(peak, b.npu.peak_flops);
    EXPECT_EQ(memory_bandwidth, b.npu.memory_bandwidth);
    EXPECT_EQ(roofline, b.npu.roofline);
    EXPECT_EQ(cpu_slots, b.npu.cpu_slots);
    EXPECT_EQ(compute_slots, b.npu.compute_slots);
    const auto& [model, preset, stacks, refresh, hbm_bandwidth, hbm_latency, capacity, efficiency,
                 outstanding, over_capacity, implementation, address_map, scheduler, dram_window, grouping,
                 page_policy, streams] = hbm;
    EXPECT_EQ(address_map, b.hbm.address_map);
    EXPECT_EQ(scheduler, b.hbm.scheduler);
    EXPECT_EQ(dram_window, b.hbm.window);
    EXPECT_EQ(grouping, b.hbm.grouping);
    EXPECT_EQ(page_policy, b.hbm.page_policy);
    EXPECT_EQ(streams, b.hbm.streams);
    EXPECT_EQ(over_capacity, b.hbm.over_capacity);
    EXPECT_EQ(implementation, b.hbm.implementation);
    EXPECT_EQ(model, b.hbm.model);
    EXPECT_EQ(preset, b.hbm.preset);
    EXPECT_EQ(stacks, b.hbm.stacks);
    EXPECT_EQ(refresh, b.hbm.refresh);
    EXPECT_EQ(hbm_bandwidth, b.hbm.bandwidth);
    EXPECT_EQ(hbm_latency, b.hbm.latency);
    EXPECT_EQ(capacity, b.hbm.capacity);
    EXPECT_EQ(efficiency, b.hbm.efficiency);
    EXPECT_EQ(outstanding, b.hbm.outstanding);
    const auto& [endpoint_delay, injection_queue, injection_bandwidth, nmu_model] = nmu;
    EXPECT_EQ(nmu_model, b.nmu.implementation);
    EXPECT_EQ(injection_bandwidth, b.nmu.injection_bandwidth);
    EXPECT_EQ(endpoint_delay, b.nmu.endpoint_delay);
    EXPECT_EQ(injection_queue, b.nmu.injection_queue);
    const auto& [chunks, active, queues, window, order, scatter, scheduling, scope, dimension_scheduling,
                 threshold, batch, reduction, reduction_bandwidth, algorithms, rules, library] = collectives;
    EXPECT_EQ(scatter, b.collectives.scatter_dimensions);
    EXPECT_EQ(scope, b.collectives.scheduling_scope);
    const auto& [kind, version, gpu, gpus_per_node, node_links, links_per_gpu, link_bandwidth, nics_per_node,
                 nic_bandwidth, host_cpu, network, collnet, ring, tree, nvls, launch, latency_scale,
                 bandwidth_scale, overrides] = library;
    const LibraryConfig& bl = b.collectives.library;
    EXPECT_EQ(kind, bl.kind);
    EXPECT_EQ(version, bl.version);
    EXPECT_EQ(gpu, bl.gpu);
    EXPECT_EQ(gpus_per_node, bl.gpus_per_node);
    EXPECT_EQ(node_links, bl.node_links);
    EXPECT_EQ(links_per_gpu, bl.links_per_gpu);
    EXPECT_EQ(link_bandwidth, bl.link_bandwidth);
    EXPECT_EQ(nics_per_node, bl.nics_per_node);
    EXPECT_EQ(nic_bandwidth, bl.nic_bandwidth);
    EXPECT_EQ(host_cpu, bl.host);
    EXPECT_EQ(network, bl.network);
    EXPECT_EQ(collnet, bl.collnet);
    for (const auto& [own_graph, other_graph] :
         {std::pair{&ring, &bl.ring}, std::pair{&tree, &bl.tree}, std::pair{&nvls, &bl.nvls}}) {
      EXPECT_EQ(own_graph->channels, other_graph->channels);
      EXPECT_EQ(own_graph->speed, other_graph->speed);
      EXPECT_EQ(own_graph->inter_speed, other_graph->inter_speed);
    }
    EXPECT_EQ(launch, bl.launch);
    EXPECT_EQ(latency_scale, bl.latency_scale);
    EXPECT_EQ(bandwidth_scale, bl.bandwidth_scale);
    EXPECT_EQ(overrides, bl.overrides);
    EXPECT_EQ(dimension_scheduling, b.collectives.dimension_scheduling);
    EXPECT_EQ(threshold, b.collectives.dispatch_threshold);
    EXPECT_EQ(batch, b.collectives.dispatch_batch);
    EXPECT_EQ(chunks, b.collectives.chunks);
    EXPECT_EQ(active, b.collectives.active_chunks_per_dimension);
    EXPECT_EQ(queues, b.collectives.queues_per_dimension);
    EXPECT_EQ(window, b.collectives.direct_window);
    EXPECT_EQ(order, b.collectives.order);
    EXPECT_EQ(scheduling, b.collectives.scheduling);
    EXPECT_EQ(reduction, b.collectives.reduction);
    EXPECT_EQ(reduction_bandwidth, b.collectives.reduction_bandwidth);
    EXPECT_EQ(algorithms, b.collectives.algorithms);
    ASSERT_EQ(rules.size(), b.collectives.rules.size());
    for (size_t r = 0; r < rules.size(); ++r) {
      const auto& [group, name, operation, min_bytes, max_bytes, iteration, occurrence, own_algorithms,
                   own_order, own_chunks, priority, delay, origin] = rules[r];
      const CollectiveRule& o = b.collectives.rules[r];
      EXPECT_EQ(min_bytes, o.min_bytes);
      EXPECT_EQ(max_bytes, o.max_bytes);
      EXPECT_EQ(iteration, o.iteration);
      EXPECT_EQ(occurrence, o.occurrence);
      EXPECT_EQ(delay, o.delay);
      EXPECT_EQ(group, o.group);
      EXPECT_EQ(name, o.name);
      EXPECT_EQ(operation, o.operation);
      EXPECT_EQ(own_algorithms, o.algorithms);
      EXPECT_EQ(own_order, o.order);
      EXPECT_EQ(own_chunks, o.chunks);
      EXPECT_EQ(priority, o.priority);
    }
    expect_same(workload, b.workload);
    ASSERT_EQ(jobs.size(), b.jobs.size());
    for (size_t j = 0; j < jobs.size(); ++j) {
      const auto& [name, of_job] = jobs[j];
      EXPECT_EQ(name, b.jobs[j].name);
      expect_same(of_job, b.jobs[j].workload);
    }
    const auto& [seed, data, element, reduce, footprint, split, cut_links] = run;
    EXPECT_EQ(footprint, b.run.footprint);
    EXPECT_EQ(split, b.run.split);
    EXPECT_EQ(cut_links, b.run.cut_links);
    EXPECT_EQ(element, b.run.element);
    EXPECT_EQ(reduce, b.run.reduce);
    EXPECT_EQ(seed, b.run.seed);
    EXPECT_EQ(data, b.run.data);
    const auto& [dir, waves, waves_from, waves_to, waves_budget, timeline, timeline_from, timeline_to,
                 timeline_budget] = output;
    EXPECT_EQ(timeline, b.output.timeline);
    EXPECT_EQ(timeline_from, b.output.timeline_from);
    EXPECT_EQ(timeline_to, b.output.timeline_to);
    EXPECT_EQ(timeline_budget, b.output.timeline_budget);
    EXPECT_EQ(dir, b.output.dir);
    EXPECT_EQ(waves, b.output.waves);
    EXPECT_EQ(waves_from, b.output.waves_from);
    EXPECT_EQ(waves_to, b.output.waves_to);
    EXPECT_EQ(waves_budget, b.output.waves_budget);
  }
}

const char* const kEverything = R"(weft: 1
topology:
  notation: R(4)_FC(8)_SW(4)
  dimensions:
    - {bandwidth: 0.1 GiB/s, latency: 0 ns, links_per_npu: 3, fidelity: analytical, switching: store_and_forward,
       queues: 6, direction: one_way, phase_queues: split}
    - {bandwidth_per_npu: 200 GiB/s, latency: 0.5 us}
    - bandwidth: 400 Gbps
      latency: 1 ms
      links_per_npu: 2
      fidelity: packet
      credit_latency: 1 us
      flit_error_rate: 0.001
      replay: 3 us
      flow_control: pfc
      packet_size: 2 KiB
      phit_size: 16 B
      header_efficiency: 1
      collective_unit: {ingress_bandwidth: 40 GB/s, reduction_bandwidth: 3 TB/s, latency: 70 ns, buffer: 1 MiB, segment: 4 KiB}
npu: {peak: 33.3 TFLOPS, memory_bandwidth: 33.333333333333 GB/s, roofline: true, cpu_slots: 2, compute_slots: 3,
  model: systolic, rows: 16, cols: 48, dataflow: os, clock: 940 MHz}
hbm: {model: bandwidth, bandwidth: 1.2345 TB/s, latency: 7 ps, capacity: unlimited, efficiency: 0.93, outstanding: 9}
remote_memory: {bandwidth: 64 GB/s, latency: 333 ns}
nmu: {endpoint_delay: 12.345 ns, injection_queue: 17, injection_bandwidth: 75 GB/s}
packet: {packet_size: 4 KiB, flit_size: 32 B, phit_size: 8 B, header: 24 B, cycle: 800 ps, vcs: 6, virtual_networks: 3, strict_priority: true,
  collectives_network: 1, point_to_point_network: 2, buffer: 9 KiB, route_cycles: 2, vc_alloc_cycles: 0,
  switch_alloc_cycles: 3, traversal_cycles: 4, credit_cycles: 5, switching: flit_interleaved, strict_cut_through: true,
  release_on_credit: true, quantum: 7, allocator_iterations: 2, switch_allocator: round_robin, routing: up_down,
  selection: hash, vc_classes: switched_dateline, forwarding: software, injection: aggressive,
  ecn: {enabled: true, k_min: 12 kB, k_max: 340 KiB, p_max: 0.25},
  dcqcn: {enabled: true, cnp_interval: 4 us, alpha_timer: 5 us, rate_timer: 6 us, byte_counter: 7 MB, fast_recovery: 3, g: 0.0625,
    rate_ai: 1 Gb/s, rate_hai: 2 Gb/s, min_rate: 100 Mb/s},
  flow_control: pfc, pfc_networks: [0, 2], pfc_xoff: 200, pfc_xon: 100, pfc_delay: 30 ns}
collectives:
  chunks: 64
  active_chunks_per_dimension: 5
  queues_per_dimension: 2
  direct_window: 6
  order: baseline
  scatter_dimensions: 2
  scheduling: priority
  scheduling_scope: issue
  dimension_scheduling: smallest_first
  dispatch_threshold: 8
  dispatch_batch: 3
  reduction: {bandwidth: 1600 GB/s}
  all_reduce: [ring, direct, halving_doubling]
  all_gather: direct
  barrier: [default, default, ring]
  broadcast: one_ring
  gather: "custom:programs/a b"
workload: {trace: "traces/a \"b\" #c", groups: ../g.json, strict: true, npus: [5..3, 0]}
run: {seed: 18446744073709551615, data: functional, element: bf16, reduce: max}
output: {dir: "out: 1", waves: "*.link[0-3].*"}
)";

TEST(Loader, UnitsAtPacketFidelityCombinePacketByPacketUnlessTold) {
  const auto segment = [](const std::string& unit, const std::string& packet) {
    return parse_config("weft: 1\ntopology: {notation: Switch(8), dimensions: [{bandwidth: 1 GB/s, " + unit +
                            "}]}\npacket: {packet_size: " + packet +
                            "}\ncollectives: {all_reduce: in_switch}\n",
                        "")
        .dimensions[0]
        .collective_unit.segment;
  };
  EXPECT_EQ(segment("fidelity: packet", "4 KiB"), 4096u);
  EXPECT_EQ(segment("fidelity: packet", "16 B"), 64u);  // none is smaller
  EXPECT_EQ(segment("fidelity: packet, collective_unit: {segment: 64 KiB}", "4 KiB"), 65536u);
  EXPECT_EQ(segment("fidelity: packet, collective_unit: {buffer: 4 KiB}", "4 KiB"), 4096u);
  EXPECT_EQ(segment("fidelity: message", "4 KiB"), 65536u);
  EXPECT_THROW(segment("fidelity: packet, collective_unit: {buffer: 1 KiB}", "4 KiB"), UserError);
}

TEST(Loader, MinimalFileHasDefaults) {
  const Config c = parse_config(kMinimal, "");
  EXPECT_EQ(c.npus(), 128u);
  ASSERT_EQ(c.dimensions.size(), 3u);
  for (const DimensionConfig& d : c.dimensions) {
    EXPECT_EQ(d.bandwidth, (Rate{100000000000ull, 1}));
    EXPECT_EQ(d.latency, 500000u);
    EXPECT_EQ(d.links_per_npu, 1u);
    EXPECT_EQ(d.fidelity, Fidelity::message);
    EXPECT_EQ(d.switching, Switching::cut_through);
    EXPECT_EQ(d.collective_unit.buffer, 0u);
    EXPECT_EQ(d.collective_unit.segment, 65536u);
  }
  EXPECT_EQ(c.dimensions[1].kind, DimensionKind::fully_connected);
  EXPECT_EQ(c.npu.peak_flops, 234e12);
  EXPECT_FALSE(c.npu.roofline);
  EXPECT_EQ(c.hbm.bandwidth, (Rate{2000000000000ull, 1}));
  EXPECT_EQ(c.hbm.capacity, 80ull << 30);
  EXPECT_FALSE(c.remote_memory.has_value());
  EXPECT_EQ(c.nmu.endpoint_delay, 0u);
  EXPECT_EQ(c.collectives.chunks, kAutoChunks);
  EXPECT_EQ(c.collectives.order, CollectiveOrder::local_bw_aware);
  for (const auto& names : c.collectives.algorithms) EXPECT_EQ(names, std::vector<std::string>(3));
  EXPECT_EQ(c.output.dir, "out");
}

TEST(Loader, ReadsEveryKey) {
  const Config c = parse_config(kEverything, "/data/run/machine.yaml");
  EXPECT_EQ(c.notation, "Ring(4)_FullyConnected(8)_Switch(4)");
  EXPECT_EQ(c.dimensions[0].bandwidth, (Rate{536870912, 5}));
  EXPECT_EQ(c.dimensions[0].link_rate(), (Rate{3 * 536870912ull, 5}));
  EXPECT_EQ(c.dimensions[0].latency, 0u);
  EXPECT_EQ(c.dimensions[0].fidelity, Fidelity::analytical);
  EXPECT_EQ(c.dimensions[0].switching, Switching::store_and_forward);
  EXPECT_EQ(c.dimensions[1].bandwidth, (Rate{200ull << 30, 7}));
  EXPECT_EQ(c.dimensions[2].bandwidth, (Rate{50000000000ull, 1}));
  EXPECT_EQ(c.dimensions[2].latency, 1000000000u);
  EXPECT_EQ(c.dimensions[2].collective_unit.ingress_bandwidth, (Rate{40000000000ull, 1}));
  EXPECT_EQ(c.dimensions[2].collective_unit.reduction_bandwidth, (Rate{3000000000000ull, 1}));
  EXPECT_EQ(c.dimensions[2].collective_unit.latency, 70000u);
  EXPECT_EQ(c.dimensions[2].collective_unit.buffer, 1u << 20);
  EXPECT_EQ(c.dimensions[2].collective_unit.segment, 4096u);
  EXPECT_EQ(c.npu.peak_flops, 33.3e12);
  EXPECT_EQ(c.npu.memory_bandwidth, 33333333333.333);
  EXPECT_TRUE(c.npu.roofline);
  EXPECT_EQ(c.dimensions[0].queues, 6u);
  EXPECT_EQ(c.dimensions[0].direction, RingDirection::one_way);
  EXPECT_EQ(c.dimensions[0].phase_queues, PhaseQueues::split);
  EXPECT_EQ(c.dimensions[1].queues, 0u);
  EXPECT_EQ(c.npu.model, "systolic");
  EXPECT_EQ(c.npu.rows, 16u);
  EXPECT_EQ(c.npu.cols, 48u);
  EXPECT_EQ(c.npu.dataflow, "os");
  EXPECT_EQ(c.npu.clock_hz, 940e6);
  EXPECT_EQ(c.collectives.scatter_dimensions, 2u);
  EXPECT_EQ(c.collectives.scheduling_scope, SchedulingScope::issue);
  EXPECT_EQ(c.npu.cpu_slots, 2u);
  EXPECT_EQ(c.npu.compute_slots, 3u);
  EXPECT_EQ(c.hbm.latency, 7u);
  EXPECT_EQ(c.hbm.capacity, 0u);
  EXPECT_EQ(c.hbm.efficiency, 0.93);
  EXPECT_EQ(c.hbm.outstanding, 9u);
  ASSERT_TRUE(c.remote_memory.has_value());
  EXPECT_EQ(c.remote_memory->bandwidth, (Rate{64000000000ull, 1}));
  EXPECT_EQ(c.remote_memory->latency, 333000u);
  EXPECT_EQ(c.nmu.endpoint_delay, 12345u);
  EXPECT_EQ(c.nmu.injection_queue, 17u);
  EXPECT_EQ(c.dimensions[2].fidelity, Fidelity::packet);
  EXPECT_EQ(c.dimensions[2].credit_latency, 1000000u);
  EXPECT_EQ(c.dimensions[2].flit_error_rate, 0.001);
  EXPECT_EQ(c.dimensions[2].replay, 3000000u);
  EXPECT_EQ(c.dimensions[1].flow_control, FlowControl::automatic);
  EXPECT_EQ(c.dimensions[2].flow_control, FlowControl::pfc);
  EXPECT_EQ(c.packet.flow_control, FlowControl::pfc);
  EXPECT_EQ(c.packet.pfc_networks, (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(c.packet.pfc_xoff, 200u);
  EXPECT_EQ(c.packet.pfc_xon, 100u);
  EXPECT_EQ(c.packet.pfc_delay, 30000u);
  EXPECT_EQ(c.packet.packet_bytes, 4096u);
  EXPECT_EQ(c.packet.flit_bytes, 32u);
  EXPECT_EQ(c.packet.phit_bytes, 8u);
  EXPECT_EQ(c.packet.header_bytes, 24u);
  EXPECT_EQ(c.packet.cycle, 800u);
  EXPECT_EQ(c.packet.vcs * c.packet.virtual_networks, 18u);
  EXPECT_EQ(c.packet.collectives_network, 1u);
  EXPECT_EQ(c.packet.point_to_point_network, 2u);
  EXPECT_EQ(c.packet.buffer_flits, 288u);  // 9 KiB of 32 B
  EXPECT_EQ(c.packet.switch_alloc_cycles, 3u);
  EXPECT_TRUE(c.packet.ecn.enabled && c.packet.dcqcn.enabled);
  EXPECT_EQ(c.packet.ecn.k_max, 340u * 1024);
  EXPECT_EQ(c.packet.ecn.p_max, 0.25);
  EXPECT_EQ(c.packet.dcqcn.cnp_interval, 4000000u);
  EXPECT_EQ(c.packet.dcqcn.byte_counter, 7000000u);
  EXPECT_EQ(c.packet.dcqcn.rate_ai.bytes_per_second, 125000000u);
  EXPECT_EQ(c.packet.switching, FlitSwitchingKind::flit_interleaved);
  EXPECT_EQ(c.packet.quantum, 7u);
  EXPECT_EQ(c.packet.routing, "up_down");
  EXPECT_EQ(c.packet.vc_classes, "switched_dateline");
  EXPECT_EQ(c.packet.forwarding, PacketForwarding::software);
  EXPECT_EQ(c.packet.injection, PacketInjection::aggressive);
  EXPECT_EQ(c.collectives.chunks, 64u);
  EXPECT_EQ(c.collectives.active_chunks_per_dimension, 5u);
  EXPECT_EQ(c.collectives.queues_per_dimension, 2u);
  EXPECT_EQ(c.collectives.direct_window, 6u);
  EXPECT_EQ(c.collectives.order, CollectiveOrder::baseline);
  EXPECT_EQ(c.collectives.scheduling, CollectiveScheduling::priority);
  EXPECT_EQ(c.collectives.reduction, ReductionKind::fixed_bandwidth);
  EXPECT_EQ(c.collectives.reduction_bandwidth, (Rate{1600000000000ull, 1}));
  const auto algorithms = [&c](CollectiveOp op) { return c.collectives.algorithms[static_cast<size_t>(op)]; };
  EXPECT_EQ(algorithms(CollectiveOp::all_reduce),
            (std::vector<std::string>{"ring", "direct", "halving_doubling"}));
  EXPECT_EQ(algorithms(CollectiveOp::all_gather), (std::vector<std::string>{"direct", "direct", "direct"}));
  EXPECT_EQ(algorithms(CollectiveOp::barrier), (std::vector<std::string>{"", "", "ring"}));
  EXPECT_EQ(algorithms(CollectiveOp::broadcast),
            (std::vector<std::string>{"one_ring", "one_ring", "one_ring"}));
  EXPECT_EQ(algorithms(CollectiveOp::gather), (std::vector<std::string>(3, "custom:/data/run/programs/a b")));
  EXPECT_EQ(algorithms(CollectiveOp::scatter), (std::vector<std::string>{"", "", ""}));
  EXPECT_EQ(c.workload.trace, "/data/run/traces/a \"b\" #c");
  EXPECT_EQ(c.workload.groups, "/data/g.json");
  EXPECT_TRUE(c.workload.strict);
  EXPECT_EQ(c.workload.npus, (std::vector<uint32_t>{5, 4, 3, 0}));
  EXPECT_EQ(c.run.seed, ~uint64_t{0});
  EXPECT_EQ(c.output.dir, "out: 1");
  EXPECT_EQ(c.output.waves, "*.link[0-3].*");
}

TEST(Loader, EffectiveConfigurationReadsBackIdentically) {
  for (const char* text : {kEverything, kMinimal}) {
    const Config c = parse_config(text, "/data/run/machine.yaml");
    const std::string effective = effective_yaml(c);
    const Config back = parse_config(effective, "/elsewhere/effective.yaml");
    expect_same(c, back);
    EXPECT_EQ(effective_yaml(back), effective);
  }
  for (const char* reduction : {"none", "hbm"}) {
    const Config c = parse_config(kMinimal, "", {std::string("collectives.reduction=") + reduction});
    expect_same(c, parse_config(effective_yaml(c), ""));
  }
}

TEST(Loader, APoolOfEveryDesignReadsBackIdentically) {
  const std::string machine =
      "weft: 1\ntopology: {notation: Switch(4)_Switch(3), dimensions: [{bandwidth: 90 GB/s}]}\nmemory:\n  "
      "pool:\n"
      "    {nodes: 3, groups: 6, group_bandwidth: 33 GB/s, latency: 7 ns, request_latency: 8 ns, chunk: 5 "
      "KiB, "
      "split: whole, striping: hash, capacity: 3 GiB, efficiency: 0.5, buffer: 2, ";
  for (const char* const design :
       {"out_switches: 5, in_node_bandwidth: 7 GB/s", "out_switches: 5, share: 0",
        "design: multi_level, levels: \"4, 2 x 77 GB/s\", in_node_bandwidth: 7 GB/s",
        "design: multi_level, out_switches: 4, in_node_bandwidth: 7 GB/s",
        "design: ring, in_node_bandwidth: 7 GB/s",
        "design: mesh, shape: 3x3, wraparound: true, in_node_bandwidth: 7 GB/s",
        "design: mesh, shape: 1x3, placement: edge, in_node_bandwidth: 7 GB/s, fidelity: analytical"}) {
    const Config c = parse_config(machine + design + "}\n", "");
    ASSERT_TRUE(c.memory_pool.has_value()) << design;
    const std::string effective = effective_yaml(c);
    expect_same(c, parse_config(effective, ""));
    EXPECT_EQ(effective_yaml(parse_config(effective, "")), effective) << design;
  }
}

TEST(Loader, BandwidthPerNpuIsDividedExactly) {
  const struct {
    const char* notation;
    const char* more;
    Rate want;
  } cases[] = {
      {"FC(8)", "", {200000000000ull, 7}},
      {"FC(1)", "", {200000000000ull, 1}},
      {"FC(8)", ", links_per_npu: 2", {100000000000ull, 7}},
      {"Switch(8)", "", {200000000000ull, 1}},
      {"Ring(8)", "", {100000000000ull, 1}},  // two queues
      {"Mesh(8)", "", {100000000000ull, 1}},
      {"Ring(8)", ", queues: 1", {200000000000ull, 1}},
      {"Ring(8)", ", queues: 4", {100000000000ull, 1}},  // there are two directions
      {"Ring(8)", ", direction: one_way", {200000000000ull, 1}},
      {"FC(65536)", "", {200000000000ull, 65535}},
  };
  for (const auto& c : cases) {
    const Config config = parse_config(std::string("weft: 1\ntopology: {notation: ") + c.notation +
                                           ", dimensions: [{bandwidth_per_npu: 200 GB/s" + c.more +
                                           "}]}\ncollectives: {queues_per_dimension: 2}\n",
                                       "");
    EXPECT_EQ(config.dimensions[0].bandwidth, c.want) << c.notation << c.more;
    expect_same(config, parse_config(effective_yaml(config), ""));
  }
}

TEST(Loader, OverridesWin) {
  const Config c = parse_config(
      kMinimal, "",
      {"collectives.chunks=8", "collectives.chunks=16", "collectives.all_reduce=[ring,direct,direct]",
       "topology.dimensions[1].latency=3 us", "topology.dimensions[2].bandwidth_per_npu=1 TB/s",
       "remote_memory.bandwidth=5 GB/s", "output.waves=*.npu[0]", "collectives.reduction={bandwidth: 2 TB/s}",
       "collectives.barrier=direct"});
  EXPECT_EQ(c.collectives.chunks, 16u);
  EXPECT_EQ(c.collectives.algorithms[0], (std::vector<std::string>{"ring", "direct", "direct"}));
  EXPECT_EQ(c.collectives.algorithms[8], (std::vector<std::string>{"direct", "direct", "direct"}));
  EXPECT_EQ(c.dimensions[0].latency, 500000u);
  EXPECT_EQ(c.dimensions[1].latency, 3000000u);
  EXPECT_EQ(c.dimensions[2].latency, 500000u);
  EXPECT_EQ(c.dimensions[1].bandwidth, (Rate{100000000000ull, 1}));
  EXPECT_EQ(c.dimensions[2].bandwidth, (Rate{1000000000000ull, 1}));
  EXPECT_EQ(c.remote_memory->bandwidth, (Rate{5000000000ull, 1}));
  EXPECT_EQ(c.output.waves, "*.npu[0]");
  EXPECT_EQ(c.collectives.reduction_bandwidth, (Rate{2000000000000ull, 1}));

  const Config all =
      parse_config(kMinimal, "", {"topology.dimensions[*].latency=7 ns", "topology.notation=R(2)_R(2)"});
  EXPECT_EQ(all.npus(), 4u);
  for (const DimensionConfig& d : all.dimensions) EXPECT_EQ(d.latency, 7000u);

  const Config bare = build_config("", "",
                                   {{"weft", "1", "--x"},
                                    {"topology.notation", "FC(4)", "--topology"},
                                    {"topology.dimensions", "[{bandwidth: 1 GB/s}]", "--bandwidth"}});
  EXPECT_EQ(bare.npus(), 4u);
}

TEST(Loader, ErrorsOfOverridesNameThem) {
  const struct {
    std::vector<std::string> overrides;
    std::vector<const char*> parts;
  } cases[] = {
      {{"npu.peak=3"}, {"--set npu.peak=3: key `npu.peak`: '3' has no unit", "TFLOPS"}},
      {{"npu.peek=3"}, {"--set npu.peek=3: key `npu.peek`: unknown key 'peek'", "did you mean `peak`"}},
      {{"npu.peak"}, {"--set npu.peak", "KEY=VALUE"}},
      {{"=3"}, {"--set =3", "KEY=VALUE"}},
      {{"npu..peak=3"}, {"--set npu..peak=3", "a word is missing"}},
      {{"npu.=3"}, {"a word is missing"}},
      {{"npu.peak.x=3"}, {"--set npu.peak.x=3: key `npu.peak`", "a mapping"}},
      {{"npu.peak[0]=3 TFLOPS"}, {"--set npu.peak[0]=3 TFLOPS: key `npu.peak`", "a list"}},
      {{"topology.dimensions[3].latency=1 ns"}, {"index 3 is beyond the list's 3 entries", "0 to 2"}},
      {{"topology.dimensions[x].latency=1 ns"}, {"'x' is no index"}},
      {{"topology.dimensions[99999999999999999999].latency=1 ns"}, {"is no index"}},
      {{"topology.dimensions[0.latency=1 ns"}, {"`]` is missing"}},
      {{"topology.dimensions.latency=1 ns"}, {"`dimensions` is a list", "dimensions[*]"}},
      {{"topology.dimensions[0].latency="}, {"key `topology.dimensions[0].latency`: has no value"}},
      {{"collectives.all_reduce=[ring"}, {"--set collectives.all_reduce=[ring", "not a valid YAML value"}},
      {{"collectives.all_reduce=[ring, ring]"}, {"has 2 algorithms", "3 dimensions"}},
      {{"topology.notation=Ring(4)", "topology.dimensions=[{}, {}]"},
       {"--set topology.dimensions=[{}, {}]", "has 2 entries", "1 dimensions"}},
  };
  for (const auto& c : cases) {
    const std::string message = error_of(kMinimal, c.overrides);
    for (const char* part : c.parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message;
  }
}

struct BadFile {
  std::string text;
  std::vector<const char*> parts;  ///< file:line, key, value, remedy
};

TEST(Loader, ErrorsNameFileLineKeyValueAndRemedy) {
  const auto dimension = [](const std::string& entry) {
    return "weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions:\n    - {" + entry + "}\n";
  };
  const BadFile cases[] = {
      // unknown keys
      {with("colectives: {chunks: 4}\n"),
       {"machine.yaml:6: key `colectives`", "did you mean `collectives`", "allowed here"}},
      {with("npu:\n  peek: 3 TFLOPS\n"),
       {"machine.yaml:7: key `npu.peek`", "did you mean `peak`", "memory_bandwidth"}},
      {with("endpoint_delay: 1 ns\n"),
       {"machine.yaml:6: key `endpoint_delay`",
        "did you mean `topology.dimensions[].endpoint_delay`, `nmu.endpoint_delay`"}},
      {dimension("bandwidht: 3 GB/s"),
       {"machine.yaml:5: key `topology.dimensions[0].bandwidht`", "did you mean `bandwidth`"}},
      {with("'<<': {npu: 1}\n"), {"machine.yaml:6: key `<<`: unknown key"}},
      {with("topology.notation: Ring(4)\n"),
       {"machine.yaml:6: key `topology.notation`: unknown key", "nest the mappings"}},
      {dimension("bandwidth: 1 GB/s, queues: 3, phase_queues: split"),
       {"machine.yaml:5: key `topology.dimensions[0].phase_queues`",
        "an even number of queues, and the dimension has 3"}},
      {dimension("bandwidth: 1 GB/s, queues: 65"), {"topology.dimensions[0].queues", "'65'"}},
      {with("npu: {clock: fast}\n"), {"machine.yaml:6: key `npu.clock`: `fast` is no clock", "1 GHz"}},
      // units and ranges
      {dimension("bandwidth: 200"),
       {"machine.yaml:5: key `topology.dimensions[0].bandwidth`: '200' has no unit", "GB/s"}},
      {dimension("bandwidth: 200 ns"), {"'200 ns' is a time", "a bandwidth is wanted"}},
      {dimension("bandwidth: 0 GB/s"), {"machine.yaml:5", "'0 GB/s' is zero", "from 1 MB/s"}},
      {dimension("bandwidth: -5 GB/s"), {"'-5 GB/s' is negative"}},
      {dimension("bandwidth: 1 B/s"), {"'1 B/s' is too small", "from 1 MB/s to 1000 PB/s"}},
      {dimension("bandwidth: 2000 PB/s"), {"'2000 PB/s' is too large"}},
      {dimension("bandwidth: .nan"), {"'.nan' does not start with a number"}},
      {dimension("bandwidth: .inf"), {"'.inf' does not start with a number"}},
      {dimension("bandwidth: 1e30 GB/s"), {"too large"}},
      {dimension("bandwidth: {value: 3}"), {"is a mapping", "a bandwidth with a unit"}},
      {dimension("bandwidth: [3 GB/s]"), {"is a list", "a bandwidth with a unit"}},
      {dimension("bandwidth:"), {"has no value", "or delete the key"}},
      {dimension("latency: 5 ns"),
       {"machine.yaml:5: key `topology.dimensions[0].bandwidth`: missing", "bandwidth_per_npu"}},
      {dimension("bandwidth: 1 GB/s, bandwidth_per_npu: 2 GB/s"),
       {"machine.yaml:5: key `topology.dimensions[0].bandwidth_per_npu`: given (2 GB/s) beside `bandwidth` "
        "(1 GB/s",
        "keep one"}},
      {dimension("bandwidth: 1 GB/s, latency: 2 s"), {"'2 s' is too large", "from 0 ns to 1 s"}},
      {dimension("bandwidth: 1 GB/s, latency: 0.1 ps"), {"not a whole number of picoseconds"}},
      {dimension("bandwidth: 1 GB/s, links_per_npu: 0"), {"'0' is zero", "from 1 to 1024"}},
      {dimension("bandwidth: 1 GB/s, links_per_npu: 1.5"), {"'1.5' is not a whole number"}},
      {dimension("bandwidth: 1 GB/s, links_per_npu: 2 GB/s"), {"'2 GB/s' is not a whole number"}},
      {dimension("bandwidth: 1000 PB/s, links_per_npu: 1024"),
       {"'1000 PB/s' times links_per_npu (1024) is too large", "fewer links"}},
      {dimension("bandwidth: 1 GB/s, flit_error_rate: 0.9"), {"'0.9' is too large", "from 0 to 0.5"}},
      {dimension("bandwidth: 1 GB/s, credit_latency: 0 ns"), {"'0 ns' is zero (write `auto`"}},
      {with("packet: {packet_size: 256}\n"), {"machine.yaml:6: key `packet.packet_size`", "no unit"}},
      {with("packet: {packet_size: 2 MiB}\n"), {"'2 MiB' is too large", "from 1 B to 1 MiB"}},
      {with("packet: {vcs: 0}\n"), {"'0' is zero", "from 1 to 64"}},
      {with("packet: {vcs: 16, virtual_networks: 5}\n"),
       {"machine.yaml:6: key `packet.virtual_networks`: 5 virtual networks of 16 VCs are 80 VCs",
        "at most 64"}},
      {with("packet: {point_to_point_network: 1}\n"),
       {"machine.yaml:6: key `packet.point_to_point_network`: '1' is no virtual network", "allowed: 0 to 0"}},
      {with("packet: {buffer: 1 KiB, buffer_flits: 16}\n"),
       {"key `packet.buffer`: given beside", "keep one"}},
      {with("packet: {flow_control: pause}\n"), {"'pause'", "`credits`, `pfc`"}},
      {with("packet: {pfc_networks: [0, 1]}\n"),
       {"machine.yaml:6: key `packet.pfc_networks`: '1' is no virtual network", "allowed: 0 to 0"}},
      {with("packet: {pfc_networks: high}\n"), {"key `packet.pfc_networks`", "virtual networks' numbers"}},
      {with("packet: {buffer_flits: 16, pfc_xoff: 17}\n"),
       {"machine.yaml:6: key `packet.pfc_xoff`: '17' flits are never reached", "from 1 to 16"}},
      {with("packet: {pfc_xoff: 8, pfc_xon: 8}\n"),
       {"machine.yaml:6: key `packet.pfc_xon`: '8' flits are not below `packet.pfc_xoff` (8)", "below 8"}},
      {with("packet: {flow_control: pfc, vc_classes: bubble, strict_cut_through: true}\n"),
       {"key `packet.vc_classes`: 'bubble' keeps a ring moving", "credits"}},
      {with("packet: {buffer: 8 B}\n"), {"'8 B' is 0 flits of 16 B"}},
      {with("packet: {header: 16 B, header_efficiency: 0.9}\n"),
       {"key `packet.header`: given beside", "twice"}},
      // The links are the fabric's, not those of the logical topology.
      {"weft: 1\ntopology: {notation: Ring(4)_Ring(4), logical: Ring(16),\n"
       "  dimensions: [{bandwidth: 1 GB/s, fidelity: packet, flow_control: pfc}]}\n"
       "packet: {vc_classes: bubble, strict_cut_through: true}\n",
       {"machine.yaml:4: key `packet.vc_classes`: 'bubble' keeps a ring moving"}},
      {with("packet: {vc_classes: bubble}\n"), {"'bubble' needs `packet.strict_cut_through: true`"}},
      {with("packet: {strict_cut_through: true, buffer_flits: 15}\n"),
       {"key `packet.buffer_flits`: 15 flits do not hold a packet of 16", "16 or more"}},
      {with("packet: {ecn: {enabled: true, k_min: 300 kB}}\n"),
       {"machine.yaml:6: key `packet.ecn.k_min`: a `k_min` of 300 kB is above the `k_max` of 200 kB",
        "make it smaller"}},
      {with("packet: {ecn: {k_max: 4 kB}}\n"),
       {"key `packet.ecn.k_max`: a `k_min` of 5 kB is above", "larger"}},
      {with("packet: {ecn: {p_max: 1.5}}\n"), {"key `packet.ecn.p_max`: '1.5' is too large", "from 0 to 1"}},
      {with("packet: {ecn: {p_max: -0.5}}\n"), {"key `packet.ecn.p_max`: '-0.5' is negative"}},
      {with("packet: {dcqcn: {enabled: true}}\n"),
       {"machine.yaml:6: key `packet.dcqcn.enabled`: DCQCN reacts to packets that routers mark",
        "add `packet.ecn.enabled: true`"}},
      {with("packet: {sampling: {enabled: true}}\n"),
       {"machine.yaml:6: key `packet.sampling.enabled`: nothing is simulated packet by packet",
        "write `fidelity: packet`"}},
      {"weft: 1\ntopology:\n  notation: Switch(4)\n  dimensions: [{bandwidth: 1 GB/s, fidelity: packet}]\n"
       "packet: {sampling: {enabled: true}, ecn: {enabled: true}, dcqcn: {enabled: true}}\n",
       {"machine.yaml:5: key `packet.sampling.enabled`: the rates of `packet.dcqcn` remember"}},
      {"weft: 1\ntopology:\n  notation: Switch(4)\n  dimensions: [{bandwidth: 1 GB/s, fidelity: packet}]\n"
       "packet: {sampling: {enabled: true}}\nrun: {data: functional}\n",
       {"key `packet.sampling.enabled`: collectives that are not simulated carry no data"}},
      {"weft: 1\ntopology:\n  notation: Switch(4)\n  dimensions: [{bandwidth: 1 GB/s, fidelity: packet}]\n"
       "  fidelity_rules: [{operation: barrier, fidelity: message}]\n"
       "packet: {sampling: {enabled: true}}\n",
       {"key `packet.sampling.enabled`: rules of `topology.fidelity_rules`", "remove one of the two"}},
      {"weft: 1\ntopology:\n  notation: Switch(8)\n  dimensions: [{bandwidth: 1 GB/s, fidelity: packet}]\n"
       "packet: {sampling: {enabled: true}}\ncollectives: {library: nccl, gpu: H100}\n",
       {"machine.yaml:5: key `packet.sampling.enabled`: the calls of `collectives.library`"}},
      {"weft: 1\ntopology:\n  notation: Switch(8)\n  dimensions: [{bandwidth: 1 GB/s, fidelity: packet}]\n"
       "packet: {sampling: {enabled: true}}\nmemory: {pool: {groups: 2, group_bandwidth: 100 GB/s, "
       "in_node_bandwidth: 100 GB/s}}\n",
       {"machine.yaml:5: key `packet.sampling.enabled`: what `memory.pool` sends over the same links"}},
      {"weft: 1\ntopology:\n  notation: Switch(8)\n  dimensions: [{bandwidth: 1 GB/s, fidelity: packet}]\n"
       "packet: {sampling: {enabled: true}}\njobs: [{name: a, trace: x, npus: [0..3]}, {name: b, trace: y, "
       "npus: [4..7]}]\n",
       {"machine.yaml:5: key `packet.sampling.enabled`: a job of several does not know"}},
      {with("packet: {sampling: {share: 0}}\n"), {"key `packet.sampling.share`: '0' is"}},
      {with("packet: {dcqcn: {g: 0}}\n"), {"key `packet.dcqcn.g`: '0' is zero"}},
      {with("packet: {dcqcn: {timer: 1 us}}\n"), {"unknown key 'timer'", "rate_timer"}},
      {with("packet: {ecn: 5 kB}\n"), {"key `packet.ecn`", "a mapping of enabled, k_min, k_max, p_max"}},
      {with("packet: {routing: xy}\n"), {"'xy' is unknown", "`dimension_order`"}},
      {with("packet: {switch_alloc_cycles: 0}\n"), {"'0' is zero", "from 1 to 1000000"}},
      {with("packet: {cycle: 0 ps}\n"), {"'0 ps' is zero (write `auto`"}},
      {dimension("bandwidth: 1 GB/s, fidelity: exact"), {"'exact' is unknown", "`analytical`"}},
      {dimension("bandwidth: 1 GB/s, switching: cut_trough"), {"did you mean `cut_through`"}},
      {dimension("bandwidth: 1 GB/s, bandwidth: 2 GB/s"), {"written twice", "first at machine.yaml:5"}},
      {with("npu: {peak: 0 TFLOPS}\n"),
       {"key `npu.peak`: '0 TFLOPS' is zero (write `none`", "from 1 MFLOPS"}},
      {with("npu: {roofline: 1}\n"), {"'1' is neither true nor false"}},
      {with("npu: {roofline: true, peak: none, memory_bandwidth: none}\n"),
       {"machine.yaml:6: key `npu.roofline`", "at least one"}},
      {with("hbm: {efficiency: 1.5}\n"), {"'1.5' is too large", "from 0.001 to 1"}},
      {with("hbm: {efficiency: 0}\n"), {"'0' is zero"}},
      {with("hbm: {capacity: 80 GB/s}\n"), {"a size is wanted"}},
      {with("hbm: {preset: HBM2}\n"), {"hbm.preset", "is of `hbm.model: banked`", "set the model"}},
      {with("hbm: {model: banked, preset: HBM9}\n"), {"'HBM9' is unknown", "`HBM2`", "`HBM4`"}},
      {with("hbm: {model: banked, bandwidth: 2 TB/s}\n"),
       {"hbm.bandwidth", "5 of HBM3 give 4096 GB/s", "take the key out"}},
      {with("hbm: {model: banked, latency: 100 ns}\n"), {"hbm.latency", "follows from the device"}},
      {with("hbm: {model: banked, efficiency: 0.9}\n"), {"hbm.efficiency", "follows from the device"}},
      {with("collectives: {chunks: 0}\n"), {"'0' is zero", "from 1 to 65535"}},
      {with("collectives: {chunks: -4}\n"), {"'-4' is negative"}},
      {with("collectives: {chunks: 99999999999}\n"), {"'99999999999' is too large"}},
      {with("collectives: {chunks: many}\n"), {"'many' does not start with a number"}},
      {with("collectives: {order: thermis}\n"),
       {"'thermis' is unknown", "did you mean `themis`?", "`local_bw_aware`"}},
      {with("collectives: {reduction: fast}\n"), {"'fast' is unknown", "`none`, `hbm` or `{bandwidth: X}`"}},
      {with("collectives: {reduction: {bandwidth: 0 GB/s}}\n"), {"'0 GB/s' is zero"}},
      {with("collectives: {reduction: {speed: 1 GB/s}}\n"), {"does not hold just `bandwidth`"}},
      {with("collectives: {reduction: 1600 GB/s}\n"), {"'1600 GB/s' is unknown", "{bandwidth: X}"}},
      {with("run: {data: real}\n"), {"'real' is unknown", "`none`, `functional`"}},
      {with("run: {element: fp16}\n"), {"'fp16' is unknown", "`fp32`, `bf16`, `int32`"}},
      {with("run: {reduce: avg}\n"), {"'avg' is unknown", "`sum`, `max`, `min`"}},
      {with("run: {seed: -1}\n"), {"'-1' is negative"}},
      {with("output: {dir: \"\"}\n"), {"key `output.dir`: '' is empty"}},
      {"weft: 1\ntopology: {notation: FC(16777216), dimensions: [{bandwidth_per_npu: 200 GB/s}]}\n",
       {"machine.yaml:2: key `topology.dimensions[0].bandwidth_per_npu`: 200 GB/s over 16777215 links",
        "too small"}},
      // algorithms
      {with("collectives: {all_reduce: [ring, direct]}\n"),
       {"machine.yaml:6: key `collectives.all_reduce`: has 2 algorithms",
        "Ring(4)_FullyConnected(8)_Switch(4)", "3 names"}},
      {with("collectives: {all_reduce: rng}\n"),
       {"'rng' is no algorithm (did you mean `ring`?)", "halving_doubling"}},
      {with("collectives: {all_reduce: []}\n"), {"is an empty list"}},
      {with("collectives: {all_reduce: [ring, [ring], ring]}\n"), {"is a list", "one of"}},
      {"weft: 1\ntopology:\n  notation: Switch(4)\n  dimensions:\n    - bandwidth: 1 GB/s\n"
       "      collective_unit: {buffer: 1 KiB}\n",
       {"machine.yaml:6: key `topology.dimensions[0].collective_unit.buffer`: '1 KiB' holds no segment (64 "
        "KiB)",
        "`collective_unit.segment`"}},
      {dimension("bandwidth: 1 GB/s, collective_unit: {segment: 1 B}"),
       {"machine.yaml:5: key `topology.dimensions[0].collective_unit.segment`: '1 B' is too small", "64 B"}},
      {dimension("bandwidth: 1 GB/s, collective_unit: {latency: 5}"), {"'5' has no unit", "ns"}},
      {dimension("bandwidth: 1 GB/s, collective_unit: {bufer: 1 MiB}"),
       {"machine.yaml:5: key `topology.dimensions[0].collective_unit.bufer`", "did you mean `buffer`"}},
      {dimension("bandwidth: 1 GB/s, collective_unit: 3"), {"is '3'", "a mapping of ingress_bandwidth"}},
      {with("topology: {logical: Ring(4)_FC(8)_Switch(4)}\n"), {"written twice"}},
      {"weft: 1\ntopology:\n  notation: Ring(8)\n  logical: Switch(8)\n  dimensions: [{bandwidth: 1 GB/s}]\n"
       "collectives: {all_reduce: in_switch}\n",
       {"machine.yaml:6: key `collectives.all_reduce[0]`", "the logical topology does not say which switch"}},
      // operations that an algorithm lacks
      {with("collectives: {gather: double_binary_tree}\n"),
       {"machine.yaml:6: key `collectives.gather`: dimension 0 (Ring(4)): double_binary_tree has no gather; "
        "use ring or direct"}},
      {with("collectives: {all_to_all: [ring, direct, halving_doubling]}\n"),
       {"machine.yaml:6: key `collectives.all_to_all`: dimension 2 (Switch(4)): halving_doubling has no "
        "all_to_all"}},
      {with("collectives:\n  rules:\n    - {operation: scatter, algorithms: one_double_binary_tree}\n"),
       {"machine.yaml:8: key `collectives.rules[0].algorithms`: dimension 0 (Ring(4)): "
        "one_double_binary_tree has no "
        "scatter"}},
      {with("collectives: {all_gather: in_switch}\n"),
       {"machine.yaml:6: key `collectives.all_gather[0]`: 'in_switch' needs a switch, and dimension 0 is "
        "Ring(4)",
        "write `default`"}},
      {with("collectives: {all_gather: custom}\n"), {"does not say which programs", "`custom:PREFIX`"}},
      {with("collectives: {all_gather: 'custom:'}\n"), {"does not say which programs", "`custom:PREFIX`"}},
      {with("collectives: {all_gather: 'ring:x'}\n"), {"is no algorithm"}},
      {with("collectives:\n  all_reduce: [ring, one_ring, one_ring]\n"),
       {"machine.yaml:7: key `collectives.all_reduce[1]`: 'one_ring' runs the whole operation",
        "dimension 0 has 'ring'", "write `all_reduce: one_ring`"}},
      {with("collectives: {all_reduce: [one_ring, one_direct, default]}\n"),
       {"key `collectives.all_reduce[0]`", "dimension 1 has 'one_direct'"}},
      // structure
      {"weft: 1\ntopology:\n  notation: Ring(4)_Ring(4)\n  dimensions: [{bandwidth: 1 GB/s}, {bandwidth: 1 "
       "GB/s}, {bandwidth: 1 GB/s}]\n",
       {"machine.yaml:4: key `topology.dimensions`: has 3 entries", "'Ring(4)_Ring(4)' has 2 dimensions",
        "one for all"}},
      {"weft: 1\ntopology: {notation: Ring(4)}\n",
       {"machine.yaml: key `topology.dimensions`: missing", "bandwidth: 100 GB/s"}},
      {"weft: 1\ntopology: {notation: Ring(4), dimensions: []}\n",
       {"machine.yaml:2: key `topology.dimensions`: is an empty list"}},
      {"weft: 1\ntopology: {notation: Ring(4), dimensions: {bandwidth: 1 GB/s}}\n",
       {"is a mapping", "a list of mappings"}},
      {"weft: 1\ntopology: {notation: Ring(4), dimensions: [100 GB/s]}\n",
       {"key `topology.dimensions[0]`: is '100 GB/s'", "a mapping of bandwidth"}},
      {"weft: 1\n", {"machine.yaml: key `topology.notation`: missing"}},
      {"topology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}]}\n",
       {"machine.yaml: key `weft`: missing; add it: `weft: 1`"}},
      {"weft: 2\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}]}\n",
       {"machine.yaml:1: key `weft`: '2'", "`weft: 1`"}},
      {"weft: one\ntopology: {notation: Ring(4), dimensions: [{bandwidth: 1 GB/s}]}\n",
       {"machine.yaml:1: key `weft`: 'one'"}},
      {"weft: 1\ntopology: {notation: Rong(4), dimensions: [{bandwidth: 1 GB/s}]}\n",
       {"machine.yaml:2: key `topology.notation`: 'Rong(4)', column 1: unknown kind"}},
      {"weft: 1\ntopology: {notation: Ring(4), graph: {npus: 1}}\n",
       {"machine.yaml:2: key `topology.graph`: given beside `topology.notation` (at machine.yaml:2)",
        "keep one"}},
      {"weft: 1\ntopology: {graph: {npus: 1}, dimensions: [{bandwidth: 1 GB/s}]}\n",
       {"machine.yaml:2: key `topology.dimensions`: given beside `topology.graph`", "remove one"}},
      {with("npu: fast\n"), {"machine.yaml:6: key `npu`: is 'fast'; allowed: a mapping of peak"}},
      {with("npu: [1]\n"), {"key `npu`: is a list; allowed: a mapping"}},
      {with("npu: {}\nnpu: {}\n"), {"machine.yaml:7: key `npu`: written twice, first at machine.yaml:6"}},
      {with("remote_memory: {latency: 1 us}\n"), {"key `remote_memory.bandwidth`: missing"}},
      {with("workload: {trace: [a, b]}\n"), {"key `workload.trace`: is a list; allowed: a path"}},
      {with("workload: {trace: }\n"), {"key `workload.trace`: has no value"}},
      // YAML itself
      {"", {"machine.yaml:1: the configuration is empty", "weft: 1"}},
      {"# only a comment\n", {"the configuration is empty"}},
      {"- a\n- b\n", {"machine.yaml:1: the configuration is a list", "mapping"}},
      {"hello\n", {"the configuration is 'hello'"}},
      {"weft: 1\ntopology: {notation: Ring(4)\n", {"machine.yaml:", "not valid YAML"}},
      {"weft: 1\n\ttopology: 3\n", {"machine.yaml:2: not valid YAML", "column"}},
      {"weft: 1\n---\nweft: 1\n", {"holds 2 YAML documents"}},
      {"? [a]\n: 3\n", {"machine.yaml:1: a key must be a plain word"}},
      {"weft: *nothing\n", {"machine.yaml:1: not valid YAML"}},
      {"weft: &a [*a]\n", {"machine.yaml:1"}},
  };
  for (const BadFile& c : cases) {
    const std::string message = error_of(c.text);
    EXPECT_NE(message.find("machine.yaml"), std::string::npos) << message;
    for (const char* part : c.parts)
      EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << "more than one error for one fault:\n" << message;
  }
}

TEST(Loader, AllErrorsAreReportedAtOnce) {
  const std::string message = error_of(
      "weft: 3\n"
      "topology:\n"
      "  notation: Ring(4)_Ring(2)\n"
      "  dimensions:\n"
      "    - {bandwidth: 5, latency: 3 GB/s}\n"
      "    - {latency: 1 ns, colour: red}\n"
      "npu: {peak: 3 GB}\n",
      {"collectives.chunks=0"});
  for (const char* part :
       {"machine.yaml:1: key `weft`", "machine.yaml:5: key `topology.dimensions[0].bandwidth`",
        "machine.yaml:5: key `topology.dimensions[0].latency`",
        "machine.yaml:6: key `topology.dimensions[1].colour`",
        "machine.yaml:6: key `topology.dimensions[1].bandwidth`: missing", "machine.yaml:7: key `npu.peak`",
        "--set collectives.chunks=0: key `collectives.chunks`"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\nin: " << message;
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 6) << message;
}

TEST(Loader, HostileFilesEndInErrors) {
  std::string deep(100000, '[');
  EXPECT_NE(error_of(deep).find("machine.yaml"), std::string::npos);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_NE(error_of(bomb).find("more than 100000 values"), std::string::npos);
  std::string many = "weft: 1\n";
  for (int i = 0; i < 500; ++i) many += "key" + std::to_string(i) + ": 1\n";
  EXPECT_NE(error_of(many).find("more errors"), std::string::npos);
  EXPECT_NE(error_of(std::string("weft: 1\n\0\xff\xfe", 11)), "no error");
}

const char* const kMerged =
    "weft: 1\n"
    "topology:\n"
    "  notation: Ring(4)_Switch(2)_Mesh(2)\n"
    "  dimensions:\n"
    "    - &base {bandwidth: 100 GB/s, latency: 300 ns, links_per_npu: 2}\n"
    "    - <<: *base\n"
    "      latency: 1 us\n"
    "    - <<: [{latency: 7 ns}, *base]\n"
    "      links_per_npu: 3\n";

TEST(Loader, MergeKeys) {
  const Config c = parse_config(kMerged, "machine.yaml");
  EXPECT_EQ(c.dimensions[0].latency, 300000u);
  EXPECT_EQ(c.dimensions[1].latency, 1000000u) << "its own key wins, wherever `<<` stands";
  EXPECT_EQ(c.dimensions[1].links_per_npu, 2u);
  EXPECT_EQ(c.dimensions[2].latency, 7000u) << "the first of the list wins";
  EXPECT_EQ(c.dimensions[2].bandwidth, c.dimensions[0].bandwidth);
  EXPECT_EQ(c.dimensions[2].links_per_npu, 3u);
  expect_same(c, parse_config(effective_yaml(c), ""));
  // Of a mapping that is merged itself; before and behind the mapping's own keys; in a section.
  const Config nested = parse_config(with("nmu: &a {endpoint_delay: 1 us}\n"
                                          "collectives:\n"
                                          "  rules:\n"
                                          "    - &one {name: a, chunks: 2}\n"
                                          "    - &two {<<: *one, name: b}\n"
                                          "    - {name: c, <<: *two, priority: 4}\n"),
                                     "machine.yaml");
  ASSERT_EQ(nested.collectives.rules.size(), 3u);
  EXPECT_EQ(nested.collectives.rules[1].name, "b");
  EXPECT_EQ(nested.collectives.rules[2].name, "c");
  EXPECT_EQ(nested.collectives.rules[2].chunks, 2u);
  EXPECT_EQ(nested.collectives.rules[2].priority, 4);
  // And from the command line.
  EXPECT_EQ(parse_config(kMinimal, "", {"nmu={<<: {endpoint_delay: 3 us}}"}).nmu.endpoint_delay, 3000000u);
}

TEST(Loader, ModelsOfSingleModulesAreReadAndPrinted) {
  const std::string head =
      "weft: 1\ntopology:\n  notation: Ring(4)\n  dimensions:\n    - {bandwidth: 50 GB/s}\n";
  const Config c = parse_config(head +
                                    "implementations:\n"
                                    "  - {modules: \"nmu[01], nmu3\", implementation: \"a(b=1 ns)\"}\n"
                                    "  - {modules: npu2, implementation: \"plugin:c\"}\n",
                                "m.yaml");
  ASSERT_EQ(c.implementations.size(), 2u);
  EXPECT_EQ(c.implementations[0].modules, "nmu[01], nmu3");
  EXPECT_EQ(c.implementations[0].implementation, "a(b=1 ns)");
  EXPECT_EQ(c.implementations[1].implementation, "plugin:c");
  EXPECT_EQ(c.implementations[1].origin, "m.yaml:8: key `implementations[1]`");
  EXPECT_TRUE(c.replaces_modules());
  expect_same(c, parse_config(effective_yaml(c), ""));
  EXPECT_FALSE(parse_config(head, "").replaces_modules());
  const auto refuses = [&](const std::string& list, const std::string& words) {
    try {
      parse_config(head + "implementations:\n" + list, "m.yaml");
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
      return;
    }
    ADD_FAILURE() << list << " is accepted";
  };
  refuses("  - {modules: npu2}\n", "`implementations[0].implementation`: missing");
  refuses("  - {implementation: c}\n", "`implementations[0].modules`: missing");
  refuses("  - {modules: npu2, implementation: \"8\"}\n", "does not begin with a name");
  refuses("  - {modules: \"\", implementation: c}\n", "is empty");
  refuses("  - {module: npu2, implementation: c}\n", "did you mean `modules`");
  refuses("  - npu2\n", "allowed: a mapping of modules, implementation");
  refuses("  - {modules: npu2, binding: c}\n", "is 'c'; allowed: remote(socket=PATH");
  refuses("  - {modules: npu2, binding: remote, implementation: c}\n", "stands beside `implementation`");
  const Config bound = parse_config(
      head + "implementations: [{modules: npu2, binding: \"remote(socket=a{rank}.sock)\"}]\n", "m.yaml");
  EXPECT_EQ(bound.implementations[0].implementation, "remote(socket=a{rank}.sock)");
  expect_same(bound, parse_config(effective_yaml(bound), ""));
}

TEST(Loader, ExpectationsAreReadPrintedAndChecked) {
  const std::string head = with("expect:\n");
  const Config c =
      parse_config(head +
                       "  - {name: \"step: all\", metric: time, at_most: 1.2 ms, tolerance: 2 %}\n"
                       "  - {metric: link_utilisation, of: 'nmu0.*', statistic: p99, at_least: 5 %}\n"
                       "  - {metric: exposed_communication, equals: 3 us}\n",
                   "m.yaml");
  ASSERT_EQ(c.expect.size(), 3u);
  EXPECT_EQ(c.expect[0].tolerance, "2 %");
  EXPECT_EQ(c.expect[1].statistic, "p99");
  EXPECT_FALSE(c.expect[1].at_most);
  EXPECT_NE(c.expect[2].origin.find("key `expect[2]`"), std::string::npos) << c.expect[2].origin;
  expect_same(c, parse_config(effective_yaml(c), ""));
  const auto refuses = [&](const std::string& entry, const std::string& words) {
    try {
      parse_config(head + "  - {" + entry + "}\n", "m.yaml");
    } catch (const UserError& e) {
      EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("expect[0]"), std::string::npos) << e.what();
      return;
    }
    ADD_FAILURE() << entry << " is accepted";
  };
  refuses("at_most: 1 ms", "`expect[0].metric`: missing");
  refuses("metric: tim, at_most: 1 ms", "exposed_communication");
  refuses("metric: time", "there is no bound");
  refuses("metric: time, at_most: 40 %", "'40 %' is no bound of `time`; allowed: a time");
  refuses("metric: efficiency, at_least: 1 ms", "allowed: a share, for example");
  refuses("metric: idle, at_most: 1 GB/s", "a share of the run's time or a time");
  refuses("metric: idle, at_most: 10 %, at_least: 1 ms", "write both alike");
  refuses("metric: idle, at_most: 10 %, at_least: 20 %", "nothing meets both");
  refuses("metric: idle, at_most: 10 % or so", "'10 % or so' is no bound");
  refuses("metric: time, equals: 1 ms, at_most: 2 ms", "take one of them out");
  refuses("metric: time, at_most: 1 ms, tolerance: 100 %", "'100 %' is no part of a bound");
  refuses("metric: time, at_most: 1 ms, of: rank0", "one figure of the whole run");
  refuses("metric: time, at_most: 1 ms, statistic: p50", "take the key out");
  refuses("metric: summary, at_most: 1", "the path of a number");
  refuses("metric: link_bytes, at_most: 1 GB, job: a", "links are the machine's");
  refuses("metric: time, at_mots: 1 ms", "did you mean `at_most`");
}

TEST(Loader, JobsAreReadAndPrinted) {
  const Config c = parse_config(with("jobs:\n"
                                     "  - {name: first, trace: /t/a, groups: /t/g.json, npus: [3..0]}\n"
                                     "  - {trace: /t/b, strict: true, npus: [4, 6]}\n"),
                                "");
  ASSERT_EQ(c.jobs.size(), 2u);
  EXPECT_EQ(c.jobs[0].name, "first");
  EXPECT_EQ(c.jobs[0].workload.groups, "/t/g.json");
  EXPECT_EQ(c.jobs[0].workload.npus, (std::vector<uint32_t>{3, 2, 1, 0}));
  EXPECT_EQ(c.jobs[1].name, "job1");
  EXPECT_TRUE(c.jobs[1].workload.strict);
  expect_same(c, parse_config(effective_yaml(c), ""));
}

TEST(Loader, MergeKeysKeepLinesAndAreChecked) {
  const auto expect = [](const std::string& text, std::initializer_list<const char*> parts) {
    const std::string error = error_of(text);
    for (const char* part : parts)
      EXPECT_NE(error.find(part), std::string::npos) << part << " not in " << error;
  };
  // What is wrong is wrong where it is written, and each time.
  std::string bad = kMerged;
  bad.replace(bad.find("300 ns"), 6, "300 GB");
  expect(bad, {"machine.yaml:5: key `topology.dimensions[0].latency`"});
  bad = kMerged;
  bad.replace(bad.find("links_per_npu: 2"), 16, "links_per_npa: 2");
  expect(bad, {"machine.yaml:5: key `topology.dimensions[0].links_per_npa`: unknown key",
               "machine.yaml:5: key `topology.dimensions[1].links_per_npa`"});
  expect(with("nmu:\n  <<: 3\n"), {"machine.yaml:7: `<<` is '3'", "mapping or a list of mappings"});
  expect(with("nmu:\n  <<: [{}, [1]]\n"), {"machine.yaml:7: `<<` holds a list"});
  expect(with("nmu:\n  <<:\n"), {"machine.yaml:7: `<<` is nothing"});
  expect(with("nmu:\n  <<: {}\n  <<: {}\n"),
         {"machine.yaml:8: a second `<<`", "machine.yaml:7", "<<: [*first, *second]"});
  expect(with("nmu:\n  <<: *none\n"), {"machine.yaml:7", "not valid YAML"});
  // Quoted it is a key like any other.
  expect(with("nmu:\n  '<<': {}\n"), {"machine.yaml:7: key `nmu.<<`: unknown key"});
  // A key twice is a mistake in what is merged as well.
  expect(with("nmu:\n  <<: {endpoint_delay: 1 us, endpoint_delay: 2 us}\n"), {"written twice"});
  expect("a: &a\n  b: *a\n", {"machine.yaml:2", "alias stands inside the value that its anchor names"});
  expect("a: &a\n  <<: *a\n", {"machine.yaml:2", "alias stands inside"});
  // Each doubles the one before.
  std::string bomb = "a0: &a0 {x: 1, y: 2}\n";
  for (int i = 1; i < 40; ++i) {
    const std::string k = std::to_string(i);
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + k + ": &a" + k + " {<<: [" + before + ", " + before + "], z" + k + ": 1}\n";
  }
  expect(bomb, {"nested more than 16 levels deep"});
  std::string wide = "a0: &a0 {x: 1, y: 2}\n";
  for (int i = 1; i < 6; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    wide += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " {<<: [" + before;
    for (int j = 1; j < 20; ++j) wide += ", " + before;
    wide += "]}\n";
  }
  expect(wide, {"more than 100000 values"});
}

// Whatever a slip of the hand makes of a file: a UserError, or a Config that survives its own effective.yaml.
TEST(Loader, MutatedFilesAreRefusedOrRoundTrip) {
  const std::string original = kEverything;
  const std::string bytes = "0123456789 \t\n:,.-[]{}()&*#'\"/e%BGs\x01\x80\xff";
  std::mt19937 random(11);
  int accepted = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = original;
    for (unsigned n = 1 + random() % 3; n > 0; --n) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = bytes[random() % bytes.size()];
          break;
        case 1:
          text.insert(at, 1, bytes[random() % bytes.size()]);
          break;
        case 2:
          text.erase(at, 1 + random() % 8);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
      }
    }
    Config config;
    try {
      config = parse_config(text, "/data/machine.yaml");
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("/data/machine.yaml"), std::string::npos) << error.what();
      continue;
    }
    ++accepted;
    const std::string effective = effective_yaml(config);
    ASSERT_EQ(effective_yaml(parse_config(effective, "")), effective) << text;
  }
  EXPECT_GT(accepted, 50);
}

TEST(Loader, Rules) {
  const std::string text = with(
      "collectives:\n  rules:\n"
      "    - {group: 12, algorithms: ring, chunks: 3}\n"
      "    - {name: 'mb?.*, \"x\"', operation: all_gather, order: themis_flex}\n"
      "    - algorithms: custom:p/mine\n"
      "      priority: 7\n"
      "    - {algorithms: default}\n");
  const Config c = parse_config(text, "/data/machine.yaml", {"collectives.rules[0].chunks=5"});
  const auto& rules = c.collectives.rules;
  ASSERT_EQ(rules.size(), 4u);
  EXPECT_EQ(rules[0].group, "12");
  EXPECT_EQ(rules[0].name, "");
  EXPECT_EQ(rules[0].algorithms, (std::vector<std::string>{"ring", "ring", "ring"}));
  EXPECT_EQ(rules[0].chunks, 5u);
  EXPECT_FALSE(rules[0].operation || rules[0].order || rules[0].priority);
  EXPECT_EQ(rules[0].origin, "/data/machine.yaml:8: key `collectives.rules[0]`");
  EXPECT_EQ(rules[1].name, "mb?.*, \"x\"");
  EXPECT_EQ(rules[1].operation, CollectiveOp::all_gather);
  EXPECT_EQ(rules[1].order, CollectiveOrder::themis_flex);
  EXPECT_TRUE(rules[1].algorithms.empty());
  EXPECT_EQ(rules[2].algorithms, std::vector<std::string>(3, "custom:/data/p/mine"));
  EXPECT_EQ(rules[2].priority, 7);
  EXPECT_EQ(rules[3].algorithms, std::vector<std::string>(3));
  expect_same(c, parse_config(effective_yaml(c), ""));

  const auto wrong = [](const std::string& rule) {
    return error_of(with("collectives: {rules: " + rule + "}\n"));
  };
  const auto says = [&](const std::string& rule, const std::string& part) {
    EXPECT_NE(wrong(rule).find(part), std::string::npos) << wrong(rule);
  };
  says("[{algoritms: ring}]",
       "machine.yaml:6: key `collectives.rules[0].algoritms`: unknown key 'algoritms' (did you "
       "mean `algorithms`?)");
  says("[{group: a, algorithms: ring}, {algorithms: [ring, ring]}]",
       "key `collectives.rules[1].algorithms`: has 2 algorithms");
  says("[{algorithms: [one_ring, ring, ring]}]", "'one_ring' runs the whole operation");
  says("[{algorithms: riing}]", "did you mean `ring`?");
  says("[{operation: allreduce, chunks: 2}]", "did you mean `all_reduce`?");
  EXPECT_EQ(wrong("[{algorithms: riing}]").find("sets nothing"), std::string::npos);
  says("[{chunks: 0}]", "'0' is zero");
  says("[{order: thems}]", "did you mean `themis`?");
  says("[{priority: -1}]", "priority");
  says("[{group: a}]", "key `collectives.rules[0]`: sets nothing");
  says("[{name: '', chunks: 2}]", "is empty");
  says("{algorithms: ring}", "allowed: a list of mappings");
  says("[ring]", "key `collectives.rules[0]`: is 'ring'; allowed: a mapping of group, name, operation");
}

TEST(Loader, FidelityRules) {
  const auto machine = [](const std::string& rules, const std::string& fidelity = "message") {
    return "weft: 1\ntopology:\n  notation: Ring(4)_Switch(2)\n  dimensions:\n"
           "    - {bandwidth: 100 GB/s, latency: 1 us, fidelity: " +
           fidelity + "}\n    - {bandwidth: 100 GB/s, latency: 1 us}\n  fidelity_rules: " + rules + "\n";
  };
  const Config c = parse_config(
      machine(
          "\n    - {name: '*.grad', group: 12, operation: all_reduce, iteration: 3, fidelity: packet}\n"
          "    - {operation: point_to_point, from: 1 ms, to: 2 ms, dimensions: [1, 0, 1], fidelity: packet}\n"
          "    - {dimensions: all, fidelity: message}"),
      "/data/machine.yaml");
  const auto& rules = c.fidelity_rules;
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(rules[0].name, "*.grad");
  EXPECT_EQ(rules[0].group, "12");
  EXPECT_EQ(rules[0].operation, CollectiveOp::all_reduce);
  EXPECT_EQ(rules[0].iteration, 3u);
  EXPECT_EQ(rules[0].from, 0u);
  EXPECT_EQ(rules[0].to, kNever);
  EXPECT_TRUE(rules[0].dimensions.empty());
  EXPECT_EQ(rules[0].fidelity, Fidelity::packet);
  EXPECT_EQ(rules[0].origin, "/data/machine.yaml:8: key `topology.fidelity_rules[0]`");
  EXPECT_TRUE(rules[1].point_to_point);
  EXPECT_FALSE(rules[1].operation);
  EXPECT_EQ(rules[1].from, 1'000'000'000u);
  EXPECT_EQ(rules[1].to, 2'000'000'000u);
  EXPECT_EQ(rules[1].dimensions, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(rules[2].fidelity, Fidelity::message);
  expect_same(c, parse_config(effective_yaml(c), ""));

  const auto says = [&](const std::string& rule, const std::string& part,
                        const std::string& fidelity = "message") {
    const std::string error = error_of(machine("[" + rule + "]", fidelity));
    EXPECT_NE(error.find("machine.yaml:7: key `topology.fidelity_rules[0]"), std::string::npos) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  says("{name: a}", "has no `fidelity`; add one of analytical, message, packet");
  says("{fidelity: pakcet}", "did you mean `packet`?");
  says("{fidelity: packet, iterations: 3}", "did you mean `iteration`?");
  says("{fidelity: packet, iteration: -1}", "iteration`");
  says("{fidelity: packet, from: 1}", "from`");
  says("{fidelity: packet, from: 2 us, to: 2 us}", "which is not after `from`, 2 us");
  says("{fidelity: packet, dimensions: [0, 2]}", "there is no dimension 2; `Ring(4)_Switch(2)` has 2");
  says("{fidelity: packet, dimensions: []}", "is an empty list");
  says("{fidelity: packet, dimensions: [x]}", "holds 'x'");
  says("{fidelity: packet, dimensions: 1}", "`all`, or a list");
  says("{fidelity: packet, operation: allreduce}", "did you mean `all_reduce`?");
  says("{fidelity: packet, operation: point_to_point, group: a}", "remove `group`");
  says("packet", "allowed: a mapping of name, group, operation");
  // To a coarser one, too.
  EXPECT_EQ(parse_config(machine("[{fidelity: message}]", "packet"), "").fidelity_rules.size(), 1u);
  EXPECT_EQ(
      parse_config(machine("[{fidelity: analytical, dimensions: [1]}]", "packet"), "").fidelity_rules.size(),
      1u);
  const std::string error = error_of(
      "weft: 1\ntopology:\n  graph:\n    npus: 2\n    links:\n      - {from: npu0, to: npu1, bandwidth: 1 "
      "GB/s, latency: 1 us}\n  fidelity_rules: [{fidelity: packet}]\n");
  EXPECT_NE(error.find("the links of a graph have one fidelity"), std::string::npos) << error;
}

TEST(Loader, FilesAreFoundOrNamed) {
  const auto failure = [](const std::string& path) -> std::string {
    try {
      load_config(path);
    } catch (const UserError& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(failure("no/such/file.yaml").find("no/such/file.yaml: no such configuration file"),
            std::string::npos);
  EXPECT_NE(failure(".").find("is a folder"), std::string::npos);
  EXPECT_NE(failure("").find("no such configuration file"), std::string::npos);
  EXPECT_NE(failure("/dev/zero").find("is a device, not a regular file"), std::string::npos);

  const fs::path dir = fs::temp_directory_path() / "weft_loader_test";
  fs::create_directories(dir);
  std::ofstream(dir / "m.yaml") << with("workload: {trace: t/llm, groups: /abs/g.json}\n");
  const Config c = load_config((dir / "m.yaml").string());
  EXPECT_EQ(c.workload.trace, (dir / "t/llm").string());
  EXPECT_EQ(c.workload.groups, "/abs/g.json");
  EXPECT_EQ(c.file, (dir / "m.yaml").string());
  fs::remove_all(dir);
}

TEST(Loader, ExamplesLoadAndRoundTrip) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(weft::test::source_dir() + "/configs/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    ++count;
    const Config c = load_config(entry.path().string());
    EXPECT_GE(c.npus(), 8u) << entry.path();
    expect_same(c, parse_config(effective_yaml(c), ""));
  }
  EXPECT_GE(count, 4);
  EXPECT_EQ(load_config(weft::test::source_dir() + "/configs/examples/conv_4d.yaml").dimensions[1].bandwidth,
            (Rate{200ull << 30, 7}));
}

}  // namespace
}  // namespace weft

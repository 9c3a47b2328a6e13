// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/library/library_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "configs/document.h"
#include "workload/library/library_files.h"
#include "workload/library/library_version.h"

namespace weft::library {
namespace {

const char* file_name(LibraryKind kind) {
  return kind == LibraryKind::rccl ? "rccl.yaml" : "nccl.yaml";
}

DocumentNode read_file(LibraryKind kind) {
  return read_document(kind == LibraryKind::rccl ? kRcclTables : kNcclTables, file_name(kind));
}

[[noreturn]] void broken(const DocumentNode& node, const std::string& why) {
  throw std::logic_error(fmt::format("{}: {}", node.origin, why));
}

const DocumentNode& child(const DocumentNode& node, const char* key) {
  const DocumentNode* found = node.find(key);
  if (found == nullptr) broken(node, fmt::format("has no `{}`", key));
  return *found;
}

double number(const DocumentNode& node) {
  if (node.scalar == "true") return 1;
  if (node.scalar == "false") return 0;
  char* end = nullptr;
  const double value = std::strtod(node.scalar.c_str(), &end);
  if (node.kind != DocumentNode::Kind::scalar || end == node.scalar.c_str() || *end != '\0')
    broken(node, "is no number");
  return value;
}

std::vector<double> numbers(const DocumentNode& node) {
  std::vector<double> values;
  for (const DocumentNode& item : node.items) values.push_back(number(item));
  return values;
}

// Overloads of `into`: what a key holds, when it is there.
void into(const DocumentNode& node, double& value) {
  value = number(node);
}
void into(const DocumentNode& node, bool& value) {
  value = number(node) != 0;
}
void into(const DocumentNode& node, uint32_t& value) {
  value = static_cast<uint32_t>(number(node));
}
void into(const DocumentNode& node, std::vector<double>& value) {
  value = numbers(node);
}
template <typename Number, size_t N>
void into(const DocumentNode& node, std::array<Number, N>& value) {
  const std::vector<double> all = numbers(node);
  if (all.size() != N) broken(node, fmt::format("has {} values instead of {}", all.size(), N));
  for (size_t i = 0; i < N; ++i) value[i] = static_cast<Number>(all[i]);
}
template <typename T>
void take(const DocumentNode& map, const char* key, T& value) {
  if (const DocumentNode* node = map.find(key)) into(*node, value);
}

/// Puts what `from` has in place of what `to` has, key by key.
void merge(DocumentNode& to, const DocumentNode& from) {
  for (const DocumentEntry& entry : from.entries) {
    if (entry.key == "before") continue;
    DocumentNode* old = to.find(entry.key);
    if (old == nullptr)
      to.entries.push_back(entry);
    else if (old->kind == DocumentNode::Kind::map)
      merge(*old, entry.value);
    else
      *old = entry.value;
  }
}

/// "2.27" and "2.27.3-1"; nothing for what is no version.
std::optional<LibraryVersion> parse_version(const std::string& text) {
  const char* rest = nullptr;
  const std::optional<LibraryVersion> version = leading_version(text.c_str(), rest);
  return *rest == '\0' || *rest == '.' || *rest == '-' || *rest == '+' ? version : std::nullopt;
}

void read_rules(const DocumentNode& root, Rules& rules) {
  const DocumentNode& r = child(root, "rules");
  take(r, "ring_ll_divisor", rules.ring_ll_divisor);
  take(r, "ring_ll_divisor_node", rules.ring_ll_divisor_node);
  take(r, "nvls_ratio", rules.nvls_ratio);
  take(r, "pat", rules.pat);
  take(r, "nvls", rules.nvls);
  take(r, "nvls_parts_over_nodes", rules.nvls_parts_over_nodes);
  take(r, "pat_share", rules.pat_share);
  take(r, "threads", rules.threads);
  take(r, "few_threads", rules.few_threads);
  take(r, "few_threads_bandwidth", rules.few_threads_bandwidth);
  take(r, "bytes_per_thread", rules.bytes_per_thread);
  take(r, "step_bytes", rules.step_bytes);
  take(r, "wire", rules.wire);
  take(r, "least_traffic", rules.least_traffic);
  take(r, "least_slice", rules.least_slice);
  take(r, "most_channels", rules.most_channels);
  take(r, "p2p_chunk", rules.p2p_chunk);
  take(r, "p2p_network_chunk", rules.p2p_network_chunk);
  take(r, "p2p_ll_bytes", rules.p2p_ll_bytes);
  take(r, "rings_per_peer", rules.rings_per_peer);
  take(r, "sockets", rules.sockets);
  const DocumentNode& t = child(root, "timing");
  take(t, "tree_share", rules.tree_share);
  take(t, "tree_ll128_share", rules.tree_ll128_share);
  take(t, "nvls_fill", rules.nvls_fill);
  take(t, "nvls_slice", rules.nvls_slice);
  take(t, "nvls_tree_fill", rules.nvls_tree_fill);
  take(t, "collnet_fill", rules.collnet_fill);
  take(t, "straggler", rules.straggler);
  take(t, "straggler_doublings", rules.straggler_doublings);
}

void read_generation(const DocumentNode& node, Generation& g) {
  take(node, "ll_max", g.ll_max);
  take(node, "ring_ll128", g.ring_ll128);
  take(node, "tree_ll128", g.tree_ll128);
  take(node, "tree_max", g.tree_max);
  take(node, "nvls_tree_max", g.nvls_tree_max);
  take(node, "nvls_efficiency", g.nvls_efficiency);
  take(node, "nvls_channels", g.nvls_channels);
  take(node, "channel_rate", g.channel_rate);
  take(node, "plateau", g.plateau);
  take(node, "node_speeds", g.node_speeds);
  take(node, "nodes_speeds", g.nodes_speeds);
  take(node, "wide_channels", g.hopper);
  take(node, "ring_share", g.ring_share);
  take(node, "tree_share", g.tree_share);
  take(node, "ll128", g.ll128);
  take(node, "node_ll", g.node_ll);
  take(node, "direct_all_gather", g.direct_all_gather);
}

void read_gpus(const DocumentNode& root, Tables& tables) {
  for (const DocumentEntry& entry : child(root, "generations").entries)
    read_generation(entry.value, tables.generations[entry.key]);
  for (const DocumentEntry& entry : child(root, "gpus").entries) {
    Gpu gpu;
    gpu.name = entry.key;
    gpu.generation = child(entry.value, "generation").scalar;
    if (tables.generations.count(gpu.generation) == 0) broken(entry.value, "is of an unknown generation");
    take(entry.value, "links", gpu.links);
    take(entry.value, "link", gpu.link);
    take(entry.value, "pcie", gpu.pcie);
    tables.gpus.push_back(gpu);
  }
}

constexpr const char* kProtocolKeys[] = {"ll", "ll128", "simple"};

void read_all_pairs(const DocumentNode& root, AllPairs& pairs) {
  const DocumentNode* node = root.find("all_pairs");
  if (node == nullptr) return;
  for (size_t p = 0; p < kProtocols; ++p) {
    const DocumentNode* bands = node->find(kProtocolKeys[p]);
    if (bands == nullptr) continue;
    for (const DocumentNode& item : bands->items)
      pairs.bands[p].push_back({static_cast<uint64_t>(number(child(item, "below"))),
                                static_cast<uint32_t>(number(child(item, "channels")))});
  }
  take(*node, "ll_share", pairs.ll_share);
  take(*node, "simple_share", pairs.simple_share);
  take(*node, "simple_steps", pairs.simple_steps);
}

void read_bands(const DocumentNode& root, Tables& tables) {
  const DocumentNode* node = root.find("protocols");
  if (node == nullptr) return;
  for (int op = 0; op < kLibraryOps; ++op) {
    const DocumentNode* limits = node->find(to_string(static_cast<LibraryOp>(op)));
    if (limits == nullptr) continue;
    std::array<double, 2> both{};
    into(*limits, both);
    tables.node_bands[static_cast<LibraryOp>(op)] = {both[0], both[1]};
  }
  take(root, "ll128_more_nodes", tables.ll128_factor_nodes);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::vector<std::string> Tables::versions(LibraryKind kind) {
  const DocumentNode root = read_file(kind);
  std::vector<std::string> names;
  for (const DocumentNode& item : child(root, "versions").items) names.push_back(item.scalar);
  return names;
}

Tables Tables::read(LibraryKind kind, const std::string& version, const std::string& origin) {
  DocumentNode root = read_file(kind);
  Tables tables;
  tables.kind = kind;
  const std::vector<std::string> known = versions(kind);
  tables.version = version.empty() ? known.back() : version;
  const std::optional<LibraryVersion> wanted = parse_version(tables.version);
  const LibraryVersion oldest = *parse_version(known.front());
  const LibraryVersion newest = *parse_version(known.back());
  if (!wanted || *wanted < oldest || newest < *wanted)
    throw UserError(
        ExitCode::usage,
        fmt::format("{}: key `collectives.library_version`: '{}' is no version of {} that Weft has "
                    "tables of; write one from {} to {}, or remove the key",
                    origin, version, to_string(kind), known.front(), known.back()));
  const std::vector<DocumentNode> changes = child(root, "changes").items;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change)
    if (*wanted < *parse_version(child(*change, "before").scalar)) merge(root, *change);
  tables.launch_us = number(child(root, "launch"));
  for (int a = 0; a < kLibraryAlgorithms; ++a) {
    const DocumentNode* row = child(root, "latencies").find(to_string(static_cast<LibraryAlgorithm>(a)));
    if (row == nullptr) continue;
    LatencyRow& to = tables.latencies[static_cast<size_t>(a)];
    into(child(*row, "base"), to.base);
    into(child(*row, "nvlink"), to.nvlink);
    into(child(*row, "pcie"), to.pcie);
    into(child(*row, "network"), to.network);
  }
  into(child(root, "slice"), tables.slice);
  if (const DocumentNode* factors = root.find("tree_factors"))
    for (size_t p = 0; p < kProtocols; ++p) into(child(*factors, kProtocolKeys[p]), tables.tree_factors[p]);
  read_rules(root, tables.rules);
  read_gpus(root, tables);
  read_all_pairs(root, tables.all_pairs);
  read_bands(root, tables);
  return tables;
}

const Gpu& Tables::gpu(const std::string& name, const std::string& origin) const {
  std::string all;
  for (const Gpu& gpu : gpus) {
    if (lower(gpu.name) == lower(name)) return gpu;
    all += (all.empty() ? "" : ", ") + gpu.name;
  }
  const std::string what =
      name.empty() ? fmt::format("is needed with `library: {}`", to_string(kind))
                   : fmt::format("'{}' is no GPU that the tables of {} know", name, to_string(kind));
  throw UserError(ExitCode::usage,
                  fmt::format("{}: key `collectives.gpu`: {}; write one of {}", origin, what, all));
}

}  // namespace weft::library

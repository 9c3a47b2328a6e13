// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Network files: Garnet texts and analytical JSON of ASTRA-sim 1.x, YAML of 2.x, and the ones of ns-3 and
// htsim.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "configs/input_file.h"
#include "sc_main/import/import_files.h"
#include "sc_main/import/input_keys.h"

namespace weft::cli::import {
namespace {

using V = Verdict;

/// Without zeros at the end.
std::string decimal(double value) {
  std::string text = fmt::format("{:.6f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

bool fractional(const InputKeys& keys, const InputKey& key) {
  for (size_t i = 0; i < key.values.size(); ++i)
    if (keys.number(key, i) != std::floor(keys.number(key, i))) return true;
  return false;
}

const InputKey& needed(InputKeys& keys, const char* name, const char* other = nullptr) {
  if (const InputKey* key = keys.take(name)) return *key;
  if (other != nullptr)
    if (const InputKey* key = keys.take(other)) return *key;
  keys.fail(fmt::format("key `{}` is missing", name));
}

void same_length(const InputKeys& keys, const InputKey& key, size_t count) {
  if (key.values.size() != count)
    keys.fail(key,
              fmt::format("has {} values for {} dimensions; give one for each", key.values.size(), count));
}

std::string kind_of(const InputKeys& keys, const InputKey& key, size_t i) {
  const std::string& word = key.values[i];
  if (word != "Ring" && word != "FullyConnected" && word != "Switch")
    keys.fail(key, fmt::format("has `{}`; the kinds are Ring, FullyConnected and Switch", word));
  return word;
}

void check_machine(const InputKeys& keys, const InputKey& counts, const Imported& imported) {
  double npus = 1;
  for (const ImportedDimension& d : imported.dimensions) npus *= static_cast<double>(d.size);
  if (npus > double{1u << 24})
    keys.fail(counts, fmt::format("makes {} NPUs, more than the 2^24 of a machine", npus));
}

/// YAML of 2.x.
void import_yaml(const ImportOptions& options, InputKeys& keys, Imported& imported) {
  const InputKey& topology = needed(keys, "topology");
  const InputKey& counts = needed(keys, "npus_count");
  const InputKey& bandwidth = needed(keys, "bandwidth");
  const InputKey& latency = needed(keys, "latency");
  const size_t n = topology.values.size();
  if (n == 0) keys.fail(topology, "has no dimension");
  for (const InputKey* key : {&counts, &bandwidth, &latency}) same_length(keys, *key, n);
  for (size_t d = 0; d < n; ++d) {
    ImportedDimension dimension;
    dimension.kind = kind_of(keys, topology, d);
    dimension.size = keys.whole(counts, d);
    if (dimension.size < 2) keys.fail(counts, fmt::format("has {}; give at least 2 NPUs", dimension.size));
    if (keys.number(bandwidth, d) == 0) keys.fail(bandwidth, "has a 0; give more");
    keys.number(latency, d);
    dimension.bandwidth = bandwidth.values[d] + " GiB/s";
    dimension.latency = latency.values[d] + " ns";
    imported.dimensions.push_back(dimension);
  }
  check_machine(keys, counts, imported);
  keys.tell(topology, "topology.notation", V::exact);
  keys.tell(counts, "topology.notation", V::exact);
  keys.tell(bandwidth, "topology.dimensions[].bandwidth", V::exact, "ASTRA-sim's GB/s are GiB/s");
  const bool cut = fractional(keys, latency);
  keys.tell(latency, "topology.dimensions[].latency", cut ? V::approximate : V::exact,
            cut ? "ASTRA-sim cuts to whole ns" : "");
  if (options.aware) {
    imported.fidelity = "message";
    imported.switching = "store_and_forward";
    if (n > 1)
      imported.remarks.push_back(
          "the congestion-aware back end has one dimension only; Weft runs all of them at `message` "
          "fidelity");
  } else if (n > 1) {
    imported.remarks.push_back(
        "a message over several dimensions pays its first one only in ASTRA-sim, and all of them in Weft");
  }
}

/// The links that a message uses, of those that an NPU has.
uint64_t links_of(const std::string& kind, uint64_t links, uint64_t size) {
  if (kind == "Ring") return links / 2 * 2;
  if (kind == "FullyConnected") return size > 1 ? links / (size - 1) : links;
  return links;
}

class AnalyticalImport {
 public:
  AnalyticalImport(InputKeys& keys, Imported& imported) : keys_(keys), imported_(imported) {}

  void run() {
    name();
    const InputKey& kinds = needed(keys_, "topologies-per-dim");
    const InputKey& sizes = needed(keys_, "units-count", "nodes-per-dim");
    const InputKey& links = needed(keys_, "links-count");
    const InputKey& bandwidth = needed(keys_, "link-bandwidth");
    const InputKey& latency = needed(keys_, "link-latency");
    const size_t n = kinds.values.size();
    if (n == 0) keys_.fail(kinds, "has no dimension");
    for (const InputKey* key : {&sizes, &links, &bandwidth, &latency}) same_length(keys_, *key, n);
    count(n);
    const InputKey* nic = list("nic-latency", n);
    const InputKey* router = list("router-latency", n);
    bool few = false;
    for (size_t d = 0; d < n; ++d) {
      ImportedDimension dimension;
      dimension.kind = kind_of(keys_, kinds, d);
      dimension.size = keys_.whole(sizes, d);
      if (dimension.size == 0) keys_.fail(sizes, "has a 0; give at least 1 NPU");
      const uint64_t given = keys_.whole(links, d);
      dimension.links = links_of(dimension.kind, given, dimension.size);
      few = few || dimension.links == 0;
      dimension.links = std::max<uint64_t>(dimension.links, 1);
      if (keys_.number(bandwidth, d) == 0) keys_.fail(bandwidth, "has a 0; give more");
      dimension.bandwidth = bandwidth.values[d] + " GiB/s";
      const double at_nic = nic == nullptr ? 0 : keys_.number(*nic, d);
      const double at_router = router == nullptr || dimension.kind != "Switch" ? 0 : keys_.number(*router, d);
      const double link = keys_.number(latency, d);
      dimension.latency = decimal(link) + " ns";
      if (at_nic > 0) dimension.nic = decimal(at_nic) + " ns";
      if (at_router > 0) dimension.router = decimal(at_router) + " ns";
      rates_.push_back(keys_.number(bandwidth, d) * 1.073741824 * static_cast<double>(dimension.links));
      latencies_.push_back((dimension.kind == "Switch" ? 2 * link + at_router : link) + 2 * at_nic);
      imported_.dimensions.push_back(dimension);
    }
    check_machine(keys_, sizes, imported_);
    keys_.tell(kinds, "topology.notation", V::exact);
    keys_.tell(sizes, "topology.notation", V::exact);
    keys_.tell(links, "topology.dimensions[].links_per_npu", few ? V::approximate : V::exact,
               few ? "too few links for a pair on a ring, or one to each peer: ASTRA-sim then has no "
                     "bandwidth; here 1"
                   : "");
    keys_.tell(bandwidth, "topology.dimensions[].bandwidth", V::exact, "GiB/s");
    keys_.tell(latency, "topology.dimensions[].latency", V::exact);
    if (nic != nullptr)
      keys_.tell(*nic, "topology.dimensions[].nic_latency", V::exact, "paid twice by a message");
    if (router != nullptr)
      keys_.tell(*router, "topology.dimensions[].router_latency", V::exact,
                 "of a Switch; ASTRA-sim does not use that of other kinds");
    memory(n);
    keys_.take("dimension-type", "", V::ignored, "only ASTRA-sim's cost model reads it");
    keys_.take("use-fast-version", "", V::ignored, "ASTRA-sim does not use it");
    if (n > 1)
      imported_.remarks.push_back(
          "a message over several dimensions pays its highest one only in ASTRA-sim, and all of them in "
          "Weft");
  }

 private:
  void name() {
    const InputKey* key = keys_.take("topology-name");
    if (key == nullptr) return;
    const bool known = key->text() == "Hierarchical";
    keys_.tell(*key, "topology.notation", known ? V::exact : V::approximate,
               known ? "" : "the kinds of the dimensions count");
  }

  void count(size_t n) {
    for (const char* name : {"dimensions-count", "dims-count"}) {
      const InputKey* key = keys_.take(name);
      if (key == nullptr) continue;
      if (keys_.whole(*key) != n)
        keys_.fail(*key, fmt::format("is {}, but there are {} kinds of dimensions", key->text(), n));
      keys_.tell(*key, "topology.notation", V::exact);
    }
  }

  const InputKey* list(const char* name, size_t n) {
    const InputKey* key = keys_.take(name);
    if (key != nullptr) same_length(keys_, *key, n);
    return key;
  }

  /// A message also takes (latency + size / bandwidth) x scale of the memory, if that is longer.
  void memory(size_t n) {
    const InputKey* latency = list("hbm-latency", n);
    const InputKey* bandwidth = list("hbm-bandwidth", n);
    const InputKey* scale = list("hbm-scale", n);
    bool off = true, hidden = true;
    for (size_t d = 0; d < n && scale != nullptr; ++d) {
      const double factor = keys_.number(*scale, d);
      if (factor == 0) continue;
      off = false;
      const double time = (latency == nullptr ? 0 : keys_.number(*latency, d)) * factor;
      const double rate = bandwidth == nullptr ? 0 : keys_.number(*bandwidth, d) / factor;
      hidden = hidden && time <= latencies_[d] && rate >= rates_[d];
    }
    for (const InputKey* key : {latency, bandwidth, scale}) {
      if (key == nullptr) continue;
      if (off)
        keys_.tell(*key, "", V::ignored, "hbm-scale is 0: the memory takes no time");
      else
        keys_.tell(*key, "", hidden ? V::exact : V::no_counterpart,
                   hidden ? "the link is slower for every size"
                          : "the time of the memory for small or large messages; Weft has "
                            "`collectives.reduction: hbm`");
    }
  }

  InputKeys& keys_;
  Imported& imported_;
  std::vector<double> rates_;      ///< B/ns
  std::vector<double> latencies_;  ///< ns
};

/// A whole number from 1 to `most`.
bool is_whole(double value, double most) {
  return value >= 1 && value <= most && value == std::floor(value);
}

/// Garnet's text of 1.x. Clock 1 GHz.
class GarnetImport {
 public:
  GarnetImport(InputKeys& keys, Imported& imported) : keys_(keys), imported_(imported) {}

  void run() {
    const InputKey& npus = needed(keys_, "num-npus");
    const InputKey& packages = needed(keys_, "num-packages");
    const InputKey& rows = needed(keys_, "package-rows");
    const InputKey& topology = needed(keys_, "topology");
    const uint64_t count = keys_.whole(npus), m = keys_.whole(packages), v = keys_.whole(rows);
    if (m == 0 || count % std::max<uint64_t>(m, 1) != 0 || count == 0)
      keys_.fail(packages, fmt::format("is {}, which does not divide the {} NPUs", m, count));
    if (v == 0 || m % std::max<uint64_t>(v, 1) != 0)
      keys_.fail(rows, fmt::format("is {}, which does not divide the {} packages", v, m));
    const std::string word = topology.text();
    torus_ = word == "Torus3D";
    if (!torus_ && word != "NV_Switch" && word != "AllToAll")
      keys_.fail(topology, fmt::format("is `{}`; the topologies are Torus3D, NV_Switch and AllToAll", word));
    imported_.fidelity = "message";
    add("Ring", count / m, "tile-link-width", "local-link-latency", "local-rings", true);
    if (torus_) {
      add("Ring", v, "package-link-width", "package-link-latency", "vertical-rings", false);
      add("Ring", m / v, "package-link-width", "package-link-latency", "horizontal-rings", false);
      place(count / m, v, m / v);
    } else {
      add(word == "NV_Switch" ? "Switch" : "FullyConnected", m, "package-link-width", "package-link-latency",
          word == "NV_Switch" ? "links-per-tile" : "package-links", false);
      if (word == "NV_Switch") keys_.take("package-rings");
    }
    check_machine(keys_, npus, imported_);
    for (const InputKey* key : {&npus, &packages, &rows, &topology})
      keys_.tell(*key, "topology.notation", V::exact);
    rest();
  }

 private:
  void add(const char* kind, uint64_t size, const char* width, const char* latency, const char* links,
           bool local) {
    ImportedDimension dimension;
    dimension.kind = kind;
    dimension.size = size;
    const InputKey& bits = needed(keys_, width);
    if (keys_.number(bits) == 0) keys_.fail(bits, "is 0; give bits per cycle");
    dimension.bandwidth = decimal(keys_.number(bits) / 8) + " GB/s";
    const double phit = keys_.number(bits) / 8;
    if (is_whole(phit, 65536)) dimension.phit = decimal(phit) + " B";
    const InputKey& cycles = needed(keys_, latency);
    const InputKey* router = keys_.take("router-latency");
    dimension.latency =
        decimal(keys_.number(cycles) + (router == nullptr ? 0 : keys_.number(*router))) + " ns";
    if (const InputKey* parallel = keys_.take(links)) {
      dimension.links = std::max<uint64_t>(keys_.whole(*parallel), 1);
      keys_.tell(*parallel, "topology.dimensions[].links_per_npu",
                 dimension.links == 1 ? V::exact : V::approximate,
                 dimension.links == 1 ? ""
                 : local              ? "each ring has its own links in Garnet; here they work as one"
                                      : "each has its own links and queue in Garnet; here they work as one");
    }
    if (told_.insert(width).second)
      keys_.tell(bits, "topology.dimensions[].{bandwidth, phit_size}", V::exact,
                 "bits per cycle at 1 GHz; a phit is what a cycle moves, at `packet` fidelity");
    if (told_.insert(latency).second)
      keys_.tell(cycles, "topology.dimensions[].latency", V::exact, "with the router's");
    imported_.dimensions.push_back(dimension);
  }

  /// ASTRA-sim counts horizontal before vertical, and its collectives go vertical first.
  void place(uint64_t l, uint64_t v, uint64_t h) {
    if (v == 1 || h == 1) return;
    std::string list;
    for (uint64_t rank = 0; rank < l * v * h; ++rank) {
      const uint64_t horizontal = rank / l % h, vertical = rank / l / h;
      list += fmt::format("{}{}", rank == 0 ? "" : ", ", rank % l + l * (vertical + v * horizontal));
    }
    imported_.mapping = "[" + list + "]";
    imported_.remarks.push_back(
        "topology.mapping: ranks count horizontal before vertical, collectives go vertical first");
  }

  /// Of packets. The machine is at `message` fidelity, where they change nothing.
  void packets() {
    const std::string when = "for `fidelity: packet`; the machine is at `message`";
    if (const InputKey* width = keys_.take("flit-width")) {
      number(*width, "packet.flit_size", keys_.number(*width) / 8, 65536, " B", when);
    }
    const InputKey* package = keys_.take("package-packet-size");
    const InputKey* local = keys_.take("local-packet-size");
    if (const InputKey* size = package != nullptr ? package : local)
      number(*size, "packet.packet_size", keys_.number(*size), 1 << 20, " B", when);
    if (package != nullptr && local != nullptr) {
      const bool same = keys_.number(*package) == keys_.number(*local);
      keys_.tell(*local, "packet.packet_size", same ? V::exact : V::ignored,
                 same ? when : "Garnet's public code cuts all messages by package-packet-size");
    }
    if (const InputKey* vcs = keys_.take("vcs-per-vnet"))
      number(*vcs, "packet.vcs", keys_.number(*vcs), 64, "", when);
    if (const InputKey* buffer = keys_.take("buffers-per-vc"))
      number(*buffer, "packet.buffer_flits", keys_.number(*buffer), 16777216, "", when);
  }

  /// A whole number from 1 to `most`, which Weft's key has too; else Weft's default stays.
  void number(const InputKey& key, const char* path, double value, double most, const char* unit,
              const std::string& why) {
    const bool fits = is_whole(value, most);
    if (fits) imported_.set(path, decimal(value) + unit);
    keys_.tell(
        key, path, fits ? V::exact : V::ignored,
        fits ? why : fmt::format("is not a whole number from 1 to {}{}; Weft's default stays", most, unit));
  }

  void rest() {
    keys_.take("router-latency", "topology.dimensions[].latency", V::exact, "a part of each hop's");
    packets();
    keys_.take("routing-algorithm", "", V::exact, "neighbours on rings, straight through switches");
    for (const char* name : {"local-link-efficiency", "package-link-efficiency"})
      keys_.take(name, "topology.dimensions[].header_efficiency", V::ignored,
                 "Garnet reads it and does not use it; set Weft's key to use it at `packet` fidelity");
    for (const char* name : {"vertical-rings", "horizontal-rings", "links-per-tile", "package-links"})
      keys_.take_if_unused(name, "", V::ignored, "of another topology");
  }

  InputKeys& keys_;
  Imported& imported_;
  bool torus_ = false;
  std::set<std::string> told_;
};

bool begins_with_number(const std::string& text) {
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string::npos && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
}

}  // namespace

void import_network(const ImportOptions& options, Imported& imported) {
  const InputKind kind{"network", ExitCode::usage, "check the path; it is a network file of ASTRA-sim",
                       uint64_t{64} << 20};
  const std::string text = read_input(options.network, kind);
  if (begins_with_number(text)) {
    import_ns3_topology(options.network, text, imported);
    return;
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text.compare(first, 6, "Nodes ") == 0) {
    import_htsim_topology(options.network, text, imported);
    return;
  }
  InputKeys keys(options.network, imported);
  if (keys.has("npus_count")) {
    import_yaml(options, keys, imported);
  } else if (keys.has("num-npus")) {
    GarnetImport(keys, imported).run();
  } else if (keys.has("topologies-per-dim")) {
    AnalyticalImport(keys, imported).run();
  } else if (keys.has("TOPOLOGY_FILE")) {
    import_ns3_config(options.network, imported);
    return;
  } else {
    keys.fail(
        "is no network file that is known: it has neither `npus_count` (ASTRA-sim 2.x), `topologies-per-dim` "
        "(analytical 1.x), `num-npus` (Garnet) nor `TOPOLOGY_FILE` (ns-3)");
  }
  keys.tell_unknown();
}

}  // namespace weft::cli::import

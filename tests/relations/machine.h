// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A machine as a user writes it: dimensions and keys with their values as text. A relation changes keys, a
// failing case loses them one by one until only those are left that matter.

#ifndef WEFT_TESTS_RELATIONS_MACHINE_H
#define WEFT_TESTS_RELATIONS_MACHINE_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::relations {

/// Key -> value, both as in YAML. Keys are dotted: `collectives.chunks`.
using Settings = std::map<std::string, std::string>;

struct Dimension {
  std::string kind =
      "Ring";  ///< Ring, FullyConnected, Switch, Mesh; or a tree as a whole: `FatTree(k=2,n=2)`
  uint32_t size = 2;
  Settings keys;  ///< of this entry of `topology.dimensions`

  bool tree() const { return kind.find('(') != std::string::npos; }
  std::string notation() const;
};

struct Machine {
  std::vector<Dimension> dimensions;
  Settings keys;  ///< all others

  uint32_t npus() const;
  std::string notation() const;
  /// The configuration file.
  std::string yaml() const;
  /// The same file with the sections, keys and entries in another order, drawn from `order`.
  std::string yaml(uint64_t order) const;

  /// The coordinate of a rank in a dimension.
  uint32_t coordinate(uint32_t rank, size_t dimension) const;
  /// The rank with the coordinate replaced.
  uint32_t moved(uint32_t rank, size_t dimension, uint32_t coordinate) const;

  void set_all(const std::string& key, const std::string& value) {
    for (Dimension& d : dimensions) d.keys[key] = value;
  }
  std::string get(const std::string& key, const std::string& otherwise) const {
    const auto found = keys.find(key);
    return found == keys.end() ? otherwise : found->second;
  }
};

/// A value `number unit` or `number/number unit` times `by`, exactly: times("3/7 GB/s", 2) is "6/7 GB/s". A
/// value that is not of this form (`unlimited`) comes back as it is.
std::string times(const std::string& value, uint64_t by);
/// Half of it; an odd number becomes a fraction of bandwidth, and of time the half rounded down.
std::string half(const std::string& value);
/// The whole number at the beginning of a value; 0 if there is none.
uint64_t number(const std::string& value);

}  // namespace weft::relations

#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a kind of dimension is asked, by Shape alone. One object a kind, without state: everything follows
// from the line's size (and its tree). The classes are in configs/blueprint/shapes.cpp.

#ifndef WEFT_CONFIGS_BLUEPRINT_SHAPE_KIND_H
#define WEFT_CONFIGS_BLUEPRINT_SHAPE_KIND_H

#include <cstdint>
#include <string>

#include "configs/types.h"

namespace weft {

class Shape;

/// The functions are documented in Shape. They are asked of lines with more than one NPU, but for name(),
/// difference(), default_algorithm() and link_name().
class ShapeKind {
 public:
  struct Traits {
    bool neighbours = false;
    bool wraps = false;
    bool pairs = false;
    bool switches = false;
  };
  const Traits traits;

  virtual std::string name(const Shape& shape) const = 0;
  virtual std::string difference(const Shape&) const { return {}; }
  virtual uint32_t links(const Shape& shape) const = 0;
  virtual uint32_t peer(const Shape& shape, uint32_t coordinate, uint32_t link) const = 0;
  virtual uint32_t link_back(const Shape& shape, uint32_t coordinate, uint32_t link) const = 0;
  virtual uint64_t directed_npu_links(const Shape& shape) const = 0;
  virtual uint64_t directed_switch_links(const Shape&) const { return 0; }
  virtual uint32_t switches(const Shape&) const { return 0; }
  virtual uint64_t crossing_links(const Shape& shape, bool one_way) const = 0;
  virtual uint32_t link_to(const Shape& shape, uint32_t from, uint32_t to, bool reverse) const = 0;
  virtual uint32_t hops(const Shape& shape, uint32_t from, uint32_t to) const = 0;
  virtual uint32_t diameter(const Shape& shape) const = 0;
  virtual double mean_hops(const Shape& shape) const = 0;
  virtual uint32_t image(const Shape&, uint32_t link, uint32_t, uint32_t, bool) const { return link; }
  virtual const char* default_algorithm(CollectiveOp op) const = 0;
  virtual std::string link_name(uint32_t link, uint32_t peer) const = 0;

 protected:
  constexpr explicit ShapeKind(const Traits& t) : traits(t) {}
  ~ShapeKind() = default;
};

/// By DimensionKind.
extern const ShapeKind* const kShapeKinds[];
extern const ShapeKind* const kTreeShape;

inline const ShapeKind* shape_kind(DimensionKind kind, bool tree) {
  return tree ? kTreeShape : kShapeKinds[static_cast<uint8_t>(kind)];
}

}  // namespace weft

#endif

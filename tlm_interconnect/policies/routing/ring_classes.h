// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// VC classes that break the cycle of a ring (Dally and Seitz, "Deadlock-free message routing in
// multiprocessor interconnection networks", IEEE ToC C-36(5), 1987).

#ifndef WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_RING_CLASSES_H
#define WEFT_TLM_INTERCONNECT_POLICIES_ROUTING_RING_CLASSES_H

#include <cstdint>
#include <string>

namespace weft::packet {

enum class RingClasses : uint8_t {
  none,               ///< one class: deadlocks under load, for study
  dateline,           ///< chosen once, on entering the dimension: whether the way crosses the dateline
  switched_dateline,  ///< changed where the dateline is crossed
  bubble  ///< one class; a ring is entered only where room for one more packet is left (Carrion et al.,
          ///< "A flow control mechanism to avoid message deadlock in k-ary n-cube networks", HiPC 1997)
};

/// Throws UserError on an unknown name.
RingClasses ring_classes_from(const std::string& name);
inline uint32_t ring_class_count(RingClasses classes) {
  return classes == RingClasses::none || classes == RingClasses::bubble ? 1 : 2;
}

/// The class of the next hop on a ring of `size` from coordinate `here` to `there`. `entering`: the packet
/// comes from another dimension or the NI; otherwise `before` is its class on the hop before.
inline uint32_t ring_class(RingClasses classes, uint32_t size, uint32_t here, uint32_t there, bool positive,
                           bool entering, uint32_t before) {
  switch (classes) {
    case RingClasses::none:
    case RingClasses::bubble:
      return 0;
    case RingClasses::dateline:
      if (!entering) return before;
      // Upwards class 1 holds the ways that wrap, downwards those that do not: packets of one class never
      // close a ring, because ways that wrap are at most half a ring long.
      return here > there ? 1 : 0;
    case RingClasses::switched_dateline: {
      const bool wraps = positive ? here + 1 == size : here == 0;
      return wraps || (!entering && before == 1) ? 1 : 0;
    }
  }
  return 0;
}

}  // namespace weft::packet

#endif

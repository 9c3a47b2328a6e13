// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// SimBricks' layout, version 1: numbers and places of fields. Little endian. From its public headers.

#ifndef WEFT_NETWORK_INTERFACE_REMOTE_LAYOUT_H
#define WEFT_NETWORK_INTERFACE_REMOTE_LAYOUT_H

#include <cstddef>
#include <cstdint>

namespace weft::network_interface::layout {

inline constexpr uint64_t kVersion = 1;
inline constexpr uint64_t kSync = 1;       ///< flag of both: this side synchronises
inline constexpr uint64_t kForceSync = 2;  ///< .. and so must the other
inline constexpr uint64_t kNetwork = 1;    ///< upper layer: Ethernet frames

/// What the listener says first, with the memory's descriptor beside it.
struct ListenerIntro {
  uint64_t version;
  uint64_t flags;
  uint64_t out_offset;  ///< queue from listener to connector
  uint64_t out_entry;   ///< bytes of an entry
  uint64_t out_entries;
  uint64_t in_offset;  ///< queue from connector to listener
  uint64_t in_entry;
  uint64_t in_entries;
  uint64_t upper;
  uint64_t upper_offset;  ///< of the upper layer's part, from the begin of this one
  uint32_t upper_intro;   ///< of layer kNetwork: nothing in it
};
inline constexpr size_t kListenerBytes = 84;  ///< without what the compiler adds

/// .. and the connector's answer.
struct ConnectorIntro {
  uint64_t version;
  uint64_t flags;
  uint64_t upper;
  uint64_t upper_offset;
  uint32_t upper_intro;
};
inline constexpr size_t kConnectorBytes = 36;

inline constexpr uint64_t kEntries = 8192;
inline constexpr uint64_t kEntryBytes = 2048;

// An entry: a header of 64 bytes, and the frame.
inline constexpr size_t kHeader = 64;
inline constexpr size_t kLength = 0;      ///< u16, of frames
inline constexpr size_t kPort = 2;        ///< u8, of frames
inline constexpr size_t kStamp = 48;      ///< u64, ps
inline constexpr size_t kOwnerType = 63;  ///< u8: bit 7 set: the reader's turn; the type in the others
inline constexpr uint8_t kReaders = 0x80;
inline constexpr uint8_t kTypeSync = 0x00;
inline constexpr uint8_t kTypeTerminate = 0x01;
inline constexpr uint8_t kTypeFrame = 0x40;

}  // namespace weft::network_interface::layout

#endif

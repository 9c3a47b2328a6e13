// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// Reads a stream of frames as both ends do, and writes again what it has read.

#ifndef WEFT_TESTS_EMULATION_READ_FRAMES_H
#define WEFT_TESTS_EMULATION_READ_FRAMES_H

#include <cstdlib>

#include "emulation/protocol/messages.h"

namespace weft::test {

template <typename Message>
void read_and_write(const emulation::Frame& frame) {
  const auto message = emulation::read_message<Message>(frame);
  std::vector<uint8_t> bytes;
  emulation::write_frame(bytes, frame.head.request, frame.head.t, message);
  emulation::FrameBuffer in;
  in.append(bytes.data(), bytes.size());
  emulation::Frame again;
  if (!in.next(again) || in.midway()) std::abort();
  std::vector<uint8_t> same;
  emulation::write_frame(same, again.head.request, again.head.t, emulation::read_message<Message>(again));
  if (bytes != same) std::abort();
}

/// How many messages could be read.
inline uint64_t read_frames(const uint8_t* data, size_t size) {
  emulation::FrameBuffer in;
  uint64_t read = 0;
  try {
    for (size_t at = 0; at < size;) {
      const size_t piece = std::min<size_t>(size - at, 1 + at % 97);
      in.append(data + at, piece);
      at += piece;
      emulation::Frame frame;
      while (in.next(frame)) {
        try {
          switch (frame.head.type) {
            case emulation::FrameType::hello:
              read_and_write<emulation::Hello>(frame);
              break;
            case emulation::FrameType::comm_new:
              read_and_write<emulation::CommNew>(frame);
              break;
            case emulation::FrameType::comm_free:
              read_and_write<emulation::CommFree>(frame);
              break;
            case emulation::FrameType::coll:
              read_and_write<emulation::Coll>(frame);
              break;
            case emulation::FrameType::send:
              read_and_write<emulation::Send>(frame);
              break;
            case emulation::FrameType::recv:
              read_and_write<emulation::Recv>(frame);
              break;
            case emulation::FrameType::wait:
              read_and_write<emulation::Wait>(frame);
              break;
            case emulation::FrameType::test:
              read_and_write<emulation::Test>(frame);
              break;
            case emulation::FrameType::probe:
              read_and_write<emulation::Probe>(frame);
              break;
            case emulation::FrameType::compute:
              read_and_write<emulation::Compute>(frame);
              break;
            case emulation::FrameType::mark:
              read_and_write<emulation::Mark>(frame);
              break;
            case emulation::FrameType::bye:
              read_and_write<emulation::Bye>(frame);
              break;
            case emulation::FrameType::welcome:
              read_and_write<emulation::Welcome>(frame);
              break;
            case emulation::FrameType::done:
              read_and_write<emulation::Done>(frame);
              break;
            case emulation::FrameType::error:
              read_and_write<emulation::Error>(frame);
              break;
            case emulation::FrameType::shutdown:
              read_and_write<emulation::Shutdown>(frame);
              break;
            case emulation::FrameType::comm:
              read_and_write<emulation::Comm>(frame);
              break;
            default:
              continue;
          }
          ++read;
        } catch (const emulation::ProtocolError&) {
        }
      }
    }
  } catch (const emulation::ProtocolError&) {
  }
  return read;
}

}  // namespace weft::test

#endif

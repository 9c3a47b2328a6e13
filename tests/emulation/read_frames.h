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
  using namespace emulation;
  FrameBuffer in;
  uint64_t read = 0;
  try {
    for (size_t at = 0; at < size;) {
      const size_t piece = std::min<size_t>(size - at, 1 + at % 97);
      in.append(data + at, piece);
      at += piece;
      Frame frame;
      while (in.next(frame)) {
        try {
          switch (frame.head.type) {
            case FrameType::hello:
              read_and_write<Hello>(frame);
              break;
            case FrameType::comm_new:
              read_and_write<CommNew>(frame);
              break;
            case FrameType::comm_free:
              read_and_write<CommFree>(frame);
              break;
            case FrameType::coll:
              read_and_write<Coll>(frame);
              break;
            case FrameType::send:
              read_and_write<Send>(frame);
              break;
            case FrameType::recv:
              read_and_write<Recv>(frame);
              break;
            case FrameType::wait:
              read_and_write<Wait>(frame);
              break;
            case FrameType::test:
              read_and_write<Test>(frame);
              break;
            case FrameType::probe:
              read_and_write<Probe>(frame);
              break;
            case FrameType::compute:
              read_and_write<Compute>(frame);
              break;
            case FrameType::mark:
              read_and_write<Mark>(frame);
              break;
            case FrameType::bye:
              read_and_write<Bye>(frame);
              break;
            case FrameType::welcome:
              read_and_write<Welcome>(frame);
              break;
            case FrameType::done:
              read_and_write<Done>(frame);
              break;
            case FrameType::error:
              read_and_write<Error>(frame);
              break;
            case FrameType::shutdown:
              read_and_write<Shutdown>(frame);
              break;
            case FrameType::comm:
              read_and_write<Comm>(frame);
              break;
            default:
              continue;
          }
          ++read;
        } catch (const ProtocolError&) {
        }
      }
    }
  } catch (const ProtocolError&) {
  }
  return read;
}

}  // namespace weft::test

#endif

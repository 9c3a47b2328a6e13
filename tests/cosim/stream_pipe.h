// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A block of AXI4-Stream ports by hand: a queue of any length, which may make gaps within frames.

#ifndef WEFT_TESTS_COSIM_STREAM_PIPE_H
#define WEFT_TESTS_COSIM_STREAM_PIPE_H

#include <cstdint>
#include <deque>
#include <systemc>

namespace weft::cosim::test {

/// Beats of up to 64 bits. A beat comes out an edge after it has come in, or later.
template <typename Data = uint64_t>
struct StreamPipe : sc_core::sc_module {
  /// Behind the first beat of a frame nothing comes for `pause` edges.
  explicit StreamPipe(sc_core::sc_module_name module_name, uint64_t pause = 0)
      : sc_core::sc_module(module_name), pause_(pause) {
    SC_HAS_PROCESS(StreamPipe);
    SC_METHOD(edge);
    sensitive << clk.pos();
    dont_initialize();
  }

  sc_core::sc_in<bool> clk{"clk"};
  sc_core::sc_in<bool> rst_n{"rst_n"};
  sc_core::sc_in<Data> s_tdata{"s_tdata"};
  sc_core::sc_in<uint8_t> s_tkeep{"s_tkeep"};
  sc_core::sc_in<bool> s_tvalid{"s_tvalid"};
  sc_core::sc_out<bool> s_tready{"s_tready"};
  sc_core::sc_in<bool> s_tlast{"s_tlast"};
  sc_core::sc_in<uint8_t> s_tid{"s_tid"};
  sc_core::sc_in<uint8_t> s_tdest{"s_tdest"};  ///< not looked at
  sc_core::sc_in<uint32_t> s_tuser{"s_tuser"};
  sc_core::sc_out<Data> m_tdata{"m_tdata"};
  sc_core::sc_out<uint8_t> m_tkeep{"m_tkeep"};
  sc_core::sc_out<bool> m_tvalid{"m_tvalid"};
  sc_core::sc_in<bool> m_tready{"m_tready"};
  sc_core::sc_out<bool> m_tlast{"m_tlast"};
  sc_core::sc_out<uint8_t> m_tid{"m_tid"};
  sc_core::sc_out<uint32_t> m_tuser{"m_tuser"};

 private:
  struct Beat {
    Data data;
    uint8_t keep;
    bool last;
    uint8_t id;
    uint32_t user;
  };
  void edge() {
    if (!rst_n.read()) {
      s_tready.write(false);
      m_tvalid.write(false);
      return;
    }
    if (m_tvalid.read() && m_tready.read()) {
      if (first_ && !beats_.front().last) left_ = pause_;
      first_ = beats_.front().last;
      beats_.pop_front();
    } else if (left_ != 0) {
      --left_;
    }
    if (s_tvalid.read() && s_tready.read())
      beats_.push_back({s_tdata.read(), s_tkeep.read(), s_tlast.read(), s_tid.read(), s_tuser.read()});
    s_tready.write(true);
    const bool valid = left_ == 0 && !beats_.empty();
    m_tvalid.write(valid);
    if (!valid) return;
    const Beat& beat = beats_.front();
    m_tdata.write(beat.data);
    m_tkeep.write(beat.keep);
    m_tlast.write(beat.last);
    m_tid.write(beat.id);
    m_tuser.write(beat.user);
  }

  std::deque<Beat> beats_;
  const uint64_t pause_;
  uint64_t left_ = 0;
  bool first_ = true;  ///< the next beat that comes out is the first of its frame
};

}  // namespace weft::cosim::test

#endif

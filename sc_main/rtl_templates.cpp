// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_main/rtl_templates.h"

namespace weft::cli {
namespace {

const char* const kProject = R"file(cmake_minimum_required(VERSION 3.25)
project(BLOCK LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17) # Debian's libsystemc links with C++17 only
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
find_package(weft 0.1 REQUIRED)
weft_add_rtl_block(BLOCK SOURCES BLOCK.sv TOP BLOCK ADAPTER BLOCK.cpp)
enable_testing()
find_program(WEFT weft HINTS ${weft_DIR}/../../../bin REQUIRED)
)file";

const char* const kCollectiveTests = R"file(
foreach(data none int32)
  set(options --size SIZE --no-fold --set plugins=$<TARGET_FILE:BLOCK>)
  if(NOT data STREQUAL none)
    list(APPEND options --data ${data})
  endif()
  add_test(NAME BLOCK_${data} COMMAND ${WEFT} collective ${CMAKE_CURRENT_SOURCE_DIR}/machine.yaml ${options})
endforeach()
)file";

const char* const kSwitchRtl =
    R"file(// A crossbar: a frame goes to the port that its TDEST names. Replace it with your switch.
module BLOCK #(
    parameter int P = 4,
    parameter int W = 64  // bytes of a beat
) (
    input  logic           clk,
    input  logic           rst_n,
    input  logic [W*8-1:0] s_axis_tdata [P],
    input  logic [W-1:0]   s_axis_tkeep [P],
    input  logic           s_axis_tvalid [P],
    output logic           s_axis_tready [P],
    input  logic           s_axis_tlast [P],
    input  logic [7:0]     s_axis_tdest [P],
    input  logic [7:0]     s_axis_tid [P],
    output logic [W*8-1:0] m_axis_tdata [P],
    output logic [W-1:0]   m_axis_tkeep [P],
    output logic           m_axis_tvalid [P],
    input  logic           m_axis_tready [P],
    output logic           m_axis_tlast [P],
    output logic [7:0]     m_axis_tid [P]
);
  localparam int PW = $clog2(P);
  logic          locked [P];  // an output in the midst of a frame ..
  logic [PW-1:0] owner [P];   // .. of this input
  logic          asked [P];   // some input wants the output
  logic [PW-1:0] from [P];    // this one has it
  logic          takes [P];

  always_comb begin
    for (int i = 0; i < P; i++) s_axis_tready[i] = 1'b0;
    for (int o = 0; o < P; o++) begin
      from[o] = owner[o];
      asked[o] = 1'b0;
      for (int k = 1; k <= P; k++) begin
        automatic int i = (int'(owner[o]) + k) % P;
        if (!locked[o] && !asked[o] && s_axis_tvalid[i] && s_axis_tdest[i] == 8'(o)) begin
          from[o] = PW'(i);
          asked[o] = 1'b1;
        end
      end
      takes[o] = (!m_axis_tvalid[o] || m_axis_tready[o]) && (locked[o] ? s_axis_tvalid[owner[o]] : asked[o]);
      if (takes[o]) s_axis_tready[from[o]] = 1'b1;
    end
  end

  always_ff @(posedge clk) begin
    for (int o = 0; o < P; o++) begin
      if (!rst_n) begin
        m_axis_tvalid[o] <= 1'b0;
        locked[o] <= 1'b0;
        owner[o] <= '0;
      end else begin
        if (m_axis_tready[o]) m_axis_tvalid[o] <= 1'b0;
        if (takes[o]) begin
          owner[o] <= from[o];
          locked[o] <= !s_axis_tlast[from[o]];
          m_axis_tvalid[o] <= 1'b1;
          m_axis_tdata[o] <= s_axis_tdata[from[o]];
          m_axis_tkeep[o] <= s_axis_tkeep[from[o]];
          m_axis_tlast[o] <= s_axis_tlast[from[o]];
          m_axis_tid[o] <= s_axis_tid[from[o]];
        end
      end
    end
  end
endmodule
)file";

const char* const kSwitchAdapter = R"file(#include "cosim/blocks/rtl_switch.h"

#include "BLOCK.h"
#include "sc_models/plugin.h"

class Adapter final : public weft::cosim::RtlSwitch {
 public:
  Adapter(sc_core::sc_module_name name, weft::SwitchContext context, weft::Parameters& parameters)
      : RtlSwitch(name, std::move(context), parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    for (int p = 0; p < 4; ++p)
      add_port(WEFT_STREAM_PINS_AT(rtl_, s_axis, p), WEFT_STREAM_PINS_AT(rtl_, m_axis, p));
  }
  VBLOCK rtl_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_switch("BLOCK", "RTL", [](auto name, weft::SwitchContext context, weft::Parameters& parameters) {
    return std::make_unique<Adapter>(name, std::move(context), parameters);
  });
}
)file";

const char* const kSwitchMachine = R"file(# One of two switches is the RTL block.
weft: 1
plugins: build/BLOCK.so
topology:
  notation: Ring(2)_Switch(4)
  dimensions:
    - {bandwidth: 100 GB/s, latency: 300 ns}
    - {bandwidth: 50 GB/s, latency: 500 ns}
implementations:
  - {modules: switch1_1, implementation: "rtl:BLOCK(period=1 ns, clock=gated)"}
)file";

const char* const kLinkRtl = R"file(// A register slice in each direction. Replace it with your link layer.
module BLOCK #(
    parameter int W = 64  // bytes of a beat
) (
    input  logic           clk,
    input  logic           rst_n,
    input  logic [W*8-1:0] s_fwd_tdata, s_bwd_tdata,
    input  logic [W-1:0]   s_fwd_tkeep, s_bwd_tkeep,
    input  logic           s_fwd_tvalid, s_bwd_tvalid,
    output logic           s_fwd_tready, s_bwd_tready,
    input  logic           s_fwd_tlast, s_bwd_tlast,
    output logic [W*8-1:0] m_fwd_tdata, m_bwd_tdata,
    output logic [W-1:0]   m_fwd_tkeep, m_bwd_tkeep,
    output logic           m_fwd_tvalid, m_bwd_tvalid,
    input  logic           m_fwd_tready, m_bwd_tready,
    output logic           m_fwd_tlast, m_bwd_tlast
);
  assign s_fwd_tready = !m_fwd_tvalid || m_fwd_tready;
  assign s_bwd_tready = !m_bwd_tvalid || m_bwd_tready;
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      m_fwd_tvalid <= 1'b0;
      m_bwd_tvalid <= 1'b0;
    end else begin
      if (s_fwd_tready) {m_fwd_tvalid, m_fwd_tlast, m_fwd_tkeep, m_fwd_tdata} <=
                        {s_fwd_tvalid, s_fwd_tlast, s_fwd_tkeep, s_fwd_tdata};
      if (s_bwd_tready) {m_bwd_tvalid, m_bwd_tlast, m_bwd_tkeep, m_bwd_tdata} <=
                        {s_bwd_tvalid, s_bwd_tlast, s_bwd_tkeep, s_bwd_tdata};
    end
  end
endmodule
)file";

const char* const kLinkAdapter = R"file(#include "cosim/blocks/rtl_link.h"

#include "BLOCK.h"
#include "sc_models/plugin.h"

class Adapter final : public weft::cosim::RtlLink {
 public:
  Adapter(sc_core::sc_module_name name, const weft::LinkContext& context, weft::Parameters& parameters)
      : RtlLink(name, context, parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    forward(WEFT_STREAM_PINS(rtl_, s_fwd), WEFT_STREAM_PINS(rtl_, m_fwd));
    backward(WEFT_STREAM_PINS(rtl_, s_bwd), WEFT_STREAM_PINS(rtl_, m_bwd));
  }
  VBLOCK rtl_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_link("BLOCK", "RTL",
                          [](auto name, const weft::LinkContext& context, weft::Parameters& parameters) {
                            return std::make_unique<Adapter>(name, context, parameters);
                          });
}
)file";

const char* const kLinkMachine =
    R"file(# The RTL block stands in one of the links of NPU 1, in both directions.
weft: 1
plugins: build/BLOCK.so
topology:
  notation: Ring(4)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 500 ns}
implementations:
  - {modules: nmu1.d0_plus, implementation: "rtl:BLOCK(period=1 ns, clock=gated)"}
)file";

const char* const kNmuRtl =
    R"file(// Segmentation and reassembly with segments of up to K beats; cosim/blocks/rtl_nmu.h has the header. Replace it with
// your datapath.
module BLOCK #(
    parameter int W = 64,  // bytes of a beat
    parameter int K = 16
) (
    input  logic           clk,
    input  logic           rst_n,
    input  logic [W*8-1:0] s_msg_tdata, s_seg_tdata,
    input  logic [W-1:0]   s_msg_tkeep, s_seg_tkeep,
    input  logic           s_msg_tvalid, s_seg_tvalid,
    output logic           s_msg_tready, s_seg_tready,
    input  logic           s_msg_tlast, s_seg_tlast,
    input  logic [7:0]     s_msg_tid, s_seg_tid,
    input  logic [31:0]    s_msg_tuser,  // beats of the message
    output logic [W*8-1:0] m_seg_tdata, m_msg_tdata,
    output logic [W-1:0]   m_seg_tkeep, m_msg_tkeep,
    output logic           m_seg_tvalid, m_msg_tvalid,
    input  logic           m_seg_tready, m_msg_tready,
    output logic           m_seg_tlast, m_msg_tlast,
    output logic [7:0]     m_seg_tid, m_msg_tid
);
  // Messages that leave: a header beat, then up to K beats.
  logic        tx_body;
  logic [31:0] tx_sent;
  logic [15:0] tx_number, tx_left;
  wire [31:0]  tx_rest = s_msg_tuser - tx_sent;
  wire         tx_ends = tx_rest <= 32'(K);
  wire [15:0]  tx_beats = tx_ends ? tx_rest[15:0] : 16'(K);
  wire         tx_free = !m_seg_tvalid || m_seg_tready;
  assign s_msg_tready = tx_free && (tx_body || s_msg_tuser == 0);
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      m_seg_tvalid <= 1'b0;
      tx_body <= 1'b0;
      tx_sent <= '0;
      tx_number <= '0;
    end else if (tx_free) begin
      m_seg_tvalid <= s_msg_tvalid;
      m_seg_tid <= s_msg_tid;
      if (s_msg_tvalid && !tx_body) begin
        m_seg_tdata <= (W*8)'({7'b0, tx_ends, tx_beats, tx_number, 16'(s_msg_tid)});
        m_seg_tkeep <= '1;
        m_seg_tlast <= s_msg_tuser == 0;
        tx_body <= s_msg_tuser != 0;
        tx_left <= tx_beats;
      end else if (s_msg_tvalid) begin
        m_seg_tdata <= s_msg_tdata;
        m_seg_tkeep <= s_msg_tkeep;
        m_seg_tlast <= tx_left == 1;
        tx_left <= tx_left - 1;
        tx_body <= tx_left != 1;
        tx_sent <= s_msg_tlast ? '0 : tx_sent + 1;
        if (tx_left == 1) tx_number <= s_msg_tlast ? '0 : tx_number + 1;
      end
    end
  end

  // Segments that come: the header goes, TLAST is left at the end of the message.
  logic rx_body, rx_ends;
  assign s_seg_tready = !m_msg_tvalid || m_msg_tready;
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      m_msg_tvalid <= 1'b0;
      rx_body <= 1'b0;
    end else if (s_seg_tready) begin
      m_msg_tvalid <= s_seg_tvalid && (rx_body || s_seg_tlast);
      m_msg_tid <= s_seg_tid;
      m_msg_tdata <= s_seg_tdata;
      m_msg_tkeep <= rx_body ? s_seg_tkeep : '0;
      m_msg_tlast <= s_seg_tlast && (rx_body ? rx_ends : s_seg_tdata[48]);
      if (s_seg_tvalid) begin
        rx_body <= !s_seg_tlast;
        if (!rx_body) rx_ends <= s_seg_tdata[48];
      end
    end
  end
endmodule
)file";

const char* const kNmuAdapter = R"file(#include "cosim/blocks/rtl_nmu.h"

#include "BLOCK.h"
#include "sc_models/plugin.h"

class Adapter final : public weft::cosim::RtlNmu {
 public:
  Adapter(sc_core::sc_module_name name, weft::NpuId rank, const weft::NmuContext& context, weft::Parameters& parameters)
      : RtlNmu(name, rank, context, parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    segmentation(WEFT_STREAM_PINS(rtl_, s_msg), WEFT_STREAM_PINS(rtl_, m_seg));
    reassembly(WEFT_STREAM_PINS(rtl_, s_seg), WEFT_STREAM_PINS(rtl_, m_msg), 16);
  }
  VBLOCK rtl_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_nmu(
      "BLOCK", "RTL", [](auto name, weft::NpuId rank, const weft::NmuContext& context, weft::Parameters& parameters) {
        return std::make_unique<Adapter>(name, rank, context, parameters);
      });
}
)file";

const char* const kNmuMachine = R"file(# The datapath of NMU 1 is the RTL block.
weft: 1
plugins: build/BLOCK.so
topology:
  notation: Ring(4)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 500 ns}
implementations:
  - {modules: nmu1, implementation: "rtl:BLOCK(period=1 ns, clock=gated)"}
)file";

const char* const kMemoryRtl =
    R"file(// One access after the other: LATENCY cycles, and one for every W bytes. Replace it with your controller. A request
// has the address in bits 63:0, the length in bytes in bits 119:64, and bit 120 is 1 for a write.
module BLOCK #(
    parameter int W = 512,      // bytes a cycle
    parameter int LATENCY = 40
) (
    input  logic         clk,
    input  logic         rst_n,
    input  logic [127:0] s_req_tdata,
    input  logic         s_req_tvalid,
    output logic         s_req_tready,
    input  logic [7:0]   s_req_tid,
    output logic [7:0]   m_rsp_tdata,
    output logic         m_rsp_tvalid,
    input  logic         m_rsp_tready,
    output logic [7:0]   m_rsp_tid,
    output logic         active
);
  logic        works;
  logic [55:0] left;
  assign s_req_tready = !works && !m_rsp_tvalid;
  assign m_rsp_tdata = '0;
  assign active = works || m_rsp_tvalid;
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      works <= 1'b0;
      m_rsp_tvalid <= 1'b0;
    end else begin
      if (m_rsp_tready) m_rsp_tvalid <= 1'b0;
      if (s_req_tready && s_req_tvalid) begin
        works <= 1'b1;
        m_rsp_tid <= s_req_tid;
        left <= 56'(LATENCY) + (s_req_tdata[119:64] + 56'(W - 1)) / 56'(W);
      end else if (works) begin
        left <= left - 1;
        if (left <= 1) begin
          works <= 1'b0;
          m_rsp_tvalid <= 1'b1;
        end
      end
    end
  end
endmodule
)file";

const char* const kMemoryAdapter = R"file(#include "cosim/blocks/rtl_memory.h"

#include "BLOCK.h"
#include "sc_models/plugin.h"

class Adapter final : public weft::cosim::RtlMemory {
 public:
  Adapter(sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters& parameters)
      : RtlMemory(name, context, parameters), rtl_("rtl") {
    clock().clock(rtl_.clk);
    clock().reset(rtl_.rst_n);
    clock().qactive(rtl_.active);
    connect(WEFT_STREAM_PINS(rtl_, s_req), WEFT_STREAM_PINS(rtl_, m_rsp));
  }
  VBLOCK rtl_;
};

WEFT_PLUGIN(registry) {
  registry.rtl().add_memory("BLOCK", "RTL",
                            [](auto name, const weft::MemoryContext& context, weft::Parameters& parameters) {
                              return std::make_unique<Adapter>(name, context, parameters);
                            });
}
)file";

const char* const kMemoryMachine = R"file(# The HBM of NPU 1 is the RTL block. Reductions go through it.
weft: 1
plugins: build/BLOCK.so
topology:
  notation: Ring(4)
  dimensions:
    - {bandwidth: 50 GB/s, latency: 500 ns}
collectives: {reduction: hbm}
hbm: {bandwidth: 1600 GB/s, latency: 100 ns}
implementations:
  - {modules: hbm1, implementation: "rtl:BLOCK(period=1 ns)"}
)file";

}  // namespace

const std::vector<RtlTemplate>& rtl_templates() {
  static const std::vector<RtlTemplate> all = {{"switch", kSwitchRtl, kSwitchAdapter, kSwitchMachine},
                                               {"nmu", kNmuRtl, kNmuAdapter, kNmuMachine},
                                               {"memory", kMemoryRtl, kMemoryAdapter, kMemoryMachine},
                                               axi_memory_template(),
                                               {"link", kLinkRtl, kLinkAdapter, kLinkMachine},
                                               unit_template(),
                                               npu_template()};
  return all;
}

std::string collective_tests(const char* about, const char* size) {
  std::string loop = kCollectiveTests;
  loop.replace(loop.find("SIZE"), 4, size);
  return std::string("\n") + about + loop;
}

std::string rtl_project(const RtlTemplate& of) {
  if (!of.tests.empty()) return kProject + of.tests;
  return kProject +
         collective_tests("# The machine of machine.yaml, with the block and without it.", "256KiB");
}

}  // namespace weft::cli

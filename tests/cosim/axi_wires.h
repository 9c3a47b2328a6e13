// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A block that joins its AXI4 slave port to its master port by wires, and may break a rule on the way.

#ifndef WEFT_TESTS_COSIM_AXI_WIRES_H
#define WEFT_TESTS_COSIM_AXI_WIRES_H

#include <cstdint>
#include <string>
#include <systemc>

namespace weft::test {

template <int Bytes>
struct AxiWires : sc_core::sc_module {
  AxiWires(sc_core::sc_module_name module_name, std::string what)
      : sc_core::sc_module(module_name), defect(std::move(what)) {
    SC_HAS_PROCESS(AxiWires);
    SC_METHOD(join);
    sensitive << s_axi_awid << s_axi_awaddr << s_axi_awlen << s_axi_awsize << s_axi_awburst << s_axi_awvalid
              << m_axi_awready << s_axi_wdata << s_axi_wstrb << s_axi_wlast << s_axi_wvalid << m_axi_wready
              << m_axi_bid << m_axi_bresp << m_axi_bvalid << s_axi_bready << s_axi_arid << s_axi_araddr
              << s_axi_arlen << s_axi_arsize << s_axi_arburst << s_axi_arvalid << m_axi_arready << m_axi_rid
              << m_axi_rdata << m_axi_rresp << m_axi_rlast << m_axi_rvalid << s_axi_rready << tick_;
    SC_METHOD(count);
    sensitive << clk.pos();
    dont_initialize();
  }

  sc_core::sc_in<bool> clk{"clk"};
  sc_core::sc_in<bool> rst_n{"rst_n"};
  sc_core::sc_in<uint32_t> s_axi_awid{"s_axi_awid"};
  sc_core::sc_out<uint32_t> m_axi_awid{"m_axi_awid"};
  sc_core::sc_in<uint64_t> s_axi_awaddr{"s_axi_awaddr"};
  sc_core::sc_out<uint64_t> m_axi_awaddr{"m_axi_awaddr"};
  sc_core::sc_in<uint32_t> s_axi_awlen{"s_axi_awlen"};
  sc_core::sc_out<uint32_t> m_axi_awlen{"m_axi_awlen"};
  sc_core::sc_in<uint32_t> s_axi_awsize{"s_axi_awsize"};
  sc_core::sc_out<uint32_t> m_axi_awsize{"m_axi_awsize"};
  sc_core::sc_in<uint32_t> s_axi_awburst{"s_axi_awburst"};
  sc_core::sc_out<uint32_t> m_axi_awburst{"m_axi_awburst"};
  sc_core::sc_in<bool> s_axi_awvalid{"s_axi_awvalid"};
  sc_core::sc_out<bool> m_axi_awvalid{"m_axi_awvalid"};
  sc_core::sc_out<bool> s_axi_awready{"s_axi_awready"};
  sc_core::sc_in<bool> m_axi_awready{"m_axi_awready"};
  sc_core::sc_in<sc_dt::sc_bv<8 * Bytes>> s_axi_wdata{"s_axi_wdata"};
  sc_core::sc_out<sc_dt::sc_bv<8 * Bytes>> m_axi_wdata{"m_axi_wdata"};
  sc_core::sc_in<sc_dt::sc_bv<Bytes>> s_axi_wstrb{"s_axi_wstrb"};
  sc_core::sc_out<sc_dt::sc_bv<Bytes>> m_axi_wstrb{"m_axi_wstrb"};
  sc_core::sc_in<bool> s_axi_wlast{"s_axi_wlast"};
  sc_core::sc_out<bool> m_axi_wlast{"m_axi_wlast"};
  sc_core::sc_in<bool> s_axi_wvalid{"s_axi_wvalid"};
  sc_core::sc_out<bool> m_axi_wvalid{"m_axi_wvalid"};
  sc_core::sc_out<bool> s_axi_wready{"s_axi_wready"};
  sc_core::sc_in<bool> m_axi_wready{"m_axi_wready"};
  sc_core::sc_out<uint32_t> s_axi_bid{"s_axi_bid"};
  sc_core::sc_in<uint32_t> m_axi_bid{"m_axi_bid"};
  sc_core::sc_out<uint32_t> s_axi_bresp{"s_axi_bresp"};
  sc_core::sc_in<uint32_t> m_axi_bresp{"m_axi_bresp"};
  sc_core::sc_out<bool> s_axi_bvalid{"s_axi_bvalid"};
  sc_core::sc_in<bool> m_axi_bvalid{"m_axi_bvalid"};
  sc_core::sc_in<bool> s_axi_bready{"s_axi_bready"};
  sc_core::sc_out<bool> m_axi_bready{"m_axi_bready"};
  sc_core::sc_in<uint32_t> s_axi_arid{"s_axi_arid"};
  sc_core::sc_out<uint32_t> m_axi_arid{"m_axi_arid"};
  sc_core::sc_in<uint64_t> s_axi_araddr{"s_axi_araddr"};
  sc_core::sc_out<uint64_t> m_axi_araddr{"m_axi_araddr"};
  sc_core::sc_in<uint32_t> s_axi_arlen{"s_axi_arlen"};
  sc_core::sc_out<uint32_t> m_axi_arlen{"m_axi_arlen"};
  sc_core::sc_in<uint32_t> s_axi_arsize{"s_axi_arsize"};
  sc_core::sc_out<uint32_t> m_axi_arsize{"m_axi_arsize"};
  sc_core::sc_in<uint32_t> s_axi_arburst{"s_axi_arburst"};
  sc_core::sc_out<uint32_t> m_axi_arburst{"m_axi_arburst"};
  sc_core::sc_in<bool> s_axi_arvalid{"s_axi_arvalid"};
  sc_core::sc_out<bool> m_axi_arvalid{"m_axi_arvalid"};
  sc_core::sc_out<bool> s_axi_arready{"s_axi_arready"};
  sc_core::sc_in<bool> m_axi_arready{"m_axi_arready"};
  sc_core::sc_out<uint32_t> s_axi_rid{"s_axi_rid"};
  sc_core::sc_in<uint32_t> m_axi_rid{"m_axi_rid"};
  sc_core::sc_out<sc_dt::sc_bv<8 * Bytes>> s_axi_rdata{"s_axi_rdata"};
  sc_core::sc_in<sc_dt::sc_bv<8 * Bytes>> m_axi_rdata{"m_axi_rdata"};
  sc_core::sc_out<uint32_t> s_axi_rresp{"s_axi_rresp"};
  sc_core::sc_in<uint32_t> m_axi_rresp{"m_axi_rresp"};
  sc_core::sc_out<bool> s_axi_rlast{"s_axi_rlast"};
  sc_core::sc_in<bool> m_axi_rlast{"m_axi_rlast"};
  sc_core::sc_out<bool> s_axi_rvalid{"s_axi_rvalid"};
  sc_core::sc_in<bool> m_axi_rvalid{"m_axi_rvalid"};
  sc_core::sc_in<bool> s_axi_rready{"s_axi_rready"};
  sc_core::sc_out<bool> m_axi_rready{"m_axi_rready"};

 private:
  bool is(const char* name) const { return defect == name; }
  void count() {
    ++edges_;
    if (s_axi_awvalid.read() && s_axi_awready.read()) {
      id_ = s_axi_awid.read();
      since_ = edges_;
    }
    tick_.write(edges_);
  }
  void join() {
    m_axi_awid.write(s_axi_awid.read());
    m_axi_awaddr.write(s_axi_awaddr.read());
    m_axi_awlen.write(s_axi_awlen.read());
    m_axi_awsize.write(s_axi_awsize.read());
    m_axi_awburst.write(s_axi_awburst.read());
    m_axi_awvalid.write(s_axi_awvalid.read());
    s_axi_awready.write(m_axi_awready.read());
    m_axi_wdata.write(s_axi_wdata.read());
    m_axi_wstrb.write(s_axi_wstrb.read());
    m_axi_wlast.write(s_axi_wlast.read());
    m_axi_wvalid.write(s_axi_wvalid.read());
    s_axi_wready.write(m_axi_wready.read());
    s_axi_bid.write(m_axi_bid.read());
    s_axi_bresp.write(m_axi_bresp.read());
    s_axi_bvalid.write(m_axi_bvalid.read());
    m_axi_bready.write(s_axi_bready.read());
    m_axi_arid.write(s_axi_arid.read());
    m_axi_araddr.write(s_axi_araddr.read());
    m_axi_arlen.write(s_axi_arlen.read());
    m_axi_arsize.write(s_axi_arsize.read());
    m_axi_arburst.write(s_axi_arburst.read());
    m_axi_arvalid.write(s_axi_arvalid.read());
    s_axi_arready.write(m_axi_arready.read());
    s_axi_rid.write(m_axi_rid.read());
    s_axi_rdata.write(m_axi_rdata.read());
    s_axi_rresp.write(m_axi_rresp.read());
    s_axi_rlast.write(m_axi_rlast.read());
    s_axi_rvalid.write(m_axi_rvalid.read());
    m_axi_rready.write(s_axi_rready.read());
    spoil();
  }
  void spoil() {
    const bool now_and_then = edges_ % 3 == 0;
    if (is("withdrawn") && now_and_then) m_axi_awvalid.write(false);
    if (is("changed") && now_and_then) m_axi_araddr.write(s_axi_araddr.read() ^ 64);
    if (is("reset") && !rst_n.read() && edges_ == 1) m_axi_awvalid.write(true);
    if (is("boundary")) m_axi_awlen.write(255);
    if (is("burst")) m_axi_arburst.write(3);
    if (is("size")) m_axi_arsize.write(7);
    if (is("wlast")) m_axi_wlast.write(!s_axi_wlast.read());
    if (is("strobe")) m_axi_awsize.write(0);
    if (is("b_unknown")) s_axi_bid.write(m_axi_bid.read() ^ 8);
    if (is("r_unknown")) s_axi_rid.write(m_axi_rid.read() ^ 8);
    if (is("rlast")) s_axi_rlast.write(!m_axi_rlast.read());
    if (is("exokay")) s_axi_rresp.write(1);
    if (is("open")) s_axi_bvalid.write(false);
    if (is("stuck")) {
      s_axi_awready.write(false);
      m_axi_awvalid.write(false);
    }
    if (is("b_early")) {
      s_axi_wready.write(false);
      m_axi_wvalid.write(false);
      s_axi_bvalid.write(since_ != 0 && edges_ == since_ + 4);
      s_axi_bid.write(id_);
    }
  }

  const std::string defect;
  uint64_t edges_ = 0;
  uint64_t since_ = 0;
  uint32_t id_ = 0;
  sc_core::sc_signal<uint64_t> tick_;
};

}  // namespace weft::test

#endif

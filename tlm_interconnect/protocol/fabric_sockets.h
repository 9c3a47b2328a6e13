// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The sockets of the fabric: TLM-2.0 sockets that are one object of the kernel. A
// tlm::tlm_base_initiator_socket is two, a port and an export, and the second one's name is made by a stream
// and looked up in tables: half of the time in which a machine is built, and a sixth of its memory. Here the
// export exists only where a hierarchical bind asks for it. Binds to every socket of the same protocol, the
// standard's own among them.
//
// A module with several links to modules beside it needs no object of the kernel for each: its ends of them
// (InitiatorEnd, TargetEnd) are bound through one port that they share, as in the multi-sockets of tlm_utils.

#ifndef WEFT_TLM_INTERCONNECT_PROTOCOL_FABRIC_SOCKETS_H
#define WEFT_TLM_INTERCONNECT_PROTOCOL_FABRIC_SOCKETS_H

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <typeindex>

namespace weft::fabric {

/// The interface that a socket offers: bound to it, or to an export of it.
template <typename IF>
class Offered {
 public:
  void bind(IF& interface) {
    interface_ = &interface;
    if (export_) export_->bind(interface);
  }
  IF& interface(const sc_core::sc_object& socket) const {
    if (interface_ != nullptr) return *interface_;
    if (!export_)
      SC_REPORT_FATAL("weft/tlm_interconnect/protocol",
                      (std::string(socket.name()) + " is bound to no interface").c_str());
    return *export_;
  }
  /// `number`: tells the exports of one port apart.
  sc_core::sc_export<IF>& as_export(const sc_core::sc_object& socket, uint32_t number = 0) {
    if (!export_) {
      const std::string suffix = number == 0 ? "_export" : "_export" + std::to_string(number);
      export_ = std::make_unique<sc_core::sc_export<IF>>((socket.basename() + suffix).c_str());
      if (interface_ != nullptr) export_->bind(*interface_);
    }
    return *export_;
  }

 private:
  IF* interface_ = nullptr;
  std::unique_ptr<sc_core::sc_export<IF>> export_;
};

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverloaded-virtual"
#endif

template <unsigned int kWidth, typename FW, typename BW>
class InitiatorSocket final : public tlm::tlm_base_initiator_socket_b<kWidth, FW, BW>,
                              public sc_core::sc_port<FW> {
 public:
  using Same = tlm::tlm_base_initiator_socket_b<kWidth, FW, BW>;
  using Peer = tlm::tlm_base_target_socket_b<kWidth, FW, BW>;

  explicit InitiatorSocket(const char* name) : sc_core::sc_port<FW>(name) {}
  const char* kind() const override { return "fabric_initiator_socket"; }

  /// What answers on the backward path.
  void bind(BW& interface) { offered_.bind(interface); }
  void bind(Peer& peer) {
    get_base_port()(peer.get_base_interface());
    peer.get_base_port()(get_base_interface());
  }
  /// Of the module that this one's module is in.
  void bind(Same& outer) {
    get_base_port()(outer.get_base_port());
    outer.get_base_export()(get_base_export());
  }

  sc_core::sc_port_b<FW>& get_base_port() override { return *this; }
  const sc_core::sc_port_b<FW>& get_base_port() const override { return *this; }
  BW& get_base_interface() override { return offered_.interface(*this); }
  const BW& get_base_interface() const override { return offered_.interface(*this); }
  sc_core::sc_export<BW>& get_base_export() override { return offered_.as_export(*this); }
  const sc_core::sc_export<BW>& get_base_export() const override { return offered_.as_export(*this); }
  unsigned int get_bus_width() const override { return kWidth; }
  std::type_index get_protocol_types() const override { return typeid(typename BW::protocol_types); }
  tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_INITIATOR_SOCKET; }

 private:
  mutable Offered<BW> offered_;
};

template <unsigned int kWidth, typename FW, typename BW>
class TargetSocket final : public tlm::tlm_base_target_socket_b<kWidth, FW, BW>, public sc_core::sc_port<BW> {
 public:
  using Same = tlm::tlm_base_target_socket_b<kWidth, FW, BW>;
  using Peer = tlm::tlm_base_initiator_socket_b<kWidth, FW, BW>;

  explicit TargetSocket(const char* name) : sc_core::sc_port<BW>(name) {}
  const char* kind() const override { return "fabric_target_socket"; }

  /// What answers on the forward path.
  void bind(FW& interface) { offered_.bind(interface); }
  void bind(Peer& peer) {
    peer.get_base_port()(get_base_interface());
    get_base_port()(peer.get_base_interface());
  }
  /// Of a module in this one's module.
  void bind(Same& inner) {
    get_base_export()(inner.get_base_export());
    inner.get_base_port()(get_base_port());
  }

  sc_core::sc_port_b<BW>& get_base_port() override { return *this; }
  const sc_core::sc_port_b<BW>& get_base_port() const override { return *this; }
  FW& get_base_interface() override { return offered_.interface(*this); }
  const FW& get_base_interface() const override { return offered_.interface(*this); }
  sc_core::sc_export<FW>& get_base_export() override { return offered_.as_export(*this); }
  const sc_core::sc_export<FW>& get_base_export() const override { return offered_.as_export(*this); }
  unsigned int get_bus_width() const override { return kWidth; }
  std::type_index get_protocol_types() const override { return typeid(typename FW::protocol_types); }
  tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_TARGET_SOCKET; }

 private:
  mutable Offered<FW> offered_;
};

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// Through which a module's ends of its links call their peers: one binding for each end.
template <typename IF>
class SharedPort final : public sc_core::sc_port<IF, 0, sc_core::SC_ZERO_OR_MORE_BOUND> {
 public:
  explicit SharedPort(const char* name) : sc_core::sc_port<IF, 0, sc_core::SC_ZERO_OR_MORE_BOUND>(name) {}
  const char* kind() const override { return "fabric_shared_port"; }

 private:
  template <typename, typename>
  friend class SharedEnd;
  uint32_t taken_ = 0;  ///< bindings
};

/// What the two kinds of ends have in common: calls THEIRS, answers as MINE.
template <typename THEIRS, typename MINE>
class SharedEnd {
 public:
  /// The interface of the other side; null: the end is not bound. Not before the elaboration is over.
  THEIRS* peer() {
    return number_ < static_cast<uint32_t>(port_.size()) ? port_[static_cast<int>(number_)] : nullptr;
  }

 protected:
  SharedEnd(SharedPort<THEIRS>& port, MINE& interface) : port_(port) { offered_.bind(interface); }
  /// Who asks binds it: bindings have the order of the first calls.
  SharedPort<THEIRS>& take_port() {
    if (number_ == ~0u) number_ = port_.taken_++;
    return port_;
  }
  sc_core::sc_export<MINE>& own_export() const { return offered_.as_export(port_, number_); }

  SharedPort<THEIRS>& port_;
  mutable Offered<MINE> offered_;

 private:
  uint32_t number_ = ~0u;  ///< of the binding
};

/// An end of a link that is its initiator. Lives until the elaboration is over.
template <unsigned int kWidth, typename FW, typename BW>
class InitiatorEnd final : public tlm::tlm_base_initiator_socket_b<kWidth, FW, BW>, public SharedEnd<FW, BW> {
 public:
  /// `interface`: what answers on the backward path.
  InitiatorEnd(SharedPort<FW>& port, BW& interface) : SharedEnd<FW, BW>(port, interface) {}

  sc_core::sc_port_b<FW>& get_base_port() override { return this->take_port(); }
  const sc_core::sc_port_b<FW>& get_base_port() const override { return this->port_; }
  BW& get_base_interface() override { return this->offered_.interface(this->port_); }
  const BW& get_base_interface() const override { return this->offered_.interface(this->port_); }
  sc_core::sc_export<BW>& get_base_export() override { return this->own_export(); }
  const sc_core::sc_export<BW>& get_base_export() const override { return this->own_export(); }
  unsigned int get_bus_width() const override { return kWidth; }
  std::type_index get_protocol_types() const override { return typeid(typename BW::protocol_types); }
  tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_INITIATOR_SOCKET; }
};

/// .. that is its target.
template <unsigned int kWidth, typename FW, typename BW>
class TargetEnd final : public tlm::tlm_base_target_socket_b<kWidth, FW, BW>, public SharedEnd<BW, FW> {
 public:
  /// `interface`: what answers on the forward path.
  TargetEnd(SharedPort<BW>& port, FW& interface) : SharedEnd<BW, FW>(port, interface) {}

  sc_core::sc_port_b<BW>& get_base_port() override { return this->take_port(); }
  const sc_core::sc_port_b<BW>& get_base_port() const override { return this->port_; }
  FW& get_base_interface() override { return this->offered_.interface(this->port_); }
  const FW& get_base_interface() const override { return this->offered_.interface(this->port_); }
  sc_core::sc_export<FW>& get_base_export() override { return this->own_export(); }
  const sc_core::sc_export<FW>& get_base_export() const override { return this->own_export(); }
  unsigned int get_bus_width() const override { return kWidth; }
  std::type_index get_protocol_types() const override { return typeid(typename FW::protocol_types); }
  tlm::tlm_socket_category get_socket_category() const override { return tlm::TLM_TARGET_SOCKET; }
};

/// Binds two ends, or sockets, of a link.
template <unsigned int kWidth, typename FW, typename BW>
void join(tlm::tlm_base_initiator_socket_b<kWidth, FW, BW>& from,
          tlm::tlm_base_target_socket_b<kWidth, FW, BW>& to) {
  from.get_base_port()(to.get_base_interface());
  to.get_base_port()(from.get_base_interface());
}

}  // namespace weft::fabric

#endif

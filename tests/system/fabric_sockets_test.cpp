// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The fabric's sockets beside the standard's own: either kind binds to either, directly and through modules.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/isolated.h"
#include "tlm_interconnect/protocol/fabric_protocol.h"

namespace weft::fabric {
namespace {

using StandardInitiator = tlm::tlm_base_initiator_socket<kFabricBusWidth, fabric_fw_if, fabric_bw_if>;
using StandardTarget = tlm::tlm_base_target_socket<kFabricBusWidth, fabric_fw_if, fabric_bw_if>;

/// Sends one transfer and counts what it receives.
template <typename Socket, bool kForward>
struct End final : sc_core::sc_module, FabricEndpoint {
  explicit End(sc_core::sc_module_name name) : sc_core::sc_module(name), socket("socket") {
    if constexpr (kForward) {
      socket.bind(static_cast<fabric_bw_if&>(*this));
    } else {
      socket.bind(static_cast<fabric_fw_if&>(*this));
    }
  }
  void receive(const Transfer& transfer) override { received += transfer.first; }
  void start_of_simulation() override {
    Transfer transfer;
    transfer.first = kForward ? 3 : 5;
    FabricPhase phase = FabricPhase::transfer;
    sc_core::sc_time zero;
    if constexpr (kForward) {
      socket->nb_transport_fw(transfer, phase, zero);
    } else {
      socket->nb_transport_bw(transfer, phase, zero);
    }
  }
  Socket socket;
  uint64_t received = 0;
};

/// A module with an end inside it, whose socket is its own. It has another name: the export of a socket is
/// made when it is bound, in the module that binds it.
template <typename Socket, typename Inner, bool kForward>
struct Shell final : sc_core::sc_module {
  explicit Shell(sc_core::sc_module_name name) : sc_core::sc_module(name), socket("outer"), end("end") {
    if constexpr (kForward) {
      end.socket.bind(socket);
    } else {
      socket.bind(end.socket);
    }
  }
  Socket socket;
  End<Inner, kForward> end;
};

template <typename From, typename To>
std::string told(From& from, To& to, uint64_t& at_from, uint64_t& at_to) {
  from.socket.bind(to.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  return std::to_string(at_from) + " " + std::to_string(at_to);
}

template <typename I, typename T>
void expect_bound() {
  const test::Isolated plain = test::isolated([] {
    End<I, true> from("from");
    End<T, false> to("to");
    return told(from, to, from.received, to.received);
  });
  EXPECT_EQ(plain.text, "5 3");
}

TEST(FabricSockets, BindToEachOtherAndToTheStandards) {
  expect_bound<fabric_initiator_socket, fabric_target_socket>();
  expect_bound<fabric_initiator_socket, StandardTarget>();
  expect_bound<StandardInitiator, fabric_target_socket>();
}

template <typename OuterI, typename InnerI, typename OuterT, typename InnerT>
void expect_bound_through_modules() {
  const test::Isolated nested = test::isolated([] {
    Shell<OuterI, InnerI, true> from("from");
    Shell<OuterT, InnerT, false> to("to");
    return told(from, to, from.end.received, to.end.received);
  });
  EXPECT_EQ(nested.text, "5 3");
}

TEST(FabricSockets, BindThroughModules) {
  expect_bound_through_modules<fabric_initiator_socket, fabric_initiator_socket, fabric_target_socket,
                               fabric_target_socket>();
  expect_bound_through_modules<StandardInitiator, fabric_initiator_socket, StandardTarget,
                               fabric_target_socket>();
  expect_bound_through_modules<fabric_initiator_socket, StandardInitiator, fabric_target_socket,
                               StandardTarget>();
}

TEST(FabricSockets, OneObjectOfTheKernelEach) {
  const test::Isolated result = test::isolated([] {
    End<fabric_initiator_socket, true> from("from");
    End<fabric_target_socket, false> to("to");
    from.socket.bind(to.socket);
    return std::to_string(from.get_child_objects().size()) + " " +
           std::to_string(to.get_child_objects().size()) + " " + from.socket.name() + " " + to.socket.kind();
  });
  EXPECT_EQ(result.text, "1 1 from.socket fabric_target_socket");
}

/// A module with several links behind one port.
struct Hub final : sc_core::sc_module {
  struct Link final : FabricEndpoint {
    void receive(const Transfer& transfer) override { received += transfer.first; }
    uint64_t received = 0;
  };
  explicit Hub(sc_core::sc_module_name name)
      : sc_core::sc_module(name), initiators("initiators"), targets("targets") {
    for (Link& link : links) {
      froms.push_back(std::make_unique<fabric_initiator_end>(initiators, link));
      tos.push_back(std::make_unique<fabric_target_end>(targets, link));
    }
  }
  fabric_initiator_port initiators;
  fabric_target_port targets;
  Link links[3];
  std::vector<std::unique_ptr<fabric_initiator_end>> froms;
  std::vector<std::unique_ptr<fabric_target_end>> tos;
};

TEST(FabricSockets, EndsOfOnePortAreBoundOneByOne) {
  const test::Isolated result = test::isolated([] {
    Hub a("a");
    Hub b("b");
    End<fabric_target_socket, false> single("single");
    End<StandardInitiator, true> standard("standard");
    // Not in the order of the ends, and the last one of each kind is left alone.
    join(*a.froms[1], *b.tos[0]);
    join(*a.froms[0], single.socket);
    standard.socket.bind(*b.tos[1]);
    std::string text;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    Transfer transfer;
    FabricPhase phase = FabricPhase::transfer;
    sc_core::sc_time zero;
    transfer.first = 10;
    a.froms[1]->peer()->nb_transport_fw(transfer, phase, zero);
    transfer.first = 20;
    a.froms[0]->peer()->nb_transport_fw(transfer, phase, zero);
    transfer.first = 40;
    b.tos[0]->peer()->nb_transport_bw(transfer, phase, zero);
    for (const Hub::Link& link : a.links) text += std::to_string(link.received) + " ";
    for (const Hub::Link& link : b.links) text += std::to_string(link.received) + " ";
    text += std::to_string(single.received) + " " + std::to_string(standard.received);
    text += a.froms[2]->peer() == nullptr && b.tos[2]->peer() == nullptr ? "; the others unbound" : "";
    text += "; " + std::to_string(a.get_child_objects().size()) + " objects";
    return text;
  });
  EXPECT_EQ(result.status, 0) << result.text;
  // `single` sends 5 back to the end it is bound to, `standard` 3.
  EXPECT_EQ(result.text, "5 40 0 10 3 0 20 0; the others unbound; 2 objects");
}

TEST(FabricSockets, OfAnotherProtocolDoNotBind) {
  using Other = tlm::tlm_base_target_socket<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;
  EXPECT_FALSE((std::is_convertible_v<Other*, fabric_initiator_socket::Peer*>));
  EXPECT_TRUE((std::is_convertible_v<StandardTarget*, fabric_initiator_socket::Peer*>));
}

}  // namespace
}  // namespace weft::fabric

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "weft_network.h"

#include <cmath>
#include <stdexcept>

namespace {

void check(const weft_net* net, int state) {
  if (state < 0) throw std::runtime_error(weft_net_error(net));
}

}  // namespace

int WeftNetwork::sim_send(void* /*buffer*/, uint64_t count, int /*type*/, int dst, int tag,
                          AstraSim::sim_request* /*request*/, void (*msg_handler)(void*), void* fun_arg) {
  check(net_, weft_net_send(net_, rank, dst, count, tag, msg_handler, fun_arg));
  return 0;
}

int WeftNetwork::sim_recv(void* /*buffer*/, uint64_t count, int /*type*/, int src, int tag,
                          AstraSim::sim_request* /*request*/, void (*msg_handler)(void*), void* fun_arg) {
  check(net_, weft_net_recv(net_, rank, src, count, tag, msg_handler, fun_arg));
  return 0;
}

void WeftNetwork::sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void*), void* fun_arg) {
  check(net_,
        weft_net_schedule(net_, static_cast<int64_t>(std::llround(delta.time_val * 1000)), fun_ptr, fun_arg));
}

AstraSim::timespec_t WeftNetwork::sim_get_time() {
  AstraSim::timespec_t time{};
  time.time_res = AstraSim::NS;
  time.time_val = static_cast<double>(weft_net_now(net_)) / 1000;
  return time;
}

double WeftNetwork::get_BW_at_dimension(int dim) {
  const double bandwidth = weft_net_bandwidth(net_, dim);
  return bandwidth < 0 ? -1 : bandwidth / 1e9;
}

void WeftNetwork::sim_notify_finished() {
  check(net_, weft_net_finish(net_, rank));
}

WeftNetworks::WeftNetworks(const std::string& machine, const weft_net_options& options)
    : net_(weft_net_open(machine.c_str(), &options)) {
  if (net_ == nullptr) throw std::runtime_error(weft_net_error(nullptr));
  for (int r = 0; r < weft_net_ranks(net_); ++r) networks_.push_back(std::make_unique<WeftNetwork>(net_, r));
}

WeftNetworks::~WeftNetworks() {
  weft_net_close(net_);
}

void WeftNetworks::run() {
  const int state = weft_net_run_until(net_, WEFT_NET_FOREVER);
  check(net_, state);
  if (state != WEFT_NET_FINISHED)
    throw std::runtime_error(std::string("nothing moves any more, and not all ranks have finished:\n") +
                             weft_net_pending(net_));
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// A memory with one open page. An access begins with `hit` when its first byte is in the open page and with
// `miss` otherwise, and moves its bytes at the configured bandwidth. Accesses are served one after the other.

#include <algorithm>
#include <memory>

#include "sc_models/plugin.h"

namespace {

class PagedMemory final : public weft::MemoryTarget {
 public:
  PagedMemory(sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters& parameters)
      : MemoryTarget(name, context.figures.capacity, context.sockets, context.probes),
        bandwidth_(context.figures.bandwidth),
        page_(parameters.size("page", "4 KiB")),
        hit_(parameters.time("hit", "20 ns")),
        miss_(parameters.time("miss", "60 ns")) {
    if (page_ == 0) throw weft::UserError(weft::ExitCode::usage, "paged: `page` is zero; give it a size");
  }

  weft::Picoseconds busy() const override { return busy_; }

 private:
  void begin(Ticket ticket, const Access& access, weft::Picoseconds at) override {
    const weft::Picoseconds open = access.address / page_ == open_page_ ? hit_ : miss_;
    const weft::Picoseconds time = open + weft::transfer_time(access.length, bandwidth_);
    free_at_ = std::max(free_at_, at) + time;
    busy_ += time;
    open_page_ = (access.address + access.length - 1) / page_;
    finish(ticket, free_at_);
  }

  weft::Rate bandwidth_;
  uint64_t page_;
  weft::Picoseconds hit_;
  weft::Picoseconds miss_;
  uint64_t open_page_ = ~uint64_t{0};
  weft::Picoseconds free_at_ = 0;
  weft::Picoseconds busy_ = 0;
};

}  // namespace

WEFT_PLUGIN(registry) {
  registry.add_memory(
      "paged", "one open page: `hit` or `miss`, then bytes / bandwidth",
      [](sc_core::sc_module_name name, const weft::MemoryContext& context, weft::Parameters& parameters) {
        return std::make_unique<PagedMemory>(name, context, parameters);
      });
}

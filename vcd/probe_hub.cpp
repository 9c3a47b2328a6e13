// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "vcd/probe_hub.h"

#include <map>
#include <stdexcept>
#include <utility>

namespace weft::vcd {

/// Stands for the listeners of the signals that more than one of them wants.
class ProbeHub::Several final : public ProbeListener {
 public:
  Probe share(std::vector<Probe::End> ends) {
    ends_.push_back(std::move(ends));
    return {this, static_cast<SignalId>(ends_.size() - 1)};
  }

  const std::vector<Probe::End>& ends(SignalId signal) const { return ends_[index(signal)]; }

  // Listeners never join it: the hub asks them itself.
  bool wants(std::string_view) override { return false; }
  SignalId declared(const Signal&) override { return {}; }

  void changed(Time t, SignalId signal, uint64_t value) override { tell(t, signal, value); }
  void changed(Time t, SignalId signal, double value) override { tell(t, signal, value); }
  void changed(Time t, SignalId signal, std::string_view value) override { tell(t, signal, value); }
  void spanned(Time start, Time end, SignalId signal, Time before) override {
    for (const Probe::End& e : ends_[index(signal)]) e.listener->spanned(start, end, e.signal, before);
  }
  FutureHandle expected(Time t, SignalId signal, uint64_t value) override { return ask(t, signal, value); }
  FutureHandle expected(Time t, SignalId signal, double value) override { return ask(t, signal, value); }
  FutureHandle expected(Time t, SignalId signal, std::string_view value) override {
    return ask(t, signal, value);
  }
  bool revoked(const FutureHandle& handle) override {
    bool all = true;
    const std::vector<Probe::End>& ends = ends_[handle.slot];
    for (size_t i = 0; i < ends.size(); ++i) {
      const FutureHandle& own = (*handle.of_each)[i];
      if (own) all = ends[i].listener->revoked(own) && all;
    }
    return all;
  }
  void counted(const Steps& steps, SignalId signal, int by) override {
    for (const Probe::End& end : ends_[index(signal)]) end.listener->counted(steps, end.signal, by);
  }

 private:
  template <class T>
  void tell(Time t, SignalId signal, T value) {
    for (const Probe::End& end : ends_[index(signal)]) end.listener->changed(t, end.signal, value);
  }

  template <class T>
  FutureHandle ask(Time t, SignalId signal, T value) {
    std::vector<FutureHandle> handles;
    bool any = false;
    for (const Probe::End& end : ends_[index(signal)]) {
      handles.push_back(end.listener->expected(t, end.signal, value));
      any = any || handles.back();
    }
    if (!any) return {};
    return {index(signal), 1, std::make_shared<const std::vector<FutureHandle>>(std::move(handles))};
  }

  std::vector<std::vector<Probe::End>> ends_;  ///< by the number it gave
};

ProbeHub::ProbeHub() = default;
ProbeHub::~ProbeHub() = default;

void ProbeHub::join(ProbeListener& listener) {
  if (!examples_.empty())
    throw std::logic_error("a listener joins the probe hub after the first signal was declared");
  listeners_.push_back(&listener);
}

const Probe::End* ProbeHub::end_of(const ProbeListener& listener, const Probe& probe) const {
  if (!probe) return nullptr;
  if (probe.end().listener == &listener) return &probe.end();
  if (probe.end().listener != several_.get()) return nullptr;
  for (const Probe::End& end : several_->ends(probe.end().signal))
    if (end.listener == &listener) return &end;
  return nullptr;
}

void ProbeHub::remember(std::string_view name) {
  kind_.clear();
  bool number = false;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) kind_ += c;
    if (digit && !number) kind_ += '#';
    number = digit;
  }
  if (examples_.find(kind_) == examples_.end()) examples_.emplace(kind_, name);
}

Probe ProbeHub::join_ends(std::vector<Probe::End> ends) {
  if (ends.empty()) return {};
  if (ends.size() == 1) return ends.front();
  if (several_ == nullptr) several_ = std::make_unique<Several>();
  return several_->share(std::move(ends));
}

Probe ProbeHub::declare(const Signal& signal, const Probe& same) {
  if (listeners_.empty()) return {};
  remember(signal.name);
  std::vector<Probe::End> ends;
  for (ProbeListener* listener : listeners_) {
    if (!listener->wants(signal.name)) continue;
    const Probe::End* const known = end_of(*listener, same);
    if (known == nullptr || !listener->aliased(signal, known->signal))
      ends.push_back({listener, listener->declared(signal)});
  }
  return join_ends(std::move(ends));
}

ProbeHub::Gated ProbeHub::gated_real(std::string_view name, const Probe& gate, const Probe& other) {
  if (listeners_.empty()) return {};
  remember(name);
  const Signal signal{name, Kind::real, 64, nullptr};
  std::vector<Probe::End> always;
  std::vector<Probe::End> while_set;
  for (ProbeListener* listener : listeners_) {
    if (!listener->wants(name)) continue;
    const Probe::End* bit = end_of(*listener, gate);
    if (bit == nullptr) bit = end_of(*listener, other);
    const std::optional<SignalId> gated =
        bit == nullptr ? std::nullopt : listener->gated(signal, bit->signal);
    if (gated)
      while_set.push_back({listener, *gated});
    else
      always.push_back({listener, listener->declared(signal)});
  }
  return {join_ends(std::move(always)), join_ends(std::move(while_set))};
}

std::vector<std::string> ProbeHub::examples() const {
  const std::map<std::string_view, std::string_view> sorted(examples_.begin(), examples_.end());
  std::vector<std::string> names;
  for (const auto& [kind, name] : sorted) names.emplace_back(name);
  return names;
}

}  // namespace weft::vcd

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "sc_models/memory_causes.h"

#include <algorithm>

namespace weft {

MemoryCauses::MemoryCauses(insight::CausalLog& log, const std::vector<Client>& clients,
                           const std::string& link_class)
    : log_(log), last_(clients.size()) {
  for (const Client& client : clients) {
    links_[0].push_back(log.add_link({client.reads, link_class}));
    links_[1].push_back(client.writes == client.reads ? links_[0].back()
                                                      : log.add_link({client.writes, link_class}));
  }
}

void MemoryCauses::begins(uint32_t ticket, uint32_t client, bool write, Picoseconds at) {
  if (ticket >= open_.size()) open_.resize(ticket + size_t{1});
  Open& open = open_[ticket];
  open = Open{};
  if (log_.present() != nullptr) open.part = *log_.present();
  open.client = std::min(client, static_cast<uint32_t>(last_.size() - 1));
  open.link = links_[write ? 1 : 0][open.client];
  open.came = at;
}

void MemoryCauses::pass(Open& open, Picoseconds ready, Picoseconds begin, Picoseconds end,
                        insight::ActivityId before) {
  insight::Activity stage;
  stage.ready = ready;
  stage.begin = begin;
  stage.end = end;
  stage.before = before;
  log_.pass(open.part, open.link, stage);
  open.told = true;
}

void MemoryCauses::served(uint32_t ticket, Picoseconds begin, Picoseconds end) {
  Open& open = open_[ticket];
  pass(open, open.came, begin, end, served_);
  served_ = open.part.last;
}

Picoseconds MemoryCauses::wait_for_last(Open& open, Picoseconds end) {
  const Last& last = last_[open.client];
  if (last.stage == insight::kNoActivity || last.end <= open.came || last.end >= end) return open.came;
  pass(open, open.came, last.end, last.end, last.stage);
  return last.end;
}

void MemoryCauses::shared(uint32_t ticket, Picoseconds end, Picoseconds alone) {
  Open& open = open_[ticket];
  const Picoseconds head = wait_for_last(open, end);
  pass(open, head, end - std::min(alone, end - head), end, insight::kNoActivity);
  last_[open.client] = {open.part.last, end};
}

void MemoryCauses::overlapped(uint32_t ticket, Picoseconds answer, Picoseconds bytes, Picoseconds latency) {
  Open& open = open_[ticket];
  const Picoseconds head = wait_for_last(open, answer);
  Picoseconds left = answer - std::min(answer, head);
  const Picoseconds moving = std::min(bytes, left);
  left -= moving;
  const Picoseconds way = std::min(latency, left);
  const Picoseconds begin = answer - way - moving;
  pass(open, head, begin, begin + moving, insight::kNoActivity);
  last_[open.client] = {open.part.last, begin + moving};  // the next one's bytes come behind these
}

void MemoryCauses::finishes(uint32_t ticket, Picoseconds at, const void* answer) {
  Open& open = open_[ticket];
  if (!open.told) {
    insight::Activity secret;
    secret.ready = secret.begin = open.came;
    secret.end = at;
    secret.tail_limited = 1;
    log_.pass(open.part, open.link, secret);
  }
  answers_[answer] = open.part.last;
}

void MemoryCauses::answers(const void* answer) {
  const auto at = answers_.find(answer);
  log_.answers(at == answers_.end() ? insight::kNoActivity : at->second);
  if (at != answers_.end()) answers_.erase(at);
}

std::unique_ptr<MemoryCauses> make_memory_causes(insight::CausalLog& log, const std::string& name,
                                                 const std::string& link_class) {
  return std::make_unique<MemoryCauses>(log, std::vector<MemoryCauses::Client>{{name, name}}, link_class);
}

std::unique_ptr<MemoryCauses> make_hbm_causes(insight::CausalLog& log, const std::string& name) {
  return std::make_unique<MemoryCauses>(
      log,
      std::vector<MemoryCauses::Client>{{name, name},
                                        {name + ".reduction_reads", name + ".reduction_writes"}},
      "HBM");
}

}  // namespace weft

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// What a memory tells the causal log (insight/causal_log.h) of its accesses: how long each waited for the
// memory, how long its bytes took, and the latency. A model that says nothing of an access has it as one
// stage, of which nothing is known.

#ifndef WEFT_SC_MODELS_MEMORY_CAUSES_H
#define WEFT_SC_MODELS_MEMORY_CAUSES_H

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "insight/causal_log.h"

namespace weft {

class MemoryCauses {
 public:
  /// Who asks it.
  struct Client {
    std::string reads;  ///< place of what it reads
    std::string writes;
  };
  /// By socket; sockets beyond the last client are like it. `link_class`: memories that would be improved
  /// together.
  MemoryCauses(insight::CausalLog& log, const std::vector<Client>& clients, const std::string& link_class);

  /// An access comes at `at`, on behalf of the log's present part.
  void begins(uint32_t ticket, uint32_t client, bool write, Picoseconds at);

  // What the model may tell before finishes(); once for each access.
  /// One after the other, whoever asks: it is served from `begin` to `end`.
  void served(uint32_t ticket, Picoseconds begin, Picoseconds end);
  /// Clients share the memory, and the accesses of each are served in order; over at `end`. Alone it would
  /// have taken `alone`.
  void shared(uint32_t ticket, Picoseconds end, Picoseconds alone);
  /// Its answer is there at `answer`; alone its bytes take `bytes`, with a latency of `latency`. Accesses of
  /// a client overlap. The rest is waiting.
  void overlapped(uint32_t ticket, Picoseconds answer, Picoseconds bytes, Picoseconds latency);

  /// It is over at `at`. `answer`: by what the answer will be known.
  void finishes(uint32_t ticket, Picoseconds at, const void* answer);
  /// The answer is given now.
  void answers(const void* answer);
  /// Nobody asks what the answer is known by.
  void forget(const void* answer) { answers_.erase(answer); }

 private:
  struct Open {
    insight::AccessPart part;
    uint32_t client = 0;
    uint32_t link = 0;
    Picoseconds came = 0;
    bool told = false;
  };
  /// What a client has had last.
  struct Last {
    insight::ActivityId stage = insight::kNoActivity;
    Picoseconds end = 0;
  };
  void pass(Open& open, Picoseconds ready, Picoseconds begin, Picoseconds end, insight::ActivityId before);
  /// It waits for the client's access before it, if that ends in (came, end). Returns until when.
  Picoseconds wait_for_last(Open& open, Picoseconds end);

  insight::CausalLog& log_;
  std::vector<uint32_t> links_[2];  ///< by client: of reads, of writes
  std::vector<Open> open_;          ///< by ticket
  std::vector<Last> last_;          ///< by client
  insight::ActivityId served_ = insight::kNoActivity;
  std::unordered_map<const void*, insight::ActivityId> answers_;
};

/// Of a memory that is called `name`, with one place for all.
std::unique_ptr<MemoryCauses> make_memory_causes(insight::CausalLog& log, const std::string& name,
                                                 const std::string& link_class);
/// Of an NPU's HBM: what its NMU reads and writes in reductions has places of its own.
std::unique_ptr<MemoryCauses> make_hbm_causes(insight::CausalLog& log, const std::string& name);

}  // namespace weft

#endif

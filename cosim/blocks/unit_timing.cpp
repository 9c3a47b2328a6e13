// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "cosim/blocks/unit_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::cosim {

UnitTiming::UnitTiming(const fabric::CollectiveUnit::Parameters& parameters, uint32_t ports,
                       const std::string& file)
    : parameters_(parameters),
      ports_(ports),
      unit_(std::make_unique<fabric::CollectiveUnit>(parameters, ports)),
      file_(std::fopen(file.c_str(), "w")) {
  if (file_ == nullptr) {
    throw UserError(ExitCode::usage, fmt::format("the times of a collective unit cannot be written to {}: {}",
                                                 file, std::strerror(errno)));
  }
  // A program may end without destructors: every line is written at once.
  std::setvbuf(file_, nullptr, _IOLBF, 1 << 16);
  std::fputs("stream,chunk,phase,block,bytes,complete_ps,rtl_ps,model_ps\n", file_);
}

UnitTiming::~UnitTiming() {
  std::fclose(file_);
}

void UnitTiming::advance(Picoseconds now) {
  while (unit_->next() <= now && unit_->next() != kNever) unit_->advance(unit_->next(), *this);
}

void UnitTiming::arrived(const fabric::CollectiveUnit::Contribution& contribution, Picoseconds now) {
  advance(now);
  Row& row = rows_[contribution.block];
  row.bytes = contribution.bytes;
  row.complete = std::max(row.complete, contribution.tail);
  unit_->arrive(contribution);
}

Picoseconds UnitTiming::send(const fabric::CollectiveUnit::Result& result, Picoseconds now) {
  rows_.at(result.block).model = now;
  write(result.block);
  return now;
}

void UnitTiming::result(const BlockId& block, Picoseconds now, bool idle) {
  rows_.at(block).rtl = now;
  write(block);
  advance(now);
  if (!idle) return;
  // The model may be behind. The next contribution finds it idle, as the RTL.
  advance(kNever - 1);
  unit_ = std::make_unique<fabric::CollectiveUnit>(parameters_, ports_);
}

void UnitTiming::write(const BlockId& block) {
  const auto at = rows_.find(block);
  const Row& row = at->second;
  if (row.rtl == kNever || row.model == kNever) return;
  std::fputs(fmt::format("{},{},{},{},{},{},{},{}\n", block.stream, block.chunk, block.phase, block.slot,
                         row.bytes, row.complete, row.rtl, row.model)
                 .c_str(),
             file_);
  rows_.erase(at);
}

}  // namespace weft::cosim

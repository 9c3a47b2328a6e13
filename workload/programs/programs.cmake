# SPDX-License-Identifier: Apache-2.0
# The sources of workload/programs; workload/CMakeLists.txt collects them into one library.
set(WEFT_PROGRAMS_SOURCES
  programs/channel_orders.cpp
  programs/chain_program.cpp
  programs/collnet_program.cpp
  programs/direct_program.cpp
  programs/loop_pieces.cpp
  programs/make_program.cpp
  programs/nvls_program.cpp
  programs/program.cpp
  programs/program_book.cpp
  programs/program_data.cpp
  programs/program_engine.cpp
  programs/ring_program.cpp
  programs/tree_program.cpp
)

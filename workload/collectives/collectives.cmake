# SPDX-License-Identifier: Apache-2.0
# The sources of workload/collectives; workload/CMakeLists.txt collects them into one library.
set(WEFT_COLLECTIVES_SOURCES
  collectives/registry.cpp
  collectives/ring.cpp
  collectives/direct.cpp
  collectives/halving_doubling.cpp
  collectives/double_binary_tree.cpp
  collectives/in_switch.cpp
  collectives/proof.cpp
  collectives/custom.cpp
  collectives/elements.cpp
  collectives/input_source.cpp
  collectives/payload_pool.cpp
  collectives/data_layout.cpp
  collectives/data.cpp
  collectives/data_check.cpp
  collectives/p2p_data.cpp
  collectives/plan.cpp
  collectives/pipeline.cpp
  collectives/program_check.cpp
  collectives/rules.cpp
  collectives/engine.cpp
  collectives/bounds.cpp
)

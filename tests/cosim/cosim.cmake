# SPDX-License-Identifier: Apache-2.0
# Tests of cosim/: one file a part.
include(${CMAKE_CURRENT_LIST_DIR}/adapters.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tlm.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/blocks.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/record.cmake)

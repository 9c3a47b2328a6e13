# SPDX-License-Identifier: Apache-2.0
# The sources of workload/trace; workload/CMakeLists.txt collects them into one library.
set(WEFT_TRACE_SOURCES
  trace/chakra_stream.cpp
  trace/chakra_writer.cpp
  trace/class_manifest.cpp
  trace/collective_numbers.cpp
  trace/decoded_program.cpp
  trace/dependency_walk.cpp
  trace/equal_files.cpp
  trace/file_pool.cpp
  trace/group_check.cpp
  trace/groups.cpp
  trace/longest_path.cpp
  trace/node.cpp
  trace/node_cache.cpp
  trace/attribute_reader.cpp
  trace/node_decoder.cpp
  trace/tensor_reader.cpp
  trace/trace_feeder.cpp
  trace/trace_index.cpp
  trace/trace_info.cpp
  trace/workload_check.cpp
)

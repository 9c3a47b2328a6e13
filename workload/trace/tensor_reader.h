// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors
//
// The tensors that an encoded Chakra Node reads and writes, in the two forms that producers use:
//
//   Node.inputs / Node.outputs (IOInfo.values), PyTorch's: a list in text, in which a tensor is
//     [tensor id, storage id, offset, elements, bytes an element, 'device']. Tensors on the device `cpu` are
//     left out; tensors of one storage are one.
//   Attributes `inputs` / `outputs`, lists of strings, STAGE's: a name, and after it its bytes ("1048576.0"),
//     which may be missing or 0.

#ifndef WEFT_WORKLOAD_TRACE_TENSOR_READER_H
#define WEFT_WORKLOAD_TRACE_TENSOR_READER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::trace {

struct TensorUse {
  std::string name;    ///< the same in every node of a file
  uint64_t bytes = 0;  ///< 0: not told
  bool output = false;
};

/// Appends the node's tensors, inputs first. What cannot be read is passed over: the bytes have passed
/// decode_node before, and tensors decide nothing about the run.
void read_tensors(const uint8_t* data, size_t size, std::vector<TensorUse>& uses);

}  // namespace weft::trace

#endif

// SPDX-License-Identifier: Apache-2.0
// Copyright the Weft authors

#include "workload/convert/scale_traces.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "configs/types.h"
#include "workload/trace/chakra.pb.h"
#include "workload/trace/chakra_stream.h"
#include "workload/trace/chakra_writer.h"

namespace weft::convert {
namespace {

namespace pb = ChakraProtoMsg;

class Scaler {
 public:
  Scaler(const std::string& path, const TraceScales& scales) : path_(path), scales_(scales) {}

  void scale(pb::Node& node) const {
    switch (node.type()) {
      case pb::COMP_NODE:
        scale_compute(node);
        break;
      case pb::COMM_COLL_NODE:
      case pb::COMM_SEND_NODE:
      case pb::COMM_RECV_NODE:
        for (pb::AttributeProto& attribute : *node.mutable_attr())
          if (attribute.name() == "comm_size") scale_value(node, attribute, scales_.comm);
        break;
      default:
        break;
    }
  }

 private:
  void scale_compute(pb::Node& node) const {
    if (scales_.compute == 1) return;
    bool exact = false;
    for (pb::AttributeProto& attribute : *node.mutable_attr()) {
      if (attribute.name() == "duration_ps") exact = true;
      if (attribute.name() == "num_ops" || attribute.name() == "tensor_size" ||
          attribute.name() == "duration_ps")
        scale_value(node, attribute, scales_.compute);
    }
    if (node.duration_micros() == 0) return;
    constexpr uint64_t kMicro = 1'000'000;  // ps
    const uint64_t ps = times(node, "duration_micros",
                              static_cast<long double>(node.duration_micros()) * kMicro, scales_.compute);
    node.set_duration_micros((ps + kMicro / 2) / kMicro);
    if (exact || ps % kMicro == 0) return;
    pb::AttributeProto& attribute = *node.add_attr();
    attribute.set_name("duration_ps");
    attribute.set_uint64_val(ps);
  }

  /// A number of any of the types that traces have. Others stay: the reader refuses them.
  void scale_value(const pb::Node& node, pb::AttributeProto& attribute, double factor) const {
    const auto scaled = [&](auto value) {
      return value < 0 ? uint64_t{0} : times(node, attribute.name(), static_cast<long double>(value), factor);
    };
    switch (attribute.value_case()) {
      case pb::AttributeProto::kInt64Val:
        attribute.set_int64_val(static_cast<int64_t>(scaled(attribute.int64_val())));
        break;
      case pb::AttributeProto::kUint64Val:
        attribute.set_uint64_val(
            times(node, attribute.name(), static_cast<long double>(attribute.uint64_val()), factor));
        break;
      case pb::AttributeProto::kInt32Val:
        attribute.set_int64_val(static_cast<int64_t>(scaled(attribute.int32_val())));
        break;
      case pb::AttributeProto::kUint32Val:
        attribute.set_uint64_val(times(node, attribute.name(), attribute.uint32_val(), factor));
        break;
      case pb::AttributeProto::kDoubleVal:
        attribute.set_double_val(attribute.double_val() * factor);
        break;
      default:
        throw UserError(
            ExitCode::trace,
            fmt::format("{}: node {} \"{}\": the type of `{}` is none that can be scaled; write it "
                        "as int64 or uint64",
                        path_, node.id(), node.name().substr(0, 60), attribute.name()));
    }
  }

  uint64_t times(const pb::Node& node, const std::string& what, long double value, double factor) const {
    const long double result = value * static_cast<long double>(factor);
    if (!(result < static_cast<long double>(std::numeric_limits<int64_t>::max())))
      throw UserError(ExitCode::trace,
                      fmt::format("{}: node {} \"{}\": {} times {} does not fit 63 bits; use a smaller scale",
                                  path_, node.id(), node.name().substr(0, 60), what, factor));
    return static_cast<uint64_t>(result);
  }

  const std::string& path_;
  const TraceScales& scales_;
};

}  // namespace

uint32_t scale_traces(const std::string& prefix, const std::string& out, const TraceScales& scales) {
  uint32_t rank = 0;
  for (;; ++rank) {
    const std::string path = fmt::format("{}.{}.et", prefix, rank);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) break;
    trace::ChakraStream in(path);
    trace::ChakraWriter writer(fmt::format("{}.{}.et", out, rank), in.metadata());
    const Scaler scaler(path, scales);
    for (pb::Node node; in.next(node);) {
      scaler.scale(node);
      writer.write(node);
    }
    writer.close();
  }
  return rank;
}

}  // namespace weft::convert

#pragma once
// The operators that oneDNN computes, and how a call of each becomes steps. For .cc files of this folder
// only.
#include <map>
#include <string>
#include <vector>

#include "baton/codegen/dnnl/region_writer.h"

namespace baton::dnnl_blob {

/// What the elements of an operator's operands and results may be.
enum class Types {
  kFloat32,
  kProduct,  ///< float32; or bytes, multiplied by int8 and added in int32
  kMaximum,  ///< float32 or bytes
  kAny       ///< all that regions have: elements are only moved
};

struct Operator {
  /// Appends the steps of a call and returns its value; refuses what oneDNN cannot compute.
  View (*lower)(RegionWriter&, const CallNode&) = nullptr;
  Types types = Types::kFloat32;
  bool is_view = false;                ///< the value is a view of the operand: the call owns no tensor
  std::vector<size_t> forwarded = {};  ///< the operands that are its results after the first
};

using OperatorTable = std::map<std::string, Operator>;  // by name

/// All of them. A new operator is a function and a line in one of the tables below.
const OperatorTable& operators();
OperatorTable elementwise_operators();  // elementwise.cc
OperatorTable layer_operators();        // layers.cc
OperatorTable norm_operators();         // norms.cc
OperatorTable shape_operators();        // shapes.cc

/// Defines the value of a call of an operator. Refuses those that have no primitive.
void lower_operator(RegionWriter& writer, const CallNode& call);

// ---- What composites are made of, too.

View convolution(RegionWriter& writer, const CallNode& call);
View dense_layer(RegionWriter& writer, const CallNode& call);
/// The rows of `value`, of `extent` elements each, less their means and divided by their deviations.
/// `vectors`: a factor for each element of a row, and what is added to it; or nothing.
View standardised_rows(RegionWriter& writer, const View& value, int64_t extent, double epsilon,
                       const std::vector<View>& vectors);

}  // namespace baton::dnnl_blob

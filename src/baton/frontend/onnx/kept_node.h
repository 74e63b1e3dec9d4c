#pragma once
// Nodes that are converted at run time: what their results are depends on values, as axes that a model takes
// as an input, and Relay's operators have these as attributes.
#include <string>
#include <vector>

#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// A call of `onnx.node`: the node of `c`, of the model `path`, with results of these types. Its attributes
/// are the node as an ONNX model of its own; once its arguments are known, that is imported. Throws
/// NotSupported for nodes with graphs.
Expr kept_node(const Conversion& c, const std::string& path, const std::vector<Type>& types);

/// A call of `onnx.error`: a tensor of this type that raises an error when it is computed. `on`: any value
/// that is known at run time only.
Expr error_of_type(const Conversion& c, const Expr& on, const std::string& message, const Type& type);

}  // namespace baton::onnx

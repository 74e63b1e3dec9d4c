#pragma once
// What to look for in a store, and what it answers with.
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "baton/store/measurement.h"

namespace baton {

/// A value of a table; std::monostate is NULL.
using StoreCell = std::variant<std::monostate, int64_t, double, std::string>;

/// An operator of a work that has this attribute.
struct AttributeQuery {
  std::string op;     ///< "nn.conv2d", "*conv2d*"; empty: any
  std::string name;   ///< "strides"
  std::string value;  ///< JSON: "[2, 2]", "\"NHWC\"", "true"; what is not JSON is a text: "NHWC"
};

/// Which measurements; empty or nullopt members do not select.
struct StoreQuery {
  std::optional<WorkKind> kind;
  std::string backend, target, precision, machine, device, family, model, model_id, campaign, work_id,
      configuration;
  std::optional<int> threads;
  std::optional<CacheState> cache;
  /// All of these are computed: operators of the model, or of what was built from it. "*conv2d*" is any
  /// operator whose name has that: convolutions over blocked layouts are built as nn.contrib_conv2d_NCHWc.
  std::vector<std::string> operators;
  /// The work has operators with these attributes; those of one `op` hold of one operator.
  std::vector<AttributeQuery> attributes;
  std::string sheet;  ///< sheet_identity() of a device: 32 hexadecimal digits
  bool reliable_only = false;
  int64_t limit = 0;  ///< 0: all
};

/// What a statement returned.
struct StoreTable {
  std::vector<std::string> columns;
  std::vector<std::vector<StoreCell>> rows;
};

/// A machine and a device sheet that rows were measured on.
struct StorePlace {
  std::string machine, device, sheet;
  int64_t rows = 0;
};

}  // namespace baton

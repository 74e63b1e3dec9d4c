#pragma once
// A report by modules: OperatorRecord::module as a tree whose parts add up. docs/design/0045-views.md.
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// A module. `us` is the sum of `own_us`, `rest_us`, `added_us` and the `us` of its children.
struct ModuleRow {
  std::string name, path;  ///< "conv1", "layer1/0/conv1"; of the model itself empty
  size_t parent = 0;
  std::vector<size_t> children;     ///< in the order of their first operators
  std::vector<uint32_t> operators;  ///< ids of those that are in none of its children
  size_t operator_count = 0;        ///< with those of its children
  double us = 0;
  double own_us = 0;       ///< of `operators`
  double rest_us = 0;      ///< load, store and loop control of kernels that are all its own, but no child's
  double added_us = 0;     ///< kernels that the compiler added for `operators`
  bool estimated = false;  ///< kernels that were not split count for their operators in equal portions
  /// How many of its parent's children have the same structure: names but for digits, operators and types
  /// equal. It counts itself; 1 where it has only one operator.
  size_t alike = 1;
  size_t first_alike = 0;  ///< the first of them
};

/// The model first, and every module before its children. With the time outside kernels,
/// ProfileReport::residual_us(), the first row adds up to the whole run. A report without modules has one
/// row.
std::vector<ModuleRow> module_tree(const ProfileReport& report);

/// The times of a module in two reports, with all that it holds.
struct ModulePair {
  std::string path;  ///< "": the model
  double a_us = 0, b_us = 0;
};

/// All modules of both, each before those that it holds.
std::vector<ModulePair> module_pairs(const ProfileReport& a, const ProfileReport& b);

/// Whether any operator has a module.
bool has_modules(const ProfileReport& report);

/// The innermost module that holds all of these operators: "layer1/0"; empty: only the model does.
std::string common_module(const ProfileReport& report, const std::vector<uint32_t>& ids);

}  // namespace baton

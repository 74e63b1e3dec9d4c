#pragma once
// The part of a table that says where the time goes: by kind of operator, longest first.
#include <ostream>
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"
#include "baton/profile/write/table_options.h"

namespace baton {

/// The time of one kind of operator in a model.
struct KindTime {
  std::string name;  ///< "conv2d"; "added by the compiler", "load, store, loop"
  size_t operators = 0;
  bool estimated = false;  ///< some of its kernels were not split: their operators count alike
  double us = 0;
  double memory_bytes = 0;  ///< weights and results of the kernels of which it takes most of the time
  bool operator==(const KindTime&) const = default;
};
/// Longest first; they add up to the sum of the kernels. Kernels that were not split count for their
/// operators in equal portions, as in `us` of the table of operators.
std::vector<KindTime> times_by_kind(const ProfileReport& report);

/// A line for each of them, with a bar.
void write_kinds(std::ostream& out, const ProfileReport& report, const TableOptions& options);

}  // namespace baton

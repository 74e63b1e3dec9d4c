#pragma once
// A report by lines of the user's program.
#include <string>
#include <vector>

#include "baton/profile/report/rows.h"

namespace baton {

/// A line, and what its operators take.
struct SourceRow {
  SourceLine where;  ///< without a file: a line of Relay text
  std::vector<uint32_t> operators;
  double us = 0;           ///< with what the compiler added for them
  bool estimated = false;  ///< kernels that were not split count for their operators in equal portions
};

/// All rows, `rest_us` and `unplaced_us` add up to the sum of the kernels.
struct SourceTimes {
  std::vector<SourceRow> rows;  ///< files in the order of their first operators, their lines ascending
  double rest_us = 0;           ///< load, store and loop control of kernels that several lines share
  double unplaced_us = 0;       ///< of operators whose line is not known
};
SourceTimes source_times(const ProfileReport& report);

/// Adds the texts of Python files that operators name to the report's sources, where they are on this machine
/// and say what the model says of their lines.
void add_source_files(ProfileReport& report);

/// The text of `file` ("": Relay) in the report's sources; null: not there.
const std::string* source_text(const ProfileReport& report, const std::string& file);

}  // namespace baton

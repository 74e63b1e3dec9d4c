#pragma once
// Lines for operators of programs that were not read from a text: those of the printed module.
#include "baton/driver/build_result.h"
#include "baton/profile/report/rows.h"

namespace baton {

/// Prints the program that `built` was made from, and gives every operator of `report` without a line, a file
/// and a source name its line there. The text becomes the report's Relay source. Without such operators
/// nothing is printed. Titles that name these operators are made anew.
void add_source_lines(ProfileReport& report, const BuildResult& built);

}  // namespace baton

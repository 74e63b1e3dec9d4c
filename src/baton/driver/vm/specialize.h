#pragma once
// Extents that programs have static kernels for, beside those for any extent.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton::vm {

/// One number of a variable of extents, by its name.
struct Specialization {
  std::string name;
  int64_t extent = 0;
};

/// "n=1,128;m=4". Throws UsageError for other texts.
std::vector<Specialization> parse_specializations(const std::string& text);

/// UsageError unless each is of a variable in the types of the parameters of `main`, which is typed.
void require_extents(const std::vector<Specialization>& all, const FunctionNode& main);

/// `dim` where the variable of this name is this number.
Dim specialized(Dim dim, const Specialization& at);

}  // namespace baton::vm

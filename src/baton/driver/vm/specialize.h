#pragma once
// Numbers that the user gives for variables of extents: those that programs also have static kernels for, and
// what they are at most.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton::vm {

/// One number of a variable of extents, by its name.
struct NamedExtent {
  std::string name;
  int64_t extent = 0;
};

/// "n=1,128;m=4": what there are static kernels for. Throws UsageError for other texts.
std::vector<NamedExtent> parse_specializations(const std::string& text);
/// "n=512;m=64": what each is at most. Throws UsageError for other texts, and for two bounds of one variable.
std::vector<NamedExtent> parse_bounds(const std::string& text);

/// UsageError unless each is of a variable in the types of the parameters of `main`, which is typed.
void require_extents(const std::vector<NamedExtent>& all, const FunctionNode& main);
/// UsageError for a specialization above its bound.
void require_within(const std::vector<NamedExtent>& specializations, const std::vector<NamedExtent>& bounds);

/// What an extent is at most, by the bounds of the variables of these names; nullopt: as much as there is.
std::optional<int64_t> most_of(Dim dim, const std::vector<NamedExtent>& bounds);

/// `dim` where the variable of this name is this number.
Dim specialized(Dim dim, const NamedExtent& at);

}  // namespace baton::vm

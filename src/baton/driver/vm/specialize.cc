#include "baton/driver/vm/specialize.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "baton/ir/extent.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"

namespace baton::vm {
namespace {

[[noreturn]] void refuse(const std::string& part) {
  throw UsageError("`" + part +
                   "` does not name an extent and numbers: n=1,128 has kernels for n = 1 and n = 128");
}

int64_t number_in(const std::string& text, const std::string& part) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > INT32_MAX)
    refuse(part);
  return number;
}

}  // namespace

std::vector<Specialization> parse_specializations(const std::string& text) {
  std::vector<Specialization> all;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size() || part.back() == ',')
      refuse(part);
    std::istringstream numbers(part.substr(equals + 1));
    for (std::string number; std::getline(numbers, number, ',');)
      all.push_back({part.substr(0, equals), number_in(number, part)});
  }
  return all;
}

void require_extents(const std::vector<Specialization>& all, const FunctionNode& main) {
  std::set<std::string> names;
  for (const Var& param : main.params())
    visit_types(param->checked_type(), [&](const Type& part) {
      const auto* tensor = as_type<TensorTypeNode>(part);
      for (const Dim& dim : tensor ? tensor->shape() : std::vector<Dim>())
        if (dim.is_symbolic())
          visit_extent_vars(dim, [&](Dim var) { names.insert(as_extent_var(var)->name); });
    });
  for (const Specialization& each : all) {
    if (names.contains(each.name)) continue;
    const std::vector<std::string> known(names.begin(), names.end());
    const std::string near = did_you_mean(each.name, known);
    std::string listed;
    for (const std::string& name : known) listed += (listed.empty() ? "" : ", ") + name;
    throw UsageError("no extent of main's parameters is called `" + each.name + "`" +
                     (near.empty() ? "" : "; did you mean `" + near + "`?") +
                     (listed.empty() ? "; none has a name" : "; names: " + listed));
  }
}

Dim specialized(Dim dim, const Specialization& at) {
  if (!dim.is_symbolic()) return dim;
  return replace_extent_vars(
      dim, [&](Dim var) { return as_extent_var(var)->name == at.name ? Dim(at.extent) : var; });
}

}  // namespace baton::vm

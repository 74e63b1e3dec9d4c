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

[[noreturn]] void refuse(const std::string& part, bool bounds) {
  throw UsageError("`" + part + "` does not name an extent and " +
                   (bounds ? "a number: n=512 is that n is 512 at most"
                           : "numbers: n=1,128 has kernels for n = 1 and n = 128"));
}

int64_t number_in(const std::string& text, const std::string& part, bool bounds) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 || number > INT32_MAX)
    refuse(part, bounds);
  return number;
}

/// "n=1,128;m=4"; for `bounds` one number each.
std::vector<NamedExtent> parse(const std::string& text, bool bounds) {
  std::vector<NamedExtent> all;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const size_t equals = part.rfind('=');  // names of ONNX files contain anything
    if (equals == std::string::npos || equals == 0 || equals + 1 == part.size() || part.back() == ',')
      refuse(part, bounds);
    std::istringstream numbers(part.substr(equals + 1));
    for (std::string number; std::getline(numbers, number, bounds ? ';' : ',');)
      all.push_back({part.substr(0, equals), number_in(number, part, bounds)});
  }
  return all;
}

const NamedExtent* find(const std::vector<NamedExtent>& all, const std::string& name) {
  const auto at = std::ranges::find(all, name, &NamedExtent::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

std::vector<NamedExtent> parse_specializations(const std::string& text) { return parse(text, false); }

std::vector<NamedExtent> parse_bounds(const std::string& text) {
  std::vector<NamedExtent> all = parse(text, true);
  for (const NamedExtent& each : all)
    if (find(all, each.name) != &each)
      throw UsageError("`" + each.name + "` is given two bounds: " +
                       std::to_string(find(all, each.name)->extent) + " and " + std::to_string(each.extent));
  return all;
}

void require_within(const std::vector<NamedExtent>& specializations, const std::vector<NamedExtent>& bounds) {
  for (const NamedExtent& each : specializations)
    if (const NamedExtent* bound = find(bounds, each.name); bound && each.extent > bound->extent)
      throw UsageError("kernels for " + each.name + " = " + std::to_string(each.extent) +
                       " would never run: " + each.name + " is " + std::to_string(bound->extent) +
                       " at most");
}

std::optional<int64_t> most_of(Dim dim, const std::vector<NamedExtent>& bounds) {
  if (bounds.empty()) return std::nullopt;
  return most_extent(dim, [&](Dim var) -> std::optional<int64_t> {
    const NamedExtent* bound = find(bounds, as_extent_var(var)->name);
    return bound ? std::optional(bound->extent) : std::nullopt;
  });
}

void require_extents(const std::vector<NamedExtent>& all, const FunctionNode& main) {
  std::set<std::string> names;
  for (const Var& param : main.params())
    visit_types(param->checked_type(), [&](const Type& part) {
      const auto* tensor = as_type<TensorTypeNode>(part);
      for (const Dim& dim : tensor ? tensor->shape() : std::vector<Dim>())
        if (dim.is_symbolic())
          visit_extent_vars(dim, [&](Dim var) { names.insert(as_extent_var(var)->name); });
    });
  for (const NamedExtent& each : all) {
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

Dim specialized(Dim dim, const NamedExtent& at) {
  if (!dim.is_symbolic()) return dim;
  return replace_extent_vars(
      dim, [&](Dim var) { return as_extent_var(var)->name == at.name ? Dim(at.extent) : var; });
}

}  // namespace baton::vm

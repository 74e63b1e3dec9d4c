#include "baton/schedule/gpu/elements.h"

#include <optional>

namespace baton {

namespace hi = Halide::Internal;

namespace {

using Scope = hi::Scope<hi::Interval>;
using Boxes = std::map<std::string, hi::Box>;

void merge(Boxes& all, const Boxes& more) {
  for (const auto& [name, box] : more) {
    const auto [at, fresh] = all.try_emplace(name, box);
    if (!fresh) hi::merge_boxes(at->second, box);
  }
}

/// Adds what a definition reads for the elements in `scope`.
void add_reads(Boxes& all, const hi::Definition& definition, Scope& scope) {
  for (const hi::ReductionVariable& each : definition.schedule().rvars())
    scope.push(each.var, hi::Interval(each.min, hi::simplify(each.min + each.extent - 1)));
  for (const Halide::Expr& value : definition.values()) merge(all, hi::boxes_required(value, scope));
  for (const Halide::Expr& arg : definition.args()) merge(all, hi::boxes_required(arg, scope));
  for (const hi::ReductionVariable& each : definition.schedule().rvars()) scope.pop(each.var);
}

std::optional<int64_t> size_of(const hi::Box& box) {
  int64_t size = 1;
  for (size_t i = 0; i < box.size(); ++i) {
    if (!box[i].is_bounded()) return std::nullopt;
    const auto extent = hi::as_const_int(hi::simplify(box[i].max - box[i].min + 1));
    if (!extent) return std::nullopt;
    size *= *extent;
  }
  return size;
}

}  // namespace

std::map<std::string, int64_t> needed_elements(const LoweredKernel& kernel) {
  Boxes boxes;
  std::vector<hi::Function> outputs;
  std::map<std::string, hi::Function> functions;
  for (const Tensor& output : kernel.outputs) {
    hi::Box box;
    for (int axis = output.rank(); axis-- > 0;)
      box.push_back(hi::Interval(0, static_cast<int>(output.extent(axis)) - 1));
    merge(boxes, {{output.func().name(), box}});
    outputs.push_back(output.func().function());
    for (const auto& [name, function] : hi::find_transitive_calls(outputs.back()))
      functions.emplace(name, function);
  }
  const std::vector<std::string> order = hi::topological_order(outputs, functions);
  for (size_t i = order.size(); i-- > 0;) {
    const auto box = boxes.find(order[i]);
    const auto function = functions.find(order[i]);
    if (box == boxes.end() || function == functions.end()) continue;
    const hi::Function& each = function->second;
    if (!each.has_pure_definition() || box->second.size() != each.args().size()) continue;
    Scope scope;
    for (size_t axis = 0; axis < each.args().size(); ++axis) scope.push(each.args()[axis], box->second[axis]);
    add_reads(boxes, each.definition(), scope);
    for (const hi::Definition& update : each.updates()) add_reads(boxes, update, scope);
  }
  std::map<std::string, int64_t> sizes;
  for (const auto& [name, box] : boxes)
    if (const auto size = size_of(box)) sizes[name] = *size;
  return sizes;
}

}  // namespace baton

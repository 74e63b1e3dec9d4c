#include "baton/transform/functional/partial_values.h"

#include <algorithm>

namespace baton::partial {

ValueRef Store::read(uint64_t cell) const {
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
    const auto at = frame->cells.find(cell);
    if (at != frame->cells.end()) return at->second;
    if (!frame->sees_before) break;
  }
  return {};
}

std::optional<uint64_t> Fuel::number_of(const Value& value) {
  if (value.kind != Value::Kind::kTensor || value.tensor.ndim() != 0) return {};
  const DType dtype = value.tensor.dtype();
  const auto load = [&](auto typed) {
    const auto number = *static_cast<const decltype(typed)*>(value.tensor.data());
    return static_cast<uint64_t>(std::max<decltype(typed)>(number, 0));
  };
  if (dtype == DType::int_(32)) return load(int32_t());
  if (dtype == DType::int_(64)) return load(int64_t());
  if (dtype == DType::uint_(32)) return load(uint32_t());
  if (dtype == DType::uint_(64)) return load(uint64_t());
  return {};
}

bool Fuel::enter(const FunctionNode* function, const std::vector<ValueRef>& args) {
  // A limit for arguments that decrease by one per step.
  constexpr size_t kDeepest = 4096;
  std::vector<Arg> now;
  for (const ValueRef& arg : args) now.push_back({arg->time, number_of(*arg)});
  auto& stack = activations_[function];
  if (!stack.empty()) {
    bool progress = false;
    const std::vector<Arg>& before = stack.back();
    for (size_t i = 0; i < now.size(); ++i) {
      progress |= now[i].time < before[i].time;
      now[i].time = std::min(now[i].time, before[i].time);
      if (now[i].number && before[i].number) {
        progress |= *now[i].number < *before[i].number;
        now[i].number = std::min(*now[i].number, *before[i].number);
      } else {
        now[i].number.reset();
      }
    }
    if (!progress || stack.size() >= kDeepest) return false;
  }
  stack.push_back(std::move(now));
  return true;
}

Fit fits(const Pattern& pattern, const ValueRef& value, std::vector<std::pair<Var, ValueRef>>& bound) {
  switch (pattern->kind()) {
    case PatternKind::kWildcard:
      return Fit::kYes;
    case PatternKind::kVar:
      bound.emplace_back(pattern->var(), value);
      return Fit::kYes;
    case PatternKind::kConstructor: {
      if (value->kind != Value::Kind::kData) return Fit::kUnknown;
      const auto* constructor = as<ConstructorNode>(value->callee);
      if (constructor->name() != pattern->constructor()->name()) return Fit::kNo;
      break;
    }
    case PatternKind::kTuple:
      if (value->kind != Value::Kind::kTuple) return Fit::kUnknown;
      break;
  }
  Fit all = Fit::kYes;
  for (size_t i = 0; i < pattern->patterns().size(); ++i) {
    const Fit one = fits(pattern->patterns()[i], value->fields.at(i), bound);
    if (one == Fit::kNo) return one;
    if (one == Fit::kUnknown) all = one;
  }
  return all;
}

}  // namespace baton::partial

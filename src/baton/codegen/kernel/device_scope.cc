#include "baton/codegen/kernel/device_scope.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

namespace baton {

namespace hi = Halide::Internal;

namespace {

bool is_device_loop(const hi::For& loop) {
  return loop.for_type == hi::ForType::GPUBlock || loop.for_type == hi::ForType::GPUThread;
}

/// The names of memory that an expression reads, and of the variables in it; whether it computes with floats.
class Reads final : public hi::IRVisitor {
 public:
  std::set<std::string> memory, variables;
  bool floats = false;

 private:
  using IRVisitor::visit;
  void visit(const hi::FloatImm*) override { floats = true; }
  void visit(const hi::Load* node) override {
    memory.insert(node->name);
    IRVisitor::visit(node);
  }
  void visit(const hi::Variable* node) override { variables.insert(node->name); }
};

class Writes final : public hi::IRVisitor {
 public:
  std::set<std::string> memory;

 private:
  using IRVisitor::visit;
  void visit(const hi::Store* node) override {
    memory.insert(node->name);
    IRVisitor::visit(node);
  }
};

bool is_any_of(const std::set<std::string>& names, const std::set<std::string>& others) {
  return std::ranges::any_of(names, [&](const std::string& name) { return others.contains(name); });
}

}  // namespace

bool DataOnDevicePass::is_from_data(const Halide::Expr& value, const hi::Stmt& body) const {
  Reads reads;
  value.accept(&reads);
  for (const FromData& each : from_data_)
    if (reads.variables.contains(each.name)) return true;
  // No launch depends on a float, and strict arithmetic and comparisons have no value at compile time.
  if (reads.memory.empty()) return value.type().is_float() || reads.floats;
  Writes writes;
  body.accept(&writes);
  return !is_any_of(reads.memory, writes.memory);
}

hi::Stmt DataOnDevicePass::visit(const hi::LetStmt* node) {
  if (node->value.type().is_handle() || !is_from_data(node->value, node->body)) return IRMutator::visit(node);
  from_data_.push_back({node->name, node->value});
  hi::Stmt body = mutate(node->body);
  from_data_.pop_back();
  return hi::stmt_uses_var(body, node->name) ? hi::LetStmt::make(node->name, node->value, body) : body;
}

hi::Stmt DataOnDevicePass::visit(const hi::IfThenElse* node) {
  if (!is_from_data(node->condition, node)) return IRMutator::visit(node);
  from_data_.push_back({"", node->condition});
  hi::Stmt both = mutate(node->then_case);
  if (node->else_case.defined()) {
    from_data_.back().value = !node->condition;
    both = hi::Block::make(both, mutate(node->else_case));
  }
  from_data_.pop_back();
  return both;
}

hi::Stmt DataOnDevicePass::visit(const hi::Evaluate* node) {
  // Copies for what the host would have computed.
  const auto* call = node->value.as<hi::Call>();
  return call && call->name == "halide_copy_to_host" ? hi::Evaluate::make(0) : IRMutator::visit(node);
}

hi::Stmt DataOnDevicePass::visit(const hi::For* node) {
  if (!is_device_loop(*node)) return IRMutator::visit(node);
  return from_data_.empty() ? hi::Stmt(node) : with_data_inside(node);
}

hi::Stmt DataOnDevicePass::with_data_inside(const hi::Stmt& loops) const {
  const auto* loop = loops.as<hi::For>();
  if (!loop || !is_device_loop(*loop)) return with_data(loops);
  return hi::For::make(loop->name, loop->min, loop->extent, loop->for_type, loop->partition_policy,
                       loop->device_api, with_data_inside(loop->body));
}

hi::Stmt DataOnDevicePass::with_data(hi::Stmt body) const {
  for (size_t i = from_data_.size(); i-- > 0;) {
    const FromData& each = from_data_[i];
    if (each.name.empty()) {
      body = hi::IfThenElse::make(each.value, body);
    } else if (hi::stmt_uses_var(body, each.name)) {
      body = hi::LetStmt::make(each.name, each.value, body);
    }
  }
  return body;
}

Halide::Expr DeviceFunctionsPass::visit(const hi::Call* node) {
  using Names = std::map<std::string, std::string>;
  static const Names kOpenCl = {{"powf", "pow_f32"}, {"pow", "pow_f64"}, {"fmodf", "fmod"}, {"fmod", "fmod"}};
  static const Names kCuda = {
      {"powf", "__nv_powf"}, {"pow", "__nv_pow"}, {"fmodf", "__nv_fmodf"}, {"fmod", "__nv_fmod"}};
  const Names& names = cuda_ ? kCuda : kOpenCl;
  const Halide::Expr same = IRMutator::visit(node);
  const auto name = names.find(node->name);
  if (node->call_type != hi::Call::PureExtern || name == names.end()) return same;
  return hi::Call::make(node->type, name->second, same.as<hi::Call>()->args, hi::Call::PureExtern);
}

hi::Stmt DeviceFunctionsPass::visit(const hi::For* node) {
  const bool outside = !inside_;
  inside_ |= is_device_loop(*node);
  hi::Stmt same = IRMutator::visit(node);
  if (outside) inside_ = false;
  return same;
}

Halide::Expr DeviceFunctionsPass::visit(const hi::FloatImm* node) {
  if (cuda_ || !inside_ || node->type.bits() != 64 || static_cast<float>(node->value) == node->value)
    return node;
  return hi::Reinterpret::make(node->type,
                               hi::UIntImm::make(Halide::UInt(64), std::bit_cast<uint64_t>(node->value)));
}

Halide::Expr DeviceFunctionsPass::visit(const hi::Reinterpret* node) {
  const auto* number = node->value.as<hi::FloatImm>();
  if (!number || !node->type.is_uint() || node->type.bits() != 64) return IRMutator::visit(node);
  return hi::UIntImm::make(node->type, std::bit_cast<uint64_t>(number->value));
}

namespace {

/// The positions of one allocation that are used, with the values of variables put in.
class Positions final : public hi::IRVisitor {
 public:
  explicit Positions(const std::string& name) : name_(name) {}
  std::vector<Halide::Expr> all;

 private:
  using IRVisitor::visit;
  Halide::Expr whole(const Halide::Expr& expr) const { return hi::substitute(values_, expr); }
  template <class Let>
  void visit_let(const Let* node) {
    node->value.accept(this);
    const auto before = values_.find(node->name);
    const Halide::Expr hidden = before == values_.end() ? Halide::Expr() : before->second;
    values_[node->name] = whole(node->value);
    node->body.accept(this);
    values_.erase(node->name);
    if (hidden.defined()) values_[node->name] = hidden;
  }
  void visit(const hi::LetStmt* node) override { visit_let(node); }
  void visit(const hi::Let* node) override { visit_let(node); }
  void visit(const hi::Load* node) override {
    if (node->name == name_) all.push_back(whole(node->index));
    IRVisitor::visit(node);
  }
  void visit(const hi::Store* node) override {
    if (node->name == name_) all.push_back(whole(node->index));
    IRVisitor::visit(node);
  }

  const std::string& name_;
  std::map<std::string, Halide::Expr> values_;
};

/// Replaces the positions in the order in which Positions finds them.
class Replaced final : public hi::IRMutator {
 public:
  Replaced(const std::string& name, const std::vector<int>& positions) : name_(name), next_(positions) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const hi::Load* node) override {
    if (node->name != name_) return IRMutator::visit(node);
    return hi::Load::make(node->type, node->name, take(), node->image, node->param, node->predicate,
                          hi::ModulusRemainder());
  }
  hi::Stmt visit(const hi::Store* node) override {
    if (node->name != name_) return IRMutator::visit(node);
    const Halide::Expr position = take();
    return hi::Store::make(node->name, mutate(node->value), position, node->param, node->predicate,
                           hi::ModulusRemainder());
  }
  Halide::Expr take() { return next_.at(at_++); }

  const std::string& name_;
  const std::vector<int>& next_;
  size_t at_ = 0;
};

/// How far each position is from the first; nothing where that is not constant.
std::optional<std::vector<int64_t>> distances(const std::vector<Halide::Expr>& positions) {
  std::vector<int64_t> all;
  for (const Halide::Expr& each : positions) {
    if (!each.type().is_scalar()) return std::nullopt;
    const Halide::Expr distance = hi::simplify(each - positions.front());
    const auto* number = distance.as<hi::IntImm>();
    if (!number) return std::nullopt;
    all.push_back(number->value);
  }
  return all;
}

}  // namespace

hi::Stmt ThreadTilesPass::visit(const hi::Allocate* node) {
  if (node->memory_type != Halide::MemoryType::Register) return IRMutator::visit(node);
  Positions found(node->name);
  node->body.accept(&found);
  const auto away = distances(found.all);
  if (!away || away->empty()) return IRMutator::visit(node);
  const std::set<int64_t> used(away->begin(), away->end());
  std::vector<int> positions;
  for (const int64_t each : *away)
    positions.push_back(static_cast<int>(std::distance(used.begin(), used.find(each))));
  return hi::Allocate::make(node->name, node->type, node->memory_type, {static_cast<int>(used.size())},
                            node->condition, mutate(Replaced(node->name, positions).mutate(node->body)));
}

}  // namespace baton

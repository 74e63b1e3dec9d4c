#include "baton/schedule/regions.h"

#include <algorithm>
#include <map>

namespace baton {
namespace {

namespace hi = Halide::Internal;

/// More regions than this would cost more in code and compile time than they save.
constexpr int kMostRegions = 64;

/// Larger values are left alone: they would take long to analyse.
constexpr int kMostNodes = 10000;

/// Calls of pure Funcs are replaced by their values.
class Inliner final : public hi::IRMutator {
 public:
  Halide::Expr mutate(const Halide::Expr& expr) override {
    return ++nodes_ > kMostNodes ? expr : IRMutator::mutate(expr);
  }
  using IRMutator::mutate;
  bool gave_up() const { return nodes_ > kMostNodes; }

 private:
  using IRMutator::visit;
  Halide::Expr visit(const hi::Call* call) override {
    if (call->call_type != hi::Call::Halide) return IRMutator::visit(call);
    const hi::Function func(call->func);
    if (!func.can_be_inlined()) return IRMutator::visit(call);
    std::map<std::string, Halide::Expr> args;
    for (size_t i = 0; i < call->args.size(); ++i) args[func.args()[i]] = mutate(call->args[i]);
    return hi::substitute(args, mutate(func.values()[static_cast<size_t>(call->value_index)]));
  }

  int nodes_ = 0;
};

using Bounds = hi::Scope<hi::Interval>;

void bind(Bounds& bounds, const LoopRange& loop) {
  bounds.push(loop.name, hi::Interval(loop.min, loop.is_symbolic() ? as_expr(loop.symbolic) - 1
                                                                   : Halide::Expr(loop.end() - 1)));
}

/// Drops the branches of selects that are not taken within bounds.
class Pruner final : public hi::IRMutator {
 public:
  explicit Pruner(const Bounds& bounds) : bounds_(bounds) {}
  using IRMutator::mutate;

 private:
  using IRMutator::visit;
  Halide::Expr visit(const hi::Select* select) override {
    const Halide::Expr condition = hi::simplify(select->condition, true, bounds_);
    if (hi::is_const_one(condition)) return mutate(select->true_value);
    if (hi::is_const_zero(condition)) return mutate(select->false_value);
    return hi::Select::make(condition, mutate(select->true_value), mutate(select->false_value));
  }

  const Bounds& bounds_;
};

/// Where a definition reads a Func.
class ReadFinder final : public hi::IRGraphVisitor {
 public:
  explicit ReadFinder(std::string name) : name_(std::move(name)) {}
  std::vector<const hi::Call*> reads;

 private:
  using IRGraphVisitor::visit;
  void visit(const hi::Call* call) override {
    if (call->call_type == hi::Call::Halide && call->name == name_) reads.push_back(call);
    IRGraphVisitor::visit(call);
  }

  const std::string name_;
};

}  // namespace

Halide::Expr inlined_value(const Halide::Func& func) {
  Inliner inliner;
  const Halide::Expr value = inliner.mutate(func.value());
  return inliner.gave_up() ? Halide::Expr() : value;
}

std::vector<LoopRange> loops_over(const Tensor& output) { return loops_over(output, output.shape()); }

std::vector<LoopRange> loops_over(const Tensor& output, const std::vector<int64_t>& shape) {
  std::vector<LoopRange> loops;
  for (const Halide::Var& var : output.func().args()) {
    const size_t axis = shape.size() - 1 - loops.size();
    const Dim dim = output.dims()[axis];
    loops.push_back({var.name(), 0, static_cast<int>(shape[axis]), dim.is_symbolic() ? dim : Dim(0)});
  }
  return loops;
}

std::optional<std::vector<LoopRange>> loops_read(const Halide::Func& reader,
                                                 const std::vector<LoopRange>& loops,
                                                 const Halide::Func& func) {
  Halide::Func from = reader;
  Bounds bounds;
  const std::vector<Halide::Var> args = reader.args();
  for (size_t d = 0; d < loops.size(); ++d) bind(bounds, {args[d].name(), loops[d].min, loops[d].extent});
  for (const hi::ReductionVariable& r : from.update().get_schedule().rvars())
    bounds.push(r.var, hi::Interval(r.min, hi::simplify(r.min + r.extent - 1)));
  const hi::Call* only = only_read(from, func);
  if (!only) return std::nullopt;
  std::vector<LoopRange> read;
  for (const Halide::Expr& at : only->args) {
    const hi::Interval range = hi::bounds_of_expr_in_scope(at, bounds);
    if (!range.is_bounded()) return std::nullopt;
    const auto first = hi::as_const_int(hi::simplify(range.min)),
               last = hi::as_const_int(hi::simplify(range.max));
    if (!first || !last) return std::nullopt;
    read.push_back(
        {func.args()[read.size()].name(), static_cast<int>(*first), static_cast<int>(*last - *first + 1)});
  }
  return read;
}

std::optional<LoopRegions> find_regions(const Halide::Func& func, const std::vector<LoopRange>& loops) {
  const Halide::Expr value = has_conditions(func) ? inlined_value(func) : Halide::Expr();
  if (!value.defined()) return std::nullopt;
  const std::vector<LoopCuts> all = condition_cuts(value, loops);
  // The loop that decides most; of equal ones the innermost. Where none is decided by one loop alone (blocks
  // of two parts), an outer loop at least has regions of one part each.
  int best = -1;
  for (int dim = 0; dim < static_cast<int>(loops.size()); ++dim) {
    const LoopCuts& cuts = all[static_cast<size_t>(dim)];
    if (cuts.at.empty() || static_cast<int>(cuts.at.size()) >= kMostRegions) continue;
    if (cuts.decided == 0 && dim == 0) continue;
    const int most = best < 0 ? -1 : all[static_cast<size_t>(best)].decided;
    if (cuts.decided > most || (cuts.decided == 0 && most == 0)) best = dim;
  }
  if (best < 0) return std::nullopt;
  LoopRegions regions{best, {loops[static_cast<size_t>(best)].min}};
  for (const int at : all[static_cast<size_t>(best)].at) regions.begins.push_back(at);
  return regions;
}

namespace {

/// Gives `func`, whose pure definition has no effect, an update definition for each region of `value`. Every
/// element belongs to one region.
std::vector<RegionLoops> define(Halide::Func func, const Halide::Expr& given,
                                const std::vector<LoopRange>& loops, const LoopRegions& regions) {
  // Before it is simplified: kernels are strict, but the simplifier learns that only while they are lowered.
  const Halide::Expr value = Halide::strict_float(given);
  const auto dim = static_cast<size_t>(regions.dim);
  const auto extent_of = [&](int k) {
    const auto next = static_cast<size_t>(k) + 1;
    const int end = next < regions.begins.size() ? regions.begins[next] : loops[dim].end();
    return end - regions.begins[static_cast<size_t>(k)];
  };
  // The value in region `k`, at position `at` of its loop.
  const auto value_in = [&](int k, const Halide::Expr& at) {
    std::vector<LoopRange> own = loops;
    own[dim] = {loops[dim].name, regions.begins[static_cast<size_t>(k)], extent_of(k)};
    Bounds bounds;
    for (const LoopRange& loop : own) bind(bounds, loop);
    return hi::substitute(loops[dim].name, at, hi::simplify(Pruner(bounds).mutate(value), true, bounds));
  };
  std::vector<RegionLoops> all;
  for (int first = 0, count = 1; first < regions.count(); first += count) {
    const int begin = regions.begins[static_cast<size_t>(first)], extent = extent_of(first);
    for (count = 1; first + count < regions.count() && extent_of(first + count) == extent;) ++count;
    // Neighbours of one extent share a definition with an unrolled loop over them: Halide infers bounds once
    // for all.
    const Halide::RDom r(0, extent, 0, count, func.name() + "_region" + std::to_string(first));
    Halide::Expr chosen;
    for (int k = 0; k < count; ++k) {
      const Halide::Expr here = value_in(first + k, begin + k * extent + r.x);
      chosen = chosen.defined() ? select(r.y == k, here, chosen) : here;
    }
    std::vector<Halide::Expr> at;
    std::vector<Halide::VarOrRVar> order;
    std::vector<Dim> extents;
    for (size_t d = 0; d < loops.size(); ++d) {
      const Halide::Var var = func.args()[d];
      at.push_back(d == dim ? begin + r.y * extent + r.x : Halide::Expr(var));
      order.push_back(d == dim ? Halide::VarOrRVar(r.x) : Halide::VarOrRVar(var));
      extents.push_back(d == dim                 ? Dim(extent)
                        : loops[d].is_symbolic() ? loops[d].symbolic
                                                 : Dim(loops[d].extent));
    }
    func(at) = chosen;
    Halide::Stage stage = func.update(static_cast<int>(all.size()));
    stage.allow_race_conditions();  // every element is written once
    all.push_back({stage, order, std::move(extents)});
    order.push_back(r.y);
    stage.reorder(order).unroll(r.y);
  }
  return all;
}

/// Calls of one Func become calls of another.
class CallReplacer final : public hi::IRMutator {
 public:
  CallReplacer(std::string name, Halide::Func by) : name_(std::move(name)), by_(std::move(by)) {}
  using IRMutator::mutate;

 private:
  using IRMutator::visit;
  Halide::Expr visit(const hi::Call* call) override {
    if (call->call_type != hi::Call::Halide || call->name != name_) return IRMutator::visit(call);
    std::vector<Halide::Expr> args;
    for (const Halide::Expr& arg : call->args) args.push_back(mutate(arg));
    return hi::Call::make(by_.function(), args);
  }

  const std::string name_;
  const Halide::Func by_;
};

}  // namespace

std::vector<RegionLoops> define_by_regions(Halide::Func func, const std::vector<LoopRange>& loops,
                                           const LoopRegions& regions) {
  const Halide::Expr value = inlined_value(func);
  func.function().definition().values() = {Halide::undef(func.types().front())};
  return define(func, value, loops, regions);
}

RegionCopy copy_by_regions(const Halide::Func& func, Halide::Func reader, const std::vector<LoopRange>& loops,
                           const LoopRegions& regions) {
  RegionCopy copy{Halide::Func(func.name() + "_in_regions"), {}};
  copy.func(func.args()) = Halide::undef(func.types().front());
  copy.regions = define(copy.func, inlined_value(func), loops, regions);
  replace_calls(reader, func, copy.func);
  return copy;
}

const hi::Call* only_read(Halide::Func reader, const Halide::Func& from) {
  if (reader.num_update_definitions() != 1) return nullptr;
  ReadFinder finder(from.name());
  reader.update_value().accept(&finder);
  return finder.reads.size() == 1 ? finder.reads.front() : nullptr;
}

void replace_calls(Halide::Func reader, const Halide::Func& from, const Halide::Func& to) {
  for (int update = 0; update < reader.num_update_definitions(); ++update)
    for (Halide::Expr& value : reader.function().update(update).values())
      value = CallReplacer(from.name(), to).mutate(value);
}

}  // namespace baton

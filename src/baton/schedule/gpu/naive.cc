// The fallback schedule of GPUs, valid for every kernel and tuned for none: what the trivial schedule stores
// gets a launch of its own, with one thread per element. Intermediate results are in the device's memory, and
// launches in one queue follow each other, so no thread reads what another one has yet to write.
//
// A sum is computed where its element is stored: in memory, each term would wait for the one before it to be
// written. Where there are fewer elements than the device wants threads, several threads sum parts of an
// element's terms, and the next launch joins the parts.
#include "baton/schedule/gpu/naive.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "baton/schedule/gpu/elements.h"

namespace baton {
namespace {

namespace hi = Halide::Internal;

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

/// Threads that a multiprocessor can hold.
constexpr int64_t kThreadsPerCore = 2048;
/// Terms of a sum that are worth a thread, and sums that are worth a launch.
constexpr int64_t kFewestTerms = 8, kFewestSplitTerms = 32;
/// Parts that one thread joins, one after the other, unless the sums themselves are as long.
constexpr int64_t kMostLanes = 64;
/// Terms whose loads are under way together.
constexpr int kLoadsAtOnce = 16;

VarOrRVar loop_named(const std::string& name, bool is_rvar) {
  return is_rvar ? VarOrRVar(RVar(name)) : VarOrRVar(Var(name));
}

/// The loops whose iterations are independent, innermost first: pure ones, and those of reductions over a
/// known number of distinct elements.
std::vector<VarOrRVar> independent_loops(const Halide::Stage& stage) {
  std::set<std::string> constant;
  for (const hi::ReductionVariable& each : stage.get_schedule().rvars())
    if (hi::is_const(hi::simplify(each.min)) && hi::is_const(hi::simplify(each.extent)))
      constant.insert(each.var);
  std::vector<VarOrRVar> loops;
  for (const hi::Dim& dim : stage.get_schedule().dims())
    if (dim.is_pure() && dim.var != Var::outermost().name() && (!dim.is_rvar() || constant.contains(dim.var)))
      loops.push_back(loop_named(dim.var, dim.is_rvar()));
  return loops;
}

void launch_definition(Halide::Stage stage) {
  const std::vector<VarOrRVar> loops = independent_loops(stage);
  if (loops.empty()) {
    const Var block("block"), thread("thread");
    stage.split(Var::outermost(), Var::outermost(), thread, 1)
        .split(Var::outermost(), Var::outermost(), block, 1)
        .gpu_blocks(block)
        .gpu_threads(thread);
    return;
  }
  // Loops whose order counts are run by each thread.
  std::vector<VarOrRVar> order;
  for (const hi::Dim& dim : stage.get_schedule().dims()) {
    const bool shared =
        std::ranges::any_of(loops, [&](const VarOrRVar& each) { return each.name() == dim.var; });
    if (dim.is_rvar() && !shared) order.emplace_back(RVar(dim.var));
  }
  order.insert(order.end(), loops.begin(), loops.end());
  stage.reorder(order);
  VarOrRVar element = loops.front();
  for (size_t i = 1; i < loops.size(); ++i) {
    const VarOrRVar joined = loop_named("element" + std::to_string(i), element.is_rvar || loops[i].is_rvar);
    stage.fuse(element, loops[i], joined);
    element = joined;
  }
  // Neighbours along the innermost axis are threads of one block: they read and write next to each other.
  stage.gpu_tile(element, loop_named("block", element.is_rvar), loop_named("thread", element.is_rvar),
                 kThreadsPerBlock, TailStrategy::GuardWithIf);
}

/// The extents of the reduction loops; 0 for those that are not constant.
std::vector<int64_t> extents_of(const hi::Definition& definition) {
  std::vector<int64_t> all;
  for (const hi::ReductionVariable& each : definition.schedule().rvars()) {
    const auto extent = hi::as_const_int(hi::simplify(each.extent));
    all.push_back(extent ? *extent : 0);
  }
  return all;
}

int64_t product_over(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t each : extents) product *= each;
  return product;
}

/// Has the loads of several terms under way together.
void unroll_innermost(Halide::Stage stage) {
  for (const hi::ReductionVariable& each : stage.get_schedule().rvars())
    if (const auto extent = hi::as_const_int(hi::simplify(each.extent)); extent && *extent > 0) {
      stage.unroll(RVar(each.var), divisor_below(static_cast<int>(*extent), kLoadsAtOnce));
      return;
    }
}

/// Joins reduction loops of `update`: of the outermost ones as many as are needed for `lanes` iterations. The
/// extent of the loop that is made.
std::pair<RVar, int> join_outer_loops(Halide::Stage& update, int lanes) {
  std::map<std::string, int64_t> extents;
  for (const hi::ReductionVariable& each : update.get_schedule().rvars())
    extents[each.var] = *hi::as_const_int(hi::simplify(each.extent));
  std::vector<std::string> loops;
  for (const hi::Dim& dim : update.get_schedule().dims())
    if (dim.is_rvar()) loops.push_back(dim.var);
  RVar all(loops.back());
  int64_t extent = extents.at(loops.back());
  for (size_t i = loops.size() - 1; i-- > 0 && extent < lanes;) {
    const RVar joined("joined" + std::to_string(i));
    update.fuse(RVar(loops[i]), all, joined);
    all = joined;
    extent *= extents.at(loops[i]);
  }
  return {all, static_cast<int>(extent)};
}

/// Whether `args` are the pure variables of `func`, in order.
bool are_pure(const Func& func, const std::vector<Halide::Expr>& args) {
  const std::vector<Var> pure = func.args();
  for (size_t i = 0; i < pure.size(); ++i) {
    const auto* variable = args[i].as<hi::Variable>();
    if (!variable || variable->name != pure[i].name()) return false;
  }
  return true;
}

/// Whether each element is computed from itself only, so that all definitions can be computed for one.
bool is_element_by_element(const Func& func) {
  class SelfReads final : public hi::IRVisitor {
   public:
    explicit SelfReads(const Func& func) : func_(func) {}
    bool others = false;

   private:
    using IRVisitor::visit;
    void visit(const hi::Call* call) override {
      if (call->name == func_.name()) others |= !are_pure(func_, call->args);
      IRVisitor::visit(call);
    }
    const Func& func_;
  };
  SelfReads reads(func);
  for (int i = 0; i < func.num_update_definitions(); ++i) {
    const hi::Definition& update = func.function().update(i);
    if (!are_pure(func, update.args())) return false;
    for (const Halide::Expr& value : update.values()) value.accept(&reads);
    update.predicate().accept(&reads);
  }
  return !reads.others;
}

/// Whether the value of `func` is one of a parameter or of what is `stored`, or a constant.
bool is_only_read(const Func& func, const std::set<std::string>& stored) {
  class Calls final : public hi::IRVisitor {
   public:
    explicit Calls(const std::set<std::string>& stored) : stored_(stored) {}
    int reads = 0, others = 0;

   private:
    using IRVisitor::visit;
    void visit(const hi::Call* call) override {
      const bool is_func = call->call_type == hi::Call::Halide;
      if (call->call_type == hi::Call::Image || (is_func && is_memory(*call)))
        ++reads;
      else if (!call->is_intrinsic(hi::Call::likely))
        ++others;
      IRVisitor::visit(call);
    }
    bool is_memory(const hi::Call& call) const {
      if (stored_.contains(call.name)) return true;
      const hi::Function function(call.func);
      if (!function.has_pure_definition() || function.has_update_definition()) return false;
      const auto* read = function.values()[call.value_index].as<hi::Call>();
      return read && read->call_type == hi::Call::Image;
    }
    const std::set<std::string>& stored_;
  };
  if (func.values().size() != 1) return false;
  Halide::Expr value = func.value();
  while (const auto* cast = value.as<hi::Cast>()) value = cast->value;
  if (!value.as<hi::Call>() && !value.as<hi::Select>()) return false;
  Calls calls(stored);
  value.accept(&calls);
  return calls.reads == 1 && calls.others == 0;
}

void gpu_naive_apply(LoweredKernel& kernel, const ScheduleParams&, const DeviceSheet& sheet) {
  std::set<std::string> names;
  for (const StoredFunc& stored : stored_funcs(kernel)) names.insert(stored.func.name());
  StoredLaunches(kernel, sheet).store(names);
}

}  // namespace

int64_t wanted_threads(const DeviceSheet& sheet) {
  const bool opencl = Halide::Target(sheet.code_target).has_feature(Halide::Target::OpenCL);
  return opencl ? 1 : std::max<int64_t>(1, sheet.cores * kThreadsPerCore);
}

void one_thread_per_element(Func func) {
  func.compute_root();
  launch_definition(func);
  for (int i = 0; i < func.num_update_definitions(); ++i) launch_definition(func.update(i));
}

std::set<std::string> read_by_anchor(const LoweredKernel& kernel) {
  std::vector<bool> before(kernel.blocks.size());
  for (const int producer : anchor_of(kernel).producers)
    if (producer >= 0) before[producer] = true;
  for (size_t i = kernel.blocks.size(); i-- > 0;)
    if (before[i])
      for (const int producer : kernel.blocks[i].producers)
        if (producer >= 0) before[producer] = true;
  std::set<std::string> read;
  for (size_t i = 0; i < kernel.blocks.size(); ++i) {
    if (!before[i]) continue;
    for (const Stage& stage : kernel.blocks[i].stages) read.insert(stage.func.name());
    for (const Func& result : kernel.blocks[i].results) read.insert(result.name());
  }
  return read;
}

bool can_be_split(const Func& func, int update) {
  const hi::Definition& definition = func.function().update(update);
  if (definition.values().size() != 1) return false;
  const std::vector<int64_t> extents = extents_of(func.function().update(update));
  if (extents.empty() || product_over(extents) == 0) return false;
  const hi::AssociativeOp op = hi::prove_associativity(func.name(), definition.args(), definition.values());
  return op.associative() && op.commutative();
}

/// What a definition reads, with what is computed in place put in.
class StoredLaunches::Reads final : public hi::IRVisitor {
 public:
  Reads(const std::set<std::string>& stored, const std::string& self) : stored_(stored), self_(self) {}
  std::vector<Read> all;

 private:
  using IRVisitor::visit;
  void visit(const hi::Call* call) override {
    IRVisitor::visit(call);
    const bool is_func = call->call_type == hi::Call::Halide;
    if ((!is_func && call->call_type != hi::Call::Image) || call->name == self_) return;
    const hi::Function function = is_func ? hi::Function(call->func) : hi::Function();
    // After so many the rest is not needed: expressions grow with each use.
    constexpr int kMostPutIn = 500;
    if (!is_func || stored_.contains(call->name) || function.has_update_definition() ||
        !function.has_pure_definition() || ++put_in_ > kMostPutIn) {
      all.push_back({call->name, call->args,
                     is_func && !stored_.contains(call->name) && function.has_update_definition()});
      return;
    }
    std::map<std::string, Halide::Expr> at;
    for (size_t i = 0; i < call->args.size(); ++i) at[function.args()[i]] = call->args[i];
    hi::substitute(at, function.values()[call->value_index]).accept(this);
  }
  const std::set<std::string>& stored_;
  const std::string& self_;
  int put_in_ = 0;
};

std::vector<StoredLaunches::Read> StoredLaunches::reads_of(const hi::Definition& definition,
                                                           const std::string& self) const {
  Reads reads(stored_, self);
  for (const Halide::Expr& value : definition.values()) value.accept(&reads);
  for (const Halide::Expr& arg : definition.args()) arg.accept(&reads);
  return std::move(reads.all);
}

StoredLaunches::StoredLaunches(const LoweredKernel& kernel, const DeviceSheet& sheet)
    : kernel_(kernel), sheet_(sheet) {
  for (const Tensor& output : kernel.outputs) outputs_.insert(output.func().name());
  const std::vector<StoredFunc> all = stored_funcs(kernel);
  bool sums = false;
  for (const StoredFunc& stored : all) {
    stored_.insert(stored.func.name());
    sums |= stored.func.has_update_definition();
  }
  if (!sums) return;
  elements_ = needed_elements(kernel);
  find_readers(all);
  if (wanted_threads(sheet) == 1) return;
  for (const StoredFunc& stored : all)
    if (is_computed_in_place(stored.func)) stored_.erase(stored.func.name());
  find_readers(all);
}

void StoredLaunches::find_readers(const std::vector<StoredFunc>& all) {
  readers_.clear();
  for (const StoredFunc& stored : all) {
    if (!stored_.contains(stored.func.name())) continue;
    const hi::Function& function = stored.func.function();
    std::vector<hi::Definition> definitions = function.updates();
    definitions.push_back(function.definition());
    for (const hi::Definition& each : definitions) {
      int64_t terms = 1;
      for (const int64_t extent : extents_of(each)) terms *= extent;
      for (Read& read : reads_of(each, function.name()))
        readers_[read.of].push_back(
            {function.name(), std::move(read.at), elements_of(function.name()) * terms});
    }
  }
}

/// Whether a launch for `func` would take longer than to compute its elements where they are read: each is
/// one that another Func or a parameter has (a weight in another order), or a constant (padding).
bool StoredLaunches::is_computed_in_place(const Func& func) const {
  constexpr int64_t kMostReads = 16;  // of each element
  if (outputs_.contains(func.name()) || func.has_update_definition() || !is_only_read(func, stored_))
    return false;
  int64_t reads = 0;
  const auto readers = readers_.find(func.name());
  if (readers == readers_.end()) return false;
  for (const Reader& each : readers->second) {
    if (each.times == 0) return false;
    reads += each.times;
  }
  return !func.value().as<hi::Select>() || reads <= kMostReads * elements_of(func.name());
}

void StoredLaunches::store(const std::set<std::string>& names) const {
  std::vector<Func> funcs;
  for (const StoredFunc& stored : stored_funcs(kernel_))
    if (names.contains(stored.func.name())) funcs.push_back(stored.func);
  for (Func func : funcs) {
    if (!stored_.contains(func.name())) continue;
    if (!func.has_update_definition() || outputs_.contains(func.name()) || !is_element_by_element(func)) {
      one_thread_per_element(func);
      continue;
    }
    const int updates = func.num_update_definitions();
    int parts = 0;
    for (int i = 0; i < updates; ++i) parts = split(func, i);
    if (const Func* reader = only_reader(func, funcs, updates == 1 ? parts : 1)) {
      func.compute_at(*reader, Halide::Var("thread"));
      continue;
    }
    const Func stored = func.in();
    one_thread_per_element(stored);
    func.compute_at(stored, Halide::Var("thread"));
  }
}

int64_t StoredLaunches::elements_of(const std::string& name) const {
  const auto at = elements_.find(name);
  return at == elements_.end() ? 0 : at->second;
}

/// The only Func that reads `func`, when each of its elements reads one at its own place, and none is read
/// twice: its threads can compute the sums, too. Or they are only few `parts` to join, more often than
/// needed, in less time than a launch takes. Null: there is none.
const Func* StoredLaunches::only_reader(const Func& func, const std::vector<Func>& launched,
                                        int parts) const {
  const auto found = readers_.find(func.name());
  if (found == readers_.end()) return nullptr;
  const std::vector<Reader>& readers = found->second;
  for (const Reader& each : readers) {
    if (each.name != readers.front().name) return nullptr;
    for (size_t i = 0; i < each.at.size(); ++i)
      if (!(each.at[i].as<hi::Variable>() || hi::is_const(each.at[i])) ||
          !hi::equal(each.at[i], readers.front().at[i]))
        return nullptr;
  }
  const auto reader =
      std::ranges::find_if(launched, [&](const Func& each) { return each.name() == readers.front().name; });
  if (reader == launched.end() || reader->has_update_definition()) return nullptr;
  const int64_t elements = elements_of(func.name()), of_reader = elements_of(reader->name());
  constexpr int64_t kMostJoins = 1 << 20;
  const bool joins = parts > 1 && of_reader * parts <= kMostJoins;
  return of_reader > 0 && (of_reader <= elements || joins) ? &*reader : nullptr;
}

int StoredLaunches::lanes_for(const Func& func, int64_t terms) const {
  const int64_t elements = elements_of(func.name());
  if (elements == 0 || terms < kFewestSplitTerms) return 1;
  const auto as_long = static_cast<int64_t>(std::sqrt(static_cast<double>(terms)));
  const int64_t most =
      std::min({wanted_threads(sheet_) / elements, terms / kFewestTerms, std::max(kMostLanes, as_long)});
  return most < 4 ? 1 : static_cast<int>(std::bit_floor(static_cast<uint64_t>(most)));
}

/// Returns the number of parts, 1 when there are none.
int StoredLaunches::split(Func func, int update) const {
  const hi::Definition& definition = func.function().update(update);
  // What is summed in place (products of pairs) needs loops as they are.
  const std::vector<Read> reads = reads_of(definition, func.name());
  const bool splits = can_be_split(func, update) && std::ranges::none_of(reads, &Read::summed_in_place);
  const int lanes = splits ? lanes_for(func, product_over(extents_of(definition))) : 1;
  if (lanes == 1) {
    if (wanted_threads(sheet_) > 1) unroll_innermost(func.update(update));
    return 1;
  }
  const bool along = reads_along_sum(func, update);
  Halide::Stage stage = func.update(update);
  const auto [loop, extent] = join_outer_loops(stage, lanes);
  const RVar part("part"), term("term");
  const int length = tiles_of(extent, lanes);
  if (along)
    stage.split(loop, term, part, lanes, TailStrategy::GuardWithIf);
  else
    stage.split(loop, part, term, length, TailStrategy::GuardWithIf);
  Func parts = stage.rfactor(part, Halide::Var("lane")), stored = parts.in(func);
  if (along) {
    std::vector<VarOrRVar> order{stored.args().back()};
    for (size_t i = 0; i + 1 < stored.args().size(); ++i) order.emplace_back(stored.args()[i]);
    stored.reorder(order);
  }
  one_thread_per_element(stored);
  parts.compute_at(stored, Halide::Var("thread"));
  parts.update().unroll(term, divisor_below(length, kLoadsAtOnce));
  func.update(update).unroll(part, divisor_below(along ? lanes : tiles_of(extent, length), kLoadsAtOnce));
  return lanes;
}

/// Whether neighbours in memory are terms of one sum, rather than of the sums of neighbours.
bool StoredLaunches::reads_along_sum(const Func& func, int update) const {
  const hi::Definition& definition = func.function().update(update);
  int along = 0;
  for (const Read& read : reads_of(definition, func.name())) {
    if (read.at.empty()) continue;
    bool moves = false;
    for (const hi::ReductionVariable& each : definition.schedule().rvars())
      moves |= hi::expr_uses_var(read.at.front(), each.var);
    along += moves ? 1 : 0;
    if (func.dimensions() > 0 && hi::expr_uses_var(read.at.front(), func.args()[0].name())) --along;
  }
  return along > 0;
}

const ScheduleTemplate& template_gpu_naive() {
  static const ScheduleTemplate def = {
      .name = "gpu_naive",
      .doc = "every stage its own launch, one thread per element; elementwise blocks in place",
      .refuses = [](const LoweredKernel&, const DeviceSheet&) { return std::string(); },
      .default_params = [](const LoweredKernel&, const DeviceSheet&) { return ScheduleParams(); },
      .candidates = [](const LoweredKernel&, const DeviceSheet&) { return std::vector<ScheduleParams>{{}}; },
      .apply = gpu_naive_apply,
      .loops = vector_loops,
  };
  return def;
}

}  // namespace baton

#include "baton/schedule/common.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/inspect.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/narrow_weight.h"
#include "baton/ir/rules/pass_traits.h"

namespace baton {

using Halide::Func;
using Halide::TailStrategy;

int divisor_below(int extent, int limit) {
  for (int divisor = std::min(extent, limit); divisor > 1; --divisor)
    if (extent % divisor == 0) return divisor;
  return 1;
}

std::vector<int> divisors(int extent) {
  std::vector<int> all;
  for (int divisor = 1; divisor <= extent; ++divisor)
    if (extent % divisor == 0) all.push_back(divisor);
  return all;
}

int lanes_of(Halide::Type type, const DeviceSheet& sheet) {
  return std::max(1, sheet.float_lanes * 32 / std::max(8, type.bits()));
}

int64_t LoweredKernel::usual_extent(Dim dim) const {
  if (!dim.is_symbolic()) return number_of(dim, "a number for an extent");
  bool shortest = true;
  const Dim at = extent_at(dim, [&](Dim var) {
    const int64_t number = usual.at(static_cast<size_t>(extent_number(var)));
    shortest = shortest && number == 1;
    return number;
  });
  return std::max<int64_t>(1, shortest ? least_extent(dim) : at.value());
}

void LoweredKernel::takes_for_granted(Dim dim, int at_least, int lanes) {
  if (!dim.is_symbolic() || at_least < 2 || least_extent(dim) >= at_least) return;
  const auto known = std::ranges::find(least, dim, &LeastExtent::dim);
  if (known == least.end())
    least.push_back({dim, at_least, lanes});
  else
    known->least = std::max(known->least, at_least), known->lanes = std::max(known->lanes, lanes);
}

TailStrategy inside(LoweredKernel& kernel, Dim extent, int factor, int lanes) {
  if (!extent.is_symbolic()) return inside(static_cast<int>(extent.value()), factor);
  kernel.takes_for_granted(extent, factor, lanes);
  return factor == 1 ? TailStrategy::RoundUp : TailStrategy::ShiftInwards;
}

TailStrategy guarded(Dim extent, int factor) {
  if (!extent.is_symbolic()) return guarded(static_cast<int>(extent.value()), factor);
  return factor == 1 ? TailStrategy::RoundUp : TailStrategy::GuardWithIf;
}

bool LoweredKernel::is_batch(int extent) const {
  if (anchor < 0) return false;
  const CallNode& call = *anchor_of(*this).call;
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  const std::string_view kind = call.op() ? cost_class(*call.op()) : "";
  if (!type || type->rank() < 3 || (kind != "conv" && kind != "pool")) return false;
  const auto has_it = [&](const Dim& dim) {
    bool found = false;
    visit_extent_vars(dim, [&](Dim var) { found |= extent_number(var) == extent; });
    return found;
  };
  return has_it(type->shape()[0]) && std::ranges::count_if(type->shape(), has_it) == 1;
}

Dim result_dim(const LoweredKernel& kernel, int axis) {
  const auto* type = as_type<TensorTypeNode>(anchor_of(kernel).call->checked_type());
  return type->shape().at(static_cast<size_t>(axis < 0 ? axis + type->rank() : axis));
}

int result_extent(const LoweredKernel& kernel, int axis) {
  return static_cast<int>(kernel.usual_extent(result_dim(kernel, axis)));
}

RowTiles::RowTiles(LoweredKernel& kernel, Dim rows, int most)
    : kernel_(kernel), most_(most), open_(rows.is_symbolic() && most > 1), size_(most) {
  if (open_) {
    const Halide::Expr all = as_expr(rows), tiles = (all + most - 1) / most;
    size_ = (all + tiles - 1) / tiles;
  }
  tail_ = open_ ? TailStrategy::GuardWithIf : inside(kernel, rows, most);
}

void RowTiles::split(Func& out, const Halide::Var& rows, const Halide::Var& tile,
                     const Halide::Var& row) const {
  out.split(rows, tile, row, size_, tail_);
  if (open_)
    out.never_partition(tile, row);
  else
    out.unroll(row);
}

void RowTiles::write_out(Func& sum, const Halide::Var& row) const {
  if (open_) {
    sum.bound_storage(row, most_);
    kernel_.open_tiles.push_back({sum.name(), row.name(), most_});
  } else {
    sum.bound_extent(row, most_).unroll(row).update().unroll(row);
  }
}

std::vector<int> lengths_of(const LoweredKernel& kernel, Dim dim) {
  const auto usual = static_cast<int>(kernel.usual_extent(dim));
  constexpr int kLong = 16;
  if (!dim.is_symbolic() || usual < kLong) return {usual};
  return {usual / 4, usual / 2 + 1, usual, usual * 3 / 2 + 4, usual * 2 - 1};
}

std::vector<int64_t> usual_shape(const LoweredKernel& kernel, const std::vector<Dim>& dims) {
  std::vector<int64_t> shape;
  for (const Dim& dim : dims) shape.push_back(kernel.usual_extent(dim));
  return shape;
}

std::optional<int64_t> usual_value(const LoweredKernel& kernel, const Halide::Expr& value) {
  std::map<std::string, Halide::Expr> numbers;
  for (int i = 0; i < kernel.extents; ++i)
    numbers[extent_param(i).name()] = static_cast<int>(kernel.usual[static_cast<size_t>(i)]);
  return Halide::Internal::as_const_int(
      Halide::Internal::simplify(Halide::Internal::substitute(numbers, value)));
}

Func anchor_stage(const LoweredKernel& kernel, const std::string& name) {
  const Func* stage = anchor_of(kernel).stage(name);
  BATON_CHECK(stage, kernel.name + ": " + anchor_of(kernel).op->name + " has no stage " + name);
  return *stage;
}

namespace {

/// Blocks that depend on the anchor's result, directly or indirectly.
std::set<int> downstream_of(const LoweredKernel& kernel, int anchor) {
  std::set<int> found{anchor};
  for (int i = anchor + 1; i < static_cast<int>(kernel.blocks.size()); ++i)
    for (int producer : kernel.blocks[i].producers)
      if (found.count(producer)) found.insert(i);
  found.erase(anchor);
  return found;
}

bool has_no_elements(const std::vector<Dim>& dims) { return std::ranges::find(dims, Dim(0)) != dims.end(); }

bool is_pure(const OpBlock& block) {
  for (const Stage& stage : block.stages)
    if (stage.func.has_update_definition()) return false;
  return true;
}

}  // namespace

std::string refuses_empty(const LoweredKernel& kernel) {
  for (const OpBlock& block : kernel.blocks) {
    bool empty = false;
    for (const Tensor& input : block.inputs) empty = empty || has_no_elements(input.dims());
    for (const TensorTypeNode* type : flat_types(block.call->checked_type()))
      empty = empty || has_no_elements(type->shape());
    if (empty) return block.op->name + " has a tensor without elements";
  }
  return "";
}

const Func* stored_data(const OpBlock& anchor) {
  const Func* pad = anchor.stage("pad");
  return pad ? pad : anchor.stage("strided");
}

namespace {

/// Whether an input is a weight in bfloat16, which the operator's compute widens.
bool is_widened_weight(const OpBlock& block, size_t input) {
  const auto* narrow = block.op->rules.get<NarrowWeight>();
  return narrow && narrow->operand == input && halide_type(block.inputs[input].dtype()) == Halide::BFloat(16);
}

}  // namespace

std::string refuses_anchor(const LoweredKernel& kernel, std::string_view of_template,
                           const std::string& stage, bool any_type) {
  if (kernel.anchor < 0) return "no heavy operator in the kernel";
  const std::string empty = refuses_empty(kernel);
  if (!empty.empty()) return empty;
  const OpBlock& anchor = anchor_of(kernel);
  const auto* rule = anchor.op->rules.get<AnchorRule>();
  if (!rule || rule->of_template != of_template) return anchor.op->name + " is another template's";
  if (!anchor.stage(stage)) return anchor.op->name + " has no stage \"" + stage + "\" in these layouts";
  if (anchor.results.size() != 1 || kernel.outputs.size() != 1) return "more than one output";
  const auto* type = as_type<TensorTypeNode>(anchor.call->checked_type());
  if (!type) return "the result is a tuple";
  if (!any_type && halide_type(type->dtype()) != Halide::Float(32)) return "the result is not float32";
  for (size_t i = 0; i < anchor.inputs.size(); ++i)
    if (!any_type && !is_widened_weight(anchor, i) &&
        halide_type(anchor.inputs[i].dtype()) != Halide::Float(32))
      return "an input is not float32";
  if (kernel.outputs.front().dims() != type->shape())
    return "the output has another shape than " + anchor.op->name;
  const std::set<int> after = downstream_of(kernel, kernel.anchor);
  for (int i = 0; i < static_cast<int>(kernel.blocks.size()); ++i) {
    if (i == kernel.anchor) continue;
    const OpBlock& block = kernel.blocks[i];
    if (!is_pure(block)) return block.op->name + " has a reduction of its own";
    if (block.op->fuse > (after.count(i) ? Fuse::kBroadcast : Fuse::kInjective))
      return block.op->name + " is not element by element";
    const auto* result = as_type<TensorTypeNode>(block.call->checked_type());
    if (after.count(i) && (!result || result->shape() != type->shape()))
      return block.op->name + " changes the shape";
  }
  return "";
}

namespace {

/// The Func with a reduction of its own that the update of `sum` reads, other than itself; undefined when
/// there is none.
Func inner_sum(const Func& sum) {
  class Finder final : public Halide::Internal::IRVisitor {
   public:
    explicit Finder(std::string own) : own_(std::move(own)) {}
    Func found;

   private:
    using IRVisitor::visit;
    void visit(const Halide::Internal::Call* call) override {
      if (call->call_type == Halide::Internal::Call::Halide && call->name != own_) {
        const Halide::Internal::Function function(call->func);
        if (function.has_update_definition()) found = Func(function);
      }
      IRVisitor::visit(call);
    }
    const std::string own_;
  };
  Finder finder(sum.name());
  for (const Halide::Expr& value : sum.function().update(0).values()) value.accept(&finder);
  return finder.found;
}

}  // namespace

void sum_neighbours(Func sum, const Halide::RVar& neighbours, const Halide::Var& lane, const Halide::Var& at,
                    int lanes) {
  sum.update().reorder(neighbours, lane).atomic().vectorize(neighbours);
  Func pairs = inner_sum(sum);
  if (!pairs.defined()) return;
  const Halide::Var q = pairs.args()[0], o = pairs.args()[1];
  const Halide::RVar p(pairs.rvars()[0].name());
  pairs.compute_at(sum, at).bound_extent(q, 2).bound_extent(o, lanes).vectorize(q).vectorize(o);
  // Saturating sums are not associative where they saturate; the order within a pair makes no difference.
  pairs.update().reorder(p, q, o).atomic(true).vectorize(p).vectorize(q).vectorize(o);
}

bool is_float32_or_integers(const OpBlock& block) {
  const Halide::Type result = block.results.front().types().front();
  for (size_t i = 0; i < block.inputs.size(); ++i) {
    const Halide::Type type = halide_type(block.inputs[i].dtype());
    if (result == Halide::Float(32) ? type != result && !is_widened_weight(block, i)
                                    : !type.is_int_or_uint() || type.bits() > 16)
      return false;
  }
  return result == Halide::Float(32) || result == Halide::Int(32);
}

void schedule_flat(Func func, const DeviceSheet& sheet, bool parallel) {
  func.compute_root();
  const std::vector<Halide::Var> args = func.args();
  if (args.empty()) return;
  if (parallel && args.size() > 1) func.parallel(args.back());
  func.vectorize(args.front(), lanes_of(func.types().front(), sheet), TailStrategy::GuardWithIf);
}

std::string input_name(const Tensor& tensor) {
  if (!tensor.func().defined()) return "";
  const auto* read = tensor.func().value().as<Halide::Internal::Call>();
  return read && read->param.defined() ? read->param.name() : "";
}

void schedule_feeders(LoweredKernel& kernel, const DeviceSheet& sheet, bool pad_is_stored) {
  const OpBlock& anchor = anchor_of(kernel);
  std::set<int> done;
  for (size_t input = 0; input < anchor.producers.size(); ++input) {
    const int producer = anchor.producers[input];
    if (producer < 0 || !done.insert(producer).second) continue;
    const bool only_pad = input == 0 && pad_is_stored && stored_data(anchor) &&
                          std::count(anchor.producers.begin(), anchor.producers.end(), producer) == 1;
    if (only_pad) continue;
    for (const Func& value : kernel.blocks[producer].results) schedule_flat(value, sheet);
  }
}

Halide::Var parallel_tasks(Func out, const std::vector<Halide::Var>& loops, int64_t iterations, int64_t work,
                           int64_t least, bool symbolic) {
  const Halide::Var item("item"), group("group");
  Halide::Var all = loops.front();
  for (size_t k = 1; k < loops.size(); ++k) {
    const Halide::Var fused("task" + std::to_string(k));
    out.fuse(all, loops[k], fused);
    all = fused;
  }
  const int64_t several = std::max<int64_t>(1, least / std::max<int64_t>(1, work));
  if (several >= iterations && !symbolic) return all;
  if (several == 1) {
    out.parallel(all);
    return all;
  }
  const int items = static_cast<int>(several);
  const TailStrategy tail =
      symbolic ? TailStrategy::GuardWithIf : guarded(static_cast<int>(iterations), items);
  out.split(all, group, item, items, tail).parallel(group);
  if (symbolic) out.never_partition(item, group);  // a branch costs little beside so much work
  return item;
}

namespace {

/// Into how many parts a vector is folded next: whole vectors, then quarters of one.
int parts_of(int width, int lanes) {
  if (width > lanes) return width / lanes;
  for (const int parts : {4, 2})
    if (width % parts == 0) return parts;
  return width;
}

}  // namespace

void reduce_in_vectors(LoweredKernel& kernel, Func sum, const Halide::RVar& r, Dim steps, int vectors,
                       int lanes) {
  const auto extent = static_cast<int>(kernel.usual_extent(steps));
  // Of a symbolic extent the tail is predicated.
  if (steps.is_symbolic()) vectors = std::min(vectors, 2);
  int width = lanes;
  while (width * 2 <= lanes * vectors && width * 2 <= extent) width *= 2;
  // A tail costs more than fewer vectors do.
  while (width > lanes && extent % width != 0 && extent < 4 * width) width /= 2;
  if (width > extent) return;
  kernel.takes_for_granted(steps, lanes, lanes);
  const Halide::Var place = sum.dimensions() > 0 ? sum.args()[0] : Halide::Var::outermost();
  const auto in_lanes = [&](Func partial, const Halide::Var& lane, int of) {
    partial.compute_at(sum, place).vectorize(lane, of).unroll(lane).update().vectorize(lane, of).unroll(lane);
  };
  Halide::RVar rest("rest");
  const Halide::RVar ro("ro");
  const Halide::Var lane("lane");
  sum.update().split(r, ro, rest, width, TailStrategy::GuardWithIf);
  in_lanes(sum.update().rfactor(rest, lane), lane, lanes);
  // Lanes beyond a short row keep the neutral value, which may be folded like others.
  sum.function().update(0).predicate() = Halide::Internal::const_true();
  // Then in steps of shorter vectors: Halide makes a chain of scalars of the lanes of one.
  for (int level = 0; width > 1; ++level) {
    width /= parts_of(width, lanes);
    if (width == 1) break;
    const std::string suffix = std::to_string(level);
    const Halide::RVar part("part" + suffix), of_part("of_part" + suffix);
    const Halide::Var folded_lane("folded" + suffix);
    sum.update().split(rest, part, of_part, width);
    Func folded = sum.update().rfactor(of_part, folded_lane);
    in_lanes(folded, folded_lane, std::min(width, lanes));
    folded.update().unroll(part);
    rest = of_part;
  }
  sum.update().unroll(rest);
}

namespace {

// The set is determined by the offset into a page: the cache is indexed before addresses are translated.
constexpr int64_t kPage = 4096;

}  // namespace

int64_t rows_in_one_set(int64_t rows, int64_t row_bytes) {
  const int64_t offsets = kPage / std::gcd(row_bytes, kPage);
  return (rows + offsets - 1) / offsets;
}

int64_t ways_of_l1(const DeviceSheet& sheet) { return std::max<int64_t>(1, sheet.l1_bytes / kPage); }

bool rows_conflict(int rows, int64_t row_bytes, const DeviceSheet& sheet) {
  return row_bytes > 0 && rows_in_one_set(rows, row_bytes) > ways_of_l1(sheet);
}

double register_tile_cost(const TiledProduct& p, RegisterTile tile, const DeviceSheet& sheet) {
  if (p.most_open_sums && p.rows % tile.rows != 0) {
    const int rows = tiles_of(p.rows, tiles_of(p.rows, tile.rows)), rest = p.rows % rows;
    TiledProduct last = p, others = p;
    last.rows = rest, others.rows = p.rows - rest;
    last.streamed = p.streamed && others.rows == 0;
    double cost = others.rows * register_tile_cost(others, {rows, tile.columns}, sheet);
    if (rest > 0) cost += rest * register_tile_cost(last, {rest, tile.columns}, sheet);
    return cost / p.rows;
  }
  // Cycles for one reduction step over a tile: the multiply-adds, at one a cycle; the loads, a vector a cycle
  // or two scalars; the latency of an accumulator (4 cycles, at two a cycle on wide cores); and loop
  // overhead.
  // Cycles to stream one weight vector of 64 bytes from memory, and the extra cost of each further pass over
  // them.
  constexpr double kStream = 7, kPass = 0.004;
  // Cost factor for rows that do not fit the first-level cache: each is a separate stream.
  constexpr double kSpilled = 1.1;
  // Rows that conflict are read from the second-level cache at every step.
  constexpr double kConflict = 4;
  // The share of the second-level cache for a panel of weights: the rows pass through it, too.
  constexpr double kPanelOfL2 = 0.75;
  // Cycles to load one vector of a larger panel, from the third level.
  constexpr double kFarPanel = 5;
  // The prefetchers follow weights from memory only beside so many rows that are apart; what it costs
  // otherwise.
  constexpr int kMostRows = 16;
  constexpr double kLostStream = 1.5;
  const double sums = tile.rows * tile.columns * p.vectors, weights = tile.columns * p.vectors;
  // AVX-512 multiply-adds take a broadcast memory operand, but LLVM uses that only for a scalar with a single
  // use: with several columns the broadcast takes a register. With one register too few, every sum is moved
  // at each step.
  const int broadcast = sheet.float_lanes >= 16 && weights == 1 ? 0 : 1;
  const int lanes = p.lanes > 0 ? std::min(p.lanes, sheet.float_lanes) : sheet.float_lanes;
  const bool narrow = sheet.float_lanes < 16 || (sheet.halves_at_full_rate && lanes * 2 <= sheet.float_lanes);
  // Instructions that start beside the multiply-adds of a wide vector, two cycles' halves each, are free.
  const double loop = sheet.halves_at_full_rate && !narrow ? 0.2 : 1;
  // With narrower vectors, two multiply-adds a cycle, each scalar takes a load of its own: tiles of many rows
  // that are apart in memory, and those of few sums, stay behind.
  const double scalar_load = !narrow            ? 0.5
                             : p.row_bytes > 0  ? 1.5
                             : p.sum_length > 0 ? 1
                                                : 0.5,
               latency = narrow && p.row_bytes > 0 ? 10 : 8;
  // Weights that do not fit the first-level cache come from the second for each tile.
  const auto terms = static_cast<double>(narrow ? p.sum_length : std::max<int64_t>(p.sum_length, p.depth));
  const bool weights_far = weights * lanes * 4 * terms > sheet.l1_bytes / 2.0;
  // A panel that does not fit the second-level cache comes from the third for each tile of rows.
  const bool panel_far = p.rows > tile.rows && weights * lanes * 4 * static_cast<double>(p.depth) >
                                                   kPanelOfL2 * static_cast<double>(sheet.l2_bytes);
  const double weight_load = panel_far ? kFarPanel : !weights_far ? 1 : p.prefetched || !narrow ? 2 : 3;
  const double used = sums + weights + broadcast + p.product_registers;
  if (used > sheet.vector_registers && tile.rows * tile.columns > 1) return 1e30;
  double step = std::max({sums, weights * weight_load + tile.rows * scalar_load, latency}) + loop;
  if (int64_t(tile.rows) * p.depth * 4 > sheet.l1_bytes / 2) step *= kSpilled;
  if (rows_conflict(tile.rows, p.row_bytes, sheet)) step *= kConflict;
  const double passes = tiles_of(p.rows, tile.rows);
  const double first = p.streamed && p.row_bytes > 0 && tile.rows > kMostRows ? kLostStream * step : step;
  // Weights that are prefetched arrive during all passes over the rows (StreamAhead), others in the first
  // one.
  const double stream = p.streamed ? kStream * weights * lanes / 16 : 0;
  const double all_passes =
      p.prefetched ? std::max(passes * step, stream) : std::max(first, stream) + (passes - 1) * step;
  double cycles = all_passes * tiles_of(p.columns, tile.columns) / (double(p.rows) * p.columns * p.vectors);
  if (p.streamed) cycles += kPass * (passes - 1);
  return cycles *
         (1 + 0.0005 * (tile.rows + 2 * tile.columns));  // ties: the squarest one has the fewest loads
}

RegisterTile choose_register_tile(const TiledProduct& p, const DeviceSheet& sheet, TileColumns allowed,
                                  const std::vector<int>& lengths) {
  RegisterTile best;
  double least = 1e300;
  const int most_columns = p.whole_columns ? p.whole_columns : p.columns;
  for (int columns = 1; columns <= most_columns; ++columns) {
    if (columns * p.vectors > sheet.vector_registers / 2) break;
    if (allowed == TileColumns::kDivide && p.columns % columns != 0) continue;
    for (int rows = 1; rows <= std::min(p.rows, sheet.vector_registers); ++rows) {
      if (p.most_open_sums && open_sums(rows, columns * p.vectors) > p.most_open_sums) break;
      double cost = lengths.empty() ? register_tile_cost(p, {rows, columns}, sheet) : 0;
      for (const int length : lengths) {
        TiledProduct of_length = p;
        of_length.rows = length;
        cost += register_tile_cost(of_length, {rows, columns}, sheet);
      }
      if (cost < least) least = cost, best = {rows, columns};
    }
  }
  return best;
}

std::vector<Halide::VarOrRVar> pure_loops(const Halide::Stage& stage) {
  std::vector<Halide::VarOrRVar> loops;
  for (const Halide::Internal::Dim& dim : stage.get_schedule().dims()) {
    if (!dim.is_rvar() && dim.var != Halide::Var::outermost().name()) loops.push_back(Halide::Var(dim.var));
  }
  return loops;
}

namespace {

/// Whether `producer` can be inlined into its user: evaluated once per element, and cheap.
bool read_in_place(const LoweredKernel& kernel, int producer) {
  if (kernel.blocks[producer].op->fuse > Fuse::kInjective || kernel.blocks[producer].consumers != 1)
    return false;
  for (const OpBlock& block : kernel.blocks)
    for (int from : block.producers)
      if (from == producer) return block.op->fuse <= Fuse::kInjective;
  return false;
}

int64_t elements(const LoweredKernel& kernel, const Type& type) {
  int64_t count = 1;
  if (const auto* tensor = as_type<TensorTypeNode>(type))
    for (const int64_t extent : usual_shape(kernel, tensor->shape())) count *= extent;
  return count;
}

/// The extent of a tensor's last axis; 0 for scalars and tuples.
int64_t last_extent(const LoweredKernel& kernel, const Type& type) {
  const auto* tensor = as_type<TensorTypeNode>(type);
  return tensor && tensor->rank() > 0 ? kernel.usual_extent(tensor->shape().back()) : 0;
}

}  // namespace

std::vector<StoredFunc> stored_funcs(const LoweredKernel& kernel) {
  std::vector<StoredFunc> stored;
  std::set<std::string> done;
  const auto store = [&](const Func& func, int64_t count, int64_t innermost, bool copy,
                         const std::optional<Halide::LoopLevel>& within = {}) {
    if (done.insert(func.name()).second) stored.push_back({func, count, innermost, copy, within});
  };
  for (size_t i = 0; i < kernel.blocks.size(); ++i) {
    const OpBlock& block = kernel.blocks[i];
    if (read_in_place(kernel, static_cast<int>(i))) {
      bool pure = true;
      for (const Stage& stage : block.stages) pure = pure && !stage.func.has_update_definition();
      if (pure) continue;
    }
    const Type& type = block.call->checked_type();
    const bool cheap = block.op->fuse <= Fuse::kInjective;
    for (const Stage& stage : block.stages) {
      bool result = false;
      for (const Func& value : block.results) result = result || value.name() == stage.func.name();
      if (cheap && !result && !stage.func.has_update_definition()) continue;
      store(stage.func, elements(kernel, type), result ? last_extent(kernel, type) : 0, false, stage.within);
    }
    for (const Func& value : block.results)
      store(value, elements(kernel, type), last_extent(kernel, type), false);
  }
  for (const Tensor& output : kernel.outputs)
    store(output.func(), 0, output.rank() > 0 ? kernel.usual_extent(output.dim(-1)) : 0, true);
  return stored;
}

}  // namespace baton

// Matrix products on GPUs by blocks of threads that share operands: a block computes a tile of the result,
// and for each piece of the sum first copies what it reads of both operands into memory that its threads
// share. So each element is read from the device's memory once per block instead of once per thread. Results
// stay in registers until the sum is complete; what follows element by element is computed there, too.
#include "baton/schedule/gpu/shared.h"

#include <optional>
#include <set>

#include "baton/ir/rules/pass_traits.h"
#include "baton/schedule/gpu/naive.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::RVar;
using Halide::TailStrategy;
using Halide::Var;
using Halide::VarOrRVar;

/// Neighbouring threads along a row of the result, and the rows of one thread.
constexpr int kAcross = 16, kRowsOfThread = 4;

/// The stage that sums the products; null when there is none.
const Func* product_of(const LoweredKernel& kernel) {
  if (kernel.anchor < 0) return nullptr;
  for (const char* stage : {"dense", "matmul", "batch_matmul"})
    if (const Func* sum = anchor_of(kernel).stage(stage)) return sum;
  return nullptr;
}

/// The length of the sum, when it runs over one variable.
std::optional<int> terms_of(const Func& sum) {
  if (sum.num_update_definitions() != 1) return std::nullopt;
  const auto& variables = sum.function().update(0).schedule().rvars();
  if (variables.size() != 1) return std::nullopt;
  const auto extent = Halide::Internal::as_const_int(Halide::Internal::simplify(variables[0].extent));
  return extent ? std::optional<int>(static_cast<int>(*extent)) : std::nullopt;
}

/// The first of `sizes` that divides `extent`; 0: none.
int first_divisor(int64_t extent, std::initializer_list<int> sizes) {
  for (const int size : sizes)
    if (extent % size == 0) return size;
  return 0;
}

int columns_of(const LoweredKernel& kernel) { return result_extent(kernel, -1); }
int rows_of(const LoweredKernel& kernel) { return result_extent(kernel, -2); }

ScheduleParams tiles_for(int64_t rows, int64_t columns, int64_t terms) {
  return {{"columns", first_divisor(columns, {64, 32, 16})},
          {"rows", first_divisor(rows, {64, 32, 16, 8})},
          {"terms", first_divisor(terms, {16, 8, 4})}};
}

/// Smaller tiles where those would be fewer blocks than the device has multiprocessors.
ScheduleParams gpu_shared_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const int rows = rows_of(kernel), columns = columns_of(kernel);
  ScheduleParams tiles = tiles_for(rows, columns, *terms_of(*product_of(kernel)));
  if (wanted_threads(sheet) == 1) return tiles;
  int64_t products = 1;
  for (int axis = 2; axis < output_of(kernel).dimensions(); ++axis)
    products *= result_extent(kernel, -1 - axis);
  int &wide = tiles["columns"], &high = tiles["rows"];
  while (wide > kAcross && high > 8 && products * (rows / high) * (columns / wide) < sheet.cores)
    (wide > high ? wide : high) /= 2;
  return tiles;
}

std::string gpu_shared_refuses(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const Func* sum = product_of(kernel);
  if (!sum) return "no matrix product in the kernel";
  const OpBlock& anchor = anchor_of(kernel);
  const auto* rule = anchor.op->rules.get<AnchorRule>();
  if (!rule || !anchor.stage("right")) return "the product is computed in another form";
  for (const Stage& stage : anchor.stages)
    if (stage.func.name() == sum->name())
      if (const std::string why = refuses_anchor(kernel, rule->of_template, stage.name, true); !why.empty())
        return why;
  const Func out = output_of(kernel);
  if (out.dimensions() < 2 || sum->dimensions() != out.dimensions() || !terms_of(*sum))
    return "the product is computed in another form";
  if (sum->name() == out.name()) return "the sum is the kernel's output itself";
  for (const auto& [what, size] : gpu_shared_default_params(kernel, sheet))
    if (!size) return "no tile for threads that share memory divides the number of " + what;
  return "";
}

std::vector<ScheduleParams> gpu_shared_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const ScheduleParams largest =
      tiles_for(rows_of(kernel), columns_of(kernel), *terms_of(*product_of(kernel)));
  std::vector<ScheduleParams> all{gpu_shared_default_params(kernel, sheet)};
  for (int columns = largest.at("columns"); columns >= 16; columns /= 2)
    for (int rows = largest.at("rows"); rows >= 8; rows /= 2) {
      ScheduleParams params = {{"columns", columns}, {"rows", rows}, {"terms", largest.at("terms")}};
      if (params != all.front()) all.push_back(std::move(params));
    }
  return all;
}

/// Whether `copied` takes element (a, b) from element (b, a): threads then read next to each other along its
/// second axis.
bool is_transposed(const Func& copied) {
  Halide::Expr value = copied.value();
  while (const auto* cast = value.as<Halide::Internal::Cast>()) value = cast->value;
  const auto* call = value.as<Halide::Internal::Call>();
  if (!call || call->args.empty() || copied.dimensions() < 2) return false;
  const auto* first = call->args[0].as<Halide::Internal::Variable>();
  return first && first->name == copied.args()[1].name();
}

/// Copies what `sum` reads of `operand` into shared memory before each piece of the sum.
void share(Func operand, const Func& sum, const RVar& pieces, int threads) {
  Func copy = operand.in(sum);
  std::vector<Var> axes = copy.args();
  // One element more from row to row, so that neither rows nor columns lie in one bank of the memory.
  const bool transposed = operand.defined() && !operand.has_update_definition() && is_transposed(operand);
  if (transposed) std::swap(axes[0], axes[1]);
  Var element = axes[0];
  for (size_t i = 1; i < axes.size(); ++i) {
    const Var joined("element" + std::to_string(i));
    copy.fuse(element, axes[i], joined);
    element = joined;
  }
  const Var thread("thread"), of_thread("of_thread");
  copy.compute_at(sum, pieces)
      .store_in(Halide::MemoryType::GPUShared)
      .split(element, of_thread, thread, threads, TailStrategy::GuardWithIf)
      .reorder(of_thread, thread)
      .unroll(of_thread)
      .gpu_threads(thread);
}

void gpu_shared_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  const int columns = params.at("columns"), rows = params.at("rows"), terms = params.at("terms");
  const int threads = kAcross * (rows / kRowsOfThread);
  Func out = output_of(kernel), sum = *product_of(kernel), right = anchor_stage(kernel, "right");
  const Func left = anchor_of(kernel).inputs.at(0).func();

  // What the operands are made of is stored, as in the fallback; the operands are computed where they are
  // copied.
  std::set<std::string> read = read_by_anchor(kernel);
  read.erase(out.name());
  StoredLaunches(kernel, sheet).store(read);

  const Var block("block"), thread("thread"), across("across"), down("down"), column("column"), row("row");
  const Var block_column("block_column"), block_row("block_row"), inside_column("inside_column"),
      inside_row("inside_row");
  const std::vector<Var> axes = out.args();
  out.compute_root()
      .split(axes[0], block_column, inside_column, columns, TailStrategy::RoundUp)
      .split(inside_column, column, across, kAcross, TailStrategy::RoundUp)
      .split(axes[1], block_row, inside_row, rows, TailStrategy::RoundUp)
      .split(inside_row, down, row, kRowsOfThread, TailStrategy::RoundUp)
      .reorder(column, row, across, down, block_column, block_row)
      .unroll(column)
      .unroll(row)
      .fuse(across, down, thread)
      .gpu_threads(thread);
  Var item("item");
  out.fuse(block_column, block_row, item);
  for (size_t i = 2; i < axes.size(); ++i) {
    const Var joined("item" + std::to_string(i));
    out.fuse(item, axes[i], joined);
    item = joined;
  }
  out.rename(item, block).gpu_blocks(block);

  const std::vector<Var> results = sum.args();
  sum.compute_at(out, block)
      .store_in(Halide::MemoryType::Register)
      .split(results[0], column, across, kAcross, TailStrategy::RoundUp)
      .split(results[1], down, row, kRowsOfThread, TailStrategy::RoundUp)
      .reorder(column, row, across, down)
      .unroll(column)
      .unroll(row)
      .fuse(across, down, thread)
      .gpu_threads(thread);
  const RVar all = sum.rvars(0).at(0), pieces("pieces"), term("term");
  sum.update()
      .split(results[0], column, across, kAcross, TailStrategy::RoundUp)
      .split(results[1], down, row, kRowsOfThread, TailStrategy::RoundUp)
      .split(all, pieces, term, terms)
      .reorder({column, row, term, across, down, pieces})
      .unroll(column)
      .unroll(row)
      .unroll(term)
      .fuse(across, down, thread)
      .gpu_threads(thread);
  share(left, sum, pieces, threads);
  share(right, sum, pieces, threads);
  right.in(sum).align_storage(right.args()[0], columns + 1);
}

LoopCounts gpu_shared_loops(const LoopsOf& of, const ScheduleParams& params) {
  LoopCounts counts = product_loops(of, loop_param(params, "rows"), 1);
  counts.row_step = counts.rows;
  return counts;
}

}  // namespace

bool has_shared_tiles(int64_t rows, int64_t columns, int64_t terms) {
  for (const auto& [what, size] : tiles_for(rows, columns, terms))
    if (!size) return false;
  return true;
}

const ScheduleTemplate& template_gpu_shared() {
  static const ScheduleTemplate def = {
      .name = "gpu_shared",
      .doc = "matrix products: blocks of threads copy their operands to shared memory, results in registers",
      .refuses = gpu_shared_refuses,
      .default_params = gpu_shared_default_params,
      .candidates = gpu_shared_candidates,
      .apply = gpu_shared_apply,
      .loops = gpu_shared_loops,
  };
  return def;
}

}  // namespace baton

// Kernels of several products, or of a product whose result others take apart, such as the cells of recurrent
// networks: each product is scheduled by its own template, with what follows in place, and its result is
// stored. So are the results of the kernel, what products read and what several operators read; all else is
// computed where it is read. Such results are small: they stay in the first-level cache.
#include <algorithm>
#include <set>

#include "baton/schedule/common.h"

namespace baton {
namespace {

using Halide::Func;
using Halide::Var;

bool is_product(const OpBlock& block) { return block.op->fuse == Fuse::kOutFusable; }

/// A product and what follows it in place, as a kernel of its own.
struct Part {
  std::vector<int> blocks;  ///< ascending
  LoweredKernel kernel;
};

Tensor result_of(const OpBlock& block) {
  const auto* type = as_type<TensorTypeNode>(block.call->checked_type());
  return {block.results.front(), type->shape(), type->dtype()};
}

/// The only block that reads block `of`; -1: there is none, or several, or it is a result of the kernel.
int only_reader(const LoweredKernel& kernel, int of) {
  if (kernel.blocks[static_cast<size_t>(of)].consumers != 1) return -1;
  for (size_t i = static_cast<size_t>(of) + 1; i < kernel.blocks.size(); ++i)
    if (std::ranges::find(kernel.blocks[i].producers, of) != kernel.blocks[i].producers.end())
      return static_cast<int>(i);
  return -1;
}

/// The result type of a block with one result; null for others.
const TensorTypeNode* tensor_of(const OpBlock& block) {
  return as_type<TensorTypeNode>(block.call->checked_type());
}

bool follows_in_place(const OpBlock& block, const OpBlock& product) {
  const TensorTypeNode *type = tensor_of(block), *of = tensor_of(product);
  return block.op->fuse <= Fuse::kBroadcast && type && of && type->shape() == of->shape();
}

Part part_from(const LoweredKernel& kernel, int product) {
  const OpBlock& anchor = kernel.blocks[static_cast<size_t>(product)];
  Part part{{product}, {}};
  for (int next = only_reader(kernel, product); next >= 0; next = only_reader(kernel, next)) {
    if (!follows_in_place(kernel.blocks[static_cast<size_t>(next)], anchor)) break;
    part.blocks.push_back(next);
  }
  part.kernel.name = kernel.name, part.kernel.anchor = 0;
  part.kernel.inputs = kernel.inputs, part.kernel.input_dims = kernel.input_dims;
  part.kernel.extents = kernel.extents, part.kernel.usual = kernel.usual;
  for (const int block : part.blocks) {
    OpBlock own = kernel.blocks[static_cast<size_t>(block)];
    for (int& producer : own.producers) {
      const auto at = std::ranges::find(part.blocks, producer);
      producer = at == part.blocks.end() ? -1 : static_cast<int>(at - part.blocks.begin());
    }
    part.kernel.blocks.push_back(std::move(own));
  }
  part.kernel.outputs = {result_of(part.kernel.blocks.back())};
  return part;
}

std::vector<Part> parts_of(const LoweredKernel& kernel) {
  std::vector<Part> parts;
  for (size_t i = 0; i < kernel.blocks.size(); ++i)
    if (is_product(kernel.blocks[i])) parts.push_back(part_from(kernel, static_cast<int>(i)));
  return parts;
}

/// What is stored beside the results of parts.
std::vector<Tensor> stored_values(const LoweredKernel& kernel, const std::vector<Part>& parts) {
  std::set<std::string> done;
  std::set<int> within, multiplied;
  for (const Part& part : parts) {
    within.insert(part.blocks.begin(), part.blocks.end());
    done.insert(part.kernel.outputs.front().func().name());
    const std::vector<int>& operands = kernel.blocks[static_cast<size_t>(part.blocks.front())].producers;
    multiplied.insert(operands.begin(), operands.end());
  }
  std::vector<Tensor> stored;
  for (size_t i = 0; i < kernel.blocks.size(); ++i) {
    const OpBlock& block = kernel.blocks[i];
    if (within.contains(static_cast<int>(i)) || !tensor_of(block)) continue;
    // What only moves elements is no work to do twice.
    const bool several = block.consumers > 1 && block.op->fuse <= Fuse::kBroadcast;
    if (!several && !multiplied.contains(static_cast<int>(i))) continue;
    stored.push_back(result_of(block));
    done.insert(stored.back().func().name());
  }
  for (const Tensor& output : kernel.outputs)
    if (done.insert(output.func().name()).second) stored.push_back(output);
  return stored;
}

std::string parts_refuses(const LoweredKernel& kernel, const DeviceSheet&) {
  if (kernel.anchor < 0) return "no heavy operator in the kernel";
  const std::string empty = refuses_empty(kernel);
  if (!empty.empty()) return empty;
  for (const OpBlock& block : kernel.blocks) {
    if (is_product(block)) {
      if (!tensor_of(block)) return block.op->name + " has several results";
      continue;
    }
    if (block.op->fuse > Fuse::kInjective) return block.op->name + " is not element by element";
    for (const Stage& stage : block.stages)
      if (stage.func.has_update_definition()) return block.op->name + " has a reduction";
  }
  const std::vector<Part> parts = parts_of(kernel);
  return parts.size() + stored_values(kernel, parts).size() < 2 ? "one part" : "";
}

/// The parameters of the last product, the kernel's anchor, have the names of its template; those of others
/// end in their number, from 2 on, backwards.
std::string name_of(const std::string& param, size_t part, size_t parts) {
  const size_t back = parts - part;
  return back == 1 ? param : param + "_" + std::to_string(back);
}

ScheduleParams params_of(const ScheduleParams& all, const ScheduleParams& like, size_t part, size_t parts) {
  ScheduleParams own = like;
  for (auto& [name, value] : own)
    if (const auto at = all.find(name_of(name, part, parts)); at != all.end()) value = at->second;
  return own;
}

void set_params(ScheduleParams& all, const ScheduleParams& own, size_t part, size_t parts) {
  for (const auto& [name, value] : own) all[name_of(name, part, parts)] = value;
}

ScheduleParams parts_default_params(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const std::vector<Part> parts = parts_of(kernel);
  ScheduleParams all;
  for (size_t i = 0; i < parts.size(); ++i)
    set_params(all, find_template(parts[i].kernel, sheet).default_params(parts[i].kernel, sheet), i,
               parts.size());
  return all;
}

/// One part after the other, the rest by default.
std::vector<ScheduleParams> parts_candidates(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  const std::vector<Part> parts = parts_of(kernel);
  const ScheduleParams first = parts_default_params(kernel, sheet);
  std::vector<ScheduleParams> all{first};
  for (size_t i = 0; i < parts.size(); ++i)
    for (const ScheduleParams& own :
         find_template(parts[i].kernel, sheet).candidates(parts[i].kernel, sheet)) {
      ScheduleParams params = first;
      set_params(params, own, i, parts.size());
      if (params != first) all.push_back(std::move(params));
    }
  return all;
}

/// Stores a Func that others of the kernel read: of exactly its elements, so that loops keep within operands.
void store(const Tensor& value) {
  Func func = value.func();
  const std::vector<Var> args = func.args();
  func.compute_root();
  for (int d = 0; d < value.rank(); ++d)
    func.bound(args[static_cast<size_t>(d)], 0, as_expr(value.dim(value.rank() - 1 - d)));
}

/// One loop nest, in vectors.
void schedule_elements(LoweredKernel& kernel, const Tensor& value, const DeviceSheet& sheet) {
  Func func = value.func();
  if (value.rank() == 0) return;
  const std::vector<Var> args = func.args();
  const Dim last = value.dim(-1);
  const auto length = static_cast<int>(kernel.usual_extent(last));
  const int lanes = std::min(lanes_of(func.types().front(), sheet), length);
  const Var lane("lane");
  int64_t elements = 1;
  for (const int64_t extent : usual_shape(kernel, value.dims())) elements *= extent;
  func.split(args[0], args[0], lane, lanes, inside(kernel, last, lanes, lanes)).vectorize(lane);
  if (value.rank() > 1 && elements >= kParallelElements) func.parallel(args.back());
}

void parts_apply(LoweredKernel& kernel, const ScheduleParams& params, const DeviceSheet& sheet) {
  std::vector<Part> parts = parts_of(kernel);
  for (const Tensor& value : stored_values(kernel, parts)) {
    store(value);
    schedule_elements(kernel, value, sheet);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    LoweredKernel& own = parts[i].kernel;
    const ScheduleTemplate& of = find_template(own, sheet);
    store(own.outputs.front());
    of.apply(own, params_of(params, of.default_params(own, sheet), i, parts.size()), sheet);
    kernel.streams.insert(kernel.streams.end(), own.streams.begin(), own.streams.end());
    for (const LeastExtent& each : own.least) kernel.takes_for_granted(each.dim, each.least, each.lanes);
  }
}

LoopCounts parts_loops(const LoopsOf& of, const ScheduleParams& params) {
  LoopCounts counts = product_loops(of, loop_param(params, "tile_m"), loop_param(params, "tile_n"));
  counts.row_step = counts.rows;
  return counts;
}

}  // namespace

const ScheduleTemplate& template_parts() {
  static const ScheduleTemplate def = {
      .name = "parts",
      .doc =
          "several products, or one whose result is taken apart: each by its own template, stored in between",
      .refuses = parts_refuses,
      .default_params = parts_default_params,
      .candidates = parts_candidates,
      .apply = parts_apply,
      .loops = parts_loops,
      .usual = {kUsualExtent, 16, 8, 3, 2, 1},
  };
  return def;
}

}  // namespace baton

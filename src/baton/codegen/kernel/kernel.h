#pragma once
// What a kernel is, without Halide: the request for one, its variants, and what is known of it once compiled.
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/inspect.h"
#include "baton/ir/rules/cost.h"

namespace baton {

/// How a kernel differs from the one that ships. All variants of a function take the same arguments.
struct KernelVariant {
  bool marked = false;   ///< stamps a clock at the boundaries of its stages (design D4, method S)
  bool doubled = false;  ///< and one more at the same place: measures the empty interval
  std::set<std::string>
      merged;  ///< stages (MarkSite::name) that are not marked: their time goes to what encloses them
  std::set<int> ablated;  ///< blocks replaced by their first data input (method B)
  int twin = 0;           ///< n > 0: the n-th equal build of its own, for the noise between equal builds
  bool within =
      false;  ///< marks also stages that stand directly in the result's loops and are of its operator
  std::string debug_lines;  ///< the absolute folder of the Relay text that its debug information leads to;
                            ///< empty: none

  bool plain() const { return !marked && ablated.empty() && twin == 0; }
  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

/// One operator call of a fused function: a block of its kernel.
struct KernelBlock {
  Call call;
  std::vector<int> producers;  ///< per flattened input: the block that makes it, or -1
};

/// A stage that is not marked: its time is in what encloses it.
struct HeldStage {
  int block = -1;
  std::string stage;
  friend bool operator==(const HeldStage&, const HeldStage&) = default;
};

/// A place in a kernel where a clock is stamped: mark `id` opens stage `stage` of block `block`.
struct MarkSite {
  int id = 0;
  int block = -1;  ///< -1: no operator's (a copy that the compiler added)
  std::string stage;
  std::string name;              ///< unique in the kernel: "b0_nn_conv2d__pad"
  std::vector<HeldStage> holds;  ///< what was merged into this one, in the order met
  friend bool operator==(const MarkSite&, const MarkSite&) = default;
};

/// Named integers that a schedule template is steered by (schedule/template.h has the same type).
using KernelParams = std::map<std::string, int>;

struct KernelRequest {
  Function function;  ///< typed, straight-line: calls of operators, tuples, constants
  KernelVariant variant;
  std::string template_name;  ///< empty: the first template that takes it
  KernelParams params;        ///< empty: the template's own choice
};

/// A compiled kernel: the same for all functions that are equal but for names and origins, so it holds no
/// calls (kernel_blocks() of the function gives them). `object` defines the symbols `symbol` and
/// `symbol`_argv.
struct Kernel {
  uint64_t key = 0;
  std::string symbol;  ///< "baton_k" and the key in hexadecimal
  std::string object;
  std::string template_name;
  KernelParams params;
  std::vector<std::vector<std::string>> stages;  ///< per block: its stages, in the order made
  std::vector<std::string> skipped;  ///< "template: why it does not take this kernel", in the order asked
  std::vector<MarkSite> marks;       ///< of a marked variant, ascending by id
  CostFacts facts;                   ///< of the whole kernel
  std::vector<CostFacts> block_facts;
  bool from_cache = false;
  double compile_s = 0;  ///< when not from the cache
};
using KernelRef = std::shared_ptr<const Kernel>;

/// "b0_nn_conv2d": how a block is called in Halide Funcs and stage names.
std::string block_name(const std::vector<KernelBlock>& blocks, int block);

/// The operator calls of a fused function in topological order, arguments first: the blocks of its kernel.
std::vector<KernelBlock> kernel_blocks(const FunctionNode& function);

}  // namespace baton

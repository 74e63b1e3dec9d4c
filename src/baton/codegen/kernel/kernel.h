#pragma once
// Kernel requests, variants and compiled kernels, independent of Halide.
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/inspect.h"
#include "baton/ir/rules/cost.h"
#include "baton/support/base/checksum.h"

namespace baton {

/// How a kernel differs from the shipped one. All variants of a function take the same arguments.
struct KernelVariant {
  bool marked = false;   ///< takes timestamps at the boundaries of its stages (design D4, method S)
  bool doubled = false;  ///< takes two timestamps at each place: measures the empty interval
  std::set<std::string>
      merged;               ///< stages (MarkSite::name) without marks: their time goes to the enclosing stage
  std::set<int> ablated;    ///< blocks replaced by one of their data inputs (method B)
  int twin = 0;             ///< n > 0: the n-th identical build, to measure noise between builds
  bool within = false;      ///< also marks stages of the result's operator directly in the result's loops
  std::string debug_lines;  ///< the absolute folder of the Relay text that debug information refers to;
                            ///< empty: none

  bool plain() const { return !marked && ablated.empty() && twin == 0; }
  friend bool operator==(const KernelVariant&, const KernelVariant&) = default;
};

/// One operator call of a fused function: a block of its kernel.
struct KernelBlock {
  Call call;
  std::vector<int> producers;  ///< per flattened input: the block that computes it, or -1
};

/// A stage without marks: its time is attributed to the enclosing stage.
struct HeldStage {
  int block = -1;
  std::string stage;
  friend bool operator==(const HeldStage&, const HeldStage&) = default;
};

/// A timestamp in a kernel: mark `id` begins stage `stage` of block `block`.
struct MarkSite {
  int id = 0;
  int block = -1;  ///< -1: no operator (a copy inserted by the compiler)
  std::string stage;
  std::string name;              ///< unique in the kernel: "b0_nn_conv2d__pad"
  std::vector<HeldStage> holds;  ///< stages merged into this one, in first-seen order
  friend bool operator==(const MarkSite&, const MarkSite&) = default;
};

/// Named integer parameters of a schedule template (schedule/template.h has the same type).
using KernelParams = std::map<std::string, int>;

struct KernelRequest {
  Function function;  ///< typed, straight-line: calls of operators, tuples, constants
  KernelVariant variant;
  std::string template_name;  ///< empty: the first applicable template
  KernelParams params;        ///< empty: the template's defaults
  bool strict = false;        ///< each operation is rounded by itself, in the order of the schedule: no fused
                              ///< multiply-add, no algebra on floats
};

/// Identifies a kernel: kernel_key.h.
using KernelKey = Digest;

/// The schedule of a kernel with symbolic extents where they fulfil a condition; the first that does is used.
struct ExtentCase {
  std::string condition;      ///< "extent0 >= 14": of the i-th of kernel_extents(); empty: all others
  std::string template_name;  ///< "none": the results have no value, and are left as they are
  KernelParams params;
  std::vector<int> undefined =
      {};  ///< where these extents, by number, are 0 there is no result; template "none"
  friend bool operator==(const ExtentCase&, const ExtentCase&) = default;
};
/// `text`, such as its condition, in the names of the function's variables: "n >= 14".
std::string with_extent_names(std::string text, const FunctionNode& function);

/// A compiled kernel. Shared by all functions that are equal except for names and origins, so it stores no
/// calls (get them from kernel_blocks() of the function). `object` defines the symbols `symbol` and
/// `symbol`_argv.
struct Kernel {
  KernelKey key;
  std::string symbol;  ///< "baton_k" and the key in hexadecimal
  std::string object;
  std::string template_name;
  KernelParams params;
  std::vector<ExtentCase> cases = {};  ///< of a kernel with several schedules; the first are those above
  std::vector<std::vector<std::string>> stages;  ///< per block: its stages, in creation order
  std::vector<std::string> skipped;  ///< "template: why it does not take this kernel", in the order asked
  std::vector<std::vector<int>> steps = {};  ///< of a library's region: the blocks that each step computes
  std::vector<MarkSite> marks;               ///< of a marked variant, ascending by id
  CostFacts facts;                           ///< of the whole kernel
  std::vector<CostFacts> block_facts;
  bool from_cache = false;
  /// Seconds of a thread; 0 when loaded from the cache. Parts of it: choosing template and parameters, and
  /// lowering by Halide; the rest is LLVM's.
  double compile_s = 0, choose_s = 0, lower_s = 0;
};
using KernelRef = std::shared_ptr<const Kernel>;

/// "b0_nn_conv2d": the block's name in Halide Funcs and stage names.
std::string block_name(const std::vector<KernelBlock>& blocks, int block);

/// The operator calls of a fused function in topological order, arguments first: the blocks of its kernel.
std::vector<KernelBlock> kernel_blocks(const FunctionNode& function);

}  // namespace baton

#pragma once
// Loops that are cut into regions in which conditions on the loop are constant: which part of a concatenate
// an element comes from, whether it lies in a pad's border. Without cuts every element would read all parts
// and select one. For .cc files of schedule only.
#include <optional>
#include <string>
#include <vector>

#include "baton/schedule/condition_cuts.h"
#include "baton/schedule/template.h"

namespace baton {

/// The value of a pure Func, calls of other pure Funcs replaced by theirs; undefined when it is too large.
Halide::Expr inlined_value(const Halide::Func& func);

/// The loops over `output`, in Halide's order.
std::vector<LoopRange> loops_over(const Tensor& output);
/// The same of a tensor of shape `shape`: symbolic extents as usual ones.
std::vector<LoopRange> loops_over(const Tensor& output, const std::vector<int64_t>& shape);
/// The loops over what `reader` reads of `func` in its update definition, when its own loops are `loops` (of
/// its dimensions, in Halide's order); nullopt where bounds are not constant.
std::optional<std::vector<LoopRange>> loops_read(const Halide::Func& reader,
                                                 const std::vector<LoopRange>& loops,
                                                 const Halide::Func& func);

/// `begins`: ascending; a region ends where the next one begins.
struct LoopRegions {
  int dim = 0;  ///< in Halide's order
  std::vector<int> begins;

  int count() const { return static_cast<int>(begins.size()); }
};

/// The loop of `func` whose regions make the most conditions constant; nullopt when no condition depends on
/// one loop alone. `func` and what it reads must be pure.
std::optional<LoopRegions> find_regions(const Halide::Func& func, const std::vector<LoopRange>& loops);

/// One region of a Func, or several of one extent behind one another: an update definition. An outermost loop
/// over these is unrolled already.
struct RegionLoops {
  Halide::Stage stage;
  std::vector<Halide::VarOrRVar> loops;  ///< innermost first, in the order of the Func's dimensions
  std::vector<Dim> extents;
};
/// Defines `func` anew, region by region; in each, conditions that are constant there are gone.
std::vector<RegionLoops> define_by_regions(Halide::Func func, const std::vector<LoopRange>& loops,
                                           const LoopRegions& regions);

struct RegionCopy {
  Halide::Func func;
  std::vector<RegionLoops> regions;
};
/// A copy of `func` defined region by region, which the update definition of `reader` reads instead of
/// `func`: Halide lets nobody define anew what others use already.
RegionCopy copy_by_regions(const Halide::Func& func, Halide::Func reader, const std::vector<LoopRange>& loops,
                           const LoopRegions& regions);

/// The read of `from` in the update definition of `reader`; null unless there is one of each.
const Halide::Internal::Call* only_read(Halide::Func reader, const Halide::Func& from);

/// The updates of `reader` read `to` where they read `from`.
void replace_calls(Halide::Func reader, const Halide::Func& from, const Halide::Func& to);

}  // namespace baton

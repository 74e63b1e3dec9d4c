#pragma once
// A part of a program given to another compiler, before optimisation: compiler_begin where a value enters it,
// compiler_end where one leaves it.
#include "baton/driver/cut/cut_choice.h"

namespace baton {

struct MarkedModule {
  IRModule module;  ///< typed; the table of origins is that of the program
  std::vector<CutOperator> operators, left_out;
};

/// Marks the chosen steps of `graph`'s program for `compiler`. Operators without inputs cannot be in a
/// region: they stay outside, and are in left_out. Throws NotSupported for branches and loops among the
/// chosen, Error when nothing can be marked.
MarkedModule mark_region(const CutGraph& graph, const CutChoice& choice, const std::string& compiler,
                         const BuildContext& context);

/// MergeCompilerRegions, then PartitionGraph: regions as functions of the module.
IRModule partition_marked(const IRModule& marked, const BuildContext& context);

}  // namespace baton

#pragma once
// Annotates a part of a program for an external compiler before optimization: compiler_begin where a value
// enters the region, compiler_end where one leaves it.
#include "baton/driver/cut/cut_choice.h"

namespace baton {

struct MarkedModule {
  IRModule module;  ///< typed; has the origin table of the program
  std::vector<CutOperator> operators, left_out;
};

/// Annotates the chosen steps of `graph`'s program for `compiler`. Operators without inputs cannot be in a
/// region; they stay outside and are listed in left_out. Throws NotSupported for chosen branches and loops,
/// Error when nothing can be annotated.
MarkedModule mark_region(const CutGraph& graph, const CutChoice& choice, const std::string& compiler,
                         const BuildContext& context);

/// MergeCompilerRegions, then PartitionGraph: outlines regions as functions of the module.
IRModule partition_marked(const IRModule& marked, const BuildContext& context);

}  // namespace baton

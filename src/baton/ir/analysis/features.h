#pragma once
// Which forms of the language a program uses: passes and executors that do not take all of them ask first.
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "baton/ir/module.h"

namespace baton {

/// Numbers as in TVM.
enum class Feature : uint8_t {
  kVar,
  kGlobalVar,
  kConstant,
  kTuple,
  kTupleGetItem,
  kFunction,
  kOp,
  kCall,
  kLet,
  kIf,
  kRefCreate,
  kRefRead,
  kRefWrite,
  kConstructor,
  kMatch,
  kGraph,   ///< a value that is used more than once without a name: calls, tuples, ... but no leaves
  kLetRec,  ///< a let whose value refers to its own variable
};

std::set<Feature> features(const Expr& root);
std::set<Feature> features(const IRModuleNode& module);

/// How many calls of each operator there are; a call that is used twice counts once.
std::map<std::string, int64_t> op_frequencies(const IRModuleNode& module);

/// The dtypes of all tensors in the types of `root`. Throws Error when a part of it has no type yet.
std::set<std::string> all_dtypes(const Expr& root);

}  // namespace baton

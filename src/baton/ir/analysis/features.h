#pragma once
// Detects the language features a program uses, for passes and executors that support only some.
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
  kGraph,   ///< a non-leaf value used more than once without a let
  kLetRec,  ///< a let whose value refers to its own variable
};

std::set<Feature> features(const Expr& root);
std::set<Feature> features(const IRModuleNode& module);

/// The number of calls of each operator; a shared call counts once.
std::map<std::string, int64_t> op_frequencies(const IRModuleNode& module);

/// The dtypes of all tensors in the types of `root`. Throws Error when an expression in it is untyped.
std::set<std::string> all_dtypes(const Expr& root);

}  // namespace baton

#pragma once
// Abstract values of the partial evaluator, and the limit on unrolling recursion.
#include <optional>
#include <unordered_map>
#include <vector>

#include "baton/ir/adt.h"
#include "baton/ir/module.h"
#include "baton/support/pointer_map.h"

namespace baton::partial {

class Value;
using ValueRef = Ref<const Value>;

/// A possibly unknown value, and the atom that denotes it in the residual program.
class Value : public RefCounted {
 public:
  enum class Kind : uint8_t { kUnknown, kTensor, kTuple, kCell, kClosure, kCallee, kData };
  Kind kind = Kind::kUnknown;
  Expr atom;
  uint64_t time = 0;  ///< creation order
  NDArray tensor;     ///< kTensor; has the origins of the operators folded into it
  OriginSet origins = OriginSet::none();
  std::vector<ValueRef> fields;  ///< of a kTuple; arguments of a kData
  uint64_t cell = 0;             ///< kCell: its index in the store
  Expr callee;        ///< kCallee: a constructor, or a function that is not inlined; kData: its constructor
  Function function;  ///< kClosure
  const VarNode* self = nullptr;  ///< ... the variable for recursive references
  std::vector<std::pair<const VarNode*, ValueRef>> captured;
  std::vector<TypeVar> type_vars;  ///< values of captured type variables
  std::vector<Type> types;
};

/// The contents of references. A branch or function body sees the contents before it, if these are known to
/// be unmodified; its own writes are not visible outside.
class Store {
 public:
  Store() { frames_.emplace_back(); }
  size_t open() {
    frames_.emplace_back();
    return frames_.size() - 1;
  }
  void close(size_t opened) { frames_.resize(opened); }
  void write(uint64_t cell, ValueRef value) { frames_.back().cells[cell] = std::move(value); }
  /// Invalidates everything: any reference may have been written.
  void forget() {
    frames_.back().cells.clear();
    frames_.back().sees_before = false;
  }
  /// Null when unknown.
  ValueRef read(uint64_t cell) const;

 private:
  struct Frame {
    std::unordered_map<uint64_t, ValueRef> cells;
    bool sees_before = true;
  };
  std::vector<Frame> frames_;
};

/// Limits unrolling: a recursive call is inlined only while an argument decreases, i.e. it is a smaller
/// integer or an older value (the tail of a list is older than the list).
class Fuel {
 public:
  /// Whether to inline; if true, call leave() afterwards.
  bool enter(const FunctionNode* function, const std::vector<ValueRef>& args);
  void leave(const FunctionNode* function) { activations_[function].pop_back(); }

 private:
  struct Arg {
    uint64_t time;
    std::optional<uint64_t> number;
  };
  static std::optional<uint64_t> number_of(const Value& value);
  std::unordered_map<const FunctionNode*, std::vector<std::vector<Arg>>> activations_;
};

enum class Fit : uint8_t { kNo, kYes, kUnknown };
/// Whether `pattern` matches; adds the variables it binds to `bound`.
Fit fits(const Pattern& pattern, const ValueRef& value, std::vector<std::pair<Var, ValueRef>>& bound);

}  // namespace baton::partial

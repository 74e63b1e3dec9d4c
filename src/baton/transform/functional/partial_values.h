#pragma once
// What the partial evaluator knows of values, and of how far a recursion may be followed.
#include <optional>
#include <unordered_map>
#include <vector>

#include "baton/ir/adt.h"
#include "baton/ir/module.h"
#include "baton/support/pointer_map.h"

namespace baton::partial {

class Value;
using ValueRef = Ref<const Value>;

/// A value as far as it is known, and the atom that stands for it in the program that is being written.
class Value : public RefCounted {
 public:
  enum class Kind : uint8_t { kUnknown, kTensor, kTuple, kCell, kClosure, kCallee, kData };
  Kind kind = Kind::kUnknown;
  Expr atom;
  uint64_t time = 0;  ///< values are numbered as they come into being
  NDArray tensor;     ///< kTensor; its origins are those that were folded into it
  OriginSet origins = OriginSet::none();
  std::vector<ValueRef> fields;  ///< kTuple, and the arguments of a kData
  uint64_t cell = 0;             ///< kCell: its number in the store
  Expr callee;        ///< kCallee: a constructor, or a function that is not entered; kData: its constructor
  Function function;  ///< kClosure
  const VarNode* self = nullptr;  ///< ... under which it knows itself
  std::vector<std::pair<const VarNode*, ValueRef>> captured;
  std::vector<TypeVar> type_vars;  ///< what type variables from outside stand for
  std::vector<Type> types;
};

/// What is in the cells of the program. Inside a branch or a function's body everything is seen that was
/// before, if it is known that nothing changed it; what happens there is not seen outside.
class Store {
 public:
  Store() { frames_.emplace_back(); }
  size_t open() {
    frames_.emplace_back();
    return frames_.size() - 1;
  }
  void close(size_t opened) { frames_.resize(opened); }
  void write(uint64_t cell, ValueRef value) { frames_.back().cells[cell] = std::move(value); }
  /// Anything may have been written.
  void forget() {
    frames_.back().cells.clear();
    frames_.back().sees_before = false;
  }
  /// Null when it is not known.
  ValueRef read(uint64_t cell) const;

 private:
  struct Frame {
    std::unordered_map<uint64_t, ValueRef> cells;
    bool sees_before = true;
  };
  std::vector<Frame> frames_;
};

/// A function is entered again inside itself only while an argument gets smaller: it is a smaller integer, or
/// a value that is older (the rest of a list is older than the list).
class Fuel {
 public:
  /// Whether to enter; then leave() must follow.
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
/// Whether `pattern` fits; the variables that it binds are added to `bound`.
Fit fits(const Pattern& pattern, const ValueRef& value, std::vector<std::pair<Var, ValueRef>>& bound);

}  // namespace baton::partial

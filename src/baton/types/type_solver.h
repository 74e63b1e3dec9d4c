#pragma once
// Types with holes and their unification: union-find over holes, and the relations that are deferred on each
// hole.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/type.h"
#include "baton/support/pointer_map.h"

namespace baton {

class TypeSolver {
 public:
  using Waiter = uint32_t;

  TypeSolver() : error_(incomplete_type()) {}

  Type fresh() { return incomplete_type(); }
  /// Stands for the type of what has a reported mistake: it fits everywhere, so that no second error follows.
  const Type& error() const { return error_; }
  bool is_error(const Type& type) const { return type == error_; }

  /// `type`, or what the hole `type` is bound to; a hole's representative while it is unbound. The inside is
  /// not looked at.
  Type resolve(const Type& type);
  /// `type` with all bound holes inside replaced; the same object when there are none.
  Type settle(const Type& type);

  struct Mismatch {
    std::string why;  ///< "axis 1 is 63 on one side and 64 on the other"; may be empty
  };
  /// Makes both equal as far as they are known and returns what they are; nothing when they differ. `?` with
  /// anything is `?`.
  std::optional<Type> unify(const Type& a, const Type& b, Mismatch* mismatch);

  /// A polymorphic function type with a fresh hole for each of its type parameters.
  Type instantiate(const FuncTypeNode& function);

  /// The holes in `type` (settled), each once.
  void holes(const Type& type, std::vector<Type>& into);
  /// `waiter` is handed out by `take_woken` when `hole` is bound.
  void wait(const Type& hole, Waiter waiter);
  /// The waiters of holes that were bound since the last call, in the order they were woken.
  std::vector<Waiter> take_woken() { return std::exchange(woken_, {}); }
  bool has_woken() const { return !woken_.empty(); }

 private:
  struct Hole {
    Type bound;  // null while unbound; may be another hole
    std::vector<Waiter> waiters;
  };

  Hole& hole(const Type& type);
  Type representative(const Type& type);
  void bind(const Type& hole, const Type& type);
  bool occurs(const Type& hole, const Type& type);
  std::optional<Type> unify_functions(const Type& a, const Type& b, Mismatch* mismatch);
  std::optional<Type> unify_tensors(const TensorTypeNode& a, const TensorTypeNode& b, const Type& same,
                                    Mismatch* mismatch);
  std::optional<std::vector<Type>> unify_lists(const std::vector<Type>& a, const std::vector<Type>& b,
                                               const char* what, Mismatch* mismatch);

  Type error_;
  PointerMap<uint32_t> ids_;
  std::vector<Hole> holes_;
  std::vector<Type> kept_;  // keeps alive: holes, and types that were replaced and may still be referred to
  std::vector<Waiter> woken_;
};

}  // namespace baton

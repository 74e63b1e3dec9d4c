#pragma once
// Types with holes and their unification: union-find over holes, and the relations deferred on each hole.
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
  /// The type of nodes with a reported error: it unifies with everything, which suppresses follow-up errors.
  const Type& error() const { return error_; }
  bool is_error(const Type& type) const { return type == error_; }

  /// `type`, or what the hole `type` is bound to; for an unbound hole its representative. Shallow: nested
  /// types are not resolved.
  Type resolve(const Type& type);
  /// `type` with all nested bound holes replaced; the same object when there are none.
  Type settle(const Type& type);

  struct Mismatch {
    std::string why;  ///< "axis 1 is 63 on one side and 64 on the other"; may be empty
  };
  /// Unifies both types and returns the result; nullopt on mismatch. `?` with anything is `?`. A variable of
  /// symbolic extents that meets a number has that value until forget_extents.
  std::optional<Type> unify(const Type& a, const Type& b, Mismatch* mismatch);

  void forget_extents() { extents_.clear(); }

  /// The function type with its type parameters replaced by fresh holes.
  Type instantiate(const FuncTypeNode& function);

  /// Collects the distinct holes in `type`, which must be settled.
  void holes(const Type& type, std::vector<Type>& into);
  /// Registers `waiter` with `hole`; take_woken returns it once the hole is bound.
  void wait(const Type& hole, Waiter waiter);
  /// The waiters of holes bound since the last call, in wake-up order.
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
  std::optional<Dim> unify_extents(Dim a, Dim b);
  std::optional<std::vector<Type>> unify_lists(const std::vector<Type>& a, const std::vector<Type>& b,
                                               const char* what, Mismatch* mismatch);

  Type error_;
  PointerMap<uint32_t> ids_;
  std::vector<Hole> holes_;
  std::vector<Type> kept_;  // keeps alive holes, and replaced types that may still be referenced
  std::vector<Waiter> woken_;
  std::vector<std::pair<Dim, Dim>> extents_;  // variables of symbolic extents, and their values
};

}  // namespace baton

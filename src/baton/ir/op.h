#pragma once
// Operators: the record of one (OpDef) and the table of all. Each operator is one block, in one file under
// ops/; all facts about an operator are fields of its block.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/type.h"
#include "baton/support/diagnostic.h"

namespace baton {

/// How an operator may be fused, ordered by how much it restricts (numbers as in TVM's TOpPattern).
enum class Fuse : uint8_t {
  kElementwise = 0,
  kBroadcast = 1,
  kInjective = 2,
  kCommReduce = 3,
  kOutFusable = 4,  ///< elementwise operators may follow it in its kernel (conv2d, dense)
  kTuple = 7,
  kOpaque = 8,
};

/// The interface of a type relation: the input types known so far, and unification.
class RelationContext {
 public:
  enum class Status { kDone, kDefer, kFailed };
  virtual ~RelationContext() = default;

  virtual const std::string& op_name() const = 0;
  virtual size_t num_inputs() const = 0;
  /// The current type of input `index`; may be incomplete.
  virtual Type input(size_t index) const = 0;
  /// Unifies the type of an input or of the result with `type`. On mismatch reports a diagnostic and returns
  /// kFailed.
  virtual Status assign(size_t index, const Type& type) = 0;
  virtual Status assign_result(const Type& type) = 0;
  /// The expression of input `index`, for relations that depend on constant values.
  virtual const Expr& arg(size_t index) const = 0;
  /// Reports an error at the call (or at argument `arg` when >= 0) and returns kFailed.
  virtual Status fail(const DiagnosticDef& def, const std::vector<std::string>& values, int arg = -1) = 0;

  /// Input `index` as a tensor type; null while it is incomplete, or for a tuple or function. The relation
  /// then defers; the solver reports an input that can never be a tensor.
  const TensorTypeNode* tensor(size_t index) const { return as_type<TensorTypeNode>(input(index)); }
};
using Relation = std::function<RelationContext::Status(RelationContext&, const Attrs&)>;
inline constexpr auto kDone = RelationContext::Status::kDone;
inline constexpr auto kDefer = RelationContext::Status::kDefer;
inline constexpr auto kFailed = RelationContext::Status::kFailed;

/// Name and documentation are string literals, which it refers to.
struct OpInput {
  OpInput(const char* name, const char* doc) : name(name), doc(doc) {}
  std::string_view name, doc;
};

/// The operands of a cost query: attributes and types of a call; see ir/rules/cost.h.
struct CostQuery;
struct CostFacts;
using CostFn = CostFacts (*)(const CostQuery&);

class Compute;  // ops/compute.h
/// Defines the operator's semantics as Halide Funcs; see ops/compute.h.
using ComputeFn = std::function<void(Compute&, const Attrs&)>;

/// Per-pass rules attached to operators (layouts, scale folding, gradients, ...): one struct per kind,
/// declared by the pass that reads it. Looked up by type.
class OpRules {
 public:
  OpRules();
  OpRules(const OpRules&);
  OpRules(OpRules&&) noexcept;
  OpRules& operator=(const OpRules&);
  OpRules& operator=(OpRules&&) noexcept;
  ~OpRules();

  template <class T>
  void set(T rule) {
    add(&key<T>, make_ref<Held<T>>(std::move(rule)));
  }
  template <class T>
  const T* get() const {
    const RefCounted* held = find(&key<T>);
    return held ? &static_cast<const Held<T>*>(held)->rule : nullptr;
  }

 private:
  template <class T>
  struct Held final : RefCounted {
    explicit Held(T rule) : rule(std::move(rule)) {}
    T rule;
  };
  template <class T>
  static inline const char key = 0;

  void add(const void* key, Ref<const RefCounted> rule);
  const RefCounted* find(const void* key) const;  ///< null: none

  std::vector<std::pair<const void*, Ref<const RefCounted>>> rules_;
};

/// The rules of an operator block: `.rules = op_rules(conv2d_scale_rule())`.
template <class... R>
OpRules op_rules(R... each) {
  OpRules rules;
  (rules.set(std::move(each)), ...);
  return rules;
}

struct OpDef {
  static constexpr int kVariadic = -1;

  // Out of line: each operator's file would compile them.
  OpDef();
  OpDef(const OpDef&);
  OpDef(OpDef&&) noexcept;
  OpDef& operator=(const OpDef&);
  OpDef& operator=(OpDef&&) noexcept;
  ~OpDef();

  std::string name;  ///< "nn.relu"
  std::string doc;
  int num_inputs = 0;  ///< kVariadic: any number
  std::vector<OpInput> inputs;
  const AttrSchema* attrs = nullptr;  ///< null: the operator has no attributes
  Fuse fuse = Fuse::kOpaque;
  Relation relation;
  ComputeFn compute;               ///< null: type-checked only, cannot be executed
  bool non_computational = false;  ///< excluded from fused functions (annotations)
  bool stateful = false;           ///< never merged, folded or eliminated
  bool reshape_only = false;       ///< moves no data: a kernel of only such operators is a `__nop`
  bool data_dependent = false;     ///< the output's shape depends on the inputs' values
  bool declares_attrs =
      true;               ///< false: Relay text prints the attributes as one `meta[...]` with attrs_type_key
  CostFn cost = nullptr;  ///< null: derived from `fuse`
  /// The builder in relay.op: its module, optionally with a name and parameters when these differ from the
  /// default (inputs, then attributes with their defaults): "transform", "nn.dense(data, weight, units=None,
  /// out_dtype='')". Empty: the module is the prefix of the operator's name.
  std::string python;
  OpRules rules;
  /// Test calls for every kernel of the operator: types of the inputs, then attributes, as in "(2, 3)f32,
  /// (3)i32[0, 2], axis=1"; see tests/unit/ops/test_shapes.h. Required when there is a compute.
  std::vector<const char*> test_shapes;
};

/// Adds operators to the table; called once by ops/register.cc, with the entries of ops.def.
void register_ops(const std::vector<const OpDef*>& ops);
/// The operator of that name, or null.
const OpDef* find_op(std::string_view name);
/// All operators, sorted by name.
const std::vector<const OpDef*>& all_ops();
/// The OpNode of `op`: always the same object.
Expr op_expr(const OpDef& op);

// ---- Call builders; origins as in ir/expr.h.

/// A call of operator `op` (InternalError when it is not registered) with `attrs`; null: default attributes.
Call call(std::string_view op, std::vector<Expr> args, Attrs attrs = {}, Span span = {});
/// A call of any callee, operators included.
Call call_expr(Expr callee, std::vector<Expr> args, Attrs attrs = {}, Span span = {});

/// Whether `expr` is a call of the named operator.
bool is_call(const Expr& expr, std::string_view op);

}  // namespace baton

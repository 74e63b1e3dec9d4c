#pragma once
// Operators: what one is (OpDef) and the table of all. Each operator is one block, in one file under ops/;
// whoever wants to know something about an operator asks its block.
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

/// What a type relation sees and does: the inputs as far as they are known, and unification.
class RelationContext {
 public:
  enum class Status { kDone, kDefer, kFailed };
  virtual ~RelationContext() = default;

  virtual const std::string& op_name() const = 0;
  virtual size_t num_inputs() const = 0;
  /// The type of input `index` as known now; it may be a hole.
  virtual Type input(size_t index) const = 0;
  /// Unifies the type of an input, or of the result, with `type`. kFailed (and a diagnostic) when they
  /// differ.
  virtual Status assign(size_t index, const Type& type) = 0;
  virtual Status assign_result(const Type& type) = 0;
  /// The expression of input `index`, for relations that look at constants.
  virtual const Expr& arg(size_t index) const = 0;
  /// Reports a mistake at the call (or at argument `arg` when >= 0) and returns kFailed.
  virtual Status fail(const DiagnosticDef& def, const std::vector<std::string>& values, int arg = -1) = 0;

  /// Input `index` as a tensor type, or null while it is a hole (defer then). Null for a tuple or function
  /// too: defer, and the solver reports that a tensor is needed.
  const TensorTypeNode* tensor(size_t index) const { return as_type<TensorTypeNode>(input(index)); }
};
using Relation = std::function<RelationContext::Status(RelationContext&, const Attrs&)>;
inline constexpr auto kDone = RelationContext::Status::kDone;
inline constexpr auto kDefer = RelationContext::Status::kDefer;
inline constexpr auto kFailed = RelationContext::Status::kFailed;

/// Of string literals, which it refers to.
struct OpInput {
  OpInput(const char* name, const char* doc) : name(name), doc(doc) {}
  std::string_view name, doc;
};

/// What a call costs, from its types and attributes; see ir/rules/cost.h.
struct CostQuery;
struct CostFacts;
using CostFn = CostFacts (*)(const CostQuery&);

class Compute;  // ops/compute.h
/// Builds the operator's meaning as Halide Funcs; see ops/compute.h.
using ComputeFn = std::function<void(Compute&, const Attrs&)>;

/// Rules that single passes read from operators (layouts, scale folding, gradients, ...): one struct per
/// kind, declared by the pass that reads it, attached by the operator. Looked up by type.
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
  ComputeFn compute;               ///< null: cannot be run, only typed
  bool non_computational = false;  ///< left outside fused functions (annotations)
  bool stateful = false;           ///< never merged, folded or dropped
  bool reshape_only = false;       ///< moves no data: a kernel of such operators only is a `__nop`
  bool data_dependent = false;     ///< the output's shape depends on the inputs' values
  bool declares_attrs =
      true;  ///< false: Relay's text gives the attributes as one `meta[...]`, or with attrs_type_key
  CostFn cost = nullptr;  ///< null: by `fuse`
  /// Where relay.op has the operator's builder, and its parameters where they are not the inputs, then the
  /// attributes with their defaults: "transform", "nn.dense(data, weight, units=None, out_dtype='')". Empty:
  /// in the module that its name begins with.
  std::string python;
  OpRules rules;
  /// Calls that every kernel of the operator is tested on: types of the inputs, then attributes, as in "(2,
  /// 3)f32, (3)i32[0, 2], axis=1"; see tests/unit/ops/test_shapes.h. Not empty where there is a compute.
  std::vector<const char*> test_shapes;
};

/// Adds operators to the table; called once by ops/register.cc, with the lines of ops.def.
void register_ops(const std::vector<const OpDef*>& ops);
/// The operator of that name, or null.
const OpDef* find_op(std::string_view name);
/// All operators, sorted by name.
const std::vector<const OpDef*>& all_ops();
/// The expression that stands for `op`: always the same object.
Expr op_expr(const OpDef& op);

// ---- Builders of calls: origins as those of ir/expr.h.

/// A call of the operator `op` (InternalError when it is not registered) with `attrs`, or its defaults when
/// null.
Call call(std::string_view op, std::vector<Expr> args, Attrs attrs = {}, Span span = {});
/// A call of anything; `callee` may be an operator.
Call call_expr(Expr callee, std::vector<Expr> args, Attrs attrs = {}, Span span = {});

/// The operator that `expr` calls, or null: is_call(e, "nn.relu") asks for one by name.
bool is_call(const Expr& expr, std::string_view op);

}  // namespace baton

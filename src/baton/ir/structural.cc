#include "baton/ir/structural.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "baton/ir/adt.h"
#include "baton/ir/extent.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/base/checksum.h"
#include "baton/support/hash.h"
#include "baton/support/pointer_map.h"

namespace baton {

// ---- Types, as declared in ir/type.h

namespace {

bool same_types(const std::vector<Type>& a, const std::vector<Type>& b, TypePairs& pairs) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same_type(a[i], b[i], pairs)) return false;
  return true;
}

// Paired in `pairs`, or both unpaired and the same object.
bool same_type_vars(const TypeVarNode* a, const TypeVarNode* b, const TypePairs& pairs) {
  for (auto pair = pairs.vars.rbegin(); pair != pairs.vars.rend(); ++pair)
    if (pair->first == a || pair->second == b) return pair->first == a && pair->second == b;
  return a == b;
}

bool same_tensors(const TensorTypeNode& a, const TensorTypeNode& b, TypePairs& pairs) {
  if (a.dtype() != b.dtype() || a.rank() != b.rank()) return false;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const Dim left = a.shape()[axis], right = b.shape()[axis];
    if (left.is_symbolic() ? !same_extent(left, right, pairs) : left != right) return false;
  }
  return true;
}

bool same_functions(const FuncTypeNode& a, const FuncTypeNode& b, TypePairs& pairs) {
  if (a.type_params().size() != b.type_params().size()) return false;
  const size_t outer = pairs.vars.size();
  for (size_t i = 0; i < a.type_params().size(); ++i) {
    if (a.type_params()[i]->var_kind() != b.type_params()[i]->var_kind()) return false;
    pairs.vars.emplace_back(a.type_params()[i].get(), b.type_params()[i].get());
  }
  const bool same = same_types(a.params(), b.params(), pairs) && same_type(a.result(), b.result(), pairs);
  pairs.vars.resize(outer);
  return same;
}

std::string list_text(const std::vector<Type>& types) {
  std::string text;
  for (size_t i = 0; i < types.size(); ++i) text += (i ? ", " : "") + type_text(types[i]);
  return text;
}

std::string tensor_text(const TensorTypeNode& type) {
  if (type.shape().empty()) return type.dtype().str();
  std::string text = "Tensor[(";
  for (size_t i = 0; i < type.shape().size(); ++i) {
    if (i) text += ", ";
    text += extent_text(type.shape()[i]);
  }
  return text + "), " + type.dtype().str() + "]";
}

}  // namespace

bool same_type(const Type& a, const Type& b) {
  TypePairs pairs;
  return same_type(a, b, pairs);
}

bool same_type(const Type& a, const Type& b, TypePairs& pairs) {
  if (a == b && pairs.empty()) return true;
  if (!a || !b || a->kind() != b->kind()) return a == b;
  switch (a->kind()) {
    case TypeKind::kTensor:
      return same_tensors(*as_type<TensorTypeNode>(a), *as_type<TensorTypeNode>(b), pairs);
    case TypeKind::kTuple:
      return same_types(as_type<TupleTypeNode>(a)->fields(), as_type<TupleTypeNode>(b)->fields(), pairs);
    case TypeKind::kFunc:
      return same_functions(*as_type<FuncTypeNode>(a), *as_type<FuncTypeNode>(b), pairs);
    case TypeKind::kIncomplete:
      return true;  // it says nothing; inference tells its holes apart by identity
    case TypeKind::kTypeVar:
      return same_type_vars(as_type<TypeVarNode>(a), as_type<TypeVarNode>(b), pairs);
    case TypeKind::kGlobalTypeVar:
      return as_type<GlobalTypeVarNode>(a)->name() == as_type<GlobalTypeVarNode>(b)->name();
    case TypeKind::kTypeCall: {
      const auto *x = as_type<TypeCallNode>(a), *y = as_type<TypeCallNode>(b);
      return same_type(x->callee(), y->callee(), pairs) && same_types(x->args(), y->args(), pairs);
    }
    case TypeKind::kRef:
      return same_type(as_type<RefTypeNode>(a)->value(), as_type<RefTypeNode>(b)->value(), pairs);
  }
  return false;
}

std::string type_text(const Type& type) {
  if (!type) return "_";
  switch (type->kind()) {
    case TypeKind::kTensor:
      return tensor_text(*as_type<TensorTypeNode>(type));
    case TypeKind::kTuple: {
      const auto& fields = as_type<TupleTypeNode>(type)->fields();
      return "(" + list_text(fields) + (fields.size() == 1 ? ",)" : ")");
    }
    case TypeKind::kFunc: {
      const auto* func = as_type<FuncTypeNode>(type);
      std::string generics;
      for (const TypeVar& var : func->type_params())
        generics += (generics.empty() ? "[" : ", ") + var->name();
      if (!generics.empty()) generics += "]";
      return "fn " + generics + "(" + list_text(func->params()) + ") -> " + type_text(func->result());
    }
    case TypeKind::kTypeVar:
      return as_type<TypeVarNode>(type)->name();
    case TypeKind::kGlobalTypeVar:
      return as_type<GlobalTypeVarNode>(type)->name();
    case TypeKind::kTypeCall: {
      const auto* call = as_type<TypeCallNode>(type);
      return type_text(call->callee()) + "[" + list_text(call->args()) + "]";
    }
    case TypeKind::kRef:
      return "ref(" + type_text(as_type<RefTypeNode>(type)->value()) + ")";
    case TypeKind::kIncomplete:
      return "_";
  }
  return "_";
}

uint64_t type_hash(const Type& type) {
  if (!type) return 0;
  Hasher hash(static_cast<uint64_t>(type->kind()) + 1);
  switch (type->kind()) {
    case TypeKind::kTensor: {
      const auto* tensor = as_type<TensorTypeNode>(type);
      hash.add(std::hash<DType>()(tensor->dtype()));
      hash.add(tensor->shape().size());
      for (const Dim& dim : tensor->shape())
        hash.add(dim.is_any() ? extent_hash(dim) : static_cast<uint64_t>(dim.value()));
      break;
    }
    case TypeKind::kTuple:
      for (const Type& field : as_type<TupleTypeNode>(type)->fields()) hash.add(type_hash(field));
      break;
    case TypeKind::kFunc:
      for (const Type& param : as_type<FuncTypeNode>(type)->params()) hash.add(type_hash(param));
      hash.add(type_hash(as_type<FuncTypeNode>(type)->result()));
      hash.add(as_type<FuncTypeNode>(type)->type_params().size());
      break;
    case TypeKind::kGlobalTypeVar:
      hash.add_text(as_type<GlobalTypeVarNode>(type)->name());
      break;
    case TypeKind::kTypeCall:
      hash.add(type_hash(as_type<TypeCallNode>(type)->callee()));
      for (const Type& arg : as_type<TypeCallNode>(type)->args()) hash.add(type_hash(arg));
      break;
    case TypeKind::kRef:
      hash.add(type_hash(as_type<RefTypeNode>(type)->value()));
      break;
    case TypeKind::kTypeVar:  // names are not part of the hash
    case TypeKind::kIncomplete:
      break;
  }
  return hash.value();
}

// ---- Expressions and modules

namespace {

// Sorted by name: attribute order does not affect equality.
std::vector<const std::pair<std::string, AttrValue>*> sorted_attrs(const FunctionNode& function) {
  std::vector<const std::pair<std::string, AttrValue>*> sorted;
  for (const auto& attr : function.attrs()) sorted.push_back(&attr);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  return sorted;
}

// Numbers compare by value; NaN equals NaN, so that equality is reflexive.
bool same_value(const AttrValue& a, const AttrValue& b) {
  if (a.index() != b.index()) return false;
  if (const AttrList* list = a.as<AttrList>()) {
    const AttrList& other = *b.as<AttrList>();
    return std::equal(list->begin(), list->end(), other.begin(), other.end(), same_value);
  }
  if (const double* number = a.as<double>()) {
    const double other = *b.as<double>();
    return *number == other || (std::isnan(*number) && std::isnan(other));
  }
  return static_cast<const AttrValue::Base&>(a) == static_cast<const AttrValue::Base&>(b);
}

bool same_function_attrs(const FunctionNode& a, const FunctionNode& b) {
  if (a.attrs().size() != b.attrs().size()) return false;
  const auto left = sorted_attrs(a), right = sorted_attrs(b);
  for (size_t i = 0; i < left.size(); ++i)
    if (left[i]->first != right[i]->first || !same_value(left[i]->second, right[i]->second)) return false;
  return true;
}

bool same_array(const NDArray& a, const NDArray& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.data() == b.data() || a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

// Compares pairs of nodes from a worklist. Non-leaf nodes (calls, tuples, functions, lets, ifs) and variables
// must correspond one to one: a shared node equals only a node shared in the same way.
class Comparison {
 public:
  explicit Comparison(bool map_free_vars) : map_free_vars_(map_free_vars) {
    types_.pair_extents = map_free_vars;
  }

  bool equal(const ExprNode* a, const ExprNode* b) {
    push(a, b);
    while (!todo_.empty()) {
      const auto [left, right] = todo_.back();
      todo_.pop_back();
      if (!compare(left, right)) return false;
    }
    return true;
  }

 private:
  void push(const ExprNode* a, const ExprNode* b) { todo_.emplace_back(a, b); }

  // Whether a is already paired with b (kOld), with another node (kWrong), or is new (kNew, and the pair is
  // entered).
  enum class Pairing { kOld, kNew, kWrong };
  Pairing pair(const ExprNode* a, const ExprNode* b) {
    const auto [to, fresh] = forward_.insert(a, b);
    if (!fresh) return *to == b ? Pairing::kOld : Pairing::kWrong;
    return backward_.insert(b, a).second ? Pairing::kNew : Pairing::kWrong;
  }

  bool bind(const Var& a, const Var& b) {
    return pair(a.get(), b.get()) != Pairing::kWrong && same_annotation(*a, *b, true);
  }

  bool compare_vars(const VarNode& a, const VarNode& b) {
    if (const ExprNode* const* to = forward_.find(&a)) return *to == &b;
    // A free variable: binders are visited before their uses.
    if (backward_.contains(&b)) return false;
    if (&a != &b && !map_free_vars_) return false;
    return pair(&a, &b) != Pairing::kWrong && same_annotation(a, b, map_free_vars_);
  }

  // The type of a variable where it is bound also binds the variables of its extents.
  bool same_annotation(const VarNode& a, const VarNode& b, bool binds) {
    types_.pair_extents = binds;
    const bool same = same_type(a.annotation(), b.annotation(), types_);
    types_.pair_extents = map_free_vars_;
    return same;
  }

  bool compare(const ExprNode* a, const ExprNode* b) {
    if (!a || !b) return a == b;
    if (a->kind() != b->kind()) return false;
    switch (a->kind()) {
      case ExprKind::kVar:
        return compare_vars(static_cast<const VarNode&>(*a), static_cast<const VarNode&>(*b));
      case ExprKind::kGlobalVar:
        return static_cast<const GlobalVarNode*>(a)->name() == static_cast<const GlobalVarNode*>(b)->name();
      case ExprKind::kOp:
        return &static_cast<const OpNode*>(a)->def() == &static_cast<const OpNode*>(b)->def();
      case ExprKind::kConstant:
        return a == b || same_array(static_cast<const ConstantNode*>(a)->value(),
                                    static_cast<const ConstantNode*>(b)->value());
      case ExprKind::kTupleGetItem: {
        const auto& left = static_cast<const TupleGetItemNode&>(*a);
        const auto& right = static_cast<const TupleGetItemNode&>(*b);
        push(left.tuple().get(), right.tuple().get());
        return left.index() == right.index();
      }
      case ExprKind::kConstructor: {
        const auto& left = static_cast<const ConstructorNode&>(*a);
        const auto& right = static_cast<const ConstructorNode&>(*b);
        return left.name() == right.name() && left.belongs_to()->name() == right.belongs_to()->name();
      }
      case ExprKind::kTuple:
      case ExprKind::kCall:
      case ExprKind::kFunction:
      case ExprKind::kLet:
      case ExprKind::kIf:
      case ExprKind::kMatch:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        break;
    }
    const Pairing pairing = pair(a, b);
    if (pairing != Pairing::kNew) return pairing == Pairing::kOld;
    return open(a, b);
  }

  // Compares the fields of a pair of non-leaf nodes and pushes their children.
  bool open(const ExprNode* a, const ExprNode* b) {
    if (a->kind() == ExprKind::kTuple) {
      return push_all(static_cast<const TupleNode*>(a)->fields(), static_cast<const TupleNode*>(b)->fields());
    }
    if (a->kind() == ExprKind::kCall) {
      const auto& left = static_cast<const CallNode&>(*a);
      const auto& right = static_cast<const CallNode&>(*b);
      if (!push_all(left.args(), right.args()) || !same_attrs(left.attrs(), right.attrs())) return false;
      push(left.callee().get(), right.callee().get());
      return true;
    }
    if (a->kind() == ExprKind::kFunction) {
      const auto& left = static_cast<const FunctionNode&>(*a);
      const auto& right = static_cast<const FunctionNode&>(*b);
      if (left.params().size() != right.params().size() ||
          left.type_params().size() != right.type_params().size() || !same_function_attrs(left, right))
        return false;
      for (size_t i = 0; i < left.type_params().size(); ++i)
        types_.vars.emplace_back(left.type_params()[i].get(), right.type_params()[i].get());
      for (size_t i = 0; i < left.params().size(); ++i)
        if (!bind(left.params()[i], right.params()[i])) return false;
      if (!same_type(left.ret_type(), right.ret_type(), types_)) return false;
    }
    if (a->kind() == ExprKind::kLet &&
        !bind(static_cast<const LetNode*>(a)->var(), static_cast<const LetNode*>(b)->var()))
      return false;
    if (a->kind() == ExprKind::kMatch)
      return open_match(static_cast<const MatchNode&>(*a), static_cast<const MatchNode&>(*b));
    const Children left(*a), right(*b);
    for (size_t i = left.size(); i-- > 0;)
      push(left[i].get(), right[i].get());  // pushed in reverse: the first child is compared first
    return true;
  }

  bool open_match(const MatchNode& a, const MatchNode& b) {
    if (a.clauses().size() != b.clauses().size() || a.complete() != b.complete()) return false;
    for (size_t i = a.clauses().size(); i-- > 0;) {
      if (!same_pattern(*a.clauses()[i].pattern, *b.clauses()[i].pattern)) return false;
      push(a.clauses()[i].body.get(), b.clauses()[i].body.get());
    }
    push(a.data().get(), b.data().get());
    return true;
  }

  // Compares two patterns and pairs their variables.
  bool same_pattern(const PatternNode& a, const PatternNode& b) {
    if (a.kind() != b.kind() || a.patterns().size() != b.patterns().size()) return false;
    if (a.kind() == PatternKind::kVar && !bind(a.var(), b.var())) return false;
    if (a.kind() == PatternKind::kConstructor && !compare(a.constructor().get(), b.constructor().get()))
      return false;
    for (size_t i = 0; i < a.patterns().size(); ++i)
      if (!same_pattern(*a.patterns()[i], *b.patterns()[i])) return false;
    return true;
  }

  bool push_all(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    if (a.size() != b.size()) return false;
    for (size_t i = a.size(); i-- > 0;) push(a[i].get(), b[i].get());
    return true;
  }

  bool map_free_vars_;
  std::vector<std::pair<const ExprNode*, const ExprNode*>> todo_;
  PointerMap<const ExprNode*> forward_, backward_;
  TypePairs types_;  // of the functions visited so far
};

// The kinds that Comparison pairs one to one, beside variables.
constexpr bool is_paired(ExprKind kind) { return !is_leaf(kind) && kind != ExprKind::kTupleGetItem; }

// Hashes nodes in post-order. Variables and paired nodes are numbered in visit order, which is the same in
// equal programs. Where a paired node is used but was reached before, its number is hashed: the hash sees
// sharing as Comparison does, and the hash of a tree is that of its nodes alone.
class Hashing {
 public:
  uint64_t hash(const Expr& root) {
    if (!root) return 0;
    post_order(
        root,
        [&](const Expr& node) {
          const uint64_t value = node_hash(*node);
          const bool paired = is_paired(node->kind());
          if (paired) entered_.pop_back();
          values_.insert(node.get(), {value, paired ? next_node_++ : kNoNumber});
        },
        [&](const Expr& node) {
          if (is_paired(node->kind())) entered_.push_back(next_node_);
          return true;
        });
    return values_.find(root.get())->hash;
  }

 private:
  static constexpr uint32_t kNoNumber = UINT32_MAX;
  static constexpr size_t kLargeConstantBytes = 4096;
  static constexpr uint64_t kUsedAgain = 0x5EEDull << 32;
  struct Value {
    uint64_t hash;
    uint32_t number;      // kNoNumber for leaves and projections, which may be shared or repeated
    bool placed = false;  // whether the use that it was first reached by is hashed
  };

  uint64_t node_hash(const ExprNode& node) {
    Hasher hasher(static_cast<uint64_t>(node.kind()));
    switch (node.kind()) {
      case ExprKind::kVar:
        hasher.add(next_var_++);
        hasher.add(type_or_zero(static_cast<const VarNode&>(node).annotation()));
        break;
      case ExprKind::kGlobalVar:
        hasher.add_text(static_cast<const GlobalVarNode&>(node).name());
        break;
      case ExprKind::kOp:
        hasher.add_text(static_cast<const OpNode&>(node).name());
        break;
      case ExprKind::kConstant: {
        const NDArray& value = static_cast<const ConstantNode&>(node).value();
        hasher.add(type_hash(node.checked_type()));
        // Weights: a checksum reads them at the speed of memory, a Hasher a word at a time.
        if (value.bytes() < kLargeConstantBytes)
          hasher.add_bytes(value.data(), value.bytes());
        else
          hasher.add(checksum64(value.data(), value.bytes()));
        break;
      }
      case ExprKind::kTupleGetItem:
        hasher.add(static_cast<uint64_t>(static_cast<const TupleGetItemNode&>(node).index()));
        break;
      case ExprKind::kCall: {
        const Attrs& attrs = static_cast<const CallNode&>(node).attrs();
        hasher.add(attrs ? attrs_hash(attrs) : 0);
        break;
      }
      case ExprKind::kFunction: {
        const auto& function = static_cast<const FunctionNode&>(node);
        hasher.add(type_or_zero(function.ret_type()));
        if (!function.type_params().empty()) hasher.add(function.type_params().size());
        for (const auto* attr : sorted_attrs(function)) {
          hasher.add_text(attr->first);
          hasher.add(attr_hash(attr->second));
        }
        break;
      }
      case ExprKind::kConstructor:
        hasher.add_text(static_cast<const ConstructorNode&>(node).name());
        break;
      case ExprKind::kMatch:
        hasher.add(static_cast<const MatchNode&>(node).complete());
        for (const Clause& clause : static_cast<const MatchNode&>(node).clauses())
          hash_pattern(*clause.pattern, hasher);
        break;
      case ExprKind::kTuple:
      case ExprKind::kLet:
      case ExprKind::kIf:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
        break;
    }
    for_each_child(node, [&](const Expr& child) { add_child(node, child, hasher); });
    return hasher.value();
  }

  void add_child(const ExprNode& parent, const Expr& child, Hasher& hasher) {
    if (!child) return hasher.add(0);
    Value* value = values_.find(child.get());
    hasher.add(value->hash);
    if (is_leaf(child->kind()) || parent.kind() == ExprKind::kTupleGetItem) return;
    // A projection is transparent: %0.1 twice and one shared %0.1 are equal, and use %0 equally often.
    const ExprNode* used = child.get();
    while (const auto* item = as<TupleGetItemNode>(used)) used = item->tuple().get();
    if (used != child.get()) value = values_.find(used);
    if (value->number == kNoNumber) return;
    // It was first reached from `parent` if it was visited since that was entered, and not below a node that
    // was visited since, too.
    if (!value->placed && value->number >= entered_.back())
      value->placed = true;
    else
      hasher.add(kUsedAgain | value->number);
  }

  static void hash_pattern(const PatternNode& pattern, Hasher& hasher) {
    hasher.add(static_cast<uint64_t>(pattern.kind()));
    if (pattern.kind() == PatternKind::kConstructor) hasher.add_text(pattern.constructor()->name());
    hasher.add(pattern.patterns().size());
    for (const Pattern& each : pattern.patterns()) hash_pattern(*each, hasher);
  }

  static uint64_t type_or_zero(const Type& type) { return type ? type_hash(type) : 0; }

  PointerMap<Value> values_;
  std::vector<uint32_t> entered_;  // the next number when each open node was entered
  uint64_t next_var_ = 0;
  uint32_t next_node_ = 0;
};

}  // namespace

bool structural_equal(const Expr& a, const Expr& b, bool map_free_vars) {
  return a == b || Comparison(map_free_vars).equal(a.get(), b.get());
}

bool structural_equal(const TypeDataNode& a, const TypeDataNode& b) {
  if (a.header()->name() != b.header()->name() || a.type_vars().size() != b.type_vars().size() ||
      a.constructors().size() != b.constructors().size())
    return false;
  for (size_t i = 0; i < a.constructors().size(); ++i)
    if (a.constructors()[i]->name() != b.constructors()[i]->name() ||
        !same_type(a.constructor_type(*a.constructors()[i]), b.constructor_type(*b.constructors()[i])))
      return false;
  return true;
}

bool structural_equal(const IRModuleNode& a, const IRModuleNode& b, bool map_free_vars) {
  if (a.functions().size() != b.functions().size() || a.type_defs().size() != b.type_defs().size())
    return false;
  for (auto left = a.type_defs().begin(), right = b.type_defs().begin(); left != a.type_defs().end();
       ++left, ++right)
    if (!structural_equal(*left->second, *right->second)) return false;
  Comparison comparison(map_free_vars);
  for (auto left = a.functions().begin(), right = b.functions().begin(); left != a.functions().end();
       ++left, ++right)
    if (left->first != right->first || !comparison.equal(left->second.get(), right->second.get()))
      return false;
  return true;
}

uint64_t structural_hash(const Expr& expr) { return Hashing().hash(expr); }

uint64_t structural_hash(const IRModuleNode& module) {
  Hasher hasher;
  Hashing hashing;
  for (const auto& [name, type] : module.type_defs()) {
    hasher.add_text(name);
    for (const Constructor& each : type->constructors()) {
      hasher.add_text(each->name());
      hasher.add(type_hash(type->constructor_type(*each)));
    }
  }
  for (const auto& [name, function] : module.functions()) {
    hasher.add_text(name);
    hasher.add(hashing.hash(Expr(function)));
  }
  return hasher.value();
}

}  // namespace baton

#include "baton/driver/vm/piece_builder.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "baton/ir/extent.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/shape_rule.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/runtime/tensors.h"
#include "baton/support/diagnostic.h"
#include "baton/types/infer_type.h"

namespace baton::vm {

using Kind = LoweredValue::Kind;

namespace {

bool is_reshape_only(const FunctionNode& function) {
  const AttrValue* only = function.attr("relay.reshape_only");
  return only && only->as<int64_t>() && *only->as<int64_t>() == 1;
}

bool has_unknown(const Type& type) {
  bool found = false;
  visit_types(type, [&](const Type& part) {
    const auto* tensor = as_type<TensorTypeNode>(part);
    found |= tensor && std::ranges::any_of(tensor->shape(), [](Dim dim) { return dim == Dim::any(); });
  });
  return found;
}

}  // namespace

/// The types of values within a piece: extents of inputs that are not known become variables.
class PieceBuilder::Typing {
 public:
  Typing() = default;
  /// Where an extent has this number.
  explicit Typing(const NamedExtent& at) : at_(&at) {}
  /// The call's function, typed for its arguments in this piece; null where the types do not follow from
  /// them. `result` are then the types of its results.
  Function typed(const PendingCall& call) {
    const FunctionNode& function = *call.function;
    bool same = is_static(function.ret_type() ? function.ret_type() : function.body()->checked_type());
    const std::vector<Type> types = types_of_args(call);
    for (size_t i = 0; i < types.size(); ++i)
      same &= same_type(types[i], function.params()[i]->checked_type());
    const Function made = same ? call.function : with_types(function, types);
    if (made) keep_results(call, *made);
    return made;
  }

  /// The call's function where extents are equal that need not be, and become one: axes of two arguments,
  /// which for operators that broadcast might also be 1. Null where no such equalities make it a kernel for
  /// `fits`.
  Function assumed(const PendingCall& call, FunctionRef<bool(const Function&)> fits) {
    const std::vector<Type> types = types_of_args(call);
    const std::vector<Equality> all = equalities(types);
    std::vector<uint32_t> choices;
    for (uint32_t choice = 1; choice < 1u << all.size(); ++choice) choices.push_back(choice);
    std::ranges::stable_sort(choices, {}, [](uint32_t choice) { return std::popcount(choice); });
    for (const uint32_t choice : choices) {
      std::vector<Equality> chosen;
      for (size_t i = 0; i < all.size(); ++i)
        if (choice >> i & 1) chosen.push_back(all[i]);
      std::vector<Type> equal;
      for (const Type& type : types) equal.push_back(with(type, chosen));
      const Function made = with_types(*call.function, equal);
      if (!made || !fits(made)) continue;
      for (auto& [where, type] : inputs_) type = with(type, chosen);
      for (auto& [value, type] : pending_) type = with(type, chosen);
      keep_results(call, *made);
      is_assumed_ = true;
      return made;
    }
    return {};
  }
  /// Whether the types hold only where the checks of the piece do.
  bool is_assumed() const { return is_assumed_; }
  /// Whether inputs say what all extents of these results are.
  bool binds(const PendingCall& call) const {
    std::vector<LoweredRef> results;
    flatten(call.result, results);
    bool bound = true;
    for (const LoweredRef& result : results)
      for (const Dim& dim : as_type<TensorTypeNode>(pending_.at(result.get()))->shape())
        if (dim.is_any()) visit_extent_vars(dim, [&](Dim var) { bound &= axes_.contains(var.symbol_id()); });
    return bound;
  }

  Type type_of(const LoweredValue& value, const Type& declared) {
    switch (value.kind) {
      case Kind::kTuple: {
        std::vector<Type> fields;
        const auto* tuple = as_type<TupleTypeNode>(declared);
        for (size_t i = 0; i < value.fields.size(); ++i)
          fields.push_back(type_of(*value.fields[i], tuple ? tuple->fields()[i] : Type()));
        return tuple_type(std::move(fields));
      }
      case Kind::kPending:
        return pending_.at(&value);
      case Kind::kRegister:
        return input(value.where, value.type ? value.type : declared);
      default:
        return value.type;
    }
  }

  /// Where the value of a variable may be read: an axis of the input in a register.
  struct Axis {
    Register where;
    size_t axis;
  };
  const std::map<uint32_t, std::vector<Axis>>& axes() const { return axes_; }
  /// What an extent of the piece is in the program, whose variables have names.
  Dim in_program(Dim dim) const {
    if (!dim.is_symbolic()) return dim;
    return replace_extent_vars(dim, [&](Dim var) {
      const auto at = meanings_.find(var.symbol_id());
      return at == meanings_.end() ? var : at->second;
    });
  }

 private:
  /// A variable, and the extent of another axis.
  using Equality = std::pair<Dim, Dim>;

  std::vector<Type> types_of_args(const PendingCall& call) {
    std::vector<Type> types;
    for (size_t i = 0; i < call.args.size(); ++i)
      types.push_back(type_of(*call.args[i], call.function->params()[i]->checked_type()));
    return types;
  }

  /// `function` for arguments of these types; null where it does not fit them, or the result's types do not
  /// follow.
  static Function with_types(const FunctionNode& function, const std::vector<Type>& types) {
    std::unordered_map<const ExprNode*, Expr> values;
    std::vector<Var> params;
    for (size_t i = 0; i < types.size(); ++i) {
      const Var& old = function.params()[i];
      params.push_back(make_var(old->name(), types[i], NodeInfo(old->origins(), old->span(), types[i])));
      values[old.get()] = Expr(params.back());
    }
    try {
      const Function open = make_function(std::move(params), substitute(function.body(), values), {},
                                          function.attrs(), NodeInfo(function.origins(), function.span()));
      Function made = as_ref<FunctionNode>(infer_type(Expr(open)));
      const Type result = made->body()->checked_type();
      return result && !has_unknown(result) ? made : Function();
    } catch (const DiagnosticError&) {
      return {};
    }
  }

  void keep_results(const PendingCall& call, const FunctionNode& made) {
    std::vector<LoweredRef> results;
    flatten(call.result, results);
    const std::vector<const TensorTypeNode*> flat = flat_types(made.body()->checked_type());
    for (size_t i = 0; i < results.size(); ++i) pending_[results[i].get()] = Type(flat[i]);
  }

  /// What may be equal in arguments of these types: variables and other extents on the same axes, counted
  /// from the last one. Few: each choice of them is tried.
  static std::vector<Equality> equalities(const std::vector<Type>& types) {
    constexpr size_t kMost = 4;
    std::vector<const TensorTypeNode*> tensors;
    for (const Type& type : types)
      for (const TensorTypeNode* tensor : flat_types(type)) tensors.push_back(tensor);
    std::vector<Equality> all;
    const auto add = [&](Dim a, Dim b) {
      if (a == b || all.size() == kMost) return;
      if (!as_extent_var(a)) std::swap(a, b);
      if (!as_extent_var(a) || b == Dim(1)) return;
      bool within = false;
      visit_extent_vars(b, [&](Dim var) { within |= var == a; });
      if (!within && std::ranges::find(all, Equality(a, b)) == all.end()) all.emplace_back(a, b);
    };
    for (size_t i = 0; i < tensors.size(); ++i)
      for (size_t k = i + 1; k < tensors.size(); ++k) {
        const std::vector<Dim>&a = tensors[i]->shape(), &b = tensors[k]->shape();
        for (size_t back = 1; back <= std::min(a.size(), b.size()); ++back)
          add(a[a.size() - back], b[b.size() - back]);
      }
    return all;
  }

  static Type with(const Type& type, const std::vector<Equality>& equal) {
    Type made = type;
    for (const auto& [var, other] : in_order(equal))
      made = replace_extent_vars(made, [&](Dim each) { return each == var ? other : each; });
    return made;
  }
  /// The same equalities, each of a variable that those before it leave.
  static std::vector<Equality> in_order(const std::vector<Equality>& equal) {
    std::vector<Equality> all;
    for (auto [a, b] : equal) {
      for (const auto& [var, other] : all) {
        const auto value = [&](Dim each) { return each == var ? other : each; };
        if (a.is_any()) a = replace_extent_vars(a, value);
        if (b.is_any()) b = replace_extent_vars(b, value);
      }
      if (!as_extent_var(a)) std::swap(a, b);
      if (a != b && as_extent_var(a)) all.emplace_back(a, b);
    }
    return all;
  }

  /// An input's type: each extent that is no number is, or becomes, a variable that is bound.
  Type input(Register where, const Type& type) {
    const auto known = inputs_.find(where);
    if (known != inputs_.end()) return known->second;
    const auto* tuple = as_type<TupleTypeNode>(type);
    BATON_CHECK(!tuple, "a tuple in a register is an input of a piece");
    const auto* tensor = as_type<TensorTypeNode>(type);
    BATON_CHECK(tensor, "an input of a piece that is no tensor");
    std::vector<Dim> shape = tensor->shape();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      Dim& dim = shape[axis];
      if (at_) dim = specialized(dim, *at_);
      is_assumed_ |= dim != tensor->shape()[axis];
      if (!dim.is_any()) continue;
      bool bound = dim.is_symbolic();
      if (bound && as_extent_var(dim)) {
        axes_[dim.symbol_id()].push_back({where, axis});
        continue;
      }
      if (bound) visit_extent_vars(dim, [&](Dim var) { bound &= axes_.contains(var.symbol_id()); });
      if (bound) continue;
      // `?`, or an expression of variables that no input of this piece has: another variable.
      Dim fresh = Dim::any();
      if (dim.is_symbolic())
        if (const auto at = replaced_.find(dim.symbol_id()); at != replaced_.end()) fresh = at->second;
      if (fresh == Dim::any()) fresh = extent_var({"d" + std::to_string(axes_.size())});
      if (dim.is_symbolic()) {
        replaced_.emplace(dim.symbol_id(), fresh);
        meanings_.emplace(fresh.symbol_id(), dim);
      }
      axes_[fresh.symbol_id()].push_back({where, axis});
      dim = fresh;
    }
    return inputs_[where] = tensor_type(std::move(shape), tensor->dtype());
  }

  std::map<const LoweredValue*, Type> pending_;
  std::map<Register, Type> inputs_;
  std::map<uint32_t, std::vector<Axis>> axes_;  // by the variable's number
  std::map<uint32_t, Dim> replaced_;            // expressions by variables
  bool is_assumed_ = false;
  std::map<uint32_t, Dim> meanings_;  // of the variables of the piece that stand for others
  const NamedExtent* at_ = nullptr;
};

namespace {

/// Whether a function has an operator that becomes others once the values of its arguments are known.
bool is_expanded_later(const FunctionNode& function) {
  bool found = false;
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    found |= call && call->op() && call->op()->rules.get<RunTimeRule>();
  });
  return found;
}

/// For messages.
std::string name_of(const LoweredValue& value) { return value.name.empty() ? "a value" : "%" + value.name; }

/// Makes one piece.
class PieceMaker {
 public:
  PieceMaker(Piece& piece) : piece_(piece) {}

  uint32_t step(Dim dim) {
    if (!dim.is_any()) {
      const auto [at, fresh] = numbers_.try_emplace(dim.value(), next());
      if (fresh) piece_.steps.push_back({.op = ExtentStep::Op::kNumber, .number = dim.value()});
      return at->second;
    }
    if (const auto known = symbols_.find(dim.symbol_id()); known != symbols_.end()) return known->second;
    BATON_CHECK(!as_extent_var(dim), "an extent that no input of a piece has: " + extent_text(dim));
    const ExtentParts parts = extent_parts(dim);
    ExtentStep made;
    made.a = step(parts.a);
    if (parts.op == ExtentOp::kFloorDiv) {
      made.op = ExtentStep::Op::kFloorDivide;
      made.number = parts.b.value();
    } else {
      made.op = parts.op == ExtentOp::kAdd   ? ExtentStep::Op::kAdd
                : parts.op == ExtentOp::kSub ? ExtentStep::Op::kSubtract
                                             : ExtentStep::Op::kMultiply;
      made.b = step(parts.b);
    }
    symbols_.emplace(dim.symbol_id(), next());
    piece_.steps.push_back(made);
    return next() - 1;
  }
  void bind(uint32_t symbol, uint32_t input, uint32_t axis) {
    symbols_.emplace(symbol, next());
    piece_.steps.push_back({ExtentStep::Op::kAxis, input, axis, 0});
  }
  uint32_t axis_step(uint32_t input, uint32_t axis) {
    piece_.steps.push_back({ExtentStep::Op::kAxis, input, axis, 0});
    return next() - 1;
  }

  uint32_t tensor(const Type& type, PieceTensor::Home home, uint32_t place, uint32_t device) {
    const auto* tensor = as_type<TensorTypeNode>(type);
    PieceTensor made{tensor->dtype(), {}, home, place, device};
    for (const Dim dim : tensor->shape()) made.extents.push_back(step(dim));
    piece_.tensors.push_back(std::move(made));
    types_.push_back(type);
    return static_cast<uint32_t>(piece_.tensors.size()) - 1;
  }

  /// The step that is the number of elements of a tensor.
  uint32_t count(uint32_t tensor) {
    const std::vector<uint32_t> extents = piece_.tensors[tensor].extents;
    int64_t numbers = 1;
    std::optional<uint32_t> product;
    for (const uint32_t extent : extents) {
      if (piece_.steps[extent].op == ExtentStep::Op::kNumber)
        numbers *= piece_.steps[extent].number;
      else
        product = product ? multiplied(*product, extent) : extent;
    }
    if (product && numbers == 1) return *product;
    const uint32_t fixed = step(Dim(numbers));
    return product ? multiplied(*product, fixed) : fixed;
  }

  uint32_t root_of(uint32_t tensor) const {
    while (piece_.tensors[tensor].home == PieceTensor::Home::kView) tensor = piece_.tensors[tensor].place;
    return tensor;
  }

  /// Makes a tensor an output. A result that the arena would hold has memory of its own instead; where the
  /// output is a view of it, it becomes the view.
  void make_output(uint32_t tensor) {
    const uint32_t root = root_of(tensor);
    if (piece_.tensors[root].home == PieceTensor::Home::kArena) {
      for (uint32_t at = tensor, next = tensor; at != root; at = next) next = piece_.tensors[at].place;
      if (root != tensor) {
        piece_.tensors[root].home = PieceTensor::Home::kView;
        piece_.tensors[root].place = tensor;
      }
      piece_.tensors[tensor].home =
          piece_.tensors[tensor].device ? PieceTensor::Home::kOutputOnDevice : PieceTensor::Home::kOutput;
      piece_.tensors[tensor].place = static_cast<uint32_t>(piece_.outputs.size());
    }
    piece_.outputs.push_back(tensor);
  }

  /// Slots of the arena: a result takes one that is free, of the same size if there is one.
  void place_in_arena() {
    std::vector<size_t> last(piece_.tensors.size());
    for (size_t c = 0; c < piece_.calls.size(); ++c) {
      for (const uint32_t input : piece_.calls[c].inputs) last[root_of(input)] = c;
      for (const uint32_t output : piece_.calls[c].outputs)
        last[root_of(output)] = std::max(last[root_of(output)], c);
    }
    // The device, bytes of an element, sorted steps.
    using Size = std::tuple<uint32_t, size_t, std::vector<uint32_t>>;
    std::vector<Size> sizes;
    std::vector<uint32_t> free;
    for (size_t c = 0; c < piece_.calls.size(); ++c) {
      for (const uint32_t output : piece_.calls[c].outputs) {
        PieceTensor& tensor = piece_.tensors[output];
        if (tensor.home != PieceTensor::Home::kArena) continue;
        Size size{tensor.device, tensor.dtype.bytes(), tensor.extents};
        std::ranges::sort(std::get<2>(size));
        auto at = std::ranges::find_if(free, [&](uint32_t slot) { return sizes[slot] == size; });
        for (auto other = free.end(); at == free.end() && other != free.begin();)
          if (std::get<0>(sizes[*--other]) == tensor.device) at = other;
        if (at == free.end()) {
          tensor.place = piece_.slots++;
          sizes.push_back(std::move(size));
        } else {
          tensor.place = *at;
          free.erase(at);
          sizes[tensor.place] = std::move(size);
        }
      }
      std::set<uint32_t> ended;  // after the call: an output must not be where an input is
      const auto end = [&](uint32_t tensor) {
        const uint32_t root = root_of(tensor);
        if (piece_.tensors[root].home == PieceTensor::Home::kArena && last[root] == c)
          ended.insert(piece_.tensors[root].place);
      };
      for (const uint32_t input : piece_.calls[c].inputs) end(input);
      for (const uint32_t output : piece_.calls[c].outputs) end(output);
      free.insert(free.end(), ended.begin(), ended.end());
    }
  }

  /// Says how large the arena is where extents are at most what `most` says, if that is known of all of them.
  void bound_arena(const std::function<std::optional<int64_t>(Dim)>& most) {
    std::vector<size_t> slots(piece_.slots);
    for (size_t t = 0; t < piece_.tensors.size(); ++t) {
      const PieceTensor& tensor = piece_.tensors[t];
      if (tensor.home != PieceTensor::Home::kArena || tensor.device) continue;
      Shape shape;
      for (const Dim dim : as_type<TensorTypeNode>(types_[t])->shape()) {
        const std::optional<int64_t> extent = dim.is_any() ? most(dim) : std::optional(dim.value());
        if (!extent) return;
        shape.push_back(std::max<int64_t>(*extent, 0));
      }
      const auto bytes = byte_count(shape, tensor.dtype);
      if (!bytes || !fits_executor(shape, tensor.dtype)) return;
      slots[tensor.place] = std::max(slots[tensor.place], static_cast<size_t>(*bytes));
    }
    ArenaLayout layout;
    for (const size_t bytes : slots) layout.place(bytes);
    piece_.most_bytes = layout.end();
  }

 private:
  uint32_t next() const { return static_cast<uint32_t>(piece_.steps.size()); }
  uint32_t multiplied(uint32_t a, uint32_t b) {
    piece_.steps.push_back({ExtentStep::Op::kMultiply, a, b, 0});
    return next() - 1;
  }

  Piece& piece_;
  std::map<int64_t, uint32_t> numbers_;
  std::map<uint32_t, uint32_t> symbols_;
  std::vector<Type> types_;  // of the tensors
};

}  // namespace

std::string refused_on_devices(const FunctionNode& function) {
  const Type& result = function.body()->checked_type();
  bool known = is_static(result) && is_tensors(result), tensors = true;
  for (const Var& param : function.params()) {
    known &= is_static(param->checked_type());
    tensors &= is_tensors(param->checked_type());
  }
  if (!known)
    return "it has extents that are known at run time only, and kernels of devices have constant ones";
  if (!tensors || is_expanded_later(function)) return "it needs values that are known at run time only";
  return "";
}

void PieceBuilder::flush(const std::vector<LoweredRef>& needed) {
  if (calls_.empty()) return;
  std::vector<LoweredRef> wanted;
  for (const LoweredRef& each : needed) flatten(each, wanted);
  size_t first = 0;
  auto typing = std::make_unique<Typing>();
  given_.clear();
  for (const PendingCall& call : calls_) given_.push_back(call.function);
  for (size_t c = 0; c < calls_.size(); ++c) {
    auto [typed, why] = typed_or_assumed(c, &first, typing, wanted);
    if (typed) {
      calls_[c].function = std::move(typed);
      continue;
    }
    emit_calls(first, c, *typing, read_from(c, wanted));
    emit_operator(calls_[c], "the compiler evaluates it at the extents of each run: " + why);
    typing = std::make_unique<Typing>();
    first = c + 1;
  }
  emit_calls(first, calls_.size(), *typing, wanted);
  calls_.clear();
}

/// `also`, and what this and later calls read.
std::vector<LoweredRef> PieceBuilder::read_from(size_t call, std::vector<LoweredRef> also) const {
  for (; call < calls_.size(); ++call)
    for (const LoweredRef& arg : calls_[call].args) flatten(arg, also);
  return also;
}

/// Empty: it is one. `typed`: null where its types do not follow.
std::string PieceBuilder::why_no_kernel(const PendingCall& call, const Function& typed) const {
  if (!typed) return "the extents of its result do not follow from those of its arguments";
  if (typed == call.function || is_reshape_only(*typed)) return "";
  return state_.options.refuses_symbolic ? state_.options.refuses_symbolic(typed)
                                         : "there are no kernels of symbolic extents";
}

/// The function of a call in the piece that begins at call `*first`, or, if it is a kernel only where some
/// extents are equal, in another one that begins with it; null where it is no kernel.
PieceBuilder::TypedOrNot PieceBuilder::typed_or_assumed(size_t c, size_t* first,
                                                        std::unique_ptr<Typing>& typing,
                                                        const std::vector<LoweredRef>& wanted) {
  const PendingCall& call = calls_[c];
  if (is_expanded_later(*call.function)) return {{}, "what it computes follows from values of its arguments"};
  if (!std::ranges::all_of(call.function->params(),
                           [](const Var& param) { return is_tensors(param->checked_type()); }))
    return {{}, "it takes more than tensors"};
  const Function typed = typing->typed(call);
  std::string why = why_no_kernel(call, typed);
  if (why.empty()) return {typed, ""};
  if (!state_.options.refuses_symbolic) return {{}, why};
  const auto fits = [&](const Function& other) { return why_no_kernel(call, other).empty(); };
  if (typing->is_assumed() || c == *first) return {typing->assumed(call, fits), why};
  // The calls before it are computed in any case.
  if (!Typing(*typing).assumed(call, fits)) return {{}, why};
  emit_calls(*first, c, *typing, read_from(c, wanted));
  *first = c;
  typing = std::make_unique<Typing>();
  return {typing->assumed(call, fits), why};
}

PendingCall* PieceBuilder::maker_of(const LoweredValue& tensor) {
  for (PendingCall& call : calls_) {
    std::vector<LoweredRef> results;
    flatten(call.result, results);
    for (const LoweredRef& result : results)
      if (result.get() == &tensor) return &call;
  }
  return nullptr;
}

/// Where its results are.
int PieceBuilder::device_of(const PendingCall& call) {
  std::vector<LoweredRef> results;
  flatten(call.result, results);
  return results.empty() ? 1 : results[0]->device;
}

/// The functions of calls where an extent has a number; empty where they do not depend on it, or are no
/// kernels.
std::vector<Function> PieceBuilder::specialized_calls(size_t first, size_t last, Typing& typing) const {
  std::vector<Function> all;
  for (size_t c = first; c < last; ++c) {
    PendingCall call = calls_[c];
    call.function = given_[c];
    const Function typed = typing.typed(call);
    if (!typed || !why_no_kernel(call, typed).empty() || !typing.binds(call)) return {};
    all.push_back(typed);
  }
  return typing.is_assumed() ? all : std::vector<Function>();
}

/// Calls of kernels as a piece, after those for the extents that the user names; where it holds only for some
/// extents, also as operators for others.
void PieceBuilder::emit_calls(size_t first, size_t last, Typing& typing,
                              const std::vector<LoweredRef>& needed) {
  if (first == last) return;
  std::vector<LoweredRef> results;
  for (size_t c = first; c < last; ++c) flatten(calls_[c].result, results);
  std::optional<int32_t> end;                      // of several alternatives
  std::map<const LoweredValue*, Register> places;  // of the first alternative, which all write
  const auto came_to_end = [&] {
    for (const LoweredRef& result : results) {
      if (result->kind != Kind::kRegister) continue;
      const auto [place, fresh] = places.try_emplace(result.get(), result->where);
      if (!fresh) code_.emit(Opcode::kMove, {place->second, result->where});
      result->where = place->second;
    }
  };
  const auto begin_other = [&](int32_t otherwise) {
    if (!end) end = code_.label();
    code_.emit(Opcode::kJump, {*end});
    code_.place(otherwise);
    for (const LoweredRef& result : results) result->kind = Kind::kPending;
  };
  const std::vector<PendingCall> general(calls_.begin() + static_cast<ptrdiff_t>(first),
                                         calls_.begin() + static_cast<ptrdiff_t>(last));
  for (const NamedExtent& at : state_.options.specializations) {
    Typing special(at);
    const std::vector<Function> functions = specialized_calls(first, last, special);
    if (functions.empty()) continue;
    for (size_t c = first; c < last; ++c) calls_[c].function = functions[c - first];
    const int32_t otherwise = code_.label();
    emit_piece(first, last, special, needed, otherwise);
    came_to_end();
    begin_other(otherwise);
  }
  std::ranges::copy(general, calls_.begin() + static_cast<ptrdiff_t>(first));
  if (typing.is_assumed()) {
    const int32_t otherwise = code_.label();
    emit_piece(first, last, typing, needed, otherwise);
    came_to_end();
    begin_other(otherwise);
    for (size_t c = first; c < last; ++c) {
      calls_[c].function = given_[c];
      if (device_of(calls_[c]) == 1 && !device_copy_of(*given_[c])) {
        emit_operator(calls_[c],
                      "the compiler evaluates it where extents differ that its kernel takes as equal");
        continue;
      }
      Typing alone;
      (void)alone.typed(calls_[c]);
      emit_piece(c, c + 1, alone, read_from(c + 1, needed));
    }
    // Results that nobody needs have no place.
    for (const LoweredRef& result : results)
      if (!places.contains(result.get())) result->kind = Kind::kPending;
  } else {
    emit_piece(first, last, typing, needed);
  }
  came_to_end();
  if (end) code_.place(*end);
}

void PieceBuilder::emit_piece(size_t first, size_t last, Typing& typing,
                              const std::vector<LoweredRef>& needed, std::optional<int32_t> otherwise) {
  if (first == last) return;
  Program& program = *state_.out.program;
  Piece piece;
  PieceMaker maker(piece);
  std::map<const LoweredValue*, uint32_t> results;
  std::map<Register, uint32_t> inputs;
  std::map<std::pair<int32_t, int>, uint32_t> constants;  // by number and device
  std::vector<Register> operands;
  // All inputs first: the values of variables are read there.
  std::vector<std::pair<Register, LoweredRef>> found;
  for (size_t c = first; c < last; ++c) {
    std::vector<LoweredRef> args;
    for (const LoweredRef& arg : calls_[c].args) flatten(arg, args);
    for (const LoweredRef& arg : args)
      if (arg->kind == Kind::kRegister && inputs.try_emplace(arg->where, inputs.size()).second)
        found.emplace_back(arg->where, arg);
  }
  for (const auto& [symbol, axes] : typing.axes()) {
    // Some are of the operator that ends the piece.
    const auto axis =
        std::ranges::find_if(axes, [&](const auto& each) { return inputs.contains(each.where); });
    if (axis != axes.end()) maker.bind(symbol, inputs.at(axis->where), static_cast<uint32_t>(axis->axis));
  }
  for (const auto& [where, value] : found) {
    const auto number = static_cast<uint32_t>(operands.size());
    operands.push_back(where);
    const Type type = typing.type_of(*value, value->type);
    piece.inputs.push_back(
        maker.tensor(type, PieceTensor::Home::kInput, number, state_.device_number(value->device)));
    piece.input_names.push_back(name_of(*value));
    const auto& shape = as_type<TensorTypeNode>(type)->shape();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const uint32_t wanted = maker.step(shape[axis]);
      const ExtentStep& step = piece.steps[wanted];
      if (step.op == ExtentStep::Op::kAxis && step.a == number && step.b == axis) continue;
      std::string what = extent_text(shape[axis]);
      if (step.op == ExtentStep::Op::kAxis)
        what = "axis " + std::to_string(step.b) + " of " + name_of(*found[step.a].second) + " (" + what + ")";
      const uint32_t given = maker.axis_step(number, static_cast<uint32_t>(axis));
      piece.checks.push_back(
          {given, wanted,
           "axis " + std::to_string(axis) + " of " + piece.input_names.back() + " and " + what});
    }
  }
  for (size_t c = first; c < last; ++c) {
    PendingCall& call = calls_[c];
    std::vector<LoweredRef> args, made;
    for (const LoweredRef& arg : call.args) flatten(arg, args);
    flatten(call.result, made);
    PieceCall out;
    for (const LoweredRef& arg : args) {
      if (arg->kind == Kind::kRegister) {
        out.inputs.push_back(piece.inputs[inputs.at(arg->where)]);
      } else if (arg->kind == Kind::kPending) {
        out.inputs.push_back(results.at(arg.get()));
      } else {
        const auto [at, fresh] = constants.try_emplace({arg->where, arg->device}, 0);
        if (fresh)
          at->second = maker.tensor(arg->type, PieceTensor::Home::kConstant,
                                    static_cast<uint32_t>(arg->where), state_.device_number(arg->device));
        out.inputs.push_back(at->second);
      }
    }
    const bool view = is_reshape_only(*call.function) && out.inputs.size() == 1 && made.size() == 1;
    for (const LoweredRef& result : made) {
      const uint32_t tensor = maker.tensor(typing.type_of(*result, {}),
                                           view ? PieceTensor::Home::kView : PieceTensor::Home::kArena,
                                           view ? out.inputs[0] : 0, state_.device_number(result->device));
      results[result.get()] = tensor;
      out.outputs.push_back(tensor);
    }
    const bool copies = device_copy_of(*call.function).has_value();
    const KernelPlace place =
        copies ? KernelPlace{"", made[0]->device} : state_.place(*call.function, call.around);
    const int kernel = state_.kernels.of(call.function, place);
    PlannedKernel& planned = state_.out.plan.kernels[static_cast<size_t>(kernel)];
    planned.called |= !view && !copies;
    // Reports say where a copy is from.
    if (copies && args[0]->kind == Kind::kRegister && !args[0]->entry) state_.add_argument(*args[0]);
    out.node = state_.add_node(call.function, call.origins, kernel,
                               view     ? "__nop"
                               : copies ? "__copy"
                                        : planned.func_name,
                               call.args, call.result);
    state_.add_fallback(out.node, call.fallback);
    if (copies) {
      state_.graph->nodes.back().kind = PlanNode::Kind::kCopy;
      out.kernel = PieceCall::kCopy;
      piece.calls.push_back(std::move(out));
      continue;
    }
    if (view) {
      const uint32_t before = maker.count(out.inputs[0]), after = maker.count(out.outputs[0]);
      if (before != after)
        piece.checks.push_back({before, after, "the numbers of elements of a tensor and of its other shape"});
      state_.graph->nodes.back().kind = PlanNode::Kind::kNop;
      continue;
    }
    const auto [number, fresh] = state_.kernel_numbers.try_emplace(
        planned.func_name + " " + planned.place.backend, static_cast<uint32_t>(program.kernels.size()));
    if (fresh)
      program.kernels.push_back(
          {planned.func_name, planned.place.backend, state_.device_number(place.device_type)});
    out.kernel = number->second;
    for (const Dim extent : kernel_extents(*call.function)) out.extents.push_back(maker.step(extent));
    piece.calls.push_back(std::move(out));
  }
  std::vector<int32_t> words = operands;
  std::set<const LoweredValue*> given;
  for (const LoweredRef& value : needed) {
    const auto at = results.find(value.get());
    if (at == results.end() || !given.insert(value.get()).second) continue;
    maker.make_output(at->second);
    value->kind = Kind::kRegister;
    value->where = code_.fresh();
    words.push_back(value->where);
  }
  maker.place_in_arena();
  if (const std::vector<NamedExtent>& bounds = state_.options.bounds; !bounds.empty())
    maker.bound_arena([&](Dim dim) { return most_of(typing.in_program(dim), bounds); });
  words.insert(words.begin(), static_cast<int32_t>(program.pieces.size()));
  program.pieces.push_back(std::move(piece));
  if (otherwise) words.push_back(*otherwise);
  code_.emit(otherwise ? Opcode::kTryPiece : Opcode::kPiece, std::move(words));
}

Register PieceBuilder::constant_on_device(const LoweredValue& constant) {
  Piece piece;
  PieceMaker maker(piece);
  maker.make_output(maker.tensor(constant.type, PieceTensor::Home::kConstant,
                                 static_cast<uint32_t>(constant.where),
                                 state_.device_number(constant.device)));
  const Register made = code_.fresh();
  const auto number = static_cast<int32_t>(state_.out.program->pieces.size());
  state_.out.program->pieces.push_back(std::move(piece));
  code_.emit(Opcode::kPiece, {number, made}, state_.add_load(constant));
  return made;
}

Register PieceBuilder::as_register(const LoweredRef& value) {
  switch (value->kind) {
    case Kind::kRegister:
      return value->where;
    case Kind::kConstant: {
      const Register made = code_.fresh();
      code_.emit(Opcode::kConstant, {made, value->where});
      return made;
    }
    case Kind::kTuple: {
      std::vector<Register> fields;
      for (const LoweredRef& field : value->fields) fields.push_back(as_register(field));
      const Register made = code_.fresh();
      std::vector<int32_t> words{made};
      CodeBuilder::append(words, fields);
      code_.emit(Opcode::kTuple, std::move(words));
      return made;
    }
    default:
      internal_error(__FILE__, __LINE__, "an operand of an operator that is no tensor", "");
  }
}

/// `why`: it is no kernel.
void PieceBuilder::emit_operator(const PendingCall& call, const std::string& why) {
  std::vector<Register> args;
  for (const LoweredRef& arg : call.args) args.push_back(as_register(arg));
  const auto number = static_cast<int32_t>(state_.out.operators.size());
  state_.out.operators.push_back(call.function);
  std::string name;
  for (const Origin* origin : call.function->body()->origins().origins())
    if (name.empty()) name = origin->op();
  if (const auto* body = as<CallNode>(call.function->body()); body && body->op()) name = body->op()->name;
  state_.out.program->operators.push_back(name);
  const uint32_t node = state_.add_node(call.function, call.origins, -1, name, call.args, call.result);
  state_.add_fallback(node, call.fallback);
  state_.add_fallback(node, why);
  const Register made = code_.fresh();
  std::vector<int32_t> words{number, made};
  CodeBuilder::append(words, args);
  code_.emit(Opcode::kOperator, std::move(words), node);
  // The fields of its result.
  const std::function<void(const LoweredRef&, Register)> spread = [&](const LoweredRef& value,
                                                                      Register from) {
    if (value->kind != Kind::kTuple) {
      value->kind = Kind::kRegister;
      value->where = from;
      return;
    }
    for (size_t i = 0; i < value->fields.size(); ++i) {
      const Register field = code_.fresh();
      code_.emit(Opcode::kField, {field, from, static_cast<int32_t>(i)});
      spread(value->fields[i], field);
    }
  };
  spread(call.result, made);
}

}  // namespace baton::vm

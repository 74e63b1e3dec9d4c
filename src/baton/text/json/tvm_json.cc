// Reader of TVM 0.11.1's `save_json`: a graph of numbered nodes in any order. A worklist walks it from the
// root in post-order. Inferred types, virtual devices and unsupported fields are ignored.
#include <limits>
#include <set>
#include <unordered_map>
#include <variant>

#include "baton/text/json/json_common.h"
#include "baton/text/json/json_keys.h"
#include "baton/text/json/tvm_nodes.h"

namespace baton::text {

namespace {

enum class What {
  kIgnored,
  kArray,
  kMap,
  kAttrs,
  kValue,
  kDict,
  kModule,
  kFunction,
  kCall,
  kVar,
  kGlobalVar,
  kConstant,
  kTuple,
  kTupleGetItem,
  kLet,
  kIf,
  kRefCreate,
  kRefRead,
  kRefWrite,
  kMatch,
  kClause,
  kPatternWildcard,
  kPatternVar,
  kPatternConstructor,
  kPatternTuple,
  kConstructor,
  kTypeData,
  kOp,
  kTensorType,
  kTupleType,
  kFuncType,
  kTypeVar,
  kGlobalTypeVar,
  kTypeCall,
  kRefType,
  kIncompleteType
};

// The kind of a type key, and its fields that reference other nodes; several names are alternatives.
struct Form {
  What what;
  std::vector<std::string_view> fields = {};
};

const Form* find_form(std::string_view type_key) {
  static const std::unordered_map<std::string_view, Form> forms = {
      {"Array", {What::kArray}},
      {"Map", {What::kMap}},
      {"IntImm", {What::kValue}},
      {"FloatImm", {What::kValue}},
      {"runtime.String", {What::kValue}},
      {"VirtualDevice", {What::kValue}},
      {"DictAttrs", {What::kDict, {"__dict__"}}},
      {"IRModule", {What::kModule, {"type_definitions", "functions"}}},
      {"Function", {What::kFunction, {"params", "body", "ret_type", "type_params", "attrs"}}},
      {"Call", {What::kCall, {"op", "args", "attrs"}}},
      {"Var", {What::kVar, {"type_annotation"}}},
      {"GlobalVar", {What::kGlobalVar}},
      {"Constant", {What::kConstant}},
      {"Tuple", {What::kTuple, {"fields"}}},
      {"TupleGetItem", {What::kTupleGetItem, {"tuple_value", "tuple"}}},
      {"Let", {What::kLet, {"var", "value", "body"}}},
      {"If", {What::kIf, {"cond", "true_branch", "false_branch"}}},
      {"RefCreate", {What::kRefCreate, {"value"}}},
      {"RefRead", {What::kRefRead, {"ref"}}},
      {"RefWrite", {What::kRefWrite, {"ref", "value"}}},
      {"Match", {What::kMatch, {"data", "clauses"}}},
      {"Clause", {What::kClause, {"lhs", "rhs"}}},
      {"PatternWildcard", {What::kPatternWildcard}},
      {"PatternVar", {What::kPatternVar, {"var"}}},
      {"PatternConstructor", {What::kPatternConstructor, {"constructor", "patterns"}}},
      {"PatternTuple", {What::kPatternTuple, {"patterns"}}},
      {"Constructor", {What::kConstructor, {"belong_to", "inputs"}}},
      {"TypeData", {What::kTypeData, {"header", "type_vars", "constructors"}}},
      {"Op", {What::kOp}},
      {"TensorType", {What::kTensorType, {"shape"}}},
      {"TupleType", {What::kTupleType, {"fields"}}},
      {"FuncType", {What::kFuncType, {"arg_types", "ret_type", "type_params"}}},
      {"TypeVar", {What::kTypeVar}},
      {"GlobalTypeVar", {What::kGlobalTypeVar}},
      {"TypeCall", {What::kTypeCall, {"func", "args"}}},
      {"RefType", {What::kRefType, {"value"}}},
      {"IncompleteType", {What::kIncompleteType}},
  };
  static const Form attrs{What::kAttrs};
  if (type_key != "DictAttrs" && find_schema(type_key)) return &attrs;
  if (type_key.starts_with("relay.")) type_key.remove_prefix(6);
  const auto at = forms.find(type_key);
  return at == forms.end() ? nullptr : &at->second;
}

struct BuiltType {
  Type type;
  TypeSizes::Size size;
};
struct PatternEntry {
  Pattern pattern;
  int depth;
};
using ClauseRef = std::shared_ptr<const Clause>;
using DictRef = std::shared_ptr<const FunctionAttrs>;
// Arrays, maps and values stay on the tape: they are read where they are used.
using Built = std::variant<std::monostate, Expr, BuiltType, Attrs, DictRef, PatternEntry, ClauseRef, TypeData,
                           IRModule>;

class TvmReader final : private TvmNodes {
 public:
  TvmReader(const JsonTape& tape, size_t bytes)
      : TvmNodes(tape, bytes / 2 + 1000), sizes_(bytes), built_(size()), state_(size()) {}

  Saved read() {
    const Index root = this->root();
    if (type_key(root) == "IRModule") module_ = make_module();
    number_constructors();
    build_all(root);
    Saved saved;
    if (const IRModule* module = std::get_if<IRModule>(&built_[root]))
      saved.module = *module;
    else if (const Expr* expr = std::get_if<Expr>(&built_[root]))
      saved.expr = *expr;
    else
      throw Error("the root is a " + type_key(root) + ", neither a module nor an expression");
    return saved;
  }

 private:
  // ---- The walk

  void build_all(Index root) {
    std::vector<Index> stack{root};
    while (!stack.empty()) {
      const Index node = stack.back();
      if (state_[node] == kDone || state_[node] == kOpen) {
        stack.pop_back();
        if (state_[node] == kDone) continue;
        build_node(node);
        state_[node] = kDone;
        continue;
      }
      state_[node] = kOpen;
      const size_t first = stack.size();
      push_children(node, stack);
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(first), stack.end());
    }
  }

  void push(Index node, std::vector<Index>& stack) {
    if (state_[node] == kDone) return;
    // An open node that is reached again is part of a cycle.
    if (state_[node] == kOpen) throw Error("node " + std::to_string(node) + " is a part of itself");
    stack.push_back(node);
  }

  void push_children(Index node, std::vector<Index>& stack) {
    const std::string key = type_key(node);
    const Form* form = find_form(key);
    if (!form) return;
    if (form->what == What::kArray || form->what == What::kMap) {
      if (const auto data = find(at(node), "data"))
        tape().each(*data, [&](At at) { push(index(at), stack); });
      return;
    }
    if (form->what == What::kAttrs) {
      for (const AttrField& field : find_schema(key)->fields)
        if (const std::optional<At> at = find_attr(node, field.name); at && field.boxed)
          push(index(*at), stack);
      return;
    }
    for (const std::string_view field : form->fields)
      if (const std::optional<Index> child = ref(node, field)) push(*child, stack);
  }

  void build_node(Index node) {
    const std::string key = type_key(node);
    try {
      const Form* form = find_form(key);
      if (form) built_[node] = build(node, form->what, key);
    } catch (const Error& error) {
      throw Error("node " + std::to_string(node) + ", a " + key.substr(0, 80) + ": " + error.what());
    }
  }

  // ---- Built values

  template <class T>
  const T& get(Index node, const char* what) const {
    if (const T* found = std::get_if<T>(&built_[node])) return *found;
    throw Error("node " + std::to_string(node) + ", a " + type_key(node).substr(0, 80) + ", is not " + what);
  }
  const Expr& expr(Index node) const { return get<Expr>(node, "an expression"); }
  const Expr& expr(Index node, std::string_view name) const { return expr(need(node, name)); }
  template <class T>
  Ref<const T> expr_of(Index node, const char* what) const {
    Ref<const T> found = as_ref<T>(expr(node));
    if (!found) throw Error("node " + std::to_string(node) + " is not " + what);
    return found;
  }
  std::vector<Expr> exprs(Index node, std::string_view name) {
    std::vector<Expr> found;
    for (const Index each : list(node, name)) found.push_back(expr(each));
    return found;
  }
  template <class T>
  Ref<const T> type_of(Index node, const char* what) const {
    const Type& type = get<BuiltType>(node, "a type").type;
    if (!as_type<T>(type)) throw Error("node " + std::to_string(node) + " is not " + what);
    return Ref<const T>(as_type<T>(type));
  }
  std::vector<TypeVar> type_vars(Index node, std::string_view name) {
    std::vector<TypeVar> found;
    for (const Index each : list(node, name)) found.push_back(type_of<TypeVarNode>(each, "a type variable"));
    return found;
  }
  Type used_type(Index node) {
    const BuiltType& entry = get<BuiltType>(node, "a type");
    sizes_.use(entry.size);
    return entry.type;
  }
  Type optional_type(Index node, std::string_view name) {
    const std::optional<Index> type = ref(node, name);
    return type ? used_type(*type) : Type();
  }

  Span span(Index node) {
    const std::optional<Index> at = ref(node, "span");
    if (!at || type_key(*at) != "Span") return {};
    auto number = [&](const char* name) {
      const std::optional<At> field = find_attr(*at, name);
      const int64_t value = field ? integer(*field) : 0;
      return value < 0 || value > std::numeric_limits<int32_t>::max() ? 0u : static_cast<uint32_t>(value);
    };
    Span span;
    span.line = number("line");
    span.column = number("column");
    span.end_line = number("end_line");
    span.end_column = number("end_column");
    span.show_at(span.line, span.column);
    std::optional<Index> name = ref(*at, "source_name");
    if (!name) name = ref(*at, "source");
    if (!name) return span;
    Ref<const Source>& source = sources_[*name];
    if (!source)
      source =
          make_ref<const Source>(find_attr(*name, "name") ? text(*name, "name") : repr(*name), std::string());
    span.source = source;
    return span;
  }
  NodeInfo info(Index node) { return NodeInfo(OriginSet::none(), span(node)); }

  // ---- Attributes

  std::optional<AttrValue> object(Index node) override {
    if (!std::holds_alternative<Expr>(built_[node])) return std::nullopt;
    return expr_attr(expr(node));
  }

  DictRef dict(Index node) {
    FunctionAttrs made;
    if (const std::optional<Index> of = ref(node, "__dict__"))
      for (const auto& [name, at] : map(*of)) made.emplace_back(name, value(at));
    std::sort(made.begin(), made.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 1; i < made.size(); ++i)
      if (made[i].first == made[i - 1].first)
        throw Error("attribute `" + made[i].first.substr(0, 80) + "` is given twice");
    return std::make_shared<const FunctionAttrs>(std::move(made));
  }

  // ---- Types

  Type inner_type(Index node, TypeSizes::Size& size) const {
    const BuiltType& entry = get<BuiltType>(node, "a type");
    TypeSizes::add(size, entry.size);
    return entry.type;
  }
  std::vector<Type> inner_types(Index node, std::string_view name, TypeSizes::Size& size) {
    std::vector<Type> found;
    for (const Index each : list(node, name)) found.push_back(inner_type(each, size));
    return found;
  }
  baton::Kind var_kind(Index node) const {
    const int64_t kind = integer(attr(node, "kind"));
    for (const auto known : {baton::Kind::kType, baton::Kind::kShapeVar, baton::Kind::kBaseType,
                             baton::Kind::kConstraint, baton::Kind::kAdtHandle, baton::Kind::kTypeData})
      if (static_cast<int64_t>(known) == kind) return known;
    throw Error("there is no kind " + std::to_string(kind) + " of type variables");
  }
  Dim shape_extent(Index node) {
    const Dim dim = extent(node);
    if (!dim.is_any() && dim.value() < 0)
      throw Error("the extent " + std::to_string(dim.value()) + " is negative");
    return dim;
  }

  BuiltType type(Index node, What what) {
    TypeSizes::Size size{1, 1};
    if (what == What::kTensorType) {
      std::vector<Dim> shape;
      for (const Index each : list(node, "shape")) shape.push_back(shape_extent(each));
      size.parts += static_cast<uint32_t>(shape.size() / 8);
      return {tensor_type(std::move(shape), dtype_named(tape().string(attr(node, "dtype")))), size};
    }
    if (what == What::kTupleType) {
      std::vector<Type> fields = inner_types(node, "fields", size);
      return {tuple_type(std::move(fields)), size};
    }
    if (what == What::kFuncType) {
      std::vector<Type> params = inner_types(node, "arg_types", size);
      Type result = inner_type(need(node, "ret_type"), size);
      return {func_type(std::move(params), std::move(result), type_vars(node, "type_params")), size};
    }
    if (what == What::kTypeVar) return {Type(type_var(text(node, "name_hint"), var_kind(node))), size};
    if (what == What::kGlobalTypeVar)
      return {Type(global_type_var(text(node, "name_hint"), var_kind(node))), size};
    if (what == What::kTypeCall) {
      Type callee = inner_type(need(node, "func"), size);
      std::vector<Type> args = inner_types(node, "args", size);
      return {type_call(std::move(callee), std::move(args)), size};
    }
    if (what == What::kRefType) {
      Type value = inner_type(need(node, "value"), size);
      return {ref_type(std::move(value)), size};
    }
    return {incomplete_type(), size};
  }

  // ---- Nodes

  Built build(Index node, What what, const std::string& key) {
    switch (what) {
      case What::kIgnored:
      case What::kArray:
      case What::kMap:
      case What::kValue:
        return {};
      case What::kAttrs:
        return attrs(node, *find_schema(key));
      case What::kDict:
        return dict(node);
      case What::kModule:
        return module(node);
      case What::kClause:
        return std::make_shared<const Clause>(
            Clause{get<PatternEntry>(need(node, "lhs"), "a pattern").pattern, expr(node, "rhs")});
      case What::kPatternWildcard:
      case What::kPatternVar:
      case What::kPatternConstructor:
      case What::kPatternTuple:
        return pattern(node, what);
      case What::kTypeData:
        return type_data(node);
      case What::kTensorType:
      case What::kTupleType:
      case What::kFuncType:
      case What::kTypeVar:
      case What::kGlobalTypeVar:
      case What::kTypeCall:
      case What::kRefType:
      case What::kIncompleteType:
        return type(node, what);
      default:
        return build_expr(node, what);
    }
  }

  Expr build_expr(Index node, What what) {
    switch (what) {
      case What::kFunction:
        return function(node);
      case What::kCall:
        return call(node);
      case What::kVar: {
        const Index id = need(node, "vid");
        return make_var(text(id, "name_hint"), optional_type(node, "type_annotation"), info(node));
      }
      case What::kGlobalVar:
        return module_ ? module_->global_var(text(node, "name_hint"))
                       : make_global_var(text(node, "name_hint"));
      case What::kConstant:
        return make_constant(tensor(node), info(node));
      case What::kTuple:
        return make_tuple(exprs(node, "fields"), info(node));
      case What::kTupleGetItem: {
        const Expr& tuple = expr(node, find_attr(node, "tuple_value") ? "tuple_value" : "tuple");
        return make_tuple_get_item(tuple, small(attr(node, "index")), info(node));
      }
      case What::kLet:
        return make_let(expr_of<VarNode>(need(node, "var"), "a variable"), expr(node, "value"),
                        expr(node, "body"), info(node));
      case What::kIf:
        return make_if(expr(node, "cond"), expr(node, "true_branch"), expr(node, "false_branch"), info(node));
      case What::kRefCreate:
        return make_ref_create(expr(node, "value"), info(node));
      case What::kRefRead:
        return make_ref_read(expr(node, "ref"), info(node));
      case What::kRefWrite:
        return make_ref_write(expr(node, "ref"), expr(node, "value"), info(node));
      case What::kMatch: {
        std::vector<Clause> clauses;
        for (const Index each : list(node, "clauses")) clauses.push_back(*get<ClauseRef>(each, "a clause"));
        return make_match(expr(node, "data"), std::move(clauses), integer(attr(node, "complete")) != 0,
                          info(node));
      }
      case What::kConstructor:
        return constructor(node);
      default: {  // an operator
        const std::string name = find_attr(node, "name") ? text(node, "name") : repr(node);
        const OpDef* op = find_op(name);
        if (!op) throw Error("there is no operator `" + name.substr(0, 80) + "`");
        return op_expr(*op);
      }
    }
  }

  Expr call(Index node) {
    const Expr& callee = expr(node, "op");
    const std::optional<Index> at = ref(node, "attrs");
    const DictRef* dict = at ? std::get_if<DictRef>(&built_[*at]) : nullptr;
    if (dict && !(*dict)->empty())
      throw Error("a call has a dictionary as attributes: of none this is known");
    Attrs given = at && !dict ? get<Attrs>(*at, "a set of attributes that is known") : Attrs();
    Attrs attrs = fitting_attrs(callee, std::move(given));
    const Span where = span(node);
    OriginSet origins = OriginSet::none();
    if (const auto* op = as<OpNode>(callee))
      origins = OriginSet::of(Origin::create(op->name(), attrs, where));
    return make_call(callee, exprs(node, "args"), std::move(attrs), NodeInfo(std::move(origins), where));
  }

  Expr function(Index node) {
    std::vector<Var> params;
    for (const Index each : list(node, "params")) params.push_back(expr_of<VarNode>(each, "a variable"));
    FunctionAttrs attrs;
    if (const std::optional<Index> at = ref(node, "attrs")) {
      attrs = *get<DictRef>(*at, "a dictionary of attributes");
      spend(attrs.size());
    }
    return make_function(std::move(params), expr(node, "body"), optional_type(node, "ret_type"),
                         std::move(attrs), info(node), type_vars(node, "type_params"));
  }

  // ---- Data types and patterns

  // TVM's tags encode more than the index in the type; indices are counted here.
  void number_constructors() {
    for (Index node = 0; node < size(); ++node) {
      const std::string key = type_key(node);
      if (key != "relay.TypeData" && key != "TypeData") continue;
      int place = 0;
      for (const Index each : list(node, "constructors")) places_.try_emplace(each, place++);
    }
  }

  Expr constructor(Index node) {
    std::vector<Type> inputs;
    for (const Index each : list(node, "inputs")) inputs.push_back(used_type(each));
    const auto place = places_.find(node);
    Constructor made = make_ref<const ConstructorNode>(
        text(node, "name_hint"), std::move(inputs),
        type_of<GlobalTypeVarNode>(need(node, "belong_to"), "the name of a data type"),
        place == places_.end() ? 0 : place->second);
    constructors_.push_back(made);
    return made;
  }

  TypeData type_data(Index node) {
    GlobalTypeVar header = type_of<GlobalTypeVarNode>(need(node, "header"), "the name of a data type");
    std::vector<Constructor> constructors;
    std::set<std::string_view> names;
    for (const Index each : list(node, "constructors")) {
      Constructor made = expr_of<ConstructorNode>(each, "a constructor");
      if (made->belongs_to() != header)
        throw Error("constructor `" + made->name().substr(0, 80) + "` is of another data type");
      if (made->tag() != static_cast<int>(constructors.size()))
        throw Error("constructor `" + made->name().substr(0, 80) + "` is there twice");
      if (!names.insert(made->name()).second)
        throw Error("`" + made->name().substr(0, 80) + "` is defined twice");
      constructors.push_back(std::move(made));
    }
    return make_ref<const TypeDataNode>(std::move(header), type_vars(node, "type_vars"),
                                        std::move(constructors), span(node));
  }

  PatternEntry pattern(Index node, What what) {
    if (what == What::kPatternWildcard) return {wildcard_pattern(), 1};
    if (what == What::kPatternVar) return {var_pattern(expr_of<VarNode>(need(node, "var"), "a variable")), 1};
    std::vector<Pattern> parts;
    int depth = 1;
    for (const Index each : list(node, "patterns")) {
      const PatternEntry& entry = get<PatternEntry>(each, "a pattern");
      // Pattern walks do not detect sharing.
      if (!used_patterns_.insert({each, true}).second && entry.depth > 1)
        throw Error("a pattern is used twice");
      parts.push_back(entry.pattern);
      depth = std::max(depth, entry.depth + 1);
    }
    if (depth > kMaxJsonNesting)
      throw Error("patterns are nested more than " + std::to_string(kMaxJsonNesting) + " deep");
    if (what == What::kPatternTuple) return {tuple_pattern(std::move(parts)), depth};
    return {constructor_pattern(expr_of<ConstructorNode>(need(node, "constructor"), "a constructor"),
                                std::move(parts)),
            depth};
  }

  IRModule module(Index node) {
    if (!module_) throw Error("a module inside an expression");
    if (const std::optional<Index> types = ref(node, "type_definitions"))
      for (const auto& [name, at] : map(*types)) {
        const TypeData& type = get<TypeData>(at, "a data type");
        if (type->header()->name() != name)
          throw Error("the data type `" + name.substr(0, 80) + "` has two names");
        if (module_->find_type(name)) throw Error("`" + name.substr(0, 80) + "` is defined twice");
        module_->set_type(type);
      }
    for (const Constructor& each : constructors_) check_constructor(*module_, *each);
    if (const std::optional<Index> at = ref(node, "functions")) {
      const auto functions = map(*at);
      check_names(functions.size(), size());
      for (const auto& [name, function] : functions) {
        if (module_->find(name)) throw Error("`" + name.substr(0, 80) + "` is defined twice");
        module_->set(name, expr_of<FunctionNode>(function, "a function"));
      }
    }
    return module_;
  }

  enum State : uint8_t { kNew, kOpen, kDone };

  TypeSizes sizes_;
  IRModule module_;
  std::vector<Built> built_;
  std::vector<State> state_;
  std::vector<Constructor> constructors_;
  std::unordered_map<Index, int> places_;
  std::unordered_map<Index, bool> used_patterns_;
  std::unordered_map<Index, Ref<const Source>> sources_;
};

}  // namespace

Saved read_tvm_json(const JsonTape& tape, size_t bytes) { return TvmReader(tape, bytes).read(); }

}  // namespace baton::text

// Writer of Baton's JSON form: one line per node, in post-order. Uses a worklist instead of recursion:
// programs may be a million calls deep. Types and patterns are written recursively, as everywhere.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/json_writer.h"
#include "baton/support/pointer_map.h"
#include "baton/text/json/json.h"
#include "baton/text/json/json_keys.h"
#include "baton/text/json/tensor_bytes.h"

namespace baton {

namespace {

void visit_exprs(const AttrValue& value, const std::function<void(const Expr&)>& visit) {
  if (const AttrList* list = value.as<AttrList>())
    for (const AttrValue& each : *list) visit_exprs(each, visit);
  if (const auto* expr = value.object<ExprAttr>()) visit(expr->expr());
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const JsonOptions& options) : options_(options) {
    json_.begin_object();
    json_.key("format");
    json_.value(text::kJsonFormat);
    json_.key("version");
    json_.value(text::kJsonVersion);
    json_.key("nodes");
    json_.begin_array();
  }

  // Origins first, in creation order: the reader creates them in the same order.
  void write_origins(const std::vector<Expr>& roots, std::vector<const Origin*> more) {
    PointerSet seen;
    std::vector<const Origin*> origins;
    std::vector<const ExprNode*> todo;
    PointerSet visited;
    auto enter = [&](const ExprNode* node) {
      if (visited.insert(node)) todo.push_back(node);
    };
    auto enter_value = [&](const AttrValue& value) {
      visit_exprs(value, [&](const Expr& each) { enter(each.get()); });
    };
    auto enter_attrs = [&](const AttrsNode* attrs) {
      if (attrs && visited.insert(attrs))
        for (const AttrField& field : attrs->schema().fields) enter_value(field.get(attrs->data()));
    };
    auto enter_origin = [&](const Origin* origin) {
      if (!seen.insert(origin)) return;
      origins.push_back(origin);
      enter_attrs(origin->attrs().get());
    };
    for (const Origin* origin : more) enter_origin(origin);
    for (const Expr& root : roots) enter(root.get());
    PointerSet sets;
    while (!todo.empty()) {
      const ExprNode* node = todo.back();
      todo.pop_back();
      if (const void* set = set_key(node->origins()); set && sets.insert(set)) {
        for (const Origin* origin : node->origins().origins()) enter_origin(origin);
        for (const Origin* origin : node->origins().causes()) enter_origin(origin);
      }
      if (const auto* call = as<CallNode>(node)) enter_attrs(call->attrs().get());
      if (const auto* function = as<FunctionNode>(node))
        for (const auto& [name, value] : function->attrs()) enter_value(value);
      for_each_child(*node, [&](const Expr& child) { enter(child.get()); });
    }
    std::sort(origins.begin(), origins.end(),
              [](const Origin* a, const Origin* b) { return a->serial() < b->serial(); });
    for (const Origin* origin : origins) {
      push({Item::kOrigin, origin});
      drain();
    }
  }

  uint32_t write(const Expr& root) {
    push({Item::kExpr, root.get()});
    drain();
    return id(root.get());
  }

  uint32_t write_type_def(const TypeData& type) {
    const uint32_t header = write_type(Type(type->header()));
    std::vector<uint32_t> vars, constructors;
    for (const TypeVar& each : type->type_vars()) vars.push_back(write_type(Type(each)));
    for (const Constructor& each : type->constructors()) constructors.push_back(write(Expr(each)));
    begin("type_def", header);
    list("type_params", vars);
    list("constructors", constructors);
    put_span(type->span());
    return finish(type.get());
  }

  uint32_t id(const void* node) const { return *ids_.find(node); }

  /// Called after the last node.
  JsonWriter& end_nodes() {
    json_.break_line();
    json_.end_array();
    json_.break_line();
    json_.key("sources");
    json_.begin_array();
    for (const auto& source : sources_) {
      json_.break_line();
      json_.item();
      json_.begin_object();
      json_.key("name");
      json_.value(source->name());
      if (options_.source_text) {
        json_.key("text");
        json_.value(source->text());
      }
      json_.end_object();
    }
    json_.end_array();
    json_.break_line();
    return json_;
  }

  std::string done() {
    json_.end_object();
    return json_.take() + "\n";
  }

 private:
  struct Item {
    enum What : uint8_t { kExpr, kAttrs, kOrigin } what;
    const void* node;
    bool ready = false;  // whether its operands are written
  };

  // A canonical address for all nodes with an equal origin set.
  static const void* set_key(const OriginSet& set) {
    if (!set.origins().empty()) return set.origins().data();
    return set.causes().empty() ? nullptr : set.causes().data();
  }
  static bool is_one(const OriginSet& set) {
    return set.origins().size() == 1 && set.causes().empty() && set.reason().empty();
  }

  void push(Item item) {
    if (!ids_.contains(item.node)) stack_.push_back(item);
  }

  void drain() {
    while (!stack_.empty()) {
      Item& top = stack_.back();
      if (top.ready || ids_.contains(top.node)) {
        const Item item = top;
        stack_.pop_back();
        if (!ids_.contains(item.node)) emit(item);
        continue;
      }
      top.ready = true;
      const Item item = top;
      const size_t first = stack_.size();
      push_children(item);
      std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(first), stack_.end());
    }
  }

  void push_attrs(const AttrsNode& attrs) {
    for (const AttrField& field : attrs.schema().fields) push_value(field.get(attrs.data()));
  }
  void push_value(const AttrValue& value) {
    visit_exprs(value, [&](const Expr& each) { push({Item::kExpr, each.get()}); });
  }

  void push_children(const Item& item) {
    if (item.what == Item::kAttrs) return push_attrs(*static_cast<const AttrsNode*>(item.node));
    if (item.what == Item::kOrigin) {
      const auto* origin = static_cast<const Origin*>(item.node);
      if (origin->attrs()) push({Item::kAttrs, origin->attrs().get()});
      return;
    }
    const auto* node = static_cast<const ExprNode*>(item.node);
    const OriginSet& set = node->origins();
    if (const void* key = set_key(set); key && !sets_.contains(key)) {
      for (const Origin* origin : set.origins()) push({Item::kOrigin, origin});
      for (const Origin* origin : set.causes()) push({Item::kOrigin, origin});
    }
    for_each_child(*node, [&](const Expr& child) { push({Item::kExpr, child.get()}); });
    if (const auto* call = as<CallNode>(node); call && call->attrs())
      push({Item::kAttrs, call->attrs().get()});
    if (const auto* function = as<FunctionNode>(node))
      for (const auto& [name, value] : function->attrs()) push_value(value);
    if (const auto* match = as<MatchNode>(node))
      for (const Clause& clause : match->clauses()) push_constructors(clause.pattern);
  }
  void push_constructors(const Pattern& pattern) {
    if (pattern->constructor()) push({Item::kExpr, pattern->constructor().get()});
    for (const Pattern& each : pattern->patterns()) push_constructors(each);
  }

  void emit(const Item& item) {
    if (item.what == Item::kAttrs) return emit_attrs(*static_cast<const AttrsNode*>(item.node));
    if (item.what == Item::kOrigin) return emit_origin(*static_cast<const Origin*>(item.node));
    emit_expr(*static_cast<const ExprNode*>(item.node));
  }

  // ---- Parts of a line

  void begin(const char* kind) {
    json_.break_line();
    json_.item();
    json_.begin_object();
    json_.key(kind);
  }
  void begin(const char* kind, uint32_t node) {
    begin(kind);
    json_.value(node);
  }
  void begin(const char* kind, const std::string& text) {
    begin(kind);
    json_.value(text);
  }
  uint32_t finish(const void* node) {
    json_.end_object();
    if (node) ids_.insert(node, next_);
    return next_++;
  }
  void field(const char* key, uint32_t node) {
    json_.key(key);
    json_.value(node);
  }
  template <class T>
  void put_list(const T& of) {
    json_.begin_array();
    for (const auto& each : of) {
      json_.item();
      if constexpr (std::is_integral_v<typename T::value_type>)
        json_.value(each);
      else
        json_.value(id(each.get()));
    }
    json_.end_array();
  }
  template <class T>
  void list(const char* key, const T& of) {
    json_.key(key);
    put_list(of);
  }

  void put_span(const Span& span) {
    if (!span.source && !span.line && !span.shown_line && !span.shown_column && !span.column) return;
    json_.key("span");
    json_.begin_array();
    json_.item();
    if (!span.source) {
      json_.null();
    } else {
      const auto [at, fresh] = source_ids_.insert(span.source.get(), static_cast<uint32_t>(sources_.size()));
      if (fresh) sources_.push_back(span.source);
      json_.value(*at);
    }
    const auto put = [&](uint32_t number) {
      json_.item();
      json_.value(number);
    };
    for (const uint32_t number : {span.line, span.column, span.end_line, span.end_column}) put(number);
    if (span.shown_line || span.shown_column) {
      put(span.shown_line);
      put(span.shown_column);
    }
    json_.end_array();
  }

  /// A one-member object, whose value is written by `value`.
  template <class Value>
  void put_object(const char* key, Value&& value) {
    json_.begin_object();
    json_.key(key);
    value();
    json_.end_object();
  }

  void put_real(double value) {
    if (std::isfinite(value)) return json_.real(value);
    put_object("real", [&] { json_.value(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"); });
  }

  void put_device(const VirtualDevice& device) {
    json_.begin_array();
    json_.item();
    json_.value(device.device_type);
    json_.item();
    json_.value(device.device_id);
    json_.item();
    json_.value(device.memory_scope);
    if (device.target) {
      json_.item();
      json_.value(device.target->text());
    }
    json_.end_array();
  }

  void put_value(const AttrValue& value) {
    if (value.is_none()) return json_.null();
    if (const bool* flag = value.as<bool>()) return json_.boolean(*flag);
    if (const int64_t* number = value.as<int64_t>()) return json_.value(*number);
    if (const double* real = value.as<double>()) return put_real(*real);
    if (const std::string* text = value.as<std::string>()) return json_.value(*text);
    if (const DType* dtype = value.as<DType>())
      return put_object("dtype", [&] { json_.value(dtype->str()); });
    if (const AttrList* list = value.as<AttrList>()) {
      json_.begin_array();
      for (const AttrValue& item : *list) {
        json_.item();
        put_value(item);
      }
      return json_.end_array();
    }
    if (const auto* expr = value.object<ExprAttr>())
      return put_object("expr", [&] { json_.value(id(expr->expr().get())); });
    if (const auto* device = value.object<VirtualDeviceAttr>())
      return put_object("device", [&] { put_device(device->device()); });
    throw Error("an attribute holds a " + value.as<AttrObjectRef>()->object->type_key() +
                ", which has no form in JSON");
  }

  void put_pattern(const Pattern& pattern) {
    if (pattern->kind() == PatternKind::kWildcard) return json_.null();
    json_.begin_object();
    if (pattern->kind() == PatternKind::kVar) field("bind", id(pattern->var().get()));
    if (pattern->kind() == PatternKind::kConstructor) field("case", id(pattern->constructor().get()));
    if (pattern->kind() != PatternKind::kVar) {
      json_.key("parts");
      json_.begin_array();
      for (const Pattern& part : pattern->patterns()) {
        json_.item();
        put_pattern(part);
      }
      json_.end_array();
    }
    json_.end_object();
  }

  // ---- Types. Equal types share one line, except those compared by identity.

  uint32_t write_type(const Type& type) {
    if (const uint32_t* known = ids_.find(type.get())) return *known;
    if (as_type<IncompleteTypeNode>(type)) {
      begin("hole");
      json_.boolean(true);
      return finish(keep(type));
    }
    if (const auto* var = as_type<TypeVarNode>(type)) {
      begin("type_var", var->name());
      field("kind", static_cast<uint32_t>(var->var_kind()));
      return finish(keep(type));
    }
    if (const auto* var = as_type<GlobalTypeVarNode>(type)) {
      begin("global_type_var", var->name());
      field("kind", static_cast<uint32_t>(var->var_kind()));
      return finish(keep(type));
    }
    const auto [at, fresh] = type_lines_.try_emplace(type_line(type), next_);
    if (fresh) {
      at->second = next_++;
      json_.break_line();
      json_.item();
      json_.json(at->first);
    }
    ids_.insert(keep(type), at->second);
    return at->second;
  }
  uint32_t write_extent(Dim dim) {
    if (const auto known = extent_lines_.find(dim.symbol_id()); known != extent_lines_.end())
      return known->second;
    if (const ExtentVar* var = as_extent_var(dim)) {
      begin("extent", std::string(var->is_size ? "size_var" : "var"));
      json_.key("name");
      json_.value(var->name);
      json_.key("dtype");
      json_.value(var->dtype.str());
    } else {
      const ExtentParts parts = extent_parts(dim);
      for (const Dim& part : {parts.a, parts.b})
        if (part.is_symbolic()) write_extent(part);
      const auto* op =
          std::ranges::find(text::kExtentOps, parts.op, [](const auto& each) { return each.first; });
      begin("extent", std::string(op->second));
      json_.key("args");
      json_.begin_array();
      put_extent(json_, parts.a);
      put_extent(json_, parts.b);
      json_.end_array();
    }
    return extent_lines_[dim.symbol_id()] = finish(nullptr);
  }
  void put_extent(JsonWriter& json, Dim dim) const {
    json.item();
    if (!dim.is_any()) return json.value(dim.value());
    if (!dim.is_symbolic()) return json.null();
    json.begin_object();
    json.key("expr");
    json.value(extent_lines_.at(dim.symbol_id()));
    json.end_object();
  }

  /// Component types are written first.
  std::string type_line(const Type& type) {
    JsonWriter line(JsonLayout::kCompact);
    const auto list = [&](const char* key, const std::vector<uint32_t>& ids) {
      line.key(key);
      line.begin_array();
      for (const uint32_t each : ids) {
        line.item();
        line.value(each);
      }
      line.end_array();
    };
    const auto one = [&](const char* key, uint32_t node) {
      line.key(key);
      line.value(node);
    };
    line.begin_object();
    if (const auto* tensor = as_type<TensorTypeNode>(type)) {
      for (const Dim& dim : tensor->shape())
        if (dim.is_symbolic()) write_extent(dim);
      line.key("tensor");
      line.begin_array();
      for (const Dim& dim : tensor->shape()) put_extent(line, dim);
      line.end_array();
      line.key("dtype");
      line.value(tensor->dtype().str());
    } else if (const auto* tuple = as_type<TupleTypeNode>(type)) {
      list("tuple_type", written(tuple->fields()));
    } else if (const auto* func = as_type<FuncTypeNode>(type)) {
      const std::vector<uint32_t> vars = written(func->type_params()), params = written(func->params());
      list("func_type", params);
      one("ret", write_type(func->result()));
      list("type_params", vars);
    } else if (const auto* call = as_type<TypeCallNode>(type)) {
      const std::vector<uint32_t> args = written(call->args());
      one("type_call", write_type(call->callee()));
      list("args", args);
    } else if (const auto* ref = as_type<RefTypeNode>(type)) {
      one("ref_type", write_type(ref->value()));
    }
    line.end_object();
    return line.take();
  }
  template <class T>
  std::vector<uint32_t> written(const std::vector<T>& types) {
    std::vector<uint32_t> ids;
    for (const T& type : types) ids.push_back(write_type(Type(type)));
    return ids;
  }
  // Nodes are identified by address, so types used here must be kept alive.
  const void* keep(const Type& type) {
    types_.push_back(type);
    return type.get();
  }

  // ---- Lines

  void emit_attrs(const AttrsNode& attrs) {
    begin("attrs_of", attrs.schema().type_key);
    json_.key("values");
    json_.begin_object();
    for (const AttrField& each : attrs.schema().fields) {
      json_.key(each.name);
      put_value(each.get(attrs.data()));
    }
    json_.end_object();
    finish(&attrs);
  }

  void emit_place(const OriginPlace& place) {
    begin("place", place.module());
    if (const SourceLine& line = place.line()) {
      json_.key("line");
      json_.begin_array();
      json_.item();
      json_.value(line.file);
      json_.item();
      json_.value(line.line);
      json_.item();
      json_.value(line.function);
      json_.item();
      json_.value(line.text);
      json_.end_array();
    }
    finish(&place);
  }

  void emit_origin(const Origin& origin) {
    if (origin.place() && !ids_.contains(origin.place())) emit_place(*origin.place());
    begin("origin", origin.op());
    if (origin.attrs()) field("attrs", id(origin.attrs().get()));
    if (!origin.source_name().empty()) {
      json_.key("source");
      json_.value(origin.source_name());
    }
    if (origin.place()) field("at", id(origin.place()));
    put_span(origin.span());
    finish(&origin);
  }

  // The line of `set`, writing it if needed; nullopt for no origins.
  std::optional<uint32_t> write_set(const OriginSet& set) {
    const void* key = set_key(set);
    if (!key) return std::nullopt;
    if (is_one(set)) return id(set.origins()[0]);
    if (const uint32_t* known = sets_.find(key)) return *known;
    auto ids = [&](std::span<const Origin* const> of) {
      std::vector<uint32_t> list;
      for (const Origin* each : of) list.push_back(id(each));
      return list;
    };
    begin("origins");
    put_list(ids(set.origins()));
    if (!set.causes().empty()) list("causes", ids(set.causes()));
    if (!set.reason().empty()) {
      json_.key("reason");
      json_.value(set.reason());
    }
    const uint32_t at = finish(nullptr);
    sets_.insert(key, at);
    return at;
  }

  // Tensors shared by several constants share one line.
  uint32_t write_array(const NDArray& array) {
    std::vector<std::pair<NDArray, uint32_t>>& same = arrays_[array.bytes() ? array.data() : nullptr];
    for (const auto& [other, at] : same)
      if (other.same_as(array)) return at;
    begin("array");
    put_list(array.shape());
    json_.key("dtype");
    json_.value(array.dtype().str());
    json_.key("data");
    json_.value(text::base64_encode({static_cast<const char*>(array.data()), array.bytes()}));
    const uint32_t at = finish(nullptr);
    same.emplace_back(array, at);
    return at;
  }

  void emit_expr(const ExprNode& node) {
    const std::optional<uint32_t> from = write_set(node.origins());
    std::optional<uint32_t> type;
    if (node.checked_type() && node.kind() != ExprKind::kConstant) type = write_type(node.checked_type());
    switch (node.kind()) {
      case ExprKind::kVar: {
        const auto& var = static_cast<const VarNode&>(node);
        std::optional<uint32_t> annotation;
        if (var.annotation()) annotation = write_type(var.annotation());
        begin("var", var.name());
        if (annotation) field("of", *annotation);
        if (annotation == type) type.reset();
        break;
      }
      case ExprKind::kGlobalVar:
        begin("global", static_cast<const GlobalVarNode&>(node).name());
        break;
      case ExprKind::kConstant: {
        const uint32_t array = write_array(static_cast<const ConstantNode&>(node).value());
        begin("constant", array);
        break;
      }
      case ExprKind::kOp:
        begin("op", static_cast<const OpNode&>(node).name());
        break;
      case ExprKind::kConstructor: {
        const auto& constructor = static_cast<const ConstructorNode&>(node);
        std::vector<uint32_t> inputs;
        for (const Type& each : constructor.inputs()) inputs.push_back(write_type(each));
        const uint32_t of = write_type(Type(constructor.belongs_to()));
        begin("constructor", constructor.name());
        list("inputs", inputs);
        field("of", of);
        field("tag", static_cast<uint32_t>(constructor.tag()));
        break;
      }
      case ExprKind::kTuple:
        begin("tuple");
        put_list(static_cast<const TupleNode&>(node).fields());
        break;
      case ExprKind::kTupleGetItem: {
        const auto& item = static_cast<const TupleGetItemNode&>(node);
        begin("item", id(item.tuple().get()));
        json_.key("index");
        json_.value(item.index());
        break;
      }
      case ExprKind::kCall: {
        const auto& call = static_cast<const CallNode&>(node);
        begin("call", id(call.callee().get()));
        list("args", call.args());
        if (call.attrs()) field("attrs", id(call.attrs().get()));
        break;
      }
      case ExprKind::kFunction:
        emit_function(static_cast<const FunctionNode&>(node));
        break;
      case ExprKind::kLet: {
        const auto& let = static_cast<const LetNode&>(node);
        begin("let", id(let.var().get()));
        field("value", id(let.value().get()));
        field("body", id(let.body().get()));
        break;
      }
      case ExprKind::kIf: {
        const auto& branch = static_cast<const IfNode&>(node);
        begin("if", id(branch.condition().get()));
        field("then", id(branch.then().get()));
        field("else", id(branch.otherwise().get()));
        break;
      }
      case ExprKind::kMatch: {
        const auto& match = static_cast<const MatchNode&>(node);
        begin("match", id(match.data().get()));
        json_.key("clauses");
        json_.begin_array();
        for (const Clause& clause : match.clauses()) {
          json_.item();
          json_.begin_array();
          json_.item();
          put_pattern(clause.pattern);
          json_.item();
          json_.value(id(clause.body.get()));
          json_.end_array();
        }
        json_.end_array();
        json_.key("complete");
        json_.boolean(match.complete());
        break;
      }
      case ExprKind::kRefCreate:
        begin("ref", id(static_cast<const RefCreateNode&>(node).value().get()));
        break;
      case ExprKind::kRefRead:
        begin("read", id(static_cast<const RefReadNode&>(node).ref().get()));
        break;
      case ExprKind::kRefWrite:
        begin("write", id(static_cast<const RefWriteNode&>(node).ref().get()));
        field("value", id(static_cast<const RefWriteNode&>(node).value().get()));
        break;
    }
    if (type) field("type", *type);
    put_span(node.span());
    if (from) field("from", *from);
    finish(&node);
  }

  void emit_function(const FunctionNode& function) {
    std::vector<uint32_t> type_params;
    for (const TypeVar& each : function.type_params()) type_params.push_back(write_type(Type(each)));
    std::optional<uint32_t> ret;
    if (function.ret_type()) ret = write_type(function.ret_type());
    begin("function");
    put_list(function.params());
    field("body", id(function.body().get()));
    if (ret) field("ret", *ret);
    if (!type_params.empty()) list("type_params", type_params);
    if (function.attrs().empty()) return;
    json_.key("attrs");
    json_.begin_object();
    for (const auto& [name, value] : function.attrs()) {
      json_.key(name);
      put_value(value);
    }
    json_.end_object();
  }

  JsonOptions options_;
  JsonWriter json_{JsonLayout::kCompact};
  uint32_t next_ = 0;
  PointerMap<uint32_t> ids_, sets_, source_ids_;
  std::unordered_map<std::string, uint32_t> type_lines_;
  std::unordered_map<uint32_t, uint32_t> extent_lines_;  // symbolic ones, by id
  std::unordered_map<const void*, std::vector<std::pair<NDArray, uint32_t>>> arrays_;
  std::vector<Type> types_;
  std::vector<Ref<const Source>> sources_;
  std::vector<Item> stack_;
};

void put_names(JsonWriter& json, const std::vector<std::pair<std::string, uint32_t>>& named) {
  json.begin_object();
  for (const auto& [name, at] : named) {
    json.break_line();
    json.key(name);
    json.value(at);
  }
  json.end_object();
}

}  // namespace

std::string to_json(const IRModuleNode& module, const JsonOptions& options) {
  ProgramWriter writer(options);
  std::vector<Expr> roots;
  for (const auto& [name, function] : module.functions()) roots.emplace_back(function);
  std::vector<const Origin*> origins;
  for (uint32_t i = 0; i < module.origins().size(); ++i) origins.push_back(&module.origins().at(OriginId(i)));
  writer.write_origins(roots, origins);
  std::vector<std::pair<std::string, uint32_t>> functions, types;
  for (const auto& [name, type] : module.type_defs()) types.emplace_back(name, writer.write_type_def(type));
  for (const auto& [name, function] : module.functions())
    functions.emplace_back(name, writer.write(Expr(function)));
  JsonWriter& json = writer.end_nodes();
  json.key("module");
  json.begin_object();
  json.key("functions");
  put_names(json, functions);
  json.break_line();
  json.key("type_defs");
  put_names(json, types);
  json.break_line();
  json.key("table");
  json.begin_array();
  for (const Origin* origin : origins) {
    json.item();
    json.value(writer.id(origin));
  }
  json.end_array();
  json.break_line();
  json.key("retired");
  json.begin_array();
  for (const auto& [id, why] : module.origins().all_retired()) {
    json.break_line();
    json.item();
    json.begin_object();
    json.key("index");
    json.value(id);
    json.key("pass");
    json.value(why.pass);
    json.key("reason");
    json.value(why.reason);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return writer.done();
}

std::string to_json(const Expr& expr, const JsonOptions& options) {
  ProgramWriter writer(options);
  writer.write_origins({expr}, {});
  const uint32_t root = writer.write(expr);
  JsonWriter& json = writer.end_nodes();
  json.key("root");
  json.value(root);
  return writer.done();
}

}  // namespace baton

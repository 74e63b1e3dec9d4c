// One line per node, children first. A work list, not recursion: programs may be a million calls deep. Types
// and patterns are walked by recursion, as everywhere.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/pointer_map.h"
#include "baton/text/json/json.h"
#include "baton/text/json/json_keys.h"
#include "baton/text/json/tensor_bytes.h"

namespace baton {

namespace {

using nlohmann::json;

void put_number(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void put_string(std::string& out, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= ' ' && c < 127 && c != '"' && c != '\\'; });
  if (!plain) {  // what is no UTF-8 gets a replacement character: JSON has no other way
    out += json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

// As many digits as give the same number again, and a point, so that it stays a real number.
void put_real(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += std::isnan(value) ? R"({"real":"nan"})" : value > 0 ? R"({"real":"inf"})" : R"({"real":"-inf"})";
    return;
  }
  char digits[40];
  const std::string_view text(
      digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, value).ptr - digits));
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void visit_exprs(const AttrValue& value, const std::function<void(const Expr&)>& visit) {
  if (const AttrList* list = value.as<AttrList>())
    for (const AttrValue& each : *list) visit_exprs(each, visit);
  if (const auto* expr = value.object<ExprAttr>()) visit(expr->expr());
}

class JsonWriter {
 public:
  explicit JsonWriter(const JsonOptions& options) : options_(options) {
    out_ = R"({"format":")" + std::string(text::kJsonFormat) + R"(","version":)" +
           std::to_string(text::kJsonVersion) + R"(,"nodes":[)";
  }

  // Origins first, in the order in which they were made: reading makes them in that order again.
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

  std::string done(const std::string& tail) {
    out_ += "\n],\n\"sources\":[";
    for (size_t i = 0; i < sources_.size(); ++i) {
      out_ += i ? ",\n{\"name\":" : "\n{\"name\":";
      put_string(out_, sources_[i]->name());
      if (options_.source_text) {
        out_ += ",\"text\":";
        put_string(out_, sources_[i]->text());
      }
      out_ += '}';
    }
    out_ += "],\n" + tail + "}\n";
    return std::move(out_);
  }

 private:
  struct Item {
    enum What : uint8_t { kExpr, kAttrs, kOrigin } what;
    const void* node;
    bool ready = false;  // whether what it stands on is written
  };

  // The address that all nodes with one set of origins share.
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

  // ---- Pieces of a line

  void begin_line() { out_ += next_ ? ",\n{" : "\n{"; }
  void begin(const char* kind) {
    begin_line();
    out_ += '"';
    out_ += kind;
    out_ += "\":";
  }
  void begin(const char* kind, uint32_t node) {
    begin(kind);
    put_number(out_, node);
  }
  void begin(const char* kind, const std::string& text) {
    begin(kind);
    put_string(out_, text);
  }
  uint32_t finish(const void* node) {
    out_ += '}';
    if (node) ids_.insert(node, next_);
    return next_++;
  }
  void field(const char* key) {
    out_ += ",\"";
    out_ += key;
    out_ += "\":";
  }
  void field(const char* key, uint32_t node) {
    field(key);
    put_number(out_, node);
  }
  template <class T>
  void put_list(const T& of) {
    out_ += '[';
    for (size_t i = 0; i < of.size(); ++i) {
      if (i) out_ += ',';
      if constexpr (std::is_integral_v<typename T::value_type>)
        put_number(out_, of[i]);
      else
        put_number(out_, id(of[i].get()));
    }
    out_ += ']';
  }
  template <class T>
  void list(const char* key, const T& of) {
    field(key);
    put_list(of);
  }

  void put_span(const Span& span) {
    if (!span.source && !span.line && !span.shown_line && !span.shown_column && !span.column) return;
    field("span");
    out_ += '[';
    if (!span.source)
      out_ += "null";
    else {
      const auto [at, fresh] = source_ids_.insert(span.source.get(), static_cast<uint32_t>(sources_.size()));
      if (fresh) sources_.push_back(span.source);
      put_number(out_, *at);
    }
    const bool shown = span.shown_line || span.shown_column;
    for (const uint32_t number : {span.line, span.column, span.end_line, span.end_column}) {
      out_ += ',';
      put_number(out_, number);
    }
    if (shown) {
      out_ += ',';
      put_number(out_, span.shown_line);
      out_ += ',';
      put_number(out_, span.shown_column);
    }
    out_ += ']';
  }

  void put_value(const AttrValue& value) {
    if (value.is_none())
      out_ += "null";
    else if (const bool* flag = value.as<bool>())
      out_ += *flag ? "true" : "false";
    else if (const int64_t* number = value.as<int64_t>())
      put_number(out_, *number);
    else if (const double* real = value.as<double>())
      put_real(out_, *real);
    else if (const std::string* text = value.as<std::string>())
      put_string(out_, *text);
    else if (const DType* dtype = value.as<DType>()) {
      out_ += "{\"dtype\":";
      put_string(out_, dtype->str());
      out_ += '}';
    } else if (const AttrList* list = value.as<AttrList>()) {
      out_ += '[';
      for (size_t i = 0; i < list->size(); ++i) {
        if (i) out_ += ',';
        put_value((*list)[i]);
      }
      out_ += ']';
    } else if (const auto* expr = value.object<ExprAttr>()) {
      out_ += "{\"expr\":";
      put_number(out_, id(expr->expr().get()));
      out_ += '}';
    } else if (const auto* device = value.object<VirtualDeviceAttr>()) {
      out_ += "{\"device\":[";
      put_number(out_, device->device().device_type);
      out_ += ',';
      put_number(out_, device->device().device_id);
      out_ += ',';
      put_string(out_, device->device().memory_scope);
      if (device->device().target) {
        out_ += ',';
        put_string(out_, device->device().target->text());
      }
      out_ += "]}";
    } else {
      throw Error("an attribute holds a " + value.as<AttrObjectRef>()->object->type_key() +
                  ", which has no form in JSON");
    }
  }

  void put_pattern(const Pattern& pattern) {
    switch (pattern->kind()) {
      case PatternKind::kWildcard:
        out_ += "null";
        return;
      case PatternKind::kVar:
        out_ += "{\"bind\":";
        put_number(out_, id(pattern->var().get()));
        break;
      case PatternKind::kConstructor:
        out_ += "{\"case\":";
        put_number(out_, id(pattern->constructor().get()));
        field("parts");
        put_patterns(pattern);
        break;
      case PatternKind::kTuple:
        out_ += "{\"parts\":";
        put_patterns(pattern);
        break;
    }
    out_ += '}';
  }
  void put_patterns(const Pattern& of) {
    out_ += '[';
    for (size_t i = 0; i < of->patterns().size(); ++i) {
      if (i) out_ += ',';
      put_pattern(of->patterns()[i]);
    }
    out_ += ']';
  }

  // ---- Types. Equal ones are one line, but for those that are equal only to themselves.

  uint32_t write_type(const Type& type) {
    if (const uint32_t* known = ids_.find(type.get())) return *known;
    if (as_type<IncompleteTypeNode>(type)) {
      begin("hole");
      out_ += "true";
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
    std::string line;
    if (const auto* tensor = as_type<TensorTypeNode>(type)) {
      line = "{\"tensor\":[";
      for (size_t i = 0; i < tensor->shape().size(); ++i) {
        if (i) line += ',';
        if (tensor->shape()[i].is_any())
          line += "null";
        else
          put_number(line, tensor->shape()[i].value());
      }
      line += "],\"dtype\":\"" + tensor->dtype().str() + "\"}";
    } else if (const auto* tuple = as_type<TupleTypeNode>(type)) {
      line = "{\"tuple_type\":" + type_list(tuple->fields()) + "}";
    } else if (const auto* func = as_type<FuncTypeNode>(type)) {
      const std::string vars =
          type_list(std::vector<Type>(func->type_params().begin(), func->type_params().end()));
      const std::string params = type_list(func->params());
      line = "{\"func_type\":" + params + ",\"ret\":" + std::to_string(write_type(func->result())) +
             ",\"type_params\":" + vars + "}";
    } else if (const auto* call = as_type<TypeCallNode>(type)) {
      const std::string args = type_list(call->args());
      line = "{\"type_call\":" + std::to_string(write_type(call->callee())) + ",\"args\":" + args + "}";
    } else if (const auto* ref = as_type<RefTypeNode>(type)) {
      line = "{\"ref_type\":" + std::to_string(write_type(ref->value())) + "}";
    }
    const auto [at, fresh] = type_lines_.try_emplace(line, next_);
    if (fresh) {
      out_ += next_ ? ",\n" : "\n";
      out_ += line;
      ++next_;
    }
    ids_.insert(keep(type), at->second);
    return at->second;
  }
  std::string type_list(const std::vector<Type>& types) {
    std::string text = "[";
    for (size_t i = 0; i < types.size(); ++i) text += (i ? "," : "") + std::to_string(write_type(types[i]));
    return text + "]";
  }
  // Addresses stand for nodes here: what a type is made of must live as long as this.
  const void* keep(const Type& type) {
    types_.push_back(type);
    return type.get();
  }

  // ---- Lines

  void emit_attrs(const AttrsNode& attrs) {
    begin("attrs_of", attrs.schema().type_key);
    field("values");
    out_ += '{';
    bool first = true;
    for (const AttrField& each : attrs.schema().fields) {
      if (!first) out_ += ',';
      first = false;
      put_string(out_, each.name);
      out_ += ':';
      put_value(each.get(attrs.data()));
    }
    out_ += '}';
    finish(&attrs);
  }

  void emit_origin(const Origin& origin) {
    begin("origin", origin.op());
    if (origin.attrs()) field("attrs", id(origin.attrs().get()));
    if (!origin.source_name().empty()) {
      field("source");
      put_string(out_, origin.source_name());
    }
    put_span(origin.span());
    finish(&origin);
  }

  // The line that `set` is, written if need be; nothing for no origins.
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
      field("reason");
      put_string(out_, set.reason());
    }
    const uint32_t at = finish(nullptr);
    sets_.insert(key, at);
    return at;
  }

  // Tensors that several constants share are one line.
  uint32_t write_array(const NDArray& array) {
    std::vector<std::pair<NDArray, uint32_t>>& same = arrays_[array.bytes() ? array.data() : nullptr];
    for (const auto& [other, at] : same)
      if (other.same_as(array)) return at;
    begin("array");
    put_list(array.shape());
    field("dtype");
    put_string(out_, array.dtype().str());
    field("data");
    out_ += '"';
    out_ += text::base64_encode({static_cast<const char*>(array.data()), array.bytes()});
    out_ += '"';
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
        field("index");
        put_number(out_, item.index());
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
        field("clauses");
        out_ += '[';
        for (size_t i = 0; i < match.clauses().size(); ++i) {
          out_ += i ? ",[" : "[";
          put_pattern(match.clauses()[i].pattern);
          out_ += ',';
          put_number(out_, id(match.clauses()[i].body.get()));
          out_ += ']';
        }
        out_ += ']';
        field("complete");
        out_ += match.complete() ? "true" : "false";
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
    field("attrs");
    out_ += '{';
    for (size_t i = 0; i < function.attrs().size(); ++i) {
      if (i) out_ += ',';
      put_string(out_, function.attrs()[i].first);
      out_ += ':';
      put_value(function.attrs()[i].second);
    }
    out_ += '}';
  }

  JsonOptions options_;
  std::string out_;
  uint32_t next_ = 0;
  PointerMap<uint32_t> ids_, sets_, source_ids_;
  std::unordered_map<std::string, uint32_t> type_lines_;
  std::unordered_map<const void*, std::vector<std::pair<NDArray, uint32_t>>> arrays_;
  std::vector<Type> types_;
  std::vector<Ref<const Source>> sources_;
  std::vector<Item> stack_;
};

std::string names_of(const std::vector<std::pair<std::string, uint32_t>>& named) {
  std::string text = "{";
  for (const auto& [name, at] : named) {
    text += text.size() > 1 ? ",\n" : "\n";
    put_string(text, name);
    text += ":" + std::to_string(at);
  }
  return text + "}";
}

}  // namespace

std::string to_json(const IRModuleNode& module, const JsonOptions& options) {
  JsonWriter writer(options);
  std::vector<Expr> roots;
  for (const auto& [name, function] : module.functions()) roots.emplace_back(function);
  std::vector<const Origin*> origins;
  for (uint32_t i = 0; i < module.origins().size(); ++i) origins.push_back(&module.origins().at(OriginId(i)));
  writer.write_origins(roots, origins);
  std::vector<std::pair<std::string, uint32_t>> functions, types;
  for (const auto& [name, type] : module.type_defs()) types.emplace_back(name, writer.write_type_def(type));
  for (const auto& [name, function] : module.functions())
    functions.emplace_back(name, writer.write(Expr(function)));
  std::string tail = "\"module\":{\"functions\":" + names_of(functions) +
                     ",\n\"type_defs\":" + names_of(types) + ",\n\"table\":[";
  for (size_t i = 0; i < origins.size(); ++i) tail += (i ? "," : "") + std::to_string(writer.id(origins[i]));
  tail += "],\n\"retired\":[";
  for (bool first = true; const auto& [id, why] : module.origins().all_retired()) {
    tail += first ? "\n{\"index\":" : ",\n{\"index\":";
    first = false;
    tail += std::to_string(id) + ",\"pass\":";
    put_string(tail, why.pass);
    tail += ",\"reason\":";
    put_string(tail, why.reason);
    tail += '}';
  }
  return writer.done(tail + "]}");
}

std::string to_json(const Expr& expr, const JsonOptions& options) {
  JsonWriter writer(options);
  writer.write_origins({expr}, {});
  return writer.done("\"root\":" + std::to_string(writer.write(expr)));
}

}  // namespace baton

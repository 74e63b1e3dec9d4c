// Printing of names, constants, types, attributes and comments.
#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/text/literal.h"
#include "baton/text/printer_impl.h"

namespace baton::text {

// ---- Variables and constants

// A name that is taken gets the next free number as a suffix: x, x1, x2; x1 becomes x11.
std::string Printer::unique_name(const std::string& hint) {
  std::string name = hint;
  if (name.empty() || !((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z')))
    name.insert(0, "v");
  const auto [at, fresh] = used_names_.try_emplace(name, 0);
  if (fresh) return name;
  std::string numbered;
  uint32_t count = at->second;
  do numbered = name + std::to_string(++count);
  while (used_names_.contains(numbered));
  at->second = count;
  used_names_.emplace(numbered, 0);
  return numbered;
}

// A variable's binding: `%x {virtual_device=...}: Type /* ty=Type */`.
void Printer::binding(const VarNode* var, Piece& into, bool typed, const VirtualDevice* device) {
  NodeState& state = nodes_[var];
  const bool again = state.number != NodeState::kNone;
  if (!again) {
    state.number = static_cast<uint32_t>(names_.size());
    names_.push_back(unique_name(var->name()));
  }
  into.text += '%';
  into.text += names_[state.number];
  if (again) into.text += "-malformed-ir";
  if (device) {
    into.text += " {virtual_device=";
    append_value(into.text, virtual_device_attr(*device));
    into.text += '}';
  }
  if (var->annotation()) {
    into.text += ": ";
    append_type(into.text, var->annotation());
  }
  if (!again) comment(var, typed, into.text);
}

// A free variable is declared on a line of its own.
void Printer::variable(const VarNode* var, Piece& into, bool typed) {
  if (nodes_[var].number == NodeState::kNone) {
    Piece line;
    line.text = "free_var ";
    binding(var, line, typed);
    scope_->text += line.text;
    scope_->text += ';';
    new_line(*scope_);
  }
  into.text += '%';
  into.text += names_[nodes_[var].number];
}

// Constants are numbered when the walk reaches them, before the lines that use them are built.
void Printer::meet(const ConstantNode* constant) {
  NodeState& state = nodes_[constant];
  std::string literal;
  if (state.number == NodeState::kNone && !append_literal(literal, constant->value()))
    state.number = static_cast<uint32_t>(metadata_.add_constant(constant->value()));
}

void Printer::constant(const ConstantNode* constant, NodeState& state, Piece& into, bool typed) {
  if (!append_literal(into.text, constant->value())) {
    if (state.number == NodeState::kNone) meet(constant);
    into.text += "meta[relay.Constant][";
    append_integer(into.text, state.number);
    into.text += ']';
  }
  if (!std::exchange(state.written, true)) comment(constant, typed, into.text);
}

// ---- Types

void Printer::append_types(std::string& out, const std::vector<Type>& types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i) out += ", ";
    append_type(out, types[i]);
  }
}

void Printer::append_type_params(std::string& out, const std::vector<TypeVar>& vars) {
  if (vars.empty()) return;
  for (size_t i = 0; i < vars.size(); ++i) {
    out += i ? ", " : "[";
    out += vars[i]->name();
  }
  out += ']';
}

void Printer::append_extent(std::string& out, Dim dim) {
  if (!dim.is_any()) return append_integer(out, dim.value());
  if (!dim.is_symbolic()) {
    out += '?';
    return;
  }
  const auto [at, fresh] = extents_.try_emplace(dim.symbol_id(), 0);
  if (fresh) at->second = metadata_.add_extent(dim);
  append_meta(out, extent_type_key(dim), at->second);
}

void Printer::append_type(std::string& out, const Type& type) {
  BATON_CHECK(type, "a type to print is null");
  switch (type->kind()) {
    case TypeKind::kTensor: {
      const auto* tensor = as_type<TensorTypeNode>(type);
      if (tensor->shape().empty()) {
        out += tensor->dtype().str();
        return;
      }
      out += "Tensor[(";
      for (size_t i = 0; i < tensor->shape().size(); ++i) {
        if (i) out += ", ";
        append_extent(out, tensor->shape()[i]);
      }
      out += "), ";
      out += tensor->dtype().str();
      out += ']';
      return;
    }
    case TypeKind::kTuple: {
      const auto& fields = as_type<TupleTypeNode>(type)->fields();
      out += '(';
      append_types(out, fields);
      out += fields.size() == 1 ? ",)" : ")";
      return;
    }
    case TypeKind::kFunc: {
      const auto* func = as_type<FuncTypeNode>(type);
      out += "fn ";
      append_type_params(out, func->type_params());
      out += '(';
      append_types(out, func->params());
      out += ") -> ";
      append_type(out, func->result());
      return;
    }
    case TypeKind::kTypeVar:
      out += as_type<TypeVarNode>(type)->name();
      return;
    case TypeKind::kGlobalTypeVar:
      out += as_type<GlobalTypeVarNode>(type)->name();
      return;
    case TypeKind::kTypeCall: {
      const auto* call = as_type<TypeCallNode>(type);
      append_type(out, call->callee());
      out += '[';
      append_types(out, call->args());
      out += ']';
      return;
    }
    case TypeKind::kRef:
      out += "ref(";
      append_type(out, as_type<RefTypeNode>(type)->value());
      out += ')';
      return;
    case TypeKind::kIncomplete: {
      const auto [at, fresh] = incomplete_types_.try_emplace(type.get(), 0);
      if (fresh) at->second = metadata_.add_incomplete_type();
      out += "meta[IncompleteType][";
      append_integer(out, static_cast<int64_t>(at->second));
      out += ']';
      return;
    }
  }
}

// ---- Attributes

void Printer::append_value(std::string& out, const AttrValue& value) {
  if (const int64_t* number = value.as<int64_t>()) {
    append_integer(out, *number);
  } else if (const double* real = value.as<double>()) {
    append_double(out, *real);
    out += 'f';
  } else if (const std::string* text = value.as<std::string>()) {
    append_quoted(out, *text);
  } else if (const bool* flag = value.as<bool>()) {
    out += *flag ? "True" : "False";
  } else if (const DType* dtype = value.as<DType>()) {
    append_quoted(out, dtype->str());
  } else if (const AttrList* list = value.as<AttrList>()) {
    out += '[';
    for (size_t i = 0; i < list->size(); ++i) {
      if (i) out += ", ";
      append_value(out, (*list)[i]);
    }
    out += ']';
  } else if (const AttrObjectRef* object = value.as<AttrObjectRef>()) {
    append_object(out, object->object);
  } else {
    out += "None";
  }
}

void Printer::append_meta(std::string& out, const std::string& type_key, size_t index) {
  out += "meta[" + type_key + "][";
  append_integer(out, static_cast<int64_t>(index));
  out += ']';
}

// Expressions have no text form inside attributes; other objects are printed for display, only where the text
// is not parsed back.
void Printer::append_object(std::string& out, const Ref<const AttrObject>& object) {
  const auto* expr = dynamic_cast<const ExprAttr*>(object.get());
  const auto* device = dynamic_cast<const VirtualDeviceAttr*>(object.get());
  const bool has_target = device && device->device().target;  // metadata has no form for targets
  if (has_target || (!expr && options_.metadata != PrintOptions::Metadata::kFull)) {
    out += object->text();
    return;
  }
  const void* key = expr ? static_cast<const void*>(expr->expr().get()) : object.get();
  const auto [at, fresh] = meta_objects_.try_emplace(key, 0);
  if (fresh) at->second = metadata_.add_object(object);
  append_meta(out, object->type_key(), at->second);
}

// Attributes without or different from their default, in declaration order.
void Printer::call_attrs(const CallNode* call, std::string& out, bool first) {
  if (call->op() && !call->op()->declares_attrs && options_.metadata == PrintOptions::Metadata::kFull) {
    const auto [at, fresh] = meta_objects_.try_emplace(call->attrs().get(), 0);
    if (fresh) at->second = metadata_.add_attrs(call->attrs());
    if (!first) out += ", ";
    return append_meta(out, call->attrs()->schema().type_key, at->second);
  }
  for (const AttrField& field : call->attrs()->schema().fields) {
    const AttrValue value = field.get(call->attrs()->data());
    if (field.default_value && *field.default_value == value) continue;
    if (!std::exchange(first, false)) out += ", ";
    out += field.name;
    out += '=';
    append_value(out, value);
  }
  if (call->op()) return;
  if (!first) out += ", ";
  out += "attrs_type_key=";
  append_quoted(out, call->attrs()->schema().type_key);
}

// ---- Comments

// Printed after the first occurrence of `node`. Constants and annotated variables always have a type, but
// show it only where their user is typed.
void Printer::comment(const ExprNode* node, bool typed, std::string& out) {
  if (options_.annotate) {
    out += options_.annotate(Expr(node));
    return;
  }
  const ExprKind kind = node->kind();
  switch (kind) {
    case ExprKind::kConstant:
    case ExprKind::kCall:
    case ExprKind::kVar:
    case ExprKind::kFunction:
    case ExprKind::kTuple:
    case ExprKind::kTupleGetItem:
      break;
    default:
      return;  // the others have none
  }
  const bool show_type = options_.types && node->checked_type() &&
                         (typed || (kind != ExprKind::kConstant && kind != ExprKind::kVar));
  const bool show_span = options_.spans && node->span() && node->span().shown_line != Span::kNowhere;
  if (show_type || show_span) {
    out += " /* ";
    if (show_type) {
      out += "ty=";
      append_type(out, node->checked_type());
      out += ' ';
    }
    if (show_span) {
      out += "span=";
      out += node->span().shown_text();
      out += ' ';
    }
    out += "*/";
  }
  if (options_.origins && kind != ExprKind::kVar) origin_comment(node->origins(), out);
}

// With names given by the caller the text is not parsed back, and there is no table.
void Printer::origin_comment(const OriginSet& origins, std::string& out) {
  if (!options_.origin_name) return origins_.comment(origins, out);
  if (origins.empty()) return;
  const auto names = [&](const char* what, std::span<const Origin* const> all) {
    for (size_t i = 0; i < all.size(); ++i) out += (i ? "," : what) + options_.origin_name(*all[i]);
  };
  out += " /*";
  names(" from=", origins.origins());
  names(" made_for=", origins.causes());
  if (!origins.reason().empty()) {
    out += ' ';
    append_quoted(out, origins.reason());
  }
  out += " */";
}

}  // namespace baton::text

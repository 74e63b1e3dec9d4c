#include "baton/ir/analysis/kinds.h"

#include "baton/support/error.h"

namespace baton {

namespace {

class KindCheck {
 public:
  KindCheck(const IRModuleNode& module, const TypeDataNode* self) : module_(module), self_(self) {}

  Kind kind(const Type& type) const {
    switch (type->kind()) {
      case TypeKind::kTensor:
      case TypeKind::kIncomplete:
        return Kind::kType;
      case TypeKind::kTypeVar:
        return as_type<TypeVarNode>(type)->var_kind();
      case TypeKind::kGlobalTypeVar:
        return as_type<GlobalTypeVarNode>(type)->var_kind();
      case TypeKind::kTuple:
        for (const Type& field : as_type<TupleTypeNode>(type)->fields()) expect_type(field, "a field", type);
        return Kind::kType;
      case TypeKind::kRef:
        expect_type(as_type<RefTypeNode>(type)->value(), "the content", type);
        return Kind::kType;
      case TypeKind::kFunc: {
        const auto* func = as_type<FuncTypeNode>(type);
        for (const Type& param : func->params()) expect_type(param, "a parameter", type);
        expect_type(func->result(), "the result", type);
        return Kind::kType;
      }
      case TypeKind::kTypeCall:
        return call_kind(*as_type<TypeCallNode>(type), type);
    }
    internal_error(__FILE__, __LINE__, "a type of no kind", "");
  }

  void expect_type(const Type& part, const std::string& place, const Type& whole) const {
    const Kind found = kind(part);
    if (found == Kind::kType) return;
    throw Error("type " + type_text(part) + " is of kind " + kind_name(found) + ", but " + place + " of " +
                type_text(whole) + " is of kind Type");
  }

 private:
  Kind call_kind(const TypeCallNode& call, const Type& type) const {
    const auto* name = as_type<GlobalTypeVarNode>(call.callee());
    if (!name || name->var_kind() != Kind::kAdtHandle)
      throw Error("type " + type_text(call.callee()) +
                  " is no data type, and takes no arguments: " + type_text(type));
    const bool is_self = self_ && self_->header()->name() == name->name();
    const TypeData found = is_self ? TypeData(self_) : module_.find_type(name->name());
    const TypeDataNode* definition = found.get();
    if (!definition)
      throw Error("there is no data type " + name->name() + " in the module: " + type_text(type));
    const size_t wanted = definition->type_vars().size();
    if (call.args().size() != wanted)
      throw Error("data type " + name->name() + " takes " + std::to_string(wanted) +
                  (wanted == 1 ? " argument" : " arguments") + ", got " + std::to_string(call.args().size()) +
                  ": " + type_text(type));
    for (const Type& arg : call.args()) expect_type(arg, "an argument", type);
    return Kind::kType;
  }

  const IRModuleNode& module_;
  const TypeDataNode* self_;  // the definition being checked, or null
};

}  // namespace

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::kType:
      return "Type";
    case Kind::kShapeVar:
      return "ShapeVar";
    case Kind::kBaseType:
      return "BaseType";
    case Kind::kConstraint:
      return "Constraint";
    case Kind::kAdtHandle:
      return "AdtHandle";
    case Kind::kTypeData:
      return "TypeData";
  }
  internal_error(__FILE__, __LINE__, "a kind without a name", "");
}

Kind kind_of(const Type& type, const IRModuleNode& module) { return KindCheck(module, nullptr).kind(type); }

Kind kind_of(const TypeDataNode& definition, const IRModuleNode& module) {
  const KindCheck check(module, &definition);
  const std::string name = definition.header()->name();
  if (definition.header()->var_kind() != Kind::kAdtHandle)
    throw Error("the name " + name + " of a data type is of kind " +
                kind_name(definition.header()->var_kind()) + ", not AdtHandle");
  const Type self = definition.self_type();
  for (const TypeVar& var : definition.type_vars()) check.expect_type(Type(var), "a type variable", self);
  for (const Constructor& each : definition.constructors()) {
    if (each->belongs_to()->name() != name)
      throw Error("constructor " + each->name() + " of data type " + name + " belongs to " +
                  each->belongs_to()->name());
    for (const Type& input : each->inputs())
      check.expect_type(input, "an input of constructor " + each->name(), self);
  }
  return Kind::kTypeData;
}

}  // namespace baton

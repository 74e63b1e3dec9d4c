#pragma once
// The module part of Defunctionalization: data types that encode function types, and their `apply` functions.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/ir/adt.h"
#include "baton/ir/module.h"

namespace baton::defunctionalized {

bool has_function(const Type& type);
Type type_of(const FunctionNode& function);

/// The encoding of one function type.
struct Encoded {
  Type type;  // the function type, with nested function types already encoded
  GlobalTypeVar header;
  GlobalVar apply;
  std::vector<Constructor> constructors;
  Var self;  // parameters of `apply`
  std::vector<Var> params;
  std::vector<Clause> clauses;
};

/// The module's functions and types, converted on demand.
class DefunctionalizedModule {
 public:
  explicit DefunctionalizedModule(const IRModule& module) : module_(module) {}

  IRModuleNode& module() { return *module_; }

  /// `type` with function types replaced by data types.
  Type encoded(const Type& type);

  /// The encoding of a function type.
  Encoded& of(const Type& function_type);

  /// Adds a function of that type: a constructor whose fields are the captured variables, and its clause.
  Expr make(Encoded& encoded, const std::vector<Var>& captured, const std::vector<Var>& params,
            const Expr& body, const Var& self);

  /// The converted form of module function `name`, instantiated with `types`, for calls.
  Expr called(const GlobalVar& name, const Function& function, const std::vector<TypeVar>& vars,
              const std::vector<Type>& types);
  /// The same, for uses as a value.
  Expr as_value(const GlobalVar& name, const Function& function, const Type& type,
                const std::vector<TypeVar>& vars, const std::vector<Type>& types);

  /// `copy`: the original function is kept in the module.
  Function convert(const Function& function, const std::vector<TypeVar>& vars, const std::vector<Type>& types,
                   bool copy);
  void finish();

 private:
  struct Pending {
    std::string from, to;
    std::vector<TypeVar> vars;
    std::vector<Type> types;
  };

  /// `name` with the type of its function, so that a caller that is taken out of the module can be typed.
  static GlobalVar typed(const GlobalVar& name, const Type& type);

  IRModule module_;
  std::vector<std::unique_ptr<Encoded>> encoded_;
  std::map<std::string, Constructor> values_;  // of module functions, by name and type
  std::map<std::string, GlobalVar> converted_;
  std::vector<Pending> pending_;
  int next_type_ = 0;
};

}  // namespace baton::defunctionalized

#pragma once
// What Defunctionalization makes of a module: data types in the place of types of functions, and their
// functions.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "baton/ir/adt.h"
#include "baton/ir/module.h"

namespace baton::defunctionalized {

bool has_function(const Type& type);
Type type_of(const FunctionNode& function);

/// What stands for the functions of one type.
struct Encoded {
  Type type;  // of the functions, already without functions inside
  GlobalTypeVar header;
  GlobalVar apply;
  std::vector<Constructor> constructors;
  Var self;  // the parameters of `apply`
  std::vector<Var> params;
  std::vector<Clause> clauses;
};

/// The module's functions and types, as far as they are converted.
class DefunctionalizedModule {
 public:
  explicit DefunctionalizedModule(const IRModule& module) : module_(module) {}

  IRModuleNode& module() { return *module_; }

  /// `type` with data in the place of functions.
  Type encoded(const Type& type);

  /// Of a type of functions.
  Encoded& of(const Type& function_type);

  /// A new function of that type: its constructor, whose fields are the captured variables, and its code.
  Expr make(Encoded& encoded, const std::vector<Var>& captured, const std::vector<Var>& params,
            const Expr& body, const Var& self);

  /// The function of the module `name` where its type variables stand for `types`.
  Expr called(const GlobalVar& name, const Function& function, const std::vector<TypeVar>& vars,
              const std::vector<Type>& types);
  /// The same as a value.
  Expr as_value(const GlobalVar& name, const Function& function, const Type& type,
                const std::vector<TypeVar>& vars, const std::vector<Type>& types);

  /// `copy`: the function stays in the module beside what it becomes.
  Function convert(const Function& function, const std::vector<TypeVar>& vars, const std::vector<Type>& types,
                   bool copy);
  void finish();

 private:
  struct Pending {
    std::string from, to;
    std::vector<TypeVar> vars;
    std::vector<Type> types;
  };

  IRModule module_;
  std::vector<std::unique_ptr<Encoded>> encoded_;
  std::map<std::string, Constructor> values_;  // of functions of the module, by name and type
  std::map<std::string, GlobalVar> converted_;
  std::vector<Pending> pending_;
  int next_type_ = 0;
};

}  // namespace baton::defunctionalized

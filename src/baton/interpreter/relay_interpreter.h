#pragma once
// Runs the functions of a prepared module, which is in A-normal form: operands are variables, globals,
// operators and constructors. Frames are on the heap, so recursion uses no native stack.
#include <map>
#include <memory>
#include <unordered_map>

#include "baton/interpreter/evaluate_call.h"
#include "baton/interpreter/value_exprs.h"
#include "baton/pass/build_context.h"
#include "baton/support/pointer_map.h"

namespace baton::program {

/// A function with slots for its variables: parameters, captured variables, locals.
struct Code {
  Function function;
  PointerMap<uint32_t> slots;
  std::vector<Var> captured;  ///< free variables of the function
};

/// All functions of a prepared module, nested ones included.
struct Codes {
  Lowering lowering;  ///< for operators without compute
  std::map<std::string, const FunctionNode*> globals;
  std::unordered_map<const FunctionNode*, Code> functions;
};

/// A closure of the program, or a constructor used as a function.
class OwnFunction final : public FunctionValue {
 public:
  /// A null captured value denotes the function itself, for recursion through its variable.
  OwnFunction(std::shared_ptr<const Codes> codes, Expr callee, std::string name,
              std::vector<Value> captured = {});
  static Ref<const OwnFunction> of_global(const std::shared_ptr<const Codes>& codes, const std::string& name);
  std::string name() const override { return name_; }
  const std::vector<Value>& captured() const override { return captured_; }
  const std::shared_ptr<const Codes>& codes() const { return codes_; }
  const Code* code() const { return code_; }  ///< null for a constructor
  const Expr& callee() const { return callee_; }
  const void* program() const override { return codes_.get(); }

 private:
  std::shared_ptr<const Codes> codes_;
  const Code* code_ = nullptr;
  Expr callee_;
  std::string name_;
  std::vector<Value> captured_;
};

/// The limit on nested calls; tail calls do not count.
inline constexpr size_t kMostPending = 1 << 18;

/// The state of one run.
class RelayInterpreter {
 public:
  explicit RelayInterpreter(const BuildContext& context) : context_(context) {}
  Value run(const FunctionValue& function, const std::vector<Value>& args);

 private:
  struct Frame : RefCounted {
    Ref<const OwnFunction> function;
    std::vector<Value> slots;
  };
  /// A let whose value is being evaluated.
  struct Pending {
    Ref<Frame> frame;
    const LetNode* let;
  };

  Value finish();
  Value step();
  Value enter_let(const LetNode& let);
  Value enter_match(const MatchNode& match);
  Value enter_call(const CallNode& call);
  Value called(const FunctionValue& function, std::vector<Value> args);
  Value operand(const Expr& expr);
  Value function_value(const FunctionNode& function, std::string name);
  Value data_value(const ConstructorNode& constructor, std::vector<Value> fields);
  Value item(const TupleGetItemNode& item);
  Value new_cell(Value value);
  Ref<const CellValue> cell(const Expr& ref);
  bool truth(const Expr& condition);
  bool fits(const Pattern& pattern, const Value& value);
  void bind(const Var& var, Value value);
  const Code& code() const { return *frame_->function->code(); }
  std::vector<Value> operands(const ExprList& exprs);

  const BuildContext& context_;
  CellScope cells_;
  std::unordered_map<const ConstructorNode*, ConstructorRef> constructors_;  ///< of data_value()
  Ref<Frame> frame_;
  const ExprNode* expr_ = nullptr;
  std::vector<Pending> pending_;
};

}  // namespace baton::program

// Changes the batch size of parameters: ChangeBatch({x: 0}, 16) is
//   fn (%x: Tensor[(1, 3), float32]) { exp(%x) }  ->  fn (%x: Tensor[(16, 3), float32]) { exp(%x) }
// Other types are inferred again; constant shape attributes (reshape) are not changed.

#include "baton/ir/attr_objects.h"
#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"

namespace baton {

namespace {

/// A variable, by name or identity, and its batch axis.
struct Change {
  std::string name;
  Expr var;
  int64_t axis;
};

std::vector<Change> changes_of(const AttrValue* data) {
  const auto wrong = [] {
    return UsageError(
        "ChangeBatch: data is a dict of axes by variable, or by a variable's name: {\"data\": 0}");
  };
  const AttrList* list = data ? data->as<AttrList>() : nullptr;
  if (!list) throw wrong();
  std::vector<Change> changes;
  for (const AttrValue& entry : *list) {
    const AttrList* pair = entry.as<AttrList>();
    if (!pair || pair->size() != 2 || !(*pair)[1].as<int64_t>()) throw wrong();
    Change change{"", {}, *(*pair)[1].as<int64_t>()};
    if (const std::string* name = (*pair)[0].as<std::string>())
      change.name = *name;
    else if (const auto* expr = (*pair)[0].object<ExprAttr>())
      change.var = expr->expr();
    else
      throw wrong();
    changes.push_back(std::move(change));
  }
  return changes;
}

class BatchChanger final : public Rewriter {
 public:
  BatchChanger(const Function& root, const std::vector<Change>& changes, int64_t batch) {
    for (const Var& param : root->params()) {
      params_.insert(param.get(), param);
      for (const Change& change : changes) {
        if (change.var ? Expr(param) != change.var : param->name() != change.name) continue;
        params_[param.get()] = with_batch(param, change.axis, batch);
        changes_ = true;
      }
    }
  }
  bool changes() const { return changes_; }

 private:
  static Var with_batch(const Var& param, int64_t axis, int64_t batch) {
    const auto* type = as_type<TensorTypeNode>(declared_type(*param));
    if (!type) throw Error("ChangeBatch: %" + param->name() + " is no tensor");
    const int64_t at = axis < 0 ? axis + type->rank() : axis;
    if (at < 0 || at >= type->rank())
      throw Error("ChangeBatch: %" + param->name() + " has no axis " + std::to_string(axis) +
                  ", its rank is " + std::to_string(type->rank()));
    std::vector<Dim> shape = type->shape();
    shape[static_cast<size_t>(at)] = Dim(batch);
    return make_var(param->name(), tensor_type(std::move(shape), type->dtype()),
                    NodeInfo(param->origins(), param->span()));
  }

  bool enter(const Expr&) override { return true; }

  // Bound variables inside are inferred again.
  Var rewrite_var(const Var& var) override {
    if (const Var* param = params_.find(var.get())) return *param;
    return make_var(var->name(), {}, NodeInfo(var->origins(), var->span()));
  }

  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* function = as<FunctionNode>(rebuilt);
    if (!function) return rebuilt;
    return make_function(function->params(), function->body(), {}, function->attrs(), function->with_type({}),
                         function->type_params());
  }

  PointerMap<Var> params_;  // the function's new parameters
  bool changes_ = false;
};

}  // namespace

Pass change_batch(const PassArgs& args) {
  PassArgReader reader("ChangeBatch", args);
  const std::vector<Change> changes = changes_of(reader.value("data"));
  const int64_t batch = reader.integer("batch_size", 16, 1);
  reader.finish();
  return function_pass(
      {1, "ChangeBatch", {}}, [=](const Function& function, const IRModule&, const PassContext&) {
        BatchChanger changer(function, changes, batch);
        return changer.changes() ? as_ref<FunctionNode>(changer.run(Expr(function))) : function;
      });
}

}  // namespace baton

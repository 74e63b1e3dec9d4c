// Changes the batch size of parameters: ChangeBatch({x: 0}, 16) is
//   fn (%x: Tensor[(1, 3), float32]) { exp(%x) }  ->  fn (%x: Tensor[(16, 3), float32]) { exp(%x) }
// Other types are inferred again; constant shape attributes (reshape) are not changed.

#include "baton/ir/attr_objects.h"
#include "baton/ir/functions.h"
#include "baton/pass/pass.h"
#include "baton/transform/parameter_types.h"

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

/// `function` with the batch size of the parameters that `changes` names; itself when it has none of them.
Function with_batch(const Function& function, const std::vector<Change>& changes, int64_t batch) {
  std::vector<Type> types(function->params().size());
  bool any = false;
  for (size_t i = 0; i < types.size(); ++i) {
    const Var& param = function->params()[i];
    for (const Change& change : changes) {
      if (change.var ? Expr(param) != change.var : param->name() != change.name) continue;
      types[i] =
          with_extent(declared_type(*param), change.axis, Dim(batch), "ChangeBatch: %" + param->name());
      any = true;
    }
  }
  return any ? with_parameter_types(function, types) : function;
}

}  // namespace

Pass change_batch(const PassArgs& args) {
  PassArgReader reader("ChangeBatch", args);
  const std::vector<Change> changes = changes_of(reader.value("data"));
  const int64_t batch = reader.integer("batch_size", 16, 1);
  reader.finish();
  return function_pass({1, "ChangeBatch", {}},
                       [=](const Function& function, const IRModule&, const PassContext&) {
                         return with_batch(function, changes, batch);
                       });
}

}  // namespace baton

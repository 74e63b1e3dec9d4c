// The type solver by itself: types with holes are unified, and relations of operators are run to a fixed
// point.
#include "baton/types/type_solver.h"

#include "baton/ir/op.h"
#include "baton/support/diagnostic.h"

#include "python/bind.h"

namespace baton::python {

namespace {

/// An operator's relation between types, the last one being the result's.
struct HeldRelation {
  const OpDef* op;  ///< null: all types are one
  std::vector<Type> types;
  bool is_done = false;
};

class Solver {
 public:
  /// Throws DiagnosticError on mismatch.
  Type unify(const Type& a, const Type& b) {
    TypeSolver::Mismatch mismatch;
    const std::optional<Type> both = solver_.unify(a, b, &mismatch);
    if (both) return solver_.settle(*both);
    static constexpr DiagnosticDef kDiffer{"E0202", "a value has type {0}, but {1} is needed", "{2}"};
    DiagnosticEngine engine;
    engine.report(kDiffer, {}, {type_text(a), type_text(b), mismatch.why});
    engine.raise_errors();
    return {};
  }

  Type resolve(const Type& type) { return solver_.settle(type); }

  void add(const std::string& op, std::vector<Type> types) {
    const OpDef* def = op.empty() ? nullptr : find_op(op);
    if (!op.empty() && !def) throw nb::value_error(("there is no operator \"" + op + "\"").c_str());
    if (types.size() < 2) throw nb::value_error("a relation needs an input and a result");
    relations_.push_back({def, std::move(types)});
  }

  /// Whether all relations hold. Throws DiagnosticError where one cannot.
  bool solve();

 private:
  TypeSolver solver_;
  std::vector<HeldRelation> relations_;
};

class Context final : public RelationContext {
 public:
  Context(Solver& solver, const HeldRelation& relation) : solver_(solver), relation_(relation) {
    for (size_t i = 0; i + 1 < relation.types.size(); ++i) {
      inputs_.push_back(solver.resolve(relation.types[i]));
      args_.push_back(make_var("x" + std::to_string(i), inputs_.back(), NodeInfo(OriginSet::none())));
    }
  }

  const std::string& op_name() const override { return relation_.op->name; }
  size_t num_inputs() const override { return inputs_.size(); }
  Type input(size_t index) const override { return inputs_[index]; }
  Status assign(size_t index, const Type& type) override { return unified(inputs_[index], type); }
  Status assign_result(const Type& type) override { return unified(relation_.types.back(), type); }
  const Expr& arg(size_t index) const override { return args_[index]; }
  Status fail(const DiagnosticDef& def, const std::vector<std::string>& values, int) override {
    DiagnosticEngine engine;
    engine.report(def, {}, values);
    engine.raise_errors();
    return Status::kFailed;
  }

 private:
  Status unified(const Type& a, const Type& b) {
    solver_.unify(a, b);
    return Status::kDone;
  }

  Solver& solver_;
  const HeldRelation& relation_;
  std::vector<Type> inputs_;  // kept alive: relations hold pointers into them
  std::vector<Expr> args_;
};

bool Solver::solve() {
  bool moved = true, all = false;
  while (moved && !all) {
    moved = false;
    all = true;
    for (HeldRelation& each : relations_) {
      if (each.is_done) continue;
      if (!each.op) {
        for (size_t i = 1; i < each.types.size(); ++i) unify(each.types[0], each.types[i]);
        each.is_done = true;
      } else {
        Context context(*this, each);
        each.is_done = each.op->relation(context, {}) == RelationContext::Status::kDone;
      }
      moved = moved || each.is_done;
      all = all && each.is_done;
    }
  }
  return all;
}

}  // namespace

void bind_type_solver(nb::module_& m) {
  nb::class_<Solver>(m, "TypeSolver",
                     "Types with holes (IncompleteType), and relations of operators between types.")
      .def(nb::init<>())
      .def("unify", &Solver::unify, nb::arg("lhs"), nb::arg("rhs"),
           "The type that both are, their holes filled. DiagnosticError when there is none.")
      .def("resolve", &Solver::resolve, nb::arg("type"), "The type with what is known of its holes.")
      .def("add_relation", &Solver::add, nb::arg("op"), nb::arg("types"),
           "The relation of an operator without attributes between its inputs and its result, the last of "
           "`types`; "
           "\"\": all are one type.")
      .def("solve", &Solver::solve, "Whether all relations hold. DiagnosticError where one cannot.");
}

}  // namespace baton::python

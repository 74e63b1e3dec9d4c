#pragma once
// How operator blocks are written: typed attributes and designated initialisers, converted to an OpDef.
// ops/ops.def lists the functions that return the blocks; ops/register.cc adds them to the table.
#include <type_traits>
#include <utility>

#include "baton/ir/op.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/rules/layout_flow_rules.h"
#include "baton/ir/rules/mixed_precision_rule.h"
#include "baton/ir/rules/pass_traits.h"
#include "baton/ir/rules/result_count.h"

namespace baton {

/// For operators without attributes.
struct NoAttrs {};

/// A member of a base of A as a member of A, for the schema of attributes that inherit some of theirs.
template <class A, class Base, class M>
constexpr M A::* inherited(M Base::* member) {
  return member;
}

template <class A = NoAttrs>
struct OpSpec {
  std::string name;
  std::string doc;
  std::vector<OpInput> inputs;
  bool variadic = false;
  Fuse fuse = Fuse::kOpaque;
  RelationContext::Status (*relation)(RelationContext&, const A&) = nullptr;
  void (*compute)(Compute&, const A&) = nullptr;
  bool non_computational = false;
  bool stateful = false;
  bool reshape_only = false;
  bool data_dependent = false;
  bool declares_attrs = true;
  CostFn cost = nullptr;
  std::string python = {};
  OpRules rules = {};
  std::vector<const char*> test_shapes = {};

  operator OpDef() && {
    OpDef def;
    def.num_inputs = variadic ? OpDef::kVariadic : static_cast<int>(inputs.size());
    def.name = std::move(name);
    def.doc = std::move(doc);
    def.inputs = std::move(inputs);
    def.fuse = fuse;
    if constexpr (!std::is_same_v<A, NoAttrs>) def.attrs = &attr_schema<A>();
    def.relation = [relation = relation](RelationContext& ctx, const Attrs& attrs) {
      return relation(ctx, get(attrs));
    };
    if (compute)
      def.compute = [compute = compute](Compute& c, const Attrs& attrs) { compute(c, get(attrs)); };
    def.non_computational = non_computational;
    def.stateful = stateful;
    def.reshape_only = reshape_only;
    def.data_dependent = data_dependent;
    def.declares_attrs = declares_attrs;
    def.cost = cost;
    def.python = std::move(python);
    def.rules = std::move(rules);
    def.test_shapes = std::move(test_shapes);
    return def;
  }

  static const A& get(const Attrs& attrs) {
    if constexpr (std::is_same_v<A, NoAttrs>) {
      static const NoAttrs none;
      return none;
    } else {
      return attrs_as<A>(attrs);
    }
  }
};

}  // namespace baton

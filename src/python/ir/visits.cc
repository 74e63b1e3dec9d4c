// Support of ExprFunctor: every visit of a node opens a scope with that node's origins for nodes built by the
// user's code, inside and outside of passes; and stack overflow is detected.
#include "python/ir/visits.h"

#include <deque>

#include <pthread.h>

#include "baton/ir/visit.h"
#include "baton/support/pointer_map.h"

#include "python/bind.h"
#include "python/held.h"

namespace baton::python {

namespace {

constexpr size_t kStackReserve = 192 * 1024;  // bytes of C stack that a visit must leave

// The lowest address of this thread's stack; null when unknown.
const char* stack_end() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
  void* lowest = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &lowest, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? static_cast<const char*>(lowest) : nullptr;
}

void check_stack() {
  static thread_local const char* const end = stack_end();
  const char here = 0;
  if (!end || static_cast<size_t>(&here - end) > kStackReserve) return;
  PyErr_SetString(PyExc_RecursionError,
                  "the program is nested too deeply for a recursive visit on this thread's stack");
  throw nb::python_error();
}

// A node being visited. A node without origins (a variable, a tuple) keeps the enclosing scope.
struct Visit {
  explicit Visit(const ExprNode& node) {
    if (!node.origins().empty()) scope.emplace(node.origins());
  }
  std::optional<OriginScope> scope;
};
thread_local std::deque<Visit> visits;

size_t enter_visit(const ExprNode& node) {
  check_stack();
  visits.emplace_back(node);
  return visits.size();
}

void leave_visit() {
  if (!visits.empty()) visits.pop_back();
}

// The length of the longest path from `root` to a leaf, in nodes.
size_t depth(const Expr& root) {
  PointerMap<size_t> depths;
  size_t deepest = 0;
  post_order(root, [&](const Expr& node) {
    size_t below = 0;
    for_each_child(*node, [&](const Expr& child) {
      if (const size_t* found = depths.find(child.get())) below = std::max(below, *found);
    });
    depths.insert(node.get(), below + 1);
    deepest = std::max(deepest, below + 1);
  });
  return deepest;
}

void collect(const Expr& root, std::vector<OriginSet>& sets) {
  post_order(root, [&](const Expr& node) {
    if (!node->origins().empty()) sets.push_back(node->origins());
  });
}

}  // namespace

OriginSet origins_in(const Expr& root) {
  std::vector<OriginSet> sets;
  collect(root, sets);
  return OriginSet::merge_all(sets);
}

OriginSet origins_in(const IRModuleNode& module) {
  std::vector<OriginSet> sets;
  for (const auto& [name, function] : module.functions()) collect(Expr(function), sets);
  return OriginSet::merge_all(sets);
}

OriginSet made_in_pass(const OriginSet& given, const std::string& pass) {
  return given.empty() ? given : OriginSet::made_for(given, "made by the pass " + pass);
}

void retire_left_out(const OriginSet& before, const OriginSet& after, const std::string& pass) {
  PointerSet kept;
  for (const Origin* origin : after.origins()) kept.insert(origin);
  std::vector<OriginSet> gone;
  for (const Origin* origin : before.origins())
    if (!kept.contains(origin)) gone.push_back(OriginSet::of(Ref<const Origin>(origin)));
  if (!gone.empty()) retire(OriginSet::merge_all(gone), "left out by the pass " + pass);
}

void bind_visits(nb::module_& m) {
  m.def("enter_visit", &enter_visit, nb::arg("node"),
        "What is built until leave_visit stands for the origins of `node`. How many visits are open on this "
        "thread. "
        "RecursionError when its stack is nearly used up.");
  m.def("leave_visit", &leave_visit);
  m.def(
      "origin_keys",
      [](const Expr& expr, bool inside) {
        std::vector<uint64_t> keys;
        const OriginSet set = inside ? origins_in(expr) : expr->origins();
        for (const Origin* origin : set.origins()) keys.push_back(reinterpret_cast<uintptr_t>(origin));
        return keys;
      },
      nb::arg("expr"), nb::arg("inside") = false,
      "Numbers of the origins of a node, or of all nodes inside: comparable as long as one of the nodes is "
      "alive.");
  m.def("expr_depth", &depth, nb::arg("expr"), "How many nodes the longest way from `expr` to a leaf has.");
}

}  // namespace baton::python

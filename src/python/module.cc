// The Python extension module `_baton`, on which the package baton is built. Names are TVM's where TVM has
// them.
#include "baton/driver/initialize.h"
#include "baton/runtime/plugin.h"
#include "baton/support/clone.h"

#include "python/bind.h"
#include "python/door.h"

NB_MODULE(_baton, m) {
  using namespace baton::python;
  m.doc() = "The compiler behind the package baton. Use that; names here may change.";
  // Suppresses nanobind's leak warnings at exit: a Python pass and the module that defines it may reference
  // each other through C++, invisible to the garbage collector. tests/python/test_leaks.py detects real
  // leaks.
  nb::set_leak_warnings(false);
  read_environment();
  baton::initialize();
  baton::Plugin::set_builder(baton::build_part);
  bind_errors(m);
  bind_ndarray(m);
  bind_types(m);
  bind_attrs(m);
  bind_exprs(m);
  bind_adt(m);
  bind_ops(m);
  bind_ir_module(m);
  bind_visit(m);
  bind_visits(m);
  bind_rebuild(m);
  bind_analysis(m);
  bind_measures(m);
  bind_structural(m);
  bind_type_solver(m);
  bind_text(m);
  bind_pass(m);
  bind_quantization(m);
  bind_byoc(m);
  bind_functional(m);
  bind_placement(m);
  bind_target(m);
  bind_gradient(m);
  bind_driver(m);
  bind_campaign(m);
  bind_cut(m);
  bind_runtime(m);
  bind_operator_map(m);
  bind_profile(m);
  bind_store(m);
  bind_predict(m);
  bind_map(m);
  bind_queues(m);
  bind_values(m);
  bind_programs(m);
  bind_workloads(m);
  bind_onnx(m);
}

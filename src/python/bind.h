#pragma once
// One function per bound header, called by module.cc in this order (base classes first).
#include "python/casters.h"

namespace baton::python {

void bind_errors(nb::module_& m);     // support/error.h, support/diagnostic.h, support/source.h
void bind_ndarray(nb::module_& m);    // support/base/ndarray.h, support/base/params_blob.h
void bind_types(nb::module_& m);      // ir/type.h
void bind_attrs(nb::module_& m);      // ir/attrs.h
void bind_exprs(nb::module_& m);      // ir/expr.h
void bind_adt(nb::module_& m);        // ir/adt.h, references of ir/expr.h
void bind_ops(nb::module_& m);        // ir/op.h
void bind_ir_module(nb::module_& m);  // ir/module.h
void bind_visit(nb::module_& m);      // ir/visit.h, ir/variables.h
void bind_visits(nb::module_& m);     // the scopes of ExprFunctor; ir/origin.h
void bind_rebuild(nb::module_& m);    // nodes with some fields replaced
void bind_analysis(nb::module_& m);   // ir/analysis/kinds.h, ir/analysis/well_formed.h,
                                      // ir/analysis/match_cases.h, ir/analysis/features.h
void bind_measures(
    nb::module_& m);  // ir/analysis/measures.h, extract.h, bind.h, call_graph.h; byoc/regions.h
void bind_structural(nb::module_& m);    // ir/structural.h
void bind_type_solver(nb::module_& m);   // types/type_solver.h
void bind_text(nb::module_& m);          // text/parser.h, text/printer.h
void bind_pass(nb::module_& m);          // pass/pass.h, pass/timing.h
void bind_quantization(nb::module_& m);  // ops/qnn/requantize.h
void bind_byoc(nb::module_& m);          // byoc/
void bind_functional(
    nb::module_& m);  // transform/functional/cps.h, transform/functional/defunctionalization.h, ..
void bind_placement(nb::module_& m);     // ir/placement.h, ir/rules/mixed_precision_rule.h,
                                         // transform/devices/compilation_config.h
void bind_target(nb::module_& m);        // door.h
void bind_gradient(nb::module_& m);      // transform/gradient/gradient.h
void bind_driver(nb::module_& m);        // driver/build.h, driver/pipeline.h
void bind_operator_map(nb::module_& m);  // driver/origins/operator_map.h, driver/fused_module.h
void bind_campaign(nb::module_& m);      // campaign/campaign.h
void bind_cut(nb::module_& m);  // driver/cut/cut_program.h, driver/cut/cut_values.h, driver/cut/mark_region.h
void bind_profile(
    nb::module_& m);  // profile/report/report.h, profile/write/files.h, profile/report/diff.h, text/html.h
void bind_store(nb::module_& m);      // store/store.h
void bind_predict(nb::module_& m);    // predict/model/predict_model.h
void bind_map(nb::module_& m);        // map/model/map_model.h
void bind_queues(nb::module_& m);     // runtime/queue_executor.h
void bind_runtime(nb::module_& m);    // runtime/executor.h, runtime/model.h
void bind_values(nb::module_& m);     // interpreter/interpreted_program.h, runtime/values/value.h
void bind_programs(nb::module_& m);   // driver/vm/runnable_program.h
void bind_workloads(nb::module_& m);  // frontend/workloads
void bind_onnx(nb::module_& m);       // frontend/onnx/import.h

}  // namespace baton::python

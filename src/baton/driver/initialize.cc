#include "baton/driver/initialize.h"

#include "baton/byoc/register.h"
#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/codegen/own_backend.h"
#include "baton/frontend/onnx/node_operator.h"
#include "baton/ops/register.h"
#include "baton/pass/pass.h"
#include "baton/transform/register.h"

namespace baton {

void initialize() {
  static const bool once = [] {
    register_all_ops();
    onnx::register_node_operators();
    register_all_passes();
    register_byoc_passes();
    register_built_in_backends();
    load_listed_backends();
    set_default_evaluator(make_evaluator());
    return true;
  }();
  static_cast<void>(once);
}

}  // namespace baton

#include "codegen/relay_kernels.h"

#include <memory>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/plan/plan.h"
#include "baton/pass/pass.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"

namespace baton::test {

std::vector<KernelRequest> kernels_of(const std::string& text) {
  initialize();
  IRModule module = parse_module("#[version = \"0.0.5\"]\ndef @main(" + text + "\n}\n", "test.relay");
  NamedArrays weights;  // all but the first parameter, so that they are packed at compile time
  const Function main = module->find("main");
  for (size_t i = 1; i < main->params().size(); ++i) {
    const auto* type = as_type<TensorTypeNode>(main->params()[i]->annotation());
    weights.emplace_back(main->params()[i]->name(),
                         tensor_value(main->params()[i]->name(), type->extents(), type->dtype()));
  }
  auto context = std::make_shared<PassContext>();
  context->opt_level = 3;
  const BuildContext under = host_context().with_passes(context);
  const InstrumentScope scope(under.passes);
  const GraphPlan plan = make_plan(optimize(bind_params(module, weights), under));
  std::vector<KernelRequest> requests;
  for (const PlannedKernel& kernel : plan.kernels)
    if (kernel.called) requests.push_back({kernel.function, {}, "", {}});
  return requests;
}

const std::map<std::string, std::string>& template_programs() {
  static const std::map<std::string, std::string> programs = {
      {"conv_direct",
       "%x: Tensor[(1, 32, 28, 28), float32], %w: Tensor[(64, 32, 3, 3), float32], %b: Tensor[(64, 1, 1), "
       "float32]) {\n"
       "  nn.relu(add(nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=64, kernel_size=[3, "
       "3]), %b))"},
      {"conv_winograd",
       "%x: Tensor[(1, 64, 28, 28), float32], %w: Tensor[(64, 64, 3, 3), float32], %b: Tensor[(64, 1, 1), "
       "float32]) {\n"
       "  nn.relu(add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]), %b))"},
      {"conv_depthwise",
       "%x: Tensor[(1, 32, 14, 14), float32], %w: Tensor[(32, 1, 3, 3), float32], %b: Tensor[(32, 1, 1), "
       "float32]) {\n"
       "  nn.relu(add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=32, channels=32, kernel_size=[3, 3]), "
       "%b))"},
      {"conv_positions",
       "%x: Tensor[(1, 32, 14, 14), float32], %w: Tensor[(36, 8, 3, 3), float32], %b: Tensor[(36, 1, 1), "
       "float32]) {\n"
       "  nn.relu(add(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], groups=4, channels=36, kernel_size=[3, 3]), "
       "%b))"},
      {"conv_transpose",
       "%x: Tensor[(1, 32, 14, 14), float32], %w: Tensor[(32, 32, 4, 4), float32], %b: Tensor[(32, 1, 1), "
       "float32]) {\n"
       "  nn.relu(add(nn.conv2d_transpose(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=32, "
       "kernel_size=[4, 4], kernel_layout=\"IOHW\"), %b))"},
      {"conv_transpose in rows",
       "%x: Tensor[(1, 32, 14, 16), float32], %w: Tensor[(32, 3, 4, 4), float32]) {\n"
       "  tanh(nn.conv2d_transpose(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], channels=3, "
       "kernel_size=[4, 4], kernel_layout=\"IOHW\"))"},
      {"gemm",
       "%x: Tensor[(16, 128), float32], %w: Tensor[(256, 128), float32], %b: Tensor[(256), float32]) {\n"
       "  nn.relu(add(nn.dense(%x, %w, units=256), %b))"},
      {"pool",
       "%x: Tensor[(1, 32, 28, 28), float32]) {\n  nn.relu(nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, "
       "2], padding=[1, 1, 1, 1]))"},
      {"rows", "%x: Tensor[(64, 256), float32]) {\n  nn.softmax(%x)"},
      {"rows of layer_norm",
       "%x: Tensor[(64, 256), float32], %g: Tensor[(256), float32], %b: Tensor[(256), float32]) {\n"
       "  nn.layer_norm(%x, %g, %b)"},
      {"pointwise", "%x: Tensor[(64, 4096), float32]) {\n  tanh(nn.relu(%x))"},
      {"a few numbers", "%x: Tensor[(5), float32]) {\n  nn.relu(exp(%x))"},
  };
  return programs;
}

const Kernel& compiled(const KernelRequest& request) {
  static KernelCache none("");
  BuildContext options = host_context();
  options.cache = &none;
  return *compile_kernels({&request, 1}, options)[0];  // kernels are kept for as long as the process lives
}

KernelRequest kernel_with(const std::string& program, const std::string& template_name) {
  for (KernelRequest& request : kernels_of(template_programs().at(program)))
    if (compiled(request).template_name == template_name) return std::move(request);
  ADD_FAILURE() << "no kernel of " << program << " is made by " << template_name;
  return {};
}

}  // namespace baton::test

#include "baton/predict/kernel_case.h"

#include <cmath>
#include <numeric>

#include "baton/codegen/backend.h"
#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/text/parser.h"
#include "baton/types/function_text.h"

namespace baton {

namespace {

constexpr const char* kPartMark = "\npart ";  // of part_work(), after the kernel's text

DescribedTensor described(const TensorTypeNode& type) {
  if (!type.is_static())
    throw NotSupported("the time of a kernel is predicted for known extents, not for " +
                       type_text(Type(&type)));
  return {type.extents(), type.dtype()};
}

std::vector<DescribedTensor> described(const Type& type) {
  std::vector<DescribedTensor> all;
  for (const TensorTypeNode* each : flat_types(type)) all.push_back(described(*each));
  return all;
}

/// The extents of the window of a convolution that leaves them to the weight.
std::vector<int64_t> window_of_weight(const DescribedOperator& op) {
  const auto layout = Layout::parse(op.window.kernel_layout);
  if (!layout || op.inputs.size() < 2 || layout->rank() != static_cast<int>(op.inputs[1].extents.size()))
    return {};
  std::vector<int64_t> window;
  for (const char letter : {'D', 'H', 'W'})
    if (const int at = layout->find(letter); at >= 0)
      window.push_back(op.inputs[1].extents[static_cast<size_t>(at)]);
  return window;
}

/// By definition, as the cost rules count: of an operator whose call cannot be read.
double operations(const DescribedOperator& op) {
  const std::string_view kind = op.op ? cost_class(*op.op) : "other";
  double results = 0;
  for (const DescribedTensor& each : op.results) results += each.elements();
  if (op.inputs.size() > 1 && kind == "conv") {
    const auto layout = Layout::parse(op.window.kernel_layout);
    double out = 1;
    if (layout && layout->rank() == static_cast<int>(op.inputs[1].extents.size()))
      for (int i = 0; i < layout->rank(); ++i)
        if (std::toupper(layout->axes()[static_cast<size_t>(i)].letter) == 'O')
          out *= static_cast<double>(op.inputs[1].extents[static_cast<size_t>(i)]);
    return 2 * results * op.inputs[1].elements() / std::max(out, 1.0);
  }
  if (op.inputs.size() > 1 && kind == "dense")
    return 2 * results *
           std::sqrt(op.inputs[0].elements() * op.inputs[1].elements() / std::max(results, 1.0));
  if (kind == "pool")
    return results * static_cast<double>(along_axis(op.window.size, 0, 1) * along_axis(op.window.size, 1, 1));
  if (kind == "move") return 0;
  return kind == "reduce" && !op.inputs.empty() ? op.inputs[0].elements() : results;
}

/// A part of a kernel whose text cannot be read: its operators alone.
void count_part(KernelDescription& part) {
  for (const DescribedOperator& op : part.operators) {
    part.flops += operations(op);
    for (const auto* all : {&op.inputs, &op.results})
      for (const DescribedTensor& each : *all) part.bytes += each.bytes();
  }
}

DescribedOperator described(const CallNode& call) {
  DescribedOperator one;
  one.op = call.op();
  one.name = one.op ? one.op->name : "";
  for (const Expr& arg : call.args())
    for (DescribedTensor& tensor : described(arg->checked_type())) one.inputs.push_back(std::move(tensor));
  one.results = described(call.checked_type());
  one.window = window_attrs(call.attrs());
  if (one.window.size.empty()) one.window.size = window_of_weight(one);
  return one;
}

std::vector<DescribedTensor> parsed(const std::string& type) {
  try {
    return described(parse_type(type));
  } catch (const Error& error) {
    throw Error("a measurement has the type `" + type + "`, which cannot be read: " + error.what());
  }
}

void add_numbers(const Json& value, std::vector<int64_t>& to) {
  if (value.is_number()) to.push_back(value.get<int64_t>());
  if (value.is_array())
    for (const auto& each : value) add_numbers(each, to);
}

/// What windows are made of: texts, and numbers, those of nested lists one after the other.
AttrValue attr_of_json(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::vector<int64_t> numbers;
  add_numbers(value, numbers);
  return numbers;
}

DescribedOperator described(const WorkOperator& work) {
  DescribedOperator one;
  one.name = work.op;
  one.op = find_op(work.op);
  for (const std::string& type : work.input_types)
    for (DescribedTensor& tensor : parsed(type)) one.inputs.push_back(std::move(tensor));
  one.results = parsed(work.type);
  if (!work.attributes.is_object())
    throw Error("the attributes of `" + work.op +
                "` in a measurement are no JSON object: " + work.attributes.dump());
  one.window = window_attrs([&](std::string_view name) {
    const auto at = work.attributes.find(name);
    return at == work.attributes.end() ? AttrValue() : attr_of_json(*at);
  });
  if (one.window.size.empty()) one.window.size = window_of_weight(one);
  return one;
}

void each_call(const FunctionNode& function, FunctionRef<void(const CallNode&)> visit) {
  post_order(function.body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call && call->op()) visit(*call);
  });
}

void count_function(const FunctionNode& function, KernelDescription& kernel) {
  std::vector<CostFacts> costs;
  each_call(function, [&](const CallNode& call) { costs.push_back(cost_of_call(call)); });
  const CostFacts all = cost_of_function(function, costs);
  kernel.flops = all.flops;
  kernel.bytes = all.bytes;
}

/// The part's operators are calls of the function, in this order; false where one is not found.
bool count_part_of(const FunctionNode& function, KernelDescription& part) {
  size_t next = 0;
  CostFacts sum;
  each_call(function, [&](const CallNode& call) {
    if (next == part.operators.size() || call.op()->name != part.operators[next].name) return;
    const CostFacts cost = cost_of_call(call);
    sum.flops += cost.flops;
    sum.bytes += cost.bytes;
    ++next;
  });
  part.flops = sum.flops;
  part.bytes = sum.bytes;
  return next == part.operators.size();
}

/// As a kernel's schedule sees it: the last of the operators that restrict fusion most.
int anchor_of(const std::vector<DescribedOperator>& operators) {
  int anchor = -1;
  Fuse most = Fuse::kElementwise;
  for (size_t i = 0; i < operators.size(); ++i) {
    const OpDef* op = operators[i].op;
    const Fuse fuse = !op ? Fuse::kOpaque : op->fuse == Fuse::kTuple ? Fuse::kElementwise : op->fuse;
    if (anchor >= 0 && fuse < most) continue;
    anchor = static_cast<int>(i);
    most = fuse;
  }
  return anchor;
}

}  // namespace

double DescribedTensor::elements() const {
  return std::accumulate(extents.begin(), extents.end(), 1.0, [](double product, int64_t extent) {
    return product * static_cast<double>(extent);
  });
}
double DescribedTensor::bytes() const { return elements() * dtype.bytes(); }

double KernelDescription::weight_bytes() const {
  const DescribedOperator* op = anchored();
  const std::string_view kind = op && op->op ? cost_class(*op->op) : "other";
  if (kind != "conv" && kind != "dense") return 0;
  double all = 0;
  for (size_t i = 1; i < op->inputs.size(); ++i) all += op->inputs[i].bytes();
  return all;
}

double KernelDescription::result_bytes() const {
  double bytes = 0;
  if (!operators.empty())
    for (const DescribedTensor& each : operators.back().results) bytes += each.bytes();
  return bytes;
}

ModelTraffic traffic_of(const CalledKernels& kernels) {
  ModelTraffic all;
  double largest = 0;
  for (const auto& [kernel, calls] : kernels) {
    const double weights = kernel->weight_bytes(), others = kernel->bytes - weights;
    all.working_set += calls * weights;
    all.distinct += calls * (weights + kernel->result_bytes());
    all.moved += calls * others;
    largest = std::max(largest, others);
  }
  all.working_set += largest;
  all.distinct = std::max(all.distinct, all.working_set);
  return all;
}

KernelDescription describe(const FunctionNode& function) {
  KernelDescription kernel;
  each_call(function, [&](const CallNode& call) { kernel.operators.push_back(described(call)); });
  count_function(function, kernel);
  kernel.anchor = anchor_of(kernel.operators);
  return kernel;
}

KernelDescription describe(const CallNode& call) {
  KernelDescription kernel;
  kernel.operators.push_back(described(call));
  const CostFacts cost = cost_of_call(call);
  kernel.flops = cost.flops;
  kernel.bytes = cost.bytes;
  kernel.anchor = 0;
  return kernel;
}

KernelDescription describe(const Work& work) {
  KernelDescription kernel;
  for (const WorkOperator& each : work.operators) kernel.operators.push_back(described(each));
  kernel.anchor = anchor_of(kernel.operators);
  // What a measurement says of operations and bytes is by the cost rules of its time.
  const Function function = function_of_text(work.text.substr(0, work.text.find(kPartMark)));
  if (work.kind == WorkKind::kPart) {
    if (!function || !count_part_of(*function, kernel)) count_part(kernel);
  } else if (function) {
    count_function(*function, kernel);
  } else {
    kernel.flops = work.flops;
    kernel.bytes = work.bytes;
  }
  return kernel;
}

bool knows_schedules(std::string_view backend) {
  const BackendRef known = find_backend(backend);
  return known && known->schedules;
}

KernelCase case_of(const Measurement& measurement, KernelDescription described,
                   std::shared_ptr<const DeviceSheet> sheet) {
  KernelCase made;
  made.kernel = std::move(described);
  made.backend = measurement.build.backend;
  made.sheet = std::move(sheet);
  made.threads = measurement.threads;
  made.cache = measurement.cache;
  if (!knows_schedules(made.backend)) return made;
  made.template_name = measurement.build.template_name;
  const auto parameters = Json::parse_or_discard(measurement.build.parameters);
  if (parameters.is_object())
    for (const auto& [name, value] : parameters.items())
      if (value.is_number() || value.is_boolean())
        made.parameters.emplace(name, value.is_boolean() ? value.get<bool>() : value.get<int>());
  return made;
}

}  // namespace baton

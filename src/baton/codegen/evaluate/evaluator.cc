#include "baton/codegen/evaluate/evaluator.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <unordered_map>

#include <unistd.h>

#include "baton/codegen/compile.h"
#include "baton/codegen/compiler.h"
#include "baton/codegen/evaluate/interpreter.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/codegen/kernel/link.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/shape_rule.h"
#include "baton/ops/compute.h"

namespace baton {
namespace {

/// A call with its constants lifted to parameters, so that calls of the same types share a kernel; and their
/// values.
struct Lifted {
  Function function;
  std::vector<NDArray> inputs;
};

Expr lift(const Expr& arg, std::vector<Var>& params, std::vector<NDArray>& inputs);

std::vector<Expr> lift_args(const CallNode& call, std::vector<Var>& params, std::vector<NDArray>& inputs) {
  const OpDef* op = call.op();
  if (!op) throw NotSupported("a call of a function cannot be evaluated");
  if (!op->compute) throw NotSupported("operator " + op->name + " cannot be run: it has no compute");
  BATON_CHECK(call.checked_type(), "a call is evaluated before it is typed: " + op->name);
  std::vector<Expr> args;
  for (const Expr& arg : call.args()) args.push_back(lift(arg, params, inputs));
  return args;
}

Expr lift(const Expr& arg, std::vector<Var>& params, std::vector<NDArray>& inputs) {
  if (const auto* constant = as<ConstantNode>(arg)) {
    const Type type = constant->checked_type();
    params.push_back(
        make_var("p" + std::to_string(params.size()), type, NodeInfo(OriginSet::none(), {}, type)));
    inputs.push_back(constant->value());
    return params.back();
  }
  if (const auto* tuple = as<TupleNode>(arg)) {
    std::vector<Expr> fields;
    std::vector<Type> types;
    for (const Expr& field : tuple->fields()) {
      fields.push_back(lift(field, params, inputs));
      types.push_back(fields.back()->checked_type());
    }
    return make_tuple(std::move(fields), NodeInfo(OriginSet::none(), {}, tuple_type(std::move(types))));
  }
  if (const auto* call = as<CallNode>(arg)) {
    std::vector<Expr> args = lift_args(*call, params, inputs);
    return make_call(call->callee(), std::move(args), call->attrs(),
                     NodeInfo(OriginSet::none(), {}, call->checked_type()));
  }
  throw NotSupported("a call is evaluated whose arguments are not all constants");
}

Lifted lift(const CallNode& call) {
  Lifted lifted;
  std::vector<Var> params;
  std::vector<Expr> args = lift_args(call, params, lifted.inputs);
  const Type result = static_result_type(call, lifted.inputs);  // extents are known, since the arguments are
  const Expr body =
      make_call(call.callee(), std::move(args), call.attrs(), NodeInfo(OriginSet::none(), {}, result));
  lifted.function =
      make_function(std::move(params), body, result, {{"Primitive", 1}}, NodeInfo(OriginSet::none()));
  return lifted;
}

/// Whether an argument contains a call.
bool is_nested(const Expr& arg) {
  if (const auto* tuple = as<TupleNode>(arg))
    return std::any_of(tuple->fields().begin(), tuple->fields().end(), is_nested);
  return as<CallNode>(arg) != nullptr;
}
bool is_nested(const CallNode& call) {
  return std::any_of(call.args().begin(), call.args().end(), [](const Expr& arg) { return is_nested(arg); });
}

/// Whether all calls have static types.
bool is_static(const Expr& expr) {
  if (const auto* tuple = as<TupleNode>(expr))
    return std::all_of(tuple->fields().begin(), tuple->fields().end(), is_static);
  const auto* call = as<CallNode>(expr);
  if (!call) return true;
  const auto* type = as_type<TensorTypeNode>(call->checked_type());
  return type && type->is_static() && std::all_of(call->args().begin(), call->args().end(), is_static);
}

/// A dense buffer in Halide's order.
class Buffer {
 public:
  explicit Buffer(const NDArray& array) : dims_(array.ndim()) {
    int64_t stride = 1;
    for (int d = 0; d < array.ndim(); ++d) {
      const int64_t extent = array.shape()[array.ndim() - 1 - d];
      dims_[d] = {0, static_cast<int32_t>(extent), static_cast<int32_t>(stride), 0};
      stride *= extent;
    }
    raw_.host = static_cast<uint8_t*>(const_cast<void*>(array.data()));
    raw_.type = halide_type(array.dtype());
    raw_.dimensions = array.ndim();
    raw_.dim = dims_.data();
  }
  Buffer(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept : raw_(other.raw_), dims_(std::move(other.dims_)) {
    raw_.dim = dims_.data();
  }
  halide_buffer_t* raw() { return &raw_; }

 private:
  halide_buffer_t raw_{};
  std::vector<halide_dimension_t> dims_;
};

bool aligned(const NDArray& array) {
  return reinterpret_cast<uintptr_t>(array.data()) % NDArray::kAlignment == 0;
}

class KernelEvaluator final : public Evaluator {
 public:
  KernelEvaluator(EvaluateBy by, const DeviceSheet& machine) : by_(by), machine_(machine) {}

  std::vector<NDArray> evaluate(const CallNode& call, const BuildContext& context) override {
    context.stop_if_asked();
    if (is_nested(call)) return evaluate_nested(call, context);
    Lifted lifted = lift(call);
    std::vector<NDArray> outputs = empty_outputs(lifted);
    if (std::all_of(outputs.begin(), outputs.end(), [](const NDArray& output) { return output.size() == 0; }))
      return outputs;
    if (by_ != EvaluateBy::kKernel) {
      InterpretOptions options;
      const KernelKey key = chooses() ? kernel_key(request_for(lifted.function), machine_) : KernelKey{};
      if (chooses()) options.limit_s = time_left(key);
      options.strided = by_ != EvaluateBy::kElementwise;
      options.elementwise = by_ != EvaluateBy::kStrided;
      std::string why;
      const auto begin = std::chrono::steady_clock::now();
      if (interpret(*lifted.function, lifted.inputs, outputs, options, &why)) {
        spend(key, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
        return outputs;
      }
      if (!chooses()) throw NotSupported("operator " + call.op()->name + " cannot be interpreted: " + why);
    }
    run_kernel(lifted, outputs, context);
    return outputs;
  }

 private:
  struct Loaded {
    std::shared_ptr<const KernelLibrary> library;
    KernelFunction function = nullptr;
  };

  static std::vector<NDArray> empty_outputs(const Lifted& lifted) {
    std::vector<NDArray> outputs;
    for (const TensorTypeNode* type : flat_types(lifted.function->ret_type())) {
      outputs.push_back(NDArray::empty(type->extents(), type->dtype()));
      if (!outputs.back())
        throw Error("not enough memory for a folded constant of type " + type_text(Type(type)));
    }
    return outputs;
  }

  /// All nested calls in one strided loop nest where possible; otherwise one after the other.
  std::vector<NDArray> evaluate_nested(const CallNode& call, const BuildContext& context) {
    if (by_ != EvaluateBy::kKernel && is_static(Expr(&call))) {
      Lifted lifted = lift(call);
      std::vector<NDArray> outputs = empty_outputs(lifted);
      InterpretOptions options;
      options.strided = by_ != EvaluateBy::kElementwise;
      options.elementwise = by_ == EvaluateBy::kElementwise;
      if (interpret(*lifted.function, lifted.inputs, outputs, options)) return outputs;
    }
    if (by_ == EvaluateBy::kStrided) throw NotSupported("the calls have no strides in common");
    std::vector<Expr> args;
    for (const Expr& arg : call.args()) args.push_back(evaluated(arg, context));
    return evaluate(*make_call(call.callee(), std::move(args), call.attrs(),
                               NodeInfo(OriginSet::none(), {}, call.checked_type())),
                    context);
  }

  /// `arg` evaluated to a constant.
  Expr evaluated(const Expr& arg, const BuildContext& context) {
    const NodeInfo info(OriginSet::none(), {}, arg->checked_type());
    if (const auto* tuple = as<TupleNode>(arg)) {
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields()) fields.push_back(evaluated(field, context));
      return make_tuple(std::move(fields), info);
    }
    const auto* call = as<CallNode>(arg);
    if (!call) return arg;
    std::vector<NDArray> values = evaluate(*call, context);
    const NodeInfo none(OriginSet::none());
    if (!as_type<TupleTypeNode>(arg->checked_type())) return make_constant(std::move(values.at(0)), none);
    std::vector<Expr> fields;
    for (NDArray& value : values) fields.push_back(make_constant(std::move(value), none));
    return make_tuple(std::move(fields), info);
  }

  static KernelRequest request_for(const Function& function) { return {function, {}, "trivial", {}}; }

  bool chooses() const { return by_ == EvaluateBy::kChoose || by_ == EvaluateBy::kRepeated; }

  /// The time budget for interpreting, in seconds: how long it would take until a compiled kernel could
  /// start.
  double time_left(const KernelKey& key) {
    double spent = 0;
    {
      const std::lock_guard lock(mutex_);
      if (loaded_.count(key)) return kQuick_s;
      if (const auto at = spent_s_.find(key); at != spent_s_.end()) spent = at->second;
    }
    const bool on_disk = access(KernelCache::shared().path(key, "so").c_str(), R_OK) == 0;
    return std::max(on_disk ? 1e-3 : 40e-3, kQuick_s) - spent;
  }

  /// Accumulates interpretation time per key, except for calls too short to profit from a kernel. Not used
  /// for folding, which must not depend on timing.
  void spend(const KernelKey& key, double seconds) {
    if (by_ != EvaluateBy::kRepeated || seconds < kQuick_s) return;
    const std::lock_guard lock(mutex_);
    spent_s_[key] += seconds;
  }

  void run_kernel(Lifted& lifted, std::vector<NDArray>& outputs, const BuildContext& context) {
    const KernelFunction function = load(lifted.function, context);
    std::vector<Buffer> buffers;
    for (NDArray& input : lifted.inputs) {
      if (!aligned(input)) input = input.copy();
      buffers.emplace_back(input);
    }
    for (NDArray& output : outputs) buffers.emplace_back(output);
    std::vector<void*> args;
    for (Buffer& buffer : buffers) args.push_back(buffer.raw());
    if (const int code = function(args.data()))
      throw Error("a kernel of constant folding failed with code " + std::to_string(code) +
                  ": is memory short?");
  }

  KernelFunction load(const Function& function, const BuildContext& context) {
    const std::vector<KernelRequest> requests = {request_for(function)};
    const KernelKey key = kernel_key(requests[0], machine_);
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = loaded_.find(key); at != loaded_.end()) return at->second.function;
    }
    Loaded fresh;
    fresh.library = load_linked(key, requests, context);
    fresh.function = fresh.library->find(kernel_symbol(key));
    BATON_CHECK(fresh.function, "a library lacks its only kernel");
    const std::lock_guard lock(mutex_);
    return loaded_.emplace(key, std::move(fresh)).first->second.function;
  }

  /// Linked libraries are cached like kernels: linking takes 10 ms, loading 0.1 ms.
  std::shared_ptr<const KernelLibrary> load_linked(const KernelKey& key,
                                                   std::span<const KernelRequest> requests,
                                                   const BuildContext& around) const {
    KernelCache& cache = KernelCache::shared();
    const auto load_bytes = [](const std::string& bytes) {
      return KernelLibrary::from_memory({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
    };
    if (const auto bytes = cache.load_bytes(key, "so"))
      if (auto library = load_bytes(*bytes); library.ok()) return *library;
    // Kernels for folding use the process-wide cache, and are not reported as progress.
    BuildContext context = around;
    context.cache = nullptr;
    context.threads = machine_.cores;
    context.progress = nullptr;
    const NamedKernels named = {{kernel_symbol(key), compile_kernels(requests, machine_, context)[0]}};
    if (find_linker().empty()) return jit_library(named, requests, machine_, context);
    const std::string bytes = link_library(named);
    cache.store_bytes(key, "so", bytes);
    auto library = load_bytes(bytes);
    if (!library.ok()) throw Error(library.status().message);
    return *library;
  }

  static constexpr double kQuick_s = 50e-6;

  const EvaluateBy by_;
  const DeviceSheet machine_;
  std::mutex mutex_;
  std::unordered_map<KernelKey, double> spent_s_;  ///< interpretation time, for kRepeated
  std::unordered_map<KernelKey, Loaded> loaded_;
};

}  // namespace

std::shared_ptr<Evaluator> make_evaluator(EvaluateBy by, const DeviceSheet& machine) {
  return std::make_shared<KernelEvaluator>(by, machine);
}

}  // namespace baton

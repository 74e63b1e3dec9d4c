#include "python/running/region_function.h"

#include <cstdlib>
#include <map>
#include <mutex>

#include <unistd.h>

#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/pass/inline_call.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/runtime/plugin.h"
#include "baton/support/error.h"

namespace baton::python {

namespace {

constexpr const char* kPlugin = "python";
constexpr const char* kNumber = "PythonFunction";  // attribute of a kernel: the number of its function
constexpr std::string_view kHead = "baton python ";

class Inliner final : public Rewriter {
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* call = as<CallNode>(rebuilt);
    const auto* function = call ? as<FunctionNode>(call->callee()) : nullptr;
    return function && function->attr("Composite") ? inlined_call(*function, call->args()) : rebuilt;
  }
};

/// The functions of this process by number. A built model refers to its function by number for as long as it
/// may be loaded, so they stay.
class Functions {
 public:
  static Functions& instance() {
    static auto* const all = new Functions;  // never destroyed: holds Python objects
    return *all;
  }
  int64_t add(Held function) {
    const std::lock_guard lock(mutex_);
    functions_.push_back(std::move(function));
    return static_cast<int64_t>(functions_.size()) - 1;
  }
  Held at(size_t number) {
    const std::lock_guard lock(mutex_);
    return number < functions_.size() ? functions_[number] : nullptr;
  }

 private:
  std::mutex mutex_;
  std::vector<Held> functions_;
};

thread_local std::string last_error_text;

int fail(std::string why) {
  last_error_text = std::move(why);
  return -1;
}

/// Where the process cannot load what another one has built.
std::string process_mark() { return std::to_string(getpid()) + "\n"; }

/// Symbol -> function, of one model.
struct Module {
  std::map<std::string, Held> functions;
};

int load(const void* blob, size_t bytes, void** module) {
  std::string_view text(static_cast<const char*>(blob), bytes);
  const std::string head = std::string(kHead) + process_mark();
  if (!text.starts_with(head))
    return fail(
        "its regions are computed by Python functions, which a saved model does not hold: build it in this "
        "process");
  text.remove_prefix(head.size());
  auto loaded = std::make_unique<Module>();
  while (!text.empty()) {  // lines of a number and a symbol
    const size_t blank = text.find(' '), end = text.find('\n');
    if (blank == std::string_view::npos || end == std::string_view::npos || end < blank)
      return fail("it is damaged");
    const auto number = static_cast<size_t>(std::atoll(std::string(text.substr(0, blank)).c_str()));
    Held function = Functions::instance().at(number);
    if (!function) return fail("it is damaged");
    loaded->functions[std::string(text.substr(blank + 1, end - blank - 1))] = std::move(function);
    text.remove_prefix(end + 1);
  }
  *module = loaded.release();
  return 0;
}

struct Kernel {
  Held function;
  int32_t tensors;
};

NDArray view_of(const baton_tensor& tensor) {
  Shape shape;
  for (int32_t i = tensor.dimensions; i-- > 0;) shape.push_back(tensor.dim[i].extent);
  const DType dtype = DType::make(tensor.type.code == 4   ? DType::Code::kBFloat
                                  : tensor.type.code == 3 ? DType::Code::kHandle
                                                          : static_cast<DType::Code>(tensor.type.code),
                                  tensor.type.bits);
  return NDArray::view(tensor.host, std::move(shape), dtype, [](void*) {}, nullptr);
}

int call(void* context, void** args) {
  const Kernel& kernel = *static_cast<const Kernel*>(context);
  const nb::gil_scoped_acquire gil;
  try {
    nb::list tensors;
    for (int32_t i = 0; i < kernel.tensors; ++i)
      tensors.append(nb::cast(view_of(*static_cast<const baton_tensor*>(args[i]))));
    nb::handle(kernel.function.get())(tensors);
    return 0;
  } catch (nb::python_error& error) {
    std::string said = nb::str(error.value()).c_str();
    return fail(std::string(nb::str(error.type().attr("__name__")).c_str()) + (said.empty() ? "" : ": ") +
                said);
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

int bind(void* module, const char* symbol, int32_t tensors, void*, baton_bound* bound) {
  const auto& functions = static_cast<Module*>(module)->functions;
  const auto at = functions.find(symbol);
  if (at == functions.end()) return fail("no Python function computes it");
  *bound = {call, new Kernel{at->second, tensors}};
  return 0;
}

constexpr baton_backend kTable = {
    .abi_version = BATON_BACKEND_ABI,
    .struct_bytes = sizeof(baton_backend),
    .name = kPlugin,
    .last_error = [] { return last_error_text.c_str(); },
    .device_count = [] { return int32_t{0}; },
    .device_kind = nullptr,
    .device_name = nullptr,
    .allocate = nullptr,
    .release = nullptr,
    .copy = nullptr,
    .queue_create = nullptr,
    .queue_destroy = nullptr,
    .queue_wait = nullptr,
    .event_create = nullptr,
    .event_destroy = nullptr,
    .event_record = nullptr,
    .event_ns = nullptr,
    .load = load,
    .unload = [](void* module) { delete static_cast<Module*>(module); },
    .bind = bind,
    .unbind = [](baton_bound bound) { delete static_cast<Kernel*>(bound.context); },
    .parts = nullptr,
    .run_parts = nullptr,
    .memory_bytes = nullptr,
};

}  // namespace

BuiltRegion region_of_function(const Function& region, Held function, const BuildContext& context) {
  const Function open = without_attrs(region, {"Primitive"});  // otherwise passes would not enter it
  IRModule program = make_module();
  program->set("main", as_ref<FunctionNode>(Inliner().run(Expr(open))));
  program = (*make_pass("InferType"))(program, context);
  const int64_t number = Functions::instance().add(std::move(function));
  program->set("main", as_one_kernel(program->find("main"), {{kNumber, number}}));
  return {(*make_pass("InferType"))(program, context)};
}

void add_region_functions(Backend& backend) {
  backend.plugin = kPlugin;
  backend.takes = [](const FunctionNode& function, const DeviceSheet&) {
    return std::string(function.attr(kNumber) ? "" : "no Python function computes it");
  };
  backend.compile = [](std::span<const BackendFunction> functions, const DeviceSheet&, const BuildContext&) {
    Built built;
    built.blob = std::string(kHead) + process_mark();
    for (const BackendFunction& each : functions) {
      const int64_t* number = each.function->attr(kNumber)->as<int64_t>();
      BATON_CHECK(number, "a Python function without its number");
      built.blob += std::to_string(*number) + " " + each.func_name + "\n";
      built.kernels.push_back({each.func_name, each.function, {}, library_kernel(each, kPlugin)});
    }
    return built;
  };
}

void register_region_functions() {
  const Result<const Plugin*> added = Plugin::add(kTable);
  BATON_CHECK(added.ok(), added.status().message);
}

}  // namespace baton::python

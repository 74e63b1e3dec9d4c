#include <unordered_map>

#include "baton/codegen/backend.h"
#include "baton/codegen/background.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/partition_for.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/driver/vm/build_program.h"
#include "baton/ir/op.h"
#include "baton/pass/rewriter.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/door.h"
#include "python/held.h"
#include "python/running/interruptible.h"
#include "python/running/region_function.h"
#include "python/running/running.h"

namespace baton::python {

namespace {

/// Calls Python's progress callback, from any thread. Its exceptions end the build.
std::function<void(const std::string&, int, int)> progress_to(std::optional<nb::callable> function) {
  if (!function) return {};
  return [held = hold(std::move(*function))](const std::string& phase, int done, int total) {
    const nb::gil_scoped_acquire gil;
    nb::handle(held.get())(phase, done, total);
  };
}

BackendRef named_backend(const std::string& name) {
  initialize();
  BackendRef backend = find_backend(name);
  if (!backend) throw UsageError("there is no backend `" + name + "`");
  return backend;
}

/// The current context for these targets; empty: the current targets.
BuildContext context_for(const std::vector<std::string>& targets, const std::string& host) {
  initialize();  // registers the target kinds of all backends
  BuildContext context = door_context();
  if (targets.empty()) {
    set_targets(context, std::vector<TargetRef>(context.targets));
    return context;
  }
  std::vector<TargetRef> all;
  const TargetRef driver = host.empty() ? nullptr : Target::parse(host);
  for (const std::string& target : targets) {
    const TargetRef parsed = Target::parse(target);
    all.push_back(driver ? with_host(parsed, driver) : parsed);
  }
  set_targets(context, std::move(all));
  return context;
}

/// What build() and build_program() are given by Python.
template <class Build>
BuildResult build_module(Build build, const IRModule& module, const nb::dict& params,
                         const std::vector<std::string>& targets, const std::string& host,
                         std::string mod_name, std::optional<nb::callable> progress) {
  BuildOptions options;
  options.context = context_for(targets, host);
  options.params = arrays_from_python(params);
  options.mod_name = std::move(mod_name);
  options.context.progress = progress_to(std::move(progress));
  return interruptible([&](const std::atomic<bool>* stop) {
    options.context.interrupt = stop;
    return build(module, options);
  });
}

Backend region_backend(const std::string& compiler, nb::object codegen) {
  Backend backend{.name = compiler, .doc = "regions by relay.ext." + compiler};
  backend.region = [held = hold(std::move(codegen))](const Function& region, const BuildContext& context) {
    const nb::gil_scoped_acquire gil;
    const CallbackScope here(context);
    nb::object made = nb::handle(held.get())(region);
    if (PyCallable_Check(made.ptr())) {
      Held function = hold(std::move(made));
      const nb::gil_scoped_release release;
      return region_of_function(region, std::move(function), context);
    }
    const auto built = cast_as<std::shared_ptr<BuildResult>>(
        std::move(made), "what a region's compiler returns", "a build or a function");
    return BuiltRegion{built->optimized};
  };
  add_region_functions(backend);
  backend.lowers_regions = true;
  return backend;
}

}  // namespace

void bind_driver(nb::module_& m) {
  register_region_functions();
  nb::class_<BuildResult>(m, "BuildResult", "Everything a build made.")
      .def_prop_ro("graph_json", [](const BuildResult& b) { return graph_json(*b.plan.graph); })
      .def_prop_ro("params", [](const BuildResult& b) { return arrays_to_python(b.params()); })
      .def_ro("source", &BuildResult::source)
      .def_ro("optimized", &BuildResult::optimized)
      .def_ro("mod_name", &BuildResult::mod_name)
      .def_prop_ro("origins_json",
                   [](const BuildResult& b) { return b.origins ? origins_json(*b.origins) : ""; })
      .def_prop_ro(
          "kernels_so",
          [](const BuildResult& b) {
            return nb::bytes(b.host_code().blob.data(), b.host_code().blob.size());
          },
          "the kernels as a shared library; empty where there is no linker")
      .def_prop_ro(
          "library",
          [](const BuildResult& b) { return std::const_pointer_cast<KernelLibrary>(b.host_code().library); })
      .def_prop_ro("function_metadata",
                   [](const BuildResult& b) {
                     nb::dict functions;
                     for (const auto& [name, function] : b.function_metadata)
                       functions[name.c_str()] = nb::cast(function);
                     return functions;
                   })
      .def_prop_ro(
          "device_code",
          [](const BuildResult& b) {
            std::vector<std::pair<std::string, nb::bytes>> code;
            for (const BackendCode& each : b.device_code())
              code.emplace_back(each.backend, nb::bytes(each.blob.data(), each.blob.size()));
            return code;
          },
          "(backend, blob) of every backend but the processor's")
      .def(
          "executor_of_graph",
          [](const BuildResult& b, const std::string& graph_json) {
            auto plan = Plan::parse(graph_json);
            if (!plan.ok()) throw Error(plan.status().message);
            auto executor = Executor::create(std::move(*plan), load_modules(b), {});
            if (!executor.ok()) throw Error(executor.status().message);
            return run_here(std::move(*executor));
          },
          nb::arg("graph_json"), nb::call_guard<nb::gil_scoped_release>(),
          "An executor of a plan whose kernels are in this build; every input node of it is an input.")
      .def_prop_ro(
          "times",
          [](const BuildResult& b) {
            nb::dict seconds;
            seconds["optimize"] = b.times.optimize_s;
            seconds["plan"] = b.times.plan_s;
            seconds["kernels"] = b.times.kernels_s;
            seconds["link"] = b.times.link_s;
            seconds["total"] = b.times.total_s;
            return seconds;
          },
          "seconds per phase")
      .def(
          "make_executor", [](const BuildResult& b) { return run_here(make_executor(b)); },
          nb::call_guard<nb::gil_scoped_release>())
      .def(
          "write_artifact", [](const BuildResult& b, const std::string& path) { write_artifact(b, path); },
          nb::arg("path"), nb::call_guard<nb::gil_scoped_release>());

  const auto def_build = [&m](const char* name, auto build, const char* doc) {
    m.def(
        name,
        [build](const IRModule& module, const nb::dict& params, const std::vector<std::string>& targets,
                const std::string& host, std::string mod_name, std::optional<nb::callable> progress) {
          return build_module(build, module, params, targets, host, std::move(mod_name), std::move(progress));
        },
        nb::arg("mod"), nb::arg("params"), nb::arg("targets"), nb::arg("host"),
        nb::arg("mod_name") = "default", nb::arg("progress").none() = nb::none(), doc);
  };
  def_build("build", static_cast<BuildResult (*)(const IRModule&, const BuildOptions&)>(&build),
            "Under what `with` made current; without targets for those that are current. `progress`(phase, "
            "done, total) is called now and then, from any thread.");
  def_build(
      "build_program", &build_program,
      "The same for a program of the virtual machine: control flow, functions, data types, open shapes.");
  m.def(
      "bind_params",
      [](const IRModule& module, const nb::dict& params, bool dtypes_too) {
        return bind_params(module, arrays_from_python(params), dtypes_too);
      },
      nb::arg("mod"), nb::arg("params"), nb::arg("dtypes_too") = true);
  m.def(
      "set_region_codegen",
      [](const std::string& compiler, nb::object codegen) {
        if (codegen.is_none()) return remove_backend(compiler);
        register_backend(region_backend(compiler, std::move(codegen)));
      },
      nb::arg("compiler"), nb::arg("codegen").none(),
      "What a build calls for each region of `compiler`; it returns a BuildResult, or a function that gets "
      "the region's inputs and outputs as one list of arrays.");
  m.def(
      "partition_for",
      [](const IRModule& module, const std::string& backend, const std::string& mod_name, bool lower_qnn,
         bool merge) {
        const BuildContext context = context_for({}, "");
        return partition_for(module, named_backend(backend)->name, context, {mod_name, lower_qnn, merge});
      },
      nb::arg("module"), nb::arg("backend"), nb::arg("mod_name"), nb::arg("lower_qnn"), nb::arg("merge"),
      "The program with functions for the regions that a backend takes.");
  m.def(
      "backend_patterns",
      [](const std::string& backend) {
        nb::list entries;
        const BackendRef record = named_backend(backend);
        for (const CompositePattern& each : record->patterns ? record->patterns() : PatternTable())
          entries.append(nb::make_tuple(each.name, each.pattern, nb::cpp_function(each.check)));
        return entries;
      },
      nb::arg("backend"), "The composites of a backend: [(name, pattern, check)].");
  m.def(
      "backend_refusal",
      [](const std::string& backend, const Call& call) {
        return refusal_of_call(*named_backend(backend), *call);
      },
      nb::arg("backend"), nb::arg("call"), "Why a backend does not take a typed call; empty when it does.");
  m.def(
      "backend_operators",
      [](const std::string& backend) {
        std::vector<std::string> names;
        for (const OperatorRule& rule : named_backend(backend)->operators) names.push_back(rule.op);
        return names;
      },
      nb::arg("backend"), "The operators that AnnotateTarget gives to a backend.");
  m.def(
      "substitute",
      [](const Expr& expr, const std::vector<std::pair<Var, Expr>>& values) {
        std::unordered_map<const ExprNode*, Expr> by_var;
        for (const auto& [var, value] : values) by_var[var.get()] = value;
        return substitute(expr, by_var);
      },
      nb::arg("expr"), nb::arg("values"), "`expr` with variables replaced by values: [(variable, value)].");
  m.def(
      "optimize",
      [](const IRModule& module, const std::vector<std::string>& targets, const std::string& host) {
        BuildContext context = context_for(targets, host);
        return interruptible([&](const std::atomic<bool>* stop) {
          context.interrupt = stop;
          return optimize_with_inexact_floats(module, context);
        });
      },
      nb::arg("mod"), nb::arg("targets"), nb::arg("host"));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    const nb::gil_scoped_release release;
    wait_for_background_work();
  }));
}

}  // namespace baton::python

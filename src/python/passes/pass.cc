// Passes, contexts and instruments, including those written in Python. Python code is called with the GIL on
// any thread; its exceptions arrive as in TVM (with_note).
#include "baton/pass/pass.h"

#include "baton/ir/op.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/timing.h"
#include "baton/pass/trace.h"

#include "python/bind.h"
#include "python/cast_as.h"
#include "python/door.h"
#include "python/held.h"
#include "python/ir/visits.h"

namespace baton::python {

namespace {

std::string python_type(nb::handle object) { return nb::cast<std::string>(object.type().attr("__name__")); }

// Raises a Python exception of `call` as it arrives at the caller of passes (baton/_arrived.py), with a note
// that says where it ran (shown under the traceback by Python 3.11).
template <class Call>
auto with_note(const std::string& where, Call call) {
  try {
    return call();
  } catch (nb::python_error& error) {
    const nb::object arrived = nb::module_::import_("baton._arrived").attr("arrived")(error.value());
    if (nb::hasattr(arrived, "add_note")) arrived.attr("add_note")(where);
    PyErr_SetObject(arrived.type().ptr(), arrived.ptr());
    throw nb::python_error();
  }
}

// An instrument written in Python: calls the hooks that the object defines.
class PythonInstrument final : public PassInstrument {
 public:
  explicit PythonInstrument(nb::object object) : name_(name_of(object)), object_(hold(std::move(object))) {}

  nb::handle object() const { return object_.get(); }
  std::string name() const override { return name_; }
  void enter_pass_ctx() override { call("in enter_pass_ctx of instrument " + name_, "enter_pass_ctx"); }
  void exit_pass_ctx() override { call("in exit_pass_ctx of instrument " + name_, "exit_pass_ctx"); }
  bool should_run(const IRModule& module, const PassInfo& info) override {
    const nb::gil_scoped_acquire gil;
    if (!nb::hasattr(object(), "should_run")) return true;
    return with_note(place("should_run", info), [&] {
      const int answer = PyObject_IsTrue(object().attr("should_run")(module, info).ptr());
      if (answer < 0) throw nb::python_error();
      return answer != 0;
    });
  }
  void run_before_pass(const IRModule& module, const PassInfo& info) override {
    call(place("run_before_pass", info), "run_before_pass", module, info);
  }
  void run_after_pass(const IRModule& module, const PassInfo& info) override {
    call(place("run_after_pass", info), "run_after_pass", module, info);
  }

 private:
  static std::string name_of(nb::handle object) { return python_type(object); }
  std::string place(const char* hook, const PassInfo& info) const {
    return std::string("in ") + hook + " of instrument " + name_ + ", pass " + info.name;
  }
  template <class... Args>
  void call(const std::string& where, const char* hook, const Args&... args) {
    const nb::gil_scoped_acquire gil;
    if (nb::hasattr(object(), hook)) with_note(where, [&] { return object().attr(hook)(args...); });
  }

  std::string name_;
  Held object_;
};

std::shared_ptr<PassInstrument> instrument_of(nb::handle object) {
  if (object.is_none()) throw nb::type_error("None is no pass instrument");
  std::shared_ptr<PassInstrument> native;
  if (nb::try_cast(object, native, false)) return native;
  return std::make_shared<PythonInstrument>(nb::borrow(object));
}

std::vector<std::shared_ptr<PassInstrument>> instruments_of(const std::optional<nb::sequence>& objects) {
  std::vector<std::shared_ptr<PassInstrument>> instruments;
  if (!objects) return instruments;
  for (nb::handle object : *objects) instruments.push_back(instrument_of(object));
  return instruments;
}

nb::list instruments_to_python(const PassContext& context) {
  nb::list objects;
  for (const auto& instrument : context.instruments) {
    if (const auto* python = dynamic_cast<const PythonInstrument*>(instrument.get()))
      objects.append(python->object());
    else
      objects.append(instrument);
  }
  return objects;
}

PassConfig config_of(const std::optional<nb::dict>& given) {
  PassConfig config;
  if (!given) return config;
  for (const auto& [key, value] : *given) {
    const std::string name = cast_as<std::string>(key, "a key of config", "a str");
    AttrValue read;
    if (!attr_from_python(value, read))
      throw nb::type_error(("config[\"" + name + "\"] is a " + python_type(value) +
                            "; a bool, an int, a str, a list or a dict is expected")
                               .c_str());
    try {
      config.set(name, std::move(read));
    } catch (const UsageError& error) {  // the type expected by TVM's scripts
      throw nb::attribute_error(error.what());
    }
  }
  return config;
}

nb::dict config_to_python(const PassContext& context) {
  nb::dict config;
  for (const auto& [key, value] : context.config.values()) {
    nb::object item = attr_to_python(value);
    if (find_config_option(key)->is_dict()) {
      nb::dict pairs;
      for (nb::handle pair : item) pairs[pair[0]] = pair[1];
      item = pairs;
    }
    config[key.c_str()] = item;
  }
  return config;
}

nb::dict list_configs() {
  nb::dict all;
  for (const ConfigOption& option : config_options()) {
    nb::dict facts;
    facts["type"] = option.type;
    facts["doc"] = option.doc;
    all[option.key.c_str()] = facts;
  }
  return all;
}

// Names of passes; a single str is accepted.
std::vector<std::string> names_of(const nb::object& given) {
  if (given.is_none()) return {};
  if (PyUnicode_Check(given.ptr())) return {nb::cast<std::string>(given)};
  std::vector<std::string> names;
  for (nb::handle name : given) names.push_back(cast_as<std::string>(name, "the name of a pass", "a str"));
  return names;
}

template <class Result>
Result checked(const nb::object& returned, const std::string& pass, const char* expected) {
  Result result;
  if (nb::try_cast(returned, result, false)) return result;
  throw nb::type_error(
      ("pass " + pass + " returned a " + python_type(returned) + " instead of " + expected).c_str());
}

// Runs a Python pass body on a program with these origins. Origins missing in the result are retired.
template <class Result, class Body, class OriginsOf>
Result run_body(const std::string& pass, const OriginSet& given, const Body& body,
                const OriginsOf& origins_of) {
  const PythonPassScope in_pass;
  Result result;
  {
    std::optional<OriginScope> scope;
    if (!given.empty()) scope.emplace(made_in_pass(given, pass));
    result = with_note("in pass " + pass, body);
  }
  retire_left_out(given, origins_of(result), pass);
  return result;
}

Pass python_module_pass(PassInfo info, nb::callable body) {
  const std::string name = info.name;
  return module_pass(
      std::move(info),
      [name, body = hold(std::move(body))](IRModule module, const BuildContext& context) {
        const nb::gil_scoped_acquire gil;
        const CallbackScope here(context);
        const auto run = [&] {
          return checked<IRModule>(nb::handle(body.get())(module, context.passes), name, "an IRModule");
        };
        return run_body<IRModule>(name, origins_in(*module), run,
                                  [](const IRModule& made) { return origins_in(*made); });
      },
      true);
}

Pass python_function_pass(PassInfo info, nb::callable body) {
  const std::string name = info.name;
  return function_pass(
      std::move(info),
      [name, body = hold(std::move(body))](const Function& function, const IRModule& module,
                                           const BuildContext& context) {
        const nb::gil_scoped_acquire gil;
        const CallbackScope here(context);
        const auto run = [&] {
          return checked<Function>(nb::handle(body.get())(function, module, context.passes), name,
                                   "a Function");
        };
        return run_body<Function>(name, origins_in(Expr(function)), run,
                                  [](const Function& made) { return origins_in(Expr(made)); });
      },
      true);
}

void bind_context(nb::module_& m) {
  nb::class_<PassInstrument>(m, "NativeInstrument", "An instrument written in C++.")
      .def_prop_ro("name", &PassInstrument::name);
  nb::class_<PassTimingInstrument, PassInstrument>(m, "PassTimingInstrument",
                                                   "Times the passes of its context.")
      .def(nb::init<>())
      .def_static(
          "render", &render_pass_timing,
          "One line per pass, in microseconds, children one tab deeper. Call it before the context is left.");

  nb::class_<OriginVerifier, PassInstrument>(m, "OriginVerifier",
                                             "Checks after each pass of its context that no operator of the "
                                             "program is lost: an InternalError names the pass.")
      .def(nb::init<>());

  nb::class_<PassTrace, PassInstrument>(
      m, "PassTrace", "Notes what each pass makes, merges, splits, adds and retires, operator by operator.")
      .def(nb::init<>())
      .def(
          "render", [](const PassTrace& trace, bool all) { return trace_text(trace.steps(), all); },
          nb::arg("all") = false,
          "A line per pass that changed something (`all`: every pass), and one per change. Also after the "
          "context is left.");

  nb::class_<PassContext>(m, "PassContext", nb::is_weak_referenceable(),
                          "What passes run under; used with `with`.")
      .def(
          "__init__",
          [](PassContext* self, int opt_level, const nb::object& required, const nb::object& disabled,
             const std::optional<nb::sequence>& instruments, const std::optional<nb::dict>& config) {
            auto required_names = names_of(required), disabled_names = names_of(disabled);
            auto all = instruments_of(instruments);
            auto values = config_of(config);
            new (self) PassContext{};
            self->opt_level = opt_level;
            self->required_pass = std::move(required_names);
            self->disabled_pass = std::move(disabled_names);
            self->instruments = std::move(all);
            self->config = std::move(values);
          },
          nb::arg("opt_level") = 2, nb::arg("required_pass").none() = nb::none(),
          nb::arg("disabled_pass").none() = nb::none(), nb::arg("instruments").none() = nb::none(),
          nb::arg("config").none() = nb::none())
      .def_ro("opt_level", &PassContext::opt_level)
      .def_ro("required_pass", &PassContext::required_pass)
      .def_ro("disabled_pass", &PassContext::disabled_pass)
      .def_prop_ro("instruments", &instruments_to_python)
      .def_prop_ro("config", &config_to_python)
      .def_static("current", &current_passes, "The innermost context of this thread.")
      .def_static("list_configs", &list_configs, "The keys of `config`, each with \"type\" and \"doc\".")
      .def(
          "override_instruments",
          [](PassContext& self, const std::optional<nb::sequence>& instruments) {
            self.override_instruments(instruments_of(instruments));
          },
          nb::arg("instruments").none(), "Exits the old instruments, then enters the new.")
      .def("__enter__",
           [](nb::object self) {
             enter_passes(nb::cast<PassContextRef>(self));
             return self;
           })
      .def("__exit__", [](nb::object self, const nb::args&) { exit_passes(nb::cast<PassContextRef>(self)); })
      .def("__str__", &pass_context_text);
}

}  // namespace

void bind_pass(nb::module_& m) {
  nb::class_<PassInfo>(m, "PassInfo", "What a context needs to know of a pass.")
      .def(
          "__init__",
          [](PassInfo* self, int opt_level, std::string name, const nb::object& required) {
            new (self) PassInfo{opt_level, std::move(name), names_of(required)};
          },
          nb::arg("opt_level"), nb::arg("name"), nb::arg("required").none() = nb::none())
      .def_ro("opt_level", &PassInfo::opt_level)
      .def_ro("name", &PassInfo::name)
      .def_ro("required", &PassInfo::required)
      .def("__str__", &pass_info_text);

  bind_context(m);

  nb::class_<PassNode>(m, "Pass", nb::dynamic_attr(),
                       "Called with a module, returns a new one; the given one stays as it is.")
      .def_prop_ro("info", &PassNode::info, nb::rv_policy::copy)
      .def(
          "__call__",
          [](const PassNode& pass, const IRModule& module) {
            const nb::gil_scoped_release release;
            return pass(module, door_context());
          },
          nb::arg("mod"),
          "Runs it, whatever the context's opt_level. Raises DiagnosticError, TVMError, or what Python code "
          "in it raises.")
      .def("__str__", &pass_text);

  m.def(
      "make_pass",
      [](const std::string& name, const nb::dict& args) {
        return make_pass(name, attrs_from_python(args, name + ": arguments"));
      },
      nb::arg("name"), nb::arg("args"),
      "The pass of that name. UsageError when it, or an argument, is not known.");
  m.def("pass_names", &pass_names, "Sorted.");
  m.def("module_pass", &python_module_pass, nb::arg("info"), nb::arg("body"),
        "A pass that calls body(module, context).");
  m.def("function_pass", &python_function_pass, nb::arg("info"), nb::arg("body"),
        "A pass that calls body(function, module, context) for each function.");
  m.def(
      "sequential",
      [](std::vector<Pass> passes, std::string name, int opt_level, std::vector<std::string> required) {
        return sequential(std::move(passes), std::move(name), opt_level, std::move(required));
      },
      nb::arg("passes"), nb::arg("name"), nb::arg("opt_level"), nb::arg("required"));
  m.def(
      "passes_of",
      [](const Pass& pass) -> std::vector<Pass> {
        return pass->kind() == PassNode::Kind::kSequential ? passes_of(*pass) : std::vector<Pass>{};
      },
      nb::arg("sequential"));
}

}  // namespace baton::python

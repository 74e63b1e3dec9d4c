// Current targets, and the convolutions that ConvertLayout skips, as set by `with`.
#include "baton/byoc/region_json.h"
#include "baton/codegen/backend.h"
#include "baton/codegen/own_backend.h"
#include "baton/driver/initialize.h"
#include "baton/runtime/plugin.h"
#include "baton/support/environment_complaints.h"
#include "baton/support/error.h"
#include "baton/target/processor.h"

#include "python/bind.h"
#include "python/door.h"

namespace baton::python {

namespace {

/// The constants of a region by name: `<symbol>_const_<i>`.
nb::dict constants_of(const Function& region, const std::string& symbol) {
  nb::dict constants;
  const std::vector<NDArray> all = region_constants(*region);
  for (size_t i = 0; i < all.size(); ++i)
    constants[(symbol + "_const_" + std::to_string(i)).c_str()] = nb::cast(all[i]);
  return constants;
}

}  // namespace

void bind_target(nb::module_& m) {
  m.def(
      "enter_target",
      [](const std::string& text) {
        TargetRef target;  // null for a target unknown to the compiler: no current target then
        try {
          target = Target::parse(text);
        } catch (const UsageError&) {
        }
        enter_target(std::move(target));
      },
      nb::arg("text"), "Makes a target the current one of passes, on this thread.");
  m.def(
      "is_known_processor",
      [](const std::string& text) {
        try {
          return is_known_processor(*Target::parse(text));
        } catch (const UsageError&) {
          return true;  // a target of another kind
        }
      },
      nb::arg("text"),
      "Whether the processor that -mcpu of a target names is known; true when none is named.");
  m.def(
      "region_constants",
      [](const Function& region, const std::string& symbol) { return constants_of(region, symbol); },
      nb::arg("region"), nb::arg("symbol"),
      "The constants of a region by name: `<symbol>_const_<i>`, in post-order.");
  m.def(
      "region_json",
      [](const Function& region, const std::string& symbol) {
        if (!region->checked_type())
          throw UsageError("region " + symbol + " has no types: run relay.transform.InferType() before");
        return nb::make_tuple(region_json(*region, symbol, *region), constants_of(region, symbol));
      },
      nb::arg("region"), nb::arg("symbol"), "(graph JSON of a typed region, its constants by name).");
  m.def("exit_target", &exit_target, "Takes the innermost target away.");
  m.def("enter_layout_config", &enter_skipped_layers, nb::arg("skip_layers"),
        "From now on ConvertLayout leaves the nn.conv2d of these numbers alone.");
  m.def("exit_layout_config", &exit_skipped_layers, "Takes the innermost of them away.");
  m.def(
      "layout_config_skips",
      [] {
        const auto skipped = current_skipped_layers();
        return skipped && skipped->next();
      },
      "Counts one convolution; whether it is to be skipped.");
  m.def(
      "reset_layout_config",
      [] {
        if (const auto skipped = current_skipped_layers()) skipped->met = 0;
      },
      "Counts from 0 again.");
  m.def(
      "target_backend",
      [](const std::string& text) {
        if (const BackendRef named = find_backend(text)) return named->name;
        const BackendRef backend = backend_of_kind(Target::parse(text)->kind);
        if (!backend) throw NotSupported("target " + text + ": there is no backend that makes code for it");
        return backend->name;
      },
      nb::arg("text"),
      "The name of the backend of a target, such as \"sim -sheet=npu\", or of a library, \"dnnl\".");
  m.def(
      "environment_complaints",
      [] {
        std::vector<std::string> texts;
        for (const EnvironmentComplaint& each : environment_complaints()) texts.push_back(each.text);
        return texts;
      },
      "What is wrong with environment variables that Baton reads.");
  m.def(
      "load_backend",
      [](const std::string& path) {
        initialize();
        return load_backend(path);
      },
      nb::arg("path"), "Loads a backend of the user's, a shared library; returns its name.");
  m.def(
      "target_device_type", [](const std::string& text) { return Target::parse(text)->device_type(); },
      nb::arg("text"), "DLPack's number of a target's device, or that of a simulated one.");
  m.def(
      "backend_kinds",
      [] {
        std::vector<std::string> kinds;
        for (const BackendRef& backend : backends())
          if (!backend->kind.empty()) kinds.push_back(backend->kind);
        return kinds;
      },
      "The kinds of targets that a backend generates code for, in the order of backends.def.");
  m.def(
      "set_device_aliases",
      [](const std::string& pairs) {
        initialize();  // registers the kinds that it may name
        set_device_aliases(pairs);
      },
      nb::arg("pairs"), "Which kinds of device stand for others: \"cuda:opencl,vulkan:llvm\".");
  m.def("aliased_device_type", &aliased_device_type, nb::arg("device_type"),
        "DLPack's type of the device that stands for one of this type; itself when none does.");
  m.def(
      "missing_device",
      [](int device_type, int number) -> std::string {
        read_environment();
        const nb::gil_scoped_release release;
        for (const BackendRef& backend : backends()) {
          if (backend->kind.empty() || backend->device_type != device_type) continue;
          const Result<const Plugin*> plugin = Plugin::find(backend->plugin_name());
          // A simulated device is made when a model for it is loaded: there is always one.
          if (plugin.ok() && device_type >= BATON_FIRST_SIMULATED_KIND && number == 0) return "";
          const Status status = plugin.ok() ? (*plugin)->has_device(device_type, number) : plugin.status();
          return status.message;
        }
        return "no backend of this build has such devices";
      },
      nb::arg("device_type"), nb::arg("number"),
      "What is missing for a device other than the processor; empty when it is there.");
  m.def(
      "device_name",
      [](int device_type) -> std::string {
        read_environment();
        for (const BackendRef& backend : backends()) {
          if (backend->kind.empty() || backend->device_type != device_type) continue;
          const Result<const Plugin*> plugin = Plugin::find(backend->plugin_name());
          const int32_t device = plugin.ok() ? (*plugin)->device_of_kind(device_type) : -1;
          if (device >= 0) return (*plugin)->table().device_name(device);
          if (device_type >= BATON_FIRST_SIMULATED_KIND) return backend->name;
        }
        return "";
      },
      nb::arg("device_type"), "The name of the first device of that type; empty when there is none.");
  m.def(
      "device_source",
      [](const std::string& backend, const nb::bytes& blob) -> std::optional<std::string> {
        const BackendRef record = find_backend(backend);
        if (!record || !record->source) return std::nullopt;
        return record->source(std::string(blob.c_str(), blob.size()));
      },
      nb::arg("backend"), nb::arg("blob"), "The text in the code of a backend; None for one without text.");
  m.def(
      "device_sheets",
      [] {
        read_environment();
        std::vector<std::string> texts;
        for (const DeviceSheet& sheet : host_context().sheets) texts.push_back(sheet.text());
        return texts;
      },
      "What is known of each device that this process can build for, the processor first: a fact a line.");
}

}  // namespace baton::python

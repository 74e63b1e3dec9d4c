// The runtime halves of backends: shared libraries that export the table of baton_backend.h, found by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/runtime/baton_backend.h"
#include "baton/support/base/status.h"

namespace baton {

/// A backend's table; lives until process exit.
class Plugin {
 public:
  /// The plug-in of that name: already loaded, or `libbaton_plugin_<name>.so` from a folder in the
  /// environment variable BATON_PLUGINS (colon-separated), or from beside the runtime's own library. One of
  /// Baton's own that is missing is built, if set_builder() was called.
  static Result<const Plugin*> find(const std::string& name);

  /// `build` builds the plug-in of that name beside the runtime's own library, and says whether it did.
  static void set_builder(bool (*build)(const std::string& name));

  /// Loads the plug-in in that shared library. Names are unique in a process.
  static Result<const Plugin*> load(const std::string& path);

  /// Registers a table that is linked into the program.
  static Result<const Plugin*> add(const baton_backend& table);

  /// The names of all files that find() would look at in its folders, ascending; loads nothing.
  static std::vector<std::string> installed();

  /// All loaded plug-ins, without the CPU.
  static std::vector<const Plugin*> loaded();

  const baton_backend& table() const { return table_; }
  std::string name() const { return table_.name; }

  /// The first device of that DLPack type; -1 when there is none.
  int32_t device_of_kind(int kind) const;

  /// Success when it has device `number` of that DLPack type; else what is missing, in its words.
  Status has_device(int kind, int number) const;
  /// Whether kernels can tell their parts: members that older plug-ins lack.
  bool has_parts() const {
    return table_.struct_bytes >= offsetof(baton_backend, run_parts) + sizeof(table_.run_parts) &&
           table_.parts && table_.run_parts;
  }

  /// The table's function of that name, which older plug-ins lack; null: they do not say.
  auto memory_bytes() const -> decltype(baton_backend::memory_bytes) {
    const size_t end = offsetof(baton_backend, memory_bytes) + sizeof(table_.memory_bytes);
    return table_.struct_bytes >= end ? table_.memory_bytes : nullptr;
  }

  /// The message of last_error() as a suffix: ": out of memory"; empty when there is none.
  std::string reason() const;

 private:
  explicit Plugin(const baton_backend& table) : table_(table) {}
  friend class PluginRegistry;
  friend const Plugin& processor();

  const baton_backend& table_;
};

/// The loaded code of one backend in a model, unloaded with its last owner.
class PluginModule {
 public:
  /// `backend`: the name that nodes call it by, if it is not the plug-in's: one plug-in may run the code of
  /// several backends.
  static Result<std::shared_ptr<const PluginModule>> load(const Plugin& plugin, std::span<const uint8_t> blob,
                                                          std::string backend = {});

  /// Takes ownership of a module returned by the plug-in's load().
  static std::shared_ptr<const PluginModule> adopt(const Plugin& plugin, void* module,
                                                   std::string backend = {}) {
    return std::shared_ptr<const PluginModule>(new PluginModule(plugin, module, std::move(backend)));
  }

  ~PluginModule() { plugin_.table().unload(module_); }
  PluginModule(const PluginModule&) = delete;
  PluginModule& operator=(const PluginModule&) = delete;

  const Plugin& plugin() const { return plugin_; }
  const std::string& backend() const { return backend_; }

  /// See baton_backend.bind. The caller must unbind, and keep the module alive until then.
  Status bind(const std::string& symbol, int32_t tensors, void* queue, baton_bound& bound) const;

 private:
  PluginModule(const Plugin& plugin, void* module, std::string backend)
      : plugin_(plugin), module_(module), backend_(backend.empty() ? plugin.name() : std::move(backend)) {}

  const Plugin& plugin_;
  void* module_;
  std::string backend_;
};

/// The plug-in for devices of a DLPack type: of a backend of the model, else any that is loaded, else the one
/// that is named like it: a model may keep tensors on a device that computes none of its kernels. `user`:
/// what needs it, for the message.
Result<const Plugin*> plugin_for(std::span<const std::shared_ptr<const PluginModule>> modules,
                                 int device_type, const std::string& user);

}  // namespace baton

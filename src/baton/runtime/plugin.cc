#include "baton/runtime/plugin.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include "baton/runtime/kernel_library.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/environment.h"

namespace baton {

/// All plug-ins of the process by name. Locked: models are loaded by any thread.
class PluginRegistry {
 public:
  static PluginRegistry& instance() {
    static PluginRegistry* const registry = new PluginRegistry;  // plug-ins stay until the process ends
    return *registry;
  }

  const Plugin* known(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto at = by_name_.find(name);
    return at == by_name_.end() ? nullptr : at->second.get();
  }

  Result<const Plugin*> add(const baton_backend& table, const std::string& shown) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<const Plugin>& at = by_name_[table.name];
    if (!at) at.reset(new Plugin(table));
    if (&at->table() == &table) return at.get();
    return Status::invalid("the plug-in " + shown + " is called `" + table.name +
                           "`, and another of that name is loaded already");
  }

  std::vector<const Plugin*> all() {
    const std::lock_guard lock(mutex_);
    std::vector<const Plugin*> plugins;
    for (const auto& [name, plugin] : by_name_) plugins.push_back(plugin.get());
    return plugins;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<const Plugin>> by_name_;
};

namespace {

const baton_host& host_services() {
  static const baton_host host = {BATON_BACKEND_ABI, sizeof(baton_host), &kernel_services(),
                                  [] { return static_cast<int32_t>(current_threads()); }};
  return host;
}

/// The first required function missing from the table; null when complete.
const char* missing_function(const baton_backend& table) {
  struct Function {
    const char* name;
    bool there;
  };
  const Function always[] = {{"last_error", table.last_error != nullptr},
                             {"device_count", table.device_count != nullptr},
                             {"load", table.load != nullptr},
                             {"unload", table.unload != nullptr},
                             {"bind", table.bind != nullptr},
                             {"unbind", table.unbind != nullptr}};
  for (const Function& function : always)
    if (!function.there) return function.name;
  if (table.device_count() <= 0) return nullptr;
  const Function with_devices[] = {{"device_kind", table.device_kind != nullptr},
                                   {"device_name", table.device_name != nullptr},
                                   {"allocate", table.allocate != nullptr},
                                   {"release", table.release != nullptr},
                                   {"copy", table.copy != nullptr},
                                   {"queue_create", table.queue_create != nullptr},
                                   {"queue_destroy", table.queue_destroy != nullptr},
                                   {"queue_wait", table.queue_wait != nullptr},
                                   {"event_create", table.event_create != nullptr},
                                   {"event_destroy", table.event_destroy != nullptr},
                                   {"event_record", table.event_record != nullptr},
                                   {"event_ns", table.event_ns != nullptr}};
  for (const Function& function : with_devices)
    if (!function.there) return function.name;
  return nullptr;
}

Result<const Plugin*> add_checked(const baton_backend* table, const std::string& shown) {
  if (!table)
    return Status::unavailable("the plug-in " + shown + " refuses to work here (it gives no table)");
  if (table->abi_version != BATON_BACKEND_ABI || table->struct_bytes < offsetof(baton_backend, parts)) {
    return Status::bad_data(
        "the plug-in " + shown + " was built for version " + std::to_string(table->abi_version) +
        " of the interface of backends, this runtime has " + std::to_string(BATON_BACKEND_ABI) +
        ": build it again with this runtime's headers");
  }
  if (!table->name || !*table->name) return Status::bad_data("the plug-in " + shown + " has no name");
  if (const char* missing = missing_function(*table))
    return Status::bad_data("the plug-in " + shown + " has no function `" + missing + "`");
  return PluginRegistry::instance().add(*table, shown);
}

/// Baton's own plug-ins, between spaces.
constexpr std::string_view kShipped = BATON_PLUGINS;

bool is_shipped(const std::string& name) { return kShipped.find(" " + name + " ") != std::string_view::npos; }

/// Where the library comes from that the plug-in is linked with; empty: it needs none.
std::string needs_of(const std::string& name) {
  return name == "dnnl" ? "; libdnnl.so.3 is in the wheel onednn-cpu-gomp==2023.2.0" : "";
}

bool (*builder)(const std::string& name) = nullptr;

/// The search path for plug-ins.
constexpr const char *kFilePrefix = "libbaton_plugin_", *kFileSuffix = ".so";

std::vector<std::string> plugin_folders() {
  std::vector<std::string> folders = listed(environment()->plugins);
  Dl_info about;
  if (dladdr(reinterpret_cast<const void*>(&host_services), &about) && about.dli_fname) {
    const std::string library = about.dli_fname;
    const size_t slash = library.rfind('/');
    folders.push_back(slash == std::string::npos ? "." : library.substr(0, slash));
  }
  return folders;
}

}  // namespace

std::vector<std::string> Plugin::installed() {
  const std::string_view prefix = kFilePrefix, suffix = kFileSuffix;
  std::vector<std::string> names;
  for (const std::string& folder : plugin_folders()) {
    DIR* const entries = opendir(folder.c_str());
    if (!entries) continue;
    while (const dirent* entry = readdir(entries)) {
      const std::string_view file = entry->d_name;
      if (file.size() > prefix.size() + suffix.size() && file.starts_with(prefix) && file.ends_with(suffix))
        names.emplace_back(file.substr(prefix.size(), file.size() - prefix.size() - suffix.size()));
    }
    closedir(entries);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

namespace {

/// The file of a plug-in in the first folder that has it; empty: none. `looked`: the folders without it.
std::string file_of(const std::string& file, std::string& looked) {
  for (const std::string& folder : plugin_folders()) {
    std::string path = folder + "/" + file;
    if (access(path.c_str(), F_OK) == 0) return path;
    looked += (looked.empty() ? "`" : ", `") + folder + "`";
  }
  return "";
}

}  // namespace

void Plugin::set_builder(bool (*build)(const std::string& name)) { builder = build; }

Result<const Plugin*> Plugin::find(const std::string& name) {
  if (const Plugin* known = PluginRegistry::instance().known(name)) return known;
  const std::string file = kFilePrefix + name + kFileSuffix;
  std::string looked;
  std::string path = file_of(file, looked);
  if (path.empty()) {
    for (const std::string& library : listed(environment()->backends)) {
      const Result<const Plugin*> loaded = load(library);
      if (loaded.ok() && (*loaded)->name() == name) return loaded;
    }
    std::string again;
    if (is_shipped(name) && builder && builder(name)) path = file_of(file, again);
  }
  if (!path.empty()) {
    Result<const Plugin*> loaded = load(path);
    if (loaded.ok() && (*loaded)->name() != name)
      return Status::bad_data("the plug-in `" + path + "` calls itself `" + (*loaded)->name() + "`");
    if (!loaded.ok()) return Status{loaded.status().code, loaded.status().message + needs_of(name)};
    return loaded;
  }
  return Status::unavailable(
      "there is no plug-in `" + name + "` here: no " + file + " in " +
      (looked.empty() ? "any folder" : looked) +
      " (the environment variable BATON_PLUGINS names more folders)" +
      (is_shipped(name) ? "; in a clone of Baton `./baton setup " + name + "` builds it" : std::string()));
}

Result<const Plugin*> Plugin::load(const std::string& path) {
  // Never closed: a device's driver has threads, and memory that outlives a model.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) {
    const char* reason = dlerror();
    return Status::unavailable("cannot load the plug-in `" + path +
                               "`: " + (reason ? reason : "unknown reason"));
  }
  const auto entry = reinterpret_cast<baton_backend_entry_function>(dlsym(handle, "baton_backend_entry"));
  if (!entry) {
    return Status::bad_data("the library `" + path +
                            "` is no plug-in of Baton (it exports no baton_backend_entry)");
  }
  return add_checked(entry(&host_services()), "`" + path + "`");
}

Result<const Plugin*> Plugin::add(const baton_backend& table) {
  return add_checked(&table, "in the program");
}

std::vector<const Plugin*> Plugin::loaded() { return PluginRegistry::instance().all(); }

int32_t Plugin::device_of_kind(int kind) const {
  const int32_t count = table_.device_count();
  for (int32_t device = 0; device < count; ++device)
    if (table_.device_kind(device) == kind) return device;
  return -1;
}

Status Plugin::has_device(int kind, int number) const {
  const int32_t count = table_.device_count();
  int of_kind = 0;
  for (int32_t device = 0; device < count; ++device) of_kind += table_.device_kind(device) == kind;
  if (number >= 0 && number < of_kind) return Status::success();
  if (of_kind)
    return Status::unavailable("the plug-in `" + name() + "` has devices of this type up to number " +
                               std::to_string(of_kind - 1));
  // What is asked for a device that it lacks says why.
  void* queue = nullptr;
  if (table_.queue_create && table_.queue_create(0, &queue) == 0) table_.queue_destroy(queue);
  return Status::unavailable("the plug-in `" + name() + "` has no device" + reason());
}

std::string Plugin::reason() const {
  const char* said = table_.last_error();
  return said && *said ? std::string(": ") + said : std::string();
}

Result<std::shared_ptr<const PluginModule>> PluginModule::load(const Plugin& plugin,
                                                               std::span<const uint8_t> blob,
                                                               std::string backend) {
  void* module = nullptr;
  if (plugin.table().load(blob.data(), blob.size(), &module) != 0) {
    return Status::bad_data("the plug-in `" + plugin.name() + "` cannot load the model's code for it" +
                            plugin.reason());
  }
  return adopt(plugin, module, std::move(backend));
}

Status PluginModule::bind(const std::string& symbol, int32_t tensors, void* queue, baton_bound& bound) const {
  if (plugin_.table().bind(module_, symbol.c_str(), tensors, queue, &bound) == 0) return Status::success();
  return Status::bad_data("the plug-in `" + plugin_.name() + "` has no kernel `" + symbol + "`" +
                          plugin_.reason());
}

}  // namespace baton

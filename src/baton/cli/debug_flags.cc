#include "baton/cli/debug_flags.h"

#include <filesystem>
#include <memory>

#include "baton/codegen/debug/debug_lines.h"
#include "baton/support/base/environment.h"
#include "baton/support/error.h"

namespace baton::cli {

void DebugFlags::add(Flags& flags) {
  flags.flag("debug-lines", &lines,
             "kernels lead gdb, perf and objdump to lines of Relay: one per operator (needs `as`)");
  flags.option("debug-dir", &dir,
               "the folder for that Relay text, and for the libraries; turns --debug-lines on");
}

std::string DebugFlags::folder() const {
  if (!lines && dir.empty()) return "";
  return dir.empty() ? default_debug_folder() : std::filesystem::absolute(dir).lexically_normal().string();
}

void apply(const DebugFlags& flags, ModelFlags& model) {
  const std::string folder = flags.folder();
  if (folder.empty()) return;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error("the folder of --debug-dir, `" + folder + "`, cannot be made: " + failed.message());
  model.config.set("baton.debug_lines", AttrValue(int64_t{1}));
  model.config.set("baton.debug_dir", AttrValue(folder));
  Environment changed = *environment();
  changed.kernel_files = folder;
  set_environment(changed);
}

}  // namespace baton::cli

#include "baton/cli/laboratory.h"

#include <dlfcn.h>
#include <unistd.h>

#include "baton/support/clone.h"
#include "baton/support/error.h"
#include "baton/support/version.h"

namespace baton::cli {

namespace {

/// The library beside libbaton.so.
std::string library_path() {
  Dl_info about;
  const bool known = dladdr(reinterpret_cast<const void*>(&version), &about) && about.dli_fname;
  const std::string library = known ? about.dli_fname : "";
  return library.substr(0, library.rfind('/') + 1) + "libbaton_lab_verbs.so";
}

const Laboratory& load() {
  const std::string path = library_path();
  if (access(path.c_str(), F_OK) != 0 && !build_part("lab"))
    throw Error(
        "this needs the laboratory (the verbs that measure, predict and map), and there is no " + path +
        (clone_folder().empty() ? ": install Baton again, it is part of it"
                                : ": `./baton setup lab` builds it, and said above why it could not"));
  // Never closed: it defines verbs and exceptions that outlive every caller.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  const char* reason = library ? nullptr : dlerror();
  void* const entry = library ? dlsym(library, "baton_laboratory") : nullptr;
  if (!entry)
    throw Error("cannot load the laboratory " + path + ": " + (reason ? reason : "it is not one") +
                "\n  do: build it together with the program, in a clone by `./baton setup lab`");
  return *reinterpret_cast<const Laboratory* (*)()>(entry)();
}

}  // namespace

const Laboratory& laboratory() {
  static const Laboratory& loaded = load();
  return loaded;
}

void add_store_flag(Flags& flags, std::string* path) {
  flags.option(
      "store", path,
      "a file: put the measurements into this store too, which is made when it is not there "
      "(docs/design/0036); the word default is $BATON_STORE, else baton/measurements.db in the cache "
      "folder");
}

}  // namespace baton::cli

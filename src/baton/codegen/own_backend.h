#pragma once
// Backends that are not part of Baton: shared libraries with the tables of baton_compiler.h and
// baton_backend.h.
#include <string>

#include "baton/codegen/baton_compiler.h"

namespace baton {

/// Loads the library at `path`: its compile-time half becomes a backend, its run half, where it has one, a
/// plug-in. Returns the backend's name, or the plug-in's where it has no compile-time half. Error when it
/// cannot be loaded, has neither half, was built for another version, or has a name that is taken.
std::string load_backend(const std::string& path);

/// Registers a table that is linked into the program; `shown` names it in errors.
void add_compiler(const baton_compiler& table, const std::string& shown);

/// Loads the libraries that the environment variable BATON_BACKENDS lists. One that cannot be loaded is a
/// warning: the others, and Baton, work without it.
void load_listed_backends();

}  // namespace baton

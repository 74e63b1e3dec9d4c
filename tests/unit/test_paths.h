#pragma once

namespace baton {

/// Absolute path of the source tree that this test program was built from.
const char* source_dir();

/// Absolute path of the build folder (build/<preset>).
const char* build_dir();

}  // namespace baton

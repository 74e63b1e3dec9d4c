#pragma once
// Where to look for what is installed, or built, beside Baton.
#include <filesystem>
#include <vector>

namespace baton {

/// The folders of this program and of Baton's library, and those above them. In Python the program is Python.
std::vector<std::filesystem::path> program_folders();

}  // namespace baton

#include "baton/driver/case_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "baton/frontend/npz.h"
#include "baton/support/error.h"

namespace baton {

namespace {

constexpr std::string_view kParams = "params/", kInputs = "inputs/", kOutputs = "outputs/";

/// Reads the sections; a file without sections yields all arrays as `params`.
CaseFile sections_of(const std::string& path, bool& has_sections) {
  CaseFile file;
  NamedArrays plain;
  for (auto& [name, array] : read_npz(path)) {
    bool known = false;
    for (const auto& [section, arrays] : {std::pair(kParams, &file.params), std::pair(kInputs, &file.inputs),
                                          std::pair(kOutputs, &file.outputs)}) {
      if (!name.starts_with(section)) continue;
      arrays->emplace_back(name.substr(section.size()), std::move(array));
      known = true;
      break;
    }
    if (!known) plain.emplace_back(name, std::move(array));
  }
  has_sections = !file.params.empty() || !file.inputs.empty() || !file.outputs.empty();
  if (has_sections && !plain.empty())
    throw Error(path + ": array \"" + plain.front().first +
                "\" is in no section, others are (params/, inputs/, outputs/)");
  if (!has_sections) file.params = std::move(plain);
  return file;
}

/// Writes a temporary file beside `path`; the caller renames it.
std::string write_part(const std::string& path, const std::string& text) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    throw Error(path + ": is there and is no regular file");
  const std::string temporary = path + ".part";
  std::ofstream file(temporary, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) {
    const std::string why = std::strerror(errno);
    std::remove(temporary.c_str());
    throw Error(path + ": cannot be written: " + why);
  }
  return temporary;
}

void finish(const std::string& temporary, const std::string& path) {
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (!error) return;
  std::remove(temporary.c_str());
  throw Error(path + ": cannot be written: " + error.message());
}

}  // namespace

CaseFile read_case(const std::string& path) {
  bool has_sections = false;
  return sections_of(path, has_sections);
}

NamedArrays read_inputs_file(const std::string& path) {
  bool has_sections = false;
  CaseFile file = sections_of(path, has_sections);
  return has_sections ? std::move(file.inputs) : std::move(file.params);
}

void write_case(const std::string& module_path, const std::string& text, const std::string& arrays_path,
                const CaseFile& arrays) {
  NamedArrays all;
  for (const auto& [section, of] : {std::pair(kParams, &arrays.params), std::pair(kInputs, &arrays.inputs),
                                    std::pair(kOutputs, &arrays.outputs)})
    for (const auto& [name, array] : *of) all.emplace_back(std::string(section) + name, array);
  const std::string module_part = write_part(module_path, text);
  try {
    write_npz(arrays_path, all);
  } catch (...) {
    std::remove(module_part.c_str());
    throw;
  }
  finish(module_part, module_path);
}

void write_text_file(const std::string& path, const std::string& text) {
  finish(write_part(path, text), path);
}

}  // namespace baton

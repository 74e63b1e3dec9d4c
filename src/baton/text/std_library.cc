#include "baton/text/std_library.h"

#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"

namespace baton {

namespace {

struct Part {
  const char* name;
  const char* text;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {{"prelude.rly", text::kPrelude},
                                        {"nat.rly", text::kNat},
                                        {"gradient.rly", text::kGradient},
                                        {"core.rly", text::kCore}};
  return all;
}

void import_text(IRModuleNode& module, std::string text, const std::string& source_name) {
  const IRModule read = parse_module(std::move(text), source_name, module.copy());
  for (const auto& [name, type] : read->type_defs())
    if (module.find_type(name) != type) module.set_type(type);
  for (const auto& [name, function] : read->functions())
    if (module.find(name) != function) module.set(name, function);
}

}  // namespace

std::vector<std::string> std_library_names() {
  std::vector<std::string> names;
  for (const Part& part : parts()) names.emplace_back(part.name);
  return names;
}

void import_std(IRModuleNode& module, const std::string& name) {
  for (const Part& part : parts())
    if (name == part.name) return import_text(module, part.text, "std/" + name);
  const std::string near = did_you_mean(name, std_library_names());
  std::string known;
  for (const std::string& each : std_library_names()) known += (known.empty() ? "" : ", ") + each;
  throw Error("there is no standard library file \"" + name + "\"" +
              (near.empty() ? "" : "; did you mean \"" + near + "\"?") + " (there are " + known + ")");
}

void import_tensor_array(IRModuleNode& module, const std::string& dtype, int number) {
  if (!DType::parse(dtype) || DType::parse(dtype)->is_void())
    throw Error("\"" + dtype + "\" is no element type");
  std::string text = text::kTensorArray;
  const std::string mark = "DTYPE";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + dtype.size()))
    text.replace(at, mark.size(), dtype);
  // %x_0 to %x_3 take the names a fresh-variable counter would give.
  for (int i = 3; i >= 0; --i) {
    const std::string from = "%x_" + std::to_string(i), to = "%x_" + std::to_string(number * 4 + i);
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      const char next = text[at + from.size()];
      if (next < '0' || next > '9') text.replace(at, from.size(), to);
    }
  }
  import_text(module, std::move(text), "std/tensor_array_" + dtype + ".rly");
}

}  // namespace baton

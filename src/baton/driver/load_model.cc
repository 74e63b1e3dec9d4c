#include "baton/driver/load_model.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include "baton/codegen/backend.h"
#include "baton/driver/case_file.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_json.h"
#include "baton/frontend/onnx/import.h"
#include "baton/frontend/onnx/model_file.h"
#include "baton/frontend/workloads/networks.h"
#include "baton/support/base/files.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

std::string read_model(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text.ok()) throw Error(path + ": cannot be read: " + text.status().message);
  return std::move(*text);
}

std::string read_input() {
  std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  if (text.empty()) throw Error("standard input is empty: `-` reads a model as Relay text from it");
  return text;
}

[[noreturn]] void unknown_model(const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const auto& workload : workloads::all_workloads()) {
    names.push_back(workload.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string near = did_you_mean(name, names);
  throw Error("there is no model \"" + name + "\"" +
              (near.empty() ? "" : "; did you mean \"" + near + "\"?") + "\n  known workloads: " + list +
              "\n  or give the path of an ONNX file or of Relay text, or - for Relay text on standard input");
}

LoadedModel from_text(std::string name, std::string text, const std::string& source_name) {
  LoadedModel model;
  model.name = std::move(name);
  model.module = infer_types(parse_module(text, source_name));
  if (!model.module->find("main"))
    throw Error(source_name + ": there is no function @main; a model starts at @main");
  model.source = make_ref<const Source>(source_name, std::move(text));
  return model;
}

const TensorTypeNode& tensor_of(const Var& param) {
  const auto* type = as_type<TensorTypeNode>(param->checked_type());
  if (!type || !type->is_static())
    throw Error("parameter %" + param->name() + " has type " + type_text(param->checked_type()) +
                "; only tensors of known shape get values" +
                (type ? ", which --shape " + param->name() + "=... gives" : ""));
  return *type;
}

void check_array(const std::string& path, const std::string& name, const NDArray& array,
                 const TensorTypeNode& type) {
  if (array.dtype() != type.dtype() || array.shape() != type.extents())
    throw Error(path + ": array \"" + name + "\" is " + describe(array.shape(), array.dtype()) +
                ", parameter %" + name + " of main is " + describe(type.extents(), type.dtype()));
}

}  // namespace

std::string model_text(const IRModuleNode& module, bool origins) {
  PrintOptions options;
  options.spans = false;
  options.origins = origins;
  options.metadata = PrintOptions::Metadata::kComment;
  return print(module, options);
}

namespace {

LoadedModel from_onnx(const std::string& path, const std::vector<GivenShape>& shapes) {
  onnx::Imported imported = onnx::import_file(path, {shapes}, host_context());
  return {path, std::move(imported.module), nullptr, {}, std::move(imported.notes)};
}

/// What TVM's save_json wrote begins as an object, which no Relay text does.
bool is_json(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && text[at] == '{';
}

LoadedModel from_json(const std::string& path, const std::string& text) {
  Saved loaded;
  try {
    loaded = load_json(text);
  } catch (const Error& error) {
    throw Error(path + ": " + error.what());
  }
  if (!loaded.module || !loaded.module->find("main"))
    throw Error(path + ": it holds no module with a function @main; a model starts at @main");
  return {path, infer_types(loaded.module), nullptr};
}

LoadedModel load_as_given(const std::string& name) {
  if (name == "-") return from_text(kStandardInput, read_input(), kStandardInput);
  if (const auto* workload = workloads::find_workload(name)) {
    const IRModule module = infer_types(workload->make());
    return from_text(workload->name, model_text(*module), std::string(workload->name) + ".relay");
  }
  std::error_code error;
  if (!name.ends_with(".relay") && !std::filesystem::is_regular_file(name, error)) unknown_model(name);
  std::string text = read_model(name);
  if (text.find('\0') != std::string::npos)
    throw Error(name + ": is no model: neither Relay text, nor TVM's JSON, nor an ONNX file");
  if (is_json(text)) return from_json(name, text);
  return from_text(name, std::move(text), name);
}

}  // namespace

LoadedModel load_model(const std::string& name, const std::vector<std::string>& shapes) {
  std::vector<GivenShape> given;
  for (const std::string& text : shapes) given.push_back(parse_given_shape(text));
  return load_model_of(name, given);
}

LoadedModel load_model_of(const std::string& name, const std::vector<GivenShape>& given) {
  initialize();
  if (name.ends_with(".onnx") || onnx::is_model_file(name)) return from_onnx(name, given);
  LoadedModel model = load_as_given(name);
  if (!given.empty()) model.module = freeze_shapes(model.module, given);
  return model;
}

namespace {

/// "%data, %weight, %bias and 59 more".
std::string params_text(const std::vector<Var>& params) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, params.size()); ++i) text += (i ? ", %" : "%") + params[i]->name();
  return params.size() > kShown ? text + " and " + std::to_string(params.size() - kShown) + " more"
         : text.empty()         ? "none"
                                : text;
}

}  // namespace

namespace {

bool has_constant_shape(const VarNode& param) {
  const auto* tensor = as_type<TensorTypeNode>(param.checked_type());
  return tensor && tensor->is_static();
}

}  // namespace

NamedArrays load_params(const LoadedModel& model, const std::string& path,
                        const std::vector<std::string>& inputs, std::vector<std::string>* by_rule,
                        bool is_program) {
  if (!is_program) require_known_shapes(*model.module);
  const auto& params = model.module->find("main")->params();
  const auto is_param = [&](const std::string& name) {
    return std::ranges::any_of(params, [&](const Var& param) { return param->name() == name; });
  };
  std::map<std::string, NDArray> given;  // every non-input parameter; undefined until it has a value
  for (const Var& param : params) given[param->name()] = NDArray();
  std::vector<std::string> keep = inputs;
  const CaseFile file = path.empty() ? CaseFile() : read_case(path);
  for (const auto& [name, value] : file.inputs)
    if (inputs.empty()) keep.push_back(name);
  if (keep.empty() && !params.empty()) keep = {given.count("data") ? "data" : params.front()->name()};
  for (const std::string& input : keep) {
    if (is_param(input)) {
      given.erase(input);
      continue;
    }
    const std::string no = "main has no parameter \"" + input + "\" to be an input";
    if (inputs.empty()) throw Error(path + ": " + no);  // of its section "inputs"
    throw UsageError(model.name + ": " + no + "; its parameters are " + params_text(params));
  }
  std::set<std::string> seen;
  for (const auto& [name, array] : file.params) {
    if (!seen.insert(name).second) throw Error(path + ": array \"" + name + "\" is there twice");
    const auto at = given.find(name);
    if (at == given.end())
      throw Error(path + ": array \"" + name + "\" is no parameter of main that takes a weight" +
                  (is_param(name) ? ": it is an input, whose value --inputs gives"
                                  : "; its parameters are " + params_text(params)));
    at->second = array;
  }
  for (const auto& [name, array] : model.params)
    if (const auto at = given.find(name); at != given.end() && !at->second) at->second = array;
  NamedArrays values;
  for (const Var& param : params) {
    const auto at = given.find(param->name());
    if (at == given.end()) continue;
    if (!at->second && is_program && (inputs.empty() || !has_constant_shape(*param))) continue;
    const TensorTypeNode& type = tensor_of(param);
    if (at->second)
      check_array(path.empty() ? model.name : path, param->name(), at->second, type);
    else if (by_rule)
      by_rule->push_back(param->name());
    if (!at->second) at->second = parameter_value(param->name(), type.extents(), type.dtype());
    if (!at->second)
      throw Error("no memory for parameter %" + param->name() + " of type " +
                  type_text(param->checked_type()));
    values.emplace_back(param->name(), at->second);
  }
  return values;
}

}  // namespace baton

#include "baton/frontend/onnx/importer.h"

#include <algorithm>
#include <set>

#include "baton/frontend/onnx/kept_node.h"
#include "baton/frontend/onnx/operators.h"
#include "baton/ir/extent.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/visit.h"
#include "baton/support/diagnostic.h"
#include "baton/transform/fold_constant.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

constexpr const char* kPass = "import";

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

/// "ai.onnx" where a reader needs to see a domain.
std::string domain_text(std::string_view domain) { return std::string(domain.empty() ? "ai.onnx" : domain); }

/// Some writers have a name for what is not known.
bool has_name(const DimFile& dim) {
  return !dim.is_known && !dim.symbol.empty() && dim.symbol != "?" && dim.symbol != "-1";
}

/// Why a node has no operator in the module.
const char* reason_of(const NodeFile& node) {
  if (node.op_type == "Identity" || node.op_type == "Dropout") return "the identity";
  if (node.op_type == "Constant") return "a constant";
  return "nothing that is computed reads its result";
}

}  // namespace

const Value* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope; scope = scope->around)
    if (const auto at = scope->names.find(name); at != scope->names.end()) return &at->second;
  return nullptr;
}

Importer::Importer(std::shared_ptr<const ModelFile> file, const ImportOptions& options,
                   const BuildContext& context)
    : file_(std::move(file)), options_(options), context_(context), tensors_(file_) {}

IRModule Importer::run() {
  check_operators();
  opsets_ = &file_->opsets;
  const GraphFile& graph = file_->graph;
  Scope scope;
  std::set<std::string_view> initialized;
  for (const TensorFile& each : graph.initializers) initialized.insert(each.name);
  check_given();
  for (const ValueFile& input : graph.inputs) take_given(input);
  std::vector<Var> params;
  for (const ValueFile& input : graph.inputs) {
    if (initialized.contains(input.name)) continue;  // a parameter, or an input with a default
    if (scope.names.contains(input.name))
      throw Error(file_->path + ": the input " + quoted(input.name) + " is there twice");
    params.push_back(parameter(input));
    scope.names[input.name] = infer_type(Expr(params.back()));
  }
  std::vector<Expr> results;
  for (const Value& each : outputs_of(graph, scope, "")) {
    if (each.sequence)
      throw NotSupported(file_->path +
                         ": an output of the model is a sequence; Baton's models return tensors");
    results.push_back(tensor(each));
  }
  if (results.empty()) throw Error(file_->path + ": its graph has no outputs");
  module_->set("main", function(params, results.size() == 1 ? results[0] : tuple(results)));
  retire_rest();
  return infer_types(module_);
}

Expr Importer::applied(const ExprList& values) {
  opsets_ = &file_->opsets;
  const GraphFile& graph = file_->graph;
  if (values.size() != graph.inputs.size())
    throw Error(file_->path + ": its graph has " + std::to_string(graph.inputs.size()) + " inputs, and " +
                std::to_string(values.size()) + " values are given");
  Scope scope;
  for (size_t i = 0; i < values.size(); ++i) scope.names[graph.inputs[i].name] = infer_type(values[i]);
  std::vector<Expr> results;
  for (const Value& each : outputs_of(graph, scope, "")) results.push_back(tensor(each));
  return infer_type(results.size() == 1 ? results[0] : Expr(tuple(results)));
}

/// Nodes that left nothing behind are retired with the reason.
void Importer::retire_rest() {
  std::set<const Origin*> alive;
  post_order(Expr(module_->find("main")), [&](const Expr& node) {
    for (const Origin* each : node->origins().origins()) alive.insert(each);
  });
  for (const auto& [origin, why] : made_)
    if (!alive.contains(origin.get()))
      module_->origins().retire(module_->origins().add(origin), {kPass, why});
}

// ---- Inputs.

Dim Importer::extent(const DimFile& dim, std::string_view input, size_t axis) {
  if (dim.is_known && dim.value > 0) return dim.value;
  const bool named = has_name(dim);
  const std::string name = named ? std::string(dim.symbol) : std::string(input) + "_" + std::to_string(axis);
  for (const GivenShape& given : options_.shapes)
    if (given.name == name && given.values.size() == 1) return given.values.front();
  // An extent without a name is another one than that of a name which looks like what it is called.
  const auto [at, is_new] = symbols_.try_emplace((named ? "" : "?") + name, Dim::any());
  if (is_new) at->second = extent_var({name, DType::int_(64), true});
  return at->second;
}

/// What --shape says of an input holds for all of them that share a dimension's name.
void Importer::take_given(const ValueFile& input) {
  const auto given = std::ranges::find(options_.shapes, std::string(input.name), &GivenShape::name);
  if (given == options_.shapes.end() || !input.type.has_shape) return;
  const auto bad = [&](const std::string& what) {
    return Error(file_->path + ": the input " + quoted(input.name) + " has " + what);
  };
  const std::vector<DimFile>& dims = input.type.dims;
  if (given->values.size() != dims.size())
    throw bad(std::to_string(dims.size()) + " dimensions, and --shape gives " +
              std::to_string(given->values.size()));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t value = given->values[axis];
    const std::string along = " along axis " + std::to_string(axis);
    if (dims[axis].is_known && dims[axis].value > 0 && dims[axis].value != value)
      throw bad(std::to_string(dims[axis].value) + along + ", and --shape gives " + std::to_string(value));
    if (!has_name(dims[axis])) continue;
    const auto [at, is_new] = symbols_.try_emplace(std::string(dims[axis].symbol), Dim(value));
    if (!is_new && at->second != Dim(value))
      throw bad(std::to_string(value) + along + ", `" + std::string(dims[axis].symbol) + "`, which is " +
                extent_text(at->second) + " elsewhere");
  }
}

Var Importer::parameter(const ValueFile& input) {
  const auto bad = [&](const std::string& what) {
    return Error(file_->path + ": the input " + quoted(input.name) + " " + what);
  };
  if (input.type.kind != TypeFile::Kind::kTensor)
    throw NotSupported(
        bad("is no tensor; models with sequences, maps or optional inputs are not supported").what());
  const std::optional<DType> dtype = dtype_of(input.type.element);
  if (!dtype || is_packed(input.type.element))
    throw bad("is of type " + element_name(input.type.element) + ", for which Baton has no arithmetic");
  const auto given = std::ranges::find(options_.shapes, std::string(input.name), &GivenShape::name);
  const bool is_given = given != options_.shapes.end();
  if (!input.type.has_shape && !is_given)
    throw bad("has no shape in the file: give one, --shape " + std::string(input.name) + "=1,3,224,224");
  std::vector<Dim> shape;
  for (size_t axis = 0; axis < (is_given ? given->values.size() : input.type.dims.size()); ++axis) {
    if (!is_given) {
      shape.push_back(extent(input.type.dims[axis], input.name, axis));
      continue;
    }
    shape.emplace_back(given->values[axis]);
  }
  const Var var = baton::var(std::string(input.name), make_ref<const TensorTypeNode>(shape, *dtype));
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (as_extent_var(shape[axis])) extent_sources_.push_back({shape[axis], {var, static_cast<int>(axis)}});
  return var;
}

void Importer::check_given() const {
  for (const GivenShape& given : options_.shapes) {
    const bool is_input = std::ranges::any_of(
        file_->graph.inputs, [&](const ValueFile& input) { return input.name == given.name; });
    bool is_symbol = false;
    std::string known;
    for (const ValueFile& input : file_->graph.inputs) {
      known += (known.empty() ? "" : ", ") + std::string(input.name);
      for (size_t axis = 0; axis < input.type.dims.size(); ++axis) {
        const DimFile& dim = input.type.dims[axis];
        is_symbol |=
            dim.symbol == given.name || std::string(input.name) + "_" + std::to_string(axis) == given.name;
      }
    }
    if (!is_input && !is_symbol)
      throw UsageError("--shape " + given.name + ": " + file_->path +
                       " has no input or dimension of that name; its inputs are " + known);
  }
}

// ---- Graphs.

Values Importer::outputs_of(const GraphFile& graph, Scope& scope, const std::string& path) {
  for (const TensorFile& each : graph.initializers) scope.names[each.name] = constant(elements(each));
  for (const SparseTensorFile& each : graph.sparse_initializers)
    scope.names[each.values.name] = constant(tensors_.read(each));
  for (size_t i = 0; i < graph.nodes.size(); ++i) convert(graph.nodes[i], i, scope, path);
  Values results;
  for (const ValueFile& output : graph.outputs) {
    const Value* value = scope.find(output.name);
    if (!value) throw Error(file_->path + ": nothing makes the output " + quoted(output.name));
    results.push_back(*value);
  }
  return results;
}

std::string Importer::name_of(const NodeFile& node, size_t index, const std::string& path) {
  std::string name = path + (node.name.empty() ? std::string(node.op_type) + "_" + std::to_string(index)
                                               : std::string(node.name));
  if (const int count = ++seen_names_[name]; count > 1) name += "#" + std::to_string(count);
  return name;
}

void Importer::convert(const NodeFile& node, size_t index, Scope& scope, const std::string& path) {
  Values inputs;
  for (const std::string_view name : node.inputs) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Value* value = scope.find(name);
    if (!value) throw Error(place(node) + ": nothing before it makes its input " + quoted(name));
    inputs.push_back(*value);
  }
  const Operator& op = *find_operator(node.domain, node.op_type);
  const Ref<const Origin> origin =
      Origin::create(std::string(node.op_type), nullptr, {}, name_of(node, index, path));
  module_->origins().add(origin);
  made_.emplace_back(origin, reason_of(node));
  const OriginScope origins(OriginSet::of(origin));
  const auto version = opsets_->find(node.domain);
  Conversion conversion(*this, node, version == opsets_->end() ? 1 : version->second, std::move(inputs));
  const Scope* const outer = std::exchange(scope_, &scope);
  Values results;
  if (auto known = fold_integers(conversion)) {
    made_.back().second = "shape arithmetic, computed while importing";
    results.emplace_back(std::move(*known));
  } else {
    try {
      results = folded(conversion, op.convert(conversion));
    } catch (const DiagnosticError& error) {  // of Relay's types, which know nothing of the file
      throw Error(place(node) + ": " + error.what());
    }
  }
  scope_ = outer;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= results.size() || results[i].is_absent())
      throw conversion.not_supported("its output " + std::to_string(i) + " (" + quoted(node.outputs[i]) +
                                     ") and those behind it");
    if (!scope.names.try_emplace(node.outputs[i], results[i]).second)
      throw Error(place(node) + ": its output " + quoted(node.outputs[i]) + " was made before");
  }
}

/// What follows from constants alone is computed at once: shapes come of it.
Values Importer::folded(const Conversion& conversion, Values results) {
  for (size_t i = 0; i < conversion.count(); ++i)
    if (conversion.has(i) && !conversion.constant(i) && !conversion.numbers(i)) return results;
  const RetireLog ignored;  // what goes away here is retired with its node
  for (Value& each : results)
    if (each.tensor && !as<ConstantNode>(each.tensor)) each.tensor = fold_constants(each.tensor, context_);
  return results;
}

// ---- For rules.

NDArray Importer::elements(const TensorFile& tensor) {
  if (is_packed(tensor.element))
    throw NotSupported(file_->path + ": tensor " + quoted(tensor.name) + " is of type " +
                       element_name(tensor.element) + ": elements of 4 and 2 bits are not supported");
  return tensors_.read(tensor);
}

Expr Importer::constant(NDArray value) { return infer_type(Expr(baton::constant(std::move(value)))); }

Expr Importer::extent_value(Dim dim) {
  const DType int64 = DType::int_(64);
  const auto typed = [](Expr expr) { return infer_type(expr); };
  if (!dim.is_any()) return constant(NDArray::of<int64_t>({}, std::vector<int64_t>{dim.value()}, int64));
  if (as_extent_var(dim)) {
    const auto source = std::ranges::find(extent_sources_, dim, [](const auto& each) { return each.first; });
    if (source == extent_sources_.end())
      throw Error("no input of the model has the extent " + extent_text(dim));
    const auto& [var, axis] = source->second;
    const Expr shape = call_op("shape_of", {Expr(var)}, {{"dtype", int64}});
    const Expr index = constant(NDArray::of<int64_t>({}, std::vector<int64_t>{axis}, int64));
    return typed(call_op("take", {shape, index}, {{"axis", 0}}));
  }
  const ExtentParts parts = extent_parts(dim);
  const char* op = parts.op == ExtentOp::kAdd   ? "add"
                   : parts.op == ExtentOp::kSub ? "subtract"
                   : parts.op == ExtentOp::kMul ? "multiply"
                                                : "floor_divide";
  return typed(call_op(op, {extent_value(parts.a), extent_value(parts.b)}));
}

Expr Importer::tensor(const Value& value) {
  if (value.tensor) return value.tensor;
  if (!value.integers) throw Error("a value that should be a tensor is none");
  const KnownIntegers& known = *value.integers;
  std::vector<int64_t> numbers;
  for (const Dim each : known.values)
    if (!each.is_any()) numbers.push_back(each.value());
  const auto cast = [&](Expr expr) {
    return known.dtype == DType::int_(64)
               ? expr
               : infer_type(Expr(call_op("cast", {expr}, {{"dtype", known.dtype}})));
  };
  if (numbers.size() == known.values.size()) {
    const Shape shape = known.is_scalar ? Shape{} : Shape{static_cast<int64_t>(numbers.size())};
    if (known.dtype == DType::int_(64)) return constant(NDArray::of<int64_t>(shape, numbers, known.dtype));
    const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
    return constant(NDArray::of<int32_t>(shape, narrow, known.dtype));
  }
  std::vector<Expr> elements;
  for (const Dim each : known.values) elements.push_back(extent_value(each));
  if (known.is_scalar) return cast(elements.front());
  return cast(infer_type(Expr(call_op("stack", {tuple(elements)}, {{"axis", 0}}))));
}

Expr Importer::keep(const Conversion& node, const std::vector<Type>& types) const {
  return kept_node(node, file_->path, types);
}

std::string Importer::place(const NodeFile& node) const {
  return file_->path + ": " + std::string(node.op_type) +
         (node.name.empty() ? (node.outputs.empty() ? "" : " that makes " + quoted(node.outputs.front()))
                            : " " + quoted(node.name));
}

// ---- What there is no rule for.

void Importer::check_operators() const {
  for (const auto& [domain, version] : file_->opsets)
    if (domain.empty() && version > kNewestOpset)
      throw NotSupported(file_->path + ": it is written in version " + std::to_string(version) +
                         " of ONNX's operators; this version of Baton knows them up to " +
                         std::to_string(kNewestOpset));
  std::map<std::string, std::vector<std::string>> missing;
  check_operators(file_->graph.nodes, missing, file_->opsets);
  if (missing.empty()) return;
  constexpr size_t kNamed = 3;
  std::string text = file_->path + ": there is no rule for " + std::to_string(missing.size()) +
                     (missing.size() == 1 ? " operator:" : " operators:");
  for (const auto& [op, nodes] : missing) {
    text += "\n  " + op + ": " + std::to_string(nodes.size()) + (nodes.size() == 1 ? " node (" : " nodes (");
    for (size_t i = 0; i < std::min(kNamed, nodes.size()); ++i) text += (i ? ", " : "") + nodes[i];
    text += nodes.size() > kNamed ? ", ...)" : ")";
  }
  throw NotSupported(text);
}

void Importer::check_operators(const std::vector<NodeFile>& nodes,
                               std::map<std::string, std::vector<std::string>>& missing,
                               const OpsetVersions& opsets) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    const NodeFile& node = nodes[i];
    if (!find_operator(node.domain, node.op_type)) {
      const auto version = opsets.find(node.domain);
      missing[domain_text(node.domain) + "." + std::string(node.op_type) +
              (version == opsets.end() ? "" : " (version " + std::to_string(version->second) + ")")]
          .push_back(node.name.empty() ? std::string(node.op_type) + "_" + std::to_string(i)
                                       : std::string(node.name));
    }
    for (const AttributeFile& attribute : node.attributes)
      for (const auto& graph : attribute.graphs) check_operators(graph->nodes, missing, opsets);
  }
}

Imported import_file(const std::string& path, const ImportOptions& options, const BuildContext& context) {
  return {Importer(read_model_file(path), options, context).run(), {}};
}

Imported import_bytes(std::string bytes, std::string name, const ImportOptions& options,
                      const BuildContext& context) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return {Importer(read_model_bytes(*owner, std::move(name), owner), options, context).run(), {}};
}

}  // namespace baton::onnx

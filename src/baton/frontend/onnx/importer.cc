#include "baton/frontend/onnx/importer.h"

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>

#include "baton/frontend/onnx/kept_node.h"
#include "baton/frontend/onnx/module_path.h"
#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/parameters.h"
#include "baton/frontend/onnx/quantized_regions.h"
#include "baton/ir/extent.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/visit.h"
#include "baton/support/diagnostic.h"
#include "baton/transform/fold_constant.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

constexpr const char* kPass = "import";
constexpr int64_t kMostFolded = int64_t{1} << 25;    // bytes of a constant that is computed while importing
constexpr int64_t kMostConstant = int64_t{1} << 31;  // bytes of one that is there at all
constexpr int64_t kMostExtent = int64_t{1} << 40;    // rules and types add and multiply extents

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

/// Some writers have a name for what is not known.
bool has_name(const DimFile& dim) {
  return !dim.is_known && !dim.symbol.empty() && dim.symbol != "?" && dim.symbol != "-1";
}

/// Whether an axis has more elements than importing computes with.
bool is_too_large(Dim extent) { return !extent.is_any() && extent.value() > kMostExtent; }

/// A model's optional input is always given: it is its element.
const TypeFile& tensor_of(const ValueFile& input) {
  const bool is_optional = input.type.kind == TypeFile::Kind::kOptional && input.type.of;
  return is_optional ? *input.type.of : input.type;
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

namespace {

OpsetVersions with_opset(OpsetVersions opsets, std::optional<int64_t> opset) {
  if (opset) opsets[""] = *opset;
  return opsets;
}

}  // namespace

Importer::Importer(std::shared_ptr<const ModelFile> file, const ImportOptions& options,
                   const BuildContext& context)
    : file_(std::move(file)),
      options_(options),
      context_(context),
      tensors_(file_),
      functions_(*file_),
      operators_(*file_, functions_),
      own_opsets_(with_opset(file_->opsets, options.opset)) {}

Imported Importer::run() {
  operators_.require();
  opsets_ = &own_opsets_;
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
  for (const Value& each : outputs_of(graph, scope, "")) results.push_back(result(each));
  if (results.empty()) throw Error(file_->path + ": its graph has no outputs");
  module_->set("main", function(params, results.size() == 1 ? results[0] : tuple(results)));
  retire_rest();
  return with_parameters(with_integer_regions(infer_types(module_), context_), initializers_);
}

/// A sequence is a tuple.
Expr Importer::result(const Value& value) {
  if (value.is_none)
    throw NotSupported(file_->path + ": an output of the model is an optional without an element; Baton's " +
                       "models return tensors");
  if (!value.sequence) return tensor(value);
  std::vector<Expr> elements;
  for (const Value& each : *value.sequence) elements.push_back(result(each));
  return infer_type(baton::tuple(elements));
}

Expr Importer::applied(const ExprList& values) {
  opsets_ = &own_opsets_;
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
  if (given == options_.shapes.end() || !tensor_of(input).has_shape) return;
  const auto bad = [&](const std::string& what) {
    return Error(file_->path + ": the input " + quoted(input.name) + " has " + what);
  };
  const std::vector<DimFile>& dims = tensor_of(input).dims;
  if (given->values.size() != dims.size())
    throw bad(std::to_string(dims.size()) + " dimensions, and --shape gives " +
              std::to_string(given->values.size()));
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const int64_t value = given->values[axis];
    const std::string along = " along axis " + std::to_string(axis);
    if (dims[axis].is_known && dims[axis].value > 0 && dims[axis].value != value)
      throw bad(std::to_string(dims[axis].value) + along + ", and --shape gives " + std::to_string(value));
    if (!has_name(dims[axis])) continue;
    for (const GivenShape& named : options_.shapes)
      if (named.name == dims[axis].symbol && named.values != std::vector<int64_t>{value})
        throw bad(std::to_string(value) + along + ", and --shape gives " + quoted(named.name) + " " +
                  std::to_string(named.values.empty() ? 0 : named.values.front()));
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
  const TypeFile& type = tensor_of(input);
  if (type.kind != TypeFile::Kind::kTensor)
    throw NotSupported(bad("is no tensor; models with sequences or maps as inputs are not supported").what());
  const std::optional<DType> dtype = dtype_of(type.element);
  if (!dtype || is_packed(type.element))
    throw bad("is of type " + element_name(type.element) + ", for which Baton has no arithmetic");
  const auto given = std::ranges::find(options_.shapes, std::string(input.name), &GivenShape::name);
  const bool is_given = given != options_.shapes.end();
  if (!type.has_shape && !is_given)
    throw bad("has no shape in the file: give one, --shape " + std::string(input.name) + "=1,3,224,224");
  std::vector<Dim> shape;
  for (size_t axis = 0; axis < (is_given ? given->values.size() : type.dims.size()); ++axis) {
    if (!is_given) {
      shape.push_back(extent(type.dims[axis], input.name, axis));
      continue;
    }
    shape.emplace_back(given->values[axis]);
  }
  if (std::ranges::any_of(shape, &is_too_large))
    throw bad("has an axis of more than " + std::to_string(kMostExtent) + " elements");
  const Var var = baton::var(std::string(input.name), make_ref<const TensorTypeNode>(shape, *dtype));
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (as_extent_var(shape[axis])) extent_sources_.push_back({shape[axis], {var, static_cast<int>(axis)}});
  return var;
}

void Importer::check_given() const {
  for (const GivenShape& given : options_.shapes) {
    for (const GivenShape& other : options_.shapes)
      if (other.name == given.name && other.values != given.values)
        throw UsageError("--shape gives " + quoted(given.name) + " two values");
    const bool is_input = std::ranges::any_of(
        file_->graph.inputs, [&](const ValueFile& input) { return input.name == given.name; });
    bool is_symbol = false;
    std::string known;
    for (const ValueFile& input : file_->graph.inputs) {
      known += (known.empty() ? "" : ", ") + std::string(input.name);
      const std::vector<DimFile>& dims = tensor_of(input).dims;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        const DimFile& dim = dims[axis];
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

void Importer::read_initializers(const GraphFile& graph, Scope& scope) {
  const auto enter = [&](std::string_view name, NDArray value, int bits) {
    Value one = constant(std::move(value));
    one.packed_bits = bits;
    if (!scope.names.try_emplace(name, std::move(one)).second)
      throw Error(file_->path + ": there are two initializers " + quoted(name));
  };
  for (const TensorFile& each : graph.initializers) {
    enter(each.name, tensors_.read(each), packed_bits(each.element));
    if (options_.initializers_are_parameters && &graph == &file_->graph)
      initializers_.emplace_back(each.name, scope.names.at(each.name).tensor);
  }
  for (const SparseTensorFile& each : graph.sparse_initializers)
    enter(each.values.name, tensors_.read(each), 0);
  if (&graph == &file_->graph) tensors_.give_back_model();
}

Values Importer::outputs_of(const GraphFile& graph, Scope& scope, const std::string& path) {
  read_initializers(graph, scope);
  for (size_t i = 0; i < graph.nodes.size(); ++i) convert(graph.nodes[i], i, scope, path);
  Values results;
  for (const ValueFile& output : graph.outputs) {
    const Value* value = scope.find(output.name);
    if (!value)
      throw Error(file_->path + ": " + (path.empty() ? "" : quoted(path) + ": ") +
                  "nothing makes the output " + quoted(output.name));
    results.push_back(*value);
  }
  return results;
}

/// The place in made_ of the operator that a node is. `path`: unique for a graph, or a call of a function.
size_t Importer::made_for(const NodeFile& node, size_t index, const std::string& path) {
  std::vector<size_t>& known = made_of_[path];
  if (known.size() <= index) known.resize(index + 1, SIZE_MAX);
  if (known[index] != SIZE_MAX) return known[index];
  known[index] = made_.size();
  const Ref<const Origin> origin =
      Origin::create(std::string(node.op_type), nullptr, {}, labels_.unique(node, index, path),
                     places_.place(within_current_module(module_path(node, path)), source_line(node)));
  made_.push_back({origin, reason_of(node)});
  module_->origins().add(made_.back().origin);
  return known[index];
}

int64_t Importer::version_of(const NodeFile& node) const {
  for (const OpsetVersions* opsets : {opsets_, &own_opsets_})
    if (const auto version = opsets->find(node.domain); version != opsets->end()) return version->second;
  return 1;
}

Values Importer::inputs_of(const NodeFile& node, const Scope& scope) const {
  Values inputs;
  for (const std::string_view name : node.inputs) {
    const Value* value = name.empty() ? nullptr : scope.find(name);
    if (!name.empty() && !value)
      throw Error(place(node) + ": nothing before it makes its input " + quoted(name));
    inputs.push_back(value ? *value : Value());
  }
  return inputs;
}

void Importer::convert(const NodeFile& node, size_t index, Scope& scope, const std::string& path) {
  if (++converted_ > kMostNodes)
    throw NotSupported(file_->path + ": its loops nest so deep that importing looks at more than " +
                       std::to_string(kMostNodes) + " nodes; the last is " +
                       quoted(path + label_of(node, index)));
  if (node.outputs.empty())
    throw Error(file_->path + ": " + quoted(path + label_of(node, index)) + " has no outputs");
  const size_t made = made_for(node, index, path);
  const Ref<const Origin> origin = made_[made].origin;
  const OriginScope origins(OriginSet::of(origin));
  Frame outer = std::exchange(frame_, {&scope, &node, made, origin->source_name()});
  Values inputs = inputs_of(node, scope);
  const FunctionFile* function = functions_.find(node);
  enter(node,
        function ? call(*function, node, inputs, frame_.path + "/") : results_of(node, std::move(inputs)),
        scope);
  frame_ = std::move(outer);
}

Values Importer::results_of(const NodeFile& node, Values inputs) {
  const Operator* op = find_operator(node.domain, node.op_type);
  if (!op) operators_.refuse();
  Conversion conversion(*this, node, version_of(node), std::move(inputs));
  if (auto known = fold_integers(conversion)) {
    explain("shape arithmetic, computed while importing");
    return {std::move(*known)};
  }
  try {
    Values results = folded(conversion, op->convert(conversion));
    for (const Value& each : results)
      if (const auto* type = each.tensor ? as_type<TensorTypeNode>(each.tensor->checked_type()) : nullptr;
          type && std::ranges::any_of(type->shape(), &is_too_large))
        throw conversion.error("its result has an axis of more than " + std::to_string(kMostExtent) +
                               " elements: " + type_text(each.tensor->checked_type()));
    if (const auto extents = compared_extents(conversion))
      results.front().equal = std::make_shared<const std::pair<Dim, Dim>>(*extents);
    return results;
  } catch (const DiagnosticError& error) {  // of Relay's types, which know nothing of the file
    throw NodeError(place(node) + ": " + error.what());
  } catch (const std::bad_alloc&) {
    throw NodeError(place(node) + ": there is no memory for what it makes");
  } catch (const std::length_error&) {
    throw NodeError(place(node) + ": its attributes or inputs ask for a list of a length that cannot be");
  } catch (const std::out_of_range&) {  // rules read elements with at()
    throw NodeError(place(node) +
                    ": a tensor has fewer axes, or an attribute, an input that gives numbers, or " +
                    "the list of its outputs fewer elements than the operator needs");
  }
}

void Importer::enter(const NodeFile& node, const Values& results, Scope& scope) const {
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= results.size() || results[i].is_absent())
      throw NotSupported(place(node) + ": its output " + std::to_string(i) + " (" + quoted(node.outputs[i]) +
                         ") and those behind it are not supported");
    if (!scope.names.try_emplace(node.outputs[i], results[i]).second)
      throw Error(place(node) + ": its output " + quoted(node.outputs[i]) + " was made before");
  }
}

// ---- Functions: their nodes stand for the call.

Values Importer::call(const FunctionFile& function, const NodeFile& node, const Values& inputs,
                      const std::string& path) {
  explain("a call of a function of the model, whose nodes stand for it");
  if (std::ranges::count(open_calls_, &function))
    throw Error(place(node) + ": the function " + quoted(function.name) + " calls itself");
  if (inputs.size() > function.inputs.size())
    throw Error(place(node) + ": it has " + std::to_string(inputs.size()) + " inputs, and the function " +
                quoted(function.name) + " takes " + std::to_string(function.inputs.size()));
  const auto [at, is_new] = calls_.try_emplace(path);
  if (is_new) at->second = nodes_of_call(function, node);
  const std::vector<NodeFile>& nodes = at->second;
  Scope scope;
  for (size_t i = 0; i < function.inputs.size(); ++i)
    scope.names[function.inputs[i]] = i < inputs.size() ? inputs[i] : Value();
  const OpsetVersions* const outer = std::exchange(opsets_, &function.opsets);
  open_calls_.push_back(&function);
  for (size_t i = 0; i < nodes.size(); ++i) convert(nodes[i], i, scope, path);
  open_calls_.pop_back();
  opsets_ = outer;
  Values results;
  for (const std::string_view output : function.outputs) {
    const Value* value = scope.find(output);
    results.push_back(value ? *value : Value());
  }
  return results;
}

// ---- Graphs of attributes.

Values Importer::run_graph(const AttributeFile& attribute, const Values& inputs, const Bindings& bindings) {
  const GraphFile& graph = *attribute.graphs.front();
  const std::string path = frame_.path + "/" + label_of(attribute) + "/";
  if (inputs.size() != graph.inputs.size())
    throw Error(place(*frame_.node) + ": its graph " + quoted(attribute.name) + " has " +
                std::to_string(graph.inputs.size()) + " inputs, and gets " + std::to_string(inputs.size()));
  Scope bound{frame_.scope, {}};
  for (const auto& [name, value] : bindings) bound.names[name] = value;
  Scope scope{&bound, {}};
  for (size_t i = 0; i < inputs.size(); ++i) scope.names[graph.inputs[i].name] = inputs[i];
  return outputs_of(graph, scope, path);
}

GraphAttempt Importer::try_graph(const AttributeFile& attribute) {
  const Frame frame = frame_;
  const OpsetVersions* const opsets = opsets_;
  const size_t calls = open_calls_.size();
  try {
    return {run_graph(attribute, {}, {}), std::nullopt};
  } catch (const NodeError& error) {
    frame_ = frame;
    opsets_ = opsets;
    open_calls_.resize(calls);
    std::string text = error.what();
    while (text.ends_with('\n')) text.pop_back();
    return {{}, std::move(text)};
  }
}

void Importer::skip_graph(const AttributeFile& attribute, const std::string& why) {
  retire_nodes(*attribute.graphs.front(), frame_.path + "/" + label_of(attribute) + "/", why);
}

void Importer::retire_nodes(const GraphFile& graph, const std::string& path, const std::string& why) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const size_t made = made_for(graph.nodes[i], i, path);
    made_[made].why = why;
    const std::string name = made_[made].origin->source_name();
    for (const AttributeFile& attribute : graph.nodes[i].attributes)
      for (const auto& inner : attribute.graphs)
        retire_nodes(*inner, name + "/" + label_of(attribute) + "/", why);
  }
}

namespace {

/// Names that a graph, or one within it, reads.
void collect_reads(const GraphFile& graph, std::set<std::string_view>& reads) {
  for (const NodeFile& node : graph.nodes) {
    reads.insert(node.inputs.begin(), node.inputs.end());
    for (const AttributeFile& attribute : node.attributes)
      for (const auto& inner : attribute.graphs) collect_reads(*inner, reads);
  }
  for (const ValueFile& each : graph.outputs) reads.insert(each.name);
}

}  // namespace

Bindings Importer::outer_values(const AttributeFile& attribute) const {
  const GraphFile& graph = *attribute.graphs.front();
  std::set<std::string_view> reads;
  collect_reads(graph, reads);
  for (const ValueFile& each : graph.inputs) reads.erase(each.name);
  for (const NodeFile& node : graph.nodes)
    for (const std::string_view made : node.outputs) reads.erase(made);
  Bindings outer;
  for (const std::string_view name : reads)
    if (const Value* value = name.empty() ? nullptr : frame_.scope->find(name))
      outer.emplace_back(name, *value);
  return outer;
}

namespace {

bool reads(const Conversion& conversion, const Expr& value) {
  for (size_t i = 0; i < conversion.count(); ++i)
    if (conversion.has(i) && conversion.value(i).tensor == value) return true;
  return false;
}

}  // namespace

/// What follows from constants alone is computed at once: shapes come of it. Large ones are left to builds,
/// and loops, which need not end, to programs.
Values Importer::folded(const Conversion& conversion, Values results) {
  for (size_t i = 0; i < conversion.count(); ++i)
    if (conversion.has(i) && !conversion.constant(i) && !conversion.numbers(i)) return results;
  if (std::ranges::any_of(initializers_, [&](const auto& each) { return reads(conversion, each.second); }))
    return results;         // parameters can be given other values
  const RetireLog ignored;  // what goes away here is retired with its node
  if (std::ranges::any_of(conversion.node.attributes, [](const auto& each) { return !each.graphs.empty(); }))
    return results;
  for (Value& each : results) {
    if (!each.tensor || as<ConstantNode>(each.tensor)) continue;
    const auto* type = as_type<TensorTypeNode>(each.tensor->checked_type());
    if (!type || !type->is_static()) continue;
    const std::optional<int64_t> bytes = byte_count(type->extents(), type->dtype());
    if (!bytes || *bytes > kMostConstant)
      throw conversion.not_supported("constants of more than 2 GB, such as its result of type " +
                                     type_text(each.tensor->checked_type()) + ",");
    if (*bytes <= kMostFolded) each.tensor = fold_constants(each.tensor, context_);
  }
  return results;
}

// ---- For rules.

NDArray Importer::elements(const TensorFile& tensor) { return tensors_.read(tensor); }

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
  if (!value.integers)
    throw Error((frame_.node ? place(*frame_.node) : file_->path) + ": a value that should be a tensor is " +
                (value.sequence  ? "a sequence"
                 : value.is_none ? "an optional without an element"
                                 : "not given"));
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
    if (known.dtype == DType::bool_())
      return constant(
          NDArray::of<uint8_t>(shape, std::vector<uint8_t>(numbers.begin(), numbers.end()), known.dtype));
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

/// Within graphs and functions the path says where; a node without a name is found by what it makes.
std::string Importer::place(const NodeFile& node) const {
  const bool is_inner = &node == frame_.node && frame_.path.find('/') != std::string::npos;
  return file_->path + ": " + std::string(node.op_type) +
         (!node.name.empty() || is_inner
              ? " " + quoted(&node == frame_.node ? std::string_view(frame_.path) : node.name)
          : node.outputs.empty() ? ""
                                 : " that makes " + quoted(node.outputs.front()));
}

namespace {

Imported with_notes(Imported imported) {
  std::string names;
  const std::vector<std::string> left = nodes_left_in_float(imported.module);
  for (const std::string& each : left) names += (names.empty() ? "" : ", ") + each;
  if (!left.empty())
    imported.notes.push_back("on quantised tensors, these nodes compute in float32: " + names);
  return imported;
}

}  // namespace

Imported import_file(const std::string& path, const ImportOptions& options, const BuildContext& context) {
  return with_notes(Importer(read_model_file(path), options, context).run());
}

Imported import_bytes(std::string bytes, std::string name, const ImportOptions& options,
                      const BuildContext& context) {
  const auto owner = std::make_shared<const std::string>(std::move(bytes));
  return with_notes(Importer(read_model_bytes(*owner, std::move(name), owner), options, context).run());
}

}  // namespace baton::onnx

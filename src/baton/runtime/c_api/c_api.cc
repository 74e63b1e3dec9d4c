#include "baton/runtime/c_api.h"

#include <cstring>
#include <optional>
#include <string>

#include "baton/runtime/c_api/loaded_program.h"
#include "baton/runtime/model.h"

namespace {

thread_local std::string last_error;

int report(const baton::Status& status) {
  if (!status.ok()) last_error = status.message;
  return static_cast<int>(status.code);
}

}  // namespace

struct baton_model {
  // One of the two.
  std::unique_ptr<baton::Model> model;
  std::unique_ptr<baton::LoadedProgram> program;
  /// Of the inputs and outputs: the outputs of a program have the shapes of its last run.
  std::vector<baton::LoadedProgram::Tensor> inputs, outputs;
  std::vector<std::string> input_types, output_types;
  std::optional<baton::LoadedProgram::Profile> profile;

  baton::Executor& executor() const { return model->executor(); }

  bool has_input(int index) const { return index >= 0 && static_cast<size_t>(index) < inputs.size(); }
  bool has_axis(int index, int axis) const {
    return has_input(index) && axis >= 0 &&
           static_cast<size_t>(axis) < inputs[static_cast<size_t>(index)].shape.size();
  }
  bool has_output(int index) const { return index >= 0 && static_cast<size_t>(index) < outputs.size(); }
  bool has_call(int call) const {
    return profile && call >= 0 && static_cast<size_t>(call) < profile->calls.size();
  }
  bool has_run(int run) const {
    return profile && run >= 0 && static_cast<size_t>(run) < profile->total_ns.size();
  }

  /// After a run of a program.
  void take_shapes() {
    for (size_t i = 0; program && i < outputs.size(); ++i) {
      const baton::NDArray output = program->output(i);
      outputs[i].shape = output ? output.shape() : program->outputs()[i].shape;
    }
  }
};

struct baton_stream {
  std::unique_ptr<baton::QueueExecutor> executor;
  const baton::Executor* finished;  // its last input's instance; null: none
};

namespace {

baton_model* wrap(const baton::Result<std::shared_ptr<const baton::Artifact>>& artifact) {
  baton::Status status = artifact.status();
  auto made = std::make_unique<baton_model>();
  if (status.ok() && (*artifact)->has(baton::section::kProgram)) {
    auto program = baton::LoadedProgram::load(*artifact);
    status = program.status();
    if (status.ok()) {
      made->program = std::move(*program);
      made->inputs = made->program->inputs();
      made->outputs = made->program->outputs();
    }
  } else if (status.ok()) {
    auto model = baton::Model::from_artifact(*artifact);
    status = model.status();
    if (status.ok()) {
      made->model = std::move(*model);
      const baton::Executor& executor = made->executor();
      for (size_t i = 0; i < executor.num_inputs(); ++i)
        made->inputs.push_back(
            {executor.input_node(i).name, executor.input_entry(i).dtype, executor.input_entry(i).shape});
      for (size_t i = 0; i < executor.num_outputs(); ++i)
        made->outputs.push_back({"", executor.output_entry(i).dtype, executor.output_entry(i).shape});
    }
  }
  if (!status.ok()) {
    report(status);
    return nullptr;
  }
  for (const auto& input : made->inputs) made->input_types.push_back(input.dtype.str());
  for (const auto& output : made->outputs) made->output_types.push_back(output.dtype.str());
  return made.release();
}

int shape_of(const baton::Shape& of, const int64_t** shape) {
  if (shape) *shape = of.data();
  return static_cast<int>(of.size());
}

baton::Status no_tensor(const char* what, int index, size_t count) {
  return baton::Status::invalid("there is no " + std::string(what) + " " + std::to_string(index) +
                                ": the model has " + std::to_string(count));
}

baton::Status check_size(const std::string& what, const baton::Shape& shape, baton::DType dtype,
                         size_t bytes) {
  const std::string is = what + " is " + baton::describe(shape, dtype);
  const std::optional<int64_t> size = baton::byte_count(shape, dtype);
  if (!size) return baton::Status::invalid(is + ": say which shape by baton_set_input_shape()");
  if (bytes == static_cast<size_t>(*size)) return baton::Status::success();
  return baton::Status::invalid(is + " of " + std::to_string(*size) + " bytes, not " + std::to_string(bytes));
}

/// The caller's tensor as an input of that name, type and shape.
baton::Result<baton::NDArray> input_value(const std::string& name, const baton::Shape& shape,
                                          baton::DType dtype, void* data, size_t bytes, bool bind) {
  const std::string what = "input `" + name + "`";
  if (baton::Status status = check_size(what, shape, dtype, bytes); !status.ok()) return status;
  if (bind && reinterpret_cast<uintptr_t>(data) % baton::NDArray::kAlignment != 0)
    return baton::Status::invalid(what + " cannot be bound to memory that is not aligned to 64 bytes");
  return baton::NDArray::view(data, shape, dtype, nullptr, nullptr);
}

int set_input(baton::Executor& executor, int index, void* data, size_t bytes, bool bind) {
  if (index < 0 || static_cast<size_t>(index) >= executor.num_inputs())
    return report(no_tensor("input", index, executor.num_inputs()));
  const size_t at = static_cast<size_t>(index);
  const baton::PlanEntry& entry = executor.input_entry(at);
  const auto value = input_value(executor.input_node(at).name, entry.shape, entry.dtype, data, bytes, bind);
  if (!value.ok()) return report(value.status());
  return report(bind ? executor.bind_input(at, *value) : executor.set_input(at, *value));
}

int set_input(baton_model& model, int index, void* data, size_t bytes, bool bind) {
  if (!model.program) return set_input(model.executor(), index, data, bytes, bind);
  if (!model.has_input(index)) return report(no_tensor("input", index, model.inputs.size()));
  const size_t at = static_cast<size_t>(index);
  const auto value = input_value(model.inputs[at].name, model.program->input_shape(at),
                                 model.inputs[at].dtype, data, bytes, bind);
  return report(value.ok() ? model.program->set_input(at, *value, bind) : value.status());
}

using Output = baton::Result<baton::NDArray>;

int copy_output(const Output& output, int index, void* data, size_t bytes) {
  if (!output.ok()) return report(output.status());
  const std::string what = "output " + std::to_string(index);
  if (baton::Status status = check_size(what, output->shape(), output->dtype(), bytes); !status.ok())
    return report(status);
  if (bytes) std::memcpy(data, output->data(), bytes);
  return 0;
}

Output output_of(const baton::Executor& executor, int index) {
  if (index < 0 || static_cast<size_t>(index) >= executor.num_outputs())
    return no_tensor("output", index, executor.num_outputs());
  baton::NDArray output = executor.output(static_cast<size_t>(index));
  if (output.defined()) return output;
  return baton::Status::kernel_failed("output " + std::to_string(index) +
                                      " was not given back by its device");
}

Output output_of(const baton_model& model, int index) {
  if (!model.program) return output_of(model.executor(), index);
  if (!model.has_output(index)) return no_tensor("output", index, model.outputs.size());
  baton::NDArray output = model.program->output(static_cast<size_t>(index));
  if (output.defined()) return output;
  return baton::Status::invalid("there is no output " + std::to_string(index) +
                                " before a run that succeeds");
}

}  // namespace

extern "C" {

const char* baton_last_error(void) { return last_error.c_str(); }

int baton_plugin_load(const char* path) {
  if (!path) return report(baton::Status::invalid("there is no path to load a plug-in from"));
  return report(baton::Plugin::load(path).status());
}

baton_model* baton_model_load(const char* path) {
  if (!path) return wrap(baton::Status::invalid("there is no path to load a model from"));
  return wrap(baton::Artifact::open(path));
}

baton_model* baton_model_load_memory(const void* data, size_t bytes) {
  return wrap(baton::Artifact::from_memory({static_cast<const uint8_t*>(data), bytes}));
}

void baton_model_free(baton_model* model) { delete model; }

int baton_set_threads(baton_model* model, int threads) {
  if (threads < 0)
    return report(baton::Status::invalid("there cannot be " + std::to_string(threads) + " threads"));
  if (model->program)
    model->program->set_threads(threads);
  else
    model->executor().set_threads(threads);
  return 0;
}

int baton_num_inputs(const baton_model* model) { return static_cast<int>(model->inputs.size()); }

int baton_num_outputs(const baton_model* model) { return static_cast<int>(model->outputs.size()); }

const char* baton_input_name(const baton_model* model, int index) {
  return model->has_input(index) ? model->inputs[static_cast<size_t>(index)].name.c_str() : nullptr;
}

int baton_input_index(const baton_model* model, const char* name) {
  if (!name) return -1;
  for (size_t i = 0; i < model->inputs.size(); ++i)
    if (model->inputs[i].name == name) return static_cast<int>(i);
  return -1;
}

int baton_input_shape(const baton_model* model, int index, const int64_t** shape) {
  return model->has_input(index) ? shape_of(model->inputs[static_cast<size_t>(index)].shape, shape) : -1;
}

const char* baton_input_extent_name(const baton_model* model, int index, int axis) {
  if (!model->has_axis(index, axis)) return nullptr;
  const std::vector<std::string>& names = model->inputs[static_cast<size_t>(index)].declared.names;
  return names.empty() || names[static_cast<size_t>(axis)].empty() ? nullptr
                                                                   : names[static_cast<size_t>(axis)].c_str();
}

int64_t baton_input_extent_most(const baton_model* model, int index, int axis) {
  if (!model->has_axis(index, axis)) return -1;
  const baton::LoadedProgram::Tensor& input = model->inputs[static_cast<size_t>(index)];
  const int64_t extent = input.shape[static_cast<size_t>(axis)];
  return extent >= 0 ? extent : input.declared.most[static_cast<size_t>(axis)];
}

int baton_output_shape(const baton_model* model, int index, const int64_t** shape) {
  return model->has_output(index) ? shape_of(model->outputs[static_cast<size_t>(index)].shape, shape) : -1;
}

const char* baton_input_dtype(const baton_model* model, int index) {
  return model->has_input(index) ? model->input_types[static_cast<size_t>(index)].c_str() : nullptr;
}

const char* baton_output_dtype(const baton_model* model, int index) {
  return model->has_output(index) ? model->output_types[static_cast<size_t>(index)].c_str() : nullptr;
}

int baton_set_input_shape(baton_model* model, int index, const int64_t* shape, int dimensions) {
  if (!model->has_input(index)) return report(no_tensor("input", index, model->inputs.size()));
  if (dimensions < 0 || (dimensions > 0 && !shape))
    return report(
        baton::Status::invalid("there is no shape of " + std::to_string(dimensions) + " dimensions"));
  const size_t at = static_cast<size_t>(index);
  baton::Shape wanted(shape, shape + dimensions);
  return report(model->program ? model->program->set_input_shape(at, std::move(wanted))
                               : baton::check_shape(model->inputs[at], wanted));
}

int baton_set_input(baton_model* model, int index, const void* data, size_t bytes) {
  return set_input(*model, index, const_cast<void*>(data), bytes, false);  // it is only read
}

int baton_bind_input(baton_model* model, int index, void* data, size_t bytes) {
  return set_input(*model, index, data, bytes, true);
}

int baton_run(baton_model* model) {
  if (!model->program) return report(model->executor().run());
  const baton::Status status = model->program->run();
  model->take_shapes();
  return report(status);
}

int baton_get_output(const baton_model* model, int index, void* data, size_t bytes) {
  return copy_output(output_of(*model, index), index, data, bytes);
}

const void* baton_output_data(const baton_model* model, int index, size_t* bytes) {
  const Output output = output_of(*model, index);
  report(output.status());
  if (bytes) *bytes = output.ok() ? output->bytes() : 0;
  return output.ok() ? output->data() : nullptr;
}

baton_stream* baton_stream_create(const baton_model* model, int instances) {
  if (instances < 0) {
    report(baton::Status::invalid("a stream has at least one instance, not " + std::to_string(instances)));
    return nullptr;
  }
  if (model->program) {
    report(baton::Status::unavailable(
        "the model is a program of the virtual machine, which has no stream: load it several times to run "
        "inputs side by side"));
    return nullptr;
  }
  baton::Result<std::unique_ptr<baton::QueueExecutor>> made =
      model->model->queue_executor(static_cast<size_t>(instances));
  if (!made.ok()) {
    report(made.status());
    return nullptr;
  }
  (*made)->set_threads(model->executor().threads());
  return new baton_stream{std::move(*made), nullptr};
}

void baton_stream_free(baton_stream* stream) { delete stream; }

int baton_stream_instances(const baton_stream* stream) {
  return static_cast<int>(stream->executor->instances());
}

int baton_stream_set_input(baton_stream* stream, int index, const void* data, size_t bytes) {
  baton::Executor* const next = stream->executor->next();
  if (!next) return report(stream->executor->start());  // says that it is full
  return set_input(*next, index, const_cast<void*>(data), bytes, false);
}

int baton_stream_start(baton_stream* stream) { return report(stream->executor->start()); }

int baton_stream_finish(baton_stream* stream) {
  const baton::Result<baton::Executor*> finished = stream->executor->finish();
  stream->finished = finished.ok() ? *finished : nullptr;
  return report(finished.status());
}

int baton_stream_get_output(const baton_stream* stream, int index, void* data, size_t bytes) {
  if (!stream->finished) return report(baton::Status::invalid("no input of the stream has been finished"));
  return copy_output(output_of(*stream->finished, index), index, data, bytes);
}

int baton_profile(baton_model* model, int runs) {
  if (model->program) {
    auto profile = model->program->run_profiled(runs);
    model->take_shapes();
    if (!profile.ok()) return report(profile.status());
    model->profile = std::move(*profile);
    return 0;
  }
  baton::Result<baton::RunProfile> profile = model->executor().run_profiled(runs);
  if (!profile.ok()) return report(profile.status());
  auto& kept = model->profile.emplace();
  for (const uint32_t node : profile->nodes) {
    const baton::PlanNode& called = model->executor().plan().nodes[node];
    kept.calls.emplace_back(called.name, called.func_name);
  }
  kept.call_ns = std::move(profile->node_ns);
  kept.total_ns = std::move(profile->total_ns);
  return 0;
}

int baton_profile_calls(const baton_model* model) {
  return model->profile ? static_cast<int>(model->profile->calls.size()) : 0;
}

const char* baton_profile_node_name(const baton_model* model, int call) {
  return model->has_call(call) ? model->profile->calls[static_cast<size_t>(call)].first.c_str() : nullptr;
}

const char* baton_profile_kernel_name(const baton_model* model, int call) {
  return model->has_call(call) ? model->profile->calls[static_cast<size_t>(call)].second.c_str() : nullptr;
}

double baton_profile_ns(const baton_model* model, int call, int run) {
  if (!model->has_call(call) || !model->has_run(run)) return -1;
  return model->profile->call_ns[static_cast<size_t>(call)][static_cast<size_t>(run)];
}

double baton_profile_total_ns(const baton_model* model, int run) {
  return model->has_run(run) ? model->profile->total_ns[static_cast<size_t>(run)] : -1;
}

}  // extern "C"

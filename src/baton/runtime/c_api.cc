#include "baton/runtime/c_api.h"

#include <cstring>
#include <optional>
#include <string>

#include "baton/runtime/model.h"

namespace {

thread_local std::string last_error;

int report(const baton::Status& status) {
  if (!status.ok()) last_error = status.message;
  return static_cast<int>(status.code);
}

}  // namespace

struct baton_model {
  std::unique_ptr<baton::Model> model;
  std::vector<std::string> input_types;
  std::vector<std::string> output_types;
  std::optional<baton::RunProfile> profile;

  baton::Executor& executor() const { return model->executor(); }

  bool has_input(int index) const {
    return index >= 0 && static_cast<size_t>(index) < executor().num_inputs();
  }
  bool has_output(int index) const {
    return index >= 0 && static_cast<size_t>(index) < executor().num_outputs();
  }
  bool has_call(int call) const {
    return profile && call >= 0 && static_cast<size_t>(call) < profile->nodes.size();
  }
  bool has_run(int run) const {
    return profile && run >= 0 && static_cast<size_t>(run) < profile->total_ns.size();
  }

  const baton::PlanNode& call_node(int call) const {
    return executor().plan().nodes[profile->nodes[static_cast<size_t>(call)]];
  }
};

struct baton_stream {
  std::unique_ptr<baton::QueueExecutor> executor;
  const baton::Executor* finished;  // its last input's instance; null: none
};

namespace {

baton_model* wrap(baton::Result<std::unique_ptr<baton::Model>> loaded) {
  if (!loaded.ok()) {
    report(loaded.status());
    return nullptr;
  }
  auto* model = new baton_model{std::move(*loaded), {}, {}, {}};
  const baton::Executor& executor = model->executor();
  for (size_t i = 0; i < executor.num_inputs(); ++i)
    model->input_types.push_back(executor.input_entry(i).dtype.str());
  for (size_t i = 0; i < executor.num_outputs(); ++i)
    model->output_types.push_back(executor.output_entry(i).dtype.str());
  return model;
}

int shape_of(const baton::PlanEntry& entry, const int64_t** shape) {
  if (shape) *shape = entry.shape.data();
  return static_cast<int>(entry.shape.size());
}

baton::Status no_tensor(const char* what, int index, size_t count) {
  return baton::Status::invalid("there is no " + std::string(what) + " " + std::to_string(index) +
                                ": the model has " + std::to_string(count));
}

baton::Status check_size(const std::string& what, const baton::PlanEntry& entry, size_t bytes) {
  if (bytes == entry.bytes()) return baton::Status::success();
  return baton::Status::invalid(what + " is " + baton::describe(entry.shape, entry.dtype) + " of " +
                                std::to_string(entry.bytes()) + " bytes, not " + std::to_string(bytes));
}

baton::Status not_brought(int index) {
  return baton::Status::kernel_failed("output " + std::to_string(index) +
                                      " was not given back by its device");
}

int set_input(baton::Executor& executor, int index, void* data, size_t bytes, bool bind) {
  if (index < 0 || static_cast<size_t>(index) >= executor.num_inputs())
    return report(no_tensor("input", index, executor.num_inputs()));
  const size_t at = static_cast<size_t>(index);
  const baton::PlanEntry& entry = executor.input_entry(at);
  const std::string name = "input `" + executor.input_node(at).name + "`";
  if (baton::Status status = check_size(name, entry, bytes); !status.ok()) return report(status);
  if (bind && reinterpret_cast<uintptr_t>(data) % baton::NDArray::kAlignment != 0) {
    return report(
        baton::Status::invalid(name + " cannot be bound to memory that is not aligned to 64 bytes"));
  }
  const baton::NDArray value = baton::NDArray::view(data, entry.shape, entry.dtype, nullptr, nullptr);
  return report(bind ? executor.bind_input(at, value) : executor.set_input(at, value));
}

int get_output(const baton::Executor& executor, int index, void* data, size_t bytes) {
  if (index < 0 || static_cast<size_t>(index) >= executor.num_outputs())
    return report(no_tensor("output", index, executor.num_outputs()));
  const size_t at = static_cast<size_t>(index);
  const std::string name = "output " + std::to_string(index);
  if (baton::Status status = check_size(name, executor.output_entry(at), bytes); !status.ok())
    return report(status);
  const baton::NDArray output = executor.output(at);
  if (!output.defined()) return report(not_brought(index));
  if (bytes) std::memcpy(data, output.data(), bytes);
  return 0;
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
  return wrap(baton::Model::load(path));
}

baton_model* baton_model_load_memory(const void* data, size_t bytes) {
  return wrap(baton::Model::load_memory({static_cast<const uint8_t*>(data), bytes}));
}

void baton_model_free(baton_model* model) { delete model; }

int baton_set_threads(baton_model* model, int threads) {
  if (threads < 0)
    return report(baton::Status::invalid("there cannot be " + std::to_string(threads) + " threads"));
  model->executor().set_threads(threads);
  return 0;
}

int baton_num_inputs(const baton_model* model) { return static_cast<int>(model->executor().num_inputs()); }

int baton_num_outputs(const baton_model* model) { return static_cast<int>(model->executor().num_outputs()); }

const char* baton_input_name(const baton_model* model, int index) {
  return model->has_input(index) ? model->executor().input_node(static_cast<size_t>(index)).name.c_str()
                                 : nullptr;
}

int baton_input_index(const baton_model* model, const char* name) {
  if (!name) return -1;
  for (size_t i = 0; i < model->executor().num_inputs(); ++i) {
    if (model->executor().input_node(i).name == name) return static_cast<int>(i);
  }
  return -1;
}

int baton_input_shape(const baton_model* model, int index, const int64_t** shape) {
  return model->has_input(index) ? shape_of(model->executor().input_entry(static_cast<size_t>(index)), shape)
                                 : -1;
}

int baton_output_shape(const baton_model* model, int index, const int64_t** shape) {
  return model->has_output(index)
             ? shape_of(model->executor().output_entry(static_cast<size_t>(index)), shape)
             : -1;
}

const char* baton_input_dtype(const baton_model* model, int index) {
  return model->has_input(index) ? model->input_types[static_cast<size_t>(index)].c_str() : nullptr;
}

const char* baton_output_dtype(const baton_model* model, int index) {
  return model->has_output(index) ? model->output_types[static_cast<size_t>(index)].c_str() : nullptr;
}

int baton_set_input(baton_model* model, int index, const void* data, size_t bytes) {
  return set_input(model->executor(), index, const_cast<void*>(data), bytes, false);  // it is only read
}

int baton_bind_input(baton_model* model, int index, void* data, size_t bytes) {
  return set_input(model->executor(), index, data, bytes, true);
}

int baton_run(baton_model* model) { return report(model->executor().run()); }

int baton_get_output(const baton_model* model, int index, void* data, size_t bytes) {
  return get_output(model->executor(), index, data, bytes);
}

const void* baton_output_data(const baton_model* model, int index, size_t* bytes) {
  if (!model->has_output(index)) {
    report(no_tensor("output", index, model->executor().num_outputs()));
    return nullptr;
  }
  const baton::NDArray output = model->executor().output(static_cast<size_t>(index));
  if (!output.defined()) report(not_brought(index));
  if (bytes) *bytes = output.bytes();
  return output.data();
}

baton_stream* baton_stream_create(const baton_model* model, int instances) {
  if (instances < 0) {
    report(baton::Status::invalid("a stream has at least one instance, not " + std::to_string(instances)));
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
  return get_output(*stream->finished, index, data, bytes);
}

int baton_profile(baton_model* model, int runs) {
  baton::Result<baton::RunProfile> profile = model->executor().run_profiled(runs);
  if (!profile.ok()) return report(profile.status());
  model->profile = std::move(*profile);
  return 0;
}

int baton_profile_calls(const baton_model* model) {
  return model->profile ? static_cast<int>(model->profile->nodes.size()) : 0;
}

const char* baton_profile_node_name(const baton_model* model, int call) {
  return model->has_call(call) ? model->call_node(call).name.c_str() : nullptr;
}

const char* baton_profile_kernel_name(const baton_model* model, int call) {
  return model->has_call(call) ? model->call_node(call).func_name.c_str() : nullptr;
}

double baton_profile_ns(const baton_model* model, int call, int run) {
  if (!model->has_call(call) || !model->has_run(run)) return -1;
  return model->profile->node_ns[static_cast<size_t>(call)][static_cast<size_t>(run)];
}

double baton_profile_total_ns(const baton_model* model, int run) {
  return model->has_run(run) ? model->profile->total_ns[static_cast<size_t>(run)] : -1;
}

}  // extern "C"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "baton/cli/common.h"
#include "baton/cli/debug_flags.h"
#include "baton/driver/case_file.h"
#include "baton/frontend/npz.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/float16.h"

namespace baton::cli {

namespace {

// The first few values of an output, for display.
std::string head_of(const NDArray& array) {
  std::string text;
  const int64_t shown = std::min<int64_t>(array.size(), 6);
  for (int64_t i = 0; i < shown; ++i) {
    char number[32] = "?";
    const DType type = array.dtype();
    if (type == DType::float_(32))
      std::snprintf(number, sizeof number, "%.6g", array.as<float>()[i]);
    else if (type == DType::float_(64))
      std::snprintf(number, sizeof number, "%.6g", array.as<double>()[i]);
    else if (type == DType::float_(16))
      std::snprintf(number, sizeof number, "%.4g", half_to_float(array.as<uint16_t>()[i]));
    else if (type == DType::int_(32))
      std::snprintf(number, sizeof number, "%d", array.as<int32_t>()[i]);
    else if (type == DType::int_(64))
      std::snprintf(number, sizeof number, "%lld", static_cast<long long>(array.as<int64_t>()[i]));
    else if (type.bytes() == 1)
      std::snprintf(number, sizeof number, "%d", array.as<int8_t>()[i]);
    text += (i ? ", " : "") + std::string(number);
  }
  return "[" + text + (shown < array.size() ? ", ...]" : "]");
}

class RunVerb final : public Verb {
 public:
  RunVerb() : Verb("run", "Run a model, or an artifact of `baton build`, once.") {}

  void flags(Flags& flags) override {
    flags_.add(flags);
    flags_.add_target(flags);
    debug_.add(flags);
    flags.at("MODEL").doc = "workload name, .relay file, or a .baton artifact";
    flags.option("inputs", &inputs_, "input values from an .npz; the others by the tensor rule");
    flags.option("o,output", &output_, "write the outputs to an .npz, as output0, output1, ...");
    flags_.add_no_verify(flags);
    add_threads(flags, &threads_);
  }

  int run(Io& io) override {
    apply(debug_, flags_);
    const NamedArrays given = inputs_.empty() ? NamedArrays() : read_inputs_file(inputs_);
    if (flags_.model.ends_with(".baton")) {
      const std::unique_ptr<Model> artifact = flags_.open_artifact();
      return run(artifact->executor(), given, io);
    }
    return run(*make_executor(build_model(flags_, io).build), given, io);
  }

 private:
  int run(Executor& executor, const NamedArrays& given, Io& io) const {
    executor.set_threads(threads_);
    set_inputs(executor, given);
    require(executor.run());
    NamedArrays outputs;
    for (size_t i = 0; i < executor.num_outputs(); ++i) {
      outputs.emplace_back("output" + std::to_string(i), executor.output(i));
      const NDArray& value = outputs.back().second;
      io.out << outputs.back().first << ": " << describe(value.shape(), value.dtype()) << " = "
             << head_of(value) << '\n';
    }
    if (!output_.empty()) write_npz(output_, outputs);
    return 0;
  }

  ModelFlags flags_;
  DebugFlags debug_;
  std::string inputs_, output_;
  int threads_ = 0;
};

}  // namespace

std::unique_ptr<Verb> run_verb() { return std::make_unique<RunVerb>(); }

}  // namespace baton::cli

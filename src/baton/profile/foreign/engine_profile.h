#pragma once
// Profiles that other engines wrote, read as rows: the events of ONNX Runtime, the counters of OpenVINO.
#include <string>
#include <string_view>
#include <vector>

namespace baton {

/// What an engine calls a step of its run.
struct EngineRow {
  std::string name, op;
  std::string implementation;                ///< "CPUExecutionProvider", "brgconv_avx512_f32"; may be empty
  std::vector<double> samples_us;            ///< of each run; what steps inside it took is theirs
  std::vector<std::string> members;          ///< nodes of the source that the engine says are in it
  std::vector<std::string> outputs, inputs;  ///< tensors, where the optimised model is known
};

struct EngineProfile {
  std::string engine, version;  ///< "onnxruntime"; "1.31.1", or empty
  int threads = 0;              ///< 0: not known
  std::vector<double> runs_us;  ///< whole runs; empty: not known
  std::vector<EngineRow> rows;
};

/// Tells the forms apart by what is in them: events of ONNX Runtime (enable_profiling), a report of
/// OpenVINO's benchmark_app (detailed counters as .json or .csv), or what bench/peers writes. `path`: for
/// errors. Throws Error for anything else, and for profiles without a single step.
EngineProfile read_engine_profile(const std::string& text, const std::string& path);
/// Whether it may be one of these, and not a profile of Baton's.
bool is_engine_profile(std::string_view text);

/// ONNX Runtime's rows get the tensors of the model that it optimised
/// (SessionOptions.optimized_model_filepath). Returns how many rows the file does not have. Throws Error for
/// what is no ONNX file.
size_t add_optimized_model(EngineProfile& profile, const std::string& path);

}  // namespace baton

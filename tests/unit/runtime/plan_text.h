// Small plans for runtime tests.
#pragma once

#include <string>
#include <vector>

namespace baton {

/// Builds graph.json text. Nodes have one output unless `outputs` is given; each tensor has the given type
/// and shape, and its own storage.
class PlanText {
 public:
  struct Tensor {
    std::string shape;  ///< "[2, 3]"
    int storage;
    std::string dtype = "float32";
    int device = 1;
  };

  PlanText& input(const std::string& name, const Tensor& tensor) {
    args_ += (args_.empty() ? "" : ", ") + std::to_string(count_);
    return node("{\"op\": \"null\", \"name\": \"" + name + "\", \"inputs\": []}", {tensor});
  }

  /// `inputs` as in graph.json: "[0, 0, 0], [1, 0, 0]". `more` is appended to the attributes.
  PlanText& call(const std::string& name, const std::string& function, const std::string& inputs,
                 const std::vector<Tensor>& outputs, const std::string& more = "") {
    return node("{\"op\": \"tvm_op\", \"name\": \"" + name + "\", \"attrs\": {\"num_outputs\": \"" +
                    std::to_string(outputs.size()) +
                    "\", \"num_inputs\": \"1\", \"flatten_data\": \"0\", \"func_name\": \"" + function +
                    "\"" + more + "}, \"inputs\": [" + inputs + "]}",
                outputs);
  }

  std::string text(const std::string& heads) const {
    return "{\"nodes\": [" + nodes_ + "], \"arg_nodes\": [" + args_ + "], \"heads\": [" + heads +
           "], \"attrs\": {" + "\"dltype\": [\"list_str\", [" + types_ +
           "]], \"device_index\": [\"list_int\", [" + devices_ + "]], " + "\"storage_id\": [\"list_int\", [" +
           storages_ + "]], \"shape\": [\"list_shape\", [" + shapes_ + "]]}, " + "\"node_row_ptr\": [0" +
           rows_ + "]}";
  }

 private:
  PlanText& node(const std::string& json, const std::vector<Tensor>& outputs) {
    nodes_ += (nodes_.empty() ? "" : ", ") + json;
    ++count_;
    for (const Tensor& tensor : outputs) {
      const std::string comma = types_.empty() ? "" : ", ";
      types_ += comma + "\"" + tensor.dtype + "\"";
      devices_ += comma + std::to_string(tensor.device);
      storages_ += comma + std::to_string(tensor.storage);
      shapes_ += comma + tensor.shape;
    }
    entries_ += static_cast<int>(outputs.size());
    rows_ += ", " + std::to_string(entries_);
    return *this;
  }

  int count_ = 0;
  int entries_ = 0;
  std::string nodes_, args_, types_, devices_, storages_, shapes_, rows_;
};

}  // namespace baton

#pragma once
// A plan of 10,000 empty kernels: measures the runtime itself.
#include <string>

namespace baton::bars {

constexpr int kNodes = 10000;

inline int do_nothing(void**) { return 0; }

/// A chain of calls that alternates between two storages.
inline std::string chain() {
  std::string nodes = R"({"op": "null", "name": "x", "inputs": []})", types = "\"float32\"", storages = "0",
              shapes = "[16]", rows = "0, 1";
  for (int i = 1; i <= kNodes; ++i) {
    nodes += R"(, {"op": "tvm_op", "name": "n)" + std::to_string(i) +
             R"(", "attrs": {"num_outputs": "1", "func_name": "nothing"}, "inputs": [[)" +
             std::to_string(i - 1) + ", 0, 0]]}";
    types += ", \"float32\"";
    storages += i % 2 ? ", 1" : ", 2";
    shapes += ", [16]";
    rows += ", " + std::to_string(i + 1);
  }
  return "{\"nodes\": [" + nodes + "], \"arg_nodes\": [0], \"heads\": [[" + std::to_string(kNodes) +
         ", 0, 0]], \"attrs\": {\"dltype\": [\"list_str\", [" + types +
         "]], \"storage_id\": [\"list_int\", [" + storages + "]], \"shape\": [\"list_shape\", [" + shapes +
         "]]}, \"node_row_ptr\": [" + rows + "]}";
}

}  // namespace baton::bars

#pragma once
// Which of a file's operators there is no rule for: all of them are named at once, before anything is built.
#include <map>
#include <string>
#include <vector>

#include "baton/frontend/onnx/functions.h"
#include "baton/frontend/onnx/model_file.h"

namespace baton::onnx {

/// Functions that call functions stand for more nodes than a file has, and loops within loops for more turns.
constexpr size_t kMostNodes = size_t{1} << 18;
/// Functions that call each other deeper than this, in a circle perhaps, are refused.
constexpr int kMostCalls = 64;

class OperatorCheck {
 public:
  OperatorCheck(const ModelFile& file, const FunctionTable& functions);

  /// Throws NotSupported for operators that are computed whatever the inputs are, and for versions that are
  /// newer than the rules; Error where the file does not say which version an operator has.
  void require() const;
  /// The error that names all: for a branch that turned out to be needed.
  [[noreturn]] void refuse() const;

 private:
  /// Returns how many nodes there are with those of functions, at most kMostNodes + 1.
  size_t visit(const std::vector<NodeFile>& nodes, const OpsetVersions& opsets, const std::string& path,
               bool is_certain);
  size_t visit_call(const FunctionFile& function, const std::string& name, bool is_certain);
  void add(const NodeFile& node, const std::string& name, const OpsetVersions& opsets, bool is_certain);
  void check_versions(const OpsetVersions& opsets) const;

  const ModelFile& file_;
  const FunctionTable& functions_;
  std::map<std::string, std::vector<std::string>> missing_;         ///< by operator, the names of nodes
  std::map<std::pair<const FunctionFile*, bool>, size_t> visited_;  ///< and how many nodes a call stands for
  bool any_certain_ = false;
  size_t nodes_ = 0;
  int calls_ = 0;                ///< of functions that are being visited, one within the other
  std::string without_version_;  ///< a node of ONNX's own domain where the file has no version of it
};

}  // namespace baton::onnx

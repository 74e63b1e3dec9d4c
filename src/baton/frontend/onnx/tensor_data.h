#pragma once
// The elements of a file's tensors as arrays: initializers, constants, external data.
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "baton/frontend/onnx/mapped_file.h"
#include "baton/frontend/onnx/model_file.h"
#include "baton/support/base/ndarray.h"

namespace baton::onnx {

/// The type in which Baton computes with elements: int4, uint4, int2 and uint2 in a byte each. nullopt for
/// what it has no arithmetic for: texts, complex numbers, floats of 8 bits and fewer.
std::optional<DType> dtype_of(Element element);

/// 4 or 2, where several elements are in a byte of the file; 0 for others.
int packed_bits(Element element);
bool is_packed(Element element);

/// Reads tensors of one model. Files of external data are mapped once, and pages that were copied are given
/// back, so that a model takes its size once.
class TensorReader {
 public:
  explicit TensorReader(std::shared_ptr<const ModelFile> model) : model_(std::move(model)) {}

  /// A copy of the elements. Throws Error (file, tensor, what was seen) for an element type without
  /// arithmetic, a size that overflows or that the data do not have, and external data that are not there,
  /// lie outside of the model's folder, or behind a symbolic link.
  NDArray read(const TensorFile& tensor);
  /// With zeros where no value is given; at most `kMostDense` bytes.
  NDArray read(const SparseTensorFile& tensor);

  /// Once all large tensors are read: the model's file need not stay in memory.
  void give_back_model() const { give_back(model_->mapped, model_->mapped); }

  static constexpr size_t kMostDense = size_t{1} << 30;

 private:
  std::string_view external(const TensorFile& tensor);
  /// The mapped file that holds the tensor's data; empty: they are in other memory.
  std::string_view mapped_around(const TensorFile& tensor) const;
  std::shared_ptr<const ModelFile> model_;
  std::map<std::string, MappedFile> files_;
};

}  // namespace baton::onnx

#pragma once
// What the families are built from. For .cc files of this folder only.
#include <string>
#include <vector>

#include "baton/frontend/variations/choice.h"
#include "baton/frontend/variations/variation_options.h"
#include "baton/frontend/workloads/layers.h"

namespace baton::variations {

/// Makes the layers of one network; parameters are numbered.
class Blocks {
 public:
  Blocks(Choice& choose, const VariationOptions& options) : choose(choose), folded_(options.folded) {}

  Choice& choose;

  struct Conv {
    int64_t channels, height = 3, width = 3, stride = 1;
    bool depthwise = false;  ///< `channels` are those of the data
    bool padded = true;      ///< keeps the size of the image
  };
  Expr conv(const Expr& data, const Conv& conv);
  Expr conv_bias(const Expr& data, const Conv& conv);
  /// Convolution and normalisation.
  Expr conv_norm(const Expr& data, const Conv& conv);
  Expr conv_norm_relu(const Expr& data, const Conv& conv) { return relu(conv_norm(data, conv)); }
  /// Doubles height and width.
  Expr upsample(const Expr& data, int64_t channels);
  /// Normalisation in front of a convolution, where it stays: scale, shift and relu.
  Expr norm_relu(const Expr& data, int64_t channels);
  Expr norm(const Expr& data);
  Expr dense(const Expr& data, int64_t units);

  Expr relu(const Expr& x) { return workloads::relu(x); }
  Expr relu6(const Expr& x);
  Expr swish(const Expr& x);
  Expr sigmoid(const Expr& x);
  Expr tanh(const Expr& x);
  /// By the error function, as importers write it.
  Expr gelu(const Expr& x);
  Expr softmax(const Expr& x) { return workloads::softmax(x); }
  Expr add(const Expr& a, const Expr& b);
  Expr multiply(const Expr& a, const Expr& b);
  Expr join(std::vector<Expr> parts);
  Expr max_pool(const Expr& x, int64_t size, int64_t stride, int64_t pad);
  Expr average_pool(const Expr& x, int64_t size, int64_t stride, int64_t pad);
  Expr global_average(const Expr& x);
  Expr flatten(const Expr& x);
  Expr reshape(const Expr& x, const std::vector<int64_t>& shape);
  Expr transpose(const Expr& x, const std::vector<int64_t>& axes);
  Expr batch_matmul(const Expr& a, const Expr& b, bool transpose_b);
  Expr layer_norm(const Expr& x, int64_t extent);
  Expr scaled(const Expr& x, double factor);
  /// Global average, dense layer of `classes`, and in most networks softmax.
  Expr classifier(const Expr& x, int64_t classes);

  Expr image(int64_t batch, int64_t channels, int64_t height, int64_t width);
  Expr input(const std::vector<int64_t>& shape);
  std::string next(const char* what) { return what + std::to_string(count_++); }

 private:
  bool folded_;
  int count_ = 0;
};

/// One function of each family (variations.def).
#define BATON_FAMILY(name, doc, function) Expr function(Blocks& make);
#include "baton/frontend/variations/variations.def"
#undef BATON_FAMILY

}  // namespace baton::variations

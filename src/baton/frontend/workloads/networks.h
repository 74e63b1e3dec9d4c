#pragma once
// The networks of `relay.testing`, built from the same layers with the same parameter names. Weights are the
// caller's. Types are not inferred: run InferType on the result.
#include <string>
#include <vector>

#include "baton/frontend/workloads/layers.h"

namespace baton::workloads {

struct ImageNetOptions {
  int64_t batch = 1, num_classes = 1000;
  std::vector<int64_t> image_shape = {3, 224, 224};  ///< without the batch, in the order of `layout`
  std::string layout = "NCHW";
  DType dtype = DType::float_(32);
};

/// Pre-activation ResNet with 18, 34, 50, 101, 152, 200 or 269 layers; images of up to 28x28 get the CIFAR
/// form
/// ((layers - 2) divisible by 6, or by 9 from 164 on). Error for other numbers.
IRModule resnet(int num_layers, const ImageNetOptions& options);
/// VGG with 11, 13, 16 or 19 layers; Error for other numbers.
IRModule vgg(int num_layers, bool batch_norm, const ImageNetOptions& options);
/// MobileNet v1. `alpha` scales all numbers of channels; a shallow one has no blocks of equal channels at
/// 14x14.
struct MobileNetOptions : ImageNetOptions {
  double alpha = 1.0;
  bool shallow = false;
};
IRModule mobilenet(const MobileNetOptions& options);
/// Three dense layers on 28x28 images by default.
IRModule mlp(const ImageNetOptions& options);

/// The convolutional Q-network on four frames of 84x84: one value per action (`num_classes`), no softmax.
IRModule dqn(const ImageNetOptions& options);
/// SqueezeNet "1.0" or "1.1"; Error for other versions. NCHW only.
IRModule squeezenet(const std::string& version, const ImageNetOptions& options);
/// DenseNet with 121, 161, 169 or 201 layers; Error for other numbers. NCHW only.
IRModule densenet(int num_layers, const ImageNetOptions& options);

/// Inception v3 without the auxiliary classifier, for images of 299x299. NCHW only.
IRModule inception_v3(const ImageNetOptions& options);

struct DcganOptions {
  int64_t batch = 1, noise = 100;       ///< the input: (batch, noise)
  int64_t channels = 3, filters = 128;  ///< of the image of 64x64, and of the last layer but one
  std::string layout = "NCHW";
  DType dtype = DType::float_(32);
  Expr code;  ///< the vector of noise, a new variable `data` where it is null
};
/// The generator of DCGAN: an image from a vector of noise.
IRModule dcgan(const DcganOptions& options);

/// Pre-activation ResNet for video, of the depths of `resnet`; image_shape: channels, time, height, width, or
/// channels last for the layout NDHWC.
IRModule resnet_3d(int num_layers, const ImageNetOptions& options);

struct SyntheticOptions {
  std::vector<int64_t> input_shape = {1, 3, 24, 12};  ///< batch, channels, height, width
  DType dtype = DType::float_(32), weight_dtype = DType::float_(32);
};
/// A small network that joins dense layers and convolutions of one input: for tests of passes and executors.
IRModule synthetic(const SyntheticOptions& options);

struct LstmOptions {
  int64_t iterations = 1, num_hidden = 8, batch = 1;
  DType dtype = DType::float_(32);
};
/// An LSTM unrolled over `iterations` steps, each with its own input `data`, its own weights and its own
/// closure. Error unless iterations, num_hidden and batch are positive.
IRModule lstm(const LstmOptions& options);

/// A network and its command line name.
struct Workload {
  const char* name;  ///< "resnet-18"
  const char* doc;
  IRModule (*make)();
};
const std::vector<Workload>& all_workloads();  ///< sorted by name
/// The workload of that name (also without the dash: "resnet18"), or null.
const Workload* find_workload(const std::string& name);

}  // namespace baton::workloads

#pragma once
// Attributes of the convolutions over one and three axes and of the transposed ones. Names, order and
// defaults are Relay's.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct Conv1DAttrs {
  std::vector<int64_t> strides{1};
  std::vector<int64_t> padding{0, 0};  ///< before, after
  std::vector<int64_t> dilation{1};
  int64_t groups = 1;
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::string data_layout = "NCW";
  std::string kernel_layout = "OIW";
  std::string out_layout = {};
  DType out_dtype = {};
};

struct Conv3DAttrs {
  std::vector<int64_t> strides{1, 1, 1};
  std::vector<int64_t> padding{0, 0, 0};  ///< 1, 3 or 6 values
  std::vector<int64_t> dilation{1, 1, 1};
  int64_t groups = 1;
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "OIDHW";
  std::string out_layout = {};
  DType out_dtype = {};
};

/// nn.contrib_conv3d_winograd_without_weight_transform: the weight is transformed already.
struct Conv3DWinogradAttrs {
  int64_t tile_size = 0;
  std::vector<int64_t> strides{1, 1, 1};
  std::vector<int64_t> padding{0, 0, 0};
  std::vector<int64_t> dilation{1, 1, 1};
  int64_t groups = 1;
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "OIDHW";
  std::string out_layout = {};
  DType out_dtype = {};
};

struct Conv1DTransposeAttrs {
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::vector<int64_t> strides{1};
  std::vector<int64_t> output_padding{0};
  std::vector<int64_t> padding{0};
  std::vector<int64_t> dilation{1};
  int64_t groups = 1;
  std::string data_layout = "NCW";
  std::string kernel_layout = "OIW";  ///< read as (in, out, w): so does Relay 0.11
  std::string out_layout = {};
  DType out_dtype = {};
};

struct Conv2DTransposeAttrs {
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> output_padding{0, 0};
  std::vector<int64_t> padding{0, 0};
  std::vector<int64_t> dilation{1, 1};
  int64_t groups = 1;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout = {};
  DType out_dtype = {};
};

struct Conv3DTransposeAttrs {
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::vector<int64_t> strides{1, 1, 1};
  std::vector<int64_t> output_padding{0, 0, 0};
  std::vector<int64_t> padding{0, 0, 0};
  std::vector<int64_t> dilation{1, 1, 1};
  int64_t groups = 1;
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "OIDHW";  ///< read as (in, out, d, h, w)
  std::string out_layout = {};
  DType out_dtype = {};
};

struct DeformableConv2DAttrs {
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> padding{0, 0};
  std::vector<int64_t> dilation{1, 1};
  int64_t deformable_groups = 1;
  int64_t groups = 1;
  std::optional<int64_t> channels = {};
  std::optional<std::vector<int64_t>> kernel_size = {};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout = {};
  DType out_dtype = {};
};

template <>
const AttrSchema& attr_schema<Conv1DAttrs>();
template <>
const AttrSchema& attr_schema<Conv3DAttrs>();
template <>
const AttrSchema& attr_schema<Conv3DWinogradAttrs>();
template <>
const AttrSchema& attr_schema<Conv1DTransposeAttrs>();
template <>
const AttrSchema& attr_schema<Conv2DTransposeAttrs>();
template <>
const AttrSchema& attr_schema<Conv3DTransposeAttrs>();
template <>
const AttrSchema& attr_schema<DeformableConv2DAttrs>();

}  // namespace baton

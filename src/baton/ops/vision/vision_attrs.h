#pragma once
// Attributes of the operators of object detection. Names, order and defaults are Relay's.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/ir/attrs.h"

namespace baton {

struct GetValidCountsAttrs {
  std::optional<double> score_threshold =
      {};  ///< Relay keeps the threshold as an input; this one is left None
  int64_t id_index = 0;
  int64_t score_index = 1;
};
struct NonMaximumSuppressionAttrs {
  bool force_suppress = false;
  int64_t top_k = -1;
  int64_t coord_start = 2;
  int64_t score_index = 1;
  int64_t id_index = 0;
  bool return_indices = true;
  bool invalid_to_bottom = false;
};
struct AllClassNonMaximumSuppressionAttrs {
  std::string output_format = "onnx";  ///< or "tensorflow"
};
struct MultiBoxPriorAttrs {
  std::vector<double> sizes{1};
  std::vector<double> ratios{1};
  std::vector<double> steps{-1, -1};
  std::vector<double> offsets{0.5, 0.5};
  bool clip = false;
};
struct MultiBoxTransformLocAttrs {
  bool clip = true;
  double threshold = 0.01;
  std::vector<double> variances{0.1, 0.1, 0.2,
                                0.2};  ///< not what text's 0.1f reads as: Relay prints those too
};
struct ProposalAttrs {
  std::vector<double> scales{4, 8, 16, 32};
  std::vector<double> ratios{0.5, 1, 2};
  int64_t feature_stride = 16;
  double threshold = 0.7;
  int64_t rpn_pre_nms_top_n = 6000;
  int64_t rpn_post_nms_top_n = 300;
  int64_t rpn_min_size = 16;
  bool iou_loss = false;
};
struct ROIAlignAttrs {
  std::vector<int64_t> pooled_size = {};
  double spatial_scale = 0;
  int64_t sample_ratio = -1;
  std::string layout = "NCHW";
  std::string mode = "avg";
};
struct ROIPoolAttrs {
  std::vector<int64_t> pooled_size = {};
  double spatial_scale = 0;
  std::string layout = "NCHW";
};
struct YoloReorgAttrs {
  int64_t stride = 1;
};

template <>
const AttrSchema& attr_schema<GetValidCountsAttrs>();
template <>
const AttrSchema& attr_schema<NonMaximumSuppressionAttrs>();
template <>
const AttrSchema& attr_schema<AllClassNonMaximumSuppressionAttrs>();
template <>
const AttrSchema& attr_schema<MultiBoxPriorAttrs>();
template <>
const AttrSchema& attr_schema<MultiBoxTransformLocAttrs>();
template <>
const AttrSchema& attr_schema<ProposalAttrs>();
template <>
const AttrSchema& attr_schema<ROIAlignAttrs>();
template <>
const AttrSchema& attr_schema<ROIPoolAttrs>();
template <>
const AttrSchema& attr_schema<YoloReorgAttrs>();

}  // namespace baton

#include "baton/ops/image/resize2d_attrs.h"

namespace baton {

template <>
const AttrSchema& attr_schema<Resize2DAttrs>() {
  using A = Resize2DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.Resize2DAttrs",
      {{"size", &A::size, "height and width of the result"},
       {"roi", &A::roi, "the part of the image that mode \"tf_crop_and_resize\" takes"},
       {"layout", &A::layout, "the layout of data and result"},
       {"method", &A::method, "\"nearest_neighbor\", \"linear\" or \"cubic\""},
       {"coordinate_transformation_mode", &A::coordinate_transformation_mode,
        "how positions of the result map to the data"},
       {"rounding_method", &A::rounding_method, "how \"nearest_neighbor\" rounds a position"},
       {"cubic_alpha", &A::cubic_alpha, "the coefficient of the cubic splines"},
       {"cubic_exclude", &A::cubic_exclude, "whether elements outside the image have no weight"},
       {"extrapolation_value", &A::extrapolation_value, "the value outside the image"},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"}});
  return schema;
}

}  // namespace baton

// Operators that gradients are made of and that have no compute yet, over float64.
#include <cmath>

#include "baton/ir/inspect.h"
#include "baton/ops/nn/conv_attrs.h"
#include "baton/ops/nn/pool_attrs.h"
#include "baton/support/error.h"

#include "transform/program_interpreter.h"

namespace baton::run {

namespace {

using Index = std::vector<int64_t>;

/// Elements by index; outside of it there are zeros.
class Grid {
 public:
  explicit Grid(const NDArray& array) : array_(array) {}
  double& at(const Index& index) { return array_.as<double>()[static_cast<size_t>(offset(index))]; }
  bool inside(const Index& index) const {
    for (size_t axis = 0; axis < index.size(); ++axis)
      if (index[axis] < 0 || index[axis] >= array_.shape()[axis]) return false;
    return true;
  }
  double get(const Index& index) { return inside(index) ? at(index) : 0; }

 private:
  int64_t offset(const Index& index) const {
    int64_t at = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) at = at * array_.shape()[axis] + index[axis];
    return at;
  }
  NDArray array_;
};

template <class Visit>
void each(const Index& shape, Visit&& visit) {
  Index index(shape.size(), 0);
  for (int64_t left = *element_count(shape); left > 0; --left) {
    visit(index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// Every element of `from` that a broadcast made out of one of `to` is added to that one.
void collapse(const NDArray& from, NDArray& to) {
  Grid in(from), out(to);
  each(from.shape(), [&](const Index& i) {
    Index at(i.end() - to.ndim(), i.end());
    for (size_t axis = 0; axis < at.size(); ++axis)
      if (to.shape()[axis] == 1) at[axis] = 0;
    out.at(at) += in.at(i);
  });
}

// All places of a convolution's weight over its result: visit(result index, data index, weight index).
template <class Visit>
void each_product(const Conv2DAttrs& attrs, const Index& result, const Index& weight, Visit&& visit) {
  const Padding2D padding = *padding_2d(attrs.padding);
  const int64_t outputs = weight[0] / attrs.groups;
  each(result, [&](const Index& y) {
    each({weight[1], weight[2], weight[3]}, [&](const Index& k) {
      visit(y,
            Index{y[0], y[1] / outputs * weight[1] + k[0],
                  y[2] * attrs.strides[0] + k[1] * attrs.dilation[0] - padding.top,
                  y[3] * attrs.strides[1] + k[2] * attrs.dilation[1] - padding.left},
            Index{y[1], k[0], k[1], k[2]});
    });
  });
}

// A transposed convolution has the weight of the convolution that it turns round.
void conv2d_transpose(const CallNode& call, const std::vector<NDArray>& args, NDArray& to) {
  Conv2DAttrs attrs;
  attrs.strides = ints_attr(call, "strides");
  attrs.padding = ints_attr(call, "padding");
  attrs.dilation = ints_attr(call, "dilation");
  attrs.groups = int_attr(call, "groups");
  Grid in(args[0]), weight(args[1]), out(to);
  each_product(attrs, args[0].shape(), args[1].shape(), [&](const Index& y, const Index& x, const Index& w) {
    if (out.inside(x)) out.at(x) += in.at(y) * weight.at(w);
  });
}

void conv2d_backward_weight(const CallNode& call, const std::vector<NDArray>& args, NDArray& to) {
  Grid gradient(args[0]), data(args[1]), out(to);
  each_product(
      attrs_as<Conv2DAttrs>(call.attrs()), args[0].shape(), to.shape(),
      [&](const Index& y, const Index& x, const Index& w) { out.at(w) += gradient.at(y) * data.get(x); });
}

// The cells of each window, in NCHW.
template <class A, class Visit>
void each_window(const A& attrs, const NDArray& gradient, Grid& data, Visit&& visit) {
  const Padding2D padding = *padding_2d(attrs.padding);
  each(gradient.shape(), [&](const Index& y) {
    std::vector<Index> cells;
    each({attrs.pool_size[0], attrs.pool_size[1]}, [&](const Index& k) {
      const Index x{y[0], y[1], y[2] * attrs.strides[0] + k[0] - padding.top,
                    y[3] * attrs.strides[1] + k[1] - padding.left};
      if (data.inside(x)) cells.push_back(x);
    });
    visit(y, cells);
  });
}

void max_pool2d_grad(const CallNode& call, const std::vector<NDArray>& args, NDArray& to) {
  Grid gradient(args[0]), data(args[1]), out(to);
  each_window(attrs_as<MaxPool2DAttrs>(call.attrs()), args[0], data,
              [&](const Index& y, const std::vector<Index>& cells) {
                Index best = cells.at(0);
                for (const Index& cell : cells)
                  if (data.at(cell) > data.at(best)) best = cell;
                out.at(best) += gradient.at(y);
              });
}

void avg_pool2d_grad(const CallNode& call, const std::vector<NDArray>& args, NDArray& to) {
  const auto& attrs = attrs_as<AvgPool2DAttrs>(call.attrs());
  Grid gradient(args[0]), data(args[1]), out(to);
  each_window(attrs, args[0], data, [&](const Index& y, const std::vector<Index>& cells) {
    const auto count = attrs.count_include_pad ? attrs.pool_size[0] * attrs.pool_size[1]
                                               : static_cast<int64_t>(cells.size());
    for (const Index& cell : cells) out.at(cell) += gradient.at(y) / static_cast<double>(count);
  });
}

void cross_entropy(const std::vector<NDArray>& args, bool logits, NDArray& to) {
  double sum = 0;
  for (size_t i = 0; i < args[0].as<double>().size(); ++i) {
    const double x = args[0].as<double>()[i];
    sum -= (logits ? x : std::log(x)) * args[1].as<double>()[i];
  }
  to.as<double>()[0] = sum / static_cast<double>(args[0].shape()[0]);
}

// Over the axes in which the mean has extent 1.
void variance(const CallNode& call, const std::vector<NDArray>& args, NDArray& to) {
  const NDArray sums = to.reshaped(args[1].shape());
  Grid data(args[0]), mean(args[1]), out(sums);
  const double n =
      static_cast<double>(args[0].size() / args[1].size()) - (bool_attr(call, "unbiased") ? 1 : 0);
  each(args[0].shape(), [&](const Index& i) {
    Index at = i;
    for (size_t axis = 0; axis < at.size(); ++axis)
      if (args[1].shape()[axis] == 1) at[axis] = 0;
    out.at(at) += std::pow(data.at(i) - mean.at(at), 2) / n;
  });
}

void strided_set(const std::vector<NDArray>& args, NDArray& to) {
  std::copy(args[0].as<double>().begin(), args[0].as<double>().end(), to.as<double>().begin());
  Grid slice(args[1]), out(to);
  each(args[1].shape(), [&](const Index& i) {
    Index at = i;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int64_t begin = args[2].as<int64_t>()[axis], extent = to.shape()[axis],
                    stride = args[4].as<int64_t>()[axis];
      const int64_t from = begin < 0 ? begin + extent : begin;
      at[axis] = std::min(from, stride < 0 ? extent - 1 : extent) + i[axis] * stride;
    }
    out.at(at) = slice.at(i);
  });
}

// Indices of any width, as the first axis of args[1] counts the axes they name.
void scatter_nd(const std::vector<NDArray>& args, NDArray& to) {
  std::copy(args[0].as<double>().begin(), args[0].as<double>().end(), to.as<double>().begin());
  Grid updates(args[2]), out(to);
  const NDArray& indices = args[1];
  const int64_t named = indices.shape()[0], places = indices.size() / named;
  const auto names = static_cast<size_t>(indices.ndim() - 1);
  const auto index_at = [&](int64_t at) {
    return indices.dtype().bits == 64 ? indices.as<int64_t>()[static_cast<size_t>(at)]
                                      : indices.as<int32_t>()[static_cast<size_t>(at)];
  };
  each(args[2].shape(), [&](const Index& i) {
    int64_t place = 0;
    for (size_t axis = 0; axis < names; ++axis) place = place * indices.shape()[axis + 1] + i[axis];
    Index at;
    for (int64_t k = 0; k < named; ++k) at.push_back(index_at(k * places + place));
    at.insert(at.end(), i.begin() + static_cast<ptrdiff_t>(names), i.end());
    out.at(at) += updates.at(i);
  });
}

template <class From, class To>
NDArray converted(const NDArray& from, DType dtype) {
  NDArray to = NDArray::empty(from.shape(), dtype);
  std::copy(from.as<From>().begin(), from.as<From>().end(), to.as<To>().begin());
  return to;
}

}  // namespace

NDArray plain_loops(const CallNode& call, const std::vector<NDArray>& args) {
  const std::string& name = call.op()->name;
  const auto* type = as_type<TensorTypeNode>(call.checked_type());
  if (name == "collapse_sum_like" && args[0].dtype() == DType::int_(32)) {
    NDArray sums = NDArray::zeros(type->extents(), DType::float_(64));
    collapse(converted<int32_t, double>(args[0], DType::float_(64)), sums);
    return converted<double, int32_t>(sums, DType::int_(32));
  }
  if (!type || type->dtype() != DType::float_(64))
    throw NotSupported(name + " has no compute, and loops are over float64");
  NDArray to = NDArray::zeros(type->extents(), type->dtype());
  if (name == "collapse_sum_like")
    collapse(args[0], to);
  else if (name == "nn.conv2d_transpose")
    conv2d_transpose(call, args, to);
  else if (name == "nn.conv2d_backward_weight")
    conv2d_backward_weight(call, args, to);
  else if (name == "nn.max_pool2d_grad")
    max_pool2d_grad(call, args, to);
  else if (name == "nn.avg_pool2d_grad")
    avg_pool2d_grad(call, args, to);
  else if (name == "nn.cross_entropy")
    cross_entropy(args, false, to);
  else if (name == "nn.cross_entropy_with_logits")
    cross_entropy(args, true, to);
  else if (name == "variance")
    variance(call, args, to);
  else if (name == "strided_set")
    strided_set(args, to);
  else if (name == "scatter_nd")
    scatter_nd(args, to);
  else
    throw NotSupported("no loops for " + name);
  return to;
}

}  // namespace baton::run

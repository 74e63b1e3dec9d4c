#include "baton/support/base/ndarray.h"

#include <cstring>
#include <functional>

#include "baton/support/error.h"

#include "python/bind.h"
#include "python/running/dense_input.h"

namespace baton::python {

namespace {

DType dtype_of(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  switch (static_cast<Code>(dtype.code)) {
    case Code::Int:
      return DType::int_(dtype.bits, dtype.lanes);
    case Code::UInt:
      return DType::uint_(dtype.bits, dtype.lanes);
    case Code::Float:
      return DType::float_(dtype.bits, dtype.lanes);
    case Code::Bfloat:
      return DType::make(DType::Code::kBFloat, dtype.bits, dtype.lanes);
    case Code::Bool:
      return DType::bool_();
    default:
      throw nb::type_error("an array of integers, floats or booleans is expected");
  }
}

nb::dlpack::dtype dlpack_dtype(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  nb::dlpack::dtype result;
  result.lanes = dtype.lanes;
  result.bits = dtype.bits;
  if (dtype.is_bool()) {
    result.code = static_cast<uint8_t>(Code::Bool);
    result.bits = 8;
  } else if (dtype.is_int()) {
    result.code = static_cast<uint8_t>(Code::Int);
  } else if (dtype.is_uint()) {
    result.code = static_cast<uint8_t>(Code::UInt);
  } else if (dtype.is_float()) {
    result.code = static_cast<uint8_t>(Code::Float);
  } else {
    result.code = static_cast<uint8_t>(Code::Bfloat);
  }
  return result;
}

NDArray copy_in(const DenseInput& input) {
  NDArray array = view_of_input(input).copy();
  if (!array) throw std::bad_alloc();
  return array;
}

using HostInput = nb::ndarray<nb::device::cpu>;

std::string numbers_text(size_t count, const std::function<int64_t(size_t)>& number) {
  std::string text = "(";
  for (size_t i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(number(i));
  return text + (count == 1 ? ",)" : ")");
}

// Views a foreign tensor's memory, which must be dense and row-major.
NDArray borrow(const HostInput& input) {
  Shape shape(input.ndim());
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = static_cast<int64_t>(input.shape(i));
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && input.stride(i) != stride && input.size() > 0)
      throw nb::value_error(
          ("the tensor of shape " + numbers_text(shape.size(), [&](size_t k) { return shape[k]; }) +
           " has strides " + numbers_text(shape.size(), [&](size_t k) { return input.stride(k); }) +
           " (in elements): only row-major tensors without gaps are shared; give nd.array a copy")
              .c_str());
    stride *= shape[i];
  }
  auto* owner = new HostInput(input);
  return NDArray::view(
      const_cast<void*>(static_cast<const void*>(input.data())), std::move(shape), dtype_of(input.dtype()),
      [](void* held) {
        if (!nb::is_alive()) return;
        const nb::gil_scoped_acquire gil;
        delete static_cast<HostInput*>(held);
      },
      owner);
}

// A Python view that keeps its array alive.
template <class... Framework>
nb::ndarray<Framework...> view_of(const NDArray& array) {
  auto* held = new NDArray(array);
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<NDArray*>(p); });
  std::vector<size_t> shape(array.shape().begin(), array.shape().end());
  return nb::ndarray<Framework...>(held->data(), shape.size(), shape.data(), owner, nullptr,
                                   dlpack_dtype(array.dtype()));
}

// numpy has no bfloat16: its bits are returned as uint16.
nb::ndarray<nb::numpy> numpy_copy(const NDArray& array) {
  NDArray copy = array.copy();
  if (copy.dtype().code == DType::Code::kBFloat)
    copy = NDArray::from_bytes(copy.shape(), DType::uint_(16), copy.data());
  return view_of<nb::numpy>(copy);
}

nb::ndarray<> dlpack_of(const NDArray& array, const nb::kwargs& options) {
  const nb::object copy = options.contains("copy") ? nb::object(options["copy"]) : nb::none();
  const nb::object device = options.contains("dl_device") ? nb::object(options["dl_device"]) : nb::none();
  if (!device.is_none() && !device.equal(nb::make_tuple(1, 0)))
    throw nb::buffer_error("the array is in host memory, (1, 0); it goes nowhere else");
  return view_of<>(copy.is(nb::bool_(true)) ? array.copy() : array);
}

/// Copies bytes between element types of equal size: numpy has no bfloat16.
void copy_bits(NDArray& target, const DenseInput& input) {
  const NDArray source = view_of_input(input);
  if (source.shape() != target.shape() || source.bytes() != target.bytes())
    throw nb::value_error("an array of the same shape with elements of the same size is expected");
  std::memmove(target.data(), source.data(), source.bytes());
}

void copy_from(NDArray& target, const DenseInput& input) {
  const NDArray source = view_of_input(input);
  if (source.shape() != target.shape() || source.dtype() != target.dtype()) {
    throw nb::value_error(("array is " + describe(source.shape(), source.dtype()) + ", expected " +
                           describe(target.shape(), target.dtype()))
                              .c_str());
  }
  std::memmove(target.data(), source.data(), source.bytes());
}

}  // namespace

NDArray view_of_input(const DenseInput& input) {
  Shape shape(input.ndim());
  for (size_t i = 0; i < shape.size(); ++i) shape[i] = static_cast<int64_t>(input.shape(i));
  return NDArray::view(const_cast<void*>(input.data()), std::move(shape), dtype_of(input.dtype()), nullptr,
                       nullptr);
}

void bind_ndarray(nb::module_& m) {
  nb::class_<NDArray>(m, "NDArray",
                      "A dense, row-major tensor in host memory. Copies of the handle share the data.")
      .def(nb::init<const NDArray&>(), nb::arg("array"), "Another handle of the same memory.")
      .def_static("from_dense", &copy_in, nb::arg("array"),
                  "A copy of a contiguous array of the host (numpy, DLPack).")
      .def_static("from_dlpack", &borrow, nb::arg("tensor"),
                  "The memory of a tensor of the host: a DLPack capsule, or what has __dlpack__. Raises "
                  "ValueError for "
                  "one that is not row-major.")
      .def_static(
          "empty",
          [](Shape shape, const std::string& dtype) {
            NDArray array = NDArray::empty(std::move(shape), dtype_from_text(dtype));
            if (!array) throw nb::value_error("no array of that shape can be made");
            return array;
          },
          nb::arg("shape"), nb::arg("dtype") = "float32", "An array with undefined contents.")
      .def_prop_ro(
          "shape", [](const NDArray& a) { return nb::tuple(nb::cast(a.shape())); }, "a tuple of ints")
      .def_prop_ro(
          "dtype", [](const NDArray& a) { return a.dtype().str(); }, "a str, e.g. \"float32\"")
      .def_prop_ro("ndim", &NDArray::ndim)
      .def_prop_ro("size", &NDArray::size, "elements")
      .def_prop_ro("nbytes", &NDArray::bytes)
      .def("numpy", &numpy_copy, "A copy as a numpy array; bfloat16 as the bits in uint16.")
      .def("asnumpy", &numpy_copy, "The older name of numpy().")
      .def("view", &view_of<nb::numpy>, "The data itself as a numpy array, no copy.")
      .def("to_dlpack", &view_of<>, "The data itself as a DLPack object, no copy.")
      .def("__dlpack__", &dlpack_of, "A DLPack capsule of the data itself; a copy when `copy` is True.")
      .def("__dlpack_device__", [](const NDArray&) { return nb::make_tuple(1, 0); })
      .def("_copy_from", &copy_from)
      .def("_copy_bits", &copy_bits)
      .def("same_as", &NDArray::same_as, nb::arg("other"), "Whether both mean the same memory.");

  m.def(
      "save_params",
      [](const nb::dict& params) {
        const std::string blob = write_params_blob(arrays_from_python(params));
        return nb::bytes(blob.data(), blob.size());
      },
      nb::arg("params"), "TVM's parameter file format.");
  m.def(
      "load_params",
      [](const nb::bytes& blob) {
        const auto params = read_params_blob({static_cast<const uint8_t*>(blob.data()), blob.size()});
        if (!params.ok()) throw Error(params.status().message);
        return arrays_to_python(*params);
      },
      nb::arg("blob"), "The inverse of save_params. Raises TVMError for a damaged file.");
}

}  // namespace baton::python

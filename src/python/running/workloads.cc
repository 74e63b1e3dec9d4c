#include <optional>

#include "baton/frontend/workloads/networks.h"

#include "python/bind.h"

namespace baton::python {

namespace {

workloads::ImageNetOptions options_of(int64_t batch, int64_t classes, std::vector<int64_t> image,
                                      std::string layout, const std::string& dtype) {
  return {batch, classes, std::move(image), std::move(layout), dtype_from_text(dtype)};
}

}  // namespace

void bind_workloads(nb::module_& m) {
  using Image = std::vector<int64_t>;
  m.def("resnet", [](int num_layers, int64_t batch, int64_t classes, Image image, std::string layout,
                     const std::string& dtype) {
    return workloads::resnet(num_layers,
                             options_of(batch, classes, std::move(image), std::move(layout), dtype));
  });
  m.def("vgg", [](int num_layers, bool batch_norm, int64_t batch, int64_t classes, Image image,
                  std::string layout, const std::string& dtype) {
    return workloads::vgg(num_layers, batch_norm,
                          options_of(batch, classes, std::move(image), std::move(layout), dtype));
  });
  m.def("mobilenet", [](int64_t batch, int64_t classes, Image image, std::string layout,
                        const std::string& dtype, double alpha, bool shallow) {
    return workloads::mobilenet(
        {options_of(batch, classes, std::move(image), std::move(layout), dtype), alpha, shallow});
  });
  m.def("lstm", [](int64_t iterations, int64_t num_hidden, int64_t batch, const std::string& dtype) {
    return workloads::lstm({iterations, num_hidden, batch, dtype_from_text(dtype)});
  });
  m.def("dqn", [](int64_t batch, int64_t actions, Image image, std::string layout, const std::string& dtype) {
    return workloads::dqn(options_of(batch, actions, std::move(image), std::move(layout), dtype));
  });
  m.def("squeezenet", [](const std::string& version, int64_t batch, int64_t classes, Image image,
                         const std::string& dtype) {
    return workloads::squeezenet(version, options_of(batch, classes, std::move(image), "NCHW", dtype));
  });
  m.def("densenet",
        [](int num_layers, int64_t batch, int64_t classes, Image image, const std::string& dtype) {
          return workloads::densenet(num_layers, options_of(batch, classes, std::move(image), "NCHW", dtype));
        });
  m.def("inception_v3", [](int64_t batch, int64_t classes, Image image, const std::string& dtype) {
    return workloads::inception_v3(options_of(batch, classes, std::move(image), "NCHW", dtype));
  });
  m.def("resnet_3d", [](int num_layers, int64_t batch, int64_t classes, Image image, std::string layout,
                        const std::string& dtype) {
    return workloads::resnet_3d(num_layers,
                                options_of(batch, classes, std::move(image), std::move(layout), dtype));
  });
  m.def(
      "dcgan",
      [](int64_t batch, int64_t noise, int64_t channels, int64_t filters, std::string layout,
         const std::string& dtype, const std::optional<Expr>& code) {
        return workloads::dcgan({batch, noise, channels, filters, std::move(layout), dtype_from_text(dtype),
                                 code.value_or(Expr())});
      },
      nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("synthetic", [](Image image, const std::string& dtype, const std::string& weight_dtype) {
    return workloads::synthetic({std::move(image), dtype_from_text(dtype), dtype_from_text(weight_dtype)});
  });
  m.def("mlp", [](int64_t batch, int64_t classes, Image image, const std::string& dtype) {
    return workloads::mlp(options_of(batch, classes, std::move(image), "NCHW", dtype));
  });
}

}  // namespace baton::python

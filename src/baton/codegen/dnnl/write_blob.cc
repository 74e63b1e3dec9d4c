#include <map>

#include "baton/codegen/dnnl/lower.h"
#include "baton/support/base/checksum.h"

namespace baton {

using namespace dnnl_blob;

std::string dnnl_blob_of(std::vector<DnnlRegion> regions, bool check_only) {
  Blob blob{check_only ? 1 : 0, {}};
  const auto rounded = [](size_t bytes) {
    return (bytes + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  };
  size_t data = 0;
  std::vector<NDArray> constants;
  std::map<Digest, int64_t> offsets;  // equal constants are stored once
  for (DnnlRegion& each : regions) {
    size_t next = 0;
    for (TensorInfo& tensor : each.region.tensors) {
      if (tensor.kind != TensorKind::kConstant || check_only) continue;
      const NDArray& constant = each.constants[next++];
      const auto bytes = static_cast<size_t>(constant.bytes());
      const auto [at, is_new] = offsets.emplace(digest128(constant.data(), bytes), data);
      tensor.data = at->second;
      if (!is_new) continue;
      data += rounded(bytes);
      constants.push_back(constant);
    }
    blob.regions.push_back(std::move(each.region));
  }
  Writer writer;
  transfer(writer, blob);
  std::string bytes(kHeaderBytes, '\0');
  bytes.reserve(rounded(kHeaderBytes + writer.bytes.size()) + data);
  bytes += writer.bytes;
  for (const NDArray& constant : constants) {
    bytes.resize(rounded(bytes.size()));
    bytes.append(static_cast<const char*>(constant.data()), static_cast<size_t>(constant.bytes()));
  }
  bytes.resize(rounded(bytes.size()));
  Writer header;
  header.bytes = std::string(kMagic, 8);
  header(kBlobVersion);
  header(static_cast<int64_t>(bytes.size()));
  header(static_cast<int64_t>(checksum(bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes)));
  bytes.replace(0, kHeaderBytes, header.bytes);
  return bytes;
}

}  // namespace baton

#include "baton/driver/origins/origins_json.h"

#include <zlib.h>

#include "baton/driver/origins/record_json.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

// The first byte of any zlib stream; JSON begins with a brace.
constexpr char kZlib = 0x78;

std::string deflated(const std::string& text) {
  std::string out(compressBound(text.size()), '\0');
  uLongf size = out.size();
  const int code = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                             reinterpret_cast<const Bytef*>(text.data()), text.size(), Z_BEST_COMPRESSION);
  BATON_CHECK(code == Z_OK && out[0] == kZlib, "zlib cannot compress the table of origins");
  out.resize(size);
  return out;
}

std::string inflated(std::string_view bytes) {
  z_stream stream{};
  BATON_CHECK(inflateInit(&stream) == Z_OK, "zlib cannot begin");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  int code = Z_OK;
  for (char block[1 << 15]; code == Z_OK;) {
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof block;
    code = inflate(&stream, Z_NO_FLUSH);
    text.append(block, sizeof block - stream.avail_out);
  }
  inflateEnd(&stream);
  if (code != Z_STREAM_END)
    throw Error("its origins.json is damaged: the stream of zlib breaks off or does not add up");
  return text;
}

OriginReport report_of(const Json& json) {
  const Json schema = json.at("schema");
  if (schema == 2) {
    OriginReport report = unpacked(json);
    add_fused_with(report);
    return report;
  }
  if (schema != 1)
    throw Error("its origins.json is of schema " + schema.dump() +
                ", and this Baton reads 1 and 2: it was built by another version; build it again");
  OriginReport report;
  for (const Json& row : json.at("operators"))
    report.operators.push_back(read_record(row, RecordForm::kOrigins));
  return report;
}

}  // namespace

std::string origins_json(const OriginReport& report) {
  Json rows = Json::array();
  for (const OperatorRecord& record : report.operators) rows.push_back(to_json(record, RecordForm::kOrigins));
  return Json{{"schema", 1}, {"operators", std::move(rows)}}.dump();
}

std::string packed_origins(const OriginReport& report) { return deflated(packed(report).dump()); }

OriginReport read_origins(std::string_view text) {
  if (text.empty())
    throw Error(
        "its origins were stripped: nothing says which operators its kernels compute; build it again with "
        "`baton build`");
  try {
    return report_of(Json::parse(text[0] == kZlib ? inflated(text) : std::string(text)));
  } catch (const JsonError& error) {
    throw Error(std::string("its origins.json cannot be read, so it was built by another version or changed; "
                            "build it again (") +
                error.what() + ")");
  }
}

}  // namespace baton

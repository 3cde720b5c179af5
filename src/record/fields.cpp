#include "record/fields.h"

#include <fmt/format.h>

namespace solstice::record_detail {
namespace {

Error at(const std::string& member, std::string message) {
  Error out = fail(Code::bad_record, std::move(message));
  out.member = member;
  return out;
}

}  // namespace

Error wrong_type(const std::string& path, const char* wanted, const Json& got) {
  return at(path, fmt::format("`{}` should be {}, not {}", path, wanted, got.dump().substr(0, 80)));
}

Error unknown_name(const std::string& path, const std::string& got, const std::vector<const char*>& names) {
  return at(path, fmt::format("`{}` is `{}`; legal are {}", path, got, fmt::join(names, ", ")));
}

Error missing(const std::string& path, const char* name) {
  return at(path, fmt::format("`{}.{}` is missing", path, name));
}

Error wrong_schema(const std::string& got, const std::string& wanted) {
  return at(".schema", fmt::format("schema is `{}`; this program reads `{}`", got, wanted));
}

}  // namespace solstice::record_detail

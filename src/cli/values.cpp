#include "cli/values.h"

#include <fmt/format.h>

#include <charconv>

namespace solstice::cli {
namespace {

Error bad_budget(const std::string& part) {
  return fail(Code::bad_argument,
              fmt::format("budget part `{}` is neither a time (60s, 2m) nor a number of trials (40trials)", part));
}

}  // namespace

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

Result<BudgetText> parse_budget(const std::string& text) {
  BudgetText budget;
  for (const std::string& part : split(text, ',')) {
    double value = 0;
    const char* end = part.data() + part.size();
    const auto [rest, error] = std::from_chars(part.data(), end, value);
    const std::string unit(rest, end);
    if (error != std::errc() || value <= 0) return bad_budget(part);
    if (unit == "s") {
      budget.time = Seconds(value);
    } else if (unit == "m" || unit == "min") {
      budget.time = Seconds(value * 60);
    } else if ((unit == "trials" || unit == "trial") && value == static_cast<int>(value)) {
      budget.trials = static_cast<int>(value);
    } else {
      return bad_budget(part);
    }
  }
  return budget;
}

Result<FileAndClass> parse_file_and_class(const std::string& text) {
  FileAndClass out{text, ""};
  std::error_code ignored;
  const size_t colon = text.rfind(':');
  if (!std::filesystem::exists(out.file, ignored) && colon != std::string::npos) {
    out = {text.substr(0, colon), text.substr(colon + 1)};
  }
  if (std::filesystem::is_regular_file(out.file, ignored)) return out;
  return fail(Code::not_found, fmt::format("no file {}", out.file.string()));
}

Result<int> parse_int(const std::string& what, const std::string& text, int low, int high) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && value >= low && value <= high) return value;
  return fail(Code::bad_argument, fmt::format("{} is `{}`; legal are whole numbers from {} to {}", what, text, low, high));
}

}  // namespace solstice::cli

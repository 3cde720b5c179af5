// Machine files: the writer, used by calibration.
#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "machine/keys.h"
#include "machine/quantity.h"

namespace solstice::machine {
namespace {

std::string text(const std::string& value) { return Json(value).dump(); }
std::string text(int value) { return std::to_string(value); }
std::string text(bool value) { return value ? "true" : "false"; }
std::string text(Bytes value) { return '"' + quantity_text(value.value, Dimension::kBytes) + '"'; }
std::string text(BytesPerSecond value) { return '"' + quantity_text(value.value, Dimension::kBytesPerSecond) + '"'; }
std::string text(FlopsPerSecond value) { return '"' + quantity_text(value.value, Dimension::kOpsPerSecond) + '"'; }
std::string text(Seconds value) { return '"' + quantity_text(value.value, Dimension::kSeconds) + '"'; }
std::string text(Hertz value) { return '"' + quantity_text(value.value, Dimension::kHertz) + '"'; }
std::string text(Watts value) { return '"' + quantity_text(value.value, Dimension::kWatts) + '"'; }
// "" where there is nothing to write.
template <typename Q>
std::string text(const std::optional<Q>& value) {
  return value ? text(*value) : "";
}

std::string pipes_text(const Machine& machine) {
  std::string out = "\n[pipes]\n";
  for (const auto& [pipe, rate] : machine.pipes) {
    out += fmt::format("{} = {{ per_sm_per_clock = {}, clock = {}", name_of(pipe), Json(rate.per_sm_per_clock).dump(),
                       text(rate.clock));
    if (rate.datasheet.value > 0) out += fmt::format(", datasheet = {}", text(rate.datasheet));
    out += " }\n";
  }
  return out;
}

std::string measured_text(const Measured& measured) {
  if (measured.empty()) return "";
  std::string out = "\n[measured]\n";
  for (const MeasuredKey& key : measured_keys()) {
    const std::string value = std::visit([&](auto member) { return text(measured.*member); }, key.member);
    if (!value.empty() && value != "\"\"") out += fmt::format("{} = {}\n", key.path, value);
  }
  for (const auto& [pipe, rate] : measured.pipes) out += fmt::format("{} = {}\n", name_of(pipe), text(rate));
  return out;
}

}  // namespace

std::string to_toml(const Machine& machine) {
  std::string out;
  std::string section;
  for (const Key& key : machine_keys()) {
    const size_t dot = key.path.find('.');
    const std::string_view in = dot == std::string_view::npos ? "" : key.path.substr(0, dot);
    if (in != section) out += fmt::format("\n[{}]\n", section = in);
    const std::string value = std::visit([&](auto member) { return text(machine.*member); }, key.member);
    out += fmt::format("{} = {}\n", dot == std::string_view::npos ? key.path : key.path.substr(dot + 1), value);
  }
  return out + pipes_text(machine) + measured_text(machine.measured);
}

Status write_measured(const Machine& machine, const Measured& measured, const std::filesystem::path& file) {
  if (measured.date.empty() || measured.versions.empty() || measured.command.empty()) {
    return fail(Code::bad_argument, "measured ceilings need their date, versions and command");
  }
  Machine merged = machine;
  for (const MeasuredKey& key : measured_keys()) {
    std::visit(
        [&](auto member) {
          if (!text(measured.*member).empty()) merged.measured.*member = measured.*member;
        },
        key.member);
  }
  for (const auto& [pipe, rate] : measured.pipes) merged.measured.pipes[pipe] = rate;
  if (file.has_parent_path()) SOLSTICE_CHECK(make_folder(file.parent_path()));
  return write_file(file, "# Written by `solstice calibrate`; the datasheet figures are those of the shipped file.\n" +
                              to_toml(merged));
}

}  // namespace solstice::machine

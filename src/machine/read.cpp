// Machine files: the strict reader.
#include <fmt/format.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "base/file.h"
#include "base/toml.h"
#include "machine/keys.h"
#include "machine/quantity.h"

namespace solstice::machine {
namespace {

namespace fs = std::filesystem;

Result<double> quantity(const TomlEntry& entry, Dimension dimension) {
  if (entry.value.is_string()) return parse_quantity(entry.value.as_string(), dimension);
  return fail(Code::bad_machine,
              fmt::format("`{}` is {}, not a quantity with its unit", entry.path, entry.value.dump()),
              how_to_write(dimension));
}

template <typename T>
struct DimensionOf;
template <>
struct DimensionOf<Bytes> {
  static constexpr Dimension value = Dimension::kBytes;
};
template <>
struct DimensionOf<BytesPerSecond> {
  static constexpr Dimension value = Dimension::kBytesPerSecond;
};
template <>
struct DimensionOf<FlopsPerSecond> {
  static constexpr Dimension value = Dimension::kOpsPerSecond;
};
template <>
struct DimensionOf<Seconds> {
  static constexpr Dimension value = Dimension::kSeconds;
};
template <>
struct DimensionOf<Hertz> {
  static constexpr Dimension value = Dimension::kHertz;
};
template <>
struct DimensionOf<Watts> {
  static constexpr Dimension value = Dimension::kWatts;
};

template <typename Q>
Status store(const TomlEntry& entry, Q& out) {
  SOLSTICE_TRY(const double value, quantity(entry, DimensionOf<Q>::value));
  out = Q(value);
  return success();
}
template <typename Q>
Status store(const TomlEntry& entry, std::optional<Q>& out) {
  return store(entry, out.emplace());
}
Status store(const TomlEntry& entry, std::string& out) {
  if (!entry.value.is_string()) return fail(Code::bad_machine, fmt::format("`{}` needs a text", entry.path));
  out = entry.value.as_string();
  return success();
}
Status store(const TomlEntry& entry, int& out) {
  const int64_t value = entry.value.as_int(-1);
  if (value < 0 || value > 1 << 30) {
    return fail(Code::bad_machine, fmt::format("`{}` needs a whole number, not negative", entry.path));
  }
  out = static_cast<int>(value);
  return success();
}
Status store(const TomlEntry& entry, std::optional<int>& out) {
  SOLSTICE_CHECK(store(entry, out.emplace()));
  if (*out > 0) return success();
  return fail(Code::bad_machine, fmt::format("`{}` needs a positive number", entry.path));
}
Status store(const TomlEntry& entry, bool& out) {
  if (!entry.value.is_bool()) return fail(Code::bad_machine, fmt::format("`{}` needs true or false", entry.path));
  out = entry.value.as_bool();
  return success();
}
Status store(const TomlEntry& entry, double& out) {
  out = entry.value.as_double(-1);
  if (!(out > 0)) return fail(Code::bad_machine, fmt::format("`{}` needs a positive number", entry.path));
  return success();
}

// Every key there is.
const std::vector<std::string>& known_paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> all;
    for (const Key& key : machine_keys()) all.emplace_back(key.path);
    for (const MeasuredKey& key : measured_keys()) all.push_back(fmt::format("measured.{}", key.path));
    for (Pipe pipe : all_pipes()) {
      all.push_back(fmt::format("measured.{}", name_of(pipe)));
      for (const char* member : {"per_sm_per_clock", "clock", "datasheet"}) {
        all.push_back(fmt::format("pipes.{}.{}", name_of(pipe), member));
      }
    }
    return all;
  }();
  return paths;
}

class Reader {
 public:
  Reader(std::vector<TomlEntry> entries, const fs::path& file) : entries_(std::move(entries)), file_(file) {}

  Status check_keys() const {
    for (const TomlEntry& entry : entries_) {
      if (std::count(known_paths().begin(), known_paths().end(), entry.path)) continue;
      const std::string near = closest(entry.path, known_paths());
      const std::string hint = near.empty() ? "" : fmt::format("did you mean `{}`?", near);
      return located(fail(Code::bad_machine, fmt::format("unknown key `{}`", entry.path), hint), entry.line);
    }
    return success();
  }

  bool has(const std::string& path) const { return find(path) != nullptr; }

  template <typename T>
  Status optional(const std::string& path, T& out) const {
    const TomlEntry* entry = find(path);
    return entry ? located(store(*entry, out), entry->line) : success();
  }

  template <typename T>
  Status required(const std::string& path, T& out) const {
    if (has(path)) return optional(path, out);
    return located(fail(Code::bad_machine, fmt::format("`{}` is missing", path)), 0);
  }

 private:
  const TomlEntry* find(const std::string& path) const {
    for (const TomlEntry& entry : entries_) {
      if (entry.path == path) return &entry;
    }
    return nullptr;
  }

  Status located(Status status, int line) const {
    if (!status.ok()) {
      if (status.error().hint.empty())
        status.error().hint = "machines/README.md has the keys, and machines/h200.toml all of them";
      status.error().file = file_.string();
      status.error().line = line;
    }
    return status;
  }

  std::vector<TomlEntry> entries_;
  fs::path file_;
};

Status read_pipe(const Reader& reader, Pipe pipe, Machine& machine) {
  const std::string path = fmt::format("pipes.{}.", name_of(pipe));
  if (!reader.has(path + "per_sm_per_clock") && !reader.has(path + "clock") && !reader.has(path + "datasheet")) {
    return success();
  }
  PipeRate& rate = machine.pipes[pipe];
  SOLSTICE_CHECK(reader.required(path + "per_sm_per_clock", rate.per_sm_per_clock));
  SOLSTICE_CHECK(reader.required(path + "clock", rate.clock));
  return reader.optional(path + "datasheet", rate.datasheet);
}

Status read_measured(const Reader& reader, Measured& measured) {
  for (const MeasuredKey& key : measured_keys()) {
    SOLSTICE_CHECK(
        std::visit([&](auto member) { return reader.optional(fmt::format("measured.{}", key.path), measured.*member); },
                   key.member));
  }
  for (Pipe pipe : all_pipes()) {
    const std::string path = fmt::format("measured.{}", name_of(pipe));
    if (reader.has(path)) SOLSTICE_CHECK(reader.required(path, measured.pipes[pipe]));
  }
  return success();
}

}  // namespace

Result<Machine> parse_machine(std::string_view toml, const fs::path& file) {
  SOLSTICE_TRY(std::vector<TomlEntry> entries, parse_toml(toml, file, Code::bad_machine));
  const Reader reader(std::move(entries), file);
  SOLSTICE_CHECK(reader.check_keys());
  Machine machine;
  machine.file = file;
  for (const Key& key : machine_keys()) {
    SOLSTICE_CHECK(
        std::visit([&](auto member) { return reader.required(std::string(key.path), machine.*member); }, key.member));
  }
  for (Pipe pipe : all_pipes()) SOLSTICE_CHECK(read_pipe(reader, pipe, machine));
  SOLSTICE_CHECK(read_measured(reader, machine.measured));
  for (const auto& [pipe, rate] : machine.measured.pipes) {
    if (!machine.has(pipe)) SOLSTICE_CHECK(machine.peak(pipe).context("reading " + file.string()));
  }
  return machine;
}

}  // namespace solstice::machine

#include "lang/embed.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "lang/parse.h"
#include "lang/print.h"

namespace solstice::lang {
namespace {

namespace fs = std::filesystem;

// The strings without a name among knobs: only `by cuda` takes one.
void add_named(const std::vector<Knob>& knobs, std::set<std::string>& out) {
  for (const Knob& knob : knobs) {
    if (knob.names.empty() && knob.value.kind == KnobValue::Kind::kString) out.insert(knob.value.text);
  }
}

void collect(const std::vector<Item>& items, std::set<std::string>& named, std::set<std::string>& held) {
  for (const Item& item : items) {
    if (const auto* def = std::get_if<Def>(&item.node)) collect(def->items, named, held);
    if (const auto* kernel = std::get_if<Kernel>(&item.node)) add_named(kernel->knobs, named);
    if (const auto* source = std::get_if<Source>(&item.node)) held.insert(source->name);
    if (const auto* call = std::get_if<Call>(&item.node)) {
      for (const Override& changed : call->overrides) add_named(changed.knobs, named);
    }
  }
}

// The file of that name below the folder; empty: there is none.
fs::path file_below(const fs::path& folder, const std::string& name) {
  const fs::path relative(name);
  const bool leaves = relative.is_absolute() || std::find(relative.begin(), relative.end(), "..") != relative.end();
  std::error_code missing;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, missing);
  const fs::path found = leaves || missing ? fs::path() : fs::canonical(root / relative, missing);
  if (leaves || missing || !fs::is_regular_file(found, missing)) return {};
  const auto [end, rest] = std::mismatch(root.begin(), root.end(), found.begin(), found.end());
  return end == root.end() ? found : fs::path();
}

Result<std::string> source_text(const fs::path& file) {
  const auto cannot = [&](const char* why) {
    return fail(Code::bad_argument, fmt::format("{} cannot be embedded in a program: {}", file.string(), why));
  };
  std::error_code unknown;
  if (fs::file_size(file, unknown) > kMostSourceBytes || unknown) return cannot("a source has at most 1 MiB");
  SOLSTICE_TRY(std::string text, read_file(file));
  if (text.find('\0') != std::string::npos) return cannot("it has a zero byte");
  if (!text.empty() && text.back() != '\n') text += '\n';
  const std::string lines = "\n" + text;
  if (lines.find("\n\"\"\"\n") != std::string::npos || lines.find("\n\"\"\"\r\n") != std::string::npos) {
    return cannot("a line is exactly `\"\"\"`, which would end it");
  }
  return text;
}

}  // namespace

Result<std::string> read_program(const fs::path& file) {
  SOLSTICE_TRY(std::string text, read_file(file));
  if (file.extension() == ".py")
    return fail(
        Code::bad_argument, fmt::format("{} is a Python file, not a program of equations", file.string()),
        fmt::format("`solstice import {0}` prints the program of its module, `solstice plan {0}` one with kernels",
                    file.string()));
  std::set<std::string> named, held;
  Diagnostics ignored;  // whoever takes the text reports them
  collect(parse(text, ignored).items, named, held);
  for (const std::string& name : named) {
    const fs::path beside = held.contains(name) ? fs::path() : file_below(file.parent_path(), name);
    if (beside.empty()) continue;
    SOLSTICE_TRY(std::string code, source_text(beside));
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += "\n" + print(Item(Source{name, std::move(code)}));
  }
  return text;
}

}  // namespace solstice::lang

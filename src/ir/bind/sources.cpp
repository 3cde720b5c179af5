// Device code that a program carries.
#include <fmt/format.h>

#include <algorithm>

#include "ir/bind/binder.h"

namespace solstice::ir {

bool is_source_name(std::string_view name) {
  static constexpr std::string_view kOthers = "_-+.";
  if (!name.ends_with(".cu")) return false;
  while (true) {
    const size_t end = std::min(name.find('/'), name.size());
    const std::string_view part = name.substr(0, end);
    const bool plain = std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             kOthers.find(c) != std::string_view::npos;
    });
    if (!plain || part.empty() || part == "." || part == "..") return false;
    if (end == name.size()) return true;
    name.remove_prefix(end + 1);
  }
}

const Source* Program::find_source(std::string_view source_name) const {
  const auto found =
      std::find_if(sources.begin(), sources.end(), [&](const Source& s) { return s.name == source_name; });
  return found == sources.end() ? nullptr : &*found;
}

void Binder::source(const lang::Source& s, Span span) {
  if (!is_source_name(s.name)) {
    error("E022", span, fmt::format("`{}` names no source", s.name),
          "letters, digits and `_-+.`, with `.cu` at its end, as a path below the program's folder: `\"k.cu\"`, "
          "`\"kernels/k.cu\"`");
  } else if (s.text.size() > lang::kMostSourceBytes) {
    error("E022", span, fmt::format("source `{}` has {} bytes", s.name, s.text.size()), "a source has at most 1 MiB");
  } else if (program_.find_source(s.name)) {
    error("E008", span, fmt::format("source `{}` is defined twice", s.name), "choose another name");
  } else {
    program_.sources.push_back({s.name, s.text, span});
  }
}

void Binder::check_sources() {
  for (const Source& s : program_.sources) {
    const bool used = std::any_of(program_.kernels.begin(), program_.kernels.end(), [&](const Kernel& kernel) {
      const KnobValue* const named = kernel.knobs.find("");
      return named && named->kind == KnobValue::Kind::kString && named->text == s.name;
    });
    if (!used)
      warning("W020", s.span, fmt::format("no kernel takes the source `{}`", s.name),
              "remove it, or name it: `by cuda(\"...\", ...)`");
  }
}

}  // namespace solstice::ir

#include "toolchain/ptxas.h"

#include <charconv>
#include <functional>

namespace solstice::toolchain {
namespace {

void each_line(std::string_view text, const std::function<void(std::string_view)>& visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    visit(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// Text after `mark` up to `end`; "" where `mark` is missing.
std::string_view between(std::string_view line, std::string_view mark, std::string_view end) {
  const size_t at = line.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + mark.size());
  return rest.substr(0, rest.find(end));
}

int64_t number(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The number that ends right before `unit`: 648 in "536 bytes stack frame, 648 bytes spill stores".
int64_t number_before(std::string_view line, std::string_view unit) {
  const size_t end = line.find(unit);
  if (end == std::string_view::npos) return 0;
  size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  return number(line.substr(begin, end - begin));
}

void add_usage(std::string_view line, KernelResources& kernel) {
  if (line.find(" bytes stack frame") != std::string_view::npos) {
    kernel.stack_bytes = number_before(line, " bytes stack frame");
    kernel.spill_stores = number_before(line, " bytes spill stores");
    kernel.spill_loads = number_before(line, " bytes spill loads");
  } else if (line.find(": Used ") != std::string_view::npos) {
    kernel.registers = number_before(line, " registers");
    kernel.barriers = number_before(line, " barriers");
    kernel.shared_bytes = number_before(line, " bytes smem");
  }
}

std::string after(std::string_view line, std::string_view mark) {
  return std::string(line.substr(line.find(mark) + mark.size()));
}

void add_message(std::string_view file, std::string_view line, const char* severity, std::string_view rest,
                 std::vector<CompilerMessage>& out) {
  const int64_t at = number(line);
  if (at > 0) out.push_back({std::string(file), static_cast<int>(at), severity, after(rest, ": ")});
}

}  // namespace

std::vector<KernelResources> parse_resources(std::string_view log) {
  std::vector<KernelResources> kernels;
  bool in_entry = false;  // functions that are no entries have properties too
  each_line(log, [&](std::string_view line) {
    if (const std::string_view entry = between(line, "Compiling entry function '", "'"); !entry.empty()) {
      kernels.push_back({.entry = std::string(entry)});
      in_entry = true;
    } else if (line.find("Function properties for ") != std::string_view::npos) {
      in_entry = !kernels.empty() && after(line, "Function properties for ") == kernels.back().entry;
    } else if (in_entry || (!kernels.empty() && line.find(": Used ") != std::string_view::npos)) {
      add_usage(line, kernels.back());
    }
  });
  return kernels;
}

std::vector<PtxasNote> parse_notes(std::string_view log) {
  std::vector<PtxasNote> notes;
  each_line(log, [&](std::string_view line) {
    if (line.rfind("ptxas", 0) != 0) return;
    const size_t code = line.find("(C");
    const bool warning = line.find("warning") != std::string_view::npos;
    if (code != std::string_view::npos && line.find(')', code) != std::string_view::npos) {
      const size_t end = line.find(')', code);
      const size_t text = std::min(line.size(), end + 2);
      notes.push_back({.code = std::string(line.substr(code + 1, end - code - 1)),
                       .kernel = std::string(between(line, "function '", "'")),
                       .text = std::string(line.substr(text))});
    } else if (warning) {
      notes.push_back({.code = "", .kernel = std::string(between(line, "function '", "'")), .text = after(line, ": ")});
    }
  });
  return notes;
}

std::vector<CompilerMessage> parse_messages(std::string_view log) {
  std::vector<CompilerMessage> messages;
  each_line(log, [&](std::string_view line) {
    for (const char* word : {"error", "catastrophic error", "warning"}) {
      const char* severity = word[0] == 'w' ? "warning" : "error";
      // The front end: `file(line): error: text`; nvcc's host preprocessor: `file:line:column: fatal error: text`.
      const size_t close = line.find(std::string("): ") + word);
      const size_t open = close == std::string_view::npos ? close : line.rfind('(', close);
      const size_t host = line.find(std::string("fatal ") + word);
      const size_t colon = line.find(':');
      if (open != std::string_view::npos) {
        add_message(line.substr(0, open), line.substr(open + 1), severity, line.substr(close + 3), messages);
      } else if (host != std::string_view::npos && colon < host) {
        add_message(line.substr(0, colon), line.substr(colon + 1), severity, line.substr(host), messages);
      }
    }
  });
  return messages;
}

}  // namespace solstice::toolchain

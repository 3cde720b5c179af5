// A command of the program as data: its parameters, defaults and help drive parsing, `--help` and the documentation.
// One file in commands/ defines one `extern const Command solstice_commands_<stem>`; that is all it takes to add one.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace solstice::cli {

// A positional argument ("PROGRAM") or an option ("--device").
struct Parameter {
  std::string name;
  std::string value;  // placeholder of an option's value, as help prints it ("60s,40trials"); "": a flag
  std::string help;
  std::string otherwise;             // value when it is not given; "" may stand for a computed one
  std::vector<std::string> choices;  // legal values; empty: any
  bool required = false;
  bool many = false;  // a positional that takes the rest

  bool is_option() const { return name.starts_with("--"); }
  bool is_flag() const { return is_option() && value.empty(); }
};

// A parsed command line. Values are the given ones or the parameters' defaults.
struct Invocation {
  std::vector<std::string> argv;  // as typed, program first
  std::map<std::string, std::vector<std::string>> values;
  std::set<std::string> left_out;  // parameters that nobody gave

  const std::string& get(std::string_view name) const;  // "" where nothing was given
  bool has(std::string_view name) const;
  bool flag(std::string_view name) const { return has(name); }
  std::vector<std::string> all(std::string_view name) const;
  bool json() const { return has("--json"); }
};

struct Command {
  std::string name;     // "optimize", "jit explain"
  std::string summary;  // one line
  std::string help;     // effects, files that are written, exit codes beyond the usual
  std::string example;
  std::vector<Parameter> parameters;
  Result<int> (*run)(const Invocation&) = nullptr;  // the exit code; errors are printed by the caller
  bool hidden = false;
  bool polls_interrupts = false;  // Ctrl-C and SIGTERM set a flag that it looks at; they end any other command at once
};

const std::vector<const Command*>& all_commands();  // generated table

// Parameter of commands on a program, which may state its own policy.
inline Parameter program_numerics() {
  return {"--numerics",
          "POLICY",
          "accuracy policy, which decides the legal matrix products [default: the program's, else reference]",
          "",
          {"reference", "high", "medium"},
          false,
          false};
}
inline Parameter why_flag() {
  return {"--why", "",   "print all reasons of a refusal: every kernel family's, PyTorch's own words", "", {},
          false,   false};
}
inline Parameter json_flag() { return {"--json", "", "print one JSON value instead of text", "", {}, false, false}; }

}  // namespace solstice::cli

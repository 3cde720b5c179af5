#include "cli/command_options.h"

#include <algorithm>

#include "cli/parse.h"

namespace solstice::cli {
namespace {

constexpr const char* kElsewhere[] = {"--policy", "--seed", "--out", "--store", "--resume", "--json", "--oracle-fd"};

bool is_told_elsewhere(const std::string& option) {
  return std::find(std::begin(kElsewhere), std::end(kElsewhere), option) != std::end(kElsewhere);
}

}  // namespace

std::map<std::string, std::string> options_of(const std::vector<std::string>& command) {
  const std::vector<std::string> words(command.begin() + (command.empty() ? 0 : 1), command.end());
  const Result<const Command*> known = find_command(words);
  std::map<std::string, std::string> out;
  for (size_t i = 0; known.ok() && i < words.size(); ++i) {
    if (!words[i].starts_with("--")) continue;
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const auto& parameters = (*known)->parameters;
    const auto parameter =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
    const bool takes_next =
        equals == std::string::npos && parameter != parameters.end() && !parameter->is_flag() && i + 1 < words.size();
    const std::string value = takes_next                    ? words[++i]
                              : equals == std::string::npos ? "given"
                                                            : words[i].substr(equals + 1);
    if (!is_told_elsewhere(name)) out[name] += (out[name].empty() ? "" : ", ") + value;
  }
  return out;
}

}  // namespace solstice::cli

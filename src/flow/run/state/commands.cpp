#include "flow/run/state/commands.h"

#include <fmt/format.h>

#include <vector>

#include "flow/run/report/report_text.h"

namespace solstice::flow {
namespace {

std::string with_store(std::vector<std::string> command, const std::filesystem::path& store) {
  if (!store.empty()) command.insert(command.end(), {"--store", store.string()});
  return shell_text(command);
}

// The class, numerics and weights that the record of a Solstice that kept no options lacks, as its command has them.
std::vector<std::string> arguments_of(const RunRecord& run) {
  std::vector<std::string> out;
  for (size_t i = 0; run.options.is_null() && i < run.command.size(); ++i) {
    const std::string& word = run.command[i];
    const size_t colon = word.rfind(".py:");
    if (colon != word.npos && !run.file.empty()) out.push_back(run.file + word.substr(colon + 3));
    if (word.starts_with("--numerics=") || word.starts_with("--weights=")) out.push_back(word);
    if (word != "--numerics" && word != "--weights") continue;
    if (i + 1 < run.command.size()) out.insert(out.end(), {word, run.command[i + 1]});
  }
  return out;
}

}  // namespace

std::string python_call(const std::string& run, const std::filesystem::path& store) {
  const std::string named = store.empty() ? "" : fmt::format(", store=\"{}\"", store.string());
  return fmt::format("solstice.optimize(module, args, resume=\"{}\"{})", run, named);
}

std::string command_to_resume(const OptimizeOptions& options, const RunRecord& run) {
  if (options.module.oracle_fd || run.file.empty()) return python_call(run.id, options.store);
  std::vector<std::string> command = {"solstice", "optimize", "--resume", run.id};
  if (options.place.detached) command = {"solstice", "propose", run.id};
  const std::vector<std::string> more = arguments_of(run);
  command.insert(command.end(), more.begin(), more.end());
  return with_store(std::move(command), options.store);
}

std::string command_to_propose(const std::string& run, const std::filesystem::path& store) {
  return with_store({"solstice", "propose", run}, store);
}

std::string command_to_optimize(const std::string& run, const std::filesystem::path& store) {
  return with_store({"solstice", "optimize", "--resume", run}, store);
}

std::string waiting_for(const std::string& run, int in_flight, const std::filesystem::path& store) {
  if (in_flight > 0) return in_flight == 1 ? "1 result is out" : fmt::format("{} results are out", in_flight);
  return fmt::format(
      "all results are in: `{}` writes the next batch, `{}` where the GPU is verifies the best and ends the run",
      command_to_propose(run, store), command_to_optimize(run, store));
}

}  // namespace solstice::flow

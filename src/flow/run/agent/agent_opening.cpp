// Opens a language model's part before its run begins: provider, model, prompts and transcript.
#include <fmt/format.h>

#include <algorithm>

#include "flow/run/agent/agent_side.h"

namespace solstice::flow {

Result<std::unique_ptr<AgentSide>> AgentSide::open(const AgentChoice& choice, llm::News news) {
  std::unique_ptr<AgentSide> out(new AgentSide(choice));
  SOLSTICE_TRY(out->controller_, agents::find_controller(choice.controller));
  SOLSTICE_TRY(out->prompts_, agents::Prompts::load());
  llm::ClientOptions options;
  options.network = choice.network;
  options.budget = {choice.terms.tokens, choice.terms.cost};
  options.news = std::move(news);
  SOLSTICE_CHECK(out->open_client(options));
  if (!choice.transcript.empty()) SOLSTICE_CHECK(out->record_in(choice.transcript));
  return out;
}

Status AgentSide::open_client(const llm::ClientOptions& options) {
  llm::Model model;
  if (!choice_.model.empty()) {
    SOLSTICE_TRY(model, llm::load_model(choice_.model));
  }
  SOLSTICE_CHECK(check_lengths(model));
  if (choice_.terms.cost && choice_.replay.empty() && !(model.price.input && model.price.output)) {
    return fail(Code::bad_argument,
                "--max-cost needs the model's prices, which are not known (models/README.md says how to add them)");
  }
  if (choice_.replay.empty()) {
    SOLSTICE_TRY(client_, llm::Client::open(choice_.provider, choice_.options, std::move(model), options));
    return success();
  }
  std::map<std::string, std::string> replay = choice_.options;  // a provider is not opened, so they are the replay's
  replay["transcript"] = choice_.replay.string();
  SOLSTICE_TRY(client_, llm::Client::open("replay", replay, std::move(model), options));
  return success();
}

Status AgentSide::check_lengths(const llm::Model& model) {
  const int64_t most_output = *choice_.terms.most_output;
  if (model.max_output && most_output > *model.max_output) {
    return fail(Code::bad_argument,
                fmt::format("--most-output is {}; {} takes at most {}", most_output, model.name, *model.max_output));
  }
  if (model.context && *model.context <= 2 * most_output) {
    return fail(Code::bad_argument,
                fmt::format("--most-output is {}; in a context of {} tokens {} has no room left for the prompt",
                            most_output, *model.context, model.name));
  }
  if (!model.context) return success();
  most_repaired_ = *model.context - most_output;
  most_prompt_ = std::min(most_prompt_, *most_repaired_ - most_output);  // room for a repair of the longest answer
  return success();
}

Status AgentSide::record_in(const std::filesystem::path& file) {
  std::error_code missing;  // then they are two
  if (!choice_.replay.empty() && std::filesystem::equivalent(choice_.replay, file, missing)) {
    return fail(Code::bad_argument,
                fmt::format("{} is both replayed and written: give another --transcript", choice_.replay.string()));
  }
  SOLSTICE_TRY(transcript_, llm::Transcript::open(file));
  transcript_file_ = file;
  client_->record_in(*transcript_);
  return success();
}

Status AgentSide::keep_transcript(const std::filesystem::path& usual, int64_t accounted) {
  if (transcript_) return success();
  std::error_code none;
  if (std::filesystem::exists(usual, none)) {
    SOLSTICE_TRY(const std::vector<llm::Exchange> made, llm::load_transcript(usual));
    for (size_t i = static_cast<size_t>(accounted); i < made.size(); ++i) client_->recall(made[i]);
  }
  return record_in(usual);
}

}  // namespace solstice::flow

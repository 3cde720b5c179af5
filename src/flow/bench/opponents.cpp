#include "flow/bench/opponents.h"

#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "flow/run/state/engine_parts.h"

namespace solstice::flow {
namespace {

constexpr Seconds kFlawsBudget{10};

// Its processes are gone, or answer an earlier question.
bool is_lost(const Error& error) {
  return error.code == Code::deadline || error.code == Code::interrupted || error.code == Code::process_failed;
}

void drop_oracle(EngineParts& parts) {
  parts.prepared.reset();
  if (parts.judge) parts.judge->imports().close_all_of(&parts);
  parts.oracle.reset();
}

Status start(EngineParts& parts, const OpponentsRequest& request) {
  if (!parts.oracle) {
    run::OracleOptions options;
    options.warm = true;
    SOLSTICE_TRY(run::OracleClient client, run::OracleClient::start(options));
    parts.oracle.emplace(std::move(client));
    SOLSTICE_TRY(parts.hello, parts.oracle->hello());
  }
  if (!parts.hello.device.is_cuda()) return fail(Code::no_gpu, "nothing is timed on a machine without a GPU");
  return parts.oracle->start_rivals(request.file.string(), request.class_name, "");
}

// The opponents get all the memory there is: of the candidates' cases nothing is needed any more. Where no module is
// loaded there is nothing to free.
void free_memory(EngineParts& parts) {
  parts.prepared.reset();
  if (parts.judge) parts.judge->imports().close_all_of(&parts);
  (void)parts.oracle->release(true);
}

Result<OpponentsFound> ask(EngineParts& parts, const OpponentsRequest& request, Progress& progress) {
  if (!parts.oracle || parts.opponents_of != request.file) SOLSTICE_CHECK(start(parts, request));
  parts.opponents_of.clear();
  free_memory(parts);
  run::OracleClient& oracle = *parts.oracle;
  oracle.stop_when([] { return interrupted(); });
  progress.stage_started("opponents", "eager, TF32, torch.compile");
  const Seconds began = monotonic_now();
  SOLSTICE_TRY(OracleRivals rivals, oracle.rivals({6, 3, 4, request.dropins, request.deadline, true}));
  OpponentsFound out;
  out.rivals = std::move(rivals.rivals);
  Result<OracleFlaws> flaws = oracle.flaws(kFlawsBudget);
  if (flaws.ok()) {
    out.flaws = std::move(flaws).value();
  } else if (is_lost(flaws.error())) {
    return std::move(flaws).error();
  } else {
    out.flaws_note = flaws.error().message;
  }
  oracle.stop_when(nullptr);
  progress.stage_finished("opponents", "", monotonic_now() - began);
  return out;
}

}  // namespace

void start_opponents(Engine& engine, const std::filesystem::path& file, const std::string& class_name) {
  EngineParts& parts = engine.parts();
  parts.opponents_of.clear();
  if (!parts.oracle || !parts.hello.device.is_cuda()) return;
  if (parts.oracle->start_rivals(file.string(), class_name, "").ok())
    parts.opponents_of = file;  // else compete() says what is wrong
}

Result<OpponentsFound> compete(Engine& engine, const OpponentsRequest& request, Progress& progress) {
  EngineParts& parts = engine.parts();
  Result<OpponentsFound> found = ask(parts, request, progress);
  if (found.ok()) return found;
  if (is_lost(found.error())) {
    drop_oracle(parts);
  } else if (parts.oracle) {
    parts.oracle->stop_when(nullptr);
  }
  return found;
}

}  // namespace solstice::flow

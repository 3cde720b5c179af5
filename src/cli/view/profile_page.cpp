#include "cli/view/profile_page.h"

#include "cli/view/finding_text.h"
#include "cli/view/page.h"
#include "machine/machine.h"

namespace solstice::cli {

namespace assets {
extern const PageAssets profile_page;
}  // namespace assets

namespace {

Json json_of(const machine::Ceiling& ceiling) {
  return Json::object().set("rate", ceiling.per_second).set("measured", ceiling.measured);
}

// Bytes and operations a second, by resource as in the needs of kernels.
Result<Json> ceilings_of(const machine::Machine& machine) {
  Json out = Json::object();
  out.set("dram", json_of(machine.copy_ceiling())).set("l2", json_of(machine.l2_ceiling()));
  for (const auto& [pipe, ignored] : machine.pipes) {
    SOLSTICE_TRY(const machine::Ceiling ceiling, machine.ceiling(pipe));
    out.set(machine::name_of(pipe), json_of(ceiling));
  }
  return out;
}

// "mlp", of the line that names it.
std::string name_of_program(const std::string& text) {
  const std::string_view head = "program ";
  const size_t begin = text.find(head);
  if (begin == std::string::npos) return "program";
  const size_t name = begin + head.size();
  return text.substr(name, text.find_first_of(" \n", name) - name);
}

}  // namespace

Result<std::string> page_of(const flow::Profile& profile) {
  SOLSTICE_TRY(const machine::Machine machine, machine::load_machine(profile.facts.machine));
  SOLSTICE_TRY(Json ceilings, ceilings_of(machine));
  const std::string title = profile.subject.empty() ? name_of_program(profile.facts.program) : profile.subject;
  Json data = profile_json(profile);
  data.set("title", title)
      .set("machine", Json::object().set("title", machine.title).set("ceilings", std::move(ceilings)));
  return filled_page(assets::profile_page, title + ", profile", data);
}

}  // namespace solstice::cli

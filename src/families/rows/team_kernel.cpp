#include "families/rows/team_kernel.h"

#include <fmt/format.h>

#include "base/integer.h"
#include "families/emission.h"
#include "families/rows/team_walk.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kOffer = 16;  // bytes
constexpr int64_t kTurns = 2;   // of kernels/rows/team.h

int64_t offers_of_a_row(const Team& team, const TeamText& text) { return static_cast<int64_t>(text.offers) * team.blocks * team.blocks; }

void add_offers(const ir::Kernel& kernel, const Team& team, const TeamText& text, Emission& out) {
  PlanBuffer buffer;
  buffer.name = part_name(kernel, "offers");
  buffer.dtype = DType::kU8;
  buffer.bytes = team.teams * team.groups * kTurns * offers_of_a_row(team, text) * kOffer;
  buffer.shape = {buffer.bytes};
  buffer.strides = {1};
  out.steps.front().arguments.push_back(pointer_to(buffer.name));
  Step clear;
  clear.name = part_name(kernel, "clear");
  clear.kind = StepKind::kMemset;
  clear.phase = out.steps.front().phase;
  clear.buffer = buffer.name;
  clear.bytes = buffer.bytes;
  out.steps.insert(out.steps.begin(), std::move(clear));
  out.workspace.push_back(std::move(buffer));
}

}  // namespace

std::string group_barrier(const Team& team) { return fmt::format("rows::sync_group<{}>(group);\n", team.threads); }

Result<Emission> team_kernel(Draft& draft, const ir::Kernel& kernel, const Team& team, const TeamText& text) {
  const std::vector<int>& reads = draft.emitter.tensors_read();
  const std::vector<int> writes = tensors_written(draft.shape.flat);
  std::vector<std::string> parameters = pointer_parameters(draft.emitter, reads, writes);
  parameters.push_back("solstice::rows::Offer* all_offers");
  const int64_t ring = round_up(team.slots * (team.slot_bytes + 16), int64_t{128});
  const std::string code = fmt::format(
      "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"reduce/ring.h\"\n#include \"rows/team.h\"\n\n"
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({all_threads}, 1) {entry}({parameters}) {{\nusing namespace solstice;\nusing namespace solstice::math;\n"
      "unsigned char* const shared = shared_bytes();\nunsigned char* const aside = shared + {ring};\n"
      "const int rank = static_cast<int>(blockIdx.x % {blocks}u), team = static_cast<int>(blockIdx.x / {blocks}u);\n"
      "const int first = rank * {least} + smaller(rank, {rest}), last = first + {least} + (rank < {rest} ? 1 : 0);\n"
      "reduce::Ring<{slots}, {slot}, {readers}> ring(shared);\nrows::sync_block();\n"
      "if (threadIdx.x >= {reading}) {{\nrows::give_registers<{few}>();\nif (threadIdx.x >= {reading} + 32) return;\n{copying}return;\n}}\n"
      "rows::take_registers<{many}>();\n"
      "const int group = static_cast<int>(threadIdx.x) / {threads}, place = static_cast<int>(threadIdx.x) % {threads};\n"
      "[[maybe_unused]] const int position = rank * {threads} + place;\n"
      "[[maybe_unused]] const int count = (last - first) * {vector};\n"
      "[[maybe_unused]] const int their_count = place < {blocks} ? ({least} + (place < {rest} ? 1 : 0)) * {vector} : 0;\n"
      "[[maybe_unused]] const double share = count > 0 ? {columns}.0 / count : 0.0, their_share = their_count > 0 ? {columns}.0 / their_count : 0.0;\n"
      "{once}for (int filling = group;; filling += {groups}) {{\nconst {type} row = team + static_cast<{type}>(filling) * {teams};\n"
      "if (row >= {rows}) break;\nconst u32 round = static_cast<u32>(filling / {groups}) + 1;\n"
      "rows::Offer* const offers = all_offers + (team * {groups} + group) * {offers};\nconst int turn = filling / {groups} % rows::kTurns;\n{row}{sync}}}\n}}\n",
      fmt::arg("all_threads", team.block_threads()), fmt::arg("entry", codegen::entry_name(kernel.name)),
      fmt::arg("parameters", fmt::to_string(fmt::join(parameters, ", "))), fmt::arg("ring", ring), fmt::arg("blocks", team.blocks),
      fmt::arg("least", team.vectors / team.blocks), fmt::arg("rest", team.vectors % team.blocks), fmt::arg("slots", team.slots),
      fmt::arg("slot", team.slot_bytes), fmt::arg("readers", team.threads / 32), fmt::arg("reading", team.groups * team.threads),
      fmt::arg("few", Team::kCopyRegisters), fmt::arg("copying", text.copying), fmt::arg("many", team.registers()),
      fmt::arg("threads", team.threads), fmt::arg("vector", team.vector), fmt::arg("columns", draft.shape.column_count),
      fmt::arg("once", draft.emitter.take(0)), fmt::arg("groups", team.groups), fmt::arg("type", row_type(draft.shape)),
      fmt::arg("teams", team.teams), fmt::arg("rows", draft.shape.row_count), fmt::arg("offers", kTurns * offers_of_a_row(team, text)),
      fmt::arg("row", text.row), fmt::arg("sync", group_barrier(team)));
  std::vector<int> tensors = reads;
  tensors.insert(tensors.end(), writes.begin(), writes.end());
  SOLSTICE_TRY(Emission out, one_launch(draft.program, kernel, codegen::entry_name(kernel.name), code, tensors,
                                        {team.grid(), team.block_threads(), 1, ring + text.aside}));
  out.steps.front().cooperative = true;
  add_offers(kernel, team, text, out);
  return out;
}

}  // namespace solstice::families::rows

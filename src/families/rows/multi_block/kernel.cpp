#include "families/rows/multi_block/kernel.h"

#include <fmt/format.h>

#include "base/integer.h"
#include "families/emission.h"
#include "families/rows/multi_block/walk.h"

namespace solstice::families::rows {
namespace {

constexpr int64_t kOffer = 16;  // bytes
constexpr int64_t kTurns = 2;   // of kernels/reduction/multi_block.h

int64_t offers_of_a_row(const MultiBlock& team) { return int64_t{team.results} * team.blocks * team.blocks; }

void add_offers(const ir::Kernel& kernel, const MultiBlock& team, Emission& out) {
  PlanBuffer buffer;
  buffer.name = part_name(kernel, "offers");
  buffer.dtype = DType::kU8;
  buffer.bytes = team.teams * kTurns * offers_of_a_row(team) * kOffer;
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

// Elements of the row before its piece number `piece`.
std::string before_text(const Draft& draft, const MultiBlock& team) {
  const std::string within = fmt::format("smaller(piece % {} * {}, {})", team.pieces, team.piece, team.run);
  const std::string elements = team.shifted ? fmt::format("larger(0, smaller({} * {} - shift_of(row, piece / {}), {}))",
                                                          within, team.vector, team.pieces, team.extent)
                                            : fmt::format("{} * {}", within, team.vector);
  return fmt::format(
      "[[maybe_unused]] const auto elements_before = [=]([[maybe_unused]] {} row, int piece) {{ return piece / {} * {} "
      "+ {}; }};\n",
      row_type(draft.shape), team.pieces, team.extent, elements);
}

// The piece that arrives is `ahead` of the one that leaves.
std::string computing_text(const Draft& draft, const MultiBlock& team, const MultiBlockText& text) {
  const std::string groups = team.groups == 1 ? "constexpr int group = 0, first_out = 0;\n"
                                              : fmt::format(
                                                    "const int group = static_cast<int>(threadIdx.x) / {2};\n"
                                                    "const int first_out = (group + lag * {1}) % {0};\n",
                                                    team.groups, team.groups - 1, team.group_threads());
  return fmt::format(
      "{state}const int all = rounds * chunks, lag = chunks + {lag};\n"
      "{groups}auto behind = ring;\nring.advance(group);\nbehind.advance(first_out);\n"
      "int chunk_in = group, round_in = 0, chunk_out = first_out, round_out = 0;\n"
      "for (int step = group; step < all + lag; step += {count}) {{\n{ahead}"
      "if (step < all) {{\nconst int chunk = chunk_in, turn = round_in % {kept};\n"
      "const {type} row = team + static_cast<{type}>(round_in) * {teams};\n(void)row, "
      "(void)turn;\nring.wait_full();\n{arriving}"
      "ring.advance({count});\nif ((chunk_in += {count}) >= chunks) chunk_in -= chunks, ++round_in;\n}}\n"
      "if (step >= lag) {{\nconst int chunk = chunk_out, turn = round_out % {kept};\n"
      "const {type} row = team + static_cast<{type}>(round_out) * {teams};\n(void)row;\n"
      "if (chunk < {count}) known(turn).wait(round_out / {kept});\n{leaving}"
      "{left}if ((chunk_out += {count}) >= chunks) chunk_out -= chunks, ++round_out;\n}}\n}}\n",
      fmt::arg("kept", MultiBlock::kRounds), fmt::arg("state", text.state), fmt::arg("lag", team.lag),
      fmt::arg("type", row_type(draft.shape)), fmt::arg("teams", team.teams), fmt::arg("ahead", text.ahead),
      fmt::arg("arriving", text.arriving), fmt::arg("leaving", text.leaving), fmt::arg("groups", groups),
      fmt::arg("count", team.groups),
      fmt::arg("left", team.holds ? fmt::format("behind.advance({});\n", team.groups) : ""));
}

std::string exchanging_text(const Draft& draft, const MultiBlock& team, const MultiBlockText& text, int64_t offers) {
  return fmt::format(
      "reduction::Offer* const offers = all_offers + team * {offers};\n"
      "for (int round = 0; round < rounds; ++round) {{\nconst int turn = round % {kept};\nconst u32 number = "
      "static_cast<u32>(round) + 1;\n"
      "const {type} row = team + static_cast<{type}>(round) * {teams};\n(void)row;\nfound(turn).wait(round / "
      "{kept});\n{text}}}\n",
      fmt::arg("kept", MultiBlock::kRounds), fmt::arg("offers", offers), fmt::arg("type", row_type(draft.shape)),
      fmt::arg("teams", team.teams), fmt::arg("text", text.exchanging));
}

}  // namespace

Result<Emission> multi_block_kernel(Draft& draft, const ir::Kernel& kernel, const MultiBlock& team,
                                    const MultiBlockText& text) {
  const std::vector<int>& reads = draft.emitter.tensors_read();
  const std::vector<int> writes = tensors_written(draft.shape.flat);
  std::vector<std::string> parameters = pointer_parameters(draft.emitter, reads, writes);
  parameters.push_back("solstice::reduction::Offer* all_offers");
  const int64_t ring = round_up(team.slots * (team.slot_bytes + 16), int64_t{128});
  const int64_t shared = ring + round_up(team.aside(), int64_t{16}) + team.held_bytes;
  const std::string code = fmt::format(
      "#include \"math/special.h\"\n#include \"math/vector.h\"\n#include \"pipeline/bulk_ring.h\"\n#include "
      "\"reduction/multi_block.h\"\n{window}\n"
      "SOLSTICE_KERNEL void SOLSTICE_BOUNDS({all_threads}, 1) {entry}({parameters}) {{\nusing namespace "
      "solstice;\nusing namespace solstice::math;\n"
      "unsigned char* const shared = shared_bytes();\nunsigned long long* const signals = reinterpret_cast<unsigned "
      "long long*>(shared + {ring});\n"
      "// Of {kept} rows in turn: each warp's accumulators are there, the row's results are there.\n"
      "const auto found = [=](int turn) {{ return reduction::Signal{{signals + 2 * turn}}; }};\n"
      "const auto known = [=](int turn) {{ return reduction::Signal{{signals + 2 * {kept} + 2 * turn}}; }};\n"
      "[[maybe_unused]] const reduction::Signal weights{{signals + 4 * {kept}}};  // are held\n"
      "unsigned long long* const accumulators = signals + 4 * {kept} + 2;\nunsigned long long* const results = "
      "accumulators + "
      "{accumulators};\n"
      "const int rank = static_cast<int>(blockIdx.x % {blocks}u), team = static_cast<int>(blockIdx.x / {blocks}u);\n"
      "const int first = rank * {least} + smaller(rank, {rest}), chunks = {least} + (rank < {rest} ? 1 : 0);\n"
      "const int rounds = static_cast<int>(({rows} - team + {teams} - 1) / {teams});\n"
      "const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;\n"
      "[[maybe_unused]] const int place = static_cast<int>(threadIdx.x) % {group_threads};\n"
      "pipeline::BulkRing<{slots}, {slot}, {group_warps}> ring(shared);\n"
      "if (threadIdx.x == 0) {{\nfor (int i = 0; i < {kept}; ++i) found(i).open({warps}), "
      "known(i).open(32);\nweights.open({all_computing});\n}}\nreduction::sync_block();\n"
      "{once}{before}if (warp == {warps}) {{\n{copying}return;\n}}\nif (warp > {warps}) "
      "{{\n{exchanging}return;\n}}\n{computing}}}\n",
      fmt::arg("window", team.shifted ? "#include \"rows/window.h\"\n" : ""), fmt::arg("kept", MultiBlock::kRounds),
      fmt::arg("all_threads", team.block_threads()), fmt::arg("entry", codegen::entry_name(kernel.name)),
      fmt::arg("parameters", fmt::to_string(fmt::join(parameters, ", "))), fmt::arg("ring", ring),
      fmt::arg("all_computing", team.threads), fmt::arg("accumulators", team.result_slots() * team.warps()),
      fmt::arg("blocks", team.blocks), fmt::arg("least", team.row_pieces() / team.blocks),
      fmt::arg("rest", team.row_pieces() % team.blocks), fmt::arg("rows", draft.shape.row_count),
      fmt::arg("teams", team.teams), fmt::arg("slots", team.slots), fmt::arg("slot", team.slot_bytes),
      fmt::arg("group_threads", team.group_threads()), fmt::arg("group_warps", team.group_threads() / 32),
      fmt::arg("warps", team.warps()), fmt::arg("before", text.shift + before_text(draft, team)),
      fmt::arg("once", draft.emitter.take(0)), fmt::arg("copying", text.copying),
      fmt::arg("exchanging", exchanging_text(draft, team, text, kTurns * offers_of_a_row(team))),
      fmt::arg("computing", computing_text(draft, team, text)));
  std::vector<int> tensors = reads;
  tensors.insert(tensors.end(), writes.begin(), writes.end());
  SOLSTICE_TRY(Emission out, one_launch(draft.program, kernel, codegen::entry_name(kernel.name), code, tensors,
                                        {team.grid(), team.block_threads(), 1, shared}));
  out.steps.front().cooperative = true;
  add_offers(kernel, team, out);
  return out;
}

}  // namespace solstice::families::rows

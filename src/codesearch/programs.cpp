#include "codesearch/programs.h"

#include <fmt/format.h>

#include <cctype>
#include <system_error>

#include "base/hash.h"
#include "store/store.h"

namespace solstice::codesearch {
namespace {

constexpr int kEach = 3;  // programs of a problem on a GPU: the best, and what else came close

// A problem's name as a folder: "1/2" is 1-2.
std::string folder_name(const std::string& problem) {
  std::string out;
  for (const char c : problem) out += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ? c : '-';
  return out.empty() || out.starts_with('.') ? "problem" + out : out;
}

std::string about(const store::FastProgram& program) {
  std::string out =
      fmt::format("verified: {} on {}, {:.4g} us", program.problem, program.device, program.measured.value * 1e6);
  if (program.original.value > 0) out += fmt::format(", {:.2f}x", program.original.value / program.measured.value);
  return out;
}

SourceFile file_of(const store::FastProgram& program) {
  SourceFile out;
  out.path = fmt::format("{}{}/{}-{}.ucut", kProgramPrefix, folder_name(program.problem), program.run, program.trial);
  out.text = program.program;
  out.about = about(program);
  out.size = static_cast<int64_t>(program.program.size());
  out.time = std::stoll(hash_hex(out.text + out.about).substr(0, 15), nullptr, 16);
  return out;
}

}  // namespace

Result<Programs> verified_programs(const std::filesystem::path& folder, const std::string& known) {
  Programs out;
  std::error_code ignored;
  if (folder.empty() || !std::filesystem::exists(folder / "runs.db", ignored)) return out;
  SOLSTICE_TRY(store::Store store, store::Store::open(folder));
  SOLSTICE_TRY(out.mark, store.finished_mark());
  if (out.mark == known) return out;
  SOLSTICE_TRY(const std::vector<store::FastProgram> programs, store.fastest_programs(kEach));
  for (const store::FastProgram& program : programs) out.files.push_back(file_of(program));
  return out;
}

}  // namespace solstice::codesearch

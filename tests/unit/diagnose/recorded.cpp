#include "unit/diagnose/recorded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/process/subprocess.h"

namespace solstice::diagnose::testing {
namespace {

namespace fs = std::filesystem;

Result<std::string> text_of_file(const fs::path& path) {
  if (path.extension() != ".gz") return read_file(path);
  SOLSTICE_TRY(CommandOutput done,
               run_command({.argv = {"gzip", "-dc", path.string()}, .in = Pipe::kNull}, Seconds(20)));
  return std::move(done.out);
}

Result<Recorded> read_recorded(const fs::path& path) {
  SOLSTICE_TRY(const std::string text, text_of_file(path));
  SOLSTICE_TRY(Json json, parse_json(text));
  SOLSTICE_TRY(Facts facts, read_facts(json));
  return Recorded{path.filename().string(), std::move(json), std::move(facts)};
}

std::vector<Recorded> read_all() {
  const fs::path tests = fs::path(SOLSTICE_SOURCE_DIR) / "tests";
  std::vector<fs::path> files = {tests / "python/profiles/everything.json"};
  for (const auto& entry : fs::directory_iterator(tests / "sick/facts")) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Recorded> out;
  for (const fs::path& file : files) {
    Result<Recorded> one = read_recorded(file);
    EXPECT_TRUE(one.ok()) << file << ": " << one.error().text();
    if (one.ok()) out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace

const std::vector<Recorded>& recorded_facts() {
  static const std::vector<Recorded> all = read_all();
  return all;
}

}  // namespace solstice::diagnose::testing

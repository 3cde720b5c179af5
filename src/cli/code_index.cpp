#include "cli/code_index.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/harmless.h"
#include "store/store.h"

namespace solstice::cli {

Result<codesearch::CodeIndex> code_index() {
  SOLSTICE_TRY(const std::filesystem::path store, store::Store::default_folder());
  return codesearch::CodeIndex::open({.roots = {}, .folder = {}, .store = store, .say = [](const std::string& line) {
                                        fmt::print(stderr, "{}\n", line);
                                      }});
}

void print_lines(const std::vector<codesearch::CodeLine>& lines) {
  for (const codesearch::CodeLine& line : lines) fmt::print("{:>7}  {}\n", line.number, harmless(line.text));
}

}  // namespace solstice::cli

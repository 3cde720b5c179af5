#include "codesearch/prepare.h"

#include <unordered_set>

#include "base/hash.h"
#include "codesearch/chunks.h"
#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

constexpr size_t kShownTitle = 120;  // bytes; all of it is searched

std::vector<std::string> distinct_identifiers(std::string_view text) {
  std::unordered_set<std::string> seen;
  each_identifier(text, [&](std::string_view word) { seen.emplace(word); });
  return {seen.begin(), seen.end()};
}

}  // namespace

Prepared prepare(std::string_view path, std::string_view text, bool keep) {
  Prepared out;
  if (keep) out.kept = text;
  out.hash = hash_hex(text);
  ChunkedFile file = cut_file(text, language_of(path));
  out.path = distinct_words(path);
  out.brief = distinct_words(file.brief);
  out.chunks.reserve(file.chunks.size());
  for (const Chunk& chunk : file.chunks) {
    out.chunks.push_back({.first = chunk.first,
                          .last = chunk.last,
                          .title = chunk.title.substr(0, kShownTitle),
                          .name = distinct_words(chunk.title),
                          .notes = distinct_words(chunk.notes),
                          .code = distinct_words(chunk.code)});
  }
  out.identifiers = distinct_identifiers(text);
  return out;
}

}  // namespace solstice::codesearch

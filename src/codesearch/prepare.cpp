#include "codesearch/prepare.h"

#include <unordered_set>

#include "base/hash.h"
#include "codesearch/chunks.h"
#include "codesearch/words.h"

namespace solstice::codesearch {
namespace {

std::vector<std::string> distinct_identifiers(std::string_view text) {
  std::unordered_set<std::string> seen;
  each_identifier(text, [&](std::string_view word) { seen.emplace(word); });
  return {seen.begin(), seen.end()};
}

}  // namespace

Prepared prepare(std::string_view path, std::string_view text) {
  Prepared out;
  out.hash = hash_hex(text);
  ChunkedFile file = cut_file(text, language_of(path));
  out.path = distinct_words(std::string(path) + "\n" + file.brief);
  out.chunks.reserve(file.chunks.size());
  for (const Chunk& chunk : file.chunks) {
    out.chunks.push_back({.first = chunk.first,
                          .last = chunk.last,
                          .title = chunk.title,
                          .name = distinct_words(chunk.title),
                          .notes = distinct_words(chunk.notes),
                          .code = distinct_words(chunk.code)});
  }
  out.identifiers = distinct_identifiers(text);
  return out;
}

}  // namespace solstice::codesearch

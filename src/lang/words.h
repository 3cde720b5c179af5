// The reserved words of the language.
#pragma once

#include <string_view>
#include <vector>

namespace solstice::lang {

bool is_reserved(std::string_view word);
bool is_reducer(std::string_view word);   // sum ... logsumexp
bool is_ranker(std::string_view word);    // argtop, argbot
bool starts_item(std::string_view word);  // a reserved word that begins an item
const std::vector<std::string_view>& reducers();
const std::vector<std::string_view>& reserved_words();

}  // namespace solstice::lang

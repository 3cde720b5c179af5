// Words of code and of questions about it: what the index holds and what is looked up in it.
//
// An identifier is split at underscores, case and digits, and kept whole beside its parts: `SM90_TMA_LOAD_2D` gives
// sm90_tma_load_2d, sm90, tma, load, 2d; `MMA_64x256x16_F32BF16BF16_RS` also 64x256x16, 64x256, 256x16, f32 and bf16.
// An instruction of PTX in a comment or a string gives its first parts: cp.async, cp.async.bulk, cp.async.bulk.tensor.
// English endings go: tiles, tiled and tiling are one word. Words are lower case; single characters are none.
//
// Two neighbours, parts of one name or words of a comment, are a word too, without what is between them: tileschedul of
// TileScheduler, tile_scheduler and "tile scheduler"; streamk of stream_k and StreamK.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace solstice::codesearch {

using WordSink = std::function<void(std::string_view)>;

// Every word of a text, in order, with repetitions.
void each_word(std::string_view text, const WordSink& sink);

// The distinct words of a text, separated by blanks: what a column of the index is filled with.
std::string distinct_words(std::string_view text);

// One word of a question with what it consists of: {"tma_load", {"tma", "load"}}. `whole` is a word as the index has
// it, and `parts` is empty where it has none.
struct QuestionWord {
  std::string given;  // as written, in lower case
  std::string whole;
  std::vector<std::string> parts;
};
std::vector<QuestionWord> question_words(std::string_view question);

// Whole identifiers of several parts, in lower case: what a misspelt or incomplete name is compared with.
void each_identifier(std::string_view text, const WordSink& sink);

bool is_word_char(char c);  // of an identifier

std::string stem(std::string_view word);  // of one in lower case

}  // namespace solstice::codesearch

// What a search and a read give; as records, what `--json` prints.
#pragma once

#include <string>
#include <vector>

#include "record/fields.h"

namespace solstice::codesearch {

struct CodeLine {
  int number = 0;
  std::string text;
  static auto fields() {
    return std::make_tuple(field("line", &CodeLine::number, "from 1"), field("text", &CodeLine::text, "of it"));
  }
};

struct Hit {
  std::string path;
  int first = 0;  // lines of the piece that answers
  int last = 0;
  std::string title;               // what is declared there: "struct SM90_TMA_LOAD_MULTICAST_2D"; may be empty
  std::vector<CodeLine> lines;     // that tell most, in their order
  std::vector<std::string> why;    // words of the question that it holds, with what stands for them: "wgmma (gmma)"
  std::vector<std::string> lacks;  // and those that it does not
  std::string about;               // of a program of the store: problem, device, speed
  double score = 0;
  static auto fields() {
    return std::make_tuple(
        field("path", &Hit::path, "with its prefix"), field("first", &Hit::first, "line of the piece"),
        field("last", &Hit::last, "line of the piece"), field("title", &Hit::title, "what is declared there"),
        field("about", &Hit::about, "of a program of the store: problem, device, speed"),
        field("lines", &Hit::lines, "that tell most"), field("why", &Hit::why, "words that it holds"),
        field("lacks", &Hit::lacks, "words that it does not hold"), field("score", &Hit::score, "by which it ranks"));
  }
};

struct Answer {
  std::vector<Hit> hits;             // best first, a file once
  std::vector<std::string> unknown;  // words that nothing holds or resembles
  bool cut = false;                  // hits were left out for `characters`
  static auto fields() {
    return std::make_tuple(field("hits", &Answer::hits, "best first, a file once"),
                           field("unknown", &Answer::unknown, "words that nothing holds or resembles"));
  }
};

struct Passage {
  std::string path;
  int first = 0;
  int last = 0;
  int of = 0;  // lines of the file
  std::vector<CodeLine> lines;
  std::string about;
  bool cut = false;  // it ends early for `characters`
  static auto fields() {
    return std::make_tuple(field("path", &Passage::path, "with its prefix"), field("first", &Passage::first, "line"),
                           field("last", &Passage::last, "line"), field("of", &Passage::of, "lines of the file"),
                           field("about", &Passage::about, "of a program of the store: problem, device, speed"),
                           field("cut", &Passage::cut, "it ends early"), field("lines", &Passage::lines, "read"));
  }
};

}  // namespace solstice::codesearch

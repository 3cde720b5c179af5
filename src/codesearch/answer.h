// What a search and a read give.
#pragma once

#include <string>
#include <vector>

namespace solstice::codesearch {

struct CodeLine {
  int number = 0;
  std::string text;
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
};

struct Answer {
  std::vector<Hit> hits;             // best first, a file once
  std::vector<std::string> unknown;  // words that nothing holds or resembles
  bool cut = false;                  // hits were left out for `characters`
};

struct Passage {
  std::string path;
  int first = 0;
  int last = 0;
  int of = 0;  // lines of the file
  std::vector<CodeLine> lines;
  std::string about;
  bool cut = false;  // it ends early for `characters`
};

}  // namespace solstice::codesearch

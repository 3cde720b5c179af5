#include "gpu/kernels/shrink.h"

#include <sstream>
#include <vector>

namespace solstice::random_kernels {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::string text_of(const std::vector<std::string>& lines, const std::function<bool(const std::string&)>& keeps) {
  std::string out;
  for (const std::string& line : lines) {
    if (keeps(line)) out += line + "\n";
  }
  return out;
}

// "y3" of "output y3 : f32[4]" and of "  y3[i] = ..."; "" of clauses.
std::string name_in(const std::string& line) {
  std::istringstream in(line);
  std::string word, name;
  in >> word;
  if (const size_t open = word.find('['); open != std::string::npos) return word.substr(0, open);
  in >> name;
  return word == "numerics" || word == "allow" ? "" : name;
}

bool mentions(const std::string& text, const std::string& name) { return text.find(name + "[") != std::string::npos; }

Sample without(const Sample& sample, const std::string& name) {
  Sample out = sample;
  const auto keeps = [&](const std::string& line) { return name_in(line) != name; };
  out.head = text_of(lines_of(sample.head), keeps);
  out.body = text_of(lines_of(sample.body), keeps);
  return out;
}

// Locals and inputs that no equation reads any more.
Sample without_unread(Sample sample) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string& line : lines_of(sample.head + sample.body)) {
      const std::string name = name_in(line);
      const std::string others =
          text_of(lines_of(sample.body), [&](const std::string& l) { return name_in(l) != name; });
      const bool is_output = sample.head.find("output " + name + " ") != std::string::npos;
      if (name.empty() || is_output || mentions(others, name) || mentions(sample.before, name)) continue;
      sample = without(sample, name);
      changed = true;
      break;
    }
  }
  return sample;
}

}  // namespace

Sample shrink(const Sample& failing, const std::function<bool(const Sample&)>& fails) {
  Sample best = failing;
  const auto attempt = [&](Sample smaller) {
    if (smaller.text() != best.text() && fails(smaller)) best = std::move(smaller);
  };
  Sample plain = best;
  plain.knobs.clear();
  attempt(plain);
  std::vector<std::string> outputs;
  for (const std::string& line : lines_of(best.head)) {
    if (line.starts_with("output ")) outputs.push_back(name_in(line));
  }
  for (const std::string& name : outputs) {
    if (outputs.size() > 1 && lines_of(best.body).size() > 1) attempt(without_unread(without(best, name)));
  }
  attempt(without_unread(best));
  return best;
}

}  // namespace solstice::random_kernels

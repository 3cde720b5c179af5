#include "diagnose/sass/flow.h"

#include <algorithm>
#include <charconv>

#include "diagnose/sass/operands.h"

namespace solstice::diagnose::sass {
namespace {

// Steps of the search for dominators a block: real code needs fewer than ten.
constexpr int64_t kStepsABlock = 200;

bool branches(std::string_view base) {
  return base == "BRA" || base == "JMP" || base == "BRX" || base == "BRXU" || base == "JMX" || base == "JMXU";
}

bool is_indirect(std::string_view base) { return branches(base) && base != "BRA" && base != "JMP"; }

bool ends_path(const Instruction& of) {
  const std::string_view base = base_of(of.opcode);
  const bool ends = base == "EXIT" || base == "RET" || base == "KILL" || base == "RTT" ||
                    (base == "BPT" && has_modifier(of.opcode, "TRAP"));
  return ends && of.predicate.empty();
}

bool ends_block(const Instruction& of) {
  const std::string_view base = base_of(of.opcode);
  return branches(base) || base == "EXIT" || base == "RET" || base == "KILL" || base == "RTT" || base == "BPT";
}

// The name in "`(.L_x_3)".
std::string_view label_name(std::string_view operand) {
  const size_t open = operand.find("`(");
  if (open == std::string_view::npos) return {};
  const std::string_view rest = operand.substr(open + 2);
  return rest.substr(0, rest.find(')'));
}

class FlowBuilder {
 public:
  explicit FlowBuilder(const Function& function) : function_(function), targets_(function) {}

  Flow run() {
    find_starts();
    make_blocks();
    connect();
    find_order();
    find_dominators();
    return std::move(out_);
  }

 private:
  size_t size() const { return function_.instructions.size(); }

  void find_starts() {
    start_.assign(size() + 1, false);
    if (size() > 0) start_[0] = true;
    for (size_t i = 0; i < size(); ++i) {
      const Instruction& at = function_.instructions[i];
      if (ends_block(at)) start_[i + 1] = true;
      for (const int target : targets_.of(at, out_.complete)) start_[static_cast<size_t>(target)] = true;
      if (base_of(at.opcode) != "CALL") continue;
      const std::vector<std::string_view> operands = split_operands(at.operands);
      const int callee = operands.empty() ? -1 : targets_.of(operands.back());
      if (callee >= 0) start_[static_cast<size_t>(callee)] = true;
    }
  }

  void make_blocks() {
    block_of_.assign(size(), 0);
    for (size_t i = 0; i < size(); ++i) {
      if (start_[i]) out_.blocks.push_back({.first = i, .end = i});
      out_.blocks.back().end = i + 1;
      block_of_[i] = static_cast<int>(out_.blocks.size()) - 1;
    }
  }

  void connect() {
    bool known = true;
    for (size_t b = 0; b < out_.blocks.size(); ++b) {
      Block& block = out_.blocks[b];
      const Instruction& last = function_.instructions[block.end - 1];
      for (const int target : targets_.of(last, known)) block.next.push_back(block_of_[static_cast<size_t>(target)]);
      if (!always_jumps(last) && !ends_path(last) && block.end < size()) block.next.push_back(static_cast<int>(b) + 1);
      std::sort(block.next.begin(), block.next.end());
      block.next.erase(std::unique(block.next.begin(), block.next.end()), block.next.end());
      for (const int next : block.next) out_.blocks[static_cast<size_t>(next)].before.push_back(static_cast<int>(b));
    }
  }

  // Reverse postorder, of blocks from the first and then from each that was not reached.
  void find_order() {
    std::vector<std::vector<int>> parts;
    seen_.assign(out_.blocks.size(), false);
    root_.assign(out_.blocks.size(), false);
    for (size_t b = 0; b < out_.blocks.size(); ++b) {
      if (seen_[b]) continue;
      root_[b] = true;
      parts.push_back(postorder(static_cast<int>(b)));
    }
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
      out_.order.insert(out_.order.end(), part->rbegin(), part->rend());
  }

  std::vector<int> postorder(int root) {
    std::vector<int> out;
    std::vector<std::pair<int, size_t>> path = {{root, 0}};
    seen_[static_cast<size_t>(root)] = true;
    while (!path.empty()) {
      auto& [block, at] = path.back();
      const std::vector<int>& next = out_.blocks[static_cast<size_t>(block)].next;
      if (at == next.size()) {
        out.push_back(block);
        path.pop_back();
        continue;
      }
      const int to = next[at++];
      if (seen_[static_cast<size_t>(to)]) continue;
      seen_[static_cast<size_t>(to)] = true;
      path.emplace_back(to, 0);
    }
    return out;
  }

  // Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm", 2001; position 0 stands before all roots.
  void find_dominators() {
    const size_t count = out_.order.size();
    position_.assign(count, 0);
    for (size_t i = 0; i < count; ++i) position_[static_cast<size_t>(out_.order[i])] = static_cast<int>(i) + 1;
    nearest_.assign(count + 1, -1);
    nearest_[0] = 0;
    steps_ = kStepsABlock * static_cast<int64_t>(count + 10);
    while (sweep() && steps_ > 0) continue;
    out_.tangled = steps_ <= 0;
    if (out_.tangled) return out_.order.clear();
    out_.dominator.assign(count, -1);
    for (size_t b = 0; b < count; ++b) {
      const int above = nearest_[static_cast<size_t>(position_[b])];
      if (above > 0) out_.dominator[b] = out_.order[static_cast<size_t>(above) - 1];
    }
  }

  bool sweep() {
    bool changed = false;
    for (const int block : out_.order) {
      const auto b = static_cast<size_t>(block);
      int above = root_[b] ? 0 : -1;
      for (const int from : out_.blocks[b].before) {
        const int at = position_[static_cast<size_t>(from)];
        --steps_;
        if (nearest_[static_cast<size_t>(at)] >= 0) above = above < 0 ? at : meet(at, above);
      }
      int& now = nearest_[static_cast<size_t>(position_[b])];
      changed = changed || now != above;
      now = above;
    }
    return changed;
  }

  int meet(int a, int b) {
    while (a != b && --steps_ > 0) {
      int& later = a > b ? a : b;
      later = nearest_[static_cast<size_t>(later)];
    }
    return std::min(a, b);
  }

  const Function& function_;
  Targets targets_;
  Flow out_;
  std::vector<bool> start_, seen_, root_;
  std::vector<int> block_of_, position_, nearest_;
  int64_t steps_ = 0;
};

}  // namespace

Flow flow_of(const Function& function) { return FlowBuilder(function).run(); }

bool always_jumps(const Instruction& instruction) {
  const std::string_view base = base_of(instruction.opcode);
  if (!branches(base) || !instruction.predicate.empty()) return false;
  for (const char* sometimes : {"DIV", "CONV", "ANY", "ALL"}) {
    if (has_modifier(instruction.opcode, sometimes)) return false;
  }
  // `BRA P0, target` has its condition among the operands.
  return is_indirect(base) || split_operands(instruction.operands).size() == 1;
}

Targets::Targets(const Function& function) : function_(function), labels_(function.labels) {
  std::stable_sort(labels_.begin(), labels_.end(), [](const Label& a, const Label& b) { return a.name < b.name; });
}

int Targets::named(std::string_view name) const {
  const auto found = std::lower_bound(labels_.begin(), labels_.end(), name,
                                      [](const Label& label, std::string_view of) { return label.name < of; });
  const bool there = found != labels_.end() && found->name == name && found->at < function_.instructions.size();
  return there ? static_cast<int>(found->at) : -1;
}

int Targets::of(std::string_view operand) const {
  if (const std::string_view name = label_name(operand); !name.empty()) return named(name);
  int64_t address = 0;
  const size_t digits = operand.find("0x");
  if (digits == std::string_view::npos) return -1;
  const char* const end = operand.data() + operand.size();
  if (std::from_chars(operand.data() + digits + 2, end, address, 16).ec != std::errc()) return -1;
  const std::vector<Instruction>& code = function_.instructions;
  const auto found = std::lower_bound(code.begin(), code.end(), address,
                                      [](const Instruction& at, int64_t of) { return at.address < of; });
  return found != code.end() && found->address == address ? static_cast<int>(found - code.begin()) : -1;
}

std::vector<int> Targets::of(const Instruction& branch, bool& known) const {
  std::vector<int> out;
  const std::string_view base = base_of(branch.opcode);
  if (!branches(base)) return out;
  const auto add = [&](int target) {
    if (target < 0) known = false;
    if (target >= 0) out.push_back(target);
  };
  if (!is_indirect(base)) {
    const std::vector<std::string_view> operands = split_operands(branch.operands);
    add(operands.empty() ? -1 : of(operands.back()));
    return out;
  }
  constexpr std::string_view kList = "BRANCH_TARGETS ";
  const size_t at = branch.operands.find(kList);
  if (at == std::string_view::npos) known = false;
  std::string_view names = branch.operands.substr(at == std::string_view::npos ? branch.operands.size() : at);
  names.remove_prefix(std::min(names.size(), kList.size()));
  names = names.substr(0, names.find('"'));
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    add(named(names.substr(0, comma)));
    names.remove_prefix(std::min(names.size(), comma + 1));
  }
  return out;
}

}  // namespace solstice::diagnose::sass

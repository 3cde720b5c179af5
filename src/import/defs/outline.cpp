#include "import/defs/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "import/defs/block.h"
#include "import/defs/define.h"
#include "import/defs/statics.h"
#include "import/graph/module_path.h"
#include "lang/prelude.h"
#include "lang/words.h"

namespace solstice::importer {
namespace {

constexpr size_t kShortest = 3;     // items; a layer of one equation reads best where it stands
constexpr int64_t kLeastSaved = 6;  // lines
constexpr size_t kLongestTail = 8;  // items of the enclosing module that may follow a block

class Outliner {
 public:
  Outliner(Draft& draft, const Graph& graph) : draft_(draft), graph_(graph) {
    std::string last;
    for (const DraftItem& item : draft_.items) {
      if (item.node >= 0) last = graph_.nodes[static_cast<size_t>(item.node)].module;
      modules_.push_back(last);
      structures_.push_back(number_of(structure_of(draft_, item)));
    }
  }

  void run() {
    while (step()) {
    }
  }

 private:
  using Group = std::vector<Block>;

  int number_of(const std::string& structure) {
    return numbers_.emplace(structure, static_cast<int>(numbers_.size())).first->second;
  }

  bool step() {
    const Uses uses(draft_);
    std::vector<Block> candidates = runs();
    Group best = smallest(candidates, uses);
    if (best.empty()) best = smallest(with_beginnings(std::move(candidates)), uses);
    if (best.empty()) return false;
    apply(with_tail(std::move(best), uses));
    return true;
  }

  Group smallest(std::vector<Block> candidates, const Uses& uses) const {
    Group best;
    for (Group& group : groups(std::move(candidates), uses)) {
      if (saved(group) < kLeastSaved) continue;
      const bool smaller = best.empty() || group[0].length() < best[0].length();
      if (smaller || (group[0].length() == best[0].length() && saved(group) > saved(best))) best = std::move(group);
    }
    return best;
  }

  // Adds the beginning of a stage that begins like a shorter one at its depth: both may call one def.
  std::vector<Block> with_beginnings(std::vector<Block> blocks) const {
    const auto depth = [](const Block& block) { return std::count(block.at.begin(), block.at.end(), '.'); };
    const size_t count = blocks.size();
    for (size_t i = 0; i < count; ++i) {
      std::set<size_t> lengths;
      for (size_t k = 0; k < count; ++k) {
        const bool shorter = blocks[k].length() < blocks[i].length() && depth(blocks[k]) == depth(blocks[i]);
        const auto shape = structures_.begin() + static_cast<long>(blocks[k].first);
        const auto own = structures_.begin() + static_cast<long>(blocks[i].first);
        const bool begins = shorter && std::equal(shape, shape + static_cast<long>(blocks[k].length()), own);
        if (!begins || !lengths.insert(blocks[k].length()).second) continue;
        Block beginning = blocks[i];
        beginning.last = beginning.first + blocks[k].length();
        blocks.push_back(std::move(beginning));
      }
    }
    std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.first < b.first; });
    return blocks;
  }

  // Every run of items below one module.
  std::vector<Block> runs() const {
    std::map<std::pair<size_t, size_t>, std::string> found;
    for (size_t i = 0; i < modules_.size(); ++i) {
      for (size_t end = modules_[i].size(); end != std::string::npos && end > 0;
           end = modules_[i].rfind('.', end - 1)) {
        const std::string path = modules_[i].substr(0, end);
        if (i > 0 && lies_in(modules_[i - 1], path)) continue;  // not the first of its run
        size_t last = i + 1;
        while (last < modules_.size() && lies_in(modules_[last], path)) ++last;
        if (last - i >= kShortest) found.emplace(std::pair(i, last), path);
      }
    }
    std::vector<Block> out;
    for (const auto& [range, path] : found) {
      if (used_.count(path)) continue;
      Block block;
      block.first = range.first;
      block.last = range.second;
      block.at = path;
      out.push_back(std::move(block));
    }
    return out;
  }

  static bool lies_in(const std::string& module, const std::string& path) {
    return module == path || relative_path(module, path);
  }

  // Blocks of one key, at least two, at paths of their own.
  std::vector<Group> groups(std::vector<Block> blocks, const Uses& uses) const {
    std::map<std::vector<int>, Group> alike;
    for (Block& block : blocks) {
      const auto first = structures_.begin() + static_cast<long>(block.first);
      alike[{first, first + static_cast<long>(block.length())}].push_back(std::move(block));
    }
    std::vector<Group> out;
    for (auto& [structure, members] : alike) {
      if (members.size() < 2) continue;
      std::map<std::string, Group> keyed;
      for (Block& block : members) {
        describe(draft_, uses, block);
        Group& group = keyed[block.key];
        const bool path_taken =
            std::any_of(group.begin(), group.end(), [&](const Block& b) { return b.at == block.at; });
        const bool overlaps = !group.empty() && group.back().last > block.first;
        if (!block.key.empty() && !path_taken && !overlaps) group.push_back(std::move(block));
      }
      for (auto& [key, group] : keyed) {
        if (group.size() >= 2) out.push_back(std::move(group));
      }
    }
    return out;
  }

  static int64_t saved(const Group& group) {
    const auto lines = static_cast<int64_t>(group[0].length()) + group[0].owned;
    const auto count = static_cast<int64_t>(group.size());
    return count * lines - (count + lines + 2);
  }

  // The group with what its parent does right after each block, where that saves more.
  Group with_tail(Group group, const Uses& uses) const {
    Group best = group;
    for (size_t tail = 1; tail <= kLongestTail; ++tail) {
      std::vector<Block> longer;
      for (Block block : group) {
        const size_t next = block.last++;
        if (next < modules_.size() && (modules_[next].empty() || relative_path(block.at, modules_[next])))
          longer.push_back(std::move(block));
      }
      group = longer;
      for (Group& candidate : groups(std::move(longer), uses)) {
        if (saved(candidate) > saved(best)) best = std::move(candidate);
      }
    }
    return best;
  }

  void apply(const Group& group) {
    const std::vector<int> calls = define(draft_, graph_, group, name_for(group[0].at));
    const int def = static_cast<int>(draft_.defs.size()) - 1;
    join_passed(draft_, def);
    const int structure = number_of(fmt::format("call {}", def));
    std::vector<DraftItem> items;
    std::vector<std::string> modules;
    std::vector<int> structures;
    size_t next = 0;
    for (size_t b = 0; b <= group.size(); ++b) {
      const size_t until = b < group.size() ? group[b].first : draft_.items.size();
      for (; next < until; ++next) {
        items.push_back(std::move(draft_.items[next]));
        modules.push_back(std::move(modules_[next]));
        structures.push_back(structures_[next]);
      }
      if (b == group.size()) break;
      DraftItem item;
      item.node = draft_.items[next].node;
      item.call = calls[b];
      items.push_back(std::move(item));
      modules.push_back(group[b].at);
      structures.push_back(structure);
      used_.insert(group[b].at);
      next = group[b].last;
    }
    draft_.items = std::move(items);
    modules_ = std::move(modules);
    structures_ = std::move(structures);
  }

  // "bottleneck" of a class Bottleneck; containers go by the name of their attribute.
  std::string name_for(const std::string& path) {
    std::string name;
    for (const GraphModule& module : graph_.modules) {
      if (module.path == path) name = module.type.substr(module.type.rfind('.') + 1);
    }
    if (name.empty() || name == "Sequential" || name == "ModuleList") {
      name = path;
      while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) || name.back() == '.'))
        name.pop_back();
      name = name.substr(name.rfind('.') + 1);
    }
    for (char& c : name) {
      const auto u = static_cast<unsigned char>(c);
      c = std::isalnum(u) ? static_cast<char>(std::tolower(u)) : '_';
    }
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "block" + name;
    const auto is_function = [&](const lang::Fn& f) { return f.name == name; };
    const auto& prelude = lang::prelude();
    if (lang::is_reserved(name) || std::any_of(prelude.begin(), prelude.end(), is_function)) name += "_block";
    const std::string base = name;
    for (int n = 2;
         std::any_of(draft_.defs.begin(), draft_.defs.end(), [&](const DraftDef& d) { return d.name == name; }); ++n) {
      name = base + std::to_string(n);
    }
    return name;
  }

  Draft& draft_;
  const Graph& graph_;
  std::vector<std::string> modules_;  // of each item
  std::vector<int> structures_;       // of each item, numbered
  std::map<std::string, int> numbers_;
  std::set<std::string> used_;  // paths of calls
};

}  // namespace

void outline(Draft& draft, const Graph& graph) { Outliner(draft, graph).run(); }

}  // namespace solstice::importer

#include "diagnose/sass/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diagnose/sass/address.h"
#include "diagnose/sass/drained.h"
#include "diagnose/sass/loops.h"
#include "diagnose/sass/mix.h"
#include "diagnose/sass/places.h"
#include "diagnose/sass/routines.h"

namespace solstice::diagnose {
namespace sass {
namespace {

constexpr size_t kMostUnknownNames = 8;
// Of text, kernels and loops that are no longer a compiler's: real ones have 15 MB, tens and hundreds.
constexpr size_t kMostText = size_t{128} << 20, kMostKernels = 10'000, kMostLoops = 10'000;

// What the compiler fills a section up with: a trap, and instructions that do nothing.
void drop_padding(Function& function) {
  std::vector<Instruction>& code = function.instructions;
  while (!code.empty() && code.back().opcode == "NOP") code.pop_back();
  if (code.empty()) return;
  const Targets targets(function);
  bool known = true;
  const std::vector<int> to = targets.of(code.back(), known);
  const bool trap = always_jumps(code.back()) && to.size() == 1 && static_cast<size_t>(to[0]) + 1 == code.size();
  if (trap) code.pop_back();
}

Error too_large(const std::string& most) {
  return fail(Code::bad_record, fmt::format("the disassembly has more than {}", most));
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

class FunctionFacts {
 public:
  FunctionFacts(const Listing& listing, Function function, const PlacedText& source, PartMarks& marks)
      : listing_(listing), function_(std::move(function)), source_(source.file), places_(listing, source, marks) {}

  SassFacts run() {
    drop_padding(function_);
    if (!function_.instructions.empty()) places_.begin(function_.instructions.front().place);
    flow_ = flow_of(function_);
    mark_addresses(function_, flow_);
    routines_ = routines_of(function_);
    find_loops();
    count();
    for (size_t i = 0; i < loops_.loops.size(); ++i) out_.loops.push_back(loop(i));
    out_.mix = all_.mix();
    out_.routines = routines_.list;
    for (const size_t at : drained_wgmma(function_)) out_.drained_wgmma.push_back(place_of(at));
    add_places();
    return std::move(out_);
  }

 private:
  const Instruction& at(size_t i) const { return function_.instructions[i]; }

  void find_loops() {
    loops_ = loops_of(function_, flow_);
    if (!flow_.complete) out_.in_part = "the targets of some branches are not known";
    if (flow_.tangled) out_.in_part = "too many jumps to look for loops";
    if (loops_.loops.size() <= kMostLoops) return;
    out_.in_part = fmt::format("more than {} loops", kMostLoops);
    loops_ = {.loops = {}, .innermost = std::vector<int>(flow_.blocks.size(), -1)};
  }

  std::string_view callee(size_t i) const {
    const int called = routines_.called[i];
    if (called == -1) return {};
    return called < 0 ? "function" : std::string_view(routines_.list[static_cast<size_t>(called)].kind);
  }

  void count() {
    const size_t count = loops_.loops.size();
    mixes_.resize(count);
    lines_.resize(count);
    pieces_.resize(count);
    for (size_t b = 0; b < flow_.blocks.size(); ++b) count_block(flow_.blocks[b], loops_.innermost[b]);
    for (size_t i = count; i-- > 0;) {  // inner loops come after outer ones
      const int parent = loops_.loops[i].parent;
      if (parent >= 0) mixes_[static_cast<size_t>(parent)].add(mixes_[i]);
    }
    count_unknown();
  }

  void count_block(const Block& block, int loop) {
    for (size_t i = block.first; i < block.end; ++i) {
      all_.add(at(i), callee(i));
      if (const int place = places_.of(at(i).place); place >= 0) spots_[{place, loop}].add(at(i), callee(i));
      if (loop < 0) continue;
      mixes_[static_cast<size_t>(loop)].add(at(i), callee(i));
      if (const Place* place = place_at(i)) ++lines_[static_cast<size_t>(loop)][{place->file, place->line}];
    }
    for (int around = loop, steps = 0; around >= 0 && steps < kDeepest; ++steps) {
      std::vector<SassPiece>& pieces = pieces_[static_cast<size_t>(around)];
      const bool joins = !pieces.empty() && pieces.back().last + kInstructionBytes == at(block.first).address;
      if (joins) pieces.back().last = at(block.end - 1).address;
      if (!joins) pieces.push_back({at(block.first).address, at(block.end - 1).address});
      around = loops_.loops[static_cast<size_t>(around)].parent;
    }
  }

  // Runs and counts by place; none where no place is known.
  void add_places() {
    if (spots_.empty()) return;
    for (const Instruction& each : function_.instructions) {
      const int place = places_.of(each.place);
      const bool goes_on = !out_.runs.empty() && out_.runs.back().place == place;
      if (!goes_on) out_.runs.push_back({each.address, place});
    }
    for (const auto& [at, counted] : spots_) {
      SassSpot spot{at.first, at.second, counted.mix()};
      spot.mix.pipes.clear();
      out_.spots.push_back(std::move(spot));
    }
    out_.places = places_.list();
  }

  void count_unknown() {
    std::set<std::string_view> names;
    for (const Instruction& each : function_.instructions) {
      if (each.kind == Kind::kUnknown && names.size() < kMostUnknownNames) names.insert(each.opcode.substr(0, 32));
    }
    out_.unknown_names.assign(names.begin(), names.end());
    const double total = static_cast<double>(std::max<int64_t>(1, all_.instructions()));
    out_.unknown = static_cast<double>(all_.of(Kind::kUnknown)) / total;
  }

  const Place* place_at(size_t i) const {
    const int innermost = at(i).place;
    if (innermost < 0) return nullptr;
    if (!source_.empty()) {
      for (int place = innermost; place >= 0; place = listing_.places[static_cast<size_t>(place)].inlined_at) {
        const Place& frame = listing_.places[static_cast<size_t>(place)];
        if (ends_with(frame.file, source_)) return &frame;
      }
    }
    return &listing_.places[static_cast<size_t>(innermost)];
  }

  SassPlace place_of(size_t i) const {
    const Place* place = place_at(i);
    return {.address = at(i).address, .file = place ? std::string(place->file) : "", .line = place ? place->line : 0};
  }

  SassLoop loop(size_t index) const {
    const Loop& of = loops_.loops[index];
    SassLoop out{.parent = of.parent, .depth = of.depth, .does = does(index), .mix = mixes_[index].mix()};
    out.first = at(block(of.header).first).address;
    out.last = out.first;
    for (const int latch : of.latches) out.last = std::max(out.last, at(block(latch).end - 1).address);
    const std::vector<SassPiece>& pieces = pieces_[index];
    const bool whole = pieces.size() == 1 && pieces[0].first == out.first && pieces[0].last == out.last;
    if (!whole) out.pieces = pieces;
    out.per_lane = std::all_of(of.latches.begin(), of.latches.end(),
                               [&](int latch) { return has_modifier(at(block(latch).end - 1).opcode, "ANY"); });
    const auto most = std::max_element(lines_[index].begin(), lines_[index].end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == lines_[index].end()) return out;
    out.file = std::string(most->first.first);
    out.line = most->first.second;
    return out;
  }

  const Block& block(int index) const { return flow_.blocks[static_cast<size_t>(index)]; }

  std::string does(size_t index) const {
    const MixCounter& mix = mixes_[index];
    if (mix.of(Kind::kWgmma) + mix.of(Kind::kMma) > 0) return "wgmma";
    const int64_t math =
        mix.of(Kind::kFp32) + mix.of(Kind::kFp64) + mix.of(Kind::kFp16) + mix.of(Kind::kMufu) + mix.of(Kind::kConvert);
    const int64_t loads = mix.of(Kind::kLoad) + mix.of(Kind::kAsyncCopy);
    const int64_t stores = mix.of(Kind::kStore) + mix.of(Kind::kAtomic);
    const int64_t memory = loads + stores + mix.of(Kind::kTma);
    const bool works = mix.of(Kind::kInt) + mix.of(Kind::kAddress) + mix.of(Kind::kShuffle) > 0;
    if (memory + math == 0) return mix.of(Kind::kWait) > 0 || !works ? "wait" : "compute";
    if (memory == 0 && all_.of(Kind::kWgmma) > 0 && 2 * mix.of(Kind::kFp32) > mix.instructions()) return "promote";
    if (math > memory) return "compute";
    const bool bulk_store = mix.named("UTMASTG") > 0;
    return stores > loads || (bulk_store && loads == 0) ? "store" : "load";
  }

  static constexpr int64_t kInstructionBytes = 16;
  static constexpr int kDeepest = 32;  // loops around a block whose pieces are kept

  const Listing& listing_;
  Function function_;
  std::string_view source_;
  Flow flow_;
  Routines routines_;
  Loops loops_;
  MixCounter all_;
  std::vector<MixCounter> mixes_;
  std::vector<std::map<std::pair<std::string_view, int>, int64_t>> lines_;
  std::vector<std::vector<SassPiece>> pieces_;
  CodePlaces places_;
  std::map<std::pair<int, int>, MixCounter> spots_;  // by place and innermost loop
  SassFacts out_;
};

}  // namespace
}  // namespace sass

Result<std::map<std::string, SassFacts>> sass_of(std::string_view text, const sass::PlacedText& source,
                                                 const std::filesystem::path& headers) {
  if (text.size() > sass::kMostText) return sass::too_large(fmt::format("{} bytes", sass::kMostText));
  sass::Listing listing = sass::parse_listing(text);
  if (listing.cut) return sass::too_large(fmt::format("{} instructions, labels and lines", sass::kMostInstructions));
  sass::PartMarks marks(headers);
  std::map<std::string, SassFacts> out;
  for (sass::Function& function : listing.functions) {
    if (!function.entry || function.instructions.empty()) continue;
    if (out.size() == sass::kMostKernels) return sass::too_large(fmt::format("{} kernels", sass::kMostKernels));
    out[std::string(function.name)] = sass::FunctionFacts(listing, std::move(function), source, marks).run();
  }
  if (out.empty()) return fail(Code::bad_record, "no kernel is in the disassembly");
  return out;
}

}  // namespace solstice::diagnose

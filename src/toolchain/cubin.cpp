#include "toolchain/cubin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace solstice::toolchain {
namespace {

// ELF64, little-endian, as CUDA writes it.
struct SectionHeader {
  uint32_t name, type;
  uint64_t flags, address, offset, size;
  uint32_t link, info;
  uint64_t alignment, entry_size;
};
struct SymbolEntry {
  uint32_t name;
  uint8_t info, other;
  uint16_t section;
  uint64_t value, size;
};
static_assert(sizeof(SectionHeader) == 64 && sizeof(SymbolEntry) == 24);

constexpr uint32_t kNoBits = 8;                              // a section without bytes in the file
constexpr uint32_t kRelocations = 4, kShortRelocations = 9;  // types of sections: with addend, without
constexpr uint8_t kFunction = 2;                             // low half of a symbol's info
constexpr uint8_t kNoValue = 1, kByte = 2, kHalf = 3;        // formats of a record that holds its value in itself
constexpr uint8_t kSized = 4, kParameterInfo = 0x17;         // of one with a size; EIATTR_KPARAM_INFO
constexpr uint8_t kParameterBank = 0x0a;                     // EIATTR_PARAM_CBANK: symbol (4), offset (2), size (2)
constexpr size_t kBankBytes = 8;
constexpr size_t kInfoBytes = 12;  // index (4), ordinal (2), offset (2), flags (4): the size is above bit 18
constexpr std::string_view kInfoPrefix = ".nv.info.", kCodePrefix = ".text.", kGlobalPrefix = ".nv.global",
                           kAddressSection = ".nv.constant4";
constexpr int kAddressBank = 4;

Error damaged() { return fail(Code::bad_record, "a cubin is no ELF file, or is cut short"); }

template <class T>
Result<T> at(std::string_view bytes, uint64_t offset) {
  T out;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return damaged();
  std::memcpy(&out, bytes.data() + offset, sizeof(T));
  return out;
}

Result<std::string> name_at(std::string_view table, uint32_t offset) {
  if (offset >= table.size()) return damaged();
  return std::string(table.substr(offset, std::min(table.find('\0', offset), table.size()) - offset));
}

// `$__NAME__49$1` is ptxas's name of a variable NAME that is declared inside a function.
std::string plain_name(const std::string& name) {
  const size_t end = name.rfind("__");
  const bool inner = name.starts_with("$__") && end != std::string::npos && end > 3;
  return inner ? name.substr(3, end - 3) : name;
}

struct Section {
  std::string name;
  uint32_t type = 0, link = 0;
  std::string_view content;  // empty of one without bytes in the file
};

Result<std::vector<Section>> sections_of(std::string_view cubin) {
  if (!cubin.starts_with("\x7f"
                         "ELF\x02\x01"))
    return damaged();
  SOLSTICE_TRY(const uint64_t table, at<uint64_t>(cubin, 40));
  SOLSTICE_TRY(const uint16_t step, at<uint16_t>(cubin, 58));
  SOLSTICE_TRY(const uint16_t count, at<uint16_t>(cubin, 60));
  SOLSTICE_TRY(const uint16_t names, at<uint16_t>(cubin, 62));
  std::vector<Section> out;
  std::vector<uint32_t> name_offsets;
  for (uint64_t i = 0; i < count; ++i) {
    if (table > cubin.size()) return damaged();
    SOLSTICE_TRY(const SectionHeader header, at<SectionHeader>(cubin, table + i * step));
    Section section{"", header.type, header.link, {}};
    if (header.type != kNoBits) {
      if (header.offset > cubin.size() || header.size > cubin.size() - header.offset) return damaged();
      section.content = cubin.substr(header.offset, header.size);
    }
    out.push_back(std::move(section));
    name_offsets.push_back(header.name);
  }
  if (names >= out.size()) return damaged();
  for (size_t i = 0; i < out.size(); ++i) {
    SOLSTICE_TRY(out[i].name, name_at(out[names].content, name_offsets[i]));
  }
  return out;
}

Status read_info(std::string_view info, CubinKernel& out) {
  std::vector<std::pair<uint16_t, int64_t>> found;
  for (size_t i = 0; i < info.size();) {
    SOLSTICE_TRY(const uint8_t format, at<uint8_t>(info, i));
    SOLSTICE_TRY(const uint8_t attribute, at<uint8_t>(info, i + 1));
    SOLSTICE_TRY(const uint16_t size, at<uint16_t>(info, i + 2));
    i += 4;
    if (format == kNoValue || format == kByte || format == kHalf) continue;
    if (format != kSized || info.size() - i < size) return damaged();
    if (attribute == kParameterInfo && size == kInfoBytes) {
      SOLSTICE_TRY(const uint16_t ordinal, at<uint16_t>(info, i + 4));
      SOLSTICE_TRY(const uint32_t flags, at<uint32_t>(info, i + 8));
      found.emplace_back(ordinal, flags >> 18);
    }
    if (attribute == kParameterBank && size == kBankBytes) {
      SOLSTICE_TRY(out.parameters_at, at<uint16_t>(info, i + 4));
    }
    i += size;
  }
  std::sort(found.begin(), found.end());
  for (const auto& [ordinal, size] : found) out.parameters.push_back(size);
  return success();
}

Status read_symbols(const std::vector<Section>& sections, const Section& symbols, CubinFacts& out) {
  if (symbols.link >= sections.size()) return damaged();
  for (uint64_t i = 0; i + sizeof(SymbolEntry) <= symbols.content.size(); i += sizeof(SymbolEntry)) {
    SOLSTICE_TRY(const SymbolEntry symbol, at<SymbolEntry>(symbols.content, i));
    SOLSTICE_TRY(std::string name, name_at(sections[symbols.link].content, symbol.name));
    if ((symbol.info & 0xf) == kFunction && symbol.section == 0 && !name.empty())
      out.undefined.push_back(std::move(name));
  }
  return success();
}

// Addresses of variables lie in bank 4, of all that headers define, and code reads those that it uses.
bool is_read(const std::vector<ConstantRead>& reads, uint64_t offset) {
  const auto at = static_cast<int64_t>(offset);
  return std::any_of(reads.begin(), reads.end(), [&](const ConstantRead& r) {
    return r.bank == kAddressBank && (r.indexed || (r.offset < at + 8 && at < r.offset + r.bytes));
  });
}

bool holds_relocations(const Section& section) {
  return section.type == kRelocations || section.type == kShortRelocations;
}

uint64_t bytes_of_relocation(const Section& table) { return table.type == kRelocations ? 24 : 16; }

// The variables in global memory that relocations give to code, directly or by bank 4.
Status read_relocations(const std::vector<Section>& sections, const Section& table, CubinFacts& out) {
  const bool addresses = table.name.find(kAddressSection) != std::string::npos;
  if (!addresses && table.name.find(kCodePrefix) == std::string::npos) return success();
  if (table.link >= sections.size()) return damaged();
  const Section& symbols = sections[table.link];
  if (symbols.link >= sections.size()) return damaged();
  const uint64_t step = bytes_of_relocation(table);
  for (uint64_t i = 0; i + step <= table.content.size(); i += step) {
    SOLSTICE_TRY(const uint64_t offset, at<uint64_t>(table.content, i));
    SOLSTICE_TRY(const uint64_t info, at<uint64_t>(table.content, i + 8));
    SOLSTICE_TRY(const SymbolEntry symbol, at<SymbolEntry>(symbols.content, (info >> 32) * sizeof(SymbolEntry)));
    if (symbol.section >= sections.size() || !sections[symbol.section].name.starts_with(kGlobalPrefix)) continue;
    if (addresses && !is_read(out.reads, offset)) continue;
    SOLSTICE_TRY(std::string name, name_at(sections[symbols.link].content, symbol.name));
    name = plain_name(name);
    if (name.empty()) name = sections[symbol.section].name;  // of the section as a whole
    if (std::find(out.lasting.begin(), out.lasting.end(), name) == out.lasting.end())
      out.lasting.push_back(std::move(name));
  }
  return success();
}

}  // namespace

Result<std::vector<CodeSection>> code_of(std::string_view cubin) {
  SOLSTICE_TRY(const std::vector<Section> sections, sections_of(cubin));
  std::vector<CodeSection> out;
  for (const Section& section : sections) {
    if (section.name.starts_with(kCodePrefix))
      out.push_back({section.name.substr(kCodePrefix.size()), section.content});
  }
  for (const Section& table : sections) {
    if (!holds_relocations(table)) continue;
    const auto changed = std::find_if(out.begin(), out.end(), [&](const CodeSection& code) {
      return table.name == fmt::format(".rel{}{}", kCodePrefix, code.name) ||
             table.name == fmt::format(".rela{}{}", kCodePrefix, code.name);
    });
    if (changed == out.end()) continue;
    const uint64_t step = bytes_of_relocation(table);
    for (uint64_t i = 0; i + step <= table.content.size(); i += step) {
      SOLSTICE_TRY(const uint64_t offset, at<uint64_t>(table.content, i));
      changed->relocated.push_back(offset);
    }
  }
  for (CodeSection& code : out) std::sort(code.relocated.begin(), code.relocated.end());
  return out;
}

Result<bool> has_same_code(std::string_view one, std::string_view other) {
  SOLSTICE_TRY(const std::vector<CodeSection> first, code_of(one));
  SOLSTICE_TRY(const std::vector<CodeSection> second, code_of(other));
  return std::is_permutation(
      first.begin(), first.end(), second.begin(), second.end(),
      [](const CodeSection& a, const CodeSection& b) { return a.name == b.name && a.code == b.code; });
}

Result<CubinFacts> read_cubin(std::string_view cubin) {
  SOLSTICE_TRY(const std::vector<Section> sections, sections_of(cubin));
  CubinFacts out;
  for (const Section& section : sections) {
    if (section.name.starts_with(kCodePrefix)) add_constant_reads(section.content, out.reads);
  }
  for (const Section& section : sections) {
    if (section.name == ".symtab") SOLSTICE_CHECK(read_symbols(sections, section, out));
    if (holds_relocations(section)) SOLSTICE_CHECK(read_relocations(sections, section, out));
    if (!section.name.starts_with(kInfoPrefix)) continue;
    CubinKernel kernel{section.name.substr(kInfoPrefix.size()), {}, 0};
    SOLSTICE_CHECK(read_info(section.content, kernel));
    out.kernels.push_back(std::move(kernel));
  }
  return out;
}

}  // namespace solstice::toolchain

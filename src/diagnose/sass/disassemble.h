// Machine code of a cubin as text that the parser reads, and the facts in it, which are kept by the cubin's content.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "diagnose/sass/facts.h"
#include "toolchain/disassembler.h"

namespace solstice::diagnose {

struct SassOptions {
  std::filesystem::path program = {};  // nvdisasm or cuobjdump; "": the one that is found
  std::filesystem::path cache = {};    // folder; "": `sass` in cache_folder()
  sass::PlacedText source = {};        // whose lines count (sass_of)
  std::filesystem::path headers = {};  // whose marks name parts (sass_of)
  toolchain::DisassembleLimits limits = {};
};

// Errors: not_found (no disassembler, or one of a major version that the parser does not know; the hint has the way
// out), process_failed (it refuses the cubin or dies), deadline.
Result<std::string> disassemble(std::string_view cubin, const SassOptions& options = {});

// By entry. The facts lie in FOLDER/KEY.json by content of the cubin, version of the disassembler and kSassRevision; a
// damaged file is made anew, and beyond 64 MB those go that were not used for longest. Errors: disassemble()'s and
// sass_of()'s.
Result<std::map<std::string, SassFacts>> sass_of_cubin(std::string_view cubin, const SassOptions& options = {});

}  // namespace solstice::diagnose

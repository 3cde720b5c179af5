#include "flow/run/outcome/dropin.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/paths.h"
#include "base/sha256.h"
#include "base/version.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kModule = "model_new.py";
constexpr const char* kRecord = "dropin.json";
constexpr const char* kOriginal = "original.py";
constexpr const char* kModules = "original_modules";
constexpr const char* kRuntime = "solstice_dropin";
constexpr const char* kLibrary = "libsolstice_rt.so";
constexpr const char* kLeftOutNote =
    "\n0 * NaN is not computed: where a mask of the module has made a factor 0, the product is left out. So where an\n"
    "input holds NaN or infinities, results may be numbers in place of PyTorch's NaN (report.md has an example).\n";

template <typename T>
Json list_of(const std::vector<T>& values) {
  Json out = Json::array();
  for (const T& value : values) out.push(Json(value));
  return out;
}

// One entry a leaf of the arguments: a tensor that the kernels take, one that they ignore, or a constant.
Json arguments_of(const DropinParts& parts) {
  Json out = Json::array();
  for (const GraphInput& input : parts.graph.inputs) {
    if (input.kind != GraphInputKind::kUser) continue;
    Json entry = Json::object();
    if (!input.is_tensor()) {
      out.push(entry.set("value", input.value));
      continue;
    }
    for (const importer::ImportedInput& imported : parts.imported.inputs) {
      if (imported.graph_id == input.id && !imported.tensor.empty()) entry.set("buffer", imported.tensor);
    }
    entry.set("dtype", enum_name(*input.dtype));
    out.push(entry.set("shape", list_of(input.shape)).set("stride", list_of(input.stride)));
  }
  return out;
}

Json results_of(const DropinParts& parts) {
  Json out = Json::array();
  for (const importer::ImportedOutput& output : parts.imported.outputs) {
    if (output.tensor.empty()) {
      out.push(Json::object().set("value", output.constant));
    } else {
      out.push(Json::object().set("buffer", output.tensor));
    }
  }
  return out;
}

Json tied_of(const Graph& graph) {
  Json out = Json::object();
  for (const GraphInput& input : graph.inputs) {
    if (!input.tied.empty()) out.set(input.fqn, list_of(input.tied));
  }
  return out;
}

// Buffers whose closed form the program assumes: the drop-in compares them before it trusts the kernels.
Json assumed_of(const Graph& graph) {
  Json out = Json::array();
  for (const GraphInput& input : graph.inputs) {
    if (!input.closed_form) continue;
    Json entry = Json::object().set("path", input.fqn).set("dtype", enum_name(*input.dtype));
    out.push(entry.set("shape", list_of(input.shape)).set("form", to_json(*input.closed_form)));
  }
  return out;
}

// `as_strided` counts elements from the beginning of the storage: the kernels take that for the tensor's.
bool reads_by_place(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const GraphNode& node) {
    const Json* offset = node.args.find("storage_offset");
    return node.op.starts_with("aten.as_strided") && offset && !offset->is_null();
  });
}

Status copy_bytes(const fs::path& from, const fs::path& to) {
  SOLSTICE_TRY(const std::string bytes, read_file(from));
  return write_file(to, bytes);
}

Status copy_runtime(const fs::path& python, const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(python / "solstice" / "dropin", error)) {
    if (entry.path().extension() == ".py")
      SOLSTICE_CHECK(copy_bytes(entry.path(), folder / kRuntime / entry.path().filename()));
  }
  if (error) return fail(Code::not_found, fmt::format("the drop-in runtime is missing: {}", error.message()));
  SOLSTICE_TRY(const fs::path library, companion(kLibrary));
  return copy_bytes(library, folder / kLibrary);
}

// "pkg.layers" of /src/pkg/layers.py is pkg/layers.py, "pkg" of /src/pkg/__init__.py is pkg/__init__.py. The ending is
// the file's own: a module may be a compiled one.
fs::path place_of(const OracleModule& module) {
  const std::string file = fs::path(module.file).filename().string();
  std::string path = module.name;
  std::replace(path.begin(), path.end(), '.', '/');
  const bool package = file.starts_with("__init__.");
  return fs::path(kModules) /
         (package ? fs::path(path) / file : fs::path(path + file.substr(std::min(file.find('.'), file.size()))));
}

// Files of one plan, by their names below `folder`.
Status add_plan_files(const fs::path& folder, const fs::path& place, std::vector<fs::path>& names) {
  std::error_code error;
  names.push_back(place / "plan.json");
  for (const auto& entry : fs::directory_iterator(folder / place, error)) {
    if (entry.path().extension() == ".cubin") names.push_back(place / entry.path().filename());
  }
  if (!error) return success();
  return fail(Code::io_error, fmt::format("cannot list {}: {}", (folder / place).string(), error.message()));
}

// The content that the recording belongs to: kernels of another run beside it are refused.
Result<Json> content_of(const DropinParts& parts, const fs::path& folder) {
  std::vector<fs::path> names;
  if (parts.schedule.is_null()) SOLSTICE_CHECK(add_plan_files(folder, "", names));
  for (const auto& [number, place] : parts.schedule.at("stages").members()) {
    if (parts.predicted) break;
    SOLSTICE_CHECK(add_plan_files(folder, place.as_string(), names));
    names.push_back(fs::path(place.as_string()) / kRecord);
  }
  std::sort(names.begin(), names.end());
  Json out = Json::object();
  for (const fs::path& name : names) {
    SOLSTICE_TRY(const std::string bytes, read_file(folder / name));
    out.set(name.string(), sha256_hex(bytes));
  }
  return out;
}

// The original's, in its file.
std::string name_of(const OracleSubject& subject) { return subject.name.empty() ? subject.class_name : subject.name; }

std::string replaced(std::string text, std::string_view mark, const std::string& value) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

}  // namespace

Json source_of(const OracleSubject& subject) {
  Json modules = Json::array();
  for (const OracleModule& module : subject.modules) {
    modules.push(
        Json::object().set("module", module.name).set("file", place_of(module).string()).set("sha256", module.sha256));
  }
  Json out = Json::object()
                 .set("file", kOriginal)
                 .set("sha256", subject.source_sha256.value_or(""))
                 .set("class", name_of(subject))
                 .set("kind", subject.kind)
                 .set("modules", modules);
  if (!subject.package.empty()) out.set("package", subject.package).set("module", subject.module);
  return out;
}

Status copy_original(const OracleSubject& subject, const fs::path& folder) {
  SOLSTICE_CHECK(copy_bytes(*subject.file, folder / kOriginal));
  for (const OracleModule& module : subject.modules) SOLSTICE_CHECK(copy_bytes(module.file, folder / place_of(module)));
  return success();
}

Result<Json> dropin_record(const DropinParts& parts) {
  if (parts.graph.structure.is_null())
    return fail(Code::bad_record, "the graph lacks `structure`, which guards a drop-in");
  Json record = Json::object();
  record.set("schema", "solstice.dropin/1").set("library", kLibrary);
  if (parts.schedule.is_null()) {
    record.set("plan", "plan.json").set("results", results_of(parts)).set("assumed", assumed_of(parts.graph));
  } else {
    record.set("schedule", parts.schedule).set("parts", parts.parts);
    if (parts.predicted) record.set("predicted", true);
  }
  if (reads_by_place(parts.graph)) record.set("by_place", true);
  record.set("target", parts.target).set("weights", parts.frozen ? "frozen" : "live");
  record.set("arguments", arguments_of(parts));
  record.set("in_tree", parts.graph.in_tree).set("out_tree", parts.graph.out_tree);
  record.set("flags", Json::object()
                          .set("matmul_tf32", parts.subject.flags.matmul_tf32)
                          .set("cudnn_tf32", parts.subject.flags.cudnn_tf32)
                          .set("deterministic", parts.subject.flags.deterministic));
  record.set("structure", parts.graph.structure).set("tied", tied_of(parts.graph));
  if (parts.subject.file) record.set("source", source_of(parts.subject));
  return record;
}

std::string module_text(std::string text, const DropinParts& parts, const fs::path& home) {
  std::error_code error;
  text = replaced(std::move(text), "@CLASS@", name_of(parts.subject));
  text = replaced(std::move(text), "@VERSION@", std::string(version()));
  text = replaced(std::move(text), "@NOTE@", parts.left_out ? kLeftOutNote : "");
  return replaced(std::move(text), "@FOLDER@", Json(fs::absolute(home, error).string()).dump());
}

Status write_dropin(const DropinParts& parts, const fs::path& folder, const fs::path& home) {
  SOLSTICE_TRY(const fs::path python, package_folder());
  SOLSTICE_CHECK(copy_runtime(python, folder));
  SOLSTICE_TRY(Json record, dropin_record(parts));
  SOLSTICE_TRY(const Json content, content_of(parts, folder));
  record.set("content", content);
  SOLSTICE_CHECK(write_file(folder / kRecord, record.dump(1)));
  if (!parts.subject.file) return success();
  SOLSTICE_CHECK(copy_original(parts.subject, folder));
  SOLSTICE_TRY(std::string text, read_file(python / "solstice" / "templates" / "model_new.py.in"));
  return write_file(folder / kModule, module_text(std::move(text), parts, home));
}

void remove_dropin(const fs::path& folder) {
  std::error_code ignored;  // what is not there need not be removed
  const Result<std::string> text = read_file(folder / kRecord);
  const Result<Json> record = text.ok() ? parse_json(*text) : Result<Json>(text.error());
  if (record.ok()) {
    for (const auto& [number, place] : record->at("schedule").at("stages").members())
      fs::remove_all(folder / place.as_string(), ignored);
  }
  for (const char* name : {kModule, kRecord, kOriginal, kModules, kRuntime, kLibrary})
    fs::remove_all(folder / name, ignored);
}

}  // namespace solstice::flow

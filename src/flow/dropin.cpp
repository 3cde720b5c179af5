#include "flow/dropin.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/version.h"

namespace solstice::flow {
namespace fs = std::filesystem;
namespace {

constexpr const char* kOriginal = "original.py";
constexpr const char* kRuntime = "solstice_dropin";
constexpr const char* kLibrary = "libsolstice_rt.so";

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
    for (const ir::ImportedInput& imported : parts.imported.inputs) {
      if (imported.graph_id == input.id && !imported.tensor.empty()) entry.set("buffer", imported.tensor);
    }
    entry.set("dtype", enum_names(*input.dtype)[static_cast<size_t>(*input.dtype)]);
    out.push(entry.set("shape", list_of(input.shape)).set("stride", list_of(input.stride)));
  }
  return out;
}

Json results_of(const DropinParts& parts) {
  Json out = Json::array();
  for (const ir::ImportedOutput& output : parts.imported.outputs) {
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

Status copy_bytes(const fs::path& from, const fs::path& to) {
  SOLSTICE_TRY(const std::string bytes, read_file(from));
  return write_file(to, bytes);
}

Status copy_runtime(const fs::path& python, const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(python / "solstice" / "dropin", error)) {
    if (entry.path().extension() == ".py") SOLSTICE_CHECK(copy_bytes(entry.path(), folder / kRuntime / entry.path().filename()));
  }
  if (error) return fail(Code::not_found, fmt::format("the drop-in runtime is missing: {}", error.message()));
  SOLSTICE_TRY(const fs::path library, companion(kLibrary));
  return copy_bytes(library, folder / kLibrary);
}

std::string replaced(std::string text, std::string_view mark, const std::string& value) {
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

}  // namespace

Result<Json> dropin_record(const DropinParts& parts) {
  if (parts.graph.structure.is_null()) return fail(Code::bad_record, "the graph lacks `structure`, which guards a drop-in");
  Json record = Json::object();
  record.set("schema", "solstice.dropin/1").set("plan", "plan.json").set("library", kLibrary);
  record.set("target", parts.target).set("weights", parts.frozen ? "frozen" : "live");
  record.set("arguments", arguments_of(parts)).set("results", results_of(parts));
  record.set("in_tree", parts.graph.in_tree).set("out_tree", parts.graph.out_tree);
  record.set("flags", Json::object()
                          .set("matmul_tf32", parts.flags.matmul_tf32)
                          .set("cudnn_tf32", parts.flags.cudnn_tf32)
                          .set("deterministic", parts.flags.deterministic));
  record.set("structure", parts.graph.structure).set("tied", tied_of(parts.graph));
  if (parts.subject.file) {
    record.set("source", Json::object()
                             .set("file", kOriginal)
                             .set("sha256", parts.subject.source_sha256.value_or(""))
                             .set("class", parts.subject.class_name));
  }
  return record;
}

Status write_dropin(const DropinParts& parts, const fs::path& folder, const fs::path& home) {
  SOLSTICE_TRY(const fs::path python, data_folder("python"));
  SOLSTICE_CHECK(copy_runtime(python, folder));
  SOLSTICE_TRY(const Json record, dropin_record(parts));
  SOLSTICE_CHECK(write_file(folder / "dropin.json", record.dump(1)));
  if (!parts.subject.file) return success();
  SOLSTICE_CHECK(copy_bytes(*parts.subject.file, folder / kOriginal));
  SOLSTICE_TRY(std::string text, read_file(python / "solstice" / "templates" / "model_new.py.in"));
  std::error_code error;
  text = replaced(std::move(text), "@CLASS@", parts.subject.class_name);
  text = replaced(std::move(text), "@VERSION@", std::string(version()));
  text = replaced(std::move(text), "@FOLDER@", Json(fs::absolute(home, error).string()).dump());
  return write_file(folder / "model_new.py", text);
}

}  // namespace solstice::flow

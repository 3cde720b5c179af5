#include "codesearch/refresh.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "codesearch/programs.h"

namespace solstice::codesearch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStoreNote = "store";  // the mark of programs.h
constexpr const char* kUnread = "-";         // no store has this mark
constexpr size_t kBatch = 64;                // files that are prepared while those before them are written
// Beyond this share of changed files a new index is made, without the rows that changed files leave behind.
constexpr double kMostChanged = 0.25;

// Waits for other processes that build; ends with the object.
class BuildLock {
 public:
  static Result<BuildLock> take(const fs::path& file, const Say& say) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) {
      return fail(
          Code::io_error,
          fmt::format("cannot write the code index in {}: {}", file.parent_path().string(), std::strerror(errno)),
          "SOLSTICE_CACHE names another folder");
    }
    BuildLock lock(descriptor);
    if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (say) say("another solstice builds the code index: waiting for it");
      while (::flock(descriptor, LOCK_EX) != 0) {
        if (errno == EINTR) continue;
        return fail(Code::io_error, fmt::format("cannot lock {}: {}", file.string(), std::strerror(errno)));
      }
    }
    return lock;
  }
  BuildLock(BuildLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  BuildLock& operator=(BuildLock&&) = delete;
  ~BuildLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  explicit BuildLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// What has to be done to make the index what the files are.
struct Changes {
  std::vector<SourceFile> unread;     // new, or with another size, time or place
  std::vector<IndexedFile> vanished;  // that are no more
  bool none() const { return unread.empty() && vanished.empty(); }
};

// `programs`: whether those of the store are among the sources; else they stay as they are.
Changes changes_of(const std::map<std::string, IndexedFile>& indexed, const std::vector<SourceFile>& sources,
                   bool programs) {
  Changes out;
  std::map<std::string, IndexedFile> left = indexed;
  if (!programs) std::erase_if(left, [](const auto& entry) { return entry.second.file.empty(); });
  for (const SourceFile& source : sources) {
    const auto known = left.find(source.path);
    const bool same = known != left.end() && known->second.size == source.size && known->second.time == source.time &&
                      known->second.file == source.file;
    if (!same) out.unread.push_back(source);
    if (known != left.end()) left.erase(known);
  }
  for (const auto& [path, file] : left) out.vanished.push_back(file);
  return out;
}

IndexedFile indexed_as(const SourceFile& source, int64_t number) {
  return {.number = number,
          .path = source.path,
          .file = source.file,
          .size = source.size,
          .time = source.time,
          .hash = "",
          .about = source.about};
}

Result<std::string> text_of(const SourceFile& source) {
  return source.file.empty() ? Result<std::string>(source.text) : read_file(source.file);
}

std::vector<Result<Prepared>> prepare_batch(const std::vector<SourceFile>& sources, size_t first) {
  const size_t count = std::min(kBatch, sources.size() - first);
  std::vector<Result<Prepared>> out(count, Result<Prepared>(Prepared{}));
  for_each_parallel(count, [&](size_t i) {
    const SourceFile& source = sources[first + i];
    const Result<std::string> text = text_of(source);
    out[i] =
        text.ok() ? Result<Prepared>(prepare(source.path, *text, source.file.empty())) : Result<Prepared>(text.error());
  });
  return out;
}

class Refresher {
 public:
  explicit Refresher(const RefreshOptions& options)
      : options_(options), file_(options.folder / "index.db"), unfinished_(options.folder / "index.new") {}

  Result<IndexFile> run() {
    SOLSTICE_TRY(sources_, list_sources(options_.roots));
    if (sources_.empty())
      return fail(Code::not_found, "there is no code to search", "`solstice doctor` says what is missing");
    if (!options_.anew) {
      Result<IndexFile> index = as_it_is();
      if (index.ok()) return index;
    }
    SOLSTICE_CHECK(make_folder(options_.folder));
    SOLSTICE_TRY(const BuildLock lock, BuildLock::take(options_.folder / "lock", options_.say));
    if (!options_.anew) {
      Result<IndexFile> index = as_it_is();  // another process may have built it meanwhile
      if (index.ok()) return index;
    }
    SOLSTICE_CHECK(options_.anew ? build() : change());
    return IndexFile::open(file_);
  }

 private:
  // The index if it needs no change. An error only leads to the change.
  Result<IndexFile> as_it_is() {
    SOLSTICE_TRY(IndexFile index, IndexFile::open(file_));
    SOLSTICE_TRY(const auto indexed, index.files());
    SOLSTICE_TRY(const std::string mark, index.note(kStoreNote));
    if (changes_of(indexed, sources_, false).none() && programs(mark).mark == mark) return index;
    return fail(Code::store_error, "files have changed");
  }

  // A store that cannot be read leaves code search without its programs, and says so.
  Programs programs(const std::string& known) const {
    Result<Programs> found = verified_programs(options_.store, known);
    if (found.ok()) return std::move(found).value();
    say("programs of the run store are left out: " + found.error().sentence());
    return {};
  }

  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  Status change() {
    std::error_code ignored;
    if (!fs::exists(file_, ignored)) return build();
    Result<IndexFile> index = IndexFile::change(file_);
    Result<std::map<std::string, IndexedFile>> indexed =
        index.ok() ? index->files() : Result<std::map<std::string, IndexedFile>>(index.error());
    if (!indexed.ok()) {
      say(indexed.error().message + ": it is built again");
      return build();
    }
    Status changed = update(*index, *indexed);
    if (changed.ok() || changed.error().code != Code::store_error) return changed;
    say(changed.error().message + ": it is built again");
    return build();
  }

  Status update(IndexFile& index, const std::map<std::string, IndexedFile>& indexed) {
    SOLSTICE_TRY(const std::string mark, index.note(kStoreNote));
    const Programs of_store = programs(mark);
    const bool new_programs = of_store.mark != mark;
    sources_.insert(sources_.end(), of_store.files.begin(), of_store.files.end());
    Changes changes = changes_of(indexed, sources_, new_programs);
    SOLSTICE_TRY(auto all, store::Transaction::write(index.database()));
    SOLSTICE_TRY(int64_t next, index.next_number());
    const size_t gone = changes.vanished.size();
    std::vector<std::pair<IndexedFile, std::string>> renewed;
    for (const SourceFile& source : changes.unread) {
      SOLSTICE_TRY(std::string text, text_of(source));
      const auto known = indexed.find(source.path);
      if (known != indexed.end() && known->second.hash == hash_hex(text)) {
        SOLSTICE_CHECK(index.touch(indexed_as(source, known->second.number)));
      } else {
        if (known != indexed.end()) changes.vanished.push_back(known->second);
        renewed.emplace_back(indexed_as(source, next++), std::move(text));
      }
    }
    const size_t stale = renewed.size() + gone;
    if (static_cast<double>(stale) > kMostChanged * static_cast<double>(indexed.size())) {
      say(fmt::format("{} files have changed: the code index is built again", stale));
      std::erase_if(sources_, [](const SourceFile& source) { return source.file.empty(); });
      return build();
    }
    for (const IndexedFile& file : changes.vanished) SOLSTICE_CHECK(index.drop(file.number));
    for (const auto& [file, text] : renewed)
      SOLSTICE_CHECK(index.add(file, prepare(file.path, text, file.file.empty())));
    SOLSTICE_CHECK(index.write_words());
    SOLSTICE_CHECK(index.set_note(kStoreNote, of_store.mark));
    SOLSTICE_CHECK(all.commit());
    if (stale > 0)
      say(fmt::format("code index: {} {} changed, indexed again", stale, stale == 1 ? "file has" : "files have"));
    return success();
  }

  Status build() {
    const Seconds begin = monotonic_now();
    std::error_code ignored;
    fs::remove(unfinished_, ignored);
    const Programs of_store = programs(kUnread);
    sources_.insert(sources_.end(), of_store.files.begin(), of_store.files.end());
    {
      SOLSTICE_TRY(IndexFile index, IndexFile::make(unfinished_));
      SOLSTICE_TRY(auto all, store::Transaction::write(index.database()));
      SOLSTICE_CHECK(fill(index));
      SOLSTICE_CHECK(index.write_words());
      SOLSTICE_CHECK(index.set_note(kStoreNote, of_store.mark));
      SOLSTICE_CHECK(index.merge());
      SOLSTICE_CHECK(all.commit());
    }
    std::error_code error;
    fs::rename(unfinished_, file_, error);
    if (error) return fail(Code::io_error, fmt::format("cannot write {}: {}", file_.string(), error.message()));
    const auto size = fs::file_size(file_, ignored);
    say(fmt::format("code index: {} files in {:.1f} s, {:.0f} MB", sources_.size(), (monotonic_now() - begin).value,
                    static_cast<double>(size) / 1e6));
    return success();
  }

  Status fill(IndexFile& index) {
    int64_t number = 1;
    auto batch = std::async(std::launch::async, prepare_batch, std::cref(sources_), size_t{0});
    for (size_t first = 0; first < sources_.size(); first += kBatch) {
      const std::vector<Result<Prepared>> prepared = batch.get();
      if (first + kBatch < sources_.size())
        batch = std::async(std::launch::async, prepare_batch, std::cref(sources_), first + kBatch);
      say_progress(first);
      for (size_t i = 0; i < prepared.size(); ++i) {
        SOLSTICE_CHECK(prepared[i]);
        SOLSTICE_CHECK(index.add(indexed_as(sources_[first + i], number++), *prepared[i]));
      }
    }
    return success();
  }

  // A quarter at a time: enough for a person, little for a log.
  void say_progress(size_t done) const {
    const size_t quarter = std::max(size_t{1}, sources_.size() / 4);
    if (done == 0)
      say(fmt::format("building the code index of {} files", sources_.size()));
    else if (done / quarter != (done - kBatch) / quarter)
      say(fmt::format("building the code index: {} of {} files", done, sources_.size()));
  }

  const RefreshOptions& options_;
  fs::path file_, unfinished_;
  std::vector<SourceFile> sources_;
};

}  // namespace

Result<IndexFile> refreshed_index(const RefreshOptions& options) { return Refresher(options).run(); }

}  // namespace solstice::codesearch

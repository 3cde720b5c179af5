#include "base/paths.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file.h"

namespace solstice {
namespace {

namespace fs = std::filesystem;

// Sets a variable for one test and puts the old value back.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Paths, FindTheSourceTreeFromABuildFolder) {
  const Result<fs::path> root = data_root();
  ASSERT_TRUE(root.ok()) << root.error().text();
  EXPECT_TRUE(fs::equivalent(*root, SOLSTICE_SOURCE_DIR));
  EXPECT_TRUE(data_folder("machines").ok());
  EXPECT_EQ(data_folder("no-such-folder").error().code, Code::not_found);
}

TEST(Paths, RootCanBeSetAndIsChecked) {
  const TempFolder folder = std::move(TempFolder::create("paths-")).value();
  const Variable root("SOLSTICE_ROOT", folder.path().string());
  EXPECT_EQ(data_root().error().code, Code::not_found);
  ASSERT_TRUE(make_folder(folder.path() / "kernels").ok());
  ASSERT_TRUE(make_folder(folder.path() / "machines").ok());
  EXPECT_EQ(*data_root(), folder.path());
}

TEST(Paths, UserFoldersFollowTheEnvironment) {
  const Variable home("HOME", "/h");
  const Variable xdg("XDG_CACHE_HOME", "/x");
  const Variable own("SOLSTICE_CACHE", "");
  EXPECT_EQ(*cache_folder(), "/x/solstice");
  const Variable set("SOLSTICE_CACHE", "/own");
  EXPECT_EQ(*cache_folder(), "/own");
}

TEST(Paths, OurPythonFindsThePackageAndAPlaceForBytecode) {
  const Variable set("SOLSTICE_CACHE", "own");
  const Variable path("PYTHONPATH", "/theirs");
  const auto environment = python_environment();
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->at("PYTHONPATH"), data_folder("python")->string() + ":/theirs");
  EXPECT_EQ(environment->at("SOLSTICE_BYTECODE"), fs::current_path() / "own/bytecode");
}

// As a wheel lies in an environment, and in a folder of `pip install --target`.
TEST(Paths, APackageThatPipInstalledIsFoundAndItsFolderIsNotPutFirst) {
  const TempFolder folder = std::move(TempFolder::create("paths-")).value();
  const Variable path("PYTHONPATH", "/theirs");
  for (const char* name : {"site-packages", "chosen"}) {
    const fs::path package = folder.path() / name / "solstice";
    const Variable root("SOLSTICE_ROOT", (package / "_program").string());
    ASSERT_TRUE(make_folder(package / "_program/kernels").ok() && make_folder(package / "_program/machines").ok());
    EXPECT_EQ(package_folder().error().code, Code::not_found);
    EXPECT_FALSE(is_installed());
    ASSERT_TRUE(write_file(package / "__init__.py", "").ok());
    EXPECT_EQ(*package_folder(), folder.path() / name);
    EXPECT_TRUE(is_installed());
  }
  {
    const Variable root("SOLSTICE_ROOT", (folder.path() / "site-packages/solstice/_program").string());
    EXPECT_FALSE(python_environment()->contains("PYTHONPATH"));
  }
  const Variable root("SOLSTICE_ROOT", (folder.path() / "chosen/solstice/_program").string());
  EXPECT_EQ(python_environment()->at("PYTHONPATH"), (folder.path() / "chosen").string() + ":/theirs");
}

TEST(Paths, ProgramsAreFoundOnPath) {
  EXPECT_TRUE(find_program("sh").ok());
  EXPECT_EQ(find_program("no-such-program-here").error().code, Code::not_found);
}

TEST(Paths, AWrongPythonIsNamed) {
  const Variable python("SOLSTICE_PYTHON", "/no/python");
  const Result<fs::path> found = python_path();
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::no_python);
  EXPECT_NE(found.error().message.find("/no/python"), std::string::npos);
}

TEST(Paths, ACompanionThatIsNotBuiltIsNamed) { EXPECT_EQ(companion("solstice-no-such").error().code, Code::not_found); }

}  // namespace
}  // namespace solstice

# Sourced by ./x: finds or installs what Solstice needs, and builds. Everything is printed on stderr, so that
# `./x COMMAND --json` stays parseable. Needs `root`; sets `python`.

packages="cmake ninja-build g++ ccache nlohmann-json3-dev libfmt-dev libcli11-dev libgtest-dev libseccomp-dev
  libsqlite3-dev libtomlplusplus-dev libxxhash-dev libboost-dev libssl-dev"
python=$root/.venv/bin/python
torch_cpu_index=${SOLSTICE_TORCH_CPU_INDEX:-https://download.pytorch.org/whl/cpu}  # PyTorch's own

say() { echo "x: $*" >&2; }
die() { say "$*"; exit 3; }

has_package() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_packages NAME...: those that are missing, by apt where we may; else the one line to run.
install_packages() {
  local missing="" name sudo=""
  command -v dpkg-query >/dev/null || { say "no dpkg here; CMake will name what is missing of: $*"; return; }
  for name in "$@"; do has_package "$name" || missing+=" $name"; done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    sudo="sudo"
    sudo -n true 2>/dev/null || die "missing packages; run this line, then ./x again: sudo apt-get install -y$missing"
  fi
  say "installing$missing"
  { $sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq \
    --no-install-recommends $missing; } >&2 || die "apt-get failed; the packages are:$missing"
}

has_gpu() { [ -e /dev/nvidia0 ] || nvidia-smi -L >/dev/null 2>&1; }

# The Python that .venv is made from: SOLSTICE_BASE_PYTHON, else the one that made it, else python3. Its PyTorch, if new
# enough, is used as it is.
base_python() {
  local name=${SOLSTICE_BASE_PYTHON:-$(cat "$root/.venv/.base" 2>/dev/null || echo python3)} path
  path=$(command -v "$name") ||
    die "$name is missing: sudo apt-get install -y python3, or SOLSTICE_BASE_PYTHON=/path/to/python3 ./x setup"
  "$path" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' ||
    die "$path is $("$path" --version), but PyTorch and its tools need 3.11 to 3.13; name one:" \
      "SOLSTICE_BASE_PYTHON=/path/to/python3 ./x setup"
  echo "$path"
}

has_torch() {
  "$1" -c 'import torch; v = torch.__version__.split("."); exit((int(v[0]), int(v[1])) < (2, 11))' 2>/dev/null
}

# Beside a GPU a build without CUDA is none.
has_fitting_torch() {
  has_torch "$1" && { ! has_gpu || "$1" -c 'import torch; exit(torch.version.cuda is None)' 2>/dev/null; }
}

toolkit_has_nvrtc() {
  local folder
  for folder in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda; do
    if compgen -G "$folder/lib64/libnvrtc.so*" >/dev/null && [ -e "$folder/include/cuda_fp16.h" ]; then return 0; fi
  done
  return 1
}

torch_has_nvrtc() {
  "$python" -c '
import importlib.metadata as m, torch
exit(not (torch.version.cuda and m.version("nvidia-cuda-nvrtc")))' 2>/dev/null
}

pip_install() { "$python" -m pip install -qq --disable-pip-version-check "$@" 1>&2; }

install_torch() {
  if has_fitting_torch "$python"; then return; fi
  local pin
  pin=$(grep -v '^#' "$root/requirements-torch.txt")
  say "installing $pin (this is the large one)"
  # pip takes an installed CPU build for the same version.
  if has_gpu; then
    if has_torch "$python"; then pip_install --force-reinstall "$pin"; else pip_install "$pin"; fi
    return
  fi
  # The CPU build is a tenth of the size. It has an index of its own; the default index has the CUDA build.
  pip_install "$pin+cpu" 2>"$root/.venv/pip.log" ||
    pip_install "$pin+cpu" --extra-index-url "$torch_cpu_index" || pip_install "$pin" ||
    { cat "$root/.venv/pip.log" >&2; return 1; }
}

toolkit_has_disassembler() {
  command -v nvdisasm cuobjdump >/dev/null || compgen -G "${CUDA_HOME:-/usr/local/cuda}/bin/nvdisasm" >/dev/null
}

install_cuda() {
  local names=(cutlass) pins=() name
  if ! toolkit_has_nvrtc && ! torch_has_nvrtc; then names+=(cuda-nvrtc cuda-runtime cuda-crt cuda-cccl); fi
  if ! toolkit_has_disassembler; then names+=(cuda-nvdisasm); fi
  for name in "${names[@]}"; do pins+=("$(grep "^nvidia-$name==" "$root/requirements-cuda.txt")"); done
  pip_install --no-deps "${pins[@]}"
}

site_packages() { "$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }

# A venv made from another one sees the packages of neither: `--system-site-packages` means those of the Python beneath.
share_packages() {
  local base=$1
  if "$base" -c 'import sys; sys.exit(sys.prefix != sys.base_prefix)'; then return; fi
  # addsitedir: its .pth files count too.
  # Its name puts it after solstice.pth.
  echo "import site; site.addsitedir('$(site_packages "$base")')" >"$(site_packages "$python")/venv_base.pth"
}

make_venv() {
  local base=$1 options=()
  if has_torch "$base"; then options=(--system-site-packages); fi
  if [ ! -x "$python" ] || [ "$(cat "$root/.venv/.base" 2>/dev/null)" != "$base" ]; then
    "$base" -m venv --clear ${options[@]+"${options[@]}"} "$root/.venv" >&2 || die "$base cannot make .venv"
    echo "$base" >"$root/.venv/.base"
  fi
  if has_torch "$base"; then share_packages "$base"; fi
  install_torch || die "PyTorch could not be installed; install it (>= 2.11) for $base, then ./x again"
  pip_install -r "$root/requirements.txt" || die "Python packages could not be installed (requirements.txt)"
  install_cuda || die "NVRTC could not be installed (requirements-cuda.txt)"
  # `import solstice` works in .venv. A new file: a copied .venv may share the old one by a hard link.
  local path_file
  path_file=$(site_packages "$python")/solstice.pth
  rm -f "$path_file"
  echo "$root/python" >"$path_file"
}

# rewrite FILE SED..: a new file in its place, not the content that a copy may share by a hard link.
rewrite() {
  local file=$1
  shift
  cp -p "$file" "$file.new" && sed "$@" "$file" >"$file.new" && mv -f "$file.new" "$file"
}

# A clone that was copied or moved brings a .venv that names the old place: scripts run another Python or none, and
# `import solstice` finds the other clone.
settle_venv() {
  local venv=$root/.venv old file
  [ -e "$venv/pyvenv.cfg" ] || return 0
  old=$(sed -n 's/^command = .* -m venv \(--[a-z-]* \)*//p' "$venv/pyvenv.cfg")
  if [ -n "$old" ] && ! [ "$old" -ef "$venv" ]; then
    say ".venv was made at $old; correcting its paths"
    { grep -rlIF --exclude-dir=__pycache__ -e "$old" "$venv/bin" "$venv/pyvenv.cfg" || true; } | while read -r file; do
      rewrite "$file" "s|$(quoted "$old")|$(quoted "$venv")|g"
    done
  fi
  for file in "$venv"/lib/python*/site-packages/solstice.pth; do
    if [ -e "$file" ] && ! [ "$(cat "$file")" -ef "$root/python" ]; then
      say ".venv imports solstice from $(cat "$file"); correcting its path"
      rewrite "$file" "s|.*|$(quoted "$root/python")|"
    fi
  done
}

# For sed, with | as its separator.
quoted() { printf %s "$1" | sed 's/[][\\.*^$|&]/\\&/g'; }

# CMake refuses a build folder of another place.
settle_build() {
  local cache=$root/build/CMakeCache.txt home
  [ -e "$cache" ] || return 0
  home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  if [ -z "$home" ] || [ "$home" -ef "$root" ]; then return 0; fi
  say "build/ was made at $home; building anew"
  rm -rf "$root/build"
}

# All that a set-up depends on. PyTorch's version is read, not imported: that takes seconds.
stamp_of() {
  local base=$1
  {
    cat "$root"/requirements*.txt "$root/tools/setup.sh"
    echo "$base"
    if has_gpu; then echo "a GPU"; fi
    "$base" -c 'import importlib.metadata as m; print("torch", m.version("torch"))' 2>/dev/null || echo "no torch"
  } | sha256sum
}

# Once for each stamp.
set_up() {
  local base stamp
  settle_venv
  base=$(base_python) || exit
  stamp=$(stamp_of "$base")
  if [ "$(cat "$root/.venv/.stamp" 2>/dev/null)" = "$stamp" ]; then return; fi
  local venv=""
  "$base" -c 'import ensurepip, venv' 2>/dev/null || venv=python3-venv
  install_packages $packages $venv
  say "setting up .venv"
  make_venv "$base"
  echo "$stamp" >"$root/.venv/.stamp"
}

# Only CI installs the second compiler and a browser; elsewhere what needs them is skipped aloud when they are missing.
set_up_tests() {
  if [ "${CI:-}" = true ]; then install_packages clang-14 libclang-rt-14-dev chromium; fi
}

# build TARGET...: silent where there is little to do.
build() {
  local quiet=--quiet
  settle_build
  if [ ! -e "$root/build/build.ninja" ]; then
    say "configuring"
    cmake -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release >&2 || die "CMake failed"
    say "building; the first time takes a few minutes"
    quiet=
  fi
  ninja -C "$root/build" $quiet "$@" >&2 || die "the build failed"
}

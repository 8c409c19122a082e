# What a build needs, by Debian's package names; sourced by ./quickstart and ./check.

# Each of these installs what is missing:
#   need_build   what compiles Krafla
#   need_tests   what tests read and compile besides
#   need_slow    what the slow tests build packages with
#   need_pip     what fetches a Python package
missing_packages() {
  command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || echo gcc libc6-dev
  command -v meson >/dev/null 2>&1 || echo meson
  command -v ninja >/dev/null 2>&1 || echo ninja-build
  command -v python3 >/dev/null 2>&1 || echo python3
  command -v pkg-config >/dev/null 2>&1 || echo pkg-config
  pkg-config --exists 'glib-2.0 >= 2.66' 2>/dev/null || echo libglib2.0-dev
}

# install_packages NAME...: through apt-get, with sudo only where it is needed.
install_packages() {
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "error: please install (Debian's names): $*" >&2
    return 1
  fi
  sudo=
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
      echo "error: sudo is missing; as root, run: apt-get install $*" >&2
      return 1
    fi
    sudo=sudo
  fi
  echo "installing: $*" >&2
  # an update that fails in part may still have brought what is wanted
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -q update >&2 || true
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get -qy -o DPkg::Lock::Timeout=300 \
    --no-install-recommends install "$@" >&2 || {
    echo "error: could not install: $*" >&2
    return 1
  }
}

need_build() {
  missing=$(missing_packages)
  # what edits lines is worth installing, but never asked for alone
  [ -z "$missing" ] || pkg-config --exists libedit 2>/dev/null || missing="$missing libedit-dev"
  # shellcheck disable=SC2086 # names are words
  [ -z "$missing" ] || install_packages $missing
}

# Without these the build leaves tests out, so a failure to install them is no reason to stop.
need_tests() {
  missing=
  pkg-config --exists jansson 2>/dev/null || missing="$missing libjansson-dev"
  pkg-config --exists libedit 2>/dev/null || missing="$missing libedit-dev"
  command -v c++ >/dev/null 2>&1 || missing="$missing g++"
  command -v abidiff >/dev/null 2>&1 || missing="$missing abigail-tools"
  command -v qemu-x86_64 >/dev/null 2>&1 || missing="$missing qemu-user"
  # shellcheck disable=SC2086 # names are words
  [ -z "$missing" ] || install_packages $missing || true
}

need_slow() {
  missing=
  command -v dh >/dev/null 2>&1 || missing="$missing debhelper"
  command -v dpkg-buildpackage >/dev/null 2>&1 || missing="$missing dpkg-dev"
  # shellcheck disable=SC2086 # names are words
  [ -z "$missing" ] || install_packages $missing || true
}

need_pip() {
  python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
}

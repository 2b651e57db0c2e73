# Debian packages for scripts, which keep what they need in a folder of their own, $out. Sourced.

# Unpacks Debian packages, for what is not installed; nothing of the system changes.
debian() {
  mkdir -p "$out/debian"
  for package in "$@"; do
    compgen -G "$out/debian/${package}_*.deb" >/dev/null || (cd "$out/debian" && apt-get -qq download "$package")
    dpkg -x "$out/debian/${package}"_*.deb "$out/debian"
  done
}

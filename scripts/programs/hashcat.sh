# hashcat: finds a password of six characters from its MD5, the kernels built anew in each run. Sourced by programs.sh.

hashcat() {
  # Not `--self-test-disable`: its self test is one more thing that has to come out right.
  debian hashcat hashcat-data libminizip1 libxxhash0
  local place=$out/build/hashcat password=pgk7zd hash
  if [ ! -d "$place" ]; then
    # From a folder of its own it takes its kernels from there.
    mkdir -p "$place.part"
    cp -a "$out/debian/usr/share/hashcat/." "$out/debian/usr/bin/hashcat" "$place.part"
    rm "$place.part/modules"
    ln -s "$out/debian/usr/lib/hashcat/modules" "$place.part/modules"
    mv "$place.part" "$place"
  fi
  hash=$(printf %s $password | md5sum | cut -c1-32)
  cd "$place"
  measure hashcat "$(debian_version hashcat)" "md5, empty cache" "^$hash:$password\$|^Status.*Cracked" \
    sh -c 'rm -rf "$XDG_CACHE_HOME/hashcat"; exec "$@"' - \
    ./hashcat -m 0 -a 3 --potfile-disable --logfile-disable --force "$hash" '?l?l?l?d?l?l'
}

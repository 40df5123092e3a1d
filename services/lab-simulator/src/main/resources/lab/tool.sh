#!/bin/bash
# A command of the simulated host: asks the lab, prints what it says.
if ! { exec 3<>/dev/tcp/127.0.0.1/@PORT@; } 2>/dev/null; then
  echo "${0##*/}: the lab does not answer" >&2
  exit 255
fi
printf '%s\0' "${0##*/}" "$PWD" "$$" "$#" "$@" >&3
while IFS= read -r -u 3 line; do
  case ${line:0:1} in
    O) printf '%s\n' "${line:1}" ;;
    E) printf '%s\n' "${line:1}" >&2 ;;
    X) exit "${line:1}" ;;
    F)
      exec 3>&-
      here=$(cd "${0%/*}" && pwd)
      real=$(IFS=:; for dir in $PATH; do
        [ "$dir" != "$here" ] && [ -x "$dir/${0##*/}" ] && echo "$dir/${0##*/}" && break
      done)
      if [ -z "$real" ]; then
        echo "${0##*/}: command not found" >&2
        exit 127
      fi
      exec "$real" "$@"
      ;;
  esac
done
exit 255

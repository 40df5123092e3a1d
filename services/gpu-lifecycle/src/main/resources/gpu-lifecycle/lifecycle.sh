#!/bin/sh
# What must happen on the host itself: the fence, guarded changes, and the dead-man's switch.
# Needs a POSIX shell, flock, setsid and xargs. Arguments are only ever passed, never evaluated.
#
#   lease WORKDIR acquire|check|release TOKEN CAMPAIGN    the fencing token in WORKDIR/lease.json
#   arm DIR                                               arms the switch of DIR afresh
#   renew DIR VALUE                                       keeps it from firing; arms it again if it died
#   disarm DIR                                            after the proof only
#   start DIR                                             starts the service, once
#   guarded DIR WORKDIR TOKEN CAMPAIGN VALUE COMMAND...   runs COMMAND if the token is ours and the
#                                                         switch is armed, and never beside a start
#   signal NAME PROCROOT PID:STARTTICKS...                signals a process only if it is still itself
#   tick DIR, watch DIR                                   the switch at work
#
# DIR holds: lifecycle.sh, ttl and period (seconds), mode (run | spawn), argv (NUL after each),
# and for spawn: pidfile, cwd, log. Time is counted in ticks, so a jump of the clock does nothing.
# Exit status: 0 done, 3 nothing more to do (tick), 44 refused, 1 failed.
export LC_ALL=C LANGUAGE=C

refuse() {
  echo "$1"
  exit 44
}

value_of() {
  sed -n 's/.*"'"$2"'": *"\{0,1\}\([^",}]*\)"\{0,1\}.*/\1/p' "$1" 2>/dev/null
}

lease() {
  workdir=$1 action=$2 token=$3 campaign=$4
  mkdir -p "$workdir" || exit 1
  exec 7>"$workdir/lease.lock"
  flock -w 20 7 || { echo "the lease file is locked" >&2; exit 1; }
  present=$(value_of "$workdir/lease.json" token)
  holder=$(value_of "$workdir/lease.json" holder)
  if [ -n "$present" ] && [ "$present" -gt "$token" ]; then
    refuse "a newer lease is present (token $present, campaign ${holder:-none})"
  fi
  case $action in
    acquire)
      if [ "$present" = "$token" ] && [ "$holder" != "$campaign" ]; then
        refuse "token $token was given to campaign ${holder:-none} before"
      fi
      write_lease '{"token":%s,"holder":"%s"}\n' "$token" "$campaign"
      echo "acquired"
      ;;
    check)
      if [ "$present" != "$token" ] || [ "$holder" != "$campaign" ]; then
        refuse "the host is not leased to campaign $campaign with token $token (present: token ${present:-none}, campaign ${holder:-none})"
      fi
      echo "held"
      ;;
    release)
      # The number stays: it is what makes an older one stale.
      if [ "$holder" = "$campaign" ]; then
        write_lease '{"token":%s}\n' "$token"
      fi
      echo "released"
      ;;
    *)
      echo "unknown action $action" >&2
      exit 1
      ;;
  esac
  flock -u 7
}

write_lease() {
  format=$1
  shift
  # shellcheck disable=SC2059
  printf "$format" "$@" >"$workdir/lease.json.new" &&
    mv "$workdir/lease.json.new" "$workdir/lease.json" || exit 1
}

running() {
  pid=$(cat "$1" 2>/dev/null) || return 1
  case $pid in '' | *[!0-9]*) return 1 ;; esac
  line=$(cat "/proc/$pid/stat" 2>/dev/null) || return 1
  line=${line##*\) }
  case $line in Z* | X* | '') return 1 ;; esac
}

start() {
  dir=$1
  (
    flock 9 || exit 1
    case $(cat "$dir/mode") in
      run)
        xargs -0 sh -c 'exec "$@" 7>&- 8>&- 9>&-' start <"$dir/argv"
        ;;
      spawn)
        pidfile=$(cat "$dir/pidfile")
        running "$pidfile" && exit 0
        rm -f "$pidfile"
        cd "$(cat "$dir/cwd")" || exit 1
        xargs -0 sh -c '
          pidfile=$1 log=$2
          shift 2
          setsid sh -c "echo \$\$ >\"\$0.new\" && mv \"\$0.new\" \"\$0\" && exec \"\$@\"" \
            "$pidfile" "$@" </dev/null >>"$log" 2>&1 7>&- 8>&- 9>&- &
        ' start "$pidfile" "$(cat "$dir/log")" <"$dir/argv" || exit 1
        tries=0
        until [ -s "$pidfile" ]; do
          tries=$((tries + 1))
          [ "$tries" -le 100 ] || exit 1
          sleep 0.1
        done
        ;;
      *)
        exit 1
        ;;
    esac
  ) 9>"$dir/start.lock"
}

jobs_marked() {
  grep -lzF "PLUMBLINE_JOB=$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

# A probe that runs on without its Plumbline holds the memory that the service needs to load.
end_jobs() {
  mark=$(dirname "$(dirname "$1")")/runs/$(basename "$1" .switch)-
  for name in TERM KILL; do
    tries=100
    for pid in $(jobs_marked "$mark"); do
      echo "$(date): SIG$name to process $pid of a job"
      kill -s "$name" "$pid"
    done
    while [ -n "$(jobs_marked "$mark")" ] && [ "$tries" -gt 0 ]; do
      tries=$((tries - 1))
      sleep 0.1
    done
  done
}

put() {
  echo "$2" >"$1.new" && mv "$1.new" "$1"
}

tick() {
  dir=$1
  # Its folder is gone: whoever removed it has no use for the switch any more.
  [ -s "$dir/ttl" ] && [ -s "$dir/period" ] || return 3
  [ -e "$dir/disarmed" ] && return 3
  [ -e "$dir/fired" ] && return 3
  ttl=$(cat "$dir/ttl") period=$(cat "$dir/period")
  renewed=$(cat "$dir/renewed" 2>/dev/null) seen=$(cat "$dir/seen" 2>/dev/null)
  idle=$(cat "$dir/idle" 2>/dev/null)
  if [ "$renewed" = "$seen" ]; then
    idle=$((${idle:-0} + period))
  else
    idle=0
    put "$dir/seen" "$renewed"
  fi
  put "$dir/idle" "$idle"
  [ "$idle" -lt "$ttl" ] && return 0
  echo "$(date): the lease was not renewed for $idle s: starting the service"
  end_jobs "$dir"
  if start "$dir"; then
    put "$dir/fired" "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "$(date): started"
    return 3
  fi
  echo "$(date): the start failed; trying again"
  put "$dir/idle" "$((ttl > 30 ? ttl - 30 : 0))"
  return 0
}

watch() {
  dir=$1
  exec 8>"$dir/watch.lock"
  flock -n 8 || exit 0
  period=$(cat "$dir/period")
  while :; do
    (tick "$dir") 8>&-
    [ $? -eq 3 ] && exit 0
    sleep "$period" 8>&-
  done
}

timer() {
  echo "plumbline-switch-$(basename "$1")"
}

# A systemctl that does not lie beside systemd-run speaks to something else than this systemd.
systemd_here() {
  [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ] || return 1
  one=$(command -v systemctl) && two=$(command -v systemd-run) || return 1
  [ "$(dirname "$one")" = "$(dirname "$two")" ]
}

alive() {
  if systemd_here && systemctl is-active --quiet "$(timer "$1").timer"; then
    echo timer
    return 0
  fi
  if [ -e "$1/watch.lock" ] && ! flock -n "$1/watch.lock" true; then
    echo watchdog
    return 0
  fi
  return 1
}

ensure() {
  dir=$1
  alive "$dir" && return 0
  period=$(cat "$dir/period")
  if systemd_here &&
    systemd-run --quiet --unit="$(timer "$dir")" --on-active="$period" \
      --on-unit-active="$period" --timer-property=AccuracySec=1s --setenv=PATH="$PATH" \
      sh "$dir/lifecycle.sh" tick "$dir" >/dev/null 2>>"$dir/switch.log" 7>&-; then
    echo timer
    return 0
  fi
  setsid sh "$dir/lifecycle.sh" watch "$dir" </dev/null >>"$dir/switch.log" 2>&1 7>&- 9>&- &
  tries=0
  until alive "$dir"; do
    tries=$((tries + 1))
    [ "$tries" -le 100 ] || { echo "the watchdog did not start" >&2; exit 1; }
    sleep 0.1
  done
}

arm() {
  dir=$1
  (
    flock 9 || exit 1
    rm -f "$dir/fired" "$dir/disarmed" "$dir/idle" "$dir/seen"
    ensure "$dir"
  ) 9>"$dir/start.lock"
}

renew() {
  dir=$1
  [ -e "$dir/fired" ] && refuse "fired"
  [ -e "$dir/disarmed" ] && refuse "disarmed"
  put "$dir/renewed" "$2" || exit 1
  ensure "$dir"
}

disarm() {
  dir=$1
  put "$dir/disarmed" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" || exit 1
  if systemd_here && systemctl is-active --quiet "$(timer "$dir").timer"; then
    systemctl stop "$(timer "$dir").timer" || exit 1
  fi
  echo "disarmed"
}

guarded() {
  dir=$1 workdir=$2 token=$3 campaign=$4 value=$5
  shift 5
  (
    flock 9 || exit 1
    (lease "$workdir" check "$token" "$campaign" >"$dir/guard") || refuse "$(cat "$dir/guard")"
    [ -e "$dir/fired" ] && refuse "the dead-man's switch has started the service again"
    [ -e "$dir/disarmed" ] && refuse "the dead-man's switch is not armed"
    alive "$dir" >/dev/null || refuse "the dead-man's switch is not armed"
    put "$dir/renewed" "$value" || exit 1
    "$@" 9>&- </dev/null
  ) 9>"$dir/start.lock"
}

signal() {
  name=$1 procroot=$2
  shift 2
  for wanted in "$@"; do
    pid=${wanted%%:*}
    line=$(cat "$procroot/$pid/stat" 2>/dev/null) || continue
    # shellcheck disable=SC2046,SC2116
    ticks=$(
      set -f
      set -- $(echo "${line##*\) }")
      echo "${20}"
    )
    # env: the program in the PATH, not the shell's own.
    [ "$ticks" = "${wanted##*:}" ] && env kill -s "$name" "$pid" && echo "$pid"
  done
  return 0
}

verb=$1
shift
case $verb in
  lease | arm | renew | disarm | start | guarded | signal | tick | watch) "$verb" "$@" ;;
  *)
    echo "unknown verb $verb" >&2
    exit 1
    ;;
esac

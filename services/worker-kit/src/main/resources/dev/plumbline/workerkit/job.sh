# One long job on a host, known by its directory. This text travels in the variable JOB_SCRIPT and is
# run as: sh -c 'eval "$JOB_SCRIPT"' plumbline-job ACTION DIR ...
#
#   start DIR LIMIT ARGV...   claim DIR by mkdir and start; says "started" or "exists"
#   run DIR LIMIT ARGV...     the runner itself, in a session of its own
#   watch DIR LIMIT           ends the job at its limit
#   look DIR OFFSET           one line "STATE [EXIT [timed-out]]", then output from OFFSET on in base64
#   cancel DIR                end every process of the job, and prove it
#
# In DIR: lock (held by the runner and what it starts; the kernel drops it on any death), runner (its
# pid, written under the lock), command, stdout, stderr, exit (by rename), timed-out, cancel.
# A process belongs to the job when its environment says PLUMBLINE_JOB=DIR, which children inherit
# even where they leave the process group and close the lock.

action=$1
dir=$2
script=$JOB_SCRIPT
again='eval "$JOB_SCRIPT"'

members() {
  grep -lzxF "PLUMBLINE_JOB=$dir" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3
}

signal_members() {
  for pid in $(members); do
    kill "-$1" "$pid" 2>/dev/null
  done
}

# Waits until no member is left, at most $1 tenths of a second.
await_end() {
  tries=$1
  while [ -n "$(members)" ]; do
    [ "$tries" -le 0 ] && return 1
    tries=$((tries - 1))
    sleep 0.1
  done
}

end_members() {
  [ -z "$(members)" ] && return 0
  signal_members TERM
  await_end "$1" && return 0
  signal_members KILL
  await_end 50
}

# Shared, so that two who look do not see each other.
lock_is_free() {
  [ ! -e "$dir/lock" ] || flock -n -s "$dir/lock" true
}

# A pid alone may belong to somebody else by now.
runner_lives() {
  pid=$(cat "$dir/runner" 2>/dev/null) || return 1
  tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF "$dir"
}

case $action in
  start)
    limit=$3
    shift 3
    mkdir -p -- "${dir%/*}" || exit 73
    if ! mkdir -m 700 -- "$dir" 2>/dev/null; then
      if [ -d "$dir" ]; then
        echo exists
        exit 0
      fi
      mkdir -m 700 -- "$dir"
      exit 73
    fi
    printf '%s\n' "$@" >"$dir/command" || exit 74
    : >"$dir/stdout" && : >"$dir/stderr" || exit 74
    JOB_SCRIPT=$script setsid sh -c "$again" plumbline-job run "$dir" "$limit" "$@" \
      </dev/null >/dev/null 2>&1 &
    echo started
    ;;
  run)
    limit=$3
    shift 3
    # Somebody who looks may hold the lock for a moment.
    exec 9>>"$dir/lock" && flock -w 10 9 || exit 75
    echo $$ >"$dir/runner.part" && mv -f "$dir/runner.part" "$dir/runner"
    [ -e "$dir/cancel" ] && exit 0
    cd "$dir" || exit 73
    unset JOB_SCRIPT
    PLUMBLINE_JOB=$dir setsid "$@" </dev/null >>"$dir/stdout" 2>>"$dir/stderr" &
    job=$!
    JOB_SCRIPT=$script setsid sh -c "$again" plumbline-job watch "$dir" "$limit" \
      </dev/null >/dev/null 2>&1 9>&- &
    watcher=$!
    wait "$job"
    status=$?
    kill -KILL "-$watcher" 2>/dev/null || kill -KILL "$watcher" 2>/dev/null
    # What the command left behind would disturb the next one.
    end_members 50
    [ -e "$dir/cancel" ] && exit 0
    [ -e "$dir/timed-out" ] && status="124 timed-out"
    echo "$status" >"$dir/exit.part"
    sync "$dir/exit.part" 2>/dev/null
    mv -f "$dir/exit.part" "$dir/exit"
    ;;
  watch)
    sleep "$3"
    [ -z "$(members)" ] && exit 0
    : >"$dir/timed-out"
    end_members 50
    ;;
  look)
    # Looked at first: the runner writes it under the lock, so a free lock after it is a runner's end.
    begun=
    [ -e "$dir/runner" ] && begun=yes
    if [ ! -d "$dir" ]; then
      echo NOT_FOUND
      exit 0
    elif ! lock_is_free; then
      if [ ! -e "$dir/runner" ] || runner_lives; then echo RUNNING; else echo ORPHANED; fi
    elif [ -e "$dir/exit" ]; then
      echo "DONE $(cat "$dir/exit")"
    elif [ -z "$begun" ]; then
      if [ -e "$dir/cancel" ]; then echo CANCELLED; else echo CLAIMED; fi
    elif [ -n "$(members)" ]; then
      echo ORPHANED
    elif [ -e "$dir/cancel" ]; then
      echo CANCELLED
    else
      echo LOST
    fi
    tail -c "+$(($3 + 1))" "$dir/stdout" 2>/dev/null | head -c 262144 | base64
    ;;
  cancel)
    [ -d "$dir" ] || exit 0
    [ -e "$dir/exit" ] && exit 0
    : >"$dir/cancel" || exit 74
    end_members 100
    # The runner ends by itself when its command has ended.
    tries=50
    while ! lock_is_free && [ "$tries" -gt 0 ]; do
      tries=$((tries - 1))
      sleep 0.1
    done
    left=$(members)
    if [ -n "$left" ]; then
      echo "still alive after SIGKILL:" $left >&2
      exit 1
    fi
    if ! lock_is_free; then
      echo "no process of the job is seen but its lock $dir/lock is held" >&2
      exit 1
    fi
    ;;
esac

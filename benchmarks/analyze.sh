#!/bin/sh
# Whole processes: how long `plumbline analyze` takes on a large trace, beside `gzip -dc` of the same file, and its peak
# memory. Prints the median of RUNS (5) runs of each, taken in turn so that both see the same machine.
#
#   benchmarks/analyze.sh [TIMES...]     copies of the source trace in one file; default 18 and 180
#
# TRACE: a trace of torch.profiler in gzip. WORK: where the large ones are made and kept.
# The process's own peak is read from VmHWM of /proc, so Linux only. Needs about 250 MB of disk.
set -eu
home=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd -P)
source=${TRACE:-$home/services/trace-analysis/src/test/resources/h200/nccl-eager-rank0.pt.trace.json.gz}
work=${WORK:-${TMPDIR:-/tmp}/plumbline-benchmarks}
runs=${RUNS:-5}
[ $# -gt 0 ] || set -- 18 180
[ -r "$source" ] || { echo "There is no trace $source: set TRACE to a .json.gz of torch.profiler." >&2; exit 2; }
mkdir -p "$work"

now() { date +%s.%N; }
median() { sort -n | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# Runs a command and adds its seconds to the file $1 and its peak KiB, looked at every twentieth of a second, to $2.
measured() {
  seconds=$1 peak=$2
  shift 2
  begin=$(now)
  "$@" >/dev/null 2>"$work/stderr" &
  child=$!
  (
    last=0
    while seen=$(awk '/VmHWM/ { print $2 }' "/proc/$child/status" 2>/dev/null) && [ -n "$seen" ]; do
      last=$seen
      sleep 0.05
    done
    echo "$last" >>"$peak"
  ) &
  sampler=$!
  status=0
  wait "$child" || status=$?
  end=$(now)
  wait "$sampler"
  # 3 says that the verdict is inconclusive.
  if [ "$status" -ne 0 ] && [ "$status" -ne 3 ]; then
    cat "$work/stderr" >&2
    exit "$status"
  fi
  awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }' >>"$seconds"
}

"$home/plumbline" analyze "$source" >/dev/null || [ $? -eq 3 ]
java=${JAVA_HOME:+$JAVA_HOME/bin/}java
printf '%-8s %12s %12s %10s %10s %8s %10s\n' copies 'JSON bytes' 'gzip bytes' 'gzip s' 'analyze s' ratio 'peak MiB'
for times in "$@"; do
  file="$work/$(basename "$source" .pt.trace.json.gz)-x$times.json.gz"
  [ -r "$file" ] || { "$java" "$home/benchmarks/TileTrace.java" "$source" "$file.part.gz" "$times" && mv "$file.part.gz" "$file"; }
  rm -f "$work"/*.s "$work"/*.k
  i=0
  while [ "$i" -lt "$runs" ]; do
    measured "$work/gzip.s" "$work/gzip.k" gzip -dc "$file"
    measured "$work/ours.s" "$work/ours.k" "$home/plumbline" analyze "$file"
    i=$((i + 1))
  done
  gzip_s=$(median <"$work/gzip.s") ours_s=$(median <"$work/ours.s") peak=$(median <"$work/ours.k")
  plain=$(gzip -dc "$file" | wc -c)
  awk -v t="$times" -v p="$plain" -v c="$(wc -c <"$file")" -v g="$gzip_s" -v o="$ours_s" -v k="$peak" \
    'BEGIN { printf "%-8s %12d %12d %10.2f %10.2f %8.2f %10.0f   (%.0f MB/s of JSON)\n", t, p, c, g, o, o / g, k / 1024, p / o / 1e6 }'
done

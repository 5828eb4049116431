# Shows which step of how many a script is at. To be sourced by bash.
#
#   steps_of 5 FILE                 there are five steps; FILE keeps how long each took
#   step TEXT                       begins the next step, whose own output follows
#   quiet_step TEXT COMMAND...      begins the next step, and runs COMMAND in it: its output goes to a log, which is shown if it fails
#
# On a terminal a quiet step is one line, renewed each second: the time so far, that of the last run, and swift build's
# count. Elsewhere it is one line, which is complete when the step ends. With steps_verbose=1 the output is shown as it comes.

steps_total=0
steps_number=0
steps_file=
steps_verbose=${steps_verbose:-0}
steps_ticker=

steps_of() {
  steps_total=$1
  steps_file=$2
}

steps_clock() {
  if (($1 < 120)); then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# How long the step of this text took the last time; nothing if that is not known.
steps_last() {
  [[ -r $steps_file ]] || return 0
  awk -F '\t' -v text="$1" '$1 == text { seconds = $2 } END { if (seconds != "") print seconds }' "$steps_file"
}

steps_keep() {
  local kept
  kept=$(awk -F '\t' -v text="$1" '$1 != text' "$steps_file" 2>/dev/null || true)
  mkdir -p "$(dirname "$steps_file")"
  printf '%s%s\t%d\n' "${kept:+$kept$'\n'}" "$1" "$2" >"$steps_file.new" && mv "$steps_file.new" "$steps_file"
}

step() {
  steps_number=$((steps_number + 1))
  if [[ -t 1 ]]; then
    printf '\n\e[1m%d/%d %s\e[0m\n' "$steps_number" "$steps_total" "$1"
  else
    printf '\n%d/%d %s (%(%H:%M:%S)T)\n' "$steps_number" "$steps_total" "$1" -1
  fi
}

# Draws the line of a quiet step until it is killed.
steps_draw() {
  local text=$1 last=$2 log=$3 begun=$SECONDS count line
  while :; do
    count=$(tail -c 2000 "$log" 2>/dev/null | grep -o '\[[0-9]*/[0-9]*\]' | tail -n 1 || true)
    line="$steps_number/$steps_total $text: $(steps_clock $((SECONDS - begun)))${last:+ of $last last time} $count"
    printf '\r%s\e[K' "${line:0:$((${COLUMNS:-$(tput cols 2>/dev/null || echo 80)} - 1))}"
    sleep 1
  done
}

steps_end_ticker() {
  if [[ -n $steps_ticker ]]; then
    kill "$steps_ticker" 2>/dev/null || true
    wait "$steps_ticker" 2>/dev/null || true
    steps_ticker=
  fi
}

quiet_step() {
  local text=$1 log last status=0 begun=$SECONDS seconds
  shift
  if [[ $steps_verbose == 1 ]]; then
    step "$text"
    "$@"
    return
  fi
  steps_number=$((steps_number + 1))
  log=$(mktemp)
  last=$(steps_last "$text")
  [[ -z $last ]] || last=$(steps_clock "$last")
  if [[ -t 1 ]]; then
    printf '\n'
    steps_draw "$text" "$last" "$log" &
    steps_ticker=$!
  else
    printf '\n%d/%d %s (%(%H:%M:%S)T%s): ' "$steps_number" "$steps_total" "$text" -1 "${last:+, last time $last}"
  fi
  "$@" >"$log" 2>&1 || status=$?
  steps_end_ticker
  seconds=$((SECONDS - begun))
  [[ ! -t 1 ]] || printf '\r\e[1m%d/%d %s\e[0m: \e[K' "$steps_number" "$steps_total" "$text"
  if [[ $status -eq 0 ]]; then
    printf '%s\n' "$(steps_clock "$seconds")"
    steps_keep "$text" "$seconds"
  else
    printf 'failed after %s\n' "$(steps_clock "$seconds")"
    tail -n 200 "$log" >&2
  fi
  rm -f "$log"
  return "$status"
}

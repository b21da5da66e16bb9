/**
 * The reaper: a shell that reads lines until Tiller's end of the pipe closes, by whatever cause, and then ends all it was
 * told of. POSIX sh with its builtins, `sleep` and `grep`: it needs a megabyte and two milliseconds, where a Node would need forty.
 *
 *   mark M        what carries TILLER_CALL=M in its environment is mine
 *   group M P S   process group P, whose leader started at S, belongs to M
 *   free M        nothing of M is left, or it may stay
 *
 * A group whose number now belongs to a later process (its start differs) is left alone.
 */
export const REAPER_SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
marks= groups=
drop() { # drop WORD LIST...: the list without words that begin with WORD
  word=$1; shift; kept=
  for item in "$@"; do case $item in "$word"*) ;; *) kept="$kept $item" ;; esac; done
}
while read -r what mark pid start; do
  case $what in
    mark) marks="$marks $mark" ;;
    group) groups="$groups $mark/$pid/$start" ;;
    free) drop "$mark" $marks; marks=$kept; drop "$mark/" $groups; groups=$kept ;;
  esac
done
[ -n "$marks$groups" ] || exit 0

fields() { # of a stat line: state parent group session ... start, after the name, which may hold anything
  { read -r line < "$1"; } 2>/dev/null || return 1
  set -- \${line##*) }
  state=$1 parent=$2 group=$3 session=$4 begun=\${20}
}
family() {
  found=' ' own=' ' hit=' '
  for item in $groups; do
    pid=\${item#*/}; start=\${pid#*/}; pid=\${pid%%/*}
    if [ -n "$start" ] && fields /proc/$pid/stat && [ "$begun" != "$start" ]; then continue; fi
    own="$own$pid "
  done
  if [ -r /proc/self/stat ]; then
    for stat in /proc/[0-9]*/stat; do
      fields "$stat" || continue
      case $state in Z|X) continue ;; esac
      pid=\${stat#/proc/}; pid=\${pid%/stat}
      case $own in
        *" $group "*) found="$found$pid " hit="$hit-$group "; continue ;;
        *" $session "*) found="$found$pid "; continue ;;
      esac
      case $found in *" $parent "*) found="$found$pid " ;; esac
    done
    set --
    for mark in $marks; do set -- "$@" -e "TILLER_CALL=$mark"; done
    if [ $# -gt 0 ]; then
      for path in $(grep -lFa "$@" /proc/[0-9]*/environ 2>/dev/null); do
        pid=\${path#/proc/}; pid=\${pid%/environ}
        fields /proc/$pid/stat || continue
        case $state in Z|X) continue ;; esac
        case $found in *" $pid "*) ;; *) found="$found$pid " ;; esac
      done
    fi
    return
  fi
  while read -r pid parent group state; do
    case $state in Z*) continue ;; esac
    case $own in *" $group "*) found="$found$pid " hit="$hit-$group "; continue ;; esac
    case $found in *" $parent "*) found="$found$pid " ;; esac
  done <<EOF
$(ps -A -o pid= -o ppid= -o pgid= -o stat=)
EOF
  for mark in $marks; do
    for pid in $(ps -A -E -ww -o pid= -o command= | grep -F "TILLER_CALL=$mark" | while read -r pid rest; do echo "$pid"; done); do
      found="$found$pid "
    done
  done
}
hunt() { # whole groups first: a fork in between does not get away
  for pid in $hit $found; do
    kill -s "$1" -- "$pid"
    [ "$1" = KILL ] || kill -s CONT -- "$pid"
  done 2>/dev/null
}
rest() { sleep 0.1 2>/dev/null || sleep 1; }

family
hunt TERM
for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  family
  [ "$found" = ' ' ] && exit 0
  rest
done
for turn in 1 2 3 4 5 6 7 8 9 10; do
  hunt KILL
  rest
  family
  [ "$found" = ' ' ] && exit 0
done
`

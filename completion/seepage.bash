# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Completion of seepage(8) for bash. tests/ctl/test_completion.py compares the words with
# those that the program lists itself.

_seepage_commands='status ps show watch alerts get set apply reset version help'
_seepage_tools='explain stat record replay export top where cold notify silence ignore ack policy envelope save doctor selftest report'
_seepage_keys='sample_interval_ms suspect_interval_ms max_processes min_process_size_mb policy
	alert_confidence alert_interval_s alerts_per_minute fault_rate_warning fault_rate_critical
	rss_growth_percent monitoring_window_s warmup_s max_cpu_permille pmc pmc_max_counters pmc_events'
_seepage_columns='pid comm user unit state conf rss anon file shmem swap vsz brk growth tte faults age uid policy severity'
_seepage_states='ok watch suspected confirmed runaway recovered exited'
_seepage_alert_states=${_seepage_states#ok watch }
_seepage_policies='ladder classic'
_seepage_pmc='auto off hold on watched'
_seepage_reset='history alerts counters config all'

# What each takes besides -j -p -h
declare -A _seepage_options=(
	[ps]='--state --states --min-confidence --uid --comm --limit --columns --sort --tree'
	[show]='--group'
	[set]='--save'
	[watch]='--since --states --state --min-confidence --count --timeout --wait --no-cold --where'
	[alerts]='--since'
	[apply]='--check'
	[reset]='--pid'
	[explain]='--cold --window'
	[stat]='--interval --count --all --csv --output --log-fd --record --compare --max-ipc-drop --max-llc-increase
		--max-tlb-increase --max-walk-increase --max-remote-increase --max-time-increase'
	[record]='--output --reset --duration --count-passes --comm --suspects --rotate'
	[replay]='--policy --set --limit --no-cold --id --all --alerts --verbose'
	[export]='--output --interval --listen --top --all'
	[top]='--delay --sort --state --user --name --unit --tree --batch --count --width --container'
	[notify]='--exec --webhook --alertmanager --pagerduty-key --pagerduty-key-file --pagerduty-url --journal --syslog --config
		--state --min-confidence --min-severity --url --cacert --timeout --exec-timeout --retry --spool-size --state-dir
		--from --dry-run --test'
	[where]='--seconds --diff --keep --follow --limit --class --top --text --census --burst --object --samples --max-traps --cost --no-probes --again-after --folded --svg --faults --profile --last'
	[cold]='--window'
	[silence]='--unit --name --uid --user --cgroup --for --until --forever --comment --by --remove --from'
	[ack]='--by --remove --from'
	[policy]='--unit --name --cgroup --ignore --confidence --state --growth --limit --comment --replace'
	[envelope]='--every --all'
	[save]='--output'
	[selftest]='--timeout'
	[report]='--output --where'
)

_seepage_pids() {
	local dir
	for dir in /proc/[0-9]*; do
		echo "${dir#/proc/}"
	done
}

# Those that run now. SEEPAGE_ROOT is for tests.
_seepage_units() {
	local dir
	for dir in "${SEEPAGE_ROOT-}"/sys/fs/cgroup/system.slice/*.{service,scope}; do
		[[ ! -d $dir ]] || echo "${dir##*/}"
	done
}

_seepage_names() { cat /proc/[0-9]*/comm 2>/dev/null | LC_ALL=C grep -x '[[:alnum:]._-]*' | sort -u; }

# _seepage_words COMMAND WORD-BEFORE: what may stand here; status 1: a file
_seepage_words() {
	case $1:$2 in
	policy:--state) echo 'suspected confirmed runaway' ;;
	watch:--state | watch:--states | notify:--state) echo "$_seepage_alert_states" ;;
	*:--state | *:--states) echo "$_seepage_states" ;;
	ps:-o | ps:--columns | ps:--sort | top:-o | top:--sort) echo "$_seepage_columns" ;;
	where:--diff | where:--svg | where:-O | where:--object) return 1 ;;
	where:--keep) echo 'first second' ;;
	where:--follow) echo 'census burst' ;;
	watch:--where) echo 'census burst off' ;;
	notify:--*file | notify:--config | notify:--cacert | notify:--from | notify:--*dir | notify:--exec) return 1 ;;
	replay:--policy | set:policy | save:policy) echo "$_seepage_policies" ;;
	set:pmc | save:pmc) echo "$_seepage_pmc" ;;
	save:-o | save:--output | silence:--from | ack:--from) return 1 ;;
	set:*_* | save:*_*) ;; # the value of any other key
	silence:--uid | silence:--user | ps:--uid | top:--user) compgen -u ;;
	silence:--unit | policy:--unit | top:--unit) _seepage_units ;;
	silence:--name | policy:--name | top:--name | ps:--comm | record:--comm) _seepage_names ;;
	silence:--cgroup | policy:--cgroup | policy:check | policy:apply) return 1 ;;
	policy:policy) echo 'list add del check apply' ;;
	envelope:envelope) echo 'list run save restore forget' ;;
	envelope:forget) _seepage_names ;;
	silence:--remove) echo all ;;
	ack:--remove) echo all ;;
	replay:--set) compgen -W "$_seepage_keys" -S = ;;
	stat:--record | stat:-o | stat:--output | record:-o | record:--output | export:-o | export:--output) return 1 ;;
	report:-o | report:--output | report:--where) return 1 ;;
	explain:--window | cold:--window | record:--duration | record:--count-passes | record:--rotate) ;; # a number
	where:-[sn] | where:--seconds | where:--class | where:--top | where:--limit | where:--samples) ;;
	where:--max-traps | where:--cost | where:--again-after) ;;
	stat:-i | stat:--interval | stat:--count | stat:--log-fd | stat:--max-*) ;;
	replay:* | apply:*) return 1 ;;
	show:* | explain:* | report:* | where:* | cold:* | stat:* | record:* | reset:history | reset:--pid) _seepage_pids ;;
	get:* | set:* | save:*) echo "$_seepage_keys" ;;
	reset:*) echo "$_seepage_reset" ;;
	help:*) echo "$_seepage_commands $_seepage_tools" ;;
	esac
}

# _seepage_is_list COMMAND OPTION: takes it words behind commas?
_seepage_is_list() {
	case $1:$2 in
	policy:*) return 1 ;;
	*:--state | *:--states | ps:-o | ps:--columns) ;;
	*) return 1 ;;
	esac
}

_seepage() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' i words list=''
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] && continue
		command=${COMP_WORDS[i]}
		break
	done
	[[ $command != ignore ]] || command=silence
	if [[ ! $command ]]; then
		words="$_seepage_commands $_seepage_tools"
		[[ $word != -* ]] || words='-j --json -p --pretty -h --help -V --version'
	elif [[ $word == -* ]]; then
		words="${_seepage_options[$command]-} -j --json -p --pretty -h --help"
	else
		# bash takes --option=value for three words
		[[ $before != = ]] || before=${COMP_WORDS[COMP_CWORD - 2]}
		[[ $word != = ]] || word=''
		words=$(_seepage_words "$command" "$before") || return
		! _seepage_is_list "$command" "$before" || list=${word%"${word##*,}"}
	fi
	mapfile -t COMPREPLY < <(compgen -P "$list" -W "$words" -- "${word#"$list"}")
	[[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
# Where no word fits, a file may.
complete -o default -F _seepage seepage

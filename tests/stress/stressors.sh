#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# stress-ng's stressors of memory and of processes, one after the other, with readers beside
# them; then two of them go on while the module is unloaded and loaded.
# vm: --smp 2 --mem 1024
# timeout: 2400
# setup: stress
. "$(dirname "$0")/lib.sh"
limit=$((60 * ${SEEPAGE_SLOW:-1}))	# seconds of one stressor, which takes a tenth of that
names=(vm fork vfork exec clone mmap mmapfork brk userfaultfd mremap memfd zombie pthread munmap)
# The operations of a round, and what else the stressor is told.
declare -A wanted=(
	[vm]="1000 --vm-bytes 16M"
	[fork]="400"
	[vfork]="400"
	[exec]="60 --exec-max 16"
	[clone]="50 --clone-max 32"
	[mmap]="20 --mmap-bytes 2M"
	[mmapfork]="2"
	[brk]="3000"
	[userfaultfd]="2000 --userfaultfd-bytes 4M"
	[mremap]="20 --mremap-bytes 4M"
	[memfd]="50 --memfd-bytes 4M --memfd-fds 8"
	[zombie]="200 --zombie-max 100"
	[pthread]="200 --pthread-max 32"
	[munmap]="10"
)

# The memory of all stressors: what they run out of is not the machine's.
group=/sys/fs/cgroup/stressors
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
mkdir $group
echo 512M >$group/memory.max
scratch=$(mktemp -d /tmp/stressors.XXXXXX)
chmod 777 "$scratch"
stress() {
	(
		trap - ERR
		cd "$scratch"
		echo $BASHPID >$group/cgroup.procs
		exec "${user[@]}" stress-ng --temp-path . --seed "$seed" "$@"
	) >stress-ng.log 2>&1
}

# What the kernel that runs was built without.
lacks() { [[ $1 == userfaultfd ]] && ! grep -qw userfaultfd_ioctl /proc/kallsyms; }

# stressor NAME: sets ops to the operations that it did.
stressor() {
	local name=$1 ops_wanted options status=0
	read -r ops_wanted options <<<"${wanted[$name]}"
	rm -f "$scratch/metrics"
	user=()
	# It refuses to run as root.
	[[ $name != exec ]] || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	# shellcheck disable=SC2086 # options are words
	stress "--$name" 2 "--$name-ops" "$(times "$ops_wanted")" $options \
		--timeout "$limit" --metrics-brief --yaml metrics || status=$?
	ops=$(sed -n 's/^ *bogo-ops: *//p' "$scratch/metrics" | head -n 1)
	((status == 0 && ${ops:-0} > 0)) ||
		die "$name: status $status, ${ops:-no} operations: $(tail -n 1 stress-ng.log)"
}

load sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
births=$(status .counters.births)
done_ops=0 run=0 skipped=''
readers strict
for name in "${names[@]}"; do
	if lacks "$name"; then
		skipped+=" $name"
		continue
	fi
	start=$SECONDS
	stressor "$name"
	echo "$name: $ops operations, $((SECONDS - start)) s"
	done_ops=$((done_ops + ops)) run=$((run + 1))
done
end_readers
echo "answers: $answers"
births=$(($(status .counters.births) - births))
((births > $(times 400))) || die "$births births, the stressors alone had more"
check_table

# The module comes and goes under two of them.
user=()
n=$(times 10)
stress --fork 1 --mmap 1 --mmap-bytes 8M --timeout $((10 * limit)) &
stressing=$!
readers patient
for ((i = 1; i <= n; i++)); do
	wait_for 60 rmmod seepage 2>/dev/null
	seconds 0 300
	sleep "$drawn"
	kill -0 $stressing || die "stress-ng ended: $(tail -n 1 stress-ng.log)"
	insmod "$SEEPAGE_KO" sample_interval_ms=100 suspect_interval_ms=100 max_cpu_permille=1000
	seconds 0 600
	sleep "$drawn"
done
pkill -KILL -x 'stress-ng.*' || true
wait $stressing || true
end_readers
check_table
echo "$run stressors${skipped:+ (this kernel lacks$skipped)}, $done_ops operations, $births births," \
	"$n loads under two of them"

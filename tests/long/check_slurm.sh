#!/usr/bin/env bash
# check_slurm.sh GAPLINE BUILD_DIR: the Slurm recipes of docs/guide/clusters.md on a cluster of one node, made of Debian's
# packages in a root of its own in BUILD_DIR (which is kept). Nothing is installed outside of it, and its daemons end with
# the namespace that they are in. Skipped (77) where that cannot work: not root, tools missing, no package source, no
# namespaces.
set -euo pipefail
gapline=$(realpath "$1")
folder=$(realpath -m "$2")/slurm
cd "$(dirname "$0")/../.."
. tests/support/debian.sh
root=$folder/root
packages="slurmd slurmctld slurm-client munge python3 libsqlite3-0 libxml2 zlib1g libzstd1"

skip() {
	echo "$*: the Slurm recipes were not run"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
for tool in apt-get unshare chroot; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
[ -n "$(debian_source)" ] || skip "no package source of this distribution"
unshare --mount --pid --fork true 2>/dev/null || skip "namespaces are not allowed here"

mkdir -p "$folder"
if [ ! -e "$root/ready" ]; then
	echo "making a root with Slurm"
	rm -rf "$root"
	debian_make "$root" "$folder/tools" >"$folder/log" 2>&1 || skip "debootstrap failed"
	chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $packages \
		>>"$folder/log" 2>&1 || skip "Slurm's packages cannot be installed"
	touch "$root/ready"
fi

# The command, and what the check reads, at the places that it expects.
rm -rf "$root/check"
mkdir -p "$root/check/tests/cmd" "$root/check/docs/guide" "$root/run/munge" "$root/var/spool/slurm" "$root/etc/slurm"
cp "$gapline" "$root/check/gapline"
cp tests/cmd/check_clusters.py "$root/check/tests/cmd/"
cp -r tests/support "$root/check/tests/support"
cp docs/guide/clusters.md "$root/check/docs/guide/"
[ -s "$root/etc/munge/munge.key" ] || head -c 128 /dev/urandom >"$root/etc/munge/munge.key"
chmod 400 "$root/etc/munge/munge.key"
chroot "$root" chown -R munge: /etc/munge /run/munge /var/lib/munge /var/log/munge

cat >"$root/etc/slurm/slurm.conf" <<'CONF'
ClusterName=one
SlurmctldHost=node(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=/var/spool/slurm/ctld
SlurmdSpoolDir=/var/spool/slurm/d
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
NodeName=node NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN
SlurmctldPort=36817
SlurmdPort=36818
PartitionName=all Nodes=node Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE
CONF
# The daemon looks at control groups although nothing here uses them.
if [ -d /sys/fs/cgroup/cpu ]; then
	echo 'CgroupPlugin=cgroup/v1'
else
	printf '%s\n' 'CgroupPlugin=cgroup/v2' 'IgnoreSystemd=yes'
fi >"$root/etc/slurm/cgroup.conf"

# Processes, mounts and host name of its own: all of it ends with the shell below. The network is the machine's: without an
# address but the loop's, Slurm resolves none.
cat >"$root/check/run.sh" <<'RUN'
set -eu
hostname node
echo "127.0.0.1 localhost node" >/etc/hosts
rm -rf /var/spool/slurm/*
mkdir -p /var/spool/slurm/ctld /var/spool/slurm/d
setpriv --reuid munge --regid munge --clear-groups munged --force
slurmctld -D >/var/log/slurmctld.log 2>&1 &
slurmd -D -N node >/var/log/slurmd.log 2>&1 &
for _ in $(seq 100); do
	case $(sinfo -h -o %t 2>/dev/null) in idle*) break ;; esac
	sleep 0.2
done
sinfo -h -o '%n %t'
python3 /check/tests/cmd/check_clusters.py /check/gapline Slurm || {
	tail -n 15 /var/log/slurmctld.log /var/log/slurmd.log
	exit 1
}
RUN
status=0
unshare --mount --pid --fork --uts --kill-child bash -c '
	mount --make-rprivate /
	mount -t proc proc "$1/proc"
	mount --rbind /dev "$1/dev"
	mount --rbind /sys "$1/sys"
	exec timeout ${SLURM_LIMIT:-120} chroot "$1" bash /check/run.sh' _ "$root" || status=$?
rm -rf "$root/check"
exit "$status"

/**
 * The first process of a node in its namespaces, for `sh -c`. It mounts, and starts containerd, the kubelet and
 * kube-proxy. It starts each again when it ends. When it is killed, the kernel kills all that runs on the node.
 *
 * Arguments: the folder of the node's files, its name, its address, the kubelet, kube-proxy, and Calico's Felix if it has
 * one. The default paths of all programs are right inside, and nothing outside of the folder changes:
 *
 * - /var/lib and /var/log are in the folder. /run is empty after each start.
 * - By the cgroup namespace, the root of each hierarchy is the node's own control group.
 * - A kubelet sets three sysctls of the whole machine if they have other values. It finds these values in files of ours.
 * - Before /proc is mounted, /proc/self has the pid outside of the namespace.
 */
export const INIT = `
set -e
dir=$1 name=$2 ip=$3 kubelet=$4 kube_proxy=$5 felix=$6
read -r pid _ < /proc/self/stat
mount -t proc proc /proc
echo "$name" > /proc/sys/kernel/hostname

mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /sys/fs/cgroup
while IFS=: read -r _ controllers _; do
  group=/sys/fs/cgroup/\${controllers#name=}
  case $controllers in
    '') mkdir /sys/fs/cgroup/unified; mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified ;;
    name=*) mkdir "$group"; mount -t cgroup -o "none,$controllers" cgroup "$group" ;;
    *) mkdir "$group"; mount -t cgroup -o "$controllers" cgroup "$group" ;;
  esac
done < /proc/self/cgroup

mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/lock /run/sysctls
for setting in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1; do
  key=\${setting%=*}
  echo "\${setting#*=}" > "/run/sysctls/\${key#*/}"
  mount --bind "/run/sysctls/\${key#*/}" "/proc/sys/$key"
done
mount --bind "$dir/lib" /var/lib
mount --bind "$dir/log" /var/log
mount --make-rshared /

serve() {
  service=$1
  shift
  while :; do "$@" || true; sleep 0.5; done >> "/var/log/$service.log" 2>&1 &
}
serve containerd containerd --config "$dir/containerd.toml"
serve kubelet "$kubelet" --config="$dir/kubelet.json" --kubeconfig="$dir/kubelet.kubeconfig" --hostname-override="$name" --node-ip="$ip"
serve kube-proxy "$kube_proxy" --config="$dir/kube-proxy.json"
if [ -n "$felix" ]; then
  mkdir /run/calico
  serve felix env $(cat "$dir/felix.env") "$felix" --config-file=/dev/null
fi
echo "$pid" > "$dir/pid"
wait
`;

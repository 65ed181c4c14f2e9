import { existsSync, readFileSync } from 'node:fs';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';

/** The tests that show each claim of docs/security.md: words of the claim, then files and titles. */
const evidence: Readonly<Record<string, readonly (readonly [path: string, title: string])[]>> = {
  'oldest Service decides': [
    ['apps/service-mirror/src/endpoints/desired/merged/merge-definitions.test.ts', 'goes by age before names'],
    [
      'apps/service-mirror/src/services/desired/globals/service.test.ts',
      'routes everywhere if only a younger one asks',
    ],
    [
      'apps/service-mirror/src/endpoints/desired/merged/merge-ports.test.ts',
      'its port "http" (TCP 8080) is skipped: its name belongs to TCP 80 of c1',
    ],
    [
      'apps/service-mirror/test/names.test.ts',
      'belongs to the older one, $older, whichever is seen first, and to the other after its deletion',
    ],
  ],
  'add any cluster as a remote': [
    ['apps/service-mirror/test/both/inventory.test.ts', 'has remotes, which come and change while the program runs'],
    ['apps/service-mirror/test/both/inventory.test.ts', 'keeps a remote whose profile vanishes, for a while'],
  ],
  'which server gets the credentials': [
    ['packages/multicluster/src/inventory/profile.test.ts', 'is a remote, reached by a plugin of ours'],
  ],
  'choose a program that we run': [
    ['packages/multicluster/src/inventory/profile.test.ts', 'names no program, whatever its access says'],
    [
      'packages/multicluster/src/inventory/profile.test.ts',
      'gives a plugin arguments and variables only if the file lets it',
    ],
    [
      'packages/multicluster/src/inventory/profile.test.ts',
      'is no remote if it gives its plugin the variable %s, by which it would choose a program',
    ],
  ],
  'stop the apps, or fill a log': [
    ['packages/multicluster/src/inventory/profile.test.ts', 'with more ranges than a cluster has'],
    ['packages/multicluster/src/inventory/admit.test.ts', 'have a short reason each, and leave turns to others'],
    [
      'packages/multicluster/src/inventory/inventory.test.ts',
      'has a thousand remotes at most: the oldest, so that new ones displace none',
    ],
    ['apps/wireguard/src/linear.test.ts', 'a remote with many ranges'],
  ],
  'name a file of our Pod': [['packages/multicluster/src/inventory/profile.test.ts', 'is no remote $name']],
  'take the name, prefix, ranges': [
    ['packages/multicluster/src/inventory/admit.test.ts', 'are added, but for those that the file refuses'],
    ['apps/service-mirror/test/both/inventory.test.ts', 'is refused what it may not have, with a reason'],
    ['apps/wireguard/test/inventory.test.ts', 'has remotes, which come and go while the agent runs'],
  ],
  'choose names or labels': [
    [
      'apps/policy/test/several-remotes.test.ts',
      'keeps the sets of each under its name, and only with addresses that it may announce',
    ],
    ['apps/policy/test/membership.test.ts', 'gets a set with the documented name, labels and nets'],
    ['apps/service-mirror/test/skipped.test.ts', 'is never copied'],
  ],
  'get what a NetworkPolicy grants to another cluster': [
    [
      'apps/policy/test/network-policies-unknown-remote.test.ts',
      'gets only what its own name and its own addresses are granted',
    ],
  ],
  'delay what a user takes out of a NetworkPolicy': [
    [
      'apps/policy/test/network-policies-unknown-remote.test.ts',
      'loses at once what a policy takes away, and gets nothing new',
    ],
    [
      'packages/network-policies/src/companions/diff.test.ts',
      'is urgent: $urgent, and replaces an earlier spec: $outdated, for $name',
    ],
  ],
  'have more ranges than a config gives it': [
    [
      'apps/cli/test/link.test.ts',
      'shows how ranges change before it writes them, and lets no remote have more until a flag names it',
    ],
    ['apps/policy/src/config/settings.test.ts', 'refuses what no remote may have: $want'],
    ['apps/service-mirror/src/config/remote-entries.test.ts', 'refuses what no remote may have: $want'],
    ['packages/options/src/types.test.ts', 'rangeList refuses $raw'],
    ['apps/wireguard/src/config/file-settings.test.ts', 'refuses $name'],
  ],
  "change objects, devices or routes that aren't ours": [
    ['apps/policy/test/names.test.ts', 'is taken, and the object stays as it is (Go overwrote it)'],
    ['apps/service-mirror/test/both/repair.test.ts', 'is left alone, and replaced after its deletion'],
    ['apps/wireguard/test/net/devices.test.ts', 'ends with 2 if another device has the name, and changes nothing'],
    ['apps/wireguard/src/mesh/reconciler.test.ts', 'can be a route of somebody else, which stays and is reported'],
  ],
  'bring in an address outside': [
    [
      'apps/policy/test/several-remotes.test.ts',
      'refuses addresses of the local cluster, and addresses that no Pod can have',
    ],
    [
      'apps/service-mirror/test/skipped.test.ts',
      'is logged once, counted by reason, and listed by plan, and its neighbours are mirrored',
    ],
    [
      'apps/service-mirror/test/skipped.test.ts',
      'an endpoint with an address of the local cluster, or one that no Pod can have',
    ],
    ['apps/wireguard/src/mesh/remote/node.test.ts', 'skips of the CIDRs $name, and keeps the others'],
  ],
  'bring in an address that no Pod or Node has': [
    ['packages/net/src/special.test.ts', 'finds every IPv4 address in an IPv6 notation'],
    ['apps/policy/src/sets/desired/member.test.ts', 'never accepts %s, in the network of a Pod or of its node'],
    [
      'apps/service-mirror/src/endpoints/remote/read-slice.test.ts',
      'is skipped if no Pod has such an address ($addressType), even without allowed CIDRs',
    ],
    ['apps/wireguard/src/mesh/remote/node.test.ts', 'makes no peer of an endpoint with $name'],
  ],
  'bring in reserved addresses': [
    ['apps/policy/src/sets/desired/member.test.ts', 'accepts a reserved address only if a block with it is allowed'],
  ],
  'block valid objects by invalid ones': [
    ['apps/policy/src/sets/desired/member.test.ts', 'never throws, with any input'],
    [
      'apps/service-mirror/src/endpoints/remote/read-slice.test.ts',
      'is skipped alone if it is $address ($addressType)',
    ],
    ['apps/service-mirror/src/endpoints/remote/read.test.ts', 'skips $name'],
    ['apps/wireguard/src/mesh/desired/peers.test.ts', 'each Node has all of its blocks, or a reason why not'],
  ],
  'stop kube-proxy or CoreDNS': [
    [
      'apps/service-mirror/test/net/hostile-sources.test.ts',
      'never prevents a new local Service from being served: $what',
    ],
    [
      'apps/service-mirror/test/net/hostile-sources.test.ts',
      'never prevents a new local Service from being served: two hundred slices and forty Services of a hostile remote',
    ],
    [
      'apps/service-mirror/src/hostile-sources.test.ts',
      'becomes a mirror that kube-proxy, CoreDNS and the API server accept',
    ],
  ],
  'open node ports, external IPs or load balancers': [
    ['apps/service-mirror/test/skipped.test.ts', 'is never copied'],
    [
      'apps/service-mirror/src/endpoints/remote/read-slice.test.ts',
      'has neither the node nor the zone of another cluster',
    ],
    [
      'apps/service-mirror/src/services/desired/globals/service.test.ts',
      'has hints on all endpoints or on none, and a node only of the local cluster',
    ],
    [
      'apps/service-mirror/test/definition.test.ts',
      'has no targetRef, and the names of Pods as hostnames only if it is headless',
    ],
  ],
  'pass on mirrors': [
    ['apps/service-mirror/src/endpoints/remote/read.test.ts', 'ignores our own objects, by the label %s'],
  ],
  'have a ServiceImport outside': [
    [
      'apps/service-mirror/test/mcs/both/app.test.ts',
      'is not imported to a namespace that mcs.namespaces lacks, and says so',
    ],
    [
      'apps/service-mirror/src/imports/desired/exported-keys.test.ts',
      'has only keys with an allowed beginning, and never a reserved one',
    ],
  ],
  'delay or delete what other clusters have': [
    [
      'apps/policy/test/faults/failing-writes.test.ts',
      'delays nothing of another cluster, whatever the API server answers',
    ],
    ['apps/service-mirror/test/faults/failing-writes.test.ts', 'with $name, delays nothing of another cluster'],
    [
      'apps/service-mirror/test/mcs/hostile-exports.test.ts',
      'spends no budget of another, and delays none of its endpoints: $what',
    ],
    [
      'apps/service-mirror/test/mcs/hostile-exports.test.ts',
      'imports what another remote changes before the hundreds that one exports at once',
    ],
    [
      'packages/controller/src/workqueue.test.ts',
      'gives a key of each cause in turn, however many keys another one added before',
    ],
    [
      'apps/service-mirror/test/mcs/hostile-exports.test.ts',
      'changes nothing of another by a thousand hostnames $what',
    ],
    [
      'apps/service-mirror/test/remote-over-budget.test.ts',
      'spends no budget of another by global Services that they share',
    ],
    ['apps/service-mirror/src/names.test.ts', 'is never that of two imports'],
    [
      'packages/multicluster/src/local/local-writes.test.ts',
      'writes for a remote while all writes for another have no answer',
    ],
    ['packages/multicluster/src/local/waiting-writes.test.ts', 'is left the sooner, the more answers are late'],
    [
      'apps/wireguard/test/faults/failing-writes.test.ts',
      'an announcement that can not be written delays no tunnel of another cluster, whatever the API server answers',
    ],
    ['apps/policy/src/local/carry-out.test.ts', 'continues for the other clusters'],
    [
      'apps/service-mirror/src/services/reconciler.test.ts',
      'of one cluster are deleted even if a new slice of another $name',
    ],
    [
      'packages/multicluster/src/local/waiting-writes.test.ts',
      'delays no other object, and is tried again after a pause that doubles, up to ten seconds',
    ],
    ['apps/service-mirror/src/imports/desired/changes.test.ts', 'of one cluster delay nothing of another'],
    [
      'apps/service-mirror/src/services/desired/globals/service.test.ts',
      'loses exactly the slices of a cluster that leaves',
    ],
    [
      'apps/service-mirror/test/globals.test.ts',
      'merges those of all clusters, and loses the part of a cluster with its Service',
    ],
  ],
  'make a set that is too large': [
    ['apps/policy/src/sets/desired/sets.test.ts', 'is small enough for etcd with $count addresses of $family'],
    [
      'apps/service-mirror/test/too-large.test.ts',
      'is small enough to be written, whatever the remotes have, and has ports of each',
    ],
    ['apps/service-mirror/src/endpoints/desired/merged/merge-ports.test.ts', 'are the first ones of each cluster'],
    [
      'apps/service-mirror/src/endpoints/desired/merged/merge-definitions.test.ts',
      'makes a Service that the API server accepts',
    ],
    [
      'apps/service-mirror/test/net/coredns.test.ts',
      'has its SRV records, also if a Pod of another cluster is called $what',
    ],
  ],
  'remove the last ready endpoints by its silence': [
    [
      'apps/service-mirror/src/services/desired/globals/service.test.ts',
      'never removes the last ready endpoint because of staleness',
    ],
  ],
  'hide a slice of others by a hash collision': [
    ['apps/service-mirror/test/slice-names.test.ts', 'are all written, also if their names share ten digits of a hash'],
    [
      'apps/service-mirror/src/endpoints/desired/fit-slices.test.ts',
      'keeps the slice with the first source of two with one name, in any order, and reports the other',
    ],
  ],
  'cost more than a retry': [
    ['packages/informers/test/hostile-server.test.ts', '$name costs only a retry'],
    ['packages/informers/test/hostile-server.test.ts', 'gives up an endless list with $name'],
    ['packages/informers/test/hostile-server.test.ts', 'treats a watch that $name as silent'],
    ['packages/informers/test/hostile-server.test.ts', 'requests smaller pages when a page $name'],
  ],
  'fill memory that other remotes need': [
    [
      'apps/service-mirror/src/endpoints/remote/cluster-properties.test.ts',
      'asks a cluster whose list has no end once',
    ],
    ['apps/policy/test/remote-budget.test.ts', '$name does not affect the others, and is reported'],
    [
      'packages/kube-objects/src/kinds/kinds.test.ts',
      'such as $name is returned as too large, and its neighbours are read',
    ],
    ['packages/kube-objects/src/parse-json.test.ts', 'refuses $name that would fill the memory, before they do'],
    [
      'packages/informers/test/hostile-server.test.ts',
      '$name stops with its known objects, and continues when it has less',
    ],
  ],
  'cost more CPU time than its size suggests': [
    ['apps/policy/src/sets/desired/linear.test.ts', 'a Pod with $name takes linear time, up to 1 MB'],
    ['apps/service-mirror/src/linear.test.ts', '$name costs time in proportion to its size, up to 1 MB'],
    ['apps/wireguard/src/linear.test.ts', '$name takes linear time, up to 1 MB'],
  ],
  'cause local writes without limit': [
    ['apps/policy/test/remote-writes.test.ts', 'delays no other remote and no deletion, and is limited to the rate'],
    ['apps/policy/test/remote-writes.test.ts', 'gets sets up to the limit, and keeps them'],
    [
      'apps/service-mirror/test/remote-over-budget.test.ts',
      'has its first Services mirrored, and another when one is deleted',
    ],
    ['packages/multicluster/src/local/remote-writes.test.ts', 'delays neither another remote nor a deletion'],
  ],
  'keep us away for more than 66 minutes': [
    ['packages/informers/test/hostile-server.test.ts', 'waits at most 66 minutes when the server requests $name'],
    [
      'packages/multicluster/src/remote/cluster-watches.test.ts',
      'are down if one pauses for an hour, whatever the reason',
    ],
  ],
  'control a terminal, fake a log line or fill a disk': [
    ['apps/policy/test/hostile-remote.test.ts', 'does no harm in a log (%s)'],
    ['apps/service-mirror/test/hostile-remote.test.ts', 'does no harm in a plan (%s)'],
    ['apps/wireguard/test/hostile-remote.test.ts', 'does no harm in $word $flags'],
    [
      'apps/wireguard/test/net/devices.test.ts',
      'empties the log of its wireguard-go when that is large, which goes on',
    ],
    [
      'apps/cli/test/hostile-context.test.ts',
      'clusters whose texts steer a terminal ($hostility) steer none in $name, and its Pods are none of a tenant',
    ],
    [
      'apps/policy/test/hostile-remote.test.ts',
      'fills no disk: the log has 100 of 10,000 bad Pods, and the metric counts all',
    ],
  ],
  'keep `semaphore` for [more than some minutes]': [
    [
      'apps/cli/test/hostile-context.test.ts',
      'a cluster whose answers have no end ($hostility) is one line of $name, which ends',
    ],
    [
      'apps/cli/test/hostile-context.test.ts',
      'a cluster that answers a byte a second is waited for once, and others are shown',
    ],
    [
      'apps/cli/test/hostile-context.test.ts',
      'a cluster of many answers, each of which takes 9 s, does not keep %s for a minute each',
    ],
  ],
  'be replaced by another server': [
    ['packages/cluster-auth/test/kubeconfig.test.ts', 'is verified even if NODE_TLS_REJECT_UNAUTHORIZED is 0'],
    ['apps/policy/test/usage.test.ts', 'of kubeconfigs is reported without a stack: $name'],
    ['apps/policy/test/connections.test.ts', 'is watched on this machine, as behind kubectl proxy, with a warning'],
    [
      'packages/cluster-auth/test/ca.test.ts',
      'is not trusted if its key is another one, and is fetched again with the next request',
    ],
    ['packages/cluster-auth/test/ca.test.ts', 'is trusted without the other certificates that come with it'],
  ],
  'names each cluster that is overruled': [
    [
      'apps/service-mirror/src/endpoints/desired/merged/merge-definitions.test.ts',
      'names exactly the clusters that are overruled',
    ],
  ],
  'addresses of deleted Pods stay in sets and behind Services': [
    ['apps/policy/test/deletion-guard.test.ts', 'and stays empty is believed after the hold'],
    ['apps/service-mirror/test/stale.test.ts', 'holds what is missing from the first list of $what, for the hold time'],
  ],
  'a deleted Node stays a peer': [
    [
      'apps/wireguard/test/net/remotes.test.ts',
      'keeps the peers of a remote whose first list is missing too many of them, until the next list',
    ],
  ],
  'Deletions that a watch reports are never held': [
    [
      'packages/informers/src/store/deletion-guard.test.ts',
      'never holds an address that another object has, so that a rebuilt cluster gets its addresses',
    ],
  ],
  'Switched off, the guard holds nothing': [
    ['apps/policy/test/deletion-guard.test.ts', 'is believed at once if the guard is off'],
    ['apps/service-mirror/test/stale.test.ts', 'can be disabled'],
  ],
  'keep the access of a Pod that should be gone': [
    ['apps/policy/test/late-pods.test.ts', 'is let into no NetworkPolicy, and both Pods are named'],
    ['apps/policy/test/late-pods.test.ts', 'is in no set, also after a restart'],
  ],
  'join the set of another workload': [
    ['apps/policy/test/names.test.ts', 'that come $order, the smaller gets it (Go put both into one set)'],
  ],
  'choose labels of sets or mirrors': [
    ['apps/service-mirror/test/skipped.test.ts', 'is never copied'],
    ['apps/service-mirror/src/endpoints/remote/read.test.ts', 'skips $name'],
  ],
  'bring in all Pods of a node by': [
    ['apps/policy/test/host-network.test.ts', 'is not a member (Go allowed its whole node)'],
  ],
  'any address in `allowedEndpointCIDRs`': [
    ['apps/wireguard/src/mesh/remote/node.test.ts', 'refuses endpoints outside of the allowed CIDRs'],
  ],
  'take an address from an older Node': [
    ['apps/wireguard/src/mesh/desired/peers.test.ts', 'a younger Node takes nothing from an older one that is Ready'],
    ['apps/wireguard/src/mesh/desired/peers.test.ts', 'no two peers share a key or an address, and none has our key'],
    ['apps/wireguard/src/mesh/desired/peers.test.ts', 'their order changes nothing'],
  ],
  'get `0.0.0.0/0`': [
    [
      'apps/wireguard/src/mesh/remote/node.test.ts',
      'never has a CIDR outside of the pod subnets, nor an endpoint without an address, for any Node',
    ],
  ],
  'get the addresses of a metadata service': [
    [
      'apps/wireguard/test/net/metadata.test.ts',
      'sends no packet to a remote that claims a metadata service, by its Nodes, Calico’s blocks or endpoints',
    ],
    ['apps/wireguard/src/mesh/remote/node.test.ts', 'gives no Node %s with a metadata service, even in a pod subnet'],
    ['apps/wireguard/src/mesh/remote/calico-blocks.test.ts', 'ignores addresses that no Pod can have'],
  ],
  'make us look up a name': [
    ['apps/wireguard/src/mesh/remote/node.test.ts', 'makes no peer of an endpoint with $name'],
  ],
  'disturb other peers': [
    ['apps/wireguard/src/mesh/remote/node.test.ts', 'makes no peer of $name'],
    ['apps/wireguard/test/net/trust.test.ts', 'refuses what a remote Node may not claim, and others lose nothing'],
    [
      'apps/wireguard/test/net/fuzz.test.ts',
      'makes wg show the desired peers, and never the local cluster, for any remote',
    ],
    [
      'apps/wireguard/test/plan.test.ts',
      'prints all changes of a new node, and why Nodes are skipped, and changes nothing',
    ],
  ],
  'Its endpoints may have any address': [
    ['apps/service-mirror/src/endpoints/remote/read-slice.test.ts', 'may have any address if it is local'],
  ],
  'break kube-proxy through us': [
    [
      'apps/service-mirror/src/endpoints/desired/fit-slices.test.ts',
      'skips a slice with port %i, which an older build may have written',
    ],
  ],
  'lose their objects to us': [
    ['apps/service-mirror/test/both/repair.test.ts', 'is left alone, and replaced after its deletion'],
    ['apps/policy/test/names.test.ts', 'is taken, and the object stays as it is (Go overwrote it)'],
  ],
  'make `semaphore` believe Pods': [
    ['apps/cli/src/clusters/ours.test.ts', 'is not ours with $what'],
    ['apps/cli/test/tenant-pods.test.ts', 'status asks only our Pods, and names a few of the others in one line'],
    ['apps/cli/test/tenant-pods.test.ts', 'check warns of them, and takes nothing else from them'],
    ['apps/cli/test/tenant-pods.test.ts', 'gather takes neither logs nor objects of them'],
    ['apps/cli/test/tenant-pods.test.ts', 'unlink does not wait for them'],
    ['apps/cli/test/tenant-pods.test.ts', 'test takes no image from them'],
  ],
  'make `semaphore check` name another mesh': [
    ['apps/cli/test/tenant-pods.test.ts', 'check names other meshes $where: $count'],
  ],
  'repairs changes there': [['apps/policy/test/repair.test.ts', 'when it is deleted (Go did so within the hour)']],
  'also after an overlay renames it': [
    ['tools/manifests/test/real/renamed.test.ts', '$base is held to its own objects by an overlay that gives it $name'],
  ],
  'change, delete or take over objects of others': [
    ['apps/policy/test/real/own-objects-policy.test.ts', 'changes no object of others, of any kind in its role'],
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'changes no object of others of any kind that its role is about',
    ],
    ['apps/policy/test/real/own-objects-policy.test.ts', 'deletes no set of others, one by one or all at once'],
    ['apps/service-mirror/test/real/own-objects-policy.test.ts', 'deletes $name of others neither alone nor with all'],
    ['apps/policy/test/real/own-objects-policy.test.ts', 'refuses to take over a set of others, and to pass one on'],
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'refuses to take over $name of others, and to give one away',
    ],
  ],
  'take a Lease of others': [
    ['apps/policy/test/real/own-objects-policy.test.ts', 'can neither take nor create the Lease %s in kube-system'],
  ],
  'give sets and groups other labels': [
    ['apps/policy/test/real/own-objects-policy.test.ts', 'refuses other labels, which a policy could select'],
    ['apps/policy/test/real/own-objects-policy.test.ts', 'a group with a label that a policy may select'],
  ],
  'add finalizers': [
    ['apps/policy/test/real/own-objects-policy.test.ts', 'a group with a finalizer'],
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'lets finalizers of others stay, and refuses to add one, which would keep an owner or the namespace',
    ],
  ],
  'write NetworkPolicies that let in anything but single addresses': [
    ['apps/policy/test/real/own-objects-policy.test.ts', 'refuses one $name, new or changed'],
  ],
  'write policies of Calico or Cilium that refer': [
    ['apps/policy/test/real/own-objects-policy.test.ts', 'neither creates nor makes %s'],
  ],
  'change or delete NetworkPolicies of users': [
    [
      'apps/policy/test/real/own-objects-policy.test.ts',
      'is held in the namespace of node heartbeats, but lets these pass',
    ],
    [
      'apps/policy/test/real/own-objects-policy.test.ts',
      'neither changes nor deletes one of a user, also by adding its label',
    ],
  ],
  'write Services with `externalIPs`': [
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'refuses a Service of $name, also where it is made so',
    ],
    ['apps/service-mirror/test/real/own-objects-policy.test.ts', 'refuses a slice with the port %i'],
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'applies in the namespace of node heartbeats, to all but these',
    ],
  ],
  'make more Services in the mirror namespace than the quota allows': [
    ['apps/service-mirror/test/real/own-objects-policy.test.ts', 'ends what is created beyond it'],
  ],
  'Change and remove four annotations': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'lets an agent add, change and remove its annotations'],
  ],
  'write anything else into these annotations': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'refuses $name in the right annotation'],
  ],
  'change another Node': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'refuses valid annotations on another Node'],
  ],
  'change a label, taint, cordon, finalizer, owner or other annotation': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'a label beside the right annotations'],
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'all at once, each of them named'],
  ],
  'create or delete a Node': [
    [
      'apps/wireguard/test/real/own-node-policy.test.ts',
      'refuses $name, whatever the roles and the namespace of the agent',
    ],
  ],
  'write with a token that is bound to no Pod or Node': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'refuses a token that names no Node'],
  ],
  'write, or read anything else': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'reads Nodes and nothing else, and writes nothing'],
    ['apps/wireguard/test/real/own-node-policy.test.ts', "reads Calico's blocks, too, with their component"],
    ['packages/testkit/src/rights/manifests.test.ts', 'has exactly the deployed rights'],
  ],
  'No log, error, help text or metric contains a credential': [
    ['packages/text/src/yaml.test.ts', 'prints nothing of a key that is a map, which may have a token'],
    ['apps/policy/test/connections.test.ts', 'is in no log, no help and no metric'],
    ['apps/policy/test/connections.test.ts', 'that the remote refuses is not repeated'],
    ['apps/policy/test/connections.test.ts', 'has no flag, and is not repeated if one was tried'],
    ['packages/text/src/secrets.test.ts', 'are found by any piece of 16 characters'],
    ['packages/cluster-auth/test/secrets.test.ts', '$name is known as a secret before it is sent'],
    ['packages/cluster-auth/test/secrets.test.ts', 'a rotated token stays a secret while answers may repeat it'],
  ],
  '`semaphore gather` takes [the common forms]': [
    ['apps/cli/src/gather/redact.test.ts', 'lacks $form: $text'],
    ['apps/cli/test/gather.test.ts', 'writes versions, objects, statuses and logs, without a piece of any secret'],
    ['apps/cli/test/gather.test.ts', 'writes no secret that a refusal repeats'],
  ],
  "A tunnel's private key never leaves its node": [
    [
      'apps/wireguard/src/mesh/local/key-file.test.ts',
      'is created for its owner only, in a folder for its owner only, and contains the key',
    ],
    ['apps/wireguard/test/secrets.test.ts', 'is on no command line, and in no output of the agent'],
    ['packages/wireguard-tools/test/run-tool.test.ts', 'shows no key from the output or the arguments'],
  ],
  'A key file that others can read or replace': [
    ['apps/wireguard/src/mesh/local/key-file.test.ts', 'that others can read'],
    [
      'apps/wireguard/src/mesh/local/key-file.test.ts',
      'in a folder that its $name can write to, for reading and writing',
    ],
    ['apps/wireguard/src/mesh/local/key-file.test.ts', 'is never overwritten'],
  ],
  'Changed kubeconfigs, and files with tokens, keys or CAs': [
    ['packages/cluster-auth/test/token.test.ts', 'is read again within a second of a symlink swap'],
    [
      'packages/cluster-auth/test/changed-kubeconfig.test.ts',
      'its new client certificate is presented in a new connection',
    ],
    [
      'apps/policy/test/changed-kubeconfig.test.ts',
      'renews the token, and the log says that the old one is the reason now',
    ],
    ['apps/policy/test/changed-kubeconfig.test.ts', 'renews the client certificate'],
    ['apps/policy/test/changed-kubeconfig.test.ts', 'renews the CA'],
    [
      'apps/policy/test/changed-kubeconfig.test.ts',
      'names another server of the cluster, which is listed at once, while the old one answers',
    ],
    [
      'apps/service-mirror/test/changed-kubeconfig.test.ts',
      'renews a token that is refused from a kubeconfig in a mounted Secret',
    ],
    [
      'apps/wireguard/test/changed-kubeconfig.test.ts',
      'renews a token that is refused from a kubeconfig in a mounted Secret',
    ],
  ],
  'only sent to the server that their kubeconfig names beside them': [
    [
      'packages/cluster-auth/test/changed-kubeconfig.test.ts',
      'no credential goes to a server that it is not for, whatever changes during a request',
    ],
    [
      'packages/kube-client/test/answers.test.ts',
      'with status %i, follows no redirect to another server, whatever it asks for',
    ],
  ],
  'known to be of another cluster is not used before a restart': [
    [
      'apps/policy/test/changed-kubeconfig.test.ts',
      'is not used if it names a server of another cluster, which config_stale says',
    ],
    ['packages/multicluster/src/remote/same-cluster.test.ts', 'takes another server of $name for $want'],
  ],
  'A kubeconfig that anyone may write is refused by the apps': [
    ['packages/cluster-auth/test/kubeconfig.test.ts', 'is refused if anyone may write it: %o'],
    ['packages/cluster-auth/test/kubeconfig.test.ts', 'is used with a warning if its group may write it'],
    ['packages/cluster-auth/test/exec.test.ts', 'does not run while anyone may write it'],
  ],
  'impersonates](kubeconfig.md#each-field) whom the kubeconfig says': [
    ['packages/cluster-auth/test/kubeconfig.test.ts', 'may act as another user, with a header line per group'],
    ['packages/cluster-auth/test/kubeconfig-oracle.test.ts', 'a user is sent, or refused'],
    [
      'apps/cli/test/contexts.test.ts',
      'each request impersonates, as the kubeconfig says, and its password is not repeated',
    ],
  ],
  'Core dumps contain no memory': [
    ['tools/manifests/test/processes.test.ts', 'writes no memory to a core dump'],
    ['tools/manifests/test/processes.test.ts', 'opens no debugger at SIGUSR1, and continues'],
  ],
  'no write begins after another replica may hold the Lease': [
    ['packages/leader-election/src/term.test.ts', 'has ended when the process wakes from a SIGSTOP, before any timer'],
    ['apps/policy/test/real/leadership-audit.test.ts', 'a leader that wakes from a SIGSTOP no longer writes'],
    ['apps/service-mirror/test/real/leadership-audit.test.ts', 'a leader that wakes from a SIGSTOP writes nothing'],
  ],
  'Updates and deletes carry the resource version': [
    ['apps/policy/test/local-outage.test.ts', 'is never overwritten, and delays nothing'],
  ],
  'No NetworkPolicy applies to wireguard': [
    [
      'tools/manifests/test/real/overlays.test.ts',
      'only the namespace of Prometheus reaches metrics, except in the network of the node, where no policy applies',
    ],
  ],
  'block probes': [
    [
      'packages/runtime/src/health/health-server.test.ts',
      "that opens 500 silent connections keeps only some, and doesn't lock out probes",
    ],
    [
      'packages/runtime/src/health/health-server.test.ts',
      'loses connections of its own address, and not older ones of others',
    ],
    [
      'packages/runtime/src/health/health-server.test.ts',
      'that never reads large answers holds few connections, which share one answer, and no probe waits',
    ],
    [
      'packages/runtime/src/health/health-server.test.ts',
      'that sends a body without end gets an answer, and is disconnected',
    ],
    ['packages/runtime/src/health/health-server.test.ts', 'that sends $name is refused before it ends'],
  ],
  'have metrics or the status collected more than once a second': [
    [
      'packages/runtime/src/health/health-server.test.ts',
      'that sends 20,000 requests on one connection causes one collection, and is disconnected',
    ],
    ['apps/wireguard/test/scrapes.test.ts', 'runs wg once a second at most, and no probe fails: $name'],
    ['packages/runtime/src/health/health-server.test.ts', 'and the status are collected apart'],
  ],
  'read a token there': [
    ['apps/policy/test/connections.test.ts', 'is in no log, no help and no metric'],
    ['apps/policy/test/hostile-remote.test.ts', 'does no harm in /status'],
  ],
  'delays rotations of our keys for ten minutes': [
    ['apps/wireguard/src/rotation/desired/overdue.test.ts', 'that goes home for a moment is, too'],
  ],
  'read the page without its token': [
    ['apps/cli/src/ui/server.test.ts', 'answers nothing to $name'],
    ['apps/cli/test/ui.test.ts', 'lets only a page with its token read it, by its own address'],
    [
      'apps/cli/test/real/ui.test.ts',
      'is read by no other site in the browser, even if that knows the URL with its token',
    ],
  ],
  'read any file: only the six paths': [['apps/cli/src/ui/server.test.ts', 'a file above']],
  'learn the token from the arguments': [
    ['apps/cli/test/ui.test.ts', 'opens a browser with a private file, which ends with it, and not with the token'],
  ],
  'run a script in the page': [
    ['apps/cli/test/real/ui.test.ts', 'shows what foreign names say, and nothing of what they do'],
  ],
  'get Secrets, ConfigMaps, variables': [
    ['apps/cli/test/gather.test.ts', 'writes versions, objects, statuses and logs, without a piece of any secret'],
  ],
  'leave the folder it is extracted to': [['apps/cli/src/gather/tar.test.ts', 'has a path that leaves no folder']],
  'replace a base image or a package unseen': [
    ['tools/images/src/dockerfiles.test.ts', 'pins images by digest, like the other Dockerfiles'],
    [
      'tools/supply-chain/src/install-scripts.test.ts',
      'takes each package of others from the registry by its SHA-512, and none from another place',
    ],
  ],
  'run a script when a package is installed': [
    [
      'tools/supply-chain/src/install-scripts.test.ts',
      'names packages with install scripts in package.json, and does not let them run',
    ],
    ['tools/supply-chain/src/install-scripts.test.ts', 'lets npm run no install script'],
  ],
  'change a bundle on one build machine unseen': [
    [
      'tools/images/src/bundle/reproducible.test.ts',
      'a bundle and its bill of materials have the same bytes in every folder',
    ],
  ],
  'hide a package': [
    [
      'tools/images/test/images/contents.test.ts',
      'has the packages and the Node.js of its bill of materials, each once',
    ],
  ],
  'enter by a moved tag of a workflow action': [
    ['tools/supply-chain/src/workflows.test.ts', 'pins actions by commit, and names their version'],
    ['tools/supply-chain/src/workflows.test.ts', 'has write permissions only where a job declares them'],
    ['tools/supply-chain/src/workflows.test.ts', 'leaves no token behind in a checkout'],
  ],
  'The manifests grant exactly these rights': [
    ['packages/testkit/src/rights/manifests.test.ts', 'has exactly the deployed rights'],
  ],
  'they are enough': [
    [
      'apps/policy/test/support/accounts.ts',
      'The accounts that are deployed, so that every test shows that their rights are enough.',
    ],
    [
      'apps/service-mirror/test/support/accounts.ts',
      'The accounts of deploy/, so that every test shows that their rights are enough.',
    ],
    [
      'apps/wireguard/test/support/accounts.ts',
      'The accounts that are deployed, so that every test shows that their rights are enough.',
    ],
  ],
  'each is needed': [
    ['apps/policy/test/real/least-privilege.test.ts', 'need each of their rights, and no other'],
    [
      'apps/service-mirror/test/real/least-privilege.test.ts',
      'need each of their rights, and no other, also those of their components',
    ],
    ['apps/wireguard/test/real/least-privilege.test.ts', 'need each of their rights, and no other'],
  ],
  'A missing right is reported': [
    ['apps/policy/test/rbac.test.ts', 'without rights deletes nothing until it has them'],
    [
      'apps/service-mirror/test/stale.test.ts',
      'that forbids only its slices leaves all objects as they are, with one warning',
    ],
    [
      'apps/wireguard/test/own-node.test.ts',
      'that can’t be patched is logged once, shows the local cluster as down, and costs no peer',
    ],
  ],
  '`semaphore-service-mirror cleanup` uses the same rights': [
    [
      'apps/service-mirror/test/cleanup.test.ts',
      'removes the objects of one cluster, prints them, and leaves all else as it was',
    ],
    ['apps/service-mirror/test/cleanup.test.ts', 'refuses $cluster, which a config file names'],
  ],
};

const page = docPage('security.md').replaceAll(/\n +/g, ' ');
const text = page.replaceAll(/\s+/g, ' ');
const claims = Array.from(page.matchAll(/^- (.*)$/gm), ([, claim = '']) => ({ claim }));
const shown = Object.keys(evidence).map((words) => ({ words }));
const tests = Object.values(evidence).flatMap((of) => of.map(([path, title]) => ({ path, title })));

describe('docs/security.md', () => {
  it.each(claims)('has a test for each item of a list: $claim', ({ claim }) => {
    expect(shown.filter(({ words }) => claim.includes(words))).not.toEqual([]);
  });

  it.each(shown)('says once what tests show: $words', ({ words }) => {
    expect(text.split(words)).toHaveLength(2);
  });

  it.each(tests)('is shown by a test that exists: $title', ({ path, title }) => {
    expect(existsSync(path) && readFileSync(path, 'utf8')).toContain(title);
  });

  it('has many claims', () => {
    expect(claims.length).toBeGreaterThan(15);
    expect(tests.length).toBeGreaterThan(claims.length);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';

/** The tests that show each claim of docs/security.md: words of the claim, then files and titles. */
const evidence: Readonly<Record<string, readonly (readonly [path: string, title: string])[]>> = {
  'oldest Service decides': [
    ['apps/service-mirror/src/desired/global/merge-definitions.test.ts', 'goes by age before names'],
    ['apps/service-mirror/src/desired/global/service.test.ts', 'routes anywhere where only a younger one asks'],
    [
      'apps/service-mirror/src/desired/global/merge-ports.test.ts',
      'its port "http" (TCP 8080) is left out: the name is that of TCP 80 of c1',
    ],
    [
      'apps/service-mirror/test/names.test.ts',
      'is that of the older one, $older, whichever is seen first, and of the other when that goes',
    ],
  ],
  'choose names or labels': [
    [
      'apps/policy/test/several-remotes.test.ts',
      'keeps the sets of each under its name, and lets each bring in what it may',
    ],
    ['apps/policy/test/membership.test.ts', 'makes a set with the name, the labels and the nets of the interface'],
    ['apps/service-mirror/test/skipped.test.ts', 'is never copied'],
  ],
  "change objects, devices or routes that aren't ours": [
    ['apps/policy/test/names.test.ts', 'is taken, and the object untouched (Go wrote over it)'],
    ['apps/service-mirror/test/repair.test.ts', 'is left alone, and makes room when it goes'],
    ['apps/wireguard/test/net/devices.test.ts', 'ends with 2 if another device has the name, and touches nothing'],
    ['apps/wireguard/src/reconciler.test.ts', 'is a route of somebody else, which stays and is told'],
  ],
  'bring in an address outside': [
    [
      'apps/policy/test/several-remotes.test.ts',
      'lets no remote bring in an address of the local cluster, nor one that no Pod can have',
    ],
    [
      'apps/service-mirror/test/skipped.test.ts',
      'is said once, counted by reason, and listed by plan, and its neighbours are there',
    ],
    [
      'apps/service-mirror/test/skipped.test.ts',
      'is never the local cluster, nor what no Pod can be, wherever the remote may lead to',
    ],
    ['apps/wireguard/src/remote/node.test.ts', 'leaves out of the CIDRs $name, and keeps the others'],
  ],
  'bring in an address that no Pod or Node has': [
    ['packages/net/src/special.test.ts', 'lets no IPv4 address pass in an IPv6 notation, whatever it is'],
    ['apps/policy/src/desired/member.test.ts', 'never takes %s, in the network of a Pod or of its node'],
    [
      'apps/service-mirror/src/remote/read-slice.test.ts',
      'is left out if no Pod has such an address ($addressType), although nothing says what is allowed',
    ],
    ['apps/wireguard/src/remote/node.test.ts', 'makes no peer of one at $name'],
  ],
  'bring in reserved addresses': [
    ['apps/policy/src/desired/member.test.ts', 'takes a reserved address only where a block of it is allowed'],
  ],
  'block valid objects by invalid ones': [
    ['apps/policy/src/desired/member.test.ts', 'never throws, whatever the remote writes'],
    ['apps/service-mirror/src/remote/read-slice.test.ts', 'is left out alone if it is $address ($addressType)'],
    ['apps/service-mirror/src/remote/read.test.ts', 'leaves out $name'],
    ['apps/wireguard/src/desired/peers.test.ts', 'everything that a Node has, or a reason why not, is told'],
  ],
  'stop kube-proxy or CoreDNS': [
    [
      'apps/service-mirror/test/net/hostile-sources.test.ts',
      'never keeps a new Service of ours from being served: $what',
    ],
    [
      'apps/service-mirror/test/net/hostile-sources.test.ts',
      'never keeps a new Service of ours from being served: two hundred slices and forty Services of a hostile remote',
    ],
    [
      'apps/service-mirror/src/hostile-sources.test.ts',
      'its mirror is one that kube-proxy, CoreDNS and the API server can take',
    ],
  ],
  'open node ports, external IPs or load balancers': [
    ['apps/service-mirror/test/skipped.test.ts', 'is never copied'],
    [
      'apps/service-mirror/src/remote/read-slice.test.ts',
      'has neither node nor zone, which are those of another cluster',
    ],
    [
      'apps/service-mirror/src/desired/global/service.test.ts',
      'has hints on all endpoints or on none, and a node only of the local cluster',
    ],
    [
      'apps/service-mirror/src/remote/read-slice.test.ts',
      'of a remote Pod has no namespace, which would be one of this cluster',
    ],
  ],
  'pass on mirrors': [['apps/service-mirror/src/remote/read.test.ts', 'passes over our own product by its label %s']],
  'delay or delete what other clusters have': [
    ['apps/policy/src/local/carry-out.test.ts', 'goes on for the other clusters'],
    ['apps/service-mirror/src/reconciler.test.ts', 'of one cluster go, also if what comes of another $name'],
    ['apps/service-mirror/src/local/writer.test.ts', 'takes %i for a refusal of that object alone'],
    [
      'apps/service-mirror/src/desired/global/service.test.ts',
      'loses the slices of a cluster that leaves, and no others',
    ],
    ['apps/service-mirror/test/globals.test.ts', 'merges those of all clusters, and each takes its own with it'],
  ],
  'make a set that is too large': [
    ['apps/policy/src/desired/sets.test.ts', 'is small enough for etcd with $count addresses of $family'],
    [
      'apps/service-mirror/test/too-large.test.ts',
      'is small enough to be written, whatever the remotes have together, and the ports of each are there',
    ],
    [
      'apps/service-mirror/src/desired/global/merge-ports.test.ts',
      'are the first of each cluster, so that none takes the room of another',
    ],
    ['apps/service-mirror/src/desired/global/merge-definitions.test.ts', 'makes a Service that the API takes'],
    [
      'apps/service-mirror/test/net/coredns.test.ts',
      'has its SRV records, also if a Pod of another cluster is called $what',
    ],
  ],
  'remove the last ready endpoints by its silence': [
    [
      'apps/service-mirror/src/desired/global/service.test.ts',
      'never takes the last ready endpoint because of staleness',
    ],
  ],
  'hide a slice of others by a hash collision': [
    ['apps/service-mirror/test/slice-names.test.ts', 'are all there, also of names that share ten digits of a hash'],
    [
      'apps/service-mirror/src/desired/fit-slices.test.ts',
      'gives a name that two slices have to the one whose source comes first, whatever their order, and tells of the other',
    ],
  ],
  'cost more than a retry': [
    ['packages/informers/test/hostile-server.test.ts', '$name costs a retry, and nothing else'],
    ['packages/informers/test/hostile-server.test.ts', 'gives up a list that goes on for ever with $name'],
    [
      'packages/informers/test/hostile-server.test.ts',
      'takes a watch that begins an event and never ends it for a silent one',
    ],
    ['packages/informers/test/hostile-server.test.ts', 'asks for smaller pages when a page $name'],
  ],
  'fill memory that other remotes need': [
    ['apps/policy/test/remote-budget.test.ts', '$name costs the others nothing, and is told of'],
    ['packages/kube-objects/src/kinds.test.ts', 'as $name is told apart, and its neighbours are read'],
    ['packages/kube-objects/src/parse-json.test.ts', 'refuses $name that would fill the memory, before they do'],
    [
      'packages/informers/test/hostile-server.test.ts',
      '$name stops, with what is known of it, and goes on when it has less',
    ],
  ],
  'cost more CPU time than its size suggests': [
    ['apps/policy/src/desired/linear.test.ts', 'a Pod of $name costs by its size, up to 1 MB'],
    ['apps/service-mirror/src/linear.test.ts', '$name costs by its size, up to 1 MB'],
    ['apps/wireguard/src/linear.test.ts', '$name costs by its size, up to 1 MB'],
  ],
  'cause local writes without limit': [
    ['apps/policy/test/remote-writes.test.ts', 'makes no other wait, and is held to the rate'],
    ['apps/policy/test/remote-writes.test.ts', 'gets its first sets and no more, and keeps them'],
    ['apps/service-mirror/test/remote-over-budget.test.ts', 'gets its first ones, and another when one goes'],
    ['packages/multicluster/src/local/remote-writes.test.ts', 'makes neither another remote wait nor a deletion'],
  ],
  'keep us away for more than 66 minutes': [
    [
      'packages/informers/test/hostile-server.test.ts',
      'stays away for an hour and a tenth at most when told to for $name',
    ],
    [
      'packages/multicluster/src/remote/cluster-watches.test.ts',
      'take one that may not come back for an hour for lost, whatever ended it',
    ],
  ],
  'control a terminal, fake a log line or fill a disk': [
    ['apps/policy/test/hostile-remote.test.ts', 'does no harm in a log (%s)'],
    ['apps/service-mirror/test/hostile-remote.test.ts', 'does no harm in a plan (%s)'],
    ['apps/wireguard/test/hostile-remote.test.ts', 'does no harm in $word $flags'],
    [
      'apps/policy/test/hostile-remote.test.ts',
      'fills no disk: of 10,000 bad Pods 100 are in the log, and all are counted',
    ],
  ],
  'be replaced by another server': [
    ['packages/cluster-auth/test/kubeconfig.test.ts', 'is verified whatever NODE_TLS_REJECT_UNAUTHORIZED says'],
    ['apps/policy/test/usage.test.ts', 'of kubeconfigs is told without a stack: $name'],
    [
      'apps/policy/test/connections.test.ts',
      'is watched where it is on this machine, as behind kubectl proxy, with a warning',
    ],
    [
      'packages/cluster-auth/test/ca.test.ts',
      'is not trusted if it is another one, and is fetched again with the next request',
    ],
    ['packages/cluster-auth/test/ca.test.ts', 'is trusted alone, whatever else comes with it'],
  ],
  'names each cluster that is overruled': [
    [
      'apps/service-mirror/src/desired/global/merge-definitions.test.ts',
      'names each cluster that does not get what it says, and no other',
    ],
  ],
  'addresses of deleted Pods stay in sets and behind Services': [
    ['apps/policy/test/deletion-guard.test.ts', 'and goes on doing so is believed after the hold'],
    ['apps/service-mirror/test/stale.test.ts', 'holds what the first list of $what lacks, until it is over'],
  ],
  'a deleted Node stays a peer': [
    [
      'apps/wireguard/test/net/remotes.test.ts',
      'keeps the peers of a remote whose first list lacks too many of them, until it was listed again',
    ],
  ],
  'Deletions that a watch reports are never held': [
    [
      'packages/informers/src/deletion-guard.test.ts',
      'never holds an address that another object has: a rebuilt cluster is not locked out by its ghosts',
    ],
  ],
  'Switched off, the guard holds nothing': [
    ['apps/policy/test/deletion-guard.test.ts', 'is believed at once where the guard is off'],
    ['apps/service-mirror/test/stale.test.ts', 'may be off'],
  ],
  'join the set of another workload': [
    ['apps/policy/test/names.test.ts', 'that come $order, the smaller has it (Go put both into one set)'],
  ],
  'choose labels of sets or mirrors': [
    ['apps/service-mirror/test/skipped.test.ts', 'is never copied'],
    ['apps/service-mirror/src/remote/read.test.ts', 'leaves out $name'],
  ],
  'bring in all Pods of a node by': [
    ['apps/policy/test/host-network.test.ts', 'is no member (Go let its whole node in)'],
  ],
  'any address in `allowedEndpointCIDRs`': [
    ['apps/wireguard/src/remote/node.test.ts', 'keeps endpoints to the CIDRs that are allowed'],
  ],
  'take a key or an address from an older Node': [
    ['apps/wireguard/src/desired/peers.test.ts', 'a younger Node takes nothing from an older one'],
    ['apps/wireguard/src/desired/peers.test.ts', 'no two peers share a key or an address, and none has our key'],
    ['apps/wireguard/src/desired/peers.test.ts', 'the order in which they come changes nothing'],
  ],
  'get `0.0.0.0/0`': [
    [
      'apps/wireguard/src/remote/node.test.ts',
      'never has anything outside of the pod subnets, nor an endpoint that is not an address, whatever a Node says',
    ],
  ],
  'make us look up a name': [['apps/wireguard/src/remote/node.test.ts', 'makes no peer of one at $name']],
  'disturb other peers': [
    ['apps/wireguard/src/remote/node.test.ts', 'makes no peer of $name'],
    [
      'apps/wireguard/test/net/trust.test.ts',
      'refuses what a Node of a remote may not claim, and the others lose nothing',
    ],
    [
      'apps/wireguard/test/net/fuzz.test.ts',
      'makes wg show what we mean, and never the local cluster, whatever a remote says',
    ],
    [
      'apps/wireguard/test/plan.test.ts',
      'prints what a new node would get, why Nodes are left out, and changes nothing',
    ],
  ],
  'Its endpoints may have any address': [
    ['apps/service-mirror/src/remote/read-slice.test.ts', 'is what the local API server took, if it is local'],
  ],
  'break kube-proxy through us': [
    [
      'apps/service-mirror/src/desired/fit-slices.test.ts',
      'lets no slice through with port %i, which an older build may have written',
    ],
  ],
  'lose their objects to us': [
    ['apps/service-mirror/test/repair.test.ts', 'is left alone, and makes room when it goes'],
    ['apps/policy/test/names.test.ts', 'is taken, and the object untouched (Go wrote over it)'],
  ],
  'repairs changes there': [['apps/policy/test/repair.test.ts', 'when it is deleted (Go did so within the hour)']],
  'also after an overlay renames it': [
    ['tools/manifests/test/real/renamed.test.ts', '$base is held to its own objects by an overlay that gives it $name'],
  ],
  'change, delete or take over objects of others': [
    [
      'apps/policy/test/real/own-objects-policy.test.ts',
      'changes no object of others of any kind that its role is about',
    ],
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'changes no object of others of any kind that its role is about',
    ],
    ['apps/policy/test/real/own-objects-policy.test.ts', 'deletes no set of others, one by one or all at once'],
    ['apps/service-mirror/test/real/own-objects-policy.test.ts', 'deletes $name of others neither alone nor with all'],
    ['apps/policy/test/real/own-objects-policy.test.ts', 'refuses to take over a set of others, and to give one away'],
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'refuses to take over $name of others, and to give one away',
    ],
  ],
  'take a Lease of others': [
    ['apps/policy/test/real/own-objects-policy.test.ts', 'can neither take nor make the Lease %s in kube-system'],
  ],
  'give sets other labels': [
    [
      'apps/policy/test/real/own-objects-policy.test.ts',
      'refuses a label of its own making, which a policy might go by',
    ],
  ],
  'write Services with `externalIPs`': [
    [
      'apps/service-mirror/test/real/own-objects-policy.test.ts',
      'refuses a Service of $name, also where it is made so',
    ],
    ['apps/service-mirror/test/real/own-objects-policy.test.ts', 'refuses a slice with the port %i'],
  ],
  'make more Services than the quota allows': [
    ['apps/service-mirror/test/real/own-objects-policy.test.ts', 'ends what is created beyond it'],
  ],
  'Change and remove two annotations': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'lets an agent announce itself, change that and take it away'],
  ],
  'write anything else into these annotations': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'refuses $name in the right annotation'],
  ],
  'change another Node': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', "refuses the right annotations on another's Node"],
  ],
  'change a label, taint, cordon, finalizer, owner or other annotation': [
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'a label beside the right annotations'],
    ['apps/wireguard/test/real/own-node-policy.test.ts', 'all at once, and names each'],
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
    ['packages/testkit/src/rights/manifests.test.ts', 'has each right that is deployed, and no other'],
  ],
  'No log, error, help text or metric holds a credential': [
    ['apps/policy/test/connections.test.ts', 'is in no log, no help and no metric'],
    ['apps/policy/test/connections.test.ts', 'that the remote refuses is not repeated'],
    ['apps/policy/test/connections.test.ts', 'has no flag, and is not repeated where one was tried'],
    ['packages/text/src/secrets.test.ts', 'are found by any piece of 16 characters, whatever is around it'],
    ['packages/cluster-auth/test/secrets.test.ts', '$name is known as a secret before it is sent'],
    [
      'packages/cluster-auth/test/secrets.test.ts',
      'a token that was rotated stays one, for as long as answers may repeat it',
    ],
  ],
  "A tunnel's private key never leaves its node": [
    [
      'apps/wireguard/src/local/key-file.test.ts',
      'is made for its owner alone, in a folder for its owner alone, and keeps the key',
    ],
    ['apps/wireguard/test/secrets.test.ts', 'is on no command line, and in nothing that the agent says'],
    ['packages/wireguard-tools/test/run-tool.test.ts', 'shows no key that the tool wrote, or was given'],
  ],
  'A key file that others can read or replace': [
    ['apps/wireguard/src/local/key-file.test.ts', 'that others can read'],
    ['apps/wireguard/src/local/key-file.test.ts', 'in a folder that its $name can write to, to read and to make'],
    ['apps/wireguard/src/local/key-file.test.ts', 'is never overwritten'],
  ],
  'A kubeconfig or exec plugin that anyone may write': [
    ['packages/cluster-auth/test/kubeconfig.test.ts', 'is refused if anyone may: %o'],
    ['packages/cluster-auth/test/kubeconfig.test.ts', 'is used if its group may, with a warning'],
    ['packages/cluster-auth/test/exec.test.ts', 'does not run while anyone may write it'],
  ],
  'Core dumps contain no memory': [
    ['tools/manifests/test/processes.test.ts', 'writes no memory to a core dump'],
    ['tools/manifests/test/processes.test.ts', 'opens no debugger at SIGUSR1, and continues'],
  ],
  'no write begins after another replica may hold the Lease': [
    [
      'packages/leader-election/src/term.test.ts',
      'is over when the process wakes from a SIGSTOP, before any timer has said so',
    ],
    ['apps/policy/test/real/leadership-audit.test.ts', 'a leader that wakes from a SIGSTOP writes nothing any more'],
    [
      'apps/service-mirror/test/real/leadership-audit.test.ts',
      'a leader that wakes from a SIGSTOP writes nothing any more',
    ],
  ],
  'Updates and deletes carry the resource version': [
    ['apps/policy/test/local-outage.test.ts', 'is not overwritten unseen, and not waited for'],
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
      'that opens 500 connections and says nothing keeps only some, and no probe out',
    ],
    [
      'packages/runtime/src/health/health-server.test.ts',
      'costs the connections of its own address, and not those of others that are older',
    ],
  ],
  'have metrics collected more than once a second': [
    [
      'packages/runtime/src/health/health-server.test.ts',
      'that sends 20,000 requests on one connection causes one collection, and is closed',
    ],
    ['apps/wireguard/test/scrapes.test.ts', 'makes wg run once a second at most, and no probe fail, by $name'],
  ],
  'read a token there': [['apps/policy/test/connections.test.ts', 'is in no log, no help and no metric']],
  'replace a base image or a package unseen': [
    ['tools/images/src/dockerfiles.test.ts', 'pins images by digest, like the other Dockerfiles'],
  ],
  'run a script when a package is installed': [
    [
      'tools/supply-chain/src/install-scripts.test.ts',
      'packages with install scripts are named in package.json, and may not run them',
    ],
    ['tools/supply-chain/src/install-scripts.test.ts', 'npm runs no install script'],
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
    ['tools/supply-chain/src/workflows.test.ts', 'takes actions of others by commit, and says which version that is'],
    ['tools/supply-chain/src/workflows.test.ts', 'may write nothing, but where a job says so'],
    ['tools/supply-chain/src/workflows.test.ts', 'leaves no token behind in a checkout'],
  ],
  'The manifests grant exactly these rights': [
    ['packages/testkit/src/rights/manifests.test.ts', 'has each right that is deployed, and no other'],
  ],
  'they are enough': [
    [
      'apps/policy/test/support/accounts.ts',
      'The accounts that are deployed, so that every test shows that their rights are enough.',
    ],
    [
      'apps/service-mirror/test/support/accounts.ts',
      'The accounts that are deployed, so that every test shows that their rights are enough.',
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
      'need each of their rights, and no other, also those of the component for global services',
    ],
    ['apps/wireguard/test/real/least-privilege.test.ts', 'need each of their rights, and no other'],
  ],
  'A missing right is reported': [
    ['apps/policy/test/rbac.test.ts', 'without any right deletes nothing until it has one'],
    [
      'apps/service-mirror/test/stale.test.ts',
      'that refuses to show its slices, and those only, costs nothing, which is said once',
    ],
    ['apps/wireguard/test/own-node.test.ts', 'that may not be patched is told once, counts as lost, and costs no peer'],
  ],
  '`semaphore-service-mirror cleanup` uses the same rights': [
    [
      'apps/service-mirror/test/cleanup.test.ts',
      'removes what is of one cluster, says so, and leaves all else as it was',
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

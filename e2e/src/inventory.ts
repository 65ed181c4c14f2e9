import type { Side } from './side.ts';

/** What a cluster and its nodes have: text by name. */
export type Inventory = ReadonlyMap<string, string>;

/** Kinds that others write without end. Calico keeps a node's blocks without Pods. */
const restless = /^(?:events|componentstatuses|ipam.*|blockaffinities)$/;

/** Kinds whose objects stay, but not as they are. */
const changing = /^(?:leases|pods|endpoints|endpointslices)$/;

/** Links and routes, except those of Pods, and rules of ours. Keys of tunnels stay, and old chains of kube-proxy for long. */
const HOST = `ip -brief link | grep -v ^cali | cut -d' ' -f1; for f in -4 -6; do ip $f route | grep -v 'dev cali'; ip $f rule; done
nft list ruleset | sed '/^table ip6* kube-proxy/,/^}/d' | grep -E 'semaphore|wireguard' || true`;

/** All that a cluster has, to compare it with what it has later. */
export async function inventoryOf({ cluster: { admin }, nodes }: Side): Promise<Inventory> {
  const found = new Map<string, string>();
  const { groups } = (await admin.get('/apis')) as unknown as GroupList;
  const roots = groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`);
  for (const root of ['/api/v1', ...roots]) {
    const { resources } = (await admin.get(root)) as unknown as ResourceList;
    for (const { name: plural, verbs } of resources) {
      if (!verbs.includes('list') || restless.test(plural)) continue;
      for (const { status: _status, metadata, ...object } of await admin.list(`${root}/${plural}`)) {
        const { name, namespace, labels, annotations, uid } = metadata;
        const text = changing.test(plural) ? '' : JSON.stringify({ ...object, labels, annotations, uid });
        found.set([plural, namespace, name].filter(Boolean).join(' '), text);
      }
    }
  }
  for (const node of nodes) found.set(`node ${node.name}`, await node.run('sh', ['-c', HOST]));
  return found;
}

/** What was added, removed or changed, one line each. */
export const changesIn = (before: Inventory, after: Inventory): readonly string[] => [
  ...[...before.keys()].flatMap((name) => (after.has(name) ? [] : [`- ${name}`])),
  ...[...after].flatMap(([name, text]) => {
    if (!before.has(name)) return [`+ ${name}`];
    return before.get(name) === text ? [] : [`${name}: ${before.get(name)}\nis now ${text}`];
  }),
];

type GroupList = { readonly groups: readonly { readonly preferredVersion: { readonly groupVersion: string } }[] };
type ResourceList = { readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[] };

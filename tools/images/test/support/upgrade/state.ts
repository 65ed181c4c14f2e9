import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { RealCluster } from '@kube-semaphore/testkit';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { type ClusterName, clusterNames, MCS, otherName, POLICIES, SETS, SLICES } from './names.ts';

/** The kinds of which an app writes objects, or a part. */
const kinds: Readonly<Record<ClusterName, readonly string[]>> = {
  c1: [
    '/api/v1/nodes',
    '/api/v1/services',
    `${SLICES}/endpointslices`,
    `${MCS}/serviceimports`,
    `${POLICIES}/networkpolicies`,
    SETS,
  ],
  c2: ['/api/v1/nodes'],
};

/** All objects by cluster, kind and name, and what is in the kernel of each node. */
export type State = ReadonlyMap<string, object>;

export async function stateOf(
  clusters: Readonly<Record<ClusterName, RealCluster>>,
  nodes: Readonly<Record<ClusterName, NetworkNode>>,
): Promise<State> {
  const state = new Map<string, object>();
  for (const name of clusterNames) {
    for (const path of kinds[name])
      for (const object of await clusters[name].admin.list(path)) {
        const { namespace = '', name: objectName } = object.metadata;
        state.set([name, path.slice(path.lastIndexOf('/') + 1), namespace, objectName].join(' '), object);
      }
    state.set(`${name} device`, await deviceOf(nodes[name], `wireguard.${otherName[name]}`));
  }
  return state;
}

/** Public key, port, peers, addresses and routes of a device, without counters and times. Its number shows whether it is the same. */
async function deviceOf(node: NetworkNode, device: string): Promise<object> {
  const dump = await node.run('wg', ['show', device, 'dump']);
  const [own = [], ...peers] = dump
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  return {
    own: own.slice(1).join(' '),
    peers: peers.map((fields) => fields.toSpliced(4, 3).join(' ')),
    link: await node.run('ip', ['address', 'show', 'dev', device]),
    routes: await node.run('ip', ['route', 'show', 'dev', device]),
  };
}

/** What became of what was there, by its key. */
export type Changes = {
  /** Also of an object that was replaced by another of its name. */
  readonly gone: readonly string[];
  readonly added: readonly string[];
  /** `c1 services shop web: spec.ports`, without the numbers of entries. An object that was written without a change has no field. */
  readonly written: readonly string[];
};

export function changesBetween(before: State, after: State): Changes {
  const isSame = (key: string): boolean => uidOf(before.get(key)) === uidOf(after.get(key));
  const kept = [...before.keys()].filter((key) => after.has(key) && isSame(key));
  const written = kept.flatMap((key) => {
    const fields = [...new Set(differences(before.get(key), after.get(key)))];
    const told = fields.filter((field) => !BOOKKEEPING.test(field));
    return fields.length > 0 && told.length === 0 ? [`${key}:`] : told.map((field) => `${key}: ${field}`);
  });
  return {
    gone: [...before.keys()].filter((key) => !kept.includes(key)),
    added: [...after.keys()].filter((key) => !kept.includes(key)),
    written,
  };
}

/** What the API server writes of a change. */
const BOOKKEEPING = /^metadata\.(resourceVersion|generation|managedFields)/;

/** A device has none: it is compared as a whole. */
const uidOf = (object: object | undefined) => (object as Partial<KubeObject> | undefined)?.metadata?.uid;

function differences(a: unknown, b: unknown, path = ''): readonly string[] {
  if (Object.is(a, b)) return [];
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return [path];
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length ? a.flatMap((entry, i) => differences(entry, b[i], path)) : [path];
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    differences(left[name], right[name], path === '' ? name : `${path}.${name}`),
  );
}

import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { allOf, mapRead, type Read, readAs, type Run } from '../clusters/objects.ts';
import { ciliumMaps, isCilium } from './cilium.ts';
import { isFlannel } from './flannel.ts';
import { isIpMasqAgent } from './ip-masq-agent.ts';
import { isKubeProxy, kubeProxyMap } from './kube-proxy.ts';
import { type Masqueraders, masqueradersOf } from './masqueraders.ts';
import { type DaemonSet, daemonSetList, mapKey, type MasqueradeObjects, mountedMaps } from './objects.ts';

/** Where networks have their DaemonSets: others may be of a tenant. */
const NAMESPACES = ['kube-system', 'kube-flannel'] as const;

/** What others have already begun to read. */
type Begun = {
  readonly nodes: Promise<MasqueradeObjects['nodes']>;
  readonly pools: Promise<MasqueradeObjects['pools']>;
};

/** Finds what replaces the source address of Pods in a cluster. Rejects only when the signal is aborted. */
export async function readMasqueraders(context: Context, begun: Begun, run: Run): Promise<Masqueraders> {
  const daemonSets = await readDaemonSets(context, run);
  const wanted = daemonSets.known ? mapsOf(daemonSets.value) : new Set<string>();
  const configMaps = Array.from(wanted, async (name) => [name, await readData(context, name, run)] as const);
  const [nodes, pools] = await Promise.all([begun.nodes, begun.pools]);
  const read = new Map(await Promise.all(configMaps));
  return masqueradersOf({ cluster: context.name, daemonSets, configMaps: read, nodes, pools });
}

async function readDaemonSets(context: Context, run: Run): Promise<Read<readonly DaemonSet[]>> {
  const lists = NAMESPACES.map(async (namespace) => {
    const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets`;
    return [namespace, await readAs(context, path, daemonSetList, run)] as const;
  });
  const read = allOf(Object.fromEntries(await Promise.all(lists)));
  return mapRead(read, (found) => Object.values(found).flatMap((list) => list?.items ?? []));
}

/** The ConfigMaps that decide. */
const mapsOf = (daemonSets: readonly DaemonSet[]): ReadonlySet<string> =>
  new Set([
    ...daemonSets
      .filter((each) => isFlannel(each) || isIpMasqAgent(each))
      .flatMap(mountedMaps)
      .map(mapKey),
    ...(daemonSets.some(isCilium) ? ciliumMaps.map(mapKey) : []),
    ...(daemonSets.some(isKubeProxy) ? [mapKey(kubeProxyMap)] : []),
  ]);

const configMap = z.object({ data: z.nullish(z.record(z.string(), z.string())) });

async function readData(context: Context, key: string, run: Run) {
  const [namespace, name] = key.split('/');
  const read = await readAs(context, `/api/v1/namespaces/${namespace}/configmaps/${name}`, configMap, run);
  return mapRead(read, (found) => found && (found.data ?? {}));
}

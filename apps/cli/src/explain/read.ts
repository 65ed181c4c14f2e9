import {
  endpointSliceKind,
  namespaceKind,
  type NetworkPolicy,
  networkPolicyWithTimesKind,
  podKind,
  podOnNodeKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import {
  addressedPod,
  addressIndexOf,
  companionsAsPolicies,
  isLate,
  lossesOf,
  otherSinksOf,
} from '@kube-semaphore/network-policies';
import { serviceNameLabel } from '@kube-semaphore/service-mirror/names';
import { calicoApi, readCalicoObjects, readPools } from '../clusters/calico.ts';
import { readClusterPolicies } from '../clusters/cluster-policies.ts';
import type { Context } from '../clusters/contexts.ts';
import {
  allOf,
  listObjects,
  mapRead,
  type Read,
  readNodes,
  readObject,
  type Run,
  valueOf,
  withGroups,
} from '../clusters/objects.ts';
import { readCluster } from '../clusters/report.ts';
import { readServiceRanges, readServices } from '../clusters/services.ts';
import { readDnsConfig } from '../dns/read.ts';
import { readMasqueraders } from '../masquerade/read.ts';
import { type Facts, remoteOf, type Selectable, type SideFacts, statusesOf } from './facts.ts';
import { viaOf } from './via.ts';
import type { Destination, End } from './words.ts';

type Ends = { readonly from: End; readonly to: Destination; readonly here: Context; readonly there: Context };

/** Reads all that `explain` needs. @throws {Error} if no Pod has an address that an end names, or this is not known */
export async function readFacts({ here, there, ...named }: Ends, run: Run): Promise<Facts> {
  const [from, to] = await Promise.all([lookUp(here, named.from, run), lookUp(there, named.to, run)]);
  const [hereFacts, thereFacts, ofService] = await Promise.all([
    readSide(here, from, run),
    readSide(there, to, run),
    to.kind === undefined ? readOfService({ to, here, there }, run) : WITHOUT_SERVICE,
  ]);
  const [ofHere, ofThere] = await Promise.all([
    readSelectable(here, from, policySelector(thereFacts, hereFacts), run),
    readSelectable(there, to, policySelector(hereFacts, thereFacts), run),
  ]);
  const known = {
    from,
    to,
    here: { ...hereFacts, selectable: ofHere },
    there: { ...thereFacts, selectable: ofThere },
    ...ofService,
  };
  const via = viaOf(known);
  const slices =
    via.known && via.value !== undefined
      ? await listObjects(
          here,
          endpointSliceKind,
          { namespace: via.value.namespace, labelSelector: via.value.slices },
          run,
        )
      : { known: true as const, value: [] };
  return { ...known, slices };
}

/** The Pod that has the address which an end names. */
async function lookUp<T extends End>(context: Context, end: T, run: Run): Promise<T> {
  const { ip } = end;
  if (ip === undefined) return end;
  const pods = valueOf(await listObjects(context, podKind, {}, run));
  const owner = addressIndexOf(pods.map(addressedPod)).ownerOf(ip)?.pod;
  if (owner === undefined) throw new Error(`no Pod of ${context.name} has the address ${ip}`);
  const [namespace = '', name = ''] = owner.split('/');
  return { ...end, namespace, name, kind: 'pod' };
}

type OfService = Pick<Facts, 'dnsConfig' | 'services' | 'serviceImport' | 'source'>;

/** What is known of a Service, on both sides. */
async function readOfService({ to, here, there }: Omit<Ends, 'from'>, run: Run): Promise<OfService> {
  const at = { namespace: to.namespace, name: to.name };
  const [dnsConfig, services, serviceImport, service, slices] = await Promise.all([
    withGroups(here, run)((groups) => readDnsConfig(here, groups, run)),
    readServices(here, run),
    readObject(here, serviceImportKind, at, run),
    readObject(there, serviceKind, at, run),
    listObjects(there, endpointSliceKind, { ...at, labelSelector: `${serviceNameLabel}=${to.name}` }, run),
  ]);
  return { dnsConfig, services, serviceImport, source: allOf({ service, slices }) };
}

const WITHOUT_SERVICE: OfService = {
  dnsConfig: { known: false, why: 'it was not read' },
  services: { known: true, value: [] },
  serviceImport: { known: true, value: undefined },
  source: { known: true, value: { service: undefined, slices: [] } },
};

/** By which selector the policies of a cluster see Pods of another one; undefined: they can select each. */
const policySelector = (at: Seen, other: Seen): string | undefined =>
  statusesOf(at, 'semaphore-policy').find((status) => remoteOf(status, other) !== undefined)?.config
    .remotePodSelector ?? undefined;

type Seen = Pick<SideFacts, 'cluster' | 'report'>;

/** The API server reads the selector, as for the watch of semaphore-policy. */
async function readSelectable(
  context: Context,
  { namespace }: End,
  selector: string | undefined,
  run: Run,
): Promise<Read<Selectable | undefined>> {
  if (selector === undefined) return { known: true, value: undefined };
  const pods = await listObjects(context, podKind, { namespace, labelSelector: selector }, run);
  return mapRead(pods, (found) => ({ selector, pods: new Set(found.map(({ metadata }) => metadata.name)) }));
}

async function readSide(context: Context, { namespace }: End, run: Run): Promise<Omit<SideFacts, 'selectable'>> {
  const ofGroups = withGroups(context, run);
  const nodes = readNodes(context, run);
  const pools = ofGroups((groups) => readPools(context, groups, run));
  const [report, own, pods, policies, calico, clusterPolicies, serviceRanges, masqueraders] = await Promise.all([
    readCluster(context, run),
    readObject(context, namespaceKind, { name: namespace }, run),
    readPods(context, namespace, run),
    ofGroups((groups) => readPolicies(context, { namespace, groups }, run)),
    ofGroups((groups) => readCalicoObjects(context, { namespace, groups }, run)),
    ofGroups((groups) => readClusterPolicies(context, groups, run)),
    readServiceRanges(context, run),
    readMasqueraders(context, { nodes, pools }, run),
  ]);
  return {
    cluster: context.name,
    report,
    namespace: own,
    ...pods,
    policies,
    calico,
    clusterPolicies,
    serviceRanges,
    masqueraders,
  };
}

/** The Pods of a namespace; if one is late, a Pod of any namespace may have its address. */
async function readPods(context: Context, namespace: string, run: Run): Promise<Pick<SideFacts, 'pods' | 'late'>> {
  const pods = await listObjects(context, podOnNodeKind, { namespace }, run);
  const nowMs = Date.now();
  const late = mapRead(pods, (found) => found.map(addressedPod).filter(({ holder }) => isLate(holder, nowMs)));
  if (!late.known || late.value.length === 0) return { pods, late: new Map() };
  const all = await listObjects(context, podOnNodeKind, {}, run);
  const losses = mapRead(all, (found) => lossesOf(found.map(addressedPod), { nowMs, isTimeEnough: false }));
  const lossOf = (pod: string) => mapRead(losses, (found) => found.get(pod) ?? { lost: [], skipped: [] });
  return { pods, late: new Map(late.value.map(({ holder }) => [holder.pod, lossOf(holder.pod)])) };
}

/** The NetworkPolicies of a namespace, and what semaphore-policy writes beside them in other kinds. */
async function readPolicies(
  context: Context,
  { namespace, groups }: { readonly namespace: string; readonly groups: ReadonlySet<string> },
  run: Run,
): Promise<Read<readonly NetworkPolicy[]>> {
  const policies = await listObjects(context, networkPolicyWithTimesKind, { namespace }, run);
  if (!policies.known) return policies;
  const lists = await Promise.all(
    otherSinksOf('networkpolicy', calicoApi(groups)).flatMap(({ resources, read }) =>
      resources
        .filter(({ group }) => groups.has(group))
        .map(async (resource) => ({ read, resource, list: await listObjects(context, resource, {}, run) })),
    ),
  );
  const companions = [];
  for (const { read, resource, list } of lists) {
    if (!list.known) return list;
    companions.push(...list.value.flatMap((object) => read(resource, object) ?? []));
  }
  return { known: true, value: [...policies.value, ...companionsAsPolicies(policies.value, companions)] };
}

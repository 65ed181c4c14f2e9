import { X509Certificate } from 'node:crypto';
import { endpointSliceKind } from '@kube-semaphore/kube-objects';
import { mirroredServiceLabel, mirroredSliceLabel, serviceNameLabel } from '@kube-semaphore/service-mirror/names';
import * as z from 'zod/mini';
import { type Pool, readPools } from '../../clusters/calico.ts';
import type { Context } from '../../clusters/contexts.ts';
import {
  allOf,
  known,
  listObjects,
  mapRead,
  type NodeFacts,
  type Read,
  readAs,
  readNodes,
  type Run,
  withGroups,
} from '../../clusters/objects.ts';
import { type Claimant, onlyOurs, readBindings, sortOut } from '../../clusters/ours.ts';
import { type ClusterReport, labelSelector as ofApps } from '../../clusters/report.ts';
import { ask } from '../../clusters/request.ts';
import { readServices } from '../../clusters/services.ts';
import type { DnsConfig } from '../../dns/config.ts';
import { readDnsConfig } from '../../dns/read.ts';
import type { Masqueraders } from '../../masquerade/masqueraders.ts';
import { readMasqueraders } from '../../masquerade/read.ts';
import { type DnsPod, readDns, readSelectedNamespaces } from './dns.ts';
import { type Exported, readExported } from './exported.ts';
import { readOwnRights, type Unreadable } from './own-rights.ts';
import { isAllowed, readRights } from './rights.ts';
import { readSetRules } from './set-rules.ts';
import { readUnextended, type Unextended } from './unextended.ts';

/** An API server. */
type Server = {
  readonly major: number;
  readonly minor: number;
  /** How far its clock is ahead of ours. */
  readonly aheadMs: number;
  readonly readAtMs: number;
  /** When its certificate expires, and your credentials. */
  readonly expiries: readonly { readonly what: string; readonly untilMs: number }[];
};

/** A Service that is copied from another cluster. */
type Mirror = { readonly namespace: string; readonly name: string; readonly hasReadyEndpoint: boolean };

/** What makes the Pods of an app. */
type Workload = {
  /** `the Deployment kube-system/semaphore-policy`. */
  readonly what: string;
  /** How many Pods it should have, and has. */
  readonly wanted: number;
  readonly there: number;
};

/** What Multi-Cluster Services need. */
type Multicluster = {
  /** The plurals of the kinds of each version. */
  readonly kinds: Readonly<Record<'v1alpha1' | 'v1beta1', readonly string[]>>;
  /** Whether CoreDNS, at the usual place, may list and watch ServiceImports. */
  readonly isReadable: boolean;
};

/** What the API server of a cluster says, besides our apps. */
export type Facts = {
  readonly server: Read<Server>;
  readonly nodes: Read<readonly NodeFacts[]>;
  /** Calico's; empty without Calico. */
  readonly pools: Read<readonly Pool[]>;
  readonly masqueraders: Masqueraders;
  /** As `readSetRules`. */
  readonly emptyRules: Read<readonly string[] | undefined>;
  readonly accidentalRules: Read<readonly string[] | undefined>;
  readonly dnsConfig: Read<DnsConfig>;
  /** By the selectors in `namespace_labels` of the Corefile. */
  readonly selectedNamespaces: Read<ReadonlyMap<string, readonly string[]>>;
  readonly dns: Read<readonly DnsPod[]>;
  readonly workloads: Read<readonly Workload[]>;
  /** Others that export Services to this cluster. */
  readonly otherMeshes: Read<readonly string[]>;
  readonly mirrors: Read<readonly Mirror[]>;
  /** Undefined: nothing says which Services other clusters copy. */
  readonly exported: Read<Exported | undefined>;
  /** Undefined: nothing says whether NetworkPolicies are extended. */
  readonly unextended: Read<Unextended | undefined>;
  readonly multicluster: Read<Multicluster>;
  readonly unreadable: Read<readonly Unreadable[]>;
  /** Rights that accounts of the apps lack, each as a sentence. */
  readonly lacking: Read<readonly string[]>;
};

/** What is known of a cluster. */
export type Reading = ClusterReport & { readonly facts: Facts };

const TIMEOUT_MS = 10_000;

/** Reads what the apps don't report. Rejects only when the signal is aborted. */
export async function readFacts(context: Context, report: ClusterReport, run: Run): Promise<Facts> {
  const { pods, failure } = report;
  if (failure !== undefined) return unknown({ known: false, why: failure });
  const ofGroups = withGroups(context, run);
  const dnsConfig = ofGroups((groups) => readDnsConfig(context, groups, run));
  const nodes = readNodes(context, run);
  const pools = ofGroups((groups) => readPools(context, groups, run));
  const reads: { readonly [K in keyof Facts]: Promise<Facts[K]> } = {
    server: known(context, run, () => readServer(context, run)),
    nodes,
    pools,
    masqueraders: readMasqueraders(context, { nodes, pools }, run),
    ...readSetRules(context, { report, ofGroups }, run),
    dnsConfig,
    selectedNamespaces: readSelectedNamespaces(context, dnsConfig, run),
    dns: readDns(context, dnsConfig, run),
    workloads: readWorkloads(context, run),
    otherMeshes: readOtherMeshes(context, run),
    mirrors: readMirrors(context, run),
    exported: ofGroups((groups) => readExported(context, { report, groups }, run)),
    unextended: readUnextended(context, report, run),
    multicluster: readMulticluster(context, run),
    unreadable: ofGroups((groups) => readOwnRights(context, groups, run)),
    lacking: readRights(context, pods, run),
  };
  const facts = Object.entries(reads).map(async ([fact, read]) => [fact, await read] as const);
  return Object.fromEntries(await Promise.all(facts)) as Facts;
}

const unknown = (why: Read<never>): Facts => ({
  server: why,
  nodes: why,
  pools: why,
  masqueraders: { found: [], unknown: [] },
  emptyRules: why,
  accidentalRules: why,
  dnsConfig: why,
  selectedNamespaces: why,
  dns: why,
  workloads: why,
  otherMeshes: why,
  mirrors: why,
  exported: why,
  unextended: why,
  multicluster: why,
  unreadable: why,
  lacking: why,
});

const versionPage = z.object({ major: z.string(), minor: z.string() });

async function readServer(context: Context, { signal }: Run): Promise<Server> {
  const askedAtMs = Date.now();
  const answer = await ask(context, { path: '/version' }, { signal, timeoutMs: TIMEOUT_MS });
  const { major, minor } = versionPage.parse(JSON.parse(answer.body));
  const readAtMs = Date.now();
  const { certificateUntilMs, dateMs } = answer;
  return {
    major: Number.parseInt(major, 10),
    minor: Number.parseInt(minor, 10),
    // The header has whole seconds, so half of one is missing on average.
    aheadMs: dateMs + 500 - (askedAtMs + readAtMs) / 2,
    readAtMs,
    expiries: [{ what: 'the certificate of the API server', untilMs: certificateUntilMs }, ...ownExpiry(context)],
  };
}

function ownExpiry({ reference, user }: Context): Server['expiries'] {
  const data = reference.kind === 'context' && reference.context.user['client-certificate-data'];
  if (!data) return [];
  const certificate = new X509Certificate(Buffer.from(data, 'base64'));
  return [{ what: `the certificate of the user "${user}"`, untilMs: certificate.validToDate.getTime() }];
}

const count = z.optional(z.number());
const workloadList = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ namespace: z.string(), name: z.string(), labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        replicas: count,
        template: z.object({ spec: z.object({ serviceAccountName: z.optional(z.string()) }) }),
      }),
      status: z.object({ replicas: count, desiredNumberScheduled: count, currentNumberScheduled: count }),
    }),
  ),
});

type ListedWorkload = z.infer<typeof workloadList>['items'][number];

const claimantOf = ({ metadata, spec }: Pick<ListedWorkload, 'metadata' | 'spec'>): Claimant => ({
  metadata,
  spec: spec.template.spec,
});

async function listWorkloads(context: Context, plural: string, labelSelector: string, run: Run) {
  const path = `/apis/apps/v1/${plural}?${new URLSearchParams({ labelSelector }).toString()}`;
  return mapRead(await readAs(context, path, workloadList, run), (page) => page?.items ?? []);
}

/** By the label of their Deployments, whose value is also the ClusterRole that their manifests give to the account. */
const otherMeshes: Readonly<Record<string, Label>> = {
  'Cilium ClusterMesh': ['k8s-app', 'clustermesh-apiserver'],
  "Submariner's service discovery": ['app', 'submariner-lighthouse-agent'],
};

type Label = readonly [key: string, value: string];

async function readOtherMeshes(context: Context, run: Run): Promise<Read<readonly string[]>> {
  const reads = Object.entries(otherMeshes).map(
    async ([name, label]) => [name, await isDeployed(context, label, run)] as const,
  );
  return mapRead(allOf(Object.fromEntries(await Promise.all(reads))), (found) =>
    Object.keys(found).filter((name) => found[name] === true),
  );
}

/** Whether there is a Deployment with this label that no tenant can have made. */
async function isDeployed(context: Context, [key, value]: Label, run: Run): Promise<Read<boolean>> {
  const found = await listWorkloads(context, 'deployments', `${key}=${value}`, run);
  if (!found.known) return found;
  const claimants = found.value.map(claimantOf);
  const bindings = await readBindings(context, claimants, run);
  const isFound = sortOut(claimants, bindings, key).ours.length > 0;
  return isFound ? { known: true, value: true } : mapRead(bindings, () => false);
}

async function readWorkloads(context: Context, run: Run): Promise<Read<readonly Workload[]>> {
  const [deployments, daemonSets] = await Promise.all([
    listWorkloads(context, 'deployments', ofApps, run),
    listWorkloads(context, 'daemonsets', ofApps, run),
  ]);
  const all = mapRead(allOf({ deployments, daemonSets }), (both) => [
    ...both.deployments.map(({ metadata, spec, status }) => ({
      what: `the Deployment ${metadata.namespace}/${metadata.name}`,
      wanted: spec.replicas ?? 1,
      there: status.replicas ?? 0,
      ...claimantOf({ metadata, spec }),
    })),
    ...both.daemonSets.map(({ metadata, spec, status }) => ({
      what: `the DaemonSet ${metadata.namespace}/${metadata.name}`,
      wanted: status.desiredNumberScheduled ?? 0,
      there: status.currentNumberScheduled ?? 0,
      ...claimantOf({ metadata, spec }),
    })),
  ]);
  return all.known ? { known: true, value: (await onlyOurs(context, all.value, run)).ours } : all;
}

async function readMirrors(context: Context, run: Run): Promise<Read<readonly Mirror[]>> {
  const slicesOf = (label: string) => listObjects(context, endpointSliceKind, { labelSelector: `${label}=true` }, run);
  const [services, mirrored, global] = await Promise.all([
    readServices(context, run),
    slicesOf(mirroredServiceLabel),
    slicesOf(mirroredSliceLabel),
  ]);
  return mapRead(allOf({ services, mirrored, global }), (all) => {
    const ready = new Set(
      [...all.mirrored, ...all.global]
        .filter(({ endpoints }) => endpoints.some(({ conditions }) => conditions.ready !== false))
        .map(({ metadata: { namespace, labels } }) => `${namespace}/${labels[serviceNameLabel]}`),
    );
    return all.services.map(({ metadata: { namespace, name } }) => ({
      namespace,
      name,
      hasReadyEndpoint: ready.has(`${namespace}/${name}`),
    }));
  });
}

const kindsPage = z.object({ resources: z.array(z.object({ name: z.string() })) });

async function readMulticluster(context: Context, run: Run): Promise<Read<Multicluster>> {
  const kindsOf = async (version: string): Promise<Read<readonly string[]>> =>
    mapRead(await readAs(context, `/apis/multicluster.x-k8s.io/${version}`, kindsPage, run), (page) =>
      (page?.resources ?? []).map(({ name }) => name),
    );
  const kinds = allOf({ v1alpha1: await kindsOf('v1alpha1'), v1beta1: await kindsOf('v1beta1') });
  if (!kinds.known) return kinds;
  if (kinds.value.v1alpha1.length === 0) return { known: true, value: { kinds: kinds.value, isReadable: false } };
  const mayRead = (verb: string): Promise<Read<boolean>> => {
    const attributes = { verb, group: 'multicluster.x-k8s.io', resource: 'serviceimports' };
    return isAllowed(context, { account: 'system:serviceaccount:kube-system:coredns', attributes }, run);
  };
  return mapRead(allOf({ list: await mayRead('list'), watch: await mayRead('watch') }), ({ list, watch }) => ({
    kinds: kinds.value,
    isReadable: list && watch,
  }));
}

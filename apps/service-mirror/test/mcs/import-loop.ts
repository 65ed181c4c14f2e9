import { connect } from '@kube-semaphore/cluster-auth';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { isStatus, KubeClient } from '@kube-semaphore/kube-client';
import {
  Codec,
  endpointSliceKind,
  serviceExportKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { nextChanges, type ObservedObjects } from '../../src/imports/desired/changes.ts';
import { conditionChange, conflictReasons } from '../../src/imports/desired/conditions.ts';
import { desiredImport, type Exporter } from '../../src/imports/desired/import.ts';
import { NO_ORPHANS, retainedExports } from '../../src/imports/desired/retained.ts';
import { ImportWriter } from '../../src/imports/local/import-writer.ts';
import { observedDerived, observedImport } from '../../src/imports/local/read.ts';
import { observedSlice } from '../../src/endpoints/local/read.ts';
import { derivedServiceNames } from '../../src/names.ts';
import { readExport, readExportedService } from '../../src/imports/remote/read-export.ts';
import { readSlice } from '../../src/endpoints/remote/read-slice.ts';

/** That of all imports. */
const NAMESPACE = 'default';
const { signal } = new AbortController();
const [services, slices, imports, exports] = [
  new Codec(serviceKind),
  new Codec(endpointSliceKind),
  new Codec(serviceImportKind),
  new Codec(serviceExportKind),
];

/** A member of a cluster set: its API server, and a client of ours. */
export type Member = { readonly cluster: TestCluster; readonly client: KubeClient; close(): Promise<void> };

export async function openMember(cluster: TestCluster): Promise<Member> {
  const reference = { kind: 'kubeconfig', path: cluster.adminKubeconfig } as const;
  const connection = await connect(reference, { env: {}, log: { info: () => {}, warn: () => {} } });
  const client = new KubeClient({ connection, userAgent: 'mcs-test', idleTimeoutMs: 50_000 });
  return { cluster, client, close: async () => connection.close() };
}

/**
 * One reconcile of a ServiceImport after another in one member, until nothing differs. Each reads everything from the API
 * servers, as a process would that has just started.
 *
 * @param lost members that can't be read now
 * @param derivedNamespace where the Services of imports are; default: beside the imports
 * @returns the writes, as `update-slice`
 */
export async function reconciled(
  name: string,
  {
    local,
    members,
    lost = [],
    derivedNamespace = NAMESPACE,
  }: { local: Member; members: readonly Member[]; lost?: readonly string[]; derivedNamespace?: string },
): Promise<readonly string[]> {
  const namespace = NAMESPACE;
  const { client } = local;
  const writer = new ImportWriter(client);
  const [derived] = derivedServiceNames({ namespace, name }, { isBeside: derivedNamespace === namespace });
  const at = { namespace, name, derivedNamespace, derived };
  const made: string[] = [];
  for (let round = 0; round < 20; round++) {
    const observed = await observedIn(client, at);
    const own = await found(client.get(exports, { namespace, name, signal }));
    const read = members.filter(({ cluster }) => !lost.includes(cluster.name));
    const each = await Promise.all(
      read.map((member) => exporterIn(member, { namespace, name, isLocal: member === local })),
    );
    const service = await found(client.get(services, { namespace, name, signal }));
    const { wanted, conditions } = desiredImport({
      namespace,
      name,
      exporters: each.filter((exporter) => exporter !== undefined),
      retained: retainedExports({ observed: observed.serviceImport, slices: observed.slices }, lost),
      orphans: NO_ORPHANS,
      own: own && { ...readExportedService(service).own, present: conflictReasons(own.status.conditions) },
      prefixes: undefined,
      families: ['IPv4', 'IPv6'],
      placement: { namespace: derivedNamespace, derived },
      localFirst: false,
      routing: {
        local: local.cluster.name,
        properties: new Map(),
        order: undefined,
        hasAllZones: false,
        down: new Map(),
        nowMs: 0,
      },
      zones: [],
    });
    const now = '2026-01-01T00:00:00Z';
    const changes = wanted === 'unknown' ? [] : nextChanges(observed, wanted, now);
    for (const change of changes) await writer.write(change, at, { signal });
    made.push(...changes.map(({ kind }) => kind));
    const change = own && conditions && conditionChange(own.status.conditions, conditions, now);
    if (own !== undefined && change !== undefined) {
      await writer.writeConditions(own.metadata, change, { signal, namespace });
      made.push('update-export-status');
    }
    if (changes.length === 0 && change === undefined) return made;
  }
  throw new Error(`no end after ${made.join(', ')}`);
}

async function observedIn(
  client: KubeClient,
  {
    namespace,
    name,
    derivedNamespace,
    derived,
  }: { [field in 'namespace' | 'name' | 'derivedNamespace' | 'derived']: string },
): Promise<ObservedObjects> {
  const labelSelector = `multicluster.kubernetes.io/service-name=${name}`;
  const [serviceImport, service, page] = await Promise.all([
    found(client.get(imports, { namespace, name, signal })),
    found(client.get(services, { namespace: derivedNamespace, name: derived, signal })),
    client.list(slices, { namespace: derivedNamespace, labelSelector, signal }),
  ]);
  return {
    serviceImport: serviceImport && observedImport(serviceImport),
    service: service && observedDerived(service),
    slices: page.items.map((item) => observedSlice(item)).filter((slice) => slice !== undefined),
  };
}

async function exporterIn(
  { cluster, client }: Member,
  { isLocal, ...at }: { namespace: string; name: string; isLocal: boolean },
): Promise<Exporter | undefined> {
  const { namespace, name } = at;
  const [object, service] = await Promise.all([
    found(client.get(exports, { ...at, signal })),
    found(client.get(services, { ...at, signal })),
  ]);
  const value = object && readExport(object).value;
  const { definition } = readExportedService(service);
  if (value === undefined || definition === undefined) return undefined;
  const labelSelector = `kubernetes.io/service-name=${name}`;
  const { items } = await client.list(slices, { namespace, labelSelector, signal });
  const rules = { isLocal, isAnonymous: true, addresses: { allowed: undefined, local: [] } };
  return {
    ...value,
    cluster: cluster.name,
    definition,
    isLocal,
    stale: 'no',
    slices: items.flatMap((item) => readSlice(item, rules).value ?? []),
  };
}

/** Undefined if there is no such object. */
const found = <T>(get: Promise<T>): Promise<T | undefined> =>
  get.catch((error: unknown) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });

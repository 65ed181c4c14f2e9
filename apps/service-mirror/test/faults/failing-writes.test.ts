import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { RequestFilter } from '@kube-semaphore/fault-proxy';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { failingWrites } from '@kube-semaphore/testkit';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { globalServiceName, mirrorServiceName } from '../../src/names.ts';
import { type SetMember, startSet } from '../support/mcs/cluster-set.ts';
import { MIRRORS } from '../support/mirror-process.ts';

let set: Awaited<ReturnType<typeof startSet>>;
let c1: SetMember;
let c2: SetMember;
let c3: SetMember;

beforeAll(async () => {
  set = await startSet({ names: ['c1', 'c2', 'c3'] });
  [c1, c2, c3] = set.members as [SetMember, SetMember, SetMember];
  await c1.start({ global: { globalSvcLabelSelector: 'global=true' } });
});
afterEach(() => set.path('c1', 'c1').clear());
afterAll(() => set.stop());

const [ofC2, ofC3, later, last] = ['10.4.2.1', '10.4.3.1', '10.4.2.2', '10.4.2.3'] as const;

/** A kind of objects that c1 writes for a Service of c3 and c2. */
type Kind = {
  readonly what: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Whether c3 and c2 export the Service. */
  readonly isExported?: boolean;
  /** The write that fails: of an object that c2 has a part in. */
  readonly write: (name: string) => Promise<RequestFilter>;
  /** c2 changes something, so that the write is due. @param round counts the changes */
  readonly change: (name: string, round: number) => Promise<unknown>;
  /** c3 withdraws its Service. */
  readonly withdraw: (name: string) => Promise<unknown>;
  /** The ready addresses of both. */
  readonly addresses: (name: string) => Promise<Readonly<Record<string, readonly string[]>>>;
  /** Whether the change of a round is there. */
  readonly isChanged: (name: string, round: number) => Promise<boolean>;
};

type Slice = KubeObject & { readonly endpoints?: readonly { readonly addresses: readonly string[] }[] };

const slicesIn = async (namespace: string): Promise<readonly Slice[]> =>
  (await c1.cluster.admin.list(
    `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  )) as unknown as readonly Slice[];

/** The slices of a global Service, by the cluster of their endpoints. */
async function globalSlices(name: string): Promise<ReadonlyMap<string, Slice>> {
  const slices = (await slicesIn(MIRRORS)).filter(
    ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === globalServiceName('shop', name),
  );
  return new Map(slices.map((slice) => [slice.metadata.labels?.['mirror-endpointslice-sync-name'] ?? '', slice]));
}

const addressesOf = (slices: ReadonlyMap<string, Slice>) =>
  Object.fromEntries(
    Array.from(slices, ([cluster, { endpoints }]) => [
      cluster,
      (endpoints ?? []).flatMap(({ addresses }) => addresses),
    ]),
  );

const put = (target: string): RequestFilter => ({ verb: 'update', target: new RegExp(`${target}$`) });

const ofRound = (round: number): string => (round === 0 ? later : last);
const setEndpoints = (name: string, round: number) => c2.setEndpoints(name, [ofRound(round)]);

/** Of two Services of one age, that of c2 decides. */
const setAffinity = (name: string, round: number) =>
  c2.cluster.admin.request('PATCH', `/api/v1/namespaces/shop/services/${name}`, {
    spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 + round } } },
  });
const affinityOf = (object: unknown): number | undefined =>
  (object as { spec?: { sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } } } } | undefined)?.spec
    ?.sessionAffinityConfig?.clientIP?.timeoutSeconds;

const imported = {
  isExported: true,
  withdraw: (name: string) => c3.unexport(name),
  addresses: (name: string) => c1.addresses(name),
} as const;

const globals = {
  labels: { global: 'true' },
  withdraw: (name: string) => c3.deleteService(name),
  addresses: async (name: string) => addressesOf(await globalSlices(name)),
} as const;

/** The slices of the mirrors of both clusters, by cluster. */
async function mirrorSlices(name: string): Promise<ReadonlyMap<string, Slice>> {
  const slices = await slicesIn(MIRRORS);
  return new Map(
    ['c2', 'c3'].flatMap((cluster) => {
      const service = mirrorServiceName(cluster, 'shop', name);
      const slice = slices.find(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === service);
      return slice === undefined ? [] : [[cluster, slice] as const];
    }),
  );
}

const mirrors = {
  labels: { mirror: 'true' },
  withdraw: (name: string) => c3.deleteService(name),
  addresses: async (name: string) => addressesOf(await mirrorSlices(name)),
} as const;

/** c1 exports the Service, too, and then no more. */
const exportedByC1 = {
  change: (name: string, round: number) => (round === 0 ? c1.export(name, ['10.4.1.1']) : c1.unexport(name)),
  isChanged: async (name: string) => (await c1.importedFrom(name))?.join() === 'c2',
} as const;

const derivedOf = async (name: string): Promise<KubeObject> =>
  (await c1.derived()).find(({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/service-name'] === name)!;

const globalOf = (name: string): Promise<KubeObject> =>
  c1.cluster.admin.get(`/api/v1/namespaces/${MIRRORS}/services/${globalServiceName('shop', name)}`);

const kinds: readonly Kind[] = [
  {
    ...imported,
    what: 'the slice of an import',
    write: async (name) => {
      const slices = await slicesIn('shop');
      const { metadata } = slices.find(
        ({ metadata: { labels = {} } }) =>
          labels['multicluster.kubernetes.io/service-name'] === name &&
          labels['multicluster.kubernetes.io/source-cluster'] === 'c2',
      )!;
      return put(`/endpointslices/${metadata.name}`);
    },
    change: setEndpoints,
    isChanged: async (name, round) => (await c1.addresses(name))['c2']?.[0] === ofRound(round),
  },
  {
    ...imported,
    what: 'the Service of an import',
    write: async (name) => put(`/services/${(await derivedOf(name)).metadata.name}`),
    change: setAffinity,
    isChanged: async (name, round) => affinityOf(await derivedOf(name)) === 60 + round,
  },
  {
    ...imported,
    what: 'a ServiceImport',
    write: async (name) => put(`/serviceimports/${name}`),
    change: setAffinity,
    isChanged: async (name, round) => affinityOf(await c1.import(name)) === 60 + round,
  },
  {
    ...imported,
    what: 'the status of a ServiceImport',
    write: async (name) => ({ target: new RegExp(`/serviceimports/${name}/status$`) }),
    ...exportedByC1,
  },
  {
    ...imported,
    what: 'the status of a ServiceExport',
    write: async (name) => ({ target: new RegExp(`/serviceexports/${name}/status$`) }),
    ...exportedByC1,
  },
  {
    ...mirrors,
    what: 'the slice of a mirror',
    write: async (name) => put(`/endpointslices/${(await mirrorSlices(name)).get('c2')!.metadata.name}`),
    change: setEndpoints,
    isChanged: async (name, round) => (await mirrors.addresses(name))['c2']?.[0] === ofRound(round),
  },
  {
    ...mirrors,
    what: 'a mirror',
    write: async (name) => put(`/services/${mirrorServiceName('c2', 'shop', name)}`),
    change: setAffinity,
    isChanged: async (name, round) =>
      affinityOf(
        await c1.cluster.admin.get(`/api/v1/namespaces/${MIRRORS}/services/${mirrorServiceName('c2', 'shop', name)}`),
      ) ===
      60 + round,
  },
  {
    ...globals,
    what: 'the slice of a global Service',
    write: async (name) => put(`/endpointslices/${(await globalSlices(name)).get('c2')!.metadata.name}`),
    change: setEndpoints,
    isChanged: async (name, round) => (await globals.addresses(name))['c2']?.[0] === ofRound(round),
  },
  {
    ...globals,
    what: 'a global Service',
    write: async (name) => put(`/services/${globalServiceName('shop', name)}`),
    change: setAffinity,
    isChanged: async (name, round) => affinityOf(await globalOf(name)) === 60 + round,
  },
];

describe.each(kinds.map((kind, k) => ({ ...kind, k })))(
  '$what that can not be written for ever',
  ({ labels = {}, isExported = false, write, change, withdraw, addresses, isChanged, k }) => {
    it.each(failingWrites.map((each, f) => ({ ...each, f })))(
      'with $name, delays nothing of another cluster',
      async ({ fault, f }) => {
        const name = `web-${k}-${f}`;
        for (const [member, address] of [
          [c2, ofC2],
          [c3, ofC3],
        ] as const) {
          await member.createService(name, [address], { labels });
          if (isExported) await member.createExport(name);
          await eventually(async () => Object.keys(await addresses(name)).includes(member.cluster.name), true);
        }
        const proxy = set.path('c1', 'c1');
        const filter = await write(name);
        await proxy.set(fault, filter);
        await change(name, 0);
        const failed = () =>
          proxy.requests().find(({ target, faults }) => filter.target!.test(target) && faults.length > 0);
        await eventually(async () => failed(), isDefined);
        await withdraw(name);
        await eventually(async () => 'c3' in (await addresses(name)), false);
        await proxy.clear();
        // What was refused is sent again at once when it changes.
        await change(name, 1);
        await eventually(() => isChanged(name, 1), true);
      },
    );
  },
);

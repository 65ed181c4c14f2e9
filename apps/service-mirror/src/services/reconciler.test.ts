import { setImmediate } from 'node:timers/promises';
import { eventually } from '@kube-semaphore/eventually';
import { KubeApiError } from '@kube-semaphore/kube-client';
import { refusalOf, WaitingWrites } from '@kube-semaphore/multicluster';
import { describe, expect, it } from 'vitest';
import type { Change } from '../endpoints/desired/diff/change.ts';
import type { DesiredObjects, DesiredSlice } from '../endpoints/desired/objects.ts';
import type { ClusterDiagnostic } from '../endpoints/desired/diagnostic.ts';
import type { ObservedEndpoints, ObservedService, ObservedSlice } from '../endpoints/desired/observed.ts';
import { ServiceReconciler } from './reconciler.ts';
import type { Target } from '../endpoints/desired/target.ts';
import { noDecisions } from '../../test/support/plain-cluster.ts';

const name = 'c2-ns-73736d-web';
const key = 'c2/ns/web';
const conditions = { ready: true, serving: undefined, terminating: undefined };
const endpoint = {
  address: '10.4.0.1',
  otherAddresses: undefined,
  conditions,
  hostname: undefined,
  nodeName: undefined,
  zone: undefined,
  zones: undefined,
};

const wantedWith = (endpoints: DesiredObjects['slices'][number]['endpoints']): DesiredObjects => ({
  service: {
    name,
    labels: {},
    annotations: {},
    definition: {
      headless: false,
      families: ['IPv4'],
      ports: [],
      affinitySeconds: undefined,
      publishNotReadyAddresses: false,
    },
  },
  slices: [{ name: `${name}-1`, labels: {}, annotations: {}, family: 'IPv4', ports: [], endpoints }],
});
const endpointsWith = (
  addresses: readonly string[],
  labels = { ours: 'true' } as Readonly<Record<string, string>>,
): ObservedEndpoints => ({ name, uid: 'e', resourceVersion: '1', labels, addresses });
const written = { metadata: { name, uid: 's' } };

type Setting = {
  readonly wanted: Target['wanted'];
  readonly retainsEndpoints?: boolean;
  readonly endpoints?: ObservedEndpoints;
  readonly refused?: Change['kind'];
  readonly taken?: Change['kind'];
};

/** One reconcile. @returns why a write failed that is tried again */
async function reconcileOnce(reconciler: ServiceReconciler, of: string): Promise<unknown> {
  const failures: unknown[] = [];
  const waiting = new WaitingWrites({ onFailure: ({ error }) => void failures.push(error), onDue: () => {} });
  const writes = waiting.begin(of, { since: 0 });
  await reconciler.reconcile(of, { signal: new AbortController().signal, since: 0, writes });
  waiting.end(writes);
  return failures.find((error) => refusalOf(error) === undefined);
}

/** The changes, the diagnostics and the failure of one reconcile, without a Service yet, and maybe with Endpoints of a Go program. */
async function lookAt({ wanted, retainsEndpoints = false, endpoints, refused, taken }: Setting): Promise<{
  readonly changes: readonly Change['kind'][];
  readonly diagnostics: readonly ClusterDiagnostic[];
  readonly failure: unknown;
  /** Keys of which nothing is left. */
  readonly forgotten: readonly string[];
}> {
  const changes: Change['kind'][] = [];
  const forgotten: string[] = [];
  let diagnostics: readonly ClusterDiagnostic[] = [];
  const reconciler = new ServiceReconciler({
    local: {
      isSynced: () => true,
      service: () => undefined,
      slice: () => undefined,
      slices: () => [],
      endpoints: () => endpoints,
    },
    decisions: noDecisions,
    targets: {
      part: () => undefined,
      target: () => ({
        name,
        isOurs: (labels) => labels['ours'] === 'true',
        wanted,
        retainsUnseen: false,
        retainsEndpoints,
        diagnostics: [],
      }),
    },
    keys: { claimants: () => [], sourcesOf: () => [], forgetSeen: (gone) => void forgotten.push(gone) },
    write: async (change) => {
      if (change.kind === refused) throw new KubeApiError('invalid', { status: 422 });
      if (change.kind === taken) throw new KubeApiError('it is there', { status: 409, reason: 'AlreadyExists' });
      changes.push(change.kind);
      return change.kind === 'create-service' ? (written as never) : undefined;
    },
    clusters: { diagnose: (_, all) => void (diagnostics = all) },
  });
  const failure = await reconcileOnce(reconciler, key);
  return { changes, diagnostics, failure, forgotten };
}

it.each<{ name: string; setting: Setting; want: readonly string[] }>([
  {
    name: 'forgets a key that no source wants, when nothing is left of it',
    setting: { wanted: 'nothing' },
    want: [key],
  },
  {
    name: 'remembers a key while something is left of it',
    setting: { wanted: 'nothing', endpoints: endpointsWith(['10.4.0.1']) },
    want: [],
  },
  { name: 'remembers a key whose sources are unknown', setting: { wanted: 'unknown' }, want: [] },
  { name: 'remembers a key that a source wants', setting: { wanted: wantedWith([]) }, want: [] },
])('$name', async ({ setting, want }) => {
  expect((await lookAt(setting)).forgotten).toEqual(want);
});

describe('Endpoints of a Go program', () => {
  const left = endpointsWith(['10.4.0.1']);
  const filled = wantedWith([endpoint]);
  const empty = wantedWith([]);

  it.each<{ name: string; setting: Setting; goes: boolean }>([
    { name: 'are deleted when our slices exist', setting: { wanted: filled, endpoints: left }, goes: true },
    {
      name: 'are deleted when our slices exist, even before the source is settled',
      setting: { wanted: filled, endpoints: left, retainsEndpoints: true },
      goes: true,
    },
    {
      name: 'stay while the source is not settled and has no endpoint',
      setting: { wanted: empty, endpoints: left, retainsEndpoints: true },
      goes: false,
    },
    {
      name: 'stay while the source is not settled and has no ready endpoint',
      setting: {
        wanted: wantedWith([{ ...endpoint, conditions: { ...conditions, ready: false } }]),
        endpoints: left,
        retainsEndpoints: true,
      },
      goes: false,
    },
    {
      name: 'are deleted when the source is settled without an endpoint',
      setting: { wanted: empty, endpoints: left },
      goes: true,
    },
    {
      name: 'are deleted if they have no address',
      setting: { wanted: empty, endpoints: endpointsWith([]), retainsEndpoints: true },
      goes: true,
    },
    {
      name: 'are deleted with their source',
      setting: { wanted: 'nothing', endpoints: left, retainsEndpoints: true },
      goes: true,
    },
    { name: 'stay while their source is unknown', setting: { wanted: 'unknown', endpoints: left }, goes: false },
    {
      name: 'stay if a slice of ours was refused',
      setting: { wanted: filled, endpoints: left, refused: 'create-slice' },
      goes: false,
    },
    {
      name: 'stay if the name of a slice of ours is taken',
      setting: { wanted: filled, endpoints: left, taken: 'create-slice' },
      goes: false,
    },
    {
      name: 'stay if they belong to another process',
      setting: { wanted: filled, endpoints: endpointsWith(['10.4.0.1'], {}) },
      goes: false,
    },
  ])('$name', async ({ setting, goes }) => {
    expect((await lookAt(setting)).changes.includes('delete-endpoints')).toBe(goes);
  });

  it('that stay are named, with the reason', async () => {
    const setting = { endpoints: left, retainsEndpoints: true };
    expect((await lookAt({ ...setting, wanted: empty })).diagnostics).toEqual([
      {
        cluster: 'c2',
        kind: 'expected',
        reason: 'endpoints-retained',
        detail:
          `the Endpoints ${name} of the Go program stay, with 1 address, ` +
          'while its source has no ready endpoint: its list may be incomplete',
      },
    ]);
    expect((await lookAt({ ...setting, wanted: filled })).diagnostics).toEqual([]);
    expect(
      (await lookAt({ ...setting, wanted: empty, endpoints: endpointsWith(['10.4.0.1'], {}) })).diagnostics,
    ).toEqual([]);
  });

  it('are deleted after the slices that replace them are created', async () => {
    expect(await lookAt({ wanted: filled, endpoints: left })).toEqual({
      changes: ['create-service', 'create-slice', 'delete-endpoints'],
      diagnostics: [],
      failure: undefined,
      forgotten: [],
    });
  });

  it('wait, like everything else, for a Service that was refused', async () => {
    expect(await lookAt({ wanted: filled, endpoints: left, refused: 'create-service' })).toMatchObject({
      changes: [],
      failure: undefined,
    });
  });
});

it('a slice whose name is taken is retried, and a refused one is not', async () => {
  const wanted = wantedWith([endpoint]);
  expect(await lookAt({ wanted, taken: 'create-slice' })).toMatchObject({
    changes: ['create-service'],
    failure: { status: 409 },
  });
  expect(await lookAt({ wanted, refused: 'create-slice' })).toMatchObject({
    changes: ['create-service'],
    failure: undefined,
  });
});

describe('the slices of several clusters', () => {
  const service: ObservedService = {
    name,
    uid: 's',
    resourceVersion: '1',
    createdAt: 0,
    labels: { ours: 'true' },
    annotations: {},
    definition: wantedWith([]).service.definition,
    familyPolicy: 'SingleStack',
    isPlain: true,
    isTerminating: false,
    ownerReferences: [],
    finalizers: [],
  };
  const slice = (
    cluster: string,
    source: string,
    sliceName = `${name}-${cluster}-${source}`,
    endpoints: DesiredSlice['endpoints'] = [endpoint],
  ): DesiredSlice => ({
    name: sliceName,
    labels: { ours: 'true', 'mirror-endpointslice-sync-name': cluster },
    annotations: { 'mirror-svc-source': `${cluster}/ns/${source}` },
    family: 'IPv4',
    ports: [],
    endpoints,
  });
  const observed = (each: DesiredSlice): ObservedSlice => ({
    ...each,
    uid: each.name,
    resourceVersion: '1',
    owners: ['s'],
  });
  const nameOf = (change: Change): string => ('to' in change ? change.to.name : change.from.name);

  type Look = {
    readonly there: readonly DesiredSlice[];
    readonly wanted: readonly DesiredSlice[];
    /** What the API server answers to the first write of an object of this name. */
    readonly answers?: Readonly<Record<string, Error | Promise<never>>>;
    readonly definition?: Partial<DesiredObjects['service']['definition']>;
    /** What the Service has. */
    readonly present?: Partial<ObservedService['definition']>;
  };

  /** The writes of one reconcile, as they begin, and its failure. */
  function start({ there, wanted, answers = {}, definition = {}, present = {} }: Look): {
    readonly sent: readonly string[];
    readonly ended: Promise<unknown>;
    readonly reasons: readonly string[];
  } {
    const [sent, reasons]: [string[], string[]] = [[], []];
    const { service: to } = wantedWith([]);
    const reconciler = new ServiceReconciler({
      local: {
        isSynced: () => true,
        service: () => ({ ...service, definition: { ...service.definition, ...present } }),
        slice: () => undefined,
        slices: () => there.map(observed),
        endpoints: () => undefined,
      },
      decisions: noDecisions,
      targets: {
        part: () => undefined,
        target: () => ({
          name,
          isOurs: (labels) => labels['ours'] === 'true',
          wanted: { service: { ...to, definition: { ...to.definition, ...definition } }, slices: wanted },
          retainsUnseen: false,
          retainsEndpoints: false,
          diagnostics: [],
        }),
      },
      keys: { claimants: () => [], sourcesOf: () => [], forgetSeen: () => undefined },
      write: async (change) => {
        sent.push(`${change.kind} ${nameOf(change)}`);
        const answer = answers[nameOf(change)];
        if (answer instanceof Error) throw answer;
        await answer;
        return undefined;
      },
      clusters: {
        diagnose: (_, diagnostics) =>
          void reasons.push(...diagnostics.map(({ cluster, reason }) => `${cluster} ${reason}`)),
      },
    });
    return { sent, ended: reconcileOnce(reconciler, 'global/ns/web'), reasons };
  }

  const [c1, c2, c3] = [slice('c1', 'a'), slice('c2', 'a'), slice('c3', 'a')] as const;
  const tooLarge = new KubeApiError('too large', { status: 413 });
  const busy = new KubeApiError('busy', { status: 503 });

  it.each([
    { name: 'is refused', answer: tooLarge, failure: undefined },
    { name: 'fails', answer: busy, failure: busy },
  ])('of one cluster are deleted even if a new slice of another $name', async ({ answer, failure }) => {
    const { sent, ended } = start({ there: [c1, c2], wanted: [c1, c3], answers: { [c3.name]: answer } });
    expect(await ended).toBe(failure);
    expect(sent).toEqual([`create-slice ${c3.name}`, `delete-slice ${c2.name}`]);
  });

  it('of one cluster are deleted without waiting for new slices of another', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { sent, ended } = start({ there: [c1, c2], wanted: [c1, c3], answers: { [c3.name]: promise } });
    await eventually(() => sent.includes(`delete-slice ${c2.name}`), true);
    reject(busy);
    expect(await ended).toBe(busy);
  });

  it('of the second level and of standbys wait until those of the first level were tried', async () => {
    const inZone = (cluster: string, zone: string) => slice(cluster, 'a', undefined, [{ ...endpoint, zones: [zone] }]);
    const unready = slice('c1', 'a', undefined, [{ ...endpoint, conditions: { ...conditions, ready: false } }]);
    const standby = { ...c3, annotations: { ...c3.annotations, 'mirror-svc-standby': 'true' } };
    const { promise, reject } = Promise.withResolvers<never>();
    const { sent, ended } = start({
      there: [unready, inZone('c2', 'here'), inZone('c3', 'remote')],
      wanted: [inZone('c2', 'remote'), standby, inZone('c1', 'here')],
      answers: { [c1.name]: promise },
    });
    await setImmediate();
    expect(sent).toEqual([`update-slice ${c1.name}`]);
    reject(busy);
    expect(await ended).toBe(busy);
    expect(sent).toEqual([c1, c2, c3].map((each) => `update-slice ${each.name}`));
  });

  it('of one cluster wait until new slices of another were tried if nothing else is ready', async () => {
    for (const others of [
      [],
      [slice('c1', 'a', undefined, [{ ...endpoint, conditions: { ...conditions, ready: false } }])],
    ]) {
      const { promise, reject } = Promise.withResolvers<never>();
      const { sent, ended } = start({
        there: [...others, c2],
        wanted: [...others, c3],
        answers: { [c3.name]: promise },
      });
      await eventually(() => sent.includes(`create-slice ${c3.name}`), true);
      expect(sent).not.toContain(`delete-slice ${c2.name}`);
      reject(busy);
      await ended;
      expect(sent).toContain(`delete-slice ${c2.name}`);
    }
  });

  it('wait for new slices of the same cluster that have their addresses', async () => {
    const [moved, gone] = [slice('c2', 'b'), slice('c2', 'c', undefined, [{ ...endpoint, address: '10.4.0.9' }])];
    const { sent, ended } = start({ there: [c1, c2, gone], wanted: [c1, moved], answers: { [moved.name]: busy } });
    expect(await ended).toBe(busy);
    expect(sent).toEqual([`create-slice ${moved.name}`, `delete-slice ${gone.name}`]);
  });

  it('stay as they are when their Service is deleted, to be created again', async () => {
    const { sent, ended } = start({ there: [c1, c2], wanted: [c1, c3], definition: { headless: true } });
    expect(await ended).toBeUndefined();
    expect(sent).toEqual([`replace-service ${name}`]);
  });

  it('are written and deleted if the Service cannot be updated', async () => {
    for (const there of [[c1, c2], [c2]]) {
      const { sent, ended } = start({
        there,
        wanted: [...there.filter((each) => each !== c2), c3],
        answers: { [name]: busy },
        definition: { affinitySeconds: 60 },
      });
      expect(await ended).toBe(busy);
      expect(sent).toEqual([`update-service ${name}`, `create-slice ${c3.name}`, `delete-slice ${c2.name}`]);
    }
  });

  it('keep the ports that the Service has if it cannot be updated, while other clusters are not affected', async () => {
    const port = (portName: string) => ({ name: portName, protocol: 'TCP', port: 80, appProtocol: undefined }) as const;
    const [web, other] = [
      { ...c2, ports: [port('web')] },
      { ...c3, ports: [port('web')] },
    ];
    const { sent, ended } = start({
      there: [c1, web, other],
      wanted: [
        { ...web, ports: [port('http')] },
        { ...other, ports: [port('web'), port('metrics')] },
      ],
      answers: { [name]: busy },
      present: { ports: [{ ...port('web'), targetPort: undefined }] },
    });
    expect(await ended).toBe(busy);
    expect(sent).toEqual([`update-service ${name}`, `update-slice ${c3.name}`, `delete-slice ${c1.name}`]);
  });

  it('with new names are deleted after their successors are created', async () => {
    const renamed = slice('c2', 'a', `${name}-new`);
    const { sent, ended } = start({ there: [c1, c2], wanted: [c1, renamed] });
    expect(await ended).toBeUndefined();
    expect(sent).toEqual([`create-slice ${renamed.name}`, `delete-slice ${c2.name}`]);
  });

  it.each([
    { name: 'is refused', answer: tooLarge },
    { name: 'is taken', answer: new KubeApiError('it is there', { status: 409, reason: 'AlreadyExists' }) },
  ])('with new names stay while the new name $name, and others are deleted', async ({ answer }) => {
    const gone = slice('c2', 'b', undefined, [{ ...endpoint, address: '10.4.0.9' }]);
    const renamed = slice('c2', 'a', `${name}-new`);
    const { sent, ended } = start({
      there: [c1, c2, gone],
      wanted: [c1, renamed],
      answers: { [renamed.name]: answer },
    });
    await ended;
    expect(sent).toEqual([`create-slice ${renamed.name}`, `delete-slice ${gone.name}`]);
  });

  it('that share a name are one slice, and the other is reported', async () => {
    const [a, b] = [slice('c2', 'a', `${name}-x`), slice('c2', 'b', `${name}-x`)];
    const { sent, ended, reasons } = start({ there: [c1], wanted: [c1, a, b] });
    expect(await ended).toBeUndefined();
    expect(sent).toEqual([`create-slice ${name}-x`]);
    expect(reasons).toEqual(['c2 name-taken']);
  });
});

describe('a Service that was deleted, and waits for its finalizers', () => {
  const { service: to } = wantedWith([]);
  const service: ObservedService = {
    ...to,
    uid: 's',
    resourceVersion: '1',
    createdAt: 0,
    labels: { ours: 'true' },
    familyPolicy: 'SingleStack',
    isPlain: true,
    isTerminating: true,
    ownerReferences: [],
    finalizers: ['example.com/wait'],
  };
  const slice = (owners: readonly string[]): ObservedSlice => ({
    ...wantedWith([endpoint]).slices[0]!,
    labels: { ours: 'true' },
    uid: 'u',
    resourceVersion: '1',
    owners,
  });
  const moved = [{ ...endpoint, address: '10.4.0.2' }];

  /** What a reconcile would write: each change, and the UID of the owner of a slice. */
  function planned(
    present: ObservedService | undefined,
    slices: readonly ObservedSlice[],
    wanted: Target['wanted'],
  ): { readonly changes: readonly string[]; readonly reasons: readonly string[] } {
    const reasons: string[] = [];
    const reconciler = new ServiceReconciler({
      local: {
        isSynced: () => true,
        service: () => present,
        slice: () => undefined,
        slices: () => slices,
        endpoints: () => undefined,
      },
      decisions: noDecisions,
      targets: {
        part: () => undefined,
        target: () => ({
          name,
          isOurs: (labels) => labels['ours'] === 'true',
          wanted,
          retainsUnseen: false,
          retainsEndpoints: false,
          diagnostics: [],
        }),
      },
      keys: { claimants: () => [], sourcesOf: () => [], forgetSeen: () => undefined },
      write: () => Promise.reject(new Error('a plan writes nothing')),
      clusters: { diagnose: (_, diagnostics) => void reasons.push(...diagnostics.map(({ reason }) => reason)) },
    });
    const changes = reconciler
      .plan(key)
      .map((change) => ('owner' in change ? `${change.kind} of ${change.owner?.uid ?? 'none'}` : change.kind));
    return { changes, reasons };
  }

  const headless = { ...to, definition: { ...to.definition, headless: true } };

  it.each([
    { name: 'has its slices released', slices: ['s'], wanted: wantedWith([endpoint]), want: ['update-slice of none'] },
    { name: 'keeps released slices', slices: [], wanted: wantedWith([endpoint]), want: [] },
    {
      name: 'has slices that follow the source',
      slices: [],
      wanted: wantedWith(moved),
      want: ['update-slice of none'],
    },
    { name: 'loses its slices with its source', slices: ['s'], wanted: 'nothing' as const, want: ['delete-slice'] },
    { name: 'keeps its slices while the source is unknown', slices: ['s'], wanted: 'unknown' as const, want: [] },
    {
      name: 'is updated',
      slices: [],
      wanted: { ...wantedWith([endpoint]), service: { ...to, annotations: { note: 'x' } } },
      want: ['update-service'],
    },
    {
      name: 'is not deleted again to become headless, and its slices follow',
      slices: [],
      wanted: { ...wantedWith(moved), service: headless },
      want: ['update-slice of none'],
    },
  ])('$name', ({ slices, wanted, want }) => {
    expect(planned(service, [slice(slices)], wanted)).toEqual({ changes: want, reasons: ['terminating'] });
  });

  it('leaves it to the garbage collector to release its slices, if that does so', () => {
    const orphaning = { ...service, finalizers: ['orphan', ...service.finalizers] };
    expect(planned(orphaning, [slice(['s'])], wantedWith([endpoint])).changes).toEqual([]);
    expect(planned(orphaning, [slice(['s'])], wantedWith(moved)).changes).toEqual(['update-slice of none']);
  });

  it('has a successor that adopts its slices, and no reason any more', () => {
    expect(planned(undefined, [slice([])], wantedWith([endpoint]))).toEqual({
      changes: ['create-service', 'update-slice of '],
      reasons: [],
    });
  });
});

import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { KubeApiError } from '@kube-semaphore/kube-client';
import { generatePrivateKey, publicKeyOf, WireGuardToolsError } from '@kube-semaphore/wireguard-tools';
import { createMetrics } from '@kube-semaphore/runtime';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DesiredPeer, DesiredPeers } from './desired/peers.ts';
import type { RemoteNode } from './desired/remote-node.ts';
import { FakeTools } from '../../test/support/fake-tools.ts';
import { DeviceHealth } from './health/device-health.ts';
import type { DeviceTools } from './local/device.ts';
import { metrics, type WireGuardMetrics } from '../metrics/metrics.ts';
import { writeKeyFile } from './local/key-file.ts';
import type { KnownNode } from '../own-node/local-node.ts';
import type { AnnotationPatch } from '../own-node/desired/own-node.ts';
import { type ReconciledRemote, Reconciler, type ReconcilerOptions } from './reconciler.ts';
import {
  cidr,
  key,
  observedDevice,
  observedLink,
  observedPeer,
  remoteNode,
  remoteSettings,
  silentLog,
} from '../../test/support/builders.ts';

const { signal } = new AbortController();
const DEVICE = 'wireguard.c2';
const PUB_KEY = 'c2.wireguard.semaphore.uw.io/pubKey';
const ENDPOINT = 'c2.wireguard.semaphore.uw.io/endpoint';

const settings = remoteSettings();

/** A desired peer by its number. */
const wanted = (number: number): DesiredPeer => ({
  node: `n${number}`,
  publicKey: key(number),
  endpoint: `192.0.2.${number}:51820`,
  allowedIps: [`10.4.${number}.0/24`],
});

const NODES = Array.from({ length: 10 }, (_, number) => `n${number}`);

let folder: string;
let tools: FakeTools;
let node: KnownNode | undefined;
let peers: readonly DesiredPeer[] | undefined;
let diagnostics: readonly string[];
let announcements: AnnotationPatch[];
let refusal: Error | undefined;
let reconciler: Reconciler;
let health: DeviceHealth;
let instruments: WireGuardMetrics;
let warnings: string[];
/** The samples of a counter. */
let samples: (name: string) => Promise<readonly string[]>;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'reconciler-')), 'keys');
  [tools, peers, diagnostics, announcements, refusal] = [new FakeTools(), [wanted(1)], [], [], undefined];
  node = {
    uid: 'u',
    resourceVersion: '1',
    annotations: {},
    internalIps: ['198.51.100.1'],
    externalIps: [],
    endpointAddress: undefined,
    podCidrs: [cidr('10.2.1.0/24')],
  };
  warnings = [];
  startAnew();
});
afterEach(() => rm(join(folder, '..'), { recursive: true }));

/** A reconciler that knows nothing, and counts from zero. */
function startAnew(): void {
  const { metrics: made, registry } = createMetrics(metrics);
  instruments = made;
  health = new DeviceHealth({
    metrics: instruments,
    clock: () => ({ nowSeconds: 1_000, staleSeconds: 180 }),
    log: { ...silentLog, warn: ({ error }) => warnings.push((error as Error).message) },
  });
  samples = async (name) =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith(`semaphore_wg_${name}{`));
  reconciler = newReconciler();
}

const newReconciler = ({
  local,
  ...devices
}: Partial<DeviceTools & Pick<ReconcilerOptions, 'local'>> = {}): Reconciler =>
  new Reconciler({
    devices: {
      tools,
      startUserspace: ({ name }) => {
        tools.put(name, { kind: 'tun', key: undefined, listenPort: 0 });
        return Promise.resolve({ pid: 1 });
      },
      userspace: 'auto',
      logFile: (device) => join(folder, `${device}.log`),
      ...devices,
    },
    local: local ?? {
      get node() {
        return node;
      },
      required: () => node!,
      announce: (_, patch) => {
        if (patch === undefined) return Promise.resolve();
        if (refusal !== undefined) return Promise.reject(refusal);
        announcements.push(patch);
        const annotations = Object.entries({ ...node!.annotations, ...patch }).filter(([, value]) => value !== null);
        node = { ...node!, annotations: Object.fromEntries(annotations) as Record<string, string> };
        return Promise.resolve();
      },
    },
    options: { wgKeyPath: folder },
    clock: () => ({ nowSeconds: 1_000, staleSeconds: 180 }),
    health,
    log: silentLog,
    metrics: instruments,
  });

/** Our own Node with these annotations. */
const localWith = (annotations: KnownNode['annotations'], announce: ReconcilerOptions['local']['announce']) => ({
  local: { node: { ...node!, annotations }, required: () => node!, announce },
});

const remote: ReconciledRemote = {
  settings,
  peers: () => (peers === undefined ? undefined : { peers, skipped: [] }),
  takeUpdate: () => (peers === undefined ? undefined : { nodes: NODES, peers }),
  setDeviceDiagnostics: (device) => (diagnostics = device.map(({ reason }) => reason)),
};

/** Reconciles, and observes the device. */
const reconcile = (since?: number) => {
  reconciler.observe('c2');
  return reconciler.reconcile(remote, { signal, since });
};

/** The verbs of changes since the last call. */
const changed = (): readonly string[] => tools.changes.splice(0).map(([verb]) => verb);

const keyInFile = async (): Promise<string> => (await readFile(join(folder, `${DEVICE}.key`), 'utf8')).trim();

describe('refused packets', () => {
  const refuse = (receiveFrameErrors: number) =>
    tools.linksByName.set(DEVICE, { ...tools.linksByName.get(DEVICE)!, receiveFrameErrors });
  const counted = async () => {
    await reconcile();
    return samples('refused_packets_total');
  };

  it('count from our start on, and on from zero with a new device', async () => {
    await reconcile();
    refuse(5_000);
    startAnew();
    expect(await counted()).toEqual(['semaphore_wg_refused_packets_total{remote="c2"} 0']);
    refuse(5_003);
    expect(await counted()).toEqual(['semaphore_wg_refused_packets_total{remote="c2"} 3']);
    refuse(2);
    expect(await counted()).toEqual(['semaphore_wg_refused_packets_total{remote="c2"} 5']);
  });

  it('are not counted of a device of wireguard-go, whose errors are others', async () => {
    tools.kernel = false;
    await reconcile();
    refuse(7);
    expect(await counted()).toEqual(['semaphore_wg_refused_packets_total{remote="c2"} 0']);
  });
});

describe('a missing device', () => {
  it('is created, set up, routed to and announced, and gets its peers, in this order', async () => {
    const order: string[] = [];
    const startedAnnouncing = () => order.push(...changed(), 'announce');
    const announce = async (_: string, patch?: AnnotationPatch) =>
      void (startedAnnouncing(), announcements.push(patch!));
    reconciler = newReconciler(localWith({}, announce));
    expect(await reconcile()).toEqual({ wrote: true, peers: 1 });
    expect([...order, ...changed()]).toEqual([
      'createDevice',
      'changeDevice',
      'changeLink',
      'addRoute',
      'announce',
      'changeDevice',
    ]);
    const { publicKey, listenPort, peers: got } = tools.byName.get(DEVICE)!;
    expect(announcements).toEqual([{ [PUB_KEY]: publicKey, [ENDPOINT]: '198.51.100.1:51820' }]);
    expect([listenPort, got]).toMatchObject([
      51_820,
      [{ publicKey: key(1), endpoint: '192.0.2.1:51820', allowedIps: ['10.4.1.0/24'], keepaliveSeconds: 25 }],
    ]);
    expect(tools.linksByName.get(DEVICE)).toMatchObject({ alias: 'semaphore-wireguard c2', up: true, mtuBytes: 1420 });
    expect(tools.table).toEqual([{ destination: '10.4.0.0/16', device: DEVICE, protocol: 115 }]);
  });

  it('needs no change the second time', async () => {
    await reconcile();
    changed();
    expect(await reconcile()).toEqual({ wrote: false, peers: 0 });
    expect([changed(), announcements]).toEqual([[], [expect.anything()]]);
  });

  it('is set up, which is not a repair, unlike its second setup without an event', async () => {
    expect(health.isSetUp('c2')).toBe(false);
    await reconcile();
    expect([health.isSetUp('c2'), await samples('repairs_total')]).toEqual([true, []]);
    await tools.deleteLink(DEVICE);
    await reconcile(performance.now());
    expect(await samples('repairs_total')).toEqual([]);
    await tools.deleteLink(DEVICE);
    await reconcile();
    expect(await samples('repairs_total')).toEqual(['semaphore_wg_repairs_total{remote="c2"} 1']);
  });

  it('is created by wireguard-go if the kernel has no WireGuard', async () => {
    tools.kernel = false;
    await reconcile();
    expect(tools.linksByName.get(DEVICE)).toMatchObject({ kind: 'tun', alias: 'semaphore-wireguard c2', up: true });
  });

  it('is created by wireguard-go if -userspace is always', async () => {
    reconciler = newReconciler({ userspace: 'always' });
    await reconcile();
    expect(tools.linksByName.get(DEVICE)).toMatchObject({ kind: 'tun', alias: 'semaphore-wireguard c2' });
  });

  it.each([
    {
      name: '-userspace is never',
      more: { userspace: 'never' } as const,
      want: 'this kernel has no WireGuard, and -userspace is never',
      outcome: 'an error',
    },
    {
      name: 'wireguard-go is not installed',
      more: { startUserspace: () => Promise.reject(new WireGuardToolsError('WG_NOT_INSTALLED', 'x')) },
      want: 'wireguard-go is not installed here, and no other has created wireguard.c2, and this kernel has no WireGuard',
      outcome: 'awaited',
    },
    {
      name: 'the kernel has no WireGuard in a container',
      more: { startUserspace: undefined },
      want: 'no sidecar with wireguard-go has created wireguard.c2, and this kernel has no WireGuard',
      outcome: 'awaited',
    },
    {
      name: '-userspace is always in a container',
      more: { startUserspace: undefined, userspace: 'always' } as const,
      want: 'no sidecar with wireguard-go has created wireguard.c2',
      outcome: 'awaited',
    },
  ] as const)('is $outcome if $name', async ({ more, want, outcome }) => {
    tools.kernel = false;
    reconciler = newReconciler(more);
    const results = { awaited: { wrote: false, peers: 0 }, 'an error': { code: 'DEVICE', message: want } };
    expect(await reconcile().catch((error: unknown) => error)).toMatchObject(results[outcome]);
    expect([[...health.awaited], warnings]).toEqual(outcome === 'awaited' ? [['c2'], [want]] : [[], []]);
  });

  it('is awaited while a wireguard-go starts and only its TUN device exists', async () => {
    tools.linksByName.set(DEVICE, observedLink({ alias: '', kind: 'tun' }));
    await reconcile();
    expect([[...health.awaited], warnings]).toEqual([['c2'], ['wireguard.c2 is not a WireGuard device']]);
    expect(changed()).toEqual([]);
    tools.byName.set(DEVICE, observedDevice([], { publicKey: undefined, listenPort: 0 }));
    expect(await reconcile()).toMatchObject({ wrote: true });
    expect([...health.awaited]).toEqual([]);
  });

  it.each([
    { name: 'another device', verb: 'changeDevice', holder: 'wg0', want: 'port 51820 of wireguard.c2 is used by wg0' },
    {
      name: 'no known device',
      verb: 'changeDevice',
      holder: undefined,
      want: 'port 51820 of wireguard.c2 is used by another program',
    },
    {
      name: 'another device, as the kernel finds only at set-up',
      verb: 'changeLink',
      holder: 'wg0',
      want: 'port 51820 of wireguard.c2 is used by wg0',
    },
  ])('can’t have a port of $name, which the error names', async ({ verb, holder, want }) => {
    if (holder !== undefined) tools.put(holder, { listenPort: 51_820 });
    tools.beforeChange = (change) => {
      if (change === verb) throw new WireGuardToolsError('WG_PORT_TAKEN', 'Address already in use');
    };
    await expect(reconcile()).rejects.toMatchObject({ code: 'DEVICE', message: want, isAwaited: false });
  });
});

describe('a device without our mark', () => {
  const peer = observedPeer(key(1), { endpoint: '203.0.113.9:4242' });

  it('is adopted by the key in our file, and keeps its peers and their endpoints', async () => {
    const own = generatePrivateKey();
    await writeKeyFile(join(folder, `${DEVICE}.key`), own);
    tools.put(DEVICE, { key: own, peers: [peer] });
    await reconcile();
    expect(changed()).toEqual(['changeLink', 'addRoute']);
    expect(tools.byName.get(DEVICE)?.peers).toEqual([peer]);
    expect(tools.linksByName.get(DEVICE)?.alias).toBe('semaphore-wireguard c2');
  });

  it('is adopted by the key that our Node announces, and its key is written to a new file', async () => {
    const own = generatePrivateKey();
    tools.put(DEVICE, { key: own, peers: [peer] });
    node = { ...node!, annotations: { [PUB_KEY]: publicKeyOf(own) } };
    await reconcile();
    expect(await keyInFile()).toBe(own.reveal());
    expect(changed()).toEqual(['changeLink', 'addRoute']);
    expect(tools.byName.get(DEVICE)?.peers).toEqual([peer]);
  });

  it('has its route marked as ours, not replaced', async () => {
    const own = generatePrivateKey();
    tools.put(DEVICE, { key: own, peers: [observedPeer(key(1))] });
    tools.table = [{ destination: '10.4.0.0/16', device: DEVICE, protocol: 3 }];
    node = { ...node!, annotations: { [PUB_KEY]: publicKeyOf(own) } };
    await reconcile();
    expect(changed()).toEqual(['changeLink', 'replaceRoute']);
  });

  it('gets our mark first, so that it is adopted whatever fails later', async () => {
    tools.kernel = false;
    tools.beforeChange = (verb) => {
      if (verb === 'changeDevice') throw new WireGuardToolsError('WG_FAILED', 'Address already in use');
    };
    await expect(reconcile()).rejects.toMatchObject({ code: 'WG_FAILED' });
    expect(tools.linksByName.get(DEVICE)).toMatchObject({ alias: 'semaphore-wireguard c2' });
  });

  it('is foreign with another key', async () => {
    tools.put(DEVICE);
    await expect(reconcile()).rejects.toMatchObject({
      code: 'DEVICE',
      message: 'wireguard.c2 has neither our mark nor our key',
    });
    expect(changed()).toEqual([]);
  });
});

describe('peers', () => {
  beforeEach(async () => {
    peers = [wanted(1), wanted(2), wanted(3)];
    await reconcile();
    tools.changes.length = 0;
  });

  it('are changed one by one: a call names no other peer', async () => {
    peers = [wanted(1), { ...wanted(2), allowedIps: ['10.4.99.0/24'] }, wanted(3)];
    expect(await reconcile()).toEqual({ wrote: true, peers: 1 });
    expect(tools.changes).toEqual([
      ['changeDevice', DEVICE, { peers: [{ publicKey: key(2), allowedIps: ['10.4.99.0/24'] }] }],
    ]);
  });

  it('stay while the desired peers are unknown', async () => {
    peers = undefined;
    expect(await reconcile()).toEqual({ wrote: false, peers: 0 });
  });

  it('of somebody else are removed', async () => {
    await tools.changeDevice(DEVICE, { peers: [{ publicKey: key(9), allowedIps: ['10.4.9.0/24'] }] });
    tools.changes.length = 0;
    await reconcile();
    expect(tools.changes).toEqual([['changeDevice', DEVICE, { peers: [{ publicKey: key(9), remove: true }] }]]);
  });

  it('get an endpoint that is new since the last success, also after a failure', async () => {
    const device = tools.byName.get(DEVICE)!;
    // Their tunnels work, and the second has another endpoint.
    tools.byName.set(DEVICE, {
      ...device,
      peers: device.peers.map((peer) => ({
        ...peer,
        latestHandshakeSeconds: 990,
        ...(peer.publicKey === key(2) && { endpoint: '203.0.113.9:1' }),
      })),
    });
    await reconcile();
    expect(changed()).toEqual([]);
    peers = [wanted(1), { ...wanted(2), endpoint: '192.0.2.99:51820' }, wanted(3)];
    tools.beforeChange = () => {
      throw new WireGuardToolsError('WG_FAILED', 'no');
    };
    await expect(reconcile()).rejects.toMatchObject({ code: 'WG_FAILED' });
    tools.beforeChange = () => undefined;
    await reconcile();
    expect(tools.changes).toEqual([
      ['changeDevice', DEVICE, { peers: [{ publicKey: key(2), endpoint: '192.0.2.99:51820' }] }],
    ]);
  });

  it('are set while the local API server does not answer', async () => {
    const { promise: silence, resolve: answer } = Promise.withResolvers<void>();
    peers = [wanted(1), wanted(2), wanted(3), wanted(4)];
    reconciler = newReconciler(localWith({}, () => silence));
    const reconciled = reconcile();
    await eventually(() => tools.byName.get(DEVICE)?.peers.length, 4);
    answer();
    expect(await reconciled).toEqual({ wrote: true, peers: 1 });
  });

  it('are set at shutdown, without waiting for that API server', async () => {
    peers = [wanted(1), wanted(2), wanted(3), wanted(4)];
    const stopping = new AbortController();
    reconciler = newReconciler(
      localWith({}, (_name, _patch, run) => once(run.signal, 'abort').then(() => Promise.reject(new Error('aborted')))),
    );
    const reconciled = reconciler.reconcile(remote, { signal: stopping.signal, since: undefined });
    await eventually(() => tools.byName.get(DEVICE)?.peers.length, 4);
    stopping.abort();
    await expect(reconciled).rejects.toThrow('aborted');
  });

  it('are set although our Node can’t be patched', async () => {
    refusal = new KubeApiError('no', { status: 403 });
    node = { ...node!, annotations: {} };
    peers = [wanted(1), wanted(2)];
    await expect(reconcile()).rejects.toBe(refusal);
    expect(tools.byName.get(DEVICE)?.peers).toHaveLength(2);
  });
});

describe('without an observation', () => {
  /** Reconciles because a Node changed. */
  const changeNodes = (...now: readonly DesiredPeer[]) => {
    peers = now;
    return reconciler.reconcile(remote, { signal, since: performance.now() });
  };
  const readings: string[] = [];
  beforeEach(async () => {
    peers = [wanted(1), wanted(2)];
    await reconcile();
    tools.changes.length = 0;
    readings.length = 0;
    for (const verb of ['device', 'devices', 'links', 'routes', 'privateKey'] as const) {
      const original = tools[verb] as (...args: unknown[]) => unknown;
      Object.assign(tools, { [verb]: (...args: unknown[]) => (readings.push(verb), original(...args)) });
    }
  });
  const given = (): unknown => tools.changes.splice(0).map(([, , what]) => what);

  it('a Node is added, changed and removed by one call each, and nothing is read', async () => {
    expect(await changeNodes(wanted(1), wanted(2), wanted(3))).toEqual({ wrote: true, peers: 1 });
    await changeNodes(wanted(1), wanted(2), { ...wanted(3), allowedIps: ['10.4.99.0/24'] });
    await changeNodes(wanted(1), wanted(2), {
      ...wanted(3),
      endpoint: '192.0.2.99:51820',
      allowedIps: ['10.4.99.0/24'],
    });
    await changeNodes(wanted(1), wanted(2));
    expect(await changeNodes(wanted(1), wanted(2))).toEqual({ wrote: false, peers: 0 });
    const [publicKey, keepaliveSeconds] = [key(3), 25];
    expect(given()).toEqual([
      { peers: [{ publicKey, endpoint: '192.0.2.3:51820', allowedIps: ['10.4.3.0/24'], keepaliveSeconds }] },
      { peers: [{ publicKey, allowedIps: ['10.4.99.0/24'] }] },
      { peers: [{ publicKey, endpoint: '192.0.2.99:51820' }] },
      { peers: [{ publicKey, remove: true }] },
    ]);
    expect(readings).toEqual([]);
  });

  it('the key of a Node moves to another Node with one change of its peer', async () => {
    await changeNodes(wanted(1), { ...wanted(3), publicKey: key(2) });
    expect(given()).toEqual([
      { peers: [{ publicKey: key(2), endpoint: '192.0.2.3:51820', allowedIps: ['10.4.3.0/24'] }] },
    ]);
  });

  it('a learned endpoint stays, as a new list of CIDRs says nothing about it', async () => {
    const [first, second] = tools.byName.get(DEVICE)!.peers;
    tools.byName.set(DEVICE, observedDevice([first!, { ...second!, endpoint: '203.0.113.9:1' }]));
    await changeNodes(wanted(1), { ...wanted(2), allowedIps: ['10.4.99.0/24'] });
    expect(tools.byName.get(DEVICE)!.peers[1]).toMatchObject({ endpoint: '203.0.113.9:1' });
  });

  it('a seeded peer keeps the endpoint of the kernel when its Node is listed', async () => {
    await changeNodes(wanted(1), { ...wanted(3), endpoint: undefined });
    given();
    expect(await changeNodes(wanted(1), wanted(3))).toEqual({ wrote: false, peers: 0 });
  });

  it.each([
    { name: 'after a failure', before: () => failOnce() },
    { name: 'when the device may have changed', before: () => Promise.resolve(reconciler.observe('c2')) },
  ])('the device is observed again $name', async ({ before }) => {
    await tools.changeDevice(DEVICE, { peers: [{ publicKey: key(2), remove: true }] });
    await changeNodes(wanted(1), wanted(2), wanted(3));
    expect(tools.byName.get(DEVICE)!.peers).toHaveLength(2);
    await before();
    await changeNodes(wanted(1), wanted(2), wanted(3));
    expect([readings.length > 0, tools.byName.get(DEVICE)!.peers.length]).toEqual([true, 3]);
  });

  async function failOnce(): Promise<void> {
    tools.beforeChange = () => {
      throw new WireGuardToolsError('WG_FAILED', 'no');
    };
    await expect(changeNodes(wanted(1))).rejects.toMatchObject({ code: 'WG_FAILED' });
    tools.beforeChange = () => undefined;
  }

  it('an event during a change counts: the device is observed next', async () => {
    tools.beforeChange = () => reconciler.observe('c2');
    await changeNodes(wanted(1));
    tools.beforeChange = () => undefined;
    await changeNodes(wanted(1));
    expect(readings).toContain('device');
  });
});

it('makes the same changes without observations as with one each time, for any history of Nodes', async () => {
  const blocks = ['10.4.1.0/24', '10.4.2.0/24', '10.4.3.0/24', '10.4.0.0/16', '10.4.1.128/25', '10.4.2.7/32'];
  const someNode = fc
    .record({
      number: fc.integer({ min: 1, max: 9 }),
      podCidr: fc.constantFrom(...blocks),
      publicKey: fc.constantFrom(key(1), key(2), key(3), key(4)),
      endpoint: fc.constantFrom('192.0.2.1:51820', '192.0.2.2:51820'),
      readyUntilMs: fc.constantFrom(Infinity, 5, 6),
    })
    .map(({ number, podCidr, ...more }) => remoteNode(`n${number}`, [podCidr], more));
  const step = fc.record({ changed: fc.array(someNode, { maxLength: 3 }), gone: fc.integer({ min: 1, max: 12 }) });
  /** A node with a device, whose reconciler observes it each time, or only the first. */
  const twin = (observes: boolean) => {
    [tools, node] = [new FakeTools(), { ...node!, annotations: {} }];
    const [own, one, desired, updated] = [tools, newReconciler(), new DesiredPeers(), new Set<string>()];
    const update = (changes: ReadonlyMap<string, RemoteNode | undefined>) => {
      for (const name of desired.update(changes, new Set())) updated.add(name);
    };
    const source: ReconciledRemote = {
      settings,
      peers: () => desired.all(),
      takeUpdate: () => {
        const nodes = [...updated];
        updated.clear();
        return { nodes, peers: nodes.flatMap((name) => desired.peer(name) ?? []) };
      },
      setDeviceDiagnostics: () => undefined,
    };
    return async (changes: ReadonlyMap<string, RemoteNode | undefined>) => {
      update(changes);
      if (observes) one.observe('c2');
      await one.reconcile(source, { signal, since: undefined });
      const peersOf = own.byName.get(DEVICE)!.peers.toSorted((a, b) => (a.publicKey < b.publicKey ? -1 : 1));
      return [
        own.changes
          .splice(0)
          .filter(([verb]) => verb === 'changeDevice')
          .map(([, , what]) => what),
        peersOf,
      ];
    };
  };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const twins = [twin(true), twin(false)];
      for (const one of twins) await one(new Map());
      for (const { changed, gone } of steps) {
        const changes = new Map<string, RemoteNode | undefined>([[`n${gone}`, undefined]]);
        for (const one of changed) changes.set(one.name, one);
        const [observing, knowing] = [await twins[0]!(changes), await twins[1]!(changes)];
        expect(knowing).toEqual(observing);
      }
    }),
    { numRuns: 50 },
  );
});

describe('an obstacle', () => {
  it('can be a route of somebody else, which stays and is reported', async () => {
    tools.table = [{ destination: '10.4.0.0/16', device: 'eth0', protocol: 4 }];
    await reconcile();
    expect([diagnostics, tools.table]).toEqual([
      ['route-blocked'],
      [{ destination: '10.4.0.0/16', device: 'eth0', protocol: 4 }],
    ]);
  });

  it('can be a route that was added meanwhile', async () => {
    tools.beforeChange = (verb) => {
      if (verb === 'addRoute') tools.table = [{ destination: '10.4.0.0/16', device: 'eth0', protocol: 4 }];
    };
    await reconcile();
    expect([diagnostics, tools.table]).toMatchObject([['route-blocked'], [{ device: 'eth0' }]]);
  });

  it('can be a Node without an address: nothing is announced, and the peers are set', async () => {
    node = { ...node!, internalIps: [] };
    await reconcile();
    expect([diagnostics, announcements, tools.byName.get(DEVICE)?.peers.length]).toEqual([['no-endpoint'], [], 1]);
  });

  it('can be an underlay with a smaller MTU', async () => {
    tools.linksByName.set(
      'eth0',
      observedLink({ name: 'eth0', alias: '', mtuBytes: 1450, addresses: [{ ip: '198.51.100.1', prefixLength: 24 }] }),
    );
    await reconcile();
    expect(diagnostics).toEqual(['mtu']);
  });

  it('can be a key file that can’t be trusted: nothing is changed', async () => {
    await reconcile();
    changed();
    await writeFile(join(folder, `${DEVICE}.key`), 'broken');
    await expect(reconcile()).rejects.toMatchObject({ code: 'KEY_FILE' });
    expect(changed()).toEqual([]);
  });

  it('can be that our own Node is unknown: nothing is changed', async () => {
    node = undefined;
    expect(await reconcile()).toEqual({ wrote: false, peers: 0 });
    expect(changed()).toEqual([]);
  });
});

describe('a change by others', () => {
  it.each([
    { name: 'the state of the link', undo: () => tools.changeLink(DEVICE, { up: false }), want: ['changeLink'] },
    {
      name: 'the route',
      undo: () => tools.deleteRoute({ destination: '10.4.0.0/16', device: DEVICE, protocol: 115 }),
      want: ['addRoute'],
    },
    { name: 'the port', undo: () => tools.changeDevice(DEVICE, { listenPort: 1 }), want: ['changeDevice'] },
    {
      name: 'the device',
      undo: () => tools.deleteLink(DEVICE),
      want: ['createDevice', 'changeDevice', 'changeLink', 'addRoute', 'changeDevice'],
    },
    { name: 'the annotations', undo: () => Promise.resolve(void (node = { ...node!, annotations: {} })), want: [] },
  ])('is undone: $name', async ({ undo, want }) => {
    await reconcile();
    await undo();
    changed();
    await reconcile();
    expect(changed()).toEqual(want);
    expect(node?.annotations[PUB_KEY]).toBe(tools.byName.get(DEVICE)?.publicKey);
    expect(await reconcile()).toEqual({ wrote: false, peers: 0 });
  });
});

describe('a remote whose keys rotate', () => {
  const PLANES = 'c2.wireguard.semaphore.uw.io/planes';
  const keyRotation = { everyMs: 0, secondPort: 51_920, secondDevice: 'wireguard.c2.1' };
  const rotating: ReconciledRemote = { ...remote, settings: remoteSettings({ keyRotation }) };
  const reconcileIt = () => {
    reconciler.observe('c2');
    return reconciler.reconcile(rotating, { signal, since: undefined });
  };

  it('has one device while nothing rotates, and says that it can have two', async () => {
    await reconcileIt();
    expect([...tools.byName.keys()]).toEqual([DEVICE]);
    expect(tools.byName.get(DEVICE)?.peers).toMatchObject([{ publicKey: key(1), allowedIps: ['10.4.1.0/24'] }]);
    expect(tools.table).toEqual([{ destination: '10.4.0.0/16', device: DEVICE, protocol: 115 }]);
    expect(announcements).toEqual([
      { [PUB_KEY]: tools.byName.get(DEVICE)?.publicKey, [ENDPOINT]: '198.51.100.1:51820', [PLANES]: '51820,51920' },
    ]);
    expect([...reconciler.rotating]).toEqual([]);
    changed();
    await reconcileIt();
    expect(changed()).toEqual([]);
    expect(await reconciler.decide(rotating, { signal })).toMatchObject({
      announcement: undefined,
      diff: { peers: [] },
    });
  });

  it('is set up and announced before it is reached, as others are', async () => {
    peers = undefined;
    await reconcileIt();
    expect(tools.table).toEqual([{ destination: '10.4.0.0/16', device: DEVICE, protocol: 115 }]);
    expect(announcements).toMatchObject([{ [PLANES]: '51820,51920' }]);
    expect([...reconciler.rotating]).toEqual([]);
  });

  it('is set up when our Node cannot be annotated', async () => {
    refusal = new Error('forbidden');
    await expect(reconcileIt()).rejects.toThrow('forbidden');
    expect(health.isSetUp('c2')).toBe(true);
    expect(tools.byName.get(DEVICE)?.peers).toHaveLength(1);
  });

  it('has one device, and says so, where it cannot have two', async () => {
    tools.filters.set('all', 1);
    tools.filtersAreLocked = true;
    await reconcileIt();
    expect(announcements).toEqual([
      { [PUB_KEY]: tools.byName.get(DEVICE)?.publicKey, [ENDPOINT]: '198.51.100.1:51820' },
    ]);
    expect(diagnostics).toEqual(['no-rotation']);
  });

  it('follows a Node to its second device, and is observed until that is over', async () => {
    await reconcileIt();
    peers = [{ ...wanted(1), publicKey: key(50), endpoint: '192.0.2.1:51920', plane: 1 }];
    // An event of the Node alone is enough.
    await reconciler.reconcile(rotating, { signal, since: 0 });
    expect(tools.byName.get('wireguard.c2.1')).toMatchObject({
      publicKey: tools.byName.get(DEVICE)?.publicKey,
      listenPort: 51_920,
      peers: [{ publicKey: key(50), endpoint: '192.0.2.1:51920', keepaliveSeconds: 25 }],
    });
    // It receives there until it has moved.
    expect(tools.byName.get(DEVICE)?.peers).toMatchObject([{ publicKey: key(1), keepaliveSeconds: 25 }]);
    expect([...reconciler.rotating]).toEqual(['c2']);
    const { diff } = await reconciler.decide(rotating, { signal });
    expect(diff.peers).toEqual([]);
    // A Node that died in the middle is not waited for each second.
    for (let turn = 0; turn < 125; turn++) await reconcileIt();
    expect([...reconciler.rotating]).toEqual([]);
    peers = [wanted(1)];
    await reconcileIt();
    expect([...reconciler.rotating]).toEqual(['c2']);
  });

  it('gets its check of the way back again, when keys stay', async () => {
    tools.filters.set('all', 1).set('default', 1);
    await reconcileIt();
    expect(await tools.reversePathFilter(DEVICE)).toBe(2);
    await reconcile();
    expect(await tools.reversePathFilter(DEVICE)).toBe(1);
    expect(announcements.at(-1)).toEqual({ [PLANES]: null });
    expect(tools.table).toHaveLength(1);
  });
});

import type { RemoteList } from '@kube-semaphore/multicluster';
import { createMetrics } from '@kube-semaphore/runtime';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeTools } from '../../test/support/fake-tools.ts';
import type { RemoteSettings } from '../config/settings.ts';
import { observeNode } from '../mesh/local/observe.ts';
import { metrics as metricTable } from '../metrics/metrics.ts';
import type { AnnotationPatch } from '../own-node/desired/own-node.ts';
import { displacedDevices, Orphans, orphansOf } from './orphans.ts';
import {
  key,
  observedDevice,
  observedNode,
  remoteList,
  remoteSettings,
  silentLog,
} from '../../test/support/builders.ts';

const { signal } = new AbortController();

let tools: FakeTools;
let patches: AnnotationPatch[];
let refusal: Error | undefined;
const { metrics, registry } = createMetrics(metricTable);
beforeEach(() => ([tools, patches, refusal] = [new FakeTools(), [], undefined]));

/** Our Node. */
const nodeWith = (annotations: Readonly<Record<string, string>>) => ({
  uid: 'u',
  resourceVersion: '1',
  annotations,
  internalIps: [],
  externalIps: [],
  endpointAddress: undefined,
  podCidrs: [],
});

const said = (cluster: string) => ({ [`${cluster}.wireguard.semaphore.uw.io/pubKey`]: 'k' });

type Given = {
  /** Of our Node. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly inventory?: { readonly mayHaveLost: boolean };
  readonly remotes?: RemoteList<RemoteSettings>;
};

/** By default, the config has `c2`. */
function orphansWith({ annotations = {}, inventory, remotes = remoteList(remoteSettings()) }: Given): Orphans {
  const annotate = (patch: AnnotationPatch) =>
    refusal === undefined ? Promise.resolve(void patches.push(patch)) : Promise.reject(refusal);
  return new Orphans({
    tools,
    local: { node: nodeWith(annotations), annotate },
    remotes,
    inventory,
    log: silentLog,
    metrics,
  });
}

/** Removes orphans once, with `c2` in the config. */
async function remove(annotations: Given['annotations'] = {}, inventory?: Given['inventory']): Promise<boolean> {
  return orphansWith({ annotations, ...(inventory && { inventory }) }).remove(await observeNode(tools, { signal }), {
    signal,
  });
}

describe('a device of ours', () => {
  it('is removed with its annotations, if its remote is not in the config any more', async () => {
    tools.put('wireguard.c2', { alias: 'semaphore-wireguard c2' });
    tools.put('wireguard.c3', { alias: 'semaphore-wireguard c3' });
    expect(await remove({ ...said('c2'), ...said('c3') })).toBe(true);
    expect([[...tools.byName.keys()], patches]).toEqual([
      ['wireguard.c2'],
      [{ 'c3.wireguard.semaphore.uw.io/pubKey': null }],
    ]);
  });

  it('stays while its remote may be one that an inventory lost, unless another remote needs its port', async () => {
    const { listenPort } = remoteSettings();
    tools.put('wireguard.c3', { alias: 'semaphore-wireguard c3', listenPort: listenPort + 1 });
    tools.put('wireguard.c4', { alias: 'semaphore-wireguard c4', listenPort });
    await remove(said('c3'), { mayHaveLost: true });
    expect([[...tools.byName.keys()], patches]).toEqual([['wireguard.c3'], []]);
    await remove(said('c3'), { mayHaveLost: false });
    expect([...tools.byName.keys()]).toEqual([]);
  });

  it('stays if it is the second one of its remote, whose keys rotate', () => {
    const rotating = remoteSettings({
      keyRotation: { everyMs: 0, secondPort: 51_920, secondDevice: 'wireguard.c2.1' },
    });
    const node = observedNode(
      ['wireguard.c2', 'semaphore-wireguard c2', key(1)],
      ['wireguard.c2.1', 'semaphore-wireguard c2', key(2)],
    );
    expect(orphansOf(node, [rotating])).toEqual({ ours: [], unmarked: [] });
    expect(orphansOf(node, [remoteSettings()]).ours).toEqual([{ device: 'wireguard.c2.1', remote: 'c2' }]);
  });

  it('is removed without its annotations, if its remote has another device now', async () => {
    tools.put('wg-old', { alias: 'semaphore-wireguard c2' });
    await remove(said('c2'));
    expect([[...tools.byName.keys()], patches]).toEqual([[], []]);
  });

  it('stays until our Node can be patched, while others are removed', async () => {
    tools.put('wireguard.c3', { alias: 'semaphore-wireguard c3' });
    tools.put('wireguard.c4', { alias: 'semaphore-wireguard c4' });
    refusal = new Error('no');
    expect(await remove(said('c3'))).toBe(true);
    expect([...tools.byName.keys()]).toEqual(['wireguard.c3']);
  });
});

it('what was announced to a remote that leaves goes with it, also where its device is missing', async () => {
  const remotes = { all: remoteList(remoteSettings(), remoteSettings({ name: 'c3', device: 'wireguard.c3' })).all };
  const orphans = orphansWith({ annotations: { ...said('c2'), ...said('c3'), ...said('c9') }, remotes });
  await orphans.check({ signal });
  expect(patches).toEqual([]);
  remotes.all = remoteList(remoteSettings()).all;
  refusal = new Error('no');
  await orphans.check({ signal });
  refusal = undefined;
  await orphans.check({ signal });
  expect(patches).toEqual([{ 'c3.wireguard.semaphore.uw.io/pubKey': null }]);
});

it('looks for what was announced to a remote until there is nothing, and then no more', async () => {
  let looks = 0;
  let annotations = said('c3');
  const local = {
    get node() {
      looks++;
      return nodeWith(annotations);
    },
    annotate: async () => void (annotations = {}),
  };
  const remotes = { all: remoteList(remoteSettings(), remoteSettings({ name: 'c3', device: 'wireguard.c3' })).all };
  const orphans = new Orphans({ tools, local, remotes, log: silentLog, metrics });
  const looksOfCheck = async (): Promise<number> => {
    looks = 0;
    await orphans.check({ signal });
    return looks;
  };
  const usual = await looksOfCheck();
  remotes.all = remoteList(remoteSettings()).all;
  expect([await looksOfCheck(), await looksOfCheck()].every((each) => each > usual)).toBe(true);
  expect([annotations, await looksOfCheck()]).toEqual([{}, usual]);
});

it('keeps and counts unmarked devices and annotations of others', async () => {
  tools.put('wireguard.go');
  tools.put('wg0');
  expect(await remove({ ...said('c2'), ...said('c9') })).toBe(false);
  expect([[...tools.byName.keys()], patches]).toEqual([['wireguard.go', 'wg0'], []]);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('semaphore_wg_orphans{'));
  expect(lines).toEqual(['semaphore_wg_orphans{cluster="go"} 1', 'semaphore_wg_orphans{cluster="c9"} 1']);
});

describe('orphansOf', () => {
  it('are our devices of other remotes, and unmarked ones by their names', () => {
    const node = observedNode(
      ['wireguard.c3', 'semaphore-wireguard c3', key(3)],
      ['wg-b', 'semaphore-wireguard c2', key(2)],
      ['wireguard.c2', 'semaphore-wireguard c2', key(1)],
      ['wireguard.go', '', key(4)],
      ['wireguard.cali', '', key(5)],
      ['wireguard.tap', ''],
      ['wg0', '', key(6)],
      ['eth0', ''],
    );
    expect(orphansOf(node, [remoteSettings()])).toEqual({
      ours: [
        { device: 'wg-b', remote: 'c2' },
        { device: 'wireguard.c3', remote: 'c3' },
      ],
      unmarked: ['wireguard.go'],
    });
  });

  it('are none if each device is that of a remote, marked or to be adopted', () => {
    expect(orphansOf(observedNode(['wireguard.c2', '', key(200)]), [remoteSettings()])).toEqual({
      ours: [],
      unmarked: [],
    });
  });

  it('has a device with the mark of another remote than the config’s', () => {
    expect(orphansOf(observedNode(['wireguard.c2', 'semaphore-wireguard c3', key(1)]), [remoteSettings()])).toEqual({
      ours: [{ device: 'wireguard.c2', remote: 'c3' }],
      unmarked: [],
    });
  });
});

describe('displacedDevices', () => {
  const port = (name: string, listenPort: number) => observedDevice([], { name, listenPort });
  const node = {
    links: observedNode(['wireguard.c2', 'semaphore-wireguard c2'], ['wireguard.c3', 'semaphore-wireguard c3']).links,
    devices: [port('wireguard.c2', 1), port('wireguard.c3', 2)],
  };
  const wanting = (c2Port: number, c3Port: number) => [
    { name: 'c2', device: 'wireguard.c2', listenPort: c2Port, keyRotation: undefined },
    { name: 'c3', device: 'wireguard.c3', listenPort: c3Port, keyRotation: undefined },
  ];

  it.each([
    { name: 'none if all have their port', remotes: wanting(1, 2), want: [] },
    { name: 'none that gets a free port', remotes: wanting(1, 3), want: [] },
    { name: 'both that swap their ports', remotes: wanting(2, 1), want: ['wireguard.c2', 'wireguard.c3'] },
    { name: 'one whose port another gets', remotes: wanting(2, 3), want: ['wireguard.c3'] },
  ])('are $name', ({ remotes, want }) => {
    expect(displacedDevices(node, remotes).map(({ device }) => device)).toEqual(want);
    expect(displacedDevices({ ...node, links: [] }, remotes)).toEqual([]);
  });
});

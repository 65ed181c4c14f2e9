import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeTools } from '../../test/support/fake-tools.ts';
import type { KnownNode } from './local-node.ts';
import { observeNode } from '../mesh/local/observe.ts';
import { nodeProblems, takenPorts } from './check-node.ts';
import { key, observedNode, remoteSettings } from '../../test/support/builders.ts';

const { signal } = new AbortController();
const node: KnownNode = {
  uid: 'u',
  resourceVersion: '1',
  annotations: {},
  internalIps: ['198.51.100.1'],
  externalIps: [],
  endpointAddress: undefined,
  podCidrs: [],
};
const settings = remoteSettings();

let keyFolder: string;
beforeEach(async () => {
  keyFolder = await mkdtemp(join(tmpdir(), 'node-check-'));
});
afterEach(() => rm(keyFolder, { recursive: true }));

describe('nodeProblems', () => {
  it.each([
    {
      name: 'finds a device of somebody else',
      alias: '',
      remotes: [settings],
      want: ['wireguard.c2 has neither our mark nor our key'],
    },
    {
      name: 'finds a port of another device',
      device: 'wg0',
      alias: '',
      remotes: [settings],
      want: ['port 51820 of wireguard.c2 is used by wg0'],
    },
    {
      name: 'ignores our orphan, which will be removed',
      alias: 'semaphore-wireguard c9',
      remotes: [settings],
      want: [],
    },
    {
      name: 'allows two remotes to swap their devices',
      alias: 'semaphore-wireguard c3',
      remotes: [settings, remoteSettings({ name: 'c3', device: 'wireguard.c3', listenPort: 51_821 })],
      want: [],
    },
  ])('$name', async ({ device = 'wireguard.c2', alias, remotes, want }) => {
    const tools = new FakeTools();
    tools.put(device, { alias });
    const input = { options: { wgKeyPath: keyFolder }, remotes, devices: { tools, userspace: 'auto' } } as const;
    expect(await nodeProblems(input, node, await observeNode(tools, { signal }))).toEqual(want);
  });
});

describe('takenPorts', () => {
  it('names their devices', () => {
    expect(takenPorts(observedNode(['wireguard.c2', '', key(1)], ['wireguard.cali', '', key(2)]), [settings])).toEqual([
      'port 51820 of wireguard.c2 is used by wireguard.cali',
    ]);
  });

  it('names those that have a second port', () => {
    const rotating = {
      ...settings,
      listenPort: 1,
      keyRotation: { everyMs: 0, secondPort: 51_820, secondDevice: 'wg2' },
    };
    expect(takenPorts(observedNode(['wg0', '', key(1)]), [rotating])).toEqual(['port 51820 of wg2 is used by wg0']);
    expect(takenPorts(observedNode(['wg2', '', key(1)]), [rotating])).toEqual([]);
  });

  it('ignores our devices, which will get other ports', () => {
    expect(
      takenPorts(observedNode(['wireguard.c2', '', key(1)]), [
        { ...settings, listenPort: 51_821 },
        { device: 'wireguard.c3', listenPort: 51_820, keyRotation: undefined },
      ]),
    ).toEqual([]);
  });
});

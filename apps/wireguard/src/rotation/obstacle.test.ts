import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SimulatedNode, TwoNodes } from '../../test/rotation/two-nodes.ts';
import { remoteSettings } from '../../test/support/builders.ts';
import { makeNextKey } from './local/keys.ts';
import { obstacleTo } from './obstacle.ts';

const { signal } = new AbortController();

let mesh: TwoNodes;
let a: SimulatedNode;
beforeEach(async () => {
  mesh = await TwoNodes.start();
  [a] = mesh.nodes;
});
afterEach(() => mesh.stop());

describe('keys cannot rotate', () => {
  const keyRotation = { everyMs: 0, secondPort: 51_920, secondDevice: 'wireguard.other.1' };
  const settings = remoteSettings({ name: 'other', device: 'wireguard.other', keyRotation });
  const obstacle = async () => {
    const devices = { tools: a.tools, startUserspace: undefined, userspace: 'auto', logFile: () => '' } as const;
    const options = { devices, local: a, options: { wgKeyPath: a.folder }, signal };
    return (await obstacleTo(keyRotation, settings, options))?.detail;
  };

  it('without a reason', async () => {
    expect(await obstacle()).toBeUndefined();
  });

  it('where a strict check of the way back can’t be loosened, unless it has begun', async () => {
    a.tools.filters.set('wireguard.other', 2);
    a.tools.filtersAreLocked = true;
    expect(await obstacle()).toBeUndefined();
    a.tools.filters.set('wireguard.other', 0).set('all', 1);
    expect(await obstacle()).toMatch(/rp_filter is 1 and can't be changed/);
    await makeNextKey({ folder: a.folder, remote: 'other' });
    expect(await obstacle()).toBeUndefined();
  });

  it('where the second device is not ours', async () => {
    a.tools.put('wireguard.other.1');
    expect(await obstacle()).toMatch(/wireguard\.other\.1 is not ours/);
  });

  it('where no sidecar carries the second device', async () => {
    const link = a.tools.linksByName.get('wireguard.other')!;
    a.tools.linksByName.set('wireguard.other', { ...link, kind: 'tun' });
    expect(await obstacle()).toMatch(/no sidecar with wireguard-go has created wireguard\.other\.1/);
    a.tools.put('wireguard.other.1', { kind: 'tun' });
    a.tools.byName.set('wireguard.other.1', { ...a.tools.byName.get('wireguard.other.1')!, publicKey: undefined });
    expect(await obstacle()).toBeUndefined();
  });
});

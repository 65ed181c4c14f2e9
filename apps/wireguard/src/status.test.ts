import { describe, expect, it } from 'vitest';
import type { NodeDiagnostic } from './desired/diagnostic.ts';
import { remoteStatus, type StatusInput, statusJson, statusText } from './status.ts';
import { key, observedDevice, observedPeer } from '../test/support/builders.ts';

const left: readonly NodeDiagnostic[] = [
  { node: 'n8', kind: 'problem', reason: 'bad-key', detail: 'its public key is no good' },
  { node: 'n9', kind: 'expected', reason: 'not-annotated', detail: 'nobody has announced himself' },
];
const wanted = (number: number) => ({
  node: `n${number}`,
  publicKey: key(number),
  endpoint: '192.0.2.1:51820',
  allowedIps: [`10.4.${number}.0/24`],
});

const input: StatusInput = {
  remote: 'c2',
  deviceName: 'wireguard.c2',
  device: observedDevice([
    observedPeer(key(9), { endpoint: undefined, allowedIps: [], latestHandshakeSeconds: undefined }),
    observedPeer(key(2), { latestHandshakeSeconds: 800, allowedIps: ['10.4.2.0/24'] }),
    observedPeer(key(1), { receivedBytes: 512, sentBytes: 1_610_612_736 }),
  ]),
  marked: true,
  desired: { peers: [wanted(1), wanted(2), wanted(3)], left },
  failure: undefined,
  clock: { nowSeconds: 1_000, staleSeconds: 180 },
};

describe('the status', () => {
  it('is for people', () => {
    expect(statusText([remoteStatus(input)])).toBe(
      [
        `c2: wireguard.c2, port 51820, public key ${key(200)}`,
        'up     n1  192.0.2.1:51820  handshake 10 s ago  512 B in  1.5 GiB out  10.4.1.0/24',
        'stale  n2  192.0.2.1:51820  handshake 200 s ago  0 B in  0 B out  10.4.2.0/24',
        `never  ${key(9)}  no endpoint  no handshake  0 B in  0 B out`,
        'none   n3',
        'skip!  n8: its public key is no good',
        'skip   n9: nobody has announced himself',
        '',
      ].join('\n'),
    );
  });

  it('says what is not known, and what is not there', () => {
    expect(
      statusText([
        remoteStatus({ ...input, device: undefined, desired: undefined, failure: 'list nodes: refused' }),
        remoteStatus({ ...input, desired: { peers: [], left: [] }, device: observedDevice([]) }),
      ]),
    ).toBe(
      [
        'c2: wireguard.c2 is not there',
        'c2: not reached: list nodes: refused',
        'Which Nodes its peers are, and which are left out, is not known',
        '',
        `c2: wireguard.c2, port 51820, public key ${key(200)}`,
        '',
      ].join('\n'),
    );
  });

  it('tells a device that may be somebody else’s from ours', () => {
    expect(
      statusText([
        remoteStatus({ ...input, device: observedDevice([]), marked: false, desired: { peers: [], left: [] } }),
      ]),
    ).toBe(`c2: wireguard.c2, port 51820, public key ${key(200)}, without our mark\n`);
  });

  it('is for programs', () => {
    const [remote] = (JSON.parse(statusJson([remoteStatus(input)])) as { remotes: readonly Record<string, unknown>[] })
      .remotes;
    expect(remote).toMatchObject({
      remote: 'c2',
      reached: true,
      device: { listenPort: 51_820, marked: true },
      missing: ['n3'],
      skipped: left,
    });
    expect(remote?.['peers']).toEqual([
      {
        node: 'n1',
        publicKey: key(1),
        state: 'up',
        handshakeAgeSeconds: 10,
        endpoint: '192.0.2.1:51820',
        receivedBytes: 512,
        sentBytes: 1_610_612_736,
        allowedIps: ['10.4.1.0/24'],
      },
      expect.objectContaining({ node: 'n2', state: 'stale' }),
      expect.objectContaining({ node: null, state: 'never', handshakeAgeSeconds: null, endpoint: null }),
    ]);
  });

  it('has why a remote was not reached, and nothing of what broke off where it was', () => {
    expect(remoteStatus({ ...input, desired: undefined, failure: 'list nodes: refused' })).toMatchObject({
      reached: false,
      failure: 'list nodes: refused',
    });
    expect(remoteStatus({ ...input, failure: 'list nodes: refused' })).toMatchObject({
      reached: true,
      failure: undefined,
    });
  });

  it('has the same order whatever wg shows', () => {
    const turned = { ...input, device: observedDevice(input.device!.peers.toReversed()) };
    expect(remoteStatus(turned)).toEqual(remoteStatus(input));
  });

  it('takes a handshake in the future for one of now', () => {
    const ahead = { ...input, device: observedDevice([observedPeer(key(1), { latestHandshakeSeconds: 1_100 })]) };
    expect(remoteStatus(ahead).peers).toMatchObject([{ state: 'up', handshakeAgeSeconds: 0 }]);
  });
});

import { describe, expect, it } from 'vitest';
import type { Device } from '@kube-semaphore/wireguard-tools';
import type { DesiredPeer } from './mesh/desired/peers.ts';
import type { NodeDiagnostic } from './mesh/desired/diagnostic.ts';
import { remoteStatus, servedStatus, statusText } from './status.ts';
import { key, observedDevice, observedLink, observedPeer, remoteSettings } from '../test/support/builders.ts';

const skipped: readonly NodeDiagnostic[] = [
  { node: 'n8', kind: 'problem', reason: 'bad-key', detail: 'its public key is invalid' },
  { node: 'n9', kind: 'expected', reason: 'not-annotated', detail: 'it has no annotations' },
];
const wanted = (number: number) => ({
  node: `n${number}`,
  publicKey: key(number),
  endpoint: '192.0.2.1:51820',
  allowedIps: [`10.4.${number}.0/24`],
});

const observed = observedDevice([
  observedPeer(key(9), { endpoint: undefined, allowedIps: [], latestHandshakeSeconds: undefined }),
  observedPeer(key(2), { latestHandshakeSeconds: 800, allowedIps: ['10.4.2.0/24'] }),
  observedPeer(key(1), { receivedBytes: 512, sentBytes: 1_610_612_736 }),
]);

const clock = { nowSeconds: 1_000, staleSeconds: 180 };

/** The status of c2. `device: null`: it doesn't exist; `peers: null`: c2 was not reached. */
function status({
  device = observed as Device | null,
  alias = 'semaphore-wireguard c2',
  peers = [wanted(1), wanted(2), wanted(3)] as readonly DesiredPeer[] | null,
  skipped = [] as readonly NodeDiagnostic[],
  failure = undefined as string | undefined,
  link = {} as Parameters<typeof observedLink>[0],
  annotations = {} as Readonly<Record<string, string>>,
} = {}) {
  const remote = {
    settings: remoteSettings(),
    peers: () => (peers === null ? undefined : { peers, skipped: skipped.slice(1) }),
    skipped: skipped.slice(0, 1),
    failure,
  };
  const node = { devices: device === null ? [] : [device], links: [observedLink({ alias, ...link })], annotations };
  return remoteStatus(remote, node, { clock, rotation: undefined });
}

const text = (...remotes: readonly ReturnType<typeof status>[]) => statusText({ remotes });

describe('the status', () => {
  it('has a text for people', () => {
    const annotations = { 'c2.wireguard.semaphore.uw.io/silent': 'n1,n2 of 3' };
    expect(text(status({ skipped, annotations }))).toBe(
      [
        `c2: wireguard.c2, port 51820, public key ${key(200)}`,
        'up       n1  192.0.2.1:51820  handshake 10 s ago  512 B in  1.5 GiB out  10.4.1.0/24',
        'stale    n2  192.0.2.1:51820  handshake 200 s ago  0 B in  0 B out  10.4.2.0/24',
        `never    ${key(9)}  no endpoint  no handshake  0 B in  0 B out`,
        'missing  n3',
        'silent   n1',
        'silent   n2',
        'skip!    n8: its public key is invalid',
        'skip     n9: it has no annotations',
        '',
      ].join('\n'),
    );
  });

  it('shows both devices while keys rotate', () => {
    const second = observedDevice([observedPeer(key(3))], { name: 'wireguard.c2.1', publicKey: key(201) });
    const remote = {
      settings: remoteSettings({ keyRotation: { everyMs: 0, secondPort: 51_920, secondDevice: 'wireguard.c2.1' } }),
      peers: () => ({ peers: [wanted(1), wanted(3)], skipped: [] }),
      skipped: [],
      failure: undefined,
    };
    const devices = [observedDevice([observedPeer(key(1))]), second];
    const node = { devices, links: [observedLink()], annotations: {} };
    const rotation = {
      plane: 1 as const,
      since: '2026-01-01T00:00:00.000Z',
      rotating: ['n1'],
      laggards: ['n1'],
      late: false,
    };
    const shown = remoteStatus(remote, node, { clock, rotation });
    expect(shown).toMatchObject({ missing: [], secondDevice: { name: 'wireguard.c2.1', publicKey: key(201) } });
    expect(text(shown).split('\n').slice(1)).toEqual([
      expect.stringMatching(/^up {7}n1/),
      `second device: wireguard.c2.1, public key ${key(201)}`,
      expect.stringMatching(/^up {7}n3/),
      'keys rotate of this node since 2026-01-01T00:00:00.000Z, which announces its second device',
      'laggard  n1',
      '',
    ]);
  });

  it('says how many packets were refused, if any were', () => {
    const refused = status({ device: observedDevice([]), peers: [], link: { receiveFrameErrors: 18 } });
    expect(refused).toMatchObject({ refusedPackets: 18 });
    expect(text(refused).split('\n').slice(1)).toEqual([
      'refused  18 packets whose source is no address of the Node that sent them',
      '',
    ]);
    expect(status()).toMatchObject({ refusedPackets: 0 });
  });

  it('knows no refused packets of wireguard-go, nor of a missing device', () => {
    expect(status({ link: { kind: 'tun', receiveFrameErrors: 0 } })).toMatchObject({ refusedPackets: null });
    expect(status({ link: { name: 'wireguard.c3' } })).toMatchObject({ refusedPackets: null });
  });

  it('says what is unknown, and what does not exist', () => {
    expect(
      text(
        status({ device: null, peers: null, failure: 'list nodes: refused' }),
        status({ peers: [], device: observedDevice([]) }),
      ),
    ).toBe(
      [
        'c2: wireguard.c2 does not exist',
        'c2: not reached: list nodes: refused',
        'The Nodes of its peers, and skipped Nodes, are unknown.',
        '',
        `c2: wireguard.c2, port 51820, public key ${key(200)}`,
        '',
      ].join('\n'),
    );
  });

  it('shows an MTU that is measured', () => {
    const remote = {
      settings: remoteSettings({ measuresMtu: true }),
      peers: () => ({ peers: [], skipped: [] }),
      skipped: [],
      failure: undefined,
    };
    const node = { devices: [observedDevice([])], links: [observedLink({ mtuBytes: 1320 })], annotations: {} };
    expect(text(remoteStatus(remote, node, { clock, rotation: undefined }))).toBe(
      `c2: wireguard.c2, port 51820, public key ${key(200)}, MTU 1320, measured\n`,
    );
  });

  it('marks a device without our mark', () => {
    expect(text(status({ device: observedDevice([]), alias: '', peers: [] }))).toBe(
      `c2: wireguard.c2, port 51820, public key ${key(200)}, without our mark\n`,
    );
  });

  it('has all facts for programs', () => {
    const remote = status({ skipped });
    expect(remote).toMatchObject({
      remote: 'c2',
      reached: true,
      device: { listenPort: 51_820, marked: true },
      missing: ['n3'],
      skipped,
    });
    expect(remote.peers).toEqual([
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

  it('says why a remote was not reached, and has no failure of one that was', () => {
    expect(status({ peers: null, failure: 'list nodes: refused' })).toMatchObject({
      reached: false,
      failure: 'list nodes: refused',
    });
    expect(status({ failure: 'list nodes: refused' })).toMatchObject({
      reached: true,
      failure: undefined,
    });
  });

  it('has the same order whatever the order of wg', () => {
    expect(status({ device: observedDevice(observed.peers.toReversed()) })).toEqual(status());
  });

  it('treats a handshake in the future as one of now', () => {
    const device = observedDevice([observedPeer(key(1), { latestHandshakeSeconds: 1_100 })]);
    expect(status({ device }).peers).toMatchObject([{ state: 'up', handshakeAgeSeconds: 0 }]);
  });
});

describe('the page /status', () => {
  const remote = { settings: remoteSettings(), peers: () => undefined, skipped: [], failure: undefined };
  const known = { ...remote, status: () => ({}) as ReturnType<Parameters<typeof servedStatus>[0]['status']> };
  const nothing = { devices: [], links: [], annotations: {}, routes: [] };
  const facts = { clock, rotation: undefined };

  it.each([
    { routes: [{ destination: '10.4.0.0/16', device: 'wireguard.c2' }], want: { unrouted: [] } },
    { routes: [{ destination: '10.4.0.0/16', device: 'eth0' }], want: { unrouted: ['10.4.0.0/16'] } },
    { routes: [{ destination: '0.0.0.0/0', device: 'wireguard.c2' }], want: { unrouted: ['10.4.0.0/16'] } },
  ])('says which pod addresses have no route through the device: $want', ({ routes, want }) => {
    const own = routes.map((route) => ({ ...route, protocol: 115 }));
    expect(servedStatus(known, { ...nothing, routes: own }, facts)).toMatchObject(want);
  });

  it('says why there is no device', () => {
    const deviceError = 'wireguard-go wireguard.c2: too many open files';
    expect(servedStatus(known, nothing, { ...facts, deviceError })).toMatchObject({ device: null, deviceError });
    expect(servedStatus(known, nothing, { ...facts, deviceError: undefined })).not.toHaveProperty('deviceError');
  });
});

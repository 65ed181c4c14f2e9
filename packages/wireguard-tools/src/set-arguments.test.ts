import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PeerChange } from './device.ts';
import { setArguments } from './set-arguments.ts';

const publicKey = `${'a'.repeat(42)}A=`;

describe('setArguments', () => {
  it.each([
    { name: 'makes no call for an empty change', change: {}, want: [] },
    { name: 'makes no call for an empty list of peers', change: { peers: [] }, want: [] },
    { name: 'sets only the port', change: { listenPort: 51_820 }, want: ['listen-port 51820'] },
    {
      name: 'sets the key by its file',
      change: { privateKeyFile: '/keys/c2.key' },
      want: ['private-key /keys/c2.key'],
    },
    {
      name: 'sets the port before the key',
      change: { privateKeyFile: '/keys/c2.key', listenPort: 1 },
      want: ['listen-port 1 private-key /keys/c2.key'],
    },
    { name: 'adds a bare peer', change: { peers: [{ publicKey }] }, want: [`peer ${publicKey}`] },
    {
      name: 'sets each field of a peer that is in the change',
      change: {
        peers: [
          {
            publicKey,
            endpoint: '[fd00::1]:1',
            keepaliveSeconds: 25,
            allowedIps: ['10.4.1.0/24', 'fd04::/64'],
            clearPresharedKey: true as const,
          },
        ],
      },
      want: [
        `peer ${publicKey} preshared-key /dev/null endpoint [fd00::1]:1 persistent-keepalive 25 allowed-ips 10.4.1.0/24,fd04::/64`,
      ],
    },
    {
      name: 'removes all allowed IPs',
      change: { peers: [{ publicKey, allowedIps: [] }] },
      want: [`peer ${publicKey} allowed-ips `],
    },
    {
      name: 'removes before it adds',
      change: { listenPort: 1, peers: [{ publicKey: 'new' }, { publicKey: 'old', remove: true as const }] },
      want: ['listen-port 1 peer old remove peer new'],
    },
  ])('$name', ({ change, want }) => {
    expect(setArguments('wg0', change).map((args) => args.join(' '))).toEqual(want.map((words) => `set wg0 ${words}`));
  });

  it('needs one call for a thousand peers', () => {
    const peers = Array.from({ length: 1_000 }, () => ({
      publicKey,
      endpoint: '[fd00::1234:5678]:51820',
      keepaliveSeconds: 25,
      allowedIps: ['10.4.1.0/24', 'fd04:1::/64'],
    }));
    expect(setArguments('wg0', { peers })).toHaveLength(1);
  });

  it('stays within the limits of Linux, and loses nothing', () => {
    const cidrs = fc
      .nat(9_000)
      .map((length) => Array.from({ length }, (_, i) => `fd00:1111:2222:3333:4444:5555:6666:${i.toString(16)}/128`));
    const change: fc.Arbitrary<PeerChange> = fc.record({ publicKey: fc.uuid(), allowedIps: cidrs });
    fc.assert(
      fc.property(fc.uniqueArray(change, { maxLength: 8, selector: (peer) => peer.publicKey }), (peers) => {
        const calls = setArguments('wg0', { peers });
        expect(calls.flat().filter((word) => word.length >= 128 * 1024)).toEqual([]);
        // A single peer may need more than its share, and still less than the kernel's limit.
        expect(calls.filter((call) => call.join(' ').length > 1024 * 1024)).toEqual([]);
        const words = calls.flatMap((call) => call.slice(2));
        expect(words.filter((_, i) => words[i - 1] === 'peer')).toEqual(peers.map((peer) => peer.publicKey));
        const sent = words
          .filter((word, i) => words[i - 1] === 'allowed-ips' && word !== '')
          .flatMap((word) => word.split(','));
        expect(sent).toEqual(peers.flatMap((peer) => (peer.remove === true ? [] : (peer.allowedIps ?? []))));
      }),
      { numRuns: 30 },
    );
  });
});

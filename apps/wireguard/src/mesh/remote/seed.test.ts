import { describe, expect, it } from 'vitest';
import { claimsOf, seedOf } from './seed.ts';
import { cidr, key, observedPeer } from '../../../test/support/builders.ts';

describe('seedOf', () => {
  it('has the peers of the device with their CIDRs in pod subnets', () => {
    const peers = [
      observedPeer(key(1), { allowedIps: ['10.4.1.0/24', '192.168.0.0/16'] }),
      observedPeer(key(2), { allowedIps: ['0.0.0.0/0'] }),
      observedPeer(key(3), { allowedIps: [] }),
    ];
    expect(seedOf({ peers }, [cidr('10.4.0.0/16')])).toEqual([
      {
        uid: '',
        name: `(peer ${key(1)})`,
        createdMs: 0,
        readyUntilMs: 0,
        publicKey: key(1),
        endpoint: undefined,
        podCidrs: [cidr('10.4.1.0/24')],
        held: true,
      },
    ]);
  });

  it('is replaced by a Node with its key or one of its blocks', () => {
    const [seeded] = seedOf({ peers: [observedPeer(key(1))] }, [cidr('10.4.0.0/16')]);
    expect(claimsOf(seeded!)).toEqual([key(1), '10.4.1.0/24']);
  });
});

import { expect, it } from 'vitest';
import { inspect } from './wire.ts';

/** A frame with an IPv4 UDP packet with this payload. */
function udpFrame(payload: Buffer): Buffer {
  const frame = Buffer.alloc(14 + 20 + 8);
  frame.writeUInt16BE(0x0800, 12);
  frame.writeUInt8(0x45, 14);
  frame.writeUInt16BE(28 + payload.length, 16);
  frame.writeUInt8(17, 23);
  return Buffer.concat([frame, payload]);
}

const wireGuard = (type: number, rest = 'x'.repeat(28)) =>
  udpFrame(Buffer.concat([Buffer.from([type, 0, 0, 0]), Buffer.from(rest)]));
const arp = Buffer.alloc(60);

it.each([
  { name: 'is zero without frames', frames: [], want: { encrypted: 0, others: 0, readable: 0 } },
  {
    name: 'distinguishes data from handshakes',
    frames: [1, 2, 3, 4, 4].map((type) => wireGuard(type)),
    want: { encrypted: 2, others: 3, readable: 0 },
  },
  {
    name: 'counts frames that are not WireGuard',
    frames: [arp, udpFrame(Buffer.from('hello'))],
    want: { encrypted: 0, others: 2, readable: 0 },
  },
  {
    name: 'finds the secret in any frame',
    frames: [wireGuard(4, 'a secret here'), udpFrame(Buffer.from('secret')), arp],
    want: { encrypted: 1, others: 2, readable: 2 },
  },
])('$name', ({ frames, want }) => {
  expect(inspect(frames, 'secret')).toEqual(want);
});

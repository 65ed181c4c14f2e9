import { expect, it } from 'vitest';
import { Planes, rotatedView } from './rotation.ts';

const NONE: ReadonlySet<string> = new Set();
const staying = [
  { cluster: 'c2', key: 'K1', podCIDRs: ['10.4.1.0/24', 'fd00:4:0:1::/64'] },
  { cluster: 'c3', key: 'K2', podCIDRs: ['10.5.1.0/24'] },
];
const add = (device: string, key: string, cidrs: string): string =>
  `wg set ${device} peer ${key} allowed-ips ${cidrs} persistent-keepalive 25`;
const ALL = '10.4.1.0/24,fd00:4:0:1::/64';

/** What the last of some calls did that it never should. */
function lastOf(calls: readonly string[], left: ReadonlySet<string> = NONE): readonly string[] {
  const planes = new Planes(staying);
  const found = calls.map((call) => planes.made(call, left));
  expect(found.slice(0, -1).flat()).toEqual([]);
  return found.at(-1)!;
}

const first = add('wireguard.c2', 'K1', ALL);
const second = add('wireguard.c2.1', 'K1', ALL);

it.each([
  {
    name: 'an entry of one device, while the other has it',
    calls: [first, second, 'wg set wireguard.c2 peer K1 remove'],
  },
  { name: 'the second device, when the first has all', calls: [second, first, 'ip link delete dev wireguard.c2.1'] },
  { name: 'a key of a Node', calls: [first, `wg set wireguard.c2 peer K1 remove peer K9 allowed-ips ${ALL}`] },
  { name: 'what was never there', calls: ['wg set wireguard.c2 peer K1 remove'] },
  { name: 'the keepalive', calls: [first, 'wg set wireguard.c2 peer K1 persistent-keepalive 0'] },
])('allows to take away $name', ({ calls }) => {
  expect(lastOf(calls)).toEqual([]);
});

it.each([
  { name: 'the last entry', calls: [first, 'wg set wireguard.c2 peer K1 remove'], lost: ALL.split(',') },
  {
    name: 'one of its CIDRs',
    calls: [first, second, add('wireguard.c2', 'K1', '10.4.1.0/24'), 'ip link delete dev wireguard.c2.1'],
    lost: ['fd00:4:0:1::/64'],
  },
  { name: 'the only device', calls: [second, 'ip link delete dev wireguard.c2.1'], lost: ALL.split(',') },
  {
    name: 'its CIDRs, by another key without them',
    calls: [first, add('wireguard.c2', 'K1', '')],
    lost: ALL.split(','),
  },
])('sees a Node that stays lose $name', ({ calls, lost }) => {
  expect(lastOf(calls)).toEqual(lost.map((cidr) => `${cidr} is in no device: ${calls.at(-1)}`));
  expect(lastOf(calls, new Set(['c2']))).toEqual([]);
});

it('sees a call for a device of others', () => {
  expect(lastOf(['ip link delete dev wg-foreign'])).toHaveLength(1);
});

it('says of a key only whether it is that of the file', () => {
  const view = (publicKey: string, pubKey: string) => ({
    'wireguard.c2': { port: 1, publicKey, announced: { pubKey } },
    'c2 K1': { endpoint: 'e' },
  });
  const found = { c2: { publicKey: 'K', state: 'over', ports: '1,2' } };
  const key = 'that of its file';
  expect(rotatedView(view('K', 'K'), found)).toEqual({
    'wireguard.c2': { port: 1, publicKey: key, announced: { pubKey: key, planes: '1,2' }, rotation: 'over' },
    'c2 K1': { endpoint: 'e' },
  });
  expect(rotatedView(view('other', 'K'), found)).toMatchObject({
    'wireguard.c2': { publicKey: 'other', announced: { pubKey: key } },
  });
});

import { expect, it } from 'vitest';
import { harmOf, keysIn } from './node.ts';

const facts = {
  privateKeys: {},
  staying: [{ cluster: 'c2', key: 'STAYS', podCIDRs: ['10.4.1.0/24', 'fd00:4:0:1::/64'] }],
  overlap: (a: string, b: string) => a.startsWith(b.slice(0, 7)),
};
const harm = (call: string, left: readonly string[] = []): number => harmOf(call, facts, new Set(left)).length;

it.each([
  'ip link add dev wireguard.c2 alias semaphore-wireguard c2 mtu 1380 type wireguard',
  'ip link set dev wireguard.c2 alias semaphore-wireguard c2 mtu 1380 up',
  'ip -6 route add fd00:4::/48 dev wireguard.c2 protocol 115',
  'ip address delete 192.0.2.77/32 dev wireguard.c2',
  'wg set wireguard.c2 listen-port 51822 private-key /keys/wireguard.c2.key',
  'wg set wireguard.c2 peer OTHER remove peer STAYS endpoint 198.51.100.1:1 allowed-ips 10.4.1.0/24,fd00:4:0:1::/64',
  'wg set wireguard.c2 peer STAYS persistent-keepalive 25 peer OTHER allowed-ips 10.4.2.0/24',
  'wg set wireguard.c3 peer STAYS remove',
])('lets the agent call %s', (call) => {
  expect(harm(call)).toBe(0);
});

it.each([
  'wg set wg-foreign peer OTHER remove',
  'ip link set dev eth0 mtu 1380',
  'ip -4 route delete 10.4.0.0/16 dev wireguard.c2 protocol 115',
  'ip link delete dev wireguard.c2',
  'wg set wireguard.c2 peer OTHER allowed-ips 10.4.2.0/24 peer STAYS remove',
  'wg set wireguard.c2 peer STAYS allowed-ips 10.4.1.0/24',
  'wg set wireguard.c2 peer OTHER allowed-ips 10.4.1.128/25',
])('sees the harm of %s', (call) => {
  expect(harm(call)).toBe(1);
});

it('lets the device of a remote go that was out of the file', () => {
  expect(harm('ip link delete dev wireguard.c2', ['c2'])).toBe(0);
});

it('finds the keys that are whole', () => {
  const [one, other] = ['a', 'b'].map((letter) => `${letter.repeat(43)}=`) as [string, string];
  expect(keysIn(`${one}\n${other.slice(0, 20)}\n\n${other}\n`)).toEqual([one, other]);
  expect(keysIn('')).toEqual([]);
});

import { expect, it } from 'vitest';
import { abilityOf, type Facts } from './ability.ts';

const path = '/usr/sbin:/usr/bin';
const all: Facts = { path, missing: [], isRoot: true, hasNamespaces: true, hasKernelWireGuard: false, hasTun: true, wireguardGo: '/cache/wg/wireguard-go' };
const built = 'wireguard-go, which "npm run binaries" builds';

it.each([
  { name: 'has tunnels where wireguard-go can run', facts: {}, want: { kind: 'tunnels', path: `/cache/wg:${path}`, carrier: 'wireguard-go' } },
  { name: 'has those of the kernel first', facts: { hasKernelWireGuard: true }, want: { kind: 'tunnels', path, carrier: 'the kernel' } },
  { name: 'needs neither TUN nor wireguard-go then', facts: { hasKernelWireGuard: true, hasTun: false, wireguardGo: undefined }, want: { kind: 'tunnels', path, carrier: 'the kernel' } },
  { name: 'has the plan without TUN', facts: { hasTun: false }, want: { kind: 'plan', path, lacks: ['/dev/net/tun'] } },
  { name: 'says what builds wireguard-go', facts: { wireguardGo: undefined }, want: { kind: 'plan', path, lacks: [built] } },
  { name: 'has the plan without namespaces', facts: { hasNamespaces: false }, want: { kind: 'plan', path, lacks: ['the right to make network namespaces'] } },
  { name: 'names a tool, and not what it would have shown', facts: { missing: ['unshare'], hasNamespaces: false }, want: { kind: 'plan', path, lacks: ['unshare'] } },
  { name: 'knows only what who isn’t root can know', facts: { isRoot: false, hasNamespaces: false, hasTun: false, wireguardGo: undefined }, want: { kind: 'plan', path, lacks: ['root'] } },
  { name: 'has nothing without what an agent runs', facts: { isRoot: false, missing: ['wg', 'ping'] }, want: { kind: 'nothing', lacks: ['root', 'wg', 'ping'] } },
])('$name', ({ facts, want }) => {
  expect(abilityOf({ ...all, ...facts })).toEqual(want);
});

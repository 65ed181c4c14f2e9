import { expect, it } from 'vitest';
import { abilityOf, type Facts } from './ability.ts';

const path = '/usr/sbin:/usr/bin';
const all: Facts = {
  path,
  missing: [],
  isRoot: true,
  hasNamespaces: true,
  hasKernelWireGuard: false,
  hasTun: true,
  wireguardGo: '/cache/wg/wireguard-go',
};
const withoutBoth = { hasTun: false, wireguardGo: undefined };
const build = 'wireguard-go, which "npm run binaries" builds';

it.each([
  { name: 'wireguard-go where it can run', facts: {}, want: { path: `/cache/wg:${path}`, carrier: 'wireguard-go' } },
  { name: 'the kernel first', facts: { hasKernelWireGuard: true }, want: { path, carrier: 'the kernel' } },
  {
    name: 'the kernel without TUN and wireguard-go',
    facts: { hasKernelWireGuard: true, ...withoutBoth },
    want: { path, carrier: 'the kernel' },
  },
])('has tunnels by $name', ({ facts, want }) => {
  expect(abilityOf({ ...all, ...facts })).toEqual({ lacks: [], canPlan: true, ...want });
});

it.each([
  { name: 'TUN', facts: { hasTun: false }, lacks: ['/dev/net/tun'] },
  { name: 'wireguard-go, and what builds it', facts: { wireguardGo: undefined }, lacks: [build] },
  { name: 'namespaces', facts: { hasNamespaces: false }, lacks: ['the right to make network namespaces'] },
  { name: 'a tool, and not its use', facts: { missing: ['unshare'], hasNamespaces: false }, lacks: ['unshare'] },
  { name: 'root, and nothing else', facts: { isRoot: false, hasNamespaces: false, ...withoutBoth }, lacks: ['root'] },
])('has the plan, and names what is missing: $name', ({ facts, lacks }) => {
  expect(abilityOf({ ...all, ...facts })).toMatchObject({ canPlan: true, lacks });
});

it('has no plan without what an agent runs', () => {
  const facts = { ...all, isRoot: false, missing: ['wg', 'ping'] };
  expect(abilityOf(facts)).toMatchObject({ canPlan: false, lacks: ['root', 'wg', 'ping'] });
});

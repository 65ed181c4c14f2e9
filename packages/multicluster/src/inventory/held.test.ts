import { expect, it } from 'vitest';
import { type HeldInput, heldRemotes } from './held.ts';
import type { ProfileRemote } from './profile.ts';

const remote = (profile: string, name = profile): ProfileRemote =>
  ({ profile, name, allowedPodCIDRs: [], wgListenPort: undefined }) as unknown as ProfileRemote;
const [c2, c3] = [remote('c2'), remote('c3')];
const held = (sinceMs: number, each = c3) => ({ remote: each, sinceMs });

it.each<{ name: string; input: Partial<HeldInput>; want: readonly object[] }>([
  { name: 'holds what vanished, from now on', input: { before: [c2, c3], now: [c2] }, want: [held(100)] },
  { name: 'holds it on', input: { held: [held(60)] }, want: [held(60)] },
  { name: 'lets it go after the hold', input: { held: [held(50)] }, want: [] },
  { name: 'lets it go when it is back', input: { held: [held(60)], now: [c3] }, want: [] },
  {
    name: 'lets it go for another profile of the cluster',
    input: { before: [c3], now: [remote('x', 'c3')] },
    want: [],
  },
  { name: 'holds nothing with a hold of 0', input: { before: [c3], holdMs: 0 }, want: [] },
])('$name', ({ input, want }) => {
  expect(heldRemotes({ before: [], held: [], now: [], nowMs: 100, holdMs: 50, ...input })).toEqual(want);
});

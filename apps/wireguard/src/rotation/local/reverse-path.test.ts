import { beforeEach, expect, it } from 'vitest';
import { observedLink } from '../../../test/support/builders.ts';
import { FakeTools } from '../../../test/support/fake-tools.ts';
import { canLoosen, LOOSE_ADDRESS, loosen, restore } from './reverse-path.ts';

const DEVICE = 'wireguard.c2';
const marked = observedLink({ name: DEVICE, addresses: [{ ip: LOOSE_ADDRESS, prefixLength: 32 }] });

let tools: FakeTools;
beforeEach(() => (tools = new FakeTools()));

it.each([
  { all: 0, own: 0, want: 0 },
  { all: 1, own: 0, want: 2 },
  { all: 0, own: 1, want: 2 },
  { all: 1, own: 2, want: 2 },
  { all: 2, own: 0, want: 0 },
  { all: 2, own: 1, want: 1 },
])('loosens only what is strict: all $all, device $own', async ({ all, own, want }) => {
  tools.filters.set('all', all).set(DEVICE, own);
  await loosen(tools, DEVICE);
  expect(tools.filters.get(DEVICE)).toBe(want);
});

it('gives a device that it loosened the default back, and no other', async () => {
  tools.filters.set('default', 1).set(DEVICE, 2);
  await restore(tools, { ...marked, addresses: [] });
  expect(tools.filters.get(DEVICE)).toBe(2);
  await restore(tools, marked);
  expect(tools.filters.get(DEVICE)).toBe(1);
  tools.filters.set(DEVICE, 0);
  await restore(tools, marked);
  expect(tools.filters.get(DEVICE)).toBe(0);
});

it('says whether it could, and changes nothing', async () => {
  tools.filters.set('all', 1).set(DEVICE, 1);
  expect(await canLoosen(tools, DEVICE)).toBe(true);
  expect(tools.filters.get(DEVICE)).toBe(1);
  tools.filtersAreLocked = true;
  expect(await canLoosen(tools, DEVICE)).toBe(false);
  tools.filters.set('all', 2);
  expect(await canLoosen(tools, DEVICE)).toBe(true);
  tools.reversePathFilter = () => Promise.reject(new Error('no such file'));
  expect(await canLoosen(tools, DEVICE)).toBe(false);
});

import { expect, it } from 'vitest';
import type { LocalObjects } from '../../local/objects.ts';
import { mirrorsWithoutReadyEndpoints } from './ready-mirrors.ts';

type Local = Pick<LocalObjects, 'services' | 'slices'>;

const mirror = (name: string, prefix: string) => ({
  name,
  labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': prefix },
});
const slice = (...ready: readonly (boolean | undefined)[]) => ({
  endpoints: ready.map((each) => ({ conditions: { ready: each } })),
});

it('counts the mirrors of each remote, and the global Services, that have no ready endpoint', () => {
  const slices = new Map([
    ['ready', [slice(false, true)]],
    ['unsaid', [slice(undefined)]],
    ['unready', [slice(false), slice()]],
    ['of-c3', [slice(true)]],
    ['gl-ready', [slice(false), slice(true)]],
  ]);
  const services = [
    mirror('ready', 'p2'),
    mirror('unsaid', 'p2'),
    mirror('unready', 'p2'),
    mirror('bare', 'p2'),
    mirror('of-c3', 'p3'),
    mirror('orphan', 'p9'),
    { name: 'gl-ready', labels: { 'global-svc': 'true' } },
    { name: 'gl-bare', labels: { 'global-svc': 'true' } },
    { name: 'gl-of-others', labels: {} },
  ];
  const local = { services: () => services, slices: (name: string) => slices.get(name) ?? [] } as unknown as Local;
  expect(
    mirrorsWithoutReadyEndpoints(
      local,
      new Map([
        ['c2', 'p2'],
        ['c3', 'p3'],
      ]),
    ),
  ).toEqual(
    new Map([
      ['c2', 2],
      ['c3', 0],
      ['global', 1],
    ]),
  );
});

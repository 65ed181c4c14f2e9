import { expect, it } from 'vitest';
import { bindsOf } from './mounts.ts';

const folders = new Map([
  ['config', '/tmp/x/config'],
  ['token', '/tmp/x/token'],
]);
const container = { name: 'app', image: 'app' };

it.each([
  { name: 'has none without mounts', volumeMounts: [], want: [] },
  {
    name: 'binds volumes, outer paths first',
    volumeMounts: [
      { name: 'token', mountPath: '/etc/app/remote/', readOnly: true },
      { name: 'config', mountPath: '/etc/app' },
    ],
    want: [
      { source: '/tmp/x/config', target: '/etc/app', readOnly: false },
      { source: '/tmp/x/token', target: '/etc/app/remote', readOnly: true },
    ],
  },
  {
    name: 'takes a part of a volume',
    volumeMounts: [{ name: 'config', mountPath: '/etc/app.json', subPath: 'app.json' }],
    want: [{ source: '/tmp/x/config/app.json', target: '/etc/app.json', readOnly: false }],
  },
])('$name', ({ volumeMounts, want }) => {
  expect(bindsOf({ ...container, volumeMounts }, folders)).toEqual(want);
});

it('refuses a volume that the Pod does not have', () => {
  expect(() => bindsOf({ ...container, volumeMounts: [{ name: 'other', mountPath: '/x' }] }, folders)).toThrow(
    'container app mounts other, which is no volume of the Pod',
  );
});

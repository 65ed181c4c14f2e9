import { expect, it } from 'vitest';
import { clusterOfWrite } from './slice-parts.ts';

it.each([
  { name: 'a slice of a mirror', key: 'c2/shop/web', labels: { 'mirrored-svc': 'true' }, want: 'c2' },
  {
    name: 'a slice of a global Service',
    key: 'global/shop/web',
    labels: { 'mirror-endpointslice-sync-name': 'c3' },
    want: 'c3',
  },
  {
    name: 'a slice of an import',
    key: '@import/shop/web',
    labels: { 'multicluster.kubernetes.io/source-cluster': 'c3' },
    want: 'c3',
  },
  { name: 'the import', key: '@import/shop/web', labels: {}, want: '@import' },
])('$name that is refused is a problem of $want', ({ key, labels, want }) => {
  expect(clusterOfWrite(key, { to: { labels } })).toBe(want);
  expect(clusterOfWrite('c2/shop/web', { from: { labels } })).toBe('c2');
});

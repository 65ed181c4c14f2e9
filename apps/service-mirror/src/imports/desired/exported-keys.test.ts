import { describe, expect, it } from 'vitest';
import { withExported } from '../../endpoints/desired/diff/marks.ts';
import { importedAnnotations, importedLabels } from './exported-keys.ts';

describe('importedLabels', () => {
  it.each([
    { key: 'team', imported: true },
    { key: 'example.com/team', imported: true },
    { key: 'kubernetes.io/service-name', imported: false },
    { key: 'app.kubernetes.io/managed-by', imported: false },
    { key: 'multicluster.kubernetes.io/service-name', imported: false },
    { key: 'multicluster.x-k8s.io/x', imported: false },
    { key: 'gateway.networking.k8s.io/x', imported: false },
    { key: 'notkubernetes.io/x', imported: true },
    { key: 'mirror-svc-exported-labels', imported: false },
    { key: 'mirrored-svc', imported: false },
    { key: 'not a key', imported: false },
    { key: '', imported: false },
  ])('has $key: $imported', ({ key, imported }) => {
    expect(importedLabels({ [key]: 'x' }, undefined)).toEqual(imported ? { [key]: 'x' } : {});
  });

  it('has only keys with an allowed beginning, and never a reserved one', () => {
    const exported = { 'example.com/a': '1', 'example.org/a': '1', team: '1', 'x.kubernetes.io/a': '1' };
    expect(importedLabels(exported, ['example.com/', 'te', 'x.kubernetes.io/'])).toEqual({
      'example.com/a': '1',
      team: '1',
    });
    expect(importedLabels(exported, [])).toEqual({});
  });

  it('has no value that the API server would refuse with the whole import', () => {
    expect(importedLabels({ a: 'not a value', b: 'ok', c: 'x'.repeat(64) }, undefined)).toEqual({ b: 'ok' });
  });
});

describe('the keys of a remote that exports as many as it can', () => {
  it('leave room for the annotations that list them', () => {
    const keys = Array.from({ length: 5000 }, (_, i) => `${String(i).padStart(60, 'x')}`);
    const exported = Object.fromEntries(keys.map((key) => [key, '']));
    const [labels, annotations] = [importedLabels(exported, undefined), importedAnnotations(exported, undefined)];
    const marks = withExported({ labels: {}, annotations: {} }, { labels, annotations });
    const bytes = Object.entries(marks.annotations).map(([key, value]) => key.length + value.length);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(200 * 1024);
    expect(Object.keys(labels).length).toBeGreaterThan(400);
  });
});

describe('importedAnnotations', () => {
  it('may have any value, but no reserved key', () => {
    const exported = { a: 'any text\n{}', 'multicluster.kubernetes.io/derived-service': 'kubernetes' };
    expect(importedAnnotations(exported, undefined)).toEqual({ a: 'any text\n{}' });
  });

  it('has no more than fit beside others, in the order of their keys', () => {
    const large = 'x'.repeat(70 * 1024);
    expect(Object.keys(importedAnnotations({ c: large, b: 'small', a: large }, undefined))).toEqual(['a', 'b']);
  });

  it.each(['<', '\u0001'])('counts six bytes for %j, which take as many in etcd', (character) => {
    const escaped = character.repeat(30 * 1024);
    expect(Object.keys(importedAnnotations({ a: 'small', b: escaped }, undefined))).toEqual(['a']);
  });
});

import { globalServiceName, globalKey, mirrorKey, mirrorServiceName } from '../../names.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keysOfLocalName } from './keys-of-local-name.ts';

const prefixes = new Map([
  ['c2', 'c2'],
  ['c3', 'c2-a'],
]);

describe('keysOfLocalName', () => {
  it.each([
    { name: 'c2-shop-73736d-web', want: ['c2/shop/web'] },
    { name: 'gl-shop-73736d-web', want: ['global/shop/web'] },
    { name: 'c2-a-b-73736d-web', want: ['c2/a-b/web', 'c3/b/web'] },
    { name: 'gl-a-73736d-b-73736d-c', want: ['global/a/b-73736d-c', 'global/a-73736d-b/c'] },
    { name: 'c4-shop-73736d-web', want: [] },
    { name: 'c2-shop-web', want: [] },
    // The name of a mirror in releases before v0.3.0.
    { name: 'c2-web-6d6972726f720a-shop', want: [] },
    { name: 'kubernetes', want: [] },
  ])('finds $want in $name', ({ name, want }) => {
    expect(keysOfLocalName(name, prefixes)).toEqual(want);
  });

  it('finds the key that a name was made from', () => {
    const label = fc.stringMatching(/^[a-z](?:[a-z0-9-]{0,8}[a-z0-9])?$/);
    fc.assert(
      fc.property(label, label, fc.constantFrom(...prefixes), (namespace, name, [cluster, prefix]) => {
        expect(keysOfLocalName(mirrorServiceName(prefix, namespace, name), prefixes)).toContain(
          mirrorKey(cluster, namespace, name),
        );
        expect(keysOfLocalName(globalServiceName(namespace, name), prefixes)).toContain(globalKey(namespace, name));
      }),
    );
  });
});

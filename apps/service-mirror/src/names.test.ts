import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDnsLabel, isDnsSubdomain, isLabelValue, isServiceName } from '@kube-semaphore/naming';
import {
  derivedServiceNames,
  GLOBAL,
  globalKey,
  globalServiceName,
  mirrorKey,
  mirrorServiceName,
  mirrorSliceName,
  parseServiceKey,
  prefixProblem,
  separator,
  serviceNameProblem,
  takesImportNames,
} from './names.ts';

/** Parts that often make one name in two ways. */
const piece = fc.constantFrom(
  'a',
  'b',
  '-',
  'c2',
  'gl',
  'mcs',
  '0',
  'deadbeef00',
  separator,
  `-${separator}-`,
  'x'.repeat(20),
);
const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
const label = text.filter(isDnsLabel);
const cluster = fc.oneof(label, fc.constantFrom('Europe_1', 'v1.c2')).filter((name) => name !== GLOBAL);
const prefix = label.filter((name) => prefixProblem(name) === undefined);
const slice = fc.array(label, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));
const source = fc.record({ cluster, namespace: label, slice });

describe('the name of the Service of a ServiceImport', () => {
  const long = { namespace: 'x'.repeat(26), name: 'y'.repeat(26) };

  it.each([
    {
      where: 'beside its import',
      at: { namespace: 'shop', name: 'web' },
      isBeside: true,
      want: /^derived-[0-9a-v]{16}$/,
    },
    {
      where: 'in the mirror namespace',
      at: { namespace: 'shop', name: 'web' },
      isBeside: false,
      want: /^mcs-shop-73736d-web$/,
    },
    {
      where: 'in the mirror namespace, if that is too long',
      at: long,
      isBeside: false,
      want: /^derived-[0-9a-v]{16}$/,
    },
  ])('$where is $want', ({ at, isBeside, want }) => {
    expect(derivedServiceNames(at, { isBeside })[0]).toMatch(want);
  });
});

describe('the name of a Service', () => {
  it('is that of the Go program', () => {
    expect(mirrorServiceName('c2', 'my-ns', 'my-app')).toBe('c2-my-ns-73736d-my-app');
    expect(globalServiceName('my-ns', 'my-app')).toBe('gl-my-ns-73736d-my-app');
  });

  it.each<{ what: string; a: Parameters<typeof mirrorServiceName>; b: Parameters<typeof mirrorServiceName> }>([
    { what: 'two prefixes', a: ['c2', 'a-b', 'x'], b: ['c2-a', 'b', 'x'] },
    { what: 'two namespaces', a: ['c2', 'a', 'b-73736d-x'], b: ['c2', 'a-73736d-b', 'x'] },
  ])('may be the same for sources of $what, whose keys differ', ({ a, b }) => {
    expect(mirrorServiceName(...a)).toBe(mirrorServiceName(...b));
    expect(mirrorKey(...a)).not.toBe(mirrorKey(...b));
  });

  it('is never that of both an import and a mirror, unless the prefix is one of imports', () => {
    fc.assert(
      fc.property(prefix, label, label, label, label, fc.boolean(), (of, namespace, name, from, exported, isBeside) => {
        fc.pre(!takesImportNames(of));
        expect(derivedServiceNames({ namespace: from, name: exported }, { isBeside })).not.toContain(
          mirrorServiceName(of, namespace, name),
        );
      }),
    );
    const [at, shadow] = [{ namespace: 'eu-a', name: 'x' }, { isBeside: false }];
    expect(derivedServiceNames(at, shadow)).toEqual([mirrorServiceName('mcs-eu', 'a', 'x')]);
  });

  it('is never that of two imports', () => {
    fc.assert(
      fc.property(label, label, label, label, fc.boolean(), (namespace, name, otherNamespace, otherName, isBeside) => {
        fc.pre(namespace !== otherNamespace || name !== otherName);
        const other = derivedServiceNames({ namespace: otherNamespace, name: otherName }, { isBeside });
        expect(derivedServiceNames({ namespace, name }, { isBeside })).not.toContain(other[0]);
      }),
      { examples: [['a', `b-${separator}-c`, `a-${separator}-b`, 'c', false]] },
    );
  });

  it('is never that of both a global Service and a mirror', () => {
    fc.assert(
      fc.property(prefix, label, label, label, label, (of, namespace, name, otherNamespace, otherName) => {
        expect(mirrorServiceName(of, namespace, name)).not.toBe(globalServiceName(otherNamespace, otherName));
      }),
    );
  });

  it('is legal, or too long by exactly the reported excess', () => {
    fc.assert(
      fc.property(prefix, label, label, (of, namespace, name) => {
        const text = mirrorServiceName(of, namespace, name);
        const problem = serviceNameProblem(text);
        const excess = problem?.reason === 'name-too-long' ? problem.excess : 0;
        // An x where it is cut, which might be behind a hyphen.
        const cut = (length: number) => `${text.slice(0, length - 1)}x`;
        const longest = text.length - excess;
        expect({ cut: isServiceName(cut(longest)), longer: isServiceName(cut(longest + 1)) }).toEqual({
          cut: true,
          longer: longest < 63,
        });
        expect(problem).toEqual(excess === 0 ? undefined : { reason: 'name-too-long', excess });
      }),
    );
  });

  it.each([
    { text: 'a'.repeat(63), want: undefined },
    { text: 'a'.repeat(64), want: { reason: 'name-too-long', excess: 1 } },
    { text: 'a'.repeat(70), want: { reason: 'name-too-long', excess: 7 } },
    { text: '2c-ns-73736d-x', want: { reason: 'name-illegal' } },
    { text: 'c2-ns-73736d-x.y', want: { reason: 'name-illegal' } },
    { text: '', want: { reason: 'name-illegal' } },
  ])('has the expected problem: $text', ({ text: name, want }) => {
    expect(serviceNameProblem(name)).toEqual(want);
  });
});

describe('a prefix', () => {
  it.each([
    { prefix: 'c2', want: undefined },
    { prefix: 'glass', want: undefined },
    { prefix: 'a'.repeat(52), want: undefined },
    { prefix: 'a'.repeat(53), want: 'is 1 characters too long to leave room for a name' },
    { prefix: 'gl', want: 'is reserved for global services' },
    { prefix: 'gl-c2', want: 'is reserved for global services' },
    { prefix: '2c', want: 'must begin with a letter and consist of lower case letters, digits and hyphens' },
    { prefix: 'C2', want: 'must begin with a letter and consist of lower case letters, digits and hyphens' },
    { prefix: '', want: 'must begin with a letter and consist of lower case letters, digits and hyphens' },
  ])('$prefix: $want', ({ prefix: given, want }) => {
    expect(prefixProblem(given)).toBe(want);
  });
});

describe('the name of an EndpointSlice', () => {
  it("consists of its Service's name and a hash of its source", () => {
    // printf c2/my-ns/my-app-x2x4z | sha256sum
    expect(
      mirrorSliceName('c2-my-ns-73736d-my-app', { cluster: 'c2', namespace: 'my-ns', slice: 'my-app-x2x4z' }),
    ).toBe('c2-my-ns-73736d-my-app-8770ce75b74901ec9acc');
  });

  it("is legal if its Service's name is", () => {
    fc.assert(
      fc.property(source, (of) => {
        expect(isDnsSubdomain(mirrorSliceName('a'.repeat(63), of))).toBe(true);
      }),
    );
  });

  it('is unique for each source, in whatever Services', () => {
    const service = fc.oneof(
      fc.tuple(prefix, label, label).map((of) => mirrorServiceName(...of)),
      fc.tuple(label, label).map((of) => globalServiceName(...of)),
    );
    fc.assert(
      fc.property(source, source, service, service, (a, b, serviceOfA, serviceOfB) => {
        fc.pre(mirrorKey(a.cluster, a.namespace, a.slice) !== mirrorKey(b.cluster, b.namespace, b.slice));
        expect(mirrorSliceName(serviceOfA, a)).not.toBe(mirrorSliceName(serviceOfB, b));
        // Like the slices of one global Service, or of two Services with one name.
        expect(mirrorSliceName(serviceOfA, a)).not.toBe(mirrorSliceName(serviceOfA, b));
      }),
    );
  });
});

describe('a key', () => {
  it('parses back to its parts', () => {
    fc.assert(
      fc.property(cluster, label, label, (of, namespace, name) => {
        expect(parseServiceKey(mirrorKey(of, namespace, name))).toEqual({
          kind: 'mirror',
          cluster: of,
          namespace,
          name,
        });
        expect(parseServiceKey(globalKey(namespace, name))).toEqual({ kind: 'global', namespace, name });
      }),
    );
  });

  it.each(['', 'c2', 'c2/ns', 'c2/ns/', '/ns/a', 'c2//a', 'c2/ns/a/b', 'c 2/ns/a', 'c2/ns/A', 'c2/n.s/a', 'c2/ns/a\n'])(
    'is not %j',
    (key) => {
      expect(parseServiceKey(key)).toBe(undefined);
    },
  );

  it('consists of a label value and two DNS labels', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '-', '/', '.', 'A', '_'), maxLength: 8 }), (key) => {
        const [of = '', namespace = '', name = ''] = key.split('/');
        const made = of !== '' && isLabelValue(of) && isDnsLabel(namespace) && isDnsLabel(name);
        expect(parseServiceKey(key) !== undefined).toBe(made && mirrorKey(of, namespace, name) === key);
      }),
    );
  });
});
